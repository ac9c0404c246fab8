//! The record, its fields, the variables with a meaning, and expressions that are made as the program runs.

use std::rc::Rc;

use super::code::{CONVFMT, FS, NF, OFMT, OFS, RS};
use super::compile::dialect;
use super::input::End;
use super::record::Splitter;
use super::run::{Machine, Stop};
use super::value::{Text, Value};
use crate::limits::AWK_PATTERNS_MAX;
use crate::posix::Pattern;

impl Machine<'_, '_> {
    /// The record's text, joined if fields were assigned.
    pub(super) fn record_text(&mut self) -> Text {
        if self.record.is_stale() {
            let separator = self.text_of(&self.globals[OFS as usize]);
            let conversion = self.text_of(&self.globals[OFMT as usize]);
            self.record.join(&separator, &conversion);
        }
        Rc::clone(self.record.text())
    }

    pub(super) fn split_record(&mut self) {
        self.record.split(&mut self.splitter, self.utf8);
    }

    /// The same, at least up to a field.
    pub(super) fn split_up_to(&mut self, number: usize) {
        self.record.split_up_to(number, &mut self.splitter, self.utf8);
    }

    pub(super) fn field(&mut self, number: usize) -> Value {
        if number == 0 {
            return Value::Input(self.record_text());
        }
        self.split_up_to(number);
        self.record.field(number)
    }

    pub(super) fn field_index(&self, value: &Value) -> Result<usize, Stop> {
        let number = value.number();
        if number < 0.0 || !number.is_finite() {
            return Err(Stop::Fatal(format!("there is no field ${number}")));
        }
        Ok(number as usize)
    }

    pub(super) fn set_field(&mut self, number: usize, value: Value) -> Result<(), Stop> {
        if number == 0 {
            let text = self.text_of(&value);
            drop(self.record.set(text));
            return Ok(());
        }
        self.split_record();
        if self.record.assign(number, value) {
            Ok(())
        } else {
            Err(Stop::Fatal(format!("field ${number} is too far")))
        }
    }

    pub(super) fn special(&mut self, slot: u32) -> Value {
        if slot == NF {
            self.split_record();
            return Value::Number(self.record.count() as f64);
        }
        self.globals[slot as usize].clone()
    }

    pub(super) fn set_special(&mut self, slot: u32, value: Value) -> Result<(), Stop> {
        match slot {
            NF => {
                self.split_record();
                let count = value.number();
                if !(count >= 0.0 && self.record.resize(count as usize)) {
                    return Err(Stop::Fatal(format!("NF cannot be {count}")));
                }
            }
            FS => {
                // The record that is there is split as it was read.
                self.split_record();
                let text = self.text_of(&value);
                let paragraph = matches!(self.end, End::Paragraph);
                self.splitter = self.fields_splitter(&text, paragraph)?;
            }
            RS => {
                let text = self.text_of(&value);
                self.split_record();
                self.end = match text.as_slice() {
                    [] => End::Paragraph,
                    [byte] => End::Byte(*byte),
                    pattern => End::Pattern(Box::new(self.compiled(pattern)?)),
                };
                let fields = self.text_of(&self.globals[FS as usize]);
                self.splitter = self.fields_splitter(&fields, text.is_empty())?;
            }
            OFS if self.record.is_stale() => drop(self.record_text()),
            CONVFMT => self.conversion = self.text_of(&value),
            _ => {}
        }
        self.globals[slot as usize] = value;
        Ok(())
    }

    pub(super) fn compiled(&self, text: &[u8]) -> Result<Pattern, Stop> {
        Pattern::new(text, dialect(self.utf8)).ok_or_else(|| {
            Stop::Fatal(format!(
                "the regular expression \"{}\" cannot be used here",
                String::from_utf8_lossy(text)
            ))
        })
    }

    pub(super) fn fields_splitter(&self, text: &[u8], paragraph: bool) -> Result<Splitter, Stop> {
        Ok(match text {
            b" " => Splitter::Blanks,
            [] => Splitter::Characters,
            [byte] if *byte != b'\\' => Splitter::Byte(*byte, paragraph),
            b"\\" => Splitter::Byte(b'\\', paragraph),
            pattern if paragraph => {
                Splitter::Pattern(Box::new(self.compiled(&[b"(", pattern, b")|\n"].concat())?))
            }
            pattern => Splitter::Pattern(Box::new(self.compiled(pattern)?)),
        })
    }

    /// The splitter of a `split` with a text.
    pub(super) fn splitter_of(&self, text: &[u8]) -> Result<Splitter, Stop> {
        self.fields_splitter(text, false)
    }

    /// Does something with an expression that was made as the program ran.
    pub(super) fn with_pattern<R>(
        &mut self,
        text: &[u8],
        act: impl FnOnce(&mut Pattern) -> R,
    ) -> Result<R, Stop> {
        if !self.dynamic.contains_key(text) {
            if self.dynamic.len() >= AWK_PATTERNS_MAX {
                self.dynamic.clear();
            }
            let pattern = self.compiled(text)?;
            self.dynamic.insert(text.to_vec(), pattern);
        }
        match self.dynamic.get_mut(text) {
            Some(pattern) => Ok(act(pattern)),
            None => Err(Stop::Fatal("an expression is lost".to_owned())),
        }
    }
}
