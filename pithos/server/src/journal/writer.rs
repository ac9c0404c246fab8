//! The thread that writes a journal, and the bounded queue before it. Calls put records in and go on; the thread redacts, digests and writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pithos_sessions::errln;

use crate::journal::file::JournalFile;
use crate::journal::record::{Record, dropped_line, start_line};
use crate::journal::redact::Redactor;
use crate::limits::{JOURNAL_BATCH_BYTES, JOURNAL_QUEUE, JOURNAL_QUEUE_BYTES};
use crate::metrics::Metrics;

/// Between two tries to put the last word into a full queue.
const FINISH_EVERY: Duration = Duration::from_millis(5);

enum Message {
    Call(Box<Record>),
    /// Answer when everything before is written.
    Flush(SyncSender<()>),
}

/// The near end of the queue.
pub(crate) struct Writer {
    queue: SyncSender<Message>,
    queued_bytes: Arc<AtomicUsize>,
    metrics: Arc<Metrics>,
}

impl Writer {
    /// Starts the thread.
    pub(crate) fn start(file: JournalFile, policy: &str, metrics: Arc<Metrics>) -> Result<Self, String> {
        let (queue, records) = sync_channel(JOURNAL_QUEUE);
        let queued_bytes = Arc::new(AtomicUsize::new(0));
        let thread = Thread {
            file,
            redactor: Redactor::of_this_process(),
            server: server_name()?,
            queued_bytes: Arc::clone(&queued_bytes),
            metrics: Arc::clone(&metrics),
            told: 0,
        };
        let policy = policy.to_string();
        let spawned =
            std::thread::Builder::new().name("journal".into()).spawn(move || thread.run(&records, &policy));
        spawned.map_err(|error| format!("the journal's thread: {error}"))?;
        Ok(Self { queue, queued_bytes, metrics })
    }

    /// Queues a record, or counts it as dropped; never waits.
    pub(crate) fn write(&self, record: Record) {
        let weight = record.weight();
        let before = self.queued_bytes.fetch_add(weight, Ordering::Relaxed);
        if before + weight > JOURNAL_QUEUE_BYTES {
            self.queued_bytes.fetch_sub(weight, Ordering::Relaxed);
            self.metrics.journal_dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        if self.queue.try_send(Message::Call(Box::new(record))).is_err() {
            self.queued_bytes.fetch_sub(weight, Ordering::Relaxed);
            self.metrics.journal_dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until everything is written, for so long at most.
    pub(crate) fn finish(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        let (done, wait) = sync_channel(1);
        let mut message = Message::Flush(done);
        while let Err(error) = self.queue.try_send(message) {
            message = match error {
                TrySendError::Full(message) if Instant::now() < deadline => message,
                _ => break,
            };
            std::thread::sleep(FINISH_EVERY);
            if Instant::now() >= deadline {
                break;
            }
        }
        if wait.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_err() {
            errln!("pithos: the journal was not written to its end within {} s", patience.as_secs());
        }
    }
}

struct Thread {
    file: JournalFile,
    redactor: Redactor,
    server: String,
    queued_bytes: Arc<AtomicUsize>,
    metrics: Arc<Metrics>,
    /// Dropped calls of which the journal tells.
    told: u64,
}

impl Thread {
    fn run(mut self, records: &Receiver<Message>, policy: &str) {
        self.put(start_line(&self.server, policy, now_s()).as_bytes(), 0);
        while let Ok(first) = records.recv() {
            let mut batch = String::new();
            let mut calls = 0;
            let mut flushed = Vec::new();
            let mut next = Some(first);
            while let Some(message) = next {
                match message {
                    Message::Call(record) => {
                        let weight = record.weight();
                        batch.push_str(&record.line(&self.server, &self.redactor));
                        calls += 1;
                        self.queued_bytes.fetch_sub(weight, Ordering::Relaxed);
                    }
                    Message::Flush(done) => flushed.push(done),
                }
                next = if batch.len() < JOURNAL_BATCH_BYTES { records.try_recv().ok() } else { None };
            }
            self.put(batch.as_bytes(), calls);
            self.tell_dropped();
            for done in flushed {
                let _ = done.send(());
            }
        }
    }

    fn tell_dropped(&mut self) {
        let dropped = self.metrics.journal_dropped.load(Ordering::Relaxed);
        if dropped == self.told {
            return;
        }
        let count = dropped - self.told;
        self.told = dropped;
        errln!(
            "pithos: {count} call(s) are missing in the journal: it is not written as fast as calls are made"
        );
        self.put(dropped_line(&self.server, count, now_s()).as_bytes(), 0);
    }

    fn put(&mut self, lines: &[u8], calls: u64) {
        if lines.is_empty() {
            return;
        }
        match self.file.append(lines) {
            Ok(()) => {
                self.metrics.journal_written.fetch_add(calls, Ordering::Relaxed);
                self.metrics.journal_bytes.fetch_add(lines.len() as u64, Ordering::Relaxed);
            }
            // A journal must not fail silently.
            Err(error) => {
                self.metrics.journal_failed.fetch_add(calls, Ordering::Relaxed);
                errln!("pithos: the journal cannot be written: {error}");
            }
        }
    }
}

fn now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// What tells the lines of one server from those of another in the same file.
fn server_name() -> Result<String, String> {
    let mut random = [0_u8; 8];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| format!("random bytes: {error}"))?;
    Ok(format!("{:016x}", u64::from_ne_bytes(random)))
}
