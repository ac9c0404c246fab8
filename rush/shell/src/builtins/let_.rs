//! `let`: evaluates arithmetic expressions.

use crate::arith::{self, Failure};
use crate::{Bytes, Outcome, Session, Unwind};

/// `let arg [arg ...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut words = args.get(1..).unwrap_or_default();
    if words.first().is_some_and(|w| w.as_slice() == b"--") {
        words = words.get(1..).unwrap_or_default();
    }
    if words.is_empty() {
        session.builtin_error(b"let", "expression expected");
        return Ok(1);
    }
    let mut last = 0;
    for word in words {
        match arith::evaluate(word, session) {
            Ok(value) => last = value,
            Err(Failure::Expression(error)) => {
                session.report_arithmetic(&error, b"let: ");
                return Ok(1);
            }
            // A variable that may not be changed: `let` fails, and no more.
            Err(Failure::Variable(Unwind::Discard(_))) => return Ok(1),
            Err(Failure::Variable(unwind) | Failure::Subscript(unwind)) => return Err(unwind),
        }
    }
    Ok(i32::from(last == 0))
}
