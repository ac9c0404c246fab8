//! `xargs`: builds command lines from standard input. Flags: `-0 -d CHAR -n N -I TEXT -r`, `-P 1`; everything
//! else is left to the external program.

use std::io;

use crate::context::reason;
use crate::limits::{BLOCK_BYTES, XARGS_BYTES_MAX};
use crate::options::{number, parse_until_operand};
use crate::{Context, Ended, Outcome};

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
        ("max-procs=", b'P'),
    ];
    let parsed = parse_until_operand(context.args, "0d:n:I:rP:", &long);
    let Some(parsed) = parsed else { return Ok(Outcome::Fallthrough) };
    let valid = |_: u8, value: &[u8]| number(value).is_some_and(|n| n > 0);
    if !parsed.every(b"nP", valid) || parsed.operands.first().is_some_and(|o| o.is_empty()) {
        return Ok(Outcome::Fallthrough);
    }
    let numeric = |letter: u8| parsed.value(letter).map(|v| number(v).filter(|n| *n > 0));
    if !parsed.every(b"d", |_, text| delimiter(text).is_some())
        || parsed.value(b'I').is_some_and(|text| text.is_empty())
    {
        return Ok(Outcome::Fallthrough);
    }
    let count = numeric(b'n');
    let parallel = parsed.value(b'P').is_some_and(|p| p != b"1");
    let replace = parsed.value(b'I');
    if count == Some(None) || parallel || (replace.is_some() && count.is_some()) {
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
    let count = count.flatten().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
    let mut command: Vec<Vec<u8>> = parsed.operands.iter().map(|o| o.to_vec()).collect();
    if command.is_empty() {
        command.push(b"echo".to_vec());
    }
    let mut plan = Plan {
        command,
        replace,
        count,
        empty_runs: !parsed.has(b'r'),
        batch: Vec::new(),
        size: 0,
        any: false,
    };
    let mut runner = Runner { status: 0, stop: false };
    let mut splitter =
        Splitter { separation, item: None, quote: None, escaped: false, warned: false, told: false };
    let problem = drive(context, &mut splitter, &mut plan, &mut runner)?;
    // What came before a problem is run all the same.
    if problem.is_none() || plan.any {
        plan.finish(context, &mut runner)?;
    }
    if let Some(problem) = problem.as_ref().filter(|_| !runner.stop) {
        context.complain(&[problem.as_bytes()]);
    }
    Ok(Outcome::Status(if runner.status == 0 { i32::from(problem.is_some()) } else { runner.status }))
}

/// Reads, splits and runs as items come; what was wrong with the input.
fn drive(
    context: &mut Context<'_>,
    splitter: &mut Splitter,
    plan: &mut Plan<'_>,
    runner: &mut Runner,
) -> io::Result<Option<&'static str>> {
    let mut buffer = vec![0u8; BLOCK_BYTES];
    let mut items = Vec::new();
    while !runner.stop {
        let count = match context.input.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let block = buffer.get(..count).unwrap_or_default();
        if count == 0 {
            let ended = splitter.end(&mut items);
            for item in items.drain(..) {
                plan.take(context, runner, item)?;
            }
            return Ok(ended.err());
        }
        let mut used = 0;
        while used < count && !runner.stop {
            let (fed, more) = splitter.feed(block.get(used..).unwrap_or_default(), &mut items);
            used += more;
            if std::mem::take(&mut splitter.warned) && !std::mem::replace(&mut splitter.told, true) {
                context.complain(&[NUL_WARNING]);
            }
            for item in items.drain(..) {
                if item.len() >= XARGS_BYTES_MAX {
                    return Ok(Some("argument line too long"));
                }
                plan.take(context, runner, item)?;
            }
            if let Err(problem) = fed {
                context.input.unread(count - used);
                return Ok(Some(problem));
            }
        }
    }
    Ok(None)
}

/// What is run with the items.
struct Plan<'a> {
    command: Vec<Vec<u8>>,
    replace: Option<&'a [u8]>,
    count: usize,
    /// Whether the command is run without any item, too.
    empty_runs: bool,
    batch: Vec<Vec<u8>>,
    size: usize,
    /// Whether there was an item.
    any: bool,
}

