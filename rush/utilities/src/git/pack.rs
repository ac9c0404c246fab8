//! One pack and its index (version 2), read in place; deltas are resolved.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::objects::{Kind, Objects, inflate};
use super::oid::{OID_BYTES, Oid};
use super::repository::{as_path, read_if_there};
use super::{Attempt, Decline};
use crate::limits::{GIT_DELTA_DEPTH_MAX, GIT_OBJECT_BYTES_MAX};

/// An open pack.
pub(crate) struct Pack {
    index: Vec<u8>,
    count: usize,
    file: File,
    /// Where the objects end.
    end: u64,
}

const FANOUT_AT: usize = 8;
const NAMES_AT: usize = FANOUT_AT + 4 * 256;
/// The most bytes of an object's header: its size and what a delta refers to.
const HEADER_BYTES_MAX: usize = 10 + OID_BYTES;

impl Pack {
    /// Opens `STEM.pack` with `STEM.idx`.
    pub(crate) fn open(stem: &[u8]) -> Attempt<Pack> {
        let index = read_if_there(&[stem, b".idx"].concat())?.ok_or(Decline)?;
        if !index.starts_with(b"\xfftOc\0\0\0\x02") {
            return Err(Decline);
        }
        let count = word(&index, NAMES_AT - 4)? as usize;
        if index.len() < NAMES_AT + count * (OID_BYTES + 8) + 2 * OID_BYTES {
            return Err(Decline);
        }
        let file = File::open(as_path(&[stem, b".pack"].concat()))?;
        let end = file.metadata()?.len().checked_sub(OID_BYTES as u64).ok_or(Decline)?;
        Ok(Pack { index, count, file, end })
    }

    /// How many objects it has.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    fn name(&self, at: usize) -> Option<Oid> {
        let start = NAMES_AT + at * OID_BYTES;
        if at < self.count { Oid::from_bytes(self.index.get(start..start + OID_BYTES)?).ok() } else { None }
    }

    /// The place of the first name that is not before `id`.
    fn position(&self, id: &Oid) -> usize {
        let first = usize::from(id.0.first().copied().unwrap_or_default());
        let fan = |slot: usize| word(&self.index, FANOUT_AT + 4 * slot).unwrap_or_default() as usize;
        let mut low = if first == 0 { 0 } else { fan(first - 1) };
        let mut high = fan(first);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.name(middle) {
                Some(name) if name < *id => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }

    /// Where the object begins.
    pub(crate) fn find(&self, id: &Oid) -> Option<u64> {
        let at = self.position(id);
        if self.name(at) != Some(*id) {
            return None;
        }
        let offsets = NAMES_AT + self.count * (OID_BYTES + 4);
        let offset = word(&self.index, offsets + 4 * at).ok()?;
        if offset & 0x8000_0000 == 0 {
            return Some(u64::from(offset));
        }
        let large = offsets + 4 * self.count + 8 * (offset & 0x7fff_ffff) as usize;
        let (high, low) = (word(&self.index, large).ok()?, word(&self.index, large + 4).ok()?);
        Some(u64::from(high) << 32 | u64::from(low))
    }

    /// The names just before, at and just after the place of `id`, enough to see whether another begins like it.
    pub(crate) fn neighbours(&self, id: &Oid) -> impl Iterator<Item = Oid> {
        let at = self.position(id);
        (at.saturating_sub(1)..at + 3).filter_map(|at| self.name(at))
    }

    /// The object that begins at `offset`.
    pub(crate) fn read(&self, offset: u64, objects: &Objects<'_>, depth: usize) -> Attempt<(Kind, Vec<u8>)> {
        let mut deltas = Vec::new();
        let mut offset = offset;
        loop {
            if depth + deltas.len() > GIT_DELTA_DEPTH_MAX {
                return Err(Decline);
            }
            let header = self.header(offset)?;
            let content = |at: u64| self.content(at, header.size);
            let (kind, mut base) = match header.form {
                Form::Whole(kind) => (kind, content(header.end)?),
                Form::Offset(base) => {
                    deltas.push(content(header.end)?);
                    offset = base;
                    continue;
                }
                Form::Named(base) => {
                    deltas.push(content(header.end)?);
                    objects.packed(&base, depth + deltas.len())?
                }
            };
            for delta in deltas.iter().rev() {
                base = apply(&base, delta)?;
            }
            return Ok((kind, base));
        }
    }

    fn content(&self, at: u64, size: usize) -> Attempt<Vec<u8>> {
        // What deflate makes of content that it cannot compress: a few bytes per block more.
        let bound = size + size / 1000 + 64;
        let bytes = self.bytes(at, bound)?;
        let content = inflate(&bytes, size + 1)?;
        if content.len() == size { Ok(content) } else { Err(Decline) }
    }

    fn bytes(&self, at: u64, count: usize) -> Attempt<Vec<u8>> {
        let there = self.end.checked_sub(at).ok_or(Decline)?;
        let mut bytes = vec![0; count.min(usize::try_from(there).unwrap_or(usize::MAX))];
        self.file.read_exact_at(&mut bytes, at)?;
        Ok(bytes)
    }

    fn header(&self, offset: u64) -> Attempt<Header> {
        let bytes = self.bytes(offset, HEADER_BYTES_MAX)?;
        let mut rest = bytes.iter().copied();
        let mut byte = rest.next().ok_or(Decline)?;
        let code = byte >> 4 & 7;
        let mut size = usize::from(byte & 15);
        let mut shift = 4;
        while byte & 0x80 != 0 {
            byte = rest.next().ok_or(Decline)?;
            size |= usize::from(byte & 0x7f).checked_shl(shift).ok_or(Decline)?;
            shift += 7;
            if size > GIT_OBJECT_BYTES_MAX {
                return Err(Decline);
            }
        }
        let form = match code {
            1 => Form::Whole(Kind::Commit),
            2 => Form::Whole(Kind::Tree),
            3 => Form::Whole(Kind::Blob),
            4 => Form::Whole(Kind::Tag),
            6 => {
                let mut byte = rest.next().ok_or(Decline)?;
                let mut back = u64::from(byte & 0x7f);
                while byte & 0x80 != 0 {
                    byte = rest.next().ok_or(Decline)?;
                    back = (back + 1).checked_mul(128).ok_or(Decline)? | u64::from(byte & 0x7f);
                }
                Form::Offset(offset.checked_sub(back).filter(|_| back > 0).ok_or(Decline)?)
            }
            7 => {
                let name: Vec<u8> = rest.by_ref().take(OID_BYTES).collect();
                Form::Named(Oid::from_bytes(&name)?)
            }
            _ => return Err(Decline),
        };
        let used = bytes.len() - rest.len();
        Ok(Header { form, size, end: offset + used as u64 })
    }
}

