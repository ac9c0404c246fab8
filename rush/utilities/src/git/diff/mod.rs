//! `git diff`: which paths differ between work tree, index and commits, and in which form that is shown.

mod lines;
mod options;
mod patch;
mod slide;
mod stat;

use std::collections::BTreeMap;

use super::attributes::Attributes;
use super::change::{Change, Kind};
use super::decode::Commit;
use super::head::Head;
use super::index::{Index, read_index};
use super::objects::{self, Objects};
use super::oid::{self, Oid};
use super::refs::Refs;
use super::repository::Repository;
use super::worktree::{Worktree, hash_blob};
use super::{Attempt, Decline, rename, staged};
use crate::Context;
use crate::limits::{GIT_DIFF_BYTES_MAX, GIT_DIFF_PATHS_MAX};
use options::{Operands, Options};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Patch,
    Stat,
    ShortStat,
    Numbers,
    Names,
    Letters,
}

/// A file on one side of a change; nothing of a side that is not there.
struct Blob {
    mode: u32,
    id: Oid,
    content: Vec<u8>,
}

/// A change with the content on both sides.
struct Pair<'c> {
    change: &'c Change,
    old: Blob,
    new: Blob,
}

struct Printer<'r> {
    objects: &'r Objects<'r>,
    /// Bytes of 128 and above are put in quotes.
    ascii_only: bool,
    /// What stands before the names on both sides.
    prefixes: (&'static [u8], &'static [u8]),
    /// Unchanged lines around changes.
    context: usize,
}

/// Everything that is compared.
struct Compared<'r> {
    objects: &'r Objects<'r>,
    index: &'r Index,
    worktree: Worktree<'r>,
    operands: Operands,
}

/// `git diff [--cached] [--stat|--numstat|--shortstat|--name-only|--name-status|-p] [-UN] [-z] [--quiet] [--exit-code]
/// [--no-renames] [--diff-filter=KINDS] [COMMIT [COMMIT]] [--] [PATH]...`: the text and the status.
pub(crate) fn run(context: &Context<'_>, words: &[Vec<u8>]) -> Attempt<(Vec<u8>, i32)> {
    let options = Options::parse(words)?;
    let repository = Repository::discover(context)?;
    let config = &repository.config;
    // What is counted as binary, and how hunks are named, may be set.
    let set = |section: &str, subsection: &[u8], key: &str| config.value(section, subsection, key).is_some();
    if set("core", b"", "bigfilethreshold") || config.has_section("diff", b"default") {
        return Err(Decline);
    }
    let refs = Refs::open(&repository)?;
    let objects = Objects::new(&repository);
    let operands = options.operands(context, &repository, &refs, &objects)?;
    let (index, written) = read_index(&repository)?;
    let worktree = Worktree::new(&repository, &index, written)?;
    let mut compared = Compared { objects: &objects, index: &index, worktree, operands };
    let mut changes = compared.changes(&options, &refs)?;
    changes.retain(|change| options.wants(change));
    let status = i32::from(options.tell && !changes.is_empty());
    if options.quiet {
        return Ok((Vec::new(), status));
    }
    let printer = Printer {
        objects: &objects,
        ascii_only: config.truth("core", "quotepath", true)?,
        prefixes: if options.prefixes { (b"a/", b"b/") } else { (b"", b"") },
        context: options.context,
    };
    let named = matches!(options.format, Format::Names | Format::Letters);
    if changes.len() > GIT_DIFF_PATHS_MAX && !named {
        return Err(Decline);
    }
    let mut attributes = Attributes::new(&repository, &index);
    let mut pairs = Vec::with_capacity(changes.len());
    for change in &changes {
        context.poll()?;
        let plain = named
            || (attributes.shown_plainly(&change.path)?
                && change.from.as_ref().map_or(Ok(true), |from| attributes.shown_plainly(from))?);
        pairs.push(compared.pair(change, plain, !named)?);
    }
    let text = match options.format {
        Format::Names | Format::Letters => {
            printer.names(&pairs, options.format == Format::Letters, options.null)
        }
        Format::Patch => {
            let mut out = Vec::new();
            for pair in &pairs {
                context.poll()?;
                printer.patch(pair, &mut out)?;
            }
            out
        }
        format => printer.stat(&pairs, format, columns(context)?)?,
    };
    Ok((text, status))
}

