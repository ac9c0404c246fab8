//! Base64 and hexadecimal for Uint8Array (23.3). <https://tc39.es/ecma262/#sec-uint8array-objects>

use super::typed_array::{Typed, validate, view_of};
use crate::object::Object;
use crate::object::function::CallArgs;
use crate::object::typed_view::ElementType;
use crate::string::{JsStr, StrView};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What to do with an incomplete group at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastChunk {
    Loose,
    Strict,
    StopBeforePartial,
}

/// The bytes decoded so far, how much text they took, and whether the text is wrong after that.
struct Decoded {
    bytes: Vec<u8>,
    read: usize,
    error: Option<&'static str>,
}

/// ValidateUint8Array: `this` must be a Uint8Array, in or out of bounds.
fn this_uint8_array(vm: &mut Vm, args: &CallArgs) -> JsResult<Value> {
    match view_of(args.this) {
        Some((_, view)) if view.element == ElementType::Uint8 => Ok(args.this),
        _ => Err(vm.throw_type_error("this is not a Uint8Array")),
    }
}

/// GetOptionsObject.
fn options_object(vm: &mut Vm, v: Value) -> JsResult<Option<Object>> {
    match v.as_object() {
        Some(o) => Ok(Some(o)),
        None if v.is_undefined() => Ok(None),
        None => Err(vm.throw_type_error("options must be an object")),
    }
}

/// The option `name`, which must be one of the strings; the position of the one it is.
fn string_option(vm: &mut Vm, options: Option<Object>, name: &str, allowed: &[&str]) -> JsResult<usize> {
    let Some(options) = options else { return Ok(0) };
    let key = vm.key_from_str(name);
    let v = vm.get(options, key)?;
    if v.is_undefined() {
        return Ok(0);
    }
    let found = v.as_string().and_then(|s| {
        let view = s.view(vm);
        allowed.iter().position(|text| view.equals_ascii(text))
    });
    match found {
        Some(at) => Ok(at),
        None => {
            let message = format!("{name} must be one of {}", allowed.join(", "));
            Err(vm.throw_type_error(&message))
        }
    }
}

/// The options `alphabet` and `lastChunkHandling`.
fn decoding_options(vm: &mut Vm, v: Value) -> JsResult<(bool, LastChunk)> {
    let options = options_object(vm, v)?;
    let url = string_option(vm, options, "alphabet", &["base64", "base64url"])? == 1;
    let last = string_option(vm, options, "lastChunkHandling", &["loose", "strict", "stop-before-partial"])?;
    Ok((url, [LastChunk::Loose, LastChunk::Strict, LastChunk::StopBeforePartial][last.min(2)]))
}

fn string_argument(vm: &mut Vm, v: Value) -> JsResult<JsStr> {
    match v.as_string() {
        Some(s) => {
            vm.poll_n((s.len() / 32) as u32)?;
            vm.check_heap_room(s.len())?;
            Ok(s)
        }
        None => Err(vm.throw_type_error("argument must be a string")),
    }
}

/// 23.3.1.1 Uint8Array.fromBase64
pub(super) fn from_base64(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = string_argument(vm, args.get(0))?;
    let (url, last) = decoding_options(vm, args.get(1))?;
    let decoded = decode_base64(s.view(vm), url, last, usize::MAX);
    finish_new(vm, decoded)
}

/// 23.3.1.2 Uint8Array.fromHex
pub(super) fn from_hex(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = string_argument(vm, args.get(0))?;
    let decoded = decode_hex(s.view(vm), usize::MAX);
    finish_new(vm, decoded)
}

fn finish_new(vm: &mut Vm, decoded: Decoded) -> JsResult<Value> {
    if let Some(message) = decoded.error {
        return Err(vm.throw_syntax_error(message));
    }
    Ok(Value::object(vm.new_uint8_array(&decoded.bytes)?))
}

/// 23.3.2.4 Uint8Array.prototype.setFromBase64
pub(super) fn set_from_base64(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let target = this_uint8_array(vm, &args)?;
    let s = string_argument(vm, args.get(0))?;
    let (url, last) = decoding_options(vm, args.get(1))?;
    let target = validate(vm, target)?;
    let decoded = decode_base64(s.view(vm), url, last, target.length);
    finish_set(vm, &target, decoded)
}

