//! `realpath`: absolute names without links. Flags: `-e -m -s -q -z` and `--relative-to` is left to the external
//! program.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::context::reason;
use crate::options::parse;
use crate::{Context, Outcome};

/// Links followed before it counts as a loop; the kernel's own limit.
const LINKS_MAX: usize = 40;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Existence {
    /// Every component must exist.
    All,
    /// Every component but the last.
    AllButLast,
    None,
}

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [
        ("canonicalize-existing", b'e'),
        ("canonicalize-missing", b'm'),
        ("no-symlinks", b's'),
        ("strip", b's'),
        ("quiet", b'q'),
        ("zero", b'z'),
    ];
    let Some(parsed) = parse(context.args, "emsqz", &long) else { return Ok(Outcome::Fallthrough) };
    if parsed.operands.is_empty() || parsed.operands.iter().any(|o| o.is_empty()) {
        return Ok(Outcome::Fallthrough);
    }
    // Without following links, what has to exist is decided differently.
    let missing = |word: &&[u8]| std::fs::metadata(context.path(word)).is_err();
    if parsed.has(b's') && parsed.operands.iter().any(missing) {
        return Ok(Outcome::Fallthrough);
    }
    let existence = match parsed.last_of(b"em") {
        Some(b'e') => Existence::All,
        Some(_) => Existence::None,
        None => Existence::AllButLast,
    };
    let end = if parsed.has(b'z') { 0 } else { b'\n' };
    let mut status = 0;
    for word in &parsed.operands {
        match resolve(context, word, existence, !parsed.has(b's')) {
            Ok(path) => {
                context.output.write_all(&path)?;
                context.output.write_all(&[end])?;
            }
            Err(error) => {
                if !parsed.has(b'q') {
                    context.complain(&[&context.before_colon(word), b": ", reason(&error).as_bytes()]);
                }
                status = 1;
            }
        }
    }
    Ok(Outcome::Status(status))
}

fn resolve(context: &Context<'_>, word: &[u8], existence: Existence, links: bool) -> io::Result<Vec<u8>> {
    let absolute = if word.first() == Some(&b'/') {
        PathBuf::from(OsStr::from_bytes(word))
    } else if context.directory.as_os_str().is_empty() {
        std::env::current_dir()?.join(OsStr::from_bytes(word))
    } else {
        std::path::absolute(context.directory)?.join(OsStr::from_bytes(word))
    };
    let trimmed =
        word.iter().rposition(|b| *b != b'/').map_or(&b""[..], |last| word.get(..=last).unwrap_or_default());
    let ends_in_dot = trimmed.ends_with(b"/.");
    let must_be_directory = ends_in_dot || word.last() == Some(&b'/');
    let mut pending: VecDeque<Vec<u8>> = components(absolute.as_os_str().as_bytes()).collect();
    let mut resolved = PathBuf::from("/");
    let mut followed = 0;
    while let Some(component) = pending.pop_front() {
        if component == b".." {
            resolved.pop();
            continue;
        }
        let candidate = resolved.join(OsStr::from_bytes(&component));
        let metadata = match std::fs::symlink_metadata(&candidate) {
            Ok(metadata) => Some(metadata),
            Err(error) => {
                let last = pending.is_empty();
                let tolerated = match existence {
                    Existence::All => false,
                    Existence::AllButLast => last && !ends_in_dot && error.kind() == ErrorKind::NotFound,
                    Existence::None => true,
                };
                if !tolerated {
                    return Err(error);
                }
                None
            }
        };
        if links && metadata.as_ref().is_some_and(|m| m.is_symlink()) {
            followed += 1;
            if followed > LINKS_MAX {
                return Err(io::Error::from_raw_os_error(TOO_MANY_LINKS));
            }
            let target = std::fs::read_link(&candidate)?.into_os_string().into_vec();
            if target.first() == Some(&b'/') {
                resolved = PathBuf::from("/");
            }
            for part in components(&target).collect::<Vec<_>>().into_iter().rev() {
                pending.push_front(part);
            }
            continue;
        }
        let needs_directory = !pending.is_empty() || must_be_directory;
        let follows = metadata.is_some() && needs_directory && existence != Existence::None;
        if follows && !std::fs::metadata(&candidate).is_ok_and(|m| m.is_dir()) {
            return Err(ErrorKind::NotADirectory.into());
        }
        resolved = candidate;
    }
    Ok(Path::into_path_buf(resolved.into_boxed_path()).into_os_string().into_vec())
}

/// ELOOP
const TOO_MANY_LINKS: i32 = 40;

fn components(path: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    path.split(|&b| b == b'/').filter(|c| !c.is_empty() && *c != b".").map(<[u8]>::to_vec)
}
