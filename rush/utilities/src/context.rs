//! The world as a utility sees it: words, files relative to a directory, streams, environment, clock, and a way
//! to run programs. All of it is the caller's.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a utility ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It did its work; the exit status.
    Status(i32),
    /// It does not support what was asked for and has done nothing: run the external program.
    Fallthrough,
}

/// Standard input.
pub trait Input: Read {
    /// Puts the last `count` bytes read back for the next reader; `false` if that cannot be, as in a pipe.
    fn unread(&mut self, count: usize) -> bool;
    /// The size of the regular file that it is, and where the next read begins; `None` for a pipe or the like.
    fn extent(&self) -> Option<(u64, u64)>;
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
}

impl Ended {
    /// As a shell gives it.
    pub fn status(self) -> i32 {
        match self {
            Ended::Status(status) => status,
            Ended::Signal(signal) => 128 + signal,
        }
    }
}

/// What else a utility needs from the shell.
pub trait Host {
    /// The value of an environment variable.
    fn variable(&self, name: &str) -> Option<Vec<u8>>;
    /// The whole environment.
    fn environment(&self) -> Vec<(Vec<u8>, Vec<u8>)>;
    /// Seconds and nanoseconds since the epoch.
    fn now(&self) -> (i64, u32);
    /// Waits; `false` if a signal ended the wait.
    fn sleep(&mut self, duration: Duration) -> bool;
    /// Runs a program and waits for it; how it ended, or why it could not be started. `environment` replaces the
    /// inherited one; `no_input` gives it an empty standard input.
    fn run(
        &mut self,
        args: &[Vec<u8>],
        environment: Option<&[(Vec<u8>, Vec<u8>)]>,
        no_input: bool,
    ) -> io::Result<Ended>;
    /// Whether standard output is a terminal.
    fn output_is_terminal(&self) -> bool;
    /// The file mode creation mask.
    fn umask(&self) -> u32;
    /// The effective user id.
    fn user_id(&self) -> u32;
}

/// A call of a utility.
pub struct Context<'a> {
    /// The words; the first is the utility's name.
    pub args: &'a [Vec<u8>],
    /// Where relative paths begin; empty for the process's own directory.
    pub directory: &'a Path,
    /// Standard input.
    pub input: &'a mut dyn Input,
    /// Standard output, buffered by the caller.
    pub output: &'a mut dyn Write,
    /// Standard error.
    pub errors: &'a mut dyn Write,
    /// Whether the user has asked to stop. Utilities that compute, read or walk ask between steps.
    pub interrupted: fn() -> bool,
    /// Called before a file other than standard input is read: if the reader would have to wait, what was written must not wait
    /// with it. (Standard input sees to that itself.)
    pub before_read: &'a dyn Fn(BorrowedFd<'_>),
    /// The rest of the world.
    pub host: &'a mut dyn Host,
}

/// A file whose reading ends when the user asks to stop.
pub(crate) struct Polled<'a, R> {
    inner: R,
    interrupted: fn() -> bool,
    before_read: &'a dyn Fn(BorrowedFd<'_>),
}

impl<R: Read + AsFd> Read for Polled<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.interrupted)() {
            return Err(given_up());
        }
        (self.before_read)(self.inner.as_fd());
        self.inner.read(buffer)
    }
}

/// The error of what was given up. (`Interrupted` would be tried again.)
fn given_up() -> io::Error {
    io::Error::other("interrupted")
}

impl<'a> Context<'a> {
    /// The utility's name.
    pub(crate) fn name(&self) -> &[u8] {
        self.args.first().map_or(b"", Vec::as_slice)
    }

    /// The path that a word means.
    pub(crate) fn path<'p>(&self, word: &'p [u8]) -> Cow<'p, Path> {
        let path = Path::new(OsStr::from_bytes(word));
        // The empty word names nothing, wherever relative paths begin.
        if self.directory.as_os_str().is_empty() || path.is_absolute() || word.is_empty() {
            Cow::Borrowed(path)
        } else {
            Cow::<Path>::Owned(PathBuf::from(self.directory).join(path))
        }
    }

    /// An error if the user has asked to stop.
    pub(crate) fn poll(&self) -> io::Result<()> {
        if (self.interrupted)() { Err(given_up()) } else { Ok(()) }
    }

    /// `inner`, whose reading ends when the user asks to stop.
    pub(crate) fn polled<R: Read + AsFd>(&self, inner: R) -> Polled<'a, R> {
        Polled { inner, interrupted: self.interrupted, before_read: self.before_read }
    }

    /// `inner`, which is known to be a regular file: reading it never waits, so nobody has to ask.
    pub(crate) fn regular<R: Read + AsFd>(&self, inner: R) -> Polled<'a, R> {
        Polled { inner, interrupted: self.interrupted, before_read: &|_| {} }
    }

    /// A name in quotes, as messages show it.
    pub(crate) fn quoted(&self, name: &[u8]) -> Vec<u8> {
        crate::quoting::always(name, self.is_utf8())
    }

    /// A name as it stands before a colon.
    pub(crate) fn before_colon(&self, name: &[u8]) -> Vec<u8> {
        crate::quoting::colon(name, self.is_utf8())
    }

    /// Reports `NAME: parts`, after what is buffered for standard output. What has been given up has no errors.
    pub(crate) fn complain(&mut self, parts: &[&[u8]]) {
        if (self.interrupted)() {
            return;
        }
        let _ = self.output.flush();
        let line = [self.name(), b": ", &parts.concat(), b"\n"].concat();
        let _ = self.errors.write_all(&line);
    }

    /// Reports `NAME: word: reason`.
    pub(crate) fn complain_about(&mut self, word: &[u8], error: &io::Error) {
        self.complain(&[&self.before_colon(word), b": ", reason(error).as_bytes()]);
    }

    /// Whether the locale's encoding is UTF-8.
    pub(crate) fn is_utf8(&self) -> bool {
        let value = self.locale("LC_CTYPE").to_ascii_lowercase();
        value.ends_with(b"utf-8") || value.ends_with(b"utf8")
    }

    /// Whether names are ordered by byte value.
    pub(crate) fn collates_by_byte(&self) -> bool {
        matches!(self.locale("LC_COLLATE").as_slice(), b"" | b"C" | b"POSIX" | b"C.UTF-8" | b"C.utf8")
    }

    /// The locale's name for a category.
    pub(crate) fn locale(&self, category: &str) -> Vec<u8> {
        let set = |name: &str| self.host.variable(name).filter(|v| !v.is_empty());
        set("LC_ALL").or_else(|| set(category)).or_else(|| set("LANG")).unwrap_or_default()
    }

    /// The time zone of the environment.
    pub(crate) fn time_zone(&self) -> crate::calendar::zone::TimeZone {
        let value = self.host.variable("TZ").map(|v| String::from_utf8_lossy(&v).into_owned());
        crate::calendar::zone::TimeZone::from_variable(value.as_deref())
    }
}

/// An error's text as the C library words it.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(end) => text.get(..end).unwrap_or(&text).to_owned(),
        // One of our own: the standard library words it like the C library, but in lower case.
        None => text.get(..1).unwrap_or_default().to_uppercase() + text.get(1..).unwrap_or_default(),
    }
}
