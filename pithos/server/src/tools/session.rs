//! The `session` tool: open, fork, close, list.

use pithos_sessions::Session;
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
            Ok(one(&*opened.map_err(|error| error.to_string())?))
        }
        Action::Fork => {
            let forked = manager.fork(named()?, arguments.name.as_deref()).await;
            Ok(one(&*forked.map_err(|error| error.to_string())?))
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
