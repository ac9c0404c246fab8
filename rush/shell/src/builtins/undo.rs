//! `undo`: brings back what lines before have replaced. There at a terminal, and with `set -o undo`.

use rush_undo::{Listed, Undoing};

use crate::exec::undo::seconds;
use crate::{Bytes, Outcome, Session};
use std::os::unix::ffi::OsStrExt;

/// `undo [-f] [number]`, `undo --list` or `undo --clear`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let (mut force, mut number, mut action) = (false, None, None);
    for word in args.iter().skip(1) {
        match word.as_slice() {
            b"-f" | b"--force" => force = true,
            b"-l" | b"--list" => action = Some(b'l'),
            b"--clear" => action = Some(b'c'),
            b"--" => {}
            text => match std::str::from_utf8(text).ok().and_then(|text| text.parse::<u32>().ok()) {
                Some(given) if number.is_none() => number = Some(given),
                _ if text.starts_with(b"-") => return Ok(session.builtin_usage(b"undo", Some(text))),
                _ => return Ok(session.builtin_usage(b"undo", None)),
            },
        }
    }
    session.end_undo_entry();
    let trash = match session.undo_trash() {
        Ok(trash) => trash,
        Err(error) => {
            session.builtin_error(b"undo", error);
            return Ok(1);
        }
    };
    let done = match action {
        Some(b'l') => trash.list().map(|all| {
            for entry in all.iter().filter(|entry| number.is_none_or(|number| number == entry.number)) {
                show(session, entry);
            }
            0
        }),
        Some(_) => trash.forget(number).map(|()| 0),
        None => match number.map_or_else(|| trash.newest(), |number| Ok(Some(number))) {
            Ok(Some(number)) => trash
                .undo(&Undoing { number, force, time: seconds() })
                .map(|report| tell(session, number, &report)),
            Ok(None) => {
                session.builtin_error(b"undo", b"nothing to undo");
                Ok(1)
            }
            Err(error) => Err(error),
        },
    };
    Ok(done.unwrap_or_else(|error| {
        session.builtin_error(b"undo", error.to_string());
        1
    }))
}

fn tell(session: &mut Session, number: u32, report: &rush_undo::Report) -> i32 {
    if !report.conflicts.is_empty() {
        for path in &report.conflicts {
            let path = path.as_os_str().as_bytes();
            session.builtin_error(b"undo", [path, b": there is another one now"].concat());
        }
        let hint = format!("`undo -f {number}` keeps that aside and brings the old one back");
        session.builtin_error(b"undo", hint);
        return 1;
    }
    let count = report.restored.to_string();
    session.write_out(&[b"undone (", count.as_bytes(), b"): ", &one_line(&report.title), b"\n"].concat());
    if let Some(own) = report.replaced {
        session.write_out(format!("`undo {own}` takes this back\n").as_bytes());
    }
    0
}

fn show(session: &mut Session, entry: &Listed) {
    let age = age(seconds().saturating_sub(entry.time));
    let head = format!("{:>5}  {age:>4}  {:>9}  ", entry.number, size(entry.bytes));
    session.write_out(&[head.as_bytes(), &one_line(&entry.title), b"\n"].concat());
}

fn one_line(title: &[u8]) -> Bytes {
    title.iter().map(|&byte| if byte < b' ' || byte == 0x7f { b' ' } else { byte }).collect()
}

fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes >> 20),
    }
}
