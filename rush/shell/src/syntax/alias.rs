//! Alias expansion: replaces the command word in the input by the alias's text. An alias is not expanded again while
//! its own text is being read; an alias that ends in a blank makes the next word a candidate too.

use super::parser::Parser;
use super::{Parsed, class};
use crate::{Bytes, limits};
use rustc_hash::FxHashMap;

/// Aliases whose text is being read.
#[derive(Default)]
pub(super) struct AliasState {
    /// Name and end of text of every alias being read.
    active: Vec<(Bytes, usize)>,
    /// Ends of alias texts that end in a blank.
    open_ends: Vec<usize>,
    pub(super) expansions: usize,
}

impl Parser<'_> {
    /// Expands the word at the position if it is an alias and may be one here; `command` says that it is in command
    /// position (as opposed to following an alias that ends in a blank).
    #[inline]
    pub(super) fn expand_alias_here(&mut self, command: bool) -> Parsed<()> {
        match self.context.aliases {
            Some(aliases) if !aliases.is_empty() => self.expand_alias_of(aliases, command),
            _ => Ok(()),
        }
    }

    fn expand_alias_of(&mut self, aliases: &FxHashMap<Bytes, Bytes>, command: bool) -> Parsed<()> {
        // Asked once: what an alias gives stands where the alias stood.
        if !command && !self.follows_open_alias() {
            return Ok(());
        }
        loop {
            let start = self.input.position();
            let name = self.peek_plain_word().to_vec();
            if name.is_empty() {
                return Ok(());
            }
            self.alias.active.retain(|(_, end)| *end > start);
            if self.alias.active.iter().any(|(n, _)| *n == name) {
                return Ok(());
            }
            let Some(text) = aliases.get(&name) else { return Ok(()) };
            self.alias.expansions += 1;
            if self.alias.expansions > limits::ALIAS_EXPANSIONS_MAX {
                return Err(self.error("alias expansion does not end"));
            }
            self.replace(start, start + name.len(), text, name);
            self.skip_blanks();
            if self.input.current() == Some(b'\n') && !command {
                return Ok(());
            }
        }
    }

    fn replace(&mut self, start: usize, end: usize, text: &[u8], name: Bytes) {
        let new_end = start + text.len();
        let shift = |at: &mut usize| {
            if *at >= end {
                *at = *at + new_end - end;
            }
        };
        self.alias.active.iter_mut().for_each(|(_, at)| shift(at));
        self.alias.open_ends.iter_mut().for_each(shift);
        self.input.splice(start, end, text);
        self.forget_positions();
        // The text is kept apart from what follows it; a word must not run together with the next.
        self.alias.active.push((name, new_end.max(start + 1)));
        if text.last().is_some_and(|b| class::is_blank(*b)) {
            self.alias.open_ends.push(new_end);
        }
    }

    /// Whether only blanks lie between the end of an alias that ends in a blank and the position.
    fn follows_open_alias(&mut self) -> bool {
        let at = self.input.position();
        let ends = std::mem::take(&mut self.alias.open_ends);
        let follows = ends.iter().any(|end| *end <= at && only_blanks(self.input.slice(*end, at)));
        self.alias.open_ends = ends.into_iter().filter(|end| *end >= at).collect();
        follows
    }
}

/// Whether `text` is blanks and line continuations.
fn only_blanks(text: &[u8]) -> bool {
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        let continuation = byte == b'\\' && bytes.clone().next() == Some(b'\n');
        if continuation {
            bytes.next();
        } else if !class::is_blank(byte) {
            return false;
        }
    }
    true
}
