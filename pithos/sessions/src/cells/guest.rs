//! What a cell finds on the global object besides the language and the host's usual globals: `shell`, `read`, `write`, `list`, `store`,
//! `load`, `tools`. The first four, and what is in the last, give promises. Owns what these functions share, which lives as long as the cell's isolate.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use cynic::host::{Sink, Stream};
use cynic::{Engine, Error, Handle, HostError, Isolate, Realm, Resolver};
use serde_json::{Map, Value as Json};

use super::message::FromCell;
use crate::limits::{
    CELL_CONSOLE_BYTES_MAX, CELL_CONSOLE_LINE_BYTES_MAX, CELL_FILE_BYTES_MAX, CELL_STORE_BYTES_MAX,
    COMMAND_BYTES_MAX, TOOL_BYTES_MAX,
};

type Result<T = ()> = std::result::Result<T, Error>;

#[derive(Default)]
struct State {
    folder: Option<PathBuf>,
    store: Map<String, Json>,
    console: String,
    console_truncated: bool,
    /// Bytes in all, those that were not kept included.
    console_printed: u64,
    /// Standard output and error, when the console goes there.
    descriptors: Vec<File>,
    calls: HashMap<u64, Resolver>,
    outgoing: Vec<FromCell>,
    next_call: u64,
}

/// Makes `tools` of an object and a function that calls one. Which servers and tools there are is for whoever answers; a promise must not take what is named
/// here for another promise, so `then` is nothing.
const TOOLS: &str = "
((tools, call) => {
  const named = get => new Proxy(Object.freeze({}), {
    get: (_, name) => typeof name !== 'string' || name === 'then' || name === 'toJSON' ? undefined : get(name),
  });
  const servers = named(server => server === 'declarations'
    ? (only = '') => call('', String(only), {})
    : named(name => (argument = {}) => call(server, name, argument)));
  Object.freeze(Object.setPrototypeOf(tools, servers));
})";

/// The state of a cell, shared by its functions, its console and the worker.
#[derive(Clone, Default)]
pub(super) struct Guest(Rc<RefCell<State>>);

/// Takes what the console prints, up to its limit.
impl Sink for Guest {
    fn line(&mut self, stream: Stream, text: &str) {
        let mut state = self.0.borrow_mut();
        if let [out, error] = state.descriptors.as_mut_slice() {
            let to = if matches!(stream, Stream::Diagnostics) { error } else { out };
            // Nobody reads it any more: that is no business of the program.
            let _ = to.write_all(format!("{text}\n").as_bytes());
            return;
        }
        state.console_printed += text.len() as u64 + 1;
        let room = CELL_CONSOLE_BYTES_MAX.saturating_sub(state.console.len() + 1);
        let kept = shortened(text, CELL_CONSOLE_LINE_BYTES_MAX);
        state.console_truncated |= kept.len() != text.len() || kept.len() > room;
        if room == 0 {
            return;
        }
        let kept = &kept[..kept.floor_char_boundary(room)];
        state.console.push_str(kept);
        state.console.push('\n');
    }
}

/// A text of at most so many bytes: its beginning and its end, with a word between them about how long it was.
pub(super) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let note = format!("[… {} bytes in all …]", text.len());
    let half = most.saturating_sub(note.len()) / 2;
    let (head, tail) = (text.floor_char_boundary(half), text.ceil_char_boundary(text.len() - half));
    Cow::Owned(format!("{}{note}{}", &text[..head], &text[tail..]))
}

