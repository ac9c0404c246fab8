//! What a client reads of a job or a cell: a small structured part, and the output once as text, both bounded.

use pithos_sessions::limits::{KILLED_LISTED_MAX, OUTPUT_BYTES_DEFAULT};
use pithos_sessions::{Budget, Cell, CellEnd, Denial, End, Job, Manager, Outcome, Process, RunDone, Stream};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

use crate::limits::SHOWN_BYTES_MAX;

/// How much of the output a result shows when the client does not say.
pub(crate) const BUDGET_DEFAULT: usize = OUTPUT_BYTES_DEFAULT;
/// A shell's status for a process that SIGPIPE ended.
const STATUS_SIGPIPE: i32 = 141;
/// Statuses from here on mean 128 + a signal.
const STATUS_SIGNAL_BASE: i32 = 128;

/// The last pipelines of a script that a result lists.
const PIPELINES_SHOWN_MAX: usize = 50;

/// Denials that the text of a result tells of one by one.
const DENIALS_TOLD_MAX: usize = 8;

/// The two halves of a tool result.
pub(crate) struct Report {
    pub(crate) structured: Value,
    pub(crate) text: String,
}

/// The state of a job now, for its client.
pub(crate) fn of_job(manager: &Manager, job: &Job, budget: Budget) -> Report {
    job.shown_up_to(job.with_capture(|capture| capture.totals().bytes()));
    report(manager, job, budget)
}

/// The same without its output, for others.
pub(crate) fn structured_of_job(manager: &Manager, job: &Job) -> Value {
    report(manager, job, Budget::bytes(0)).structured
}

fn report(manager: &Manager, job: &Job, budget: Budget) -> Report {
    let end = job.end();
    let failed = end.as_ref().is_none_or(|end| end.done.as_ref().is_none_or(|done| done.status.0 != 0));
    let (rendered, totals, stderr) = job.with_capture(|capture| {
        (capture.render(budget, failed && end.is_some()), capture.totals(), capture.stderr_tail())
    });
    let mut fields = Map::new();
    fields.insert("job".into(), json!(job.handle));
    fields.insert("session".into(), json!(job.session));
    fields.insert("stdout_bytes".into(), json!(totals.stdout_bytes));
    fields.insert("stderr_bytes".into(), json!(totals.stderr_bytes));
    fields.insert("truncated".into(), json!(rendered.truncated));
    let streams = job.with_capture(|capture| {
        [Stream::Out, Stream::Error].map(|stream| capture.render_apart(stream, budget))
    });
    for (name, stream) in ["stdout", "stderr"].into_iter().zip(streams) {
        if let Some(stream) = stream {
            fields.insert(name.into(), json!(stream.text));
        }
    }
    if let Some(why) = totals.log_stopped {
        fields.insert("log_stopped".into(), json!(why));
    }
    let mut notes: Vec<String> = job.news.iter().cloned().collect();
    match end.as_deref() {
        Some(end) => describe_end(end, &mut fields, &mut notes),
        None => describe_running(job, &mut fields, &mut notes),
    }
    if failed && end.is_some() && totals.stderr_bytes > 0 && totals.stdout_bytes > 0 {
        fields.insert("stderr_tail".into(), json!(stderr));
    }
    describe_denials(&manager.denials(job), failed, &mut fields, &mut notes);
    if let Some(end) = &end {
        describe_created(&end.protected_created, &mut fields, &mut notes);
    }
    if rendered.truncated {
        notes.push(format!("the whole output is in the log of {}", job.handle));
    }
    let text = with_notes(rendered.text, &notes);
    if !notes.is_empty() {
        fields.insert("notes".into(), json!(notes));
    }
    Report { structured: Value::Object(fields), text }
}

fn describe_running(job: &Job, fields: &mut Map<String, Value>, notes: &mut Vec<String>) {
    fields.insert("state".into(), json!("running"));
    fields.insert("ms".into(), json!(job.started.elapsed().as_millis() as u64));
    if let Some(process) = job.waits_for_input() {
        let prompt = prompt(job);
        fields.insert(
            "waiting_for_input".into(),
            json!({"pid": process.pid, "command": process.command, "prompt": prompt}),
        );
        // The shell's own command line says nothing to anybody.
        let shell = process.command.starts_with("/proc/self/exe ");
        let who = if shell { "the shell (`read`)".to_owned() } else { format!("'{}'", process.command) };
        let after = if prompt.is_empty() { String::new() } else { format!(" after '{prompt}'") };
        notes.push(format!("{who} waits for input{after}: write to {} with the job tool", job.handle));
    } else {
        notes.push(format!(
            "still running as {}: wait for it, write to it or stop it with the job tool",
            job.handle
        ));
    }
}

/// What failed is told why; what went well for all that has a word about it, and the rest in the structured part.
fn describe_denials(
    denials: &[Denial],
    failed: bool,
    fields: &mut Map<String, Value>,
    notes: &mut Vec<String>,
) {
    let told = if failed { DENIALS_TOLD_MAX } else { 1 };
    for denial in denials.iter().take(told) {
        notes.push(format!(
            "the sandbox denied {}: {}; to allow it, {}",
            denial.subject, denial.rule, denial.how_to_allow
        ));
    }
    if let Some(more) = denials.len().checked_sub(told).filter(|more| *more > 0) {
        notes.push(format!("the sandbox denied {more} more: see denials"));
    }
    if !denials.is_empty() {
        fields.insert("denials".into(), json!(denials));
    }
}

