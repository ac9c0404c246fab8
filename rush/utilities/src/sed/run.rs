//! Running a script over the lines.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::rc::Rc;

use super::Settings;
use super::input::{Ended, Input, Line};
use super::output::{Output, Replacement};
use super::script::{Action, Address, Command, End, Script};
use super::substitute::Substitution;
use crate::context::reason;
use crate::{Context, Outcome};

/// What is put out at the end of a cycle.
enum Queued {
    Text(Rc<Vec<u8>>),
    File(Rc<Vec<u8>>),
    Line { text: Vec<u8>, ended: bool },
}

/// Whether a range has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Range {
    Outside,
    /// Up to this line, where that is known.
    Inside(Option<u64>),
}

/// How a cycle goes on.
enum Flow {
    /// At the end of the script: print.
    End,
    /// The next cycle, without printing.
    Cycle,
    /// The next cycle, with what is left of the pattern space.
    Again,
    Quit {
        status: i32,
        print: bool,
    },
}

#[derive(Default)]
struct Space {
    text: Vec<u8>,
    /// Whether its line had an end.
    ended: bool,
}

pub(super) struct Run<'s> {
    settings: &'s Settings,
    script: Script,
    input: Input,
    pattern: Space,
    hold: Space,
    line: u64,
    ranges: Vec<Range>,
    last_pattern: Option<usize>,
    queue: Vec<Queued>,
    standard: Output,
    replacement: Option<Replacement>,
    writers: Vec<Output>,
    readers: Vec<Option<Reader>>,
    replaced: bool,
    /// The file of the line at hand.
    name: Vec<u8>,
    spare: Vec<u8>,
    spans: crate::posix::Spans,
}

/// A file that `R` reads.
struct Reader {
    file: io::BufReader<File>,
}

impl<'s> Run<'s> {
    pub(super) fn new(settings: &'s Settings, script: Script, files: Vec<Vec<u8>>) -> Self {
        let input = Input::new(files, settings.end, settings.separate, settings.in_place.is_some());
        let mut run = Self {
            settings,
            ranges: vec![Range::Outside; script.commands.len()],
            script,
            input,
            pattern: Space::default(),
            hold: Space { ended: true, ..Space::default() },
            line: 0,
            last_pattern: None,
            queue: Vec::new(),
            standard: Output::standard(),
            replacement: None,
            writers: Vec::new(),
            readers: Vec::new(),
            replaced: false,
            name: b"-".to_vec(),
            spare: Vec::new(),
            spans: Vec::new(),
        };
        run.reset_ranges();
        run
    }

    fn reset_ranges(&mut self) {
        for (range, command) in self.ranges.iter_mut().zip(&self.script.commands) {
            let from_zero = matches!(command.from, Some(Address::Zero));
            *range = if from_zero { Range::Inside(None) } else { Range::Outside };
        }
    }

    /// Edits everything.
    pub(super) fn all(mut self, context: &mut Context<'_>) -> io::Result<Outcome> {
        for name in std::mem::take(&mut self.script.writers) {
            match Output::file(context, &name) {
                Ok(output) => self.writers.push(output),
                Err(status) => return Ok(Outcome::Status(status)),
            }
        }
        self.readers.resize_with(self.script.readers.len(), || None);
        for (reader, name) in self.readers.iter_mut().zip(&self.script.readers) {
            *reader =
                File::open(context.path(name)).ok().map(|file| Reader { file: io::BufReader::new(file) });
        }
        let result = self.cycles(context);
        for writer in &mut self.writers {
            writer.flush()?;
        }
        match result {
            Ok(status) => {
                Ok(Outcome::Status(if self.input.status == 0 { status } else { self.input.status }))
            }
            Err(error) if error.get_ref().is_some_and(|inner| inner.is::<Ended>()) => {
                Ok(Outcome::Status(self.input.status))
            }
            Err(error) => Err(error),
        }
    }

