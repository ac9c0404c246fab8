//! The methods of strings that search, split and replace. <https://tc39.es/ecma262/#sec-properties-of-the-string-prototype-object>
//!
//! Patterns that are objects are left to their `Symbol.*` methods. [`find`] is the one substring search of the engine; it takes time linear in
//! the text whatever the needle.

use super::string::{clamped_position, this_string};
use crate::atoms;
use crate::object::Object;
use crate::object::function::CallArgs;
use crate::object::function::NativeFunctionObject as _;
use crate::property_key::PropertyKey;
use crate::string::builder::StringBuilder;
use crate::string::{self, JsStr, StrView};
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// StringIndexOf (6.1.4.1): the first occurrence of `needle` at or after `from`.
pub(crate) fn find(text: StrView<'_>, needle: StrView<'_>, from: usize) -> Option<usize> {
    if from > text.len() {
        return None;
    }
    if needle.is_empty() {
        return Some(from);
    }
    match (text, needle) {
        (StrView::Latin1(text), StrView::Latin1(needle)) => {
            let rest = text.get(from..)?;
            let found = match needle {
                [only] => memchr::memchr(*only, rest),
                _ => memchr::memmem::find(rest, needle),
            };
            found.map(|at| at + from)
        }
        (StrView::Latin1(_), StrView::Utf16(units)) => {
            let narrow: Option<Vec<u8>> = units.iter().map(|&unit| u8::try_from(unit).ok()).collect();
            find(text, StrView::Latin1(&narrow?), from)
        }
        (StrView::Utf16(_), StrView::Latin1(units)) => {
            let wide: Vec<u16> = units.iter().map(|&unit| u16::from(unit)).collect();
            find(text, StrView::Utf16(&wide), from)
        }
        (StrView::Utf16(text), StrView::Utf16(needle)) => {
            find_units(text.get(from..)?, needle).map(|at| at + from)
        }
    }
}

/// Tries each place as long as that is cheap, then goes over to Knuth, Morris and Pratt.
fn find_units(text: &[u16], needle: &[u16]) -> Option<usize> {
    let (first, rest) = needle.split_first()?;
    let mut compared = 0;
    let mut at = 0;
    loop {
        at += text.get(at..)?.iter().position(|unit| unit == first)?;
        let here = text.get(at + 1..)?;
        let equal = here.iter().zip(rest).take_while(|(a, b)| a == b).count();
        if equal == rest.len() {
            return Some(at);
        }
        compared += equal;
        at += 1;
        if compared > at * 8 + 256 {
            return find_linear(text.get(at..)?, needle).map(|found| found + at);
        }
    }
}

fn find_linear(text: &[u16], needle: &[u16]) -> Option<usize> {
    // borders[i]: the length of the longest proper border of needle[..=i].
    let mut borders = vec![0_usize; needle.len()];
    let mut length = 0;
    for i in 1..needle.len() {
        while length > 0 && needle[i] != needle[length] {
            length = borders[length - 1];
        }
        length += usize::from(needle[i] == needle[length]);
        borders[i] = length;
    }
    let mut matched = 0;
    for (i, unit) in text.iter().enumerate() {
        while matched > 0 && *unit != needle[matched] {
            matched = borders[matched - 1];
        }
        matched += usize::from(*unit == needle[matched]);
        if matched == needle.len() {
            return Some(i + 1 - matched);
        }
    }
    None
}

/// The last occurrence of `needle` that begins at or before `from`.
fn find_last(text: StrView<'_>, needle: StrView<'_>, from: usize) -> Option<usize> {
    if needle.is_empty() {
        return Some(from.min(text.len()));
    }
    let end = from.saturating_add(needle.len()).min(text.len());
    match (text, needle) {
        (StrView::Latin1(text), StrView::Latin1(needle)) => memchr::memmem::rfind(text.get(..end)?, needle),
        _ => {
            // The search runs on the reversed units, which keeps it linear.
            let reversed: Vec<u16> =
                text.slice(0, end).units().collect::<Vec<_>>().into_iter().rev().collect();
            let mut wanted: Vec<u16> = needle.units().collect();
            wanted.reverse();
            find_units(&reversed, &wanted).map(|at| end - at - needle.len())
        }
    }
}

/// The first occurrence of `needle` at or after `from`; what was looked through is charged.
fn find_charged(vm: &mut Vm, s: JsStr, needle: JsStr, from: usize) -> Option<usize> {
    let found = find(s.unmetered_view(vm), needle.view(vm), from);
    vm.charge_bytes(found.unwrap_or(s.len()).saturating_sub(from));
    found
}

