//! Dead letters: messages that were accepted and never handled. Owns their counts, the last few descriptions and the
//! subscriber. Invariant: every message that is dropped unhandled passes through `record`. Leaves the message's fate to its owner.

use std::any::Any;
use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};

use crate::cell::quietly;
use crate::limits::DEAD_LETTERS_KEPT;
use crate::pid::Pid;

/// What is remembered of a dead letter.
#[derive(Clone, Debug)]
pub struct DeadLetter {
    /// Whom it was for.
    pub to: Pid,
    /// The message's Rust type.
    pub kind: &'static str,
    /// Why it was not handled: an exit reason's label, `overflow`, or `noproc`.
    pub reason: &'static str,
}

type Subscriber = Arc<dyn Fn(&DeadLetter, &dyn Any) + Send + Sync>;

thread_local! {
    /// Whether this thread tells of a refusal.
    static REFUSING: Cell<bool> = const { Cell::new(false) };
}

#[derive(Default)]
pub(crate) struct DeadLetters {
    total: AtomicU64,
    recent: Mutex<Recent>,
    subscriber: RwLock<Option<Subscriber>>,
}

#[derive(Default)]
struct Recent {
    letters: VecDeque<DeadLetter>,
    by_reason: BTreeMap<&'static str, u64>,
}

impl DeadLetters {
    /// Something that was accepted and is not handled.
    pub(crate) fn record<M: Any>(&self, to: Pid, message: &M, reason: &'static str) {
        self.total.fetch_add(1, Ordering::Relaxed);
        self.tell(to, message, reason);
    }

    /// Something that was not accepted: it is told, and not among the accounts of what was. What a subscriber sends to the dead itself is not
    /// told to it again.
    pub(crate) fn refuse<M: Any>(&self, to: Pid, message: &M) {
        if !REFUSING.replace(true) {
            self.tell(to, message, "noproc");
            REFUSING.set(false);
        }
    }

    fn tell<M: Any>(&self, to: Pid, message: &M, reason: &'static str) {
        let letter = DeadLetter { to, kind: std::any::type_name::<M>(), reason };
        let subscriber = self.subscriber.read().clone();
        if let Some(subscriber) = subscriber {
            quietly(|| subscriber(&letter, message));
        }
        let mut recent = self.recent.lock();
        *recent.by_reason.entry(reason).or_default() += 1;
        if recent.letters.len() >= DEAD_LETTERS_KEPT {
            recent.letters.pop_front();
        }
        recent.letters.push_back(letter);
    }

    pub(crate) fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    pub(crate) fn by_reason(&self) -> BTreeMap<&'static str, u64> {
        self.recent.lock().by_reason.clone()
    }

    pub(crate) fn recent(&self) -> Vec<DeadLetter> {
        self.recent.lock().letters.iter().cloned().collect()
    }

    pub(crate) fn subscribe(&self, subscriber: Option<Subscriber>) {
        *self.subscriber.write() = subscriber;
    }
}
