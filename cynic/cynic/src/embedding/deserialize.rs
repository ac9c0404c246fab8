//! JavaScript values to Rust values, by serde: the mirror of `serialize`.
//!
//! Objects are read by their own enumerable text keys (getters run), Maps by their entries, typed arrays and buffers as bytes. Functions and symbols are
//! errors; undefined and null are unit and `None`.

use serde::de::{self, DeserializeOwned, DeserializeSeed, Visitor};

use super::convert::integer_of;
use super::error::Result;
use super::handle::Handle;
use super::realm::Realm;
use super::serialize::Failure;
use cynic_engine::gc::{Persistent, RootedVec};
use cynic_engine::object::{Object, ObjectKind};
use cynic_engine::preview;
use cynic_engine::property_key::PropertyKey;
use cynic_engine::value::Value;
use cynic_engine::vm::Vm;

/// Reads a value.
pub(super) fn from_js<T: DeserializeOwned>(realm: &mut Realm<'_>, handle: &Handle) -> Result<T> {
    let value = handle.value_in(realm.vm)?;
    match T::deserialize(Reader { vm: &mut *realm.vm, value }) {
        Ok(read) => Ok(read),
        Err(failure) => Err(failure.into_error(realm.vm)),
    }
}

/// A value to read. Whoever holds it has the isolate, so that nothing is collected before the value is read.
struct Reader<'v> {
    vm: &'v mut Vm,
    value: Value,
}

type Read<T> = std::result::Result<T, Failure>;

fn refused<T>(vm: &Vm, value: Value) -> Read<T> {
    Err(Failure::Message(format!("a value cannot be read: {}", vm.describe(value))))
}

impl Reader<'_> {
    fn object<'de, V: Visitor<'de>>(self, object: Object, visitor: V) -> Read<V::Value> {
        self.vm.check_native_stack()?;
        if object.is_array() {
            let length = object.array_length();
            let array = Persistent::new(&self.vm.heap, self.value);
            return visitor.visit_seq(Elements { vm: self.vm, array, next: 0, length });
        }
        match object.kind() {
            ObjectKind::TypedArray | ObjectKind::ArrayBuffer => match self.vm.bytes_of(self.value) {
                Some(bytes) => visitor.visit_byte_buf(bytes),
                None => refused(self.vm, self.value),
            },
            ObjectKind::Map => {
                let entries = preview::collection_entries(self.vm, object, usize::MAX);
                visitor.visit_map(Entries { vm: self.vm, source: Source::Map(entries), next: 0 })
            }
            ObjectKind::Boolean | ObjectKind::Number | ObjectKind::String | ObjectKind::BigInt => {
                Reader { vm: self.vm, value: object.slot(0) }.any(visitor)
            }
            _ if object.is_callable() => refused(self.vm, self.value),
            _ => {
                let keys = enumerable_keys(self.vm, object)?;
                let object = Persistent::new(&self.vm.heap, self.value);
                visitor.visit_map(Entries { vm: self.vm, source: Source::Object(object, keys), next: 0 })
            }
        }
    }

    fn any<'de, V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        if let Some(object) = self.value.as_object() {
            return self.object(object, visitor);
        }
        if let Some(text) = self.value.as_string() {
            return visitor.visit_string(text.to_rust_string());
        }
        if let Some(integer) = integer_of(self.value) {
            return match (u64::try_from(integer), i64::try_from(integer)) {
                // -0 is a number of its own.
                _ if self.value.as_number().is_some_and(|n| n == 0.0 && n.is_sign_negative()) => {
                    visitor.visit_f64(-0.0)
                }
                (Ok(unsigned), _) => visitor.visit_u64(unsigned),
                (_, Ok(signed)) => visitor.visit_i64(signed),
                _ => visitor.visit_i128(integer),
            };
        }
        if let Some(number) = self.value.as_number() {
            return visitor.visit_f64(number);
        }
        match self.value {
            Value::TRUE => visitor.visit_bool(true),
            Value::FALSE => visitor.visit_bool(false),
            Value::UNDEFINED | Value::NULL => visitor.visit_unit(),
            value => refused(self.vm, value),
        }
    }
}

