//! Sets whose closure or folding is known already. Both look at the table of all foldings, and patterns repeat the same few sets.

use super::ast::Node;
use crate::charset::CharSet;
use crate::limits::CASE_MEMO_ENTRIES_MAX;
use crate::unicode::casing;
use std::collections::HashMap;
use std::rc::Rc;

/// Emptied when full. The kind of case mapping is the same throughout a pattern.
#[derive(Default)]
pub(super) struct CaseMemo {
    closed: HashMap<CharSet, Rc<CharSet>>,
    folded: HashMap<CharSet, CharSet>,
    /// What `\w` and its kin are outside classes, by the letter and whether case is ignored.
    escapes: HashMap<(u16, bool), Node>,
}

impl CaseMemo {
    /// Ranges looked at to close or fold the set; ASCII has a way of its own.
    pub(super) fn cost(set: &CharSet) -> usize {
        let ranges = set.ranges().len();
        if set.max().is_none_or(|max| max < 0x80) { ranges } else { ranges + casing::FOLDINGS }
    }

    pub(super) fn escape(&self, letter: u16, ignore_case: bool) -> Option<Node> {
        self.escapes.get(&(letter, ignore_case)).cloned()
    }

    /// Properties have names besides their letter, and are not remembered.
    pub(super) fn remember_escape(&mut self, letter: u16, ignore_case: bool, node: &Node) {
        if u8::try_from(letter).is_ok_and(|letter| b"dDsSwW".contains(&letter)) {
            self.escapes.insert((letter, ignore_case), node.clone());
        }
    }

    pub(super) fn closed(&self, set: &CharSet) -> Option<Rc<CharSet>> {
        self.closed.get(set).cloned()
    }

    pub(super) fn remember_closed(&mut self, set: CharSet, closed: &Rc<CharSet>) {
        if self.closed.len() >= CASE_MEMO_ENTRIES_MAX {
            self.closed.clear();
        }
        self.closed.insert(set, Rc::clone(closed));
    }

    pub(super) fn folded(&self, set: &CharSet) -> Option<CharSet> {
        self.folded.get(set).cloned()
    }

    pub(super) fn remember_folded(&mut self, set: CharSet, folded: &CharSet) {
        if self.folded.len() >= CASE_MEMO_ENTRIES_MAX {
            self.folded.clear();
        }
        self.folded.insert(set, folded.clone());
    }
}
