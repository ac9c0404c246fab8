//! `set -x`.

use super::assignment::{Ready, ReadyValue};
use crate::quote;
use crate::state::names;
use crate::state::options::SetOption;
use crate::syntax::ast::{Assignment, AssignmentValue, ForLoop, Word};
use crate::{Bytes, Session};

impl Session {
    pub(crate) fn traces(&self) -> bool {
        self.is(SetOption::Xtrace)
    }

    /// The expanded PS4, its first character repeated for nested shells.
    fn trace_prefix(&mut self) -> Bytes {
        let text = match self.get_id(names::PS4) {
            Some(text) => text.into_owned(),
            None => Bytes::new(),
        };
        let status = self.status;
        self.options.put(SetOption::Xtrace, false);
        let expanded = self.decode_prompt(&text).unwrap_or(text);
        self.options.put(SetOption::Xtrace, true);
        self.status = status;
        let Some(&first) = expanded.first() else { return expanded };
        let mut out: Bytes = std::iter::repeat_n(first, self.trace_depth as usize).collect();
        out.extend_from_slice(&expanded);
        out
    }

    pub(crate) fn trace_line(&mut self, text: &[u8]) {
        let mut line = self.trace_prefix();
        line.extend_from_slice(text);
        line.push(b'\n');
        let number =
            self.get_id(names::BASH_XTRACEFD).and_then(|v| std::str::from_utf8(&v).ok()?.parse().ok());
        match number.and_then(|n: usize| self.descriptors.get(n)) {
            Some(file) => {
                let _ = file.write_all(&line);
            }
            None => self.write_err(&line),
        }
    }

    pub(crate) fn trace_words(&mut self, args: &[Bytes]) {
        let mut text = Bytes::new();
        for (n, arg) in args.iter().enumerate() {
            if n > 0 {
                text.push(b' ');
            }
            text.extend(quote::trace(arg));
        }
        self.trace_line(&text);
    }

    pub(crate) fn trace_assignment(&mut self, assignment: &Assignment, value: &[u8]) {
        let mut text = self.variables.names.text(assignment.id).to_vec();
        text.extend_from_slice(if assignment.append { b"+=" } else { b"=" });
        if !value.is_empty() {
            text.extend(quote::trace(value));
        }
        self.trace_line(&text);
    }

    pub(crate) fn trace_ready(&mut self, assignment: &Assignment, ready: &Ready<'_>) {
        let mut text = self.variables.names.text(assignment.id).to_vec();
        if let Some(subscript) = &assignment.subscript {
            text.push(b'[');
            text.extend_from_slice(subscript.word.source());
            text.push(b']');
        }
        text.extend_from_slice(if assignment.append { b"+=" } else { b"=" });
        match (&ready.value, &assignment.value) {
            (ReadyValue::Scalar(value), _) if !value.is_empty() => text.extend(quote::trace(value)),
            (ReadyValue::Array(_), AssignmentValue::Array(elements)) => {
                text.push(b'(');
                for (n, element) in elements.iter().enumerate() {
                    if n > 0 {
                        text.push(b' ');
                    }
                    if let Some(subscript) = &element.subscript {
                        text.push(b'[');
                        text.extend_from_slice(subscript.word.source());
                        text.extend_from_slice(b"]=");
                    }
                    text.extend_from_slice(element.value.source());
                }
                text.push(b')');
            }
            _ => {}
        }
        self.trace_line(&text);
    }

    pub(crate) fn trace_for(&mut self, head: &ForLoop) {
        let text = crate::syntax::printer::for_head("for", head);
        self.trace_line(&text);
    }

    pub(crate) fn trace_case(&mut self, word: &Word) {
        let text = crate::syntax::printer::case_head(word);
        self.trace_line(&text);
    }

    /// A part of `for (( ))`, shown without the blanks around it.
    pub(crate) fn trace_for_expression(&mut self, text: &[u8]) {
        self.trace_line(&[b"(( ", text.trim_ascii(), b" ))"].concat());
    }

    pub(crate) fn trace_arithmetic(&mut self, text: &[u8]) {
        self.trace_line(&[b"(( ", text, b" ))"].concat());
    }

    pub(crate) fn trace_condition(&mut self, words: &[&[u8]]) {
        let mut text = b"[[ ".to_vec();
        if std::mem::take(&mut self.condition_negated) {
            text.extend_from_slice(b"! ");
        }
        for word in words {
            if word.is_empty() {
                text.extend_from_slice(b"''")
            } else {
                text.extend_from_slice(word)
            }
            text.push(b' ');
        }
        text.extend_from_slice(b"]]");
        self.trace_line(&text);
    }
}
