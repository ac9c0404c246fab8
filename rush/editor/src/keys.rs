//! Which keys do what: sequences of bytes, as terminals send them, in three keymaps. The editor is given them whole; it knows no
//! defaults of its own.

use std::collections::BTreeMap;
use std::ops::Bound;

/// A set of bindings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// A function of the editor, by its name in readline.
    Function(&'static str),
    /// Keys that are typed instead.
    Macro(Vec<u8>),
    /// A command of the host's, which sees and changes the line.
    Command(Vec<u8>),
    /// Nothing.
    None,
}

/// The bindings of all keymaps.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    maps: [BTreeMap<Vec<u8>, Action>; 3],
}

/// What a sequence of bytes is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// Bound.
    Action(Action),
    /// The beginning of a longer one; bound, too, perhaps.
    Prefix(Option<Action>),
    /// Nothing is bound to it.
    Nothing,
}

impl Keys {
    /// Binds a sequence.
    pub fn bind(&mut self, keymap: Keymap, keys: Vec<u8>, action: Action) {
        if let Some(map) = self.maps.get_mut(keymap as usize) {
            map.insert(keys, action);
        }
    }

    pub(crate) fn find(&self, keymap: Keymap, keys: &[u8]) -> Found {
        let Some(map) = self.maps.get(keymap as usize) else { return Found::Nothing };
        let longer = map.range::<[u8], _>((Bound::Excluded(keys), Bound::Unbounded));
        let mut longer = longer.take_while(|(bound, _)| bound.starts_with(keys));
        let action = map.get(keys).cloned();
        if longer.any(|(_, action)| *action != Action::None) {
            return Found::Prefix(action.filter(|action| *action != Action::None));
        }
        action.map_or(Found::Nothing, Found::Action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_followed() {
        let mut keys = Keys::default();
        let function = |name| Action::Function(name);
        keys.bind(Keymap::Emacs, b"\x1b[A".to_vec(), function("previous-history"));
        keys.bind(Keymap::Emacs, b"\x1b".to_vec(), function("abort"));
        keys.bind(Keymap::Emacs, b"\x1bx".to_vec(), Action::None);
        assert_eq!(keys.find(Keymap::Emacs, b"\x1b"), Found::Prefix(Some(function("abort"))));
        assert_eq!(keys.find(Keymap::Emacs, b"\x1b["), Found::Prefix(None));
        assert_eq!(keys.find(Keymap::Emacs, b"\x1b[A"), Found::Action(function("previous-history")));
        assert_eq!(keys.find(Keymap::Emacs, b"\x1bx"), Found::Action(Action::None));
        assert_eq!(keys.find(Keymap::Emacs, b"q"), Found::Nothing);
        assert_eq!(keys.find(Keymap::ViInsert, b"\x1b"), Found::Nothing);
    }
}
