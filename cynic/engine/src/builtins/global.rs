//! The global object (19). <https://tc39.es/ecma262/#sec-global-object>
//!
//! One row per global, in alphabetical order. Rows name intrinsics, which are made when first read.

use crate::object::{ObjectKind, flags};
use crate::realm::{Body, Intrinsic, IntrinsicSpec, PropertySpec, ValueSpec, data, method};
use crate::shape::attrs;
use crate::value::Value;
use crate::vm::Vm;

const fn global(name: &'static str, which: Intrinsic) -> PropertySpec {
    data(name, ValueSpec::Intrinsic(which), attrs::METHOD)
}

/// The global object. Hosts add their own properties before guest code runs (`Vm::freeze_global` then locks it).
pub static GLOBAL: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Global, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: GLOBALS,
};

static GLOBALS: &[PropertySpec] = &[
    global("AggregateError", Intrinsic::AggregateError),
    global("Array", Intrinsic::Array),
    global("ArrayBuffer", Intrinsic::ArrayBuffer),
    global("AsyncDisposableStack", Intrinsic::AsyncDisposableStack),
    global("Atomics", Intrinsic::Atomics),
    global("BigInt", Intrinsic::BigInt),
    global("BigInt64Array", Intrinsic::BigInt64Array),
    global("BigUint64Array", Intrinsic::BigUint64Array),
    global("Boolean", Intrinsic::Boolean),
    global("DataView", Intrinsic::DataView),
    global("Date", Intrinsic::Date),
    global("DisposableStack", Intrinsic::DisposableStack),
    global("Error", Intrinsic::Error),
    global("EvalError", Intrinsic::EvalError),
    global("FinalizationRegistry", Intrinsic::FinalizationRegistry),
    global("Float16Array", Intrinsic::Float16Array),
    global("Float32Array", Intrinsic::Float32Array),
    global("Float64Array", Intrinsic::Float64Array),
    global("Function", Intrinsic::Function),
    data("Infinity", ValueSpec::Number(f64::INFINITY), 0),
    global("Int16Array", Intrinsic::Int16Array),
    global("Int32Array", Intrinsic::Int32Array),
    global("Int8Array", Intrinsic::Int8Array),
    global("Iterator", Intrinsic::Iterator),
    global("JSON", Intrinsic::JSON),
    global("Map", Intrinsic::Map),
    global("Math", Intrinsic::Math),
    data("NaN", ValueSpec::Number(f64::NAN), 0),
    global("Number", Intrinsic::Number),
    global("Object", Intrinsic::Object),
    global("Promise", Intrinsic::Promise),
    global("Proxy", Intrinsic::Proxy),
    global("RangeError", Intrinsic::RangeError),
    global("ReferenceError", Intrinsic::ReferenceError),
    global("Reflect", Intrinsic::Reflect),
    global("RegExp", Intrinsic::RegExp),
    global("Set", Intrinsic::Set),
    global("SharedArrayBuffer", Intrinsic::SharedArrayBuffer),
    global("String", Intrinsic::String),
    global("SuppressedError", Intrinsic::SuppressedError),
    global("Symbol", Intrinsic::Symbol),
    global("SyntaxError", Intrinsic::SyntaxError),
    global("Temporal", Intrinsic::Temporal),
    global("TypeError", Intrinsic::TypeError),
    global("URIError", Intrinsic::URIError),
    global("Uint16Array", Intrinsic::Uint16Array),
    global("Uint32Array", Intrinsic::Uint32Array),
    global("Uint8Array", Intrinsic::Uint8Array),
    global("Uint8ClampedArray", Intrinsic::Uint8ClampedArray),
    global("WeakMap", Intrinsic::WeakMap),
    global("WeakRef", Intrinsic::WeakRef),
    global("WeakSet", Intrinsic::WeakSet),
    method("decodeURI", 1, super::uri::decode_uri),
    method("decodeURIComponent", 1, super::uri::decode_uri_component),
    method("encodeURI", 1, super::uri::encode_uri),
    method("encodeURIComponent", 1, super::uri::encode_uri_component),
    global("eval", Intrinsic::Eval),
    global("globalThis", Intrinsic::GlobalThis),
    method("harden", 1, super::harden::harden),
    method("isFinite", 1, super::number::global_is_finite),
    method("isNaN", 1, super::number::global_is_nan),
    method("parseFloat", 1, super::number::parse_float),
    method("parseInt", 2, super::number::parse_int),
    data("undefined", ValueSpec::Constant(|_| Value::UNDEFINED), 0),
];

impl Vm {
    /// Whether the global object of the current realm has been locked.
    pub fn is_global_sealed(&self) -> bool {
        self.options.hardened && self.realm().is_global_sealed.get()
    }

    /// Locks the global object unless that was done.
    pub fn seal_global(&mut self) {
        if !self.realm().is_global_sealed.get() {
            self.freeze_global();
        }
    }

    /// Locks the global object in hardened mode; call it after the host has added its own properties.
    pub fn freeze_global(&mut self) {
        self.realm().is_global_sealed.set(true);
        if !self.options.hardened {
            return;
        }
        let global = self.global_object();
        if self.options.open_global {
            let shape = self.shape_with_frozen_properties(global.shape());
            global.set_shape(shape);
            global.clear_flag(flags::NOT_EXTENSIBLE | flags::HARDENED);
        } else {
            self.ordinary_lock(global, crate::shape::Lock::Freeze);
        }
    }
}
