//! Property access beyond the caches, and definitions.

use super::super::closure::home_object;
use super::super::template::{Ic, primitive_shapes};
use super::super::{Next, State};
use super::slow_paths;
use crate::object::cache::{GetLookup, SetLookup};
use crate::object::{Object, ObjectKind, PropertyDescriptor};
use crate::property_key::PropertyKey;
use crate::shape::attrs;
use crate::symbol::Symbol;
use crate::value::Value;
use crate::vm::{Abrupt, JsResult, Vm};

/// What a named read finds.
enum Found {
    /// The value.
    Value(Value),
    /// An accessor's getter, which is still to be called.
    Getter(Value),
}

/// Remembers an own slot: the last shape goes to the second place.
fn remember_own(ic: &mut Ic, object: Object, slot: u32) {
    let shape = object.shape().addr();
    if ic.shape != 0 && ic.shape != shape {
        ic.shape_2 = ic.shape;
        ic.slot_2 = ic.slot;
    }
    ic.shape = shape;
    ic.slot = slot;
}

impl Vm {
    #[cold]
    fn throw_nullish_read(&mut self, base: Value, key: &str) -> Abrupt {
        let message = format!("cannot read properties of {} (reading '{key}')", self.describe(base));
        self.throw_type_error(&message)
    }

    fn cached_get(&mut self, s: State, base: Value) -> JsResult<Found> {
        let key = s.ic().property_key();
        let Some(object) = base.as_object() else {
            return self.get_of_primitive(s, base, key).map(Found::Value);
        };
        let value = match self.lookup_for_get_cached(object, key) {
            GetLookup::Own { slot } => {
                if s.ic().may_learn() {
                    remember_own(s.ic(), object, slot);
                    s.template_cell().write_barrier();
                }
                object.slot(slot)
            }
            GetLookup::Prototype { holder, slot } => {
                self.remember_far(s, object.shape().addr(), holder.addr(), slot);
                holder.slot(slot)
            }
            GetLookup::Absent => {
                self.remember_far(s, object.shape().addr(), 0, 0);
                Value::UNDEFINED
            }
            GetLookup::Accessor { holder, slot } => match holder.slot(slot).as_accessor() {
                Some(pair) if !pair.getter().is_undefined() => return Ok(Found::Getter(pair.getter())),
                _ => Value::UNDEFINED,
            },
            GetLookup::Uncacheable => self.get(object, key)?,
        };
        Ok(Found::Value(value))
    }

    /// A property of a primitive, through the site's cache where its prototype has it.
    fn get_of_primitive(&mut self, s: State, base: Value, key: PropertyKey) -> JsResult<Value> {
        if base.is_nullish() {
            return Err(self.throw_nullish_read(base, &key.to_display()));
        }
        let stand_in = match base {
            _ if base.is_string() => primitive_shapes::STRING,
            _ if base.is_number() => primitive_shapes::NUMBER,
            _ => return self.get_v(base, key),
        };
        let ic = s.ic();
        if ic.far_shape == stand_in && ic.epoch == self.proto_epoch {
            // SAFETY: the cache keeps its holder alive; beside a primitive's stand-in `far` is never 0.
            let holder = unsafe { Object::from_addr(ic.far as *mut crate::object::JsObject) };
            return Ok(holder.slot(ic.far_slot));
        }
        if let Some((holder, slot)) = self.lookup_for_primitive(base, key) {
            self.remember_far(s, stand_in, holder.addr(), slot);
            return Ok(holder.slot(slot));
        }
        self.get_v(base, key)
    }

    fn remember_far(&mut self, s: State, shape: usize, far: usize, slot: u32) {
        let ic = s.ic();
        if !ic.may_learn() {
            return;
        }
        ic.far_shape = shape;
        ic.far = far;
        ic.far_slot = slot;
        ic.epoch = self.proto_epoch;
        s.template_cell().write_barrier();
    }

