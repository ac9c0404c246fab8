//! `umask`: the file mode creation mask.

use super::options::OptionReader;
use crate::{Bytes, Outcome, Session, sys};

/// `umask [-p] [-S] [mode]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let (mut reusable, mut symbolic) = (false, false);
    let mut options = OptionReader::new(args, "pS");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(found)) if found.letter == b'p' => reusable = true,
            Ok(Some(_)) => symbolic = true,
            Err(status) => return Ok(status),
        }
    }
    if let Some(mode) = options.operands().first() {
        return Ok(match parse(mode, sys::resource::umask()) {
            Ok(mask) => {
                session.set_umask(mask);
                if symbolic {
                    session.write_out(show_symbolic(mask).as_bytes());
                    session.write_out(b"\n");
                }
                0
            }
            Err(message) => {
                session.builtin_error(b"umask", message);
                1
            }
        });
    }
    let mask = sys::resource::umask();
    let prefix = match (reusable, symbolic) {
        (true, true) => "umask -S ",
        (true, false) => "umask ",
        _ => "",
    };
    let text = if symbolic { show_symbolic(mask) } else { format!("{mask:04o}") };
    session.write_out(format!("{prefix}{text}\n").as_bytes());
    Ok(0)
}

fn show_symbolic(mask: u32) -> String {
    let allowed = !mask;
    let class = |shift: u32| {
        let bits = allowed >> shift;
        [(4, 'r'), (2, 'w'), (1, 'x')]
            .iter()
            .filter(|(bit, _)| bits & bit != 0)
            .map(|(_, c)| *c)
            .collect::<String>()
    };
    format!("u={},g={},o={}", class(6), class(3), class(0))
}

fn parse(mode: &[u8], mask: u32) -> Result<u32, Bytes> {
    if mode.first().is_some_and(u8::is_ascii_digit) {
        let octal = mode.iter().try_fold(0u32, |v, b| {
            let digit = (*b as char).to_digit(8)?;
            Some((v * 8 + digit).min(0o100_000))
        });
        return octal.filter(|v| *v <= 0o777).ok_or_else(|| [mode, b": octal number out of range"].concat());
    }
    let mut allowed = !mask & 0o777;
    for clause in mode.split(|&b| b == b',') {
        allowed = apply_clause(clause, allowed)?;
    }
    Ok(!allowed & 0o777)
}

/// Applies one clause such as `ug+rw` or `o=u` to the allowed bits.
fn apply_clause(clause: &[u8], allowed: u32) -> Result<u32, Bytes> {
    // bash looks for execute bits in the mask itself, not in what it allows.
    let execute = if !allowed & 0o111 != 0 { 0o111 } else { 0 };
    let mut who = 0u32;
    let mut at = 0;
    while let Some(&byte) = clause.get(at) {
        who |= match byte {
            b'u' => 0o700,
            b'g' => 0o070,
            b'o' => 0o007,
            b'a' => 0o777,
            _ => break,
        };
        at += 1;
    }
    if who == 0 {
        who = 0o777;
    }
    let mut allowed = allowed;
    loop {
        let operator = clause.get(at).copied();
        if !matches!(operator, Some(b'+' | b'-' | b'=')) {
            let shown = operator.map_or(Bytes::new(), |b| vec![b]);
            return Err([b"`", shown.as_slice(), b"': invalid symbolic mode operator"].concat());
        }
        at += 1;
        let mut permissions = 0u32;
        while let Some(&byte) = clause.get(at) {
            permissions |= match byte {
                b'r' => 0o444,
                b'w' => 0o222,
                b'x' => 0o111,
                b'X' => execute,
                b'+' | b'-' | b'=' => break,
                _ => return Err([b"`", [byte].as_slice(), b"': invalid symbolic mode character"].concat()),
            };
            at += 1;
        }
        let bits = permissions & who;
        allowed = match operator {
            Some(b'+') => allowed | bits,
            Some(b'-') => allowed & !bits,
            _ => (allowed & !who) | bits,
        };
        if at >= clause.len() {
            return Ok(allowed);
        }
    }
}
