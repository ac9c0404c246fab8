//! SharedArrayBuffer objects (25.2). <https://tc39.es/ecma262/#sec-sharedarraybuffer-objects>
//!
//! Internal slot 0: the bytes, a `Data<Buffer>` over a block that other isolates may share.

use super::array_buffer::{allocate, buffer_of, max_byte_length_option, slice_buffer, this_buffer};
use crate::object::buffer::{Buffer, SharedBlock};
use crate::object::function::{CallArgs, NativeSpec};
use crate::object::{Object, ObjectKind};
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, constructor, getter, method, prototype, species, to_string_tag,
};
use crate::value::Value;
use crate::vm::{JsResult, Vm};
use std::sync::Arc;

/// %SharedArrayBuffer%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("SharedArrayBuffer", 1, construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::SharedArrayBufferPrototype), species()],
};

/// %SharedArrayBuffer.prototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::SharedArrayBuffer),
        getter("byteLength", byte_length),
        method("grow", 1, grow),
        getter("growable", growable),
        getter("maxByteLength", max_byte_length),
        method("slice", 2, slice),
        to_string_tag("SharedArrayBuffer"),
    ],
};

/// 25.2.3.1
fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.is_construct() {
        return Err(vm.throw_type_error("Constructor SharedArrayBuffer requires 'new'"));
    }
    let len = vm.to_index(args.get(0))?;
    let max = max_byte_length_option(vm, args.get(1))?;
    Ok(Value::object(allocate(vm, args.new_target, len, max, true)?))
}

/// 25.2.5.1
fn byte_length(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (_, buffer) = this_buffer(vm, &args, ObjectKind::SharedArrayBuffer)?;
    Ok(Value::number(buffer.len() as f64))
}

/// 25.2.5.3
fn grow(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (_, buffer) = this_buffer(vm, &args, ObjectKind::SharedArrayBuffer)?;
    if !buffer.is_resizable() {
        return Err(vm.throw_type_error("SharedArrayBuffer is not growable"));
    }
    let len = vm.to_index(args.get(0))?;
    if !buffer.resize(vm, len)? {
        return Err(vm.throw_range_error("SharedArrayBuffer cannot shrink or grow beyond its maxByteLength"));
    }
    Ok(Value::UNDEFINED)
}

/// 25.2.5.4
fn growable(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (_, buffer) = this_buffer(vm, &args, ObjectKind::SharedArrayBuffer)?;
    Ok(Value::bool(buffer.is_resizable()))
}

/// 25.2.5.5
fn max_byte_length(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (_, buffer) = this_buffer(vm, &args, ObjectKind::SharedArrayBuffer)?;
    let max = if buffer.is_resizable() { buffer.max_len() } else { buffer.len() };
    Ok(Value::number(max as f64))
}

/// 25.2.5.6
fn slice(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, buffer) = this_buffer(vm, &args, ObjectKind::SharedArrayBuffer)?;
    slice_buffer(vm, &args, o, buffer, Intrinsic::SharedArrayBuffer)
}

impl Vm {
    /// The memory of a SharedArrayBuffer and whether it is growable, to hand to another isolate.
    pub fn shared_block(&self, o: Object) -> Option<(Arc<SharedBlock>, bool)> {
        let buffer = buffer_of(o)?;
        Some((buffer.shared_block()?, buffer.is_resizable()))
    }

    /// A SharedArrayBuffer over memory from another isolate.
    pub fn new_shared_array_buffer(&mut self, block: Arc<SharedBlock>, growable: bool) -> JsResult<Object> {
        let prototype = Value::object(self.intrinsic(Intrinsic::SharedArrayBufferPrototype));
        let buffer = Buffer::from_shared(self, block, growable)?;
        let cell = self.alloc_data(buffer);
        let o = self.new_exotic(ObjectKind::SharedArrayBuffer, prototype, 1);
        o.set_slot(0, Value::cell(cell));
        Ok(o)
    }
}
