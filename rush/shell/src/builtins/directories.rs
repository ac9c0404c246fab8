//! `dirs`, `pushd` and `popd`: the directory stack. Entry 0 is the working directory, the session keeps the rest.

use std::rc::Rc;

use super::cd::{change_directory, logical_directory};
use super::options::{invalid_option, usage};
use crate::{Bytes, Outcome, Session};

/// A position counted from the left (`+n`) or the right (`-n`).
fn position(word: &[u8], length: usize) -> Option<Option<usize>> {
    let (sign, digits) = word.split_first()?;
    if !matches!(sign, b'+' | b'-') || digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number: usize = std::str::from_utf8(digits).ok()?.parse().unwrap_or(usize::MAX);
    let index =
        if *sign == b'+' { Some(number) } else { length.checked_sub(1).and_then(|l| l.checked_sub(number)) };
    Some(index.filter(|&i| i < length))
}

fn entries(session: &mut Session) -> Vec<Bytes> {
    let mut all = vec![logical_directory(session).unwrap_or_default()];
    all.extend(session.directory_stack.iter().cloned());
    all
}

pub(super) fn with_tilde(session: &mut Session, path: &[u8]) -> Bytes {
    let home = session.get(b"HOME").map(|h| h.into_owned()).unwrap_or_default();
    if home.len() > 1
        && let Some(rest) = path.strip_prefix(home.as_slice())
        && matches!(rest.first(), None | Some(b'/'))
    {
        return [b"~", rest].concat();
    }
    path.to_vec()
}

fn out_of_range(session: &mut Session, builtin: &[u8], word: &[u8]) -> i32 {
    if session.directory_stack.is_empty() && builtin == b"dirs" {
        session.builtin_error(builtin, "directory stack empty");
        return 1;
    }
    let shown = if builtin == b"dirs" { word.get(1..).unwrap_or_default() } else { word };
    session.builtin_error(builtin, [shown, b": directory stack index out of range"].concat());
    1
}

fn print_line(session: &mut Session) {
    let all = entries(session);
    let shown: Vec<Bytes> = all.iter().map(|e| with_tilde(session, e)).collect();
    session.write_out(&[shown.join(&b' '), b"\n".to_vec()].concat());
}

/// `dirs [-clpv] [+N] [-N]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let (mut long, mut per_line, mut numbered, mut clear) = (false, false, false, false);
    let mut wanted = None;
    let all = entries(session);
    for word in args.get(1..).unwrap_or_default() {
        match position(word, all.len()) {
            Some(Some(index)) => wanted = Some(index),
            Some(None) => return Ok(out_of_range(session, b"dirs", word)),
            None => {
                if word == b"--" {
                    continue;
                }
                if word.len() > 1 && word.starts_with(b"+") {
                    return Ok(invalid_number(session, b"dirs", word));
                }
                let Some(letters) = word.strip_prefix(b"-").filter(|l| !l.is_empty()) else {
                    return Ok(invalid_option(session, b"dirs", word));
                };
                for &letter in letters {
                    match letter {
                        b'c' => clear = true,
                        b'l' => long = true,
                        b'p' => per_line = true,
                        b'v' => (per_line, numbered) = (true, true),
                        _ => return Ok(invalid_number(session, b"dirs", word)),
                    }
                }
            }
        }
    }
    if clear {
        session.directory_stack = Rc::default();
        return Ok(0);
    }
    let mut out = Bytes::new();
    for (index, entry) in all.iter().enumerate() {
        if wanted.is_some_and(|w| w != index) {
            continue;
        }
        let shown = if long { entry.clone() } else { with_tilde(session, entry) };
        if numbered {
            out.extend_from_slice(format!("{index:2}  ").as_bytes());
        } else if !per_line && !out.is_empty() {
            out.push(b' ');
        }
        out.extend(shown);
        if per_line {
            out.push(b'\n');
        }
    }
    if !per_line {
        out.push(b'\n');
    }
    session.write_out(&out);
    Ok(0)
}

struct Request<'a> {
    stay: bool,
    word: Option<&'a [u8]>,
}

