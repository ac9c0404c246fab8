//! DataView objects (25.3). <https://tc39.es/ecma262/#sec-dataview-objects>
//!
//! Internal slots: 0 the `Data<TypedView>` (its element type is `Uint8`, so lengths are bytes), 1 the buffer object.

use super::array_buffer::{buffer_of, require_attached};
use crate::object::function::NativeFunctionObject as _;
use crate::object::function::{CallArgs, NativeSpec};
use crate::object::typed_view::{ElementType, TypedView};
use crate::object::{Object, ObjectKind};
use crate::realm::{Body, Intrinsic, IntrinsicSpec, constructor, getter, method, prototype, to_string_tag};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %DataView%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("DataView", 1, construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::DataViewPrototype)],
};

macro_rules! accessors {
    ($($get:literal $set:literal $element:ident,)*) => {
        /// %DataView.prototype%.
        pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
            body: Body::Object(ObjectKind::Ordinary, 0),
            prototype: Some(Intrinsic::ObjectPrototype),
            properties: &[
                constructor(Intrinsic::DataView),
                getter("buffer", buffer),
                getter("byteLength", byte_length),
                getter("byteOffset", byte_offset),
                $(method($get, 1, |vm, args| get_view_value(vm, args, ElementType::$element)),)*
                $(method($set, 2, |vm, args| set_view_value(vm, args, ElementType::$element)),)*
                to_string_tag("DataView"),
            ],
        };
    };
}

accessors! {
    "getBigInt64" "setBigInt64" BigInt64,
    "getBigUint64" "setBigUint64" BigUint64,
    "getFloat16" "setFloat16" Float16,
    "getFloat32" "setFloat32" Float32,
    "getFloat64" "setFloat64" Float64,
    "getInt16" "setInt16" Int16,
    "getInt32" "setInt32" Int32,
    "getInt8" "setInt8" Int8,
    "getUint16" "setUint16" Uint16,
    "getUint32" "setUint32" Uint32,
    "getUint8" "setUint8" Uint8,
}

/// 25.3.2.1
fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.is_construct() {
        return Err(vm.throw_type_error("Constructor DataView requires 'new'"));
    }
    let Some((o, bytes)) = args.get(0).as_object().and_then(|o| Some((o, buffer_of(o)?))) else {
        return Err(vm.throw_type_error("First argument to DataView constructor must be an ArrayBuffer"));
    };
    let offset = vm.to_index(args.get(1))?;
    require_attached(vm, &bytes)?;
    let (len, offset) = (bytes.len(), offset as usize);
    if offset > len {
        return Err(vm.throw_range_error("Start offset is outside the bounds of the buffer"));
    }
    let fixed_length = match args.get(2) {
        v if v.is_undefined() => (!bytes.is_resizable()).then(|| len - offset),
        v => {
            let wanted = vm.to_index(v)? as usize;
            if wanted > len - offset {
                return Err(vm.throw_range_error("Invalid DataView length"));
            }
            Some(wanted)
        }
    };
    let view = vm.ordinary_create_from_constructor(
        args.new_target,
        Intrinsic::DataViewPrototype,
        ObjectKind::DataView,
        2,
    )?;
    // The prototype's getter may have detached or resized the buffer.
    require_attached(vm, &bytes)?;
    if offset > bytes.len() || fixed_length.is_some_and(|n| offset + n > bytes.len()) {
        return Err(vm.throw_range_error("Invalid DataView length"));
    }
    let cell = vm.alloc_data(TypedView::new(bytes, ElementType::Uint8, offset, fixed_length));
    view.set_slot(0, Value::cell(cell));
    view.set_slot(1, Value::object(o));
    Ok(Value::object(view))
}

/// The object of `this`, which must be a DataView.
fn this_view(vm: &mut Vm, args: &CallArgs) -> JsResult<Object> {
    match args.this.as_object().filter(|o| o.is(ObjectKind::DataView)) {
        Some(o) => Ok(o),
        None => {
            let message =
                format!("{} called on an object that is not a DataView", args.callee.native_spec().name);
            Err(vm.throw_type_error(&message))
        }
    }
}

/// GetViewByteLength (25.3.1.3), with the view; a TypeError if it is out of bounds.
fn view_and_length(vm: &mut Vm, o: Object) -> JsResult<(crate::gc::Gc<crate::gc::Data<TypedView>>, usize)> {
    let found = o.data::<TypedView>(0).and_then(|view| Some((view, view.length()?)));
    match found {
        Some(found) => Ok(found),
        None => Err(vm.throw_type_error("DataView is out of bounds or its buffer is detached")),
    }
}

/// 25.3.4.1
fn buffer(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(this_view(vm, &args)?.slot(1))
}

/// 25.3.4.2
fn byte_length(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = this_view(vm, &args)?;
    let (_, length) = view_and_length(vm, o)?;
    Ok(Value::number(length as f64))
}

/// 25.3.4.3
fn byte_offset(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = this_view(vm, &args)?;
    let (view, _) = view_and_length(vm, o)?;
    Ok(Value::number(view.byte_offset as f64))
}

/// GetViewValue (25.3.1.5).
fn get_view_value(vm: &mut Vm, args: CallArgs, element: ElementType) -> JsResult<Value> {
    let o = this_view(vm, &args)?;
    let index = vm.to_index(args.get(0))?;
    let little_endian = args.get(1).to_boolean();
    let (view, at) = place(vm, o, index, element)?;
    let bits = view.buffer.read(at, element.size());
    Ok(element.to_value(vm, if little_endian { bits } else { swap(bits, element) }))
}

/// SetViewValue (25.3.1.6).
fn set_view_value(vm: &mut Vm, args: CallArgs, element: ElementType) -> JsResult<Value> {
    let o = this_view(vm, &args)?;
    let index = vm.to_index(args.get(0))?;
    let bits = element.to_bits(vm, args.get(1))?;
    let little_endian = args.get(2).to_boolean();
    let (view, at) = place(vm, o, index, element)?;
    view.buffer.write(at, element.size(), if little_endian { bits } else { swap(bits, element) });
    Ok(Value::UNDEFINED)
}

/// The byte at which an element stands in the buffer.
fn place(
    vm: &mut Vm,
    o: Object,
    index: u64,
    element: ElementType,
) -> JsResult<(crate::gc::Gc<crate::gc::Data<TypedView>>, usize)> {
    let (view, length) = view_and_length(vm, o)?;
    if index + element.size() as u64 > length as u64 {
        return Err(vm.throw_range_error("Offset is outside the bounds of the DataView"));
    }
    Ok((view, view.byte_offset + index as usize))
}

/// Big-endian bytes as a little-endian number, or the other way round.
fn swap(bits: u64, element: ElementType) -> u64 {
    bits.swap_bytes() >> (64 - 8 * element.size())
}
