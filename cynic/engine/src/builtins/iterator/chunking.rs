//! `Iterator.prototype.chunks`, `windows` and `includes`.
//! <https://tc39.es/proposal-iterator-chunking/>, <https://tc39.es/proposal-iterator-includes/>
//!
//! Values wait in arrays that no guest sees, so that the heap limit counts them.

use std::cell::Cell;

use super::helper::{self, Helper, Kind};
use super::{this_iterator, unopened};
use crate::object::Object;
use crate::object::function::CallArgs;
use crate::value::Value;
use crate::vm::{Abrupt, JsResult, Vm};

/// The largest safe integer.
const SAFE_INTEGER_MAX: f64 = 9_007_199_254_740_991.0;
const SIZE_MAX: f64 = 4_294_967_295.0;

/// `chunks(chunkSize)`.
pub(super) fn chunks(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = this_iterator(vm, args)?;
    let size = size_argument(vm, args.get(0));
    let size = vm.close_if_abrupt(&unopened(o), size)?;
    let record = vm.get_iterator_direct(o)?;
    Ok(helper::create(vm, Kind::Chunks(size), Some(record), Value::UNDEFINED))
}

/// `windows(windowSize, undersized)`.
pub(super) fn windows(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = this_iterator(vm, args)?;
    let options =
        size_argument(vm, args.get(0)).and_then(|size| Ok((size, undersized_argument(vm, args.get(1))?)));
    let (size, allows_partial) = vm.close_if_abrupt(&unopened(o), options)?;
    let record = vm.get_iterator_direct(o)?;
    let kind = Kind::Windows { size, allows_partial, window: Cell::new(None) };
    Ok(helper::create(vm, kind, Some(record), Value::UNDEFINED))
}

fn size_argument(vm: &mut Vm, value: Value) -> JsResult<u32> {
    match value.as_number() {
        Some(size) if size.trunc() != size || !size.is_finite() => {
            Err(vm.throw_type_error("the size must be an integer"))
        }
        Some(size) if (1.0..=SIZE_MAX).contains(&size) => Ok(size as u32),
        Some(_) => Err(vm.throw_range_error("the size must be from 1 to 2^32 - 1")),
        None => Err(vm.throw_type_error("the size must be a number")),
    }
}

fn undersized_argument(vm: &mut Vm, value: Value) -> JsResult<bool> {
    if value.is_undefined() {
        return Ok(false);
    }
    let text = value.as_string().map(|text| text.text(vm)).transpose()?;
    match text.as_deref() {
        Some("only-full") => Ok(false),
        Some("allow-partial") => Ok(true),
        _ => Err(vm.throw_type_error("undersized must be 'only-full' or 'allow-partial'")),
    }
}

/// The next chunk; the last one may be short.
pub(super) fn step_chunks(vm: &mut Vm, helper: &Helper, size: u32) -> JsResult<Option<Value>> {
    if helper.is_exhausted() {
        return Ok(None);
    }
    let chunk = vm.new_array();
    while chunk.array_length() < size {
        vm.poll()?;
        match helper.pull(vm)? {
            Some(value) => push(vm, helper, chunk, value)?,
            None if chunk.array_length() == 0 => return Ok(None),
            None => break,
        }
    }
    Ok(Some(Value::object(chunk)))
}

/// The next window.
pub(super) fn step_windows(
    vm: &mut Vm,
    helper: &Helper,
    size: u32,
    allows_partial: bool,
    window: &Cell<Option<Object>>,
) -> JsResult<Option<Value>> {
    if helper.is_exhausted() {
        return Ok(None);
    }
    let kept = window.get().unwrap_or_else(|| vm.new_array());
    window.set(Some(kept));
    loop {
        vm.poll()?;
        let Some(value) = helper.pull(vm)? else {
            let length = kept.array_length();
            let is_partial = allows_partial && length > 0 && length < size;
            return if is_partial { copy(vm, kept).map(Some) } else { Ok(None) };
        };
        if kept.array_length() == size {
            for i in 1..size {
                vm.poll()?;
                kept.try_set_element(i - 1, kept.element(i));
            }
            kept.try_set_element(size - 1, value);
        } else {
            push(vm, helper, kept, value)?;
        }
        if kept.array_length() == size {
            return copy(vm, kept).map(Some);
        }
    }
}

fn copy(vm: &mut Vm, array: Object) -> JsResult<Value> {
    let result = vm.new_array();
    for i in 0..array.array_length() {
        vm.poll()?;
        vm.append_element(result, array.element(i))?;
    }
    Ok(Value::object(result))
}

/// Appends; an array that cannot grow closes the iterator.
fn push(vm: &mut Vm, helper: &Helper, array: Object, value: Value) -> JsResult<()> {
    let result = vm.append_element(array, value);
    helper::close_underlying_if_abrupt(vm, helper, result)
}

/// `includes(searchElement, skippedElements)`.
pub(super) fn includes(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = this_iterator(vm, args)?;
    let skipped = skipped_argument(vm, args.get(1));
    let mut skipped = vm.close_if_abrupt(&unopened(o), skipped)?;
    let mut record = vm.get_iterator_direct(o)?;
    while let Some(value) = vm.iterator_step_value(&mut record)? {
        vm.poll()?;
        if skipped > 0.0 {
            skipped -= 1.0;
        } else if vm.same_value_zero(value, args.get(0)) {
            return vm.iterator_close(&record, Ok(Value::TRUE));
        }
    }
    Ok(Value::FALSE)
}

fn skipped_argument(vm: &mut Vm, value: Value) -> Result<f64, Abrupt> {
    if value.is_undefined() {
        return Ok(0.0);
    }
    match value.as_number() {
        Some(skipped) if skipped.is_nan() || skipped.is_finite() && skipped.trunc() != skipped => {
            Err(vm.throw_type_error("the number of skipped elements must be an integer"))
        }
        Some(skipped) if skipped < 0.0 || skipped.is_finite() && skipped > SAFE_INTEGER_MAX => {
            Err(vm.throw_range_error("the number of skipped elements is out of range"))
        }
        Some(skipped) => Ok(skipped),
        None => Err(vm.throw_type_error("the number of skipped elements must be a number")),
    }
}
