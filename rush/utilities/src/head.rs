//! `head`: the first part of files. Flags: `-n N`, `-c N` (not from the end), `-q`, `-v`, `-N`.

use std::fs::File;
use std::io::{self, Read};

use crate::limits::BLOCK_BYTES;
use crate::options::{parse, size};
use crate::{Context, Outcome};

/// How much of a file is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Amount {
    Lines(u64),
    Bytes(u64),
}

/// `-5` is `-n 5`.
pub(crate) fn expand_old_form(args: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut args = args.to_vec();
    if let Some(word) = args.get_mut(1)
        && let Some(digits) = word.strip_prefix(b"-")
        && !digits.is_empty()
        && digits.iter().all(u8::is_ascii_digit)
    {
        *word = [b"-n", digits].concat();
    }
    args
}

/// The header that `head` and `tail` print before each of several files.
pub(crate) fn header(name: &[u8], first: bool) -> Vec<u8> {
    let name = if name == b"-" { b"standard input" } else { name };
    [if first { b"".as_slice() } else { b"\n" }, b"==> ", name, b" <==\n"].concat()
}

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let args = expand_old_form(context.args);
    let long = [("lines=", b'n'), ("bytes=", b'c'), ("quiet", b'q'), ("silent", b'q'), ("verbose", b'v')];
    let Some(parsed) = parse(&args, "n:c:qv", &long) else { return Ok(Outcome::Fallthrough) };
    if !parsed.every(b"nc", |_, value| size(value).is_some()) {
        return Ok(Outcome::Fallthrough);
    }
    let amount = match parsed.given.iter().rev().find(|(l, _)| matches!(l, b'n' | b'c')) {
        None => Amount::Lines(10),
        Some((letter, value)) => match (size(value), letter) {
            (None, _) => return Ok(Outcome::Fallthrough),
            (Some(count), b'n') => Amount::Lines(count),
            (Some(count), _) => Amount::Bytes(count),
        },
    };
    let operands = if parsed.operands.is_empty() { vec![b"-".as_slice()] } else { parsed.operands.clone() };
    let headers = match parsed.last_of(b"qv") {
        Some(b'q') => false,
        Some(_) => true,
        None => operands.len() > 1,
    };
    let mut status = 0;
    let mut first = true;
    for word in operands {
        let mut file;
        let opened: io::Result<Option<File>> =
            if word == b"-" { Ok(None) } else { File::open(context.path(word)).map(Some) };
        let source: &mut dyn Read = match opened {
            Ok(None) => &mut *context.input,
            Ok(Some(opened)) => {
                file = context.polled(opened);
                &mut file
            }
            Err(error) => {
                let reason = crate::context::reason(&error);
                let name = context.quoted(word);
                context.complain(&[b"cannot open ", &name, b" for reading: ", reason.as_bytes()]);
                status = 1;
                continue;
            }
        };
        if headers {
            context.output.write_all(&header(word, first))?;
        }
        first = false;
        let (error, unused) = copy(source, context.output, amount)?;
        if word == b"-" && unused > 0 {
            context.input.unread(unused);
        }
        if let Some(error) = error {
            let name = context.quoted(word);
            context.complain(&[b"error reading ", &name, b": ", crate::context::reason(&error).as_bytes()]);
            status = 1;
        }
    }
    Ok(Outcome::Status(status))
}

/// Copies the wanted part; an error of reading, and how many bytes were read too many.
fn copy(
    input: &mut dyn Read,
    output: &mut dyn io::Write,
    amount: Amount,
) -> io::Result<(Option<io::Error>, usize)> {
    let mut buffer = vec![0u8; BLOCK_BYTES];
    let (mut lines, mut bytes) = match amount {
        Amount::Lines(lines) => (lines, u64::MAX),
        Amount::Bytes(bytes) => (u64::MAX, bytes),
    };
    while lines > 0 && bytes > 0 {
        let window = usize::try_from(bytes).unwrap_or(usize::MAX).min(buffer.len());
        let count = match input.read(buffer.get_mut(..window).unwrap_or_default()) {
            Ok(0) => return Ok((None, 0)),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Ok((Some(error), 0)),
        };
        let block = buffer.get(..count).unwrap_or_default();
        let mut end = count;
        if matches!(amount, Amount::Lines(_)) {
            for at in memchr::memchr_iter(b'\n', block) {
                lines -= 1;
                if lines == 0 {
                    end = at + 1;
                    break;
                }
            }
        } else {
            bytes -= count as u64;
        }
        output.write_all(block.get(..end).unwrap_or_default())?;
        if end < count || lines == 0 {
            return Ok((None, count - end));
        }
    }
    Ok((None, 0))
}
