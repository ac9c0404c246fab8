//! Operations on objects (7.3). <https://tc39.es/ecma262/#sec-operations-on-objects>

use crate::atoms;
use crate::gc::{Data, Gc, RootedVec};
use crate::object::function::NATIVE_REALM_SLOT;
use crate::object::{Object, ObjectKind, OwnProperty, PropertyDescriptor, flags};
use crate::property_key::PropertyKey;
use crate::realm::{Intrinsic, Realm};
use crate::shape::{Lock, attrs};
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// What EnumerableOwnProperties collects.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum EnumerableKind {
    /// Keys.
    Keys,
    /// Values.
    Values,
    /// `[key, value]` arrays.
    Entries,
}

impl Vm {
    /// GetV (7.3.3): `v[key]`, without making a wrapper.
    pub fn get_v(&mut self, v: Value, key: PropertyKey) -> JsResult<Value> {
        if let Some(o) = v.as_object() {
            return self.get_with_receiver(o, key, v);
        }
        if v.is_nullish() {
            let message =
                format!("Cannot read properties of {} (reading '{}')", self.describe(v), key.to_display());
            return Err(self.throw_type_error(&message));
        }
        if let Some(s) = v.as_string() {
            if key == atoms::LENGTH {
                return Ok(Value::from(s.len()));
            }
            if key.is_index() {
                self.check_flat_room(s)?;
            }
            if let Some(i) = key.as_index()
                && let Some(u) = s.unmetered_view(self).get(i as usize)
            {
                return Ok(Value::string(self.new_string_unit(u)));
            }
        }
        let (_, prototype) = self.primitive_home(v);
        let prototype = self.intrinsic(prototype);
        self.get_with_receiver(prototype, key, v)
    }

    /// Set (7.3.4) with Throw true.
    pub fn set_or_throw(&mut self, o: Object, key: PropertyKey, v: Value) -> JsResult<()> {
        if self.set(o, key, v, Value::object(o))? {
            return Ok(());
        }
        Err(self.throw_refused_assignment(o, key))
    }

    /// PutValue (6.2.5.6) on a property of any value: `base[key] = v` in strict code.
    pub fn put_v(&mut self, base: Value, key: PropertyKey, v: Value) -> JsResult<()> {
        if let Some(o) = base.as_object() {
            return self.set_or_throw(o, key, v);
        }
        if base.is_nullish() {
            let message =
                format!("Cannot set properties of {} (setting '{}')", self.describe(base), key.to_display());
            return Err(self.throw_type_error(&message));
        }
        let wrapper = self.to_object(base)?;
        if self.set(wrapper, key, v, base)? {
            return Ok(());
        }
        Err(self.throw_read_only(key))
    }

    /// The TypeError of a refused assignment to a property of an object, which says which of the two reasons it was.
    #[cold]
    pub fn throw_refused_assignment(&mut self, o: Object, key: PropertyKey) -> crate::vm::Abrupt {
        let is_ordinary = !o.has_flag(flags::EXOTIC);
        if is_ordinary
            && o.has_flag(flags::NOT_EXTENSIBLE)
            && self.ordinary_get_own_property(o, key).is_none()
        {
            let message = format!("Cannot add property {}, object is not extensible", key.to_display());
            return self.throw_type_error(&message);
        }
        self.throw_read_only(key)
    }

    /// The TypeError of a refused assignment.
    #[cold]
    pub fn throw_read_only(&mut self, key: PropertyKey) -> crate::vm::Abrupt {
        let message = format!("Cannot assign to read only property '{}' of object", key.to_display());
        self.throw_type_error(&message)
    }

