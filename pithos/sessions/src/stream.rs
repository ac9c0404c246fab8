//! Our ends of a run's descriptors: what it writes is read from a [`Source`], what it reads is written to a [`Sink`]. Behind each is a
//! pipe, or both are the master side of one pseudo-terminal. Invariant: our ends never block.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;

use rustix::pipe::PipeFlags;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, ptsname, unlockpt};
use rustix::termios::{
    OptionalActions, OutputModes, SpecialCodeIndex, Winsize, tcgetattr, tcsetattr, tcsetwinsize,
};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;

/// Where a run's output comes from.
pub(crate) struct Source(pipe::Receiver);

/// Where a run's input goes.
pub(crate) struct Sink {
    descriptor: pipe::Sender,
    terminal: bool,
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// Characters in a line.
    pub columns: u16,
    /// Lines.
    pub rows: u16,
}

impl TerminalSize {
    fn kernel(self) -> Winsize {
        Winsize { ws_row: self.rows, ws_col: self.columns, ws_xpixel: 0, ws_ypixel: 0 }
    }
}

/// A pseudo-terminal: our side as source and sink, the run's side, and its name (`/dev/pts/N`).
pub(crate) struct Terminal {
    pub(crate) source: Source,
    pub(crate) sink: Sink,
    pub(crate) side: OwnedFd,
    pub(crate) name: String,
}

impl Terminal {
    /// Opens one. It echoes and edits lines as terminals do, but does not put carriage returns before line ends: what a run
    /// prints reads as from a pipe.
    ///
    /// It is one of those that `worker` sees, so that programs find it by its name in their `/dev/pts`.
    pub(crate) fn open(worker: u32, size: TerminalSize) -> io::Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = match own_terminal(worker) {
            Ok(master) => master,
            // Without namespaces there are only the machine's.
            Err(_) => {
                let master = openpt(flags)?;
                grantpt(&master)?;
                master
            }
        };
        unlockpt(&master)?;
        let side = ioctl_tiocgptpeer(&master, flags)?;
        tcsetwinsize(&side, size.kernel())?;
        let mut modes = tcgetattr(&side)?;
        modes.output_modes.remove(OutputModes::ONLCR);
        tcsetattr(&side, OptionalActions::Now, &modes)?;
        let name = ptsname(&master, Vec::new())?.to_string_lossy().into_owned();
        let sink = Sink::over(master.try_clone()?, true)?;
        Ok(Self { source: Source::over(master)?, sink, side, name })
    }
}

/// The master side of a new terminal in the `/dev/pts` of a process.
fn own_terminal(process: u32) -> io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags, open};
    let path = format!("/proc/{process}/root/dev/pts/ptmx");
    Ok(open(path, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?)
}

impl Source {
    /// A pipe: our end, and the one for the run.
    pub(crate) fn pipe() -> io::Result<(Self, OwnedFd)> {
        let (receiver, sender) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        Ok((Self::over(receiver)?, sender))
    }

    fn over(descriptor: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&descriptor, true)?;
        Ok(Self(pipe::Receiver::from_owned_fd_unchecked(descriptor)?))
    }

    /// Waits until a read says something.
    pub(crate) async fn readable(&self) {
        let _ = self.0.readable().await;
    }

    /// One read as far as readiness is known; `WouldBlock` when there is nothing, 0 at the end.
    pub(crate) fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buffer)
    }

    /// One read, whatever is known of readiness.
    pub(crate) fn read_now(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(self.0.as_fd(), buffer)?)
    }
}

impl Sink {
    /// A pipe: our end, the one for the run, and its name as `/proc/PID/fd` shows it.
    pub(crate) fn pipe() -> io::Result<(Self, OwnedFd, String)> {
        let (receiver, sender) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let name = format!("pipe:[{}]", rustix::fs::fstat(&receiver)?.st_ino);
        Ok((Self::over(sender, false)?, receiver, name))
    }

    fn over(descriptor: OwnedFd, terminal: bool) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&descriptor, true)?;
        Ok(Self { descriptor: pipe::Sender::from_owned_fd_unchecked(descriptor)?, terminal })
    }

    /// Writes all of it.
    pub(crate) async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.descriptor.write_all(bytes).await
    }

    /// Writes some of it, as soon as there is room.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.descriptor.write(bytes).await
    }

    /// The end of the input. A terminal has none: it gets the character that stands for it, and stays open. Gives back what is to be
    /// kept.
    pub(crate) async fn close(mut self) -> io::Result<Option<Self>> {
        if !self.terminal {
            return Ok(None);
        }
        let end = tcgetattr(self.descriptor.as_fd())?.special_codes[SpecialCodeIndex::VEOF];
        self.write_all(&[end]).await?;
        Ok(Some(self))
    }

    /// Changes the size of a terminal; programs on it get SIGWINCH.
    pub(crate) fn resize(&self, size: TerminalSize) -> io::Result<()> {
        if !self.terminal {
            return Err(io::Error::other("this job has no terminal: run it with terminal"));
        }
        Ok(tcsetwinsize(self.descriptor.as_fd(), size.kernel())?)
    }
}

/// `/dev/null`, opened once.
pub(crate) fn null() -> io::Result<OwnedFd> {
    static NULL: OnceLock<OwnedFd> = OnceLock::new();
    let known = match NULL.get() {
        Some(null) => null,
        None => {
            let opened = std::fs::File::open("/dev/null")?.into();
            NULL.get_or_init(|| opened)
        }
    };
    known.try_clone()
}
