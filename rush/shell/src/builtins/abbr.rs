//! `abbr`: words that the line editor replaces while they are typed. There at a terminal only.

use std::rc::Rc;

use super::options::OptionReader;
use crate::{Bytes, Outcome, Session, quote};

/// What an abbreviation stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abbreviation {
    /// The text.
    pub text: Bytes,
    /// Whether it is replaced everywhere, and not only where a command stands.
    pub anywhere: bool,
}

/// `abbr [-g] [name[=text] ...]` or `abbr -r name ...`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let (mut anywhere, mut removes) = (false, false);
    let mut options = OptionReader::new(args, "gr");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(found)) if found.letter == b'r' => removes = true,
            Ok(Some(_)) => anywhere = true,
            Err(status) => return Ok(status),
        }
    }
    let words = options.operands();
    let mut status = 0;
    if words.is_empty() {
        let all = session.builtin_state.abbreviations.clone();
        all.iter().for_each(|(name, abbreviation)| show(session, name, abbreviation));
    }
    for word in words {
        let at = word.iter().position(|byte| *byte == b'=').filter(|at| *at > 0 && !removes);
        let done = match at {
            Some(at) => {
                let text = word.get(at + 1..).unwrap_or_default().to_vec();
                let name = word.get(..at).unwrap_or_default().to_vec();
                let valid =
                    !name.iter().any(|byte| byte.is_ascii_whitespace() || b";|&()<>'\"\\$`".contains(byte));
                if valid {
                    Rc::make_mut(&mut session.builtin_state.abbreviations)
                        .insert(name, Abbreviation { text, anywhere });
                }
                valid
            }
            None if removes => Rc::make_mut(&mut session.builtin_state.abbreviations).remove(word).is_some(),
            None => {
                let known = session.builtin_state.abbreviations.get(word).cloned();
                known.map(|abbreviation| show(session, word, &abbreviation)).is_some()
            }
        };
        if !done {
            let why: &[u8] = if at.is_some() { b": invalid abbreviation name" } else { b": not found" };
            session.builtin_error(b"abbr", [word, why].concat());
            status = 1;
        }
    }
    Ok(status)
}

/// The command that would make it.
fn show(session: &mut Session, name: &[u8], abbreviation: &Abbreviation) {
    let flag: &[u8] = if abbreviation.anywhere { b"-g " } else { b"" };
    let text = quote::single_quote(&abbreviation.text);
    session.write_out(&[b"abbr ", flag, name, b"=", &text, b"\n"].concat());
}

impl Session {
    /// What the word stands for; where no command stands, only what is replaced everywhere.
    pub fn abbreviation(&self, word: &[u8], at_command: bool) -> Option<&[u8]> {
        let known = self.builtin_state.abbreviations.get(word)?;
        (at_command || known.anywhere).then_some(&known.text[..])
    }

    /// Whether there are any.
    pub fn has_abbreviations(&self) -> bool {
        !self.builtin_state.abbreviations.is_empty()
    }
}
