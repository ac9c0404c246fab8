//! The Array constructor and its functions (23.1.1, 23.1.2).

use super::{LENGTH_MAX, callback, index};
use crate::object::function::CallArgs;
use crate::object::{Object, flags};
use crate::realm::Intrinsic;
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// 23.1.1.1
pub(crate) fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let new_target = if args.is_construct() { args.new_target } else { Value::object(args.callee) };
    let prototype = vm.get_prototype_from_constructor(new_target, Intrinsic::ArrayPrototype)?;
    if args.len() == 1 {
        return construct_with_length(vm, prototype, args.get(0));
    }
    let array = vm.array_create(0.0, Some(prototype))?;
    vm.reserve_elements(array, args.len() as u32)?;
    for (k, &v) in args.as_slice().iter().enumerate() {
        vm.create_element(array, k as u64, v)?;
    }
    Ok(Value::object(array))
}

fn construct_with_length(vm: &mut Vm, prototype: Object, length: Value) -> JsResult<Value> {
    let Some(n) = length.as_number() else {
        let array = vm.array_create(0.0, Some(prototype))?;
        vm.create_data_property_or_throw(array, index(0), length)?;
        return Ok(Value::object(array));
    };
    if f64::from(n as u32) != n {
        return Err(vm.throw_range_error("Invalid array length"));
    }
    let array = vm.array_create(n, Some(prototype))?;
    if n <= f64::from(crate::limits::DENSE_INDEX_ALWAYS) {
        vm.alloc_elements(array, n as u32)?;
    }
    Ok(Value::object(array))
}

/// 23.1.2.2
pub(super) fn is_array(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::bool(vm.is_array(args.get(0))?))
}

/// A new object from the receiver if it is a constructor, else an array.
pub(super) fn construct_receiver(vm: &mut Vm, this: Value, length: Option<u64>) -> JsResult<Object> {
    match this.as_object().filter(|c| c.is_constructor()) {
        Some(c) if c == vm.intrinsic(Intrinsic::Array) => vm.array_create(length.unwrap_or(0) as f64, None),
        Some(c) => match length {
            Some(n) => vm.construct(c, &[Value::number(n as f64)], c),
            None => vm.construct(c, &[], c),
        },
        None => vm.array_create(length.unwrap_or(0) as f64, None),
    }
}

/// 23.1.2.3
pub(super) fn of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = construct_receiver(vm, args.this, Some(args.len() as u64))?;
    for (k, &v) in args.as_slice().iter().enumerate() {
        vm.create_data_property_or_throw(o, index(k as u32), v)?;
    }
    vm.set_length(o, args.len() as u64)?;
    Ok(Value::object(o))
}

/// 23.1.2.1
pub(super) fn from(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (items, this_arg) = (args.get(0), args.get(2));
    let map = match args.get(1) {
        f if f.is_undefined() => None,
        f => Some(callback(vm, f)?),
    };
    let using_iterator = vm.get_method(items, symbol::ITERATOR)?;
    if using_iterator.is_undefined() {
        return from_array_like(vm, args.this, items, map, this_arg);
    }
    let o = construct_receiver(vm, args.this, None)?;
    let mut record = vm.get_iterator_from_method(items, using_iterator)?;
    let mut k = 0u64;
    while let Some(v) = vm.iterator_step_value(&mut record)? {
        let result = add_mapped(vm, o, k, v, map, this_arg);
        vm.close_if_abrupt(&record, result)?;
        k += 1;
        if k.is_multiple_of(4096) && o.has_flag(flags::EXOTIC) {
            vm.check_heap_room(0)?;
        }
    }
    vm.set_length(o, k)?;
    Ok(Value::object(o))
}

fn add_mapped(vm: &mut Vm, o: Object, k: u64, v: Value, map: Option<Value>, this_arg: Value) -> JsResult<()> {
    if k >= LENGTH_MAX {
        return Err(vm.throw_type_error("too many items"));
    }
    let v = match map {
        Some(f) => vm.call(f, this_arg, &[v, Value::number(k as f64)])?,
        None => v,
    };
    vm.create_element(o, k, v)
}

fn from_array_like(
    vm: &mut Vm,
    this: Value,
    items: Value,
    map: Option<Value>,
    this_arg: Value,
) -> JsResult<Value> {
    let source = vm.to_object(items)?;
    let n = vm.length_of_array_like(source)?;
    let o = construct_receiver(vm, this, Some(n))?;
    for k in 0..n {
        vm.poll()?;
        let v = vm.get_element(source, k)?;
        add_mapped(vm, o, k, v, map, this_arg)?;
    }
    vm.set_length(o, n)?;
    Ok(Value::object(o))
}
