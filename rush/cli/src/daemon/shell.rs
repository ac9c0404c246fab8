//! A shell of the daemon's pool: warmed, it waits for one client, is `rush` for it, and goes. Fresh for every command, so
//! that no command sees another's state.

use std::io::{self, PipeWriter, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::time::Duration;

use rush::{Session, sys};
use rush_session::{Command, CommandEnd, Frames, ToShell};

use super::clock::Clock;
use super::confinement::Confinement;
use super::place;
use super::server::ToDaemon;
use crate::limits::{END_DELAY_MS, REHEARSED_VARIABLES, WATCH_DELAY_MS};

/// The descriptor from which the shell's own ones are numbered, above what scripts use by number.
const DESCRIPTOR_MIN: i32 = 100;
/// Statuses by which the daemon sees that nothing is left below the shell, or that it must look.
const STATUS_CLEAN: i32 = 0;
const STATUS_UNCLEAN: i32 = 1;

/// The whole life of a pooled shell.
pub(super) fn main(listener: &UnixListener, daemon: Frames, clock: Clock, release: PipeWriter) -> ! {
    let served =
        become_shell().and_then(|()| serve(listener, &daemon, clock.above(DESCRIPTOR_MIN)?, release));
    sys::exit_now(if served.is_ok() { STATUS_CLEAN } else { STATUS_UNCLEAN });
}

/// A session and a group of its own, adopting what its commands leave, and gone when the daemon goes.
fn become_shell() -> io::Result<()> {
    rustix::process::setsid()?;
    rush_session::adopt_orphans()?;
    rush_session::end_with_parent()?;
    rehearse()
}

/// Touches what a command will need, while nobody waits: the way of a request, and the shell.
fn rehearse() -> io::Result<()> {
    let (near, far) = std::os::unix::net::UnixStream::pair()?;
    let (near, mut far) = (Frames::new(near.into()), Frames::new(far.into()));
    let words = ["rush", "-c", "x=$(:); [ a ]"].map(str::to_owned).to_vec();
    let variable = |n| format!("REHEARSED_{n}=the value of a variable, of some length");
    let environment = (0..REHEARSED_VARIABLES).map(variable).chain(["PATH=/bin".to_owned()]).collect();
    let request = ToShell::Command(Command { words, environment, umask: 0 });
    near.send(&request, &[near.descriptor()])?;
    near.send(&ToDaemon::Taken, &[near.descriptor()])?;
    Clock::new()?.ring_after(Duration::from_millis(WATCH_DELAY_MS))?;
    if let Some((ToShell::Command(command), _)) = far.receive()? {
        be_rush(command);
        sys::signal_ignore(crate::SIGPIPE);
    }
    near.send(&CommandEnd::Exited { status: 0 }, &[])
}

fn serve(listener: &UnixListener, daemon: &Frames, clock: Clock, mut release: PipeWriter) -> io::Result<()> {
    let null = open_null()?;
    let own = Confinement::own()?;
    let (client, command, descriptors) = loop {
        let connection = rustix::net::accept_with(listener, rustix::net::SocketFlags::CLOEXEC)?;
        let connection = rustix::io::fcntl_dupfd_cloexec(&connection, DESCRIPTOR_MIN)?;
        let Ok(peer) = place::check_peer(&connection) else { continue };
        let mut client = Frames::new(connection);
        // Who only looks whether anybody is there hangs up without a word.
        let Ok(Some((ToShell::Command(command), descriptors))) = client.receive() else { continue };
        let refused = match Confinement::of(&peer.to_string()) {
            Ok(theirs) => own.refuses(&theirs),
            Err(error) => Some(format!("what the client may do is not to be seen: {error}")),
        };
        if let Some(reason) = refused {
            let _ = client.send(&CommandEnd::Refused { reason }, &[]);
            continue;
        }
        break (client, command, descriptors);
    };
    daemon.send(&ToDaemon::Taken, &[client.descriptor().as_fd()])?;
    clock.ring_after(Duration::from_millis(WATCH_DELAY_MS))?;
    let (status, session) = run(command, descriptors)?;
    // Before the client ends: who reads its output to the end must not wait for this process.
    lead_nowhere(&null)?;
    release.write_all(&[0])?;
    // The client may have gone in between; what it started in the background goes on all the same.
    let _ = client.send(&CommandEnd::Exited { status }, &[]);
    // Asleep, and not woken when the client hangs up: on its processor the end of this process would come before its own.
    std::thread::sleep(Duration::from_millis(END_DELAY_MS));
    drop(client);
    drop(session);
    outlive_children();
    Ok(())
}

/// Is `rush` for the client; the status, and the shell if there was one.
fn run(command: Command, descriptors: Vec<OwnedFd>) -> io::Result<(i32, Option<Box<Session>>)> {
    let [stdin, stdout, stderr, folder] = <[OwnedFd; 4]>::try_from(descriptors)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "a command needs four descriptors"))?;
    rustix::stdio::dup2_stdin(stdin)?;
    rustix::stdio::dup2_stdout(stdout)?;
    rustix::stdio::dup2_stderr(stderr)?;
    rustix::process::fchdir(folder)?;
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(command.umask & 0o777));
    Ok(be_rush(command))
}

fn be_rush(command: Command) -> (i32, Option<Box<Session>>) {
    let environment = command.environment.iter().filter_map(|entry| {
        let (name, value) = entry.split_once('=').filter(|(name, _)| !name.is_empty())?;
        Some((name.as_bytes().to_vec(), value.as_bytes().to_vec()))
    });
    let words: Vec<Vec<u8>> = command.words.into_iter().map(String::into_bytes).collect();
    rush::sys::signal_default(crate::SIGPIPE);
    crate::start::run_words(&words, environment.collect())
}

/// Nothing of the client's stays open in a shell that outlives its command.
fn lead_nowhere(null: &OwnedFd) -> io::Result<()> {
    rustix::stdio::dup2_stdin(null)?;
    rustix::stdio::dup2_stdout(null)?;
    Ok(rustix::stdio::dup2_stderr(null)?)
}

/// The null device, behind a descriptor of the shell's own.
fn open_null() -> io::Result<OwnedFd> {
    let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    Ok(rustix::io::fcntl_dupfd_cloexec(&null, DESCRIPTOR_MIN)?)
}

/// Background processes stay this shell's children, so that they stay known; it ends with the last of them.
fn outlive_children() {
    loop {
        match sys::wait_any(true) {
            Ok(_) => {}
            Err(error) if error == rustix::io::Errno::INTR.raw_os_error() => {}
            Err(_) => return,
        }
    }
}
