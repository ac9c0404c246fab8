//! Changes as text: the unified format with git's headers, so that `git apply` and `patch -p1` take it, and per file how many
//! lines came and went.

use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::changes::{Change, What, changes};
use crate::error::Error;
use crate::layers::Layers;
use crate::limits::{BINARY_PROBE_BYTES, DIFF_CONTEXT_LINES, DIFF_FILE_BYTES_MAX, DIFF_PATIENCE_MS};
use crate::root::{Kind, Root};

/// A changed path with its lines counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// What changed.
    pub change: Change,
    /// Lines that came; 0 when it is not compared by lines.
    pub added: usize,
    /// Lines that went.
    pub removed: usize,
    /// It holds bytes that are no text, on one side at least.
    pub binary: bool,
}

/// A diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// Every changed path.
    pub stats: Vec<Stat>,
    /// The unified diff; bytes, because files are.
    pub text: Vec<u8>,
}

impl Stat {
    fn add(&mut self, (added, removed, binary): (usize, usize, bool)) {
        self.added += added;
        self.removed += removed;
        self.binary |= binary;
    }
}

/// Compares what the overlay holds with what is below, `only` these paths and what is below them (all when empty).
///
/// # Errors
/// As [`changes`], and when a file cannot be read.
pub fn diff(layers: &Layers, only: &[PathBuf]) -> Result<Diff, Error> {
    let mut out = Diff::default();
    let chosen = |change: &Change| only.is_empty() || only.iter().any(|path| change.path.starts_with(path));
    for change in changes(layers)?.into_iter().filter(chosen) {
        let mut files = Vec::new();
        // A folder that goes, or makes room for something else, stands in the list for all files in it.
        if matches!(change.what, What::Deleted | What::Type)
            && layers.base.meta(&change.path)?.is_some_and(|below| below.kind == Kind::Folder)
        {
            everything_in(&layers.base, &change.path, &mut files)?;
        }
        let mut stat = Stat { change, added: 0, removed: 0, binary: false };
        for (path, kind) in files {
            let file = Change { path, what: What::Deleted, kind, bytes: 0, upper: None };
            stat.add(one(layers, &file, &mut out.text)?);
        }
        stat.add(one(layers, &stat.change, &mut out.text)?);
        out.stats.push(stat);
    }
    Ok(out)
}

fn everything_in(base: &Root, folder: &Path, found: &mut Vec<(PathBuf, Kind)>) -> Result<(), Error> {
    for name in base.names(folder)? {
        let path = folder.join(name);
        match base.meta(&path)? {
            Some(meta) if meta.kind == Kind::Folder => everything_in(base, &path, found)?,
            Some(meta) => found.push((path, meta.kind)),
            None => {}
        }
    }
    Ok(())
}

/// Writes one file's part; lines that came, lines that went, whether it is binary.
fn one(layers: &Layers, change: &Change, out: &mut Vec<u8>) -> Result<(usize, usize, bool), Error> {
    let path = &change.path;
    let below = layers.base.meta(path)?;
    let above = change.upper.map(|upper| layers.uppers[upper].meta(path)).transpose()?.flatten();
    let is_text = |kind| matches!(kind, Kind::File | Kind::Link);
    let before = below.filter(|meta| is_text(meta.kind));
    let after = above.filter(|meta| is_text(meta.kind));
    if before.is_none() && after.is_none() {
        return Ok((0, 0, false));
    }
    let (old_name, new_name) = (quoted("a/", path), quoted("b/", path));
    out.extend(format!("diff --git {old_name} {new_name}\n").bytes());
    let mode = |meta: crate::root::Meta| match meta.kind {
        Kind::Link => "120000",
        _ if meta.mode & 0o111 != 0 => "100755",
        _ => "100644",
    };
    match (before, after) {
        (None, Some(after)) => out.extend(format!("new file mode {}\n", mode(after)).bytes()),
        (Some(before), None) => out.extend(format!("deleted file mode {}\n", mode(before)).bytes()),
        (Some(before), Some(after)) if mode(before) != mode(after) => {
            out.extend(format!("old mode {}\nnew mode {}\n", mode(before), mode(after)).bytes());
        }
        _ => {}
    }
    let large = |meta: Option<crate::root::Meta>| meta.is_some_and(|meta| meta.bytes > DIFF_FILE_BYTES_MAX);
    if large(before) || large(after) {
        let size = |meta: Option<crate::root::Meta>| meta.map_or(0, |meta| meta.bytes);
        let line = format!("Files differ: {} bytes before, {} bytes after\n", size(before), size(after));
        out.extend(line.bytes());
        return Ok((0, 0, true));
    }
    let old = before.map(|meta| content(&layers.base, path, meta.kind)).transpose()?;
    let new = match (after, change.upper) {
        (Some(meta), Some(upper)) => Some(content(&layers.uppers[upper], path, meta.kind)?),
        _ => None,
    };
    let binary = |text: &Option<Vec<u8>>| {
        text.as_ref().is_some_and(|text| text[..text.len().min(BINARY_PROBE_BYTES)].contains(&0))
    };
    if binary(&old) || binary(&new) {
        if old != new {
            out.extend(format!("Binary files {old_name} and {new_name} differ\n").bytes());
        }
        return Ok((0, 0, true));
    }
    let name = |content: &Option<Vec<u8>>, name: &str| {
        content.as_ref().map_or("/dev/null".to_string(), |_| name.to_string())
    };
    let (from, to) = (name(&old, &old_name), name(&new, &new_name));
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    if old == new {
        return Ok((0, 0, false));
    }
    out.extend(format!("--- {from}\n+++ {to}\n").bytes());
    Ok(hunks(&old, &new, out))
}

