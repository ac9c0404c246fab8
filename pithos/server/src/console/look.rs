//! What the page reads besides its stream: a job, a search in its log, a session's differences and checkpoints, the tree, denials, the last calls, the samples, and
//! what the machine can enforce. Every answer is bounded by what its tool bounds, and none changes anything.

use std::process::Stdio;
use std::sync::Arc;

use pithos_sessions::Job;
use serde_json::{Value, json};

use super::{Console, Rights, managers};
use crate::control::Client;
use crate::journal::redact::Redactor;
use crate::limits::{CONSOLE_DENIALS, CONSOLE_DIFF_BYTES, CONSOLE_OUTPUT_BYTES};
use crate::tools::{self, Outcome};
use crate::{overview, result};

/// The fields of an address.
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// Those after the question mark.
    pub(super) fn of(query: Option<&str>) -> Self {
        let pairs = query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        Self(pairs.map(|(name, value)| (name.to_string(), decoded(value))).collect())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A field that is a number.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }
}

/// What percent signs stand for; one that stands for nothing stays.
fn decoded(text: &str) -> String {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let pair = after.first().and_then(digit).zip(after.get(1).and_then(digit));
        match (first, pair) {
            (b'%', Some((high, low))) => {
                bytes.push((high * 16 + low) as u8);
                rest = &after[2..];
            }
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Console {
    /// The job that an address names.
    pub(super) fn job(&self, query: &Query) -> Option<Arc<Job>> {
        self.manager(query.number("client"))?.job(query.text("job")?).ok()
    }

    /// Answers a page that reads; none when there is no such thing.
    pub(super) async fn look(&self, path: &str, query: &Query, cookie: &str) -> Option<Value> {
        match path.strip_prefix("/console/")? {
            "me" => Some(json!({
                "pid": std::process::id(), "pithos": env!("CARGO_PKG_VERSION"),
                "act": self.rights == Some(Rights::Act), "word": self.access.page_word(cookie),
            })),
            "job" => self.job_told(query),
            "grep" => {
                let arguments = json!({
                    "action": "grep", "job": query.text("job")?, "pattern": query.text("pattern")?,
                    "context": query.number("context").unwrap_or(0), "matches": 200, "ansi": "strip",
                });
                self.told_by("log", arguments, query).await
            }
            "log" => {
                let arguments = json!({
                    "action": "read", "job": query.text("job")?, "offset": query.number("offset").unwrap_or(0),
                    "bytes": CONSOLE_OUTPUT_BYTES,
                });
                self.told_by("log", arguments, query).await
            }
            "diff" => {
                let arguments = json!({
                    "action": "diff", "session": query.text("session")?, "output_bytes": CONSOLE_DIFF_BYTES,
                });
                self.told_by("session", arguments, query).await
            }
            "checkpoints" => self.told_by("session", json!({"action": "checkpoints"}), query).await,
            "tree" => self.told_by("actors", json!({"action": "tree"}), query).await,
            "denials" => {
                let clients = managers(&self.clients);
                tokio::task::spawn_blocking(move || denials(&clients)).await.ok()
            }
            "timeline" => {
                let recorder = Arc::clone(&self.recorder);
                let rows = move || {
                    let recent = &recorder.recent;
                    json!({"last": recent.last(), "calls": recent.rows(&Redactor::of_this_process())})
                };
                tokio::task::spawn_blocking(rows).await.ok()
            }
            "history" => Some(self.history.all()),
            "machine" => tokio::task::spawn_blocking(machine).await.ok()?,
            _ => None,
        }
    }

    /// What a tool's action that changes nothing says. A person who looks is no call of the client: it is not counted.
    async fn told_by(&self, tool: &str, arguments: Value, query: &Query) -> Option<Value> {
        let client = query.number("client");
        let call = self.call(self.manager(client)?, client);
        Some(match tools::call(tool, arguments, call).await? {
            Outcome::Good(report) => json!({"text": report.text, "structured": report.structured}),
            Outcome::Wrong(message) => json!({"error": message}),
        })
    }

    /// A job as its tool tells it, without its output.
    fn job_told(&self, query: &Query) -> Option<Value> {
        let manager = self.manager(query.number("client"))?;
        let job = manager.job(query.text("job")?).ok()?;
        // What a client has been shown is the client's to count: a look from here does not.
        let mut told = result::structured_of_job(&manager, &job);
        told["row"] = overview::row(&job);
        told["script"] = script(&job.script).into();
        let processes = if job.end().is_none() { job.processes() } else { Vec::new() };
        let listed = processes.iter().take(PROCESSES_SHOWN);
        told["processes"] =
            listed.map(|one| json!({"pid": one.pid, "command": one.command})).collect::<Vec<_>>().into();
        Some(told)
    }
}

/// What was denied to all jobs that are remembered, the newest first. Of what only the words of a failed job tell they are read again.
fn denials(clients: &[Client]) -> Value {
    let (mut rows, mut more) = (Vec::new(), 0);
    for (client, manager) in clients {
        let mut jobs = manager.jobs();
        jobs.sort_by_key(|job| std::cmp::Reverse(job.started));
        for job in &jobs {
            for denial in manager.denials(job) {
                if rows.len() >= CONSOLE_DENIALS {
                    more += 1;
                    continue;
                }
                let mut row = json!(denial);
                row["client"] = json!(client);
                row["job"] = json!(job.handle);
                row["session"] = json!(job.session);
                row["ago_s"] = job.started.elapsed().as_secs().into();
                rows.push(row);
            }
        }
    }
    json!({"denials": rows, "more": more})
}

/// Processes of a job that the page lists.
const PROCESSES_SHOWN: usize = 100;

fn script(text: &str) -> String {
    const SCRIPT_CHARS_MAX: usize = 4000;
    text.chars().take(SCRIPT_CHARS_MAX).collect()
}

/// What `pithos doctor --json` says. A process of its own: it tries things out that a server must not try.
fn machine() -> Option<Value> {
    let doctor =
        std::process::Command::new("/proc/self/exe").args(["doctor", "--json"]).stdin(Stdio::null()).output();
    serde_json::from_slice(&doctor.ok()?.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::{Query, decoded};

    #[test]
    fn addresses_are_read_whatever_they_are() {
        for (given, read) in [
            ("a%20b%2Fc", "a b/c"),
            ("%", "%"),
            ("%4", "%4"),
            ("%zz%41", "%zzA"),
            ("%ff", "\u{fffd}"),
            ("%e4%b8%ad", "中"),
            ("+", "+"),
        ] {
            assert_eq!(decoded(given), read);
        }
        let query = Query::of(Some("client=1&job=j%31&client=2&x&=&from=-1"));
        assert_eq!(
            (query.number("client"), query.text("job"), query.number("from")),
            (Some(1), Some("j1"), None)
        );
        assert!(Query::of(None).text("x").is_none());
    }
}
