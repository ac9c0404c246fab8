//! `sed`: edits streams and files. Flags: `-n -e -f -E -r -s -i[SUFFIX] -z -u -l N`; scripts with every command and address of
//! GNU's but `e`, `v` and `s///e`. Scripts that GNU refuses, `--posix`, `--debug`, `--sandbox` and `--follow-symlinks` are
//! left to the program.
//!
//! `script.rs` reads scripts, `run.rs` runs them, `substitute.rs` is the `s` command, `input.rs` and `output.rs` are the files.

mod arguments;
mod input;
mod output;
mod run;
mod script;
mod substitute;

use std::io;

use crate::options::{number, parse};
use crate::{Context, Outcome};

/// What the command line says.
struct Settings {
    quiet: bool,
    extended: bool,
    /// Lines are counted in each file.
    separate: bool,
    /// The suffix of backups if files are edited.
    in_place: Option<Vec<u8>>,
    /// What ends a line.
    end: u8,
    unbuffered: bool,
    /// Columns of `l`.
    width: usize,
    utf8: bool,
}

const LONG: &[(&str, u8)] = &[
    ("quiet", b'n'),
    ("silent", b'n'),
    ("expression=", b'e'),
    ("file=", b'f'),
    ("regexp-extended", b'E'),
    ("separate", b's'),
    ("in-place?", b'i'),
    ("null-data", b'z'),
    ("zero-terminated", b'z'),
    ("unbuffered", b'u'),
    ("line-length=", b'l'),
];

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let Some(parsed) = parse(context.args, "ne:f:Eri?szul:", LONG) else { return Ok(Outcome::Fallthrough) };
    if context.host.variable("POSIXLY_CORRECT").is_some() || context.host.variable("COLS").is_some() {
        return Ok(Outcome::Fallthrough);
    }
    let mut operands = parsed.operands.clone();
    let Some((text, starts_with_file)) = script_text(context, &parsed.given, &mut operands)? else {
        return Ok(Outcome::Fallthrough);
    };
    let width = match parsed.value(b'l').map(number) {
        None => 70,
        Some(Some(width)) => usize::try_from(width).unwrap_or(usize::MAX),
        Some(None) => return Ok(Outcome::Fallthrough),
    };
    let mut settings = Settings {
        quiet: parsed.has(b'n'),
        extended: parsed.has(b'E') || parsed.has(b'r'),
        separate: parsed.has(b's') || parsed.has(b'i'),
        in_place: parsed.value(b'i').map(<[u8]>::to_vec),
        end: if parsed.has(b'z') { 0 } else { b'\n' },
        unbuffered: parsed.has(b'u'),
        width,
        utf8: context.is_utf8(),
    };
    // The first two characters of a script, not of a later piece.
    if !starts_with_file && (text.starts_with(b"#n\n") || text == b"#n") {
        settings.quiet = true;
    }
    if starts_with_file && text.starts_with(b"#n\n") {
        settings.quiet = true;
    }
    let Some(script) = script::parse(&text, &settings) else { return Ok(Outcome::Fallthrough) };
    if operands.is_empty() {
        operands.push(b"-");
    }
    // What it means to edit standard input is GNU's own.
    if settings.in_place.is_some() && operands.contains(&b"-".as_slice()) {
        return Ok(Outcome::Fallthrough);
    }
    let files = operands.iter().map(|word| word.to_vec()).collect();
    run::Run::new(&settings, script, files).all(context)
}

/// The pieces of the script, joined by newlines, and whether the first is from a file.
fn script_text(
    context: &Context<'_>,
    given: &[(u8, &[u8])],
    operands: &mut Vec<&[u8]>,
) -> io::Result<Option<(Vec<u8>, bool)>> {
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    let mut first_is_file = false;
    for (letter, value) in given {
        match letter {
            b'e' => pieces.push(value.to_vec()),
            b'f' => {
                if *value == b"-" {
                    return Ok(None);
                }
                first_is_file |= pieces.is_empty();
                let Ok(mut text) = std::fs::read(context.path(value)) else { return Ok(None) };
                if text.last() == Some(&b'\n') {
                    text.pop();
                }
                pieces.push(text);
            }
            _ => {}
        }
    }
    if pieces.is_empty() {
        if operands.is_empty() {
            return Ok(None);
        }
        pieces.push(operands.remove(0).to_vec());
    }
    // A piece that ends in the middle of a text goes on in the next; other pieces that end in a backslash are GNU's to judge.
    Ok(Some((pieces.join(&b'\n'), first_is_file)))
}
