//! References: resolving namerefs and subscripts to a place in the variable store, reading and assigning it.

use super::Expanded;
use crate::state::names::{NameId, is_name};
use crate::state::options::SetOption;
use crate::state::session::AssignError;
use crate::state::value::{Attributes, Value};
use crate::syntax::ast::Expression;
use crate::{Bytes, Session, Unwind, limits};

/// A resolved subscript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Index {
    /// Of an indexed array; may be negative (from the end).
    Number(i64),
    /// Of an associative array.
    Key(Bytes),
}

/// What a nameref chain ends in.
pub(crate) enum Resolved {
    /// A variable.
    Variable(NameId),
    /// An element: the array and the subscript's text.
    Element(NameId, Bytes),
    /// A nameref without a value, or one that is not a name.
    Dangling(NameId),
    /// A loop of namerefs, which has been reported.
    Circular,
}

impl Session {
    /// Follows namerefs from `id`.
    pub(crate) fn resolve(&mut self, id: NameId) -> Resolved {
        let mut id = id;
        for _ in 0..limits::NAMEREF_DEPTH_MAX {
            let slot = self.variables.slot(id);
            if !slot.attributes.has(Attributes::NAMEREF) {
                return Resolved::Variable(id);
            }
            let Value::Scalar(target) = &slot.value else { return Resolved::Dangling(id) };
            let target = target.clone();
            if is_name(&target) {
                id = self.variables.intern(&target);
                continue;
            }
            return match split_subscript(&target) {
                Some((name, subscript)) => {
                    let (name, subscript) = (name.to_vec(), subscript.to_vec());
                    Resolved::Element(self.variables.intern(&name), subscript)
                }
                None => Resolved::Dangling(id),
            };
        }
        let mut message = b"warning: ".to_vec();
        message.extend_from_slice(self.variables.names.text(id));
        message.extend_from_slice(b": circular name reference");
        self.error(message);
        Resolved::Circular
    }

    /// Whether the variable `id` is an associative array (after namerefs).
    pub(crate) fn is_associative_id(&mut self, id: NameId) -> bool {
        let id = match self.resolve(id) {
            Resolved::Variable(id) => id,
            _ => id,
        };
        matches!(self.variables.slot(id).value, Value::Associative(_)) || self.is_dynamic_associative(id)
    }

    /// Evaluates a subscript for the array `id`.
    pub(crate) fn index(&mut self, id: NameId, subscript: &Expression) -> Expanded<Index> {
        if self.is_associative_id(id) {
            return Ok(Index::Key(self.subscript_key(subscript)?));
        }
        // Single quotes do not quote in arithmetic; the text is read again as such.
        if subscript.word.source().contains(&b'\'') {
            let source = subscript.word.source().to_vec();
            let word = self.parse_word(&source, crate::syntax::Mode::Arithmetic)?;
            let text = self.expand_quoted(&word)?;
            return Ok(Index::Number(self.subscript_text(&text)?));
        }
        Ok(Index::Number(self.subscript(subscript)?))
    }

    /// Evaluates the text of a subscript for the array `id`.
    pub(crate) fn index_from_text(&mut self, id: NameId, text: &[u8]) -> Expanded<Index> {
        if self.is_associative_id(id) {
            let word = self.parse_word(text, crate::syntax::Mode::Whole)?;
            return Ok(Index::Key(self.expand_string(&word)?));
        }
        let word = self.parse_word(text, crate::syntax::Mode::Whole)?;
        let text = self.expand_string(&word)?;
        Ok(Index::Number(self.subscript_text(&text)?))
    }

    fn subscript_key(&mut self, subscript: &Expression) -> Expanded<Bytes> {
        self.expand_string(&subscript.word)
    }

    /// The element `index` of the variable `id` (already resolved).
    pub(crate) fn element(&mut self, id: NameId, index: &Index) -> Expanded<Option<Bytes>> {
        if let (Some(found), Index::Key(key)) = (self.dynamic_element(id), index)
            && !key.is_empty()
        {
            return Ok(found(self, key));
        }
        let value = self.value(id);
        match (value, index) {
            (Value::Indexed(array), Index::Number(n)) => {
                let n = if *n < 0 { *n + array.max_index() + 1 } else { *n };
                if n < 0 {
                    return self.bad_subscript(id);
                }
                Ok(array.get(n).cloned())
            }
            (Value::Associative(_), Index::Key(key)) if key.is_empty() => self.bad_subscript(id),
            (Value::Associative(array), Index::Key(key)) => Ok(array.get(key).cloned()),
            (Value::Associative(array), Index::Number(n)) => {
                Ok(array.get(&crate::state::value::decimal(*n)).cloned())
            }
            (_, Index::Number(..0)) => self.bad_subscript(id),
            (Value::Unset, _) => Ok(None),
            (value, Index::Number(0)) => Ok(value.scalar().map(|v| v.into_owned())),
            _ => Ok(None),
        }
    }

    /// Reports a negative subscript that is out of range; it stands for nothing, but `set -e` sees it.
    fn bad_subscript(&mut self, id: NameId) -> Expanded<Option<Bytes>> {
        let mut message = self.variables.names.text(id).to_vec();
        message.extend_from_slice(b": bad array subscript");
        self.error(message);
        if self.is(SetOption::Errexit) { Err(Unwind::Exit(1)) } else { Ok(None) }
    }

    /// Turns a refused assignment into its message and the end of the command.
    pub(crate) fn assignment_failed(&mut self, error: AssignError) -> Unwind {
        if let AssignError::Unwind(unwind) = error {
            return unwind;
        }
        self.report_assign_error(&error);
        self.status = 1;
        if self.is(SetOption::Posix) && !self.interactive {
            return Unwind::Exit(self.fatal_status());
        }
        Unwind::Discard(1)
    }

    /// Reports why an assignment was refused.
    pub fn report_assign_error(&mut self, error: &AssignError) {
        if let AssignError::Readonly(name) = error {
            let mut message = name.clone();
            message.extend_from_slice(b": readonly variable");
            self.error(message);
        }
    }
}

/// Splits `name[subscript]`.
pub(crate) fn split_subscript(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let open = text.iter().position(|b| *b == b'[')?;
    let inner = text[open + 1..].strip_suffix(b"]")?;
    (is_name(&text[..open]) && !inner.is_empty()).then_some((&text[..open], inner))
}
