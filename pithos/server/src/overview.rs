//! What a server holds now, for people who watch: sessions, jobs, actors, memory and the counters. One picture, from which `/metrics`, `pithos top` and
//! the console each take what they show. Bounded: of many rows the ones that matter come first, and the rest is a number.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use pithos_sessions::{ActorRequest, Job, Manager};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::control::Client;
use crate::limits::{CONSOLE_PROMPTS, OVERVIEW_PATIENCE, OVERVIEW_ROWS};
use crate::metrics::Metrics;
use crate::{result, tools};

/// The picture of all clients.
pub(crate) async fn of(managers: &[Client], metrics: &Metrics) -> Value {
    let memory = tokio::task::spawn_blocking(memory);
    let mut totals = Totals::default();
    let mut clients = Vec::new();
    let deadline = Instant::now() + OVERVIEW_PATIENCE;
    for (number, manager) in managers {
        clients.push(client(*number, manager, deadline, &mut totals).await);
    }
    let (server_bytes, workers_bytes, processes) = memory.await.unwrap_or_default();
    json!({
        "pid": std::process::id(),
        "clients": clients,
        "counters": metrics.snapshot(),
        "now": {
            "clients": managers.len(), "sessions": totals.sessions, "sessions_busy": totals.busy,
            "jobs": totals.jobs, "jobs_running": totals.running, "cells_running": totals.cells,
            "actor_systems": totals.systems, "actors": totals.actors, "messages_waiting": totals.waiting,
            "server_bytes": server_bytes, "workers_bytes": workers_bytes, "processes": processes,
        },
    })
}

#[derive(Default)]
struct Totals {
    sessions: usize,
    busy: usize,
    jobs: usize,
    running: usize,
    cells: usize,
    systems: usize,
    actors: u64,
    waiting: u64,
}

async fn client(number: Option<u64>, manager: &Manager, deadline: Instant, totals: &mut Totals) -> Value {
    let mut sessions = manager.sessions();
    totals.sessions += sessions.len();
    sessions.sort_by_key(|session| session.running().is_none());
    totals.busy += sessions.iter().take_while(|session| session.running().is_some()).count();
    let mut jobs = manager.jobs();
    totals.jobs += jobs.len();
    // What runs first, then the newest.
    jobs.sort_by_key(|job| (job.end().is_some(), std::cmp::Reverse(job.started)));
    totals.running += jobs.iter().take_while(|job| job.end().is_none()).count();
    let prompts = prompts(&jobs).await;
    let tree = manager.tree();
    let branches = tree.iter().flat_map(|tree| &tree.children);
    let cells =
        branches.filter(|branch| branch.name == "cells").map(|branch| branch.children.len()).sum::<usize>();
    totals.cells += cells;
    let mut systems = Vec::new();
    for name in manager.actor_systems().await {
        totals.systems += 1;
        systems.push(system(manager, &name, deadline, totals).await);
    }
    json!({
        "client": number,
        "sessions": sessions.iter().take(OVERVIEW_ROWS).map(|session| tools::session_row(session)).collect::<Vec<_>>(),
        "sessions_more": sessions.len().saturating_sub(OVERVIEW_ROWS),
        "jobs": jobs.iter().take(OVERVIEW_ROWS).map(|job| asking_row(job, &prompts)).collect::<Vec<_>>(),
        "jobs_more": jobs.len().saturating_sub(OVERVIEW_ROWS),
        "cells": cells,
        "systems": systems,
    })
}

/// A system's groups; one that computes for long does not hold the others up.
async fn system(manager: &Manager, name: &str, deadline: Instant, totals: &mut Totals) -> Value {
    match tokio::time::timeout_at(deadline, manager.actors(name, ActorRequest::Tree)).await {
        Ok(Ok(mut row)) => {
            let groups = row["groups"].as_array_mut().map(std::mem::take).unwrap_or_default();
            totals.actors += groups.iter().filter_map(|group| group["actors"].as_u64()).sum::<u64>();
            totals.waiting +=
                groups.iter().filter_map(|group| group["messages_waiting"].as_u64()).sum::<u64>();
            let more = groups.len().saturating_sub(OVERVIEW_ROWS);
            let groups: Vec<Value> = groups.into_iter().take(OVERVIEW_ROWS).collect();
            json!({"system": name, "live": row["live"], "groups": groups, "groups_more": more})
        }
        Ok(Err(error)) => json!({"system": name, "error": error.to_string()}),
        Err(_) => json!({"system": name, "error": "it gives no answer now"}),
    }
}

/// What each job that waits for input has asked for, by its handle.
async fn prompts(jobs: &[Arc<Job>]) -> HashMap<String, String> {
    let asked = jobs.iter().take_while(|job| job.end().is_none()).filter(|job| job.takes_input());
    let asked: Vec<Arc<Job>> = asked.take(CONSOLE_PROMPTS).cloned().collect();
    if asked.is_empty() {
        return HashMap::new();
    }
    let look = move || {
        let waits = asked.iter().filter(|job| job.waits_for_input().is_some());
        waits.map(|job| (job.handle.clone(), result::prompt(job))).collect()
    };
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

fn asking_row(job: &Job, prompts: &HashMap<String, String>) -> Value {
    let mut row = row(job);
    row["waiting"] = json!(prompts.get(&job.handle));
    row
}

/// A job as a row, with what is known of it now.
pub(crate) fn row(job: &Job) -> Value {
    let mut row = tools::job_row(job);
    let end = job.end();
    let wall = end.as_ref().map_or_else(|| job.started.elapsed(), |end| end.wall);
    row["ms"] = whole_ms(wall).into();
    row["bytes"] = job.with_capture(|capture| capture.totals().bytes()).into();
    row["denied"] = job.denied_count().into();
    row["input"] = job.takes_input().into();
    row["status"] = json!(end.and_then(|end| end.done.as_ref().map(|done| done.status.0)));
    row
}

fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Resident bytes of the server and of what is below it, and how many processes that is.
pub(crate) fn memory() -> (u64, u64, usize) {
    let own = std::process::id();
    let below = pithos_sessions::processes_below();
    (resident(own), below.iter().map(|pid| resident(*pid)).sum(), below.len())
}

fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0).saturating_mul(1024)
}
