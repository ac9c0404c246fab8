//! `atob` and `btoa`: Base64 between strings of bytes.
//! <https://html.spec.whatwg.org/multipage/webappapis.html#atob>

use cynic_engine::object::function::CallArgs;
use cynic_engine::string::StrView;
use cynic_engine::value::Value;
use cynic_engine::vm::{Abrupt, JsResult, Vm};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// `btoa`: the units of a string, which must be bytes, as Base64.
pub(crate) fn btoa(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let text = vm.to_string(args.get(0))?;
    vm.check_heap_room(text.len().saturating_mul(2))?;
    let encoded = match text.view(vm) {
        StrView::Latin1(bytes) => Some(encode(bytes)),
        StrView::Utf16(units) => {
            let bytes: Option<Vec<u8>> = units.iter().map(|&unit| u8::try_from(unit).ok()).collect();
            bytes.map(|bytes| encode(&bytes))
        }
    };
    match encoded {
        Some(encoded) => Ok(Value::string(vm.new_string_latin1(&encoded))),
        None => Err(invalid(vm, "the string contains characters outside of the Latin1 range")),
    }
}

/// `atob`: Base64 as a string of bytes; white space is ignored and padding may be missing.
pub(crate) fn atob(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let text = vm.to_string(args.get(0))?;
    vm.check_heap_room(text.len().saturating_mul(2))?;
    let decoded = match text.view(vm) {
        StrView::Latin1(units) => decode(units),
        StrView::Utf16(_) => None,
    };
    match decoded {
        Some(bytes) => Ok(Value::string(vm.new_string_latin1(&bytes))),
        None => Err(invalid(vm, "the string to be decoded is not correctly encoded")),
    }
}

/// What stands for a byte that is no digit.
const NO_DIGIT: u8 = 255;
/// The value of each digit.
static VALUES: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut value = 0;
    while value < ALPHABET.len() {
        values[ALPHABET[value] as usize] = value as u8;
        value += 1;
    }
    values
};

/// What browsers report as a DOMException of that name.
fn invalid(vm: &mut Vm, why: &str) -> Abrupt {
    vm.throw_type_error(&format!("InvalidCharacterError: {why}"))
}

fn encode(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits =
            group.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - group.len()));
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit) & 63) as usize;
            text.push(if digit <= group.len() { ALPHABET[index] } else { b'=' });
        }
    }
    text
}

/// Forgiving-base64 decode; `None` is its failure.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut digits: Vec<u8> = text.iter().copied().filter(|unit| !b" \t\n\x0c\r".contains(unit)).collect();
    if digits.len().is_multiple_of(4) {
        for _ in 0..2 {
            if digits.last() == Some(&b'=') {
                digits.pop();
            }
        }
    }
    if digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for group in digits.chunks(4) {
        let mut bits = 0u32;
        for &digit in group {
            let value = VALUES[usize::from(digit)];
            if value == NO_DIGIT {
                return None;
            }
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * (4 - group.len());
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_of_every_length() {
        for length in 0..20u8 {
            let bytes: Vec<u8> = (0..length).map(|at| at.wrapping_mul(83)).collect();
            assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
        assert_eq!(encode(b"hello"), b"aGVsbG8=");
    }

    #[test]
    fn forgiving_but_not_of_everything() {
        assert_eq!(decode(b" aGVs bG8\n").as_deref(), Some(&b"hello"[..]));
        assert_eq!(decode(b"aGVsbG8"), Some(b"hello".to_vec()));
        for bad in [&b"a"[..], b"ab=", b"ab===", b"a-b_", b"=", b"abcd="] {
            assert_eq!(decode(bad), None, "{}", String::from_utf8_lossy(bad));
        }
    }
}
