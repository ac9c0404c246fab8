//! The tools: names, descriptions, input and output schemas. What clients are listed is small on purpose, because every byte of it is read by a
//! model at every start: what the server checks anyway, and what a result says itself, is left out ([`listed`]).

use std::sync::{Arc, OnceLock};

use pithos_sessions::limits::ACTORS_MAX;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// All tools, in the order in which they are listed.
pub(crate) fn tools() -> &'static [Tool] {
    static TOOLS: OnceLock<Vec<Tool>> = OnceLock::new();
    TOOLS.get_or_init(|| vec![run(), job(), log(), session(), js(), actors()])
}

/// The tools as clients list them: arguments and what they are for, without bounds, without what is the protocol's default, and without the
/// shapes of results, which `tools.declarations()` of a cell gives.
pub(crate) fn listed() -> &'static [Tool] {
    static LISTED: OnceLock<Vec<Tool>> = OnceLock::new();
    LISTED.get_or_init(|| tools().iter().map(shortened).collect())
}

fn shortened(tool: &Tool) -> Tool {
    let mut tool = tool.clone();
    tool.output_schema = None;
    // Not read-only and destructive is what a tool is that says nothing.
    let read_only =
        tool.annotations.as_ref().and_then(|annotations| annotations.read_only_hint) == Some(true);
    tool.annotations = read_only.then(|| ToolAnnotations::new().read_only(true));
    let mut input = (*tool.input_schema).clone();
    input.remove("additionalProperties");
    for argument in input.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        shorten(argument.1);
    }
    tool.input_schema = Arc::new(input);
    tool
}

fn shorten(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    if fields.contains_key("enum") {
        fields.remove("type");
    }
    fields.retain(|name, value| match name.as_str() {
        // Who asks for nothing asks for a mistake; only a larger least is news.
        "minimum" => value.as_u64().is_some_and(|least| least > 1),
        "maximum" => false,
        "additionalProperties" => value.is_object(),
        _ => true,
    });
    for inner in fields.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        shorten(inner.1);
    }
}

fn object(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(map) => Arc::new(map),
        _ => Arc::new(JsonObject::new()),
    }
}

fn tool(
    name: &'static str,
    description: &'static str,
    input: Value,
    output: Value,
    destructive: bool,
) -> Tool {
    let mut tool = Tool::new(name, description, object(input));
    tool.output_schema = Some(object(output));
    tool.annotations = Some(ToolAnnotations::new().read_only(!destructive).destructive(destructive));
    tool
}

/// The output of everything that shows a job.
fn job_output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "job": {"type": "string"},
            "session": {"type": "string"},
            "state": {"type": "string", "enum": ["running", "done", "stopped", "failed", "lost"]},
            "status": {"type": "integer", "description": "exit status; 128+n for a signal"},
            "signal": {"type": "integer"},
            "stopped_by": {"type": "string"},
            "pipelines": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
            "cwd": {"type": "string"},
            "ms": {"type": "number"},
            "stdout_bytes": {"type": "integer"},
            "stderr_bytes": {"type": "integer"},
            "stderr_tail": {"type": "string"},
            "stdout": {"type": "string"},
            "stderr": {"type": "string"},
            "screen": {"type": "object"},
            "truncated": {"type": "boolean"},
            "waiting_for_input": {"type": "object"},
            "denials": {"type": "array", "items": {"type": "object"}},
            "changed": {"type": "object", "description": "in an overlaid session: count, files, undo"},
            "killed": {"type": "array", "items": {"type": "object"}},
            "notes": {"type": "array", "items": {"type": "string"}}
        },
        "required": ["job", "session", "state"]
    })
}

fn run() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "bash source"},
            "session": {"type": "string", "description": "default: main"},
            "cwd": {"type": "string"},
            "env": {"type": "object", "additionalProperties": {"type": "string"}},
            "stdin": {"type": "string", "description": "text for stdin; else it is at its end"},
            "interactive": {"type": "boolean", "description": "keep stdin open for the job tool"},
            "terminal": {"type": "object", "description": "run on a terminal, open for the job tool", "properties": {
                "columns": {"type": "integer", "minimum": 1, "maximum": 1000},
                "rows": {"type": "integer", "minimum": 1, "maximum": 1000}
            }, "additionalProperties": false},
            "timeout_ms": {"type": "integer", "minimum": 1},
            "yield_ms": {"type": "integer", "minimum": 0, "description": "come back with a running job after this (30000)"},
            "background": {"type": "boolean", "description": "in a copy of the session; come back at once"},
            "overlay": {"type": "boolean", "description": "run in an overlaid copy of the session: diff it, then commit or close it"},
            "output_bytes": {"type": "integer", "minimum": 256},
            "output_lines": {"type": "integer", "minimum": 2},
            "ansi": {"type": "string", "enum": ["keep", "strip"]},
            "screen": {"type": "boolean", "description": "show what the terminal shows"},
            "streams": {"type": "boolean", "description": "stdout and stderr apart"}
        },
        "required": ["command"],
        "additionalProperties": false
    });
    let description = "Run a bash command in a session that keeps cwd, variables, functions and options. Long output is cut in the \
                       middle; the log tool reads all of it. One that still runs comes back as a job.";
    tool("run", description, input, job_output(), true)
}

