//! The methods of RegExp.prototype that strings call: match, matchAll, replace, search, split.
//! <https://tc39.es/ecma262/#sec-properties-of-the-regexp-prototype-object>
//!
//! Each has the general path of the specification, which works with any object, and most a fast path for pristine objects
//! (see `regexp_exec::is_pristine`), which makes no result arrays.

use std::rc::Rc;

use super::regexp::{Program, program_of};
use super::regexp_exec::{
    advance_string_index, capture, capture_key, capture_value, groups_object, is_pristine, regexp_exec, run,
    set_last_index,
};
use super::regexp_string_iterator;
use super::string_search::Replacement;
use crate::atoms;
use crate::object::Object;
use crate::object::function::CallArgs;
use crate::object::function::NativeFunctionObject as _;
use crate::realm::Intrinsic;
use crate::string::builder::StringBuilder;
use crate::string::{self, JsStr};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// The `this` value, which must be an object, and the string.
fn this_and_string(vm: &mut Vm, args: &CallArgs) -> JsResult<(Object, JsStr)> {
    let Some(o) = args.this.as_object() else {
        let name = args.callee.native_spec().name;
        let message = format!("RegExp.prototype.{name} called on a value that is not an object");
        return Err(vm.throw_type_error(&message));
    };
    Ok((o, vm.to_string(args.get(0))?))
}

/// ToString(Get(rx, "flags")).
fn flags_string(vm: &mut Vm, o: Object) -> JsResult<JsStr> {
    let flags = vm.get(o, atoms::FLAGS)?;
    vm.to_string(flags)
}

fn has_letter(vm: &mut Vm, s: JsStr, letters: &[u8]) -> bool {
    s.view(vm).units().any(|unit| letters.iter().any(|&letter| unit == u16::from(letter)))
}

/// The program of a pristine object whose `lastIndex` is a number, for the fast paths.
fn pristine_program(vm: &mut Vm, o: Object) -> Option<Rc<Program>> {
    if !is_pristine(vm, o) {
        return None;
    }
    let info = o.shape().lookup(atoms::LAST_INDEX)?;
    if !o.slot(info.slot).is_number() {
        return None;
    }
    program_of(o)
}

/// Set(rx, "lastIndex") after an empty match, so that the next attempt is one further.
fn step_over_empty_match(vm: &mut Vm, o: Object, s: JsStr, unicode: bool) -> JsResult<()> {
    let this_index = vm.get(o, atoms::LAST_INDEX)?;
    let this_index = vm.to_length(this_index)?;
    let next_index = advance_string_index(vm, s, this_index, unicode);
    vm.set_or_throw(o, atoms::LAST_INDEX, Value::number(next_index as f64))
}

/// 22.2.6.8
pub(super) fn match_(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, s) = this_and_string(vm, &args)?;
    if let Some(program) = pristine_program(vm, o)
        && program.regex.flags().global()
    {
        return match_all_at_once(vm, o, &program, s);
    }
    let flags = flags_string(vm, o)?;
    if !has_letter(vm, flags, b"g") {
        return regexp_exec(vm, o, s);
    }
    let unicode = has_letter(vm, flags, b"uv");
    set_last_index(vm, o, 0)?;
    let mut matches = vm.scratch();
    loop {
        vm.poll()?;
        let Some(result) = regexp_exec(vm, o, s)?.as_object() else { break };
        let matched = vm.get(result, capture_key(0))?;
        let matched = vm.to_string(matched)?;
        matches.push(Value::string(matched));
        if matched.is_empty() {
            step_over_empty_match(vm, o, s, unicode)?;
        }
    }
    if matches.is_empty() { Ok(Value::NULL) } else { Ok(Value::object(vm.new_array_from(&matches)?)) }
}

