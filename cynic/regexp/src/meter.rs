//! What compiling a pattern costs, told to the caller as it is spent: steps, which stand for time, and bytes that are held. Parser and compiler charge
//! wherever a pattern chooses how much they do; once the caller has said stop, they end at their next look.

use crate::error::SyntaxErrorKind;
use crate::limits::{BYTES_PER_REPORT, STEPS_PER_POLL};
use std::ops::ControlFlow;

/// The caller's account: gets the steps since the last call, and by how many bytes more (or less) are held now. It stops compilation by breaking.
pub type Budget<'a> = dyn FnMut(u32, isize) -> ControlFlow<()> + 'a;

/// Counts in small pieces and reports in large ones.
pub(crate) struct Meter<'a> {
    budget: &'a mut Budget<'a>,
    steps: usize,
    bytes: isize,
    stopped: bool,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(budget: &'a mut Budget<'a>) -> Self {
        Self { budget, steps: 0, bytes: 0, stopped: false }
    }

    /// So many steps are taken.
    pub(crate) fn work(&mut self, steps: usize) {
        self.steps += steps;
        if self.steps >= STEPS_PER_POLL as usize {
            self.report();
        }
    }

    /// So many bytes are held from now on.
    pub(crate) fn hold(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add_unsigned(bytes);
        if self.bytes >= BYTES_PER_REPORT {
            self.report();
        }
    }

    /// So many bytes are held no more.
    pub(crate) fn release(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub_unsigned(bytes);
    }

    /// Whether the caller has said stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Fails once the caller has said stop.
    pub(crate) fn check(&self) -> Result<(), SyntaxErrorKind> {
        if self.stopped { Err(SyntaxErrorKind::Interrupted) } else { Ok(()) }
    }

    #[cold]
    fn report(&mut self) {
        let steps = u32::try_from(std::mem::take(&mut self.steps)).unwrap_or(u32::MAX);
        let bytes = std::mem::take(&mut self.bytes);
        self.stopped |= (self.budget)(steps, bytes).is_break();
    }
}
