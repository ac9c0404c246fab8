//! `${x:offset:length}` on strings, positional parameters and arrays.

use super::Expanded;
use super::parameter::{Target, Values};
use crate::state::options::SetOption;
use crate::state::value::Value;
use crate::syntax::ast::{Expression, Parameter};
use crate::{Bytes, Session};

/// The byte offsets at which characters start, and the end of `text`. A byte that is not UTF-8 is a character.
pub(crate) fn boundaries(text: &[u8]) -> Vec<usize> {
    let mut out = Vec::with_capacity(text.len() + 1);
    let mut at = 0;
    while at < text.len() {
        out.push(at);
        at += character_length(&text[at..]);
    }
    out.push(text.len());
    out
}

/// The length of the character at the start of `text`, which is not empty.
pub(crate) fn character_length(text: &[u8]) -> usize {
    let length = match text[0] {
        0..=0x7f => return 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return 1,
    };
    match text.get(..length) {
        Some(bytes) if std::str::from_utf8(bytes).is_ok() => length,
        _ => 1,
    }
}

impl Session {
    /// Evaluates an offset or a length; an error names the parameter.
    fn substring_number(&mut self, expression: &Expression, parameter: &Parameter) -> Expanded<i64> {
        self.try_arithmetic(expression).map_err(|failure| {
            let mut prefix = self.parameter_text(parameter);
            prefix.extend_from_slice(b": ");
            self.arithmetic_failed(failure, &prefix)
        })
    }

    /// Whether `offset` is within the value or the list; otherwise the length is not even looked at.
    fn offset_in_range(&mut self, target: &Target, values: &Values, offset: i64) -> bool {
        let count = match (target, values) {
            (_, Values::One(text)) if self.utf8 && !text.is_ascii() => boundaries(text).len() as i64 - 1,
            (_, Values::One(text)) => text.len() as i64,
            (Target::AllPositional(_), Values::List(items, _)) => items.len() as i64 + 1,
            (Target::Whole(id, _), Values::List(items, _)) => match self.value(*id) {
                Value::Indexed(array) => array.max_index().saturating_add(1),
                _ => items.len() as i64,
            },
            _ => return true,
        };
        let start = if offset < 0 { offset.saturating_add(count) } else { offset };
        (0..=count).contains(&start)
    }

    pub(super) fn substring(
        &mut self,
        target: &Target,
        offset: &Expression,
        length: Option<&Expression>,
        parameter: &Parameter,
    ) -> Expanded<Values> {
        let values = self.values(target)?;
        if matches!(values, Values::Unset) {
            if self.is(SetOption::Nounset) {
                return Err(self.unbound(parameter));
            }
            return Ok(Values::Unset);
        }
        let offset = self.substring_number(offset, parameter)?;
        if !self.offset_in_range(target, &values, offset) {
            return Ok(match values {
                Values::List(_, star) => Values::List(Vec::new(), star),
                _ => Values::One(Bytes::new()),
            });
        }
        let length = match length {
            Some(length) => Some((self.substring_number(length, parameter)?, length.word.source().to_vec())),
            None => None,
        };
        match (target, values) {
            (_, Values::One(text)) => self.substring_of_text(&text, offset, length),
            (Target::AllPositional(star), Values::List(mut items, _)) => {
                if offset == 0 {
                    items.insert(0, self.name.clone());
                    return self.slice(items, 0, length, *star);
                }
                let count = items.len() as i64;
                let start = if offset < 0 { offset + count + 1 } else { offset };
                if start < 0 {
                    return Ok(Values::List(Vec::new(), *star));
                }
                if offset < 0 && start == 0 {
                    items.insert(0, self.name.clone());
                    return self.slice(items, 0, length, *star);
                }
                self.slice(items, (start - 1).max(0), length, *star)
            }
            (Target::Whole(id, star), Values::List(items, _)) => {
                let start = match self.value(*id) {
                    Value::Indexed(array) => {
                        let from = if offset < 0 { offset + array.max_index() + 1 } else { offset };
                        if from < 0 {
                            return Ok(Values::List(Vec::new(), *star));
                        }
                        array.iter().take_while(|(i, _)| *i < from).count() as i64
                    }
                    _ if offset < 0 => offset + items.len() as i64,
                    Value::Associative(_) => (offset - 1).max(0),
                    _ => offset,
                };
                if start < 0 {
                    return Ok(Values::List(Vec::new(), *star));
                }
                self.slice(items, start, length, *star)
            }
            (_, values) => Ok(values),
        }
    }

    fn slice(
        &mut self,
        items: Vec<Bytes>,
        start: i64,
        length: Option<(i64, Bytes)>,
        star: bool,
    ) -> Expanded<Values> {
        let count = items.len() as i64;
        let start = start.min(count);
        let end = match length {
            None => count,
            Some((length, text)) if length < 0 => return Err(self.negative_length(&text)),
            Some((length, _)) => start.saturating_add(length).min(count),
        };
        let items = items.into_iter().skip(start as usize).take((end - start) as usize).collect();
        Ok(Values::List(items, star))
    }

    fn negative_length(&mut self, text: &[u8]) -> crate::Unwind {
        let mut message = text.to_vec();
        message.extend_from_slice(b": substring expression < 0");
        self.spares_errexit = true;
        self.expansion_error(message)
    }

    fn substring_of_text(
        &mut self,
        text: &[u8],
        offset: i64,
        length: Option<(i64, Bytes)>,
    ) -> Expanded<Values> {
        let boundaries = if self.utf8 && !text.is_ascii() { Some(boundaries(text)) } else { None };
        let count = boundaries.as_ref().map_or(text.len(), |b| b.len() - 1) as i64;
        let start = if offset < 0 { offset.saturating_add(count) } else { offset };
        if start < 0 || start > count {
            return Ok(Values::One(Bytes::new()));
        }
        let end = match length {
            None => count,
            Some((length, source)) if length < 0 => {
                let end = count.saturating_add(length);
                if end < start {
                    return Err(self.negative_length(&source));
                }
                end
            }
            Some((length, _)) => start.saturating_add(length).min(count),
        };
        let byte = |n: i64| boundaries.as_ref().map_or(n as usize, |b| b[n as usize]);
        Ok(Values::One(text[byte(start)..byte(end)].to_vec()))
    }
}
