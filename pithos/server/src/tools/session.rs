//! The `session` tool: open, fork, close, list; what else an overlaid session can do is in `overlay`.

use std::sync::Arc;
use std::time::Duration;

use pithos_sessions::{DEFAULT_SESSION, Manager, Session};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Call, overlay, parse};
use crate::result::Report;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    session: Option<String>,
    name: Option<String>,
    cwd: Option<String>,
    ttl_s: Option<u64>,
    #[serde(default)]
    overlay: bool,
    paths: Option<Vec<String>>,
    job: Option<String>,
    checkpoint: Option<String>,
    output_bytes: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Open,
    Fork,
    Close,
    List,
    Diff,
    Undo,
    Commit,
    Discard,
    Checkpoint,
    Checkpoints,
    Restore,
    Delete,
}

pub(super) async fn call(arguments: Value, call: Call) -> Result<Report, String> {
    let arguments: Arguments = parse(arguments)?;
    let named = || arguments.session.as_deref().ok_or("this action needs a session");
    let which = || arguments.checkpoint.as_deref().ok_or("this action needs a checkpoint");
    let manager = &call.manager;
    if arguments.paths.as_ref().is_some_and(Vec::is_empty) {
        return Err(
            "paths: the list is empty, and nothing was done; leave it out to take all changes".to_string()
        );
    }
    let paths = arguments.paths.as_deref().unwrap_or_default();
    match arguments.action {
        Action::Open => {
            let (name, cwd) = (arguments.name.as_deref(), arguments.cwd.as_deref());
            // What is run again changes nothing but overlays.
            let opened = if arguments.overlay || call.recorder.replaying {
                manager.open_overlaid(name, cwd).await
            } else {
                manager.open(name, cwd).await
            };
            Ok(one(&expiring(manager, opened.map_err(|error| error.to_string())?, arguments.ttl_s)))
        }
        Action::Fork => {
            let name = arguments.name.as_deref();
            let forked = match (&arguments.session, &arguments.checkpoint) {
                (None, Some(checkpoint)) => manager.fork_checkpoint(checkpoint, name).await,
                (Some(session), None) => manager.fork(session, name).await,
                (None, None) => return Err("fork needs a session, or a checkpoint".to_string()),
                (Some(_), Some(_)) => {
                    return Err("fork takes a session or a checkpoint, not both".to_string());
                }
            };
            Ok(one(&expiring(manager, forked.map_err(|error| error.to_string())?, arguments.ttl_s)))
        }
        Action::Close => {
            manager.close(named()?).map_err(|error| error.to_string())?;
            if call.recorder.replaying && named()? == DEFAULT_SESSION {
                // It would come back by itself, and without an overlay.
                let again = manager.open_overlaid(Some(DEFAULT_SESSION), None).await;
                again.map_err(|error| error.to_string())?;
            }
            Ok(Report { structured: json!({"session": named()?}), text: "closed\n".to_string() })
        }
        Action::Diff => overlay::diff(manager, named()?, arguments.output_bytes).await,
        Action::Undo => overlay::undo(manager, named()?, arguments.job).await,
        Action::Commit if call.recorder.replaying => Err("a replay commits nothing".to_string()),
        Action::Commit => overlay::commit(manager, named()?, paths).await,
        Action::Discard => overlay::discard(manager, named()?, paths).await,
        Action::Checkpoint => {
            overlay::checkpoint(manager, named()?, arguments.name.as_deref(), arguments.ttl_s).await
        }
        Action::Checkpoints => overlay::checkpoints(manager).await,
        Action::Restore => overlay::restore(manager, named()?, which()?).await,
        Action::Delete => overlay::delete(manager, which()?).await,
        Action::List => {
            let sessions = manager.sessions();
            let rows: Vec<Value> = sessions.iter().map(|session| describe(session)).collect();
            let lines =
                sessions.iter().map(|session| format!("{}  {}\n", session.handle, session.cwd().display()));
            Ok(Report { structured: json!({"sessions": rows}), text: lines.collect() })
        }
    }
}

fn expiring(manager: &Arc<Manager>, session: Arc<Session>, ttl_s: Option<u64>) -> Arc<Session> {
    if let Some(seconds) = ttl_s {
        manager.close_when_idle(&session, Duration::from_secs(seconds.max(1)));
    }
    session
}

fn one(session: &Session) -> Report {
    let text = format!("{}  {}\n", session.handle, session.cwd().display());
    Report { structured: describe(session), text }
}

/// A session as a row of lists.
pub(crate) fn describe(session: &Session) -> Value {
    json!({
        "session": session.handle,
        "cwd": session.cwd(),
        "runs": session.runs(),
        "alive": session.alive(),
        "busy_with": session.running().map(|job| job.handle.clone()),
        "open_s": session.opened.elapsed().as_secs(),
        "undo": session.undo(),
        "undo_note": session.snapshot_because().map(overlay::snapshot_note),
    })
}