/// The width that `COLUMNS` gives the output.
fn columns(context: &Context<'_>) -> Attempt<Option<usize>> {
    let Some(value) = context.host.variable("COLUMNS").filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let width =
        crate::options::number(&value).and_then(|width| usize::try_from(width).ok()).ok_or(Decline)?;
    Ok((1..1 << 16).contains(&width).then_some(width))
}

impl<'r> Compared<'r> {
    fn changes(&mut self, options: &Options<'_>, refs: &Refs<'_>) -> Attempt<Vec<Change>> {
        let (changes, stored) = match (self.operands.commits.as_slice(), options.cached) {
            ([], false) => (self.unstaged()?, false),
            ([], true) => {
                let tree = Head::read(refs)?.commit.map(|commit| self.tree(&commit)).transpose()?;
                (self.staged(tree.as_ref())?, true)
            }
            ([commit], true) => (self.staged(Some(&self.tree(commit)?))?, true),
            ([commit], false) => (self.since(&self.tree(commit)?)?, false),
            ([old, new], false) => (staged::between(self.objects, &self.tree(old)?, &self.tree(new)?)?, true),
            _ => return Err(Decline),
        };
        let asked: Vec<Change> = changes.into_iter().filter(|c| self.operands.cover(&c.path)).collect();
        let has = |kind: Kind| asked.iter().any(|change| change.kind == kind);
        match (options.renames && has(Kind::Added) && has(Kind::Deleted), stored) {
            (false, _) => Ok(asked),
            (true, true) => rename::detect(self.objects, asked),
            // The content of new files is not in the store.
            (true, false) => Err(Decline),
        }
    }

    fn tree(&self, commit: &Oid) -> Attempt<Oid> {
        Ok(Commit::parse(&self.objects.expect(commit, objects::Kind::Commit)?)?.tree)
    }

    /// From the index to the work tree.
    fn unstaged(&mut self) -> Attempt<Vec<Change>> {
        let mut changes = Vec::new();
        for entry in self.index.entries.iter().filter(|entry| self.operands.cover(&entry.path)) {
            // Conflicts are shown in a form of their own.
            if entry.stage > 0 {
                return Err(Decline);
            }
            changes.extend(self.worktree.change(entry)?);
        }
        Ok(changes)
    }

    /// From a tree to the index.
    fn staged(&self, tree: Option<&Oid>) -> Attempt<Vec<Change>> {
        if self.index.entries.iter().any(|entry| entry.stage > 0) {
            return Err(Decline);
        }
        staged::changes(self.objects, tree, self.index)
    }

    /// From a tree to the work tree, for what is in the tree or in the index.
    fn since(&mut self, tree: &Oid) -> Attempt<Vec<Change>> {
        let changes = self.staged(Some(tree))?.into_iter();
        let mut all: BTreeMap<Vec<u8>, Change> =
            changes.map(|change| (change.path.clone(), change)).collect();
        for later in self.unstaged()? {
            let old = all.get(&later.path).map_or(later.old, |change| change.old);
            let mut change = Change { kind: Kind::between(old.0, later.new.0), old, ..later };
            // What was changed in the index may have been changed back.
            let same = match (change.old.0, change.new.0) {
                (0, 0) => true,
                (old, new) if old == new => {
                    hash_blob(&self.worktree.content_now(&change.path)?) == change.old.1
                }
                _ => false,
            };
            if same {
                all.remove(&change.path);
            } else {
                change.from = None;
                all.insert(change.path.clone(), change);
            }
        }
        Ok(all.into_values().collect())
    }

    /// The change with its content, if that is wanted.
    fn pair<'c>(&mut self, change: &'c Change, plain: bool, content: bool) -> Attempt<Pair<'c>> {
        if !plain {
            return Err(Decline);
        }
        let (mode, id) = change.old;
        let mut old = Blob { mode, id, content: Vec::new() };
        let (mode, id) = change.new;
        let mut new = Blob { mode, id, content: Vec::new() };
        if content {
            for blob in [&mut old, &mut new] {
                if blob.id != oid::NULL {
                    blob.content = self.objects.expect(&blob.id, objects::Kind::Blob)?;
                } else if blob.mode != 0 {
                    blob.content = self.worktree.content_now(&change.path)?;
                    blob.id = hash_blob(&blob.content);
                }
                if blob.content.len() > GIT_DIFF_BYTES_MAX {
                    return Err(Decline);
                }
            }
        }
        Ok(Pair { change, old, new })
    }
}
