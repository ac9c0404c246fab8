//! Runs a peer as an oracle: a program with a script on its standard input and a time limit.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Why there is no answer.
pub(crate) enum PeerError {
    /// The program is not on this machine.
    Absent(String),
    /// It failed or did not end in time.
    Failed(String),
}

/// Gives `input` to `program` and returns what it prints.
pub(crate) fn ask(
    program: &str,
    arguments: &[&str],
    input: &[u8],
    limit: Duration,
) -> Result<Vec<u8>, PeerError> {
    let spawned = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = spawned.map_err(|error| PeerError::Absent(format!("{program} is not here ({error})")))?;
    let (mut stdin, mut stdout) = match (child.stdin.take(), child.stdout.take()) {
        (Some(stdin), Some(stdout)) => (stdin, stdout),
        _ => return Err(PeerError::Failed("no pipes".to_string())),
    };
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).map(|_| bytes)
    });
    // A peer that stops reading early shows in its status.
    let _ = stdin.write_all(input);
    drop(stdin);
    let start = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if start.elapsed() > limit => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(PeerError::Failed(format!("{program} did not end in {} s", limit.as_secs())));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            Err(error) => return Err(PeerError::Failed(error.to_string())),
        }
    };
    match reader.join() {
        Ok(Ok(bytes)) if status.success() => Ok(bytes),
        _ => Err(PeerError::Failed(format!("{program} ended with {status}"))),
    }
}
