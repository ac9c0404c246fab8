//! Native functions: their specification, their objects, and the arguments they get.
//!
//! A native function object's internal slots are: 0 its [`NativeSpec`] (static), 1 its realm, then the values
//! it captured. `length` and `name` are ordinary properties.

#![allow(unsafe_code)]

use super::{Object, ObjectKind, flags};
use crate::atoms;
use crate::property_key::PropertyKey;
use crate::realm::Intrinsic;
use crate::shape::{Lock, attrs};
use crate::string::JsStr;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// Rust code that the guest can call.
pub type NativeFn = fn(&mut Vm, CallArgs) -> JsResult<Value>;

/// What a native function is, in static memory.
#[repr(align(8))]
pub struct NativeSpec {
    /// The `name` property (without "get " or "set ").
    pub name: &'static str,
    /// What precedes the name.
    pub prefix: NamePrefix,
    /// The `length` property.
    pub length: u8,
    /// Whether it has `[[Construct]]`.
    pub constructor: bool,
    /// The code.
    pub function: NativeFn,
    /// For the `next` of an iterator: the same without a result object.
    pub step: Option<StepFn>,
}

/// One step of an iterator: its next value, or none when it is done. `None`: not an iterator of this kind (or not now), ask `next`.
pub type StepFn = fn(&mut Vm, Object) -> Option<JsResult<Option<Value>>>;

/// The prefix of SetFunctionName (10.2.9).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum NamePrefix {
    /// None.
    Plain,
    /// `get`.
    Get,
    /// `set`.
    Set,
}

impl NativeSpec {
    /// A method or plain function.
    pub const fn new(name: &'static str, length: u8, function: NativeFn) -> Self {
        NativeSpec { name, prefix: NamePrefix::Plain, length, constructor: false, function, step: None }
    }
    /// A constructor. Its code sees `new_target` undefined when it is called.
    pub const fn constructor(name: &'static str, length: u8, function: NativeFn) -> Self {
        NativeSpec { name, prefix: NamePrefix::Plain, length, constructor: true, function, step: None }
    }
    /// A getter.
    pub const fn getter(name: &'static str, function: NativeFn) -> Self {
        NativeSpec { name, prefix: NamePrefix::Get, length: 0, constructor: false, function, step: None }
    }
    /// A setter.
    pub const fn setter(name: &'static str, function: NativeFn) -> Self {
        NativeSpec { name, prefix: NamePrefix::Set, length: 1, constructor: false, function, step: None }
    }
}

/// The internal slot of a native function's specification.
pub const NATIVE_SPEC_SLOT: u32 = 0;
/// The internal slot of a native function's realm.
pub const NATIVE_REALM_SLOT: u32 = 1;
/// The first captured value.
pub const NATIVE_CAPTURE_SLOT: u32 = 2;

/// The arguments of one call. Small and copyable; valid during the call.
#[derive(Copy, Clone)]
pub struct CallArgs {
    args: *const Value,
    count: u32,
    /// The `this` value.
    pub this: Value,
    /// The function being called.
    pub callee: Object,
    /// The new.target: an object, or undefined in a call.
    pub new_target: Value,
}

impl CallArgs {
    /// Arguments at `args`.
    ///
    /// # Safety
    /// `args..args + count` must stay valid and rooted (register stack, native stack) during the call.
    #[inline(always)]
    pub unsafe fn new(
        args: *const Value,
        count: u32,
        this: Value,
        callee: Object,
        new_target: Value,
    ) -> Self {
        CallArgs { args, count, this, callee, new_target }
    }

    /// How many were passed.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.count as usize
    }
    /// Whether none was passed.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// The argument at `i`, or undefined.
    #[inline(always)]
    pub fn get(&self, i: usize) -> Value {
        if i < self.count as usize {
            // SAFETY: `i` is in range, and the arguments are valid during the call.
            unsafe { *self.args.add(i) }
        } else {
            Value::UNDEFINED
        }
    }
    /// All arguments.
    #[inline(always)]
    pub fn as_slice(&self) -> &[Value] {
        // SAFETY: the arguments are valid during the call, which this object does not outlive.
        unsafe { std::slice::from_raw_parts(self.args, self.count as usize) }
    }
    /// The arguments from `i` on.
    pub fn rest(&self, i: usize) -> &[Value] {
        self.as_slice().get(i..).unwrap_or(&[])
    }
    /// The value the function captured at `i`.
    #[inline(always)]
    pub fn captured(&self, i: u32) -> Value {
        self.callee.slot(NATIVE_CAPTURE_SLOT + i)
    }
    /// Replaces a captured value.
    pub fn set_captured(&self, i: u32, v: Value) {
        self.callee.set_slot(NATIVE_CAPTURE_SLOT + i, v);
    }
    /// Whether this is a `[[Construct]]`.
    #[inline(always)]
    pub fn is_construct(&self) -> bool {
        !self.new_target.is_undefined()
    }
}

