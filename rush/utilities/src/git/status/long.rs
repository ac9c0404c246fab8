//! `git status` in sentences.

use std::io::Write as _;

use super::super::change::{Change, Kind};
use super::super::head::detached;
use super::super::quote::Paths;
use super::{Show, Status};
use crate::git::{Attempt, Decline};

/// The width of the column of `new file:` and the like.
const CHANGE_WIDTH: usize = 12;
/// The width of the column of `both modified:` and the like.
const CONFLICT_WIDTH: usize = 17;

/// What is said about a conflict with these sides.
const CONFLICTS: [&str; 8] = [
    "",
    "both deleted:",
    "added by us:",
    "deleted by them:",
    "added by them:",
    "deleted by us:",
    "both added:",
    "both modified:",
];

/// Files that tell of operations in progress which are left to git.
const OPERATIONS: [&[u8]; 6] =
    [b"rebase-merge", b"rebase-apply", b"CHERRY_PICK_HEAD", b"REVERT_HEAD", b"BISECT_LOG", b"sequencer"];

struct Printer<'s> {
    status: &'s Status<'s>,
    paths: Paths<'s>,
    out: Vec<u8>,
    merging: bool,
}

pub(super) fn print(status: &Status<'_>) -> Attempt<Vec<u8>> {
    if OPERATIONS.iter().any(|name| status.repository.has_git_file(name)) {
        return Err(Decline);
    }
    let paths = Paths {
        prefix: &status.repository.prefix,
        ascii_only: status.repository.config.truth("core", "quotepath", true)?,
        blanks: false,
        plain: false,
    };
    let merging = status.repository.has_git_file(b"MERGE_HEAD");
    let mut printer = Printer { status, paths, out: Vec::new(), merging };
    printer.heading()?;
    printer.staged();
    printer.unmerged()?;
    printer.unstaged();
    printer.untracked();
    printer.ending();
    Ok(printer.out)
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        self.out.extend(text.as_bytes());
        self.out.push(b'\n');
    }

    fn heading(&mut self) -> Attempt<()> {
        let status = self.status;
        match (&status.head.branch, &status.head.commit) {
            (Some(branch), _) => self.out.extend([b"On branch ", branch.as_slice()].concat()),
            (None, Some(commit)) => match detached(status.repository, status.refs, status.objects, commit)? {
                Some(place) => {
                    let how = if place.still { "at" } else { "from" };
                    write!(self.out, "HEAD detached {how} ")?;
                    self.out.extend(place.name);
                }
                None => self.out.extend(b"Not currently on any branch."),
            },
            (None, None) => return Err(Decline),
        }
        self.out.push(b'\n');
        self.upstream()?;
        if self.merging {
            if status.unmerged.is_empty() {
                self.line("All conflicts fixed but you are still merging.");
                self.line("  (use \"git commit\" to conclude merge)");
            } else {
                self.line("You have unmerged paths.");
                self.line("  (fix conflicts and run \"git commit\")");
                self.line("  (use \"git merge --abort\" to abort the merge)");
            }
            self.line("");
        }
        if status.head.commit.is_none() {
            self.line("\nNo commits yet\n");
        }
        Ok(())
    }

    fn upstream(&mut self) -> Attempt<()> {
        let Some(upstream) = &self.status.upstream else { return Ok(()) };
        let name = upstream.short(self.status.refs)?;
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let (before, after) = match upstream.apart {
            None => (
                "is based on",
                ", but the upstream is gone.\n  (use \"git branch --unset-upstream\" to fixup)".into(),
            ),
            Some((0, 0)) => ("is up to date with", ".".to_owned()),
            Some((ahead, 0)) => (
                "is ahead of",
                format!(
                    " by {ahead} commit{}.\n  (use \"git push\" to publish your local commits)",
                    plural(ahead)
                ),
            ),
            Some((0, behind)) => (
                "is behind",
                format!(
                    " by {behind} commit{}, and can be fast-forwarded.\n  (use \"git pull\" to update your local branch)",
                    plural(behind)
                ),
            ),
            // Releases of git word this hint differently.
            Some(_) => return Err(Decline),
        };
        self.out.extend(
            [b"Your branch ", before.as_bytes(), b" '", &name, b"'", after.as_bytes(), b"\n\n"].concat(),
        );
        Ok(())
    }

    /// How something is taken out of the index again; during a merge nothing is said.
    fn unstaging_hint(&mut self) {
        match (self.merging, &self.status.head.commit) {
            (true, _) => {}
            (false, Some(_)) => self.line("  (use \"git restore --staged <file>...\" to unstage)"),
            (false, None) => self.line("  (use \"git rm --cached <file>...\" to unstage)"),
        }
    }

    fn change(&mut self, change: &Change) {
        let what = match change.kind {
            Kind::Added => "new file:",
            Kind::Deleted => "deleted:",
            Kind::Modified => "modified:",
            Kind::Renamed => "renamed:",
            Kind::TypeChanged => "typechange:",
        };
        self.out.extend(format!("\t{what:CHANGE_WIDTH$}").into_bytes());
        if let Some(from) = &change.from {
            self.out.extend([self.paths.show(from).as_slice(), b" -> "].concat());
        }
        self.out.extend(self.paths.show(&change.path));
        self.out.push(b'\n');
    }

    fn staged(&mut self) {
        if self.status.staged.is_empty() {
            return;
        }
        self.line("Changes to be committed:");
        self.unstaging_hint();
        self.status.staged.iter().for_each(|change| self.change(change));
        self.line("");
    }

    fn unmerged(&mut self) -> Attempt<()> {
        let status = self.status;
        if status.unmerged.is_empty() {
            return Ok(());
        }
        let masks: Vec<usize> = status.unmerged.values().map(|u| u.mask()).collect();
        let both_deleted = masks.contains(&1);
        let one_deleted = masks.iter().any(|mask| matches!(mask, 3 | 5));
        let not_deleted = masks.iter().any(|mask| matches!(mask, 2 | 4 | 6 | 7));
        self.line("Unmerged paths:");
        self.unstaging_hint();
        self.line(match (both_deleted, one_deleted) {
            (false, false) => "  (use \"git add <file>...\" to mark resolution)",
            (true, false) if !not_deleted => "  (use \"git rm <file>...\" to mark resolution)",
            _ => "  (use \"git add/rm <file>...\" as appropriate to mark resolution)",
        });
        for (path, unmerged) in &status.unmerged {
            let what = CONFLICTS.get(unmerged.mask()).copied().ok_or(Decline)?;
            self.out.extend(format!("\t{what:CONFLICT_WIDTH$}").into_bytes());
            self.out.extend(self.paths.show(path));
            self.out.push(b'\n');
        }
        self.line("");
        Ok(())
    }

    fn unstaged(&mut self) {
        let changes = &self.status.unstaged;
        if changes.is_empty() {
            return;
        }
        let any_deleted = changes.iter().any(|change| change.kind == Kind::Deleted);
        self.line("Changes not staged for commit:");
        self.line(if any_deleted {
            "  (use \"git add/rm <file>...\" to update what will be committed)"
        } else {
            "  (use \"git add <file>...\" to update what will be committed)"
        });
        self.line("  (use \"git restore <file>...\" to discard changes in working directory)");
        changes.iter().for_each(|change| self.change(change));
        self.line("");
    }

    fn untracked(&mut self) {
        let status = self.status;
        if status.show == Show::No {
            if self.is_committable() {
                self.line("Untracked files not listed (use -u option to show untracked files)");
            }
            return;
        }
        if status.untracked.is_empty() {
            return;
        }
        self.line("Untracked files:");
        self.line("  (use \"git add <file>...\" to include in what will be committed)");
        for path in &status.untracked {
            self.out.push(b'\t');
            self.out.extend(self.paths.show(path));
            self.out.push(b'\n');
        }
        self.line("");
    }

    fn is_committable(&self) -> bool {
        !self.status.staged.is_empty() || (self.merging && self.status.unmerged.is_empty())
    }

    fn ending(&mut self) {
        let status = self.status;
        if self.is_committable() {
            return;
        }
        self.line(if !status.unstaged.is_empty() || !status.unmerged.is_empty() {
            "no changes added to commit (use \"git add\" and/or \"git commit -a\")"
        } else if !status.untracked.is_empty() {
            "nothing added to commit but untracked files present (use \"git add\" to track)"
        } else if status.head.commit.is_none() {
            "nothing to commit (create/copy files and use \"git add\" to track)"
        } else if status.show == Show::No {
            "nothing to commit (use -u to show untracked files)"
        } else {
            "nothing to commit, working tree clean"
        });
    }
}
