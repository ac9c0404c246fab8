//! The daemon: keeps warm shells that wait in `accept`, replaces those that were taken, and ends everything that a client
//! started when that client goes before its command has.
//!
//! A client talks to its shell directly; the daemon only holds a second descriptor of each connection, on which it sees
//! the client hang up. States of a shell: *waiting* (in `accept`), *taken* (its connection is watched), *released* (its command
//! has ended; background processes may live on below it). Only a taken shell is ended with its client. While a client
//! waits for its answer the daemon sleeps, because it would take a processor from the two: a shell leaves word that it is
//! taken, and sets a clock by which the daemon will read that; and it says that it is released on a pipe that the daemon
//! reads only when the client has gone.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::Path;

use rush::sys;
use rush_session::{CommandEnd, Frames};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::{place, shell};
use crate::guard;

/// What a shell tells the daemon.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ToDaemon {
    /// A client has connected. Carries the connection.
    Taken,
}

/// Serves until `alive` ends, or for ever; `ready` is told once clients can connect.
pub(crate) fn serve(folder: &Path, pool: usize, alive: PipeReader, ready: impl FnOnce()) -> io::Result<()> {
    let listener = listen(folder)?;
    let mut daemon = Daemon { listener, shells: Vec::new(), alive, pool };
    daemon.refill()?;
    ready();
    loop {
        if !daemon.turn()? {
            return Ok(());
        }
    }
}

/// The listening socket, in place of one that nobody serves any more.
fn listen(folder: &Path) -> io::Result<UnixListener> {
    place::prepare(folder)?;
    let path = place::socket(folder);
    if std::os::unix::net::UnixStream::connect(&path).is_ok() {
        return Err(io::Error::new(io::ErrorKind::AddrInUse, "a daemon is running already"));
    }
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
    let listener = UnixListener::bind(&path);
    rustix::process::umask(mask);
    listener
}

struct Shell {
    pid: i32,
    handle: OwnedFd,
    control: Frames,
    /// Rings when `control` may hold word.
    clock: Clock,
    /// The client's connection, while the shell is taken.
    connection: Option<OwnedFd>,
    /// Holds a byte once the shell is released.
    released: OwnedFd,
    waiting: bool,
}

impl Shell {
    /// Whether the client's command has ended.
    fn is_released(&self) -> bool {
        let mut waits = [PollFd::new(&self.released, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut waits, Some(&now)).is_ok() && waits[0].revents().contains(PollFlags::IN)
    }
}

struct Daemon {
    listener: UnixListener,
    shells: Vec<Shell>,
    alive: PipeReader,
    pool: usize,
}

/// What a descriptor that became ready belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Alive,
    Clock(i32),
    Ended(i32),
    Connection(i32),
}

impl Daemon {
    /// Waits for something to happen and handles it; false when the guard has gone.
    fn turn(&mut self) -> io::Result<bool> {
        let ready = self.wait()?;
        if ready.contains(&Source::Alive) {
            return Ok(false);
        }
        // What shells have said comes first: a client may hang up as soon as it is taken.
        for source in &ready {
            if let Source::Clock(pid) = source {
                self.clock_rang(*pid);
            }
        }
        for source in &ready {
            if let Source::Connection(pid) = source {
                self.client_left(*pid);
            }
        }
        for source in &ready {
            if let Source::Ended(pid) = source {
                self.shell_ended(*pid);
            }
        }
        self.refill()?;
        Ok(true)
    }

