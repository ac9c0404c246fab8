//! `git branch`: lists branches.

use super::decode::Commit;
use super::head::{Head, detached};
use super::objects::{self, Objects};
use super::oid::Oid;
use super::refs::{Refs, Target};
use super::repository::Repository;
use super::tracking::{short_name, upstream};
use super::{Attempt, Decline};
use crate::Context;

#[derive(Default)]
struct Options {
    local: bool,
    remote: bool,
    verbose: bool,
    current: bool,
}

/// A line to be.
struct Branch {
    current: bool,
    name: Vec<u8>,
    id: Oid,
    /// What a symbolic ref leads to, as it is shown.
    target: Option<Vec<u8>>,
    /// The name without `refs/heads/`, for a local branch.
    local: Option<Vec<u8>>,
}

/// `git branch [-a] [-r] [-v] [--list] [--show-current]`.
pub(crate) fn run(context: &Context<'_>, words: &[Vec<u8>]) -> Attempt<Vec<u8>> {
    let options = parse(words)?;
    let repository = Repository::discover(context)?;
    let refs = Refs::open(&repository)?;
    let head = Head::read(&refs)?;
    if options.current {
        return Ok(head.branch.map(|branch| [branch.as_slice(), b"\n"].concat()).unwrap_or_default());
    }
    // Branches of other work trees are marked, and the column setting folds the list.
    if repository.has_git_file(b"worktrees") {
        return Err(Decline);
    }
    let objects = Objects::new(&repository);
    let branches = collect(&repository, &refs, &objects, &head, &options)?;
    let width = branches.iter().map(|branch| columns(&branch.name)).max().unwrap_or_default();
    let mut out = Vec::new();
    for branch in &branches {
        out.extend(if branch.current { b"* " } else { b"  " });
        out.extend(&branch.name);
        if options.verbose {
            out.extend(b" ".repeat(width - columns(&branch.name)));
        }
        if let Some(target) = &branch.target {
            out.extend([b" -> ", target.as_slice()].concat());
        } else if options.verbose {
            out.extend(details(&repository, &refs, &objects, branch)?);
        }
        out.push(b'\n');
    }
    Ok(out)
}

fn collect(
    repository: &Repository,
    refs: &Refs<'_>,
    objects: &Objects<'_>,
    head: &Head,
    options: &Options,
) -> Attempt<Vec<Branch>> {
    let mut branches = Vec::new();
    if let (None, Some(commit), true) = (&head.branch, &head.commit, options.local) {
        let busy: [&[u8]; 3] = [b"rebase-merge", b"rebase-apply", b"BISECT_LOG"];
        if busy.iter().any(|name| repository.has_git_file(name)) {
            return Err(Decline);
        }
        let name = match detached(repository, refs, objects, commit)? {
            Some(place) if place.still => [b"(HEAD detached at ", place.name.as_slice(), b")"].concat(),
            Some(place) => [b"(HEAD detached from ", place.name.as_slice(), b")"].concat(),
            None => b"(no branch)".to_vec(),
        };
        branches.push(Branch { current: true, name, id: *commit, target: None, local: None });
    }
    if options.local {
        for (name, target) in refs.below(b"refs/heads/")? {
            let Target::Direct(id) = target else { return Err(Decline) };
            let short = name.strip_prefix(b"refs/heads/").ok_or(Decline)?.to_vec();
            let current = head.branch.as_ref() == Some(&short);
            branches.push(Branch { current, name: short.clone(), id, target: None, local: Some(short) });
        }
    }
    if options.remote {
        let shown = if options.local { b"remotes/".as_slice() } else { b"" };
        for (name, target) in refs.below(b"refs/remotes/")? {
            let short = [shown, name.strip_prefix(b"refs/remotes/").ok_or(Decline)?].concat();
            let id = refs.resolve(&name)?.ok_or(Decline)?;
            let target = match target {
                Target::Direct(_) => None,
                Target::Symbolic(to) => Some(short_name(&to, refs)?),
            };
            branches.push(Branch { current: false, name: short, id, target, local: None });
        }
    }
    Ok(branches)
}

/// What `-v` says of a branch: its commit, how far it is from what it follows, the subject.
fn details(
    repository: &Repository,
    refs: &Refs<'_>,
    objects: &Objects<'_>,
    branch: &Branch,
) -> Attempt<Vec<u8>> {
    let commit = Commit::parse(&objects.expect(&branch.id, objects::Kind::Commit)?)?;
    let mut out = format!(" {} ", objects.abbreviate(&branch.id)?).into_bytes();
    let upstream = match &branch.local {
        Some(local) => upstream(repository, refs, objects, local, &branch.id)?,
        None => None,
    };
    if let Some(upstream) = upstream {
        out.extend(upstream.track().into_bytes());
        if !out.ends_with(b" ") {
            out.push(b' ');
        }
    }
    out.extend(commit.subject());
    Ok(out)
}

/// Columns that a name takes; names whose width needs a table decline by being odd in `-v` only.
fn columns(name: &[u8]) -> usize {
    String::from_utf8_lossy(name).chars().count()
}

fn parse(words: &[Vec<u8>]) -> Attempt<Options> {
    let mut options = Options { local: true, ..Options::default() };
    let mut list = false;
    for word in words {
        match word.as_slice() {
            b"-a" | b"--all" => (options.local, options.remote) = (true, true),
            b"-r" | b"--remotes" => (options.local, options.remote) = (false, true),
            b"-v" | b"--verbose" if !options.verbose => options.verbose = true,
            b"-av" | b"-va" if !options.verbose => {
                (options.local, options.remote, options.verbose) = (true, true, true);
            }
            b"--no-color" | b"--no-column" => {}
            b"-l" | b"--list" => list = true,
            b"--show-current" => options.current = true,
            // A name to make or to look for, `-vv`, and everything that changes something.
            _ => return Err(Decline),
        }
    }
    if options.current && (options.remote || options.verbose || list) {
        return Err(Decline);
    }
    Ok(options)
}
