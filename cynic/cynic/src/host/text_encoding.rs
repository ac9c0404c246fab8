//! `TextEncoder` and `TextDecoder`. <https://encoding.spec.whatwg.org/>
//!
//! Encodings: UTF-8, UTF-16LE, UTF-16BE and Latin-1 (under its labels, decoded as windows-1252's common part is not: bytes
//! 0x80 to 0x9f are the C1 controls). Streaming decoding keeps incomplete sequences between calls.

use std::cell::RefCell;

use cynic_engine::gc::{Trace, Tracer};
use cynic_engine::host_objects::HostClass;
use cynic_engine::object::Object;
use cynic_engine::object::function::{CallArgs, NativeSpec};
use cynic_engine::realm::{PropertySpec, getter, method, to_string_tag};
use cynic_engine::value::Value;
use cynic_engine::vm::{JsResult, Vm};

use super::limits;

/// The class TextEncoder.
pub(crate) static ENCODER: HostClass = HostClass {
    constructor: NativeSpec::constructor("TextEncoder", 0, new_encoder),
    statics: &[],
    prototype: ENCODER_ROWS,
};

static ENCODER_ROWS: &[PropertySpec] = &[
    method("encode", 0, encode),
    method("encodeInto", 2, encode_into),
    getter("encoding", |vm, args| {
        vm.host_data::<Encoder>(args.this, "TextEncoder")?;
        Ok(Value::string(vm.new_string("utf-8")))
    }),
    to_string_tag("TextEncoder"),
];

/// The class TextDecoder.
pub(crate) static DECODER: HostClass = HostClass {
    constructor: NativeSpec::constructor("TextDecoder", 0, new_decoder),
    statics: &[],
    prototype: DECODER_ROWS,
};

static DECODER_ROWS: &[PropertySpec] = &[
    method("decode", 0, decode),
    getter("encoding", |vm, args| {
        let decoder = vm.host_data::<Decoder>(args.this, "TextDecoder")?;
        Ok(Value::string(vm.new_string(decoder.encoding.name())))
    }),
    getter("fatal", |vm, args| Ok(Value::bool(vm.host_data::<Decoder>(args.this, "TextDecoder")?.fatal))),
    getter("ignoreBOM", |vm, args| {
        Ok(Value::bool(vm.host_data::<Decoder>(args.this, "TextDecoder")?.ignore_bom))
    }),
    to_string_tag("TextDecoder"),
];

struct Encoder;

impl Trace for Encoder {
    fn trace(&self, _tracer: &mut Tracer<'_>) {}
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    Latin1,
}

impl Encoding {
    fn from_label(label: &str) -> Option<Self> {
        match label.to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" | "unicode-1-1-utf-8" => Some(Self::Utf8),
            "utf-16le" | "utf-16" | "ucs-2" | "unicode" => Some(Self::Utf16Le),
            "utf-16be" => Some(Self::Utf16Be),
            "latin1" | "iso-8859-1" | "ascii" | "us-ascii" | "l1" => Some(Self::Latin1),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16Le => "utf-16le",
            Self::Utf16Be => "utf-16be",
            Self::Latin1 => "iso-8859-1",
        }
    }
}

struct Decoder {
    encoding: Encoding,
    fatal: bool,
    ignore_bom: bool,
    stream: RefCell<StreamState>,
}

#[derive(Default)]
struct StreamState {
    pending: Vec<u8>,
    bom_seen: bool,
}

impl Trace for Decoder {
    fn trace(&self, _tracer: &mut Tracer<'_>) {}
}

fn new_encoder(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::object(vm.new_host_instance(args, Encoder)?))
}

/// The UTF-8 of a string, lone surrogates replaced.
fn utf8(vm: &mut Vm, value: Value) -> JsResult<Vec<u8>> {
    let text = vm.to_rust_string(value)?;
    vm.check_heap_room(text.len())?;
    Ok(text.into_bytes())
}

