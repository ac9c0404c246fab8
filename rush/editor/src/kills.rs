//! What was killed: a ring of texts, of which the newest is yanked first.

use std::collections::VecDeque;

use crate::limits;

#[derive(Debug, Clone, Default)]
pub(crate) struct KillRing {
    texts: VecDeque<String>,
    /// How far back the last yank reached.
    turned: usize,
}

impl KillRing {
    /// A text of its own.
    pub(crate) fn push(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        self.turned = 0;
        self.texts.push_front(text);
        self.texts.truncate(limits::KILLS_MAX);
    }

    /// More of the newest, before or behind it.
    pub(crate) fn extend(&mut self, text: &str, before: bool) {
        self.turned = 0;
        match self.texts.front_mut() {
            Some(newest) if before => newest.insert_str(0, text),
            Some(newest) => newest.push_str(text),
            None => self.push(text.to_string()),
        }
    }

    /// The text that is yanked.
    pub(crate) fn current(&self) -> Option<&str> {
        self.texts.get(self.turned).map(String::as_str)
    }

    /// The one before it.
    pub(crate) fn turn(&mut self) -> Option<&str> {
        self.turned = (self.turned + 1) % self.texts.len().max(1);
        self.current()
    }
}

#[cfg(test)]
mod tests {
    use super::KillRing;

    #[test]
    fn the_ring_turns() {
        let mut ring = KillRing::default();
        assert_eq!(ring.turn(), None);
        ring.push("a".into());
        ring.push("b".into());
        ring.extend("c", false);
        ring.extend("x", true);
        assert_eq!(ring.current(), Some("xbc"));
        assert_eq!(ring.turn(), Some("a"));
        assert_eq!(ring.turn(), Some("xbc"));
    }
}
