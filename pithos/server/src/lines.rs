//! The client's lines on their way to the protocol, which drops a line that is over its limit: its request would wait for ever. After such a line a request
//! with the same id and a method that only says so is put in, and the answer to it is an error that names the limit.

use std::io;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, ready};

use regex::bytes::Regex;
use rmcp::transport::async_rw::DEFAULT_MAX_LINE_LENGTH;
use tokio::io::{AsyncRead, ReadBuf};

/// The method of what is put in.
pub(crate) const TOO_LONG: &str = "pithos/line-too-long";
/// What the error says.
pub(crate) fn too_long_message() -> String {
    format!("the request is over the limit of {DEFAULT_MAX_LINE_LENGTH} bytes; put large data into a file")
}

/// An id stands among so many bytes of a request's beginning or end.
const END_BYTES: usize = 256;

/// Passes on what it reads.
pub(crate) struct Lines<R> {
    inner: R,
    length: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
    /// To be given before anything else is read.
    kept: Vec<u8>,
}

impl<R> Lines<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, length: 0, head: Vec::new(), tail: Vec::new(), kept: Vec::new() }
    }

    /// Looks at what was read; where in it a line over the limit ended, with what is to be put in there.
    fn look(&mut self, bytes: &[u8]) -> Option<(usize, Vec<u8>)> {
        let (mut at, mut found) = (0, None);
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            at += piece.len();
            self.length += piece.len();
            let room = END_BYTES.saturating_sub(self.head.len()).min(piece.len());
            self.head.extend_from_slice(&piece[..room]);
            self.tail.extend_from_slice(&piece[piece.len().saturating_sub(END_BYTES)..]);
            let over = self.tail.len().saturating_sub(END_BYTES);
            self.tail.drain(..over);
            if piece.ends_with(b"\n") {
                if self.length > DEFAULT_MAX_LINE_LENGTH
                    && let Some(id) = id_of(&self.head, &self.tail)
                {
                    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{TOO_LONG}\"}}\n");
                    found = Some((at, line.into_bytes()));
                }
                self.length = 0;
                self.head.clear();
                self.tail.clear();
            }
        }
        found
    }
}

/// The id of a request whose middle nobody reads.
fn id_of(head: &[u8], tail: &[u8]) -> Option<String> {
    static ID: OnceLock<Option<Regex>> = OnceLock::new();
    let id = ID.get_or_init(|| Regex::new(r#""id"\s*:\s*("[^"\\]*"|-?[0-9]+)"#).ok()).as_ref()?;
    let params = head.windows(8).position(|window| window == b"\"params\"").unwrap_or(head.len());
    let text = |found: regex::bytes::Captures<'_>| String::from_utf8(found[1].to_vec()).ok();
    id.captures(&head[..params]).and_then(text).or_else(|| id.captures_iter(tail).last().and_then(text))
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let lines = self.get_mut();
        if !lines.kept.is_empty() {
            let count = lines.kept.len().min(buffer.remaining());
            buffer.put_slice(&lines.kept[..count]);
            lines.kept.drain(..count);
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut lines.inner).poll_read(context, buffer))?;
        if let Some((at, mut put_in)) = lines.look(&buffer.filled()[before..]) {
            put_in.extend_from_slice(&buffer.filled()[before + at..]);
            lines.kept = put_in;
            buffer.set_filled(before + at);
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Lines, id_of};

    #[test]
    fn ids_are_found_at_either_end() {
        assert_eq!(id_of(b"{\"id\": 7, \"params\": {\"id\": 8", b"xxx}}"), Some("7".into()));
        assert_eq!(
            id_of(b"{\"params\": {\"id\": 8", b"{\"id\": 9}}, \"id\": \"a\"}\n"),
            Some("\"a\"".into())
        );
        assert_eq!(id_of(b"{}", b"{}"), None);
    }

    #[test]
    fn a_line_over_the_limit_is_followed_by_a_word_about_it() {
        let mut lines = Lines::new(tokio::io::empty());
        assert_eq!(lines.look(b"{\"id\":1}\n{\"id\":2,"), None);
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..17 {
            assert_eq!(lines.look(&piece), None);
        }
        let (at, line) = lines.look(b"}\n{\"id\":3}").expect("its end");
        assert_eq!(
            (at, line.as_slice()),
            (2, &b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"pithos/line-too-long\"}\n"[..])
        );
        assert_eq!(lines.look(b"\n"), None);
    }
}
