//! Jobs as tasks, for clients that say they know tasks (the extension `io.modelcontextprotocol/tasks`): a `run` whose command goes on when its answer is due is answered
//! with a task in the place of a running job, and `tasks/get` has the result of the call once the job has ended. The task's id is the job's handle, so the
//! `job` and `log` tools know it too. Owns no state: what a task is, is the job.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use pithos_sessions::{Job, Manager, Reason};
use rmcp::model::{
    CallToolResult, CancelTaskParams, ContentBlock, CreateTaskResult, DetailedTask, GetTaskParams,
    GetTaskResult, JsonObject, Task, TaskPayload, TaskStatus,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use crate::journal::show::clock;
use crate::limits::TASK_POLL_MS;
use crate::result::Report;
use crate::tools;

/// Arguments of a `run` that wants its running job itself.
const WANTS_THE_JOB: [&str; 4] = ["yield_ms", "background", "interactive", "terminal"];

/// Whether a call may become a task: its client knows them, and did not ask for the running job itself.
pub(crate) fn wanted(context: &RequestContext<RoleServer>, tool: &str, arguments: &Value) -> bool {
    let known = context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
    known
        && tool == "run"
        && !WANTS_THE_JOB.iter().any(|name| !arguments[*name].is_null() && arguments[*name] != false)
}

/// The task in the place of a call's result, when its command runs on.
pub(crate) fn instead_of(report: &Report, manager: &Manager) -> Option<CreateTaskResult> {
    if report.structured["state"] != "running" {
        return None;
    }
    // Who is asked something must see the question.
    if !report.structured["waiting_for_input"].is_null() {
        return None;
    }
    let job = manager.job(report.structured["job"].as_str()?).ok()?;
    Some(CreateTaskResult::new(task(&job)))
}

/// Answers `tasks/get`.
pub(crate) async fn get(manager: &Arc<Manager>, wanted: &GetTaskParams) -> Result<GetTaskResult, ErrorData> {
    let job = find(manager, &wanted.task_id)?;
    let payload = match job.end() {
        None => TaskPayload::Working,
        Some(end) if end.reason == Some(Reason::Cancelled) => TaskPayload::Cancelled,
        Some(_) => TaskPayload::Completed { result: result(manager, &job).await },
    };
    Ok(GetTaskResult::new(DetailedTask::new(task(&job), payload)))
}

/// Answers `tasks/cancel`: the job is stopped with its whole process tree.
pub(crate) fn cancel(manager: &Manager, wanted: &CancelTaskParams) -> Result<(), ErrorData> {
    find(manager, &wanted.task_id).map(|job| job.stop(Reason::Cancelled))
}

/// Nothing is asked in a task: an answer is for nobody.
pub(crate) fn find(manager: &Manager, task: &str) -> Result<Arc<Job>, ErrorData> {
    manager.job(task).map_err(|error| ErrorData::invalid_params(format!("there is no task: {error}"), None))
}

fn task(job: &Job) -> Task {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let stamp = |seconds: f64| clock(seconds).replacen(' ', "T", 1);
    let began = now - job.started.elapsed().as_secs_f64();
    let changed = job.end().map_or(now, |end| began + end.wall.as_secs_f64());
    let task = Task::new(job.handle.clone(), TaskStatus::Working, stamp(began), stamp(changed));
    let task = task.with_poll_interval_ms(TASK_POLL_MS);
    match job.end().is_none().then(|| job.waits_for_input()).flatten() {
        Some(_) => task.with_status_message(format!(
            "waits for input: write to {} with the job tool, or cancel the task",
            job.handle
        )),
        None => task,
    }
}

/// What the call would have answered.
async fn result(manager: &Arc<Manager>, job: &Arc<Job>) -> JsonObject {
    let report = tools::ended_job(manager, job).await;
    let mut result = CallToolResult::success(vec![ContentBlock::text(report.text)]);
    result.structured_content = Some(report.structured);
    match serde_json::to_value(result) {
        Ok(Value::Object(fields)) => fields,
        _ => JsonObject::new(),
    }
}
