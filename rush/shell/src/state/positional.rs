//! The positional parameters: a shared list and how many `shift` dropped from its front, so that a script which shifts
//! through its arguments takes a time that grows with them, not with their square.

use crate::Bytes;
use std::ops::Deref;
use std::rc::Rc;

/// `$1`, `$2` ...
#[derive(Debug, Clone, Default)]
pub struct Positional {
    words: Rc<Vec<Bytes>>,
    dropped: usize,
}

impl Positional {
    /// Drops the first `count` parameters, or all if there are fewer.
    pub fn shift(&mut self, count: usize) {
        self.dropped = self.dropped.saturating_add(count).min(self.words.len());
    }
}

impl Deref for Positional {
    type Target = [Bytes];

    fn deref(&self) -> &[Bytes] {
        self.words.get(self.dropped..).unwrap_or_default()
    }
}

impl From<Vec<Bytes>> for Positional {
    fn from(words: Vec<Bytes>) -> Self {
        Rc::new(words).into()
    }
}

impl From<Rc<Vec<Bytes>>> for Positional {
    fn from(words: Rc<Vec<Bytes>>) -> Self {
        Positional { words, dropped: 0 }
    }
}
