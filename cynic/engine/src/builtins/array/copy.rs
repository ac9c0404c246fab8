//! Methods that make a new array (23.1.3): concat, flat, flatMap, slice, toReversed, toSpliced, with.

use super::{LENGTH_MAX, callback, relative_index, this_and_length};
use crate::object::Object;
use crate::object::function::CallArgs;
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// 23.1.3.2
pub(super) fn concat(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = vm.to_object(args.this)?;
    let out = vm.array_species_create(o, 0)?;
    let mut n = 0u64;
    for i in 0..=args.len() {
        let item = if i == 0 { Value::object(o) } else { args.get(i - 1) };
        let Some(source) = item.as_object() else {
            n = append(vm, out, n, item)?;
            continue;
        };
        if !is_concat_spreadable(vm, source)? {
            n = append(vm, out, n, item)?;
            continue;
        }
        let count = vm.length_of_array_like(source)?;
        if n + count > LENGTH_MAX {
            return Err(vm.throw_type_error("the concatenation would be too long"));
        }
        // OPTIMIZATION: equals creating the properties one by one.
        let plain = u64::from(out.elements().len()) == n && u64::from(source.elements().len()) == count;
        if plain && vm.try_append_elements(out, source)? {
            n += count;
            continue;
        }
        for k in 0..count {
            vm.poll()?;
            if let Some(v) = vm.get_element_if_present(source, k)? {
                vm.create_element(out, n + k, v)?;
            }
        }
        n += count;
    }
    vm.set_length(out, n)?;
    Ok(Value::object(out))
}

fn append(vm: &mut Vm, out: Object, n: u64, v: Value) -> JsResult<u64> {
    if n >= LENGTH_MAX {
        return Err(vm.throw_type_error("the concatenation would be too long"));
    }
    vm.create_element(out, n, v)?;
    Ok(n + 1)
}

/// IsConcatSpreadable (23.1.3.2.1).
fn is_concat_spreadable(vm: &mut Vm, o: Object) -> JsResult<bool> {
    let spreadable = vm.get(o, symbol::IS_CONCAT_SPREADABLE)?;
    if !spreadable.is_undefined() {
        return Ok(spreadable.to_boolean());
    }
    vm.is_array(Value::object(o))
}

/// 23.1.3.28
pub(super) fn slice(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    let from = relative_index(vm, args.get(0), n, 0)?;
    let to = relative_index(vm, args.get(1), n, n)?;
    let count = to.saturating_sub(from);
    let out = vm.array_species_create(o, count)?;
    // OPTIMIZATION: equals creating the properties one by one; holes stay holes.
    if vm.has_plain_elements(o)
        && u64::from(o.elements().len()) >= from + count
        && vm.has_plain_elements_to_fill(out, count)
    {
        vm.poll_bytes(count as usize * size_of::<Value>())?;
        vm.reserve_elements(out, count as u32)?;
        out.elements().extend_from(&o.elements().as_slice()[from as usize..(from + count) as usize]);
        return Ok(Value::object(out));
    }
    for k in 0..count {
        vm.poll()?;
        if let Some(v) = vm.get_element_if_present(o, from + k)? {
            vm.create_element(out, k, v)?;
        }
    }
    vm.set_length(out, count)?;
    Ok(Value::object(out))
}

/// 23.1.3.13
pub(super) fn flat(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    let depth = match args.get(0) {
        d if d.is_undefined() => 1.0,
        d => vm.to_integer_or_infinity(d)?.max(0.0),
    };
    let out = vm.array_species_create(o, 0)?;
    flatten_into(vm, out, o, n, 0, depth, None)?;
    Ok(Value::object(out))
}

/// 23.1.3.14
pub(super) fn flat_map(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    let f = callback(vm, args.get(0))?;
    let out = vm.array_species_create(o, 0)?;
    flatten_into(vm, out, o, n, 0, 1.0, Some((f, args.get(1))))?;
    Ok(Value::object(out))
}

/// FlattenIntoArray (23.1.3.13.1).
fn flatten_into(
    vm: &mut Vm,
    out: Object,
    source: Object,
    n: u64,
    start: u64,
    depth: f64,
    map: Option<(Value, Value)>,
) -> JsResult<u64> {
    vm.check_native_stack()?;
    let mut to = start;
    for k in 0..n {
        vm.poll()?;
        let Some(mut v) = vm.get_element_if_present(source, k)? else { continue };
        if let Some((f, this)) = map {
            v = vm.call(f, this, &[v, Value::number(k as f64), Value::object(source)])?;
        }
        if depth > 0.0
            && let Some(inner) = v.as_object()
            && vm.is_array(v)?
        {
            let count = vm.length_of_array_like(inner)?;
            to = flatten_into(vm, out, inner, count, to, depth - 1.0, None)?;
        } else {
            to = append(vm, out, to, v)?;
        }
    }
    Ok(to)
}

/// ArrayCreate for a copy: a RangeError above the length of arrays.
fn new_copy(vm: &mut Vm, n: u64) -> JsResult<Object> {
    let out = vm.array_create(n as f64, None)?;
    if n <= u64::from(crate::limits::DENSE_INDEX_ALWAYS) * 64 {
        vm.reserve_elements(out, n as u32)?;
    }
    out.set_array_length_slot(0);
    Ok(out)
}

/// 23.1.3.33
pub(super) fn to_reversed(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    let out = new_copy(vm, n)?;
    for k in 0..n {
        vm.poll()?;
        let v = vm.get_element(o, n - 1 - k)?;
        vm.create_element(out, k, v)?;
    }
    Ok(Value::object(out))
}

/// 23.1.3.35
pub(super) fn to_spliced(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    let start = relative_index(vm, args.get(0), n, 0)?;
    let skipped = match args.len() {
        0 => 0,
        1 => n - start,
        _ => vm.to_integer_or_infinity(args.get(1))?.clamp(0.0, (n - start) as f64) as u64,
    };
    let items = args.rest(2);
    let new_length = n + items.len() as u64 - skipped;
    if new_length > LENGTH_MAX {
        return Err(vm.throw_type_error("the spliced array would be too long"));
    }
    let out = new_copy(vm, new_length)?;
    let mut to = 0;
    for k in 0..start {
        vm.poll()?;
        let v = vm.get_element(o, k)?;
        vm.create_element(out, to, v)?;
        to += 1;
    }
    for &v in items {
        vm.create_element(out, to, v)?;
        to += 1;
    }
    for k in start + skipped..n {
        vm.poll()?;
        let v = vm.get_element(o, k)?;
        vm.create_element(out, to, v)?;
        to += 1;
    }
    Ok(Value::object(out))
}

/// 23.1.3.39
pub(super) fn with(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    let relative = vm.to_integer_or_infinity(args.get(0))?;
    let at = if relative >= 0.0 { relative } else { n as f64 + relative };
    if at < 0.0 || at >= n as f64 {
        return Err(vm.throw_range_error("Invalid index"));
    }
    let out = new_copy(vm, n)?;
    for k in 0..n {
        vm.poll()?;
        let v = if k == at as u64 { args.get(1) } else { vm.get_element(o, k)? };
        vm.create_element(out, k, v)?;
    }
    Ok(Value::object(out))
}
