//! The methods of %TypedArray.prototype% that do not call back. <https://tc39.es/ecma262/#sec-properties-of-the-%typedarrayprototype%-object>

use super::array_buffer::relative_index;
use super::typed_array::{Typed, copy_elements, create_same_type, species_create, validate, view_of};
use super::typed_array_exotic::set_element;
use crate::builtins::array::iterator::{ENTRIES, KEYS, VALUES};
use crate::object::function::CallArgs;
use crate::object::function::NativeFunctionObject as _;
use crate::string::builder::StringBuilder;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// The view of `this`, in or out of bounds, for the getters.
fn this_view(
    vm: &mut Vm,
    args: &CallArgs,
) -> JsResult<(crate::object::Object, crate::gc::Gc<crate::gc::Data<crate::object::typed_view::TypedView>>)> {
    match view_of(args.this) {
        Some(found) => Ok(found),
        None => {
            let message =
                format!("{} called on an object that is not a typed array", args.callee.native_spec().name);
            Err(vm.throw_type_error(&message))
        }
    }
}

/// 23.2.3.2
pub(super) fn buffer(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, _) = this_view(vm, &args)?;
    Ok(o.slot(1))
}

/// 23.2.3.3
pub(super) fn byte_length(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (_, view) = this_view(vm, &args)?;
    Ok(Value::number((view.length().unwrap_or(0) * view.element.size()) as f64))
}

/// 23.2.3.4
pub(super) fn byte_offset(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (_, view) = this_view(vm, &args)?;
    Ok(Value::number(if view.length().is_some() { view.byte_offset as f64 } else { 0.0 }))
}

/// 23.2.3.21
pub(super) fn length(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (_, view) = this_view(vm, &args)?;
    Ok(Value::number(view.length().unwrap_or(0) as f64))
}

/// 23.2.3.38
pub(super) fn to_string_tag(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(match view_of(args.this) {
        Some((_, view)) => Value::string(vm.intern_str(view.element.name())),
        None => Value::UNDEFINED,
    })
}

/// 23.2.3.1
pub(super) fn at(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate(vm, args.this)?;
    let n = vm.to_integer_or_infinity(args.get(0))?;
    let k = if n < 0.0 { n + typed.length as f64 } else { n };
    if k < 0.0 || k >= typed.length as f64 {
        return Ok(Value::UNDEFINED);
    }
    Ok(typed.view.value_at(vm, k as usize))
}

/// 23.2.3.6
pub(super) fn copy_within(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate(vm, args.this)?;
    let length = typed.length;
    let to = relative_index(vm, args.get(0), length, 0)?;
    let from = relative_index(vm, args.get(1), length, 0)?;
    let end = relative_index(vm, args.get(2), length, length)?;
    let count = end.saturating_sub(from).min(length - to);
    if count == 0 {
        return Ok(args.this);
    }
    let Typed { view, length: now, .. } = validate(vm, args.this)?;
    let count = count.min(now.saturating_sub(from)).min(now.saturating_sub(to));
    let size = view.element.size();
    view.buffer.copy_within(vm, view.byte_offset + from * size, view.byte_offset + to * size, count * size);
    Ok(args.this)
}

/// 23.2.3.7
pub(super) fn entries(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    validate(vm, args.this)?;
    Ok(vm.create_array_iterator(args.this, ENTRIES))
}

/// 23.2.3.20
pub(super) fn keys(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    validate(vm, args.this)?;
    Ok(vm.create_array_iterator(args.this, KEYS))
}

/// 23.2.3.35
pub(super) fn values(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    validate(vm, args.this)?;
    Ok(vm.create_array_iterator(args.this, VALUES))
}

/// 23.2.3.9
pub(super) fn fill(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate(vm, args.this)?;
    let bits = typed.element().to_bits(vm, args.get(0))?;
    let from = relative_index(vm, args.get(1), typed.length, 0)?;
    let end = relative_index(vm, args.get(2), typed.length, typed.length)?;
    let Typed { view, length: now, .. } = validate(vm, args.this)?;
    let end = end.min(now);
    let size = view.element.size();
    for i in from..end {
        if i % 1024 == 0 {
            vm.poll_n(32)?;
        }
        view.buffer.write(view.byte_offset + i * size, size, bits);
    }
    Ok(args.this)
}

/// The position where a search begins; `None` if it is past the end.
fn search_start(vm: &mut Vm, v: Value, length: usize) -> JsResult<Option<usize>> {
    let n = vm.to_integer_or_infinity(v)?;
    if n >= length as f64 {
        return Ok(None);
    }
    Ok(Some(if n < 0.0 { (n + length as f64).max(0.0) as usize } else { n as usize }))
}

