//! A minimal MCP client for the demonstration: this same executable as a server on the other end of two pipes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The protocol generation that the demonstration speaks.
const PROTOCOL: &str = "2025-11-25";

/// A server process and the conversation with it.
pub(super) struct Client {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    next_id: u64,
}

impl Client {
    /// Starts a server that works in `cwd`, and writes a journal if that is asked, and greets it.
    pub(super) fn start(cwd: &Path, journal: Option<&Path>) -> Result<Self, String> {
        let mut command = Command::new("/proc/self/exe");
        command.args(["serve", "--cwd"]).arg(cwd).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(journal) = journal {
            command.arg("--audit").arg(journal);
        }
        let spawned = command.spawn();
        let mut child = spawned.map_err(|error| format!("starting the server: {error}"))?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the server has no pipes".to_string());
        };
        let mut client = Self { child, to: Some(to), from: BufReader::new(from), next_id: 1 };
        let information = json!({"name": "pithos-demo", "version": env!("CARGO_PKG_VERSION")});
        client.request(
            "initialize",
            json!({"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": information}),
        )?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// The server's process.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// One request and its result.
    pub(super) fn request(&mut self, method: &str, parameters: Value) -> Result<Value, String> {
        let id = self.ask(method, &parameters)?;
        loop {
            let (answered, answer) = self.answer()?;
            if answered == json!(id) {
                return answer.map_err(|error| format!("{method}: {error}"));
            }
        }
    }

    /// Sends a request; its id.
    fn ask(&mut self, method: &str, parameters: &Value) -> Result<u64, String> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}))?;
        Ok(id)
    }

    /// The next message with an id, and the result or the error that it brings.
    fn answer(&mut self) -> Result<(Value, Result<Value, String>), String> {
        loop {
            let mut line = String::new();
            let read = self
                .from
                .read_line(&mut line)
                .map_err(|error| format!("reading from the server: {error}"))?;
            if read == 0 {
                return Err("the server closed the connection".to_string());
            }
            let mut message: Value =
                serde_json::from_str(&line).map_err(|error| format!("the server's message: {error}"))?;
            if message["id"].is_null() {
                continue;
            }
            let answer = match message["error"].take() {
                Value::Null => Ok(message["result"].take()),
                error => Err(error["message"].to_string()),
            };
            return Ok((message["id"].take(), answer));
        }
    }

    /// Calls a tool.
    pub(super) fn tool(&mut self, name: &str, arguments: Value) -> Result<ToolResult, String> {
        let result = self.request("tools/call", json!({"name": name, "arguments": arguments}))?;
        ToolResult::of(name, &result)
    }

    /// Calls a tool several times at once; the results in the order of `arguments`.
    pub(super) fn tools(&mut self, name: &str, arguments: &[Value]) -> Result<Vec<ToolResult>, String> {
        let mut results: Vec<Option<ToolResult>> = arguments.iter().map(|_| None).collect();
        let first = self.next_id;
        for arguments in arguments {
            self.ask("tools/call", &json!({"name": name, "arguments": arguments}))?;
        }
        while results.iter().any(Option::is_none) {
            let (id, answer) = self.answer()?;
            let at = id.as_u64().and_then(|id| id.checked_sub(first)).and_then(|at| usize::try_from(at).ok());
            if let Some(place) = at.and_then(|at| results.get_mut(at)) {
                *place = Some(ToolResult::of(name, &answer.map_err(|error| format!("{name}: {error}"))?)?);
            }
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// Closes the connection and waits for the server to end.
    pub(super) fn close(mut self) -> Result<(), String> {
        drop(self.to.take());
        let status = self.child.wait().map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status}")) }
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let to = self.to.as_mut().ok_or("the connection is closed")?;
        writeln!(to, "{message}").map_err(|error| format!("writing to the server: {error}"))
    }
}

/// What a tool gave.
pub(super) struct ToolResult {
    pub(super) structured: Value,
    pub(super) text: String,
}

impl ToolResult {
    fn of(tool: &str, result: &Value) -> Result<Self, String> {
        let text = result["content"][0]["text"].as_str().unwrap_or("").to_string();
        if result["isError"] == json!(true) {
            return Err(format!("{tool}: {text}"));
        }
        Ok(Self { structured: result["structuredContent"].clone(), text })
    }
}
