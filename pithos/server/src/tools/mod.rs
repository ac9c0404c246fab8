//! What each tool does: arguments in, a report or a message out. One file per tool; this file hands out calls and owns what they share.

mod actors;
mod check;
mod code;
mod declarations;
mod job;
mod js;
mod log;
mod overlay;
mod run;
mod session;

pub(crate) use code::for_cells;
pub(crate) use job::row as job_row;
pub(crate) use run::ended as ended_job;
pub(crate) use session::describe as session_row;

use std::sync::Arc;

use pithos_sessions::limits::OUTPUT_BYTES_MAX;
use pithos_sessions::{Ansi, Budget, Job, Manager, Reason, Tape};
use regex::bytes::Regex;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::journal::Recorder;
use crate::limits::PATTERN_BYTES_MAX;
use crate::result::{BUDGET_DEFAULT, Report};
use crate::servers::Servers;

/// What a call may use.
pub(crate) struct Call {
    pub(crate) manager: Arc<Manager>,
    pub(crate) cancelled: CancellationToken,
    /// Whose tools cells may call besides.
    pub(crate) servers: Arc<Servers>,
    /// Who records what cells call.
    pub(crate) recorder: Arc<Recorder>,
    /// The number of the client, where a server has several.
    pub(crate) client: Option<u64>,
    /// What a cell learned by chance when this call was made first, in a replay.
    pub(crate) tape: Option<Tape>,
    /// A command that goes on becomes a task.
    pub(crate) tasks: bool,
}

/// How a call ended: with a report (a failed command is one), or with something that the model can put right.
pub(crate) enum Outcome {
    Good(Report),
    Wrong(String),
}

impl From<Result<Report, String>> for Outcome {
    fn from(result: Result<Report, String>) -> Self {
        match result {
            Ok(report) => Self::Good(report),
            Err(message) => Self::Wrong(message),
        }
    }
}

/// A regular expression of a call, with flags before it. Its text is bounded before it is parsed: what the parser builds takes a hundred times as much, in
/// the server's own memory.
fn pattern(field: &str, flags: &str, text: &str) -> Result<Regex, String> {
    if text.len() > PATTERN_BYTES_MAX {
        return Err(format!(
            "{field}: the pattern is {} bytes, and {PATTERN_BYTES_MAX} is the limit",
            text.len()
        ));
    }
    Regex::new(&format!("{flags}{text}")).map_err(|error| format!("{field}: {error}"))
}

/// Carries out a call; `None` when there is no such tool.
pub(crate) async fn call(name: &str, arguments: Value, call: Call) -> Option<Outcome> {
    if let Err(message) = check::arguments(name, &arguments) {
        return Some(Outcome::Wrong(message));
    }
    let result = match name {
        "run" => run::call(arguments, call).await,
        "actors" => actors::call(arguments, call).await,
        "job" => job::call(arguments, call).await,
        "js" => js::call(arguments, call).await,
        "log" => log::call(arguments, call).await,
        "session" => session::call(arguments, call).await,
        _ => return None,
    };
    Some(result.into())
}

/// How arguments name what is to become of control sequences.
#[derive(Debug, Clone, Copy, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum AnsiWord {
    Keep,
    Strip,
}

impl From<AnsiWord> for Ansi {
    fn from(word: AnsiWord) -> Self {
        match word {
            AnsiWord::Keep => Self::Keep,
            AnsiWord::Strip => Self::Strip,
        }
    }
}

/// Puts what a terminal shows in the place of the text.
fn show_screen(report: &mut Report, job: &Job) -> Result<(), String> {
    let view = job.screen()?;
    report.structured["screen"] =
        serde_json::json!({"row": view.row, "column": view.column, "alternate": view.alternate});
    let notes = report.structured["notes"].as_array().into_iter().flatten();
    let notes: Vec<String> = notes.filter_map(Value::as_str).map(str::to_string).collect();
    report.text = crate::result::with_notes(view.text, &notes);
    Ok(())
}

/// The arguments of a tool; the message names the field that is wrong.
fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments).map_err(|error| format!("the arguments do not fit: {error}"))
}

fn budget(bytes: Option<usize>, lines: Option<usize>, ansi: Option<AnsiWord>) -> Budget {
    Budget {
        ansi: ansi.map_or_else(Ansi::default, Ansi::from),
        bytes: bytes.unwrap_or(BUDGET_DEFAULT).min(OUTPUT_BYTES_MAX),
        lines: lines.unwrap_or(usize::MAX),
    }
}

/// Ends the job when the client takes its call back.
async fn or_cancelled<T>(call: &Call, job: &Arc<Job>, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        done = work => Some(done),
        () = call.cancelled.cancelled() => {
            job.stop(Reason::Cancelled);
            let _ = job.ended().await;
            None
        }
    }
}
