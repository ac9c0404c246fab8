//! The thread that writes a journal. Calls put records into its queue and go on; the thread redacts, digests and writes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pithos_sessions::errln;

use crate::journal::file::JournalFile;
use crate::journal::queue::{Dropped, Queue, Taken};
use crate::journal::record::{Record, dropped_line, start_line};
use crate::journal::redact::Redactor;
use crate::limits::JOURNAL_BATCH_BYTES;
use crate::metrics::Metrics;

/// Between two looks whether everything is written.
const FINISH_EVERY: Duration = Duration::from_millis(5);

/// The near end of the queue.
pub(crate) struct Writer {
    queue: Arc<Queue>,
    thread: std::thread::Thread,
    metrics: Arc<Metrics>,
}

impl Writer {
    /// Starts the thread.
    pub(crate) fn start(file: JournalFile, policy: &str, metrics: Arc<Metrics>) -> Result<Self, String> {
        let queue = Arc::<Queue>::default();
        let thread = Thread {
            file,
            redactor: Redactor::of_this_process(),
            server: server_name()?,
            queue: Arc::clone(&queue),
            metrics: Arc::clone(&metrics),
        };
        let policy = policy.to_string();
        let spawned = std::thread::Builder::new().name("journal".into()).spawn(move || thread.run(&policy));
        let thread = spawned.map_err(|error| format!("the journal's thread: {error}"))?.thread().clone();
        Ok(Self { queue, thread, metrics })
    }

    /// Waits until a client may make another call.
    pub(crate) async fn admit(&self, client: Option<u64>) {
        self.queue.admit(client).await;
    }

    /// Queues a record; never waits.
    pub(crate) fn write(&self, record: Record) {
        let dropped = self.queue.push(record);
        self.metrics.journal_dropped.fetch_add(dropped, Ordering::Relaxed);
        self.thread.unpark();
    }

    /// Waits until everything is written, as long as something is written within so long.
    pub(crate) fn finish(&self, patience: Duration) {
        self.thread.unpark();
        while !self.queue.is_empty() {
            if self.queue.still_for() >= patience {
                errln!("pithos: the journal was not written to its end: it stands still");
                return;
            }
            std::thread::sleep(FINISH_EVERY);
        }
    }
}

struct Thread {
    file: JournalFile,
    redactor: Redactor,
    server: String,
    queue: Arc<Queue>,
    metrics: Arc<Metrics>,
}

impl Thread {
    /// Never ends before the process.
    fn run(mut self, policy: &str) {
        self.put(start_line(&self.server, policy, now_s()).as_bytes(), 0);
        loop {
            let (records, dropped) = self.queue.take(JOURNAL_BATCH_BYTES);
            if records.is_empty() && dropped == Dropped::default() {
                std::thread::park();
                continue;
            }
            let (mut batch, mut taken) = (String::new(), Taken::default());
            let calls = records.len() as u64;
            for record in records {
                taken.note(&record);
                batch.push_str(&record.line(&self.server, &self.redactor));
            }
            self.put(batch.as_bytes(), calls);
            self.tell(dropped);
            self.queue.written(taken);
        }
    }

    fn tell(&mut self, dropped: Dropped) {
        let Dropped { count, changing } = dropped;
        if count == 0 {
            return;
        }
        errln!(
            "pithos: {count} call(s), {changing} of them changing something, are missing in the journal: it stood still"
        );
        self.put(dropped_line(&self.server, count, changing, now_s()).as_bytes(), 0);
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
