//! Sorting (23.1.3.30, 23.1.3.34): a stable merge sort whose comparison may run guest code.
//!
//! The elements are copied out first (SortIndexedProperties), so a comparison that changes the array disturbs only
//! what is written back. Typed arrays sort with the same [`Vm::sort_values`].

use std::cmp::Ordering;

use super::this_and_length;
use crate::gc::RootedVec;
use crate::object::Object;
use crate::object::function::CallArgs;
use crate::string::JsStr;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// Up to this many elements an insertion sort does.
const INSERTION_MAX: usize = 8;
/// Elements that are sorted between two looks at the limits.
const SORTED_AT_ONCE: usize = 4096;

/// 23.1.3.30
pub(super) fn sort(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let comparator = check_comparator(vm, args.get(0))?;
    let (o, n) = this_and_length(vm, args)?;
    let mut values = vm.scratch();
    for k in 0..n {
        vm.poll()?;
        if let Some(v) = vm.get_element_if_present(o, k)? {
            values.push(v);
        }
    }
    sort_compare_all(vm, &mut values, comparator)?;
    write_back(vm, o, n, &values)?;
    Ok(Value::object(o))
}

fn write_back(vm: &mut Vm, o: Object, n: u64, values: &RootedVec) -> JsResult<()> {
    for (k, &v) in values.iter().enumerate() {
        vm.poll()?;
        vm.set_element(o, k as u64, v)?;
    }
    for k in values.len() as u64..n {
        vm.poll()?;
        let key = vm.key_from_u64(k);
        if vm.has_property(o, key)? {
            vm.delete_property_or_throw(o, key)?;
        }
    }
    Ok(())
}

/// 23.1.3.34
pub(super) fn to_sorted(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let comparator = check_comparator(vm, args.get(0))?;
    let (o, n) = this_and_length(vm, args)?;
    if n > u64::from(u32::MAX) {
        return Err(vm.throw_range_error("Invalid array length"));
    }
    let mut values = vm.scratch();
    for k in 0..n {
        vm.poll()?;
        let v = vm.get_element(o, k)?;
        values.push(v);
    }
    sort_compare_all(vm, &mut values, comparator)?;
    Ok(Value::object(vm.new_array_from(&values)?))
}

/// The comparator argument: undefined or callable.
pub(crate) fn check_comparator(vm: &mut Vm, f: Value) -> JsResult<Option<Value>> {
    if f.is_undefined() {
        return Ok(None);
    }
    if !f.is_callable() {
        return Err(vm.throw_type_error("The comparison function must be either a function or undefined"));
    }
    Ok(Some(f))
}

/// SortCompare (23.1.3.30.2) over the whole list: undefined goes last, without being compared.
fn sort_compare_all(vm: &mut Vm, values: &mut RootedVec, comparator: Option<Value>) -> JsResult<()> {
    let before = values.len();
    values.retain(|v| !v.is_undefined());
    let undefined = before - values.len();
    match comparator {
        Some(f) => vm.sort_values(values, &mut |vm, a, b| call_comparator(vm, f, a, b))?,
        None => sort_as_strings(vm, values)?,
    }
    values.extend(std::iter::repeat_n(Value::UNDEFINED, undefined));
    Ok(())
}

/// The answer of a guest comparator.
pub(crate) fn call_comparator(vm: &mut Vm, f: Value, a: Value, b: Value) -> JsResult<Ordering> {
    let answer = vm.call(f, Value::UNDEFINED, &[a, b])?;
    let n = vm.to_number(answer)?;
    Ok(n.partial_cmp(&0.0).unwrap_or(Ordering::Equal))
}

/// OPTIMIZATION: each element is converted to a string once, not at each comparison. Conversions that run guest code
/// (objects) keep the specification's way.
fn sort_as_strings(vm: &mut Vm, values: &mut RootedVec) -> JsResult<()> {
    if values.iter().any(|v| v.is_object() || v.is_symbol()) {
        return vm.sort_values(values, &mut |vm, a, b| {
            let a = vm.to_string(a)?;
            let b = vm.to_string(b)?;
            Ok(vm.string_compare(a, b))
        });
    }
    let mut strings = vm.scratch();
    let mut longest = 0;
    for i in 0..values.len() {
        vm.poll()?;
        let s = vm.to_string(values[i])?;
        s.unmetered_view(vm);
        longest = longest.max(s.len());
        strings.push(Value::string(s));
    }
    if longest >= crate::limits::CHARGED_BYTES_MIN {
        // Comparing two is work that has to be paid for.
        return vm.sort_values(values, &mut |vm, a, b| {
            let (a, b) = (vm.to_string(a)?, vm.to_string(b)?);
            Ok(vm.string_compare(a, b))
        });
    }
    let flat = |i: u32| strings[i as usize].as_string();
    let mut order: Vec<(u64, u32)> =
        (0..values.len() as u32).map(|i| (flat(i).map_or(0, first_units), i)).collect();
    let compare = |&(a_units, a): &(u64, u32), &(b_units, b): &(u64, u32)| {
        a_units.cmp(&b_units).then_with(|| match (flat(a), flat(b)) {
            (Some(a), Some(b)) => a.flat_view().cmp(&b.flat_view()),
            _ => Ordering::Equal,
        })
    };
    sort_in_pieces(vm, &mut order, compare)?;
    let mut sorted = vm.scratch();
    sorted.extend(order.iter().map(|&(_, i)| values[i as usize]));
    values.copy_from_slice(&sorted);
    Ok(())
}

