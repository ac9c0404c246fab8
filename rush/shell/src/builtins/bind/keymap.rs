//! The keymaps: what each key sequence does, by default and as it was changed.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::keys;
use super::table::{FUNCTIONS, VARIABLES, VI_COMMAND, VI_INSERT};
use crate::Bytes;

/// A set of bindings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keymap {
    /// Emacs editing.
    Emacs,
    /// Vi editing, while text is typed.
    ViInsert,
    /// Vi editing, while keys are commands.
    ViCommand,
}

/// What keys do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// An editing function.
    Function(&'static str),
    /// Keys that are typed instead.
    Macro(Bytes),
    /// A shell command (`bind -x`).
    Command(Bytes),
    /// Nothing: unbound by `bind -r` or `-u`.
    None,
}

type Map = BTreeMap<Bytes, &'static str>;

static DEFAULTS: LazyLock<[Map; 3]> =
    LazyLock::new(|| [emacs(), with_self_insert(map(VI_INSERT)), map(VI_COMMAND)]);

fn map(table: &[(&'static str, &[&str])]) -> Map {
    let keys = |keys: &[&str]| keys.iter().map(|key| keys::parse(key.as_bytes())).collect::<Vec<_>>();
    table.iter().flat_map(|(name, list)| keys(list).into_iter().map(|key| (key, *name))).collect()
}

fn emacs() -> Map {
    let mut map = map(FUNCTIONS);
    for key in (0x20..=0x7e).chain(0x80..=0xff) {
        map.entry(vec![key]).or_insert("self-insert");
    }
    for letter in b'A'..=b'Z' {
        for prefix in [0x18, 0x1b] {
            // `\eO` begins the sequences of keys.
            if (prefix, letter) != (0x1b, b'O') {
                map.entry(vec![prefix, letter]).or_insert("do-lowercase-version");
            }
        }
    }
    map
}

fn with_self_insert(mut map: Map) -> Map {
    for key in (1..=0xff).filter(|key| *key != 0x1b) {
        map.entry(vec![key]).or_insert("self-insert");
    }
    map
}

/// What was changed from the defaults.
#[derive(Debug, Clone, Default)]
pub struct Bindings {
    changes: BTreeMap<(Keymap, Bytes), Action>,
    variables: BTreeMap<&'static str, Bytes>,
    /// Whether the initialisation file has been read.
    pub(super) initialised: bool,
    /// Grows with every change.
    pub generation: u64,
}

impl Bindings {
    /// Binds `keys`.
    pub(super) fn bind(&mut self, keymap: Keymap, keys: Bytes, action: Action) {
        self.generation += 1;
        self.changes.insert((keymap, keys), action);
    }

    /// The changes made in `keymap`.
    pub fn changes(&self, keymap: Keymap) -> impl Iterator<Item = (&[u8], &Action)> {
        self.changes
            .iter()
            .filter(move |((map, _), _)| *map == keymap)
            .map(|((_, keys), action)| (&keys[..], action))
    }

    /// The functions that keys have in `keymap` without having been bound.
    pub fn defaults(&self, keymap: Keymap) -> impl Iterator<Item = (&[u8], &'static str)> {
        let changed = move |keys: &Bytes| self.changes.contains_key(&(keymap, keys.clone()));
        DEFAULTS[keymap as usize]
            .iter()
            .filter(move |(keys, _)| !changed(keys))
            .map(|(keys, name)| (&keys[..], *name))
    }

    /// The key sequences bound to `function` in `keymap`, sorted.
    pub(super) fn keys_of(&self, keymap: Keymap, function: &str) -> Vec<Bytes> {
        // Two names of one function.
        let function = if function == "insert-last-argument" { "yank-last-arg" } else { function };
        let bound = self
            .changes(keymap)
            .filter(|(_, action)| matches!(action, Action::Function(name) if *name == function));
        let defaults = self.defaults(keymap).filter(|(_, name)| *name == function);
        let mut keys: Vec<Bytes> =
            bound.map(|(keys, _)| keys.to_vec()).chain(defaults.map(|(keys, _)| keys.to_vec())).collect();
        keys.sort();
        keys
    }

    /// The value of a variable of line editing.
    pub fn variable(&self, name: &str) -> Bytes {
        let default = VARIABLES.iter().find(|(n, _)| *n == name).map_or("", |(_, value)| *value);
        self.variables.get(name).cloned().unwrap_or_else(|| default.into())
    }

    /// Whether a variable is on.
    pub fn is_on(&self, name: &str) -> bool {
        self.variable(name) == b"on"
    }

    pub(super) fn set_variable(&mut self, name: &'static str, value: Bytes) {
        self.generation += 1;
        self.variables.insert(name, value);
    }
}
