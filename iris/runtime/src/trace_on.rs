//! Spans and events for `tracing` (feature `tracing`). Owns their names: a span `iris.turn` around each turn, events for spawns, ends and
//! restarts. `trace_off` has the same functions and does nothing. Leaves subscribers to the program.

use crate::exit::ExitReason;
use crate::pid::Pid;
use crate::supervisor::Report;

/// The span of one turn; ends when dropped.
pub(crate) fn turn(pid: Pid) -> tracing::span::EnteredSpan {
    tracing::trace_span!(target: "iris", "iris.turn", %pid).entered()
}

pub(crate) fn spawned(pid: Pid, pool: &str) {
    tracing::debug!(target: "iris", %pid, pool, "spawned");
}

pub(crate) fn ended(pid: Pid, reason: &ExitReason) {
    if reason.is_abnormal() {
        tracing::warn!(target: "iris", %pid, %reason, "ended");
    } else {
        tracing::debug!(target: "iris", %pid, %reason, "ended");
    }
}

pub(crate) fn restarted(supervisor: Pid, child: &str) {
    tracing::info!(target: "iris", %supervisor, child, "restarted");
}

pub(crate) fn supervised(report: &Report<'_>) {
    let Report { supervisor, child, event, reason } = report;
    tracing::warn!(target: "iris", %supervisor, child, %reason, "child {event}");
}
