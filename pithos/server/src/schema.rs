//! The tools as clients see them: names, descriptions, input and output schemas. Small on purpose: every byte of it is read by
//! a model at every start.

use std::sync::{Arc, OnceLock};

use pithos_sessions::limits::ACTORS_MAX;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// All tools, in the order in which they are listed.
pub(crate) fn tools() -> &'static [Tool] {
    static TOOLS: OnceLock<Vec<Tool>> = OnceLock::new();
    TOOLS.get_or_init(|| vec![run(), job(), log(), session(), js(), actors()])
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
            "stdin": {"type": "string", "description": "text for stdin; without it reads see end of file"},
            "interactive": {"type": "boolean", "description": "keep stdin open for the job tool"},
            "terminal": {"type": "object", "description": "run it on a terminal of this size, open for the job tool", "properties": {
                "columns": {"type": "integer", "minimum": 1, "maximum": 1000},
                "rows": {"type": "integer", "minimum": 1, "maximum": 1000}
            }, "additionalProperties": false},
            "timeout_ms": {"type": "integer", "minimum": 1},
            "yield_ms": {"type": "integer", "minimum": 0, "description": "come back with a running job after this; default 30000"},
            "background": {"type": "boolean", "description": "run in a copy of the session and come back at once"},
            "overlay": {"type": "boolean", "description": "run in an overlaid copy of the session, which the result names: diff it, then commit or close it"},
            "output_bytes": {"type": "integer", "minimum": 256},
            "output_lines": {"type": "integer", "minimum": 2},
            "ansi": {"type": "string", "enum": ["keep", "strip"]},
            "screen": {"type": "boolean", "description": "show what the terminal shows"},
            "streams": {"type": "boolean", "description": "stdout and stderr apart as well"}
        },
        "required": ["command"],
        "additionalProperties": false
    });
    let description = "Run a bash command in a session that keeps cwd, variables, functions and options. Long output is cut in the \
                       middle; the log tool reads all of it. A command that is still running comes back as a job.";
    tool("run", description, input, job_output(), true)
}

fn job() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["wait", "write", "signal", "resize", "stop", "list"]},
            "job": {"type": "string"},
            "timeout_ms": {"type": "integer", "minimum": 0, "description": "wait: at most this long; default 30000"},
            "until": {"type": "string", "description": "wait: until a line of output matches this regular expression"},
            "port": {"type": "integer", "description": "wait: until something in the session listens on this TCP port"},
            "text": {"type": "string", "description": "write: text for stdin"},
            "close_stdin": {"type": "boolean"},
            "columns": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "resize: of the job's terminal"},
            "rows": {"type": "integer", "minimum": 1, "maximum": 1000},
            "signal": {"type": "string", "description": "signal: INT, TERM, HUP, KILL, USR1, USR2, STOP, CONT"},
            "since": {"type": "integer", "minimum": 0, "description": "show the output from this byte on"},
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
    let description = "Wait for a job (its end, a line, a port), write to it, signal it, resize its terminal, stop it with everything it started, or list jobs.";
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
        "Read a job's whole output: a range, the last lines, or the lines that match a regular expression.",
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
            "name": {"type": "string", "description": "open, fork, checkpoint: the new handle"},
            "cwd": {"type": "string"},
            "ttl_s": {"type": "integer", "minimum": 1, "description": "open, fork: close it after so long without a run; checkpoint: delete it then"},
            "overlay": {"type": "boolean", "description": "open: what runs change is seen in the session only, until it is committed"},
            "paths": {"type": "array", "items": {"type": "string"}, "description": "commit, discard: only these"},
            "job": {"type": "string", "description": "undo: go back to before this call; default: the last"},
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
    let description = "Open a shell session, fork one with all its state (a fork that is left alone is a snapshot: fork it again to restore), \
                       close one with everything in it, or list them. With an overlay: diff, undo a call, commit or discard changed files, checkpoint files, shell, cells' stores and the list of jobs, restore them here or fork them elsewhere, after a restart too.";
    tool("session", description, input, output, true)
}

fn js() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "an expression, or the body of an async function (use return)"},
            "cell": {"type": "string", "description": "wait for this running cell instead"},
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
    let description = "Evaluate JavaScript in a fresh hardened isolate with limits. There: await shell(command, {cwd, stdin, timeout_ms}) gives {status, output, stderr}; \
                       await read(path), write(path, text), list(path); store(name, value) and load(name) keep JSON between cells of a session; console; \
                       await tools.SERVER.NAME(arguments) calls tools, this server's as tools.pithos.run({command}); await tools.declarations() says which there are. The value is the last expression's.";
    tool("js", description, input, output, true)
}

fn actors() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["spawn", "send", "ask", "swap", "stop", "tree"]},
            "system": {"type": "string", "description": "a process of its own; default: main"},
            "group": {"type": "string", "description": "spawn, swap: the group"},
            "to": {"type": "string", "description": "send, ask, stop: a group, or one actor as group/index"},
            "code": {"type": "string", "description": "spawn (new group), swap: ({init(argument, actor), receive(state, message, actor), migrate(state, fromVersion)})"},
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
                       actor.stop(), actor.log(text). swap replaces the behaviour of a running group in mailbox order; tree shows everything that lives in this server.";
    tool("actors", description, input, output, true)
}
