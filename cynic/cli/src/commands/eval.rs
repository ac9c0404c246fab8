//! `cynic eval CODE`: evaluates a script and shows its completion value as the REPL does.

use crate::args::Options;
use crate::exit_status::ExitStatus;
use crate::session::Session;

/// Evaluates `code`; prints its value unless that is undefined.
pub(crate) fn run(options: &Options, code: &str) -> Result<ExitStatus, String> {
    let mut session = Session::new(options);
    let outcome = session.vm.evaluate_script("<eval>", code);
    let outcome = outcome.and_then(|value| {
        let root = cynic::gc::Persistent::new(&session.vm.heap, value);
        session.drain()?;
        let value = root.get();
        if !value.is_undefined() {
            println!("{}", cynic_host::inspect::inspect(&mut session.vm, value, session.styles));
        }
        Ok(())
    });
    Ok(session.finish(outcome))
}
