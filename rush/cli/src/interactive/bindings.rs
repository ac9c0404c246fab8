//! Key bindings in the line editor: a handler that sees every key, follows sequences of several, and answers with a command of the
//! editor's, or leaves the editor with a request that is carried out outside it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rush::Session;
use rush::builtins::bind::{Action, Bindings, Keymap};
use rustyline::{
    Cmd, ConditionalEventHandler, EditMode, Event, EventContext, InputMode, KeyEvent, RepeatCount,
};

use super::{functions, keys};

/// What the editor was left for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) action: Action,
    /// Where the cursor stood, in bytes.
    pub(super) point: usize,
}

type Map = HashMap<Vec<KeyEvent>, Action>;

#[derive(Default)]
struct State {
    maps: [Map; 3],
    /// The keys of a sequence that has begun.
    pending: Vec<KeyEvent>,
    request: Option<Request>,
}

/// The handler, shared between the editor and who reads lines from it.
#[derive(Clone, Default)]
pub(super) struct KeyBindings {
    state: Arc<Mutex<State>>,
}

impl KeyBindings {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what the session has bound.
    pub(super) fn update(&self, session: &Session) {
        let bindings = session.bindings();
        self.lock().maps =
            [Keymap::Emacs, Keymap::ViInsert, Keymap::ViCommand].map(|keymap| map(bindings, keymap));
    }

    /// What the editor was left for, if it was not left for good.
    pub(super) fn take_request(&self) -> Option<Request> {
        self.lock().request.take()
    }
}

/// The bindings of a keymap, without the defaults that the editor has itself.
fn map(bindings: &Bindings, keymap: Keymap) -> Map {
    let mut map = Map::new();
    for (keys, name) in bindings.defaults(keymap) {
        let Some(events) = keys::events(keys) else { continue };
        let sequence = events.len() > 1 && functions::is_supported(name);
        if sequence || functions::is_outside(name) {
            map.insert(events, Action::Function(name));
        }
    }
    for (keys, action) in bindings.changes(keymap) {
        if let Some(events) = keys::events(keys) {
            map.insert(events, action.clone());
        }
    }
    map
}

impl ConditionalEventHandler for KeyBindings {
    fn handle(&self, event: &Event, n: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let Event::KeySeq(keys) = event else { return None };
        let key = KeyEvent::normalize(*keys.first()?);
        let keymap = match (context.mode(), context.input_mode()) {
            (EditMode::Vi, InputMode::Command) => Keymap::ViCommand,
            (EditMode::Vi, _) => Keymap::ViInsert,
            _ => Keymap::Emacs,
        };
        let mut state = self.lock();
        let mut sequence = std::mem::take(&mut state.pending);
        let continued = !sequence.is_empty();
        sequence.push(key);
        let map = &state.maps[keymap as usize];
        let Some(action) = map.get(&sequence).cloned() else {
            if map.keys().any(|keys| keys.len() > sequence.len() && keys.starts_with(&sequence)) {
                state.pending = sequence;
                return Some(Cmd::Noop);
            }
            // A sequence that leads nowhere does nothing; a key that is not bound is the editor's.
            return continued.then_some(Cmd::Noop);
        };
        let empty = context.line().is_empty();
        match &action {
            Action::None => return Some(Cmd::Noop),
            Action::Macro(text) if is_text(text) => {
                return Some(Cmd::Insert(n, String::from_utf8_lossy(text).into_owned()));
            }
            Action::Function("magic-space") if !context.line().contains(['!', '^']) => {
                return Some(Cmd::Insert(n, " ".into()));
            }
            Action::Function(name) if !functions::is_outside(name) => {
                return Some(functions::command(name, n, &key, empty).unwrap_or(Cmd::Noop));
            }
            _ => {}
        }
        state.request = Some(Request { action, point: context.pos() });
        Some(Cmd::AcceptLine)
    }
}

/// Whether a macro only types characters.
fn is_text(keys: &[u8]) -> bool {
    std::str::from_utf8(keys).is_ok_and(|text| !text.chars().any(char::is_control))
}
