//! Whose fault it is when the heap of a group is full. The engine counts one heap for all actors of a group, so before each turn the group's use is held
//! against a mark below the limit: above it, the actor whose state is by far the largest is ended, and where none is, turns are refused until there
//! is room. What is between the mark and the limit is what one turn may take for itself: only who takes more than that meets the limit.
//!
//! Looks are paid for: the heap is collected again only after it has grown by a part of the limit, so that a group near its mark answers as fast as any.

use std::time::{Duration, Instant};

use crate::limits::ACTOR_HEAP_BYTES;

/// A group that holds more than this is over its share.
const MARK_BYTES: usize = ACTOR_HEAP_BYTES / 4 * 3;
/// Growth after which it is collected and counted again.
const SLACK_BYTES: usize = ACTOR_HEAP_BYTES / 16;
/// Who holds at least so much of a full heap is at fault.
const SHARE_BYTES: usize = ACTOR_HEAP_BYTES / 8;
/// Between two counts of a group that is full and has nobody at fault.
const COUNT_EVERY: Duration = Duration::from_secs(1);

/// What is known of a group's heap.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// In use after the last collection of ours.
    live_bytes: usize,
    counted: Option<Instant>,
}

/// What is to be done before a turn.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing: there is room.
    Go,
    /// Collect, and tell what is in use then.
    Collect,
    /// Refuse the turn.
    Refuse,
}

impl Watch {
    /// Judges by what is in use now.
    pub(super) fn before(&self, used_bytes: usize) -> Before {
        if used_bytes <= MARK_BYTES {
            return Before::Go;
        }
        let grown = used_bytes >= self.live_bytes.saturating_add(SLACK_BYTES);
        let due = self.counted.is_none_or(|counted| counted.elapsed() >= COUNT_EVERY);
        match (self.live_bytes > MARK_BYTES, grown, due) {
            // It is full, as far as is known.
            (true, _, false) => Before::Refuse,
            (true, _, true) | (false, true, _) => Before::Collect,
            (false, false, _) => Before::Go,
        }
    }

    /// Notes what is in use after a collection; whether the group is over its share.
    pub(super) fn collected(&mut self, used_bytes: usize) -> bool {
        self.live_bytes = used_bytes;
        let full = used_bytes > MARK_BYTES;
        self.counted = full.then(Instant::now);
        full
    }
}

/// Whether an actor that holds so much is to be ended for it.
pub(super) fn is_at_fault(bytes: usize) -> bool {
    bytes >= SHARE_BYTES
}

/// What an actor is told that was ended for what it held.
pub(super) fn held_too_much(bytes: usize) -> String {
    format!(
        "out of heap: its state held about {} MiB of the {} MiB that the actors of its group share, more than any other's",
        bytes >> 20,
        ACTOR_HEAP_BYTES >> 20
    )
}

/// What actors are told whose group is full without anybody's fault.
pub(super) fn group_is_full() -> String {
    format!(
        "out of heap: the actors of this group hold more than {} of its {} MiB together, and none of them much of it; stop some, or use more groups",
        MARK_BYTES >> 20,
        ACTOR_HEAP_BYTES >> 20
    )
}

#[cfg(test)]
mod tests {
    use super::{Before, MARK_BYTES, SLACK_BYTES, Watch};

    #[test]
    fn collections_are_paid_for_by_growth() {
        let mut watch = Watch::default();
        assert_eq!(watch.before(MARK_BYTES), Before::Go);
        assert_eq!(watch.before(MARK_BYTES + 1), Before::Collect);
        // Garbage for the most part: not before it has grown again.
        assert!(!watch.collected(MARK_BYTES - 100));
        assert_eq!(watch.before(MARK_BYTES + 1), Before::Go);
        assert_eq!(watch.before(MARK_BYTES + SLACK_BYTES), Before::Collect);
        // Really full: refused, and not counted at every turn.
        assert!(watch.collected(MARK_BYTES + 1));
        assert_eq!(watch.before(MARK_BYTES + 2), Before::Refuse);
        assert!(!watch.collected(0));
        assert_eq!(watch.before(1), Before::Go);
    }
}
