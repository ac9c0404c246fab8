//! The `session` tool: open, fork, close, list.

use std::sync::Arc;
use std::time::Duration;

use pithos_sessions::{Manager, Session};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Call, parse};
use crate::result::Report;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    session: Option<String>,
    name: Option<String>,
    cwd: Option<String>,
    ttl_s: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Open,
    Fork,
    Close,
    List,
}

pub(super) async fn call(arguments: Value, call: Call) -> Result<Report, String> {
    let arguments: Arguments = parse(arguments)?;
    let named = || arguments.session.as_deref().ok_or("this action needs a session");
    let manager = &call.manager;
    match arguments.action {
        Action::Open => {
            let opened = manager.open(arguments.name.as_deref(), arguments.cwd.as_deref()).await;
            Ok(one(&expiring(manager, opened.map_err(|error| error.to_string())?, arguments.ttl_s)))
        }
        Action::Fork => {
            let forked = manager.fork(named()?, arguments.name.as_deref()).await;
            Ok(one(&expiring(manager, forked.map_err(|error| error.to_string())?, arguments.ttl_s)))
        }
        Action::Close => {
            manager.close(named()?).map_err(|error| error.to_string())?;
            Ok(Report { structured: json!({"session": named()?}), text: "closed\n".to_string() })
        }
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
    })
}
