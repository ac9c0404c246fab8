//! The handshake, version 6: who both are, what both can do, and that both know the cookie. Owns its messages and their order, over any
//! byte stream. Invariant: nothing of what a peer says has an effect before its digest was right.

use std::io::{Read, Write};

use md5::{Digest, Md5};

use crate::error::MeshError;
use crate::etf::Private;
use crate::limits::{ATOM_CHARS_MAX, HANDSHAKE_BYTES_MAX};

/// Capabilities, by the protocol's names.
pub(crate) mod flag {
    pub(crate) const EXTENDED_REFERENCES: u64 = 1 << 2;
    pub(crate) const DIST_MONITOR: u64 = 1 << 3;
    pub(crate) const FUN_TAGS: u64 = 1 << 4;
    pub(crate) const DIST_MONITOR_NAME: u64 = 1 << 5;
    pub(crate) const NEW_FUN_TAGS: u64 = 1 << 7;
    pub(crate) const EXTENDED_PIDS_PORTS: u64 = 1 << 8;
    pub(crate) const EXPORT_PTR_TAG: u64 = 1 << 9;
    pub(crate) const BIT_BINARIES: u64 = 1 << 10;
    pub(crate) const NEW_FLOATS: u64 = 1 << 11;
    pub(crate) const UNICODE_IO: u64 = 1 << 12;
    pub(crate) const SMALL_ATOM_TAGS: u64 = 1 << 14;
    pub(crate) const UTF8_ATOMS: u64 = 1 << 16;
    pub(crate) const MAP_TAG: u64 = 1 << 17;
    pub(crate) const BIG_CREATION: u64 = 1 << 18;
    pub(crate) const SEND_SENDER: u64 = 1 << 19;
    pub(crate) const BIG_SEQTRACE_LABELS: u64 = 1 << 20;
    pub(crate) const EXIT_PAYLOAD: u64 = 1 << 22;
    pub(crate) const HANDSHAKE_23: u64 = 1 << 24;
    pub(crate) const UNLINK_ID: u64 = 1 << 25;
    pub(crate) const V4_NC: u64 = 1 << 34;
    pub(crate) const ALIAS: u64 = 1 << 35;
    pub(crate) const MANDATORY_25_DIGEST: u64 = 1 << 36;

    /// What a peer must be able to do.
    pub(crate) const REQUIRED: u64 = EXTENDED_REFERENCES
        | FUN_TAGS
        | NEW_FUN_TAGS
        | EXTENDED_PIDS_PORTS
        | EXPORT_PTR_TAG
        | BIT_BINARIES
        | NEW_FLOATS
        | UTF8_ATOMS
        | MAP_TAG
        | BIG_CREATION
        | HANDSHAKE_23;

    /// What we can do. Not offered: the atom cache, fragments, spawning, and being listed among the visible nodes (`global` would
    /// expect its protocol of us).
    pub(crate) const OURS: u64 = REQUIRED
        | DIST_MONITOR
        | DIST_MONITOR_NAME
        | UNICODE_IO
        | SMALL_ATOM_TAGS
        | SEND_SENDER
        | BIG_SEQTRACE_LABELS
        | EXIT_PAYLOAD
        | UNLINK_ID
        | V4_NC
        | ALIAS
        | MANDATORY_25_DIGEST;
}

/// What a node says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) name: String,
    pub(crate) flags: u64,
    pub(crate) creation: u32,
    /// What it can do beyond the protocol: said after the name, where those who do not know it do not look.
    pub(crate) private: Private,
}

/// What an acceptor answers to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    OkSimultaneous,
    Nok,
    /// Who it is may not say that.
    NotAllowed,
    /// There is a connection of that name already: shall it be given up?
    Alive,
}

type Result<T> = std::result::Result<T, MeshError>;

/// The proof that its sender knows the cookie.
pub(crate) fn digest(cookie: &str, challenge: u32) -> [u8; 16] {
    Md5::new().chain_update(cookie).chain_update(challenge.to_string()).finalize().into()
}

/// Compares without telling by the time where the first difference is.
fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).fold(0, |sum, (left, right)| sum | (left ^ right)) == 0
}

/// Four random bytes.
pub(crate) fn random_word() -> Result<u32> {
    let mut bytes = [0; 4];
    let got = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty());
    got.map_err(|error| MeshError::Io("random numbers".into(), error.into()))?;
    Ok(u32::from_ne_bytes(bytes))
}

/// The messages of a handshake over a stream. Over TLS their length is told in four bytes, as OTP does.
pub(crate) struct Messages<S> {
    pub(crate) stream: S,
    pub(crate) wide: bool,
}

impl<S: Read + Write> Messages<S> {
    fn send(&mut self, message: &[u8]) -> Result<()> {
        let length = (message.len() as u32).to_be_bytes();
        let mut framed = if self.wide { length.to_vec() } else { length[2..].to_vec() };
        framed.extend_from_slice(message);
        self.stream.write_all(&framed).map_err(|error| MeshError::Io("handshake".into(), error))
    }

