//! The `js` tool: code in a hardened isolate; comes back with its value or, after a while, with the running cell.

use std::time::Duration;

use pithos_sessions::limits::RUN_YIELD_MS_DEFAULT;
use pithos_sessions::{CellRequest, DEFAULT_SESSION};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Call, parse};
use crate::result::{self, Report};

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
    if call.recorder.replaying {
        // Without a session it would have the workspace itself.
        let session = arguments.session.as_deref().unwrap_or(DEFAULT_SESSION);
        call.manager.session(session).map_err(|error| error.to_string())?;
    }
    let cell = match (arguments.code, arguments.cell) {
        (Some(code), None) => call.manager.evaluate(CellRequest {
            code,
            session: arguments.session,
            timeout: arguments.timeout_ms.map(Duration::from_millis),
            fuel: arguments.fuel,
            heap_bytes: arguments.heap_mb.map(|megabytes| megabytes.saturating_mul(1024 * 1024)),
            console: None,
            tape: call.tape,
            tools: Some(super::for_cells(&call.manager, &call.servers, &call.recorder, call.client)),
        }),
        (None, Some(handle)) => call.manager.cell(&handle).map_err(|error| error.to_string())?,
        _ => return Err("give either code to evaluate or the cell to wait for".to_string()),
    };
    let patience = Duration::from_millis(arguments.yield_ms.unwrap_or(RUN_YIELD_MS_DEFAULT));
    let ended = tokio::select! {
        ended = tokio::time::timeout(patience, cell.ended()) => ended.ok().flatten(),
        () = call.cancelled.cancelled() => {
            cell.stop();
            cell.ended().await
        }
    };
    Ok(match ended {
        Some(end) => result::of_cell(&cell, &end),
        None => Report {
            structured: json!({"cell": cell.handle, "state": "running", "ms": cell.started.elapsed().as_millis() as u64}),
            text: format!("[still running as {0}: call js with cell {0} to wait for it]\n", cell.handle),
        },
    })
}
