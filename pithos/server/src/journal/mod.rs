//! The one recorder of calls: every call that reaches the tools is counted, and journalled where a journal was asked for, however it ends. A client that makes
//! calls faster than they are written waits before its next one ([`queue`]); what is dropped, when the journal stands still, is counted, and said
//! in the journal itself. Invariant: an [`Entry`] that is begun is recorded exactly once, a call that was given up in the middle included.

pub(crate) mod file;
mod queue;
pub(crate) mod recent;
pub(crate) mod record;
pub(crate) mod redact;
pub(crate) mod replay;
pub(crate) mod show;
mod writer;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pithos_sessions::Tape;
use serde_json::Value;

use crate::journal::file::JournalFile;
use crate::journal::recent::{Recent, What};
use crate::journal::record::{By, Ended, Record, bounded};
use crate::journal::writer::Writer;
use crate::metrics::{Metrics, OTHER_SERVER};
use crate::servers::OWN;

/// What stands in the place of a tool where a person has answered a question on the page.
pub(crate) const ANSWER: &str = "answer";

/// Counts and journals calls.
pub(crate) struct Recorder {
    /// What `/metrics` shows.
    pub(crate) metrics: Arc<Metrics>,
    /// The last calls, as the page shows them; empty as long as nobody has asked for them.
    pub(crate) recent: Recent,
    writer: Option<Writer>,
    next: AtomicU64,
    /// The calls are those of a journal, run again: they may change nothing but overlays.
    pub(crate) replaying: bool,
}

impl Recorder {
    /// One for calls that are run again.
    pub(crate) fn for_replay() -> Arc<Self> {
        let (metrics, next) = (Arc::default(), AtomicU64::new(1));
        Arc::new(Self { metrics, recent: Recent::default(), writer: None, next, replaying: true })
    }

    /// One that counts, and writes to `file` if there is one.
    pub(crate) fn start(file: Option<JournalFile>, policy: &str) -> Result<Arc<Self>, String> {
        let metrics = Arc::new(Metrics::default());
        let writer = file.map(|file| Writer::start(file, policy, Arc::clone(&metrics))).transpose()?;
        let recent = Recent::default();
        Ok(Arc::new(Self { metrics, recent, writer, next: AtomicU64::new(1), replaying: false }))
    }

    /// A call begins.
    pub(crate) fn begin(self: &Arc<Self>, tool: &str, arguments: &Value) -> Entry {
        let recorded = self.writer.as_ref().map(|_| (tool.to_string(), bounded(arguments)));
        Entry {
            tool: self.metrics.begin(tool),
            recorder: Arc::clone(self),
            number: self.next.fetch_add(1, Ordering::Relaxed),
            started: Instant::now(),
            time: SystemTime::now(),
            client: None,
            by: By::Client,
            what: self.recent.wanted().then(|| What::of(tool, arguments)),
            recorded,
            tape: None,
            over: false,
        }
    }

    /// A cell calls a tool of this server, or of another that this one was told of.
    pub(crate) fn begin_of_cell(
        self: &Arc<Self>,
        server: &str,
        tool: &str,
        arguments: &Value,
        client: Option<u64>,
    ) -> Entry {
        let own = server == OWN;
        let mut entry = self.begin(if own { tool } else { OTHER_SERVER }, arguments);
        if let Some((name, _)) = entry.recorded.as_mut().filter(|_| !own) {
            *name = format!("{server}/{tool}");
        }
        (entry.client, entry.by) = (client, By::Cell);
        entry
    }

    /// A person does something through the page.
    pub(crate) fn begin_of_console(
        self: &Arc<Self>,
        tool: &str,
        arguments: &Value,
        client: Option<u64>,
    ) -> Entry {
        let mut entry = self.begin(tool, arguments);
        (entry.client, entry.by) = (client, By::Console);
        entry
    }

    /// Waits until what was recorded is written, for a while.
    pub(crate) fn finish(&self, patience: Duration) {
        if let Some(writer) = &self.writer {
            writer.finish(patience);
        }
    }
}

/// A call under way.
pub(crate) struct Entry {
    recorder: Arc<Recorder>,
    /// Its place in the table of tools.
    tool: usize,
    number: u64,
    started: Instant,
    time: SystemTime,
    /// The number of the client, where a server has several.
    pub(crate) client: Option<u64>,
    /// Who made it.
    by: By,
    /// What the page shows of it, where there is one.
    what: Option<What>,
    /// Name and arguments, where there is a journal.
    recorded: Option<(String, record::Bounded)>,
    /// What a cell learned by chance, where the call came to its end.
    pub(crate) tape: Option<Tape>,
    over: bool,
}

impl Entry {
    /// Whether it goes into a journal.
    pub(crate) fn is_journalled(&self) -> bool {
        self.recorded.is_some()
    }

    /// Waits until so much of what its client called before is written that it may go on.
    pub(crate) async fn admitted(&self) {
        if let Some(writer) = &self.recorder.writer {
            writer.admit(self.client).await;
        }
    }

    /// The call is over: with what was structured in its result, and the text.
    pub(crate) fn end(mut self, ended: Ended, structured: &Value, text: &str) {
        self.close(ended, structured, text);
    }

    /// The call is over, with a message in the place of a report.
    pub(crate) fn fail(mut self, ended: Ended, message: &str) {
        let result = if self.recorded.is_some() { Value::from(message) } else { Value::Null };
        self.close(ended, &result, message);
    }

    fn close(&mut self, ended: Ended, structured: &Value, text: &str) {
        self.over = true;
        let wall = self.started.elapsed();
        self.recorder.metrics.end(self.tool, ended, wall);
        if let Some(what) = self.what.take() {
            let time_s = self.time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
            let call =
                recent::Call { number: self.number, client: self.client, by: self.by, time_s, ended, wall };
            self.recorder.recent.put(what, &call, structured);
        }
        let (Some(writer), Some((tool, arguments))) = (&self.recorder.writer, self.recorded.take()) else {
            return;
        };
        writer.write(Record {
            number: self.number,
            time_s: self.time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
            client: self.client,
            by: self.by,
            tool,
            arguments,
            ended,
            result: bounded(structured),
            text: text.to_string(),
            tape: self.tape.take(),
            ms: wall.as_secs_f64() * 1e3,
        });
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if !self.over {
            self.close(Ended::Abandoned, &Value::Null, "");
        }
    }
}
