//! `GLOBSORT` (bash 5.3): the order of what pathname expansion finds. A sign (`+` ascending, `-` descending) and a key, both
//! optional; what is neither is the usual order.

use crate::Bytes;
use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

/// What the paths are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Name,
    /// Names that are numbers come first, by their value.
    Numeric,
    Size,
    Blocks,
    Modified,
    Accessed,
    Changed,
    /// The order of the directory; the sign has no say.
    Directory,
}

/// A key and a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) key: Key,
    descending: bool,
}

impl Order {
    /// Reads the variable's value.
    pub(super) fn from_text(text: &[u8]) -> Option<Order> {
        let (descending, key) = match text {
            [b'-', key @ ..] => (true, key),
            [b'+', key @ ..] => (false, key),
            key => (false, key),
        };
        let key = match key {
            b"" | b"name" => Key::Name,
            b"numeric" => Key::Numeric,
            b"size" => Key::Size,
            b"blocks" => Key::Blocks,
            b"mtime" => Key::Modified,
            b"atime" => Key::Accessed,
            b"ctime" => Key::Changed,
            b"nosort" => Key::Directory,
            _ => return None,
        };
        Some(Order { key, descending })
    }

    /// Sorts paths that are in the order of their names; what is equal by the key stays so.
    pub(super) fn apply(self, paths: &mut Vec<Bytes>) {
        if self.key == Key::Directory {
            return;
        }
        let mut keyed: Vec<((i128, i64), Bytes)> =
            std::mem::take(paths).into_iter().map(|path| (self.measure(&path), path)).collect();
        keyed.sort_by(|(a, first), (b, second)| {
            let order = a.cmp(b).then_with(|| match self.key {
                Key::Numeric if is_number(first) && is_number(second) => numbers(first, second),
                _ => first.cmp(second),
            });
            if self.descending { order.reverse() } else { order }
        });
        paths.extend(keyed.into_iter().map(|(_, path)| path));
    }

    /// What is compared before names.
    fn measure(self, path: &[u8]) -> (i128, i64) {
        let asks = || fs::symlink_metadata(OsStr::from_bytes(path)).ok();
        let found = match self.key {
            Key::Numeric => return (i128::from(!is_number(path)), 0),
            Key::Name | Key::Directory => None,
            Key::Size => asks().map(|file| (i128::from(file.size()), 0)),
            Key::Blocks => asks().map(|file| (i128::from(file.blocks()), 0)),
            Key::Modified => asks().map(|file| (i128::from(file.mtime()), file.mtime_nsec())),
            Key::Accessed => asks().map(|file| (i128::from(file.atime()), file.atime_nsec())),
            Key::Changed => asks().map(|file| (i128::from(file.ctime()), file.ctime_nsec())),
        };
        found.unwrap_or_default()
    }
}

fn is_number(path: &[u8]) -> bool {
    !path.is_empty() && path.iter().all(u8::is_ascii_digit)
}

/// Compares digits by value, however many.
fn numbers(first: &[u8], second: &[u8]) -> Ordering {
    let significant = |digits: &'_ [u8]| digits.iter().position(|b| *b != b'0').unwrap_or(digits.len());
    let (a, b) = (&first[significant(first)..], &second[significant(second)..]);
    a.len().cmp(&b.len()).then_with(|| a.cmp(b)).then_with(|| first.cmp(second))
}
