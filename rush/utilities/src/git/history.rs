//! Commits from some tips backwards, youngest first, without those that other tips reach.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::decode::Commit;
use super::objects::{Kind, Objects};
use super::oid::Oid;
use super::{Attempt, Decline};
use crate::limits::GIT_COMMITS_MAX;

/// A walk through the history, in the order of git's own: by date, and of one date first come, first served.
pub(crate) struct History<'o> {
    objects: &'o Objects<'o>,
    queue: BinaryHeap<(i64, Reverse<usize>, Oid)>,
    waiting: HashMap<Oid, Commit>,
    /// What was queued once, or is never to be.
    seen: HashSet<Oid>,
    queued: usize,
    first_parents: bool,
}

impl<'o> History<'o> {
    /// From `tips`, without what `hidden` reaches.
    pub(crate) fn new(
        objects: &'o Objects<'o>,
        tips: &[Oid],
        hidden: &[Oid],
        first_parents: bool,
    ) -> Attempt<History<'o>> {
        let mut history = History {
            objects,
            queue: BinaryHeap::new(),
            waiting: HashMap::new(),
            seen: HashSet::new(),
            queued: 0,
            first_parents,
        };
        let mut pending = hidden.to_vec();
        while let Some(id) = pending.pop() {
            if history.seen.insert(id) {
                if history.seen.len() > GIT_COMMITS_MAX {
                    return Err(Decline);
                }
                pending.extend(Commit::parse(&objects.expect(&id, Kind::Commit)?)?.parents);
            }
        }
        tips.iter().try_for_each(|tip| history.queue(*tip))?;
        Ok(history)
    }

    fn queue(&mut self, id: Oid) -> Attempt<()> {
        if self.seen.insert(id) {
            let commit = Commit::parse(&self.objects.expect(&id, Kind::Commit)?)?;
            self.queue.push((commit.date()?, Reverse(self.queued), id));
            self.waiting.insert(id, commit);
            self.queued += 1;
        }
        Ok(())
    }

    /// The next commit.
    pub(crate) fn next(&mut self) -> Attempt<Option<(Oid, Commit)>> {
        let Some((_, _, id)) = self.queue.pop() else { return Ok(None) };
        let commit = self.waiting.remove(&id).ok_or(Decline)?;
        let followed = if self.first_parents { 1 } else { usize::MAX };
        for parent in commit.parents.iter().take(followed) {
            self.queue(*parent)?;
        }
        Ok(Some((id, commit)))
    }
}
