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

use rush::sys;
use rush_session::{Command, CommandEnd, Decoder, Frames, ToShell};
use rustix::fs::{Mode, OFlags};

use crate::daemon::place;

/// Signals that go on to the command: SIGHUP, SIGINT, SIGQUIT and SIGTERM.
const FORWARDED: [i32; 4] = [1, 2, 3, 15];

/// Runs `words` (name and arguments of `rush`) at the daemon; the exit status, or `None` when this process must run them.
pub(crate) fn run(words: &[Vec<u8>]) -> Option<i32> {
    let trace = std::env::var_os("RUSH_TRACE").is_some_and(|value| value == "connect");
    // Nobody else pays for finding the clock.
    let start = trace.then(Instant::now);
    match attempt(words) {
        Ok((pid, end)) => {
            if let Some(start) = start {
                eprintln!("rush: connect: ran at daemon {pid}, {} us", start.elapsed().as_micros());
            }
            Some(match end {
                CommandEnd::Exited { status } => status,
                CommandEnd::Killed { signal } => die_of(signal),
            })
        }
        Err(Refused::Before(error)) => {
            if trace {
                eprintln!("rush: connect: not at a daemon ({error}); running here");
            }
            None
        }
        Err(Refused::After(error)) => {
            eprintln!("rush: --connect: the daemon's shell is lost: {error}");
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
    let command = command(words)?;
    let folder = place::folder(|name| std::env::var_os(name).map(OsString::into_vec));
    place::check_folder(&folder)?;
    let socket = UnixStream::connect(place::socket(&folder))?;
    let pid = place::check_peer(&socket)?;
    let here = rustix::fs::open(".", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let (stdin, stdout, stderr) = (rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr());
    FORWARDED.into_iter().filter(|signal| !sys::signal_is_ignored(*signal)).for_each(sys::signal_catch);
    let mut frames = Frames::new(socket.into());
    frames.send(&ToShell::Command(command), &[stdin, stdout, stderr, here.as_fd()])?;
    rehearse_answer().map_err(Refused::After)?;
    loop {
        match frames.receive::<CommandEnd>() {
            Ok(Some((end, _))) => {
                // OPTIMIZATION: closed by the end of this process, which then is all that is left of it: the shell wakes.
                let _open = ManuallyDrop::new((frames, here));
                return Ok((pid, end));
            }
            Ok(None) => return Err(Refused::After(io::ErrorKind::UnexpectedEof.into())),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => forward(&frames),
            Err(error) => return Err(Refused::After(error)),
        }
    }
}

/// OPTIMIZATION: reads an answer of this process's own while the shell works, so that what reading takes has been mapped
/// when the answer comes.
fn rehearse_answer() -> io::Result<()> {
    let mut decoder = Decoder::default();
    decoder.push(&rush_session::encode(&CommandEnd::Exited { status: 0 }, 0)?);
    decoder.next_message::<CommandEnd>().map(drop)
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
fn forward(frames: &Frames) {
    let pending = sys::take_pending_signals();
    for signal in FORWARDED.into_iter().filter(|signal| pending >> (signal - 1) & 1 != 0) {
        let _ = rustix::net::send(frames.descriptor(), &[signal as u8], rustix::net::SendFlags::NOSIGNAL);
    }
}

/// Ends as the shell ended; the status if the signal does not end this process.
fn die_of(signal: i32) -> i32 {
    sys::signal_default(signal);
    let _ = sys::send_signal(sys::process_id(), signal);
    128 + signal
}
