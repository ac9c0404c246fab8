//! Changes as a unified diff, in the form that git writes: modes, links, deletions and files without a newline at their end included. Binary files are named.

use std::fmt::Write as _;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use similar::{Algorithm, TextDiff};

use crate::changes::{Change, ChangeKind};
use crate::error::Error;
use crate::layer::Layer;
use crate::limits::{DEPTH_MAX, DIFF_FILE_BYTES_MAX, DIFF_PATIENCE_MS};
use crate::name::Name;
use crate::root::{Kind, Node, Root};

/// A diff as text, and how much of it there is.
#[derive(Clone, Debug, Default)]
pub struct Diff {
    /// The text, not longer than was asked for.
    pub text: String,
    /// Whether changes are left out.
    pub truncated: bool,
    /// Lines that were added.
    pub added: u64,
    /// Lines that were removed.
    pub removed: u64,
}

/// The changes of a layer as text, as long as it is shorter than `bytes_max`: whole files only.
///
/// # Errors
/// When a changed file cannot be read.
pub fn unified(layer: &Layer, changes: &[Change], bytes_max: usize) -> Result<Diff, Error> {
    let mut diff = Diff::default();
    for change in changes {
        one(layer, change, &mut diff, bytes_max)?;
        if diff.truncated {
            break;
        }
    }
    Ok(diff)
}

fn one(layer: &Layer, change: &Change, diff: &mut Diff, bytes_max: usize) -> Result<(), Error> {
    let name = &change.path;
    let (old, new) = (layer.lower.look(name)?, layer.upper.look(name)?);
    let only_mode = change.change == ChangeKind::Mode;
    let mut put = |name: &Name, old: Option<Node>, new: Option<Node>| {
        let (added, removed) = (diff.added, diff.removed);
        let text = side(layer, name, only_mode, diff, old, new)?;
        if diff.text.len() + text.len() > bytes_max {
            (diff.added, diff.removed, diff.truncated) = (added, removed, true);
        } else {
            diff.text.push_str(&text);
        }
        Ok(!diff.truncated)
    };
    match change.change {
        ChangeKind::Added => put(name, None, new).map(drop),
        ChangeKind::Deleted => gone(layer, name, old, DEPTH_MAX, &mut put).map(drop),
        // For git that is two changes.
        ChangeKind::Type => {
            if gone(layer, name, old, DEPTH_MAX, &mut put)? {
                put(name, None, new)?;
            }
            Ok(())
        }
        ChangeKind::Modified | ChangeKind::Mode => put(name, old, new).map(drop),
    }
}

