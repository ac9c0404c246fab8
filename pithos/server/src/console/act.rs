//! What a person may do through the page: a list of the tools' own actions, carried out like a client's calls, and answers to questions. Each is in the journal with
//! `by: console`. No script can be run and no session opened this way: the page ends, answers, keeps and takes back what clients have begun.

use std::sync::Arc;

use hyper::StatusCode;
use pithos_sessions::Reply;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Console;
use crate::journal::ANSWER;
use crate::journal::record::Ended;
use crate::servers::Servers;
use crate::tools::{self, Call, Outcome};

/// What may be done, by tool and action.
const ACTIONS: [(&str, &[&str]); 3] = [
    ("job", &["write", "signal", "resize", "stop"]),
    ("session", &["fork", "close", "undo", "commit", "discard", "checkpoint", "restore", "delete"]),
    ("actors", &["stop"]),
];

/// Whether the page may do this.
fn allowed(tool: &str, arguments: &Value) -> bool {
    let action = arguments["action"].as_str().unwrap_or_default();
    ACTIONS.iter().any(|(known, actions)| *known == tool && actions.contains(&action))
}

impl Console {
    /// Carries out an action: `{"client", "tool", "arguments"}`.
    pub(super) async fn act(&self, given: Value) -> Result<Value, StatusCode> {
        let (tool, arguments) = (given["tool"].as_str().unwrap_or_default(), &given["arguments"]);
        if !allowed(tool, arguments) {
            return Err(StatusCode::FORBIDDEN);
        }
        let client = given["client"].as_u64();
        let manager = self.manager(client).ok_or(StatusCode::NOT_FOUND)?;
        let entry = self.recorder.begin_of_console(tool, arguments, client);
        let call = self.call(manager, client);
        // What the page was answered is still news to the client.
        let job = arguments["job"].as_str().and_then(|job| call.manager.job(job).ok());
        let shown = job.map(|job| (job.shown_up_to(0), job));
        let (tool, arguments) = (tool.to_string(), arguments.clone());
        // A task of its own: a page that goes takes nothing back half-way.
        let work = tokio::spawn(async move {
            let outcome = tools::call(&tool, arguments, call).await;
            if let Some((offset, job)) = shown.filter(|_| tool == "job") {
                job.not_shown_after(offset);
            }
            match outcome {
                Some(Outcome::Good(report)) => {
                    entry.end(Ended::Good, &report.structured, &report.text);
                    json!({"ended": "good", "text": report.text, "structured": report.structured})
                }
                Some(Outcome::Wrong(message)) => {
                    entry.fail(Ended::Wrong, &message);
                    json!({"ended": "wrong", "text": message})
                }
                None => Value::Null,
            }
        });
        work.await.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// What a tool is given that is called for the page.
    pub(super) fn call(&self, manager: Arc<pithos_sessions::Manager>, client: Option<u64>) -> Call {
        Call {
            manager,
            cancelled: CancellationToken::new(),
            servers: Arc::new(Servers::default()),
            recorder: Arc::clone(&self.recorder),
            client,
            tape: None,
            tasks: false,
        }
    }

    /// Answers a question: `{"question", "reply"}`.
    pub(super) fn reply(&self, given: &Value) -> Result<Value, StatusCode> {
        let word = given["reply"].as_str().unwrap_or_default();
        let reply = match word {
            "job" => Reply::Job,
            "server" => Reply::Server,
            "no" => Reply::No,
            _ => return Err(StatusCode::BAD_REQUEST),
        };
        let number = given["question"].as_u64().ok_or(StatusCode::BAD_REQUEST)?;
        let answered = self.desk.answer(number, reply);
        let (client, question) = answered.ok_or(StatusCode::NOT_FOUND)?;
        let arguments =
            json!({"host": question.host, "port": question.port, "job": question.job, "reply": word});
        self.recorder.begin_of_console(ANSWER, &arguments, client).end(Ended::Good, &Value::Null, "");
        Ok(json!({"ended": "good", "text": ""}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    /// Every action of every tool is either named here as one that may be done, or as one that may not: a new one is a decision.
    #[test]
    fn every_action_is_decided_on() {
        let refused = [
            ("job", "wait"),
            ("job", "list"),
            ("session", "open"),
            ("session", "list"),
            ("session", "diff"),
            ("session", "checkpoints"),
            ("log", "read"),
            ("log", "tail"),
            ("log", "grep"),
            ("actors", "spawn"),
            ("actors", "send"),
            ("actors", "ask"),
            ("actors", "swap"),
            ("actors", "tree"),
        ];
        for tool in schema::tools() {
            let actions = tool.input_schema["properties"].get("action").map(|action| action["enum"].clone());
            let actions = actions.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
            for action in &actions {
                let name = action.as_str().unwrap();
                let may = allowed(&tool.name, &json!({"action": action}));
                assert_ne!(may, refused.contains(&(&*tool.name, name)), "{} {name}", tool.name);
            }
        }
        for (tool, action) in [("run", "stop"), ("js", "stop"), ("", ""), ("job", ""), ("JOB", "stop")] {
            assert!(!allowed(tool, &json!({"action": action, "command": "true"})));
        }
        assert!(!allowed("job", &json!({"action": ["stop"]})) && !allowed("job", &Value::Null));
    }
}
