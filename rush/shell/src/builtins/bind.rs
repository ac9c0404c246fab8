//! `bind`: key bindings, which only an interactive shell has.

use super::options::OptionReader;
use crate::{Bytes, Outcome, Session};

/// `bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:shell-command] [keyseq:...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut options = OptionReader::new(args, "lvpVPsSXf:q:u:m:r:x:");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(_)) => {}
            Err(status) => return Ok(status),
        }
    }
    session.builtin_error(b"bind", "warning: line editing not enabled");
    Ok(0)
}
