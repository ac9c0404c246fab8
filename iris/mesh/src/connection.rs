//! One connection after its handshake: frames out, in batches and with bounded memory, and frames in. Owns the queue, the writer's and
//! the reader's loop, and ticks; leaves what frames mean to `node`.
//!
//! Who writes: `writing` is set by whoever took the bytes, under the lock, and by nobody else until it is unset; so bytes leave in the
//! order of their frames. A sender that finds nobody writing writes itself without waiting, unless the last write was a moment ago and the peer
//! has said nothing since: then messages come in a flood, and the writer thread takes them in batches. What nobody waits for (`send_by_and_by`) goes with the next frame, or
//! is written by the reader before it waits for longer than a moment.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::error::MeshError;
use crate::etf::{self, Private};
use crate::limits::{BUSY_MS, DIRECT_PAUSE_US, FRAME_BYTES_MAX, QUEUE_BYTES, QUEUE_BYTES_MAX, UNHURRIED_MS};
use crate::term::{Atom, Term};
use crate::transport::Transport;

/// Comes before the control message: no distribution header.
const PASS_THROUGH: u8 = 112;
/// Bytes that the reader asks for at once, and that a buffer may keep when it is empty.
const BUFFER_BYTES: usize = 256 << 10;

pub(crate) struct Connection {
    pub(crate) peer: Atom,
    /// What both can do.
    pub(crate) flags: u64,
    /// What both can do beyond the protocol.
    pub(crate) private: Private,
    /// Tells this connection from an earlier one to a node of the same name.
    pub(crate) number: u64,
    transport: Transport,
    tick: Duration,
    out: Mutex<Out>,
    work: Condvar,
    room: Condvar,
    /// The peer has said something since the last direct write: what is sent now may be an answer, which nobody keeps for a batch.
    heard: AtomicBool,
}

struct Out {
    bytes: Vec<u8>,
    /// The transport has something that the socket has not taken.
    left: bool,
    writing: bool,
    closed: bool,
    written: Instant,
    /// Among the bytes are some that nobody was told of yet.
    unhurried: bool,
}

impl Out {
    /// Whether there is something for the writer.
    fn waits(&self) -> bool {
        self.left || !self.bytes.is_empty()
    }
}

/// Whether a sender may be made to wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Haste {
    /// A message: its sender waits for a slow peer.
    Message,
    /// A message whose sender must not wait: it is told that the peer is busy.
    Prompt,
    /// A signal of the runtime: its sender may hold up others.
    Signal,
}

impl Connection {
    pub(crate) fn new(
        peer: Atom,
        (flags, private): (u64, Private),
        number: u64,
        transport: Transport,
        tick: Duration,
    ) -> Self {
        let written = Instant::now();
        let out =
            Out { bytes: Vec::new(), left: false, writing: false, closed: false, written, unhurried: false };
        Self {
            peer,
            flags,
            private,
            number,
            transport,
            tick,
            out: Mutex::new(out),
            work: Condvar::new(),
            room: Condvar::new(),
            heard: AtomicBool::new(false),
        }
    }

    pub(crate) fn has(&self, flag: u64) -> bool {
        self.flags & flag == flag
    }

    fn gone(&self) -> MeshError {
        MeshError::NoConnection(self.peer.to_string())
    }

    /// Sends a control message, perhaps with what it is about.
    pub(crate) fn send(&self, control: &Term, message: Option<&Term>, haste: Haste) -> Result<(), MeshError> {
        self.send_all(&[(control, message)], haste)
    }

    /// Sends several at once: all of them or, with an error, none.
    pub(crate) fn send_all(&self, frames: &[(&Term, Option<&Term>)], haste: Haste) -> Result<(), MeshError> {
        let out = self.put(frames, haste)?;
        if out.writing || out.left {
            return Ok(());
        }
        let heard = self.heard.swap(false, Ordering::Relaxed);
        if !heard && out.written.elapsed() < Duration::from_micros(DIRECT_PAUSE_US) {
            self.work.notify_one();
        } else {
            self.write_now(out);
        }
        Ok(())
    }

    /// Sends what nobody waits for, on the reader's thread: with the next frame, or when nothing has come for a moment.
    pub(crate) fn send_by_and_by(&self, control: &Term) -> Result<(), MeshError> {
        self.put(&[(control, None)], Haste::Signal)?.unhurried = true;
        Ok(())
    }

