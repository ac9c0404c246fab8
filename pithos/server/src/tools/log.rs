//! The `log` tool: a range, the last lines, or a search in a job's whole output. File work runs on the blocking pool.

use std::path::PathBuf;

use pithos_sessions::limits::{GREP_MATCHES_MAX, OUTPUT_BYTES_DEFAULT, OUTPUT_BYTES_MAX};
use pithos_sessions::{Ansi, Capture, log};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{AnsiWord, Call, parse};
use crate::result::Report;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    job: String,
    #[serde(default)]
    offset: u64,
    bytes: Option<usize>,
    lines: Option<usize>,
    pattern: Option<String>,
    #[serde(default)]
    context: usize,
    matches: Option<usize>,
    ansi: Option<AnsiWord>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Read,
    Tail,
    Grep,
}

/// How there can be more of it.
const ROOM: &str = "all logs of a server together have a limit, which 'pithos serve --log-space' sets";
/// Lines that `tail` shows when the client does not say.
const TAIL_LINES_DEFAULT: usize = 50;
/// Matches that `grep` shows when the client does not say.
const MATCHES_DEFAULT: usize = 50;

pub(super) async fn call(arguments: Value, call: Call) -> Result<Report, String> {
    let arguments: Arguments = parse(arguments)?;
    let job = call.manager.job(&arguments.job).map_err(|error| error.to_string())?;
    let work = tokio::task::spawn_blocking(move || {
        let (path, total) = (job.log_file(), job.with_capture(|capture| capture.totals().bytes()));
        if job.with_capture(Capture::log_gone) {
            return Err(format!(
                "the log of {} was removed to make room for others: {}",
                arguments.job, ROOM
            ));
        }
        let mut report = look(&arguments, path, total)?;
        if matches!(arguments.ansi, Some(AnsiWord::Strip)) {
            report.text = String::from_utf8_lossy(&Ansi::Strip.apply(report.text.as_bytes())).into_owned();
        }
        Ok(report)
    });
    work.await.map_err(|error| format!("reading the log: {error}"))?
}

fn look(arguments: &Arguments, path: PathBuf, total: u64) -> Result<Report, String> {
    let failed = |error: std::io::Error| format!("the log of {}: {error}", arguments.job);
    let budget = arguments.bytes.unwrap_or(OUTPUT_BYTES_DEFAULT).min(OUTPUT_BYTES_MAX);
    let mut structured = json!({"job": arguments.job, "total_bytes": total});
    let text = match arguments.action {
        Action::Read => {
            let bytes = log::read(&path, arguments.offset, budget).map_err(failed)?;
            let next = arguments.offset + bytes.len() as u64;
            structured["next_offset"] = json!(next);
            structured["more"] = json!(next < total);
            String::from_utf8_lossy(&bytes).into_owned()
        }
        Action::Tail => {
            let lines = arguments.lines.unwrap_or(TAIL_LINES_DEFAULT);
            String::from_utf8_lossy(&log::tail(&path, lines, budget).map_err(failed)?).into_owned()
        }
        Action::Grep => {
            let pattern = arguments.pattern.as_deref().ok_or("grep needs a pattern")?;
            let pattern = super::pattern("pattern", "", pattern)?;
            let limit = arguments.matches.unwrap_or(MATCHES_DEFAULT).min(GREP_MATCHES_MAX);
            let (lines, more) = log::grep(&path, &pattern, arguments.context, limit).map_err(failed)?;
            structured["more"] = json!(more);
            let mut text = String::new();
            for line in &lines {
                if text.len() > budget {
                    structured["more"] = json!(true);
                    break;
                }
                text.push_str(&format!(
                    "{}{}{}\n",
                    line.number,
                    if line.matched { ":" } else { "-" },
                    line.text
                ));
            }
            if lines.is_empty() { "no line matches\n".to_string() } else { text }
        }
    };
    Ok(Report { structured, text })
}
