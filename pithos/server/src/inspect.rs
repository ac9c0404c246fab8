//! `pithos sessions` and `pithos log`: a look into the servers that run on this machine, for people.

use std::path::PathBuf;
use std::process::ExitCode;

use pithos_sessions::log;
use pithos_sessions::{errln, out, outln};
use regex::bytes::Regex;
use serde_json::Value;

use crate::control::{Question, ask_all};

/// Lines that `pithos log` shows unless told otherwise.
const LINES_DEFAULT: usize = 200;
/// Bytes of them at most.
const BYTES_MAX: usize = 16 * 1024 * 1024;
/// Matches that `pithos log --grep` shows.
const MATCHES_MAX: usize = 1000;

/// `pithos sessions`: what every server holds.
pub(crate) fn sessions(as_json: bool) -> Result<ExitCode, String> {
    let servers = ask_all(&Question::Sessions);
    if as_json {
        let rows = servers.into_iter().flat_map(|(pid, answer)| rows(pid, answer)).collect();
        outln!("{}", Value::Array(rows));
        return Ok(ExitCode::SUCCESS);
    }
    if servers.is_empty() {
        outln!("no server runs on this machine (or none that this user may look into)");
    }
    for (pid, answer) in servers {
        if let Some(error) = answer["error"].as_str() {
            outln!("server {pid}: {error}");
            continue;
        }
        outln!("server {pid}");
        let clients = answer["clients"].as_array().cloned().unwrap_or_default();
        if clients.is_empty() {
            outln!("  no client has called yet");
        }
        clients.iter().for_each(show_client);
    }
    Ok(ExitCode::SUCCESS)
}

/// `pithos console`: where the pages are, each with a word that signs in once.
pub(crate) fn console() -> Result<ExitCode, String> {
    let mut found = false;
    for (pid, answer) in ask_all(&Question::Console) {
        if let Some(page) = answer["page"].as_str() {
            outln!("server {pid}  {page}");
            found = true;
        }
    }
    if found {
        return Ok(ExitCode::SUCCESS);
    }
    Err("no server of this user has a page: start one with 'pithos serve --http 127.0.0.1:PORT --console'"
        .to_string())
}

/// One row for each client of a server.
fn rows(pid: u32, answer: Value) -> Vec<Value> {
    let Some(clients) = answer["clients"].as_array() else { return vec![answer] };
    let row = |client: &Value| {
        let mut row = client.clone();
        row["pid"] = pid.into();
        row
    };
    clients.iter().map(row).collect()
}

fn show_client(client: &Value) {
    if let Some(number) = client["client"].as_u64() {
        outln!("  client {number}");
    }
    for session in client["sessions"].as_array().into_iter().flatten() {
        let busy = session["busy_with"].as_str().map_or_else(String::new, |job| format!("  busy with {job}"));
        outln!(
            "  session {}  {}  {} runs{busy}",
            text(&session["session"]),
            text(&session["cwd"]),
            session["runs"]
        );
    }
    for job in client["jobs"].as_array().into_iter().flatten() {
        outln!(
            "  job {}  {}  in {}  {}",
            text(&job["job"]),
            text(&job["state"]),
            text(&job["session"]),
            text(&job["command"])
        );
    }
    out!("{}", tree(&client["tree"], 1));
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn tree(node: &Value, depth: usize) -> String {
    let below = node["children"].as_array().into_iter().flatten().map(|child| tree(child, depth + 1));
    format!("{}{}\n{}", "  ".repeat(depth), text(&node["name"]), below.collect::<String>())
}

/// What `pithos log` is asked to show.
#[derive(Default)]
pub(crate) struct LogRequest {
    pub(crate) server: Option<u32>,
    pub(crate) client: Option<u64>,
    pub(crate) lines: Option<usize>,
    pub(crate) grep: Option<String>,
}

/// `pithos log JOB`: the last lines of a job's log, or those that match.
pub(crate) fn show_log(job: &str, request: &LogRequest) -> Result<ExitCode, String> {
    let path = find(job, request)?;
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    match &request.grep {
        Some(pattern) => {
            let pattern = Regex::new(pattern).map_err(|error| format!("--grep: {error}"))?;
            let (lines, more) = log::grep(&path, &pattern, 0, MATCHES_MAX).map_err(failed)?;
            lines.iter().for_each(|line| outln!("{}:{}", line.number, line.text));
            if more {
                errln!("pithos: there are more than {MATCHES_MAX} matches");
            }
            Ok(if lines.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
        }
        None => {
            let bytes =
                log::tail(&path, request.lines.unwrap_or(LINES_DEFAULT), BYTES_MAX).map_err(failed)?;
            std::io::Write::write_all(&mut std::io::stdout(), &bytes).map_err(|error| error.to_string())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The log of a job among all servers of this user, and all clients of each.
fn find(job: &str, request: &LogRequest) -> Result<PathBuf, String> {
    let mut answers = ask_all(&Question::Log { job: job.to_string() });
    if answers.is_empty() {
        return Err(
            "no server of this user runs on this machine: a job's log goes with its server".to_string()
        );
    }
    let asked: Vec<String> = answers.iter().map(|(pid, _)| pid.to_string()).collect();
    answers.retain(|(pid, _)| request.server.is_none_or(|wanted| wanted == *pid));
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    let mut errors: Vec<String> = Vec::new();
    for (pid, answer) in answers {
        errors.extend(answer["error"].as_str().map(|error| format!("; server {pid}: {error}")));
        for log in answer["logs"].as_array().into_iter().flatten() {
            let client = log["client"].as_u64();
            if request.client.is_some_and(|wanted| client != Some(wanted)) {
                continue;
            }
            let choice = client.map_or_else(String::new, |client| format!(" --client {client}"));
            found.push((format!("--server {pid}{choice}"), text(&log["path"]).into()));
        }
    }
    match found.as_slice() {
        [(_, path)] => Ok(path.clone()),
        [] => Err(format!(
            "no job '{job}' was found; asked: server {}{}; 'pithos sessions' lists what there is",
            asked.join(", "),
            errors.concat()
        )),
        several => {
            let choices: Vec<&str> = several.iter().map(|(choice, _)| choice.as_str()).collect();
            Err(format!("there are several jobs '{job}': choose with {}", choices.join(" or ")))
        }
    }
}
