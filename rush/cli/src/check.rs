//! `rush --check FILE...`: says of scripts what bash 5.2 would do otherwise. Nothing of them runs.

use crate::arguments::Arguments;
use rush::Session;
use rush::check::{self, Kind};
use rush::state::options::SetOption;
use rush::{err, outln};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Checks the operands, or standard input; 0 if there is nothing to tell, 1 if there is, 2 if a script cannot be read or parsed.
pub(crate) fn run(name: &[u8], arguments: &Arguments) -> i32 {
    let mut operands = arguments.operands.clone();
    if operands.is_empty() {
        operands.push(b"-".to_vec());
    }
    let mut status = 0;
    for operand in &operands {
        let shown = String::from_utf8_lossy(operand);
        let text = match read(operand) {
            Ok(text) => text,
            Err(error) => {
                let reason = rush::sys::strerror(error.raw_os_error().unwrap_or(0));
                err!("{}: {shown}: {reason}\n", String::from_utf8_lossy(name));
                status = 2;
                continue;
            }
        };
        let mut session = Session::new(name.to_vec());
        session.options.put(SetOption::Posix, arguments.posix);
        for (option, on) in &arguments.shopt {
            session.options.put_shopt(*option, *on);
        }
        for finding in check::script(&mut session, &text) {
            outln!("{shown}:{}: {}: {}", finding.line, finding.kind.name(), finding.message);
            status = status.max(if finding.kind == Kind::Refused { 2 } else { 1 });
        }
    }
    status
}

fn read(operand: &[u8]) -> std::io::Result<Vec<u8>> {
    if operand != b"-" {
        return std::fs::read(Path::new(std::ffi::OsStr::from_bytes(operand)));
    }
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text)?;
    Ok(text)
}
