//! The record and its fields: split when somebody asks, joined again when a field was assigned.

use std::rc::Rc;

use super::value::{Text, Value};
use crate::limits::AWK_FIELDS_MAX;
use crate::posix::Pattern;

/// How texts are split.
pub(super) enum Splitter {
    /// At blanks and newlines, none of which make an empty field.
    Blanks,
    /// At every one of this byte; with `true` at newlines, too.
    Byte(u8, bool),
    Pattern(Box<Pattern>),
    /// Into characters.
    Characters,
}

impl Splitter {
    /// Hands out where each part begins and ends.
    pub(super) fn split(&mut self, text: &[u8], utf8: bool, mut part: impl FnMut(usize, usize)) {
        if text.is_empty() {
            return;
        }
        match self {
            Splitter::Blanks => {
                let blank = |c: u8| matches!(c, b' ' | b'\t' | b'\n');
                let mut at = 0;
                while at < text.len() {
                    if blank(text[at]) {
                        at += 1;
                        continue;
                    }
                    let start = at;
                    while at < text.len() && !blank(text[at]) {
                        at += 1;
                    }
                    part(start, at);
                }
            }
            Splitter::Byte(byte, lines) => {
                let mut start = 0;
                if *lines {
                    for found in memchr::memchr2_iter(*byte, b'\n', text) {
                        part(start, found);
                        start = found + 1;
                    }
                } else {
                    for found in memchr::memchr_iter(*byte, text) {
                        part(start, found);
                        start = found + 1;
                    }
                }
                part(start, text.len());
            }
            Splitter::Pattern(pattern) => split_at(pattern, text, part),
            Splitter::Characters => {
                let mut at = 0;
                let length = |rest: &[u8]| {
                    if utf8 { super::characters(rest).next().map_or(1, <[u8]>::len) } else { 1 }
                };
                while at < text.len() {
                    let end = at + length(text.get(at..).unwrap_or_default()).max(1);
                    part(at, end);
                    at = end;
                }
            }
        }
    }
}

/// Splits at what a pattern matches.
pub(super) fn split_at(pattern: &mut Pattern, text: &[u8], mut part: impl FnMut(usize, usize)) {
    if text.is_empty() {
        return;
    }
    let (mut start, mut from) = (0, 0);
    while from < text.len() {
        let Some((begin, end)) = pattern.find(text, from) else { break };
        if end == begin {
            // What matches nothing separates nothing.
            from = begin + 1;
            continue;
        }
        part(start, begin);
        (start, from) = (end, end);
    }
    part(start, text.len());
}

enum Field {
    /// A part of the record.
    Part(u32, u32),
    Value(Value),
}

/// The record.
#[derive(Default)]
pub(super) struct Record {
    text: Text,
    /// The fields of the text up to `scanned`, or all of them.
    fields: Vec<Field>,
    scanned: usize,
    split: bool,
    /// A field or NF was assigned since the text was made.
    stale: bool,
}

impl Record {
    /// A new text of the record; the memory of the former one, if nobody else has it.
    pub(super) fn set(&mut self, text: Text) -> Vec<u8> {
        let former = std::mem::replace(&mut self.text, text);
        self.split = false;
        self.scanned = 0;
        self.fields.clear();
        self.stale = false;
        let mut bytes = Rc::try_unwrap(former).unwrap_or_default();
        bytes.clear();
        bytes
    }

    pub(super) fn is_stale(&self) -> bool {
        self.stale
    }

    /// The text, which is not stale.
    pub(super) fn text(&self) -> &Text {
        &self.text
    }

    /// Joins the fields.
    pub(super) fn join(&mut self, separator: &[u8], conversion: &[u8]) {
        let mut out = Vec::with_capacity(self.text.len());
        for (number, field) in self.fields.iter().enumerate() {
            if number > 0 {
                out.extend_from_slice(separator);
            }
            match field {
                Field::Part(start, end) => out.extend_from_slice(part(&self.text, *start, *end)),
                Field::Value(value) => value.write(conversion, &mut out),
            }
        }
        // The parts of the text before are values of their own from here on.
        let text = Rc::clone(&self.text);
        for field in &mut self.fields {
            if let Field::Part(start, end) = *field {
                *field = Field::Value(Value::Input(Rc::new(part(&text, start, end).to_vec())));
            }
        }
        self.text = Rc::new(out);
        self.stale = false;
    }

