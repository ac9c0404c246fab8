//! What a variable holds: its value and its attributes. No scoping here; `variables` owns that.

use super::array::{AssociativeArray, IndexedArray};
use crate::Bytes;
use std::borrow::Cow;
use std::rc::Rc;

/// A variable's value. Arrays are shared copy-on-write, so that snapshots are cheap.
#[derive(Debug, Clone, Default)]
pub enum Value {
    /// No value (never set, or declared only).
    #[default]
    Unset,
    /// A string.
    Scalar(Bytes),
    /// A string that is the decimal form of this integer; kept so that arithmetic need not parse it.
    Integer(i64),
    /// An indexed array.
    Indexed(Rc<IndexedArray>),
    /// An associative array.
    Associative(Rc<AssociativeArray>),
}

impl Value {
    /// The value of `$name`: the string itself, or element 0 of an array.
    pub fn scalar(&self) -> Option<Cow<'_, [u8]>> {
        match self {
            Value::Unset => None,
            Value::Scalar(b) => Some(Cow::Borrowed(b)),
            Value::Integer(i) => Some(Cow::Owned(decimal(*i))),
            Value::Indexed(a) => a.get(0).map(|b| Cow::Borrowed(&b[..])),
            Value::Associative(a) => a.get(b"0").map(|b| Cow::Borrowed(&b[..])),
        }
    }

    /// Whether `$name` is the same text.
    pub(crate) fn same_text(&self, other: &Value) -> bool {
        !self.is_array() && !other.is_array() && self.scalar() == other.scalar()
    }

    /// Whether this is an array of either kind.
    pub fn is_array(&self) -> bool {
        matches!(self, Value::Indexed(_) | Value::Associative(_))
    }
}

/// The decimal text of `value`.
pub fn decimal(value: i64) -> Bytes {
    let mut buffer = [0u8; 20];
    let mut at = buffer.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        buffer[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let mut out = Bytes::with_capacity(21 - at);
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&buffer[at..]);
    out
}

/// A set of variable attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attributes(u16);

impl Attributes {
    /// No attributes.
    pub const NONE: Attributes = Attributes(0);
    /// `-x`: part of the environment of commands.
    pub const EXPORT: Attributes = Attributes(1);
    /// `-r`.
    pub const READONLY: Attributes = Attributes(2);
    /// `-i`: assignments are arithmetic.
    pub const INTEGER: Attributes = Attributes(4);
    /// `-l`.
    pub const LOWERCASE: Attributes = Attributes(8);
    /// `-u`.
    pub const UPPERCASE: Attributes = Attributes(16);
    /// `-c`.
    pub const CAPITALIZE: Attributes = Attributes(32);
    /// `-n`: the value is the name of another variable.
    pub const NAMEREF: Attributes = Attributes(64);
    /// `-t`.
    pub const TRACE: Attributes = Attributes(128);
    /// The variable exists, even without a value.
    pub const DECLARED: Attributes = Attributes(256);
    /// The value is computed by the session when read (`RANDOM`, `LINENO` ...).
    pub const DYNAMIC: Attributes = Attributes(512);
    /// Bound by an assignment before the command being run.
    pub const TEMPORARY: Attributes = Attributes(1024);
    /// Bound by an assignment before a command, also after `local` has made the binding the function's own.
    pub const PREFIXED: Attributes = Attributes(2048);
    /// The binding before the command goes on as the one beneath it when the command ends.
    pub const STAYS: Attributes = Attributes(4096);
    /// The same, as a local variable of the function around.
    pub const STAYS_LOCAL: Attributes = Attributes(8192);
    /// What belongs to a binding before a command, not to the variable.
    pub const BINDING: Attributes = Attributes(1024 | 2048 | 4096 | 8192);
    /// Attributes that change how a value is assigned.
    pub const TRANSFORMING: Attributes = Attributes(4 | 8 | 16 | 32);

    /// Whether every attribute of `other` is set.
    pub fn has(self, other: Attributes) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any attribute of `other` is set.
    pub fn any(self, other: Attributes) -> bool {
        self.0 & other.0 != 0
    }

    /// The union of both.
    #[must_use]
    pub fn with(self, other: Attributes) -> Attributes {
        Attributes(self.0 | other.0)
    }

    /// These attributes without those of `other`.
    #[must_use]
    pub fn without(self, other: Attributes) -> Attributes {
        Attributes(self.0 & !other.0)
    }
}
