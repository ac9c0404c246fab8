//! The live picture, for pages that are open: one task makes it for all of them, as long as there is one. A page that reads slowly misses pictures and never
//! holds anybody up: it is given the newest when it is ready. Nobody looks: nothing runs.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::Weak;
use std::task::{Context, Poll};

use hyper::body::{Bytes, Frame};
use pithos_sessions::Locked;
use tokio::sync::{mpsc, watch};

use crate::clients::Clients;
use crate::console::managers;
use crate::desk::Desk;
use crate::limits::{CONSOLE_EVERY, CONSOLE_WATCHERS};
use crate::metrics::Metrics;
use crate::overview;

/// The pictures.
pub(crate) struct Watch {
    clients: Weak<Clients>,
    metrics: Arc<Metrics>,
    /// What the task of now puts pictures into; it ends when nobody has the other end.
    pictures: Locked<Option<watch::Receiver<Bytes>>>,
    /// A place for each open page.
    places: Arc<tokio::sync::Semaphore>,
}

impl Watch {
    /// Nobody looks yet.
    pub(crate) fn new(clients: Weak<Clients>, metrics: Arc<Metrics>) -> Self {
        let places = Arc::new(tokio::sync::Semaphore::new(CONSOLE_WATCHERS));
        Self { clients, metrics, pictures: Locked::default(), places }
    }

    /// A stream of events for a page, as long as it may look; none when too many look already.
    pub(crate) fn stream(&self, may: impl Fn() -> bool + Send + 'static, desk: Arc<Desk>) -> Option<Events> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        let mut pictures = self.subscribe();
        // One event: the next picture is taken when the page has read this one.
        let (to, events) = mpsc::channel(1);
        tokio::spawn(async move {
            let _place = place;
            loop {
                let picture = pictures.borrow_and_update().clone();
                if !may() {
                    return;
                }
                if !picture.is_empty() {
                    let questions = Bytes::from(format!("event: questions\ndata: {}\n\n", desk.open()));
                    if to.send(picture).await.is_err() || to.send(questions).await.is_err() {
                        return;
                    }
                }
                tokio::select! {
                    changed = pictures.changed() => if changed.is_err() { return },
                    () = desk.changed() => {}
                    () = to.closed() => return,
                }
            }
        });
        Some(Events { events })
    }

    /// By which is known whether anybody looks.
    pub(crate) fn lookers(&self) -> Arc<tokio::sync::Semaphore> {
        Arc::clone(&self.places)
    }

    fn subscribe(&self) -> watch::Receiver<Bytes> {
        self.pictures.with(|pictures| {
            // The task has the only sender: a closed channel is one that has ended.
            if let Some(known) = pictures.as_ref().filter(|known| known.has_changed().is_ok()) {
                return known.clone();
            }
            let (to, from) = watch::channel(Bytes::new());
            tokio::spawn(make(to, self.clients.clone(), Arc::clone(&self.metrics)));
            *pictures = Some(from.clone());
            from
        })
    }
}

/// Makes pictures until nobody looks: the receiver that waits for the next page is one of those that are counted.
async fn make(to: watch::Sender<Bytes>, clients: Weak<Clients>, metrics: Arc<Metrics>) {
    while to.receiver_count() > 1 && clients.strong_count() > 0 {
        let picture = overview::of(&managers(&clients), &metrics).await;
        // One line: JSON has no line ends but those that are written as escapes.
        to.send_replace(Bytes::from(format!("event: overview\ndata: {picture}\n\n")));
        tokio::time::sleep(CONSOLE_EVERY).await;
    }
}

/// The body of a stream of events.
pub(crate) struct Events {
    pub(super) events: mpsc::Receiver<Bytes>,
}

impl hyper::body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.events.poll_recv(context).map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}
