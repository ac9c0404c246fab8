//! Reads of git in this process: `status`, `branch`, `log` and `diff`, for plain repositories of moderate size.
//!
//! Invariant: nothing is ever written, not even the index, and nothing is printed before all of it is known. Whatever is
//! not understood (a flag, a setting, a format, a damaged file) declines, and git runs instead; so there are no error
//! messages here.

mod attributes;
mod branch;
mod change;
mod config;
mod dates;
mod decode;
mod diff;
mod head;
mod history;
mod ignore;
mod index;
mod log;
mod objects;
mod oid;
mod pack;
mod quote;
mod refs;
mod rename;
mod repository;
mod revision;
mod staged;
mod status;
mod tracking;
mod untracked;
mod wildmatch;
mod worktree;

use std::io;

use crate::{Context, Outcome};

/// Git has to do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decline;

impl From<io::Error> for Decline {
    fn from(_: io::Error) -> Decline {
        Decline
    }
}

/// A result, or that git has to do it.
pub(crate) type Attempt<T> = Result<T, Decline>;

/// `git status`, `git branch`, `git log` and `git diff`, with words; anything else declines.
pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    if context.host.output_is_terminal() || !speaks_english(context) {
        return Ok(Outcome::Fallthrough);
    }
    let Some((command, words)) = context.args.get(1..).and_then(<[_]>::split_first) else {
        return Ok(Outcome::Fallthrough);
    };
    let result = match command.as_slice() {
        b"status" => status::run(context, words).map(|text| (text, 0)),
        b"branch" => branch::run(context, words).map(|text| (text, 0)),
        b"log" => log::run(context, words).map(|text| (text, 0)),
        b"diff" => diff::run(context, words),
        _ => Err(Decline),
    };
    match result {
        Ok((text, status)) => context.output.write_all(&text).map(|()| Outcome::Status(status)),
        Err(Decline) => Ok(Outcome::Fallthrough),
    }
}

/// Whether git's messages are the ones in its source.
fn speaks_english(context: &Context<'_>) -> bool {
    let set = |name: &str| context.host.variable(name).filter(|v| !v.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_MESSAGES")).or_else(|| set("LANG")).unwrap_or_default();
    let english = locale.starts_with(b"C.") || locale.starts_with(b"en_US");
    matches!(locale.as_slice(), b"" | b"C" | b"POSIX")
        || (english && set("LANGUAGE").is_none_or(|l| l.starts_with(b"en")))
}
