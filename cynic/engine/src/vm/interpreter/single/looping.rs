//! Where instructions make a state to go on with, that state is the answer.

pub(super) use super::super::handlers;
use super::super::{Next, Step};

/// Where to go on.
#[inline(always)]
pub(super) fn next_of(step: Step) -> Next {
    Next { pc: step.pc, frame: step.frame }
}