fn request<'a>(session: &mut Session, builtin: &[u8], args: &'a [Bytes]) -> Result<Request<'a>, i32> {
    let mut request = Request { stay: false, word: None };
    let mut words = args.get(1..).unwrap_or_default().iter();
    while let Some(word) = words.next() {
        match word.as_slice() {
            b"-n" => request.stay = true,
            b"--" => {
                request.word = words.next().map(Vec::as_slice);
                break;
            }
            b"-" => request.word = Some(word),
            [b'-', rest @ ..] if !rest.iter().all(u8::is_ascii_digit) => {
                return Err(invalid_number(session, builtin, word));
            }
            [b'+', rest @ ..] if !rest.iter().all(u8::is_ascii_digit) => {
                return Err(invalid_number(session, builtin, word));
            }
            _ if builtin == b"popd" && !word.starts_with(b"+") && !word.starts_with(b"-") => {
                return Err(invalid_argument(session, builtin, word));
            }
            _ if request.word.is_some() => {
                session.builtin_error(builtin, "too many arguments");
                return Err(1);
            }
            _ => request.word = Some(word),
        }
    }
    Ok(request)
}

fn invalid_number(session: &mut Session, builtin: &[u8], word: &[u8]) -> i32 {
    session.builtin_error(builtin, [word, b": invalid number"].concat());
    usage(session, builtin)
}

fn invalid_argument(session: &mut Session, builtin: &[u8], word: &[u8]) -> i32 {
    session.builtin_error(builtin, [word, b": invalid argument"].concat());
    usage(session, builtin)
}

/// `pushd [-n] [+N | -N | dir]`
pub(super) fn run_pushd(session: &mut Session, args: &[Bytes]) -> Outcome {
    if let Some(status) = session.refused(b"pushd", b"") {
        return Ok(status);
    }
    let request = match request(session, b"pushd", args) {
        Ok(request) => request,
        Err(status) => return Ok(status),
    };
    let all = entries(session);
    let Some(word) = request.word else {
        return Ok(exchange(session, request.stay, &all));
    };
    match position(word, all.len()) {
        Some(None) if all.len() == 1 => {
            session.builtin_error(b"pushd", "directory stack empty");
            return Ok(1);
        }
        Some(None) => return Ok(out_of_range(session, b"pushd", word)),
        Some(Some(index)) => {
            let mut rotated = all;
            rotated.rotate_left(index);
            return Ok(adopt(session, b"pushd", request.stay, rotated));
        }
        None => {}
    }
    if request.stay {
        Rc::make_mut(&mut session.directory_stack).insert(0, word.to_vec());
        print_line(session);
        return Ok(0);
    }
    let target =
        if word == b"-" { session.get(b"OLDPWD").map(|v| v.into_owned()) } else { Some(word.to_vec()) };
    let Some(target) = target else {
        session.builtin_error(b"pushd", "OLDPWD not set");
        return Ok(1);
    };
    let before = all.into_iter().next().unwrap_or_default();
    if let Err(error) = change_directory(session, &target, false) {
        session.builtin_os_error(b"pushd", &target, error);
        return Ok(1);
    }
    Rc::make_mut(&mut session.directory_stack).insert(0, before);
    print_line(session);
    Ok(0)
}

fn exchange(session: &mut Session, stay: bool, all: &[Bytes]) -> i32 {
    if all.len() < 2 {
        session.builtin_error(b"pushd", "no other directory");
        return 1;
    }
    let mut swapped = all.to_vec();
    swapped.swap(0, 1);
    adopt(session, b"pushd", stay, swapped)
}

/// Makes `all` the stack, changing to its first entry unless told to stay.
fn adopt(session: &mut Session, builtin: &[u8], stay: bool, all: Vec<Bytes>) -> i32 {
    let mut rest = all.into_iter();
    let first = rest.next().unwrap_or_default();
    if !stay && let Err(error) = change_directory(session, &first, false) {
        session.builtin_os_error(builtin, &first, error);
        return 1;
    }
    session.directory_stack = Rc::new(rest.collect());
    print_line(session);
    0
}

/// `popd [-n] [+N | -N]`
pub(super) fn run_popd(session: &mut Session, args: &[Bytes]) -> Outcome {
    let request = match request(session, b"popd", args) {
        Ok(request) => request,
        Err(status) => return Ok(status),
    };
    let mut all = entries(session);
    let index = match request.word {
        None => Some(0),
        Some(word) => match position(word, all.len()) {
            None => return Ok(invalid_argument(session, b"popd", word)),
            Some(None) if all.len() == 1 => Some(0),
            Some(None) => return Ok(out_of_range(session, b"popd", word)),
            Some(index) => index,
        },
    };
    if all.len() == 1 {
        session.builtin_error(b"popd", "directory stack empty");
        return Ok(1);
    }
    let index = match index.unwrap_or(0) {
        0 if request.stay => 1,
        index => index,
    };
    all.remove(index);
    Ok(adopt(session, b"popd", index != 0, all))
}