/// 23.2.3.16
pub(super) fn includes(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate(vm, args.this)?;
    if typed.length == 0 {
        return Ok(Value::FALSE);
    }
    let Some(start) = search_start(vm, args.get(1), typed.length)? else { return Ok(Value::FALSE) };
    for i in start..typed.length {
        vm.poll()?;
        let v = typed.view.value_at(vm, i);
        if vm.same_value_zero(v, args.get(0)) {
            return Ok(Value::TRUE);
        }
    }
    Ok(Value::FALSE)
}

/// 23.2.3.17
pub(super) fn index_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate(vm, args.this)?;
    if typed.length == 0 {
        return Ok(Value::int32(-1));
    }
    let Some(start) = search_start(vm, args.get(1), typed.length)? else { return Ok(Value::int32(-1)) };
    for i in start..typed.length.min(typed.current_length()) {
        vm.poll()?;
        let v = typed.view.value_at(vm, i);
        if vm.strict_equals(v, args.get(0)) {
            return Ok(Value::number(i as f64));
        }
    }
    Ok(Value::int32(-1))
}

/// 23.2.3.19
pub(super) fn last_index_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate(vm, args.this)?;
    if typed.length == 0 {
        return Ok(Value::int32(-1));
    }
    let last = typed.length as f64 - 1.0;
    let n = if args.len() > 1 { vm.to_integer_or_infinity(args.get(1))? } else { last };
    let start = if n < 0.0 { typed.length as f64 + n } else { n.min(last) };
    if start < 0.0 {
        return Ok(Value::int32(-1));
    }
    for i in (0..(start as usize + 1).min(typed.current_length())).rev() {
        vm.poll()?;
        let v = typed.view.value_at(vm, i);
        if vm.strict_equals(v, args.get(0)) {
            return Ok(Value::number(i as f64));
        }
    }
    Ok(Value::int32(-1))
}

/// 23.2.3.18
pub(super) fn join(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate(vm, args.this)?;
    let separator = match args.get(0) {
        v if v.is_undefined() => crate::string::character(b','),
        v => vm.to_string(v)?,
    };
    let mut out = StringBuilder::new();
    for i in 0..typed.length {
        vm.poll()?;
        if i > 0 {
            out.push_string(vm, separator);
        }
        let v = typed.view.value_at(vm, i);
        if !v.is_undefined() {
            let text = vm.to_string(v)?;
            out.push_string(vm, text);
        }
        out.check(vm)?;
    }
    Ok(Value::string(out.finish(vm)?))
}

/// 23.2.3.31
pub(super) fn to_locale_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate(vm, args.this)?;
    let mut out = StringBuilder::new();
    for i in 0..typed.length {
        vm.poll()?;
        if i > 0 {
            out.push_unit(u16::from(b','));
        }
        let v = typed.view.value_at(vm, i);
        if !v.is_undefined() {
            let text = vm.invoke(v, crate::atoms::TO_LOCALE_STRING, &[])?;
            let text = vm.to_string(text)?;
            out.push_string(vm, text);
        }
        out.check(vm)?;
    }
    Ok(Value::string(out.finish(vm)?))
}

/// 23.2.3.24
pub(super) fn reverse(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate(vm, args.this)?;
    for i in 0..typed.length / 2 {
        vm.poll()?;
        let j = typed.length - 1 - i;
        if let (Some(a), Some(b)) = (typed.view.bits_at(i), typed.view.bits_at(j)) {
            typed.view.set_bits(i, b);
            typed.view.set_bits(j, a);
        }
    }
    Ok(args.this)
}

/// 23.2.3.32
pub(super) fn to_reversed(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate(vm, args.this)?;
    let new = create_same_type(vm, &typed, typed.length)?;
    for i in 0..typed.length {
        vm.poll()?;
        if let Some(bits) = typed.view.bits_at(typed.length - 1 - i) {
            new.view.set_bits(i, bits);
        }
    }
    Ok(Value::object(new.object))
}

/// 23.2.3.36
pub(super) fn with(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate(vm, args.this)?;
    let n = vm.to_integer_or_infinity(args.get(0))?;
    let index = if n < 0.0 { typed.length as f64 + n } else { n };
    let bits = typed.element().to_bits(vm, args.get(1))?;
    if index < 0.0 || index >= typed.current_length() as f64 {
        return Err(vm.throw_range_error("Invalid typed array index"));
    }
    let new = create_same_type(vm, &typed, typed.length)?;
    // What has gone out of bounds reads as undefined, which converts to the value for undefined.
    for i in 0..typed.length {
        vm.poll()?;
        let element = if i == index as usize {
            bits
        } else {
            match typed.view.bits_at(i) {
                Some(bits) => bits,
                None => typed.element().to_bits(vm, Value::UNDEFINED)?,
            }
        };
        new.view.set_bits(i, element);
    }
    Ok(Value::object(new.object))
}

