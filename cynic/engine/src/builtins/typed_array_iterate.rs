//! The methods of %TypedArray.prototype% that call back. <https://tc39.es/ecma262/#sec-properties-of-the-%typedarrayprototype%-object>

use std::cmp::Ordering;

use super::typed_array::{Typed, create_same_type, species_create, validate};
use crate::builtins::array::sort::{call_comparator, check_comparator};
use crate::object::function::CallArgs;
use crate::object::typed_view::ElementType;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// `this` as a typed array and the first argument as a function.
fn this_and_callback(vm: &mut Vm, args: &CallArgs) -> JsResult<(Typed, Value)> {
    let typed = validate(vm, args.this)?;
    let f = args.get(0);
    if !f.is_callable() {
        let message = format!("{} is not a function", vm.describe(f));
        return Err(vm.throw_type_error(&message));
    }
    Ok((typed, f))
}

/// Calls the callback with each element, forwards or backwards, until `stop` says so; the index and element at which it did.
fn visit(
    vm: &mut Vm,
    args: &CallArgs,
    backwards: bool,
    mut stop: impl FnMut(&mut Vm, usize, Value, Value) -> JsResult<bool>,
) -> JsResult<Option<(usize, Value)>> {
    let (typed, f) = this_and_callback(vm, args)?;
    for step in 0..typed.length {
        vm.poll()?;
        let i = if backwards { typed.length - 1 - step } else { step };
        let v = typed.view.value_at(vm, i);
        let answer = vm.call(f, args.get(1), &[v, Value::number(i as f64), args.this])?;
        if stop(vm, i, v, answer)? {
            return Ok(Some((i, v)));
        }
    }
    Ok(None)
}

/// 23.2.3.8
pub(super) fn every(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let found = visit(vm, &args, false, |_, _, _, answer| Ok(!answer.to_boolean()))?;
    Ok(Value::bool(found.is_none()))
}

/// 23.2.3.28
pub(super) fn some(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let found = visit(vm, &args, false, |_, _, _, answer| Ok(answer.to_boolean()))?;
    Ok(Value::bool(found.is_some()))
}

/// 23.2.3.15
pub(super) fn for_each(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    visit(vm, &args, false, |_, _, _, _| Ok(false))?;
    Ok(Value::UNDEFINED)
}

fn find_from(vm: &mut Vm, args: &CallArgs, backwards: bool) -> JsResult<Option<(usize, Value)>> {
    visit(vm, args, backwards, |_, _, _, answer| Ok(answer.to_boolean()))
}

/// 23.2.3.11
pub(super) fn find(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(find_from(vm, &args, false)?.map_or(Value::UNDEFINED, |found| found.1))
}

/// 23.2.3.12
pub(super) fn find_index(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(find_from(vm, &args, false)?.map_or(Value::int32(-1), |found| Value::number(found.0 as f64)))
}

/// 23.2.3.13
pub(super) fn find_last(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(find_from(vm, &args, true)?.map_or(Value::UNDEFINED, |found| found.1))
}

/// 23.2.3.14
pub(super) fn find_last_index(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(find_from(vm, &args, true)?.map_or(Value::int32(-1), |found| Value::number(found.0 as f64)))
}

/// 23.2.3.10
pub(super) fn filter(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate(vm, args.this)?;
    let mut kept = vm.scratch();
    visit(vm, &args, false, |_, _, v, answer| {
        if answer.to_boolean() {
            kept.push(v);
        }
        Ok(false)
    })?;
    let new = species_create(vm, &typed, &[Value::number(kept.len() as f64)], Some(kept.len()))?;
    for (i, &v) in kept.iter().enumerate() {
        let key = vm.key_from_u64(i as u64);
        vm.set_or_throw(new.object, key, v)?;
    }
    Ok(Value::object(new.object))
}

/// 23.2.3.22
pub(super) fn map(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (typed, f) = this_and_callback(vm, &args)?;
    let new = species_create(vm, &typed, &[Value::number(typed.length as f64)], Some(typed.length))?;
    for i in 0..typed.length {
        vm.poll()?;
        let v = typed.view.value_at(vm, i);
        let mapped = vm.call(f, args.get(1), &[v, Value::number(i as f64), args.this])?;
        let key = vm.key_from_u64(i as u64);
        vm.set_or_throw(new.object, key, mapped)?;
    }
    Ok(Value::object(new.object))
}

