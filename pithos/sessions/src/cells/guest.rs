//! What a cell finds on the global object besides the language and the host's usual globals: `shell`, `read`, `write`, `list`, `store`,
//! `load`. The first four give promises.
//!
//! Native functions have no state of their own, and a worker runs one cell at a time on one thread, so the cell's state is the thread's.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use cynic::builtins::{json, promise};
use cynic::gc::Persistent;
use cynic::object::function::CallArgs;
use cynic::realm::{PropertySpec, method};
use cynic::value::Value;
use cynic::vm::{Abrupt, JsResult, Vm};
use cynic_host::{Sink, Stream};
use serde_json::{Map, Value as Json};

use super::message::FromCell;
use crate::limits::{CELL_CONSOLE_BYTES_MAX, CELL_FILE_BYTES_MAX, CELL_STORE_BYTES_MAX};

#[derive(Default)]
struct State {
    folder: PathBuf,
    store: Map<String, Json>,
    console: String,
    console_truncated: bool,
    calls: HashMap<u64, Persistent>,
    outgoing: Vec<FromCell>,
    next_call: u64,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

fn with<T>(work: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(work)
}

/// Takes what the console prints, up to its limit.
struct Console;

impl Sink for Console {
    fn line(&mut self, _stream: Stream, text: &str) {
        with(|state| {
            if state.console.len() + text.len() > CELL_CONSOLE_BYTES_MAX {
                state.console_truncated = true;
                return;
            }
            state.console.push_str(text);
            state.console.push('\n');
        });
    }
}

/// The sink of every cell's console.
pub(super) fn console() -> Box<dyn Sink> {
    Box::new(Console)
}

/// Fresh state for a cell.
pub(super) fn begin(folder: String, store: Map<String, Json>) {
    with(|state| *state = State { folder: folder.into(), store, ..State::default() });
}

/// What the cell left: console, whether that is cut, store. Everything rooted in its isolate is let go.
pub(super) fn end() -> (String, bool, Map<String, Json>) {
    let state = with(std::mem::take);
    (state.console, state.console_truncated, state.store)
}

/// Puts the functions on the global object.
pub(super) fn install(vm: &mut Vm) {
    vm.install_globals(GLOBALS);
}

static GLOBALS: &[PropertySpec] = &[
    method("list", 1, list),
    method("load", 1, load),
    method("read", 1, read),
    method("shell", 1, shell),
    method("store", 2, store),
    method("write", 2, write),
];

/// Whether an answer is due.
pub(super) fn has_calls() -> bool {
    with(|state| !state.calls.is_empty())
}

/// Whether a call waits to be sent.
pub(super) fn has_outgoing() -> bool {
    with(|state| !state.outgoing.is_empty())
}

/// The calls to send.
pub(super) fn take_outgoing() -> Vec<FromCell> {
    with(|state| std::mem::take(&mut state.outgoing))
}

/// Settles the promise of a call.
pub(super) fn answer(vm: &mut Vm, call: u64, result: Result<Json, String>) -> JsResult<()> {
    let Some(promise) = with(|state| state.calls.remove(&call)) else { return Ok(()) };
    settle(vm, &promise, result)
}

fn settle(vm: &mut Vm, waiting: &Persistent, result: Result<Json, String>) -> JsResult<()> {
    let Some(object) = waiting.get().as_object() else { return Ok(()) };
    match result {
        Ok(value) => {
            let value = from_json(vm, &value)?;
            promise::resolve_promise(vm, object, value)
        }
        Err(message) => {
            let reason = error(vm, &message);
            promise::reject_promise(vm, object, reason);
            Ok(())
        }
    }
}

fn error(vm: &mut Vm, message: &str) -> Value {
    match vm.throw_error(cynic::realm::Intrinsic::ErrorPrototype, message) {
        Abrupt::Throw => vm.take_exception(),
        Abrupt::Terminate => Value::UNDEFINED,
    }
}

fn from_json(vm: &mut Vm, value: &Json) -> JsResult<Value> {
    let text = vm.new_string(&value.to_string());
    json::parse_text(vm, text)
}

fn to_json(vm: &mut Vm, value: Value) -> JsResult<Json> {
    let text = json::to_text(vm, value)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Json::Null))
}

fn text_of(vm: &mut Vm, value: Value) -> JsResult<String> {
    Ok(vm.to_string(value)?.to_rust_string())
}

