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

use crate::state;

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
    /// Where a job's log is.
    Log { job: String },
}

/// Answers questions until the server ends. A server without the socket works all the same.
pub(crate) fn serve(manager: &Arc<Manager>, folder: &Path) {
    let Ok(listener) = UnixListener::bind(folder.join(SOCKET)) else { return };
    let manager = Arc::downgrade(manager);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Some(manager) = manager.upgrade() else { return };
            tokio::spawn(async move {
                // One that asks nothing, or goes, is no business of the server.
                let _ = tokio::time::timeout(PATIENCE, answer(stream, manager)).await;
            });
        }
    });
}

async fn answer(stream: UnixStream, manager: Arc<Manager>) -> std::io::Result<()> {
    let peer = stream.peer_cred()?.pid().and_then(|pid| u32::try_from(pid).ok());
    let (from, mut to) = stream.into_split();
    let mut line = String::new();
    tokio::io::AsyncReadExt::take(tokio::io::BufReader::new(from), QUESTION_BYTES_MAX)
        .read_line(&mut line)
        .await?;
    let reply = if peer.is_none_or(|peer| manager.started(peer)) {
        json!({"error": "what runs inside a server may not look into it"})
    } else {
        match serde_json::from_str(&line) {
            Ok(Question::Sessions) => sessions(&manager),
            Ok(Question::Log { job }) => match manager.job(&job) {
                Ok(job) => {
                    json!({"path": job.log_file(), "bytes": job.with_capture(|capture| capture.totals().bytes())})
                }
                Err(error) => json!({"error": error.to_string()}),
            },
            Err(error) => json!({"error": error.to_string()}),
        }
    };
    to.write_all(format!("{reply}\n").as_bytes()).await
}

fn sessions(manager: &Manager) -> Value {
    let sessions: Vec<Value> =
        manager.sessions().iter().map(|session| crate::tools::session_row(session)).collect();
    let jobs: Vec<Value> = manager.jobs().iter().map(|job| crate::tools::job_row(job)).collect();
    json!({"pid": std::process::id(), "sessions": sessions, "jobs": jobs, "tree": manager.tree()})
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
