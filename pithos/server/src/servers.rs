//! Other MCP servers whose tools cells may call: named by whoever started this server, in the form that MCP clients have for it
//! (`{"mcpServers": {"NAME": {"command", "args", "env"}}}`). Each is started when it is first asked for something, outside of the sandbox, with
//! this user's rights, and ends with this server. One that does not even answer a `ping` when a call of it was given up is ended, and started again by
//! the next call.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream as StdStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use pithos_sessions::Locked;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, JsonObject, PingRequest,
    ServerResult, Tool,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RunningService};
use rmcp::{RoleClient, ServiceExt};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio::sync::Mutex;

use crate::limits::{SERVER_PING_TIME, SERVER_START_S, SERVERS_BYTES_MAX, SERVERS_MAX};

/// The name of this server's own tools.
pub(crate) const OWN: &str = "pithos";

/// The file's form; what other clients keep in it besides is left alone.
#[derive(Deserialize)]
struct Listed {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, Entry>,
}

#[derive(Clone, Debug, Deserialize)]
struct Entry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    url: Option<String>,
}

/// The servers that are named; cheap to share.
#[derive(Default)]
pub(crate) struct Servers(BTreeMap<String, Arc<Server>>);

struct Server {
    entry: Entry,
    /// None as long as nobody asked for it, and again when it has ended.
    connection: Mutex<Option<Arc<Connection>>>,
}

/// A server that runs.
struct Connection {
    service: RunningService<RoleClient, ()>,
    tools: Vec<Tool>,
    child: Locked<Option<Ended>>,
}

impl Connection {
    /// Ends the server; who waits for it is told.
    fn end(&self) {
        self.service.cancellation_token().cancel();
        drop(self.child.with(Option::take));
    }

    fn is_over(&self) -> bool {
        self.service.is_transport_closed() || self.child.with(|child| child.is_none())
    }
}

/// Ends the process when nobody has it any more.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // Its standard input is closed; who takes no notice of that is ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Servers {
    /// Reads the file; a message says what is wrong with it.
    pub(crate) fn read(path: &Path) -> Result<Servers, String> {
        let said = |message: String| format!("--mcp-config {}: {message}", path.display());
        let length = path.metadata().map_err(|error| said(error.to_string()))?.len();
        if length > SERVERS_BYTES_MAX {
            return Err(said(format!("larger than {SERVERS_BYTES_MAX} bytes")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| said(error.to_string()))?;
        let listed: Listed = serde_json::from_str(&text).map_err(|error| said(error.to_string()))?;
        if listed.servers.len() > SERVERS_MAX {
            return Err(said(format!("more than {SERVERS_MAX} servers")));
        }
        let mut servers = BTreeMap::new();
        for (name, entry) in listed.servers {
            if name == OWN || name == "declarations" || name == "then" || name.is_empty() {
                return Err(said(format!(
                    "no server can be called {name:?}: cells know something else by that"
                )));
            }
            if entry.url.is_some() {
                return Err(said(format!(
                    "{name}: servers with a url are not called yet, only those with a command"
                )));
            }
            if entry.command.is_none() {
                return Err(said(format!("{name}: has no command")));
            }
            servers.insert(name, Arc::new(Server { entry, connection: Mutex::new(None) }));
        }
        Ok(Servers(servers))
    }

    /// Their names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The tools of one.
    pub(crate) async fn tools(&self, name: &str) -> Result<Vec<Tool>, String> {
        Ok(self.connection(name).await?.tools.clone())
    }

    /// Calls a tool: its structured answer, or its text, or its content when that is neither.
    pub(crate) async fn call(&self, server: &str, tool: &str, arguments: Value) -> Result<Value, String> {
        let connection = self.connection(server).await?;
        if !connection.tools.iter().any(|known| known.name == tool) {
            let names: Vec<&str> = connection.tools.iter().map(|tool| &*tool.name).collect();
            return Err(format!("tools.{server} has no {tool}; it has: {}", names.join(", ")));
        }
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            Value::Null => JsonObject::new(),
            _ => return Err(format!("tools.{server}.{tool}: the argument must be an object")),
        };
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let said = |message: String| format!("tools.{server}.{tool}: {message}");
        let sent = ClientRequest::CallToolRequest(CallToolRequest::new(request));
        let handle =
            connection.service.send_cancellable_request(sent, PeerRequestOptions::no_options()).await;
        let handle = handle.map_err(|error| said(error.to_string()))?;
        let asked = Asked { handle: Some(handle), server: self.0.get(server).cloned(), connection };
        match asked.answer().await.map_err(said)? {
            ServerResult::CallToolResult(result) => answer(result).map_err(said),
            _ => Err(said("the server's answer is none".to_owned())),
        }
    }

    async fn connection(&self, name: &str) -> Result<Arc<Connection>, String> {
        let Some(server) = self.0.get(name) else {
            let names: Vec<&str> = std::iter::once(OWN).chain(self.names()).collect();
            return Err(format!("tools: there is no server {name:?}; there are: {}", names.join(", ")));
        };
        let mut kept = server.connection.lock().await;
        if let Some(connection) = kept.as_ref().filter(|connection| !connection.is_over()) {
            return Ok(Arc::clone(connection));
        }
        let starting = start(&server.entry);
        let started = tokio::time::timeout(Duration::from_secs(SERVER_START_S), starting).await;
        let started = started.unwrap_or_else(|_| Err(format!("did not get ready within {SERVER_START_S} s")));
        let connection =
            Arc::new(started.map_err(|message| format!("tools: the server {name:?} {message}"))?);
        *kept = Some(Arc::clone(&connection));
        Ok(connection)
    }
}

