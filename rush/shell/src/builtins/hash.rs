//! `hash`: the remembered paths of commands.

use super::lookup::{find_in_path, is_executable_file};
use super::options::{OptionReader, usage};
use crate::state::session::Hashed;
use crate::{Bytes, Outcome, Session};

/// `hash [-lr] [-p pathname] [-dt] [name ...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let (mut reset, mut delete, mut show, mut reusable) = (false, false, false, false);
    let mut path = None;
    let mut options = OptionReader::new(args, "dlp:rt");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(found)) => match found.letter {
                b'r' => reset = true,
                b'd' => delete = true,
                b't' => show = true,
                b'l' => reusable = true,
                _ => path = Some(found.value),
            },
            Err(status) => return Ok(status),
        }
    }
    let names = options.operands();
    // A change of PATH that nothing has looked up since empties the table now, not after what is put into it here.
    session.check_hash();
    if reset {
        std::rc::Rc::make_mut(&mut session.hashed).clear();
    }
    if names.is_empty() {
        if show || delete {
            let letter = if show { 't' } else { 'd' };
            session.builtin_error(b"hash", format!("-{letter}: option requires an argument"));
            return Ok(1);
        }
        if path.is_some() {
            return Ok(usage(session, b"hash"));
        }
        if !reset {
            list(session, reusable);
        }
        return Ok(0);
    }
    let mut status = 0;
    for name in names {
        let done = if show {
            show_one(session, name, names.len() > 1, reusable)
        } else if delete {
            std::rc::Rc::make_mut(&mut session.hashed).remove(name).is_some()
        } else if let Some(path) = path {
            if let Some(status) = session.refused_path(b"hash", path) {
                return Ok(status);
            }
            std::rc::Rc::make_mut(&mut session.hashed)
                .insert(name.clone(), Hashed { path: path.to_vec(), hits: 0 });
            true
        } else {
            remember(session, name)
        };
        if !done {
            session.builtin_error(b"hash", [name, b": not found".as_slice()].concat());
            status = 1;
        }
    }
    Ok(status)
}

fn list(session: &mut Session, reusable: bool) {
    if session.hashed.is_empty() {
        if !reusable {
            session.write_out(b"hash: hash table empty\n");
        }
        return;
    }
    let mut all: Vec<(Bytes, Hashed)> = session.hashed.iter().map(|(n, h)| (n.clone(), h.clone())).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    let mut out = if reusable { Bytes::new() } else { b"hits\tcommand\n".to_vec() };
    for (name, hashed) in all {
        if reusable {
            out.extend([b"builtin hash -p ".as_slice(), &hashed.path, b" ", &name, b"\n"].concat());
        } else {
            out.extend_from_slice(format!("{:4}\t", hashed.hits).as_bytes());
            out.extend_from_slice(&hashed.path);
            out.push(b'\n');
        }
    }
    session.write_out(&out);
}

fn show_one(session: &mut Session, name: &[u8], several: bool, reusable: bool) -> bool {
    let Some(hashed) = session.hashed.get(name) else { return false };
    let path = hashed.path.clone();
    let line = if reusable {
        [b"builtin hash -p ".as_slice(), &path, b" ", name, b"\n"].concat()
    } else if several {
        [name, b"\t", &path, b"\n"].concat()
    } else {
        [path.as_slice(), b"\n"].concat()
    };
    session.write_out(&line);
    true
}

/// Looks the command up and remembers where it is; builtins, functions and paths need no remembering.
fn remember(session: &mut Session, name: &[u8]) -> bool {
    if name.contains(&b'/') {
        return is_executable_file(name);
    }
    if super::find(name).is_some() || session.functions.contains_key(name) {
        return true;
    }
    match find_in_path(session, name) {
        Some(path) => {
            std::rc::Rc::make_mut(&mut session.hashed).insert(name.to_vec(), Hashed { path, hits: 0 });
            true
        }
        None => false,
    }
}