    fn cached_set(&mut self, s: State, base: Value, value: Value) -> JsResult<()> {
        let key = s.ic().property_key();
        let Some(object) = base.as_object() else {
            if base.is_nullish() {
                let message = format!(
                    "cannot set properties of {} (setting '{}')",
                    self.describe(base),
                    key.to_display()
                );
                return Err(self.throw_type_error(&message));
            }
            return self.put_v(base, key, value);
        };
        match self.lookup_for_set(object, key) {
            SetLookup::Own { slot } => {
                if s.ic().may_learn() {
                    remember_own(s.ic(), object, slot);
                    s.template_cell().write_barrier();
                }
                object.set_slot(slot, value);
                Ok(())
            }
            SetLookup::Add { shape, slot } => {
                self.remember_far(s, object.shape().addr(), shape.addr(), slot);
                self.add_slot(object, shape, slot, value);
                Ok(())
            }
            SetLookup::Uncacheable => self.set_or_throw(object, key, value),
        }
    }

    /// `base[key]` for any values.
    pub(crate) fn get_by_value(&mut self, base: Value, key: Value) -> JsResult<Value> {
        if base.is_nullish() {
            let key = self.describe(key);
            return Err(self.throw_nullish_read(base, &key));
        }
        // OPTIMIZATION: equals [[Get]] of a String exotic object for an index in range.
        if let (Some(string), Some(index)) = (base.as_string(), key.as_int32())
            && index >= 0
            && (index as usize) < string.len()
        {
            self.check_flat_room(string)?;
            let unit = string.unmetered_view(self).at(index as usize);
            return Ok(Value::string(self.new_string_unit(unit)));
        }
        let key = self.to_property_key(key)?;
        match base.as_object() {
            Some(object) => self.get_cached(object, key),
            None => self.get_v(base, key),
        }
    }

    /// `base[key] = value` for any values.
    pub(crate) fn set_by_value(&mut self, base: Value, key: Value, value: Value) -> JsResult<()> {
        if let Some(object) = base.as_object() {
            // OPTIMIZATION: equals [[Set]] of an array for the index after its last.
            if let Some(index) = key.as_int32()
                && object.is_array()
                && index as u32 == object.array_length()
                && self.try_push_element(object, value)
            {
                return Ok(());
            }
            let key = self.to_property_key(key)?;
            return self.set_or_throw(object, key, value);
        }
        if base.is_nullish() {
            let message = format!(
                "cannot set properties of {} (setting '{}')",
                self.describe(base),
                self.describe(key)
            );
            return Err(self.throw_type_error(&message));
        }
        let key = self.to_property_key(key)?;
        self.put_v(base, key, value)
    }

    /// GetSuperBase (9.1.1.3.5): taken before the key is converted, which may change the prototype.
    fn super_base(&mut self, function: Value) -> JsResult<Value> {
        match function.as_object().and_then(home_object) {
            Some(home) => self.get_prototype_of(home),
            None => Err(self.throw_syntax_error("'super' is not available here")),
        }
    }

    fn super_get(&mut self, base: Value, key: Value, this: Value) -> JsResult<Value> {
        if base.is_nullish() {
            let key = self.describe(key);
            return Err(self.throw_nullish_read(base, &key));
        }
        let key = self.to_property_key(key)?;
        match base.as_object() {
            Some(base) => self.get_with_receiver(base, key, this),
            None => Ok(Value::UNDEFINED),
        }
    }

    fn super_set(&mut self, base: Value, key: Value, this: Value, value: Value) -> JsResult<()> {
        let Some(base) = base.as_object() else {
            return Err(self.throw_type_error("cannot set a property of null through 'super'"));
        };
        let key = self.to_property_key(key)?;
        if self.set(base, key, value, this)? {
            return Ok(());
        }
        Err(self.throw_read_only(key))
    }

    #[cold]
    fn throw_private(&mut self, what: &str, name: Symbol) -> Abrupt {
        let name = PropertyKey::symbol(name).to_display();
        self.throw_type_error(&format!("{what} {name}: the object is not an instance of its class"))
    }

