//! The `job` tool: wait, write, signal, resize, stop, list.

use std::sync::Arc;
use std::time::Duration;

use pithos_sessions::limits::RUN_YIELD_MS_DEFAULT;
use pithos_sessions::{Budget, Job, Reason, TerminalSize};
use regex::bytes::Regex;
use rustix::process::Signal;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{AnsiWord, Call, budget, parse, show_screen};
use crate::result::{self, Report};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    job: Option<String>,
    timeout_ms: Option<u64>,
    until: Option<String>,
    port: Option<u16>,
    text: Option<String>,
    #[serde(default)]
    close_stdin: bool,
    signal: Option<String>,
    columns: Option<u16>,
    rows: Option<u16>,
    output_bytes: Option<usize>,
    output_lines: Option<usize>,
    since: Option<u64>,
    ansi: Option<AnsiWord>,
    #[serde(default)]
    screen: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Wait,
    Write,
    Signal,
    Resize,
    Stop,
    List,
}

pub(super) async fn call(arguments: Value, call: Call) -> Result<Report, String> {
    let arguments: Arguments = parse(arguments)?;
    if matches!(arguments.action, Action::List) {
        return Ok(list(&call));
    }
    let handle = arguments.job.as_deref().ok_or("this action needs a job")?;
    let job = call.manager.job(handle).map_err(|error| error.to_string())?;
    let seen = job.shown_up_to(0);
    let mut matched = None;
    match arguments.action {
        Action::Wait => matched = wait(&arguments, &call, &job).await?,
        Action::Write => {
            let text = arguments.text.as_deref().unwrap_or("");
            job.write(text.as_bytes(), arguments.close_stdin).await.map_err(|error| error.to_string())?;
            answered(&job, Duration::from_millis(arguments.timeout_ms.unwrap_or(ANSWER_MS))).await;
        }
        Action::Signal => {
            let signal = signal_named(arguments.signal.as_deref().unwrap_or("TERM"))?;
            if job.signal(signal).await == 0 {
                return Err(format!(
                    "{handle} has no process that could get a signal; 'stop' ends the script itself"
                ));
            }
            settle(&job, Duration::from_millis(SETTLE_MS)).await;
        }
        Action::Resize => {
            let (Some(columns), Some(rows)) = (arguments.columns, arguments.rows) else {
                return Err("resize needs columns and rows".to_string());
            };
            job.resize(TerminalSize { columns, rows }).await.map_err(|error| error.to_string())?;
        }
        Action::Stop | Action::List => {
            job.stop(Reason::Cancelled);
            let _ = job.ended().await;
        }
    }
    let budget = budget(arguments.output_bytes, arguments.output_lines, arguments.ansi);
    let mut report = result::of_job(&call.manager, &job, budget);
    match arguments.since {
        Some(since) => only_since(&mut report, &job, since, budget),
        // What a client polls for is what it has not seen; the end shows the whole.
        None if job.end().is_none() && arguments.output_lines.is_none() => {
            only_news(&mut report, &job, seen, budget);
        }
        None => {}
    }
    if arguments.screen {
        show_screen(&mut report, &job)?;
    }
    if let Some(matched) = matched {
        report.structured["matched"] = json!(matched);
    }
    Ok(report)
}

/// Puts what came after an offset in the place of the output's ends; for clients that follow a job piece by piece.
fn only_since(report: &mut Report, job: &Job, since: u64, budget: Budget) {
    let (bytes, total) =
        job.with_capture(|capture| (capture.since(since, budget.bytes), capture.totals().bytes()));
    let next = since.min(total) + bytes.len() as u64;
    report.structured["next_offset"] = json!(next);
    report.structured["more"] = json!(next < total);
    report.text = String::from_utf8_lossy(&budget.ansi.apply(&bytes)).into_owned();
}