fn encode(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    vm.host_data::<Encoder>(args.this, "TextEncoder")?;
    let bytes = if args.get(0).is_undefined() { Vec::new() } else { utf8(vm, args.get(0))? };
    let array = vm.new_uint8_array(&bytes)?;
    Ok(Value::object(array))
}

fn encode_into(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    vm.host_data::<Encoder>(args.this, "TextEncoder")?;
    let text = vm.to_rust_string(args.get(0))?;
    let Some(room) = vm.byte_length_of(args.get(1)) else {
        return Err(vm.throw_type_error("encodeInto needs a Uint8Array"));
    };
    let (mut read, mut written) = (0, 0);
    for character in text.chars() {
        if written + character.len_utf8() > room {
            break;
        }
        read += character.len_utf16();
        written += character.len_utf8();
    }
    let Some(target) = args.get(1).as_object() else { return Ok(Value::UNDEFINED) };
    for (index, byte) in text.bytes().take(written).enumerate() {
        let key = vm.key_from_u64(index as u64);
        vm.set(target, key, Value::int32(i32::from(byte)), args.get(1))?;
    }
    let result = vm.new_object();
    vm.define_data(result, "read", Value::number(read as f64), cynic_engine::shape::attrs::ALL)?;
    vm.define_data(result, "written", Value::number(written as f64), cynic_engine::shape::attrs::ALL)?;
    Ok(Value::object(result))
}

/// A boolean member of an options object.
fn option(vm: &mut Vm, options: Option<Object>, name: &str) -> JsResult<bool> {
    let Some(options) = options else { return Ok(false) };
    let key = vm.key_from_str(name);
    Ok(vm.get(options, key)?.to_boolean())
}

/// The text of a label, without the white space around it; of one that is longer than any that is known, only the beginning.
fn label(vm: &mut Vm, label: Value) -> JsResult<String> {
    let label = vm.to_string(label)?;
    let view = label.view(vm);
    let is_space = |at: usize| matches!(view.at(at), 0x9 | 0xA | 0xC | 0xD | 0x20);
    let (mut from, mut to) = (0, view.len());
    while from < to && is_space(from) {
        from += 1;
    }
    while from < to && is_space(to - 1) {
        to -= 1;
    }
    Ok(view.slice(from, to.min(from + limits::ENCODING_LABEL_UNITS_SHOWN)).to_rust_string())
}

fn new_decoder(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let label = if args.get(0).is_undefined() { "utf-8".into() } else { label(vm, args.get(0))? };
    let Some(encoding) = Encoding::from_label(&label) else {
        return Err(vm.throw_range_error(&format!("The encoding {label:?} is not supported")));
    };
    let options = args.get(1).as_object();
    let fatal = option(vm, options, "fatal")?;
    let ignore_bom = option(vm, options, "ignoreBOM")?;
    let decoder = Decoder { encoding, fatal, ignore_bom, stream: RefCell::default() };
    Ok(Value::object(vm.new_host_instance(args, decoder)?))
}