    /// CreateDataProperty (7.3.5).
    #[inline]
    pub fn create_data_property(&mut self, o: Object, key: PropertyKey, v: Value) -> JsResult<bool> {
        // OPTIMIZATION: equals [[DefineOwnProperty]] for a new property of an extensible ordinary object.
        if !o.has_flag(flags::EXOTIC | flags::NOT_EXTENSIBLE)
            && (!o.is_array() || !key.is_index() && key != atoms::LENGTH)
            && self.ordinary_get_own_property(o, key).is_none()
            && o.shape().is_extensible()
        {
            self.add_own_property(o, key, v, attrs::ALL)?;
            return Ok(true);
        }
        if let Some(i) = key.as_index()
            && i == o.elements().len()
            && self.try_push_element(o, v)
        {
            return Ok(true);
        }
        self.define_own_property(o, key, &PropertyDescriptor::data(v, attrs::ALL))
    }

    /// CreateDataPropertyOrThrow (7.3.7).
    #[inline]
    pub fn create_data_property_or_throw(&mut self, o: Object, key: PropertyKey, v: Value) -> JsResult<()> {
        if self.create_data_property(o, key, v)? {
            return Ok(());
        }
        Err(self.throw_cannot_define(key))
    }

    #[cold]
    fn throw_cannot_define(&mut self, key: PropertyKey) -> crate::vm::Abrupt {
        let message = format!(
            "Cannot define property '{}': object is not extensible or it is locked",
            key.to_display()
        );
        self.throw_type_error(&message)
    }

    /// DefinePropertyOrThrow (7.3.8).
    pub fn define_property_or_throw(
        &mut self,
        o: Object,
        key: PropertyKey,
        desc: &PropertyDescriptor,
    ) -> JsResult<()> {
        if self.define_own_property(o, key, desc)? {
            return Ok(());
        }
        Err(self.throw_cannot_define(key))
    }

    /// DeletePropertyOrThrow (7.3.9).
    pub fn delete_property_or_throw(&mut self, o: Object, key: PropertyKey) -> JsResult<()> {
        if self.delete_property(o, key)? {
            return Ok(());
        }
        let message = format!("Cannot delete property '{}'", key.to_display());
        Err(self.throw_type_error(&message))
    }

    /// GetMethod (7.3.10): a callable or undefined.
    pub fn get_method(&mut self, v: Value, key: PropertyKey) -> JsResult<Value> {
        let f = match v.as_object() {
            Some(object) => self.get_cached(object, key)?,
            None => self.get_v(v, key)?,
        };
        if f.is_nullish() {
            return Ok(Value::UNDEFINED);
        }
        if !f.is_callable() {
            let message = format!("{} is not a function", key.to_display());
            return Err(self.throw_type_error(&message));
        }
        Ok(f)
    }

    /// HasOwnProperty (7.3.12).
    pub fn has_own_property(&mut self, o: Object, key: PropertyKey) -> JsResult<bool> {
        Ok(self.get_own_property(o, key)?.is_some())
    }

    /// Invoke (7.3.20).
    pub fn invoke(&mut self, v: Value, key: PropertyKey, args: &[Value]) -> JsResult<Value> {
        let f = self.get_v(v, key)?;
        if !f.is_callable() {
            let message = format!("{} is not a function", key.to_display());
            return Err(self.throw_type_error(&message));
        }
        self.call(f, v, args)
    }

    /// LengthOfArrayLike (7.3.18).
    #[inline]
    pub fn length_of_array_like(&mut self, o: Object) -> JsResult<u64> {
        if o.is_array() {
            return Ok(u64::from(o.array_length()));
        }
        let v = self.get(o, atoms::LENGTH)?;
        self.to_length(v)
    }

    /// CreateListFromArrayLike (7.3.19), rooted.
    pub fn create_list_from_array_like(&mut self, v: Value) -> JsResult<RootedVec> {
        let Some(o) = v.as_object() else {
            return Err(self.throw_type_error("CreateListFromArrayLike called on non-object"));
        };
        let n = self.length_of_array_like(o)?;
        if n > crate::limits::ARGUMENTS_MAX as u64 {
            return Err(self.throw_range_error("too many arguments"));
        }
        let mut list = self.scratch();
        for i in 0..n {
            self.poll()?;
            let key = self.key_from_u64(i);
            let v = self.get(o, key)?;
            list.push(v);
        }
        Ok(list)
    }

