//! Matching (22.2.7): RegExpExec, RegExpBuiltinExec and the arrays they give.
//! <https://tc39.es/ecma262/#sec-regexpexec>

use std::ops::{ControlFlow, Range};
use std::rc::Rc;

use cynic_regexp::Interrupted;

use super::regexp::{Program, as_regexp, input, program_of};
use crate::atoms;
use crate::object::function::CallArgs;
use crate::object::{Object, ObjectKind};
use crate::property_key::PropertyKey;
use crate::realm::Intrinsic;
use crate::shape::attrs;
use crate::string::JsStr;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// Steps of the matcher that count as one step of the isolate.
pub(super) const MATCHER_STEPS_PER_STEP: u32 = 8;

/// 22.2.6.2
pub(super) fn exec(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(o) = as_regexp(args.this) else {
        return Err(vm.throw_type_error("RegExp.prototype.exec called on an object that is not a RegExp"));
    };
    let s = vm.to_string(args.get(0))?;
    builtin_exec(vm, o, s)
}

/// 22.2.6.16
pub(super) fn test(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(o) = args.this.as_object() else {
        return Err(vm.throw_type_error("RegExp.prototype.test called on a value that is not an object"));
    };
    let s = vm.to_string(args.get(0))?;
    // OPTIMIZATION: equals RegExpExec without making the array.
    if is_pristine(vm, o)
        && let Some(program) = program_of(o)
    {
        return Ok(Value::bool(advance_and_match(vm, o, &program, s)?));
    }
    Ok(Value::bool(!regexp_exec(vm, o, s)?.is_null()))
}

/// Whether nothing can have changed what `exec` and the flags of this object mean: it has only `lastIndex` of its own, and its prototype is the
/// frozen intrinsic. (Without hardening the methods take the general path.)
pub(super) fn is_pristine(vm: &mut Vm, o: Object) -> bool {
    vm.options.hardened
        && o.is(ObjectKind::RegExp)
        && o.shape().property_count() == 1
        && o.prototype() == Value::object(vm.intrinsic(Intrinsic::RegExpPrototype))
}

/// RegExpExec (22.2.7.1): an array or null.
pub(super) fn regexp_exec(vm: &mut Vm, o: Object, s: JsStr) -> JsResult<Value> {
    if !is_pristine(vm, o) {
        let f = vm.get(o, atoms::EXEC)?;
        if f.is_callable() {
            let result = vm.call(f, Value::object(o), &[Value::string(s)])?;
            if !result.is_object() && !result.is_null() {
                return Err(
                    vm.throw_type_error("the exec method of a RegExp did not return an object or null")
                );
            }
            return Ok(result);
        }
    }
    match as_regexp(Value::object(o)) {
        Some(o) => builtin_exec(vm, o, s),
        None => Err(vm.throw_type_error("object is not a RegExp and has no exec method")),
    }
}

/// RegExpBuiltinExec (22.2.7.2).
fn builtin_exec(vm: &mut Vm, o: Object, s: JsStr) -> JsResult<Value> {
    let Some(program) = program_of(o) else { return Ok(Value::NULL) };
    if advance_and_match(vm, o, &program, s)? { match_result(vm, &program, s) } else { Ok(Value::NULL) }
}

/// The steps of RegExpBuiltinExec around the match: `lastIndex` before and after. Captures are left in the isolate's scratch memory.
pub(super) fn advance_and_match(vm: &mut Vm, o: Object, program: &Rc<Program>, s: JsStr) -> JsResult<bool> {
    let last_index = vm.get(o, atoms::LAST_INDEX)?;
    let last_index = vm.to_length(last_index)?;
    let flags = program.regex.flags();
    let uses_last_index = flags.global() || flags.sticky();
    let from = if uses_last_index { last_index } else { 0 };
    let found = from <= s.len() as u64 && run(vm, program, s, from as usize, false)?;
    if uses_last_index {
        let after = if found { capture(vm, 0).map_or(0, |range| range.end) } else { 0 };
        set_last_index(vm, o, after)?;
    }
    Ok(found)
}

/// Set(R, "lastIndex", index, true).
pub(super) fn set_last_index(vm: &mut Vm, o: Object, index: usize) -> JsResult<()> {
    // OPTIMIZATION: equals the Set below while the property is as it was made.
    if o.is(ObjectKind::RegExp)
        && let Some(info) = o.shape().lookup(atoms::LAST_INDEX)
        && info.attrs == attrs::WRITABLE
    {
        o.set_slot(info.slot, Value::int32(index as i32));
        return Ok(());
    }
    vm.set_or_throw(o, atoms::LAST_INDEX, Value::number(index as f64))
}