/// 23.3.2.5 Uint8Array.prototype.setFromHex
pub(super) fn set_from_hex(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let target = this_uint8_array(vm, &args)?;
    let s = string_argument(vm, args.get(0))?;
    let target = validate(vm, target)?;
    let decoded = decode_hex(s.view(vm), target.length);
    finish_set(vm, &target, decoded)
}

/// Stores what was decoded, also before an error.
fn finish_set(vm: &mut Vm, target: &Typed, decoded: Decoded) -> JsResult<Value> {
    target.view.buffer.write_bytes(vm, target.view.byte_offset, &decoded.bytes);
    if let Some(message) = decoded.error {
        return Err(vm.throw_syntax_error(message));
    }
    let result = vm.new_object();
    let (read, written) = (vm.key_from_str("read"), vm.key_from_str("written"));
    vm.create_data_property_or_throw(result, read, Value::number(decoded.read as f64))?;
    vm.create_data_property_or_throw(result, written, Value::number(decoded.bytes.len() as f64))?;
    Ok(Value::object(result))
}

/// 23.3.2.6 Uint8Array.prototype.toBase64
pub(super) fn to_base64(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let source = this_uint8_array(vm, &args)?;
    let options = options_object(vm, args.get(0))?;
    let url = string_option(vm, options, "alphabet", &["base64", "base64url"])? == 1;
    let omit_padding = match options {
        Some(options) => {
            let key = vm.key_from_str("omitPadding");
            vm.get(options, key)?.to_boolean()
        }
        None => false,
    };
    let bytes = bytes_of(vm, source, 2)?;
    let text = encode_base64(&bytes, if url { URL_SAFE } else { STANDARD }, !omit_padding);
    Ok(Value::string(vm.new_string_latin1(&text)))
}

/// 23.3.2.7 Uint8Array.prototype.toHex
pub(super) fn to_hex(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let source = this_uint8_array(vm, &args)?;
    let bytes = bytes_of(vm, source, 2)?;
    let digits = b"0123456789abcdef";
    let text: Vec<u8> = bytes
        .iter()
        .flat_map(|&byte| [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]])
        .collect();
    Ok(Value::string(vm.new_string_latin1(&text)))
}

/// GetUint8ArrayBytes, when the text of `per_byte` units each fits a string.
fn bytes_of(vm: &mut Vm, source: Value, per_byte: usize) -> JsResult<Vec<u8>> {
    let typed = validate(vm, source)?;
    if typed.length.saturating_mul(per_byte) > crate::limits::STRING_UNITS_MAX {
        return Err(vm.throw_range_error("Invalid string length"));
    }
    vm.poll_n((typed.length / 32) as u32)?;
    vm.check_heap_room(typed.length * (per_byte + 1))?;
    Ok(typed.view.buffer.to_vec(vm, typed.view.byte_offset, typed.view.byte_offset + typed.length))
}

fn encode_base64(bytes: &[u8], alphabet: &[u8; 64], padding: bool) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..=chunk.len() {
            text.push(alphabet[(bits >> (18 - 6 * i) & 63) as usize]);
        }
        if padding {
            text.extend(std::iter::repeat_n(b'=', 3 - chunk.len()));
        }
    }
    text
}

/// FromHex (23.3.3.5).
fn decode_hex(text: StrView<'_>, max: usize) -> Decoded {
    let mut decoded = Decoded { bytes: Vec::new(), read: 0, error: None };
    if !text.len().is_multiple_of(2) {
        decoded.error = Some("hexadecimal text must have an even length");
        return decoded;
    }
    while decoded.read < text.len() && decoded.bytes.len() < max {
        let digit = |at: usize| text.get(at).and_then(|unit| char::from_u32(u32::from(unit))?.to_digit(16));
        let (Some(high), Some(low)) = (digit(decoded.read), digit(decoded.read + 1)) else {
            decoded.error = Some("text is not hexadecimal");
            return decoded;
        };
        decoded.bytes.push((high * 16 + low) as u8);
        decoded.read += 2;
    }
    decoded
}