    fn cycles(&mut self, context: &mut Context<'_>) -> io::Result<i32> {
        let mut again = false;
        loop {
            if !again {
                self.pattern.text.clear();
                if !self.read(context)? {
                    self.finish_file(context)?;
                    return Ok(0);
                }
            }
            // A script may go round without reading; whoever asks to stop is heard.
            context.poll()?;
            let flow = self.cycle(context)?;
            again = matches!(flow, Flow::Again);
            let print = matches!(flow, Flow::End | Flow::Quit { print: true, .. });
            if print && !self.settings.quiet {
                self.print_space(context)?;
            }
            if matches!(flow, Flow::Quit { print: true, .. }) {
                // What ends here ends with its line.
                self.put_text(context, b"")?;
            }
            if !matches!(flow, Flow::Quit { print: false, .. }) {
                self.put_queue(context)?;
            }
            if self.settings.unbuffered {
                context.output.flush()?;
            }
            if let Flow::Quit { status, .. } = flow {
                self.input.give_back(context);
                self.finish_file(context)?;
                return Ok(status);
            }
        }
    }

    /// Appends the next line to the pattern space; false if there is none.
    fn read(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        loop {
            let result = self.input.read(context, &mut self.pattern.text)?;
            if std::mem::take(&mut self.input.opened) && self.settings.separate {
                self.begin_file(context)?;
            }
            match result {
                Line::Read { ended } => {
                    self.pattern.ended = ended;
                    self.line += 1;
                    self.name.clone_from(&self.input.name);
                    return Ok(true);
                }
                Line::EndOfFile => self.finish_file(context)?,
                Line::End => return Ok(false),
            }
        }
    }

    fn begin_file(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        self.line = 0;
        self.hold.text.clear();
        self.reset_ranges();
        // What `R` reads begins anew with each file.
        for reader in self.readers.iter_mut().flatten() {
            reader.file.rewind()?;
        }
        if let Some(original) = self.input.edited.take() {
            match Replacement::new(context, &self.input.name, &original) {
                Ok(replacement) => self.replacement = Some(replacement),
                Err(error) => {
                    let name = self.input.name.clone();
                    context.complain(&[b"couldn't edit ", &name, b": ", reason(&error).as_bytes()]);
                    self.input.status = 4;
                    return Err(io::Error::other(Ended));
                }
            }
        }
        Ok(())
    }

    fn finish_file(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let Some(replacement) = self.replacement.take() else { return Ok(()) };
        if let Err(error) = replacement.finish(self.settings.in_place.as_deref().unwrap_or_default()) {
            let name = self.input.name.clone();
            context.complain(&[b"cannot rename ", &name, b": ", reason(&error).as_bytes()]);
            self.input.status = 4;
            return Err(io::Error::other(Ended));
        }
        Ok(())
    }

    /// The lines go here.
    fn output(&mut self) -> &mut Output {
        self.replacement.as_mut().map_or(&mut self.standard, |replacement| &mut replacement.output)
    }

    fn put_line(&mut self, context: &mut Context<'_>, text: &[u8], ended: bool) -> io::Result<()> {
        let end = self.settings.end;
        self.output().line(context, text, ended, end)
    }

    fn put_text(&mut self, context: &mut Context<'_>, text: &[u8]) -> io::Result<()> {
        let end = self.settings.end;
        self.output().text(context, text, end)
    }

    fn print_space(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let text = std::mem::take(&mut self.pattern.text);
        let result = self.put_line(context, &text, self.pattern.ended);
        self.pattern.text = text;
        result
    }