/// How an object is stored.
enum Form {
    Whole(Kind),
    /// A delta to the object at this offset.
    Offset(u64),
    /// A delta to the object of this name.
    Named(Oid),
}

struct Header {
    form: Form,
    /// Bytes of the content.
    size: usize,
    /// Where the compressed content begins.
    end: u64,
}

fn word(bytes: &[u8], at: usize) -> Attempt<u32> {
    let bytes = bytes.get(at..at + 4).ok_or(Decline)?;
    Ok(u32::from_be_bytes(bytes.try_into().map_err(|_| Decline)?))
}

/// Applies a delta: copies of stretches of the base, and new bytes.
fn apply(base: &[u8], delta: &[u8]) -> Attempt<Vec<u8>> {
    let mut rest = delta.iter().copied();
    if size(&mut rest)? != base.len() {
        return Err(Decline);
    }
    let length = size(&mut rest)?;
    if length > GIT_OBJECT_BYTES_MAX {
        return Err(Decline);
    }
    let mut result = Vec::with_capacity(length);
    while let Some(code) = rest.next() {
        if code & 0x80 != 0 {
            let mut field = |bits: u8, first: u8| -> Attempt<usize> {
                let mut value = 0;
                for at in 0..bits {
                    if code & (1 << (first + at)) != 0 {
                        value |= usize::from(rest.next().ok_or(Decline)?) << (8 * at);
                    }
                }
                Ok(value)
            };
            let start = field(4, 0)?;
            let count = match field(3, 4)? {
                0 => 0x1_0000,
                count => count,
            };
            result.extend_from_slice(base.get(start..start + count).ok_or(Decline)?);
        } else if code != 0 {
            let before = result.len();
            result.extend(rest.by_ref().take(usize::from(code)));
            if result.len() - before != usize::from(code) {
                return Err(Decline);
            }
        } else {
            return Err(Decline);
        }
        if result.len() > length {
            return Err(Decline);
        }
    }
    if result.len() == length { Ok(result) } else { Err(Decline) }
}

fn size(rest: &mut impl Iterator<Item = u8>) -> Attempt<usize> {
    let mut value = 0usize;
    let mut shift = 0;
    loop {
        let byte = rest.next().ok_or(Decline)?;
        value |= usize::from(byte & 0x7f).checked_shl(shift).ok_or(Decline)?;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_copy_and_insert() {
        let base = b"hello, world";
        // Copy 5 from 0, insert "!", copy 5 from 7.
        let delta = [12, 11, 0x90, 5, 1, b'!', 0x91, 7, 5];
        assert_eq!(apply(base, &delta).ok().as_deref(), Some(&b"hello!world"[..]));
        for end in 0..delta.len() {
            assert!(apply(base, delta.get(..end).unwrap()).is_err(), "{end}");
        }
        assert!(apply(base, &[12, 5, 0x91, 11, 5]).is_err(), "beyond the base");
    }
}
