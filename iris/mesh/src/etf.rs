//! The external term format. Owns `decode` and `encode`; every tag of the published format has its row here. Invariant: no input
//! makes it panic, nest without bound or allocate more than `limits` allow, and what it decodes it encodes to an equal value. Two tags
//! are not of the format: text and objects, between nodes that have said that they know them (`Private`), and nowhere else.
//! Not there, each with its own error: the atom cache and compressed terms (never offered to a peer), and `LOCAL_EXT`, which
//! only the node that made it can read.

use std::fmt;

use crate::limits::{ATOM_CHARS_MAX, DEPTH_MAX, TERMS_MAX};
use crate::term::{Atom, Big, Pid, Port, Reference, Term};

/// The first byte of an encoded term.
pub const VERSION: u8 = 131;

mod tag {
    pub const NEW_FLOAT: u8 = 70;
    pub const BIT_BINARY: u8 = 77;
    pub const COMPRESSED: u8 = 80;
    pub const ATOM_CACHE_REF: u8 = 82;
    pub const NEW_PID: u8 = 88;
    pub const NEW_PORT: u8 = 89;
    pub const NEWER_REFERENCE: u8 = 90;
    pub const SMALL_INTEGER: u8 = 97;
    pub const INTEGER: u8 = 98;
    pub const FLOAT: u8 = 99;
    pub const ATOM: u8 = 100;
    pub const REFERENCE: u8 = 101;
    pub const PORT: u8 = 102;
    pub const PID: u8 = 103;
    pub const SMALL_TUPLE: u8 = 104;
    pub const LARGE_TUPLE: u8 = 105;
    pub const NIL: u8 = 106;
    pub const STRING: u8 = 107;
    pub const LIST: u8 = 108;
    pub const BINARY: u8 = 109;
    pub const SMALL_BIG: u8 = 110;
    pub const LARGE_BIG: u8 = 111;
    pub const NEW_FUN: u8 = 112;
    pub const EXPORT: u8 = 113;
    pub const NEW_REFERENCE: u8 = 114;
    pub const SMALL_ATOM: u8 = 115;
    pub const MAP: u8 = 116;
    pub const FUN: u8 = 117;
    pub const ATOM_UTF8: u8 = 118;
    pub const SMALL_ATOM_UTF8: u8 = 119;
    pub const V4_PORT: u8 = 120;
    pub const LOCAL: u8 = 121;
    /// Ours, far from those that are given out: a length and UTF-8; a length and bytes.
    pub const TEXT: u8 = 200;
    pub const OBJECT: u8 = 201;
}

/// What the two ends of a connection can say to one another beyond the published format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Private(pub u32);

impl Private {
    /// Text is told from bytes.
    pub const TEXT: Self = Self(1);
    /// Objects of the host's language are taken; whoever offers it trusts its peers with the process.
    pub const OBJECTS: Self = Self(2);

    /// Whether all of these are there.
    #[must_use]
    pub fn has(self, what: Self) -> bool {
        self.0 & what.0 == what.0
    }

    /// These and those.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What both have.
    #[must_use]
    pub fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// Why bytes are no term, or a term has no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EtfError {
    /// The input ends inside a term.
    Truncated,
    /// The first byte is not 131.
    Version(u8),
    /// No such tag, or one that was never offered.
    Tag(u8),
    /// A field holds what it may not.
    Invalid(&'static str),
    /// Nested deeper than `DEPTH_MAX`.
    Depth,
    /// More terms than `TERMS_MAX`.
    Terms,
    /// An atom of more than 255 characters.
    AtomLength,
    /// A collection of more than 2^32 - 1 items.
    Length,
    /// An object for a node that takes none.
    Object,
}

impl fmt::Display for EtfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the input ends inside a term"),
            Self::Version(byte) => write!(f, "a term begins with 131, not {byte}"),
            Self::Tag(tag::COMPRESSED) => f.write_str("compressed terms are not accepted"),
            Self::Tag(tag::ATOM_CACHE_REF) => f.write_str("the atom cache was not offered"),
            Self::Tag(tag::LOCAL) => f.write_str("a local term of another node"),
            Self::Tag(byte) => write!(f, "no term has the tag {byte}"),
            Self::Invalid(what) => write!(f, "not a valid {what}"),
            Self::Depth => write!(f, "terms are nested deeper than {DEPTH_MAX}"),
            Self::Terms => write!(f, "more than {TERMS_MAX} terms in one value"),
            Self::AtomLength => write!(f, "an atom is longer than {ATOM_CHARS_MAX} characters"),
            Self::Length => f.write_str("a collection has more items than the format can tell"),
            Self::Object => f.write_str("that node takes no pickled objects, or this one does not"),
        }
    }
}

