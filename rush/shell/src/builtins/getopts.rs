//! `getopts`: parses the options of a script's or function's arguments.

use super::assign::{assign_reference, not_an_identifier};
use super::options::{OptionReader, usage};
use crate::state::names::is_name;
use crate::state::value::decimal;
use crate::{Bytes, Outcome, Session};

/// Where `getopts` is inside a word of bundled options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// The generation of OPTIND that this belongs to: any other assignment to it starts again at a word.
    generation: u64,
    /// The next letter in that word; 0 between words.
    at: usize,
}

impl Session {
    /// At the end of a function with an OPTIND of its own, the caller's options go on where they were.
    pub(crate) fn resume_options(&mut self, before: Progress) {
        let generation = self.variables.option_generation;
        self.builtin_state.getopts = Progress { generation, at: before.at };
    }
}

/// What one call found.
struct Step {
    name: u8,
    argument: Option<Bytes>,
    message: Option<Bytes>,
    index: i64,
    at: usize,
}

/// `getopts optstring name [arg ...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut options = OptionReader::new(args, "");
    if let Err(status) = options.next(session) {
        return Ok(status);
    }
    let [specification, name, words @ ..] = options.operands() else {
        return Ok(usage(session, b"getopts"));
    };
    let positional = session.positional.clone();
    let words = if words.is_empty() { &positional[..] } else { words };
    let index = session.get(b"OPTIND").and_then(|v| super::options::parse_integer(&v)).unwrap_or(1).max(1);
    let progress = session.builtin_state.getopts;
    let at = if progress.generation == session.variables.option_generation { progress.at } else { 0 };
    let quiet = specification.first() == Some(&b':');
    let found = step(specification, words, index, at);
    let status = i32::from(found.is_none());
    let step = found.unwrap_or_else(|| end(words, index));
    let _ = session.set(b"OPTIND", decimal(step.index));
    session.builtin_state.getopts = Progress { generation: session.variables.option_generation, at: step.at };
    if let Some(message) = &step.message
        && !quiet
        && session.get(b"OPTERR").is_none_or(|v| v.as_ref() != b"0")
    {
        let text = [session.name.as_slice(), b": ", message, b"\n"].concat();
        session.write_err(&text);
    }
    let (letter, argument) = match (&step.message, quiet) {
        (Some(_), true) if step.argument.is_some() => (step.name, step.argument.clone()),
        (Some(_), _) => (b'?', None),
        (None, _) => (step.name, step.argument.clone()),
    };
    match argument {
        Some(argument) => {
            let _ = session.set(b"OPTARG", argument);
        }
        None => {
            let id = session.variables.intern(b"OPTARG");
            session.variables.unset(id, None);
        }
    }
    if !is_name(name) {
        session.builtin_error(b"getopts", not_an_identifier(name));
        return Ok(1);
    }
    let assigned = assign_reference(session, b"getopts", name, vec![letter])?;
    Ok(if assigned { status } else { 1 })
}

/// The options are over: where the operands begin.
fn end(words: &[Bytes], index: i64) -> Step {
    let word = usize::try_from(index - 1).ok().and_then(|i| words.get(i));
    let skip = word.is_some_and(|w| w.as_slice() == b"--");
    let index = index.min(words.len() as i64 + 1) + i64::from(skip);
    Step { name: b'?', argument: None, message: None, index, at: 0 }
}

fn step(specification: &[u8], words: &[Bytes], index: i64, at: usize) -> Option<Step> {
    let word = words.get(usize::try_from(index - 1).ok()?)?;
    let at = if at == 0 || at >= word.len() {
        if word.first() != Some(&b'-') || word.len() < 2 || word.as_slice() == b"--" {
            return None;
        }
        1
    } else {
        at
    };
    let letter = *word.get(at)?;
    let last = at + 1 >= word.len();
    let (next_index, next_at) = if last { (index + 1, 0) } else { (index, at + 1) };
    let letters = specification.strip_prefix(b":").unwrap_or(specification);
    let position = letters.iter().position(|&l| l == letter && l != b':');
    let Some(position) = position else {
        let message = [b"illegal option -- ".as_slice(), &[letter]].concat();
        let argument = Some(vec![letter]);
        return Some(Step { name: b'?', argument, message: Some(message), index: next_index, at: next_at });
    };
    if letters.get(position + 1) != Some(&b':') {
        return Some(Step { name: letter, argument: None, message: None, index: next_index, at: next_at });
    }
    if !last {
        let argument = word.get(at + 1..).map(<[u8]>::to_vec);
        return Some(Step { name: letter, argument, message: None, index: index + 1, at: 0 });
    }
    match words.get(usize::try_from(index).ok()?) {
        Some(argument) => {
            let argument = Some(argument.clone());
            Some(Step { name: letter, argument, message: None, index: index + 2, at: 0 })
        }
        None => {
            let message = [b"option requires an argument -- ".as_slice(), &[letter]].concat();
            let argument = Some(vec![letter]);
            Some(Step { name: b':', argument, message: Some(message), index: index + 1, at: 0 })
        }
    }
}
