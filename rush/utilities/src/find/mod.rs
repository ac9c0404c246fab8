//! `find`: walks trees and tests files. Tests: `-name -iname -path -ipath -wholename -type -size -mtime -mmin -newer
//! -empty -perm OCTAL -true -false`; actions: `-print -print0 -prune -delete -quit -exec ... ; -exec ... +`; options:
//! `-maxdepth -mindepth -depth -xdev`; `--json`. Anything else is left to the external program.

mod expression;
mod walk;

use std::io;

use crate::{Context, Outcome};
use expression::{Command, parse};
use walk::Walk;

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let mut words: Vec<&[u8]> = context.args.iter().skip(1).map(Vec::as_slice).collect();
    let json = words.iter().position(|w| *w == b"--json").map(|at| words.remove(at)).is_some();
    let is_expression = |w: &&[u8]| w.first() == Some(&b'-') || matches!(*w, b"(" | b"!" | b")" | b",");
    let split = words.iter().position(is_expression).unwrap_or(words.len());
    let (starts, rest) = words.split_at_checked(split).unwrap_or((&words, &[]));
    let Some(command) = parse(context, rest) else { return Ok(Outcome::Fallthrough) };
    if json && command.has_action {
        return Ok(Outcome::Fallthrough);
    }
    let starts = if starts.is_empty() { vec![b".".as_slice()] } else { starts.to_vec() };
    let starts: Vec<Vec<u8>> = starts.into_iter().map(<[u8]>::to_vec).collect();
    walk_all(context, &command, &starts, json)
}

fn walk_all(
    context: &mut Context<'_>,
    command: &Command,
    starts: &[Vec<u8>],
    json: bool,
) -> io::Result<Outcome> {
    let mut walk = Walk::new(context, command, json);
    for start in starts {
        if !walk.start(start)? {
            break;
        }
    }
    let status = walk.finish()?;
    Ok(Outcome::Status(status))
}
