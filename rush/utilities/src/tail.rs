//! `tail`: the last part of files. Flags: `-n [+]N`, `-c [+]N`, `-q`, `-v`, `-N`; following (`-f`) is left to the
//! external program.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::head::{expand_old_form, header};
use crate::limits::BLOCK_BYTES;
use crate::options::{parse, size};
use crate::{Context, Outcome};

#[derive(Debug, Clone, Copy)]
struct Wanted {
    lines: bool,
    /// Counted from the start (`+N`), beginning with 1.
    from_start: bool,
    count: u64,
}

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let args = expand_old_form(context.args);
    // `-N` is a number of lines only where at most one file and nothing else follows.
    let others = context.args.get(2..).unwrap_or_default();
    if args != context.args && (others.len() > 1 || others.iter().any(|word| word.starts_with(b"-"))) {
        return Ok(Outcome::Fallthrough);
    }
    let long = [("lines=", b'n'), ("bytes=", b'c'), ("quiet", b'q'), ("silent", b'q'), ("verbose", b'v')];
    let Some(parsed) = parse(&args, "n:c:qv", &long) else { return Ok(Outcome::Fallthrough) };
    if parsed.operands.iter().any(|operand| operand.is_empty()) {
        return Ok(Outcome::Fallthrough);
    }
    if parsed.operands.first().is_some_and(|o| o.first() == Some(&b'+')) {
        return Ok(Outcome::Fallthrough);
    }
    let digits = |value: &[u8]| size(value.strip_prefix(b"+").or(value.strip_prefix(b"-")).unwrap_or(value));
    if !parsed.every(b"nc", |_, value| digits(value).is_some()) {
        return Ok(Outcome::Fallthrough);
    }
    let mut wanted = Wanted { lines: true, from_start: false, count: 10 };
    if let Some((letter, value)) = parsed.given.iter().rev().find(|(l, _)| matches!(l, b'n' | b'c')) {
        let digits = value.strip_prefix(b"+").or(value.strip_prefix(b"-")).unwrap_or(*value);
        // One plus sign holds for all that follow.
        let counts = parsed.given.iter().filter(|(l, _)| matches!(l, b'n' | b'c'));
        let from_start = counts.into_iter().any(|(_, value)| value.starts_with(b"+"));
        let Some(count) = size(digits) else { return Ok(Outcome::Fallthrough) };
        // Nothing is asked for: GNU does not even open the files.
        if count == 0 && !from_start {
            return Ok(Outcome::Status(0));
        }
        wanted = Wanted { lines: *letter == b'n', from_start, count };
    }
    let operands = if parsed.operands.is_empty() { vec![b"-".as_slice()] } else { parsed.operands.clone() };
    // Skipping what no folder has ends everything.
    let is_folder = |word: &&[u8]| std::fs::metadata(context.path(word)).is_ok_and(|m| m.is_dir());
    if wanted.from_start && !wanted.lines && operands.iter().any(is_folder) {
        return Ok(Outcome::Fallthrough);
    }
    let headers = match parsed.last_of(b"qv") {
        Some(b'q') => false,
        Some(_) => true,
        None => operands.len() > 1,
    };
    let mut status = 0;
    let mut first = true;
    for word in operands {
        let opened = if word == b"-" { Ok(None) } else { File::open(context.path(word)).map(Some) };
        let opened = match opened {
            Ok(opened) => opened,
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
        let result = match opened {
            Some(mut file) => {
                skip_to_tail(&mut file, wanted);
                copy(&mut context.polled(file), context.output, wanted)?
            }
            None => copy(&mut *context.input, context.output, wanted)?,
        };
        if let Err(error) = result {
            let name = context.quoted(word);
            context.complain(&[b"error reading ", &name, b": ", crate::context::reason(&error).as_bytes()]);
            status = 1;
        }
    }
    Ok(Outcome::Status(status))
}

/// OPTIMIZATION: in a regular file, seeks to a place that is surely before the wanted lines or bytes. Equals
/// reading the file from the start.
fn skip_to_tail(file: &mut File, wanted: Wanted) {
    let Ok(length) = file.metadata().map(|m| if m.is_file() { m.len() } else { 0 }) else { return };
    if wanted.from_start || length == 0 {
        return;
    }
    if !wanted.lines {
        let _ = file.seek(SeekFrom::Start(length.saturating_sub(wanted.count)));
        return;
    }
    let mut position = length;
    let mut newlines = 0u64;
    let mut buffer = vec![0u8; BLOCK_BYTES];
    while position > 0 && newlines <= wanted.count {
        let start = position.saturating_sub(BLOCK_BYTES as u64);
        let window = (position - start) as usize;
        let Some(block) = buffer.get_mut(..window) else { break };
        if file.seek(SeekFrom::Start(start)).is_err() || file.read_exact(block).is_err() {
            position = 0;
            break;
        }
        newlines += memchr::memchr_iter(b'\n', block).count() as u64;
        position = start;
    }
    let _ = file.seek(SeekFrom::Start(position));
}

/// Copies the wanted part; the inner error is one of reading.
fn copy(input: &mut dyn Read, output: &mut dyn io::Write, wanted: Wanted) -> io::Result<io::Result<()>> {
    if wanted.from_start {
        return copy_from(input, output, wanted);
    }
    // Blocks that may hold the tail; whole blocks before it are dropped.
    let mut blocks: VecDeque<Vec<u8>> = VecDeque::new();
    let weight = |block: &[u8]| {
        if wanted.lines { memchr::memchr_iter(b'\n', block).count() as u64 } else { block.len() as u64 }
    };
    let mut total = 0u64;
    loop {
        let mut block = vec![0u8; BLOCK_BYTES];
        match input.read(&mut block) {
            Ok(0) => break,
            Ok(count) => block.truncate(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Ok(Err(error)),
        }
        total += weight(&block);
        blocks.push_back(block);
        while let Some(front) = blocks.front()
            && total - weight(front) > wanted.count
        {
            total -= weight(front);
            blocks.pop_front();
        }
    }
    let all: Vec<u8> = blocks.into_iter().flatten().collect();
    let start = if wanted.lines {
        tail_of_lines(&all, wanted.count)
    } else {
        all.len() - (wanted.count as usize).min(all.len())
    };
    output.write_all(all.get(start..).unwrap_or_default())?;
    Ok(Ok(()))
}

fn tail_of_lines(text: &[u8], count: u64) -> usize {
    if count == 0 {
        return text.len();
    }
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let mut left = count;
    for at in memchr::memrchr_iter(b'\n', body) {
        left -= 1;
        if left == 0 {
            return at + 1;
        }
    }
    0
}

fn copy_from(input: &mut dyn Read, output: &mut dyn io::Write, wanted: Wanted) -> io::Result<io::Result<()>> {
    let mut skip = wanted.count.saturating_sub(1);
    let mut buffer = vec![0u8; BLOCK_BYTES];
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => return Ok(Ok(())),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Ok(Err(error)),
        };
        let block = buffer.get(..count).unwrap_or_default();
        let mut start = 0;
        if skip > 0 && !wanted.lines {
            start = usize::try_from(skip).unwrap_or(usize::MAX).min(count);
            skip -= start as u64;
        } else if skip > 0 {
            start = count;
            for at in memchr::memchr_iter(b'\n', block) {
                skip -= 1;
                if skip == 0 {
                    start = at + 1;
                    break;
                }
            }
        }
        output.write_all(block.get(start..).unwrap_or_default())?;
    }
}