    fn receive(&mut self) -> Result<Vec<u8>> {
        let failed = |error| MeshError::Io("handshake".into(), error);
        let mut length = [0; 4];
        let head = if self.wide { &mut length[..] } else { &mut length[2..] };
        self.stream.read_exact(head).map_err(failed)?;
        let length = u32::from_be_bytes(length) as usize;
        if length > HANDSHAKE_BYTES_MAX {
            return Err(MeshError::Handshake("a message that is too long"));
        }
        let mut message = vec![0; length];
        self.stream.read_exact(&mut message).map_err(failed)?;
        Ok(message)
    }
}

/// What stands around the name in a handshake's message.
const INTRODUCTION_BYTES: usize = 19 + PRIVATE.len() + 4;
/// Begins what an iris node says after its name.
const PRIVATE: &[u8] = b"iris";

/// Whether it can name a node: one `@` with something on both sides, no longer than an atom, and short enough for a handshake.
pub(crate) fn is_node_name(name: &str) -> bool {
    let parts = name.split_once('@');
    name.chars().count() <= ATOM_CHARS_MAX
        && name.len() <= HANDSHAKE_BYTES_MAX - INTRODUCTION_BYTES
        && !name.chars().any(|char| char.is_control() || char.is_whitespace())
        && parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'))
}

/// The body that names and challenges share: flags, perhaps a challenge, creation, name.
fn introduction(identity: &Identity, challenge: Option<u32>) -> Vec<u8> {
    let mut message = vec![b'N'];
    message.extend(identity.flags.to_be_bytes());
    message.extend(challenge.iter().flat_map(|challenge| challenge.to_be_bytes()));
    message.extend(identity.creation.to_be_bytes());
    message.extend((identity.name.len() as u16).to_be_bytes());
    message.extend_from_slice(identity.name.as_bytes());
    if identity.private != Private::default() {
        message.extend_from_slice(PRIVATE);
        message.extend(identity.private.0.to_be_bytes());
    }
    message
}

fn parse_introduction(message: &[u8], challenged: bool) -> Result<(Identity, u32)> {
    const SHORT: MeshError = MeshError::Handshake("a message that is too short");
    match message.first() {
        Some(b'N') => {}
        Some(b'n') => return Err(MeshError::Handshake("the peer speaks the protocol of before OTP 23")),
        _ => return Err(MeshError::Handshake("not a name")),
    }
    let (flags, rest) = message[1..].split_first_chunk::<8>().ok_or(SHORT)?;
    let (challenge, rest) = if challenged {
        let (challenge, rest) = rest.split_first_chunk::<4>().ok_or(SHORT)?;
        (u32::from_be_bytes(*challenge), rest)
    } else {
        (0, rest)
    };
    let (creation, rest) = rest.split_first_chunk::<4>().ok_or(SHORT)?;
    let (length, rest) = rest.split_first_chunk::<2>().ok_or(SHORT)?;
    let (name, after) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length))).ok_or(SHORT)?;
    // Whatever else comes after the name is for later versions.
    let private = after.strip_prefix(PRIVATE).and_then(|rest| rest.first_chunk::<4>());
    let private = private.map_or(Private::default(), |bits| Private(u32::from_be_bytes(*bits)));
    let name = std::str::from_utf8(name).ok().filter(|name| is_node_name(name));
    let name = name.ok_or(MeshError::Handshake("not the name of a node"))?.to_owned();
    let mut flags = u64::from_be_bytes(*flags);
    if flags & flag::MANDATORY_25_DIGEST != 0 {
        flags |= flag::REQUIRED;
    }
    if flags & flag::REQUIRED != flag::REQUIRED {
        return Err(MeshError::Handshake("the peer lacks what is mandatory since OTP 25"));
    }
    Ok((Identity { name, flags, creation: u32::from_be_bytes(*creation), private }, challenge))
}

/// The side that connected. Returns who answered. `known` is told just before the peer can count us as connected.
pub(crate) fn initiate(
    messages: &mut Messages<impl Read + Write>,
    own: &Identity,
    cookie: &str,
    known: impl FnOnce(&str),
) -> Result<Identity> {
    messages.send(&introduction(own, None))?;
    match messages.receive()?.as_slice() {
        b"sok" | b"sok_simultaneous" => {}
        b"salive" => messages.send(b"strue")?,
        b"snok" => return Err(MeshError::Handshake("the peer is connecting to us")),
        b"snot_allowed" => return Err(MeshError::Handshake("the peer does not allow it")),
        _ => return Err(MeshError::Handshake("not a status")),
    }
    let (peer, challenge) = parse_introduction(&messages.receive()?, true)?;
    let ours = random_word()?;
    known(&peer.name);
    let mut reply = vec![b'r'];
    reply.extend(ours.to_be_bytes());
    reply.extend(digest(cookie, challenge));
    messages.send(&reply)?;
    match messages.receive().map_err(|_| MeshError::Handshake("the peer refused the cookie"))?.as_slice() {
        [b'a', proof @ ..] if same(proof, &digest(cookie, ours)) => Ok(peer),
        _ => Err(MeshError::Handshake("the peer's cookie is another one")),
    }
}

