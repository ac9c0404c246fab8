//! `git status --short` and `--porcelain`: one line for each path.

use super::super::quote::Paths;
use super::{Format, Options, Status, letter};
use crate::git::{Attempt, Decline};

/// The letters for the sides that a conflict has.
const CONFLICTS: [&[u8]; 8] = [b"", b"DD", b"AU", b"UD", b"UA", b"DU", b"AA", b"UU"];

/// The letters of a conflict with these sides.
pub(super) fn conflict(mask: usize) -> Attempt<&'static [u8]> {
    CONFLICTS.get(mask).copied().filter(|letters| !letters.is_empty()).ok_or(Decline)
}

pub(super) fn print(status: &Status<'_>, options: &Options) -> Attempt<Vec<u8>> {
    let paths = Paths {
        prefix: if options.format == Format::Short && !options.null {
            &status.repository.prefix
        } else {
            b""
        },
        ascii_only: status.repository.config.truth("core", "quotepath", true)?,
        blanks: true,
        plain: options.null,
    };
    let end: u8 = if options.null { 0 } else { b'\n' };
    let mut out = Vec::new();
    if options.branch {
        heading(status, &mut out)?;
        out.push(end);
    }
    let mut lines: Vec<(&[u8], Vec<u8>)> = Vec::new();
    for (path, (staged, unstaged)) in status.by_path() {
        let mut line = vec![letter(staged, b' '), letter(unstaged, b' '), b' '];
        match staged.and_then(|change| change.from.as_ref()) {
            Some(from) if options.null => {
                line.extend([paths.show(path).as_slice(), b"\0", &paths.show(from)].concat())
            }
            Some(from) => line.extend([paths.show(from).as_slice(), b" -> ", &paths.show(path)].concat()),
            None => line.extend(paths.show(path)),
        }
        lines.push((path, line));
    }
    for (path, unmerged) in &status.unmerged {
        lines.push((path, [conflict(unmerged.mask())?, b" ", &paths.show(path)].concat()));
    }
    lines.sort_by_key(|(path, _)| *path);
    let untracked = status.untracked.iter().map(|path| [b"?? ".as_slice(), &paths.show(path)].concat());
    for line in lines.into_iter().map(|(_, line)| line).chain(untracked) {
        out.extend(line);
        out.push(end);
    }
    Ok(out)
}

/// `## BRANCH...UPSTREAM [ahead N, behind M]`.
fn heading(status: &Status<'_>, out: &mut Vec<u8>) -> Attempt<()> {
    out.extend(b"## ");
    if status.head.commit.is_none() {
        out.extend(b"No commits yet on ");
    }
    let Some(branch) = &status.head.branch else {
        out.extend(b"HEAD (no branch)");
        return Ok(());
    };
    out.extend(branch);
    let Some(upstream) = &status.upstream else { return Ok(()) };
    out.extend(b"...");
    out.extend(upstream.short(status.refs)?);
    let track = upstream.track();
    if !track.is_empty() {
        out.extend([b" ", track.as_bytes()].concat());
    }
    Ok(())
}
