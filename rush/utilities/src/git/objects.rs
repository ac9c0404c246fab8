//! The object store: loose files and packs, without alternates. Objects are read whole, within a limit.

use std::cell::OnceCell;
use std::fs;
use std::io;

use super::oid::Oid;
use super::pack::Pack;
use super::repository::{Repository, as_path, read_if_there};
use super::{Attempt, Decline};
use crate::limits::GIT_OBJECT_BYTES_MAX;

/// What an object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A commit.
    Commit,
    /// A folder.
    Tree,
    /// A file's content.
    Blob,
    /// An annotated tag.
    Tag,
}

/// The store, opened as far as it was needed.
pub(crate) struct Objects<'r> {
    repository: &'r Repository,
    packs: OnceCell<Vec<Pack>>,
}

impl<'r> Objects<'r> {
    /// The store of a repository.
    pub(crate) fn new(repository: &'r Repository) -> Objects<'r> {
        Objects { repository, packs: OnceCell::new() }
    }

    /// An object's kind and content.
    pub(crate) fn read(&self, id: &Oid) -> Attempt<(Kind, Vec<u8>)> {
        match self.loose(id)? {
            Some(found) => Ok(found),
            None => self.packed(id, 0),
        }
    }

    /// The content of an object that has to be of this kind.
    pub(crate) fn expect(&self, id: &Oid, kind: Kind) -> Attempt<Vec<u8>> {
        let (found, content) = self.read(id)?;
        if found == kind { Ok(content) } else { Err(Decline) }
    }

    /// An object out of the packs; `depth` counts the deltas by name on the way.
    pub(crate) fn packed(&self, id: &Oid, depth: usize) -> Attempt<(Kind, Vec<u8>)> {
        for pack in self.packs()? {
            if let Some(offset) = pack.find(id) {
                return pack.read(offset, self, depth);
            }
        }
        Err(Decline)
    }

    fn loose(&self, id: &Oid) -> Attempt<Option<(Kind, Vec<u8>)>> {
        let hex = id.hex();
        let (folder, name) = hex.split_at(2);
        let path = self.repository.git_path(format!("objects/{folder}/{name}").as_bytes());
        let Some(compressed) = read_if_there(&path)? else { return Ok(None) };
        let mut bytes = inflate(&compressed, GIT_OBJECT_BYTES_MAX)?;
        let end = memchr::memchr(0, &bytes).ok_or(Decline)?;
        let header = std::str::from_utf8(bytes.get(..end).ok_or(Decline)?).map_err(|_| Decline)?;
        let (kind, size) = header.split_once(' ').ok_or(Decline)?;
        let kind = match kind {
            "commit" => Kind::Commit,
            "tree" => Kind::Tree,
            "blob" => Kind::Blob,
            "tag" => Kind::Tag,
            _ => return Err(Decline),
        };
        let size: usize = size.parse().map_err(|_| Decline)?;
        bytes.drain(..=end);
        if bytes.len() == size { Ok(Some((kind, bytes))) } else { Err(Decline) }
    }

    fn packs(&self) -> Attempt<&[Pack]> {
        if let Some(packs) = self.packs.get() {
            return Ok(packs);
        }
        for unknown in [&b"objects/info/alternates"[..], b"objects/pack/multi-pack-index"] {
            if self.repository.has_git_file(unknown) {
                return Err(Decline);
            }
        }
        let folder = self.repository.git_path(b"objects/pack");
        let mut packs = Vec::new();
        for name in names_in(&folder)? {
            if let Some(stem) = name.strip_suffix(b".idx") {
                packs.push(Pack::open(&[folder.as_slice(), b"/", stem].concat())?);
            }
        }
        Ok(self.packs.get_or_init(|| packs))
    }

    /// The shortest unambiguous abbreviation of a name, as long as git makes it in a store of this size.
    pub(crate) fn abbreviate(&self, id: &Oid) -> Attempt<String> {
        let packs = self.packs()?;
        let count: usize = packs.iter().map(Pack::count).sum();
        let bits = (usize::BITS - count.leading_zeros()) as usize;
        let mut length = bits.div_ceil(2).max(ABBREVIATION_MIN);
        let neighbours = packs.iter().flat_map(|pack| pack.neighbours(id));
        let mut lengthen = |other: &Oid| {
            if other != id {
                length = length.max(id.shared_digits(other) + 1);
            }
        };
        neighbours.for_each(|other| lengthen(&other));
        let hex = id.hex();
        let folder = hex.get(..2).ok_or(Decline)?;
        for name in names_in(&self.repository.git_path(format!("objects/{folder}").as_bytes()))? {
            if let Some(other) = Oid::from_hex(&[folder.as_bytes(), &name].concat()) {
                lengthen(&other);
            }
        }
        Ok(hex.get(..length).unwrap_or(&hex).to_owned())
    }
}

impl Objects<'_> {
    /// The only object whose name begins with these digits. Where there are several, git may prefer one: declines.
    pub(crate) fn expand(&self, digits: &str) -> Attempt<Option<Oid>> {
        let digits = digits.to_ascii_lowercase();
        let (Some(folder), Some(rest)) = (digits.get(..2), digits.get(2..)) else { return Err(Decline) };
        let mut found = Vec::new();
        for name in names_in(&self.repository.git_path(format!("objects/{folder}").as_bytes()))? {
            if name.starts_with(rest.as_bytes()) {
                found.extend(Oid::from_hex(&[folder.as_bytes(), &name].concat()));
            }
        }
        let lowest = Oid::from_hex(format!("{digits:0<40}").as_bytes()).ok_or(Decline)?;
        for pack in self.packs()? {
            let near = pack.neighbours(&lowest).filter(|id| *id >= lowest && id.hex().starts_with(&digits));
            found.extend(near);
        }
        found.sort_unstable();
        found.dedup();
        match found.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(*only)),
            _ => Err(Decline),
        }
    }
}

/// Digits of an abbreviation in a small store.
const ABBREVIATION_MIN: usize = 7;

/// The names in a folder; none where there is no such folder.
fn names_in(folder: &[u8]) -> Attempt<Vec<Vec<u8>>> {
    use std::os::unix::ffi::OsStringExt;
    match fs::read_dir(as_path(folder)) {
        Ok(entries) => entries.map(|entry| Ok(entry?.file_name().into_vec())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(_) => Err(Decline),
    }
}

/// Decompresses a zlib stream of at most `limit` bytes of content.
pub(crate) fn inflate(bytes: &[u8], limit: usize) -> Attempt<Vec<u8>> {
    miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(bytes, limit).map_err(|_| Decline)
}