    fn put_queue(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.queue.is_empty() {
            return Ok(());
        }
        for item in std::mem::take(&mut self.queue) {
            match item {
                Queued::Text(text) => self.put_text(context, &text)?,
                Queued::Line { text, ended } => self.put_line(context, &text, ended)?,
                Queued::File(name) => {
                    self.put_text(context, b"")?;
                    for writer in &mut self.writers {
                        writer.flush()?;
                    }
                    let Ok(file) = File::open(context.path(&name)) else { continue };
                    let mut file = context.polled(file);
                    let mut block = vec![0; crate::limits::BLOCK_BYTES];
                    while let Ok(count) = file.read(&mut block) {
                        context.poll()?;
                        if count == 0 {
                            break;
                        }
                        self.put_text(context, block.get(..count).unwrap_or_default())?;
                    }
                }
            }
        }
        Ok(())
    }

    fn cycle(&mut self, context: &mut Context<'_>) -> io::Result<Flow> {
        let mut at = 0;
        self.replaced = false;
        while at < self.script.commands.len() {
            let selected = self.selects(context, at)?;
            let Some(command) = self.script.commands.get(at) else { break };
            if selected == command.negated {
                at = if let Action::Block(end) = command.action { end + 1 } else { at + 1 };
                continue;
            }
            let action = command.action.clone();
            let mut next = at + 1;
            match action {
                Action::Block(_) | Action::BlockEnd | Action::Label => {}
                Action::LineNumber => {
                    let text = format!("{}\n", self.line);
                    self.put_text(context, text.as_bytes())?;
                }
                Action::Append(text) => self.queue.push(Queued::Text(text)),
                Action::Insert(text) => self.put_text(context, &text)?,
                Action::Change(text) => {
                    let ends = self.ranges.get(at).is_none_or(|range| *range == Range::Outside);
                    let ranged = self.script.commands.get(at).is_some_and(|c| c.to.is_some());
                    if ends || !ranged {
                        self.put_text(context, &text)?;
                    }
                    return Ok(Flow::Cycle);
                }
                Action::Branch(kind, target) => {
                    let jumps = match kind {
                        b'b' => true,
                        b't' => std::mem::take(&mut self.replaced),
                        _ => !std::mem::take(&mut self.replaced),
                    };
                    if jumps {
                        // Loops need not read.
                        context.poll()?;
                        next = target;
                    }
                }
                Action::Delete => return Ok(Flow::Cycle),
                Action::DeleteLine => match memchr::memchr(self.settings.end, &self.pattern.text) {
                    None => return Ok(Flow::Cycle),
                    Some(end) => {
                        self.pattern.text.drain(..=end);
                        return Ok(Flow::Again);
                    }
                },
                Action::FileName => {
                    let name = [self.name.as_slice(), b"\n"].concat();
                    self.put_text(context, &name)?;
                }
                Action::CopyFromHold => {
                    self.pattern.text.clone_from(&self.hold.text);
                    self.pattern.ended = self.hold.ended;
                }
                Action::AppendFromHold => {
                    self.pattern.ended = self.hold.ended;
                    self.pattern.text.push(self.settings.end);
                    self.pattern.text.extend_from_slice(&self.hold.text);
                }
                Action::CopyToHold => {
                    self.hold.text.clone_from(&self.pattern.text);
                    self.hold.ended = self.pattern.ended;
                }
                Action::AppendToHold => {
                    self.hold.ended = self.pattern.ended;
                    self.hold.text.push(self.settings.end);
                    self.hold.text.extend_from_slice(&self.pattern.text);
                }
                Action::Exchange => std::mem::swap(&mut self.hold, &mut self.pattern),
                Action::List(width) => {
                    let listed = list(&self.pattern.text, width.unwrap_or(self.settings.width));
                    self.put_text(context, &listed)?;
                }
                Action::Next => {
                    if self.input.at_end(context)? {
                        return Ok(Flow::End);
                    }
                    if !self.settings.quiet {
                        self.print_space(context)?;
                    }
                    self.put_queue(context)?;
                    self.pattern.text.clear();
                    if !self.read(context)? {
                        return Ok(Flow::Cycle);
                    }
                }
                Action::AppendNext => {
                    if self.input.at_end(context)? {
                        return Ok(Flow::End);
                    }
                    self.put_queue(context)?;
                    self.pattern.text.push(self.settings.end);
                    if !self.read(context)? {
                        return Ok(Flow::Cycle);
                    }
                }
                Action::Print => self.print_space(context)?,
                Action::PrintLine => {
                    let (line, ended) = self.first_line();
                    self.put_line(context, &line, ended)?;
                }
                Action::Quit(status) => return Ok(Flow::Quit { status, print: true }),
                Action::QuitSilently(status) => return Ok(Flow::Quit { status, print: false }),
                Action::ReadFile(name) => self.queue.push(Queued::File(name)),
                Action::ReadLine(place) => self.queue_line(place)?,
                Action::Substitute(substitution) => self.substitute(context, &substitution)?,
                Action::Write(place) => {
                    let text = std::mem::take(&mut self.pattern.text);
                    self.write(context, place, &text, self.pattern.ended)?;
                    self.pattern.text = text;
                }
                Action::WriteLine(place) => {
                    let (line, ended) = self.first_line();
                    self.write(context, place, &line, ended)?;
                }
                Action::Transliterate(table) => table.apply(&mut self.pattern.text),
                Action::Zap => self.pattern.text.clear(),
            }
            at = next;
        }
        Ok(Flow::End)
    }

