//! Running tests in worker processes, so that a crash or a hang costs one test and not the run.
//!
//! Each of N threads owns one worker process and feeds it one path per line; the worker answers each with one line of
//! JSON, a [`Verdict`]. A worker that dies is replaced and the test it had is `Crashed`, with the end of its standard error;
//! one that does not answer in time is killed and its test `Hung`. Every path gets exactly one verdict.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::judge::Verdict;
use crate::limits::TEST262_CRASH_MESSAGE_BYTES_MAX;

/// How to run a batch.
pub(crate) struct Supervisor<'a> {
    /// Makes the command of a fresh worker.
    pub(crate) command: &'a (dyn Fn() -> Command + Sync),
    /// How many workers run at once.
    pub(crate) jobs: usize,
    /// How long a worker may take for one test before it is killed.
    pub(crate) watchdog: Duration,
    /// Called after each verdict.
    pub(crate) on_verdict: &'a (dyn Fn(&str, &Verdict) + Sync),
}

impl Supervisor<'_> {
    /// Runs all tests; the verdicts come back in the order of `paths`.
    pub(crate) fn run(&self, paths: &[String]) -> Vec<Verdict> {
        let next = AtomicUsize::new(0);
        let verdicts: Mutex<Vec<Option<Verdict>>> = Mutex::new(vec![None; paths.len()]);
        thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                scope.spawn(|| self.drain(paths, &next, &verdicts));
            }
        });
        let verdicts = verdicts.into_inner().unwrap_or_else(PoisonError::into_inner);
        verdicts
            .into_iter()
            .map(|verdict| verdict.unwrap_or_else(|| Verdict::Crashed("never run".into())))
            .collect()
    }

    fn drain(&self, paths: &[String], next: &AtomicUsize, verdicts: &Mutex<Vec<Option<Verdict>>>) {
        let mut worker = None;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(index) else { break };
            let verdict = self.run_one(&mut worker, path);
            (self.on_verdict)(path, &verdict);
            verdicts.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(verdict);
        }
    }

    fn run_one(&self, slot: &mut Option<Worker>, path: &str) -> Verdict {
        let mut worker = match slot.take() {
            Some(worker) => worker,
            None => match Worker::start((self.command)()) {
                Ok(worker) => worker,
                Err(error) => return Verdict::Crashed(format!("cannot start a worker: {error}")),
            },
        };
        match worker.ask(path, self.watchdog) {
            Answer::Verdict(verdict) => {
                *slot = Some(worker);
                verdict
            }
            Answer::Died => Verdict::Crashed(worker.obituary()),
            Answer::Silent => {
                worker.kill();
                Verdict::Hung
            }
        }
    }
}

enum Answer {
    Verdict(Verdict),
    Died,
    Silent,
}

/// A worker process; killed when dropped.
struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
    complaints: Arc<Mutex<Vec<u8>>>,
    complaint_reader: Option<thread::JoinHandle<()>>,
}

impl Worker {
    fn start(mut command: Command) -> std::io::Result<Self> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (sender, answers) = mpsc::channel();
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let kept = complaints.clone();
        let errors = child.stderr.take();
        let complaint_reader = errors.map(|errors| thread::spawn(move || keep_tail(errors, &kept)));
        let input = child.stdin.take();
        Ok(Worker { child, input, answers, complaints, complaint_reader })
    }

    fn ask(&mut self, path: &str, watchdog: Duration) -> Answer {
        let sent = self.input.as_mut().map(|input| writeln!(input, "{path}").and_then(|()| input.flush()));
        if !matches!(sent, Some(Ok(()))) {
            return Answer::Died;
        }
        match self.answers.recv_timeout(watchdog) {
            Ok(line) => match serde_json::from_str(&line) {
                Ok(verdict) => Answer::Verdict(verdict),
                Err(_) => Answer::Verdict(Verdict::Failed(format!("worker said: {line}"))),
            },
            Err(RecvTimeoutError::Timeout) => Answer::Silent,
            Err(RecvTimeoutError::Disconnected) => Answer::Died,
        }
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// What can be said about the death of this worker.
    fn obituary(&mut self) -> String {
        self.input = None;
        let status = self.child.wait();
        if let Some(reader) = self.complaint_reader.take() {
            let _ = reader.join();
        }
        let complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        let said = String::from_utf8_lossy(&complaints);
        let said = said.trim();
        match status {
            Ok(status) => format!("{}: {said}", describe(status)),
            Err(error) => format!("unknown status ({error}): {said}"),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Closing its input lets an idle worker end by itself; a busy one is killed.
        self.input = None;
        self.kill();
    }
}

fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return format!("signal {signal}");
        }
    }
    format!("{status}")
}

/// Reads a stream to its end and keeps the last bytes of it.
fn keep_tail(mut stream: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 1024];
    while let Ok(count @ 1..) = stream.read(&mut chunk) {
        let mut tail = kept.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&chunk[..count]);
        let excess = tail.len().saturating_sub(TEST262_CRASH_MESSAGE_BYTES_MAX);
        tail.drain(..excess);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A worker that behaves as the path says.
    const FAKE: &str = r#"while read path; do case $path in
        pass*) echo '"passed"';;
        crash*) echo "boom in $path" >&2; kill -SEGV $$;;
        hang*) sleep 60;;
        babble*) echo 'not json';;
        *) echo '{"failed":"reason"}';;
    esac; done"#;

    fn run(paths: &[&str], jobs: usize) -> Vec<Verdict> {
        let command = || {
            let mut command = Command::new("sh");
            command.args(["-c", FAKE]);
            command
        };
        let watchdog = Duration::from_millis(700);
        let supervisor = Supervisor { command: &command, jobs, watchdog, on_verdict: &|_, _| {} };
        supervisor.run(&paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn verdicts_come_back_in_order() {
        let verdicts = run(&["pass1", "fail1", "pass2", "babble"], 2);
        assert_eq!(verdicts[..3], [Verdict::Passed, Verdict::Failed("reason".into()), Verdict::Passed]);
        assert_eq!(verdicts[3], Verdict::Failed("worker said: not json".into()));
    }

    #[test]
    fn a_crash_is_attributed_to_its_test_and_the_rest_goes_on() {
        let verdicts = run(&["pass1", "crash1", "pass2"], 1);
        assert_eq!(verdicts[0], Verdict::Passed);
        assert_eq!(verdicts[1], Verdict::Crashed("signal 11: boom in crash1".into()));
        assert_eq!(verdicts[2], Verdict::Passed);
    }

    #[test]
    fn a_hang_is_killed_and_the_rest_goes_on() {
        assert_eq!(run(&["hang1", "pass1"], 1), [Verdict::Hung, Verdict::Passed]);
    }
}
