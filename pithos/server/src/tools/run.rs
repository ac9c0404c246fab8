//! The `run` tool: a script in a session; comes back with its end or, after a while, with the running job.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pithos_sessions::limits::RUN_YIELD_MS_DEFAULT;
use pithos_sessions::{Job, Manager, Request, Stdin, TerminalSize};
use serde::Deserialize;
use serde_json::Value;

use super::{AnsiWord, Call, budget, or_cancelled, overlay, parse, show_screen};
use crate::limits::TASK_AFTER_MS;
use crate::result::{self, Report};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    session: Option<String>,
    cwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    stdin: Option<String>,
    #[serde(default)]
    interactive: bool,
    terminal: Option<Terminal>,
    timeout_ms: Option<u64>,
    yield_ms: Option<u64>,
    #[serde(default)]
    background: bool,
    #[serde(default)]
    overlay: bool,
    output_bytes: Option<usize>,
    output_lines: Option<usize>,
    ansi: Option<AnsiWord>,
    #[serde(default)]
    screen: bool,
    #[serde(default)]
    streams: bool,
}

/// The terminal of a run; the size is the classic one unless it is given.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Terminal {
    columns: u16,
    rows: u16,
}

impl Default for Terminal {
    fn default() -> Self {
        Self { columns: 80, rows: 24 }
    }
}

pub(super) async fn call(arguments: Value, call: Call) -> Result<Report, String> {
    let arguments: Arguments = parse(arguments)?;
    if arguments.screen && arguments.terminal.is_none() {
        return Err("'screen' needs a terminal".to_string());
    }
    let background = arguments.background;
    let size = arguments.terminal.map(|Terminal { columns, rows }| TerminalSize { columns, rows });
    let open = size.map(Stdin::Terminal).or_else(|| arguments.interactive.then_some(Stdin::Open));
    let (stdin, first_input) = match (open, arguments.stdin) {
        (Some(open), text) => (open, text),
        (None, Some(text)) => (Stdin::Bytes(text.into_bytes()), None),
        (None, None) => (Stdin::Closed, None),
    };
    let mut named = arguments.session;
    if arguments.overlay {
        let opened = call.manager.overlaid_copy(named.as_deref()).await;
        named = Some(opened.map_err(|error| error.to_string())?.handle.clone());
    }
    let request = Request {
        session: named,
        script: arguments.command,
        cwd: arguments.cwd,
        environment: arguments.env,
        stdin,
        timeout: arguments.timeout_ms.map(Duration::from_millis),
        background,
        apart: arguments.streams,
    };
    let queue = Duration::from_millis(arguments.yield_ms.unwrap_or(RUN_YIELD_MS_DEFAULT));
    // Who names a session knows that it has one thread; the others just want their command run.
    let queue = if request.session.is_none() { queue } else { Duration::ZERO };
    let job = tokio::select! {
        job = call.manager.run_in_turn(request, queue) => job.map_err(|error| error.to_string())?,
        () = call.cancelled.cancelled() => return Err("cancelled before it began".to_string()),
    };
    if let Some(text) = first_input {
        job.feed(text);
    }
    let patience = arguments.yield_ms.unwrap_or(match () {
        () if background => 0,
        () if call.tasks => TASK_AFTER_MS,
        () => RUN_YIELD_MS_DEFAULT,
    });
    let wait = async {
        tokio::select! {
            _ = job.ended() => {}
            // Nobody else will answer the prompt.
            () = job.asks() => {}
            () = tokio::time::sleep(Duration::from_millis(patience)) => {}
        }
    };
    let _ = or_cancelled(&call, &job, wait).await;
    if let Some(message) = not_begun(&job) {
        return Err(message);
    }
    let budget = budget(arguments.output_bytes, arguments.output_lines, arguments.ansi);
    let mut report = result::of_job(&call.manager, &job, budget);
    if arguments.screen {
        show_screen(&mut report, &job)?;
    }
    if job.end().is_some() {
        tell_changes(&call.manager, &job, &mut report).await;
    }
    Ok(report)
}

async fn tell_changes(manager: &Manager, job: &Job, report: &mut Report) {
    if let Ok(session) = manager.session(&job.session)
        && session.undo().is_some()
    {
        overlay::tell_changes(manager, &session, &job.handle, report).await;
    }
}

/// What a run with nothing but a command answers when its job has ended.
pub(crate) async fn ended(manager: &Manager, job: &Arc<Job>) -> Report {
    let mut report = result::of_job(manager, job, budget(None, None, None));
    tell_changes(manager, job, &mut report).await;
    report
}

/// Why the script was not run at all: what was wrong with its call.
fn not_begun(job: &Job) -> Option<String> {
    let end = job.end()?;
    let begun = end.done.is_some() || end.lost || end.reason.is_some();
    end.failure.clone().filter(|_| !begun)
}
