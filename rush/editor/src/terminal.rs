//! The terminal: bytes from it one at a time, so that what follows a line stays there for the command that the line begins; raw mode
//! while a line is edited; its size.

use std::io::Write;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};

/// What came from the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    Byte(u8),
    /// Nothing, for as long as was waited.
    Pause,
    /// A signal interrupted the wait.
    Signal,
    /// There will be nothing more.
    End,
}

/// The terminal while a line is edited; given back as it was.
pub(crate) struct RawMode {
    original: Termios,
    /// The byte that interrupts, as the user has set it.
    pub(crate) interrupt: u8,
}

fn input() -> BorrowedFd<'static> {
    rustix::stdio::stdin()
}

/// Whether lines can be edited: input and output are terminals.
#[must_use]
pub fn is_terminal() -> bool {
    tcgetattr(input()).is_ok() && rustix::termios::isatty(rustix::stdio::stderr())
}

impl RawMode {
    pub(crate) fn enter() -> Option<RawMode> {
        let original = tcgetattr(input()).ok()?;
        let mut raw = original.clone();
        raw.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN;
        raw.input_modes -= InputModes::ICRNL | InputModes::INLCR | InputModes::IGNCR | InputModes::IXON;
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(input(), OptionalActions::Drain, &raw).ok()?;
        let interrupt = original.special_codes[SpecialCodeIndex::VINTR];
        Some(RawMode { original, interrupt })
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // A terminal that has gone cannot be given back.
        let _ = tcsetattr(input(), OptionalActions::Drain, &self.original);
    }
}

/// The next byte; waits so long for it, or for ever.
pub(crate) fn read(wait: Option<Duration>) -> Input {
    let timeout =
        wait.map(|wait| Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) });
    let mut descriptors = [PollFd::from_borrowed_fd(input(), PollFlags::IN)];
    match poll(&mut descriptors, timeout.as_ref()) {
        Ok(0) => return Input::Pause,
        Ok(_) => {}
        Err(Errno::INTR) => return Input::Signal,
        Err(_) => return Input::End,
    }
    let mut byte = [0];
    match rustix::io::read(input(), &mut byte) {
        Ok(1) => Input::Byte(byte[0]),
        Err(Errno::INTR) => Input::Signal,
        _ => Input::End,
    }
}

/// Columns and rows, or the usual ones where the terminal does not know them.
pub(crate) fn size() -> (usize, usize) {
    let size = tcgetwinsize(rustix::stdio::stderr()).ok();
    let sides = size.map_or((0, 0), |size| (usize::from(size.ws_col), usize::from(size.ws_row)));
    (if sides.0 == 0 { 80 } else { sides.0 }, if sides.1 == 0 { 24 } else { sides.1 })
}

pub(crate) fn write(text: &str) {
    if !text.is_empty() {
        // Nothing can be told to a terminal that has gone; the next read finds out.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}
