//! `${x:offset:length}` on strings, positional parameters and arrays.

use super::Expanded;
use super::parameter::{Target, Values};
use crate::state::options::SetOption;
use crate::state::positional::Positional;
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

/// A list of which a slice is taken.
enum List {
    Array(Value, bool),
    Positional(Positional, bool),
}

impl List {
    /// Whether its values join with IFS.
    fn star(&self) -> bool {
        match self {
            List::Array(_, star) | List::Positional(_, star) => *star,
        }
    }

    /// The last offset of a value; one more is still within the list.
    fn last(&self) -> i64 {
        match self {
            List::Array(Value::Indexed(array), _) => array.max_index(),
            List::Array(Value::Associative(array), _) => array.len() as i64,
            List::Array(value, _) => i64::from(value.scalar().is_some()) - 1,
            List::Positional(words, _) => words.len() as i64,
        }
    }

    /// At most `count` values from the offset `start`; `$0` is in front of the positional parameters.
    fn slice(&self, start: i64, count: usize, name: &Bytes) -> Vec<Bytes> {
        let skip = start as usize;
        match self {
            List::Array(Value::Indexed(array), _) => array.from(start).take(count).cloned().collect(),
            List::Array(Value::Associative(array), _) => {
                array.iter().skip(skip.saturating_sub(1)).take(count).map(|(_, v)| v.clone()).collect()
            }
            List::Array(value, _) => {
                value.scalar().into_iter().skip(skip).take(count).map(|v| v.into_owned()).collect()
            }
            List::Positional(words, _) if start == 0 => {
                std::iter::once(name).chain(words.iter()).take(count).cloned().collect()
            }
            List::Positional(words, _) => words.iter().skip(skip - 1).take(count).cloned().collect(),
        }
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

    /// Whether `offset` is within the value; otherwise the length is not even looked at.
    fn offset_in_range(&self, values: &Values, offset: i64) -> bool {
        let count = match values {
            Values::One(text) if self.utf8 && !text.is_ascii() => boundaries(text).len() as i64 - 1,
            Values::One(text) => text.len() as i64,
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
        let values = match target {
            Target::AllPositional(_) => return self.list_slice(target, offset, length, parameter),
            Target::Whole(id, _) if !matches!(self.value(*id), Value::Scalar(_) | Value::Integer(_)) => {
                return self.list_slice(target, offset, length, parameter);
            }
            // `x[@]` of a string is the string.
            Target::Whole(id, _) => self.values(&Target::Variable(*id))?,
            _ => self.values(target)?,
        };
        if matches!(values, Values::Unset) {
            if self.is(SetOption::Nounset) {
                return Err(self.unbound(parameter));
            }
            return Ok(Values::Unset);
        }
        let offset = self.substring_number(offset, parameter)?;
        if !self.offset_in_range(&values, offset) {
            return Ok(Values::One(Bytes::new()));
        }
        let length = match length {
            Some(length) => Some((self.substring_number(length, parameter)?, length.word.source().to_vec())),
            None => None,
        };
        match values {
            Values::One(text) => self.substring_of_text(&text, offset, length),
            values => Ok(values),
        }
    }

    /// `${@:offset:length}` and `${a[@]:offset:length}`: copies the values of the slice only.
    fn list_slice(
        &mut self,
        target: &Target,
        offset: &Expression,
        length: Option<&Expression>,
        parameter: &Parameter,
    ) -> Expanded<Values> {
        let offset = self.substring_number(offset, parameter)?;
        let list = match target {
            Target::Whole(id, star) => List::Array(self.value(*id), *star),
            Target::AllPositional(star) => List::Positional(self.positional.clone(), *star),
            _ => return Ok(Values::Unset),
        };
        let star = list.star();
        // Out of range, the length is not even looked at.
        let last = list.last();
        let start = if offset < 0 { last + (offset + 1) } else { offset };
        if !(0..=last.saturating_add(1)).contains(&start) {
            return Ok(Values::List(Vec::new(), star));
        }
        let count = match length {
            None => i64::MAX,
            Some(length) => match self.substring_number(length, parameter)? {
                count if count < 0 => return Err(self.negative_length(length.word.source())),
                count => count,
            },
        };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Ok(Values::List(list.slice(start, count, &self.name), star))
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