    fn private_get(&mut self, s: State, base: Value, name: Value) -> JsResult<Value> {
        let Some(name) = name.as_symbol() else { return Ok(Value::UNDEFINED) };
        let key = PropertyKey::symbol(name);
        let Some((object, info)) = base.as_object().and_then(|o| o.shape().lookup(key).map(|info| (o, info)))
        else {
            return Err(self.throw_private("cannot read private member", name));
        };
        let value = object.slot(info.slot);
        match value.as_accessor() {
            None => {
                remember_private(s, object, name, info.slot);
                Ok(value)
            }
            Some(pair) if !pair.getter().is_undefined() => self.call(pair.getter(), base, &[]),
            Some(_) => {
                Err(self.throw_type_error(&format!("'{}' was defined without a getter", key.to_display())))
            }
        }
    }

    fn private_set(&mut self, s: State, base: Value, name: Value, value: Value) -> JsResult<()> {
        let Some(name) = name.as_symbol() else { return Ok(()) };
        let key = PropertyKey::symbol(name);
        let Some((object, info)) = base.as_object().and_then(|o| o.shape().lookup(key).map(|info| (o, info)))
        else {
            return Err(self.throw_private("cannot write private member", name));
        };
        match object.slot(info.slot).as_accessor() {
            Some(pair) if !pair.setter().is_undefined() => self.call(pair.setter(), base, &[value]).map(drop),
            Some(_) => {
                Err(self.throw_type_error(&format!("'{}' was defined without a setter", key.to_display())))
            }
            None if info.attrs & attrs::WRITABLE == 0 => {
                Err(self.throw_type_error(&format!("private method '{}' is not writable", key.to_display())))
            }
            None => {
                remember_private(s, object, name, info.slot);
                object.set_slot(info.slot, value);
                Ok(())
            }
        }
    }

    /// PrivateFieldAdd and PrivateMethodOrAccessorAdd; `kind` as in the opcode table.
    fn private_add(&mut self, base: Value, name: Value, value: Value, kind: u32) -> JsResult<()> {
        let (Some(object), Some(name)) = (base.as_object(), name.as_symbol()) else { return Ok(()) };
        let key = PropertyKey::symbol(name);
        let existing = object.shape().lookup(key);
        let pair = existing.and_then(|info| object.slot(info.slot).as_accessor());
        let (get, set) = match kind {
            2 => (value, pair.map_or(Value::UNDEFINED, |pair| pair.setter())),
            3 => (pair.map_or(Value::UNDEFINED, |pair| pair.getter()), value),
            _ => (Value::UNDEFINED, Value::UNDEFINED),
        };
        let completes = kind == 2 && pair.is_some_and(|pair| pair.getter().is_undefined())
            || kind == 3 && pair.is_some_and(|pair| pair.setter().is_undefined());
        if let Some(info) = existing {
            if !completes {
                let message = format!("cannot define private member '{}' twice", key.to_display());
                return Err(self.throw_type_error(&message));
            }
            let pair = self.new_accessor(get, set);
            object.set_slot(info.slot, Value::cell(pair));
            return Ok(());
        }
        if !object.is(ObjectKind::Proxy) && !object.shape().is_extensible() {
            let message =
                format!("cannot define private member '{}' on a non-extensible object", key.to_display());
            return Err(self.throw_type_error(&message));
        }
        match kind {
            0 => self.add_keyed_property(object, key, value, attrs::WRITABLE),
            1 => self.add_keyed_property(object, key, value, 0),
            _ => {
                let pair = self.new_accessor(get, set);
                self.add_keyed_property(object, key, Value::cell(pair), attrs::ACCESSOR);
            }
        }
        Ok(())
    }

    /// DefineMethodProperty; `kind` as in the opcode table.
    fn define_method(&mut self, base: Value, key: Value, method: Value, kind: u32) -> JsResult<()> {
        let Some(object) = base.as_object() else { return Ok(()) };
        let key = self.to_property_key(key)?;
        let enumerable = if kind & 4 != 0 { attrs::ENUMERABLE } else { 0 };
        let mut descriptor =
            PropertyDescriptor { enumerable: Some(enumerable != 0), ..PropertyDescriptor::default() };
        descriptor.configurable = Some(true);
        match kind & 3 {
            0 => {
                descriptor.value = Some(method);
                descriptor.writable = Some(true);
            }
            1 => descriptor.get = Some(method),
            _ => descriptor.set = Some(method),
        }
        self.define_property_or_throw(object, key, &descriptor)
    }
}

