//! String objects (22.1): the constructor, and the methods that look at positions and build strings.
//! <https://tc39.es/ecma262/#sec-string-objects>
//!
//! Internal slot 0: the string. Searching and replacing are in `string_search`, what depends on the meaning of characters in
//! `string_text`, the iterator in `string_iterator`.

use super::{string_iterator, string_search, string_text};
use crate::atoms;
use crate::limits;
use crate::object::function::NativeFunctionObject as _;
use crate::object::function::{CallArgs, NativeSpec};
use crate::object::{ObjectKind, flags};
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, PropertySpec, ValueSpec, constructor, data, method, prototype,
    symbol_method,
};
use crate::shape::attrs;
use crate::string::builder::StringBuilder;
use crate::string::{self, JsStr, StrView};
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %String%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("String", 1, construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        prototype(Intrinsic::StringPrototype),
        method("fromCharCode", 1, from_char_code),
        method("fromCodePoint", 1, from_code_point),
        method("raw", 1, raw),
    ],
};

/// An alias row: the same function under a second name.
const fn alias(name: &'static str, of: &'static str) -> PropertySpec {
    data(name, ValueSpec::SameAs(of), attrs::METHOD)
}

/// %String.prototype%, itself a String object of the empty string.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::String, 1),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        data("length", ValueSpec::Number(0.0), 0),
        constructor(Intrinsic::String),
        method("at", 1, at),
        method("charAt", 1, char_at),
        method("charCodeAt", 1, char_code_at),
        method("codePointAt", 1, code_point_at),
        method("concat", 1, concat),
        method("endsWith", 1, string_search::ends_with),
        method("includes", 1, string_search::includes),
        method("indexOf", 1, string_search::index_of),
        method("isWellFormed", 0, string_text::is_well_formed),
        method("lastIndexOf", 1, string_search::last_index_of),
        method("localeCompare", 1, string_text::locale_compare),
        method("match", 1, string_search::match_),
        method("matchAll", 1, string_search::match_all),
        method("normalize", 0, string_text::normalize),
        method("padEnd", 1, pad_end),
        method("padStart", 1, pad_start),
        method("repeat", 1, repeat),
        method("replace", 2, string_search::replace),
        method("replaceAll", 2, string_search::replace_all),
        method("search", 1, string_search::search),
        method("slice", 2, slice),
        method("split", 2, string_search::split),
        method("startsWith", 1, string_search::starts_with),
        method("substr", 2, substr),
        method("substring", 2, substring),
        method("toLocaleLowerCase", 0, string_text::to_lower_case),
        method("toLocaleUpperCase", 0, string_text::to_upper_case),
        method("toLowerCase", 0, string_text::to_lower_case),
        method("toString", 0, to_string),
        method("toUpperCase", 0, string_text::to_upper_case),
        method("toWellFormed", 0, string_text::to_well_formed),
        method("trim", 0, trim),
        method("trimEnd", 0, trim_end),
        method("trimStart", 0, trim_start),
        method("valueOf", 0, to_string),
        symbol_method(symbol::ITERATOR, "[Symbol.iterator]", 0, string_iterator::create),
        alias("trimLeft", "trimStart"),
        alias("trimRight", "trimEnd"),
    ],
};

/// 22.1.1.1
fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let first = args.get(0);
    let s = match first.as_symbol() {
        _ if args.is_empty() => string::empty(),
        Some(symbol) if !args.is_construct() => {
            return Ok(Value::string(vm.symbol_descriptive_string(symbol)?));
        }
        _ => vm.to_string(first)?,
    };
    if !args.is_construct() {
        return Ok(Value::string(s));
    }
    let o = vm.ordinary_create_from_constructor(
        args.new_target,
        Intrinsic::StringPrototype,
        ObjectKind::String,
        1,
    )?;
    o.set_slot(0, Value::string(s));
    o.set_flag(flags::EXOTIC);
    Ok(Value::object(o))
}

/// 22.1.2.1
fn from_char_code(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if let [only] = args.as_slice() {
        let unit = vm.to_uint32(*only)? as u16;
        return Ok(Value::string(vm.new_string_unit(unit)));
    }
    let mut text = StringBuilder::new();
    for &v in args.as_slice() {
        let unit = vm.to_uint32(v)? as u16;
        text.push_unit(unit);
    }
    Ok(Value::string(text.finish(vm)?))
}

/// 22.1.2.2
fn from_code_point(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let mut text = StringBuilder::new();
    for &v in args.as_slice() {
        let n = vm.to_number(v)?;
        if n.trunc() != n || !(0.0..=1_114_111.0).contains(&n) {
            let message = format!("Invalid code point {}", vm.describe(v));
            return Err(vm.throw_range_error(&message));
        }
        text.push_code_point(n as u32);
    }
    Ok(Value::string(text.finish(vm)?))
}

