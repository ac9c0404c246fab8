//! `wc`: counts lines, words, characters and bytes. Flags: `-l -w -m -c -L` (not `--files0-from`), `--json`.

use std::fs::File;
use std::io::{self, Read};

use crate::json::Json;
use crate::limits::BLOCK_BYTES;
use crate::options::parse;
use crate::{Context, Outcome};

#[derive(Default, Clone, Copy)]
struct Counts {
    lines: u64,
    words: u64,
    characters: u64,
    bytes: u64,
    longest: u64,
}

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [
        ("lines", b'l'),
        ("words", b'w'),
        ("chars", b'm'),
        ("bytes", b'c'),
        ("max-line-length", b'L'),
        ("json", b'J'),
    ];
    let Some(parsed) = parse(context.args, "lwmcL", &long) else { return Ok(Outcome::Fallthrough) };
    if parsed.has(b'L') {
        // Display widths need the system's character tables.
        return Ok(Outcome::Fallthrough);
    }
    let mut columns: Vec<u8> = b"lwmcL".iter().copied().filter(|l| parsed.has(*l)).collect();
    if columns.is_empty() {
        columns = b"lwc".to_vec();
    }
    if parsed.operands.iter().any(|operand| operand.is_empty()) {
        return Ok(Outcome::Fallthrough);
    }
    let utf8 = context.is_utf8();
    let operands = if parsed.operands.is_empty() { vec![b"-".as_slice()] } else { parsed.operands.clone() };
    let unnamed = parsed.operands.is_empty();
    let width = number_width(context, &operands, columns.len());
    let mut total = Counts::default();
    let mut rows = Vec::new();
    let mut status = 0;
    for word in &operands {
        let counts = count_word(context, word, utf8, &columns);
        match counts {
            Ok(counts) => {
                add(&mut total, counts);
                if parsed.has(b'J') {
                    rows.push((word.to_vec(), counts));
                } else {
                    let name = if unnamed { None } else { Some(*word) };
                    context.output.write_all(&row(&counts, &columns, width, name))?;
                }
            }
            Err(error) => {
                if *word == b"-" {
                    let reason = crate::context::reason(&error);
                    context.complain(&[b"'standard input': ", reason.as_bytes()]);
                } else {
                    context.complain_about(word, &error);
                }
                if error.kind() == io::ErrorKind::IsADirectory && !parsed.has(b'J') {
                    let name = if unnamed { None } else { Some(*word) };
                    context.output.write_all(&row(&Counts::default(), &columns, width, name))?;
                }
                status = 1;
            }
        }
    }
    if parsed.has(b'J') {
        context.output.write_all(&as_json(&rows, &total))?;
    } else if operands.len() > 1 {
        context.output.write_all(&row(&total, &columns, width, Some(b"total")))?;
    }
    Ok(Outcome::Status(status))
}

fn count_word(context: &mut Context<'_>, word: &[u8], utf8: bool, columns: &[u8]) -> io::Result<Counts> {
    if word == b"-" {
        let only_bytes = columns.iter().all(|column| *column == b'c' || (*column == b'm' && !utf8));
        if let (true, Some((size, position))) = (only_bytes, context.input.extent())
            && size > 0
        {
            let bytes = size.saturating_sub(position);
            return Ok(Counts { bytes, characters: bytes, ..Counts::default() });
        }
        return count(&mut *context.input, utf8, columns);
    }
    let file = File::open(context.path(word))?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if columns == b"c" && metadata.is_file() && metadata.len() > 0 {
        return Ok(Counts { bytes: metadata.len(), ..Counts::default() });
    }
    count(&mut context.polled(file), utf8, columns)
}

/// GNU's column width: one digit for a lone number, otherwise that of the total size, at least 7 when a size is
/// not known beforehand.
fn number_width(context: &Context<'_>, operands: &[&[u8]], columns: usize) -> usize {
    if operands.len() == 1 && columns == 1 {
        return 1;
    }
    let mut minimum = 1;
    let mut total = 0u64;
    for word in operands {
        if *word == b"-" {
            match context.input.extent() {
                Some((size, _)) => total += size,
                None => minimum = 7,
            }
            continue;
        }
        match std::fs::metadata(context.path(word)) {
            Ok(metadata) if metadata.is_file() => total += metadata.len(),
            Ok(_) => minimum = 7,
            Err(_) => {}
        }
    }
    total.to_string().len().max(minimum)
}