fn job() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["wait", "write", "signal", "resize", "stop", "list"]},
            "job": {"type": "string"},
            "timeout_ms": {"type": "integer", "minimum": 0, "description": "wait: at most (30000)"},
            "until": {"type": "string", "description": "wait: for a line that matches this regex"},
            "port": {"type": "integer", "description": "wait: until this TCP port is listened on"},
            "text": {"type": "string", "description": "write: text for stdin"},
            "close_stdin": {"type": "boolean"},
            "columns": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "resize"},
            "rows": {"type": "integer", "minimum": 1, "maximum": 1000},
            "signal": {"type": "string", "description": "signal: INT, TERM, KILL, ..."},
            "since": {"type": "integer", "minimum": 0, "description": "show output from this byte on"},
            "output_bytes": {"type": "integer", "minimum": 256},
            "output_lines": {"type": "integer", "minimum": 2},
            "ansi": {"type": "string", "enum": ["keep", "strip"]},
            "screen": {"type": "boolean"}
        },
        "required": ["action"],
        "additionalProperties": false
    });
    let mut output = job_output();
    output["properties"]["jobs"] = json!({"type": "array", "items": {"type": "object"}});
    output["properties"]["next_offset"] = json!({"type": "integer"});
    output["properties"]["more"] = json!({"type": "boolean"});
    output["properties"]["matched"] = json!({"type": "boolean"});
    output["required"] = json!([]);
    let description = "Wait for a job (its end, a line, a port), write to it, signal it, resize its terminal, stop all of it, or list jobs.";
    tool("job", description, input, output, true)
}

fn log() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["read", "tail", "grep"]},
            "job": {"type": "string"},
            "offset": {"type": "integer", "minimum": 0},
            "bytes": {"type": "integer", "minimum": 1},
            "lines": {"type": "integer", "minimum": 1},
            "pattern": {"type": "string"},
            "context": {"type": "integer", "minimum": 0},
            "matches": {"type": "integer", "minimum": 1},
            "ansi": {"type": "string", "enum": ["keep", "strip"]}
        },
        "required": ["action", "job"],
        "additionalProperties": false
    });
    let output = json!({
        "type": "object",
        "properties": {
            "job": {"type": "string"},
            "total_bytes": {"type": "integer"},
            "next_offset": {"type": "integer"},
            "more": {"type": "boolean"}
        },
        "required": ["job"]
    });
    tool(
        "log",
        "Read a job's whole output: a range, the last lines, or those that match a regex.",
        input,
        output,
        false,
    )
}

fn session() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["open", "fork", "close", "list", "diff", "undo", "commit", "discard", "checkpoint", "checkpoints", "restore", "delete"]},
            "session": {"type": "string"},
            "name": {"type": "string", "description": "the new handle"},
            "cwd": {"type": "string"},
            "ttl_s": {"type": "integer", "minimum": 1, "description": "open, fork: close it when idle so long; checkpoint: delete it then"},
            "overlay": {"type": "boolean", "description": "open: changes stay in the session until committed"},
            "paths": {"type": "array", "items": {"type": "string"}, "description": "commit, discard: only these"},
            "job": {"type": "string", "description": "undo: to before this call (the last)"},
            "checkpoint": {"type": "string", "description": "restore, delete, fork"},
            "output_bytes": {"type": "integer", "minimum": 256, "description": "diff"}
        },
        "required": ["action"],
        "additionalProperties": false
    });
    let output = json!({
        "type": "object",
        "properties": {
            "session": {"type": "string"},
            "cwd": {"type": "string"},
            "sessions": {"type": "array", "items": {"type": "object"}},
            "undo": {"type": ["string", "null"], "description": "overlay, snapshot, or none"},
            "count": {"type": "integer"},
            "files": {"type": "array", "items": {"type": "object"}},
            "committed": {"type": "boolean"},
            "conflicts": {"type": "array", "items": {"type": "object"}},
            "undone": {"type": "array", "items": {"type": "string"}},
            "checkpoint": {"type": "string"},
            "checkpoints": {"type": "array", "items": {"type": "object"}},
            "jobs": {"type": "array", "items": {"type": "object"}}
        }
    });
    let description = "Open a shell session, fork one with all its state (fork a snapshot again to restore it), \
                       close one with everything in it, or list them. With an overlay: diff, undo a call, commit or discard changed files, checkpoint files, shell, cells' stores and the list of jobs, restore them here or fork them elsewhere, after a restart too.";
    tool("session", description, input, output, true)
}

