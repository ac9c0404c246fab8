//! Counters and introspection. Owns what is counted for the whole runtime and the Prometheus text; per-actor numbers live in
//! the cells. Invariant: reading never stops an actor. Leaves serving the text to hosts.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::cell::CellSnapshot;
use crate::exit::ExitReason;
use crate::handle::Handle;
use crate::pid::Pid;
use crate::scheduler::keeper::SlowHandler;

#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) spawned: AtomicU64,
    normal: AtomicU64,
    abnormal: AtomicU64,
    pub(crate) restarts: AtomicU64,
}

impl Counters {
    pub(crate) fn count_exit(&self, reason: &ExitReason) {
        let counter = if reason.is_abnormal() { &self.abnormal } else { &self.normal };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// The runtime's numbers at one moment.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// Actors alive.
    pub live: usize,
    /// Actors made so far.
    pub spawned: u64,
    /// Ends for `normal` and `shutdown`.
    pub exits_normal: u64,
    /// All other ends.
    pub exits_abnormal: u64,
    /// Restarts by supervisors.
    pub restarts: u64,
    /// Messages accepted and never handled.
    pub dead_letters: u64,
    /// Timers that are set.
    pub timers: usize,
    /// Worker threads started, per pool.
    pub threads: Vec<(String, usize)>,
}

/// One actor in the tree that tools show.
#[derive(Clone, Debug)]
pub struct ActorInfo {
    /// State, mailbox and counters.
    pub cell: CellSnapshot,
    /// Its parent, if it has one.
    pub parent: Option<Pid>,
    /// Its names and paths.
    pub names: Vec<String>,
    /// Number of links.
    pub links: usize,
    /// Number of monitors on it.
    pub monitors: usize,
    /// How often its supervisor has restarted it.
    pub restarts: u64,
}

impl Handle {
    /// The numbers of the runtime.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        let shared = self.shared();
        let counters = &shared.counters;
        Metrics {
            live: shared.live(),
            spawned: counters.spawned.load(Ordering::Relaxed),
            exits_normal: counters.normal.load(Ordering::Relaxed),
            exits_abnormal: counters.abnormal.load(Ordering::Relaxed),
            restarts: counters.restarts.load(Ordering::Relaxed),
            dead_letters: shared.dead_letters.total(),
            timers: shared.keeper.timers(),
            threads: shared.pools.iter().map(|pool| (pool.name.clone(), pool.threads_started())).collect(),
        }
    }

    /// All actors with their relations, in slab order.
    #[must_use]
    pub fn actors(&self) -> Vec<ActorInfo> {
        use crate::relations::Name;
        let describe = |cell: std::sync::Arc<dyn crate::cell::AnyCell>| {
            let snapshot = cell.snapshot();
            let relations = cell.relations().lock();
            let more = relations.peek();
            let names = more.map_or_else(Vec::new, |more| {
                let text = |name: &Name| match name {
                    Name::Plain(text) | Name::Path(text) => text.to_string(),
                    Name::Group(text) => format!("group:{text}"),
                };
                more.names.iter().map(text).collect()
            });
            let (monitors, restarts) = more.map_or((0, 0), |more| (more.monitors.len(), more.restarts));
            ActorInfo {
                cell: snapshot,
                parent: relations.parent(),
                names,
                links: relations.peek().map_or(0, |more| more.links.len()),
                monitors,
                restarts,
            }
        };
        self.shared().slab.all().into_iter().map(describe).collect()
    }

    /// Handlers that the watchdog caught, oldest first.
    #[must_use]
    pub fn slow_handlers(&self) -> Vec<SlowHandler> {
        self.shared().keeper.slow_handlers()
    }

    /// The metrics in Prometheus' text format.
    #[must_use]
    pub fn prometheus(&self) -> String {
        let metrics = self.metrics();
        let mut out = String::new();
        let mut single = |name: &str, kind: &str, help: &str, value: u64| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        };
        single("iris_actors", "gauge", "Actors alive.", metrics.live as u64);
        single("iris_spawned_total", "counter", "Actors made.", metrics.spawned);
        single("iris_restarts_total", "counter", "Restarts by supervisors.", metrics.restarts);
        single("iris_timers", "gauge", "Timers that are set.", metrics.timers as u64);
        let (mut depth, mut deepest, mut processed, mut busy) = (0, 0, 0, Duration::ZERO);
        for cell in self.shared().slab.all() {
            let snapshot = cell.snapshot();
            depth += snapshot.mailbox as u64;
            deepest = deepest.max(snapshot.mailbox as u64);
            processed += snapshot.processed;
            busy += snapshot.busy;
        }
        single("iris_mailbox_messages", "gauge", "Messages waiting in all mailboxes.", depth);
        single("iris_mailbox_messages_max", "gauge", "Messages waiting in the fullest mailbox.", deepest);
        single("iris_live_processed", "gauge", "Messages handled by the actors now alive.", processed);
        let help = "# HELP iris_live_handler_seconds Time in handlers of the actors now alive, while it was measured.";
        let _ = writeln!(out, "{help}\n# TYPE iris_live_handler_seconds gauge");
        let _ = writeln!(out, "iris_live_handler_seconds {:.6}", busy.as_secs_f64());
        let _ = writeln!(out, "# HELP iris_exits_total Actors ended.\n# TYPE iris_exits_total counter");
        let _ = writeln!(out, "iris_exits_total{{kind=\"normal\"}} {}", metrics.exits_normal);
        let _ = writeln!(out, "iris_exits_total{{kind=\"abnormal\"}} {}", metrics.exits_abnormal);
        let _ = writeln!(
            out,
            "# HELP iris_dead_letters_total Messages dropped.\n# TYPE iris_dead_letters_total counter"
        );
        for (reason, count) in self.shared().dead_letters.by_reason() {
            let _ = writeln!(out, "iris_dead_letters_total{{reason=\"{reason}\"}} {count}");
        }
        let _ = writeln!(out, "# HELP iris_threads Worker threads started.\n# TYPE iris_threads gauge");
        for (pool, threads) in &metrics.threads {
            let _ = writeln!(out, "iris_threads{{pool=\"{pool}\"}} {threads}");
        }
        out
    }
}