/// 22.1.3.9
pub(super) fn index_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let needle = vm.to_string(args.get(0))?;
    let from = clamped_position(vm, args.get(1), s.len())?;
    let found = find_charged(vm, s, needle, from);
    Ok(found.map_or(Value::int32(-1), |at| Value::int32(at as i32)))
}

/// 22.1.3.11
pub(super) fn last_index_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let needle = vm.to_string(args.get(0))?;
    let n = vm.to_number(args.get(1))?;
    let from = if n.is_nan() { f64::INFINITY } else { n.trunc() };
    let Some(last) = s.len().checked_sub(needle.len()) else { return Ok(Value::int32(-1)) };
    let found = find_last(s.view(vm), needle.view(vm), from.clamp(0.0, last as f64) as usize);
    Ok(found.map_or(Value::int32(-1), |at| Value::int32(at as i32)))
}

/// The search string of `includes`, `startsWith` and `endsWith`, which must not be a regular expression.
fn search_string(vm: &mut Vm, args: &CallArgs) -> JsResult<JsStr> {
    if vm.is_regexp(args.get(0))? {
        let name = args.callee.native_spec().name;
        let message = format!("First argument to String.prototype.{name} must not be a regular expression");
        return Err(vm.throw_type_error(&message));
    }
    vm.to_string(args.get(0))
}

/// 22.1.3.8
pub(super) fn includes(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let needle = search_string(vm, &args)?;
    let from = clamped_position(vm, args.get(1), s.len())?;
    Ok(Value::bool(find_charged(vm, s, needle, from).is_some()))
}

/// 22.1.3.24
pub(super) fn starts_with(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let needle = search_string(vm, &args)?;
    let from = clamped_position(vm, args.get(1), s.len())?;
    Ok(Value::bool(is_at(vm, s, needle, from)))
}

/// 22.1.3.7
pub(super) fn ends_with(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let needle = search_string(vm, &args)?;
    let end = match args.get(1) {
        v if v.is_undefined() => s.len(),
        v => clamped_position(vm, v, s.len())?,
    };
    let from = end.checked_sub(needle.len());
    Ok(Value::bool(from.is_some_and(|from| is_at(vm, s, needle, from))))
}

/// Whether `needle` stands at `from`.
fn is_at(vm: &mut Vm, s: JsStr, needle: JsStr, from: usize) -> bool {
    if s.len() - from < needle.len() {
        return false;
    }
    let needle_view = needle.unmetered_view(vm);
    s.view_of(vm, from, from + needle.len()) == needle_view
}

/// The first step of `match`, `replace`, `search` and `split`: an object argument may have a method for it.
fn delegate(vm: &mut Vm, args: &CallArgs, method: PropertyKey, rest: &[Value]) -> JsResult<Option<Value>> {
    if args.this.is_nullish() {
        let name = args.callee.native_spec().name;
        let message = format!("String.prototype.{name} called on null or undefined");
        return Err(vm.throw_type_error(&message));
    }
    let pattern = args.get(0);
    if !pattern.is_object() {
        return Ok(None);
    }
    let f = vm.get_method(pattern, method)?;
    if f.is_undefined() {
        return Ok(None);
    }
    match rest {
        [] => vm.call(f, pattern, &[args.this]),
        rest => vm.call(f, pattern, &[args.this, rest.first().copied().unwrap_or(Value::UNDEFINED)]),
    }
    .map(Some)
}

/// 22.1.3.13
pub(super) fn match_(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if let Some(result) = delegate(vm, &args, symbol::MATCH, &[])? {
        return Ok(result);
    }
    let s = vm.to_string(args.this)?;
    let regexp = super::regexp::regexp_create(vm, args.get(0), Value::UNDEFINED)?;
    vm.invoke(Value::object(regexp), symbol::MATCH, &[Value::string(s)])
}

/// Throws unless a regular expression has the flag `g`, as `matchAll` and `replaceAll` demand.
fn require_global(vm: &mut Vm, args: &CallArgs) -> JsResult<()> {
    let Some(pattern) = args.get(0).as_object() else { return Ok(()) };
    if !vm.is_regexp(Value::object(pattern))? {
        return Ok(());
    }
    let flags = vm.get(pattern, atoms::FLAGS)?;
    vm.require_object_coercible(flags)?;
    let flags = vm.to_string(flags)?;
    if flags.view(vm).units().any(|unit| unit == u16::from(b'g')) {
        return Ok(());
    }
    let name = args.callee.native_spec().name;
    let message = format!("String.prototype.{name} called with a non-global RegExp argument");
    Err(vm.throw_type_error(&message))
}