    /// The first line of the pattern space, and whether it has an end.
    fn first_line(&self) -> (Vec<u8>, bool) {
        let text = &self.pattern.text;
        match memchr::memchr(self.settings.end, text) {
            Some(end) => (text.get(..end).unwrap_or_default().to_vec(), true),
            None => (text.clone(), self.pattern.ended),
        }
    }

    fn write(&mut self, context: &mut Context<'_>, place: usize, text: &[u8], ended: bool) -> io::Result<()> {
        let Some(writer) = self.writers.get_mut(place) else { return Ok(()) };
        writer.line(context, text, ended, self.settings.end)
    }

    fn queue_line(&mut self, place: usize) -> io::Result<()> {
        for writer in &mut self.writers {
            writer.flush()?;
        }
        let Some(Some(reader)) = self.readers.get_mut(place) else { return Ok(()) };
        let mut text = Vec::new();
        let read = io::BufRead::read_until(&mut reader.file, self.settings.end, &mut text);
        if read.is_ok_and(|count| count > 0) {
            let ended = text.last() == Some(&self.settings.end);
            if ended {
                text.pop();
            }
            self.queue.push(Queued::Line { text, ended });
        }
        Ok(())
    }

    fn substitute(&mut self, context: &mut Context<'_>, substitution: &Substitution) -> io::Result<()> {
        let place = self.known(context, substitution.pattern)?;
        let Some(pattern) = self.script.patterns.get_mut(place) else { return Ok(()) };
        let mut new = std::mem::take(&mut self.spare);
        let utf8 = self.settings.utf8;
        if substitution.apply(pattern, &self.pattern.text, utf8, &mut self.spans, &mut new) {
            std::mem::swap(&mut self.pattern.text, &mut new);
            self.spare = new;
            self.replaced = true;
            if substitution.print {
                self.print_space(context)?;
            }
            if let Some(writer) = substitution.writer {
                let text = std::mem::take(&mut self.pattern.text);
                self.write(context, writer, &text, self.pattern.ended)?;
                self.pattern.text = text;
            }
        } else {
            self.spare = new;
        }
        Ok(())
    }

    /// The place of an expression, or of the one used last.
    fn known(&mut self, context: &mut Context<'_>, pattern: Option<usize>) -> io::Result<usize> {
        match pattern.or(self.last_pattern) {
            Some(place) => {
                self.last_pattern = Some(place);
                Ok(place)
            }
            None => {
                context.complain(&[b"-e expression #1, char 0: no previous regular expression"]);
                self.input.status = 1;
                Err(io::Error::other(Ended))
            }
        }
    }