/// OPTIMIZATION: equals the loop of [`match_`] for a pristine global object.
fn match_all_at_once(vm: &mut Vm, o: Object, program: &Rc<Program>, s: JsStr) -> JsResult<Value> {
    set_last_index(vm, o, 0)?;
    let mut matches = vm.scratch();
    for_each_match(vm, program, s, |vm, _| {
        let matched = capture_value(vm, s, 0);
        matches.push(matched);
        Ok(())
    })?;
    if matches.is_empty() { Ok(Value::NULL) } else { Ok(Value::object(vm.new_array_from(&matches)?)) }
}

/// Calls `each` with the end of every match of a global pattern, from the beginning of `s`.
fn for_each_match(
    vm: &mut Vm,
    program: &Rc<Program>,
    s: JsStr,
    mut each: impl FnMut(&mut Vm, usize) -> JsResult<()>,
) -> JsResult<()> {
    let unicode = program.regex.flags().either_unicode();
    let mut from = 0;
    while from <= s.len() && run(vm, program, s, from, false)? {
        let Some(whole) = capture(vm, 0) else { break };
        each(vm, whole.end)?;
        from = match whole.is_empty() {
            true => advance_string_index(vm, s, whole.end as u64, unicode) as usize,
            false => whole.end,
        };
    }
    Ok(())
}

/// 22.2.6.9
pub(super) fn match_all(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, s) = this_and_string(vm, &args)?;
    let c = vm.species_constructor(o, Intrinsic::RegExp)?;
    let flags = flags_string(vm, o)?;
    let matcher = vm.construct(c, &[Value::object(o), Value::string(flags)], c)?;
    let last_index = vm.get(o, atoms::LAST_INDEX)?;
    let last_index = vm.to_length(last_index)?;
    vm.set_or_throw(matcher, atoms::LAST_INDEX, Value::number(last_index as f64))?;
    let global = has_letter(vm, flags, b"g");
    let unicode = has_letter(vm, flags, b"uv");
    Ok(Value::object(regexp_string_iterator::create(vm, matcher, s, global, unicode)))
}

/// 22.2.6.12
pub(super) fn search(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, s) = this_and_string(vm, &args)?;
    // OPTIMIZATION: equals the steps below, which restore lastIndex.
    if let Some(program) = pristine_program(vm, o) {
        let found = run(vm, &program, s, 0, false)?;
        let start = capture(vm, 0).filter(|_| found).map(|range| range.start as i32);
        return Ok(Value::int32(start.unwrap_or(-1)));
    }
    let previous = vm.get(o, atoms::LAST_INDEX)?;
    if !vm.same_value(previous, Value::int32(0)) {
        vm.set_or_throw(o, atoms::LAST_INDEX, Value::int32(0))?;
    }
    let result = regexp_exec(vm, o, s)?;
    let current = vm.get(o, atoms::LAST_INDEX)?;
    if !vm.same_value(current, previous) {
        vm.set_or_throw(o, atoms::LAST_INDEX, previous)?;
    }
    match result.as_object() {
        Some(result) => vm.get(result, atoms::INDEX),
        None => Ok(Value::int32(-1)),
    }
}

/// 22.2.6.11
pub(super) fn replace(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, s) = this_and_string(vm, &args)?;
    let replacement = Replacement::new(vm, args.get(1))?;
    if let Some(program) = pristine_program(vm, o)
        && !program.regex.flags().sticky()
    {
        return replace_directly(vm, o, &program, s, &replacement);
    }
    let flags = flags_string(vm, o)?;
    let global = has_letter(vm, flags, b"g");
    let unicode = has_letter(vm, flags, b"uv");
    if global {
        vm.set_or_throw(o, atoms::LAST_INDEX, Value::int32(0))?;
    }
    let mut results = vm.scratch();
    loop {
        vm.poll()?;
        let Some(result) = regexp_exec(vm, o, s)?.as_object() else { break };
        results.push(Value::object(result));
        if !global {
            break;
        }
        let matched = vm.get(result, capture_key(0))?;
        if vm.to_string(matched)?.is_empty() {
            step_over_empty_match(vm, o, s, unicode)?;
        }
    }
    let mut out = StringBuilder::new();
    let mut next_source_position = 0;
    for &result in results.iter() {
        if let Some(result) = result.as_object() {
            replace_one(vm, &mut out, s, result, &replacement, &mut next_source_position)?;
        }
    }
    if next_source_position < s.len() {
        out.push_view(s.view_of(vm, next_source_position, s.len()));
    }
    Ok(Value::string(out.finish(vm)?))
}