/// 22.1.3.14
pub(super) fn match_all(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.this.is_nullish() {
        require_global(vm, &args)?;
    }
    if let Some(result) = delegate(vm, &args, symbol::MATCH_ALL, &[])? {
        return Ok(result);
    }
    let s = vm.to_string(args.this)?;
    let flags = Value::string(string::character(b'g'));
    let regexp = super::regexp::regexp_create(vm, args.get(0), flags)?;
    vm.invoke(Value::object(regexp), symbol::MATCH_ALL, &[Value::string(s)])
}

/// 22.1.3.21
pub(super) fn search(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if let Some(result) = delegate(vm, &args, symbol::SEARCH, &[])? {
        return Ok(result);
    }
    let s = vm.to_string(args.this)?;
    let regexp = super::regexp::regexp_create(vm, args.get(0), Value::UNDEFINED)?;
    vm.invoke(Value::object(regexp), symbol::SEARCH, &[Value::string(s)])
}

/// 22.1.3.19
pub(super) fn replace(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if let Some(result) = delegate(vm, &args, symbol::REPLACE, &[args.get(1)])? {
        return Ok(result);
    }
    replace_string(vm, &args, false)
}

/// 22.1.3.20
pub(super) fn replace_all(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.this.is_nullish() {
        require_global(vm, &args)?;
    }
    if let Some(result) = delegate(vm, &args, symbol::REPLACE, &[args.get(1)])? {
        return Ok(result);
    }
    replace_string(vm, &args, true)
}

/// The part that `replace` and `replaceAll` share, for patterns that are strings.
fn replace_string(vm: &mut Vm, args: &CallArgs, all: bool) -> JsResult<Value> {
    let s = vm.to_string(args.this)?;
    let needle = vm.to_string(args.get(0))?;
    let replacement = Replacement::new(vm, args.get(1))?;
    let advance = needle.len().max(1);
    let mut out = StringBuilder::new();
    let mut end_of_last = 0;
    let mut found = find_charged(vm, s, needle, 0);
    if found.is_none() {
        return Ok(Value::string(s));
    }
    while let Some(at) = found {
        vm.poll()?;
        out.push_view(s.view_of(vm, end_of_last, at));
        replacement.append(vm, &mut out, s, at, needle, &[], Value::UNDEFINED)?;
        out.check(vm)?;
        end_of_last = at + needle.len();
        found = if all { find_charged(vm, s, needle, at + advance) } else { None };
    }
    out.push_view(s.view_of(vm, end_of_last, s.len()));
    Ok(Value::string(out.finish(vm)?))
}

/// What a match is replaced with: the result of a function, or a template.
pub(crate) enum Replacement {
    /// Called with the match, the captures, the position, the string, and the named groups if there are any.
    Function(Value),
    /// With `$&` and its kin.
    Template(JsStr),
}

impl Replacement {
    pub(crate) fn new(vm: &mut Vm, v: Value) -> JsResult<Self> {
        if v.is_callable() { Ok(Self::Function(v)) } else { Ok(Self::Template(vm.to_string(v)?)) }
    }

    /// Appends the replacement of one match. `captures` are strings or undefined, without the whole match.
    pub(crate) fn append(
        &self,
        vm: &mut Vm,
        out: &mut StringBuilder,
        s: JsStr,
        position: usize,
        matched: JsStr,
        captures: &[Value],
        groups: Value,
    ) -> JsResult<()> {
        match self {
            Self::Function(f) => {
                let mut arguments = vm.scratch();
                arguments.push(Value::string(matched));
                arguments.extend_from_slice(captures);
                arguments.push(Value::int32(position as i32));
                arguments.push(Value::string(s));
                if !groups.is_undefined() {
                    arguments.push(groups);
                }
                let result = vm.call(*f, Value::UNDEFINED, &arguments)?;
                let result = vm.to_string(result)?;
                out.push_string(vm, result);
                Ok(())
            }
            Self::Template(template) => {
                get_substitution(vm, out, *template, s, position, matched, captures, groups)
            }
        }
    }
}