/// 22.1.2.4
fn raw(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let cooked = vm.to_object(args.get(0))?;
    let literals = vm.get(cooked, atoms::RAW)?;
    let literals = vm.to_object(literals)?;
    let count = vm.length_of_array_like(literals)?;
    let mut text = StringBuilder::new();
    for i in 0..count {
        vm.poll()?;
        let key = vm.key_from_u64(i);
        let literal = vm.get(literals, key)?;
        let literal = vm.to_string(literal)?;
        text.push_string(vm, literal);
        if i + 1 < count
            && let Some(&substitution) = args.rest(1).get(i as usize)
        {
            let substitution = vm.to_string(substitution)?;
            text.push_string(vm, substitution);
        }
        text.check(vm)?;
    }
    Ok(Value::string(text.finish(vm)?))
}

/// RequireObjectCoercible and ToString of the `this` value, which nearly every method begins with.
#[inline]
pub(crate) fn this_string(vm: &mut Vm, args: &CallArgs) -> JsResult<JsStr> {
    match args.this.as_string() {
        Some(s) => {
            vm.check_flat_room(s)?;
            Ok(s)
        }
        None => this_string_slow(vm, args),
    }
}

#[cold]
fn this_string_slow(vm: &mut Vm, args: &CallArgs) -> JsResult<JsStr> {
    if args.this.is_nullish() {
        let name = args.callee.native_spec().name;
        let message = format!("String.prototype.{name} called on null or undefined");
        return Err(vm.throw_type_error(&message));
    }
    vm.to_string(args.this)
}

/// An argument as a position: ToIntegerOrInfinity clamped to `0..=len`.
pub(crate) fn clamped_position(vm: &mut Vm, v: Value, len: usize) -> JsResult<usize> {
    Ok(vm.to_integer_or_infinity(v)?.clamp(0.0, len as f64) as usize)
}

/// A position that counts from the end when negative, clamped to `0..=len`.
fn relative_position(vm: &mut Vm, v: Value, len: usize) -> JsResult<usize> {
    let n = vm.to_integer_or_infinity(v)?;
    let n = if n < 0.0 { n + len as f64 } else { n };
    Ok(n.clamp(0.0, len as f64) as usize)
}

/// The code unit at a position that may be anything.
fn unit_at(vm: &mut Vm, s: JsStr, position: f64) -> Option<u16> {
    if position < 0.0 || position >= s.len() as f64 {
        return None;
    }
    s.unmetered_view(vm).get(position as usize)
}

/// 22.1.3.1
fn at(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let n = vm.to_integer_or_infinity(args.get(0))?;
    let position = if n < 0.0 { n + s.len() as f64 } else { n };
    Ok(match unit_at(vm, s, position) {
        Some(unit) => Value::string(vm.new_string_unit(unit)),
        None => Value::UNDEFINED,
    })
}

/// 22.1.3.2
fn char_at(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let position = vm.to_integer_or_infinity(args.get(0))?;
    Ok(Value::string(match unit_at(vm, s, position) {
        Some(unit) => vm.new_string_unit(unit),
        None => string::empty(),
    }))
}

/// 22.1.3.3
fn char_code_at(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let position = vm.to_integer_or_infinity(args.get(0))?;
    Ok(unit_at(vm, s, position).map_or(Value::NAN, |unit| Value::int32(i32::from(unit))))
}

/// 22.1.3.4
fn code_point_at(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let position = vm.to_integer_or_infinity(args.get(0))?;
    if position < 0.0 || position >= s.len() as f64 {
        return Ok(Value::UNDEFINED);
    }
    let found = s.unmetered_view(vm).code_point_at(position as usize);
    Ok(found.map_or(Value::UNDEFINED, |(c, _)| Value::int32(c as i32)))
}

/// 22.1.3.5
fn concat(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let mut s = this_string(vm, &args)?;
    for &v in args.as_slice() {
        let next = vm.to_string(v)?;
        s = vm.concat(s, next)?;
    }
    Ok(Value::string(s))
}

/// 22.1.3.17
fn pad_end(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let filler = padding(vm, s, &args)?;
    Ok(Value::string(vm.concat(s, filler)?))
}

/// 22.1.3.18
fn pad_start(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    if let Some(padded) = pad_start_shortly(vm, s, &args) {
        return Ok(Value::string(padded));
    }
    let filler = padding(vm, s, &args)?;
    Ok(Value::string(vm.concat(filler, s)?))
}