/// The replacement of one result object (step 14 of Symbol.replace).
fn replace_one(
    vm: &mut Vm,
    out: &mut StringBuilder,
    s: JsStr,
    result: Object,
    replacement: &Replacement,
    next_source_position: &mut usize,
) -> JsResult<()> {
    let count = vm.length_of_array_like(result)?;
    let matched = vm.get(result, capture_key(0))?;
    let matched = vm.to_string(matched)?;
    let position = vm.get(result, atoms::INDEX)?;
    let position = vm.to_integer_or_infinity(position)?.clamp(0.0, s.len() as f64) as usize;
    let mut captures = vm.scratch();
    for group in 1..count {
        vm.poll()?;
        let key = vm.key_from_u64(group);
        let mut value = vm.get(result, key)?;
        if !value.is_undefined() {
            value = Value::string(vm.to_string(value)?);
        }
        captures.push(value);
    }
    let mut groups = vm.get(result, atoms::GROUPS)?;
    if matches!(replacement, Replacement::Template(_)) && !groups.is_undefined() {
        groups = Value::object(vm.to_object(groups)?);
    }
    let mut text = StringBuilder::new();
    replacement.append(vm, &mut text, s, position, matched, &captures, groups)?;
    if position >= *next_source_position {
        out.push_view(s.view_of(vm, *next_source_position, position));
        out.push_view(text.view());
        out.check(vm)?;
        *next_source_position = (position + matched.len()).min(s.len());
    }
    Ok(())
}

/// OPTIMIZATION: equals the general path for a pristine object that is not sticky. Calls of a replacement function come between the
/// matches here, which they cannot observe: neither the pattern nor the string can change, and `lastIndex` is not read.
fn replace_directly(
    vm: &mut Vm,
    o: Object,
    program: &Rc<Program>,
    s: JsStr,
    replacement: &Replacement,
) -> JsResult<Value> {
    let mut out = StringBuilder::new();
    let mut next_source_position = 0;
    let one = |vm: &mut Vm, out: &mut StringBuilder, next: &mut usize| -> JsResult<()> {
        let Some(whole) = capture(vm, 0) else { return Ok(()) };
        out.push_view(s.view_of(vm, *next, whole.start));
        let mut captures = vm.scratch();
        for group in 1..program.regex.group_count() {
            let value = capture_value(vm, s, group);
            captures.push(value);
        }
        let groups = groups_object(vm, program, |_, group| {
            Ok(group.checked_sub(1).and_then(|i| captures.get(i)).copied().unwrap_or(Value::UNDEFINED))
        })?;
        let matched = vm.substring(s, whole.start, whole.end);
        replacement.append(vm, out, s, whole.start, matched, &captures, groups)?;
        *next = whole.end;
        out.check(vm)
    };
    if program.regex.flags().global() {
        set_last_index(vm, o, 0)?;
        for_each_match(vm, program, s, |vm, _| one(vm, &mut out, &mut next_source_position))?;
    } else if run(vm, program, s, 0, false)? {
        one(vm, &mut out, &mut next_source_position)?;
    }
    if next_source_position == 0 && out.is_empty() {
        return Ok(Value::string(s));
    }
    out.push_view(s.view_of(vm, next_source_position, s.len()));
    Ok(Value::string(out.finish(vm)?))
}