/// Puts what a client has not been shown yet in the place of the output's ends, before the notes.
fn only_news(report: &mut Report, job: &Job, seen: u64, budget: Budget) {
    let (total, from) = job.with_capture(|capture| {
        let total = capture.totals().bytes();
        (total, seen.max(total.saturating_sub(budget.bytes as u64)))
    });
    let bytes = job.with_capture(|capture| capture.since(from, (total - from) as usize));
    let mut text = String::from_utf8_lossy(&budget.ansi.apply(&bytes)).into_owned();
    if from > seen {
        text.insert_str(0, &format!("[… {} bytes left out …]\n", from - seen));
    }
    let notes: Vec<&str> =
        report.structured["notes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    report.text = result::with_notes(text, &notes.iter().map(|note| (*note).to_string()).collect::<Vec<_>>());
    report.structured["next_offset"] = json!(total);
    job.shown_up_to(total);
}

/// Waits until a program has dealt with what was written to it: it ends, asks again, or has said something and falls silent.
async fn answered(job: &Job, patience: Duration) {
    let silent_after_words = async {
        let before = job.with_capture(|capture| capture.totals().bytes());
        let mut said = before;
        loop {
            tokio::time::sleep(Duration::from_millis(SETTLE_MS)).await;
            let now = job.with_capture(|capture| capture.totals().bytes());
            if now == said && now > before {
                return;
            }
            said = now;
        }
    };
    tokio::select! {
        _ = job.ended() => {}
        () = job.asks() => {}
        () = silent_after_words => {}
        () = tokio::time::sleep(patience) => {}
    }
}

/// How long a write waits for the program's answer.
const ANSWER_MS: u64 = 2000;
/// After a write or a signal, the answer usually comes within this.
const SETTLE_MS: u64 = 200;
/// Between two looks at a port.
const PORT_EVERY_MS: u64 = 20;

async fn settle(job: &Job, patience: Duration) {
    let _ = tokio::time::timeout(patience, job.ended()).await;
}

/// Waits for the end, a line or a port; says whether the line or port came.
async fn wait(arguments: &Arguments, call: &Call, job: &Arc<Job>) -> Result<Option<bool>, String> {
    let patience = Duration::from_millis(arguments.timeout_ms.unwrap_or(RUN_YIELD_MS_DEFAULT));
    let condition = async {
        match (&arguments.until, arguments.port) {
            (Some(pattern), _) => {
                let pattern = super::pattern("until", "(?m)", pattern)?;
                Ok(Some(line_matches(job, &pattern).await))
            }
            (None, Some(port)) => port_is_there(job, port).await.map(Some),
            (None, None) => {
                tokio::select! {
                    _ = job.ended() => {}
                    () = job.asks() => {}
                }
                Ok(None)
            }
        }
    };
    let waits_for_something = arguments.until.is_some() || arguments.port.is_some();
    tokio::select! {
        result = condition => result,
        () = tokio::time::sleep(patience) => Ok(waits_for_something.then_some(false)),
        () = call.cancelled.cancelled() => Ok(None),
    }
}

/// True when the output matches, false when the job ends without.
async fn line_matches(job: &Job, pattern: &Regex) -> bool {
    /// What is looked at again at most with each new piece of output, so that a match may span two pieces.
    const OVERLAP_BYTES: u64 = 64 * 1024;
    let mut seen = 0_u64;
    loop {
        let more = job.more_output();
        tokio::pin!(more);
        more.as_mut().enable();
        let ended = job.end().is_some();
        loop {
            let from = seen.saturating_sub(OVERLAP_BYTES);
            let (bytes, total) =
                job.with_capture(|capture| (capture.since(from, 1024 * 1024), capture.totals().bytes()));
            if pattern.is_match(&bytes) {
                return true;
            }
            seen = (from + bytes.len() as u64).max(seen);
            if seen >= total || bytes.is_empty() {
                break;
            }
        }
        if ended {
            return false;
        }
        tokio::select! {
            () = more => {}
            _ = job.ended() => {}
        }
    }
}

/// True when something listens, false when the job ends without.
async fn port_is_there(job: &Job, port: u16) -> Result<bool, String> {
    while job.end().is_none() {
        match job.has_listener(port) {
            Ok(true) => return Ok(true),
            Err(error) if job.end().is_none() => return Err(format!("port: {error}")),
            Ok(false) | Err(_) => {}
        }
        tokio::time::sleep(Duration::from_millis(PORT_EVERY_MS)).await;
    }
    Ok(false)
}

fn signal_named(name: &str) -> Result<Signal, String> {
    let signal = match name.trim_start_matches("SIG") {
        "INT" => Signal::INT,
        "TERM" => Signal::TERM,
        "HUP" => Signal::HUP,
        "KILL" => Signal::KILL,
        "QUIT" => Signal::QUIT,
        "USR1" => Signal::USR1,
        "USR2" => Signal::USR2,
        "STOP" => Signal::STOP,
        "CONT" => Signal::CONT,
        other => {
            let other: String = other.chars().take(20).collect();
            return Err(format!(
                "'{other}' is no signal that can be sent: INT, TERM, HUP, KILL, QUIT, USR1, USR2, STOP, CONT"
            ));
        }
    };
    Ok(signal)
}

/// A job as a row of lists.
pub(crate) fn row(job: &Job) -> Value {
    let state = job.end().map_or("running", |end| result::state(&end));
    let script: String = job.script.lines().next().unwrap_or("").chars().take(80).collect();
    json!({"job": job.handle, "session": job.session, "state": state, "command": script})
}

fn list(call: &Call) -> Report {
    let mut text = String::new();
    let mut rows = Vec::new();
    for job in call.manager.jobs() {
        let row = row(&job);
        let word = |name: &str| row[name].as_str().unwrap_or("").to_string();
        text.push_str(&format!("{}  {}  {}  {}\n", job.handle, word("state"), job.session, word("command")));
        rows.push(row);
    }
    if text.is_empty() {
        text.push_str("no jobs yet\n");
    }
    Report { structured: json!({"jobs": rows}), text }
}