/// 23.2.3.23
pub(super) fn reduce(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    fold(vm, &args, false)
}

/// 23.2.3.24
pub(super) fn reduce_right(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    fold(vm, &args, true)
}

fn fold(vm: &mut Vm, args: &CallArgs, backwards: bool) -> JsResult<Value> {
    let (typed, f) = this_and_callback(vm, args)?;
    let place = |step: usize| if backwards { typed.length - 1 - step } else { step };
    let (mut accumulator, first) = if args.len() > 1 {
        (args.get(1), 0)
    } else if typed.length > 0 {
        (typed.view.value_at(vm, place(0)), 1)
    } else {
        return Err(vm.throw_type_error("Reduce of empty array with no initial value"));
    };
    for step in first..typed.length {
        vm.poll()?;
        let i = place(step);
        let v = typed.view.value_at(vm, i);
        accumulator = vm.call(f, Value::UNDEFINED, &[accumulator, v, Value::number(i as f64), args.this])?;
    }
    Ok(accumulator)
}

/// 23.2.3.29
pub(super) fn sort(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let comparator = check_comparator(vm, args.get(0))?;
    let typed = validate(vm, args.this)?;
    sort_into(vm, &typed, &typed, comparator)?;
    Ok(args.this)
}

/// 23.2.3.33
pub(super) fn to_sorted(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let comparator = check_comparator(vm, args.get(0))?;
    let typed = validate(vm, args.this)?;
    let new = create_same_type(vm, &typed, typed.length)?;
    sort_into(vm, &typed, &new, comparator)?;
    Ok(Value::object(new.object))
}

/// Sorts the elements of one typed array into another of the same type, or itself.
fn sort_into(vm: &mut Vm, source: &Typed, target: &Typed, comparator: Option<Value>) -> JsResult<()> {
    let element = source.element();
    let Some(f) = comparator else {
        // OPTIMIZATION: equals TypedArrayElementSortCompare (23.2.4.7) on values; no guest code runs.
        vm.poll_n((source.length / 4) as u32)?;
        vm.check_heap_room(source.length * 8)?;
        let mut bits: Vec<u64> = (0..source.length).filter_map(|i| source.view.bits_at(i)).collect();
        bits.sort_by(|&a, &b| compare_bits(element, a, b));
        bits.iter().enumerate().for_each(|(i, &bits)| target.view.set_bits(i, bits));
        return Ok(());
    };
    let mut values = vm.scratch();
    for i in 0..source.length {
        vm.poll()?;
        let v = source.view.value_at(vm, i);
        values.push(v);
    }
    vm.sort_values(&mut values, &mut |vm, a, b| call_comparator(vm, f, a, b))?;
    for (i, &v) in values.iter().enumerate() {
        let bits = element.to_bits(vm, v)?;
        target.view.set_bits(i, bits);
    }
    Ok(())
}

/// Numbers ascending, -0 before 0, NaN last.
fn compare_bits(element: ElementType, a: u64, b: u64) -> Ordering {
    let number = |bits: u64| match element {
        ElementType::Int8 => f64::from(bits as i8),
        ElementType::Int16 => f64::from(bits as i16),
        ElementType::Int32 => f64::from(bits as i32),
        ElementType::Float16 => crate::numeric::half::f16_bits_to_f64(bits as u16),
        ElementType::Float32 => f64::from(f32::from_bits(bits as u32)),
        ElementType::Float64 => f64::from_bits(bits),
        _ => bits as f64,
    };
    match element {
        ElementType::BigInt64 => (a as i64).cmp(&(b as i64)),
        ElementType::BigUint64 => a.cmp(&b),
        _ => {
            let (x, y) = (number(a), number(b));
            match (x.is_nan(), y.is_nan()) {
                (false, false) => x.total_cmp(&y),
                (x, y) => x.cmp(&y),
            }
        }
    }
}
