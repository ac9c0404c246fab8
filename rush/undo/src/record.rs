//! The record of an entry: its first line says when and what, each other line one thing that was kept, written when it
//! is kept and before it is replaced. A line without its end was being written when the shell died; what it would have
//! said has not been replaced.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::place::Identity;

/// What every record begins with.
const MAGIC: &str = "rush-undo 1";

/// One thing that was kept before a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// The file at `path` may have been removed, or with `replaced` have got another in its place.
    Kept { object: u32, identity: Identity, bytes: u64, replaced: bool, path: PathBuf },
    /// The content of the file at `path` may have been overwritten.
    Content { object: u32, identity: Identity, size: u64, changed: i128, path: PathBuf },
    /// The file at `from` may have gone to `to`.
    Moved { identity: Identity, from: PathBuf, to: PathBuf },
}

impl Action {
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Action::Kept { bytes, .. } => *bytes,
            Action::Content { size, .. } => *size,
            Action::Moved { .. } => 0,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Action::Kept { path, .. } | Action::Content { path, .. } | Action::Moved { from: path, .. } => {
                path
            }
        }
    }

    pub(crate) fn line(&self) -> Vec<u8> {
        let (head, paths) = match self {
            Action::Kept { object, identity: (device, number), bytes, replaced, path } => {
                let kind = if *replaced { "replaced" } else { "kept" };
                (format!("{kind}\t{object}\t{device}\t{number}\t{bytes}"), vec![path])
            }
            Action::Content { object, identity: (device, number), size, changed, path } => {
                (format!("content\t{object}\t{device}\t{number}\t{size}\t{changed}"), vec![path])
            }
            Action::Moved { identity: (device, number), from, to } => {
                (format!("moved\t{device}\t{number}"), vec![from, to])
            }
        };
        let mut line = head.into_bytes();
        for path in paths {
            line.push(b'\t');
            escape(path.as_os_str().as_bytes(), &mut line);
        }
        line.push(b'\n');
        line
    }

    fn parse(line: &[u8]) -> Option<Action> {
        let parts: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
        let text = |at: usize| std::str::from_utf8(parts.get(at)?).ok();
        let number = |at: usize| text(at)?.parse::<u64>().ok();
        let path = |at: usize| Some(PathBuf::from(OsStr::from_bytes(&unescape(parts.get(at)?)?)));
        Some(match *parts.first()? {
            kind @ (b"kept" | b"replaced") => Action::Kept {
                replaced: kind == b"replaced",
                object: text(1)?.parse().ok()?,
                identity: (number(2)?, number(3)?),
                bytes: number(4)?,
                path: path(5)?,
            },
            b"content" => Action::Content {
                object: text(1)?.parse().ok()?,
                identity: (number(2)?, number(3)?),
                size: number(4)?,
                changed: text(5)?.parse().ok()?,
                path: path(6)?,
            },
            b"moved" => Action::Moved { identity: (number(1)?, number(2)?), from: path(3)?, to: path(4)? },
            _ => return None,
        })
    }
}

/// A record that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// Seconds since 1970.
    pub(crate) time: u64,
    /// Whether it holds what an undo has replaced.
    pub(crate) of_undo: bool,
    pub(crate) title: Vec<u8>,
    pub(crate) actions: Vec<Action>,
}

/// The first line.
pub(crate) fn heading(time: u64, of_undo: bool, title: &[u8]) -> Vec<u8> {
    let kind = if of_undo { "undo" } else { "command" };
    let mut line = format!("{MAGIC}\t{time}\t{kind}\t").into_bytes();
    escape(title, &mut line);
    line.push(b'\n');
    line
}

/// Reads a record; `None` if it is none.
pub(crate) fn parse(bytes: &[u8]) -> Option<Record> {
    let whole = bytes.get(..bytes.iter().rposition(|&byte| byte == b'\n')?)?;
    let mut lines = whole.split(|&byte| byte == b'\n');
    let parts: Vec<&[u8]> = lines.next()?.split(|&byte| byte == b'\t').collect();
    let [magic, time, kind, title] = parts.as_slice() else { return None };
    if *magic != MAGIC.as_bytes() {
        return None;
    }
    Some(Record {
        time: std::str::from_utf8(time).ok()?.parse().ok()?,
        of_undo: *kind == b"undo",
        title: unescape(title)?,
        actions: lines.filter_map(Action::parse).collect(),
    })
}

fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            _ => out.push(byte),
        }
    }
}

fn unescape(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter();
    while let Some(&byte) = rest.next() {
        out.push(match byte {
            b'\\' => match rest.next()? {
                b't' => b'\t',
                b'n' => b'\n',
                b'\\' => b'\\',
                _ => return None,
            },
            _ => byte,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written_and_a_cut_line_is_none() {
        let path = || PathBuf::from(OsStr::from_bytes(b"/a\tb\\n\n\xff"));
        let actions = vec![
            Action::Kept { object: 3, identity: (1, 2), bytes: 9, replaced: false, path: path() },
            Action::Kept { object: 3, identity: (1, 2), bytes: 9, replaced: true, path: path() },
            Action::Content { object: 4, identity: (1, 2), size: 9, changed: -5, path: path() },
            Action::Moved { identity: (7, u64::MAX), from: path(), to: PathBuf::from("/x") },
        ];
        let mut bytes = heading(12, true, b"rm\t'\n'");
        let mut ends = vec![bytes.len()];
        for action in &actions {
            bytes.extend(action.line());
            ends.push(bytes.len());
        }
        for cut in 0..=bytes.len() {
            let whole = ends.iter().filter(|end| **end <= cut).count();
            let record = parse(&bytes[..cut]);
            match whole {
                0 => assert_eq!(record, None),
                _ => {
                    let record = record.expect("a record");
                    assert_eq!(
                        (record.time, record.of_undo, &record.title[..]),
                        (12, true, &b"rm\t'\n'"[..])
                    );
                    assert_eq!(record.actions, actions[..whole - 1]);
                }
            }
        }
    }
}
