//! What a server counts: calls of each tool by how they ended, how long they took, what is under way, and what became of the journal. Counting is a few atomic
//! additions a call; everything else ([`text`]) is found out when somebody asks.

pub(crate) mod text;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::journal::record::Ended;

/// The tools that are told apart; the last stands for every name that is none.
pub(crate) const TOOLS: [&str; 8] = ["run", "job", "log", "session", "js", "actors", OTHER_SERVER, "unknown"];
/// Stands for all tools of other servers, which cells call.
pub(crate) const OTHER_SERVER: &str = "other_server";
/// Upper ends of the histogram's buckets, in microseconds.
pub(crate) const BUCKETS_US: [u64; 16] = [
    100,
    200,
    300,
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    30_000,
    100_000,
    300_000,
    1_000_000,
    3_000_000,
    10_000_000,
    30_000_000,
    100_000_000,
];

/// The counters of a server.
pub(crate) struct Metrics {
    pub(crate) started: Instant,
    pub(crate) tools: [ToolCounters; TOOLS.len()],
    pub(crate) under_way: AtomicU64,
    /// Lines of calls that are in the journal.
    pub(crate) journal_written: AtomicU64,
    pub(crate) journal_bytes: AtomicU64,
    /// Calls that the queue had no room for.
    pub(crate) journal_dropped: AtomicU64,
    /// Calls whose lines could not be written.
    pub(crate) journal_failed: AtomicU64,
}

/// Those of one tool.
#[derive(Default)]
pub(crate) struct ToolCounters {
    pub(crate) ended: [AtomicU64; Ended::ALL.len()],
    /// Calls that took no longer than the bucket and longer than the one before; the last has the rest.
    pub(crate) buckets: [AtomicU64; BUCKETS_US.len() + 1],
    pub(crate) sum_us: AtomicU64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            tools: Default::default(),
            under_way: AtomicU64::new(0),
            journal_written: AtomicU64::new(0),
            journal_bytes: AtomicU64::new(0),
            journal_dropped: AtomicU64::new(0),
            journal_failed: AtomicU64::new(0),
        }
    }
}

impl Metrics {
    /// A call of a tool begins; the tool's place in [`TOOLS`].
    pub(crate) fn begin(&self, tool: &str) -> usize {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        TOOLS.iter().position(|name| *name == tool).unwrap_or(TOOLS.len() - 1)
    }

    /// It has ended.
    pub(crate) fn end(&self, tool: usize, ended: Ended, wall: Duration) {
        self.under_way.fetch_sub(1, Ordering::Relaxed);
        let us = u64::try_from(wall.as_micros()).unwrap_or(u64::MAX);
        let Some(counters) = self.tools.get(tool) else { return };
        counters.ended[ended as usize].fetch_add(1, Ordering::Relaxed);
        let bucket = BUCKETS_US.partition_point(|end| *end < us);
        counters.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        counters.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// What `pithos top` and the console show of it.
    pub(crate) fn snapshot(&self) -> Value {
        let tools = TOOLS.iter().zip(&self.tools).map(|(name, counters)| {
            let ended: Vec<u64> = counters.ended.iter().map(load).collect();
            let buckets: Vec<u64> = counters.buckets.iter().map(load).collect();
            json!({
                "tool": name, "calls": buckets.iter().sum::<u64>(), "wrong": ended[1..].iter().sum::<u64>(),
                "sum_us": load(&counters.sum_us), "buckets": buckets,
            })
        });
        json!({
            "up_s": self.started.elapsed().as_secs(),
            "under_way": load(&self.under_way),
            "tools": tools.collect::<Vec<_>>(),
            "journal": {
                "written": load(&self.journal_written), "dropped": load(&self.journal_dropped),
                "failed": load(&self.journal_failed), "bytes": load(&self.journal_bytes),
            },
        })
    }
}

/// A counter's value.
pub(crate) fn load(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_place() {
        let listed: Vec<String> = crate::schema::tools().iter().map(|tool| tool.name.to_string()).collect();
        let mut named = TOOLS[..TOOLS.len() - 2].to_vec();
        named.sort_unstable();
        let mut listed: Vec<&str> = listed.iter().map(String::as_str).collect();
        listed.sort_unstable();
        assert_eq!(named, listed);
        assert_eq!(Ended::ALL.map(|ended| ended as usize), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn calls_fall_into_the_bucket_that_ends_at_or_after_them() {
        let metrics = Metrics::default();
        for us in [0, 99, 100, 101, 100_000_000, 100_000_001, u64::MAX] {
            let tool = metrics.begin("run");
            metrics.end(tool, Ended::Good, Duration::from_micros(us));
        }
        let buckets: Vec<u64> = metrics.tools[0].buckets.iter().map(load).collect();
        assert_eq!((buckets[0], buckets[1], buckets[15], buckets[16]), (3, 1, 1, 2));
        assert_eq!((load(&metrics.under_way), buckets.iter().sum::<u64>()), (0, 7));
    }
}
