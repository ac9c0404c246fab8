//! Methods that call a function for each element (23.1.3): every, filter, forEach, map, reduce, some.

use super::{callback, this_and_length};
use crate::object::Object;
use crate::object::function::CallArgs;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// Calls `f` with each element that is there; `step` looks at the answer, and Some ends the walk.
fn walk(
    vm: &mut Vm,
    args: CallArgs,
    o: Object,
    n: u64,
    mut step: impl FnMut(&mut Vm, u64, Value, Value) -> JsResult<Option<Value>>,
) -> JsResult<Option<Value>> {
    let f = args.get(0);
    let receiver = Value::object(o);
    for k in 0..n {
        vm.poll()?;
        let Some(v) = vm.get_element_if_present(o, k)? else { continue };
        let answer = vm.call(f, args.get(1), &[v, Value::number(k as f64), receiver])?;
        if let Some(end) = step(vm, k, v, answer)? {
            return Ok(Some(end));
        }
    }
    Ok(None)
}

/// 23.1.3.6
pub(super) fn every(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    callback(vm, args.get(0))?;
    let end = walk(vm, args, o, n, |_, _, _, answer| Ok((!answer.to_boolean()).then_some(Value::FALSE)))?;
    Ok(end.unwrap_or(Value::TRUE))
}

/// 23.1.3.29
pub(super) fn some(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    callback(vm, args.get(0))?;
    let end = walk(vm, args, o, n, |_, _, _, answer| Ok(answer.to_boolean().then_some(Value::TRUE)))?;
    Ok(end.unwrap_or(Value::FALSE))
}

/// 23.1.3.15
pub(super) fn for_each(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    callback(vm, args.get(0))?;
    walk(vm, args, o, n, |_, _, _, _| Ok(None))?;
    Ok(Value::UNDEFINED)
}

/// 23.1.3.8
pub(super) fn filter(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    callback(vm, args.get(0))?;
    let out = vm.array_species_create(o, 0)?;
    let mut to = 0;
    walk(vm, args, o, n, |vm, _, v, answer| {
        if answer.to_boolean() {
            vm.create_element(out, to, v)?;
            to += 1;
        }
        Ok(None)
    })?;
    Ok(Value::object(out))
}

/// 23.1.3.21
pub(super) fn map(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    callback(vm, args.get(0))?;
    let out = vm.array_species_create(o, n)?;
    if out.is_array() && n <= u64::from(crate::limits::DENSE_INDEX_ALWAYS) * 64 && out.elements().is_empty() {
        vm.reserve_elements(out, n as u32)?;
    }
    walk(vm, args, o, n, |vm, k, _, answer| {
        vm.create_element_within(out, k, answer)?;
        Ok(None)
    })?;
    Ok(Value::object(out))
}

impl Vm {
    /// CreateDataPropertyOrThrow for an index below the length of a new array.
    /// OPTIMIZATION: storing the next element of a plain array is all that `[[DefineOwnProperty]]` would do.
    #[inline]
    fn create_element_within(&mut self, o: Object, k: u64, v: Value) -> JsResult<()> {
        if o.is_array()
            && !o.has_flag(crate::object::flags::ELEMENT_APPEND_SLOW)
            && k == u64::from(o.elements().len())
            && k < u64::from(o.array_length())
            && o.elements().push(v)
        {
            return Ok(());
        }
        self.create_element(o, k, v)
    }
}

/// 23.1.3.24
pub(super) fn reduce(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    fold(vm, args, o, 0..n)
}

/// 23.1.3.25
pub(super) fn reduce_right(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    fold(vm, args, o, (0..n).rev())
}

fn fold(vm: &mut Vm, args: CallArgs, o: Object, indices: impl Iterator<Item = u64>) -> JsResult<Value> {
    let f = callback(vm, args.get(0))?;
    let mut accumulator = (args.len() >= 2).then(|| args.get(1));
    for k in indices {
        vm.poll()?;
        let Some(v) = vm.get_element_if_present(o, k)? else { continue };
        accumulator = Some(match accumulator {
            None => v,
            Some(a) => vm.call(f, Value::UNDEFINED, &[a, v, Value::number(k as f64), Value::object(o)])?,
        });
    }
    match accumulator {
        Some(v) => Ok(v),
        None => Err(vm.throw_type_error("Reduce of empty array with no initial value")),
    }
}
