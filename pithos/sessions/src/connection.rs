//! The server's end of a socket to one of its processes. Nothing here ever waits for the process: what its socket does not take at once is
//! kept and sent on by a task, so that a process that is stopped, slow or dead costs the server's loop nothing.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::sync::Arc;

use rush_session::{FRAME_DESCRIPTORS_MAX, encode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown, sendmsg, shutdown};
use serde::Serialize;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::runtime::Handle;

use crate::limits::UNSENT_BYTES_MAX;
use crate::sync::Locked;

/// A connection; whoever drops the last [`Connection`] ends it, also for the task that reads from it.
pub(crate) struct Connection(Arc<Stream>);

/// The part that the tasks of a connection share.
pub(crate) struct Stream {
    socket: UnixStream,
    outbox: Locked<Outbox>,
    /// Ends are told from threads that have no event loop too.
    runtime: Handle,
}

#[derive(Default)]
struct Outbox {
    frames: VecDeque<Frame>,
    unsent: usize,
    /// A task sends what is here.
    sending: bool,
}

struct Frame {
    bytes: Vec<u8>,
    sent: usize,
    /// Travel with the first byte.
    descriptors: Vec<OwnedFd>,
}

impl Connection {
    pub(crate) fn new(ours: StdStream) -> io::Result<Self> {
        ours.set_nonblocking(true)?;
        let socket = UnixStream::from_std(ours)?;
        Ok(Self(Arc::new(Stream { socket, outbox: Locked::default(), runtime: Handle::current() })))
    }

    /// What a reading task holds: it does not keep the connection open.
    pub(crate) fn stream(&self) -> Arc<Stream> {
        Arc::clone(&self.0)
    }

    /// Sends a message, or keeps it to be sent. An error of the socket is the reader's to hear.
    ///
    /// # Errors
    /// When the message is over the limit of a frame, or the process has left too much unread.
    pub(crate) fn send<T: Serialize>(&self, message: &T, descriptors: Vec<OwnedFd>) -> io::Result<()> {
        let frame = Frame { bytes: encode(message, descriptors.len())?, sent: 0, descriptors };
        let stream = &self.0;
        let start_task = stream.outbox.with(|outbox| {
            if outbox.unsent + frame.bytes.len() > UNSENT_BYTES_MAX {
                return Err(io::Error::other("the process does not read what it is sent"));
            }
            outbox.unsent += frame.bytes.len();
            outbox.frames.push_back(frame);
            if outbox.sending {
                return Ok(false);
            }
            outbox.sending =
                matches!(stream.send_kept(outbox), Err(error) if error.kind() == io::ErrorKind::WouldBlock);
            Ok(outbox.sending)
        })?;
        if start_task {
            stream.runtime.spawn(send_on(Arc::clone(stream)));
        }
        Ok(())
    }

    /// One read; 0 at the end.
    pub(crate) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).await
    }

    /// Whether the process at the other end has gone; known at once, before any task hears of it.
    pub(crate) fn hung_up(&self) -> bool {
        let mut wait = [PollFd::from_borrowed_fd(self.0.socket.as_fd(), PollFlags::RDHUP)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut wait, Some(&now)).is_ok_and(|ready| ready > 0)
    }
}

impl Connection {
    /// Ends the connection, also for the tasks, which hold the descriptor.
    pub(crate) fn close(&self) {
        let _ = shutdown(self.0.socket.as_fd(), Shutdown::Both);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

impl Stream {
    /// One read; 0 at the end.
    pub(crate) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.socket.readable().await?;
            match self.socket.try_read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
    }

    /// Sends what the socket takes. A socket that is broken takes everything.
    fn send_kept(&self, outbox: &mut Outbox) -> io::Result<()> {
        while let Some(frame) = outbox.frames.front_mut() {
            match self.send_some(frame) {
                Ok(sent) => {
                    // They are the other side's now.
                    frame.descriptors.clear();
                    frame.sent += sent;
                    outbox.unsent -= sent;
                    if frame.sent == frame.bytes.len() {
                        outbox.frames.pop_front();
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return Err(io::ErrorKind::WouldBlock.into()),
                Err(error) => {
                    outbox.frames.clear();
                    outbox.unsent = 0;
                    return Err(error.into());
                }
            }
        }
        Ok(())
    }

    fn send_some(&self, frame: &Frame) -> rustix::io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FRAME_DESCRIPTORS_MAX))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let descriptors: Vec<_> = frame.descriptors.iter().map(AsFd::as_fd).collect();
        if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err(rustix::io::Errno::INVAL);
        }
        let rest = [IoSlice::new(&frame.bytes[frame.sent..])];
        sendmsg(self.socket.as_fd(), &rest, &mut control, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
    }
}

/// Sends what is kept as the socket takes it.
async fn send_on(stream: Arc<Stream>) {
    loop {
        let ready = stream.socket.writable().await;
        let goes_on = stream.outbox.with(|outbox| {
            let sent =
                ready.and_then(|()| stream.socket.try_io(Interest::WRITABLE, || stream.send_kept(outbox)));
            outbox.sending = matches!(sent, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
            outbox.sending
        });
        if !goes_on {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream as StdStream;

    use rush_session::{Frames, Run, ToShell};

    use super::Connection;

    /// Sizes around every buffer on the way, to a process that does not read at first.
    #[test]
    fn any_size_arrives_whole_and_nobody_waits() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let (ours, theirs) = StdStream::pair().expect("a pair");
            let connection = Connection::new(ours).expect("a connection");
            let sizes = [0, 1, 4090, 4096, 65_536, 212_000, 250_000, 1_100_000, 4 << 20, 15 << 20];
            for (id, size) in sizes.into_iter().enumerate() {
                let descriptors = vec![theirs.try_clone().expect("a copy").into()];
                let run = Run { id: id as u64, script: "x".repeat(size), ..Run::default() };
                connection.send(&ToShell::Run(run), descriptors).expect("taken");
            }
            let reader = tokio::task::spawn_blocking(move || {
                let mut frames = Frames::new(theirs.into());
                let mut seen = Vec::new();
                while seen.len() < sizes.len() {
                    let (message, descriptors) =
                        frames.receive::<ToShell>().expect("read").expect("a message");
                    let ToShell::Run(run) = message else { panic!("another message") };
                    assert_eq!((run.id, descriptors.len()), (seen.len() as u64, 1));
                    seen.push(run.script.len());
                }
                seen
            });
            assert_eq!(reader.await.expect("read"), sizes);
            let over = Run { script: "x".repeat(17 << 20), ..Run::default() };
            assert!(connection.send(&ToShell::Run(over), Vec::new()).is_err());
        });
    }
}