fn js() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "an expression, or the body of an async function"},
            "cell": {"type": "string", "description": "wait for this running cell"},
            "session": {"type": "string"},
            "timeout_ms": {"type": "integer", "minimum": 1},
            "yield_ms": {"type": "integer", "minimum": 0},
            "fuel": {"type": "integer", "minimum": 1},
            "heap_mb": {"type": "integer", "minimum": 1}
        },
        "additionalProperties": false
    });
    let output = json!({
        "type": "object",
        "properties": {
            "cell": {"type": "string"},
            "state": {"type": "string", "enum": ["running", "done", "error", "terminated", "crashed"]},
            "value": {},
            "limit": {"type": "string", "enum": ["fuel", "heap", "deadline", "cancelled"]},
            "ms": {"type": "number"},
            "console_truncated": {"type": "boolean"}
        },
        "required": ["cell", "state"]
    });
    let description = "Evaluate JavaScript in a fresh hardened isolate with limits. There: await shell(command, {cwd, stdin}) gives {status, output, stderr}; \
                       await read(path), write(path, text), list(path); store(name, value) and load(name) keep JSON between cells of a session; console; \
                       await tools.SERVER.NAME(arguments) calls tools, e.g. tools.pithos.run({command}); await tools.declarations() says which there are. The value is the last expression's.";
    tool("js", description, input, output, true)
}

fn actors() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["spawn", "send", "ask", "swap", "stop", "tree"]},
            "system": {"type": "string", "description": "a process of its own (main)"},
            "group": {"type": "string", "description": "spawn, swap: the group"},
            "to": {"type": "string", "description": "a group, or one actor as group/index"},
            "code": {"type": "string", "description": "spawn a new group, swap: ({init(argument, actor), receive(state, message, actor), migrate(state, fromVersion)})"},
            "count": {"type": "integer", "minimum": 1, "maximum": ACTORS_MAX},
            "argument": {"description": "spawn: for init"},
            "restart": {"type": "string", "enum": ["temporary", "transient", "permanent"]},
            "message": {"description": "send, ask: any JSON"},
            "repeat": {"type": "integer", "minimum": 1},
            "timeout_ms": {"type": "integer", "minimum": 1}
        },
        "required": ["action"],
        "additionalProperties": false
    });
    let output = json!({
        "type": "object",
        "properties": {
            "system": {"type": "string"},
            "first": {"type": "integer"},
            "count": {"type": "integer"},
            "version": {"type": "integer"},
            "accepted": {"type": "integer"},
            "refused": {"type": "integer"},
            "replied": {"type": "integer"},
            "failed": {"type": "integer"},
            "replies": {"type": "array"},
            "distinct": {"type": "array", "items": {"type": "object"}},
            "sum": {"type": "number"},
            "failures": {"type": "array", "items": {"type": "object"}},
            "actors": {"type": "integer"},
            "pending": {"type": "integer"},
            "handled_meanwhile": {"type": "integer"},
            "stopped": {"type": "integer"},
            "groups": {"type": "array", "items": {"type": "object"}},
            "server": {"type": "object"},
            "systems": {"type": "array", "items": {"type": "object"}},
            "ms": {"type": "number"}
        }
    });
    let description = "Many small supervised JavaScript actors, each with its own state. receive returns the next state; actor.id, actor.send(to, message), actor.reply(value), \
                       actor.stop(), actor.log(text). swap replaces a group's behaviour in mailbox order; tree shows all that lives in this server.";
    tool("actors", description, input, output, true)
}

#[cfg(test)]
mod tests {
    use super::{listed, tools};

    /// Every model reads the list at every start.
    const LIST_BYTES_MAX: usize = 6000;

    #[test]
    fn the_list_is_small_and_names_every_argument() {
        let sizes: Vec<(String, usize)> = listed()
            .iter()
            .map(|tool| (tool.name.to_string(), serde_json::to_string(tool).expect("JSON").len()))
            .collect();
        let all: usize = sizes.iter().map(|(_, bytes)| bytes + 1).sum();
        assert!(all < LIST_BYTES_MAX, "{all} bytes: {sizes:?}");
        for (whole, short) in tools().iter().zip(listed()) {
            assert_eq!((&whole.name, &whole.description), (&short.name, &short.description));
            let names = |schema: &rmcp::model::JsonObject| {
                schema["properties"].as_object().expect("properties").keys().cloned().collect::<Vec<_>>()
            };
            assert_eq!(names(&whole.input_schema), names(&short.input_schema));
            assert_eq!(whole.input_schema.get("required"), short.input_schema.get("required"));
        }
    }
}