/// Sorts stably, looking at the limits between pieces.
fn sort_in_pieces<T: Copy>(
    vm: &mut Vm,
    list: &mut Vec<T>,
    compare: impl Fn(&T, &T) -> Ordering + Copy,
) -> JsResult<()> {
    for piece in list.chunks_mut(SORTED_AT_ONCE) {
        vm.poll_n(SORTED_AT_ONCE as u32 / 4)?;
        piece.sort_by(compare);
    }
    let n = list.len();
    let mut width = SORTED_AT_ONCE;
    let mut merged = Vec::with_capacity(if width < n { n } else { 0 });
    while width < n {
        merged.clear();
        for pair in list.chunks(width * 2) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let (Some(a), Some(b)) = (left.first(), right.first()) {
                if merged.len().is_multiple_of(SORTED_AT_ONCE) {
                    vm.poll_n(SORTED_AT_ONCE as u32 / 4)?;
                }
                let from = if compare(a, b) == Ordering::Greater { &mut right } else { &mut left };
                merged.push(from[0]);
                *from = &from[1..];
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(list, &mut merged);
        width *= 2;
    }
    Ok(())
}

/// The first four units of a flat string as a number that orders as they do: most comparisons need no look at the string.
fn first_units(s: JsStr) -> u64 {
    let Some(view) = s.flat_view() else { return 0 };
    let units = view.units().chain(std::iter::repeat(0));
    units.take(4).fold(0, |number, unit| number << 16 | u64::from(unit))
}

impl Vm {
    /// Sorts stably; `compare` may fail and may run guest code.
    pub fn sort_values(
        &mut self,
        values: &mut RootedVec,
        compare: &mut dyn FnMut(&mut Vm, Value, Value) -> JsResult<Ordering>,
    ) -> JsResult<()> {
        let n = values.len();
        if self.is_sorted(values, compare)? {
            return Ok(());
        }
        for from in (0..n).step_by(INSERTION_MAX) {
            self.insertion_sort(values, from, (from + INSERTION_MAX).min(n), compare)?;
        }
        let mut buffer = self.scratch();
        buffer.resize(n, Value::UNDEFINED);
        let mut width = INSERTION_MAX;
        while width < n {
            for from in (0..n).step_by(width * 2) {
                let middle = (from + width).min(n);
                let to = (from + width * 2).min(n);
                self.merge(values, &mut buffer, from..middle, to, compare)?;
            }
            std::mem::swap(values, &mut buffer);
            width *= 2;
        }
        Ok(())
    }

    /// Whether nothing has to be done. Gives up at the first pair that is out of order.
    fn is_sorted(
        &mut self,
        values: &RootedVec,
        compare: &mut dyn FnMut(&mut Vm, Value, Value) -> JsResult<Ordering>,
    ) -> JsResult<bool> {
        for i in 1..values.len() {
            self.poll()?;
            if compare(self, values[i - 1], values[i])? == Ordering::Greater {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn insertion_sort(
        &mut self,
        values: &mut RootedVec,
        from: usize,
        to: usize,
        compare: &mut dyn FnMut(&mut Vm, Value, Value) -> JsResult<Ordering>,
    ) -> JsResult<()> {
        for i in from + 1..to {
            let v = values[i];
            let mut at = i;
            while at > from {
                self.poll()?;
                if compare(self, values[at - 1], v)? != Ordering::Greater {
                    break;
                }
                values[at] = values[at - 1];
                // The element being placed stays in the list, so that it stays rooted.
                values[at - 1] = v;
                at -= 1;
            }
        }
        Ok(())
    }

    /// Merges `left` and what follows it up to `to` into the same places of `out`.
    fn merge(
        &mut self,
        values: &RootedVec,
        out: &mut RootedVec,
        left: std::ops::Range<usize>,
        to: usize,
        compare: &mut dyn FnMut(&mut Vm, Value, Value) -> JsResult<Ordering>,
    ) -> JsResult<()> {
        let (mut a, mut b, mut at) = (left.start, left.end, left.start);
        if b < to && compare(self, values[b - 1], values[b])? != Ordering::Greater {
            // The runs follow one another.
            out[a..to].copy_from_slice(&values[a..to]);
            return Ok(());
        }
        while a < left.end && b < to {
            self.poll()?;
            if compare(self, values[a], values[b])? == Ordering::Greater {
                out[at] = values[b];
                b += 1;
            } else {
                out[at] = values[a];
                a += 1;
            }
            at += 1;
        }
        let rest = left.end - a;
        out[at..at + rest].copy_from_slice(&values[a..left.end]);
        out[at + rest..to].copy_from_slice(&values[b..to]);
        Ok(())
    }
}
