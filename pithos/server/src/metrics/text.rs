//! Metrics as text, in the format that Prometheus reads (version 0.0.4).

use std::fmt::Write;

use serde_json::Value;

use crate::journal::record::Ended;
use crate::metrics::{BUCKETS_US, Metrics, TOOLS, load};

/// The content type of the format.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// All metrics: what is counted, and the values of now as [`crate::overview`] found them.
pub(crate) fn render(metrics: &Metrics, now: &Value) -> String {
    let mut text = String::new();
    head(&mut text, "pithos_calls_total", "counter", "Calls of tools that have ended.");
    for (tool, counters) in TOOLS.iter().zip(&metrics.tools) {
        for (ended, count) in Ended::ALL.iter().zip(&counters.ended) {
            let _ = writeln!(
                text,
                "pithos_calls_total{{tool=\"{tool}\",ended=\"{}\"}} {}",
                ended.name(),
                load(count)
            );
        }
    }
    head(&mut text, "pithos_call_duration_seconds", "histogram", "How long calls took.");
    for (tool, counters) in TOOLS.iter().zip(&metrics.tools) {
        let mut below = 0;
        for (end, count) in BUCKETS_US.iter().zip(&counters.buckets) {
            below += load(count);
            let seconds = *end as f64 / 1e6;
            let _ = writeln!(
                text,
                "pithos_call_duration_seconds_bucket{{tool=\"{tool}\",le=\"{seconds}\"}} {below}"
            );
        }
        below += counters.buckets.last().map_or(0, load);
        let sum = load(&counters.sum_us) as f64 / 1e6;
        let _ = writeln!(text, "pithos_call_duration_seconds_bucket{{tool=\"{tool}\",le=\"+Inf\"}} {below}");
        let _ = writeln!(text, "pithos_call_duration_seconds_sum{{tool=\"{tool}\"}} {sum}");
        let _ = writeln!(text, "pithos_call_duration_seconds_count{{tool=\"{tool}\"}} {below}");
    }
    let mut one = |name: &str, kind: &str, help: &str, value: f64| {
        head(&mut text, name, kind, help);
        let _ = writeln!(text, "{name} {value}");
    };
    one(
        "pithos_calls_under_way",
        "gauge",
        "Calls that have begun and not ended.",
        load(&metrics.under_way) as f64,
    );
    one("pithos_up_seconds", "gauge", "Since the server began.", metrics.started.elapsed().as_secs_f64());
    for (name, help, counter) in [
        ("pithos_journal_records_total", "Calls written to the journal.", &metrics.journal_written),
        ("pithos_journal_bytes_total", "Bytes written to the journal.", &metrics.journal_bytes),
        (
            "pithos_journal_dropped_total",
            "Calls that the journal's queue had no room for.",
            &metrics.journal_dropped,
        ),
        ("pithos_journal_failed_total", "Calls whose lines could not be written.", &metrics.journal_failed),
    ] {
        one(name, "counter", help, load(counter) as f64);
    }
    for (name, field, help) in [
        ("pithos_clients", "clients", "Clients that have made a call."),
        ("pithos_sessions", "sessions", "Sessions that are open."),
        ("pithos_sessions_busy", "sessions_busy", "Sessions that run something."),
        ("pithos_jobs", "jobs", "Jobs that are known, ended ones included."),
        ("pithos_jobs_running", "jobs_running", "Jobs that run."),
        ("pithos_cells_running", "cells_running", "Cells that run."),
        ("pithos_actor_systems", "actor_systems", "Actor systems."),
        ("pithos_actors", "actors", "Actors that live, in systems that answered."),
        ("pithos_actor_messages_waiting", "messages_waiting", "Messages in their mailboxes."),
        ("pithos_server_resident_bytes", "server_bytes", "Resident memory of the server's process."),
        (
            "pithos_workers_resident_bytes",
            "workers_bytes",
            "Resident memory of the processes below it, shared pages counted in each.",
        ),
        ("pithos_worker_processes", "processes", "Processes below the server."),
    ] {
        if let Some(value) = now[field].as_f64() {
            one(name, "gauge", help, value);
        }
    }
    text
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}
