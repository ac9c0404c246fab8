//! Tools that cells call: this server's own, as `tools.pithos.NAME(arguments)`, and those of the servers that it was told of. One cell can so do
//! what would take many calls, and what is between them never reaches the model.

use std::fmt::Write;
use std::sync::Arc;

use pithos_sessions::{Answer, Manager, Tools};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Call, Outcome, declarations};
use crate::journal::Recorder;
use crate::journal::record::Ended;
use crate::schema;
use crate::servers::{OWN, Servers};

/// What a cell finds as `tools`.
struct CodeTools {
    manager: Arc<Manager>,
    servers: Arc<Servers>,
    recorder: Arc<Recorder>,
    client: Option<u64>,
}

/// The tools for the cells of a manager.
pub(crate) fn for_cells(
    manager: &Arc<Manager>,
    servers: &Arc<Servers>,
    recorder: &Arc<Recorder>,
    client: Option<u64>,
) -> Arc<dyn Tools> {
    let (manager, servers, recorder) = (Arc::clone(manager), Arc::clone(servers), Arc::clone(recorder));
    Arc::new(CodeTools { manager, servers, recorder, client })
}

impl Tools for CodeTools {
    fn call(&self, server: String, name: String, arguments: Value) -> Answer {
        let (manager, servers) = (Arc::clone(&self.manager), Arc::clone(&self.servers));
        let (recorder, client) = (Arc::clone(&self.recorder), self.client);
        Box::pin(async move {
            if server.is_empty() {
                return declared(&name, &servers).await.map(Value::String);
            }
            let entry = recorder.begin_of_cell(&server, &name, &arguments, client);
            entry.admitted().await;
            let answer = match server.as_str() {
                OWN => {
                    let cancelled = CancellationToken::new();
                    let call =
                        Call { manager, cancelled, servers, recorder, client, tape: None, tasks: false };
                    own(name, arguments, call).await
                }
                _ => servers.call(&server, &name, arguments).await,
            };
            match &answer {
                Ok(value) => entry.end(Ended::Good, value, value["text"].as_str().unwrap_or_default()),
                Err(message) => entry.fail(Ended::Wrong, message),
            }
            answer
        })
    }
}

/// A tool of this server: the structured part of what it would answer a client, with the text as `text`.
async fn own(name: String, arguments: Value, call: Call) -> Result<Value, String> {
    if name == "js" {
        return Err("tools.pithos.js: a cell starts no cells".to_owned());
    }
    // A cell that ends takes what it waits for along: in a task of its own the call hears of that.
    let _cancel = call.cancelled.clone().drop_guard();
    let named = name.clone();
    let work = tokio::spawn(async move { super::call(&named, arguments, call).await });
    match work.await {
        Ok(Some(Outcome::Good(report))) => {
            let mut answer = report.structured;
            if let Some(fields) = answer.as_object_mut() {
                fields.entry("text").or_insert(Value::String(report.text));
            }
            Ok(answer)
        }
        Ok(Some(Outcome::Wrong(message))) => Err(format!("tools.pithos.{name}: {message}")),
        Ok(None) => {
            let names: Vec<&str> =
                schema::tools().iter().map(|tool| &*tool.name).filter(|name| *name != "js").collect();
            Err(format!("tools.pithos has no {name}; it has: {}", names.join(", ")))
        }
        Err(_) => Err(format!("tools.pithos.{name}: the call failed inside the server")),
    }
}

async fn declared(only: &str, servers: &Servers) -> Result<String, String> {
    let mut all = "declare const tools: {\n".to_owned();
    if only.is_empty() || only == OWN {
        let own: Vec<_> = schema::tools().iter().filter(|tool| tool.name != "js").cloned().collect();
        all.push_str(&declarations::of_server(OWN, &own, true));
    }
    for name in servers.names().filter(|name| only.is_empty() || *name == only) {
        match servers.tools(name).await {
            Ok(tools) => all.push_str(&declarations::of_server(name, &tools, false)),
            // The others are there all the same.
            Err(message) if only.is_empty() => drop(writeln!(all, "  // {}", message.replace('\n', " "))),
            Err(message) => return Err(message),
        }
    }
    if !only.is_empty() && only != OWN && !servers.names().any(|name| name == only) {
        // Says which there are.
        servers.tools(only).await?;
    }
    all.push_str("};\n");
    Ok(all)
}
