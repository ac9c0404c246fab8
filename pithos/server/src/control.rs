//! The control socket: how `pithos sessions` and `pithos log` look into a server that runs. It only shows; nothing can be changed through it.
//!
//! The socket lies in the server's private folder (mode 0700). What runs inside the server's own sandbox is refused by its process id, so that
//! a session cannot read another's logs through it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream as StdStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pithos_sessions::Manager;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

use crate::metrics::Metrics;
use crate::{overview, state};

/// The socket's name in the server's folder.
const SOCKET: &str = "control.sock";
/// A server that does not answer within this is left out.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest question.
const QUESTION_BYTES_MAX: u64 = 4096;

/// What can be asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum Question {
    /// Sessions, jobs and the supervision tree.
    Sessions,
    /// The picture that `pithos top` shows.
    Overview,
    /// The address of the page, with a word that signs in once.
    Console,
    /// Where a job's log is.
    Log { job: String },
}

/// Answers questions until `managers` says that the server has ended. A server without the socket works all the same.
pub(crate) fn serve(
    folder: &Path,
    metrics: Arc<Metrics>,
    invite: impl Fn() -> Option<String> + Send + Sync + 'static,
    managers: impl Fn() -> Option<Vec<Client>> + Send + 'static,
) {
    let invite = Arc::new(invite);
    let Ok(listener) = UnixListener::bind(folder.join(SOCKET)) else { return };
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Some(managers) = managers() else { return };
            let (metrics, invite) = (Arc::clone(&metrics), Arc::clone(&invite));
            tokio::spawn(async move {
                // One that asks nothing, or goes, is no business of the server.
                let _ = tokio::time::timeout(PATIENCE, answer(stream, managers, &metrics, &*invite)).await;
            });
        }
    });
}

/// A client's number, where a server has several, and its manager.
pub(crate) type Client = (Option<u64>, Arc<Manager>);

async fn answer(
    stream: UnixStream,
    managers: Vec<Client>,
    metrics: &Metrics,
    invite: &(dyn Fn() -> Option<String> + Send + Sync),
) -> std::io::Result<()> {
    let peer = stream.peer_cred()?.pid().and_then(|pid| u32::try_from(pid).ok());
    let (from, mut to) = stream.into_split();
    let mut line = String::new();
    tokio::io::AsyncReadExt::take(tokio::io::BufReader::new(from), QUESTION_BYTES_MAX)
        .read_line(&mut line)
        .await?;
    let reply = if peer.is_none_or(pithos_sessions::started) {
        json!({"error": "what runs inside a server may not look into it"})
    } else {
        match serde_json::from_str(&line) {
            Ok(Question::Sessions) => {
                json!({"pid": std::process::id(), "clients": managers.iter().map(sessions).collect::<Vec<_>>()})
            }
            Ok(Question::Console) => json!({"page": invite()}),
            Ok(Question::Overview) => overview::of(&managers, metrics).await,
            Ok(Question::Log { job }) => {
                json!({"logs": managers.iter().filter_map(|client| log(client, &job)).collect::<Vec<_>>()})
            }
            Err(error) => json!({"error": error.to_string()}),
        }
    };
    to.write_all(format!("{reply}\n").as_bytes()).await
}

fn log((client, manager): &Client, job: &str) -> Option<Value> {
    let job = manager.job(job).ok()?;
    let bytes = job.with_capture(|capture| capture.totals().bytes());
    Some(json!({"client": client, "path": job.log_file(), "bytes": bytes}))
}

fn sessions((client, manager): &Client) -> Value {
    let sessions: Vec<Value> =
        manager.sessions().iter().map(|session| crate::tools::session_row(session)).collect();
    let jobs: Vec<Value> = manager.jobs().iter().map(|job| crate::tools::job_row(job)).collect();
    json!({"client": client, "sessions": sessions, "jobs": jobs, "tree": manager.tree()})
}

/// The servers that answer, with their process ids.
pub(crate) fn ask_all(question: &Question) -> Vec<(u32, Value)> {
    let mut answers = Vec::new();
    for (pid, folder) in state::servers() {
        if let Ok(answer) = ask(&folder.join(SOCKET), question) {
            answers.push((pid, answer));
        }
    }
    answers.sort_by_key(|(pid, _)| *pid);
    answers
}

fn ask(socket: &Path, question: &Question) -> std::io::Result<Value> {
    let mut stream = StdStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    writeln!(stream, "{}", serde_json::to_string(question)?)?;
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}