/// OPTIMIZATION: the result of `padStart` where it is short, of Latin-1, and the filler is one character.
fn pad_start_shortly(vm: &mut Vm, s: JsStr, args: &CallArgs) -> Option<JsStr> {
    const UNITS_MAX: usize = 64;
    let wanted = usize::try_from(args.get(0).as_int32()?).ok().filter(|wanted| *wanted <= UNITS_MAX)?;
    let fill = match args.get(1) {
        v if v.is_undefined() => b' ',
        v => match v.as_string()?.flat_view()? {
            StrView::Latin1([unit]) => *unit,
            _ => return None,
        },
    };
    let Some(StrView::Latin1(units)) = s.flat_view() else { return None };
    let missing = wanted.checked_sub(units.len())?;
    let mut buffer = [fill; UNITS_MAX];
    buffer[missing..wanted].copy_from_slice(units);
    Some(vm.new_string_latin1(&buffer[..wanted]))
}

/// What StringPaddingBuiltinsImpl (22.1.3.18.1) adds to `s`.
fn padding(vm: &mut Vm, s: JsStr, args: &CallArgs) -> JsResult<JsStr> {
    let wanted = vm.to_length(args.get(0))?;
    if wanted <= s.len() as u64 {
        return Ok(string::empty());
    }
    let fill = match args.get(1) {
        v if v.is_undefined() => string::character(b' '),
        v => vm.to_string(v)?,
    };
    if fill.is_empty() {
        return Ok(fill);
    }
    if wanted > limits::STRING_UNITS_MAX as u64 {
        return Err(vm.throw_range_error("Invalid string length"));
    }
    let missing = wanted as usize - s.len();
    let whole = vm.repeat_string(fill, missing / fill.len())?;
    let part = vm.substring(fill, 0, missing % fill.len());
    vm.concat(whole, part)
}

/// 22.1.3.19
fn repeat(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let n = vm.to_integer_or_infinity(args.get(0))?;
    if n < 0.0 || n == f64::INFINITY {
        return Err(vm.throw_range_error("Invalid count value"));
    }
    if s.is_empty() || n == 0.0 {
        return Ok(Value::string(string::empty()));
    }
    if n * s.len() as f64 > limits::STRING_UNITS_MAX as f64 {
        return Err(vm.throw_range_error("Invalid string length"));
    }
    Ok(Value::string(vm.repeat_string(s, n as usize)?))
}

impl Vm {
    /// `count` copies of `s`; the length is within the limit.
    pub(crate) fn repeat_string(&mut self, s: JsStr, count: usize) -> JsResult<JsStr> {
        if count == 0 || s.is_empty() {
            return Ok(string::empty());
        }
        if count == 1 {
            return Ok(s);
        }
        let len = s.len() * count;
        self.check_heap_room(if s.is_latin1() { len } else { len * 2 })?;
        Ok(match s.view(self) {
            StrView::Latin1(units) => {
                let all = units.repeat(count);
                self.new_string_latin1(&all)
            }
            StrView::Utf16(units) => {
                let all = units.repeat(count);
                self.new_string_utf16(&all)
            }
        })
    }
}

/// 22.1.3.22
fn slice(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let from = relative_position(vm, args.get(0), s.len())?;
    let to = match args.get(1) {
        v if v.is_undefined() => s.len(),
        v => relative_position(vm, v, s.len())?,
    };
    Ok(Value::string(vm.substring(s, from, to.max(from))))
}

/// 22.1.3.25
fn substring(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let from = clamped_position(vm, args.get(0), s.len())?;
    let to = match args.get(1) {
        v if v.is_undefined() => s.len(),
        v => clamped_position(vm, v, s.len())?,
    };
    Ok(Value::string(vm.substring(s, from.min(to), from.max(to))))
}

/// Annex B.2.2.1, kept because real programs use it.
fn substr(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let from = relative_position(vm, args.get(0), s.len())?;
    let count = match args.get(1) {
        v if v.is_undefined() => s.len(),
        v => clamped_position(vm, v, s.len())?,
    };
    let to = (from + count).min(s.len());
    Ok(Value::string(vm.substring(s, from, to)))
}

/// 22.1.3.29 and 22.1.3.36
fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if args.this.is_string() {
        return Ok(args.this);
    }
    match args.this.as_object() {
        Some(o) if o.is(ObjectKind::String) => {
            Ok(Value::string(o.slot(0).as_string().unwrap_or_else(string::empty)))
        }
        _ => Err(vm.throw_type_error("this is not a String")),
    }
}

/// The part of a string without white space at either end.
fn trimmed(vm: &mut Vm, s: JsStr) -> (usize, usize) {
    let (from, to) = crate::ops::numeric::trimmed(s.unmetered_view(vm));
    vm.charge_bytes(s.len() - (to - from));
    (from, to)
}

/// 22.1.3.32
fn trim(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let (from, to) = trimmed(vm, s);
    Ok(Value::string(vm.substring(s, from, to)))
}

/// 22.1.3.33
fn trim_end(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let (from, to) = trimmed(vm, s);
    Ok(Value::string(vm.substring(s, 0, if from == to { 0 } else { to })))
}

/// 22.1.3.34
fn trim_start(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let (from, _) = trimmed(vm, s);
    Ok(Value::string(vm.substring(s, from, s.len())))
}
