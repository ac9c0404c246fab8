//! The control socket: how `pithos sessions` and `pithos log` look into a server that runs. It only shows; nothing can be changed through it.
//!
//! The socket lies in the server's private folder (mode 0700). What runs inside the server's own sandbox is refused by its process id, so that
//! a session cannot read another's logs through it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream as StdStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pithos_sessions::Manager;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

/// The socket's name in the server's folder.
const SOCKET: &str = "control.sock";
/// Folders of servers are named so, then their process id.
const FOLDER_PREFIX: &str = "pithos-";
/// The same for what sessions find as their temporary folder.
const PRIVATE_PREFIX: &str = "pithos-tmp-";
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

/// The folders of a server that begins: for logs and the socket, and for its sessions' temporary files.
pub(crate) fn folders() -> (PathBuf, PathBuf) {
    sweep();
    let (base, pid) = (std::env::temp_dir(), std::process::id());
    (base.join(format!("{FOLDER_PREFIX}{pid}")), base.join(format!("{PRIVATE_PREFIX}{pid}")))
}

/// Removes what servers left that were killed.
fn sweep() {
    let own = rustix::process::geteuid().as_raw();
    for entry in std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let pid = name.strip_prefix(PRIVATE_PREFIX).or_else(|| name.strip_prefix(FOLDER_PREFIX));
        let Some(pid) = pid.and_then(|pid| pid.parse::<u32>().ok()) else { continue };
        let ours = entry.metadata().is_ok_and(|data| data.is_dir() && data.uid() == own);
        if ours && !Path::new(&format!("/proc/{pid}")).exists() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
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
    for entry in std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.strip_prefix(FOLDER_PREFIX)?.parse().ok());
        let Some(pid) = pid else { continue };
        if let Ok(answer) = ask(&entry.path().join(SOCKET), question) {
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
