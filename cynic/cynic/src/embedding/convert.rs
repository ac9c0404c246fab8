//! Typed conversion between Rust and JavaScript values.
//!
//! Nothing is coerced: a string is not a number. [`Serde`] carries any type that serde knows.

use num_traits::ToPrimitive as _;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{HostError, Result};
use super::handle::Handle;
use super::realm::Realm;
use super::{deserialize, serialize};
use cynic_engine::value::Value;

/// The largest integer that a double holds exactly with all its neighbours.
pub(super) const SAFE_INTEGER_MAX: i64 = 9_007_199_254_740_991;

/// A Rust type that becomes a value.
pub trait IntoJs {
    /// The value in `realm`.
    fn into_js(self, realm: &mut Realm<'_>) -> Result<Handle>;
}

/// A Rust type that a value can be.
pub trait FromJs: Sized {
    /// The Rust value, or what was found instead.
    fn from_js(handle: &Handle, realm: &mut Realm<'_>) -> Result<Self>;
}

/// Any type that serde can write and read: structs become plain objects, sequences arrays, maps with text keys objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serde<T>(pub T);

impl<T: Serialize> IntoJs for Serde<T> {
    fn into_js(self, realm: &mut Realm<'_>) -> Result<Handle> {
        serialize::to_js(realm, &self.0)
    }
}

impl<T: DeserializeOwned> FromJs for Serde<T> {
    fn from_js(handle: &Handle, realm: &mut Realm<'_>) -> Result<Self> {
        deserialize::from_js(realm, handle).map(Serde)
    }
}

/// The error of a value that is something else.
pub(super) fn mismatch(wanted: &str, realm: &Realm<'_>, value: Value) -> HostError {
    HostError::Conversion(format!("expected {wanted}, found {}", realm.vm.describe(value)))
}

impl IntoJs for Handle {
    fn into_js(self, realm: &mut Realm<'_>) -> Result<Handle> {
        self.value_in(realm.vm)?;
        Ok(self)
    }
}

impl FromJs for Handle {
    fn from_js(handle: &Handle, _realm: &mut Realm<'_>) -> Result<Self> {
        Ok(handle.clone())
    }
}

/// A host function may fail: the guest sees an exception.
impl<T: IntoJs, E: Into<super::error::Error>> IntoJs for std::result::Result<T, E> {
    fn into_js(self, realm: &mut Realm<'_>) -> Result<Handle> {
        match self {
            Ok(value) => value.into_js(realm),
            Err(error) => Err(error.into()),
        }
    }
}

impl<T: IntoJs> IntoJs for Option<T> {
    fn into_js(self, realm: &mut Realm<'_>) -> Result<Handle> {
        match self {
            Some(value) => value.into_js(realm),
            None => Ok(realm.handle(Value::UNDEFINED)),
        }
    }
}

/// `undefined` and `null` are `None`.
impl<T: FromJs> FromJs for Option<T> {
    fn from_js(handle: &Handle, realm: &mut Realm<'_>) -> Result<Self> {
        if handle.is_nullish() { Ok(None) } else { T::from_js(handle, realm).map(Some) }
    }
}

impl IntoJs for () {
    fn into_js(self, realm: &mut Realm<'_>) -> Result<Handle> {
        Ok(realm.handle(Value::UNDEFINED))
    }
}

impl FromJs for () {
    fn from_js(_handle: &Handle, _realm: &mut Realm<'_>) -> Result<Self> {
        Ok(())
    }
}

impl IntoJs for bool {
    fn into_js(self, realm: &mut Realm<'_>) -> Result<Handle> {
        Ok(realm.handle(Value::bool(self)))
    }
}

impl FromJs for bool {
    fn from_js(handle: &Handle, realm: &mut Realm<'_>) -> Result<Self> {
        match handle.value_in(realm.vm)? {
            Value::TRUE => Ok(true),
            Value::FALSE => Ok(false),
            value => Err(mismatch("a boolean", realm, value).into()),
        }
    }
}

impl IntoJs for f64 {
    fn into_js(self, realm: &mut Realm<'_>) -> Result<Handle> {
        Ok(realm.handle(Value::number(self)))
    }
}

impl FromJs for f64 {
    fn from_js(handle: &Handle, realm: &mut Realm<'_>) -> Result<Self> {
        let value = handle.value_in(realm.vm)?;
        value.as_number().ok_or_else(|| mismatch("a number", realm, value).into())
    }
}

/// An integral number, or a BigInt.
pub(super) fn integer_of(value: Value) -> Option<i128> {
    if let Some(number) = value.as_number() {
        let is_safe = number.trunc() == number && number.abs() <= SAFE_INTEGER_MAX as f64;
        return is_safe.then_some(number as i128);
    }
    value.as_bigint().and_then(|integer| integer.value().to_i128())
}

macro_rules! integers {
    ($($type:ty)*) => { $(
        impl IntoJs for $type {
            /// A number if it is exact as one, else a BigInt.
            fn into_js(self, realm: &mut Realm<'_>) -> Result<Handle> {
                let value = serialize::integer(realm.vm, i128::from(self));
                Ok(realm.handle(value))
            }
        }

        impl FromJs for $type {
            fn from_js(handle: &Handle, realm: &mut Realm<'_>) -> Result<Self> {
                let value = handle.value_in(realm.vm)?;
                integer_of(value)
                    .and_then(|integer| <$type>::try_from(integer).ok())
                    .ok_or_else(|| mismatch(concat!("an integer (", stringify!($type), ")"), realm, value).into())
            }
        }
    )* };
}
integers!(u8 i8 u16 i16 u32 i32 u64 i64);

impl IntoJs for usize {
    fn into_js(self, realm: &mut Realm<'_>) -> Result<Handle> {
        (self as u64).into_js(realm)
    }
}

impl FromJs for usize {
    fn from_js(handle: &Handle, realm: &mut Realm<'_>) -> Result<Self> {
        let wide = u64::from_js(handle, realm)?;
        usize::try_from(wide).map_err(|_| HostError::Conversion(format!("{wide} is too large")).into())
    }
}

impl IntoJs for &str {
    fn into_js(self, realm: &mut Realm<'_>) -> Result<Handle> {
        let text = realm.vm.new_string(self);
        Ok(realm.handle(Value::string(text)))
    }
}

impl IntoJs for String {
    fn into_js(self, realm: &mut Realm<'_>) -> Result<Handle> {
        self.as_str().into_js(realm)
    }
}

/// Lone surrogates become replacement characters.
impl FromJs for String {
    fn from_js(handle: &Handle, realm: &mut Realm<'_>) -> Result<Self> {
        let value = handle.value_in(realm.vm)?;
        match value.as_string() {
            Some(text) => Ok(text.to_rust_string()),
            None => Err(mismatch("a string", realm, value).into()),
        }
    }
}

impl<T: IntoJs> IntoJs for Vec<T> {
    fn into_js(self, realm: &mut Realm<'_>) -> Result<Handle> {
        let array = realm.vm.new_array();
        let handle = realm.handle(Value::object(array));
        for item in self {
            let item = item.into_js(realm)?;
            let value = item.value_in(realm.vm)?;
            let appended = realm.vm.append_element(array, value);
            realm.check(appended)?;
        }
        Ok(handle)
    }
}

impl<T: FromJs> FromJs for Vec<T> {
    fn from_js(handle: &Handle, realm: &mut Realm<'_>) -> Result<Self> {
        let value = handle.value_in(realm.vm)?;
        let Some(array) = value.as_object().filter(|object| object.is_array()) else {
            return Err(mismatch("an array", realm, value).into());
        };
        let mut items = Vec::new();
        let mut index = 0;
        while index < array.array_length() {
            let polled = realm.vm.poll();
            realm.check(polled)?;
            let item = realm.vm.get(array, cynic_engine::property_key::PropertyKey::index(index));
            let item = realm.check(item)?;
            let item = realm.handle(item);
            items.push(T::from_js(&item, realm)?);
            index += 1;
        }
        Ok(items)
    }
}
