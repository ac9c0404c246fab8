//! Frames over a Unix stream socket: four bytes of length (little endian), one byte that counts descriptors, then a JSON
//! body; the descriptors travel beside the first byte of their frame. [`Decoder`] turns bytes and descriptors into
//! frames for any kind of reader; [`Frames`] is the blocking reader and writer.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, SendAncillaryBuffer, SendAncillaryMessage, recvmsg, send,
    sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::platform::{RECEIVE, SEND, close_on_exec};
use crate::{FRAME_BYTES_MAX, FRAME_DESCRIPTORS_MAX};

const HEADER_BYTES: usize = 5;
/// What one read takes: a page, because most messages fit into one and the pages of a buffer are made when touched.
const READ_BYTES: usize = 4096;

/// The bytes of one frame.
///
/// # Errors
/// When the body is longer than [`FRAME_BYTES_MAX`] or there are too many descriptors.
pub fn encode<T: Serialize>(message: &T, descriptors: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; HEADER_BYTES];
    serde_json::to_writer(&mut bytes, message).map_err(io::Error::other)?;
    let body = bytes.len() - HEADER_BYTES;
    if body > FRAME_BYTES_MAX || descriptors > FRAME_DESCRIPTORS_MAX {
        return Err(invalid(format!(
            "a frame of {body} bytes and {descriptors} descriptors is over the limit"
        )));
    }
    bytes[..4].copy_from_slice(&(body as u32).to_le_bytes());
    bytes[4] = descriptors as u8;
    Ok(bytes)
}

/// Turns what a socket delivers into messages.
#[derive(Default)]
pub struct Decoder {
    bytes: Vec<u8>,
    start: usize,
    descriptors: VecDeque<OwnedFd>,
}

impl Decoder {
    /// Adds what was read.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        } else if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds a descriptor that was received.
    pub fn push_descriptor(&mut self, descriptor: OwnedFd) {
        self.descriptors.push_back(descriptor);
    }

    /// The next whole message with its descriptors, if there is one.
    ///
    /// # Errors
    /// When the frame is over the limit, is not the JSON of `T`, or lacks its descriptors; the stream is of no use after it.
    pub fn next_message<T: DeserializeOwned>(&mut self) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
        let Some(frame) = self.next_frame()? else { return Ok(None) };
        frame.map(Some).map_err(|bad: BadMessage| invalid(bad.message))
    }

    /// As [`Decoder::next_message`], but a whole frame whose content is wrong is told of by itself, and the next one can be
    /// read.
    ///
    /// # Errors
    /// When the frame is over the limit or lacks its descriptors; the stream is of no use after it.
    pub fn next_frame<T: DeserializeOwned>(
        &mut self,
    ) -> io::Result<Option<Result<(T, Vec<OwnedFd>), BadMessage>>> {
        let rest = &self.bytes[self.start..];
        let Some(header) = rest.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let body = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let count = header[4] as usize;
        if body > FRAME_BYTES_MAX || count > FRAME_DESCRIPTORS_MAX {
            return Err(invalid(format!(
                "a frame of {body} bytes and {count} descriptors is over the limit"
            )));
        }
        let Some(text) = rest.get(HEADER_BYTES..HEADER_BYTES + body) else { return Ok(None) };
        let message = serde_json::from_slice(text).map_err(|error| BadMessage::new(text, &error));
        if self.descriptors.len() < count {
            return Err(invalid(format!(
                "a frame announced {count} descriptors and brought {}",
                self.descriptors.len()
            )));
        }
        self.start += HEADER_BYTES + body;
        let descriptors = self.descriptors.drain(..count).collect();
        Ok(Some(message.map(|message| (message, descriptors))))
    }
}

/// A frame whose content is not the JSON of what was expected.
#[derive(Debug)]
pub struct BadMessage {
    /// The `id` in it, if there is one; 0 else.
    pub id: u64,
    /// What is wrong.
    pub message: String,
}

impl BadMessage {
    fn new(text: &[u8], error: &serde_json::Error) -> Self {
        let id = serde_json::from_slice::<serde_json::Value>(text)
            .ok()
            .and_then(|value| value.get("id")?.as_u64());
        Self { id: id.unwrap_or(0), message: error.to_string() }
    }
}

/// Sends `bytes`, the descriptors beside the first of them. Blocks until all is out, on a socket that does not block by itself too.
///
/// # Errors
/// What the socket says.
pub fn send_all(socket: BorrowedFd<'_>, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut sent = 0;
    if !descriptors.is_empty() {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FRAME_DESCRIPTORS_MAX))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(invalid("too many descriptors for one frame".to_string()));
        }
        sent = retry(socket, PollFlags::OUT, || sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SEND))?;
    }
    while sent < bytes.len() {
        sent += retry(socket, PollFlags::OUT, || send(socket, &bytes[sent..], SEND))?;
    }
    Ok(())
}

/// A socket with blocking frames in both directions.
pub struct Frames {
    socket: OwnedFd,
    decoder: Decoder,
}

impl Frames {
    /// Frames over a connected Unix stream socket.
    #[must_use]
    pub fn new(socket: OwnedFd) -> Self {
        Self { socket, decoder: Decoder::default() }
    }

    /// The socket itself, to wait on.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Sends one message.
    ///
    /// # Errors
    /// As [`encode`] and [`send_all`].
    pub fn send<T: Serialize>(&self, message: &T, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        send_all(self.socket.as_fd(), &encode(message, descriptors.len())?, descriptors)
    }

