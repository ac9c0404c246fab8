//! `rm`: removes files and directories. Flags: `-f -r -R -d`, `-v` without recursion; asking first is left to
//! the external program.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::basename::base_name;
use crate::context::reason;
use crate::options::parse;
use crate::{Context, Outcome};

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [("force", b'f'), ("recursive", b'r'), ("dir", b'd'), ("verbose", b'v')];
    let Some(parsed) = parse(context.args, "frRdv", &long) else { return Ok(Outcome::Fallthrough) };
    let recursive = parsed.has(b'r') || parsed.has(b'R');
    let force = parsed.has(b'f');
    let verbose = parsed.has(b'v');
    let asks = !force && context.host.output_is_terminal();
    let folder_by_itself = |word: &&[u8]| word.ends_with(b"/") || matches!(base_name(word), b"." | b"..");
    // What `-d` says of empty folders, and of names that are not their own, is left to GNU.
    if parsed.has(b'd') && !recursive && (verbose || parsed.operands.iter().any(folder_by_itself)) {
        return Ok(Outcome::Fallthrough);
    }
    // A link with a slash behind it is neither the link nor what it leads to.
    let slashed_link = |word: &&[u8]| {
        word.strip_suffix(b"/")
            .is_some_and(|name| fs::symlink_metadata(context.path(name)).is_ok_and(|m| m.is_symlink()))
    };
    if parsed.operands.iter().any(slashed_link) {
        return Ok(Outcome::Fallthrough);
    }
    let names_root = parsed.operands.iter().any(|o| !o.is_empty() && o.iter().all(|&b| b == b'/'));
    if (recursive && verbose) || asks || names_root || (parsed.operands.is_empty() && !force) {
        return Ok(Outcome::Fallthrough);
    }
    let mut status = 0;
    for word in &parsed.operands {
        context.poll()?;
        let base = word.iter().rposition(|&b| b != b'/').map_or(&b""[..], |end| {
            let name = word.get(..=end).unwrap_or_default();
            name.get(name.iter().rposition(|&b| b == b'/').map_or(0, |p| p + 1)..).unwrap_or_default()
        });
        if recursive && matches!(base, b"." | b"..") && fs::symlink_metadata(context.path(word)).is_ok() {
            let shown = context.quoted(word);
            context.complain(&[b"refusing to remove '.' or '..' directory: skipping ", &shown]);
            status = 1;
            continue;
        }
        let path = context.path(word).into_owned();
        let result = match fs::symlink_metadata(&path) {
            Err(error) => Err((word.to_vec(), error)),
            Ok(metadata) if metadata.is_dir() => remove_directory(word, &path, recursive, parsed.has(b'd')),
            Ok(_) => fs::remove_file(&path).map_err(|e| (word.to_vec(), e)),
        };
        match result {
            Ok(()) if verbose => {
                context.output.write_all(&[b"removed ".as_slice(), &context.quoted(word), b"\n"].concat())?;
            }
            Ok(()) => {}
            Err((_, error))
                if force && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err((name, error)) => {
                context.complain(&[
                    b"cannot remove ",
                    &context.quoted(&name),
                    b": ",
                    reason(&error).as_bytes(),
                ]);
                status = 1;
            }
        }
    }
    Ok(Outcome::Status(status))
}

type Removal = Result<(), (Vec<u8>, io::Error)>;

fn remove_directory(word: &[u8], path: &Path, recursive: bool, empty: bool) -> Removal {
    let failed = |error| (word.to_vec(), error);
    if recursive {
        return match fs::remove_dir_all(path) {
            Ok(()) => Ok(()),
            Err(error) => Err(find_obstacle(word, path, 0).unwrap_or_else(|| failed(error))),
        };
    }
    if empty {
        return fs::remove_dir(path).map_err(failed);
    }
    Err(failed(ErrorKind::IsADirectory.into()))
}

/// The file inside a directory that cannot be removed, for the message.
fn find_obstacle(word: &[u8], path: &Path, depth: usize) -> Option<(Vec<u8>, io::Error)> {
    use std::os::unix::ffi::OsStrExt;
    if depth > crate::limits::DIRECTORY_DEPTH_MAX {
        return None;
    }
    let reader = match fs::read_dir(path) {
        Ok(reader) => reader,
        Err(error) => return Some((word.to_vec(), error)),
    };
    for entry in reader.flatten() {
        let inner = [word, b"/", entry.file_name().as_bytes()].concat();
        let is_directory = entry.file_type().is_ok_and(|t| t.is_dir());
        let found = if is_directory {
            find_obstacle(&inner, &entry.path(), depth + 1)
        } else {
            fs::remove_file(entry.path()).err().map(|error| (inner, error))
        };
        if found.is_some() {
            return found;
        }
    }
    fs::remove_dir(path).err().map(|error| (word.to_vec(), error))
}
