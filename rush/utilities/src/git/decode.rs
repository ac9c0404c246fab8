//! What commits, trees and tags say.

use super::index::MODE_FOLDER;
use super::oid::{OID_BYTES, Oid};
use super::{Attempt, Decline};

/// A commit's headers and message.
pub(crate) struct Commit {
    pub(crate) tree: Oid,
    pub(crate) parents: Vec<Oid>,
    pub(crate) author: Vec<u8>,
    pub(crate) committer: Vec<u8>,
    pub(crate) message: Vec<u8>,
}

impl Commit {
    /// Reads a commit. One in another encoding than UTF-8 declines.
    pub(crate) fn parse(content: &[u8]) -> Attempt<Commit> {
        let mut commit = Commit {
            tree: super::oid::NULL,
            parents: Vec::new(),
            author: Vec::new(),
            committer: Vec::new(),
            message: Vec::new(),
        };
        let mut rest = content;
        loop {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let (line, after) = rest.split_at_checked(end).ok_or(Decline)?;
            rest = after.get(1..).unwrap_or_default();
            if line.is_empty() {
                break;
            }
            let blank = memchr::memchr(b' ', line).ok_or(Decline)?;
            let (name, value) = (line.get(..blank).ok_or(Decline)?, line.get(blank + 1..).ok_or(Decline)?);
            match name {
                b"tree" => commit.tree = Oid::from_hex(value).ok_or(Decline)?,
                b"parent" => commit.parents.push(Oid::from_hex(value).ok_or(Decline)?),
                b"author" => commit.author = value.to_vec(),
                b"committer" => commit.committer = value.to_vec(),
                b"encoding" => return Err(Decline),
                // `gpgsig`, `mergetag` and their continuation lines, which begin with a blank.
                _ => {}
            }
        }
        commit.message = rest.to_vec();
        Ok(commit)
    }

    /// The first paragraph of the message, its lines joined by blanks.
    pub(crate) fn subject(&self) -> Vec<u8> {
        let lines = lines(&self.message).map(trim_end);
        let paragraph = lines.skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
        paragraph.collect::<Vec<_>>().join(&b' ')
    }

    /// What follows the first paragraph and the empty lines behind it.
    pub(crate) fn body(&self) -> &[u8] {
        let is_empty = |line: &&[u8]| trim_end(line).is_empty();
        let mut rest =
            lines(&self.message).skip_while(is_empty).skip_while(|line| !is_empty(line)).skip_while(is_empty);
        let length: usize = rest.by_ref().map(<[u8]>::len).sum();
        self.message.get(self.message.len() - length..).unwrap_or_default()
    }

    /// Seconds since the epoch at which it was committed.
    pub(crate) fn date(&self) -> Attempt<i64> {
        Ok(Signature::parse(&self.committer)?.seconds)
    }
}

/// The lines of a message, with their ends.
pub(crate) fn lines(message: &[u8]) -> impl Iterator<Item = &[u8]> {
    message.split_inclusive(|&b| b == b'\n')
}

/// A line without what git takes for blanks at its end.
pub(crate) fn trim_end(line: &[u8]) -> &[u8] {
    let kept = line.iter().rposition(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r')).map_or(0, |at| at + 1);
    line.get(..kept).unwrap_or_default()
}

/// Who and when.
pub(crate) struct Signature<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) mail: &'a [u8],
    pub(crate) seconds: i64,
    /// The zone as `+hhmm`.
    pub(crate) zone: i32,
}

impl<'a> Signature<'a> {
    /// Reads `NAME <MAIL> SECONDS ZONE`.
    pub(crate) fn parse(line: &'a [u8]) -> Attempt<Signature<'a>> {
        let open = memchr::memchr(b'<', line).ok_or(Decline)?;
        let close = memchr::memchr(b'>', line).filter(|close| *close > open).ok_or(Decline)?;
        let rest = std::str::from_utf8(line.get(close + 1..).ok_or(Decline)?).map_err(|_| Decline)?;
        let (seconds, zone) = rest.trim().split_once(' ').ok_or(Decline)?;
        Ok(Signature {
            name: line.get(..open).ok_or(Decline)?.trim_ascii(),
            mail: line.get(open + 1..close).ok_or(Decline)?,
            seconds: seconds.parse().map_err(|_| Decline)?,
            zone: zone.parse().map_err(|_| Decline)?,
        })
    }
}

/// One entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeEntry {
    pub(crate) mode: u32,
    pub(crate) name: Vec<u8>,
    pub(crate) id: Oid,
}

impl TreeEntry {
    /// Whether it is a folder.
    pub(crate) fn is_folder(&self) -> bool {
        self.mode == MODE_FOLDER
    }
}

/// Reads a tree.
pub(crate) fn tree(content: &[u8]) -> Attempt<Vec<TreeEntry>> {
    let mut entries = Vec::new();
    let mut rest = content;
    while !rest.is_empty() {
        let end = memchr::memchr(0, rest).ok_or(Decline)?;
        let head = rest.get(..end).ok_or(Decline)?;
        let blank = memchr::memchr(b' ', head).ok_or(Decline)?;
        let digits = std::str::from_utf8(head.get(..blank).ok_or(Decline)?).map_err(|_| Decline)?;
        let mode = u32::from_str_radix(digits, 8).map_err(|_| Decline)?;
        let id = Oid::from_bytes(rest.get(end + 1..end + 1 + OID_BYTES).ok_or(Decline)?)?;
        entries.push(TreeEntry { mode, name: head.get(blank + 1..).ok_or(Decline)?.to_vec(), id });
        rest = rest.get(end + 1 + OID_BYTES..).ok_or(Decline)?;
    }
    Ok(entries)
}

/// What a tag names.
pub(crate) fn tagged(content: &[u8]) -> Attempt<Oid> {
    let line = content.strip_prefix(b"object ").and_then(|rest| rest.get(..2 * OID_BYTES)).ok_or(Decline)?;
    Oid::from_hex(line).ok_or(Decline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures() {
        let signature = Signature::parse(b"A U Thor <a@b> 1234567890 -0130").ok().unwrap();
        assert_eq!((signature.name, signature.mail), (&b"A U Thor"[..], &b"a@b"[..]));
        assert_eq!((signature.seconds, signature.zone), (1_234_567_890, -130));
        for bad in ["", "a", "a <b", "a <b>", "a <b> x +0000", "a <b> 1"] {
            assert!(Signature::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn damaged_trees_decline() {
        let mut good = b"100644 a\0".to_vec();
        good.extend([7; OID_BYTES]);
        assert_eq!(tree(&good).ok().map(|t| t.len()), Some(1));
        for end in 1..good.len() {
            assert!(tree(good.get(..end).unwrap()).is_err(), "{end}");
        }
    }
}