/// A call that has no answer yet. When nobody waits for it any more the server is told, and asked whether it answers at all.
struct Asked {
    handle: Option<RequestHandle<RoleClient>>,
    server: Option<Arc<Server>>,
    connection: Arc<Connection>,
}

impl Asked {
    async fn answer(mut self) -> Result<ServerResult, String> {
        let Some(handle) = self.handle.as_mut() else { return Err("it was given up".to_owned()) };
        let answer = (&mut handle.rx).await;
        self.handle = None;
        match answer {
            Ok(answer) => answer.map_err(|error| error.to_string()),
            Err(_) => Err("the server has ended".to_owned()),
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let (Some(handle), Some(server)) = (self.handle.take(), self.server.take()) else { return };
        let connection = Arc::clone(&self.connection);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = handle.cancel(Some("nobody waits for the answer any more".to_owned())).await;
                server.look_after(&connection).await;
            });
        }
    }
}

impl Server {
    /// Ends a server that does not answer. Whoever wants something of it meanwhile waits, and then has a new one.
    async fn look_after(&self, connection: &Arc<Connection>) {
        let mut kept = self.connection.lock().await;
        if !kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, connection)) || connection.is_over() {
            return;
        }
        let ping = ClientRequest::PingRequest(PingRequest::default());
        let answer = tokio::time::timeout(SERVER_PING_TIME, connection.service.send_request(ping)).await;
        if !matches!(answer, Ok(Ok(_))) {
            connection.end();
            *kept = None;
        }
    }
}

async fn start(entry: &Entry) -> Result<Connection, String> {
    let cannot = |error: std::io::Error| format!("cannot be started: {error}");
    let (ours, theirs) = StdStream::pair().map_err(cannot)?;
    ours.set_nonblocking(true).map_err(cannot)?;
    let mut command = Command::new(entry.command.as_deref().unwrap_or_default());
    command.args(&entry.args).envs(entry.env.iter().map(|(name, value)| (name, expanded(value))));
    if let Some(folder) = &entry.cwd {
        command.current_dir(folder);
    }
    let output: std::os::fd::OwnedFd = theirs.try_clone().map_err(cannot)?.into();
    let input: std::os::fd::OwnedFd = theirs.into();
    // What it logs is not this server's to show.
    command.stdin(Stdio::from(input)).stdout(Stdio::from(output)).stderr(Stdio::null());
    let child = Ended(command.spawn().map_err(cannot)?);
    // The command holds its ends until it goes.
    drop(command);
    let stream = UnixStream::from_std(ours).map_err(cannot)?;
    let service = ().serve(stream.into_split()).await.map_err(|error| format!("does not answer: {error}"))?;
    let tools = service.list_all_tools().await.map_err(|error| format!("lists no tools: {error}"))?;
    Ok(Connection { service, tools, child: Locked::new(Some(child)) })
}

/// A value with `${NAME}` replaced by this process's variables, as clients do.
fn expanded(value: &str) -> String {
    let (mut text, mut rest) = (String::new(), value);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else { break };
        text.push_str(before);
        text.push_str(&std::env::var(name).unwrap_or_default());
        rest = after;
    }
    text + rest
}

fn answer(result: CallToolResult) -> Result<Value, String> {
    let content = serde_json::to_value(&result.content).unwrap_or(Value::Null);
    let rows = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Option<Vec<&str>> = rows.iter().map(|row| row["text"].as_str()).collect();
    let text = texts.map(|texts| texts.join("\n"));
    if result.is_error == Some(true) {
        return Err(text.unwrap_or_else(|| content.to_string()));
    }
    Ok(match (result.structured_content, text) {
        (Some(structured), _) => structured,
        (None, Some(text)) => Value::String(text),
        (None, None) => json!(content),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Servers, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Servers::read(file.path())
    }

    #[test]
    fn mistakes_in_the_file_are_named() {
        let error = |text: &str| read(text).err().unwrap();
        assert!(error("{").contains("EOF"));
        assert!(error("{}").contains("mcpServers"));
        assert!(error("{\"mcpServers\": {\"pithos\": {\"command\": \"x\"}}}").contains("pithos"));
        assert!(error("{\"mcpServers\": {\"a\": {}}}").contains("no command"));
        assert!(error("{\"mcpServers\": {\"a\": {\"url\": \"http://x\"}}}").contains("url"));
        let good = read("{\"other\": 1, \"mcpServers\": {\"a\": {\"type\": \"stdio\", \"command\": \"x\"}}}")
            .unwrap();
        assert_eq!(good.names().collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn variables_stand_in_values() {
        let path = std::env::var("PATH").unwrap();
        assert_eq!(expanded("a ${PATH} b ${PITHOS_UNSET}c ${open"), format!("a {path} b c ${{open"));
    }
}