/// GetSubstitution (22.1.3.19.1), appending to `out`.
fn get_substitution(
    vm: &mut Vm,
    out: &mut StringBuilder,
    template: JsStr,
    s: JsStr,
    position: usize,
    matched: JsStr,
    captures: &[Value],
    groups: Value,
) -> JsResult<()> {
    let text = template.view(vm);
    let mut i = 0;
    while i < text.len() {
        vm.poll()?;
        let Some(dollar) = find(text, StrView::Latin1(b"$"), i) else { break };
        out.push_view(text.slice(i, dollar));
        let next = text.get(dollar + 1).and_then(|unit| u8::try_from(unit).ok());
        i = dollar + 2;
        match next {
            Some(b'$') => out.push_unit(u16::from(b'$')),
            Some(b'&') => out.push_string(vm, matched),
            Some(b'`') => out.push_view(s.view_of(vm, 0, position)),
            Some(b'\'') => {
                let tail = (position + matched.len()).min(s.len());
                out.push_view(s.view_of(vm, tail, s.len()));
            }
            Some(b'0'..=b'9') => match capture_reference(text, dollar + 1, captures.len()) {
                Some((group, digits)) => {
                    i = dollar + 1 + digits;
                    if let Some(capture) = captures.get(group - 1).and_then(|v| v.as_string()) {
                        out.push_string(vm, capture);
                    }
                }
                None => {
                    out.push_unit(u16::from(b'$'));
                    i = dollar + 1;
                }
            },
            Some(b'<') if !groups.is_undefined() => match find(text, StrView::Latin1(b">"), dollar + 2) {
                Some(close) => {
                    let name = vm.substring(template, dollar + 2, close);
                    append_group(vm, out, groups, name)?;
                    i = close + 1;
                }
                None => {
                    out.push_unit(u16::from(b'$'));
                    i = dollar + 1;
                }
            },
            _ => {
                out.push_unit(u16::from(b'$'));
                i = dollar + 1;
            }
        }
        out.check(vm)?;
    }
    if i < text.len() {
        out.push_view(text.slice(i, text.len()));
    }
    Ok(())
}

/// The number of one or two digits at `at` that names an existing group, and how many digits it has.
fn capture_reference(text: StrView<'_>, at: usize, groups: usize) -> Option<(usize, usize)> {
    let digit = |i: usize| {
        text.get(i).filter(|unit| (0x30..=0x39).contains(unit)).map(|unit| usize::from(unit - 0x30))
    };
    let first = digit(at)?;
    if let Some(second) = digit(at + 1) {
        let both = first * 10 + second;
        if (1..=groups).contains(&both) {
            return Some((both, 2));
        }
    }
    (1..=groups).contains(&first).then_some((first, 1))
}

fn append_group(vm: &mut Vm, out: &mut StringBuilder, groups: Value, name: JsStr) -> JsResult<()> {
    let key = vm.key_from_string(name);
    let capture = vm.get_v(groups, key)?;
    if !capture.is_undefined() {
        let capture = vm.to_string(capture)?;
        out.push_string(vm, capture);
    }
    Ok(())
}

/// 22.1.3.23
pub(super) fn split(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if let Some(result) = delegate(vm, &args, symbol::SPLIT, &[args.get(1)])? {
        return Ok(result);
    }
    let s = vm.to_string(args.this)?;
    let limit = match args.get(1) {
        v if v.is_undefined() => u32::MAX,
        v => vm.to_uint32(v)?,
    };
    let separator = vm.to_string(args.get(0))?;
    if limit == 0 {
        return Ok(Value::object(vm.new_array()));
    }
    if args.get(0).is_undefined() {
        return Ok(Value::object(vm.new_array_from(&[Value::string(s)])?));
    }
    Ok(Value::object(split_string(vm, s, separator, limit as usize)?))
}

fn split_string(vm: &mut Vm, s: JsStr, separator: JsStr, limit: usize) -> JsResult<Object> {
    let mut parts = vm.scratch();
    if separator.is_empty() {
        let count = s.len().min(limit);
        vm.check_heap_room(count * size_of::<Value>() * 2)?;
        let view = s.unmetered_view(vm);
        for i in 0..count {
            vm.poll()?;
            let unit = vm.new_string_unit(view.at(i));
            parts.push(Value::string(unit));
        }
        return vm.new_array_from(&parts);
    }
    let mut from = 0;
    while let Some(at) = find_charged(vm, s, separator, from) {
        vm.poll()?;
        let part = vm.substring(s, from, at);
        parts.push(Value::string(part));
        if parts.len() >= limit {
            return vm.new_array_from(&parts);
        }
        from = at + separator.len();
    }
    let last = vm.substring(s, from, s.len());
    parts.push(Value::string(last));
    vm.new_array_from(&parts)
}