/// A promise that is settled with a result that is there already.
fn settled(vm: &mut Vm, result: Result<Json, String>) -> JsResult<Value> {
    let object = promise::new_promise(vm);
    let waiting = Persistent::new(&vm.heap, Value::object(object));
    settle(vm, &waiting, result)?;
    Ok(waiting.get())
}

/// `shell(command, options?)`: a promise of `{status, output, ...}` from the cell's session.
fn shell(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let command = text_of(vm, args.get(0))?;
    let options = if args.get(1).is_undefined() { Json::Null } else { to_json(vm, args.get(1))? };
    let object = promise::new_promise(vm);
    let waiting = Persistent::new(&vm.heap, Value::object(object));
    with(|state| {
        state.next_call += 1;
        let call = state.next_call;
        state.calls.insert(call, waiting);
        state.outgoing.push(FromCell::Shell { call, command, options });
    });
    Ok(Value::object(object))
}

fn path_of(text: &str) -> PathBuf {
    with(|state| state.folder.join(Path::new(text)))
}

fn describe(path: &str, error: &std::io::Error) -> String {
    format!("{path}: {error}")
}

/// `read(path)`: a promise of the file's text.
fn read(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let name = text_of(vm, args.get(0))?;
    let path = path_of(&name);
    let length = std::fs::metadata(&path).map(|data| data.len());
    let result = match length {
        Ok(length) if length > CELL_FILE_BYTES_MAX => {
            Err(format!("{name} has {length} bytes; at most {CELL_FILE_BYTES_MAX} can be read"))
        }
        _ => std::fs::read(&path)
            .map(|bytes| Json::String(String::from_utf8_lossy(&bytes).into_owned()))
            .map_err(|error| describe(&name, &error)),
    };
    settled(vm, result)
}

/// `write(path, text)`: a promise of the number of bytes.
fn write(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let name = text_of(vm, args.get(0))?;
    let text = text_of(vm, args.get(1))?;
    let result = std::fs::write(path_of(&name), &text)
        .map(|()| Json::from(text.len()))
        .map_err(|error| describe(&name, &error));
    settled(vm, result)
}

/// `list(path?)`: a promise of `[{name, type, size}]`, sorted by name.
fn list(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let name = if args.get(0).is_undefined() { ".".to_string() } else { text_of(vm, args.get(0))? };
    let result = std::fs::read_dir(path_of(&name)).map_err(|error| describe(&name, &error)).map(|entries| {
        let mut rows: Vec<(String, Json)> = entries.flatten().map(|entry| row(&entry)).collect();
        rows.sort_by(|left, right| left.0.cmp(&right.0));
        Json::Array(rows.into_iter().map(|(_, row)| row).collect())
    });
    settled(vm, result)
}

fn row(entry: &std::fs::DirEntry) -> (String, Json) {
    let name = entry.file_name().to_string_lossy().into_owned();
    let kind = match entry.file_type() {
        Ok(kind) if kind.is_dir() => "directory",
        Ok(kind) if kind.is_symlink() => "symlink",
        Ok(kind) if kind.is_file() => "file",
        _ => "other",
    };
    let size = entry.metadata().map_or(0, |data| data.len());
    (name.clone(), serde_json::json!({"name": name, "type": kind, "size": size}))
}

/// `store(name, value)`: keeps a JSON value for the session's later cells.
fn store(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let name = text_of(vm, args.get(0))?;
    let value = to_json(vm, args.get(1))?;
    let kept = with(|state| {
        let old = state.store.insert(name.clone(), value);
        let fits = serde_json::to_string(&state.store).is_ok_and(|text| text.len() <= CELL_STORE_BYTES_MAX);
        if !fits {
            match old {
                Some(old) => state.store.insert(name, old),
                None => state.store.remove(&name),
            };
        }
        fits
    });
    if kept {
        Ok(Value::UNDEFINED)
    } else {
        Err(vm.throw_range_error(&format!("the store holds at most {CELL_STORE_BYTES_MAX} bytes")))
    }
}

/// `load(name)`: what `store` kept, or undefined.
fn load(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let name = text_of(vm, args.get(0))?;
    match with(|state| state.store.get(&name).cloned()) {
        Some(value) => from_json(vm, &value),
        None => Ok(Value::UNDEFINED),
    }
}
