//! JSON values whose objects keep the order of their keys: reading, writing, comparing.

use std::cmp::Ordering;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

/// A JSON value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Value>),
    /// Every key once.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// The name of its type.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }

    /// Everything but `null` and `false`.
    pub(super) fn is_true(&self) -> bool {
        !matches!(self, Value::Null | Value::Bool(false))
    }

    /// The value of a key.
    pub(super) fn field(&self, key: &str) -> Option<&Value> {
        let Value::Object(fields) = self else { return None };
        fields.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Sets the value of a key.
    pub(super) fn put(fields: &mut Vec<(String, Value)>, key: String, value: Value) {
        match fields.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => *old = value,
            None => fields.push((key, value)),
        }
    }

    /// The place of each type in the order of values.
    fn rank(&self) -> u8 {
        match self {
            Value::Null => 0,
            Value::Bool(false) => 1,
            Value::Bool(true) => 2,
            Value::Number(_) => 3,
            Value::String(_) => 4,
            Value::Array(_) => 5,
            Value::Object(_) => 6,
        }
    }

    /// The order of values: by type, then by content; objects by their sorted keys, then by their values.
    pub(super) fn order(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Number(a), Value::Number(b)) => order_numbers(a, b),
            (Value::String(a), Value::String(b)) => a.cmp(b),
            (Value::Array(a), Value::Array(b)) => order_all(a.iter(), b.iter()),
            (Value::Object(a), Value::Object(b)) => {
                let sorted = |fields: &[(String, Value)]| {
                    let mut fields: Vec<(String, Value)> = fields.to_vec();
                    fields.sort_by(|a, b| a.0.cmp(&b.0));
                    fields
                };
                let (a, b) = (sorted(a), sorted(b));
                let keys = a.iter().map(|f| &f.0).cmp(b.iter().map(|f| &f.0));
                keys.then_with(|| order_all(a.iter().map(|f| &f.1), b.iter().map(|f| &f.1)))
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }

    /// Writes the value; with `indent`, over several lines and this deep.
    pub(super) fn write(&self, indent: Option<usize>, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Number(number) => out.push_str(&number.to_string()),
            Value::String(text) => write_string(text, out),
            Value::Array(items) => {
                let write = |item: &Value, indent, out: &mut String| item.write(indent, out);
                write_all(('[', ']'), items, indent, out, write);
            }
            Value::Object(fields) => {
                write_all(('{', '}'), fields, indent, out, |(key, value), indent, out| {
                    write_string(key, out);
                    out.push_str(if indent.is_some() { ": " } else { ":" });
                    value.write(indent, out);
                })
            }
        }
    }
}

fn order_numbers(a: &Number, b: &Number) -> Ordering {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal),
    }
}

fn order_all<'v>(a: impl Iterator<Item = &'v Value>, mut b: impl Iterator<Item = &'v Value>) -> Ordering {
    for a in a {
        match b.next().map(|b| a.order(b)) {
            Some(Ordering::Equal) => {}
            Some(order) => return order,
            None => return Ordering::Greater,
        }
    }
    if b.next().is_some() { Ordering::Less } else { Ordering::Equal }
}

fn write_all<T>(
    brackets: (char, char),
    items: &[T],
    indent: Option<usize>,
    out: &mut String,
    write: impl Fn(&T, Option<usize>, &mut String),
) {
    out.push(brackets.0);
    let line = |depth: usize, out: &mut String| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        if let Some(depth) = indent {
            line(depth + 1, out);
        }
        write(item, indent.map(|depth| depth + 1), out);
    }
    if let Some(depth) = indent.filter(|_| !items.is_empty()) {
        line(depth, out);
    }
    out.push(brackets.1);
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if u32::from(c) < 0x20 || c == '\u{7f}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut all: Vec<(String, Value)> = Vec::new();
        let mut places = std::collections::HashMap::new();
        while let Some((key, value)) = fields.next_entry::<String, Value>()? {
            // The last of equal keys wins, in the first one's place.
            match places.get(&key).and_then(|place: &usize| all.get_mut(*place)) {
                Some(field) => field.1 = value,
                None => {
                    places.insert(key.clone(), all.len());
                    all.push((key, value));
                }
            }
        }
        Ok(Value::Object(all))
    }
}
