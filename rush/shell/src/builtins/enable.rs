//! `enable`: turns builtins on and off.

use super::options::OptionReader;
use crate::{Bytes, Outcome, Session};

/// `enable [-a] [-dnps] [-f filename] [name ...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let (mut all, mut off, mut print, mut special) = (false, false, false, false);
    let mut options = OptionReader::new(args, "adnpsf:");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(found)) => match found.letter {
                b'a' => all = true,
                b'n' => off = true,
                b'p' => print = true,
                b's' => special = true,
                _ => {
                    if let Some(status) = session.refused(b"enable", b"") {
                        return Ok(status);
                    }
                    session.builtin_error(b"enable", "dynamic loading not available");
                    return Ok(1);
                }
            },
            Err(status) => return Ok(status),
        }
    }
    let names = options.operands();
    if names.is_empty() || print {
        for builtin in super::BUILTINS {
            let disabled = session.is_disabled(builtin.name.as_bytes());
            if (special && !builtin.special) || (!all && disabled != off) {
                continue;
            }
            let line = format!("enable {}{}\n", if disabled { "-n " } else { "" }, builtin.name);
            session.write_out(line.as_bytes());
        }
        return Ok(0);
    }
    let mut status = 0;
    for name in names {
        if super::find(name).is_none_or(|b| special && !b.special) {
            session.builtin_error(b"enable", [name, b": not a shell builtin".as_slice()].concat());
            status = 1;
        } else if off {
            session.disabled_builtins.insert(name.clone());
        } else if session.is_disabled(name) {
            if let Some(refused) = session.refused(b"enable", b"") {
                return Ok(refused);
            }
            session.disabled_builtins.remove(name);
        }
    }
    Ok(status)
}
