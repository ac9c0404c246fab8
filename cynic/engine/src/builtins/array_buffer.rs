//! ArrayBuffer objects (25.1). <https://tc39.es/ecma262/#sec-arraybuffer-objects>
//!
//! Internal slot 0: the bytes, a `Data<Buffer>`. SharedArrayBuffer objects have the same slot and share the helpers here.

use crate::atoms;
use crate::gc::{Data, Gc};
use crate::object::buffer::Buffer;
use crate::object::function::NativeFunctionObject as _;
use crate::object::function::{CallArgs, NativeSpec};
use crate::object::{Object, ObjectKind};
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, constructor, getter, method, prototype, species, to_string_tag,
};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %ArrayBuffer%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("ArrayBuffer", 1, construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::ArrayBufferPrototype), method("isView", 1, is_view), species()],
};

/// %ArrayBuffer.prototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::ArrayBuffer),
        getter("byteLength", byte_length),
        getter("detached", detached),
        getter("maxByteLength", max_byte_length),
        getter("resizable", resizable),
        method("resize", 1, resize),
        method("slice", 2, slice),
        method("transfer", 0, transfer),
        method("transferToFixedLength", 0, transfer_to_fixed_length),
        to_string_tag("ArrayBuffer"),
    ],
};

/// The bytes of an ArrayBuffer or SharedArrayBuffer object.
pub(crate) fn buffer_of(o: Object) -> Option<Gc<Data<Buffer>>> {
    match o.kind() {
        ObjectKind::ArrayBuffer | ObjectKind::SharedArrayBuffer => o.data::<Buffer>(0),
        _ => None,
    }
}

/// The object and bytes of `this`, which must be of `kind`.
pub(super) fn this_buffer(
    vm: &mut Vm,
    args: &CallArgs,
    kind: ObjectKind,
) -> JsResult<(Object, Gc<Data<Buffer>>)> {
    let found = args.this.as_object().filter(|o| o.is(kind)).and_then(|o| Some((o, buffer_of(o)?)));
    match found {
        Some(found) => Ok(found),
        None => {
            let name = args.callee.native_spec().name;
            let message = format!("{name} called on an object that is not of kind {kind:?}");
            Err(vm.throw_type_error(&message))
        }
    }
}

/// GetArrayBufferMaxByteLengthOption (25.1.3.7).
pub(super) fn max_byte_length_option(vm: &mut Vm, options: Value) -> JsResult<Option<u64>> {
    let Some(options) = options.as_object() else { return Ok(None) };
    let max = vm.get(options, atoms::MAX_BYTE_LENGTH)?;
    if max.is_undefined() { Ok(None) } else { vm.to_index(max).map(Some) }
}

/// AllocateArrayBuffer (25.1.3.1) and AllocateSharedArrayBuffer (25.2.2.1).
pub(crate) fn allocate(
    vm: &mut Vm,
    new_target: Value,
    len: u64,
    max: Option<u64>,
    shared: bool,
) -> JsResult<Object> {
    let (default, kind) = if shared {
        (Intrinsic::SharedArrayBufferPrototype, ObjectKind::SharedArrayBuffer)
    } else {
        (Intrinsic::ArrayBufferPrototype, ObjectKind::ArrayBuffer)
    };
    if max.is_some_and(|max| len > max) {
        return Err(vm.throw_range_error("Invalid array buffer max length"));
    }
    let o = vm.ordinary_create_from_constructor(new_target, default, kind, 1)?;
    let buffer = Buffer::new(vm, len, max, shared)?;
    let cell = vm.alloc_data(buffer);
    o.set_slot(0, Value::cell(cell));
    Ok(o)
}

/// AllocateArrayBuffer with the intrinsic constructor.
pub(crate) fn allocate_default(vm: &mut Vm, len: u64) -> JsResult<Object> {
    let prototype = Value::object(vm.intrinsic(Intrinsic::ArrayBufferPrototype));
    let buffer = Buffer::new(vm, len, None, false)?;
    let cell = vm.alloc_data(buffer);
    let o = vm.new_exotic(ObjectKind::ArrayBuffer, prototype, 1);
    o.set_slot(0, Value::cell(cell));
    Ok(o)
}

/// 25.1.4.1
fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.is_construct() {
        return Err(vm.throw_type_error("Constructor ArrayBuffer requires 'new'"));
    }
    let len = vm.to_index(args.get(0))?;
    let max = max_byte_length_option(vm, args.get(1))?;
    Ok(Value::object(allocate(vm, args.new_target, len, max, false)?))
}

/// 25.1.5.1
fn is_view(_: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let kind = args.get(0).as_object().map(|o| o.kind());
    Ok(Value::bool(matches!(kind, Some(ObjectKind::TypedArray | ObjectKind::DataView))))
}

/// 25.1.6.1
fn byte_length(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (_, buffer) = this_buffer(vm, &args, ObjectKind::ArrayBuffer)?;
    Ok(Value::number(buffer.len() as f64))
}

/// 25.1.6.3
fn detached(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (_, buffer) = this_buffer(vm, &args, ObjectKind::ArrayBuffer)?;
    Ok(Value::bool(buffer.is_detached()))
}