fn decode(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let decoder = vm.host_data::<Decoder>(args.this, "TextDecoder")?;
    let stream = option(vm, args.get(1).as_object(), "stream")?;
    let mut bytes = std::mem::take(&mut decoder.stream.borrow_mut().pending);
    if !args.get(0).is_undefined() {
        let Some(length) = vm.byte_length_of(args.get(0)) else {
            return Err(vm.throw_type_error("decode needs an ArrayBuffer or a view on one"));
        };
        vm.check_heap_room(length.saturating_mul(3))?;
        bytes.extend_from_slice(&vm.bytes_of(args.get(0)).unwrap_or_default());
    }
    let (text, rest) = match decoder.encoding {
        Encoding::Utf8 => decode_utf8(&bytes, stream, decoder.fatal),
        Encoding::Utf16Le => decode_utf16(&bytes, stream, decoder.fatal, u16::from_le_bytes),
        Encoding::Utf16Be => decode_utf16(&bytes, stream, decoder.fatal, u16::from_be_bytes),
        Encoding::Latin1 => Some((bytes.iter().map(|byte| char::from(*byte)).collect(), 0)),
    }
    .unwrap_or_default();
    let failed = decoder.fatal && text.is_empty() && rest == 0 && !bytes.is_empty();
    if failed && !is_only_bom(&bytes, decoder.encoding) {
        decoder.stream.replace(StreamState::default());
        return Err(vm.throw_type_error("The encoded data was not valid"));
    }
    let mut state = decoder.stream.borrow_mut();
    state.pending = bytes[bytes.len() - rest..].to_vec();
    let mut shown = text.as_str();
    if !state.bom_seen && !shown.is_empty() {
        state.bom_seen = true;
        if !decoder.ignore_bom {
            shown = shown.strip_prefix('\u{feff}').unwrap_or(shown);
        }
    }
    if !stream {
        *state = StreamState::default();
    }
    drop(state);
    Ok(Value::string(vm.new_string(shown)))
}

fn is_only_bom(bytes: &[u8], encoding: Encoding) -> bool {
    encoding == Encoding::Utf8 && bytes == [0xef, 0xbb, 0xbf]
}

/// The text, and how many bytes at the end wait for more; `None` if the data is invalid and `fatal`.
fn decode_utf8(bytes: &[u8], stream: bool, fatal: bool) -> Option<(String, usize)> {
    let rest = match std::str::from_utf8(bytes) {
        Ok(text) => return Some((text.to_owned(), 0)),
        Err(error) if stream && error.error_len().is_none() => bytes.len() - error.valid_up_to(),
        Err(_) => incomplete_tail(bytes, stream),
    };
    let complete = &bytes[..bytes.len() - rest];
    match std::str::from_utf8(complete) {
        Ok(text) => Some((text.to_owned(), rest)),
        Err(_) if fatal => None,
        Err(_) => Some((String::from_utf8_lossy(complete).into_owned(), rest)),
    }
}

/// The length of a sequence at the end that more bytes could complete.
fn incomplete_tail(bytes: &[u8], stream: bool) -> usize {
    if !stream {
        return 0;
    }
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    let starts = (0..tail.len()).find(|start| {
        std::str::from_utf8(&tail[*start..])
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    });
    starts.map_or(0, |start| tail.len() - start)
}

fn decode_utf16(
    bytes: &[u8],
    stream: bool,
    fatal: bool,
    unit: fn([u8; 2]) -> u16,
) -> Option<(String, usize)> {
    let mut units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
    let mut rest = bytes.len() % 2;
    if stream && units.last().is_some_and(|last| (0xd800..0xdc00).contains(last)) {
        units.pop();
        rest += 2;
    }
    if fatal && (String::from_utf16(&units).is_err() || (!stream && rest > 0)) {
        return None;
    }
    let mut text = String::from_utf16_lossy(&units);
    if !stream && rest > 0 {
        text.push(char::REPLACEMENT_CHARACTER);
        rest = 0;
    }
    Some((text, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_sequences_wait_only_in_streams() {
        assert_eq!(decode_utf8(b"a\xe2\x82", true, false), Some(("a".into(), 2)));
        assert_eq!(decode_utf8(b"a\xe2\x82", false, false), Some(("a\u{fffd}".into(), 0)));
        assert_eq!(decode_utf8(b"a\xe2\x82", false, true), None);
        assert_eq!(decode_utf8(b"\xffa\xe2", true, false), Some(("\u{fffd}a".into(), 1)));
    }

    #[test]
    fn utf16_pairs_may_be_split() {
        let le = u16::from_le_bytes;
        assert_eq!(decode_utf16(&[0x61, 0, 0x3d, 0xd8], true, false, le), Some(("a".into(), 2)));
        assert_eq!(decode_utf16(&[0x61, 0, 0x3d], false, false, le), Some(("a\u{fffd}".into(), 0)));
    }
}
