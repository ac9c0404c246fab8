//! `mv`: renames files. Flags: `-f -n -v -T -t DIR`; moving between file systems and anything unusual is left to
//! the external program.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::context::reason;
use crate::cp::destinations;
use crate::options::parse;
use crate::{Context, Outcome};

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [
        ("force", b'f'),
        ("no-clobber", b'n'),
        ("verbose", b'v'),
        ("no-target-directory", b'T'),
        ("target-directory=", b't'),
    ];
    let Some(parsed) = parse(context.args, "fnvTt:", &long) else { return Ok(Outcome::Fallthrough) };
    if parsed.given.iter().filter(|(letter, _)| *letter == b't').count() > 1 {
        return Ok(Outcome::Fallthrough);
    }
    let pairs = destinations(context, &parsed.operands, parsed.value(b't'), parsed.has(b'T'));
    let Some(pairs) = pairs else { return Ok(Outcome::Fallthrough) };
    // Two names of one file, and a name that only a folder can have.
    let unusual = |(from, to): &(Vec<u8>, Vec<u8>)| {
        let (source, target) = (fs::canonicalize(context.path(from)), fs::canonicalize(context.path(to)));
        let folder = fs::symlink_metadata(context.path(from)).is_ok_and(|m| m.is_dir());
        source.is_ok_and(|source| target.is_ok_and(|target| source == target))
            || (from.ends_with(b"/") && !folder)
            // Whether these are looked at before what is in their way, and folders by names that change while they are used.
            || (parsed.has(b'n') && fs::symlink_metadata(context.path(from)).is_err())
            || (pairs.len() > 1 && fs::symlink_metadata(context.path(from)).is_ok_and(|m| m.is_symlink()))
    };
    if pairs.iter().any(unusual) {
        return Ok(Outcome::Fallthrough);
    }
    let asks = !parsed.has(b'f') && context.host.output_is_terminal();
    if asks || !pairs.iter().all(|(from, to)| is_ordinary(context, from, to)) {
        return Ok(Outcome::Fallthrough);
    }
    let mut status = 0;
    for (from, to) in &pairs {
        let (source, target) = (context.path(from).into_owned(), context.path(to).into_owned());
        let metadata = match fs::symlink_metadata(&source) {
            Ok(metadata) => metadata,
            Err(error) => {
                context.complain(&[b"cannot stat ", &context.quoted(from), b": ", reason(&error).as_bytes()]);
                status = 1;
                continue;
            }
        };
        if let Ok(existing) = fs::symlink_metadata(&target) {
            if parsed.last_of(b"fn") == Some(b'n') {
                continue;
            }
            if let Some(message) = refusal(context, &metadata, &existing, from, to) {
                context.complain(&[&message]);
                status = 1;
                continue;
            }
        }
        match fs::rename(&source, &target) {
            Ok(()) if parsed.has(b'v') => {
                let line =
                    [b"renamed ".as_slice(), &context.quoted(from), b" -> ", &context.quoted(to), b"\n"]
                        .concat();
                context.output.write_all(&line)?;
            }
            Ok(()) => {}
            Err(error) => {
                context.complain(&[
                    b"cannot move ",
                    &context.quoted(from),
                    b" to ",
                    &context.quoted(to),
                    b": ",
                    reason(&error).as_bytes(),
                ]);
                status = 1;
            }
        }
    }
    Ok(Outcome::Status(status))
}

/// Whether a rename will do: one file system, not one file under two names, not into itself.
fn is_ordinary(context: &Context<'_>, from: &[u8], to: &[u8]) -> bool {
    let (source, target) = (context.path(from).into_owned(), context.path(to).into_owned());
    let Ok(metadata) = fs::symlink_metadata(&source) else { return true };
    let parent = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(parent_metadata) = fs::metadata(parent) else { return false };
    if parent_metadata.dev() != metadata.dev() || from.last() == Some(&b'/') {
        return false;
    }
    if let Ok(existing) = fs::symlink_metadata(&target)
        && existing.ino() == metadata.ino()
        && existing.dev() == metadata.dev()
    {
        return false;
    }
    if !metadata.is_dir() {
        return true;
    }
    match (fs::canonicalize(&source), fs::canonicalize(parent)) {
        (Ok(source), Ok(parent)) => !parent.starts_with(source),
        _ => false,
    }
}

fn refusal(
    context: &Context<'_>,
    source: &fs::Metadata,
    target: &fs::Metadata,
    from: &[u8],
    to: &[u8],
) -> Option<Vec<u8>> {
    match (source.is_dir(), target.is_dir()) {
        (true, false) => Some(
            [
                b"cannot overwrite non-directory ".as_slice(),
                &context.quoted(to),
                b" with directory ",
                &context.quoted(from),
            ]
            .concat(),
        ),
        (false, true) => Some(
            [b"cannot overwrite directory ".as_slice(), &context.quoted(to), b" with non-directory"].concat(),
        ),
        _ => None,
    }
}
