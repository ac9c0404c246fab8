//! The connections of `serve --http` and their places. When all are taken a new connection gets that of one that nobody needs: the oldest that has not shown
//! the token, or else the one that has been idle longest. Invariant: a request that has shown the token is carried out to its end; one on a
//! connection that must go is refused before anything is done.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

use hyper::body::{Bytes, Frame, SizeHint};
use pithos_sessions::Locked;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::http::Body;
use crate::limits::CONNECTIONS;

/// All places.
#[derive(Default)]
pub(crate) struct Places {
    table: Locked<HashMap<u64, Taken>>,
    next: AtomicU64,
    freed: Notify,
}

/// A place that is taken.
struct Taken {
    /// A request on it has shown the token, or the page's cookie.
    known: bool,
    /// One that has is being answered.
    busy: bool,
    /// Since when it is as it is.
    since: Instant,
    close: CancellationToken,
}

/// The place of one connection, as long as this lives.
pub(crate) struct Seat {
    places: Arc<Places>,
    number: u64,
    close: CancellationToken,
}

impl Places {
    /// A place for a new connection; waits while every other has a request to answer.
    pub(crate) async fn take(self: &Arc<Self>) -> Arc<Seat> {
        loop {
            let mut freed = std::pin::pin!(self.freed.notified());
            freed.as_mut().enable();
            match self.table.with(|table| self.enter(table)) {
                Ok(seat) => return Arc::new(seat),
                Err(Some(gone)) => gone.cancel(),
                Err(None) => {}
            }
            freed.await;
        }
    }

    /// A place, or the connection whose place can be had.
    fn enter(self: &Arc<Self>, table: &mut HashMap<u64, Taken>) -> Result<Seat, Option<CancellationToken>> {
        if table.len() < CONNECTIONS {
            let (number, close) = (self.next.fetch_add(1, Ordering::Relaxed), CancellationToken::new());
            let taken = Taken { known: false, busy: false, since: Instant::now(), close: close.clone() };
            table.insert(number, taken);
            return Ok(Seat { places: Arc::clone(self), number, close });
        }
        if table.values().any(|taken| taken.close.is_cancelled()) {
            return Err(None);
        }
        let idle = table.values().filter(|taken| !taken.busy);
        Err(idle.min_by_key(|taken| (taken.known, taken.since)).map(|taken| taken.close.clone()))
    }
}

impl Seat {
    /// A request has shown that it may ask; false when its connection must go, and it with it.
    pub(crate) fn begin(&self) -> bool {
        self.places.table.with(|table| {
            let Some(taken) = table.get_mut(&self.number).filter(|taken| !taken.close.is_cancelled()) else {
                return false;
            };
            (taken.known, taken.busy) = (true, true);
            true
        })
    }

    /// Its connection must go.
    pub(crate) async fn must_go(&self) {
        self.close.cancelled().await;
    }

    /// A body after whose end the connection is idle.
    pub(crate) fn until_end_of(self: &Arc<Self>, body: Body) -> Body {
        Body::new(Answer { body, _over: Over(Arc::clone(self)) })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.places.table.with(|table| table.remove(&self.number));
        self.places.freed.notify_waiters();
    }
}

/// The answer is written, or given up.
struct Over(Arc<Seat>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.places.table.with(|table| {
            // What has not shown the token grows older whatever it asks.
            if let Some(taken) = table.get_mut(&self.0.number).filter(|taken| taken.busy) {
                (taken.busy, taken.since) = (false, Instant::now());
            }
        });
        self.0.places.freed.notify_waiters();
    }
}

struct Answer {
    body: Body,
    _over: Over,
}

impl hyper::body::Body for Answer {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_has_not_shown_the_token_goes_first_and_who_asks_stays() {
        let places = Arc::<Places>::default();
        let mut seats = Vec::new();
        for _ in 0..CONNECTIONS {
            seats.push(places.take().await);
        }
        // The two oldest, and one in the middle.
        assert!(seats[0].begin() && seats[1].begin() && seats[7].begin());
        drop(seats[0].until_end_of(Body::default()));
        let gone = |seats: &[Arc<Seat>]| -> Vec<u64> {
            seats.iter().filter(|seat| seat.close.is_cancelled()).map(|seat| seat.number).collect()
        };
        let (mut order, mut asking) = (Vec::new(), Vec::new());
        while seats.len() > 2 {
            let next = tokio::spawn({
                let places = Arc::clone(&places);
                async move { places.take().await }
            });
            while gone(&seats).is_empty() {
                tokio::task::yield_now().await;
            }
            let number = gone(&seats)[0];
            assert!(!seats.iter().any(|seat| seat.number == number && seat.begin()), "it is refused");
            seats.retain(|seat| seat.number != number);
            order.push(number);
            // The new one asks, and keeps its place.
            let new = next.await.unwrap();
            assert!(new.begin());
            asking.push(new);
        }
        let strangers = (2..CONNECTIONS as u64).filter(|number| *number != 7);
        assert_eq!(order, strangers.chain([0]).collect::<Vec<_>>());
        // All are busy: a new one waits until one is over.
        let next = tokio::spawn({
            let places = Arc::clone(&places);
            async move { places.take().await }
        });
        tokio::task::yield_now().await;
        assert!(gone(&seats).is_empty() && !next.is_finished());
        drop(seats[0].until_end_of(Body::default()));
        while gone(&seats).is_empty() {
            tokio::task::yield_now().await;
        }
        seats.remove(0);
        drop(next.await.unwrap());
    }
}
