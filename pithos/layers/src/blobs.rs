//! The content of the files of levels: each in a file of its own that is written once and never changed, so that another name of it is as good as a
//! copy. Owns the folder of such files, and how they pass from one folder to another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::error::Error;
use crate::level::Level;
use crate::name::Name;
use crate::root::{Kind, Root, copy_content};

/// Where blobs are, and the next one's number.
#[derive(Debug)]
pub struct Blobs {
    pub(crate) root: Root,
    next: u64,
}

impl Blobs {
    /// Opens a folder of blobs; it is made if it is not there.
    ///
    /// # Errors
    /// When it cannot be made or read.
    pub fn open(path: &Path) -> Result<Blobs, Error> {
        if let Err(error) = std::fs::create_dir(path)
            && error.kind() != std::io::ErrorKind::AlreadyExists
        {
            return Err(Error::io(path, error));
        }
        let root = Root::open(path)?;
        let names = root.entries(&Name::default())?;
        let next = names
            .iter()
            .filter_map(|name| name.to_str()?.parse::<u64>().ok())
            .max()
            .map_or(0, |last| last + 1);
        Ok(Blobs { root, next })
    }

    /// Removes the blobs that no level of these needs.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn keep<'a>(&self, levels: impl Iterator<Item = &'a Level>) -> Result<(), Error> {
        let kept: BTreeSet<u64> = levels.flat_map(|level| level.blobs().into_keys()).collect();
        for name in self.root.entries(&Name::default())? {
            if name.to_str().and_then(|name| name.parse().ok()).is_some_and(|blob| !kept.contains(&blob)) {
                self.root.remove(&Name::default().child(&name))?;
            }
        }
        Ok(())
    }

    /// Copies the content of a file; its number.
    pub(crate) fn take(&mut self, root: &Root, name: &Name, size: u64) -> Result<u64, Error> {
        let number = self.next;
        self.next += 1;
        let (from, to) = (root.file(name)?, self.root.make_file(&Blobs::name(number))?);
        let failed = |error| Error::io(root.path().join(name.path()), error);
        copy_content(&from, &to, size).map_err(failed)?;
        Ok(number)
    }

    pub(crate) fn name(number: u64) -> Name {
        Name::default().child(number.to_string().as_ref())
    }

    /// Puts what a level needs into an empty folder of blobs, each under its own number.
    ///
    /// # Errors
    /// When one cannot be put there.
    pub fn hand_over(&self, level: &Level, to: &mut Blobs) -> Result<(), Error> {
        for (number, size) in level.blobs() {
            self.pass(number, size, to, number)?;
            to.next = to.next.max(number + 1);
        }
        Ok(())
    }

    /// Takes over what a level needs from a folder that something else wrote: it speaks of these blobs then, and of no privileges.
    ///
    /// # Errors
    /// When a blob is not there, or not as long as the level says.
    pub fn adopt(&mut self, level: &mut Level, from: &Blobs) -> Result<(), Error> {
        let mut numbers = BTreeMap::new();
        for (theirs, size) in level.blobs() {
            let name = Blobs::name(theirs);
            let there = from.root.look(&name)?.filter(|node| node.kind == Kind::File && node.size == size);
            if there.is_none() {
                let path = from.root.path().join(name.path());
                return Err(Error::Path(format!(
                    "{}: the content of a file is missing or damaged",
                    path.display()
                )));
            }
            let ours = self.next;
            self.next += 1;
            from.pass(theirs, size, self, ours)?;
            numbers.insert(theirs, ours);
        }
        level.renumber(&numbers);
        level.without_privileges();
        Ok(())
    }

    /// Another name of a blob elsewhere, or a copy where there can be none.
    fn pass(&self, number: u64, size: u64, to: &Blobs, as_number: u64) -> Result<(), Error> {
        let (from, at) = (Blobs::name(number), Blobs::name(as_number));
        if to.root.link_from(&self.root, &from, &at) {
            return Ok(());
        }
        let (source, target) = (self.root.file(&from)?, to.root.make_file(&at)?);
        let failed = |error| Error::io(to.root.path().join(at.path()), error);
        copy_content(&source, &target, size).map(drop).map_err(failed)
    }
}