impl std::error::Error for EtfError {}

type Result<T> = std::result::Result<T, EtfError>;

/// Decodes a term with its version byte; returns what comes after it.
pub fn decode(input: &[u8]) -> Result<(Term, &[u8])> {
    decode_from(input, Private::default())
}

/// The same from a peer that may use what was agreed on.
pub fn decode_from(input: &[u8], private: Private) -> Result<(Term, &[u8])> {
    let mut reader = Reader { rest: input, terms: 0, private };
    let version = reader.byte()?;
    if version != VERSION {
        return Err(EtfError::Version(version));
    }
    let term = reader.term(0)?;
    Ok((term, reader.rest))
}

/// Appends a term with its version byte. On an error `out` is as it was.
pub fn encode(out: &mut Vec<u8>, term: &Term) -> Result<()> {
    encode_for(out, term, Private::default())
}

/// The same for a peer that knows what was agreed on.
pub fn encode_for(out: &mut Vec<u8>, term: &Term, private: Private) -> Result<()> {
    let begin = out.len();
    out.push(VERSION);
    let result = put(out, term, Place { depth: 0, private });
    if result.is_err() {
        out.truncate(begin);
    }
    result
}

struct Reader<'a> {
    rest: &'a [u8],
    terms: usize,
    private: Private,
}

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(EtfError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(EtfError::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    fn short(&mut self) -> Result<usize> {
        Ok(usize::from(u16::from_be_bytes(self.array()?)))
    }

    fn word(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    fn length(&mut self) -> Result<usize> {
        usize::try_from(self.word()?).map_err(|_| EtfError::Length)
    }

    /// So many items follow, each of at least so many bytes: more than the input can hold are refused before anything is allocated.
    fn items(&mut self, count: usize, bytes_each: usize) -> Result<usize> {
        if count.saturating_mul(bytes_each) > self.rest.len() {
            return Err(EtfError::Truncated);
        }
        self.terms = self.terms.saturating_add(count);
        if self.terms > TERMS_MAX { Err(EtfError::Terms) } else { Ok(count) }
    }

    fn sequence(&mut self, count: usize, depth: usize) -> Result<Vec<Term>> {
        let count = self.items(count, 1)?;
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(self.term(depth + 1)?);
        }
        Ok(items)
    }

    fn term(&mut self, depth: usize) -> Result<Term> {
        if depth > DEPTH_MAX {
            return Err(EtfError::Depth);
        }
        let begin = self.rest;
        let tag = self.byte()?;
        Ok(match tag {
            tag::SMALL_INTEGER => Term::Int(i64::from(self.byte()?)),
            tag::INTEGER => Term::Int(i64::from(i32::from_be_bytes(self.array()?))),
            tag::NEW_FLOAT => float(f64::from_be_bytes(self.array()?))?,
            tag::FLOAT => {
                let text = self.bytes(31)?.split(|byte| *byte == 0).next().unwrap_or_default();
                let text = std::str::from_utf8(text).map_err(|_| EtfError::Invalid("float"))?;
                float(text.trim().parse().map_err(|_| EtfError::Invalid("float"))?)?
            }
            tag::ATOM | tag::SMALL_ATOM | tag::ATOM_UTF8 | tag::SMALL_ATOM_UTF8 => {
                Term::Atom(self.atom_of(tag)?)
            }
            tag::SMALL_TUPLE => {
                let count = usize::from(self.byte()?);
                Term::Tuple(self.sequence(count, depth)?)
            }
            tag::LARGE_TUPLE => {
                let count = self.length()?;
                Term::Tuple(self.sequence(count, depth)?)
            }
            tag::NIL => Term::List(Vec::new()),
            tag::STRING => {
                let count = self.short()?;
                let count = self.items(count, 1)?;
                Term::List(self.bytes(count)?.iter().map(|byte| Term::Int(i64::from(*byte))).collect())
            }
            tag::LIST => {
                let count = self.length()?;
                let items = self.sequence(count, depth)?;
                list(items, self.term(depth + 1)?)
            }
            tag::BINARY => {
                let count = self.length()?;
                Term::Binary(self.bytes(count)?.to_vec())
            }
            tag::TEXT if self.private.has(Private::TEXT) => {
                let count = self.length()?;
                let text = std::str::from_utf8(self.bytes(count)?);
                Term::Text(text.map_err(|_| EtfError::Invalid("text"))?.into())
            }
            tag::OBJECT if self.private.has(Private::OBJECTS) => {
                let count = self.length()?;
                Term::Object(self.bytes(count)?.to_vec())
            }
            tag::BIT_BINARY => {
                let (count, bits) = (self.length()?, self.byte()?);
                match (count, bits) {
                    (_, 8) => Term::Binary(self.bytes(count)?.to_vec()),
                    (1.., 1..=7) => {
                        let mut bytes = self.bytes(count)?.to_vec();
                        if let Some(last) = bytes.last_mut() {
                            *last &= 0xff << (8 - bits);
                        }
                        Term::Bits(bytes, bits)
                    }
                    _ => return Err(EtfError::Invalid("bit string")),
                }
            }
            tag::SMALL_BIG => {
                let count = usize::from(self.byte()?);
                self.big(count)?
            }
            tag::LARGE_BIG => {
                let count = self.length()?;
                self.big(count)?
            }
            tag::MAP => {
                let count = self.length()?;
                self.items(count.saturating_mul(2), 1)?;
                let mut pairs = Vec::with_capacity(count);
                for _ in 0..count {
                    pairs.push((self.term(depth + 1)?, self.term(depth + 1)?));
                }
                Term::Map(pairs)
            }
            tag::PID | tag::NEW_PID => Term::Pid(Box::new(Pid {
                node: self.atom()?,
                id: self.word()?,
                serial: self.word()?,
                creation: self.creation(tag == tag::NEW_PID)?,
            })),
            tag::PORT | tag::NEW_PORT => Term::Port(Box::new(Port {
                node: self.atom()?,
                id: u64::from(self.word()?),
                creation: self.creation(tag == tag::NEW_PORT)?,
            })),
            tag::V4_PORT => Term::Port(Box::new(Port {
                node: self.atom()?,
                id: u64::from_be_bytes(self.array()?),
                creation: self.word()?,
            })),
            tag::REFERENCE => {
                let (node, id) = (self.atom()?, self.word()?);
                Term::Reference(Box::new(Reference { node, ids: vec![id], creation: self.creation(false)? }))
            }
            tag::NEW_REFERENCE | tag::NEWER_REFERENCE => {
                let count = self.short()?;
                if !(1..=5).contains(&count) {
                    return Err(EtfError::Invalid("reference"));
                }
                let node = self.atom()?;
                let creation = self.creation(tag == tag::NEWER_REFERENCE)?;
                let ids = (0..count).map(|_| self.word()).collect::<Result<_>>()?;
                Term::Reference(Box::new(Reference { node, creation, ids }))
            }
            tag::EXPORT => {
                let (module, function) = (self.atom()?, self.atom()?);
                match self.term(depth + 1)? {
                    Term::Int(arity @ 0..=255) => Term::Export(Box::new((module, function, arity as u8))),
                    _ => return Err(EtfError::Invalid("export")),
                }
            }
            tag::NEW_FUN => {
                let size = self.length()?;
                // The size counts itself. What is inside must be readable by whoever gets it back.
                let body = self.bytes(size.checked_sub(4).ok_or(EtfError::Invalid("fun"))?)?;
                let mut inside = Reader { rest: body, terms: self.terms, private: self.private };
                inside.new_fun(depth)?;
                self.terms = inside.terms;
                Term::Fun(begin[..1 + size].to_vec())
            }
            tag::FUN => {
                let free = self.length()?;
                self.terms(4, depth)?;
                let free = self.items(free, 1)?;
                self.terms(free, depth)?;
                Term::Fun(begin[..begin.len() - self.rest.len()].to_vec())
            }
            other => return Err(EtfError::Tag(other)),
        })
    }

    /// Reads terms and forgets them.
    fn terms(&mut self, count: usize, depth: usize) -> Result<()> {
        (0..count).try_for_each(|_| self.term(depth + 1).map(drop))
    }

    fn new_fun(&mut self, depth: usize) -> Result<()> {
        self.bytes(1 + 16 + 4)?;
        let free = self.length()?;
        let free = self.items(free, 1)?;
        self.terms(4 + free, depth)?;
        if self.rest.is_empty() { Ok(()) } else { Err(EtfError::Invalid("fun")) }
    }

    fn creation(&mut self, wide: bool) -> Result<u32> {
        if wide { self.word() } else { self.byte().map(u32::from) }
    }

    fn atom(&mut self) -> Result<Atom> {
        let tag = self.byte()?;
        self.atom_of(tag)
    }

    fn atom_of(&mut self, tag: u8) -> Result<Atom> {
        let count = match tag {
            tag::ATOM | tag::ATOM_UTF8 => self.short()?,
            tag::SMALL_ATOM | tag::SMALL_ATOM_UTF8 => usize::from(self.byte()?),
            tag::ATOM_CACHE_REF => return Err(EtfError::Tag(tag)),
            _ => return Err(EtfError::Invalid("atom")),
        };
        let bytes = self.bytes(count)?;
        if matches!(tag, tag::ATOM | tag::SMALL_ATOM) {
            if count > ATOM_CHARS_MAX {
                return Err(EtfError::AtomLength);
            }
            let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            return Ok(Atom::new(&text));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| EtfError::Invalid("atom"))?;
        if count > ATOM_CHARS_MAX && text.chars().count() > ATOM_CHARS_MAX {
            return Err(EtfError::AtomLength);
        }
        Ok(Atom::new(text))
    }

    fn big(&mut self, count: usize) -> Result<Term> {
        let sign = self.byte()?;
        if sign > 1 {
            return Err(EtfError::Invalid("integer"));
        }
        let mut magnitude = self.bytes(count)?;
        while let [shorter @ .., 0] = magnitude {
            magnitude = shorter;
        }
        Ok(integer(sign == 1, magnitude))
    }
}

/// The one form of an integer: 64 bits where they suffice.
#[must_use]
pub fn integer(negative: bool, magnitude: &[u8]) -> Term {
    let mut short = [0; 8];
    if let Some(room) = short.get_mut(..magnitude.len()) {
        room.copy_from_slice(magnitude);
        let value = i128::from(u64::from_le_bytes(short));
        if let Ok(value) = i64::try_from(if negative { -value } else { value }) {
            return Term::Int(value);
        }
    }
    Term::Big(Box::new(Big { negative, magnitude: magnitude.to_vec() }))
}

fn float(value: f64) -> Result<Term> {
    if value.is_finite() { Ok(Term::Float(value)) } else { Err(EtfError::Invalid("float")) }
}

/// A list of items and a tail, in its one form.
fn list(mut items: Vec<Term>, tail: Term) -> Term {
    match tail {
        Term::List(mut more) => {
            items.append(&mut more);
            Term::List(items)
        }
        Term::Improper(inner) => {
            let (mut more, tail) = *inner;
            items.append(&mut more);
            Term::Improper(Box::new((items, tail)))
        }
        tail if items.is_empty() => tail,
        tail => Term::Improper(Box::new((items, tail))),
    }
}

fn count(out: &mut Vec<u8>, tag: u8, count: usize) -> Result<()> {
    let count = u32::try_from(count).map_err(|_| EtfError::Length)?;
    out.push(tag);
    out.extend(count.to_be_bytes());
    Ok(())
}

fn put_atom(out: &mut Vec<u8>, atom: &Atom) -> Result<()> {
    let text = atom.as_str();
    if text.len() > ATOM_CHARS_MAX && text.chars().count() > ATOM_CHARS_MAX {
        return Err(EtfError::AtomLength);
    }
    if let Ok(length) = u8::try_from(text.len()) {
        out.extend([tag::SMALL_ATOM_UTF8, length]);
    } else {
        out.push(tag::ATOM_UTF8);
        // 255 characters are at most 1,020 bytes.
        out.extend((text.len() as u16).to_be_bytes());
    }
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

fn put_big(out: &mut Vec<u8>, negative: bool, magnitude: &[u8]) -> Result<()> {
    if let Ok(length) = u8::try_from(magnitude.len()) {
        out.extend([tag::SMALL_BIG, length]);
    } else {
        count(out, tag::LARGE_BIG, magnitude.len())?;
    }
    out.push(u8::from(negative));
    out.extend_from_slice(magnitude);
    Ok(())
}

fn put_all<'a>(out: &mut Vec<u8>, items: impl IntoIterator<Item = &'a Term>, at: Place) -> Result<()> {
    items.into_iter().try_for_each(|item| put(out, item, at.inside()))
}

/// Where a term is put.
#[derive(Clone, Copy)]
struct Place {
    depth: usize,
    private: Private,
}

impl Place {
    fn inside(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

fn put_bytes(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) -> Result<()> {
    count(out, tag, bytes.len())?;
    out.extend_from_slice(bytes);
    Ok(())
}

fn put(out: &mut Vec<u8>, term: &Term, at: Place) -> Result<()> {
    if at.depth > DEPTH_MAX {
        return Err(EtfError::Depth);
    }
    match term {
        Term::Int(value) => {
            if let Ok(byte) = u8::try_from(*value) {
                out.extend([tag::SMALL_INTEGER, byte]);
            } else if let Ok(word) = i32::try_from(*value) {
                out.push(tag::INTEGER);
                out.extend(word.to_be_bytes());
            } else {
                let bytes = value.unsigned_abs().to_le_bytes();
                let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
                put_big(out, *value < 0, &bytes[..used])?;
            }
        }
        Term::Big(big) => put_big(out, big.negative, &big.magnitude)?,
        Term::Float(value) if value.is_finite() => {
            out.push(tag::NEW_FLOAT);
            out.extend(value.to_be_bytes());
        }
        Term::Float(_) => return Err(EtfError::Invalid("float")),
        Term::Atom(atom) => put_atom(out, atom)?,
        Term::Binary(bytes) => put_bytes(out, tag::BINARY, bytes)?,
        Term::Text(text) => {
            let tag = if at.private.has(Private::TEXT) { tag::TEXT } else { tag::BINARY };
            put_bytes(out, tag, text.as_bytes())?;
        }
        Term::Object(bytes) if at.private.has(Private::OBJECTS) => put_bytes(out, tag::OBJECT, bytes)?,
        Term::Object(_) => return Err(EtfError::Object),
        Term::Bits(bytes, bits) => {
            if bytes.is_empty() || !(1..=7).contains(bits) {
                return Err(EtfError::Invalid("bit string"));
            }
            count(out, tag::BIT_BINARY, bytes.len())?;
            out.push(*bits);
            out.extend_from_slice(bytes);
        }
        Term::Tuple(items) => {
            match u8::try_from(items.len()) {
                Ok(length) => out.extend([tag::SMALL_TUPLE, length]),
                Err(_) => count(out, tag::LARGE_TUPLE, items.len())?,
            }
            put_all(out, items, at)?;
        }
        Term::List(items) => put_list(out, items, at)?,
        Term::Improper(parts) => {
            if parts.0.is_empty() {
                return put(out, &parts.1, at);
            }
            count(out, tag::LIST, parts.0.len())?;
            put_all(out, &parts.0, at)?;
            put(out, &parts.1, at.inside())?;
        }
        Term::Map(pairs) => {
            count(out, tag::MAP, pairs.len())?;
            put_all(out, pairs.iter().flat_map(|(key, value)| [key, value]), at)?;
        }
        Term::Pid(pid) => {
            out.push(tag::NEW_PID);
            put_atom(out, &pid.node)?;
            [pid.id, pid.serial, pid.creation].iter().for_each(|word| out.extend(word.to_be_bytes()));
        }
        Term::Port(port) => {
            // The short form where it suffices: a peer may not know the long one.
            let short = u32::try_from(port.id).ok().filter(|id| *id < 1 << 28);
            out.push(if short.is_some() { tag::NEW_PORT } else { tag::V4_PORT });
            put_atom(out, &port.node)?;
            match short {
                Some(id) => out.extend(id.to_be_bytes()),
                None => out.extend(port.id.to_be_bytes()),
            }
            out.extend(port.creation.to_be_bytes());
        }
        Term::Reference(reference) => {
            if !(1..=5).contains(&reference.ids.len()) {
                return Err(EtfError::Invalid("reference"));
            }
            out.extend([tag::NEWER_REFERENCE, 0, reference.ids.len() as u8]);
            put_atom(out, &reference.node)?;
            out.extend(reference.creation.to_be_bytes());
            reference.ids.iter().for_each(|word| out.extend(word.to_be_bytes()));
        }
        Term::Fun(bytes) => out.extend_from_slice(bytes),
        Term::Export(export) => {
            out.push(tag::EXPORT);
            put_atom(out, &export.0)?;
            put_atom(out, &export.1)?;
            out.extend([tag::SMALL_INTEGER, export.2]);
        }
    }
    Ok(())
}

fn put_list(out: &mut Vec<u8>, items: &[Term], at: Place) -> Result<()> {
    if items.is_empty() {
        out.push(tag::NIL);
        return Ok(());
    }
    let byte = |item: &Term| if let Term::Int(value) = item { u8::try_from(*value).ok() } else { None };
    if let Ok(length) = u16::try_from(items.len())
        && items.iter().all(|item| byte(item).is_some())
    {
        // OPTIMIZATION: a list of bytes in the short form; `LIST` says the same.
        out.push(tag::STRING);
        out.extend(length.to_be_bytes());
        out.extend(items.iter().filter_map(byte));
        return Ok(());
    }
    count(out, tag::LIST, items.len())?;
    put_all(out, items, at)?;
    out.push(tag::NIL);
    Ok(())
}

#[cfg(test)]
#[path = "etf_tests.rs"]
mod tests;