    fn wait(&self) -> io::Result<Vec<Source>> {
        let mut sources = vec![Source::Alive];
        let mut waits = vec![PollFd::new(&self.alive, PollFlags::IN)];
        for shell in &self.shells {
            sources.push(Source::Clock(shell.pid));
            waits.push(PollFd::new(&shell.clock, PollFlags::IN));
            sources.push(Source::Ended(shell.pid));
            waits.push(PollFd::new(&shell.handle, PollFlags::IN));
            if let Some(connection) = &shell.connection {
                sources.push(Source::Connection(shell.pid));
                waits.push(PollFd::new(connection, PollFlags::IN | PollFlags::RDHUP));
            }
        }
        match poll(&mut waits, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = sources.into_iter().zip(&waits).filter(|(_, wait)| !wait.revents().is_empty());
        Ok(ready.map(|(source, _)| source).collect())
    }

    fn shell(&mut self, pid: i32) -> Option<&mut Shell> {
        self.shells.iter_mut().find(|shell| shell.pid == pid)
    }

    fn clock_rang(&mut self, pid: i32) {
        if let Some(shell) = self.shell(pid) {
            shell.clock.silence();
        }
        self.hear_rest(pid);
    }

    /// Takes what the shell has said.
    fn hear(&mut self, pid: i32) {
        let Some(shell) = self.shell(pid) else { return };
        let Ok(Some((message, mut descriptors))) = shell.control.receive::<ToDaemon>() else { return };
        let ToDaemon::Taken = message;
        shell.connection = descriptors.pop();
        shell.waiting = false;
    }

    /// The client sent a signal, or hung up.
    fn client_left(&mut self, pid: i32) {
        let Some(shell) = self.shell(pid) else { return };
        let Some(connection) = shell.connection.as_ref() else { return };
        if shell.is_released() {
            shell.connection = None;
            return;
        }
        match read_signal(connection.as_fd()) {
            Some(signal) => {
                // As a terminal would: everybody in the foreground, which is the shell's own group.
                let _ = sys::send_signal(-pid, signal);
            }
            None => {
                shell.connection = None;
                kill(pid);
            }
        }
    }

    /// Takes an ended shell out, and what it left.
    fn shell_ended(&mut self, pid: i32) {
        // A last word may have come after the poll.
        self.hear_rest(pid);
        let Some(at) = self.shells.iter().position(|shell| shell.pid == pid) else { return };
        let shell = self.shells.swap_remove(at);
        let status = sys::wait_child(pid).map_or(0, |(_, status)| status);
        let connection = if shell.is_released() { None } else { shell.connection };
        if let Some(connection) = connection {
            // It did not answer itself: it was killed, or had become another program by `exec`.
            let end = match sys::term_signal(status) {
                Some(signal) => CommandEnd::Killed { signal },
                None => CommandEnd::Exited { status: sys::shell_status(status) },
            };
            let _ = Frames::new(connection).send(&end, &[]);
        }
        if status != 0 {
            let others: Vec<i32> = self.shells.iter().map(|shell| shell.pid).collect();
            guard::end_all_below(&others);
        }
    }

    fn hear_rest(&mut self, pid: i32) {
        let Some(shell) = self.shell(pid) else { return };
        let mut waits = [PollFd::from_borrowed_fd(shell.control.descriptor(), PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if poll(&mut waits, Some(&now)).is_ok_and(|count| count > 0) {
            self.hear(pid);
        }
    }

    /// Starts shells until enough of them wait.
    fn refill(&mut self) -> io::Result<()> {
        while self.shells.iter().filter(|shell| shell.waiting).count() < self.pool {
            let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
            let (released, release) = io::pipe()?;
            let clock = Clock::new()?;
            let pid = sys::fork().map_err(io::Error::from_raw_os_error)?;
            if pid == 0 {
                drop((ours, released));
                self.shells.clear();
                shell::main(&self.listener, Frames::new(theirs.into()), clock, release);
            }
            let handle = sys::owned_process_handle(pid)?;
            let control = Frames::new(ours.into());
            let released = released.into();
            let connection = None;
            self.shells.push(Shell { pid, handle, control, clock, connection, released, waiting: true });
        }
        Ok(())
    }
}

/// The signal that a client sent as one byte; `None` when it has hung up.
fn read_signal(connection: BorrowedFd<'_>) -> Option<i32> {
    let mut byte = [0];
    match rustix::net::recv(connection, &mut byte, rustix::net::RecvFlags::DONTWAIT) {
        Ok((_, 1)) => Some(i32::from(byte[0])),
        _ => None,
    }
}

fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, Signal::KILL);
    }
}
