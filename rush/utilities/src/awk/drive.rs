//! A whole run: the rules of `BEGIN`, those of each record of the files of the command line, those of `END`.

use std::io;
use std::rc::Rc;

use super::code::{ARGC, ARGV, FILENAME, FNR, NR};
use super::input::Reader;
use super::run::{Machine, Stop};
use super::value::Value;
use crate::Outcome;

impl Machine<'_, '_> {
    /// Runs the whole program.
    pub(super) fn all(mut self) -> io::Result<Outcome> {
        let done = self.phases();
        let ended = match done {
            Err(Stop::Output(error)) => Err(error),
            Err(Stop::Fatal(message)) => {
                self.context.complain(&[message.as_bytes()]);
                self.status = 2;
                Ok(())
            }
            _ => Ok(()),
        };
        let closed = self.outputs.close_all();
        ended?;
        if let Err((name, error)) = closed {
            self.context.complain(&[
                b"cannot write \"",
                &name,
                b"\" (",
                crate::context::reason(&error).as_bytes(),
                b")",
            ]);
            self.status = 2;
        }
        Ok(Outcome::Status(self.status))
    }

    pub(super) fn phases(&mut self) -> Result<(), Stop> {
        let (main, end) = (self.code.main, self.code.end);
        match self.run(self.code.begin) {
            Err(Stop::Exit) => return self.finish(end),
            done => done?,
        }
        if main.is_none() && end.is_none() {
            return Ok(());
        }
        loop {
            match self.next_record() {
                Ok(true) => {}
                Ok(false) => break,
                Err(stop) => return Err(stop),
            }
            let Some(main) = main else { continue };
            match self.run(main) {
                Ok(()) | Err(Stop::Next) => {}
                Err(Stop::NextFile) => self.reader = None,
                Err(Stop::Exit) => return self.finish(end),
                Err(stop) => return Err(stop),
            }
        }
        self.finish(end)
    }

    pub(super) fn finish(&mut self, end: Option<u32>) -> Result<(), Stop> {
        let Some(end) = end else { return Ok(()) };
        match self.run(end) {
            Ok(()) | Err(Stop::Exit) => Ok(()),
            Err(Stop::Next | Stop::NextFile) => Err(Stop::Fatal("next is used in END".to_owned())),
            Err(stop) => Err(stop),
        }
    }

    pub(super) fn next_record(&mut self) -> Result<bool, Stop> {
        let mut text = std::mem::take(&mut self.spare);
        let read = self.read_main(&mut text)?;
        // The last record stays.
        self.spare = if read { self.record.set(Rc::new(text)) } else { text };
        Ok(read)
    }

    /// Reads a record of the files of the command line.
    pub(super) fn read_main(&mut self, out: &mut Vec<u8>) -> Result<bool, Stop> {
        loop {
            if self.reader.is_none() && !self.open_next()? {
                return Ok(false);
            }
            let Some(reader) = &mut self.reader else { return Ok(false) };
            if reader.read(self.context, &mut self.end, out)? {
                for slot in [NR, FNR] {
                    let count = self.globals[slot as usize].number() + 1.0;
                    self.globals[slot as usize] = Value::Number(count);
                }
                return Ok(true);
            }
            self.reader = None;
        }
    }

    /// Opens the next file of the command line; assignments on the way are done.
    pub(super) fn open_next(&mut self) -> Result<bool, Stop> {
        loop {
            let count = self.globals[ARGC as usize].number();
            if self.next_argument as f64 >= count {
                if self.any_file {
                    return Ok(false);
                }
                self.any_file = true;
                self.begin_file(b"", Reader::standard());
                return Ok(true);
            }
            let key = Rc::new(self.next_argument.to_string().into_bytes());
            self.next_argument += 1;
            let word = self.arrays[ARGV].borrow().get(&key).map(|value| value.to_text(b"%.6g"));
            let Some(word) = word.filter(|word| !word.is_empty()) else { continue };
            if let Some((name, text)) = super::assignment(&word) {
                self.set_by_name(name, text)?;
                continue;
            }
            self.any_file = true;
            if **word == b"-"[..] {
                self.begin_file(&word, Reader::standard());
                return Ok(true);
            }
            match std::fs::File::open(self.context.path(&word)) {
                Ok(file) => {
                    self.begin_file(&word, Reader::file(file));
                    return Ok(true);
                }
                Err(error) => {
                    let reason = crate::context::reason(&error);
                    self.context.complain(&[b"cannot open \"", &word, b"\" (", reason.as_bytes(), b")"]);
                    self.status = 2;
                }
            }
        }
    }

    pub(super) fn begin_file(&mut self, name: &[u8], reader: Reader) {
        self.reader = Some(reader);
        self.globals[FNR as usize] = Value::Number(0.0);
        self.globals[FILENAME as usize] = Value::text(name.to_vec());
    }

    /// `-v name=text`, and the same among the files.
    pub(super) fn set_by_name(&mut self, name: &str, text: &[u8]) -> Result<(), Stop> {
        let mut value = Vec::new();
        let mut at = 0;
        while let Some(c) = text.get(at) {
            match c {
                b'\\' => match super::lexer::escape(text.get(at..).unwrap_or_default(), &mut value) {
                    Some(length) => at += length,
                    None => {
                        value.push(b'\\');
                        at += 1;
                    }
                },
                c => {
                    value.push(*c);
                    at += 1;
                }
            }
        }
        let value = Value::Input(Rc::new(value));
        // A name that the program does not have is nobody's.
        match self.code.globals.iter().position(|known| **known == *name) {
            Some(slot) if slot < super::code::SPECIAL.len() => self.set_special(slot as u32, value),
            Some(slot) => {
                self.globals[slot] = value;
                Ok(())
            }
            None => Ok(()),
        }
    }
}