    /// Splits the record if it is not.
    pub(super) fn split(&mut self, splitter: &mut Splitter, utf8: bool) {
        self.split_up_to(usize::MAX, splitter, utf8);
    }

    /// Splits the record at least up to a field.
    pub(super) fn split_up_to(&mut self, number: usize, splitter: &mut Splitter, utf8: bool) {
        if self.split {
            return;
        }
        let (text, fields) = (self.text.as_slice(), &mut self.fields);
        let mut push = |start: usize, end: usize| fields.push(Field::Part(start as u32, end as u32));
        match splitter {
            // OPTIMIZATION: the first fields are most often all that is asked for. Equals splitting the whole.
            Splitter::Blanks => {
                let blank = |c: &u8| matches!(c, b' ' | b'\t' | b'\n');
                for _ in self.fields.len()..number {
                    let rest = text.get(self.scanned..).unwrap_or_default();
                    let Some(start) = rest.iter().position(|c| !blank(c)) else {
                        self.split = true;
                        return;
                    };
                    let rest = rest.get(start..).unwrap_or_default();
                    let length = rest.iter().position(blank).unwrap_or(rest.len());
                    let start = self.scanned + start;
                    self.scanned = start + length;
                    self.fields.push(Field::Part(start as u32, self.scanned as u32));
                }
            }
            _ => {
                splitter.split(text, utf8, &mut push);
                self.split = true;
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.fields.len()
    }

    /// A field of the split record, from 1 on.
    pub(super) fn field(&mut self, number: usize) -> Value {
        // One that is not there is an empty text, and no number.
        let Some(field) = self.fields.get_mut(number.wrapping_sub(1)) else {
            return Value::Input(Text::default());
        };
        match field {
            Field::Part(start, end) => {
                let value = Value::Input(Rc::new(part(&self.text, *start, *end).to_vec()));
                *field = Field::Value(value.clone());
                value
            }
            Field::Value(value) => value.clone(),
        }
    }

    /// Appends a field, or the record itself.
    pub(super) fn write(&self, number: usize, conversion: &[u8], out: &mut Vec<u8>) {
        if number == 0 {
            return out.extend_from_slice(&self.text);
        }
        match self.fields.get(number - 1) {
            None => {}
            Some(Field::Part(start, end)) => out.extend_from_slice(part(&self.text, *start, *end)),
            Some(Field::Value(value)) => value.write(conversion, out),
        }
    }

    /// The number of a field.
    pub(super) fn number(&self, number: usize) -> f64 {
        match self.fields.get(number.wrapping_sub(1)) {
            None => 0.0,
            Some(Field::Part(start, end)) => super::value::leading_number(part(&self.text, *start, *end)).0,
            Some(Field::Value(value)) => value.number(),
        }
    }

    /// Assigns a field of the split record; false if there would be too many.
    pub(super) fn assign(&mut self, number: usize, value: Value) -> bool {
        if number > AWK_FIELDS_MAX {
            return false;
        }
        if number > self.fields.len() {
            self.fields.resize_with(number, empty_field);
        }
        if let Some(field) = self.fields.get_mut(number.wrapping_sub(1)) {
            *field = Field::Value(value);
        }
        self.stale = true;
        true
    }

    /// Sets how many fields there are; false if that is too many.
    pub(super) fn resize(&mut self, count: usize) -> bool {
        if count > AWK_FIELDS_MAX {
            return false;
        }
        self.fields.resize_with(count, empty_field);
        self.stale = true;
        true
    }
}

/// A field that an assignment to a later one, or to NF, has made: an empty text, and no number.
fn empty_field() -> Field {
    Field::Value(Value::Input(Text::default()))
}

fn part(text: &[u8], start: u32, end: u32) -> &[u8] {
    text.get(start as usize..end as usize).unwrap_or_default()
}
