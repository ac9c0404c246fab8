//! Realms and their intrinsics: const tables turned into objects when first asked for.
//!
//! An [`IntrinsicSpec`] describes one intrinsic object. Materialising it allocates the object with all its slots
//! holding rows of the table ([`PropertySpec`], as static pointers); each row becomes a real value when the property is
//! first read. So a constructor that is never touched costs nothing, and one that is costs one object and a shape.
//! In hardened mode the object and its functions are frozen as they are made; nothing walks the heap.
//!
//! Invariant: a slot that holds a static pointer belongs to an object with `HAS_LAZY`, whose shape knows the realm.

#![allow(unsafe_code)]

use std::cell::Cell;

use crate::atoms;
pub use crate::builtins::registry::Intrinsic;
use crate::gc::{Data, Gc, Trace, Tracer};
use crate::object::function::{
    NATIVE_CAPTURE_SLOT, NATIVE_REALM_SLOT, NATIVE_SPEC_SLOT, NativeFn, NativeSpec, StepFn,
};
use crate::object::{Object, ObjectKind, flags};
use crate::property_key::PropertyKey;
use crate::shape::{PropertyInfo, Shape, attrs};
use crate::value::Value;
use crate::vm::Vm;

/// A realm: the intrinsics made so far, and the global object among them.
pub struct Realm {
    intrinsics: Box<[Cell<Value>]>,
    /// The shape of arrays with the default prototype.
    pub(crate) array_shape: Cell<Option<Gc<Shape>>>,
    /// The shape of empty objects with the default prototype.
    pub(crate) object_shape: Cell<Option<Gc<Shape>>>,
    /// The shape of results of iterators: `value` in slot 0, `done` in slot 1.
    pub(crate) iterator_result_shape: Cell<Option<Gc<Shape>>>,
    /// For the interpreter: the realm's global environment and template cache (any cell, or undefined).
    pub vm_data: [Cell<Value>; 4],
    /// Whether the global object was locked.
    pub(crate) is_global_sealed: Cell<bool>,
    /// For the host: anything it wants to find again from the realm.
    pub host_data: Cell<Value>,
}

impl Trace for Realm {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        for v in &self.intrinsics {
            tracer.value(v.get());
        }
        for s in [&self.array_shape, &self.object_shape, &self.iterator_result_shape] {
            if let Some(s) = s.get() {
                tracer.cell(s);
            }
        }
        for v in &self.vm_data {
            tracer.value(v.get());
        }
        tracer.value(self.host_data.get());
    }
}

/// What kind of object an intrinsic is.
pub enum Body {
    /// An object with this kind and this many internal slots (undefined at first).
    Object(ObjectKind, u32),
    /// A native function.
    Function(NativeSpec),
    /// Made by code (the table's properties are ignored). For the few that fit no table.
    Custom(fn(&mut Vm) -> Object),
}

/// One intrinsic object.
pub struct IntrinsicSpec {
    /// What it is.
    pub body: Body,
    /// Its prototype.
    pub prototype: Option<Intrinsic>,
    /// Its properties, in order (after `length` and `name` of a function).
    pub properties: &'static [PropertySpec],
}

/// One property of an intrinsic.
#[repr(align(8))]
pub struct PropertySpec {
    /// The name, or a well-known symbol.
    pub key: KeySpec,
    /// What it holds.
    pub value: ValueSpec,
    /// See `shape::attrs`; `ACCESSOR` is implied by the value.
    pub attrs: u8,
}

