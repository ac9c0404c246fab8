//! Behaviour versions. Owns two stacks per swapped actor: the versions *declared* to callers, which move when a swap is
//! sent, and the behaviours *applied*, which move when it is reached in the mailbox.
//! Invariant: swaps and rollbacks enter the mailbox in the order in which they were declared (the caller holds this lock while it
//! pushes), so the applied stack repeats the declared one and a rollback that was promised can always be carried out.

use std::any::Any;

use parking_lot::Mutex;

use crate::behaviour::Direction;
use crate::cell::Logic;
use crate::exit::ExitReason;
use crate::limits::VERSIONS_KEPT;

pub(crate) struct Versions<M: Send + 'static> {
    /// Version numbers that can be gone back to, oldest first, as the callers see it.
    history: Vec<u32>,
    current: u32,
    /// The behaviours behind the applied part of the history.
    applied: Vec<(u32, Logic<M>)>,
    applied_current: u32,
}

impl<M: Send + 'static> Default for Versions<M> {
    fn default() -> Self {
        Self { history: Vec::new(), current: 1, applied: Vec::new(), applied_current: 1 }
    }
}

impl<M: Send + 'static> Versions<M> {
    pub(crate) fn declared(&self) -> u32 {
        self.current
    }

    pub(crate) fn visit(&self, visitor: &mut dyn FnMut(&dyn Any)) {
        self.applied.iter().for_each(|(_, behaviour)| visitor(&**behaviour as &dyn Any));
    }

    pub(crate) fn declare_swap(&mut self) -> u32 {
        push_bounded(&mut self.history, self.current);
        self.current += 1;
        self.current
    }

    pub(crate) fn declare_rollback(&mut self, steps: usize) -> Option<u32> {
        if steps == 0 {
            return Some(self.current);
        }
        let at = self.history.len().checked_sub(steps)?;
        self.current = *self.history.get(at)?;
        self.history.truncate(at);
        Some(self.current)
    }

    /// Carries out a swap: the running behaviour goes into the history.
    pub(crate) fn apply_swap(
        slot: &Mutex<Option<Box<Self>>>,
        current: &mut Logic<M>,
        version: u32,
        mut next: Logic<M>,
    ) -> Result<(), ExitReason> {
        let old: &mut dyn Any = &mut **current;
        next.code_change(old, Direction::Up)?;
        let previous = std::mem::replace(current, next);
        let mut guard = slot.lock();
        let versions = guard.get_or_insert_with(Box::default);
        let number = std::mem::replace(&mut versions.applied_current, version);
        let dropped = push_bounded(&mut versions.applied, (number, previous));
        drop(guard);
        drop(dropped);
        Ok(())
    }

    /// Carries out a rollback that was declared before.
    pub(crate) fn apply_rollback(
        slot: &Mutex<Option<Box<Self>>>,
        current: &mut Logic<M>,
        steps: usize,
    ) -> Result<(), ExitReason> {
        let mut guard = slot.lock();
        let Some(versions) = guard.as_mut() else { return Ok(()) };
        let Some(at) = versions.applied.len().checked_sub(steps) else { return Ok(()) };
        let mut undone = versions.applied.split_off(at).into_iter();
        let Some((number, mut target)) = undone.next() else { return Ok(()) };
        versions.applied_current = number;
        drop(guard);
        let old: &mut dyn Any = &mut **current;
        target.code_change(old, Direction::Down)?;
        *current = target;
        Ok(())
    }
}

/// Pushes and returns what fell out at the old end.
fn push_bounded<T>(stack: &mut Vec<T>, item: T) -> Option<T> {
    let dropped = (stack.len() >= VERSIONS_KEPT).then(|| stack.remove(0));
    stack.push(item);
    dropped
}
