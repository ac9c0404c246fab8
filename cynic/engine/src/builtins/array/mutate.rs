//! Methods that change the receiver (23.1.3): copyWithin, fill, pop, push, reverse, shift, splice, unshift.

use super::{LENGTH_MAX, relative_index, this_and_length};
use crate::object::Object;
use crate::object::function::CallArgs;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// 23.1.3.23
pub(super) fn push(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, mut n) = this_and_length(vm, args)?;
    if n + args.len() as u64 > LENGTH_MAX {
        return Err(vm.throw_type_error("Pushing elements past the largest integer index"));
    }
    for (i, &v) in args.as_slice().iter().enumerate() {
        // OPTIMIZATION: equals Set(O, ToString(len), v) and the update of length.
        if vm.try_push_element(o, v) {
            n += 1;
            if i + 1 == args.len() {
                return Ok(Value::number(n as f64));
            }
            continue;
        }
        vm.set_element(o, n, v)?;
        n += 1;
    }
    vm.set_length(o, n)?;
    Ok(Value::number(n as f64))
}

/// 23.1.3.22
pub(super) fn pop(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    if n == 0 {
        vm.set_length(o, 0)?;
        return Ok(Value::UNDEFINED);
    }
    // OPTIMIZATION: equals Get, DeletePropertyOrThrow and Set of length.
    if vm.has_plain_elements(o) {
        let e = o.elements();
        let v = e.get(e.len() - 1);
        if !v.is_empty() {
            e.set_len(e.len() - 1);
            o.set_array_length_slot(n as u32 - 1);
            return Ok(v);
        }
    }
    let v = vm.get_element(o, n - 1)?;
    vm.delete_element(o, n - 1)?;
    vm.set_length(o, n - 1)?;
    Ok(v)
}

/// 23.1.3.27
pub(super) fn shift(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    if n == 0 {
        vm.set_length(o, 0)?;
        return Ok(Value::UNDEFINED);
    }
    // OPTIMIZATION: equals moving every element down by one.
    if vm.has_plain_elements(o) && !o.element(0).is_empty() {
        let v = o.element(0);
        vm.take_first_element(o)?;
        o.set_array_length_slot(n as u32 - 1);
        return Ok(v);
    }
    let first = vm.get_element(o, 0)?;
    for k in 1..n {
        move_element(vm, o, k, k - 1)?;
    }
    vm.delete_element(o, n - 1)?;
    vm.set_length(o, n - 1)?;
    Ok(first)
}

/// Moves what is at `from` to `to`, or deletes `to` when nothing is there.
fn move_element(vm: &mut Vm, o: Object, from: u64, to: u64) -> JsResult<()> {
    vm.poll()?;
    match vm.get_element_if_present(o, from)? {
        Some(v) => vm.set_element(o, to, v),
        None => vm.delete_element(o, to),
    }
}

/// 23.1.3.34
pub(super) fn unshift(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    let count = args.len() as u64;
    if count > 0 {
        if n + count > LENGTH_MAX {
            return Err(vm.throw_type_error("Unshifting elements past the largest integer index"));
        }
        // OPTIMIZATION: equals moving every element up.
        if vm.has_plain_elements(o) && n + count < u64::from(u32::MAX) {
            vm.poll_n((n / 64) as u32 + 1)?;
            vm.replace_elements(o, 0, 0, args.as_slice())?;
            return Ok(Value::number((n + count) as f64));
        }
        for k in (0..n).rev() {
            move_element(vm, o, k, k + count)?;
        }
        for (k, &v) in args.as_slice().iter().enumerate() {
            vm.set_element(o, k as u64, v)?;
        }
    }
    vm.set_length(o, n + count)?;
    Ok(Value::number((n + count) as f64))
}

impl Vm {
    /// Replaces the elements `at..at + removed` of a plain array by `items`, moving the rest.
    fn replace_elements(&mut self, o: Object, at: usize, removed: usize, items: &[Value]) -> JsResult<()> {
        let n = o.elements().len() as usize;
        let new_length = n - removed + items.len();
        self.reserve_elements(o, new_length as u32)?;
        let replaced = o.elements().splice(at, removed, items);
        debug_assert!(replaced);
        o.set_array_length_slot(new_length as u32);
        Ok(())
    }
}

