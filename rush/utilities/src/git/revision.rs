//! What a name of a commit on the command line means: refs, object names, and `~N` and `^N` behind them.

use super::decode::{Commit, tagged};
use super::objects::{Kind, Objects};
use super::oid::Oid;
use super::refs::Refs;
use super::{Attempt, Decline};

/// Tags of tags that are followed.
const TAGS_MAX: usize = 16;

/// The commit that `name` means. What could mean two things, or nothing, declines.
pub(crate) fn resolve(name: &[u8], refs: &Refs<'_>, objects: &Objects<'_>) -> Attempt<Oid> {
    let end = name.iter().position(|b| matches!(b, b'~' | b'^')).unwrap_or(name.len());
    let (base, steps) = name.split_at_checked(end).ok_or(Decline)?;
    let mut commit = peel(base_of(base, refs, objects)?, objects)?;
    let mut rest = steps;
    while let Some((&sign, after)) = rest.split_first() {
        let digits = after.iter().take_while(|b| b.is_ascii_digit()).count();
        let (number, next) = after.split_at_checked(digits).ok_or(Decline)?;
        let number = match number {
            b"" => 1,
            digits => {
                std::str::from_utf8(digits).ok().and_then(|d| d.parse::<usize>().ok()).ok_or(Decline)?
            }
        };
        rest = next;
        let parent = |commit: &Oid, which: usize| {
            let commit = Commit::parse(&objects.expect(commit, Kind::Commit)?)?;
            commit.parents.get(which).copied().ok_or(Decline)
        };
        match (sign, number) {
            (b'~', steps) => {
                for _ in 0..steps {
                    commit = parent(&commit, 0)?;
                }
            }
            (b'^', 0) => {}
            (b'^', which) => commit = parent(&commit, which - 1)?,
            _ => return Err(Decline),
        }
    }
    Ok(commit)
}

fn base_of(name: &[u8], refs: &Refs<'_>, objects: &Objects<'_>) -> Attempt<Oid> {
    let is_hex = name.iter().all(u8::is_ascii_hexdigit);
    if name.is_empty() || name.contains(&b'@') || name.contains(&b':') || name.starts_with(b"-") {
        return Err(Decline);
    }
    let mut found = Vec::new();
    for prefix in [&b""[..], b"refs/", b"refs/tags/", b"refs/heads/", b"refs/remotes/"] {
        found.extend(refs.resolve(&[prefix, name].concat())?);
    }
    found.extend(refs.resolve(&[b"refs/remotes/", name, b"/HEAD"].concat())?);
    match (found.as_slice(), is_hex) {
        ([id], false) => Ok(*id),
        ([], true) if name.len() == 40 => Oid::from_hex(&name.to_ascii_lowercase()).ok_or(Decline),
        ([], true) if (4..40).contains(&name.len()) => {
            let digits = std::str::from_utf8(name).map_err(|_| Decline)?;
            objects.expand(digits)?.ok_or(Decline)
        }
        _ => Err(Decline),
    }
}

/// The commit that an object is or, as a tag, leads to.
pub(crate) fn peel(id: Oid, objects: &Objects<'_>) -> Attempt<Oid> {
    let mut id = id;
    for _ in 0..TAGS_MAX {
        match objects.read(&id)? {
            (Kind::Commit, _) => return Ok(id),
            (Kind::Tag, content) => id = tagged(&content)?,
            _ => return Err(Decline),
        }
    }
    Err(Decline)
}
