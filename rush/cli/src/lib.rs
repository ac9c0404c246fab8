//! The `rush` command as a library, so that tests can be the shell themselves: the command line and starting up.
#![forbid(unsafe_code)]
// They panic when a stream cannot be written: see `print`.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod arguments;
mod check;
#[cfg(target_os = "linux")]
mod connect;
#[cfg(target_os = "linux")]
mod daemon;
mod errors;
#[cfg(target_os = "linux")]
mod guard;
mod interactive;
mod json;
mod limits;
mod perf;
#[cfg(target_os = "linux")]
mod session;
mod start;
#[cfg(not(target_os = "linux"))]
mod unsupported;
#[cfg(not(target_os = "linux"))]
use unsupported::{connect, daemon, session};

/// The signal for writing to a pipe that nobody reads.
const SIGPIPE: i32 = 13;

/// Runs the command line with the process's own environment; the exit status.
pub fn run(words: &[Vec<u8>]) -> i32 {
    match words.get(1).map(Vec::as_slice) {
        Some(b"--connect") => {
            let mut words = words.to_vec();
            words.remove(1);
            // Only `-c` makes sense without a terminal of one's own.
            let commands = words.get(1).is_some_and(|word| word.starts_with(b"-") && word.ends_with(b"c"));
            let done = if commands { connect::run(&words) } else { None };
            done.unwrap_or_else(|| start::run(&words))
        }
        // A script of that name would be run by bash, and so it is here.
        Some(b"daemon") if !std::path::Path::new("daemon").is_file() => {
            rush::sys::signal_ignore(SIGPIPE);
            daemon::main(words.get(2..).unwrap_or_default())
        }
        Some(b"session") if words.len() == 2 && !std::path::Path::new("session").is_file() => session::main(),
        _ => start::run(words),
    }
}
