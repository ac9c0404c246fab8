//! `:`, `true` and `false`: commands that only have a status.

use crate::{Bytes, Outcome, Session};

/// `:` and `true`.
pub(super) fn run(_session: &mut Session, _args: &[Bytes]) -> Outcome {
    Ok(0)
}

/// `false`.
pub(super) fn run_false(_session: &mut Session, _args: &[Bytes]) -> Outcome {
    Ok(1)
}
