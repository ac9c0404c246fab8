//! The index file, versions 2 to 4, and its cache of tree names. Only reads.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;

use super::oid::{OID_BYTES, Oid};
use super::repository::{Repository, as_path};
use super::{Attempt, Decline};
use crate::limits::{GIT_ENTRIES_MAX, GIT_FILE_BYTES_MAX};

/// Modes as trees and the index have them.
pub(crate) const MODE_TYPE: u32 = 0o170_000;
/// A regular file.
pub(crate) const MODE_FILE: u32 = 0o100_000;
/// A symbolic link.
pub(crate) const MODE_LINK: u32 = 0o120_000;
/// A folder, in trees only.
pub(crate) const MODE_FOLDER: u32 = 0o040_000;

/// What the index remembers of a file's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FileState {
    pub(crate) changed: (u32, u32),
    pub(crate) modified: (u32, u32),
    pub(crate) device: u32,
    pub(crate) inode: u32,
    pub(crate) user: u32,
    pub(crate) group: u32,
    pub(crate) size: u32,
}

/// One entry.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) path: Vec<u8>,
    pub(crate) mode: u32,
    pub(crate) id: Oid,
    pub(crate) state: FileState,
    /// 0, or 1 to 3 for the sides of a conflict.
    pub(crate) stage: u8,
    /// To be taken for unchanged.
    pub(crate) assume_valid: bool,
}

/// The remembered name of a folder's tree.
#[derive(Debug)]
pub(crate) struct CachedTree {
    pub(crate) name: Vec<u8>,
    /// `None` after something below it changed.
    pub(crate) id: Option<Oid>,
    pub(crate) children: Vec<CachedTree>,
}

/// The whole index.
#[derive(Default, Debug)]
pub(crate) struct Index {
    /// Sorted by path and stage.
    pub(crate) entries: Vec<Entry>,
    pub(crate) cached_tree: Option<CachedTree>,
}

const EXTENDED: u16 = 0x4000;
const ASSUME_VALID: u16 = 0x8000;
const NAME_LENGTH: u16 = 0x0fff;

impl Index {
    /// Reads the bytes of an index file.
    pub(crate) fn parse(bytes: &[u8]) -> Attempt<Index> {
        let (bytes, _checksum) =
            bytes.split_at_checked(bytes.len().wrapping_sub(OID_BYTES)).ok_or(Decline)?;
        let mut reader = Reader { rest: bytes };
        if reader.take(4)? != b"DIRC" {
            return Err(Decline);
        }
        let version = reader.word()?;
        let count = reader.word()? as usize;
        if !(2..=4).contains(&version) || count > bytes.len() / ENTRY_BYTES {
            return Err(Decline);
        }
        let mut index = Index { entries: Vec::with_capacity(count), cached_tree: None };
        for _ in 0..count {
            let previous = index.entries.last().map_or(&[][..], |e| &e.path);
            let entry = reader.entry(version, previous)?;
            index.entries.push(entry);
        }
        let ordered = index.entries.windows(2).all(|w| match w {
            [a, b] => (&a.path, a.stage) < (&b.path, b.stage),
            _ => true,
        });
        if !ordered {
            return Err(Decline);
        }
        while !reader.rest.is_empty() {
            let signature = reader.take(4)?;
            let length = reader.word()? as usize;
            let body = reader.take(length)?;
            match signature {
                b"TREE" => index.cached_tree = Some(cached_tree(&mut Reader { rest: body }, 0)?),
                // An extension that may be ignored begins with a capital letter.
                [b'A'..=b'Z', ..] => {}
                _ => return Err(Decline),
            }
        }
        Ok(index)
    }

    /// The entries whose path begins with `prefix`.
    pub(crate) fn below(&self, prefix: &[u8]) -> &[Entry] {
        let start = self.entries.partition_point(|e| e.path.as_slice() < prefix);
        let rest = self.entries.get(start..).unwrap_or_default();
        let length = rest.partition_point(|e| e.path.starts_with(prefix));
        rest.get(..length).unwrap_or_default()
    }

    /// Whether `path` is in it, at any stage.
    pub(crate) fn contains(&self, path: &[u8]) -> bool {
        let at = self.entries.partition_point(|e| e.path.as_slice() < path);
        self.entries.get(at).is_some_and(|e| e.path == path)
    }
}