impl Guest {
    /// Puts the functions on the global object.
    pub(super) fn install(&self, isolate: &mut Isolate) -> Result {
        let mut realm = isolate.realm();
        let guest = self.clone();
        realm.define("list", move |realm: &mut Realm<'_>, path: Option<String>| guest.list(realm, path))?;
        let guest = self.clone();
        realm.define("load", move |realm: &mut Realm<'_>, name: String| guest.load(realm, &name))?;
        let guest = self.clone();
        realm.define("read", move |realm: &mut Realm<'_>, path: String| guest.read(realm, &path))?;
        let guest = self.clone();
        realm.define("shell", move |realm: &mut Realm<'_>, command: String, options: Option<Handle>| {
            guest.shell(realm, command, options)
        })?;
        let guest = self.clone();
        realm.define("store", move |realm: &mut Realm<'_>, name: String, value: Handle| {
            guest.store(realm, name, &value)
        })?;
        let guest = self.clone();
        realm.define("write", move |realm: &mut Realm<'_>, path: String, text: String| {
            guest.write(realm, &path, &text)
        })?;
        let tools = realm.new_object();
        realm.define_global("tools", tools.clone())?;
        let guest = self.clone();
        let call = realm.function(
            "call",
            move |realm: &mut Realm<'_>, server: String, name: String, arguments: Option<Handle>| {
                guest.tool(realm, server, name, arguments)
            },
        );
        // The first evaluation closes the global object, so this is the last.
        let furnish = realm.run(&Engine::new().compile("tools", TOOLS)?)?;
        realm.call(&furnish, &[tools, call]).map(drop)
    }

    /// Fresh state for a cell.
    pub(super) fn begin(&self, folder: Option<String>, store: Map<String, Json>, console: Vec<OwnedFd>) {
        let descriptors = console.into_iter().map(File::from).collect();
        *self.0.borrow_mut() =
            State { folder: folder.map(PathBuf::from), store, descriptors, ..State::default() };
    }

    /// What the cell left: console, whether that is cut, store. Everything rooted in its isolate is let go.
    pub(super) fn end(&self) -> (String, bool, Map<String, Json>) {
        let mut state = self.0.take();
        if state.console_truncated {
            let note = format!(
                "[… the console keeps {CELL_CONSOLE_BYTES_MAX} bytes, and {CELL_CONSOLE_LINE_BYTES_MAX} of a line; {} were printed …]\n",
                state.console_printed
            );
            state.console.push_str(&note);
        }
        (state.console, state.console_truncated, state.store)
    }

    /// Whether an answer is due.
    pub(super) fn has_calls(&self) -> bool {
        !self.0.borrow().calls.is_empty()
    }

    /// Whether the answer to that call is due.
    pub(super) fn waits_for(&self, call: u64) -> bool {
        self.0.borrow().calls.contains_key(&call)
    }

    /// The calls to send.
    pub(super) fn take_outgoing(&self) -> Vec<FromCell> {
        std::mem::take(&mut self.0.borrow_mut().outgoing)
    }

    /// Settles the promise of a call.
    pub(super) fn answer(
        &self,
        realm: &mut Realm<'_>,
        call: u64,
        result: std::result::Result<Json, String>,
    ) -> Result {
        let waiting = self.0.borrow_mut().calls.remove(&call);
        waiting.map_or(Ok(()), |resolver| settle(realm, &resolver, result))
    }

    fn path_of(&self, text: &str) -> std::result::Result<PathBuf, String> {
        let state = self.0.borrow();
        let folder = state
            .folder
            .as_ref()
            .ok_or("the session has an overlay, whose files only its shell sees: use shell()")?;
        Ok(folder.join(Path::new(text)))
    }

    /// `shell(command, options?)`: a promise of `{status, output, ...}` from the cell's session.
    fn shell(&self, realm: &mut Realm<'_>, command: String, options: Option<Handle>) -> Result<Handle> {
        let options = options.map_or(Ok(Json::Null), |options| to_json(realm, &options))?;
        let length = command.len() + options.to_string().len();
        if length > COMMAND_BYTES_MAX {
            return settled(
                realm,
                Err(format!(
                    "shell: a command of {length} bytes is over the limit of {COMMAND_BYTES_MAX}: put it into a file"
                )),
            );
        }
        let (promise, resolver) = realm.promise();
        let mut state = self.0.borrow_mut();
        state.next_call += 1;
        let call = state.next_call;
        state.calls.insert(call, resolver);
        state.outgoing.push(FromCell::Shell { call, command, options });
        Ok(promise)
    }

    /// `tools.SERVER.NAME(arguments)`: a promise of what the tool answers.
    fn tool(
        &self,
        realm: &mut Realm<'_>,
        server: String,
        name: String,
        arguments: Option<Handle>,
    ) -> Result<Handle> {
        let arguments = arguments.map_or(Ok(Json::Null), |arguments| to_json(realm, &arguments))?;
        let length = arguments.to_string().len();
        if length > TOOL_BYTES_MAX {
            let message = format!(
                "tools.{server}.{name}: {length} bytes of arguments are over the limit of {TOOL_BYTES_MAX}"
            );
            return settled(realm, Err(message));
        }
        let (promise, resolver) = realm.promise();
        let mut state = self.0.borrow_mut();
        state.next_call += 1;
        let call = state.next_call;
        state.calls.insert(call, resolver);
        state.outgoing.push(FromCell::Tool { call, server, name, arguments });
        Ok(promise)
    }

    /// `read(path)`: a promise of the file's text.
    fn read(&self, realm: &mut Realm<'_>, name: &str) -> Result<Handle> {
        let path = match self.path_of(name) {
            Ok(path) => path,
            Err(message) => return settled(realm, Err(message)),
        };
        let length = std::fs::metadata(&path).map(|data| data.len());
        let result = match length {
            Ok(length) if length > CELL_FILE_BYTES_MAX => {
                Err(format!("{name} has {length} bytes; at most {CELL_FILE_BYTES_MAX} can be read"))
            }
            _ => std::fs::read(&path)
                .map(|bytes| Json::String(String::from_utf8_lossy(&bytes).into_owned()))
                .map_err(|error| describe(name, &error)),
        };
        settled(realm, result)
    }

    /// `write(path, text)`: a promise of the number of bytes.
    fn write(&self, realm: &mut Realm<'_>, name: &str, text: &str) -> Result<Handle> {
        let written = self
            .path_of(name)
            .and_then(|path| std::fs::write(path, text).map_err(|error| describe(name, &error)));
        settled(realm, written.map(|()| Json::from(text.len())))
    }

    /// `list(path?)`: a promise of `[{name, type, size}]`, sorted by name.
    fn list(&self, realm: &mut Realm<'_>, name: Option<String>) -> Result<Handle> {
        let name = name.unwrap_or_else(|| ".".to_string());
        let entries = self
            .path_of(&name)
            .and_then(|path| std::fs::read_dir(path).map_err(|error| describe(&name, &error)));
        let result = entries.map(|entries| {
            let mut rows: Vec<(String, Json)> = entries.flatten().map(|entry| row(&entry)).collect();
            rows.sort_by(|left, right| left.0.cmp(&right.0));
            Json::Array(rows.into_iter().map(|(_, row)| row).collect())
        });
        settled(realm, result)
    }

    /// `store(name, value)`: keeps a JSON value for the session's later cells.
    fn store(&self, realm: &mut Realm<'_>, name: String, value: &Handle) -> Result {
        let value = to_json(realm, value)?;
        let store = &mut self.0.borrow_mut().store;
        let old = store.insert(name.clone(), value);
        if serde_json::to_string(store).is_ok_and(|text| text.len() <= CELL_STORE_BYTES_MAX) {
            return Ok(());
        }
        match old {
            Some(old) => store.insert(name, old),
            None => store.remove(&name),
        };
        Err(HostError::Range(format!("the store holds at most {CELL_STORE_BYTES_MAX} bytes")).into())
    }

    /// `load(name)`: what `store` kept, or undefined.
    fn load(&self, realm: &mut Realm<'_>, name: &str) -> Result<Option<Handle>> {
        let kept = self.0.borrow().store.get(name).map(Json::to_string);
        kept.map(|text| realm.parse_json(&text)).transpose()
    }
}

