//! `tail`: the last part of files. Flags: `-n [+]N`, `-c [+]N`, `-q`, `-v`, `-N`; following (`-f`) is left to the
//! external program.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::head::{expand_old_form, header};
use crate::limits::{BLOCK_BYTES, COPY_BLOCK_BYTES};
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
    if wanted.from_start && operands.iter().any(is_folder) {
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
                if skip_to_tail(&mut file, wanted) {
                    pass_on(&mut context.polled(file), context.output)?
                } else {
                    copy(&mut context.polled(file), context.output, wanted)?
                }
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

/// OPTIMIZATION: in a regular file, looks for the wanted part from the end and leaves the file there; whether it did. Equals
/// reading the file from the start.
fn skip_to_tail(file: &mut File, wanted: Wanted) -> bool {
    let Ok(length) = file.metadata().map(|m| if m.is_file() { m.len() } else { 0 }) else { return false };
    if wanted.from_start || length == 0 {
        return false;
    }
    let start = if wanted.lines {
        start_of_lines(file, length, wanted.count)
    } else {
        Ok(length.saturating_sub(wanted.count))
    };
    match start {
        Ok(start) => file.seek(SeekFrom::Start(start)).is_ok(),
        Err(_) => {
            let _ = file.seek(SeekFrom::Start(0));
            false
        }
    }
}

/// Where the last `count` lines of a file begin.
fn start_of_lines(file: &mut File, length: u64, count: u64) -> io::Result<u64> {
    let mut buffer = vec![0u8; BLOCK_BYTES];
    let mut left = count;
    let mut end = length;
    while end > 0 {
        let start = end.saturating_sub(BLOCK_BYTES as u64);
        let mut block = buffer.get_mut(..(end - start) as usize).unwrap_or_default();
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(block)?;
        // The end of the last line begins no other.
        if end == length && block.last() == Some(&b'\n') {
            let whole = block.len() - 1;
            block = block.get_mut(..whole).unwrap_or_default();
        }
        let newlines = memchr::memchr_iter(b'\n', block).count() as u64;
        if newlines < left {
            left -= newlines;
            end = start;
            continue;
        }
        let before = usize::try_from(newlines - left).unwrap_or(usize::MAX);
        let at = memchr::memchr_iter(b'\n', block).nth(before).unwrap_or_default();
        return Ok(start + at as u64 + 1);
    }
    Ok(0)
}

/// Copies all that is left; the inner error is one of reading.
fn pass_on(input: &mut dyn Read, output: &mut dyn io::Write) -> io::Result<io::Result<()>> {
    let mut buffer = vec![0u8; COPY_BLOCK_BYTES];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return Ok(Ok(())),
            Ok(count) => output.write_all(buffer.get(..count).unwrap_or_default())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Ok(Err(error)),
        }
    }
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
    let mut buffer = vec![0u8; BLOCK_BYTES];
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Ok(Err(error)),
        };
        let block = buffer.get(..count).unwrap_or_default();
        total += weight(block);
        // What comes in small pieces is held in blocks all the same.
        match blocks.back_mut() {
            Some(last) if last.len() + count <= BLOCK_BYTES => last.extend_from_slice(block),
            _ => blocks.push_back(block.to_vec()),
        }
        while let Some(front) = blocks.front()
            && total - weight(front) > wanted.count
        {
            total -= weight(front);
            blocks.pop_front();
        }
    }
    // All but the first block are wanted whole, unless what is wanted begins at the end of the first.
    let length: usize = blocks.iter().map(Vec::len).sum();
    let mut skip = if wanted.lines {
        start_of_tail(&blocks, wanted.count)
    } else {
        length - usize::try_from(wanted.count).unwrap_or(usize::MAX).min(length)
    };
    for block in &blocks {
        output.write_all(block.get(skip..).unwrap_or_default())?;
        skip = skip.saturating_sub(block.len());
    }
    Ok(Ok(()))
}

/// Where in the blocks, taken together, the last `count` lines begin.
fn start_of_tail(blocks: &VecDeque<Vec<u8>>, count: u64) -> usize {
    let mut end: usize = blocks.iter().map(Vec::len).sum();
    if count == 0 {
        return end;
    }
    let mut left = count;
    for (index, block) in blocks.iter().enumerate().rev() {
        end -= block.len();
        // The end of the last line begins no other.
        let last = index + 1 == blocks.len() && block.last() == Some(&b'\n');
        let body = if last { block.get(..block.len() - 1).unwrap_or_default() } else { block };
        for at in memchr::memrchr_iter(b'\n', body) {
            left -= 1;
            if left == 0 {
                return end + at + 1;
            }
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