/// The hunks; lines that came, lines that went, not binary.
fn hunks(old: &[u8], new: &[u8], out: &mut Vec<u8>) -> (usize, usize, bool) {
    let (mut added, mut removed) = (0, 0);
    // `similar` ends a line at a carriage return too; patches know only line feeds.
    let (old_lines, new_lines) = (lines(old), lines(new));
    let compared = TextDiff::configure()
        .timeout(Duration::from_millis(DIFF_PATIENCE_MS))
        .diff_slices(&old_lines, &new_lines);
    for group in compared.grouped_ops(DIFF_CONTEXT_LINES) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let range = |from: usize, to: usize| match to - from {
            1 => format!("{}", from + 1),
            0 => format!("{from},0"),
            count => format!("{},{count}", from + 1),
        };
        let header = format!(
            "@@ -{} +{} @@\n",
            range(first.old_range().start, last.old_range().end),
            range(first.new_range().start, last.new_range().end)
        );
        out.extend(header.bytes());
        for change in group.iter().flat_map(|op| compared.iter_changes(op)) {
            out.push(match change.tag() {
                ChangeTag::Equal => b' ',
                ChangeTag::Delete => b'-',
                ChangeTag::Insert => b'+',
            });
            added += usize::from(change.tag() == ChangeTag::Insert);
            removed += usize::from(change.tag() == ChangeTag::Delete);
            out.extend(change.value());
            if !change.value().ends_with(b"\n") {
                out.extend(b"\n\\ No newline at end of file\n");
            }
        }
    }
    (added, removed, false)
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// What is compared of a path: a file's bytes, a link's target.
fn content(root: &Root, path: &Path, kind: Kind) -> Result<Vec<u8>, Error> {
    if kind == Kind::Link {
        return Ok(std::os::unix::ffi::OsStringExt::into_vec(root.link(path)?));
    }
    let mut bytes = Vec::new();
    root.read(path)?.take(DIFF_FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(Error::io(path))?;
    Ok(bytes)
}

/// A name as git writes it: in quotes with escapes when it holds other than plain characters.
fn quoted(prefix: &str, path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes();
    let plain = |byte: &u8| (0x20..0x7f).contains(byte) && *byte != b'"' && *byte != b'\\';
    if bytes.iter().all(plain) {
        return format!("{prefix}{}", String::from_utf8_lossy(bytes));
    }
    let mut out = format!("\"{prefix}");
    for byte in bytes {
        let _ = match byte {
            b'"' | b'\\' => write!(out, "\\{}", *byte as char),
            b'\n' => write!(out, "\\n"),
            b'\t' => write!(out, "\\t"),
            byte if plain(byte) => write!(out, "{}", *byte as char),
            byte => write!(out, "\\{byte:03o}"),
        };
    }
    out.push('"');
    out
}
