//! Two folders: names that one of them has, and the comparison of those that both have.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;

use super::{Comparison, Subject, TROUBLE, joined};
use crate::wildcard;

impl Comparison<'_, '_> {
    /// Compares what two folders hold; one that is not there holds nothing.
    pub(super) fn folders(&mut self, folders: [&[u8]; 2], there: [bool; 2]) -> io::Result<i32> {
        self.context.poll()?;
        let mut names = [BTreeSet::new(), BTreeSet::new()];
        for index in 0..2 {
            if !there[index] {
                continue;
            }
            match self.names_in(folders[index]) {
                Ok(found) => names[index] = found,
                Err(error) => {
                    self.complain(folders[index], &error);
                    return Ok(TROUBLE);
                }
            }
        }
        let mut status = 0;
        for name in names[0].union(&names[1]) {
            let there = [names[0].contains(name), names[1].contains(name)];
            let one = self.entry(folders, name, there)?;
            if one != 0 {
                // Differences are seen as they are found.
                self.context.output.flush()?;
            }
            status = status.max(one);
        }
        Ok(status)
    }

    fn names_in(&self, folder: &[u8]) -> io::Result<BTreeSet<Vec<u8>>> {
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(self.context.path(folder))? {
            let name = entry?.file_name().into_vec();
            if !self.options.excluded.iter().any(|pattern| wildcard::matches(pattern, &name, false)) {
                names.insert(name);
            }
        }
        Ok(names)
    }

    /// One name of the folders.
    fn entry(&mut self, folders: [&[u8]; 2], name: &[u8], there: [bool; 2]) -> io::Result<i32> {
        if there != [true, true] && !self.options.absent_is_empty {
            let only = if there[0] { folders[0] } else { folders[1] };
            self.say(&[b"Only in ", only, b": ", name])?;
            return Ok(super::DIFFERS);
        }
        let mut subjects = Vec::new();
        for index in 0..2 {
            let path = joined(folders[index], name);
            if !there[index] {
                subjects.push(Subject { name: path, metadata: None, standard: false });
                continue;
            }
            match self.look(&path, true) {
                Ok(mut subject) => {
                    if self.options.absent_is_empty && subject.counts_as_absent() {
                        subject.metadata = None;
                    }
                    subjects.push(subject);
                }
                Err(error) => self.complain(&path, &error),
            }
        }
        let [old, new] = subjects.as_slice() else { return Ok(TROUBLE) };
        self.pair(old, new, true)
    }
}
