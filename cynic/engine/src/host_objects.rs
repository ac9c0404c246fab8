//! How a host adds its own objects: lazily installed globals, and classes in Rust.
//!
//! A row of a host's table costs one slot until it is first read, as the engine's own tables do. In hardened mode a class is
//! frozen as it is made. Instances are objects of kind `Host` with native data in slot 0.

use crate::atoms;
use crate::gc::{Data, Gc, Trace};
use crate::object::function::NativeFunctionObject as _;
use crate::object::function::{CallArgs, NativeSpec};
use crate::object::{Object, ObjectKind, flags};
use crate::realm::{KeySpec, PropertySpec, ValueSpec};
use crate::shape::{Lock, attrs};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// A class of the host's.
pub struct HostClass {
    /// The constructor.
    pub constructor: NativeSpec,
    /// What the constructor object has besides `prototype`.
    pub statics: &'static [PropertySpec],
    /// What instances inherit.
    pub prototype: &'static [PropertySpec],
}

impl Vm {
    /// Adds rows to the global object of the current realm, each made when it is first read. Before guest code runs.
    pub fn install_globals(&mut self, rows: &'static [PropertySpec]) {
        let global = self.global_object();
        global.set_flag(flags::HAS_LAZY);
        self.add_lazy_rows(global, rows);
    }

    /// Adds a value to the global object of the current realm. Before guest code runs.
    pub fn install_global_value(&mut self, name: &str, value: Value) {
        let global = self.global_object();
        let key = self.key_from_str(name);
        self.add_keyed_property(global, key, value, attrs::METHOD);
    }

    fn add_lazy_rows(&mut self, object: Object, rows: &'static [PropertySpec]) {
        for row in rows {
            let key = match row.key {
                KeySpec::Name(name) => self.key_from_str(name),
                KeySpec::Symbol(key) => key,
            };
            let implied = match row.value {
                ValueSpec::Getter(_) | ValueSpec::Accessor(..) => attrs::ACCESSOR,
                _ => 0,
            };
            self.add_keyed_property(object, key, Value::static_ptr(row), row.attrs | implied);
        }
        object.set_flag(flags::HAS_LAZY);
    }

    /// An ordinary object with these rows, frozen in hardened mode: a namespace such as `console`.
    pub fn new_host_namespace(&mut self, rows: &'static [PropertySpec]) -> Object {
        let object = self.new_object();
        self.add_rows(object, rows);
        self.freeze_host_object(object);
        object
    }

    fn add_rows(&mut self, object: Object, rows: &'static [PropertySpec]) {
        for row in rows {
            let key = match row.key {
                KeySpec::Name(name) => self.key_from_str(name),
                KeySpec::Symbol(key) => key,
            };
            let implied = match row.value {
                ValueSpec::Getter(_) | ValueSpec::Accessor(..) => attrs::ACCESSOR,
                _ => 0,
            };
            let value = self.row_value(object, row);
            self.add_keyed_property(object, key, value, row.attrs | implied);
        }
    }

    fn freeze_host_object(&mut self, object: Object) {
        if self.options.hardened {
            self.ordinary_lock(object, Lock::Freeze);
            object.set_flag(flags::HARDENED);
        }
    }

    /// The constructor of a class, with its prototype.
    pub fn new_host_class(&mut self, class: &'static HostClass) -> Object {
        let constructor = self.new_native_function(&class.constructor, &[]);
        let prototype = self.new_object();
        self.add_keyed_property(prototype, atoms::CONSTRUCTOR, Value::object(constructor), attrs::METHOD);
        self.add_rows(prototype, class.prototype);
        self.add_keyed_property(constructor, atoms::PROTOTYPE, Value::object(prototype), 0);
        self.add_rows(constructor, class.statics);
        self.freeze_host_object(prototype);
        self.freeze_host_object(constructor);
        constructor
    }

    /// A new instance in a class's constructor, for `new.target`. A TypeError in a call without `new`.
    pub fn new_host_instance<T: Trace>(&mut self, args: CallArgs, data: T) -> JsResult<Object> {
        let Some(target) = args.new_target.as_object() else {
            let name = args.callee.native_spec().name;
            return Err(self.throw_type_error(&format!("{name} must be called with new")));
        };
        let prototype = match self.get(target, atoms::PROTOTYPE)? {
            prototype if prototype.is_object() => prototype,
            _ => self.get(args.callee, atoms::PROTOTYPE)?,
        };
        Ok(self.new_host_object(prototype, data))
    }

    /// A host object with a given prototype.
    pub fn new_host_object<T: Trace>(&mut self, prototype: Value, data: T) -> Object {
        let data = self.alloc_data(data);
        let object = self.new_exotic(ObjectKind::Host, prototype, 1);
        object.set_slot(0, Value::cell(data));
        object
    }

    /// The native data of a host object of that type, or a TypeError.
    pub fn host_data<T: Trace>(&mut self, value: Value, class: &str) -> JsResult<Gc<Data<T>>> {
        let object = value.as_object().filter(|object| object.is(ObjectKind::Host));
        match object.and_then(|object| object.data::<T>(0)) {
            Some(data) => Ok(data),
            None => Err(self.throw_type_error(&format!("this is not a {class}"))),
        }
    }
}
