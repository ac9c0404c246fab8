//! `git status --porcelain=v2`: modes and object names beside the letters.

use std::io::Write as _;

use super::super::index::Entry;
use super::super::oid::{NULL, Oid};
use super::super::quote::Paths;
use super::super::worktree::Worktree;
use super::short::conflict;
use super::{Options, Status, letter};
use crate::git::{Attempt, Decline};

pub(super) fn print(status: &Status<'_>, options: &Options, worktree: &mut Worktree<'_>) -> Attempt<Vec<u8>> {
    let paths = Paths {
        prefix: if options.null { b"" } else { &status.repository.prefix },
        ascii_only: status.repository.config.truth("core", "quotepath", true)?,
        blanks: false,
        plain: options.null,
    };
    let (end, between): (u8, u8) = if options.null { (0, 0) } else { (b'\n', b'\t') };
    let mut out = Vec::new();
    if options.branch {
        heading(status, end, &mut out)?;
    }
    for (path, (staged, unstaged)) in status.by_path() {
        let entry = status.index.entries.iter().find(|entry| entry.path == path);
        let now = entry.map_or((0, NULL), |entry| (entry.mode, entry.id));
        let (head, index) = staged.map_or((now, now), |change| (change.old, change.new));
        let file = unstaged.map_or(index.0, |change| change.new.0);
        let form = if staged.is_some_and(|change| change.from.is_some()) { '2' } else { '1' };
        let letters = [letter(staged, b'.'), letter(unstaged, b'.')];
        let fields = format!("{:06o} {:06o} {file:06o} {} {}", head.0, index.0, head.1, index.1);
        write!(out, "{form} {} N... {fields} ", String::from_utf8_lossy(&letters))?;
        let from = staged.and_then(|change| change.from.as_ref().map(|from| (change.score, from)));
        if let Some((score, _)) = from {
            write!(out, "R{score} ")?;
        }
        out.extend(paths.show(path));
        if let Some((_, from)) = from {
            out.push(between);
            out.extend(paths.show(from));
        }
        out.push(end);
    }
    for (path, unmerged) in &status.unmerged {
        let side = |at: usize| -> (u32, Oid) {
            let entry: Option<&Entry> = unmerged.sides.get(at).and_then(Option::as_ref);
            entry.map_or((0, NULL), |entry| (entry.mode, entry.id))
        };
        let letters = String::from_utf8_lossy(conflict(unmerged.mask())?);
        let any = unmerged.sides.iter().flatten().next().ok_or(Decline)?;
        let file = worktree.mode_now(any)?;
        let (a, b, c) = (side(0), side(1), side(2));
        write!(
            out,
            "u {letters} N... {:06o} {:06o} {:06o} {file:06o} {} {} {} ",
            a.0, b.0, c.0, a.1, b.1, c.1
        )?;
        out.extend(paths.show(path));
        out.push(end);
    }
    for path in &status.untracked {
        out.extend(b"? ");
        out.extend(paths.show(path));
        out.push(end);
    }
    Ok(out)
}

fn heading(status: &Status<'_>, end: u8, out: &mut Vec<u8>) -> Attempt<()> {
    match &status.head.commit {
        Some(commit) => write!(out, "# branch.oid {commit}")?,
        None => out.extend(b"# branch.oid (initial)"),
    }
    out.push(end);
    out.extend(b"# branch.head ");
    out.extend(status.head.branch.as_deref().unwrap_or(b"(detached)"));
    out.push(end);
    if let Some(upstream) = &status.upstream {
        out.extend(b"# branch.upstream ");
        out.extend(upstream.short(status.refs)?);
        out.push(end);
        if let Some((ahead, behind)) = upstream.apart {
            write!(out, "# branch.ab +{ahead} -{behind}")?;
            out.push(end);
        }
    }
    Ok(())
}