fn is_ascii_white_space(unit: u16) -> bool {
    matches!(unit, 0x9 | 0xA | 0xC | 0xD | 0x20)
}

fn sextet(unit: u16, url: bool) -> Option<u32> {
    let byte = u8::try_from(unit).ok()?;
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' if !url => 62,
        b'/' if !url => 63,
        b'-' if url => 62,
        b'_' if url => 63,
        _ => return None,
    }))
}

/// FromBase64 (23.3.3.4). `read` only counts whole groups.
fn decode_base64(text: StrView<'_>, url: bool, last: LastChunk, max: usize) -> Decoded {
    let mut decoded = Decoded { bytes: Vec::new(), read: 0, error: None };
    if max == 0 {
        return decoded;
    }
    let (mut chunk, mut count) = (0_u32, 0_u32);
    let mut at = 0;
    loop {
        at = skip_white_space(text, at);
        let Some(unit) = text.get(at) else {
            finish_partial(&mut decoded, chunk, count, last, text.len());
            return decoded;
        };
        at += 1;
        if unit == u16::from(b'=') {
            finish_padded(&mut decoded, text, at, chunk, count, last);
            return decoded;
        }
        let Some(value) = sextet(unit, url) else {
            decoded.error = Some("text is not base64");
            return decoded;
        };
        let remaining = max - decoded.bytes.len();
        if (remaining == 1 && count == 2) || (remaining == 2 && count == 3) {
            return decoded;
        }
        chunk = chunk << 6 | value;
        count += 1;
        if count == 4 {
            decoded.bytes.extend([(chunk >> 16) as u8, (chunk >> 8) as u8, chunk as u8]);
            (chunk, count) = (0, 0);
            decoded.read = at;
            if decoded.bytes.len() == max {
                return decoded;
            }
        }
    }
}

fn skip_white_space(text: StrView<'_>, mut at: usize) -> usize {
    while text.get(at).is_some_and(is_ascii_white_space) {
        at += 1;
    }
    at
}

/// The end of the text, with `count` digits of an unfinished group.
fn finish_partial(decoded: &mut Decoded, chunk: u32, count: u32, last: LastChunk, len: usize) {
    match (count, last) {
        (0, _) => decoded.read = len,
        (_, LastChunk::StopBeforePartial) => {}
        (1, _) | (_, LastChunk::Strict) => decoded.error = Some("base64 text ends in an incomplete group"),
        _ => {
            decode_partial(decoded, chunk, count, false);
            decoded.read = len;
        }
    }
}

/// A `=`, whose group has `count` digits; `at` is behind it.
fn finish_padded(
    decoded: &mut Decoded,
    text: StrView<'_>,
    mut at: usize,
    chunk: u32,
    count: u32,
    last: LastChunk,
) {
    if count < 2 {
        decoded.error = Some("unexpected padding in base64 text");
        return;
    }
    at = skip_white_space(text, at);
    if count == 2 {
        match text.get(at) {
            None => {
                if last != LastChunk::StopBeforePartial {
                    decoded.error = Some("base64 text ends in incomplete padding");
                }
                return;
            }
            Some(unit) if unit == u16::from(b'=') => at = skip_white_space(text, at + 1),
            Some(_) => {
                decoded.error = Some("unexpected character after padding in base64 text");
                return;
            }
        }
    }
    if at < text.len() {
        decoded.error = Some("unexpected character after padding in base64 text");
        return;
    }
    decode_partial(decoded, chunk, count, last == LastChunk::Strict);
    if decoded.error.is_none() {
        decoded.read = text.len();
    }
}

/// A group of two or three digits. `strict` demands that the bits left over are 0.
fn decode_partial(decoded: &mut Decoded, chunk: u32, count: u32, strict: bool) {
    let bits = chunk << (6 * (4 - count));
    let left_over = if count == 2 { bits & 0xFFFF } else { bits & 0xFF };
    if strict && left_over != 0 {
        decoded.error = Some("base64 text has bits left over");
        return;
    }
    decoded.bytes.push((bits >> 16) as u8);
    if count == 3 {
        decoded.bytes.push((bits >> 8) as u8);
    }
}