    /// OrdinaryHasInstance (7.3.22).
    pub fn ordinary_has_instance(&mut self, c: Value, v: Value) -> JsResult<bool> {
        let Some(c) = c.as_object().filter(|c| c.is_callable()) else { return Ok(false) };
        if c.is(ObjectKind::BoundFunction) {
            let target = crate::builtins::function::bound_target(c);
            return self.instance_of(v, Value::object(target));
        }
        let Some(mut o) = v.as_object() else { return Ok(false) };
        let prototype = self.get(c, atoms::PROTOTYPE)?;
        if !prototype.is_object() {
            return Err(self.throw_type_error("Function has non-object prototype in instanceof check"));
        }
        loop {
            self.poll()?;
            let p = self.get_prototype_of(o)?;
            match p.as_object() {
                None => return Ok(false),
                Some(_) if p == prototype => return Ok(true),
                Some(p) => o = p,
            }
        }
    }

    /// InstanceofOperator (13.10.2).
    pub fn instance_of(&mut self, v: Value, c: Value) -> JsResult<bool> {
        if !c.is_object() {
            return Err(self.throw_type_error("Right-hand side of 'instanceof' is not an object"));
        }
        let handler = self.get_method(c, symbol::HAS_INSTANCE)?;
        if !handler.is_undefined() {
            return Ok(self.call(handler, c, &[v])?.to_boolean());
        }
        if !c.is_callable() {
            return Err(self.throw_type_error("Right-hand side of 'instanceof' is not callable"));
        }
        self.ordinary_has_instance(c, v)
    }

    /// SpeciesConstructor (7.3.23); `default` when there is no species.
    pub fn species_constructor(&mut self, o: Object, default: Intrinsic) -> JsResult<Object> {
        let c = self.get(o, atoms::CONSTRUCTOR)?;
        if c.is_undefined() {
            return Ok(self.intrinsic(default));
        }
        let Some(c) = c.as_object() else {
            return Err(self.throw_type_error("The .constructor property is not an object"));
        };
        let species = self.get(c, symbol::SPECIES)?;
        if species.is_nullish() {
            return Ok(self.intrinsic(default));
        }
        match species.as_object() {
            Some(s) if s.is_constructor() => Ok(s),
            _ => Err(self.throw_type_error("object[Symbol.species] is not a constructor")),
        }
    }

    /// EnumerableOwnProperties (7.3.24), as an array.
    pub fn enumerable_own_properties(&mut self, o: Object, kind: EnumerableKind) -> JsResult<Object> {
        let keys = self.own_property_keys(o)?;
        let mut out = self.scratch();
        for &key in keys.iter() {
            if key.is_symbol() {
                continue;
            }
            self.poll()?;
            let Some(p) = self.get_own_property(o, key)? else { continue };
            if !p.is_enumerable() {
                continue;
            }
            let name = key.to_value(self);
            if kind == EnumerableKind::Keys {
                out.push(name);
                continue;
            }
            let v = self.get(o, key)?;
            out.push(v);
            if kind == EnumerableKind::Entries {
                let entry = self.new_array_from(&[name, v])?;
                out.pop();
                out.push(Value::object(entry));
            }
        }
        self.new_array_from(&out)
    }

    /// GetFunctionRealm (7.3.25).
    pub fn get_function_realm(&mut self, f: Object) -> JsResult<Gc<Data<Realm>>> {
        match f.kind() {
            ObjectKind::NativeFunction => {
                if let Some(r) = f.data::<Realm>(NATIVE_REALM_SLOT) {
                    return Ok(r);
                }
            }
            ObjectKind::Closure => {
                if let Some(r) = (self.closure_hooks.realm_of)(self, f) {
                    return Ok(r);
                }
            }
            ObjectKind::BoundFunction => {
                let target = crate::builtins::function::bound_target(f);
                return self.get_function_realm(target);
            }
            ObjectKind::Proxy => {
                let target = crate::builtins::proxy::target(self, f)?;
                return self.get_function_realm(target);
            }
            _ => {}
        }
        Ok(self.realm())
    }