    fn matches(&mut self, context: &mut Context<'_>, pattern: Option<usize>) -> io::Result<bool> {
        let place = self.known(context, pattern)?;
        let pattern = self.script.patterns.get_mut(place);
        Ok(pattern.is_some_and(|pattern| pattern.is_match(&self.pattern.text, 0)))
    }

    /// Whether a command's addresses select the line.
    fn selects(&mut self, context: &mut Context<'_>, at: usize) -> io::Result<bool> {
        let Some(Command { from: Some(from), to, .. }) = self.script.commands.get(at) else {
            return Ok(true);
        };
        let (from, to) = (from.clone(), to.clone());
        let Some(to) = to else { return self.is_at(context, &from) };
        let state = self.ranges.get(at).copied().unwrap_or(Range::Outside);
        let set = |run: &mut Self, range| {
            if let Some(slot) = run.ranges.get_mut(at) {
                *slot = range;
            }
        };
        let Range::Inside(end) = state else {
            if !self.is_at(context, &from)? {
                return Ok(false);
            }
            let end = match to {
                // What has been passed already ends the range at its first line.
                End::Line(line) => Some(line),
                End::More(count) => Some(self.line.saturating_add(count)),
                End::Multiple(0) => Some(self.line),
                // Never this line, whatever the manual says.
                End::Multiple(step) => Some((self.line / step + 1).saturating_mul(step)),
                End::Last | End::Pattern(_) => None,
            };
            // Looking for the last line finds it here, too.
            let ends = matches!(to, End::Last) && self.input.at_end(context)?;
            if !ends && end.is_none_or(|end| end > self.line) {
                set(self, Range::Inside(end));
            }
            return Ok(true);
        };
        if let Some(end) = end {
            if self.line >= end {
                set(self, Range::Outside);
            }
            // Lines between were read by other commands: the range is over, and may begin anew.
            if self.line > end {
                return if matches!(to, End::Line(_)) {
                    // Not with this line, though, where the end is a number.
                    Ok(false)
                } else {
                    self.selects(context, at)
                };
            }
            return Ok(true);
        }
        let ends = match to {
            End::Last => self.input.at_end(context)?,
            End::Pattern(pattern) => self.matches(context, pattern)?,
            _ => true,
        };
        if ends {
            set(self, Range::Outside);
        }
        Ok(true)
    }

    fn is_at(&mut self, context: &mut Context<'_>, address: &Address) -> io::Result<bool> {
        match address {
            Address::Zero => Ok(false),
            Address::Line(line) => Ok(self.line == *line),
            Address::Step(first, step) => Ok(if *step == 0 {
                self.line == *first
            } else {
                self.line >= *first && (self.line - first).is_multiple_of(*step)
            }),
            Address::Last => self.input.at_end(context),
            Address::Pattern(pattern) => self.matches(context, *pattern),
        }
    }
}

/// What `l` shows: escapes, in lines of so many columns.
fn list(text: &[u8], width: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut column = 0;
    let mut shown = Vec::new();
    for &byte in text {
        shown.clear();
        match byte {
            b'\\' => shown.extend(b"\\\\"),
            b' '..=b'~' => shown.push(byte),
            0x07 => shown.extend(b"\\a"),
            0x08 => shown.extend(b"\\b"),
            0x0c => shown.extend(b"\\f"),
            b'\n' => shown.extend(b"\\n"),
            b'\r' => shown.extend(b"\\r"),
            b'\t' => shown.extend(b"\\t"),
            0x0b => shown.extend(b"\\v"),
            _ => _ = write!(shown, "\\{byte:03o}"),
        }
        if width > 1 && column + shown.len() > width - 1 {
            out.extend_from_slice(b"\\\n");
            column = 0;
        }
        column += shown.len();
        out.extend_from_slice(&shown);
    }
    out.extend_from_slice(b"$\n");
    out
}
