//! Rust values to JavaScript values, by serde.
//!
//! Structs and maps become plain objects (maps with keys that are no text become Maps), sequences and tuples arrays, bytes a Uint8Array,
//! unit and `None` undefined, variants of enumerations a text or an object with one property. Integers that a double cannot hold exactly become BigInts.

use num_bigint::BigInt as Integer;
use serde::ser::{self, Serialize};

use super::convert::SAFE_INTEGER_MAX;
use super::error::{Error, HostError, Result};
use super::handle::Handle;
use super::realm::Realm;
use cynic_engine::gc::{Persistent, RootedVec};
use cynic_engine::object::Object;
use cynic_engine::property_key::PropertyKey;
use cynic_engine::value::Value;
use cynic_engine::vm::{Abrupt, JsResult, Vm};

/// Why a value could not be written.
#[derive(Debug)]
pub(super) enum Failure {
    Abrupt(Abrupt),
    Message(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Abrupt(_) => f.write_str("the isolate cannot hold the value"),
            Failure::Message(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Failure {}

impl ser::Error for Failure {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Failure::Message(message.to_string())
    }
}

impl serde::de::Error for Failure {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Failure::Message(message.to_string())
    }
}

impl From<Abrupt> for Failure {
    fn from(abrupt: Abrupt) -> Self {
        Failure::Abrupt(abrupt)
    }
}

impl Failure {
    pub(super) fn into_error(self, vm: &mut Vm) -> Error {
        match self {
            Failure::Abrupt(abrupt) => Error::of(vm, abrupt),
            Failure::Message(why) => HostError::Conversion(why).into(),
        }
    }
}

/// Writes a value.
pub(super) fn to_js<T: Serialize + ?Sized>(realm: &mut Realm<'_>, value: &T) -> Result<Handle> {
    match value.serialize(Writer { vm: &mut *realm.vm }) {
        Ok(value) => Ok(realm.handle(value)),
        Err(failure) => Err(failure.into_error(realm.vm)),
    }
}

/// An integer as a number, or as a BigInt if that would lose digits.
pub(super) fn integer(vm: &mut Vm, integer: i128) -> Value {
    if integer.unsigned_abs() <= SAFE_INTEGER_MAX as u128 {
        Value::number(integer as f64)
    } else {
        Value::bigint(vm.new_bigint(Integer::from(integer)))
    }
}

struct Writer<'v> {
    vm: &'v mut Vm,
}

type Written = std::result::Result<Value, Failure>;

impl<'v> Writer<'v> {
    fn text(self, text: &str) -> Value {
        Value::string(self.vm.new_string(text))
    }

    fn array(self) -> std::result::Result<ArrayWriter<'v>, Failure> {
        self.vm.check_native_stack()?;
        let array = self.vm.new_array();
        let array = Persistent::new(&self.vm.heap, Value::object(array));
        Ok(ArrayWriter { vm: self.vm, array, variant: None })
    }

    fn object(self) -> std::result::Result<ObjectWriter<'v>, Failure> {
        self.vm.check_native_stack()?;
        let object = self.vm.new_object();
        let mut roots = self.vm.scratch();
        roots.extend([Value::object(object), Value::UNDEFINED]);
        Ok(ObjectWriter { vm: self.vm, roots, is_map: false, variant: None })
    }
}

fn put(vm: &mut Vm, object: Object, name: &str, value: Value) -> JsResult<()> {
    let key = vm.key_from_str(name);
    vm.create_data_property_or_throw(object, key, value)
}

fn wrap(vm: &mut Vm, variant: Option<&'static str>, value: Value) -> Written {
    let Some(variant) = variant else { return Ok(value) };
    let object = vm.new_object();
    put(vm, object, variant, value)?;
    Ok(Value::object(object))
}

macro_rules! integers {
    ($($method:ident $type:ty;)*) => { $(
        fn $method(self, value: $type) -> Written {
            Ok(integer(self.vm, i128::from(value)))
        }
    )* };
}

impl<'v> ser::Serializer for Writer<'v> {
    type Ok = Value;
    type Error = Failure;
    type SerializeSeq = ArrayWriter<'v>;
    type SerializeTuple = ArrayWriter<'v>;
    type SerializeTupleStruct = ArrayWriter<'v>;
    type SerializeTupleVariant = ArrayWriter<'v>;
    type SerializeMap = ObjectWriter<'v>;
    type SerializeStruct = ObjectWriter<'v>;
    type SerializeStructVariant = ObjectWriter<'v>;

    integers! {
        serialize_i8 i8; serialize_i16 i16; serialize_i32 i32; serialize_i64 i64;
        serialize_u8 u8; serialize_u16 u16; serialize_u32 u32; serialize_u64 u64;
    }

