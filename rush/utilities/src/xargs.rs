//! `xargs`: builds command lines from standard input. Flags: `-0 -d CHAR -n N -I TEXT -r -s N`, `-P 1`; everything
//! else is left to the external program.

use std::io;

use crate::limits::XARGS_BYTES_MAX;
use crate::options::{number, parse_until_operand};
use crate::{Context, Outcome};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Separation {
    /// Blanks and newlines, with quotes and backslashes.
    Words,
    /// Lines, with leading blanks dropped and quotes (`-I`).
    Lines,
    Byte(u8),
}

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [
        ("null", b'0'),
        ("delimiter=", b'd'),
        ("max-args=", b'n'),
        ("replace=", b'I'),
        ("no-run-if-empty", b'r'),
        ("max-chars=", b's'),
        ("max-procs=", b'P'),
    ];
    let parsed = parse_until_operand(context.args, "0d:n:I:rs:P:", &long);
    let Some(parsed) = parsed else { return Ok(Outcome::Fallthrough) };
    let numeric = |letter: u8| parsed.value(letter).map(|v| number(v).filter(|n| *n > 0));
    let (count, bytes) = (numeric(b'n'), numeric(b's'));
    let parallel = parsed.value(b'P').is_some_and(|p| p != b"1");
    let replace = parsed.value(b'I');
    if count == Some(None) || bytes == Some(None) || parallel || (replace.is_some() && count.is_some()) {
        return Ok(Outcome::Fallthrough);
    }
    let separation = match (parsed.has(b'0'), parsed.value(b'd'), replace) {
        (true, None, _) => Separation::Byte(0),
        (false, Some(text), _) => match delimiter(text) {
            Some(byte) => Separation::Byte(byte),
            None => return Ok(Outcome::Fallthrough),
        },
        (false, None, Some(_)) => Separation::Lines,
        (false, None, None) => Separation::Words,
        _ => return Ok(Outcome::Fallthrough),
    };
    // With a terminator of its own, an item that is too long is an error.
    if bytes.is_some() && matches!(separation, Separation::Byte(_)) {
        return Ok(Outcome::Fallthrough);
    }
    let count = count.flatten().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
    let limit = bytes.flatten().and_then(|n| usize::try_from(n).ok()).unwrap_or(XARGS_BYTES_MAX);
    let mut command: Vec<Vec<u8>> = parsed.operands.iter().map(|o| o.to_vec()).collect();
    if command.is_empty() {
        command.push(b"echo".to_vec());
    }
    let mut text = Vec::new();
    context.input.read_to_end(&mut text)?;
    let (items, unmatched) = split(&text, separation);
    if let Some(quote) = unmatched {
        let name: &[u8] = if quote == b'"' { b"double" } else { b"single" };
        let rest = b" quote; by default quotes are special to xargs unless you use the -0 option";
        context.complain(&[b"unmatched ", name, rest]);
        if items.is_empty() {
            return Ok(Outcome::Status(1));
        }
    }
    // What came before an unmatched quote is run all the same.
    let ended = |runner: &Runner| {
        Outcome::Status(if runner.status == 0 { i32::from(unmatched.is_some()) } else { runner.status })
    };
    let mut runner = Runner { status: 0, stop: false };
    if let Some(replace) = replace {
        for item in &items {
            let args: Vec<Vec<u8>> = command.iter().map(|word| substitute(word, replace, item)).collect();
            runner.run(context, &args)?;
        }
        return Ok(ended(&runner));
    }
    if items.is_empty() {
        if !parsed.has(b'r') {
            runner.run(context, &command)?;
        }
        return Ok(ended(&runner));
    }
    let base: usize = command.iter().map(|w| w.len() + 1).sum();
    let mut batch = command.clone();
    let mut size = base;
    for item in items {
        let full = batch.len() - command.len() >= count || size + item.len() + 1 > limit;
        if full && batch.len() > command.len() {
            runner.run(context, &batch)?;
            batch.clone_from(&command);
            size = base;
        }
        size += item.len() + 1;
        batch.push(item);
    }
    runner.run(context, &batch)?;
    Ok(ended(&runner))
}

struct Runner {
    status: i32,
    stop: bool,
}

impl Runner {
    fn run(&mut self, context: &mut Context<'_>, args: &[Vec<u8>]) -> io::Result<()> {
        if self.stop {
            return Ok(());
        }
        context.poll()?;
        context.output.flush()?;
        let name = args.first().cloned().unwrap_or_default();
        let status = match context.host.run(args, None, true) {
            Ok(status) => status,
            Err(error) => {
                context.complain_about(&name, &error);
                let missing = error.kind() == io::ErrorKind::NotFound;
                (self.status, self.stop) = (if missing { 127 } else { 126 }, true);
                return Ok(());
            }
        };
        match status {
            0 => {}
            255 => {
                context.complain(&[&name, b": exited with status 255; aborting"]);
                (self.status, self.stop) = (124, true);
            }
            status if status > 128 => (self.status, self.stop) = (125, true),
            _ => self.status = 123,
        }
        Ok(())
    }
}

fn delimiter(text: &[u8]) -> Option<u8> {
    match text {
        [byte] => Some(*byte),
        b"\\n" => Some(b'\n'),
        b"\\t" => Some(b'\t'),
        b"\\0" => Some(0),
        b"\\\\" => Some(b'\\'),
        _ => None,
    }
}

/// Splits the input into items; also the quote that has no match, behind them.
fn split(text: &[u8], separation: Separation) -> (Vec<Vec<u8>>, Option<u8>) {
    if let Separation::Byte(byte) = separation {
        let body = text.strip_suffix(&[byte]).unwrap_or(text);
        let items = body.split(|&b| b == byte).map(<[u8]>::to_vec);
        return (if text.is_empty() { Vec::new() } else { items.collect() }, None);
    }
    let mut items = Vec::new();
    let mut item: Option<Vec<u8>> = None;
    let mut quote: Option<u8> = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\n', Some(_)) => return (items, quote),
            (_, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => item.get_or_insert_default().push(byte),
            (b'\n', None) => items.extend(item.take()),
            (b' ' | b'\t', None) if separation == Separation::Words || item.is_none() => {
                items.extend(item.take())
            }
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                item.get_or_insert_default();
            }
            (b'\\', None) => item.get_or_insert_default().extend(bytes.next()),
            _ => item.get_or_insert_default().push(byte),
        }
    }
    if quote.is_none() {
        items.extend(item);
    }
    (items, quote)
}

fn substitute(word: &[u8], what: &[u8], with: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = word;
    while !what.is_empty() {
        let Some(at) = memchr::memmem::find(rest, what) else { break };
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        out.extend_from_slice(with);
        rest = rest.get(at + what.len()..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}
