//! Array objects (23.1): the tables, and what the methods share. <https://tc39.es/ecma262/#sec-array-objects>
//!
//! The methods are generic; each `OPTIMIZATION` answers what the generic step would, for arrays whose elements are at
//! hand. Nothing here keeps a borrow of the elements across a call that may run guest code.

pub(crate) mod construct;
pub mod copy;
mod from_async;
pub mod iterate;
pub mod iterator;
pub mod join;
pub mod mutate;
pub mod search;
pub mod sort;

use crate::atoms;
use crate::object::function::NativeFunctionObject as _;
use crate::object::function::{CallArgs, NativeSpec};
use crate::object::{Object, ObjectKind, flags};
use crate::property_key::PropertyKey;
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, ValueSpec, constructor, data, method, prototype, species, symbol_data,
};
use crate::shape::attrs;
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %Array%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("Array", 1, construct::construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        prototype(Intrinsic::ArrayPrototype),
        method("from", 1, construct::from),
        method("fromAsync", 1, from_async::from_async),
        method("isArray", 1, construct::is_array),
        method("of", 0, construct::of),
        species(),
    ],
};

/// %Array.prototype%, itself an array.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Array, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        data("length", ValueSpec::Number(0.0), attrs::WRITABLE),
        constructor(Intrinsic::Array),
        method("at", 1, search::at),
        method("concat", 1, copy::concat),
        method("copyWithin", 2, mutate::copy_within),
        method("entries", 0, iterator::entries),
        method("every", 1, iterate::every),
        method("fill", 1, mutate::fill),
        method("filter", 1, iterate::filter),
        method("find", 1, search::find),
        method("findIndex", 1, search::find_index),
        method("findLast", 1, search::find_last),
        method("findLastIndex", 1, search::find_last_index),
        method("flat", 0, copy::flat),
        method("flatMap", 1, copy::flat_map),
        method("forEach", 1, iterate::for_each),
        method("includes", 1, search::includes),
        method("indexOf", 1, search::index_of),
        method("join", 1, join::join),
        method("keys", 0, iterator::keys),
        method("lastIndexOf", 1, search::last_index_of),
        method("map", 1, iterate::map),
        method("pop", 0, mutate::pop),
        method("push", 1, mutate::push),
        method("reduce", 1, iterate::reduce),
        method("reduceRight", 1, iterate::reduce_right),
        method("reverse", 0, mutate::reverse),
        method("shift", 0, mutate::shift),
        method("slice", 2, copy::slice),
        method("some", 1, iterate::some),
        method("sort", 1, sort::sort),
        method("splice", 2, mutate::splice),
        method("toLocaleString", 0, join::to_locale_string),
        method("toReversed", 0, copy::to_reversed),
        method("toSorted", 1, sort::to_sorted),
        method("toSpliced", 2, copy::to_spliced),
        method("toString", 0, join::to_string),
        method("unshift", 1, mutate::unshift),
        method("values", 0, iterator::values),
        method("with", 2, copy::with),
        symbol_data(symbol::ITERATOR, ValueSpec::SameAs("values"), attrs::METHOD),
        symbol_data(symbol::UNSCOPABLES, ValueSpec::Constant(unscopables), attrs::CONFIGURABLE),
    ],
};

/// 23.1.3.41
fn unscopables(vm: &mut Vm) -> Value {
    let o = vm.new_object_with(Value::NULL);
    for name in [
        "at",
        "copyWithin",
        "entries",
        "fill",
        "find",
        "findIndex",
        "findLast",
        "findLastIndex",
        "flat",
        "flatMap",
        "includes",
        "keys",
        "toReversed",
        "toSorted",
        "toSpliced",
        "values",
    ] {
        let key = vm.key_from_str(name);
        vm.add_keyed_property(o, key, Value::TRUE, attrs::ALL);
    }
    vm.freeze_intrinsic_function(o);
    Value::object(o)
}

/// The receiver as an object, and its length.
pub(crate) fn this_and_length(vm: &mut Vm, args: CallArgs) -> JsResult<(Object, u64)> {
    let o = vm.to_object(args.this)?;
    let n = vm.length_of_array_like(o)?;
    Ok((o, n))
}

/// The callback argument; a TypeError when it is not callable.
pub(crate) fn callback(vm: &mut Vm, v: Value) -> JsResult<Value> {
    if v.is_callable() {
        return Ok(v);
    }
    let message = format!("{} is not a function", vm.describe(v));
    Err(vm.throw_type_error(&message))
}

/// A relative index argument: negative from the end, clamped to `0..=length`.
pub(crate) fn relative_index(vm: &mut Vm, v: Value, length: u64, default: u64) -> JsResult<u64> {
    if v.is_undefined() {
        return Ok(default);
    }
    let n = vm.to_integer_or_infinity(v)?;
    let length_f = length as f64;
    Ok(if n < 0.0 { (length_f + n).max(0.0) as u64 } else { n.min(length_f) as u64 })
}

/// The largest length an array-like may reach.
pub(crate) const LENGTH_MAX: u64 = 9_007_199_254_740_991;

