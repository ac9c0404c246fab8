//! `cynic eval CODE`: evaluates code, which may await, and shows its value as the REPL does.

use super::run::run_before;
use crate::args::Options;
use crate::exit_status::ExitStatus;
use crate::print::outln;
use crate::session::Session;

/// Evaluates `code`; prints its value unless that is undefined.
pub(crate) fn run(options: &Options, code: &str) -> Result<ExitStatus, String> {
    let mut session = Session::new(options);
    let before = run_before(&mut session, options)?;
    let outcome = before.and_then(|()| session.evaluate_entry("<eval>", code)).and_then(|value| {
        session.drain(None)?;
        if !value.is_undefined() {
            outln!("{}", session.shown(&value));
        }
        Ok(())
    });
    Ok(session.finish(outcome))
}