/// The side that was connected to. `status` says what to answer to a name; `known` is told when the peer has proved that it knows the cookie
/// and cannot know yet that we do.
pub(crate) fn accept(
    messages: &mut Messages<impl Read + Write>,
    own: &Identity,
    cookie: &str,
    status: impl FnOnce(&str) -> Status,
    known: impl FnOnce(&str),
) -> Result<Identity> {
    let (peer, _) = parse_introduction(&messages.receive()?, false)?;
    if peer.name == own.name {
        messages.send(b"snot_allowed")?;
        return Err(MeshError::Handshake("the peer has our name"));
    }
    match status(&peer.name) {
        Status::Ok => messages.send(b"sok")?,
        Status::OkSimultaneous => messages.send(b"sok_simultaneous")?,
        Status::Nok => {
            messages.send(b"snok")?;
            return Err(MeshError::Handshake("we are connecting to the peer"));
        }
        Status::NotAllowed => {
            messages.send(b"snot_allowed")?;
            return Err(MeshError::Handshake("the peer's certificate is not one of the host in its name"));
        }
        Status::Alive => {
            messages.send(b"salive")?;
            if messages.receive()? != b"strue" {
                return Err(MeshError::Handshake("the peer keeps its other connection"));
            }
        }
    }
    let challenge = random_word()?;
    messages.send(&introduction(own, Some(challenge)))?;
    let reply = messages.receive()?;
    let (theirs, proof) = match reply.as_slice() {
        [b'r', rest @ ..] => rest.split_first_chunk::<4>(),
        _ => None,
    }
    .ok_or(MeshError::Handshake("not a reply to the challenge"))?;
    if !same(proof, &digest(cookie, challenge)) {
        return Err(MeshError::Handshake("the peer's cookie is another one"));
    }
    known(&peer.name);
    let mut ack = vec![b'a'];
    ack.extend(digest(cookie, u32::from_be_bytes(*theirs)));
    messages.send(&ack)?;
    Ok(peer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    fn identity(name: &str) -> Identity {
        Identity { name: name.into(), flags: flag::OURS, creation: 7, private: Private::TEXT }
    }

    fn over<S>(stream: S) -> Messages<S> {
        Messages { stream, wide: false }
    }

    fn meet(left: &str, right: &str, status: Status, wide: bool) -> (Result<Identity>, Result<Identity>) {
        let (here, there) = UnixStream::pair().unwrap();
        let (mut here, mut there) = (Messages { stream: here, wide }, Messages { stream: there, wide });
        let cookie = right.to_owned();
        let other =
            std::thread::spawn(move || accept(&mut there, &identity("b@h"), &cookie, |_| status, |_| {}));
        let result = initiate(&mut here, &identity("a@h"), left, |_| {});
        drop(here);
        (result, other.join().unwrap())
    }

    #[test]
    fn both_learn_who_the_other_is() {
        for status in [Status::Ok, Status::OkSimultaneous, Status::Alive] {
            for wide in [false, true] {
                let (left, right) = meet("secret", "secret", status, wide);
                assert_eq!((left.unwrap(), right.unwrap()), (identity("b@h"), identity("a@h")));
            }
        }
    }

    #[test]
    fn what_follows_the_name_is_known_or_ignored() {
        let plain = introduction(&Identity { private: Private::default(), ..identity("a@h") }, None);
        for (after, expected) in [
            (&b""[..], Private::default()),
            (b"iri", Private::default()),
            (b"iris", Private::default()),
            (b"iris\0\0\0", Private::default()),
            (b"iris\0\0\0\x01", Private::TEXT),
            (b"iris\0\0\0\x81and more", Private(0x81)),
            (b"something else of later", Private::default()),
        ] {
            let message = [&plain[..], after].concat();
            assert_eq!(parse_introduction(&message, false).unwrap().0.private, expected, "{after:?}");
        }
    }

    #[test]
    fn another_cookie_is_refused_by_both() {
        let (left, right) = meet("secret", "other", Status::Ok, false);
        assert!(left.unwrap_err().to_string().contains("cookie"));
        assert!(right.unwrap_err().to_string().contains("cookie"));
    }

    #[test]
    fn any_other_bytes_are_an_error() {
        let (here, mut there) = UnixStream::pair().unwrap();
        over(here).send(&introduction(&identity("a@h"), None)).unwrap();
        let mut bytes = Vec::new();
        there.read_to_end(&mut bytes).unwrap();
        // What follows the name is free.
        let named = bytes.len() - PRIVATE.len() - 4;
        for at in 0..named {
            for value in [0, 1, b'n', b'@', 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let (mut here, there) = UnixStream::pair().unwrap();
                here.write_all(&changed).unwrap();
                here.shutdown(std::net::Shutdown::Write).unwrap();
                let mut there = over(there);
                assert!(accept(&mut there, &identity("b@h"), "secret", |_| Status::Ok, |_| {}).is_err());
            }
        }
        assert!(!is_node_name("a") && !is_node_name("@h") && !is_node_name("a@") && !is_node_name("a@b@c"));
    }
}