/// Remembers a private member that is no accessor, under its name.
fn remember_private(s: State, object: Object, name: Symbol, slot: u32) {
    let ic = s.ic();
    ic.shape = object.shape().addr();
    ic.slot = slot;
    ic.far = name.addr();
    s.template_cell().write_barrier();
}

/// The end of a named read: a closure that is a getter runs in a frame of this run loop, and returns to operand a.
fn finish_read(s: State, base: Value, result: JsResult<Found>) -> Next {
    match result {
        Ok(Found::Value(value)) => {
            s.set(s.a(), value);
            s.advance(2)
        }
        Ok(Found::Getter(getter)) => match super::calls::enter_getter(s, getter, base, 2) {
            Some(Ok(next)) => next,
            Some(Err(abrupt)) => s.unwind(abrupt),
            None => {
                let result = s.vm().call(getter, base, &[]);
                s.finish(2, s.a(), result)
            }
        },
        Err(abrupt) => s.unwind(abrupt),
    }
}

/// A result for a method window: the function, and its `this` after it.
fn finish_method(s: State, this: Value, result: JsResult<Value>) -> Next {
    match result {
        Ok(method) => {
            s.set(s.a(), method);
            s.set(s.a() + 1, this);
            s.advance(2)
        }
        Err(abrupt) => s.unwind(abrupt),
    }
}

