//! Assigning to a name, or to an element of an array, that a builtin got as an argument.

use crate::expand::split_subscript;
use crate::state::names::is_name;
use crate::state::session::AssignError;
use crate::{Bytes, Session, Unwind};

/// The message for a word that is not an identifier.
pub(crate) fn not_an_identifier(word: &[u8]) -> Bytes {
    [b"`", word, b"': not a valid identifier"].concat()
}

/// Whether `text` is `name` or `name[subscript]`.
pub(crate) fn is_reference(text: &[u8]) -> bool {
    is_name(text) || split_subscript(text).is_some()
}

/// Assigns `value` to `name` or `name[subscript]`. A refusal is reported and gives `false`.
pub(crate) fn assign_reference(
    session: &mut Session,
    builtin: &[u8],
    reference: &[u8],
    value: Bytes,
) -> Result<bool, Unwind> {
    let result = if is_name(reference) {
        session.set(reference, value)
    } else if let Some((name, subscript)) = split_subscript(reference) {
        let id = session.variables.intern(name);
        let index = session.index_from_text(id, subscript)?;
        session.assign(id, Some(index), value, false)
    } else {
        session.builtin_error(builtin, not_an_identifier(reference));
        return Ok(false);
    };
    settle(session, result)
}

/// Reports a refused assignment and says whether it succeeded.
pub(crate) fn settle(session: &mut Session, result: Result<(), AssignError>) -> Result<bool, Unwind> {
    match result {
        Ok(()) => Ok(true),
        Err(AssignError::Unwind(unwind)) => Err(unwind),
        Err(error) => {
            session.report_assign_error(&error);
            Ok(false)
        }
    }
}
