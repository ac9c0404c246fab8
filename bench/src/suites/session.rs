//! The session row: one persistent shell that is fed five commands over and over, as an agent does (`pwd`, `echo`, `ls`,
//! `git status`, `cat`), and how long each command takes on average until its last byte is here.

use super::invocation;
use crate::contest::{Contestant, Settings};
use crate::limits::SESSION_ROUNDS;
use crate::model::{Cell, Figures, RowResult, Unit};
use crate::process::{command_of, excerpt};
use crate::stats::Summary;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const COMMANDS: [&str; 5] = ["pwd", "echo hello", "ls", "git status", "cat file03"];
const END: &str = "@@end";
/// fish reads all of its standard input before it runs anything; the floor is no shell.
const NOT_FOR: [&str; 2] = ["fish", super::shell::FLOOR];

/// Runs the row in a small repository below `scratch`.
pub(crate) fn run(
    contestants: &[Contestant],
    scratch: &Path,
    timeout: Duration,
    settings: Settings,
) -> RowResult {
    let folder = scratch.join("session");
    let prepared = prepare(&folder);
    let mut entrants: Vec<Entrant> = contestants
        .iter()
        .map(|contestant| {
            let absent = NOT_FOR.contains(&contestant.info.name.as_str());
            let failed = prepared.as_ref().err().map(|error| format!("no repository to work in: {error}"));
            Entrant { absent, disqualified: failed, samples: Vec::new() }
        })
        .collect();
    let right = warm_up(contestants, &mut entrants, &folder, timeout);
    for _ in 0..settings.runs {
        for (contestant, entrant) in contestants.iter().zip(&mut entrants) {
            entrant.run(contestant, &folder, timeout, SESSION_ROUNDS, right.as_deref());
        }
    }
    RowResult {
        name: "session".to_owned(),
        group: "session".to_owned(),
        unit: Unit::MicrosPerOperation,
        operations: (SESSION_ROUNDS * COMMANDS.len()) as u64,
        cells: entrants.into_iter().map(Entrant::cell).collect(),
    }
}

/// One short session each; the first peer's transcript is what the others must say.
fn warm_up(
    contestants: &[Contestant],
    entrants: &mut [Entrant],
    folder: &Path,
    timeout: Duration,
) -> Option<Vec<u8>> {
    let mut right = None;
    let peers_first = |ours: bool| move |c: &Contestant| c.info.ours == ours;
    for ours in [false, true] {
        for (contestant, entrant) in contestants.iter().zip(entrants.iter_mut()) {
            if peers_first(ours)(contestant) {
                let transcript = entrant.run(contestant, folder, timeout, 1, right.as_deref());
                right = right.or(transcript);
                entrant.samples.clear();
            }
        }
    }
    right
}

struct Entrant {
    absent: bool,
    disqualified: Option<String>,
    samples: Vec<f64>,
}

impl Entrant {
    /// One session of `rounds`; returns the transcript of its first round.
    fn run(
        &mut self,
        contestant: &Contestant,
        folder: &Path,
        timeout: Duration,
        rounds: usize,
        right: Option<&[u8]>,
    ) -> Option<Vec<u8>> {
        if self.absent || self.disqualified.is_some() {
            return None;
        }
        match converse(contestant, folder, timeout, rounds) {
            Ok((micros, transcript)) => {
                if right.is_some_and(|right| right != transcript) {
                    self.disqualified = Some(format!("wrong output: {:?}", difference(right, &transcript)));
                }
                self.samples.push(micros);
                Some(transcript)
            }
            Err(error) => {
                self.disqualified = Some(error.to_string());
                None
            }
        }
    }

    fn cell(self) -> Cell {
        match (self.absent, self.disqualified, Summary::of(&self.samples)) {
            (true, ..) => Cell::Absent,
            (_, None, Some(summary)) => Cell::Measured(Figures { summary, rss_kb: 0, samples: self.samples }),
            (_, reason, _) => {
                Cell::Disqualified { reason: reason.unwrap_or_else(|| "no run was made".to_owned()) }
            }
        }
    }
}

/// The first line in which a transcript differs from the right one.
fn difference(right: Option<&[u8]>, transcript: &[u8]) -> String {
    let right = right.unwrap_or_default().split(|byte| *byte == b'\n');
    let ours = transcript.split(|byte| *byte == b'\n');
    let line = ours.zip(right).find(|(a, b)| a != b).map(|(a, _)| a);
    excerpt(line.unwrap_or(b"its length differs"))
}

/// Holds one session; the mean of a command in microseconds and what the first round printed.
fn converse(
    contestant: &Contestant,
    folder: &Path,
    timeout: Duration,
    rounds: usize,
) -> io::Result<(f64, Vec<u8>)> {
    let mut command = command_of(&invocation(contestant, &[], folder));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let result = (|| {
        let (Some(mut input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        // The first answer ends start-up, which is a row of its own.
        ask(&mut input, &mut output, ":", timeout)?;
        let mut transcript = Vec::new();
        let start = Instant::now();
        for round in 0..rounds {
            for text in COMMANDS {
                let answer = ask(&mut input, &mut output, text, timeout)?;
                if round == 0 {
                    transcript.extend_from_slice(&answer);
                }
            }
        }
        let commands = (rounds * COMMANDS.len()) as f64;
        Ok((start.elapsed().as_secs_f64() * 1e6 / commands, transcript))
    })();
    let _ = child.kill();
    let _ = child.wait();
    result
}

/// Sends one command and reads until the line that follows its output.
fn ask(
    input: &mut impl Write,
    output: &mut ChildStdout,
    text: &str,
    timeout: Duration,
) -> io::Result<Vec<u8>> {
    input.write_all(format!("{text}\necho {END}\n").as_bytes())?;
    input.flush()?;
    let end = format!("{END}\n").into_bytes();
    let mut answer = Vec::new();
    let mut chunk = [0u8; 16 * 1024];
    while !answer.ends_with(&end) {
        let milliseconds = u16::try_from(timeout.as_millis()).unwrap_or(u16::MAX);
        let mut waiting = [PollFd::new(output.as_fd(), PollFlags::POLLIN)];
        if poll(&mut waiting, PollTimeout::from(milliseconds))? == 0 {
            return Err(io::Error::other(format!("no answer to {text:?} within {} s", timeout.as_secs())));
        }
        let count = output.read(&mut chunk)?;
        if count == 0 {
            return Err(io::Error::other(format!("the shell ended at {text:?}")));
        }
        answer.extend_from_slice(chunk.get(..count).unwrap_or_default());
    }
    answer.truncate(answer.len() - end.len());
    Ok(answer)
}

/// A repository of twenty files with one change in it.
fn prepare(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for i in 0..20 {
        fs::write(folder.join(format!("file{i:02}")), format!("contents of file {i}\n").repeat(20))?;
    }
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(folder).env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1").args(arguments);
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("git {}", arguments.join(" ")))) }
    };
    git(&["-c", "init.defaultBranch=main", "init", "-q"])?;
    git(&["add", "."])?;
    git(&["-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-q", "-m", "Begin"])?;
    fs::write(folder.join("file07"), "changed\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_shown() {
        assert_eq!(difference(Some(b"a\nb\n"), b"a\nc\n"), "c");
        assert_eq!(difference(Some(b"a\n"), b"a\n\n"), "its length differs");
    }
}