impl Vm {
    /// `Get(o, k)`.
    /// OPTIMIZATION: an element that is there is what `[[Get]]` would find first.
    #[inline(always)]
    pub fn get_element(&mut self, o: Object, k: u64) -> JsResult<Value> {
        if k < u64::from(u32::MAX) && !o.has_flag(flags::EXOTIC) {
            let v = o.element(k as u32);
            if !v.is_empty() {
                return Ok(v);
            }
        }
        let key = self.key_from_u64(k);
        self.get(o, key)
    }

    /// `HasProperty(o, k)`, then `Get(o, k)`: None for a hole.
    #[inline(always)]
    pub fn get_element_if_present(&mut self, o: Object, k: u64) -> JsResult<Option<Value>> {
        if k < u64::from(u32::MAX) && !o.has_flag(flags::EXOTIC) {
            let v = o.element(k as u32);
            if !v.is_empty() {
                return Ok(Some(v));
            }
        }
        let key = self.key_from_u64(k);
        if !self.has_property(o, key)? {
            return Ok(None);
        }
        self.get(o, key).map(Some)
    }

    /// `Set(o, k, v, true)`.
    #[inline(always)]
    pub fn set_element(&mut self, o: Object, k: u64, v: Value) -> JsResult<()> {
        if k < u64::from(u32::MAX) && o.try_set_element(k as u32, v) {
            return Ok(());
        }
        let key = self.key_from_u64(k);
        self.set_or_throw(o, key, v)
    }

    /// `CreateDataPropertyOrThrow(o, k, v)`.
    #[inline(always)]
    pub fn create_element(&mut self, o: Object, k: u64, v: Value) -> JsResult<()> {
        if o.is_array()
            && k == u64::from(o.elements().len())
            && k == u64::from(o.array_length())
            && self.try_push_element(o, v)
        {
            return Ok(());
        }
        let key = self.key_from_u64(k);
        self.create_data_property_or_throw(o, key, v)
    }

    /// `DeletePropertyOrThrow(o, k)`.
    pub fn delete_element(&mut self, o: Object, k: u64) -> JsResult<()> {
        let key = self.key_from_u64(k);
        self.delete_property_or_throw(o, key)
    }

    /// `Set(o, "length", n, true)`.
    pub fn set_length(&mut self, o: Object, n: u64) -> JsResult<()> {
        self.set_or_throw(o, atoms::LENGTH, Value::number(n as f64))
    }

    /// Whether the elements of an array are all there is to say about its indices: an Array whose length is its number
    /// of elements, not locked; holes are looked up on prototypes, so there must be none with indices.
    #[inline]
    pub(crate) fn has_plain_elements(&self, o: Object) -> bool {
        o.is_array()
            && !o.has_flag(flags::ELEMENT_APPEND_SLOW)
            && o.elements().len() == o.array_length()
            && !self.indexed_prototypes
    }

    /// ArraySpeciesCreate (10.4.2.2).
    pub fn array_species_create(&mut self, original: Object, length: u64) -> JsResult<Object> {
        if self.species_is_default(original) || !self.is_array(Value::object(original))? {
            return self.array_create(length as f64, None);
        }
        let mut c = self.get(original, atoms::CONSTRUCTOR)?;
        if let Some(f) = c.as_object().filter(|f| f.is_constructor()) {
            let realm = self.get_function_realm(f)?;
            if realm != self.realm() && f == self.intrinsic_of(realm, Intrinsic::Array) {
                c = Value::UNDEFINED;
            }
        }
        if let Some(o) = c.as_object() {
            c = self.get(o, symbol::SPECIES)?;
            if c.is_null() {
                c = Value::UNDEFINED;
            }
        }
        if c.is_undefined() {
            return self.array_create(length as f64, None);
        }
        match c.as_object().filter(|f| f.is_constructor()) {
            Some(f) => self.construct(f, &[Value::number(length as f64)], f),
            None => Err(self.throw_type_error("object.constructor[Symbol.species] is not a constructor")),
        }
    }

    /// OPTIMIZATION: an array with nothing of its own gets its constructor from a prototype that is frozen, or whose
    /// constructor and species are still the engine's.
    fn species_is_default(&mut self, o: Object) -> bool {
        if !o.is_array() || !o.shape().ptr_eq(self.default_array_shape()) {
            return false;
        }
        if self.options.hardened {
            return true;
        }
        let home = self.intrinsic(Intrinsic::ArrayPrototype);
        let array = self.intrinsic(Intrinsic::Array);
        let own = self.ordinary_get_own_property(home, atoms::CONSTRUCTOR);
        if own.is_none_or(|p| p.value != Value::object(array)) {
            return false;
        }
        let species = self.ordinary_get_own_property(array, symbol::SPECIES).and_then(|p| p.accessor());
        species
            .and_then(|a| a.getter().as_object())
            .is_some_and(|g| g.is(ObjectKind::NativeFunction) && g.native_spec().name == "[Symbol.species]")
    }
}

/// The key of an index that is known to be small.
pub(crate) fn index(i: u32) -> PropertyKey {
    PropertyKey::index(i)
}
