//! `git status`: what is collected, and in which form it is asked for.

mod long;
mod porcelain;
mod short;

use std::collections::BTreeMap;

use super::change::{Change, Kind};
use super::decode::Commit;
use super::head::Head;
use super::index::{Entry, Index, read_index};
use super::objects::{self, Objects};
use super::refs::Refs;
use super::repository::Repository;
use super::tracking::{Upstream, upstream};
use super::untracked::Show;
use super::worktree::Worktree;
use super::{Attempt, Decline, rename, staged, untracked};
use crate::Context;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Long,
    Short,
    /// `--porcelain`, version 1.
    Porcelain,
    Porcelain2,
}

struct Options {
    format: Format,
    branch: bool,
    /// Lines end with a zero byte, and nothing is put in quotes.
    null: bool,
    show: Option<Show>,
}

/// A path in conflict: its entries at stages 1 to 3.
#[derive(Default)]
struct Unmerged {
    sides: [Option<Entry>; 3],
}

impl Unmerged {
    /// A bit for each side that is there.
    fn mask(&self) -> usize {
        self.sides.iter().enumerate().map(|(at, side)| usize::from(side.is_some()) << at).sum()
    }
}

/// Everything that a status tells.
struct Status<'r> {
    repository: &'r Repository,
    refs: &'r Refs<'r>,
    objects: &'r Objects<'r>,
    index: &'r Index,
    head: Head,
    upstream: Option<Upstream>,
    staged: Vec<Change>,
    unstaged: Vec<Change>,
    unmerged: BTreeMap<Vec<u8>, Unmerged>,
    untracked: Vec<Vec<u8>>,
    show: Show,
}

/// `git status [-s] [-b] [-z] [-u[MODE]] [--porcelain[=VERSION]] [--long]`.
pub(crate) fn run(context: &Context<'_>, words: &[Vec<u8>]) -> Attempt<Vec<u8>> {
    let options = parse(words)?;
    let repository = Repository::discover(context)?;
    let refs = Refs::open(&repository)?;
    let objects = Objects::new(&repository);
    let (index, written) = read_index(&repository)?;
    let show = match (options.show, repository.config.value("status", b"", "showuntrackedfiles")) {
        (Some(show), _) => show,
        (None, None) => Show::Normal,
        (None, Some(mode)) => show_mode(mode)?,
    };
    let head = Head::read(&refs)?;
    let upstream = match (&head.branch, &head.commit) {
        (Some(branch), Some(tip)) if options.format == Format::Long || options.branch => {
            upstream(&repository, &refs, &objects, branch, tip)?
        }
        _ => None,
    };
    let mut status = Status {
        repository: &repository,
        refs: &refs,
        objects: &objects,
        index: &index,
        head,
        upstream,
        staged: Vec::new(),
        unstaged: Vec::new(),
        unmerged: BTreeMap::new(),
        untracked: Vec::new(),
        show,
    };
    let mut worktree = Worktree::new(&repository, &index, written)?;
    status.compare(&mut worktree)?;
    match options.format {
        Format::Long => long::print(&status),
        Format::Short | Format::Porcelain => short::print(&status, &options),
        Format::Porcelain2 => porcelain::print(&status, &options, &mut worktree),
    }
}

impl Status<'_> {
    fn compare(&mut self, worktree: &mut Worktree<'_>) -> Attempt<()> {
        let tree = match &self.head.commit {
            Some(commit) => Some(Commit::parse(&self.objects.expect(commit, objects::Kind::Commit)?)?.tree),
            None => None,
        };
        self.staged =
            rename::detect(self.objects, staged::changes(self.objects, tree.as_ref(), self.index)?)?;
        for entry in &self.index.entries {
            if let Some(side) = usize::from(entry.stage).checked_sub(1) {
                let unmerged = self.unmerged.entry(entry.path.clone()).or_default();
                *unmerged.sides.get_mut(side).ok_or(Decline)? = Some(entry.clone());
            } else if let Some(change) = worktree.change(entry)? {
                self.unstaged.push(change);
            }
        }
        self.untracked = untracked::list(self.repository, self.index, self.show)?;
        Ok(())
    }

    /// Staged and unstaged changes by path.
    fn by_path(&self) -> BTreeMap<&[u8], (Option<&Change>, Option<&Change>)> {
        let mut all: BTreeMap<&[u8], (Option<&Change>, Option<&Change>)> = BTreeMap::new();
        for change in &self.staged {
            all.entry(&change.path).or_default().0 = Some(change);
        }
        for change in &self.unstaged {
            all.entry(&change.path).or_default().1 = Some(change);
        }
        all
    }
}

fn show_mode(mode: &[u8]) -> Attempt<Show> {
    match mode {
        b"no" => Ok(Show::No),
        b"normal" => Ok(Show::Normal),
        b"all" => Ok(Show::All),
        _ => Err(Decline),
    }
}

fn parse(words: &[Vec<u8>]) -> Attempt<Options> {
    let (mut format, mut branch, mut null, mut show) = (None, false, false, None);
    for word in words {
        match word.as_slice() {
            b"--short" => format = Some(Format::Short),
            b"--long" => format = Some(Format::Long),
            b"--porcelain" | b"--porcelain=v1" | b"--porcelain=1" => format = Some(Format::Porcelain),
            b"--porcelain=v2" | b"--porcelain=2" => format = Some(Format::Porcelain2),
            b"--branch" => branch = true,
            b"--no-branch" => branch = false,
            b"--null" => null = true,
            b"--untracked-files" => show = Some(Show::All),
            b"--ahead-behind" => {}
            [b'-', b'-', ..] => {
                let mode = word.strip_prefix(b"--untracked-files=").ok_or(Decline)?;
                show = Some(show_mode(mode)?);
            }
            [b'-', letters @ ..] if !letters.is_empty() => {
                for (at, letter) in letters.iter().enumerate() {
                    match letter {
                        b's' => format = Some(Format::Short),
                        b'b' => branch = true,
                        b'z' => null = true,
                        b'u' => {
                            let mode = letters.get(at + 1..).unwrap_or_default();
                            show = Some(if mode.is_empty() { Show::All } else { show_mode(mode)? });
                            break;
                        }
                        _ => return Err(Decline),
                    }
                }
            }
            // Paths.
            _ => return Err(Decline),
        }
    }
    let format = match format {
        Some(Format::Long) if null => return Err(Decline),
        Some(format) => format,
        None if null => Format::Porcelain,
        None => Format::Long,
    };
    Ok(Options { format, branch, null, show })
}

/// Whether there is a change and of what kind.
fn letter(change: Option<&Change>, none: u8) -> u8 {
    change.map_or(none, |change| Kind::letter(change.kind))
}