/// The key of a table's row.
pub enum KeySpec {
    /// A string.
    Name(&'static str),
    /// A well-known symbol (a constant of `symbol`).
    Symbol(PropertyKey),
}

/// The value of a table's row.
pub enum ValueSpec {
    /// A method.
    Method(NativeSpec),
    /// A getter.
    Getter(NativeSpec),
    /// A getter and a setter.
    Accessor(NativeSpec, NativeSpec),
    /// A number.
    Number(f64),
    /// A string.
    Text(&'static str),
    /// A constant: null, undefined, a symbol. EMPTY is undefined for now, and asked for again.
    Constant(fn(&mut Vm) -> Value),
    /// Another intrinsic.
    Intrinsic(Intrinsic),
    /// The same function as another property of this object.
    SameAs(&'static str),
    /// The same function as a property of another intrinsic.
    From(Intrinsic, &'static str),
}

/// A method row.
pub const fn method(name: &'static str, length: u8, function: NativeFn) -> PropertySpec {
    PropertySpec {
        key: KeySpec::Name(name),
        value: ValueSpec::Method(NativeSpec::new(name, length, function)),
        attrs: attrs::METHOD,
    }
}

/// The row of an iterator's `next`, which can also step without a result object.
pub const fn iterator_next(length: u8, function: NativeFn, step: StepFn) -> PropertySpec {
    let spec = NativeSpec { step: Some(step), ..NativeSpec::new("next", length, function) };
    PropertySpec { key: KeySpec::Name("next"), value: ValueSpec::Method(spec), attrs: attrs::METHOD }
}

/// A method row with a symbol for key; `name` is what the function is called, brackets included.
pub const fn symbol_method(
    key: PropertyKey,
    name: &'static str,
    length: u8,
    function: NativeFn,
) -> PropertySpec {
    PropertySpec {
        key: KeySpec::Symbol(key),
        value: ValueSpec::Method(NativeSpec::new(name, length, function)),
        attrs: attrs::METHOD,
    }
}

/// A getter row.
pub const fn getter(name: &'static str, function: NativeFn) -> PropertySpec {
    PropertySpec {
        key: KeySpec::Name(name),
        value: ValueSpec::Getter(NativeSpec::getter(name, function)),
        attrs: attrs::CONFIGURABLE,
    }
}

/// A getter row with a symbol for key; `name` in brackets.
pub const fn symbol_getter(key: PropertyKey, name: &'static str, function: NativeFn) -> PropertySpec {
    PropertySpec {
        key: KeySpec::Symbol(key),
        value: ValueSpec::Getter(NativeSpec::getter(name, function)),
        attrs: attrs::CONFIGURABLE,
    }
}

/// A getter and setter row.
pub const fn accessor(name: &'static str, get: NativeFn, set: NativeFn) -> PropertySpec {
    PropertySpec {
        key: KeySpec::Name(name),
        value: ValueSpec::Accessor(NativeSpec::getter(name, get), NativeSpec::setter(name, set)),
        attrs: attrs::CONFIGURABLE,
    }
}

/// A data row with attributes of its own.
pub const fn data(name: &'static str, value: ValueSpec, attributes: u8) -> PropertySpec {
    PropertySpec { key: KeySpec::Name(name), value, attrs: attributes }
}

/// A data row with a symbol for key.
pub const fn symbol_data(key: PropertyKey, value: ValueSpec, attributes: u8) -> PropertySpec {
    PropertySpec { key: KeySpec::Symbol(key), value, attrs: attributes }
}

/// A numeric constant like `Number.MAX_VALUE`.
pub const fn constant(name: &'static str, value: f64) -> PropertySpec {
    data(name, ValueSpec::Number(value), 0)
}

/// The `prototype` row of a constructor.
pub const fn prototype(of: Intrinsic) -> PropertySpec {
    data("prototype", ValueSpec::Intrinsic(of), 0)
}

/// The `constructor` row of a prototype.
pub const fn constructor(of: Intrinsic) -> PropertySpec {
    data("constructor", ValueSpec::Intrinsic(of), attrs::METHOD)
}

/// The `Symbol.toStringTag` row.
pub const fn to_string_tag(tag: &'static str) -> PropertySpec {
    symbol_data(crate::symbol::TO_STRING_TAG, ValueSpec::Text(tag), attrs::CONFIGURABLE)
}

/// The `get [Symbol.species]` row.
pub const fn species() -> PropertySpec {
    symbol_getter(crate::symbol::SPECIES, "[Symbol.species]", |_, args| Ok(args.this))
}

impl Vm {
    /// A new realm with nothing in it yet.
    pub fn new_realm(&mut self) -> Gc<Data<Realm>> {
        let intrinsics = (0..Intrinsic::COUNT).map(|_| Cell::new(Value::UNDEFINED)).collect();
        self.alloc_data(Realm {
            intrinsics,
            array_shape: Cell::new(None),
            object_shape: Cell::new(None),
            iterator_result_shape: Cell::new(None),
            vm_data: [const { Cell::new(Value::UNDEFINED) }; 4],
            is_global_sealed: Cell::new(false),
            host_data: Cell::new(Value::UNDEFINED),
        })
    }

    /// The intrinsic object of the current realm.
    #[inline]
    pub fn intrinsic(&mut self, which: Intrinsic) -> Object {
        let v = self.realm().intrinsics[which as usize].get();
        match v.as_object() {
            Some(o) => o,
            None => self.materialize_intrinsic(which),
        }
    }

    /// The global object of `realm`, if it has been made.
    #[cfg(cynic_jit)]
    pub(crate) fn global_object_made(realm: Gc<Data<Realm>>) -> Option<Object> {
        realm.intrinsics[Intrinsic::GlobalThis as usize].get().as_object()
    }

    /// The intrinsic object of `realm`.
    pub fn intrinsic_of(&mut self, realm: Gc<Data<Realm>>, which: Intrinsic) -> Object {
        let previous = self.enter_realm(realm);
        let o = self.intrinsic(which);
        self.enter_realm(previous);
        o
    }

    #[cold]
    #[inline(never)]
    fn materialize_intrinsic(&mut self, which: Intrinsic) -> Object {
        let spec = which.spec();
        let o = match &spec.body {
            Body::Custom(make) => make(self),
            Body::Object(kind, internal) => self.materialize_object(spec, *kind, *internal),
            Body::Function(native) => self.materialize_function(spec, native),
        };
        if which == Intrinsic::ObjectPrototype {
            o.set_flag(flags::IMMUTABLE_PROTOTYPE);
        }
        self.realm().intrinsics[which as usize].set(Value::object(o));
        o
    }

    fn intrinsic_prototype(&mut self, spec: &'static IntrinsicSpec) -> Value {
        match spec.prototype {
            Some(p) => Value::object(self.intrinsic(p)),
            None => Value::NULL,
        }
    }

    fn materialize_object(
        &mut self,
        spec: &'static IntrinsicSpec,
        kind: ObjectKind,
        internal: u32,
    ) -> Object {
        let prototype = self.intrinsic_prototype(spec);
        let shape = self.table_shape(spec, prototype, internal, &[]);
        let slots = shape.slot_count().min(250) as u8;
        let o = self.alloc_object(shape, kind, slots, flags::HAS_LAZY);
        self.fill_rows(o, spec, internal);
        o
    }

    fn materialize_function(&mut self, spec: &'static IntrinsicSpec, native: &'static NativeSpec) -> Object {
        let prototype = self.intrinsic_prototype(spec);
        let name = self.native_name(native);
        let first = NATIVE_CAPTURE_SLOT;
        let own = [(atoms::LENGTH, attrs::CONFIGURABLE), (atoms::NAME, attrs::CONFIGURABLE)];
        let shape = self.table_shape(spec, prototype, first, &own);
        let mut f = flags::CALLABLE | flags::HAS_LAZY;
        if native.constructor {
            f |= flags::CONSTRUCTOR;
        }
        let slots = shape.slot_count().min(250) as u8;
        let o = self.alloc_object(shape, ObjectKind::NativeFunction, slots, f);
        o.set_slot(NATIVE_SPEC_SLOT, Value::static_ptr(native));
        o.set_slot(NATIVE_REALM_SLOT, Value::cell(self.realm()));
        o.set_slot(first, Value::from(u32::from(native.length)));
        o.set_slot(first + 1, Value::string(name));
        self.fill_rows(o, spec, first + 2);
        o
    }

    /// The shape of a materialised table: `own` properties, then the rows.
    fn table_shape(
        &mut self,
        spec: &'static IntrinsicSpec,
        prototype: Value,
        first: u32,
        own: &[(PropertyKey, u8)],
    ) -> Gc<Shape> {
        let hardened = self.options.hardened;
        let keep = if hardened { !(attrs::WRITABLE | attrs::CONFIGURABLE) } else { !0 };
        // The keys are interned strings that only this vector refers to until the shape exists.
        self.heap.postpone_collections();
        let mut properties: Vec<(PropertyKey, PropertyInfo)> =
            Vec::with_capacity(own.len() + spec.properties.len());
        let mut slot = first;
        for &(key, a) in own {
            properties.push((key, PropertyInfo { slot, attrs: a & keep }));
            slot += 1;
        }
        for row in spec.properties {
            let key = match row.key {
                KeySpec::Name(name) => self.key_from_str(name),
                KeySpec::Symbol(key) => key,
            };
            let implied = match row.value {
                ValueSpec::Getter(_) | ValueSpec::Accessor(..) => attrs::ACCESSOR,
                _ => 0,
            };
            properties.push((key, PropertyInfo { slot, attrs: row.attrs & keep | implied }));
            slot += 1;
        }
        let realm = Value::cell(self.realm());
        let shape = self.dictionary_shape(prototype, first, &properties, !hardened, realm);
        self.heap.resume_collections();
        shape
    }

    /// Points the slots at their rows, and locks the object in hardened mode.
    fn fill_rows(&mut self, o: Object, spec: &'static IntrinsicSpec, first: u32) {
        for (i, row) in spec.properties.iter().enumerate() {
            let v = match row.value {
                ValueSpec::Number(n) => Value::number(n),
                _ => Value::static_ptr(row),
            };
            o.set_slot(first + i as u32, v);
        }
        if self.options.hardened {
            o.set_flag(
                flags::NOT_EXTENSIBLE | flags::ELEMENTS_SEALED | flags::ELEMENTS_FROZEN | flags::HARDENED,
            );
        }
    }

    /// Turns a row into its value, in the realm the object belongs to.
    #[cold]
    #[inline(never)]
    pub(crate) fn materialize_slot(&mut self, o: Object, slot: u32, marker: Value) -> Value {
        // SAFETY: property slots hold static pointers to property rows only.
        let row: &'static PropertySpec = unsafe { marker.as_static_ptr() };
        let value = match crate::gc::data_of::<Realm>(o.shape().realm()) {
            Some(realm) if self.try_realm().is_some() => {
                let previous = self.enter_realm(realm);
                let value = self.row_value(o, row);
                self.enter_realm(previous);
                value
            }
            _ => self.row_value(o, row),
        };
        if value == Value::EMPTY {
            // It could not be made now: the next to ask may have more luck.
            return Value::UNDEFINED;
        }
        o.set_slot(slot, value);
        value
    }

    pub(crate) fn row_value(&mut self, o: Object, row: &'static PropertySpec) -> Value {
        match &row.value {
            ValueSpec::Method(native) => Value::object(self.intrinsic_function(native)),
            ValueSpec::Getter(get) => {
                let get = Value::object(self.intrinsic_function(get));
                Value::cell(self.new_accessor(get, Value::UNDEFINED))
            }
            ValueSpec::Accessor(get, set) => {
                let get = Value::object(self.intrinsic_function(get));
                let set = Value::object(self.intrinsic_function(set));
                Value::cell(self.new_accessor(get, set))
            }
            ValueSpec::Number(n) => Value::number(*n),
            ValueSpec::Text(s) => Value::string(self.intern_str(s)),
            ValueSpec::Constant(make) => make(self),
            ValueSpec::Intrinsic(which) => Value::object(self.intrinsic(*which)),
            ValueSpec::SameAs(name) => self.own_value(o, name),
            ValueSpec::From(which, name) => {
                let other = self.intrinsic(*which);
                self.own_value(other, name)
            }
        }
    }

    fn intrinsic_function(&mut self, native: &'static NativeSpec) -> Object {
        let f = self.new_native_function(native, &[]);
        self.freeze_intrinsic_function(f);
        f
    }

    fn own_value(&mut self, o: Object, name: &str) -> Value {
        let key = self.key_from_str(name);
        self.ordinary_get_own_property(o, key).map_or(Value::UNDEFINED, |p| p.value)
    }

    /// The shape of `{}`.
    #[inline]
    pub fn empty_object_shape(&mut self) -> Gc<Shape> {
        if let Some(shape) = self.realm().object_shape.get() {
            return shape;
        }
        let prototype = Value::object(self.intrinsic(Intrinsic::ObjectPrototype));
        let shape = self.root_shape(prototype, 0);
        self.realm().object_shape.set(Some(shape));
        shape
    }

    /// OrdinaryObjectCreate(%Object.prototype%).
    #[inline]
    pub fn new_object(&mut self) -> Object {
        let shape = self.empty_object_shape();
        self.alloc_object(shape, ObjectKind::Ordinary, crate::object::INLINE_SLOTS_DEFAULT, 0)
    }

    /// OrdinaryObjectCreate (10.1.12) with a prototype: an object or null.
    pub fn new_object_with(&mut self, prototype: Value) -> Object {
        let shape = self.root_shape(prototype, 0);
        self.note_indexed_prototype(prototype);
        self.alloc_object(shape, ObjectKind::Ordinary, crate::object::INLINE_SLOTS_DEFAULT, 0)
    }

    /// An object of a kind with internal slots (undefined at first; set them next).
    pub fn new_exotic(&mut self, kind: ObjectKind, prototype: Value, internal: u32) -> Object {
        let shape = self.root_shape(prototype, internal);
        self.alloc_object(shape, kind, internal.max(1) as u8, 0)
    }
}
