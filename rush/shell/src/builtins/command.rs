//! `command`: runs a command past functions, or says what a name would run; and `builtin`.

use super::options::OptionReader;
use super::type_::{Search, meanings, sentence, terse};
use crate::{Bytes, Outcome, Session};

/// The `PATH` of `command -p`: where the standard utilities are.
pub(crate) const STANDARD_PATH: &[u8] = b"/bin:/usr/bin:/sbin:/usr/sbin:/etc:/usr/etc";

/// `command [-pVv] command [arg ...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let (mut describe, mut verbose, mut standard) = (false, false, false);
    let mut options = OptionReader::new(args, "pvV");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(found)) => match found.letter {
                b'p' => {
                    if let Some(status) = session.refused(b"command", b"-p") {
                        return Ok(status);
                    }
                    standard = true;
                }
                b'v' => (describe, verbose) = (true, false),
                _ => (describe, verbose) = (true, true),
            },
            Err(status) => return Ok(status),
        }
    }
    let words = options.operands();
    if words.is_empty() {
        return Ok(0);
    }
    if describe {
        return describe_all(session, words, verbose);
    }
    if standard {
        return session.run_with_path(STANDARD_PATH, words.to_vec());
    }
    session.run_arguments(words.to_vec(), false)
}

fn describe_all(session: &mut Session, words: &[Bytes], verbose: bool) -> Outcome {
    let mut any = false;
    for word in words {
        let found = meanings(session, word, Search::default());
        match found.first() {
            Some(meaning) => {
                any = true;
                if verbose { sentence(session, word, meaning) } else { terse(session, word, meaning) }
            }
            None if verbose => session.builtin_error(b"command", [word, b": not found".as_slice()].concat()),
            None => {}
        }
    }
    Ok(i32::from(!any))
}

/// `builtin [shell-builtin [arg ...]]`
pub(super) fn run_builtin(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut options = OptionReader::new(args, "");
    if let Err(status) = options.next(session) {
        return Ok(status);
    }
    let words = options.operands();
    let Some(name) = words.first() else { return Ok(0) };
    match session.builtin(name) {
        Some(builtin) => session.run_builtin(builtin, words.to_vec()),
        None => {
            session.builtin_error(b"builtin", [name, b": not a shell builtin".as_slice()].concat());
            Ok(1)
        }
    }
}