fn enumerable_keys(vm: &mut Vm, object: Object) -> Read<RootedVec<PropertyKey>> {
    let all = vm.own_property_keys(object)?;
    let mut keys = RootedVec::new(&vm.heap);
    for &key in all.iter().filter(|key| !key.is_symbol()) {
        vm.poll()?;
        if vm.get_own_property(object, key)?.is_some_and(|property| property.is_enumerable()) {
            keys.push(key);
        }
    }
    Ok(keys)
}

impl<'de> de::Deserializer<'de> for Reader<'_> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        self.any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        if self.value.is_nullish() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        match self.value.as_number() {
            Some(number) => visitor.visit_f64(number),
            None => self.any(visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Read<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    /// A text is a variant without data; else the one property names it.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Read<V::Value> {
        if self.value.is_string() {
            let content = Persistent::new(&self.vm.heap, Value::UNDEFINED);
            return visitor.visit_enum(Variant { vm: self.vm, name: self.value, content });
        }
        let Some(object) = self.value.as_object() else { return refused(self.vm, self.value) };
        let keys = enumerable_keys(self.vm, object)?;
        let [key] = keys[..] else {
            return Err(Failure::Message("an enumeration is a text or an object with one property".into()));
        };
        let content = self.vm.get(object, key)?;
        let name = PropertyKey::to_value(key, self.vm);
        let content = Persistent::new(&self.vm.heap, content);
        visitor.visit_enum(Variant { vm: self.vm, name, content })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// The rest of an array. Visitors may put it anywhere, so that it has a root.
struct Elements<'v> {
    vm: &'v mut Vm,
    array: Persistent,
    next: u32,
    length: u32,
}

impl<'de> de::SeqAccess<'de> for Elements<'_> {
    type Error = Failure;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Read<Option<T::Value>> {
        if self.next >= self.length {
            return Ok(None);
        }
        self.vm.poll()?;
        let Some(array) = self.array.get().as_object() else { return Ok(None) };
        let value = self.vm.get(array, PropertyKey::index(self.next))?;
        self.next += 1;
        seed.deserialize(Reader { vm: &mut *self.vm, value }).map(Some)
    }
}

enum Source {
    Object(Persistent, RootedVec<PropertyKey>),
    /// Keys and values in turn.
    Map(RootedVec),
}

struct Entries<'v> {
    vm: &'v mut Vm,
    source: Source,
    next: usize,
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Read<Option<K::Value>> {
        self.vm.poll()?;
        let key = match &self.source {
            Source::Object(_, keys) => keys.get(self.next).map(|&key| PropertyKey::to_value(key, self.vm)),
            Source::Map(entries) => entries.get(2 * self.next).copied(),
        };
        let Some(value) = key else { return Ok(None) };
        seed.deserialize(Reader { vm: &mut *self.vm, value }).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Read<T::Value> {
        let value = match &self.source {
            Source::Object(object, keys) => match (object.get().as_object(), keys.get(self.next)) {
                (Some(object), Some(&key)) => self.vm.get(object, key)?,
                _ => Value::UNDEFINED,
            },
            Source::Map(entries) => entries.get(2 * self.next + 1).copied().unwrap_or(Value::UNDEFINED),
        };
        self.next += 1;
        seed.deserialize(Reader { vm: &mut *self.vm, value })
    }
}

struct Variant<'v> {
    vm: &'v mut Vm,
    name: Value,
    content: Persistent,
}

impl<'de, 'v> de::EnumAccess<'de> for Variant<'v> {
    type Error = Failure;
    type Variant = Reader<'v>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Read<(V::Value, Reader<'v>)> {
        let name = seed.deserialize(Reader { vm: &mut *self.vm, value: self.name })?;
        Ok((name, Reader { vm: self.vm, value: self.content.get() }))
    }
}

impl<'de> de::VariantAccess<'de> for Reader<'_> {
    type Error = Failure;

    fn unit_variant(self) -> Read<()> {
        Ok(())
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Read<T::Value> {
        seed.deserialize(self)
    }
    fn tuple_variant<V: Visitor<'de>>(self, _length: usize, visitor: V) -> Read<V::Value> {
        self.any(visitor)
    }
    fn struct_variant<V: Visitor<'de>>(self, _fields: &'static [&'static str], visitor: V) -> Read<V::Value> {
        self.any(visitor)
    }
}
