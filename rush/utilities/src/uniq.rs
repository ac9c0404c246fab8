//! `uniq`: drops repeated lines. Flags: `-c -d -u -i -f N -s N -w N -z`; an output file and groups are left to the
//! external program.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use crate::options::{number, parse};
use crate::{Context, Outcome};

struct Rules {
    count: bool,
    repeated: bool,
    unique: bool,
    ignore_case: bool,
    skip_fields: u64,
    skip_characters: u64,
    width: u64,
    end: u8,
}

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [
        ("count", b'c'),
        ("repeated", b'd'),
        ("unique", b'u'),
        ("ignore-case", b'i'),
        ("skip-fields=", b'f'),
        ("skip-chars=", b's'),
        ("check-chars=", b'w'),
        ("zero-terminated", b'z'),
    ];
    let Some(parsed) = parse(context.args, "cduif:s:w:z", &long) else { return Ok(Outcome::Fallthrough) };
    if !parsed.every(b"fsw", |_, value| number(value).is_some()) {
        return Ok(Outcome::Fallthrough);
    }
    let numeric = |letter: u8, default: u64| parsed.value(letter).map_or(Some(default), number);
    let (Some(skip_fields), Some(skip_characters), Some(width)) =
        (numeric(b'f', 0), numeric(b's', 0), numeric(b'w', u64::MAX))
    else {
        return Ok(Outcome::Fallthrough);
    };
    if parsed.operands.len() > 1 || !context.collates_by_byte() {
        return Ok(Outcome::Fallthrough);
    }
    let rules = Rules {
        count: parsed.has(b'c'),
        repeated: parsed.has(b'd'),
        unique: parsed.has(b'u'),
        ignore_case: parsed.has(b'i'),
        skip_fields,
        skip_characters,
        width,
        end: if parsed.has(b'z') { 0 } else { b'\n' },
    };
    let word = parsed.operands.first().copied().unwrap_or(b"-");
    if word == b"-" {
        filter(&mut *context.input, context.output, &rules)?;
        return Ok(Outcome::Status(0));
    }
    match File::open(context.path(word)) {
        // Its message is one of reading, which this does not tell from one of writing.
        Ok(file) if file.metadata().is_ok_and(|m| m.is_dir()) => Ok(Outcome::Fallthrough),
        Ok(file) => {
            filter(&mut context.polled(file), context.output, &rules)?;
            Ok(Outcome::Status(0))
        }
        Err(error) => {
            context.complain_about(word, &error);
            Ok(Outcome::Status(1))
        }
    }
}

/// Whether a byte stands between fields; a newline can only be there with `-z`.
fn separates(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

fn key<'l>(line: &'l [u8], rules: &Rules) -> &'l [u8] {
    let mut rest = line;
    for _ in 0..rules.skip_fields {
        let blanks = rest.iter().take_while(|b| separates(**b)).count();
        rest = rest.get(blanks..).unwrap_or_default();
        let field = rest.iter().take_while(|b| !separates(**b)).count();
        rest = rest.get(field..).unwrap_or_default();
        if rest.is_empty() {
            break;
        }
    }
    let skip = usize::try_from(rules.skip_characters).unwrap_or(usize::MAX).min(rest.len());
    let rest = rest.get(skip..).unwrap_or_default();
    rest.get(..usize::try_from(rules.width).unwrap_or(usize::MAX).min(rest.len())).unwrap_or_default()
}

fn filter(input: &mut dyn Read, output: &mut dyn io::Write, rules: &Rules) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(crate::limits::BLOCK_BYTES, input);
    let mut current: Option<(Vec<u8>, u64)> = None;
    let mut line = Vec::new();
    let mut out = Vec::new();
    loop {
        line.clear();
        let count = match reader.read_until(rules.end, &mut line) {
            Ok(count) => count,
            Err(error) => {
                output.write_all(&out)?;
                return Err(error);
            }
        };
        if line.last() == Some(&rules.end) {
            line.pop();
        }
        if count > 0
            && let Some((first, repeats)) = &mut current
        {
            let (old, new) = (key(first, rules), key(&line, rules));
            let same = if rules.ignore_case { old.eq_ignore_ascii_case(new) } else { old == new };
            if same {
                *repeats += 1;
                continue;
            }
        }
        if let Some((first, repeats)) = &current {
            let repeats = *repeats;
            let wanted = if repeats > 1 { !rules.unique } else { !rules.repeated };
            if wanted {
                if rules.count {
                    crate::decimal::Decimal::new(repeats).append_padded(7, &mut out);
                    out.push(b' ');
                }
                out.extend_from_slice(first);
                out.push(rules.end);
                if out.len() >= crate::limits::BLOCK_BYTES || reader.buffer().is_empty() {
                    output.write_all(&out)?;
                    out.clear();
                }
            }
        }
        if count == 0 {
            return output.write_all(&out);
        }
        match &mut current {
            Some((first, repeats)) => {
                std::mem::swap(first, &mut line);
                *repeats = 1;
            }
            None => current = Some((std::mem::take(&mut line), 1)),
        }
    }
}