/// The index of a repository, and when it was written.
pub(crate) fn read_index(repository: &Repository) -> Attempt<(Index, (i64, i64))> {
    let mut file = match File::open(as_path(&repository.git_path(b"index"))) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((Index::default(), (0, 0))),
        Err(_) => return Err(Decline),
    };
    let found = file.metadata()?;
    if found.size() > GIT_FILE_BYTES_MAX {
        return Err(Decline);
    }
    let mut bytes = Vec::with_capacity(found.size() as usize);
    file.read_to_end(&mut bytes)?;
    let index = Index::parse(&bytes)?;
    if index.entries.len() > GIT_ENTRIES_MAX {
        return Err(Decline);
    }
    Ok((index, (found.mtime(), found.mtime_nsec())))
}

/// Bytes of an entry before its name.
const ENTRY_BYTES: usize = 62;

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Attempt<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Decline)?;
        self.rest = rest;
        Ok(taken)
    }

    fn word(&mut self) -> Attempt<u32> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes(bytes.try_into().map_err(|_| Decline)?))
    }

    fn half(&mut self) -> Attempt<u16> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes(bytes.try_into().map_err(|_| Decline)?))
    }

    fn until(&mut self, end: u8) -> Attempt<&'a [u8]> {
        let length = memchr::memchr(end, self.rest).ok_or(Decline)?;
        let taken = self.take(length)?;
        self.take(1)?;
        Ok(taken)
    }

    fn entry(&mut self, version: u32, previous: &[u8]) -> Attempt<Entry> {
        let before = self.rest.len();
        let changed = (self.word()?, self.word()?);
        let modified = (self.word()?, self.word()?);
        let (device, inode, mode) = (self.word()?, self.word()?, self.word()?);
        let (user, group, size) = (self.word()?, self.word()?, self.word()?);
        let id = Oid::from_bytes(self.take(OID_BYTES)?)?;
        let flags = self.half()?;
        // Extended flags are those of sparse checkouts and of `add --intent-to-add`.
        if flags & EXTENDED != 0 && (version < 3 || self.half()? != 0) {
            return Err(Decline);
        }
        if !matches!(mode & MODE_TYPE, MODE_FILE | MODE_LINK) {
            return Err(Decline);
        }
        let path = if version == 4 {
            let removed = self.varint()?;
            let kept = previous.len().checked_sub(removed).ok_or(Decline)?;
            [previous.get(..kept).ok_or(Decline)?, self.until(0)?].concat()
        } else {
            let length = usize::from(flags & NAME_LENGTH);
            let name = if length == usize::from(NAME_LENGTH) {
                let length = memchr::memchr(0, self.rest).ok_or(Decline)?;
                self.take(length)?
            } else {
                self.take(length)?
            };
            // One to eight zero bytes, to a multiple of eight.
            self.take(8 - (before - self.rest.len()) % 8)?;
            name.to_vec()
        };
        let state = FileState { changed, modified, device, inode, user, group, size };
        let stage = (flags >> 12 & 3) as u8;
        Ok(Entry { path, mode, id, state, stage, assume_valid: flags & ASSUME_VALID != 0 })
    }

    /// A number in the encoding that pack offsets have too.
    fn varint(&mut self) -> Attempt<usize> {
        let mut value = 0usize;
        for round in 0.. {
            let byte = *self.take(1)?.first().ok_or(Decline)?;
            value = value
                .checked_mul(128)
                .and_then(|v| v.checked_add(usize::from(byte & 0x7f)))
                .ok_or(Decline)?;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
            value = value.checked_add(1).ok_or(Decline)?;
            if round > 8 {
                break;
            }
        }
        Err(Decline)
    }

    fn number(&mut self, end: u8) -> Attempt<i64> {
        let text = std::str::from_utf8(self.until(end)?).map_err(|_| Decline)?;
        text.parse().map_err(|_| Decline)
    }
}

fn cached_tree(reader: &mut Reader<'_>, depth: usize) -> Attempt<CachedTree> {
    if depth > crate::limits::DIRECTORY_DEPTH_MAX {
        return Err(Decline);
    }
    let name = reader.until(0)?.to_vec();
    let entries = reader.number(b' ')?;
    let count = reader.number(b'\n')?;
    let id = if entries < 0 { None } else { Some(Oid::from_bytes(reader.take(OID_BYTES)?)?) };
    let children = (0..count).map(|_| cached_tree(reader, depth + 1)).collect::<Attempt<Vec<_>>>()?;
    Ok(CachedTree { name, id, children })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_indexes_decline() {
        let mut good = b"DIRC\0\0\0\x02\0\0\0\0".to_vec();
        good.extend([0; OID_BYTES]);
        assert!(Index::parse(&good).is_ok_and(|i| i.entries.is_empty()));
        for end in 0..good.len() {
            assert!(Index::parse(good.get(..end).unwrap()).is_err(), "{end}");
        }
        let mut many = good.clone();
        many.splice(8..12, [0xff; 4]);
        assert!(Index::parse(&many).is_err());
    }
}
