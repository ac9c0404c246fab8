//! The live output of one job, for a page that shows it: pieces of text as the job writes them, what its terminal shows, and its end. A page that reads slowly, or a
//! job that talks fast, holds nobody up: what lies too far back is left out, which is said, and stays in the log.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Bytes;
use pithos_sessions::Job;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};

use super::watch::Events;
use crate::limits::{
    CONSOLE_BACK_BYTES, CONSOLE_BEHIND_BYTES, CONSOLE_FOLLOWERS, CONSOLE_OUTPUT_BYTES, CONSOLE_PIECE_EVERY,
};

/// The places of those who follow.
pub(super) struct Follow {
    places: Arc<Semaphore>,
}

impl Default for Follow {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(CONSOLE_FOLLOWERS)) }
    }
}

impl Follow {
    /// A stream of a job's output from an offset on, or from near its end; none when too many follow already.
    pub(super) fn stream(
        &self,
        job: Arc<Job>,
        from: Option<u64>,
        may: impl Fn() -> bool + Send + 'static,
    ) -> Option<Events> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        let (to, events) = mpsc::channel(1);
        tokio::spawn(async move {
            let _place = place;
            let _gone = go(&job, from, &to, may).await;
        });
        Some(Events { events })
    }
}

/// The reader has gone, or may look no longer.
struct Gone;

async fn go(
    job: &Job,
    from: Option<u64>,
    to: &mpsc::Sender<Bytes>,
    may: impl Fn() -> bool,
) -> Result<(), Gone> {
    let total = || job.with_capture(|capture| capture.totals().bytes());
    let mut at = from.unwrap_or_else(|| total().saturating_sub(CONSOLE_BACK_BYTES)).min(total());
    let mut painted = None;
    send(to, "begin", &json!({"at": at, "total": total()})).await?;
    loop {
        if !may() {
            return Err(Gone);
        }
        let more = job.more_output();
        tokio::pin!(more);
        more.as_mut().enable();
        let ended = job.end().is_some();
        let now = total();
        if now - at > CONSOLE_BEHIND_BYTES {
            let next = now - CONSOLE_BACK_BYTES;
            send(to, "skipped", &json!({"bytes": next - at, "at": next})).await?;
            at = next;
        }
        let bytes = job.with_capture(|capture| capture.since(at, CONSOLE_OUTPUT_BYTES));
        let whole = if ended && at + bytes.len() as u64 >= now { bytes.len() } else { whole(&bytes) };
        if whole > 0 {
            at += whole as u64;
            let text = String::from_utf8_lossy(&bytes[..whole]);
            send(to, "output", &json!({"text": text, "at": at, "total": now})).await?;
        }
        let lines = job.painted();
        if lines.is_some() && lines != painted {
            let cursor = job.screen().ok().map(|view| [view.row, view.column]);
            send(to, "screen", &json!({"lines": lines, "cursor": cursor})).await?;
            painted = lines;
        }
        if ended && (at >= now || bytes.is_empty()) {
            return send(to, "end", &Value::Null).await;
        }
        // Also what comes while the reader waits is one piece.
        tokio::time::sleep(CONSOLE_PIECE_EVERY).await;
        if at >= now && !ended {
            tokio::select! {
                () = more => {}
                _ = job.ended() => {}
                () = to.closed() => return Err(Gone),
                // A session that is over is told on the way.
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }
}

/// How often it is seen to whether a page that hears nothing may still look.
const LOOK_EVERY: Duration = Duration::from_secs(15);

async fn send(to: &mpsc::Sender<Bytes>, name: &str, data: &Value) -> Result<(), Gone> {
    // One line: JSON has no line ends but those that are written as escapes.
    to.send(Bytes::from(format!("event: {name}\ndata: {data}\n\n"))).await.map_err(|_| Gone)
}

/// How many of the bytes are not the beginning of a character that is still to come.
fn whole(bytes: &[u8]) -> usize {
    const CHARACTER_BYTES_MAX: usize = 4;
    let from = bytes.len().saturating_sub(CHARACTER_BYTES_MAX - 1);
    for at in (from..bytes.len()).rev() {
        let needs = match bytes[at] {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            0x80..=0xBF => continue,
            _ => return bytes.len(),
        };
        return if at + needs > bytes.len() { at } else { bytes.len() };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn no_character_is_torn_and_what_is_none_holds_nothing_up() {
        let text = "aé中😀b";
        for cut in 0..=text.len() {
            let at = whole(&text.as_bytes()[..cut]);
            assert!(text.is_char_boundary(at) && cut - at < 4, "{cut} {at}");
        }
        for bytes in [&b"\xff"[..], b"\x80\x80\x80\x80\x80", b"a\xc0", b"a\xf5\x80"] {
            assert_eq!(whole(bytes), bytes.len());
        }
        assert_eq!(whole(b"\xf0"), 0);
    }
}
