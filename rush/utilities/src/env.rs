//! `env`: shows the environment or runs a program in a changed one. Flags: `-i -u NAME -0`.

use std::io;

use crate::context::reason;
use crate::options::parse_until_operand;
use crate::quoting::marked;
use crate::{Context, Outcome};

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [("ignore-environment", b'i'), ("unset=", b'u'), ("null", b'0')];
    let Some(parsed) = parse_until_operand(context.args, "iu:0", &long) else {
        return Ok(Outcome::Fallthrough);
    };
    if !parsed.every(b"u", |_, name| !name.is_empty() && !name.contains(&b'=')) {
        return Ok(Outcome::Fallthrough);
    }
    let mut environment = if parsed.has(b'i') { Vec::new() } else { context.host.environment() };
    for (_, name) in parsed.given.iter().filter(|(l, _)| *l == b'u') {
        environment.retain(|(n, _)| n != name);
    }
    let mut operands = parsed.operands.as_slice();
    if operands.first() == Some(&b"-".as_slice()) {
        environment.clear();
        operands = operands.get(1..).unwrap_or_default();
    }
    if operands.iter().any(|word| word.starts_with(b"=")) {
        return Ok(Outcome::Fallthrough);
    }
    while let Some((word, rest)) = operands.split_first() {
        let Some(at) = word.iter().position(|&b| b == b'=') else { break };
        let name = word.get(..at).unwrap_or_default().to_vec();
        let value = word.get(at + 1..).unwrap_or_default().to_vec();
        match environment.iter_mut().find(|(n, _)| *n == name) {
            Some((_, old)) => *old = value,
            None => environment.push((name, value)),
        }
        operands = rest;
    }
    if operands.is_empty() {
        let end = if parsed.has(b'0') { 0 } else { b'\n' };
        for (name, value) in &environment {
            context.output.write_all(&[name.as_slice(), b"=", value, &[end]].concat())?;
        }
        return Ok(Outcome::Status(0));
    }
    // The program is looked up by the new PATH, which only a process of its own has.
    let path = environment.iter().find(|(n, _)| n == b"PATH").map(|(_, v)| v.clone());
    let searched = operands.first().is_some_and(|program| !program.contains(&b'/'));
    if parsed.has(b'0') || (searched && path != context.host.variable("PATH")) {
        return Ok(Outcome::Fallthrough);
    }
    let args: Vec<Vec<u8>> = operands.iter().map(|o| o.to_vec()).collect();
    context.output.flush()?;
    Ok(Outcome::Status(match context.host.run(&args, Some(&environment), false) {
        Ok(ended) => ended.status(),
        Err(error) => {
            let name = marked(args.first().map_or(b"", Vec::as_slice), context.is_utf8());
            context.complain(&[&name, b": ", reason(&error).as_bytes()]);
            if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 }
        }
    }))
}