slow_paths! {
    fn get_prop(s) {
        let base = s.reg(s.b());
        let result = s.vm().cached_get(s, base);
        finish_read(s, base, result)
    }
    fn get_method(s) {
        let this = s.reg(s.b());
        let result = s.vm().cached_get(s, this);
        s.set(s.a() + 1, this);
        finish_read(s, this, result)
    }
    fn set_prop(s) {
        let result = s.vm().cached_set(s, s.reg(s.a()), s.reg(s.b()));
        s.proceed(2, result)
    }
    fn get_elem(s) {
        let result = s.vm().get_by_value(s.reg(s.b()), s.reg(s.c()));
        s.finish(2, s.a(), result)
    }
    fn get_elem_method(s) {
        let this = s.reg(s.b());
        let result = s.vm().get_by_value(this, s.reg(s.c()));
        finish_method(s, this, result)
    }
    fn set_elem(s) {
        let result = s.vm().set_by_value(s.reg(s.a()), s.reg(s.b()), s.reg(s.c()));
        s.proceed(2, result)
    }
    #[cold]
    fn throw_nullish(s) {
        let vm = s.vm();
        let message = format!("cannot destructure or access {}", vm.describe(s.reg(s.a())));
        let abrupt = vm.throw_type_error(&message);
        s.unwind(abrupt)
    }
    fn delete_prop(s) {
        let vm = s.vm();
        let (base, key) = (s.reg(s.b()), s.reg(s.c()));
        if base.is_nullish() {
            let message = format!("cannot delete a property of {}", vm.describe(base));
            let abrupt = vm.throw_type_error(&message);
            return s.unwind(abrupt);
        }
        let key = match vm.to_property_key(key) {
            Ok(key) => key,
            Err(abrupt) => return s.unwind(abrupt),
        };
        let result = vm.to_object(base).and_then(|object| vm.delete_property_or_throw(object, key));
        s.finish(1, s.a(), result.map(|()| Value::TRUE))
    }
    fn get_super_base(s) {
        let result = s.vm().super_base(s.reg(s.b()));
        s.finish(1, s.a(), result)
    }
    fn get_super(s) {
        let result = s.vm().super_get(s.reg(s.b()), s.reg(s.c()), s.reg(s.x() as usize));
        s.finish(2, s.a(), result)
    }
    fn set_super(s) {
        let result = s.vm().super_set(s.reg(s.b()), s.reg(s.c()), s.reg(s.x() as usize), s.reg(s.a()));
        s.proceed(2, result)
    }
    fn get_private(s) {
        let result = s.vm().private_get(s, s.reg(s.b()), s.reg(s.c()));
        s.finish(2, s.a(), result)
    }
    fn set_private(s) {
        let result = s.vm().private_set(s, s.reg(s.a()), s.reg(s.b()), s.reg(s.c()));
        s.proceed(2, result)
    }
    fn add_private(s) {
        let result = s.vm().private_add(s.reg(s.a()), s.reg(s.b()), s.reg(s.c()), s.x());
        s.proceed(2, result)
    }
    fn has_private(s) {
        let vm = s.vm();
        let result = match (s.reg(s.b()).as_object(), s.reg(s.c()).as_symbol()) {
            (Some(object), Some(name)) => Ok(Value::bool(object.shape().lookup(PropertyKey::symbol(name)).is_some())),
            _ => Err(vm.throw_type_error("cannot use 'in' to look for a private name in a value that is no object")),
        };
        s.finish(1, s.a(), result)
    }
    fn new_private_name(s) {
        let description = s.constant(s.x()).as_string().unwrap_or_else(crate::string::empty);
        let name = s.vm().new_private_name(description);
        s.set(s.a(), Value::symbol(name));
        s.advance(2)
    }
    fn define_field(s) {
        let vm = s.vm();
        let result = vm.to_property_key(s.reg(s.b())).and_then(|key| match s.reg(s.a()).as_object() {
            Some(object) => vm.create_data_property_or_throw(object, key, s.reg(s.c())),
            None => Ok(()),
        });
        s.proceed(1, result)
    }
    fn define_own(s) {
        let vm = s.vm();
        let key = s.ic().property_key();
        let result = match s.reg(s.a()).as_object() {
            Some(object) => vm.create_data_property_or_throw(object, key, s.reg(s.b())),
            None => Ok(()),
        };
        s.proceed(2, result)
    }
    fn define_method(s) {
        let result = s.vm().define_method(s.reg(s.a()), s.reg(s.b()), s.reg(s.c()), s.x());
        s.proceed(2, result)
    }
    fn set_home(s) {
        if let (Some(closure), Some(home)) = (s.reg(s.a()).as_object(), s.reg(s.b()).as_object()) {
            s.vm().set_home_object(closure, home);
        }
        s.advance(1)
    }
    fn set_function_name(s) {
        let vm = s.vm();
        let function = s.reg(s.a());
        if let Some(closure) = function.as_object().filter(|o| o.is(ObjectKind::Closure))
            && let Ok(key) = vm.to_property_key(s.reg(s.b()))
        {
            vm.name_anonymous(closure, key, s.x());
        }
        s.advance(2)
    }
    fn copy_data_properties(s) {
        let vm = s.vm();
        let mut excluded = crate::gc::RootedVec::<PropertyKey>::new(&vm.heap);
        for i in 0..s.x() as usize {
            match vm.to_property_key(s.reg(s.c() + i)) {
                Ok(key) => excluded.push(key),
                Err(abrupt) => return s.unwind(abrupt),
            }
        }
        let result = match s.reg(s.a()).as_object() {
            Some(target) => vm.copy_data_properties(target, s.reg(s.b()), &excluded),
            None => Ok(()),
        };
        s.proceed(2, result)
    }
    fn set_prototype_literal(s) {
        let vm = s.vm();
        let prototype = s.reg(s.b());
        if let Some(object) = s.reg(s.a()).as_object().filter(|_| prototype.is_object() || prototype.is_null()) {
            vm.ordinary_set_prototype_of(object, prototype);
        }
        s.advance(1)
    }
}

impl Vm {
    /// Names a function or class that has no name of its own (an own `name` of another kind wins).
    fn name_anonymous(&mut self, closure: Object, key: PropertyKey, prefix: u32) {
        let template = super::super::call::closure_template(closure);
        if template.name.is_empty() {
            self.rename_closure(closure, key, prefix);
        }
    }
}
