//! The room that all logs of a server have together, whoever's they are. Owns the count and the order of the logs of jobs that are over: when room is
//! short the oldest of them goes. A log that somebody reads at that moment is whole for them: they hold its file.
//!
//! The count is an atomic number, so that it can be kept inside other locks; only `make_room` takes a lock, and is called outside of them.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::limits::LOGS_BYTES_MAX;
use crate::sync::Locked;

/// Shared by every job of a server; clones are the same room.
#[derive(Debug, Clone)]
pub struct Space(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    bytes_max: u64,
    used: AtomicU64,
    over: Locked<VecDeque<Arc<Held>>>,
}

/// What one log takes.
#[derive(Debug)]
pub(crate) struct Held {
    path: PathBuf,
    bytes: AtomicU64,
    gone: AtomicBool,
    space: Space,
}

impl Default for Space {
    fn default() -> Self {
        Self::new(LOGS_BYTES_MAX)
    }
}

impl Space {
    /// Room for so many bytes.
    #[must_use]
    pub fn new(bytes_max: u64) -> Self {
        Self(Arc::new(Shared { bytes_max, used: AtomicU64::new(0), over: Locked::default() }))
    }

    /// What there is of it.
    #[must_use]
    pub fn bytes_max(&self) -> u64 {
        self.0.bytes_max
    }

    /// A log that takes nothing yet.
    pub(crate) fn log(&self, path: PathBuf) -> Arc<Held> {
        Arc::new(Held { path, bytes: AtomicU64::new(0), gone: AtomicBool::new(false), space: self.clone() })
    }

    /// Removes the oldest logs of jobs that are over until there is room for so much more, or none is left. Takes a lock.
    pub(crate) fn make_room(&self, bytes: u64) {
        while self.0.used.load(Ordering::Relaxed).saturating_add(bytes) > self.0.bytes_max {
            let Some(oldest) = self.0.over.with(VecDeque::pop_front) else { return };
            oldest.remove();
        }
    }
}

impl Held {
    /// Takes so many bytes more of the room; false when there is not so much, or the log was removed.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let shared = &self.space.0;
        let fits = |used: u64| Some(used + bytes).filter(|used| *used <= shared.bytes_max);
        if self.gone() || shared.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_err() {
            return false;
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        true
    }

    /// Its job is over: it may go when room is short.
    pub(crate) fn over(self: &Arc<Self>) {
        if self.bytes.load(Ordering::Relaxed) > 0 {
            self.space.0.over.with(|over| over.push_back(Arc::clone(self)));
        }
    }

    /// Whether it was removed to make room.
    pub(crate) fn gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// Removes the file and gives back the room.
    pub(crate) fn remove(&self) {
        if !self.gone.swap(true, Ordering::Relaxed) {
            let _ = std::fs::remove_file(&self.path);
            self.space.0.used.fetch_sub(self.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Space;

    #[test]
    fn the_oldest_that_is_over_makes_room_and_no_other() {
        let folder = std::env::temp_dir().join(format!("pithos-space-test-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let space = Space::new(100);
        let logs: Vec<_> = (0..4).map(|number| space.log(folder.join(number.to_string()))).collect();
        for log in &logs[..3] {
            std::fs::write(&log.path, b"x").expect("written");
            assert!(log.take(30));
        }
        assert!(!logs[3].take(30), "no room");
        space.make_room(30);
        assert!(!logs[3].take(30), "nobody is over");
        logs[1].over();
        logs[0].over();
        space.make_room(30);
        assert!(logs[1].gone() && !logs[1].path.exists() && !logs[0].gone() && logs[0].path.exists());
        assert!(logs[3].take(30) && !logs[1].take(1));
        logs[1].remove();
        logs[0].remove();
        assert!(logs[3].take(30), "what is removed twice counts once");
        assert!(!logs[3].take(11));
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