fn settle(realm: &mut Realm<'_>, waiting: &Resolver, result: std::result::Result<Json, String>) -> Result {
    match result {
        Ok(value) => {
            let value = realm.parse_json(&value.to_string())?;
            waiting.resolve(realm, value)
        }
        Err(message) => {
            let reason = realm.new_error(&message);
            waiting.reject(realm, reason)
        }
    }
}

/// A promise that is settled with a result that is there already.
fn settled(realm: &mut Realm<'_>, result: std::result::Result<Json, String>) -> Result<Handle> {
    let (promise, resolver) = realm.promise();
    settle(realm, &resolver, result)?;
    Ok(promise)
}

fn to_json(realm: &mut Realm<'_>, value: &Handle) -> Result<Json> {
    let text = realm.to_json(value)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Json::Null))
}

fn describe(path: &str, error: &std::io::Error) -> String {
    format!("{path}: {error}")
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

#[cfg(test)]
mod tests {
    use super::{Guest, Sink, Stream, shortened};
    use crate::limits::{CELL_CONSOLE_BYTES_MAX, CELL_CONSOLE_LINE_BYTES_MAX};

    #[test]
    fn a_text_is_shortened_to_its_limit_and_says_so() {
        for text in ["x".repeat(1000), "ü".repeat(1000), "😀".repeat(1000)] {
            for most in [30, 31, 32, 33, 34, 100, 999, 4000] {
                let short = shortened(&text, most);
                assert!(short.len() <= most.max(30), "{} of {most}", short.len());
                assert_eq!(short.contains("bytes in all"), text.len() > most);
            }
        }
    }

    #[test]
    fn a_long_line_takes_its_share_of_the_console_and_the_next_is_there() {
        let mut guest = Guest::default();
        guest.line(Stream::Output, &"a".repeat(5 << 20));
        guest.line(Stream::Output, "next");
        let (console, truncated, _) = guest.end();
        assert!(truncated && console.starts_with("aaa") && console.contains("\nnext\n[… the console keeps"));
        assert!(console.len() < CELL_CONSOLE_LINE_BYTES_MAX + 300);
        let mut guest = Guest::default();
        (0..100_000).for_each(|number| guest.line(Stream::Output, &format!("line {number}")));
        let (console, truncated, _) = guest.end();
        assert!(
            truncated && console.len() < CELL_CONSOLE_BYTES_MAX + 300 && console.ends_with("printed …]\n")
        );
    }
}
