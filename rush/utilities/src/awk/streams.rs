//! What programs write and read by their own statements: `print`, `printf`, `getline`.

use std::rc::Rc;

use super::code::{OFMT, OFS, ORS, Sink};
use super::format::{Wrong, format};
use super::input::Reader;
use super::run::{Machine, Stop};
use super::value::Value;

impl Machine<'_, '_> {
    pub(super) fn sink_name(&mut self, sink: Sink) -> Vec<u8> {
        if sink == Sink::Standard {
            return Vec::new();
        }
        let name = self.pop();
        self.text_of(&name).to_vec()
    }

    /// `print $1, $3`, without a value for each.
    pub(super) fn print_fields(&mut self, fields: &[u32]) -> Result<(), Stop> {
        if fields.contains(&0) {
            drop(self.record_text());
        }
        self.split_up_to(fields.iter().max().map_or(0, |last| *last as usize));
        let (separator, end) =
            (self.text_of(&self.globals[OFS as usize]), self.text_of(&self.globals[ORS as usize]));
        let conversion = self.text_of(&self.globals[OFMT as usize]);
        let mut out = std::mem::take(&mut self.line);
        out.clear();
        for (number, field) in fields.iter().enumerate() {
            if number > 0 {
                out.extend_from_slice(&separator);
            }
            self.record.write(*field as usize, &conversion, &mut out);
        }
        out.extend_from_slice(&end);
        let written = self.context.output.write_all(&out);
        self.line = out;
        Ok(written?)
    }

    pub(super) fn print(&mut self, count: usize, sink: Sink) -> Result<(), Stop> {
        let name = self.sink_name(sink);
        let (separator, end) =
            (self.text_of(&self.globals[OFS as usize]), self.text_of(&self.globals[ORS as usize]));
        let conversion = self.text_of(&self.globals[OFMT as usize]);
        let first = self.stack.len().saturating_sub(count);
        let mut out = Vec::new();
        for (number, value) in self.stack.drain(first..).enumerate() {
            if number > 0 {
                out.extend_from_slice(&separator);
            }
            value.write(&conversion, &mut out);
        }
        out.extend_from_slice(&end);
        self.write(sink, &name, &out)
    }

    /// The values on the stack in the format that is the first of them.
    pub(super) fn formatted(&mut self, count: usize) -> Result<Vec<u8>, Stop> {
        let first = self.stack.len().saturating_sub(count);
        let values: Vec<Value> = self.stack.drain(first..).collect();
        let Some((text, values)) = values.split_first() else { return Ok(Vec::new()) };
        let text = self.text_of(text);
        let mut out = Vec::new();
        match format(&text, values, &self.conversion, self.utf8, &mut out) {
            Ok(()) => Ok(out),
            Err(Wrong::Few) => Err(Stop::Fatal("not enough arguments for the format".to_owned())),
            Err(Wrong::Conversion) => {
                Err(Stop::Fatal(format!("a wrong format: {}", String::from_utf8_lossy(&text))))
            }
        }
    }

    pub(super) fn write(&mut self, sink: Sink, name: &[u8], text: &[u8]) -> Result<(), Stop> {
        match (sink, name) {
            (Sink::Standard, _) | (_, b"/dev/stdout" | b"-") => Ok(self.context.output.write_all(text)?),
            (_, b"/dev/stderr") => {
                self.context.output.flush()?;
                // Nobody is told that nobody can be told.
                let _ = self.context.errors.write_all(text);
                Ok(())
            }
            (_, name) => {
                let path = self.context.path(name).into_owned();
                self.outputs.write(name, &path, sink == Sink::Append, text).map_err(|error| {
                    let reason = crate::context::reason(&error);
                    Stop::Fatal(format!("cannot write \"{}\" ({reason})", String::from_utf8_lossy(name)))
                })
            }
        }
    }

    pub(super) fn getline_main(&mut self, record: bool) -> Result<(), Stop> {
        let mut text = Vec::new();
        let read = self.read_main(&mut text)?;
        if read {
            let text = Rc::new(text);
            if record {
                drop(self.record.set(text));
            } else {
                self.got = Value::Input(text);
            }
        }
        self.push(Value::truth(read));
        Ok(())
    }

    pub(super) fn getline_file(&mut self) -> Result<(), Stop> {
        let name = self.pop();
        let name = self.text_of(&name).to_vec();
        if !self.files.contains_key(&name) {
            let reader = match name.as_slice() {
                b"-" | b"/dev/stdin" => Reader::standard(),
                name => match std::fs::File::open(self.context.path(name)) {
                    Ok(file) => Reader::file(file),
                    Err(_) => {
                        self.push(Value::Number(-1.0));
                        return Ok(());
                    }
                },
            };
            self.files.insert(name.clone(), reader);
        }
        let mut text = Vec::new();
        let Some(reader) = self.files.get_mut(&name) else { return Ok(()) };
        // What is written to a file of the same name is seen.
        let state = match reader.read(self.context, &mut self.end, &mut text) {
            Ok(read) => f64::from(u8::from(read)),
            Err(error) => {
                self.context.poll()?;
                drop(error);
                -1.0
            }
        };
        if state > 0.0 {
            self.got = Value::Input(Rc::new(text));
        }
        self.push(Value::Number(state));
        Ok(())
    }
}
