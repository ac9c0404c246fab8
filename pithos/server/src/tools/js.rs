//! The `js` tool: code in a hardened isolate; comes back with its value or, after a while, with the running cell.

use std::time::Duration;

use pithos_sessions::limits::RUN_YIELD_MS_DEFAULT;
use pithos_sessions::{Cell, CellEnd, CellRequest, Outcome};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Call, parse};
use crate::result::Report;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    code: Option<String>,
    cell: Option<String>,
    session: Option<String>,
    timeout_ms: Option<u64>,
    yield_ms: Option<u64>,
    fuel: Option<u64>,
    heap_mb: Option<usize>,
}

pub(super) async fn call(arguments: Value, call: Call) -> Result<Report, String> {
    let arguments: Arguments = parse(arguments)?;
    let cell = match (arguments.code, arguments.cell) {
        (Some(code), None) => call.manager.evaluate(CellRequest {
            code,
            session: arguments.session,
            timeout: arguments.timeout_ms.map(Duration::from_millis),
            fuel: arguments.fuel,
            heap_bytes: arguments.heap_mb.map(|megabytes| megabytes.saturating_mul(1024 * 1024)),
        }),
        (None, Some(handle)) => call.manager.cell(&handle).map_err(|error| error.to_string())?,
        _ => return Err("give either code to evaluate or the cell to wait for".to_string()),
    };
    let patience = Duration::from_millis(arguments.yield_ms.unwrap_or(RUN_YIELD_MS_DEFAULT));
    let ended = tokio::select! {
        ended = tokio::time::timeout(patience, cell.ended()) => ended.ok().flatten(),
        () = call.cancelled.cancelled() => None,
    };
    Ok(match ended {
        Some(end) => describe(&cell, &end),
        None => Report {
            structured: json!({"cell": cell.handle, "state": "running", "ms": cell.started.elapsed().as_millis() as u64}),
            text: format!("[still running as {0}: call js with cell {0} to wait for it]\n", cell.handle),
        },
    })
}

fn describe(cell: &Cell, end: &CellEnd) -> Report {
    let mut structured = json!({"cell": cell.handle, "ms": end.wall_us as f64 / 1e3});
    let (state, text) = match &end.outcome {
        Outcome::Value { text, json } => {
            if let Some(json) = json {
                structured["value"] = json.clone();
            }
            ("done", format!("{text}\n"))
        }
        Outcome::Error(message) => ("error", format!("{message}\n")),
        Outcome::Terminated(limit) => {
            structured["limit"] = json!(limit);
            ("terminated", format!("[terminated: {limit}]\n"))
        }
        Outcome::Crashed(message) => ("crashed", format!("[crashed: {message}]\n")),
    };
    structured["state"] = json!(state);
    structured["console_truncated"] = json!(end.console_truncated);
    Report { structured, text: format!("{}{text}", end.console) }
}
