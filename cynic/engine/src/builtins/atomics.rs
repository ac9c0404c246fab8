//! The Atomics object (25.4). <https://tc39.es/ecma262/#sec-atomics-object>
//!
//! Waiting and notifying are in `atomics_wait`.

use super::atomics_wait;
use super::typed_array::{Typed, validate};
use crate::object::ObjectKind;
use crate::object::buffer::AtomicOperation;
use crate::object::function::CallArgs;
use crate::object::typed_view::ElementType;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, method, to_string_tag};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %Atomics%.
pub static ATOMICS: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        method("add", 3, |vm, args| update(vm, args, AtomicOperation::Add)),
        method("and", 3, |vm, args| update(vm, args, AtomicOperation::And)),
        method("compareExchange", 4, compare_exchange),
        method("exchange", 3, |vm, args| update(vm, args, AtomicOperation::Exchange)),
        method("isLockFree", 1, is_lock_free),
        method("load", 2, load),
        method("notify", 3, atomics_wait::notify),
        method("or", 3, |vm, args| update(vm, args, AtomicOperation::Or)),
        method("pause", 0, pause),
        method("store", 3, store),
        method("sub", 3, |vm, args| update(vm, args, AtomicOperation::Sub)),
        method("wait", 4, atomics_wait::wait),
        method("waitAsync", 4, atomics_wait::wait_async),
        method("xor", 3, |vm, args| update(vm, args, AtomicOperation::Xor)),
        to_string_tag("Atomics"),
    ],
};

/// ValidateIntegerTypedArray (25.4.3.1).
pub(super) fn validate_integer_typed_array(vm: &mut Vm, v: Value, waitable: bool) -> JsResult<Typed> {
    let typed = validate(vm, v)?;
    let allowed = match waitable {
        true => matches!(typed.element(), ElementType::Int32 | ElementType::BigInt64),
        false => typed.element().is_unclamped_integer(),
    };
    if !allowed {
        let message = format!("Atomics cannot work on a {} here", typed.element().name());
        return Err(vm.throw_type_error(&message));
    }
    Ok(typed)
}

/// ValidateAtomicAccess (25.4.3.2): the byte in the buffer.
pub(super) fn validate_atomic_access(vm: &mut Vm, typed: &Typed, index: Value) -> JsResult<usize> {
    let index = vm.to_index(index)?;
    if index >= typed.length as u64 {
        return Err(vm.throw_range_error("Invalid atomic access index"));
    }
    Ok(typed.view.byte_offset + index as usize * typed.element().size())
}

/// RevalidateAtomicAccess (25.4.3.4), after guest code has run.
fn revalidate_atomic_access(vm: &mut Vm, typed: &Typed, at: usize) -> JsResult<()> {
    let now = validate(vm, Value::object(typed.object))?;
    if at >= now.view.byte_offset + now.length * now.element().size() {
        return Err(vm.throw_range_error("Invalid atomic access index"));
    }
    Ok(())
}

/// An operand: ToBigInt or ToIntegerOrInfinity, with its bits.
fn operand(vm: &mut Vm, element: ElementType, v: Value) -> JsResult<(Value, u64)> {
    if element.is_bigint() {
        let big = Value::bigint(vm.to_bigint(v)?);
        return Ok((big, element.to_bits(vm, big)?));
    }
    let n = vm.to_integer_or_infinity(v)?;
    Ok((Value::number(n), element.number_bits(n)))
}

/// AtomicReadModifyWrite (25.4.3.17).
fn update(vm: &mut Vm, args: CallArgs, operation: AtomicOperation) -> JsResult<Value> {
    let typed = validate_integer_typed_array(vm, args.get(0), false)?;
    let at = validate_atomic_access(vm, &typed, args.get(1))?;
    let (_, bits) = operand(vm, typed.element(), args.get(2))?;
    revalidate_atomic_access(vm, &typed, at)?;
    let old = typed.view.buffer.atomic_update(at, typed.element().size(), operation, bits);
    Ok(typed.element().to_value(vm, old))
}

/// 25.4.6
fn compare_exchange(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate_integer_typed_array(vm, args.get(0), false)?;
    let at = validate_atomic_access(vm, &typed, args.get(1))?;
    let (_, expected) = operand(vm, typed.element(), args.get(2))?;
    let (_, replacement) = operand(vm, typed.element(), args.get(3))?;
    revalidate_atomic_access(vm, &typed, at)?;
    let old = typed.view.buffer.atomic_compare_exchange(at, typed.element().size(), expected, replacement);
    Ok(typed.element().to_value(vm, old))
}

/// 25.4.8
fn is_lock_free(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let n = vm.to_integer_or_infinity(args.get(0))?;
    Ok(Value::bool([1.0, 2.0, 4.0, 8.0].contains(&n)))
}

/// 25.4.9
fn load(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate_integer_typed_array(vm, args.get(0), false)?;
    let at = validate_atomic_access(vm, &typed, args.get(1))?;
    revalidate_atomic_access(vm, &typed, at)?;
    let bits = typed.view.buffer.atomic_load(at, typed.element().size());
    Ok(typed.element().to_value(vm, bits))
}

/// 25.4.11
fn pause(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let n = args.get(0);
    let fine = n.is_undefined() || (n.is_number() && vm.is_integral_number(n));
    if !fine {
        return Err(vm.throw_type_error("the argument of Atomics.pause must be an integral number"));
    }
    std::hint::spin_loop();
    Ok(Value::UNDEFINED)
}

/// 25.4.12
fn store(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate_integer_typed_array(vm, args.get(0), false)?;
    let at = validate_atomic_access(vm, &typed, args.get(1))?;
    let (v, bits) = operand(vm, typed.element(), args.get(2))?;
    revalidate_atomic_access(vm, &typed, at)?;
    typed.view.buffer.atomic_store(at, typed.element().size(), bits);
    Ok(v)
}
