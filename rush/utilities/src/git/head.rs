//! Where HEAD is: on a branch, before its first commit, or at a commit without a branch.

use super::objects::Objects;
use super::oid::Oid;
use super::refs::{Refs, Target};
use super::repository::Repository;
use super::{Attempt, Decline};

/// HEAD.
pub(crate) struct Head {
    /// The branch, without `refs/heads/`; none when detached.
    pub(crate) branch: Option<Vec<u8>>,
    /// The commit; none before the first one.
    pub(crate) commit: Option<Oid>,
}

impl Head {
    /// Reads HEAD.
    pub(crate) fn read(refs: &Refs<'_>) -> Attempt<Head> {
        match refs.read(b"HEAD")?.ok_or(Decline)? {
            Target::Direct(commit) => Ok(Head { branch: None, commit: Some(commit) }),
            Target::Symbolic(name) => {
                let branch = name.strip_prefix(b"refs/heads/").ok_or(Decline)?.to_vec();
                Ok(Head { branch: Some(branch), commit: refs.resolve(&name)? })
            }
        }
    }
}

/// Where a detached HEAD was detached.
pub(crate) struct Detached {
    /// A tag, a branch or an abbreviated commit.
    pub(crate) name: Vec<u8>,
    /// Whether HEAD is still there.
    pub(crate) still: bool,
}

/// The last switch that HEAD's log tells of, if it tells of one.
pub(crate) fn detached(
    repository: &Repository,
    refs: &Refs<'_>,
    objects: &Objects<'_>,
    commit: &Oid,
) -> Attempt<Option<Detached>> {
    let log = repository.read_git_file(b"logs/HEAD")?.unwrap_or_default();
    for line in log.split(|&b| b == b'\n').rev() {
        let Some((id, target)) = switch(line)? else { continue };
        let still = id == *commit;
        let named = if target == b"HEAD" { None } else { named(refs, target, &id)? };
        let name = match named {
            Some(name) => name,
            None => objects.abbreviate(&id)?.into_bytes(),
        };
        return Ok(Some(Detached { name, still }));
    }
    Ok(None)
}

/// The commit after a line of the log and what was asked for, if the line tells of a switch.
fn switch(line: &[u8]) -> Attempt<Option<(Oid, &[u8])>> {
    let Some(tab) = line.iter().position(|&b| b == b'\t') else { return Ok(None) };
    let message = line.get(tab + 1..).unwrap_or_default();
    let Some(message) = message.strip_prefix(b"checkout: moving from ") else { return Ok(None) };
    let Some(to) = memchr::memmem::find(message, b" to ") else { return Ok(None) };
    let id = line.get(41..81).and_then(Oid::from_hex).ok_or(Decline)?;
    Ok(Some((id, message.get(to + 4..).unwrap_or_default())))
}

/// The name that git gives `target` if exactly one ref is meant by it and that leads to `id`.
fn named(refs: &Refs<'_>, target: &[u8], id: &Oid) -> Attempt<Option<Vec<u8>>> {
    if target.contains(&b'@') {
        return Err(Decline);
    }
    if target.is_empty() || target.iter().any(|b| b"~^: ?*[\\".contains(b)) {
        return Ok(None);
    }
    let rules: [(&[u8], &[u8]); 6] = [
        (b"", b""),
        (b"refs/", b""),
        (b"refs/tags/", b""),
        (b"refs/heads/", b""),
        (b"refs/remotes/", b""),
        (b"refs/remotes/", b"/HEAD"),
    ];
    let mut found = Vec::new();
    for (before, after) in rules {
        let name = [before, target, after].concat();
        if let Some(led_to) = refs.resolve(&name)? {
            found.push((name, led_to));
        }
    }
    let [(name, led_to)] = found.as_slice() else { return Ok(None) };
    if led_to != id {
        // A tag object that may lead there.
        return if name.starts_with(b"refs/tags/") { Err(Decline) } else { Ok(None) };
    }
    let short = name.strip_prefix(b"refs/tags/").or(name.strip_prefix(b"refs/remotes/")).unwrap_or(name);
    Ok(Some(short.to_vec()))
}