impl Plan<'_> {
    fn take(&mut self, context: &mut Context<'_>, runner: &mut Runner, item: Vec<u8>) -> io::Result<()> {
        self.any = true;
        if let Some(replace) = self.replace {
            let args: Vec<Vec<u8>> = {
                let (name, rest) =
                    self.command.split_first().map_or((None, &[][..]), |(name, rest)| (Some(name), rest));
                name.cloned()
                    .into_iter()
                    .chain(rest.iter().map(|word| until_nul(substitute(word, replace, &item))))
                    .collect()
            };
            return runner.run(context, &args);
        }
        let item = until_nul(item);
        let base: usize = self.command.iter().map(|w| w.len() + 1).sum();
        if !self.batch.is_empty() && base + self.size + item.len() + 1 > XARGS_BYTES_MAX {
            self.pass_on(context, runner)?;
        }
        self.size += item.len() + 1;
        self.batch.push(item);
        if self.batch.len() >= self.count { self.pass_on(context, runner) } else { Ok(()) }
    }

    fn pass_on(&mut self, context: &mut Context<'_>, runner: &mut Runner) -> io::Result<()> {
        self.size = 0;
        let mut args = self.command.clone();
        args.append(&mut self.batch);
        runner.run(context, &args)
    }

    fn finish(&mut self, context: &mut Context<'_>, runner: &mut Runner) -> io::Result<()> {
        let none = !self.any && self.empty_runs && self.replace.is_none();
        if none || !self.batch.is_empty() { self.pass_on(context, runner) } else { Ok(()) }
    }
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
            Ok(Ended::Status(status)) => status,
            Ok(Ended::Signal(signal)) => {
                context.complain(&[&name, format!(": terminated by signal {signal}").as_bytes()]);
                (self.status, self.stop) = (125, true);
                return Ok(());
            }
            Err(error) => {
                context.complain(&[&name, b": ", reason(&error).as_bytes()]);
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

/// Splits the input into items as it comes.
struct Splitter {
    separation: Separation,
    item: Option<Vec<u8>>,
    quote: Option<u8>,
    /// Behind a backslash.
    escaped: bool,
    /// Whether a NUL was seen just now.
    warned: bool,
    /// Whether that was said.
    told: bool,
}

/// What is wrong with the input.
type Fed = Result<(), &'static str>;

impl Splitter {
    /// Takes bytes up to the end of an item; how many were used.
    fn feed(&mut self, block: &[u8], items: &mut Vec<Vec<u8>>) -> (Fed, usize) {
        for (at, &byte) in block.iter().enumerate() {
            self.warned |= byte == 0 && !matches!(self.separation, Separation::Byte(_));
            if self.byte(byte, items).is_none() {
                return (Err(unmatched(self.quote)), at + 1);
            }
            if !items.is_empty() {
                return (Ok(()), at + 1);
            }
        }
        (Ok(()), block.len())
    }

    fn end(&mut self, items: &mut Vec<Vec<u8>>) -> Fed {
        // A quote or backslash that is the last byte of all goes unnoticed.
        let unnoticed = self.item.as_ref().is_some_and(|item| item.is_empty());
        if self.quote.is_some() && !unnoticed {
            return Err(unmatched(self.quote));
        }
        if (self.quote.is_none() && !self.escaped) || !unnoticed {
            self.close(items);
        }
        Ok(())
    }

    fn close(&mut self, items: &mut Vec<Vec<u8>>) {
        items.extend(self.item.take());
    }

    /// `None` at the end of a line inside quotes.
    fn byte(&mut self, byte: u8, items: &mut Vec<Vec<u8>>) -> Option<()> {
        // More than what ends an item is left out before one.
        let blank =
            matches!(byte, b' ' | b'\t') || (self.item.is_none() && matches!(byte, 0x0b | 0x0c | b'\r'));
        match (byte, self.quote) {
            (_, _) if matches!(self.separation, Separation::Byte(_)) => {
                let ends = self.separation == Separation::Byte(byte);
                let item = self.item.get_or_insert_default();
                if ends { self.close(items) } else { item.push(byte) }
            }
            (_, _) if std::mem::take(&mut self.escaped) => self.item.get_or_insert_default().push(byte),
            (b'\n', Some(_)) => return None,
            (_, Some(open)) if byte == open => self.quote = None,
            (_, Some(_)) => self.item.get_or_insert_default().push(byte),
            (b'\n', None) => self.close(items),
            (_, None) if blank && (self.separation == Separation::Words || self.item.is_none()) => {
                self.close(items)
            }
            (b'\'' | b'"', None) => {
                self.quote = Some(byte);
                self.item.get_or_insert_default();
            }
            (b'\\', None) => {
                self.escaped = true;
                self.item.get_or_insert_default();
            }
            _ => self.item.get_or_insert_default().push(byte),
        }
        Some(())
    }
}

fn unmatched(quote: Option<u8>) -> &'static str {
    if quote == Some(b'"') {
        "unmatched double quote; by default quotes are special to xargs unless you use the -0 option"
    } else {
        "unmatched single quote; by default quotes are special to xargs unless you use the -0 option"
    }
}

/// What is said of the first NUL.
const NUL_WARNING: &[u8] = b"WARNING: a NUL character occurred in the input.  It cannot be passed through in the argument list.  Did you mean to use the --null option?";

/// What is behind a NUL is no part of an argument.
fn until_nul(mut word: Vec<u8>) -> Vec<u8> {
    word.truncate(memchr::memchr(0, &word).unwrap_or(word.len()));
    word
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
