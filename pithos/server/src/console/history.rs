//! The last quarter of an hour in samples, for the plots of the page. Taken every few seconds as long as the server lives, where there is a page: each costs a look at the
//! tables and at the memory of the processes.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use pithos_sessions::Locked;
use serde_json::{Value, json};

use super::managers;
use crate::clients::Clients;
use crate::control::Client;
use crate::limits::{CONSOLE_SAMPLE_EVERY, CONSOLE_SAMPLES};
use crate::metrics::{BUCKETS_US, Metrics, load};
use crate::overview;

/// The samples.
#[derive(Default)]
pub(super) struct History {
    samples: Locked<VecDeque<Value>>,
}

impl History {
    /// Takes samples until the server ends.
    pub(super) fn keep(self: &Arc<Self>, clients: Weak<Clients>, metrics: Arc<Metrics>) {
        let history = Arc::downgrade(self);
        tokio::spawn(async move {
            let mut sums = Sums::default();
            while clients.strong_count() > 0 {
                let memory = tokio::task::spawn_blocking(overview::memory).await.unwrap_or_default();
                let sample = sums.sample(&managers(&clients), &metrics, memory);
                let Some(history) = history.upgrade() else { return };
                history.samples.with(|samples| {
                    samples.push_back(sample);
                    if samples.len() > CONSOLE_SAMPLES {
                        samples.pop_front();
                    }
                });
                drop(history);
                tokio::time::sleep(CONSOLE_SAMPLE_EVERY).await;
            }
        });
    }

    /// All of them, oldest first, and what their histograms' buckets are.
    pub(super) fn all(&self) -> Value {
        let samples = self.samples.with(|samples| samples.iter().cloned().collect::<Vec<_>>());
        json!({"buckets_us": BUCKETS_US, "every_s": CONSOLE_SAMPLE_EVERY.as_secs(), "samples": samples})
    }
}

/// What only grows, over jobs that are forgotten.
#[derive(Default)]
struct Sums {
    output_bytes: u64,
    denials: u64,
    /// Of each job that is remembered, what of it is in the sums.
    jobs: HashMap<(Option<u64>, String), (u64, u64)>,
}

impl Sums {
    fn sample(&mut self, clients: &[Client], metrics: &Metrics, memory: (u64, u64, usize)) -> Value {
        let (mut sessions, mut running) = (0, 0);
        let mut jobs = HashMap::new();
        for (client, manager) in clients {
            sessions += manager.sessions().len();
            for job in manager.jobs() {
                running += usize::from(job.end().is_none());
                let bytes = job.with_capture(|capture| capture.totals().bytes());
                let denied = job.denied_count() as u64;
                let key = (*client, job.handle.clone());
                let (bytes_before, denied_before) = self.jobs.get(&key).copied().unwrap_or_default();
                self.output_bytes += bytes.saturating_sub(bytes_before);
                self.denials += denied.saturating_sub(denied_before);
                jobs.insert(key, (bytes, denied));
            }
        }
        self.jobs = jobs;
        let mut buckets = [0; BUCKETS_US.len() + 1];
        for tool in &metrics.tools {
            for (sum, bucket) in buckets.iter_mut().zip(&tool.buckets) {
                *sum += load(bucket);
            }
        }
        let (server, workers, _) = memory;
        json!({
            "t": SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
            "buckets": buckets, "sessions": sessions, "jobs_running": running,
            "server_bytes": server, "workers_bytes": workers,
            "output_bytes": self.output_bytes, "denials": self.denials,
        })
    }
}
