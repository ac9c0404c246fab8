//! Refs: loose files, the packed list, symbolic ones.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;

use super::oid::Oid;
use super::repository::{Repository, as_path};
use super::{Attempt, Decline};
use crate::limits::DIRECTORY_DEPTH_MAX;

/// What a ref says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// An object.
    Direct(Oid),
    /// Another ref.
    Symbolic(Vec<u8>),
}

/// The refs of a repository.
pub(crate) struct Refs<'r> {
    repository: &'r Repository,
    packed: OnceCell<BTreeMap<Vec<u8>, Oid>>,
}

/// Symbolic refs followed before it counts as a loop; git's own limit.
const LINKS_MAX: usize = 5;

impl<'r> Refs<'r> {
    /// The refs of a repository. Replaced objects decline.
    pub(crate) fn open(repository: &'r Repository) -> Attempt<Refs<'r>> {
        let altering: [&[u8]; 3] = [b"refs/replace", b"info/grafts", b"shallow"];
        if altering.iter().any(|name| repository.has_git_file(name)) {
            return Err(Decline);
        }
        Ok(Refs { repository, packed: OnceCell::new() })
    }

    /// What the ref of this full name says, if there is one.
    pub(crate) fn read(&self, name: &[u8]) -> Attempt<Option<Target>> {
        if !is_safe(name) {
            return Err(Decline);
        }
        let path = self.repository.git_path(name);
        let path = as_path(&path);
        match path.symlink_metadata() {
            Ok(found) if found.is_file() => return loose(&fs::read(path)?).map(Some),
            // An empty folder may lie where a packed ref is.
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(Decline),
            Err(error) if is_absent(&error) => {}
            Err(_) => return Err(Decline),
        }
        Ok(self.packed()?.get(name).copied().map(Target::Direct))
    }

    /// The object that a ref leads to.
    pub(crate) fn resolve(&self, name: &[u8]) -> Attempt<Option<Oid>> {
        let mut name = name.to_vec();
        for _ in 0..LINKS_MAX {
            match self.read(&name)? {
                Some(Target::Symbolic(next)) => name = next,
                Some(Target::Direct(id)) => return Ok(Some(id)),
                None => return Ok(None),
            }
        }
        Err(Decline)
    }

    /// Every ref below `prefix` (with a slash at its end), sorted by its full name.
    pub(crate) fn below(&self, prefix: &[u8]) -> Attempt<BTreeMap<Vec<u8>, Target>> {
        let mut all = BTreeMap::new();
        for (name, id) in self.packed()?.range(prefix.to_vec()..).take_while(|(n, _)| n.starts_with(prefix)) {
            all.insert(name.clone(), Target::Direct(*id));
        }
        self.collect(prefix, &mut all, 0)?;
        Ok(all)
    }

    fn collect(&self, prefix: &[u8], all: &mut BTreeMap<Vec<u8>, Target>, depth: usize) -> Attempt<()> {
        if depth > DIRECTORY_DEPTH_MAX {
            return Err(Decline);
        }
        let folder = self.repository.git_path(prefix);
        let entries = match fs::read_dir(as_path(&folder)) {
            Ok(entries) => entries,
            Err(error) if is_absent(&error) => return Ok(()),
            Err(_) => return Err(Decline),
        };
        for entry in entries {
            let entry = entry?;
            let name = [prefix, &entry.file_name().into_vec()].concat();
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.collect(&[&name, &b"/"[..]].concat(), all, depth + 1)?;
            } else if kind.is_file() && is_safe(&name) && !name.ends_with(b".lock") {
                all.insert(name, loose(&fs::read(entry.path())?)?);
            } else {
                return Err(Decline);
            }
        }
        Ok(())
    }

    fn packed(&self) -> Attempt<&BTreeMap<Vec<u8>, Oid>> {
        if let Some(packed) = self.packed.get() {
            return Ok(packed);
        }
        let text = self.repository.read_git_file(b"packed-refs")?.unwrap_or_default();
        let mut packed = BTreeMap::new();
        for line in text.split(|&b| b == b'\n') {
            // Comments, and what the annotated tag above leads to.
            if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"^") {
                continue;
            }
            let (hex, name) = line.split_at_checked(40).ok_or(Decline)?;
            let name = name.strip_prefix(b" ").ok_or(Decline)?;
            if name.starts_with(b"refs/replace/") {
                return Err(Decline);
            }
            packed.insert(name.to_vec(), Oid::from_hex(hex).ok_or(Decline)?);
        }
        Ok(self.packed.get_or_init(|| packed))
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn loose(text: &[u8]) -> Attempt<Target> {
    if let Some(name) = text.strip_prefix(b"ref:") {
        return Ok(Target::Symbolic(name.trim_ascii().to_vec()));
    }
    let hex = text.get(..40).and_then(Oid::from_hex).ok_or(Decline)?;
    let rest = text.get(40..).unwrap_or_default();
    if rest.trim_ascii().is_empty() { Ok(Target::Direct(hex)) } else { Err(Decline) }
}

/// Whether a name is one that git accepts and that stays inside `.git`.
fn is_safe(name: &[u8]) -> bool {
    let odd = |b: &u8| *b <= b' ' || *b == 0x7f || b"~^:?*[\\".contains(b);
    let bad_part = |part: &[u8]| part.is_empty() || part.starts_with(b".") || part.ends_with(b".lock");
    let has = |two: &[u8]| memchr::memmem::find(name, two).is_some();
    !name.iter().any(odd)
        && !name.split(|&b| b == b'/').any(bad_part)
        && !has(b"..")
        && !has(b"@{")
        && !name.ends_with(b".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_leave_the_folder_are_refused() {
        for name in ["refs/heads/../../x", "/etc/passwd", "refs//x", "a b", "x.lock", "refs/heads/", "a@{1}"]
        {
            assert!(!is_safe(name.as_bytes()), "{name}");
        }
        assert!(is_safe(b"refs/heads/feature/x-1.0"));
    }
}
