//! Asking before refusing: a host that the policy does not name, where the policy says that somebody may be asked (`hosts` has `ask`). One question at
//! a time reaches a person; what they said is remembered, and a job that was refused often is not asked for any more, so that nobody is worn down.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Job;
use crate::limits::{ASK_REFUSALS_MAX, ASK_REMEMBERED_MAX, ASK_WAITING_MAX};
use crate::sync::Locked;

/// What a person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// A host's name, of letters, digits, dots and hyphens.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The job whose program wants it, as far as that is known.
    pub job: Option<String>,
}

/// What they said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// This job may, whatever it asks there.
    Job,
    /// All may, until the server ends.
    Server,
    /// No, to whoever asks.
    No,
    /// Nothing: this job is not asked for again.
    Silent,
    /// Nobody could be asked, and why.
    Unasked(String),
}

/// The reply to come.
pub type Replying = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// Reaches a person.
pub trait Asker: Send + Sync {
    /// Asks, and waits as long as that takes within reason.
    fn ask(&self, question: Question) -> Replying;
}

/// Who is asked, and what was said.
#[derive(Default)]
pub(super) struct Asking {
    asker: Locked<Option<Arc<dyn Asker>>>,
    known: Locked<Known>,
    one: tokio::sync::Mutex<()>,
    waiting: AtomicUsize,
}

#[derive(Default)]
struct Known {
    jobs: HashMap<(Job, String, u16), bool>,
    /// What holds for every job until the server ends.
    all: HashMap<(String, u16), bool>,
    refusals: HashMap<Job, u32>,
}

impl Known {
    fn find(&self, job: &Job, host: &str, port: u16) -> Option<bool> {
        let all = self.all.get(&(host.to_owned(), port)).copied();
        // What one job was allowed it keeps.
        self.jobs.get(&(job.clone(), host.to_owned(), port)).copied().or(all)
    }
}

/// Counts one that waits.
struct Place<'a>(&'a AtomicUsize);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Asking {
    /// Who is asked from now on.
    pub(super) fn through(&self, asker: Arc<dyn Asker>) {
        drop(self.asker.with(|known| known.replace(asker)));
    }

    /// Whether a person lets a job have a host; otherwise why not.
    pub(super) async fn ask(&self, job: &Job, host: &str, port: u16) -> Result<(), String> {
        const REFUSED: &str = "the person who was asked refused it";
        let said = |allowed: bool| if allowed { Ok(()) } else { Err(REFUSED.to_owned()) };
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        if let Some(allowed) = self.known.with(|known| known.find(job, &host, port)) {
            return said(allowed);
        }
        let place = Place(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= ASK_WAITING_MAX {
            return Err("too much is being asked at once".to_owned());
        }
        let _turn = self.one.lock().await;
        drop(place);
        // Somebody before may have asked the same.
        let (known, refusals, full) = self.known.with(|known| {
            let refusals = known.refusals.get(job).copied().unwrap_or(0);
            (known.find(job, &host, port), refusals, known.jobs.len() + known.all.len() >= ASK_REMEMBERED_MAX)
        });
        if let Some(allowed) = known {
            return said(allowed);
        }
        if refusals >= ASK_REFUSALS_MAX || full {
            return Err("this was asked too often to be asked again".to_owned());
        }
        let Some(asker) = self.asker.with(|asker| asker.clone()) else {
            return Err("hosts does not contain it, and nobody can be asked".to_owned());
        };
        let reply = asker.ask(Question { host: host.clone(), port, job: job.clone() }).await;
        self.known.with(|known| match reply {
            Reply::Server => {
                known.all.insert((host, port), true);
                Ok(())
            }
            Reply::Job => {
                known.jobs.insert((job.clone(), host, port), true);
                Ok(())
            }
            Reply::No | Reply::Silent => {
                if reply == Reply::No {
                    known.all.insert((host, port), false);
                } else {
                    known.jobs.insert((job.clone(), host, port), false);
                }
                *known.refusals.entry(job.clone()).or_default() += 1;
                Err(REFUSED.to_owned())
            }
            Reply::Unasked(why) => {
                *known.refusals.entry(job.clone()).or_default() += 1;
                Err(format!("hosts does not contain it, and nobody can be asked: {why}"))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says what it was told to, and keeps the questions.
    struct Scripted(Locked<Vec<Reply>>, Locked<Vec<Question>>);

    impl Asker for Scripted {
        fn ask(&self, question: Question) -> Replying {
            self.1.with(|questions| questions.push(question));
            let reply = self.0.with(|replies| replies.pop()).unwrap_or(Reply::No);
            Box::pin(async move {
                tokio::task::yield_now().await;
                reply
            })
        }
    }

    fn asking(mut replies: Vec<Reply>) -> (Asking, Arc<Scripted>) {
        replies.reverse();
        let asker = Arc::new(Scripted(Locked::new(replies), Locked::default()));
        let asking = Asking::default();
        asking.through(Arc::clone(&asker) as Arc<dyn Asker>);
        (asking, asker)
    }

    #[tokio::test]
    async fn what_was_said_holds_for_whom_it_was_said() {
        let (asking, asker) =
            asking(vec![Reply::Job, Reply::Silent, Reply::Server, Reply::No, Reply::Silent]);
        let (one, two) = (Some("j1".to_owned()), Some("j2".to_owned()));
        assert!(asking.ask(&one, "A.example.", 443).await.is_ok());
        assert!(asking.ask(&one, "a.example", 443).await.is_ok());
        assert!(asking.ask(&two, "a.example", 443).await.unwrap_err().contains("refused"));
        assert!(asking.ask(&two, "a.example", 443).await.unwrap_err().contains("refused"));
        assert!(asking.ask(&two, "a.example", 80).await.is_ok());
        assert!(asking.ask(&None, "a.example", 80).await.is_ok());
        assert_eq!(asker.1.with(|questions| questions.len()), 3);
        // A refusal is everybody's, silence only of the job that met it.
        for job in [&one, &two, &None] {
            assert!(asking.ask(job, "b.example", 443).await.unwrap_err().contains("refused"));
        }
        assert!(asking.ask(&one, "c.example", 443).await.is_err());
        assert!(asking.ask(&one, "c.example", 443).await.is_err());
        assert_eq!(asker.1.with(|questions| questions.len()), 5);
        assert!(asking.ask(&two, "c.example", 443).await.is_err());
        assert_eq!(asker.1.with(|questions| questions.len()), 6);
    }

    #[tokio::test]
    async fn many_at_once_are_one_question() {
        let (asking, asker) = asking(vec![Reply::Server]);
        let job = None;
        let all = (0..8).map(|_| asking.ask(&job, "a.example", 443));
        let (mut good, mut all) = (0, all.map(Box::pin).collect::<Vec<_>>());
        for one in &mut all {
            good += i32::from(one.await.is_ok());
        }
        assert_eq!((good, asker.1.with(|questions| questions.len())), (8, 1));
    }

    #[tokio::test]
    async fn nobody_is_asked_for_ever() {
        let (asking, asker) = asking(Vec::new());
        let job = Some("j1".to_owned());
        for number in 0..50 {
            assert!(asking.ask(&job, &format!("h{number}.example"), 443).await.is_err());
        }
        assert_eq!(asker.1.with(|questions| questions.len()), ASK_REFUSALS_MAX as usize);
        assert_eq!(asking.waiting.load(Ordering::Relaxed), 0);
        let silent = Asking::default();
        assert!(silent.ask(&job, "a.example", 1).await.unwrap_err().contains("nobody can be asked"));
    }
}