/// 23.1.3.31
pub(super) fn splice(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    let start = relative_index(vm, args.get(0), n, 0)?;
    let removed = match args.len() {
        0 => 0,
        1 => n - start,
        _ => vm.to_integer_or_infinity(args.get(1))?.clamp(0.0, (n - start) as f64) as u64,
    };
    let items = args.rest(2);
    let new_length = n - removed + items.len() as u64;
    if new_length > LENGTH_MAX {
        return Err(vm.throw_type_error("Splicing elements past the largest integer index"));
    }
    let out = vm.array_species_create(o, removed)?;
    // OPTIMIZATION: equals copying the removed elements, moving the rest and storing the items; holes stay holes.
    if vm.has_plain_elements(o)
        && u64::from(o.array_length()) == n
        && vm.has_plain_elements_to_fill(out, removed)
        && new_length < u64::from(u32::MAX)
    {
        vm.poll_bytes((n - start) as usize * size_of::<Value>())?;
        vm.reserve_elements(out, removed as u32)?;
        out.elements().extend_from(&o.elements().as_slice()[start as usize..(start + removed) as usize]);
        out.set_array_length_slot(removed as u32);
        vm.replace_elements(o, start as usize, removed as usize, items)?;
        return Ok(Value::object(out));
    }
    for k in 0..removed {
        vm.poll()?;
        if let Some(v) = vm.get_element_if_present(o, start + k)? {
            vm.create_element(out, k, v)?;
        }
    }
    vm.set_length(out, removed)?;
    splice_generic(vm, o, n, start, removed, items)?;
    vm.set_length(o, new_length)?;
    Ok(Value::object(out))
}

fn splice_generic(vm: &mut Vm, o: Object, n: u64, start: u64, removed: u64, items: &[Value]) -> JsResult<()> {
    let count = items.len() as u64;
    if count < removed {
        for k in start..n - removed {
            move_element(vm, o, k + removed, k + count)?;
        }
        for k in (n - removed + count..n).rev() {
            vm.poll()?;
            vm.delete_element(o, k)?;
        }
    } else if count > removed {
        for k in (start..n - removed).rev() {
            move_element(vm, o, k + removed, k + count)?;
        }
    }
    for (k, &v) in items.iter().enumerate() {
        vm.set_element(o, start + k as u64, v)?;
    }
    Ok(())
}

impl Vm {
    /// Whether `out` is a new plain array of length `n` without elements.
    pub(crate) fn has_plain_elements_to_fill(&self, out: Object, n: u64) -> bool {
        out.is_array()
            && !out.has_flag(crate::object::flags::ELEMENT_APPEND_SLOW)
            && out.elements().is_empty()
            && u64::from(out.array_length()) == n
            && !self.indexed_prototypes
    }
}

/// 23.1.3.26
pub(super) fn reverse(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    // OPTIMIZATION: equals swapping pairs, of which one or both may be missing.
    if vm.has_plain_elements(o) {
        vm.poll_bytes(n as usize * size_of::<Value>())?;
        o.elements().reverse();
        return Ok(Value::object(o));
    }
    for lower in 0..n / 2 {
        vm.poll()?;
        let upper = n - 1 - lower;
        let low = vm.get_element_if_present(o, lower)?;
        let high = vm.get_element_if_present(o, upper)?;
        match high {
            Some(v) => vm.set_element(o, lower, v)?,
            None if low.is_some() => vm.delete_element(o, lower)?,
            None => {}
        }
        match low {
            Some(v) => vm.set_element(o, upper, v)?,
            None if high.is_some() => vm.delete_element(o, upper)?,
            None => {}
        }
    }
    Ok(Value::object(o))
}

/// 23.1.3.7
pub(super) fn fill(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    let from = relative_index(vm, args.get(1), n, 0)?;
    let to = relative_index(vm, args.get(2), n, n)?;
    for k in from..to {
        vm.poll()?;
        vm.set_element(o, k, args.get(0))?;
    }
    Ok(Value::object(o))
}

/// 23.1.3.4
pub(super) fn copy_within(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    let to = relative_index(vm, args.get(0), n, 0)?;
    let from = relative_index(vm, args.get(1), n, 0)?;
    let end = relative_index(vm, args.get(2), n, n)?;
    let count = end.saturating_sub(from).min(n - to);
    if from < to && to < from + count {
        for k in (0..count).rev() {
            move_element(vm, o, from + k, to + k)?;
        }
    } else {
        for k in 0..count {
            move_element(vm, o, from + k, to + k)?;
        }
    }
    Ok(Value::object(o))
}
