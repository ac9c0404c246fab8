//! `cut`: selects parts of lines. Flags: `-b -c -f LIST -d CHAR -s -n --complement --output-delimiter=TEXT -z`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use crate::options::{number, parse};
use crate::{Context, Outcome};

struct Selection {
    /// Ranges from 1, ascending and merged.
    ranges: Vec<(u64, u64)>,
    fields: bool,
    delimiter: u8,
    only_delimited: bool,
    output_delimiter: Option<Vec<u8>>,
    end: u8,
}

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [
        ("bytes=", b'b'),
        ("characters=", b'c'),
        ("fields=", b'f'),
        ("delimiter=", b'd'),
        ("only-delimited", b's'),
        ("complement", b'C'),
        ("output-delimiter=", b'O'),
        ("zero-terminated", b'z'),
    ];
    let Some(parsed) = parse(context.args, "b:c:f:d:snz", &long) else { return Ok(Outcome::Fallthrough) };
    let lists: Vec<_> = parsed.given.iter().filter(|(l, _)| matches!(l, b'b' | b'c' | b'f')).collect();
    let [(letter, list)] = lists.as_slice() else { return Ok(Outcome::Fallthrough) };
    let fields = *letter == b'f';
    let delimiter = parsed.value(b'd');
    if (!fields && (delimiter.is_some() || parsed.has(b's'))) || !parsed.every(b"d", |_, d| d.len() <= 1) {
        return Ok(Outcome::Fallthrough);
    }
    // What ends a line would also end a field.
    if parsed.has(b'z') && delimiter.is_some_and(<[u8]>::is_empty) {
        return Ok(Outcome::Fallthrough);
    }
    let Some(mut ranges) = parse_list(list) else { return Ok(Outcome::Fallthrough) };
    if parsed.has(b'C') {
        ranges = complement(&ranges);
    }
    let selection = Selection {
        ranges,
        fields,
        delimiter: delimiter.map_or(b'\t', |d| d.first().copied().unwrap_or(0)),
        only_delimited: parsed.has(b's'),
        // An empty one is the NUL at its end.
        output_delimiter: parsed.value(b'O').map(|d| if d.is_empty() { vec![0] } else { d.to_vec() }),
        end: if parsed.has(b'z') { 0 } else { b'\n' },
    };
    let operands = if parsed.operands.is_empty() { vec![b"-".as_slice()] } else { parsed.operands.clone() };
    let mut status = 0;
    for word in operands {
        if word == b"-" {
            filter(&mut *context.input, context.output, &selection)?;
            continue;
        }
        match File::open(context.path(word)) {
            Ok(file) if file.metadata().is_ok_and(|m| !m.is_dir()) => {
                filter(&mut context.polled(file), context.output, &selection)?;
            }
            Ok(_) => {
                context.complain_about(word, &io::ErrorKind::IsADirectory.into());
                status = 1;
            }
            Err(error) => {
                context.complain_about(word, &error);
                status = 1;
            }
        }
    }
    Ok(Outcome::Status(status))
}

fn parse_list(list: &[u8]) -> Option<Vec<(u64, u64)>> {
    let mut ranges = Vec::new();
    for part in list.split(|b| matches!(b, b',' | b' ' | b'\t')) {
        let range = match part.iter().position(|&b| b == b'-') {
            None => {
                let only = number(part)?;
                (only, only)
            }
            Some(at) => {
                let (low, high) = (part.get(..at)?, part.get(at + 1..)?);
                if low.is_empty() && high.is_empty() {
                    return None;
                }
                let low = if low.is_empty() { 1 } else { number(low)? };
                (low, if high.is_empty() { u64::MAX } else { number(high)? })
            }
        };
        // The largest number is none that can be given.
        let too_large = part.split(|b| *b == b'-').any(|n| number(n) == Some(u64::MAX));
        if range.0 == 0 || range.1 < range.0 || too_large {
            return None;
        }
        ranges.push(range);
    }
    ranges.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (low, high) in ranges {
        match merged.last_mut() {
            Some(last) if low <= last.1 => last.1 = last.1.max(high),
            _ => merged.push((low, high)),
        }
    }
    Some(merged)
}

fn complement(ranges: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut out = Vec::new();
    let mut next = 1;
    for &(low, high) in ranges {
        if low > next {
            out.push((next, low - 1));
        }
        next = high.saturating_add(1);
    }
    if next < u64::MAX {
        out.push((next, u64::MAX));
    }
    out
}

fn filter(input: &mut dyn Read, output: &mut dyn io::Write, selection: &Selection) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(crate::limits::BLOCK_BYTES, input);
    let mut line = Vec::new();
    let mut out = Vec::new();
    loop {
        line.clear();
        if reader.read_until(selection.end, &mut line)? == 0 {
            return Ok(());
        }
        if line.last() == Some(&selection.end) {
            line.pop();
        }
        out.clear();
        let shown = if selection.fields {
            cut_fields(&line, selection, &mut out)
        } else {
            cut_bytes(&line, selection, &mut out)
        };
        if shown {
            out.push(selection.end);
            output.write_all(&out)?;
        }
    }
}

fn cut_bytes(line: &[u8], selection: &Selection, out: &mut Vec<u8>) -> bool {
    for (index, &(low, high)) in selection.ranges.iter().enumerate() {
        let start = usize::try_from(low - 1).unwrap_or(usize::MAX);
        if start >= line.len() {
            break;
        }
        if index > 0
            && let Some(delimiter) = &selection.output_delimiter
        {
            out.extend_from_slice(delimiter);
        }
        let end = usize::try_from(high).unwrap_or(usize::MAX).min(line.len());
        out.extend_from_slice(line.get(start..end).unwrap_or_default());
    }
    true
}

fn cut_fields(line: &[u8], selection: &Selection, out: &mut Vec<u8>) -> bool {
    if memchr::memchr(selection.delimiter, line).is_none() {
        if selection.only_delimited {
            return false;
        }
        out.extend_from_slice(line);
        return true;
    }
    let single = [selection.delimiter];
    let delimiter = selection.output_delimiter.as_deref().unwrap_or(&single);
    let mut first = true;
    let mut ranges = selection.ranges.iter().peekable();
    for (field, number) in line.split(|&b| b == selection.delimiter).zip(1u64..) {
        while ranges.peek().is_some_and(|(_, high)| *high < number) {
            ranges.next();
        }
        let Some((low, _)) = ranges.peek() else { break };
        if number >= *low {
            if !first {
                out.extend_from_slice(delimiter);
            }
            first = false;
            out.extend_from_slice(field);
        }
    }
    true
}
