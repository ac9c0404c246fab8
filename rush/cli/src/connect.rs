//! `rush --connect -c COMMAND`: hands the command to a warm shell of the daemon, with this process's descriptors, working
//! directory, environment and umask, and ends as it ends. In any doubt, the caller runs the command itself.
//!
//! This is the quick path: nothing of the shell has been started when it runs.

use std::ffi::OsString;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use rush::errln;
use rush::sys;
use rush_session::{Command, CommandEnd, Decoder, ToShell, encode, send_all};
use rustix::fs::{Mode, OFlags};
use rustix::net::RecvFlags;

use crate::daemon::place;

/// Signals that go on to the command: SIGHUP, SIGINT, SIGQUIT and SIGTERM.
const FORWARDED: [i32; 4] = [1, 2, 3, 15];

/// What one read of the answer takes; an answer is shorter.
const ANSWER_BYTES: usize = 128;

/// Runs `words` (name and arguments of `rush`) at the daemon; the exit status, or `None` when this process must run them.
pub(crate) fn run(words: &[Vec<u8>]) -> Option<i32> {
    let trace = std::env::var_os("RUSH_TRACE").is_some_and(|value| value == "connect");
    // Nobody else pays for finding the clock.
    let start = trace.then(Instant::now);
    match attempt(words) {
        Ok((pid, end)) => {
            if let Some(start) = start {
                errln!("rush: connect: ran at daemon {pid}, {} us", start.elapsed().as_micros());
            }
            Some(match end {
                CommandEnd::Exited { status } => status,
                CommandEnd::Killed { signal } => die_of(signal),
                CommandEnd::Refused { .. } => return None,
            })
        }
        Err(Refused::Before(error)) => {
            if trace {
                errln!("rush: connect: not at a daemon ({error}); running here");
            }
            None
        }
        Err(Refused::After(error)) => {
            errln!("rush: --connect: the daemon's shell is lost: {error}");
            Some(1)
        }
    }
}

/// Why there is no answer.
enum Refused {
    /// Nothing was started.
    Before(io::Error),
    /// The command was handed over.
    After(io::Error),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Refused {
        Refused::Before(error)
    }
}

impl From<rustix::io::Errno> for Refused {
    fn from(error: rustix::io::Errno) -> Refused {
        Refused::Before(error.into())
    }
}

fn attempt(words: &[Vec<u8>]) -> Result<(i32, CommandEnd), Refused> {
    // What else is open would be missing there, and what is closed here would be the connection itself.
    if !sys::has_standard_descriptors_only() {
        return Err(io::Error::other("other descriptors are open than the standard ones").into());
    }
    let command = command(words)?;
    let folder = place::folder(|name| std::env::var_os(name).map(OsString::into_vec));
    place::check_folder(&folder)?;
    let socket = UnixStream::connect(place::socket(&folder))?;
    let pid = place::check_peer(&socket)?;
    let here = rustix::fs::open(".", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let (stdin, stdout, stderr) = (rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr());
    let forwarded = FORWARDED.into_iter().filter(|signal| !sys::signal_is_ignored(*signal));
    forwarded.clone().for_each(sys::signal_catch);
    let bytes = encode(&ToShell::Command(command), 4)?;
    send_all(socket.as_fd(), &bytes, &[stdin, stdout, stderr, here.as_fd()])?;
    // OPTIMIZATION: closed by the end of this process.
    let (socket, _here) = (ManuallyDrop::new(socket), ManuallyDrop::new(here));
    match answer(&socket).map_err(Refused::After)? {
        CommandEnd::Refused { reason } => {
            forwarded.for_each(sys::signal_default);
            let pending = sys::take_pending_signals();
            if let Some(signal) = FORWARDED.into_iter().find(|signal| pending >> (signal - 1) & 1 != 0) {
                return Ok((pid, CommandEnd::Killed { signal }));
            }
            Err(Refused::Before(io::Error::other(reason)))
        }
        end => Ok((pid, end)),
    }
}

/// Waits for the answer, passing signals on.
fn answer(socket: &UnixStream) -> io::Result<CommandEnd> {
    let mut decoder = Decoder::default();
    let mut bytes = [0; ANSWER_BYTES];
    loop {
        match rustix::net::recv(socket, &mut bytes[..], RecvFlags::empty()) {
            Ok((_, 0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok((_, count)) => {
                let part = &bytes[..count];
                if let Some(status) = plain_status(part) {
                    return Ok(CommandEnd::Exited { status });
                }
                decoder.push(part);
                if let Some((end, _)) = decoder.next_message()? {
                    return Ok(end);
                }
            }
            Err(rustix::io::Errno::INTR) => forward(socket),
            Err(error) => return Err(error.into()),
        }
    }
}

/// OPTIMIZATION: the status in a whole frame as our own daemon writes it, read without what reads JSON, which lies in parts
/// of the file that nothing else here touches.
fn plain_status(frame: &[u8]) -> Option<i32> {
    let (header, body) = frame.split_first_chunk::<5>()?;
    let [length @ .., descriptors] = *header;
    if u32::from_le_bytes(length) as usize != body.len() || descriptors != 0 {
        return None;
    }
    let digits = body.strip_prefix(b"{\"type\":\"exited\",\"status\":")?.strip_suffix(b"}")?;
    let is_number = matches!(digits.len(), 1..=3) && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| digits.iter().fold(0, |status, digit| status * 10 + i32::from(digit - b'0')))
}

/// What is handed over; an error when the protocol cannot carry it.
fn command(words: &[Vec<u8>]) -> io::Result<Command> {
    let text = |bytes: &[u8]| {
        String::from_utf8(bytes.to_vec())
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "a word is not UTF-8"))
    };
    let words = words.iter().map(|word| text(word)).collect::<io::Result<_>>()?;
    let environment = std::env::vars_os()
        .map(|(name, value)| text(&[name.as_bytes(), b"=", value.as_bytes()].concat()))
        .collect::<io::Result<_>>()?;
    let mask = rustix::process::umask(Mode::empty());
    rustix::process::umask(mask);
    Ok(Command { words, environment, umask: mask.bits() })
}

/// Sends on the signals that arrived, each as one byte.
fn forward(socket: &UnixStream) {
    let pending = sys::take_pending_signals();
    for signal in FORWARDED.into_iter().filter(|signal| pending >> (signal - 1) & 1 != 0) {
        let _ = rustix::net::send(socket, &[signal as u8], rustix::net::SendFlags::NOSIGNAL);
    }
}

/// Ends as the shell ended; the status if the signal does not end this process.
fn die_of(signal: i32) -> i32 {
    sys::signal_default(signal);
    let _ = sys::send_signal(sys::process_id(), signal);
    128 + signal
}

#[cfg(test)]
mod tests {
    use rush_session::{CommandEnd, encode};

    use super::plain_status;

    #[test]
    fn the_answer_that_our_daemon_gives_is_read_without_json() {
        for status in [0, 7, 127, 255] {
            let frame = encode(&CommandEnd::Exited { status }, 0).expect("encoded");
            assert_eq!(plain_status(&frame), Some(status));
            assert_eq!(plain_status(&frame[..frame.len() - 1]), None);
        }
        let killed = encode(&CommandEnd::Killed { signal: 9 }, 0).expect("encoded");
        assert_eq!(plain_status(&killed), None);
        let strange = encode(&CommandEnd::Exited { status: -1 }, 0).expect("encoded");
        assert_eq!(plain_status(&strange), None);
    }
}