/// 22.2.6.14
pub(super) fn split(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, s) = this_and_string(vm, &args)?;
    let limit_of = |vm: &mut Vm| match args.get(1) {
        v if v.is_undefined() => Ok(u32::MAX),
        v => vm.to_uint32(v),
    };
    if let Some(program) = pristine_program(vm, o) {
        let limit = limit_of(vm)?;
        return split_directly(vm, &program, s, limit as usize);
    }
    let c = vm.species_constructor(o, Intrinsic::RegExp)?;
    let flags = flags_string(vm, o)?;
    let unicode = has_letter(vm, flags, b"uv");
    let new_flags =
        if has_letter(vm, flags, b"y") { flags } else { vm.concat(flags, string::character(b'y'))? };
    let splitter = vm.construct(c, &[Value::object(o), Value::string(new_flags)], c)?;
    let limit = limit_of(vm)? as usize;
    let mut parts = vm.scratch();
    if limit == 0 {
        return Ok(Value::object(vm.new_array()));
    }
    if s.is_empty() {
        if regexp_exec(vm, splitter, s)?.is_null() {
            parts.push(Value::string(s));
        }
        return Ok(Value::object(vm.new_array_from(&parts)?));
    }
    let size = s.len();
    let (mut end_of_last, mut at) = (0_usize, 0_usize);
    while at < size {
        vm.poll()?;
        vm.set_or_throw(splitter, atoms::LAST_INDEX, Value::int32(at as i32))?;
        let result = regexp_exec(vm, splitter, s)?;
        let mut end = at as u64;
        if result.is_object() {
            let last_index = vm.get(splitter, atoms::LAST_INDEX)?;
            end = vm.to_length(last_index)?.min(size as u64);
        }
        let Some(result) = result.as_object().filter(|_| end as usize != end_of_last) else {
            at = advance_string_index(vm, s, at as u64, unicode) as usize;
            continue;
        };
        let part = vm.substring(s, end_of_last, at);
        parts.push(Value::string(part));
        if parts.len() == limit {
            return Ok(Value::object(vm.new_array_from(&parts)?));
        }
        end_of_last = end as usize;
        let count = vm.length_of_array_like(result)?;
        for group in 1..count {
            vm.poll()?;
            let key = vm.key_from_u64(group);
            let value = vm.get(result, key)?;
            parts.push(value);
            if parts.len() == limit {
                return Ok(Value::object(vm.new_array_from(&parts)?));
            }
        }
        at = end_of_last;
    }
    let rest = vm.substring(s, end_of_last, size);
    parts.push(Value::string(rest));
    Ok(Value::object(vm.new_array_from(&parts)?))
}

/// OPTIMIZATION: equals the general path for a pristine object: a search instead of a sticky attempt at each position.
fn split_directly(vm: &mut Vm, program: &Rc<Program>, s: JsStr, limit: usize) -> JsResult<Value> {
    let mut parts = vm.scratch();
    if limit == 0 {
        return Ok(Value::object(vm.new_array()));
    }
    if s.is_empty() {
        if !run(vm, program, s, 0, true)? {
            parts.push(Value::string(s));
        }
        return Ok(Value::object(vm.new_array_from(&parts)?));
    }
    let unicode = program.regex.flags().either_unicode();
    let sticky = program.regex.flags().sticky();
    let (mut end_of_last, mut at) = (0, 0);
    while at < s.len() {
        if !run(vm, program, s, at, false)? {
            if !sticky {
                break;
            }
            at = advance_string_index(vm, s, at as u64, unicode) as usize;
            continue;
        }
        let Some(whole) = capture(vm, 0) else { break };
        if whole.start >= s.len() {
            break;
        }
        if whole.end == end_of_last {
            at = advance_string_index(vm, s, whole.start.max(at) as u64, unicode) as usize;
            continue;
        }
        let part = vm.substring(s, end_of_last, whole.start);
        parts.push(Value::string(part));
        for group in 1..program.regex.group_count() {
            if parts.len() == limit {
                break;
            }
            let value = capture_value(vm, s, group);
            parts.push(value);
        }
        if parts.len() == limit {
            return Ok(Value::object(vm.new_array_from(&parts)?));
        }
        end_of_last = whole.end;
        at = end_of_last;
    }
    let rest = vm.substring(s, end_of_last, s.len());
    parts.push(Value::string(rest));
    Ok(Value::object(vm.new_array_from(&parts)?))
}
