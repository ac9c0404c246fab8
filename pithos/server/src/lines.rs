//! The server's side of JSON-RPC lines over a pair of streams. Every line that wants an answer gets one, what [`UnderWay`] refuses included, and so does a line
//! that is longer than anybody may send. Invariants: memory stays under the limit of a line, whatever comes; while the client does not
//! read one refusal, no further line is read.

use std::io;
use std::sync::Arc;

use pithos_sessions::Locked;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::limits::{LAST_WORDS, LINE_BYTES};
use crate::message::{END_BYTES, Judged, UnderWay};

/// A line buffer that one large line has grown is given back.
const BUFFER_KEPT: usize = 64 * 1024;

type Writer<W> = Arc<Mutex<Option<W>>>;

/// The lines of one client.
pub(crate) struct Lines<R, W> {
    from: BufReader<R>,
    line: Vec<u8>,
    /// Bytes of the present line so far, those that are not kept included.
    length: usize,
    /// The last bytes of a line that is over the limit.
    tail: Vec<u8>,
    to: Writer<W>,
    under_way: Arc<Locked<UnderWay>>,
    /// A request has come: only now the protocol takes anything else.
    begun: bool,
    refusal: Option<JoinHandle<()>>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin + Send + 'static> Lines<R, W> {
    pub(crate) fn new(from: R, to: W) -> Self {
        Self {
            from: BufReader::with_capacity(BUFFER_KEPT, from),
            line: Vec::new(),
            length: 0,
            tail: Vec::new(),
            to: Arc::new(Mutex::new(Some(to))),
            under_way: Arc::default(),
            begun: false,
            refusal: None,
        }
    }

    /// Reads until the end of a line; false at the end of everything. May be dropped and called again at any time.
    async fn fill(&mut self) -> bool {
        loop {
            let Ok(available) = self.from.fill_buf().await else { return false };
            if available.is_empty() {
                // What ends without a line end is a line as well.
                return self.length > 0;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |at| at + 1);
            let piece = &available[..taken];
            self.length += taken;
            if self.length <= LINE_BYTES {
                self.line.extend_from_slice(piece);
            } else {
                if self.line.len() > END_BYTES {
                    // The first piece that is too much: from now on only the ends are kept.
                    self.tail = self.line.split_off(self.line.len() - END_BYTES);
                    self.line.truncate(END_BYTES);
                    self.line.shrink_to_fit();
                }
                self.tail.extend_from_slice(&piece[piece.len().saturating_sub(END_BYTES)..]);
                let over = self.tail.len().saturating_sub(END_BYTES);
                self.tail.drain(..over);
            }
            self.from.consume(taken);
            if end.is_some() {
                return true;
            }
        }
    }

    /// What the line that was read is, and room for the next one.
    fn judge(&mut self) -> Judged {
        let judged = self.under_way.with(|calls| {
            if self.length > LINE_BYTES {
                Judged::Wrong(Box::new(calls.too_long(&self.line, &self.tail, LINE_BYTES)))
            } else {
                calls.judge(&self.line)
            }
        });
        self.length = 0;
        self.tail.clear();
        self.line.clear();
        self.line.shrink_to(BUFFER_KEPT);
        judged
    }
}

async fn write<W: AsyncWrite + Unpin>(to: Writer<W>, message: ServerJsonRpcMessage) -> io::Result<()> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut to = to.lock().await;
    let to = to.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    to.write_all(&line).await?;
    to.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.under_way.with(|calls| calls.answered(&message));
        write(Arc::clone(&self.to), message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(refusal) = &mut self.refusal {
                // A client that cannot be written to will be found gone when it is read from.
                let _ = refusal.await;
                self.refusal = None;
            }
            if !self.fill().await {
                return None;
            }
            match self.judge() {
                Judged::Good(message) => {
                    self.begun |= matches!(*message, JsonRpcMessage::Request(_));
                    // Before there was a request, the protocol ends at anything else.
                    if self.begun {
                        return Some(*message);
                    }
                }
                Judged::Wrong(message) => {
                    let written = write(Arc::clone(&self.to), *message);
                    self.refusal = Some(tokio::spawn(async { drop(written.await) }));
                }
                Judged::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        let last = async {
            if let Some(refusal) = self.refusal.take() {
                let _ = refusal.await;
            }
            drop(self.to.lock().await.take());
        };
        // A client that reads nothing must not keep the server.
        tokio::time::timeout(LAST_WORDS, last).await.map_err(io::Error::from)
    }
}
