//! Changes as a unified diff, in the form that git writes: modes, links, deletions and files without a newline at their end included. Binary files are named.

use std::fmt::Write as _;
use std::io::Read;
use std::time::Duration;

use similar::{Algorithm, TextDiff};

use crate::changes::{Change, ChangeKind};
use crate::error::Error;
use crate::layer::Layer;
use crate::limits::{DIFF_FILE_BYTES_MAX, DIFF_PATIENCE_MS};
use crate::name::Name;
use crate::root::{Kind, Root};

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
        if diff.text.len() >= bytes_max {
            diff.truncated = true;
            break;
        }
        let (before, after) = (diff.added, diff.removed);
        let text = one(layer, change, &mut diff)?;
        if diff.text.len() + text.len() > bytes_max {
            (diff.added, diff.removed, diff.truncated) = (before, after, true);
            break;
        }
        diff.text.push_str(&text);
    }
    Ok(diff)
}

fn one(layer: &Layer, change: &Change, diff: &mut Diff) -> Result<String, Error> {
    let name = &change.path;
    let shown = if *name == Name::default() { ".".to_owned() } else { name.shown() };
    let mut text = format!("diff --git a/{shown} b/{shown}\n");
    let mode = |node: Kind, mode: u32| match node {
        Kind::Link => "120000".to_owned(),
        Kind::Folder => format!("04{mode:04o}"),
        _ => format!("10{mode:04o}"),
    };
    match change.change {
        ChangeKind::Added => _ = writeln!(text, "new file mode {}", mode(change.kind, change.mode)),
        ChangeKind::Deleted => _ = writeln!(text, "deleted file mode {}", mode(change.kind, change.mode)),
        ChangeKind::Type => _ = writeln!(text, "type changed to {:?}", change.kind),
        ChangeKind::Modified | ChangeKind::Mode => match change.mode_before {
            Some(before) => {
                _ = writeln!(
                    text,
                    "old mode {}\nnew mode {}",
                    mode(change.kind, before),
                    mode(change.kind, change.mode)
                );
            }
            None if change.change == ChangeKind::Mode => text.push_str("attributes changed\n"),
            None => {}
        },
    }
    if matches!(change.kind, Kind::Folder | Kind::Pipe | Kind::Socket) || change.change == ChangeKind::Mode {
        return Ok(text);
    }
    if change.binary {
        _ = writeln!(text, "Binary file, {} bytes", change.bytes);
        return Ok(text);
    }
    let (Some(old), Some(new)) = (
        content(&layer.lower, name, change.change != ChangeKind::Added)?,
        content(&layer.upper, name, change.change != ChangeKind::Deleted)?,
    ) else {
        _ = writeln!(text, "Not compared: more than {DIFF_FILE_BYTES_MAX} bytes, or binary");
        return Ok(text);
    };
    let side =
        |letter: &str, there: bool| if there { format!("{letter}/{shown}") } else { "/dev/null".to_owned() };
    let lines = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(Duration::from_millis(DIFF_PATIENCE_MS))
        .diff_lines(old.as_slice(), new.as_slice());
    for line in lines.iter_all_changes() {
        match line.tag() {
            similar::ChangeTag::Insert => diff.added += 1,
            similar::ChangeTag::Delete => diff.removed += 1,
            similar::ChangeTag::Equal => {}
        }
    }
    let (from, to) =
        (side("a", change.change != ChangeKind::Added), side("b", change.change != ChangeKind::Deleted));
    _ = write!(text, "{}", lines.unified_diff().context_radius(3).header(&from, &to));
    Ok(text)
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
