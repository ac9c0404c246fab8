//! `cat`: concatenates files. Flags: `-n -b -s -E -T -v -A -e -t -u`.

use std::fs::File;
use std::io::{self, Read};

use crate::decimal::Decimal;
use crate::limits::COPY_BLOCK_BYTES;
use crate::options::parse;
use crate::{Context, Outcome};

#[derive(Default)]
struct Style {
    number: bool,
    number_nonblank: bool,
    squeeze: bool,
    ends: bool,
    tabs: bool,
    nonprinting: bool,
}

impl Style {
    fn is_plain(&self) -> bool {
        !(self.number || self.number_nonblank || self.squeeze || self.ends || self.tabs || self.nonprinting)
    }
}

impl Style {
    /// Whether nothing but ends and starts of lines changes.
    fn keeps_bytes(&self) -> bool {
        // With `-E`, a carriage return before a newline is shown.
        !(self.ends || self.tabs || self.nonprinting)
    }
}

/// What carries over from one file to the next.
struct State {
    /// The number of the line, in digits.
    count: Decimal,
    blank_lines: usize,
    at_start: bool,
    /// A carriage return that is shown as one if a newline follows (`-E`).
    carriage_return: bool,
}

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [
        ("show-all", b'A'),
        ("number-nonblank", b'b'),
        ("show-ends", b'E'),
        ("number", b'n'),
        ("squeeze-blank", b's'),
        ("show-tabs", b'T'),
        ("show-nonprinting", b'v'),
    ];
    let Some(parsed) = parse(context.args, "AbeEnstTuv", &long) else { return Ok(Outcome::Fallthrough) };
    let any = |letters: &[u8]| letters.iter().any(|l| parsed.has(*l));
    let style = Style {
        number: any(b"n") && !any(b"b"),
        number_nonblank: any(b"b"),
        squeeze: any(b"s"),
        ends: any(b"eEA"),
        tabs: any(b"tTA"),
        nonprinting: any(b"etvA"),
    };
    let mut state = State { count: Decimal::new(0), blank_lines: 0, at_start: true, carriage_return: false };
    let mut status = 0;
    let operands = if parsed.operands.is_empty() { vec![b"-".as_slice()] } else { parsed.operands };
    for word in operands {
        let result = if word == b"-" {
            copy(&mut *context.input, context.output, &style, &mut state)
        } else {
            let path = context.path(word);
            match File::open(&path).and_then(refuse_directory) {
                Ok(file) => copy(&mut context.polled(file), context.output, &style, &mut state),
                Err(error) => Ok(Some(error)),
            }
        };
        if let Some(error) = result? {
            // Each file was put out before the next was opened: what fails then ends everything.
            context.output.flush()?;
            context.complain_about(word, &error);
            status = 1;
        }
    }
    if state.carriage_return {
        context.output.write_all(b"\r")?;
    }
    Ok(Outcome::Status(status))
}

fn refuse_directory(file: File) -> io::Result<File> {
    if file.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
}

/// Copies `input`; the inner error is one of reading.
fn copy(
    input: &mut dyn Read,
    output: &mut dyn io::Write,
    style: &Style,
    state: &mut State,
) -> io::Result<Option<io::Error>> {
    let mut buffer = vec![0u8; COPY_BLOCK_BYTES];
    let mut shown = Vec::new();
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => return Ok(None),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Ok(Some(error)),
        };
        let block = buffer.get(..count).unwrap_or_default();
        if style.is_plain() {
            output.write_all(block)?;
            continue;
        }
        shown.clear();
        if style.keeps_bytes() {
            show_lines(block, style, state, &mut shown);
        } else {
            show_marked(block, style, state, &mut shown);
        }
        output.write_all(&shown)?;
    }
}

/// OPTIMIZATION: numbers before lines whose bytes are shown as they are. Equals [`show`] for each byte.
fn show_lines(block: &[u8], style: &Style, state: &mut State, out: &mut Vec<u8>) {
    let mut rest = block;
    while let Some(&first) = rest.first() {
        if state.at_start {
            show(first, style, state, out);
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        out.extend_from_slice(rest.get(..end).unwrap_or_default());
        if end < rest.len() {
            out.extend_from_slice(b"\n");
            state.at_start = true;
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
}

/// OPTIMIZATION: bytes within a line that are shown as they are, together. Equals [`show`] for each byte.
fn show_marked(block: &[u8], style: &Style, state: &mut State, out: &mut Vec<u8>) {
    let mut rest = block;
    while let Some(&first) = rest.first() {
        let plain = if state.at_start || state.carriage_return {
            0
        } else {
            rest.iter().take_while(|byte| matches!(byte, b' '..=b'~')).count()
        };
        out.extend_from_slice(&rest[..plain]);
        rest = &rest[plain..];
        if plain == 0 {
            show(first, style, state, out);
            rest = &rest[1..];
        }
    }
}

fn show(byte: u8, style: &Style, state: &mut State, out: &mut Vec<u8>) {
    if std::mem::take(&mut state.carriage_return) {
        out.extend_from_slice(if byte == b'\n' { b"^M" } else { b"\r" });
    }
    if state.at_start {
        if byte == b'\n' {
            state.blank_lines += 1;
            if style.squeeze && state.blank_lines > 1 {
                return;
            }
        } else {
            state.blank_lines = 0;
        }
        if style.number || (style.number_nonblank && byte != b'\n') {
            state.count.increment();
            state.count.append_padded(6, out);
            out.push(b'\t');
        }
        state.at_start = false;
    }
    match byte {
        b'\n' => {
            if style.ends {
                out.push(b'$');
            }
            out.push(b'\n');
            state.at_start = true;
        }
        b'\t' if style.tabs => out.extend_from_slice(b"^I"),
        b'\t' => out.push(b'\t'),
        b'\r' if style.ends && !style.nonprinting => state.carriage_return = true,
        _ if style.nonprinting => visible(byte, out),
        _ => out.push(byte),
    }
}

fn visible(byte: u8, out: &mut Vec<u8>) {
    let low = if byte >= 0x80 {
        out.extend_from_slice(b"M-");
        byte - 0x80
    } else {
        byte
    };
    match low {
        0x7f => out.extend_from_slice(b"^?"),
        0..=0x1f => out.extend_from_slice(&[b'^', low + 0x40]),
        _ => out.push(low),
    }
}
