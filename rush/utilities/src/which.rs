//! `which`: where programs are, as Debian's does it. Flag: `-a`.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use crate::options::parse_until_operand;
use crate::{Context, Outcome};

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let Some(parsed) = parse_until_operand(context.args, "a", &[]) else { return Ok(Outcome::Fallthrough) };
    let Some(path) = context.host.variable("PATH") else { return Ok(Outcome::Fallthrough) };
    // Who may run everything, and access lists, are for the system to tell: rights are taken as they stand.
    let mut status = i32::from(parsed.operands.is_empty());
    for name in &parsed.operands {
        let mut found = false;
        if name.contains(&b'/') {
            if is_program(context, name) {
                found = true;
                context.output.write_all(&[name, b"\n".as_slice()].concat())?;
            }
        } else {
            for folder in path.split(|b| *b == b':') {
                let folder = if folder.is_empty() { b".".as_slice() } else { folder };
                let place = [folder, b"/", name].concat();
                if is_program(context, &place) {
                    found = true;
                    context.output.write_all(&[place.as_slice(), b"\n"].concat())?;
                    if !parsed.has(b'a') {
                        break;
                    }
                }
            }
        }
        if !found {
            status = 1;
        }
    }
    Ok(Outcome::Status(status))
}

/// Whether the path leads to a file that this user may run.
fn is_program(context: &Context<'_>, path: &[u8]) -> bool {
    let Ok(metadata) = fs::metadata(context.path(path)) else { return false };
    let mode = metadata.permissions().mode();
    let bits = match context.host.user_id() {
        0 => 0o111,
        user if user == metadata.uid() => 0o100,
        // Which groups one is in, only the system knows: both have to allow it, or neither.
        _ => 0o011,
    };
    metadata.is_file() && mode & bits != 0
}
