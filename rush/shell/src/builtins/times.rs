//! `times`: processor time used by the shell and its children.

use super::options::OptionReader;
use crate::{Bytes, Outcome, Session, sys};

/// `times`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    if let Err(status) = OptionReader::new(args, "").next(session) {
        return Ok(status);
    }
    let times = sys::resource::process_times();
    let show = |ticks: u64| {
        let milliseconds = ticks * 1_000 / times.ticks_per_second;
        format!("{}m{}.{:03}s", milliseconds / 60_000, milliseconds / 1_000 % 60, milliseconds % 1_000)
    };
    let text = format!(
        "{} {}\n{} {}\n",
        show(times.user),
        show(times.system),
        show(times.children_user),
        show(times.children_system)
    );
    session.write_out(text.as_bytes());
    Ok(0)
}
