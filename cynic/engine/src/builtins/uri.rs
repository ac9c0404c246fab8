//! encodeURI, encodeURIComponent, decodeURI, decodeURIComponent.
//! <https://tc39.es/ecma262/#sec-uri-handling-functions>
//!
//! Owns the abstract operations Encode and Decode. Both poll as they go.

use crate::object::function::CallArgs;
use crate::string::StrView;
use crate::string::builder::StringBuilder;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// Besides ASCII letters and digits, what `encodeURIComponent` leaves alone.
const UNRESERVED_MARKS: &[u8] = b"-_.!~*'()";
/// What separates the parts of a URI; `encodeURI` leaves it alone too.
const RESERVED: &[u8] = b";/?:@&=+$,";
/// Units between two polls.
const POLL_EVERY: usize = 1024;

fn is_unreserved(unit: u16) -> bool {
    u8::try_from(unit).is_ok_and(|byte| byte.is_ascii_alphanumeric() || UNRESERVED_MARKS.contains(&byte))
}

fn is_reserved_or_hash(unit: u16) -> bool {
    u8::try_from(unit).is_ok_and(|byte| RESERVED.contains(&byte) || byte == b'#')
}

pub(super) fn encode_uri(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    encode(vm, args.get(0), |unit| is_unreserved(unit) || is_reserved_or_hash(unit))
}

pub(super) fn encode_uri_component(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    encode(vm, args.get(0), is_unreserved)
}

pub(super) fn decode_uri(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    decode(vm, args.get(0), is_reserved_or_hash)
}

pub(super) fn decode_uri_component(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    decode(vm, args.get(0), |_| false)
}

/// Encode. <https://tc39.es/ecma262/#sec-encode>
fn encode(vm: &mut Vm, value: Value, unescaped: fn(u16) -> bool) -> JsResult<Value> {
    let string = vm.to_string(value)?;
    let view = string.view(vm);
    let mut result = StringBuilder::new();
    let mut at = 0;
    let mut next_poll = POLL_EVERY;
    while let Some((code_point, width)) = view.code_point_at(at) {
        if width == 1 && unescaped(code_point as u16) {
            result.push_unit(code_point as u16);
        } else {
            let Some(character) = char::from_u32(code_point) else {
                return Err(vm.throw_uri_error("URI malformed: lone surrogate"));
            };
            push_escaped(&mut result, character);
        }
        at += width;
        if at >= next_poll {
            next_poll = at + POLL_EVERY;
            vm.poll_n(POLL_EVERY as u32)?;
            result.check(vm)?;
        }
    }
    Ok(Value::string(result.finish(vm)?))
}

fn push_escaped(result: &mut StringBuilder, character: char) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        result.push_unit(u16::from(b'%'));
        result.push_unit(u16::from(HEX[usize::from(byte >> 4)]));
        result.push_unit(u16::from(HEX[usize::from(byte & 15)]));
    }
}

/// Decode. <https://tc39.es/ecma262/#sec-decode>
fn decode(vm: &mut Vm, value: Value, preserved: fn(u16) -> bool) -> JsResult<Value> {
    let string = vm.to_string(value)?;
    let view = string.view(vm);
    let mut result = StringBuilder::new();
    let mut at = 0;
    let mut next_poll = POLL_EVERY;
    while let Some(unit) = view.get(at) {
        if unit != u16::from(b'%') {
            result.push_unit(unit);
            at += 1;
        } else {
            let Some((character, end)) = escaped_character(&view, at) else {
                return Err(vm.throw_uri_error("URI malformed"));
            };
            if u16::try_from(character as u32).is_ok_and(preserved) {
                result.push_view(view.slice(at, end));
            } else {
                result.push_code_point(character as u32);
            }
            at = end;
        }
        if at >= next_poll {
            next_poll = at + POLL_EVERY;
            vm.poll_n(POLL_EVERY as u32)?;
        }
    }
    Ok(Value::string(result.finish(vm)?))
}

/// The character whose UTF-8 bytes are escaped from `at` on, and where its escapes end.
fn escaped_character(view: &StrView<'_>, at: usize) -> Option<(char, usize)> {
    let first = escaped_byte(view, at)?;
    let length = match first {
        0..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => return None,
    };
    let mut bytes = [first, 0, 0, 0];
    for (index, byte) in bytes.iter_mut().enumerate().take(length).skip(1) {
        *byte = escaped_byte(view, at + 3 * index)?;
    }
    let text = std::str::from_utf8(bytes.get(..length)?).ok()?;
    text.chars().next().map(|character| (character, at + 3 * length))
}

fn escaped_byte(view: &StrView<'_>, at: usize) -> Option<u8> {
    if view.get(at)? != u16::from(b'%') {
        return None;
    }
    let digit = |index| char::from_u32(u32::from(view.get(index)?))?.to_digit(16);
    Some((digit(at + 1)? * 16 + digit(at + 2)?) as u8)
}
