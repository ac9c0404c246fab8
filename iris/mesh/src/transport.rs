//! The bytes of one connection: a TCP stream, perhaps with TLS over it. Owns what TLS has encrypted and the socket has not taken, and what
//! came and is not decrypted yet; leaves frames to `connection` and certificates to `tls`.
//!
//! Who may do what: one thread writes at a time (`Connection` sees to that) and one reads; both lock the session, never while they wait for
//! the socket. What TLS wants to say by itself (an answer to a change of keys) goes out with the next write: a tick at the latest.

use std::io::{ErrorKind, Read, Result, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{SendFlags, send};
use rustls::pki_types::CertificateDer;

/// Bytes that are encrypted at once, and that are read from the socket at once.
const CHUNK_BYTES: usize = 64 << 10;

pub(crate) struct Transport {
    stream: TcpStream,
    tls: Option<Tls>,
}

struct Tls {
    session: Mutex<rustls::Connection>,
    /// Encrypted, and not taken by the socket.
    sealed: Mutex<Vec<u8>>,
    came: Mutex<Came>,
}

/// Came, and not decrypted yet: from `begin` on.
#[derive(Default)]
struct Came {
    bytes: Vec<u8>,
    begin: usize,
}

fn broken(error: rustls::Error) -> std::io::Error {
    std::io::Error::new(ErrorKind::InvalidData, error)
}

impl Transport {
    pub(crate) fn plain(stream: TcpStream) -> Self {
        Self { stream, tls: None }
    }

    /// TLS after its handshake.
    pub(crate) fn tls(stream: TcpStream, mut session: rustls::Connection) -> Self {
        session.set_buffer_limit(None);
        let tls = Tls { session: Mutex::new(session), sealed: Mutex::default(), came: Mutex::default() };
        Self { stream, tls: Some(tls) }
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// The certificates that the other end has shown, its own first.
    pub(crate) fn certificates(&self) -> Vec<CertificateDer<'static>> {
        let of = |tls: &Tls| tls.session.lock().peer_certificates().map(<[_]>::to_vec);
        self.tls.as_ref().and_then(of).unwrap_or_default()
    }

    pub(crate) fn set_read_timeout(&self, timeout: Option<Duration>) -> Result<()> {
        self.stream.set_read_timeout(timeout)
    }

    pub(crate) fn set_write_timeout(&self, timeout: Option<Duration>) -> Result<()> {
        self.stream.set_write_timeout(timeout)
    }

    pub(crate) fn close(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Sends what can be sent without waiting and takes it out of `bytes`; true if something is left for `write_all`.
    pub(crate) fn send_now(&self, bytes: &mut Vec<u8>) -> bool {
        let Some(tls) = &self.tls else { return self.send_some(bytes) };
        let mut sealed = std::mem::take(&mut *tls.sealed.lock());
        // Errors are for whoever writes next, who meets them again.
        let more = match tls.seal(bytes, &mut sealed) {
            Ok(()) => {
                bytes.clear();
                self.send_some(&mut sealed)
            }
            Err(_) => true,
        };
        *tls.sealed.lock() = sealed;
        more
    }

    fn send_some(&self, bytes: &mut Vec<u8>) -> bool {
        let sent = send(&self.stream, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL).unwrap_or(0);
        bytes.drain(..sent);
        !bytes.is_empty()
    }

    /// Sends all of it, and what was left before; waits for the socket.
    pub(crate) fn write_all(&self, bytes: &[u8]) -> Result<()> {
        let Some(tls) = &self.tls else { return (&self.stream).write_all(bytes) };
        let mut sealed = std::mem::take(&mut *tls.sealed.lock());
        let mut chunks = bytes.chunks(CHUNK_BYTES);
        loop {
            let chunk = chunks.next();
            tls.seal(chunk.unwrap_or_default(), &mut sealed)?;
            (&self.stream).write_all(&sealed)?;
            sealed.clear();
            if chunk.is_none() {
                return Ok(());
            }
        }
    }

    /// Whether there is something to read within so many milliseconds. With TLS, which may have decrypted something already, nobody waits.
    pub(crate) fn comes_within(&self, ms: u64) -> bool {
        if self.tls.is_some() {
            return false;
        }
        let mut wanted = [PollFd::new(&self.stream, PollFlags::IN)];
        let until = Timespec { tv_sec: 0, tv_nsec: ms as i64 * 1_000_000 };
        poll(&mut wanted, Some(&until)).is_ok_and(|ready| ready > 0)
    }

    /// Reads what there is, at least a byte; 0 at the end.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> Result<usize> {
        let Some(tls) = &self.tls else { return (&self.stream).read(buffer) };
        let mut came = tls.came.lock();
        loop {
            let mut session = tls.session.lock();
            match session.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
            if came.begin < came.bytes.len() {
                let mut rest = &came.bytes[came.begin..];
                let taken = session.read_tls(&mut rest)?;
                session.process_new_packets().map_err(broken)?;
                came.begin += taken;
                continue;
            }
            drop(session);
            came.begin = 0;
            came.bytes.resize(CHUNK_BYTES, 0);
            let read = (&self.stream).read(&mut came.bytes);
            came.bytes.truncate(*read.as_ref().unwrap_or(&0));
            if read? == 0 {
                return Ok(0);
            }
        }
    }
}

impl Tls {
    /// Encrypts to the end of `sealed`, with whatever TLS has to say besides.
    fn seal(&self, bytes: &[u8], sealed: &mut Vec<u8>) -> Result<()> {
        let mut session = self.session.lock();
        session.writer().write_all(bytes)?;
        while session.wants_write() {
            session.write_tls(sealed)?;
        }
        Ok(())
    }
}
