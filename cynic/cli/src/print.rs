//! What the command itself writes to its standard streams. The standard library's macros panic when a stream cannot be written (the reader
//! of a pipe has gone, a disk is full); here output that is lost ends the process with a status, and a message that is lost is let go.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// A shell's status for a process that SIGPIPE ended: what happens to most programs whose reader has gone.
const STATUS_SIGPIPE: i32 = 141;
/// The status where output is lost for another reason.
const STATUS_LOST: i32 = 1;

/// Writes to standard output, or ends the process.
pub(crate) fn write_out(text: Arguments<'_>) {
    let mut stream = io::stdout().lock();
    if let Err(error) = stream.write_fmt(text).and_then(|()| stream.flush()) {
        if error.kind() == ErrorKind::BrokenPipe {
            std::process::exit(STATUS_SIGPIPE);
        }
        lost(&error);
    }
}

/// Ends the process because output could not be written.
pub(crate) fn lost(error: &io::Error) -> ! {
    write_err(format_args!("cynic: standard output: {error}\n"));
    std::process::exit(STATUS_LOST);
}

/// Writes to standard error; there is nobody to be told that it did not arrive.
pub(crate) fn write_err(text: Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(text);
}

/// As `print!`.
macro_rules! out {
    ($($text:tt)*) => { $crate::print::write_out(format_args!($($text)*)) };
}

/// As `println!`.
macro_rules! outln {
    () => { $crate::print::write_out(format_args!("\n")) };
    ($($text:tt)*) => { $crate::print::write_out(format_args!("{}\n", format_args!($($text)*))) };
}

/// As `eprintln!`.
macro_rules! errln {
    ($($text:tt)*) => { $crate::print::write_err(format_args!("{}\n", format_args!($($text)*))) };
}

pub(crate) use {errln, out, outln};