/// Runs the matcher from `from`, metered.
pub(super) fn run(vm: &mut Vm, program: &Rc<Program>, s: JsStr, from: usize, sticky: bool) -> JsResult<bool> {
    let view = s.unmetered_view(vm);
    let mut scratch = std::mem::take(&mut vm.regexp.scratch);
    let mut stopped = None;
    let mut budget = |steps: u32| match vm.poll_n(steps / MATCHER_STEPS_PER_STEP) {
        Ok(()) => ControlFlow::Continue(()),
        Err(abrupt) => {
            stopped = Some(abrupt);
            ControlFlow::Break(())
        }
    };
    let result = program.regex.exec(input(view), from, sticky, &mut scratch, &mut budget);
    vm.regexp.scratch = scratch;
    match (result, stopped) {
        (Ok(found), _) => {
            // What the matcher went through in less than one of its budgets.
            let end = capture(vm, 0).filter(|_| found).map_or(s.len(), |range| range.end);
            let looked_at = if sticky && !found { 0 } else { end.saturating_sub(from) };
            vm.poll_n(
                1 + (looked_at / 4096) as u32 + program.regex.steps_to_begin() / MATCHER_STEPS_PER_STEP,
            )?;
            Ok(found)
        }
        (Err(_), Some(abrupt)) => Err(abrupt),
        (Err(Interrupted::BacktrackLimit | Interrupted::Budget), None) => {
            Err(vm.throw_range_error("Regular expression needs too much backtracking"))
        }
    }
}

/// A group of the last match.
pub(super) fn capture(vm: &Vm, group: usize) -> Option<Range<usize>> {
    vm.regexp.scratch.capture(group)
}

/// A group of the last match as a string, or undefined.
pub(super) fn capture_value(vm: &mut Vm, s: JsStr, group: usize) -> Value {
    match capture(vm, group) {
        Some(range) => Value::string(vm.substring(s, range.start, range.end)),
        None => Value::UNDEFINED,
    }
}

/// The array of a match (steps 20 to 34 of RegExpBuiltinExec).
fn match_result(vm: &mut Vm, program: &Rc<Program>, s: JsStr) -> JsResult<Value> {
    let regex = &program.regex;
    let count = regex.group_count();
    let mut values = vm.scratch();
    let mut ranges = Vec::with_capacity(count);
    for group in 0..count {
        let value = capture_value(vm, s, group);
        values.push(value);
        ranges.push(capture(vm, group));
    }
    // `index`, `input`, `groups`, and sometimes `indices`.
    let array = vm.new_array_with_room(&values, 4)?;
    let start = ranges.first().cloned().flatten().map_or(0, |range| range.start);
    vm.create_data_property_or_throw(array, atoms::INDEX, Value::int32(start as i32))?;
    vm.create_data_property_or_throw(array, atoms::INPUT, Value::string(s))?;
    let groups =
        groups_object(vm, program, |_, group| Ok(values.get(group).copied().unwrap_or(Value::UNDEFINED)))?;
    vm.create_data_property_or_throw(array, atoms::GROUPS, groups)?;
    if regex.flags().has_indices() {
        let indices = indices_array(vm, program, &ranges)?;
        vm.create_data_property_or_throw(array, atoms::INDICES, Value::object(indices))?;
    }
    Ok(Value::object(array))
}

/// The `groups` object, or undefined if no group has a name. Of several groups with one name at most one took part.
pub(super) fn groups_object(
    vm: &mut Vm,
    program: &Rc<Program>,
    mut value_of: impl FnMut(&mut Vm, usize) -> JsResult<Value>,
) -> JsResult<Value> {
    if program.regex.group_names().is_empty() {
        return Ok(Value::UNDEFINED);
    }
    let groups = vm.new_object_with(Value::NULL);
    for group in program.regex.group_names() {
        let name = vm.new_string_utf16(&group.name);
        let key = vm.key_from_string(name);
        let mut value = Value::UNDEFINED;
        for &index in &group.groups {
            value = value_of(vm, index as usize)?;
            if !value.is_undefined() {
                break;
            }
        }
        vm.create_data_property_or_throw(groups, key, value)?;
    }
    Ok(Value::object(groups))
}

/// MakeMatchIndicesIndexPairArray (22.2.7.8).
fn indices_array(vm: &mut Vm, program: &Rc<Program>, ranges: &[Option<Range<usize>>]) -> JsResult<Object> {
    let mut pairs = vm.scratch();
    for range in ranges {
        let pair = match range {
            Some(range) => {
                let ends = [Value::int32(range.start as i32), Value::int32(range.end as i32)];
                Value::object(vm.new_array_from(&ends)?)
            }
            None => Value::UNDEFINED,
        };
        pairs.push(pair);
    }
    let array = vm.new_array_from(&pairs)?;
    let groups =
        groups_object(vm, program, |_, group| Ok(pairs.get(group).copied().unwrap_or(Value::UNDEFINED)))?;
    vm.create_data_property_or_throw(array, atoms::GROUPS, groups)?;
    Ok(array)
}

/// AdvanceStringIndex (22.2.7.3).
pub(super) fn advance_string_index(vm: &mut Vm, s: JsStr, index: u64, unicode: bool) -> u64 {
    if !unicode || index + 1 >= s.len() as u64 {
        return index + 1;
    }
    let width = s.unmetered_view(vm).code_point_at(index as usize).map_or(1, |(_, width)| width);
    index + width as u64
}

/// The key of a capture in a result.
pub(super) fn capture_key(group: u64) -> PropertyKey {
    PropertyKey::index(group as u32)
}
