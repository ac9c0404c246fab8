//! What waits to be written to a journal, and who may add to it. A client whose lines are not written as fast as it makes calls waits before its
//! next one, so that nothing is missing; only a journal that stands still, on a disk that hangs, makes nobody wait: then what only looked gives its
//! place to what changes something. Invariant: every record is taken by the writer or counted as dropped, exactly once.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use pithos_sessions::Locked;
use tokio::sync::Notify;

use crate::journal::record::Record;
use crate::limits::{
    JOURNAL_CLIENT_BYTES, JOURNAL_CLIENT_CALLS, JOURNAL_LOOK_EVERY, JOURNAL_QUEUE, JOURNAL_QUEUE_BYTES,
    JOURNAL_STILL,
};

/// The records, and who waits for room.
#[derive(Default)]
pub(crate) struct Queue {
    state: Locked<State>,
    room: Notify,
}

#[derive(Default)]
struct State {
    records: VecDeque<Record>,
    /// What is in `records` or in the writer's hands.
    held: Load,
    clients: HashMap<Option<u64>, Load>,
    /// Since when something is to be written and nothing was; none when there is nothing.
    still_since: Option<Instant>,
    dropped: Dropped,
    /// The writer has taken something that is not written yet.
    writing: bool,
}

#[derive(Clone, Copy, Default)]
struct Load {
    calls: usize,
    bytes: usize,
}

/// Records that are in no journal.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct Dropped {
    pub(crate) count: u64,
    /// Those among them that change something.
    pub(crate) changing: u64,
}

impl Dropped {
    fn add(&mut self, record: &Record) {
        self.count += 1;
        self.changing += u64::from(record.changing());
    }
}

/// What the writer was given, to be given back as written.
#[derive(Default)]
pub(crate) struct Taken(Vec<(Option<u64>, usize)>);

impl Queue {
    /// Waits until the client's lines are written so far that it may make another call.
    pub(crate) async fn admit(&self, client: Option<u64>) {
        loop {
            let mut room = std::pin::pin!(self.room.notified());
            // From now on no sign is missed.
            room.as_mut().enable();
            if self.state.with(|state| state.admits(client)) {
                return;
            }
            // Whether the journal stands still is known only by looking again.
            let _ = tokio::time::timeout(JOURNAL_LOOK_EVERY, room).await;
        }
    }

    /// Adds a record; how many had to be dropped for it.
    pub(crate) fn push(&self, record: Record) -> u64 {
        self.state.with(|state| {
            let before = state.dropped.count;
            state.push(record);
            state.dropped.count - before
        })
    }

    /// Takes about so many bytes of records for writing, and what was dropped since the last time.
    pub(crate) fn take(&self, bytes: usize) -> (Vec<Record>, Dropped) {
        self.state.with(|state| {
            let (mut records, mut taken) = (Vec::new(), 0);
            while taken < bytes
                && let Some(record) = state.records.pop_front()
            {
                taken += record.weight();
                records.push(record);
            }
            let dropped = std::mem::take(&mut state.dropped);
            if !records.is_empty() || dropped != Dropped::default() {
                state.writing = true;
                state.still_since.get_or_insert_with(Instant::now);
            }
            (records, dropped)
        })
    }

    /// What was taken is written, or cannot be.
    pub(crate) fn written(&self, taken: Taken) {
        self.state.with(|state| {
            for (client, weight) in taken.0 {
                state.release(client, weight);
            }
            state.writing = false;
            state.still_since = (state.held.calls > 0).then(Instant::now);
        });
        self.room.notify_waiters();
    }

    /// Whether everything is written.
    pub(crate) fn is_empty(&self) -> bool {
        self.state
            .with(|state| state.held.calls == 0 && !state.writing && state.dropped == Dropped::default())
    }

    /// How long something has been waiting while nothing was written.
    pub(crate) fn still_for(&self) -> Duration {
        self.state.with(|state| state.still_since.map_or(Duration::ZERO, |since| since.elapsed()))
    }
}

impl Taken {
    /// Remembers a record that goes to the writer.
    pub(crate) fn note(&mut self, record: &Record) {
        self.0.push((record.client, record.weight()));
    }
}

impl State {
    fn admits(&self, client: Option<u64>) -> bool {
        let own = self.clients.get(&client).copied().unwrap_or_default();
        let full = self.held.calls >= JOURNAL_QUEUE || self.held.bytes >= JOURNAL_QUEUE_BYTES;
        // Who has nothing there never waits for the others.
        let over = own.calls >= JOURNAL_CLIENT_CALLS || own.bytes >= JOURNAL_CLIENT_BYTES;
        !over && (own.calls == 0 || !full) || self.stands_still()
    }

