//! `${x:offset:length}` on strings, positional parameters and arrays.

use super::Expanded;
use super::parameter::{Target, Values};
use crate::state::options::SetOption;
use crate::state::positional::Positional;
use crate::state::value::{Attributes, Value};
use crate::syntax::ast::{Expression, Parameter};
use crate::{Bytes, Session};
use std::ops::Range;

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

/// How many characters `text` has; a byte that is not UTF-8 counts as one.
pub(crate) fn count(text: &[u8], utf8: bool) -> usize {
    if !utf8 || text.is_ascii() {
        return text.len();
    }
    match std::str::from_utf8(text) {
        Ok(text) => text.chars().count(),
        Err(_) => boundaries(text).len() - 1,
    }
}

/// The byte at which the character `n` begins; the end of `text` if it has no more than that.
fn byte_of(text: &[u8], utf8: bool, n: usize) -> usize {
    // What is in front decides, and is mostly ASCII or short.
    let front = text.get(..n).unwrap_or(text);
    if !utf8 || front.is_ascii() {
        return front.len();
    }
    match std::str::from_utf8(text) {
        Ok(text) => text.char_indices().nth(n).map_or(text.len(), |(at, _)| at),
        Err(_) => boundaries(text).get(n).copied().unwrap_or(text.len()),
    }
}

/// Whether `offset`, from the end if it is negative, is within the value; otherwise the length is not even looked at.
fn is_within(text: &[u8], utf8: bool, offset: i64) -> bool {
    if (0..=text.len() as i64).contains(&offset) && (!utf8 || text.is_ascii()) {
        return true;
    }
    let count = count(text, utf8) as i64;
    let start = if offset < 0 { offset.saturating_add(count) } else { offset };
    (0..=count).contains(&start)
}

/// The bytes of a slice whose offset is within the value; `None` if its end is before its start.
fn slice(text: &[u8], utf8: bool, offset: i64, length: Option<i64>) -> Option<Range<usize>> {
    let from_end = |n: i64| n.saturating_add(count(text, utf8) as i64);
    let start = if offset < 0 { from_end(offset) } else { offset };
    let first = byte_of(text, utf8, usize::try_from(start).unwrap_or(0));
    let rest = text.get(first..).unwrap_or_default();
    let end = match length {
        None => text.len(),
        Some(length) if length < 0 => {
            let end = from_end(length);
            byte_of(text, utf8, usize::try_from(end).ok().filter(|_| end >= start)?)
        }
        Some(length) => first + byte_of(rest, utf8, usize::try_from(length).unwrap_or(usize::MAX)),
    };
    Some(first..end)
}

/// Whether evaluating `expression` changes no variable: it neither assigns nor substitutes. (A name may stand for an expression
/// that does; what is sliced then is what comes out of it.)
fn keeps_variables(expression: &Expression) -> bool {
    let text = expression.word.source();
    let doubled = |sign: &[u8]| text.windows(2).any(|pair| pair == sign);
    !text.iter().any(|byte| matches!(byte, b'=' | b'$' | b'`' | b'[')) && !doubled(b"++") && !doubled(b"--")
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

    pub(super) fn substring(
        &mut self,
        target: &Target,
        offset: &Expression,
        length: Option<&Expression>,
        parameter: &Parameter,
    ) -> Expanded<Values> {
        if self.plain_text(target).is_some() && keeps_variables(offset) && length.is_none_or(keeps_variables)
        {
            return self.substring_of_variable(target, offset, length, parameter);
        }
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
        let Values::One(text) = values else { return Ok(values) };
        let offset = self.substring_number(offset, parameter)?;
        let utf8 = self.utf8;
        if !is_within(&text, utf8, offset) {
            return Ok(Values::One(Bytes::new()));
        }
        let number = length.map(|length| self.substring_number(length, parameter)).transpose()?;
        match slice(&text, utf8, offset, number) {
            Some(range) => Ok(Values::One(text.get(range).unwrap_or_default().to_vec())),
            None => Err(self.negative_length(length.map_or(&[][..], |length| length.word.source()))),
        }
    }

    /// The text of a variable that is a string and nothing else.
    pub(super) fn plain_text(&self, target: &Target) -> Option<&[u8]> {
        let Target::Variable(id) = target else { return None };
        let slot = self.variables.slot(*id);
        let special = Attributes::DYNAMIC.with(Attributes::NAMEREF);
        match &slot.value {
            Value::Scalar(text) if !slot.attributes.any(special) => Some(text),
            _ => None,
        }
    }

    /// OPTIMIZATION: `${x:offset:length}` of a string copies what is asked for and not all of it. Equals taking the value first,
    /// because nothing in the expressions assigns.
    fn substring_of_variable(
        &mut self,
        target: &Target,
        offset: &Expression,
        length: Option<&Expression>,
        parameter: &Parameter,
    ) -> Expanded<Values> {
        let offset = self.substring_number(offset, parameter)?;
        let utf8 = self.utf8;
        if !self.plain_text(target).is_some_and(|text| is_within(text, utf8, offset)) {
            return Ok(Values::One(Bytes::new()));
        }
        let number = length.map(|length| self.substring_number(length, parameter)).transpose()?;
        let text = self.plain_text(target).unwrap_or_default();
        match slice(text, utf8, offset, number) {
            Some(range) => Ok(Values::One(text.get(range).unwrap_or_default().to_vec())),
            None => Err(self.negative_length(length.map_or(&[][..], |length| length.word.source()))),
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
}
