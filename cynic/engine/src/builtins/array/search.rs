//! Methods that look for an element (23.1.3): at, find, findIndex, findLast, findLastIndex, includes, indexOf, lastIndexOf.

use super::{callback, this_and_length};
use crate::object::function::CallArgs;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// 23.1.3.1
pub(super) fn at(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    let relative = vm.to_integer_or_infinity(args.get(0))?;
    let k = if relative >= 0.0 { relative } else { n as f64 + relative };
    if k < 0.0 || k >= n as f64 {
        return Ok(Value::UNDEFINED);
    }
    vm.get_element(o, k as u64)
}

/// FindViaPredicate (23.1.3.12.1): the index and value found.
fn find_via_predicate(vm: &mut Vm, args: CallArgs, from_end: bool) -> JsResult<Option<(u64, Value)>> {
    let (o, n) = this_and_length(vm, args)?;
    let f = callback(vm, args.get(0))?;
    for i in 0..n {
        let k = if from_end { n - 1 - i } else { i };
        let v = vm.get_element(o, k)?;
        if vm.call(f, args.get(1), &[v, Value::number(k as f64), Value::object(o)])?.to_boolean() {
            return Ok(Some((k, v)));
        }
    }
    Ok(None)
}

fn found_value(found: Option<(u64, Value)>) -> Value {
    found.map_or(Value::UNDEFINED, |(_, v)| v)
}

fn found_index(found: Option<(u64, Value)>) -> Value {
    found.map_or(Value::int32(-1), |(k, _)| Value::number(k as f64))
}

/// 23.1.3.9
pub(super) fn find(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    find_via_predicate(vm, args, false).map(found_value)
}
/// 23.1.3.10
pub(super) fn find_index(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    find_via_predicate(vm, args, false).map(found_index)
}
/// 23.1.3.11
pub(super) fn find_last(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    find_via_predicate(vm, args, true).map(found_value)
}
/// 23.1.3.12
pub(super) fn find_last_index(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    find_via_predicate(vm, args, true).map(found_index)
}

/// 23.1.3.16
pub(super) fn includes(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    if n == 0 {
        return Ok(Value::FALSE);
    }
    let start = vm.to_integer_or_infinity(args.get(1))?;
    let from = if start >= 0.0 { start } else { (n as f64 + start).max(0.0) };
    let mut k = from.min(n as f64) as u64;
    while k < n {
        vm.poll()?;
        let v = vm.get_element(o, k)?;
        vm.check_comparison_room(v, args.get(0))?;
        if vm.same_value_zero(v, args.get(0)) {
            return Ok(Value::TRUE);
        }
        k += 1;
    }
    Ok(Value::FALSE)
}

/// 23.1.3.17
pub(super) fn index_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    if n == 0 {
        return Ok(Value::int32(-1));
    }
    let start = vm.to_integer_or_infinity(args.get(1))?;
    let from = if start >= 0.0 { start } else { (n as f64 + start).max(0.0) };
    let mut k = from.min(n as f64) as u64;
    while k < n {
        vm.poll()?;
        if let Some(v) = vm.get_element_if_present(o, k)? {
            vm.check_comparison_room(v, args.get(0))?;
            if vm.strict_equals(v, args.get(0)) {
                return Ok(Value::number(k as f64));
            }
        }
        k += 1;
    }
    Ok(Value::int32(-1))
}

/// 23.1.3.20
pub(super) fn last_index_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    if n == 0 {
        return Ok(Value::int32(-1));
    }
    let start = if args.len() > 1 { vm.to_integer_or_infinity(args.get(1))? } else { n as f64 - 1.0 };
    let from = if start >= 0.0 { start.min(n as f64 - 1.0) } else { n as f64 + start };
    if from < 0.0 {
        return Ok(Value::int32(-1));
    }
    for k in (0..=from as u64).rev() {
        vm.poll()?;
        if let Some(v) = vm.get_element_if_present(o, k)? {
            vm.check_comparison_room(v, args.get(0))?;
            if vm.strict_equals(v, args.get(0)) {
                return Ok(Value::number(k as f64));
            }
        }
    }
    Ok(Value::int32(-1))
}
