//! `pithos sessions` and `pithos log`: a look into the servers that run on this machine, for people.

use std::path::PathBuf;
use std::process::ExitCode;

use pithos_sessions::log;
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
        println!("{}", Value::Array(servers.into_iter().map(|(_, answer)| answer).collect()));
        return Ok(ExitCode::SUCCESS);
    }
    if servers.is_empty() {
        println!("no server runs on this machine (or none that this user may look into)");
    }
    for (pid, answer) in servers {
        if let Some(error) = answer["error"].as_str() {
            println!("server {pid}: {error}");
            continue;
        }
        println!("server {pid}");
        for session in answer["sessions"].as_array().into_iter().flatten() {
            let busy =
                session["busy_with"].as_str().map_or_else(String::new, |job| format!("  busy with {job}"));
            println!(
                "  session {}  {}  {} runs{busy}",
                text(&session["session"]),
                text(&session["cwd"]),
                session["runs"]
            );
        }
        for job in answer["jobs"].as_array().into_iter().flatten() {
            println!(
                "  job {}  {}  in {}  {}",
                text(&job["job"]),
                text(&job["state"]),
                text(&job["session"]),
                text(&job["command"])
            );
        }
        print!("{}", tree(&answer["tree"], 1));
    }
    Ok(ExitCode::SUCCESS)
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
    pub(crate) lines: Option<usize>,
    pub(crate) grep: Option<String>,
}

/// `pithos log JOB`: the last lines of a job's log, or those that match.
pub(crate) fn show_log(job: &str, request: &LogRequest) -> Result<ExitCode, String> {
    let path = find(job, request.server)?;
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    match &request.grep {
        Some(pattern) => {
            let pattern = Regex::new(pattern).map_err(|error| format!("--grep: {error}"))?;
            let (lines, more) = log::grep(&path, &pattern, 0, MATCHES_MAX).map_err(failed)?;
            lines.iter().for_each(|line| println!("{}:{}", line.number, line.text));
            if more {
                eprintln!("pithos: there are more than {MATCHES_MAX} matches");
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

fn find(job: &str, server: Option<u32>) -> Result<PathBuf, String> {
    let mut answers = ask_all(&Question::Log { job: job.to_string() });
    answers.retain(|(pid, _)| server.is_none_or(|wanted| wanted == *pid));
    let mut errors: Vec<String> = Vec::new();
    let mut paths: Vec<(u32, PathBuf)> = Vec::new();
    for (pid, answer) in answers {
        match answer["path"].as_str() {
            Some(path) => paths.push((pid, path.into())),
            None => errors.push(format!("server {pid}: {}", text(&answer["error"]))),
        }
    }
    match paths.as_slice() {
        [(_, path)] => Ok(path.clone()),
        [] if errors.is_empty() => Err("no server runs on this machine".to_string()),
        [] => Err(errors.join("\n")),
        several => {
            let pids: Vec<String> = several.iter().map(|(pid, _)| pid.to_string()).collect();
            Err(format!("several servers have a job '{job}': choose with --server {}", pids.join(" or ")))
        }
    }
}
