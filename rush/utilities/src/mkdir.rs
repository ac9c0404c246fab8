//! `mkdir`: makes directories. Flags: `-p`, `-v`, `-m` with an octal mode.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use crate::context::reason;
use crate::options::parse;
use crate::quoting::marked;
use crate::{Context, Outcome};

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [("parents", b'p'), ("verbose", b'v'), ("mode=", b'm')];
    let Some(parsed) = parse(context.args, "pvm:", &long) else { return Ok(Outcome::Fallthrough) };
    let mode = match parsed.value(b'm') {
        None => None,
        Some(text) => match crate::mode::octal(text) {
            Some(mode) => Some(mode),
            None => return Ok(Outcome::Fallthrough),
        },
    };
    if parsed.operands.is_empty() || parsed.operands.iter().any(|operand| operand.is_empty()) {
        return Ok(Outcome::Fallthrough);
    }
    let utf8 = context.is_utf8();
    let mut status = 0;
    for word in &parsed.operands {
        let mut made = Vec::new();
        let result = if parsed.has(b'p') {
            make_all(context, word, &mut made)
        } else {
            make(&context.path(word)).map(|()| made.push(word.to_vec())).map_err(|e| (word.to_vec(), e))
        };
        if parsed.has(b'v') {
            for name in &made {
                let line = [b"mkdir: created directory ".as_slice(), &context.quoted(name), b"\n"].concat();
                context.output.write_all(&line)?;
            }
        }
        let result = result.and_then(|()| {
            if let (Some(mode), true) = (mode, made.last().is_some_and(|m| m == word)) {
                fs::set_permissions(context.path(word), fs::Permissions::from_mode(mode))
                    .map_err(|e| (word.to_vec(), e))?;
            }
            Ok(())
        });
        if let Err((name, error)) = result {
            context.complain(&[
                b"cannot create directory ",
                &marked(&name, utf8),
                b": ",
                reason(&error).as_bytes(),
            ]);
            status = 1;
        }
    }
    Ok(Outcome::Status(status))
}

fn make(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o777).create(path)
}

/// A folder in between: whatever the mask, its owner can make something in it.
fn make_between(path: &Path, mask: u32) -> io::Result<()> {
    make(path)?;
    if mask & 0o300 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777 & !mask | 0o300))?;
    }
    Ok(())
}

type Made = Result<(), (Vec<u8>, io::Error)>;

/// `-p`: makes what is missing, from the top down.
fn make_all(context: &Context<'_>, word: &[u8], made: &mut Vec<Vec<u8>>) -> Made {
    let mut end = 0;
    loop {
        end += word.get(end..).unwrap_or_default().iter().take_while(|&&b| b == b'/').count();
        let rest = word.get(end..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(());
        }
        end += rest.iter().position(|&b| b == b'/').unwrap_or(rest.len());
        let prefix = word.get(..end).unwrap_or_default();
        let path = context.path(prefix);
        let last = word.get(end..).is_none_or(|r| r.iter().all(|&b| b == b'/'));
        let new = if last { make(&path) } else { make_between(&path, context.host.umask()) };
        match new {
            Ok(()) => {
                made.push(if last { word.to_vec() } else { prefix.to_vec() });
            }
            Err(error) => match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) if !last => return Err((prefix.to_vec(), io::ErrorKind::NotADirectory.into())),
                _ if last => return Err((word.to_vec(), error)),
                _ => return Err((prefix.to_vec(), error)),
            },
        }
    }
}
