//! Where questions about hosts wait for a person at the page: asked there at the same time as of the client, and only while somebody looks who may answer.
//! Invariant: a question is open as long as somebody waits for its answer, and no longer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pithos_sessions::limits::ASK_S;
use pithos_sessions::{Locked, Question, Reply};
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore, oneshot};

use crate::limits::{CONSOLE_QUESTIONS, CONSOLE_WATCHERS};

/// The open questions.
pub(crate) struct Desk {
    /// A place is taken by each page that is open.
    lookers: Arc<Semaphore>,
    /// Whether who looks may answer.
    answers: bool,
    open: Locked<Vec<Open>>,
    next: AtomicU64,
    changed: Notify,
}

struct Open {
    number: u64,
    client: Option<u64>,
    question: Question,
    asked: Instant,
    reply: oneshot::Sender<Reply>,
}

/// Withdraws a question that nobody waits for any more.
struct Withdrawn<'a>(&'a Desk, u64);

impl Drop for Withdrawn<'_> {
    fn drop(&mut self) {
        self.0.take(self.1);
    }
}

impl Desk {
    /// Nothing is asked yet.
    pub(crate) fn new(lookers: Arc<Semaphore>, answers: bool) -> Self {
        let (open, next, changed) = (Locked::default(), AtomicU64::new(1), Notify::new());
        Self { lookers, answers, open, next, changed }
    }

    /// Asks, when somebody looks who may answer.
    pub(crate) async fn ask(&self, client: Option<u64>, question: Question) -> Reply {
        let nobody = !self.answers || self.lookers.available_permits() >= CONSOLE_WATCHERS;
        if nobody || self.open.with(|open| open.len()) >= CONSOLE_QUESTIONS {
            return Reply::Unasked("nobody at the console can answer".to_owned());
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        let asked = Instant::now();
        self.open.with(|open| open.push(Open { number, client, question, asked, reply }));
        let _withdrawn = Withdrawn(self, number);
        self.changed.notify_waiters();
        match tokio::time::timeout(Duration::from_secs(ASK_S), answer).await {
            Ok(Ok(reply)) => reply,
            _ => Reply::Unasked(format!("no answer came within {ASK_S} s")),
        }
    }

    /// Answers a question; what it was, if it was open.
    pub(crate) fn answer(&self, number: u64, reply: Reply) -> Option<(Option<u64>, Question)> {
        let open = self.take(number)?;
        // Who has just given up waiting is not told.
        let _ = open.reply.send(reply);
        Some((open.client, open.question))
    }

    fn take(&self, number: u64) -> Option<Open> {
        let taken = self.open.with(|open| {
            let at = open.iter().position(|one| one.number == number)?;
            Some(open.remove(at))
        });
        if taken.is_some() {
            self.changed.notify_waiters();
        }
        taken
    }

    /// What is asked now, for the page.
    pub(crate) fn open(&self) -> Value {
        self.open.with(|open| {
            open.iter()
                .map(|one| {
                    json!({
                        "question": one.number, "client": one.client, "host": one.question.host,
                        "port": one.question.port, "job": one.question.job, "s": one.asked.elapsed().as_secs(),
                    })
                })
                .collect()
        })
    }

    /// Completes when another is asked, or one is not asked any more.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        Question { host: "a.example".to_owned(), port: 443, job: Some("j1".to_owned()) }
    }

    fn desk(answers: bool) -> (Arc<Desk>, Arc<Semaphore>) {
        let lookers = Arc::new(Semaphore::new(CONSOLE_WATCHERS));
        (Arc::new(Desk::new(Arc::clone(&lookers), answers)), lookers)
    }

    #[tokio::test]
    async fn nobody_is_asked_who_does_not_look_or_may_not_answer() {
        let (desk_with, lookers) = desk(true);
        assert!(matches!(desk_with.ask(None, question()).await, Reply::Unasked(_)));
        let _looks = lookers.acquire().await.unwrap();
        let (without, lookers) = desk(false);
        let _looks_too = lookers.acquire().await.unwrap();
        assert!(matches!(without.ask(None, question()).await, Reply::Unasked(_)));
    }

    #[tokio::test]
    async fn a_question_is_open_until_it_is_answered_or_nobody_waits() {
        let (desk, lookers) = desk(true);
        let _looks = lookers.acquire().await.unwrap();
        let waiting = {
            let desk = Arc::clone(&desk);
            tokio::spawn(async move { desk.ask(Some(3), question()).await })
        };
        desk.changed().await;
        let open = desk.open();
        assert_eq!((open[0]["host"].as_str(), open[0]["client"].as_u64()), (Some("a.example"), Some(3)));
        let number = open[0]["question"].as_u64().unwrap();
        assert!(desk.answer(number + 1, Reply::No).is_none());
        assert_eq!(desk.answer(number, Reply::Server), Some((Some(3), question())));
        assert_eq!(waiting.await.unwrap(), Reply::Server);
        assert!(desk.answer(number, Reply::No).is_none(), "once");
        let given_up = tokio::time::timeout(Duration::from_millis(20), desk.ask(None, question())).await;
        assert!(given_up.is_err());
        assert_eq!(desk.open(), json!([]));
    }
}