/// What only native functions have.
pub trait NativeFunctionObject {
    /// The specification of a native function.
    fn native_spec(&self) -> &'static NativeSpec;
}

impl NativeFunctionObject for super::JsObject {
    #[inline(always)]
    fn native_spec(&self) -> &'static NativeSpec {
        debug_assert!(self.is(ObjectKind::NativeFunction));
        // SAFETY: native functions hold their specification in slot 0 from birth, inline.
        unsafe { self.inline_slot(NATIVE_SPEC_SLOT).as_static_ptr::<NativeSpec>() }
    }
}

impl Vm {
    /// CreateBuiltinFunction (10.3.4) in the current realm, with captured values.
    pub fn new_native_function(&mut self, spec: &'static NativeSpec, captured: &[Value]) -> Object {
        let name = self.native_name(spec);
        self.new_native_function_named(spec, name, u32::from(spec.length), captured)
    }

    /// The `name` property of a native function.
    pub(crate) fn native_name(&mut self, spec: &'static NativeSpec) -> JsStr {
        match spec.prefix {
            NamePrefix::Plain => self.intern_str(spec.name),
            NamePrefix::Get => self.new_string(&format!("get {}", spec.name)),
            NamePrefix::Set => self.new_string(&format!("set {}", spec.name)),
        }
    }

    /// The same with another name and length than the specification's.
    pub fn new_native_function_named(
        &mut self,
        spec: &'static NativeSpec,
        name: JsStr,
        length: u32,
        captured: &[Value],
    ) -> Object {
        let prototype = Value::object(self.intrinsic(Intrinsic::FunctionPrototype));
        let first = NATIVE_CAPTURE_SLOT + captured.len() as u32;
        let root = self.root_shape(prototype, first);
        let (shape, _) = self.shape_add(root, atoms::LENGTH, attrs::CONFIGURABLE);
        let (shape, _) = self.shape_add(shape, atoms::NAME, attrs::CONFIGURABLE);
        let mut f = flags::CALLABLE;
        if spec.constructor {
            f |= flags::CONSTRUCTOR;
        }
        let realm = Value::cell(self.realm());
        let o = self.alloc_object(shape, ObjectKind::NativeFunction, (first + 2).min(250) as u8, f);
        o.set_slot(NATIVE_SPEC_SLOT, Value::static_ptr(spec));
        o.set_slot(NATIVE_REALM_SLOT, realm);
        for (i, &v) in captured.iter().enumerate() {
            o.set_slot(NATIVE_CAPTURE_SLOT + i as u32, v);
        }
        o.set_slot(first, Value::from(length));
        o.set_slot(first + 1, Value::string(name));
        o
    }

    /// Freezes a function that belongs to the intrinsics, in hardened mode.
    pub(crate) fn freeze_intrinsic_function(&mut self, f: Object) {
        if self.options.hardened {
            self.ordinary_lock(f, Lock::Freeze);
            f.set_flag(flags::HARDENED);
        }
    }

    /// SetFunctionName (10.2.9) for a function that has no `name` yet.
    pub fn set_function_name(&mut self, f: Object, key: PropertyKey, prefix: NamePrefix) -> JsResult<()> {
        let base = match key.as_symbol() {
            Some(s) if !s.is_private() => match s.description() {
                Some(d) => format!("[{}]", d.to_rust_string()),
                None => String::new(),
            },
            _ => String::new(),
        };
        let text = match key.as_symbol() {
            Some(s) if !s.is_private() => self.new_string(&base),
            Some(s) => s.description().unwrap_or_else(crate::string::empty),
            None => match key.to_value(self).as_string() {
                Some(s) => s,
                None => crate::string::empty(),
            },
        };
        let text = match prefix {
            NamePrefix::Plain => text,
            NamePrefix::Get => self.concat_str("get ", text)?,
            NamePrefix::Set => self.concat_str("set ", text)?,
        };
        let desc = super::PropertyDescriptor::data(Value::string(text), attrs::CONFIGURABLE);
        self.define_own_property(f, atoms::NAME, &desc)?;
        Ok(())
    }

    fn concat_str(&mut self, a: &str, b: JsStr) -> JsResult<JsStr> {
        let a = self.new_string(a);
        self.concat(a, b)
    }
}