    fn serialize_bool(self, value: bool) -> Written {
        Ok(Value::bool(value))
    }
    fn serialize_i128(self, value: i128) -> Written {
        Ok(integer(self.vm, value))
    }
    fn serialize_u128(self, value: u128) -> Written {
        Ok(match i128::try_from(value) {
            Ok(value) => integer(self.vm, value),
            Err(_) => Value::bigint(self.vm.new_bigint(Integer::from(value))),
        })
    }
    fn serialize_f32(self, value: f32) -> Written {
        Ok(Value::number(f64::from(value)))
    }
    fn serialize_f64(self, value: f64) -> Written {
        Ok(Value::number(value))
    }
    fn serialize_char(self, value: char) -> Written {
        Ok(self.text(value.encode_utf8(&mut [0; 4])))
    }
    fn serialize_str(self, value: &str) -> Written {
        Ok(self.text(value))
    }
    fn serialize_bytes(self, value: &[u8]) -> Written {
        Ok(Value::object(self.vm.new_uint8_array(value)?))
    }
    fn serialize_none(self) -> Written {
        Ok(Value::UNDEFINED)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Written {
        Ok(Value::UNDEFINED)
    }
    fn serialize_unit_struct(self, _name: &'static str) -> Written {
        Ok(Value::UNDEFINED)
    }
    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Written {
        Ok(self.text(variant))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Written {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Written {
        let inner = value.serialize(Writer { vm: &mut *self.vm })?;
        wrap(self.vm, Some(variant), inner)
    }
    fn serialize_seq(self, _length: Option<usize>) -> std::result::Result<ArrayWriter<'v>, Failure> {
        self.array()
    }
    fn serialize_tuple(self, _length: usize) -> std::result::Result<ArrayWriter<'v>, Failure> {
        self.array()
    }
    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _length: usize,
    ) -> std::result::Result<ArrayWriter<'v>, Failure> {
        self.array()
    }
    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> std::result::Result<ArrayWriter<'v>, Failure> {
        Ok(ArrayWriter { variant: Some(variant), ..self.array()? })
    }
    fn serialize_map(self, _length: Option<usize>) -> std::result::Result<ObjectWriter<'v>, Failure> {
        self.object()
    }
    fn serialize_struct(
        self,
        _name: &'static str,
        _length: usize,
    ) -> std::result::Result<ObjectWriter<'v>, Failure> {
        self.object()
    }
    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> std::result::Result<ObjectWriter<'v>, Failure> {
        Ok(ObjectWriter { variant: Some(variant), ..self.object()? })
    }
}

/// An array being filled. Types that serialize themselves may put it anywhere, so that it has a root.
pub(super) struct ArrayWriter<'v> {
    vm: &'v mut Vm,
    array: Persistent,
    variant: Option<&'static str>,
}

impl ArrayWriter<'_> {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> std::result::Result<(), Failure> {
        self.vm.poll()?;
        let value = value.serialize(Writer { vm: &mut *self.vm })?;
        match self.array.get().as_object() {
            Some(array) => Ok(self.vm.append_element(array, value)?),
            None => Ok(()),
        }
    }

    fn finish(self) -> Written {
        wrap(self.vm, self.variant, self.array.get())
    }
}

/// The sequences of serde, which differ in the name of their one method.
macro_rules! elements {
    ($($sequence:ident $method:ident),*) => {
        $(impl ser::$sequence for ArrayWriter<'_> {
            type Ok = Value;
            type Error = Failure;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> std::result::Result<(), Failure> {
                self.push(value)
            }
            fn end(self) -> Written {
                self.finish()
            }
        })*
    };
}

elements! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
}

/// Places among the roots of an [`ObjectWriter`].
const TARGET: usize = 0;
const KEY: usize = 1;

/// An object being filled, or a Map once a key was no text. Rooted as [`ArrayWriter`] is.
pub(super) struct ObjectWriter<'v> {
    vm: &'v mut Vm,
    /// The object or Map, and the key of the entry that comes.
    roots: RootedVec,
    is_map: bool,
    variant: Option<&'static str>,
}

impl ObjectWriter<'_> {
    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> std::result::Result<(), Failure> {
        self.vm.poll()?;
        let value = value.serialize(Writer { vm: &mut *self.vm })?;
        match self.roots[TARGET].as_object() {
            Some(object) => Ok(put(self.vm, object, name, value)?),
            None => Ok(()),
        }
    }

    fn finish(self) -> Written {
        wrap(self.vm, self.variant, self.roots[TARGET])
    }

    /// Goes over to a Map; what the object has already comes first.
    fn go_over_to_map(&mut self) -> JsResult<()> {
        let prototype = Value::object(self.vm.intrinsic(cynic_engine::realm::Intrinsic::MapPrototype));
        let map = self.vm.new_map(prototype);
        if let Some(object) = self.roots[TARGET].as_object() {
            let keys = self.vm.own_property_keys(object)?;
            for &key in keys.iter() {
                let value = self.vm.get(object, key)?;
                let key = PropertyKey::to_value(key, self.vm);
                self.vm.add_to_table(map, key, value)?;
            }
        }
        self.roots[TARGET] = Value::object(map);
        self.is_map = true;
        Ok(())
    }

    fn entry(&mut self, value: Value) -> JsResult<()> {
        let key = std::mem::replace(&mut self.roots[KEY], Value::UNDEFINED);
        if !self.is_map && !key.is_string() {
            self.go_over_to_map()?;
        }
        let Some(target) = self.roots[TARGET].as_object() else { return Ok(()) };
        match key.as_string().filter(|_| !self.is_map) {
            Some(text) => {
                let key = self.vm.key_from_string(text);
                self.vm.create_data_property_or_throw(target, key, value)
            }
            None => self.vm.add_to_table(target, key, value),
        }
    }
}

impl ser::SerializeMap for ObjectWriter<'_> {
    type Ok = Value;
    type Error = Failure;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> std::result::Result<(), Failure> {
        self.roots[KEY] = key.serialize(Writer { vm: &mut *self.vm })?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> std::result::Result<(), Failure> {
        self.vm.poll()?;
        let value = value.serialize(Writer { vm: &mut *self.vm })?;
        Ok(self.entry(value)?)
    }

    fn end(self) -> Written {
        self.finish()
    }
}

/// The structures of serde, alike for one value and for a variant.
macro_rules! fields {
    ($($structure:ident),*) => {
        $(impl ser::$structure for ObjectWriter<'_> {
            type Ok = Value;
            type Error = Failure;
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> std::result::Result<(), Failure> {
                self.field(name, value)
            }
            fn end(self) -> Written {
                self.finish()
            }
        })*
    };
}

fields! { SerializeStruct, SerializeStructVariant }