    /// Adds frames to what is to be written.
    fn put(&self, frames: &[(&Term, Option<&Term>)], haste: Haste) -> Result<MutexGuard<'_, Out>, MeshError> {
        let mut out = self.out.lock();
        if haste != Haste::Signal && out.bytes.len() > QUEUE_BYTES && !out.closed {
            let until = Instant::now() + Duration::from_millis(BUSY_MS);
            while out.bytes.len() > QUEUE_BYTES && !out.closed {
                if haste == Haste::Prompt || self.room.wait_until(&mut out, until).timed_out() {
                    return Err(MeshError::Busy(self.peer.to_string()));
                }
            }
        }
        if out.closed {
            return Err(self.gone());
        }
        if out.bytes.len() > QUEUE_BYTES_MAX {
            drop(out);
            self.close();
            return Err(self.gone());
        }
        let begin = out.bytes.len();
        for (control, message) in frames {
            if let Err(error) = frame(&mut out.bytes, control, *message, self.private) {
                out.bytes.truncate(begin);
                return Err(error);
            }
        }
        Ok(out)
    }

    /// Writes what there is without waiting for the socket; the rest is the writer's.
    fn write_now(&self, mut out: MutexGuard<'_, Out>) {
        out.writing = true;
        out.unhurried = false;
        // When it began: the socket may let the peer go first, and its answer is no flood.
        out.written = Instant::now();
        let mut bytes = std::mem::take(&mut out.bytes);
        drop(out);
        let left = self.transport.send_now(&mut bytes);
        let mut out = self.out.lock();
        out.left = left;
        // Errors are for the writer, who meets them again.
        let more = left || !out.bytes.is_empty();
        if bytes.capacity() <= BUFFER_BYTES || !bytes.is_empty() {
            bytes.append(&mut out.bytes);
            out.bytes = bytes;
        }
        out.writing = false;
        if more {
            self.work.notify_one();
        }
    }

    /// Before the reader waits: what nobody was in a hurry for goes out, unless something comes within a moment, which may have an answer that
    /// takes it along.
    fn send_unhurried(&self) {
        if !self.out.lock().unhurried || self.transport.comes_within(UNHURRIED_MS) {
            return;
        }
        let out = self.out.lock();
        if out.unhurried && !out.writing && !out.left && !out.closed {
            self.write_now(out);
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.out.lock().closed
    }

    /// Ends the connection; both loops come to their end.
    pub(crate) fn close(&self) {
        self.out.lock().closed = true;
        self.transport.close();
        self.work.notify_all();
        self.room.notify_all();
    }

    /// The writer's loop.
    pub(crate) fn write_all(&self) {
        let mut spare = Vec::new();
        let quarter = self.tick / 4;
        loop {
            let mut out = self.out.lock();
            while (!out.waits() || out.writing) && !out.closed {
                if self.work.wait_for(&mut out, quarter).timed_out() && !out.waits() && !out.writing {
                    out.bytes.extend([0; 4]);
                }
            }
            if out.closed {
                return;
            }
            out.writing = true;
            out.left = false;
            out.unhurried = false;
            std::mem::swap(&mut out.bytes, &mut spare);
            drop(out);
            // The socket has a time-out of one tick: a peer that reads nothing for so long is gone.
            let sent = self.transport.write_all(&spare);
            spare.clear();
            if spare.capacity() > BUFFER_BYTES {
                spare = Vec::new();
            }
            let mut out = self.out.lock();
            out.writing = false;
            out.written = Instant::now();
            self.room.notify_all();
            drop(out);
            if sent.is_err() {
                self.close();
            }
        }
    }

    /// The reader's loop: gives whole frames to `take` until that or the connection ends it.
    pub(crate) fn read_all(
        &self,
        mut take: impl FnMut(&[u8]) -> Result<(), MeshError>,
    ) -> Result<(), MeshError> {
        let failed = |error| MeshError::Io("reading".into(), error);
        self.transport.set_read_timeout(Some(self.tick / 4)).map_err(failed)?;
        let (mut buffer, mut filled) = (vec![0; BUFFER_BYTES], 0);
        let mut heard = Instant::now();
        loop {
            self.send_unhurried();
            match self.transport.read(&mut buffer[filled..]) {
                Ok(0) => return Err(self.gone()),
                Ok(count) => {
                    filled += count;
                    self.heard.store(true, Ordering::Relaxed);
                    heard = Instant::now();
                }
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    ErrorKind::WouldBlock | ErrorKind::TimedOut if heard.elapsed() < self.tick => {}
                    _ => return Err(failed(error)),
                },
            }
            let mut begin = 0;
            while let Some((length, rest)) = buffer[begin..filled].split_first_chunk::<4>() {
                let length = u32::from_be_bytes(*length) as usize;
                if length > FRAME_BYTES_MAX {
                    return Err(MeshError::FrameLength);
                }
                let Some(frame) = rest.get(..length) else { break };
                begin += 4 + length;
                if !frame.is_empty() {
                    take(frame)?;
                }
            }
            buffer.copy_within(begin..filled, 0);
            filled -= begin;
            if filled == buffer.len() {
                // Grows with what came, not with what was announced.
                buffer.resize(filled * 2, 0);
            } else if filled == 0 && buffer.len() > BUFFER_BYTES {
                buffer = vec![0; BUFFER_BYTES];
            }
        }
    }
}

fn frame(
    out: &mut Vec<u8>,
    control: &Term,
    message: Option<&Term>,
    private: Private,
) -> Result<(), MeshError> {
    let begin = out.len();
    out.extend([0, 0, 0, 0, PASS_THROUGH]);
    etf::encode(out, control)?;
    message.map_or(Ok(()), |message| etf::encode_for(out, message, private))?;
    let length = out.len() - begin - 4;
    if length > FRAME_BYTES_MAX {
        return Err(MeshError::FrameLength);
    }
    out[begin..begin + 4].copy_from_slice(&(length as u32).to_be_bytes());
    Ok(())
}

/// Takes a frame apart: the control message and what it is about.
pub(crate) fn parse(frame: &[u8], private: Private) -> Result<(Vec<Term>, Option<Term>), MeshError> {
    let rest = match frame {
        [PASS_THROUGH, rest @ ..] => rest,
        _ => return Err(MeshError::Frame("a distribution header was not agreed on")),
    };
    let (control, rest) = etf::decode(rest)?;
    let Term::Tuple(control) = control else {
        return Err(MeshError::Frame("the control message is no tuple"));
    };
    if rest.is_empty() {
        return Ok((control, None));
    }
    let (message, rest) = etf::decode_from(rest, private)?;
    if !rest.is_empty() {
        return Err(MeshError::Frame("bytes after the message"));
    }
    Ok((control, Some(message)))
}