/// An entry that is not there any more, and what was below it; false when there is no more room.
fn gone(
    layer: &Layer,
    name: &Name,
    old: Option<Node>,
    depth: usize,
    put: &mut impl FnMut(&Name, Option<Node>, Option<Node>) -> Result<bool, Error>,
) -> Result<bool, Error> {
    let is_folder = old.as_ref().is_some_and(|old| old.kind == Kind::Folder);
    if !put(name, old, None)? {
        return Ok(false);
    }
    if is_folder && depth > 0 {
        let mut entries = layer.lower.entries(name)?;
        entries.sort();
        for entry in entries {
            let below = name.child(&entry);
            let node = layer.lower.look(&below)?;
            if !gone(layer, &below, node, depth - 1, put)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// One entry that comes, goes or stays.
fn side(
    layer: &Layer,
    name: &Name,
    only_mode: bool,
    diff: &mut Diff,
    old: Option<Node>,
    new: Option<Node>,
) -> Result<String, Error> {
    let Some(node) = new.as_ref().or(old.as_ref()) else { return Ok(String::new()) };
    if !matches!(node.kind, Kind::File | Kind::Link) {
        return Ok(in_words(name, node.kind, old.as_ref(), new.as_ref()));
    }
    let mut text = String::new();
    // Git knows two modes of files; what it has no form for stands in words before.
    let mode = |node: &Node| match node.kind {
        Kind::Link => 0o120_000,
        _ if node.mode & 0o100 == 0 => 0o100_644,
        _ => 0o100_755,
    };
    let special = |node: &Node| node.kind == Kind::File && node.mode & 0o7000 != 0;
    match (&old, &new) {
        (Some(old), Some(new))
            if old.mode != new.mode && (mode(old) == mode(new) || special(old) || special(new)) =>
        {
            _ = writeln!(text, "file {}: old mode {:o}, new mode {:o}", quoted("", name), old.mode, new.mode);
            if only_mode && mode(old) == mode(new) {
                return Ok(text);
            }
        }
        (None, Some(new)) if special(new) => {
            _ = writeln!(text, "file {}: mode {:o}", quoted("", name), new.mode);
        }
        _ => {}
    }
    _ = writeln!(text, "diff --git {} {}", quoted("a/", name), quoted("b/", name));
    match (&old, &new) {
        (None, Some(new)) => _ = writeln!(text, "new file mode {:o}", mode(new)),
        (Some(old), None) => _ = writeln!(text, "deleted file mode {:o}", mode(old)),
        (Some(old), Some(new)) if mode(old) != mode(new) => {
            _ = writeln!(text, "old mode {:o}\nnew mode {:o}", mode(old), mode(new));
        }
        _ => {}
    }
    if only_mode {
        return Ok(text);
    }
    let label = |prefix: &str, node: &Option<Node>| match node {
        Some(_) => quoted(prefix, name),
        None => "/dev/null".to_owned(),
    };
    let (from, to) = (label("a/", &old), label("b/", &new));
    let before = content(&layer.lower, name, old.is_some())?;
    let after = content(&layer.upper, name, new.is_some())?;
    let (Some(before), Some(after)) = (before, after) else {
        _ = writeln!(text, "Binary files {from} and {to} differ ({} bytes)", node.size);
        return Ok(text);
    };
    let lines = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(Duration::from_millis(DIFF_PATIENCE_MS))
        .diff_lines(before.as_slice(), after.as_slice());
    for line in lines.iter_all_changes() {
        match line.tag() {
            similar::ChangeTag::Insert => diff.added += 1,
            similar::ChangeTag::Delete => diff.removed += 1,
            similar::ChangeTag::Equal => {}
        }
    }
    // A tab ends a name that has a blank in it.
    let ended = |label: String| if label.contains(' ') { label + "\t" } else { label };
    _ = write!(text, "{}", lines.unified_diff().context_radius(3).header(&ended(from), &ended(to)));
    Ok(text)
}

/// What git has no form for, as a line that it leaves out of account.
fn in_words(name: &Name, kind: Kind, old: Option<&Node>, new: Option<&Node>) -> String {
    let kind = match kind {
        Kind::Folder => "folder",
        Kind::Pipe => "pipe",
        Kind::Socket => "socket",
        Kind::Device | Kind::File | Kind::Link | Kind::Whiteout => "entry",
    };
    let path = if *name == Name::default() { ".".to_owned() } else { quoted("", name) };
    match (old, new) {
        (None, _) => format!("new {kind} {path}\n"),
        (_, None) => format!("deleted {kind} {path}\n"),
        (Some(old), Some(new)) if old.mode != new.mode => {
            format!("{kind} {path}: old mode {:o}, new mode {:o}\n", old.mode, new.mode)
        }
        _ => format!("{kind} {path}: attributes changed\n"),
    }
}

/// A name as git writes it: in quotes, with escapes, when it holds a quote, a backslash, a control character, or what is no text.
fn quoted(prefix: &str, name: &Name) -> String {
    let bytes = name.path().as_os_str().as_bytes();
    let plain = |text: &str| !text.contains(|c: char| c == '"' || c == '\\' || c.is_control());
    if let Ok(text) = std::str::from_utf8(bytes)
        && plain(text)
    {
        return format!("{prefix}{text}");
    }
    let mut text = format!("\"{prefix}");
    for byte in bytes {
        match byte {
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'"' | b'\\' => text.extend(['\\', char::from(*byte)]),
            0x20..=0x7e => text.push(char::from(*byte)),
            _ => _ = write!(text, "\\{byte:03o}"),
        }
    }
    text.push('"');
    text
}

/// What is compared of one side; none when it is not.
fn content(root: &Root, name: &Name, there: bool) -> Result<Option<Vec<u8>>, Error> {
    let Some(node) = (if there { root.look(name)? } else { None }) else { return Ok(Some(Vec::new())) };
    match node.kind {
        Kind::Link => root.target(name).map(Some),
        Kind::File if node.size <= DIFF_FILE_BYTES_MAX => {
            let mut bytes = Vec::new();
            let mut file = root.file(name)?.take(DIFF_FILE_BYTES_MAX + 1);
            file.read_to_end(&mut bytes).map_err(|error| Error::io(root.path().join(name.path()), error))?;
            // Was text and is none any more, or the other way.
            Ok((!bytes.contains(&0)).then_some(bytes))
        }
        Kind::File => Ok(None),
        _ => Ok(Some(Vec::new())),
    }
}