fn describe_created(created: &[PathBuf], fields: &mut Map<String, Value>, notes: &mut Vec<String>) {
    if created.is_empty() {
        return;
    }
    for path in created {
        notes.push(format!(
            "{} is protected, was not there when the server started, and is there now: programs outside may obey it, so look at it or remove it",
            path.display()
        ));
    }
    fields.insert("protected_created".into(), json!(created));
}

fn describe_end(end: &End, fields: &mut Map<String, Value>, notes: &mut Vec<String>) {
    fields.insert("state".into(), json!(state(end)));
    fields.insert("ms".into(), json!(end.wall.as_micros() as f64 / 1e3));
    if let Some(reason) = end.reason {
        fields.insert("stopped_by".into(), json!(reason.name()));
        notes.push(format!("ended from outside: {}", reason.name()));
    }
    if !end.killed.is_empty() {
        let listed: Vec<Value> = end.killed.iter().take(KILLED_LISTED_MAX).map(process).collect();
        notes.push(format!("{} process(es) were killed", end.killed.len()));
        fields.insert("killed".into(), json!(listed));
    }
    if let Some(failure) = &end.failure {
        fields.insert("failure".into(), json!(failure));
        notes.push(failure.clone());
    }
    if let Some(done) = &end.done {
        describe_status(done, fields, notes);
    }
}

/// The word for an end.
pub(crate) fn state(end: &End) -> &'static str {
    match end {
        End { reason: Some(_), .. } => "stopped",
        End { lost: true, .. } => "lost",
        End { done: None, .. } => "failed",
        _ => "done",
    }
}

fn describe_status(done: &RunDone, fields: &mut Map<String, Value>, notes: &mut Vec<String>) {
    let status = done.status.0;
    fields.insert("status".into(), json!(status));
    fields.insert("cwd".into(), json!(done.cwd));
    if status > STATUS_SIGNAL_BASE {
        fields.insert("signal".into(), json!(status - STATUS_SIGNAL_BASE));
    }
    if status != 0 {
        notes.push(format!("exit status {status}"));
    }
    let pipelines: Vec<&Vec<i32>> = done.pipelines.iter().map(|pipeline| &pipeline.stages).collect();
    // One command alone is told by the status.
    if pipelines.len() > 1 || pipelines.iter().any(|stages| stages.len() > 1) {
        let last = pipelines.len().saturating_sub(PIPELINES_SHOWN_MAX);
        fields.insert("pipelines".into(), json!(pipelines[last..]));
    }
    for stages in &pipelines {
        hidden_failures(stages, notes);
    }
}

/// A stage that failed behind a last stage that did not: the status alone would hide it.
fn hidden_failures(stages: &[i32], notes: &mut Vec<String>) {
    let Some((last, earlier)) = stages.split_last() else { return };
    for (index, status) in earlier.iter().enumerate().filter(|(_, status)| **status != 0) {
        let stage = format!("stage {} of {}", index + 1, stages.len());
        if *status == STATUS_SIGPIPE {
            notes.push(format!("{stage} ended by SIGPIPE, because a later stage had read enough: normal"));
        } else if *last == 0 {
            notes.push(format!("the pipeline's status is 0, but {stage} failed with {status}"));
        }
    }
}

fn process(process: &Process) -> Value {
    json!({"pid": process.pid, "command": process.command})
}

/// What a job has said last: where it waits for input, what it waits for.
pub(crate) fn prompt(job: &Job) -> String {
    job.with_capture(|capture| last_line(&capture.render(Budget::bytes(512), true).text))
}

fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or("").chars().take(200).collect()
}

pub(crate) fn with_notes(mut text: String, notes: &[String]) -> String {
    if notes.is_empty() {
        return text;
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for note in notes {
        text.push_str(&format!("[{note}]\n"));
    }
    text
}

/// A value as the console prints it, not longer than a result wants it beside the text.
fn shown(text: &str) -> String {
    if text.len() <= SHOWN_BYTES_MAX {
        return text.to_owned();
    }
    format!("{}... ({} bytes)", &text[..text.floor_char_boundary(SHOWN_BYTES_MAX)], text.len())
}

/// How a cell ended.
pub(crate) fn of_cell(cell: &Cell, end: &CellEnd) -> Report {
    let mut structured = json!({"cell": cell.handle, "ms": end.wall_us as f64 / 1e3});
    let mut told = None;
    let (state, text) = match &end.outcome {
        Outcome::Value { text, json } => {
            match json {
                Some(json) => structured["value"] = json.clone(),
                None if text != "undefined" => {
                    structured["shown"] = json!(shown(text));
                    told = Some("the value is no JSON: `shown` is how the console prints it");
                }
                None => {}
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
    if let Some(told) = told {
        structured["note"] = json!(told);
    }
    let (mut fields, mut notes) = (Map::new(), Vec::new());
    describe_denials(&end.denials, state != "done", &mut fields, &mut notes);
    describe_created(&end.protected_created, &mut fields, &mut notes);
    if let Some(all) = structured.as_object_mut() {
        all.append(&mut fields);
    }
    Report { structured, text: with_notes(format!("{}{text}", end.console), &notes) }
}

#[cfg(test)]
mod tests {
    use super::hidden_failures;

    fn check(stages: &[i32], expected: &[&str]) {
        let mut notes = Vec::new();
        hidden_failures(stages, &mut notes);
        assert_eq!(notes, expected, "{stages:?}");
    }

    #[test]
    fn a_failure_before_a_good_last_stage_is_named() {
        check(&[0], &[]);
        check(&[1, 0], &["the pipeline's status is 0, but stage 1 of 2 failed with 1"]);
        check(&[141, 0], &["stage 1 of 2 ended by SIGPIPE, because a later stage had read enough: normal"]);
        check(&[0, 3], &[]);
    }
}