    fn stands_still(&self) -> bool {
        self.still_since.is_some_and(|since| since.elapsed() >= JOURNAL_STILL)
    }

    fn push(&mut self, record: Record) {
        // As long as the journal is written, calls that were under way already find room whatever there is: their clients wait with the next.
        if self.stands_still() && !self.make_room(&record) {
            self.dropped.add(&record);
            return;
        }
        let weight = record.weight();
        for load in [&mut self.held, self.clients.entry(record.client).or_default()] {
            load.calls += 1;
            load.bytes += weight;
        }
        self.still_since.get_or_insert_with(Instant::now);
        self.records.push_back(record);
    }

    /// Whether there is a place for a record, after older ones that only look have gone for one that changes something.
    fn make_room(&mut self, record: &Record) -> bool {
        let weight = record.weight();
        loop {
            let free = self.held.calls < JOURNAL_QUEUE
                && self.held.bytes.saturating_add(weight) <= JOURNAL_QUEUE_BYTES;
            if free {
                return true;
            }
            let looks = self.records.iter().position(|one| !one.changing());
            let Some(gone) = looks.filter(|_| record.changing()).and_then(|at| self.records.remove(at))
            else {
                return false;
            };
            self.dropped.add(&gone);
            self.release(gone.client, gone.weight());
        }
    }

    fn release(&mut self, client: Option<u64>, weight: usize) {
        self.held.calls -= 1;
        self.held.bytes -= weight;
        if let Some(load) = self.clients.get_mut(&client) {
            load.calls -= 1;
            load.bytes -= weight;
            if load.calls == 0 {
                self.clients.remove(&client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::journal::record::{By, Ended, bounded};

    fn record(number: u64, client: u64, tool: &str) -> Record {
        Record {
            number,
            time_s: 0.0,
            client: Some(client),
            by: By::Client,
            tool: tool.to_string(),
            arguments: bounded(&json!({"action": "list"})),
            ended: Ended::Good,
            result: bounded(&json!({})),
            text: String::new(),
            tape: None,
            ms: 0.0,
        }
    }

    fn admitted(queue: &Queue, client: u64) -> bool {
        queue.state.with(|state| state.admits(Some(client)))
    }

    fn write_all(queue: &Queue) -> Vec<u64> {
        let (records, _) = queue.take(usize::MAX);
        let mut taken = Taken::default();
        records.iter().for_each(|record| taken.note(record));
        queue.written(taken);
        records.iter().map(|record| record.number).collect()
    }

    #[test]
    fn who_floods_waits_and_nobody_else_does() {
        let queue = Queue::default();
        let mut number = 0;
        while admitted(&queue, 1) {
            number += 1;
            assert_eq!(queue.push(record(number, 1, "session")), 0);
        }
        assert_eq!(number, JOURNAL_CLIENT_CALLS as u64);
        // Many others, until everything is full: who has nothing there may still call.
        for client in 2..20 {
            while admitted(&queue, client) {
                number += 1;
                queue.push(record(number, client, "session"));
            }
        }
        assert!(admitted(&queue, 99) && !admitted(&queue, 1));
        // A call that was under way is not lost.
        assert_eq!(queue.push(record(number + 1, 1, "run")), 0);
        assert_eq!(write_all(&queue), (1..=number + 1).collect::<Vec<_>>());
        assert!(admitted(&queue, 1) && queue.is_empty());
    }

    #[test]
    fn of_a_journal_that_stands_still_looks_go_first_and_every_record_is_counted() {
        let queue = Queue::default();
        queue.push(record(0, 1, "session"));
        queue.state.with(|state| state.still_since = state.still_since.map(|since| since - JOURNAL_STILL));
        assert!(admitted(&queue, 1), "nobody waits for it");
        let all = 3 * JOURNAL_QUEUE as u64 - 2;
        for number in 1..all {
            queue.push(record(number, 1, if number % 3 == 0 { "run" } else { "session" }));
        }
        let (records, dropped) = queue.take(usize::MAX);
        assert_eq!(records.len(), JOURNAL_QUEUE);
        let runs = records.iter().filter(|record| record.tool == "run").count() as u64;
        assert_eq!(records.len() as u64 + dropped.count, all);
        assert_eq!((runs, dropped.changing), (all / 3, 0));
    }
}