/// 25.1.6.4
fn max_byte_length(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (_, buffer) = this_buffer(vm, &args, ObjectKind::ArrayBuffer)?;
    let max = if buffer.is_resizable() { buffer.max_len() } else { buffer.len() };
    Ok(Value::number(max as f64))
}

/// 25.1.6.5
fn resizable(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (_, buffer) = this_buffer(vm, &args, ObjectKind::ArrayBuffer)?;
    Ok(Value::bool(buffer.is_resizable()))
}

/// The TypeError for a buffer whose memory has been taken away.
pub(super) fn require_attached(vm: &mut Vm, buffer: &Buffer) -> JsResult<()> {
    if buffer.is_detached() {
        return Err(vm.throw_type_error("Cannot perform the operation on a detached ArrayBuffer"));
    }
    Ok(())
}

/// 25.1.6.6
fn resize(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (_, buffer) = this_buffer(vm, &args, ObjectKind::ArrayBuffer)?;
    if !buffer.is_resizable() {
        return Err(vm.throw_type_error("ArrayBuffer is not resizable"));
    }
    let len = vm.to_index(args.get(0))?;
    require_attached(vm, &buffer)?;
    if !buffer.resize(vm, len)? {
        return Err(vm.throw_range_error("ArrayBuffer cannot be resized beyond its maxByteLength"));
    }
    Ok(Value::UNDEFINED)
}

/// A relative position argument, clamped to `0..=len`.
pub(super) fn relative_index(vm: &mut Vm, v: Value, len: usize, default: usize) -> JsResult<usize> {
    if v.is_undefined() {
        return Ok(default);
    }
    let n = vm.to_integer_or_infinity(v)?;
    let n = if n < 0.0 { n + len as f64 } else { n };
    Ok(n.clamp(0.0, len as f64) as usize)
}

/// 25.1.6.7
fn slice(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, buffer) = this_buffer(vm, &args, ObjectKind::ArrayBuffer)?;
    require_attached(vm, &buffer)?;
    slice_buffer(vm, &args, o, buffer, Intrinsic::ArrayBuffer)
}

/// The steps that ArrayBuffer and SharedArrayBuffer share in `slice`.
pub(super) fn slice_buffer(
    vm: &mut Vm,
    args: &CallArgs,
    o: Object,
    buffer: Gc<Data<Buffer>>,
    default: Intrinsic,
) -> JsResult<Value> {
    let len = buffer.len();
    let first = relative_index(vm, args.get(0), len, 0)?;
    let end = relative_index(vm, args.get(1), len, len)?;
    let new_len = end.saturating_sub(first);
    let c = vm.species_constructor(o, default)?;
    let new = vm.construct(c, &[Value::number(new_len as f64)], c)?;
    let Some(new_buffer) = buffer_of(new).filter(|new| new.is_shared() == buffer.is_shared()) else {
        return Err(vm.throw_type_error("the species constructor did not return a buffer of the same kind"));
    };
    require_attached(vm, &new_buffer)?;
    let same = if buffer.is_shared() {
        let (a, b) = (new_buffer.shared_block(), buffer.shared_block());
        a.zip(b).is_some_and(|(a, b)| std::sync::Arc::ptr_eq(&a, &b))
    } else {
        new == o
    };
    if same {
        return Err(vm.throw_type_error("the species constructor returned the same buffer"));
    }
    if new_buffer.len() < new_len {
        return Err(vm.throw_type_error("the species constructor returned a buffer that is too small"));
    }
    require_attached(vm, &buffer)?;
    let current = buffer.len();
    if first < current {
        new_buffer.copy_from(vm, &buffer, first, 0, new_len.min(current - first));
    }
    Ok(Value::object(new))
}

/// 25.1.6.8
fn transfer(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    copy_and_detach(vm, &args, true)
}

/// 25.1.6.9
fn transfer_to_fixed_length(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    copy_and_detach(vm, &args, false)
}

/// ArrayBufferCopyAndDetach (25.1.3.3).
fn copy_and_detach(vm: &mut Vm, args: &CallArgs, preserve_resizability: bool) -> JsResult<Value> {
    let (_, buffer) = this_buffer(vm, args, ObjectKind::ArrayBuffer)?;
    let new_len = match args.get(0) {
        v if v.is_undefined() => buffer.len() as u64,
        v => vm.to_index(v)?,
    };
    require_attached(vm, &buffer)?;
    let max = (preserve_resizability && buffer.is_resizable()).then_some(buffer.max_len() as u64);
    let c = Value::object(vm.intrinsic(Intrinsic::ArrayBuffer));
    let new = allocate(vm, c, new_len, max, false)?;
    if let Some(new_buffer) = buffer_of(new) {
        new_buffer.copy_from(vm, &buffer, 0, 0, buffer.len().min(new_len as usize));
    }
    buffer.detach();
    Ok(Value::object(new))
}

impl Vm {
    /// DetachArrayBuffer (25.1.3.4), for hosts; false if the object is not an ArrayBuffer.
    pub fn detach_array_buffer(&mut self, o: Object) -> bool {
        match buffer_of(o).filter(|_| o.is(ObjectKind::ArrayBuffer)) {
            Some(buffer) => {
                buffer.detach();
                true
            }
            None => false,
        }
    }
}