fn add(total: &mut Counts, counts: Counts) {
    total.lines += counts.lines;
    total.words += counts.words;
    total.characters += counts.characters;
    total.bytes += counts.bytes;
    total.longest = total.longest.max(counts.longest);
}

fn row(counts: &Counts, columns: &[u8], width: usize, name: Option<&[u8]>) -> Vec<u8> {
    let value = |column: &u8| match column {
        b'l' => counts.lines,
        b'w' => counts.words,
        b'm' => counts.characters,
        b'c' => counts.bytes,
        _ => counts.longest,
    };
    let fields: Vec<String> = columns.iter().map(|c| format!("{:>width$}", value(c))).collect();
    let mut line = fields.join(" ").into_bytes();
    if let Some(name) = name {
        line.push(b' ');
        line.extend_from_slice(name);
    }
    line.push(b'\n');
    line
}

fn count(input: &mut dyn Read, utf8: bool, columns: &[u8]) -> io::Result<Counts> {
    let mut counts = Counts::default();
    let mut buffer = vec![0u8; BLOCK_BYTES];
    let words = columns.contains(&b'w');
    let mut in_word = false;
    // Bytes of a UTF-8 character that the block cut off.
    let mut carry = 0usize;
    loop {
        let window = buffer.get_mut(carry..).unwrap_or_default();
        let read = match input.read(window) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let block = buffer.get(..carry + read).unwrap_or_default();
        counts.bytes += read as u64;
        counts.lines += memchr::memchr_iter(b'\n', block.get(carry..).unwrap_or_default()).count() as u64;
        let mut used = block.len();
        if words || columns.contains(&b'm') {
            used = scan(block, utf8, read == 0, &mut in_word, &mut counts);
        }
        if read == 0 {
            return Ok(counts);
        }
        let length = block.len();
        carry = length - used;
        buffer.copy_within(used..length, 0);
    }
}

/// Counts words and characters; returns how many bytes were used, which leaves out a cut-off character.
fn scan(block: &[u8], utf8: bool, last: bool, in_word: &mut bool, counts: &mut Counts) -> usize {
    let mut at = 0;
    while let Some(&byte) = block.get(at) {
        let mut length = 1;
        let mut is_character = true;
        let mut is_space = byte.is_ascii_whitespace() || byte == 0x0b;
        let mut is_print = byte.is_ascii_graphic();
        if byte >= 0x80 && utf8 {
            let rest = block.get(at..at + 4).or_else(|| block.get(at..)).unwrap_or_default();
            let (valid, cut) = match std::str::from_utf8(rest) {
                Ok(text) => (text.chars().next(), false),
                Err(error) if error.valid_up_to() > 0 => {
                    let text = std::str::from_utf8(rest.get(..error.valid_up_to()).unwrap_or_default());
                    (text.ok().and_then(|t| t.chars().next()), false)
                }
                Err(error) => (None, error.error_len().is_none()),
            };
            if cut && !last && rest.len() < 4 {
                return at;
            }
            match valid {
                Some(c) => {
                    length = c.len_utf8();
                    // Blanks that do not break end a word, too.
                    is_space = (c.is_whitespace() && c != '\u{85}') || c == '\u{2060}';
                    is_print = !c.is_control();
                }
                None => is_character = false,
            }
        }
        if is_character {
            counts.characters += 1;
        }
        if is_space {
            *in_word = false;
        } else if is_print && !*in_word {
            *in_word = true;
            counts.words += 1;
        }
        at += length;
    }
    at
}

fn as_json(rows: &[(Vec<u8>, Counts)], total: &Counts) -> Vec<u8> {
    let mut json = Json::default();
    let fields = |json: &mut Json, counts: &Counts| {
        json.plain_field("lines", counts.lines);
        json.plain_field("words", counts.words);
        json.plain_field("bytes", counts.bytes);
    };
    json.open('{');
    json.key("files");
    json.open('[');
    for (name, counts) in rows {
        json.open('{');
        json.field("name", name);
        fields(&mut json, counts);
        json.close('}');
    }
    json.close(']');
    json.key("total");
    json.open('{');
    fields(&mut json, total);
    json.close('}');
    json.close('}');
    json.finish()
}
