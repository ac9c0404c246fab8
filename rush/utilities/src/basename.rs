//! `basename` and `dirname`: parts of path names.

use std::io;

use crate::options::{parse, parse_until_operand};
use crate::{Context, Outcome};

/// `basename NAME [SUFFIX]`, `basename -a [-s SUFFIX] NAME...`; also `-z`.
pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [("multiple", b'a'), ("suffix=", b's'), ("zero", b'z')];
    let Some(parsed) = parse_until_operand(context.args, "as:z", &long) else {
        return Ok(Outcome::Fallthrough);
    };
    let end = if parsed.has(b'z') { 0 } else { b'\n' };
    let several = parsed.has(b'a') || parsed.has(b's');
    let (names, suffix) = match parsed.operands.as_slice() {
        [] => return Ok(Outcome::Fallthrough),
        names if several => (names, parsed.value(b's').unwrap_or_default()),
        [name] => (std::slice::from_ref(name), b"".as_slice()),
        [name, suffix] => (std::slice::from_ref(name), *suffix),
        _ => return Ok(Outcome::Fallthrough),
    };
    for name in names {
        let base = base_name(name);
        let short = match base.strip_suffix(suffix) {
            Some(short) if !short.is_empty() && base != b"/" => short,
            _ => base,
        };
        context.output.write_all(short)?;
        context.output.write_all(&[end])?;
    }
    Ok(Outcome::Status(0))
}

/// The last component of a path.
pub(crate) fn base_name(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|&b| b != b'/').map_or(0, |p| p + 1);
    if end == 0 {
        return if name.is_empty() { b"" } else { b"/" };
    }
    let name = name.get(..end).unwrap_or_default();
    let start = name.iter().rposition(|&b| b == b'/').map_or(0, |p| p + 1);
    name.get(start..).unwrap_or_default()
}

/// `dirname [-z] NAME...`
pub(crate) fn run_dirname(context: &mut Context<'_>) -> io::Result<Outcome> {
    let Some(parsed) = parse(context.args, "z", &[("zero", b'z')]) else { return Ok(Outcome::Fallthrough) };
    if parsed.operands.is_empty() {
        return Ok(Outcome::Fallthrough);
    }
    let end = if parsed.has(b'z') { 0 } else { b'\n' };
    for name in &parsed.operands {
        context.output.write_all(directory_name(name))?;
        context.output.write_all(&[end])?;
    }
    Ok(Outcome::Status(0))
}

/// A path without its last component.
pub(crate) fn directory_name(name: &[u8]) -> &[u8] {
    let trimmed = |n: &[u8]| n.iter().rposition(|&b| b != b'/').map_or(0, |p| p + 1);
    let without_slashes = name.get(..trimmed(name)).unwrap_or_default();
    let Some(slash) = without_slashes.iter().rposition(|&b| b == b'/') else {
        return if without_slashes.is_empty() && !name.is_empty() { b"/" } else { b"." };
    };
    let directory = name.get(..slash).unwrap_or_default();
    let directory = directory.get(..trimmed(directory)).unwrap_or_default();
    if directory.is_empty() { b"/" } else { directory }
}
