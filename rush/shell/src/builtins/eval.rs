//! `eval`, `source` and `.`.

use crate::state::descriptors::OpenFile;
use crate::state::options::Shopt;
use crate::{Bytes, Outcome, Session, sys};

/// `eval [arg ...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut rest = &args[1..];
    match rest.first() {
        Some(first) if first == b"--" => rest = &rest[1..],
        Some(first) if first.starts_with(b"-") && first.len() > 1 => {
            return Ok(session.builtin_usage(b"eval", Some(&first[..2])));
        }
        _ => {}
    }
    let text = rest.join(&b' ');
    if text.iter().all(u8::is_ascii_whitespace) {
        return Ok(0);
    }
    session.flush_output();
    let line = session.line;
    let context = session.error_context.replace("eval");
    let direct = std::mem::take(&mut session.exec_directly);
    session.error_context = context;
    let command = session.wants_text().then(|| session.command_text.clone());
    let result = session.run_eval(&text, line);
    // What is told of a failure is the `eval`.
    if let (Some(command), true) = (command, result.is_ok()) {
        session.command_text = command;
    }
    session.exec_directly = direct;
    result
}

/// `source filename [arguments]`
pub(super) fn run_source(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut rest = &args[1..];
    let mut path = None;
    loop {
        match rest.first() {
            Some(first) if first == b"--" => {
                rest = &rest[1..];
                break;
            }
            Some(first) if first.starts_with(b"-p") => {
                let (value, words) =
                    if first.len() > 2 { (Some(&first[2..]), 1) } else { (rest.get(1).map(|v| &v[..]), 2) };
                let Some(value) = value else {
                    session.builtin_error(&args[0], "-p: option requires an argument");
                    return Ok(session.builtin_usage(&args[0], None));
                };
                path = Some(value);
                rest = &rest[words..];
            }
            Some(first) if first.starts_with(b"-") && first.len() > 1 => {
                return Ok(session.builtin_usage(&args[0], Some(&first[..2])));
            }
            _ => break,
        }
    }
    let Some(name) = rest.first() else {
        session.builtin_error(&args[0], "filename argument required");
        session.builtin_usage(&args[0], None);
        return Ok(2);
    };
    if let Some(status) = session.refused_path(&args[0], name) {
        return Ok(status);
    }
    let path = match path.filter(|_| !name.contains(&b'/')) {
        // Only there: neither `PATH` nor the working directory is looked at.
        Some(path) => match session.search_directories(path, name, false).into_iter().next() {
            Some(found) => found,
            None => return cannot_source(session, name, libc::ENOENT),
        },
        None => find_source(session, name),
    };
    let file = match session.open_shell_path(&path, libc::O_RDONLY) {
        Ok(file) => file,
        Err(error) => return cannot_source(session, name, error),
    };
    if sys::is_directory(&path) {
        let mut message = name.clone();
        message.extend_from_slice(b": is a directory");
        session.builtin_error(&args[0], message);
        return Ok(1);
    }
    let text = read_file(session, &file);
    if text.iter().take(80).any(|b| *b == 0)
        && text.split(|b| *b == b'\n').next().is_some_and(|l| l.contains(&0))
    {
        let mut message = name.clone();
        message.extend_from_slice(b": cannot execute binary file");
        session.builtin_error(&args[0], message);
        return Ok(126);
    }
    let command = session.wants_text().then(|| session.command_text.clone());
    let result = session.run_sourced(&path, &text, rest[1..].to_vec());
    if let (Some(command), true) = (command, result.is_ok()) {
        session.command_text = command;
    }
    result
}

fn read_file(session: &mut Session, file: &OpenFile) -> Bytes {
    session.read_all(file)
}

/// A name without a slash is looked for in PATH, then in the working directory.
fn find_source(session: &mut Session, name: &[u8]) -> Bytes {
    if name.contains(&b'/') || !session.shopt(Shopt::Sourcepath) {
        return name.to_vec();
    }
    match session.search_path(name, false).into_iter().next() {
        Some(path) => path,
        None => name.to_vec(),
    }
}

fn cannot_source(session: &mut Session, name: &[u8], error: i32) -> Outcome {
    let mut message = name.to_vec();
    message.extend_from_slice(b": ");
    message.extend_from_slice(sys::strerror(error).as_bytes());
    session.error(message);
    session.misuse = Some(1);
    Ok(1)
}