    /// GetPrototypeFromConstructor (10.1.14).
    pub fn get_prototype_from_constructor(
        &mut self,
        constructor: Value,
        default: Intrinsic,
    ) -> JsResult<Object> {
        let Some(c) = constructor.as_object() else { return Ok(self.intrinsic(default)) };
        let p = self.get_cached(c, atoms::PROTOTYPE)?;
        match p.as_object() {
            Some(p) => Ok(p),
            None => {
                let realm = self.get_function_realm(c)?;
                Ok(self.intrinsic_of(realm, default))
            }
        }
    }

    /// OrdinaryCreateFromConstructor (10.1.13): an object of `kind` with `internal` internal slots.
    pub fn ordinary_create_from_constructor(
        &mut self,
        constructor: Value,
        default: Intrinsic,
        kind: ObjectKind,
        internal: u32,
    ) -> JsResult<Object> {
        let prototype = self.get_prototype_from_constructor(constructor, default)?;
        Ok(self.new_exotic(kind, Value::object(prototype), internal))
    }

    /// CopyDataProperties (7.3.26), the heart of object spread and rest.
    pub fn copy_data_properties(
        &mut self,
        target: Object,
        source: Value,
        excluded: &[PropertyKey],
    ) -> JsResult<()> {
        if source.is_nullish() {
            return Ok(());
        }
        let from = self.to_object(source)?;
        if excluded.is_empty() && self.copy_whole_shape(target, from)? {
            return Ok(());
        }
        let keys = self.own_property_keys(from)?;
        for &key in keys.iter() {
            if excluded.contains(&key) {
                continue;
            }
            self.poll()?;
            if let Some(p) = self.get_own_property(from, key)?
                && p.is_enumerable()
            {
                // OPTIMIZATION: equals Get where nothing can have changed since.
                let plain = !from.has_flag(flags::EXOTIC) && p.attrs & attrs::ACCESSOR == 0;
                let v = if plain { p.value } else { self.get(from, key)? };
                self.create_data_property_or_throw(target, key, v)?;
            }
        }
        Ok(())
    }

    /// OPTIMIZATION: equals copying the properties one by one, where the source is plain and the target new: it gets the same shape.
    fn copy_whole_shape(&mut self, target: Object, from: Object) -> JsResult<bool> {
        let shape = from.shape();
        if from.has_flag(flags::EXOTIC | flags::HAS_SPARSE | flags::IS_PROTOTYPE)
            || target.has_flag(flags::EXOTIC | flags::IS_PROTOTYPE)
            || from.is_array()
            || !from.elements().is_empty()
            || shape.is_dictionary()
            || !shape.is_extensible()
            || !target.shape().ptr_eq(self.root_shape(shape.prototype(), shape.first_slot()))
            || !shape.table().iter().all(|(_, info)| info.attrs == attrs::ALL)
        {
            return Ok(false);
        }
        self.poll_n(shape.property_count())?;
        for slot in shape.first_slot()..shape.slot_count() {
            self.add_slot(target, shape, slot, from.slot(slot));
        }
        Ok(true)
    }

    /// SetIntegrityLevel (7.3.15): `Lock::Seal` or `Lock::Freeze`.
    pub fn set_integrity_level(&mut self, o: Object, level: Lock) -> JsResult<bool> {
        // OPTIMIZATION: an ordinary object's attributes change all at once, through its shape.
        if !o.has_flag(flags::EXOTIC) {
            self.ordinary_lock(o, level);
            return Ok(true);
        }
        if !self.prevent_extensions(o)? {
            return Ok(false);
        }
        let keys = self.own_property_keys(o)?;
        for &key in keys.iter() {
            self.poll()?;
            let mut desc = PropertyDescriptor { configurable: Some(false), ..Default::default() };
            if level == Lock::Freeze {
                match self.get_own_property(o, key)? {
                    None => continue,
                    Some(p) if p.accessor().is_none() => desc.writable = Some(false),
                    Some(_) => {}
                }
            }
            self.define_property_or_throw(o, key, &desc)?;
        }
        Ok(true)
    }