/// 23.2.3.26
pub(super) fn set(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (target, _) = this_view(vm, &args)?;
    let offset = vm.to_integer_or_infinity(args.get(1))?;
    if offset < 0.0 {
        return Err(vm.throw_range_error("offset is out of bounds"));
    }
    match view_of(args.get(0)) {
        Some(_) => set_from_typed_array(vm, Value::object(target), offset, args.get(0))?,
        None => set_from_array_like(vm, Value::object(target), offset, args.get(0))?,
    }
    Ok(Value::UNDEFINED)
}

/// SetTypedArrayFromTypedArray (23.2.3.26.1).
fn set_from_typed_array(vm: &mut Vm, target: Value, offset: f64, source: Value) -> JsResult<()> {
    let target = validate(vm, target)?;
    let source = validate(vm, source)?;
    if source.element().is_bigint() != target.element().is_bigint() {
        return Err(vm.throw_type_error("cannot mix BigInt and other types"));
    }
    if source.length as f64 + offset > target.length as f64 {
        return Err(vm.throw_range_error("offset is out of bounds"));
    }
    let same_block = match (source.view.buffer.shared_block(), target.view.buffer.shared_block()) {
        (Some(a), Some(b)) => std::sync::Arc::ptr_eq(&a, &b),
        _ => source.view.buffer == target.view.buffer,
    };
    // Elements of another size may overlap what is still to be read: then from a copy.
    if same_block && source.element() != target.element() {
        let copy = create_same_type(vm, &source, source.length)?;
        copy_elements(vm, &source, 0, &copy, 0, source.length)?;
        return copy_elements(vm, &copy, 0, &target, offset as usize, source.length);
    }
    copy_elements(vm, &source, 0, &target, offset as usize, source.length)
}

/// SetTypedArrayFromArrayLike (23.2.3.26.2).
fn set_from_array_like(vm: &mut Vm, target: Value, offset: f64, source: Value) -> JsResult<()> {
    let target = validate(vm, target)?;
    let source = vm.to_object(source)?;
    let length = vm.length_of_array_like(source)?;
    if length as f64 + offset > target.length as f64 {
        return Err(vm.throw_range_error("offset is out of bounds"));
    }
    for i in 0..length {
        vm.poll()?;
        let key = vm.key_from_u64(i);
        let v = vm.get(source, key)?;
        set_element(vm, target.object, Some(offset as usize + i as usize), v)?;
    }
    Ok(())
}

/// 23.2.3.27
pub(super) fn slice(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate(vm, args.this)?;
    let from = relative_index(vm, args.get(0), typed.length, 0)?;
    let end = relative_index(vm, args.get(1), typed.length, typed.length)?;
    let count = end.saturating_sub(from);
    let new = species_create(vm, &typed, &[Value::number(count as f64)], Some(count))?;
    if count == 0 {
        return Ok(Value::object(new.object));
    }
    let typed = validate(vm, args.this)?;
    let end = end.min(typed.length);
    let count = end.saturating_sub(from);
    if typed.element() == new.element() {
        // Byte by byte in ascending order, as the specification says, even where the two overlap.
        let size = typed.element().size();
        let (at, to) = (typed.view.byte_offset + from * size, new.view.byte_offset);
        let bytes = (count * size).min(new.view.length().unwrap_or(0) * size);
        if typed.view.buffer == new.view.buffer && at < to {
            for i in 0..bytes {
                if i % 1024 == 0 {
                    vm.poll_n(64)?;
                }
                let byte = typed.view.buffer.read(at + i, 1);
                new.view.buffer.write(to + i, 1, byte);
            }
        } else {
            new.view.buffer.copy_from(vm, &typed.view.buffer, at, to, bytes);
        }
        return Ok(Value::object(new.object));
    }
    copy_elements(vm, &typed, from, &new, 0, count)?;
    Ok(Value::object(new.object))
}

/// 23.2.3.30
pub(super) fn subarray(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (object, view) = this_view(vm, &args)?;
    let length = view.length().unwrap_or(0);
    let from = relative_index(vm, args.get(0), length, 0)?;
    let tracks = view.fixed_length.is_none() && args.get(1).is_undefined();
    let end = if tracks { length } else { relative_index(vm, args.get(1), length, length)? };
    let byte_offset = view.byte_offset + from * view.element.size();
    let mut arguments = vec![object.slot(1), Value::number(byte_offset as f64)];
    if !tracks {
        arguments.push(Value::number(end.saturating_sub(from) as f64));
    }
    let exemplar = Typed { object, view, length };
    let new = species_create(vm, &exemplar, &arguments, None)?;
    Ok(Value::object(new.object))
}
