//! The name in the first message of TLS (ClientHello, RFC 8446 4.1.2, server_name: RFC 6066 3). Reads and changes nothing.

use crate::limits::PROXY_HELLO_BYTES_MAX;

/// What the first bytes of a connection are.
#[derive(Debug, PartialEq)]
pub(super) enum Hello {
    /// TLS for this host.
    Named(String),
    /// TLS that names no host.
    Nameless,
    /// TLS that cannot be read.
    Broken,
    /// Something else.
    Other,
}

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const HOST_NAME: u8 = 0;

/// What these bytes begin; none when there are too few of them to say.
pub(super) fn hello(bytes: &[u8]) -> Option<Hello> {
    match bytes {
        [] => return None,
        [HANDSHAKE] => return None,
        [HANDSHAKE, 3, ..] => {}
        _ => return Some(Hello::Other),
    }
    // The message may be cut into several records.
    let mut message = Vec::new();
    let mut rest = bytes;
    let whole = loop {
        let Some((kind, body, more)) = record(rest) else { break false };
        if kind != HANDSHAKE {
            return Some(Hello::Broken);
        }
        message.extend_from_slice(body);
        rest = more;
        if length_of(&message).is_some_and(|length| message.len() >= length + 4) {
            break true;
        }
    };
    if !whole {
        return (bytes.len() > PROXY_HELLO_BYTES_MAX).then_some(Hello::Broken);
    }
    Some(match server_name(&message) {
        None => Hello::Broken,
        Some(None) => Hello::Nameless,
        Some(Some(name)) => Hello::Named(name),
    })
}

/// Kind and content of the record at the beginning, and what comes after it.
fn record(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (head, rest) = bytes.split_at_checked(5)?;
    let length = usize::from(u16::from_be_bytes([head[3], head[4]]));
    let (body, rest) = rest.split_at_checked(length)?;
    // An empty record would let a client send without end.
    (length > 0).then_some((head[0], body, rest))
}

fn length_of(message: &[u8]) -> Option<usize> {
    let [_, a, b, c, ..] = message else { return None };
    Some(usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c))
}

/// The name that a ClientHello asks for; none when it is none, or malformed.
fn server_name(message: &[u8]) -> Option<Option<String>> {
    let length = length_of(message)?;
    let mut at = Reader(message.get(4..4 + length)?);
    if message[0] != CLIENT_HELLO {
        return None;
    }
    // Version and random; session, ciphers, compression.
    at.take(2 + 32)?;
    let session = at.byte()?;
    at.take(session.into())?;
    let ciphers = at.word()?;
    at.take(ciphers.into())?;
    let compression = at.byte()?;
    at.take(compression.into())?;
    if at.0.is_empty() {
        return Some(None);
    }
    let extensions = at.word()?;
    let mut extensions = Reader(at.take(extensions.into())?);
    let mut found = None;
    while !extensions.0.is_empty() {
        let (kind, length) = (extensions.word()?, extensions.word()?);
        let body = extensions.take(length.into())?;
        if kind == SERVER_NAME {
            let mut names = Reader(body);
            let length = names.word()?;
            let mut names = Reader(names.take(length.into())?);
            let kind = names.byte()?;
            let length = names.word()?;
            let name = std::str::from_utf8(names.take(length.into())?).ok()?;
            // One name, said once: two would be read differently by different servers.
            if kind != HOST_NAME || !names.0.is_empty() || found.is_some() || name.contains('\0') {
                return None;
            }
            found = Some(name.to_string());
        }
    }
    Some(found)
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn word(&mut self) -> Option<u16> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }
}

/// A ClientHello for tests, with this name.
#[cfg(test)]
pub(super) fn message_for(name: Option<&str>) -> Vec<u8> {
    let words = |bytes: &[u8]| [&u16::try_from(bytes.len()).expect("short").to_be_bytes(), bytes].concat();
    let names = name.map_or(Vec::new(), |name| {
        let entry = [&[HOST_NAME][..], &words(name.as_bytes())].concat();
        [&SERVER_NAME.to_be_bytes()[..], &words(&words(&entry))].concat()
    });
    let other = [&[0, 43][..], &words(&[2, 3, 4])].concat();
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.extend([0, 0, 2, 0x13, 1, 1, 0]);
    body.extend(words(&[other, names].concat()));
    let length = u32::try_from(body.len()).expect("short").to_be_bytes();
    let message = [&[CLIENT_HELLO, length[1], length[2], length[3]][..], &body].concat();
    [&[HANDSHAKE, 3, 1][..], &words(&message)].concat()
}

#[cfg(test)]
mod tests {
    use super::{Hello, hello, message_for};

    #[test]
    fn the_name_is_found_however_the_bytes_arrive() {
        let bytes = message_for(Some("example.org"));
        for end in 0..bytes.len() {
            assert_eq!(hello(&bytes[..end]), None, "{end} bytes");
        }
        assert_eq!(hello(&bytes), Some(Hello::Named("example.org".to_string())));
        assert_eq!(hello(&message_for(None)), Some(Hello::Nameless));
        assert_eq!(hello(b"GET / HTTP/1.1\r\n"), Some(Hello::Other));
        // The same message in records of one byte each.
        let cut: Vec<u8> = bytes[5..].iter().flat_map(|byte| [22, 3, 1, 0, 1, *byte]).collect();
        assert_eq!(hello(&cut), Some(Hello::Named("example.org".to_string())));
    }

    #[test]
    fn whatever_comes_is_answered_without_a_panic() {
        let bytes = message_for(Some("example.org"));
        for at in 0..bytes.len() {
            for value in [0, 1, 127, 255] {
                let mut broken = bytes.clone();
                broken[at] = value;
                let _ = hello(&broken);
            }
        }
        assert_eq!(hello(&[22, 3, 1, 0, 0]), None);
        assert_eq!(hello(&[&[22, 3, 1][..], &[0; 70_000]].concat()), Some(Hello::Broken));
    }
}
