//! Erlang's terms as data. Owns their types; `etf` owns their bytes.

use std::fmt;
use std::sync::Arc;

/// An atom. Clones are cheap.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom(Arc<str>);

impl Atom {
    /// An atom of this text. One that is longer than 255 characters cannot be encoded.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(Arc::from(text))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.0)
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Atom {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

/// Names a process of a node. The creation tells one start of the node from another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pid {
    /// The node.
    pub node: Atom,
    /// The process.
    pub id: u32,
    /// The upper part of its number.
    pub serial: u32,
    /// Which start of the node.
    pub creation: u32,
}

/// Names a port of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Port {
    /// The node.
    pub node: Atom,
    /// The port.
    pub id: u64,
    /// Which start of the node.
    pub creation: u32,
}

/// A reference: of a monitor, a request or an alias.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The node that made it.
    pub node: Atom,
    /// Which start of the node.
    pub creation: u32,
    /// Its one to five words.
    pub ids: Vec<u32>,
}

/// An integer beyond 64 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Big {
    /// Whether it is below zero.
    pub negative: bool,
    /// Its magnitude, least significant byte first.
    pub magnitude: Vec<u8>,
}

/// Any value that the distribution carries.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// An integer of 64 bits.
    Int(i64),
    /// A longer one.
    Big(Box<Big>),
    /// A float, always finite.
    Float(f64),
    /// An atom.
    Atom(Atom),
    /// Bytes.
    Binary(Vec<u8>),
    /// Text: between nodes that both tell it from bytes; for all others a binary of its UTF-8.
    Text(String),
    /// An object of the host's language in its own format: only between nodes that both allow it.
    Object(Vec<u8>),
    /// Bytes of which the last counts only so many bits (1 to 7).
    Bits(Vec<u8>, u8),
    /// A tuple.
    Tuple(Vec<Term>),
    /// A proper list; `[]` if empty.
    List(Vec<Term>),
    /// A list that ends in something else than `[]`.
    Improper(Box<(Vec<Term>, Term)>),
    /// A map: its pairs in the order of arrival.
    Map(Vec<(Term, Term)>),
    /// A process.
    Pid(Box<Pid>),
    /// A port.
    Port(Box<Port>),
    /// A reference.
    Reference(Box<Reference>),
    /// A fun, opaque: its bytes with their tag.
    Fun(Vec<u8>),
    /// `fun module:function/arity`.
    Export(Box<(Atom, Atom, u8)>),
}

impl Term {
    /// An atom.
    #[must_use]
    pub fn atom(text: &str) -> Self {
        Self::Atom(Atom::new(text))
    }

    /// Text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// A tuple.
    #[must_use]
    pub fn tuple<const N: usize>(items: [Self; N]) -> Self {
        Self::Tuple(items.into())
    }

    /// Whether it is this atom.
    #[must_use]
    pub fn is_atom(&self, text: &str) -> bool {
        matches!(self, Self::Atom(atom) if atom.as_str() == text)
    }
}

/// As Erlang writes it, as far as people need it: what is opaque is named only.
impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Big(big) => {
                let sign = if big.negative { "-" } else { "" };
                write!(f, "{sign}16#")?;
                big.magnitude.iter().rev().try_for_each(|byte| write!(f, "{byte:02X}"))
            }
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Atom(atom) => {
                let text = atom.as_str();
                let plain = text.starts_with(|char: char| char.is_ascii_lowercase())
                    && text.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '@'));
                if plain { f.write_str(text) } else { write!(f, "'{}'", text.escape_debug()) }
            }
            Self::Binary(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => write!(f, "<<\"{}\">>", text.escape_debug()),
                Err(_) => write!(f, "<<{} bytes>>", bytes.len()),
            },
            Self::Text(text) => write!(f, "<<\"{}\">>", text.escape_debug()),
            Self::Bits(bytes, _) | Self::Object(bytes) => write!(f, "<<{} bytes>>", bytes.len()),
            Self::Tuple(items) => enclosed(f, "{", items, "}"),
            Self::List(items) => enclosed(f, "[", items, "]"),
            Self::Improper(parts) => {
                let tail = format!("|{}]", parts.1);
                enclosed(f, "[", &parts.0, &tail)
            }
            Self::Map(pairs) => {
                f.write_str("#{")?;
                for (at, (key, value)) in pairs.iter().enumerate() {
                    write!(f, "{}{key} => {value}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
            Self::Pid(pid) => write!(f, "<{}.{}.{}>", pid.node, pid.id, pid.serial),
            Self::Port(port) => write!(f, "#Port<{}.{}>", port.node, port.id),
            Self::Reference(reference) => write!(f, "#Ref<{}>", reference.node),
            Self::Fun(_) => f.write_str("#Fun<>"),
            Self::Export(parts) => write!(f, "fun {}:{}/{}", parts.0, parts.1, parts.2),
        }
    }
}

fn enclosed(f: &mut fmt::Formatter<'_>, begin: &str, items: &[Term], end: &str) -> fmt::Result {
    f.write_str(begin)?;
    for (at, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if at == 0 { "" } else { "," })?;
    }
    f.write_str(end)
}

impl From<i64> for Term {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<Pid> for Term {
    fn from(pid: Pid) -> Self {
        Self::Pid(Box::new(pid))
    }
}

impl From<Reference> for Term {
    fn from(reference: Reference) -> Self {
        Self::Reference(Box::new(reference))
    }
}

impl From<Atom> for Term {
    fn from(atom: Atom) -> Self {
        Self::Atom(atom)
    }
}