    /// TestIntegrityLevel (7.3.16).
    pub fn test_integrity_level(&mut self, o: Object, level: Lock) -> JsResult<bool> {
        if self.is_extensible(o)? {
            return Ok(false);
        }
        let keys = self.own_property_keys(o)?;
        for &key in keys.iter() {
            self.poll()?;
            if let Some(p) = self.get_own_property(o, key)?
                && (p.is_configurable() || level == Lock::Freeze && p.accessor().is_none() && p.is_writable())
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// ToPropertyDescriptor (6.2.6.5).
    pub fn to_property_descriptor(&mut self, v: Value) -> JsResult<PropertyDescriptor> {
        let Some(o) = v.as_object() else {
            let message = format!("Property description must be an object: {}", self.describe(v));
            return Err(self.throw_type_error(&message));
        };
        let enumerable = self.optional_field(o, atoms::ENUMERABLE)?.map(Value::to_boolean);
        let configurable = self.optional_field(o, atoms::CONFIGURABLE)?.map(Value::to_boolean);
        let value = self.optional_field(o, atoms::VALUE)?;
        let writable = self.optional_field(o, atoms::WRITABLE)?.map(Value::to_boolean);
        let get = self.optional_field(o, atoms::GET)?;
        if get.is_some_and(|g| !g.is_undefined() && !g.is_callable()) {
            return Err(self.throw_type_error("Getter must be a function"));
        }
        let set = self.optional_field(o, atoms::SET)?;
        if set.is_some_and(|s| !s.is_undefined() && !s.is_callable()) {
            return Err(self.throw_type_error("Setter must be a function"));
        }
        let desc = PropertyDescriptor { value, get, set, writable, enumerable, configurable };
        if desc.is_accessor() && desc.is_data() {
            let message = "Invalid property descriptor. Cannot both specify accessors and a value or writable attribute";
            return Err(self.throw_type_error(message));
        }
        Ok(desc)
    }

    fn optional_field(&mut self, o: Object, key: PropertyKey) -> JsResult<Option<Value>> {
        if !self.has_property(o, key)? {
            return Ok(None);
        }
        self.get(o, key).map(Some)
    }

    /// FromPropertyDescriptor (6.2.6.4).
    pub fn from_property_descriptor(&mut self, desc: Option<&PropertyDescriptor>) -> JsResult<Value> {
        let Some(desc) = desc else { return Ok(Value::UNDEFINED) };
        let o = self.new_object();
        let fields = [
            (atoms::VALUE, desc.value),
            (atoms::WRITABLE, desc.writable.map(Value::bool)),
            (atoms::GET, desc.get),
            (atoms::SET, desc.set),
            (atoms::ENUMERABLE, desc.enumerable.map(Value::bool)),
            (atoms::CONFIGURABLE, desc.configurable.map(Value::bool)),
        ];
        for (key, v) in fields {
            if let Some(v) = v {
                self.add_keyed_property(o, key, v, attrs::ALL);
            }
        }
        Ok(Value::object(o))
    }

    /// FromPropertyDescriptor of a property found.
    pub fn from_own_property(&mut self, p: Option<OwnProperty>) -> JsResult<Value> {
        let desc = p.map(OwnProperty::to_descriptor);
        self.from_property_descriptor(desc.as_ref())
    }

    /// Defines a data property on an object that is being set up, whatever its kind; for hosts and tables.
    pub fn define_data(&mut self, o: Object, name: &str, v: Value, attributes: u8) -> JsResult<()> {
        let key = self.key_from_str(name);
        self.define_property_or_throw(o, key, &PropertyDescriptor::data(v, attributes))
    }
}
