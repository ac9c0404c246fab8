//! `exec`.

use crate::state::options::Shopt;
use crate::{Bytes, Outcome, Session, Unwind};

/// `exec [-cl] [-a name] [command [argument ...]]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut at = 1;
    let mut login = false;
    let mut clear = false;
    let mut zeroth = None;
    while let Some(word) = args.get(at) {
        if word == b"--" {
            at += 1;
            break;
        }
        if !word.starts_with(b"-") || word.len() < 2 {
            break;
        }
        for (n, letter) in word.iter().enumerate().skip(1) {
            match letter {
                b'l' => login = true,
                b'c' => clear = true,
                b'a' => {
                    let rest = &word[n + 1..];
                    if rest.is_empty() {
                        at += 1;
                        zeroth = args.get(at).cloned();
                        if zeroth.is_none() {
                            session.builtin_error(b"exec", "-a: option requires an argument");
                            return Ok(session.builtin_usage(b"exec", None));
                        }
                    } else {
                        zeroth = Some(rest.to_vec());
                    }
                    break;
                }
                _ => return Ok(session.builtin_usage(b"exec", Some(&[b'-', *letter]))),
            }
        }
        at += 1;
    }
    let command = args.get(at..).unwrap_or_default();
    if command.is_empty() {
        session.keep_redirects = true;
        return Ok(0);
    }
    if let Some(status) = session.refused(b"exec", b"") {
        return Ok(status);
    }
    let name = &command[0];
    if !name.contains(&b'/') && session.search_path(name, false).is_empty() {
        session.builtin_error(b"exec", [&name[..], b": not found"].concat());
        return failed(session, 127);
    }
    let path = match session.find_program(name) {
        Ok(path) => path,
        Err(status) => return failed(session, status),
    };
    let mut words = command.to_vec();
    if let Some(name) = zeroth {
        words[0] = name;
    }
    if login {
        words[0].insert(0, b'-');
    }
    if clear {
        session.clear_environment();
    }
    let unwind = session.replace_process(&path, &words);
    match unwind {
        Unwind::Exit(status) if status == 126 || status == 127 => failed(session, status),
        unwind => Err(unwind),
    }
}

/// A shell whose `exec` failed ends, unless it is interactive or `execfail` is on.
fn failed(session: &mut Session, status: i32) -> Outcome {
    if session.interactive || session.shopt(Shopt::Execfail) {
        return Ok(status);
    }
    Err(Unwind::Exit(status))
}
