//! The branch that a branch follows, and how far the two are apart.

use std::collections::{BinaryHeap, HashMap};

use super::decode::Commit;
use super::objects::{self, Objects};
use super::oid::Oid;
use super::refs::Refs;
use super::repository::Repository;
use super::{Attempt, Decline};
use crate::limits::GIT_COMMITS_MAX;

/// What a branch follows.
pub(crate) struct Upstream {
    /// The full name of the ref.
    pub(crate) name: Vec<u8>,
    /// Commits that only the branch has and that only the other has; none if the other is gone.
    pub(crate) apart: Option<(usize, usize)>,
}

impl Upstream {
    /// The name without `refs/heads/` or `refs/remotes/`. One that could be taken for another ref declines.
    pub(crate) fn short(&self, refs: &Refs<'_>) -> Attempt<Vec<u8>> {
        short_name(&self.name, refs)
    }

    /// `[ahead N, behind M]` or `[gone]`; nothing where both are the same.
    pub(crate) fn track(&self) -> String {
        match self.apart {
            None => "[gone]".to_owned(),
            Some((0, 0)) => String::new(),
            Some((ahead, 0)) => format!("[ahead {ahead}]"),
            Some((0, behind)) => format!("[behind {behind}]"),
            Some((ahead, behind)) => format!("[ahead {ahead}, behind {behind}]"),
        }
    }
}

/// The full name of the ref that `branch` (without `refs/heads/`) follows, if that is configured.
pub(crate) fn upstream_name(repository: &Repository, branch: &[u8]) -> Attempt<Option<Vec<u8>>> {
    let config = &repository.config;
    let merges: Vec<&[u8]> = config.values("branch", branch, "merge").collect();
    let (remote, merge) = match (config.value("branch", branch, "remote"), merges.as_slice()) {
        (None, []) => return Ok(None),
        (Some(remote), [merge]) => (remote, *merge),
        _ => return Err(Decline),
    };
    if remote == b"." {
        return Ok(Some(merge.to_vec()));
    }
    let mut found = None;
    for spec in config.values("remote", remote, "fetch") {
        let spec = spec.strip_prefix(b"+").unwrap_or(spec);
        if spec.starts_with(b"^") {
            return Err(Decline);
        }
        let Some(colon) = spec.iter().position(|&b| b == b':') else { continue };
        let (source, target) =
            (spec.get(..colon).unwrap_or_default(), spec.get(colon + 1..).unwrap_or_default());
        found = found.or_else(|| map(source, target, merge));
    }
    Ok(found)
}

/// What a refspec makes of `name`.
fn map(source: &[u8], target: &[u8], name: &[u8]) -> Option<Vec<u8>> {
    let Some(star) = source.iter().position(|&b| b == b'*') else {
        return (source == name).then(|| target.to_vec());
    };
    let (before, after) = (source.get(..star)?, source.get(star + 1..)?);
    let middle = name.strip_prefix(before)?.strip_suffix(after)?;
    let star = target.iter().position(|&b| b == b'*')?;
    Some([target.get(..star)?, middle, target.get(star + 1..)?].concat())
}

/// What `branch`, whose tip is `tip`, follows.
pub(crate) fn upstream(
    repository: &Repository,
    refs: &Refs<'_>,
    objects: &Objects<'_>,
    branch: &[u8],
    tip: &Oid,
) -> Attempt<Option<Upstream>> {
    let Some(name) = upstream_name(repository, branch)? else { return Ok(None) };
    let apart = match refs.resolve(&name)? {
        None => None,
        Some(other) if other == *tip => Some((0, 0)),
        Some(other) => Some(apart(objects, tip, &other)?),
    };
    Ok(Some(Upstream { name, apart }))
}

/// A ref's name without the part that git leaves out. Where another ref could be meant, git shows more: declines.
pub(crate) fn short_name(name: &[u8], refs: &Refs<'_>) -> Attempt<Vec<u8>> {
    let prefixes: [&[u8]; 2] = [b"refs/heads/", b"refs/remotes/"];
    let short = prefixes.iter().find_map(|prefix| name.strip_prefix(*prefix)).ok_or(Decline)?;
    for prefix in [&b""[..], b"refs/", b"refs/tags/", b"refs/heads/", b"refs/remotes/"] {
        let other = [prefix, short].concat();
        if other != name && refs.resolve(&other)?.is_some() {
            return Err(Decline);
        }
    }
    Ok(short.to_vec())
}

const LEFT: u8 = 1;
const RIGHT: u8 = 2;
const BOTH: u8 = LEFT | RIGHT;

/// How many commits only `left` and only `right` reach. Exact as long as no commit is younger than its children;
/// a history in which one is declines.
fn apart(objects: &Objects<'_>, left: &Oid, right: &Oid) -> Attempt<(usize, usize)> {
    let mut walk = Walk { objects, known: HashMap::new(), queue: BinaryHeap::new() };
    walk.reach(left, LEFT, i64::MAX)?;
    walk.reach(right, RIGHT, i64::MAX)?;
    // The date of the oldest commit that so far belongs to one side.
    let mut oldest_single = i64::MAX;
    while let Some((date, id)) = walk.queue.pop() {
        let flags = walk.known.get(&id).map_or(0, |known| known.0);
        if flags == BOTH && date < oldest_single && !walk.has_single() {
            break;
        }
        if flags != BOTH {
            oldest_single = oldest_single.min(date);
        }
        let commit = Commit::parse(&objects.expect(&id, objects::Kind::Commit)?)?;
        for parent in &commit.parents {
            walk.reach(parent, flags, date)?;
        }
    }
    let count = |side: u8| walk.known.values().filter(|(flags, _)| *flags == side).count();
    Ok((count(LEFT), count(RIGHT)))
}

struct Walk<'o> {
    objects: &'o Objects<'o>,
    /// Flags and date of what was reached.
    known: HashMap<Oid, (u8, i64)>,
    queue: BinaryHeap<(i64, Oid)>,
}

impl Walk<'_> {
    fn reach(&mut self, id: &Oid, flags: u8, child_date: i64) -> Attempt<()> {
        let date = match self.known.get_mut(id) {
            Some((known, _)) if *known | flags == *known => return Ok(()),
            Some((known, date)) => {
                *known |= flags;
                *date
            }
            None => {
                let commit = Commit::parse(&self.objects.expect(id, objects::Kind::Commit)?)?;
                let date = commit.date()?;
                self.known.insert(*id, (flags, date));
                date
            }
        };
        if date > child_date || self.known.len() > GIT_COMMITS_MAX {
            return Err(Decline);
        }
        self.queue.push((date, *id));
        Ok(())
    }

    fn has_single(&self) -> bool {
        self.queue.iter().any(|(_, id)| self.known.get(id).is_some_and(|(flags, _)| *flags != BOTH))
    }
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn refspecs() {
        let to = |s: &str, t: &str, n: &str| map(s.as_bytes(), t.as_bytes(), n.as_bytes());
        let all = ("refs/heads/*", "refs/remotes/origin/*");
        assert_eq!(to(all.0, all.1, "refs/heads/a/b").as_deref(), Some(&b"refs/remotes/origin/a/b"[..]));
        assert_eq!(to(all.0, all.1, "refs/tags/a"), None);
        assert_eq!(
            to("refs/heads/a", "refs/remotes/o/a", "refs/heads/a").as_deref(),
            Some(&b"refs/remotes/o/a"[..])
        );
    }
}
