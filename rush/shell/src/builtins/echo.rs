//! `echo`: writes its arguments.

use crate::quote::escape::{Dialect, Escape, decode, push_character};
use crate::state::options::{SetOption, Shopt};
use crate::{Bytes, Outcome, Session};

/// `echo [-neE] [arg ...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut newline = true;
    let mut escapes = session.shopt(Shopt::XpgEcho);
    let mut words = args.get(1..).unwrap_or_default();
    if !(escapes && session.is(SetOption::Posix)) {
        while let Some((first, rest)) = words.split_first() {
            let Some(letters) = option_letters(first) else { break };
            for letter in letters {
                match letter {
                    b'n' => newline = false,
                    b'e' => escapes = true,
                    _ => escapes = false,
                }
            }
            words = rest;
        }
    }
    let mut out = Bytes::with_capacity(64);
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        if !escapes {
            out.extend_from_slice(word);
        } else if !decode_into(word, &mut out) {
            newline = false;
            break;
        }
    }
    if newline {
        out.push(b'\n');
    }
    session.write_out(&out);
    Ok(0)
}

/// The letters of a word that is nothing but options.
fn option_letters(word: &[u8]) -> Option<&[u8]> {
    let letters = word.strip_prefix(b"-")?;
    (!letters.is_empty() && letters.iter().all(|b| matches!(b, b'n' | b'e' | b'E'))).then_some(letters)
}

/// Decodes escapes into `out`; `false` after `\c`.
fn decode_into(word: &[u8], out: &mut Bytes) -> bool {
    let mut at = 0;
    while let Some(&byte) = word.get(at) {
        at += 1;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let (escape, length) = decode(word.get(at..).unwrap_or_default(), Dialect::Echo);
        at += length;
        match escape {
            Escape::Stop => return false,
            Escape::Byte(byte) => out.push(byte),
            Escape::Character(code) => push_character(out, code),
            Escape::Backslash | Escape::MissingHex | Escape::MissingUnicode(_) => out.push(b'\\'),
        }
    }
    true
}