    /// A whole message that was read already, without waiting.
    ///
    /// # Errors
    /// As [`Decoder::next_message`].
    pub fn buffered<T: DeserializeOwned>(&mut self) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
        self.decoder.next_message()
    }

    /// Waits for one message; `None` when the other side has closed.
    ///
    /// # Errors
    /// As [`Decoder::next_message`], what the socket says, or `UnexpectedEof` in the middle of a frame. A signal ends the wait with
    /// `Interrupted`, so that the caller can look at its flags.
    pub fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
        loop {
            if let Some(frame) = self.decoder.next_message()? {
                return Ok(Some(frame));
            }
            if receive_into(self.socket.as_fd(), &mut self.decoder)? == 0 {
                return if self.decoder.start == self.decoder.bytes.len() {
                    Ok(None)
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                };
            }
        }
    }
}

/// One read with descriptors; the number of bytes, 0 at the end.
fn receive_into(socket: BorrowedFd<'_>, decoder: &mut Decoder) -> io::Result<usize> {
    let mut bytes = [0; READ_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FRAME_DESCRIPTORS_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = loop {
        let parts = &mut [IoSliceMut::new(&mut bytes)];
        match recvmsg(socket, parts, &mut control, RECEIVE) {
            Err(rustix::io::Errno::AGAIN) => {
                // A signal ends this wait as it would end the read.
                poll(&mut [PollFd::from_borrowed_fd(socket, PollFlags::IN)], None)?;
            }
            other => break other?,
        }
    };
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = part {
            descriptors.for_each(|descriptor| {
                close_on_exec(&descriptor);
                decoder.push_descriptor(descriptor);
            });
        }
    }
    decoder.push(&bytes[..message.bytes]);
    Ok(message.bytes)
}

/// Calls again after a signal, and when the socket is ready after it was not: its other owners may have made it non-blocking.
fn retry<T>(
    socket: BorrowedFd<'_>,
    until: PollFlags,
    mut call: impl FnMut() -> rustix::io::Result<T>,
) -> io::Result<T> {
    loop {
        match call() {
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => wait_for(socket, until),
            other => return other.map_err(io::Error::from),
        }
    }
}

/// Waits until the socket is ready, or a signal comes.
fn wait_for(socket: BorrowedFd<'_>, until: PollFlags) {
    let _ = poll(&mut [PollFd::from_borrowed_fd(socket, until)], None);
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::{Decoder, Frames, encode};
    use crate::{FromShell, Run, ToShell};

    #[test]
    fn a_frame_brings_its_descriptors_to_the_other_side() {
        let (left, right) = UnixStream::pair().expect("a socket pair");
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let sender = Frames::new(left.into());
        let run = Run { id: 7, script: "echo hi".into(), ..Run::default() };
        sender.send(&ToShell::Run(run), &[writer.as_fd()]).expect("sent");
        drop(writer);
        let mut receiver = Frames::new(right.into());
        let (message, descriptors) = receiver.receive::<ToShell>().expect("received").expect("a frame");
        assert!(matches!(message, ToShell::Run(run) if run.id == 7 && run.script == "echo hi"));
        let mut file = std::fs::File::from(descriptors.into_iter().next().expect("one descriptor"));
        file.write_all(b"through").expect("written");
        drop(file);
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("read");
        assert_eq!(text, "through");
    }

    #[test]
    fn a_socket_that_does_not_block_carries_whole_frames() {
        let (left, right) = UnixStream::pair().expect("a socket pair");
        left.set_nonblocking(true).expect("set");
        right.set_nonblocking(true).expect("set");
        let (sender, mut receiver) = (Frames::new(left.into()), Frames::new(right.into()));
        let sizes = [0, 1, 4091, 65_536, 212_000, 1_100_000, 15 << 20];
        let writer = std::thread::spawn(move || {
            for size in sizes {
                let run = Run { script: "x".repeat(size), ..Run::default() };
                sender.send(&ToShell::Run(run), &[]).expect("sent");
            }
        });
        for size in sizes {
            let (message, _) = receiver.receive::<ToShell>().expect("received").expect("a frame");
            assert!(matches!(message, ToShell::Run(run) if run.script.len() == size));
        }
        writer.join().expect("written");
    }

    #[test]
    fn bytes_may_come_in_any_pieces() {
        let bytes = encode(&FromShell::Ready { pid: 1, version: 1 }, 0).expect("encoded");
        let mut decoder = Decoder::default();
        for byte in [bytes.clone(), bytes].concat().chunks(3) {
            decoder.push(byte);
        }
        for _ in 0..2 {
            let frame = decoder.next_message::<FromShell>().expect("valid");
            assert!(matches!(frame, Some((FromShell::Ready { pid: 1, .. }, _))));
        }
        assert!(decoder.next_message::<FromShell>().expect("valid").is_none());
    }

    #[test]
    fn frames_that_break_the_rules_are_errors_and_not_panics() {
        for bytes in [
            &[255, 255, 255, 255, 0][..],
            &[2, 0, 0, 0, 0, b'n', b'o'],
            &[2, 0, 0, 0, 3, b'{', b'}'],
            &[0, 0, 0, 0, 200],
        ] {
            let mut decoder = Decoder::default();
            decoder.push(bytes);
            assert!(decoder.next_message::<FromShell>().is_err(), "{bytes:?}");
        }
    }
}
