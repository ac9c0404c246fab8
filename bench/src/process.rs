//! Runs one process and measures it: elapsed time, processor time, peak resident set, output, status, with a time-out.
//!
//! Invariant: one process at a time. The kernel carries the resident set that a process had *before* its exec into the
//! peak that `wait4` gives: all of the parent's where the child was made with vfork semantics, the copied pages where it
//! was forked. So the warm-up of each row goes through a launcher (this program, freshly started and tiny), which truly
//! forks and gives the memory figure; the timed runs spawn directly and give the times.

use crate::limits::{EXCERPT_CHARS, OUTPUT_BYTES_MAX, WATCHDOG_PERIOD};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use wait4::Wait4;

/// A command line with everything that it depends on.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) directory: PathBuf,
    /// The whole environment.
    pub(crate) environment: Vec<(String, OsString)>,
}

/// How the child is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Birth {
    /// The quickest way the standard library has; its peak resident set means nothing.
    Spawn,
    /// By the launcher, for the peak resident set; its times mean nothing.
    Launched,
}

/// What one process did.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    pub(crate) rss_kb: u64,
    pub(crate) status: ExitStatus,
    pub(crate) timed_out: bool,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Outcome {
    /// Why this outcome disqualifies its contestant; none when it ended with status 0.
    pub(crate) fn failure(&self, timeout: Duration) -> Option<String> {
        if self.timed_out {
            return Some(format!("timed out after {} s", timeout.as_secs_f64()));
        }
        if self.status.success() {
            return None;
        }
        let how = match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(signal)) => format!("killed by signal {signal}"),
            (None, None) => "unknown status".to_owned(),
        };
        let text = if self.stderr.is_empty() { &self.stdout } else { &self.stderr };
        let excerpt = excerpt(text);
        Some(if excerpt.is_empty() { how } else { format!("{how}: {excerpt}") })
    }
}

/// The first line of some output, bounded, for messages.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("").trim();
    let mut short: String = line.chars().take(EXCERPT_CHARS).collect();
    if short.len() < line.len() {
        short.push_str("...");
    }
    short
}

/// Measures processes that write into files of a scratch folder.
pub(crate) struct Runner {
    scratch: PathBuf,
    timeout: Duration,
    watchdog: Watchdog,
}

impl Runner {
    /// A runner whose children write into `scratch`, which must exist.
    pub(crate) fn new(scratch: &Path, timeout: Duration) -> Runner {
        Runner { scratch: scratch.to_owned(), timeout, watchdog: Watchdog::start() }
    }

    /// The time after which a child is killed.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Runs `invocation` to its end.
    pub(crate) fn run(&self, invocation: &Invocation, birth: Birth) -> io::Result<Outcome> {
        let (out, err) = (self.scratch.join("stdout"), self.scratch.join("stderr"));
        let note = self.scratch.join("launched");
        let mut command = match birth {
            Birth::Spawn => command_of(invocation),
            Birth::Launched => command_of(&launched(invocation, &note)?),
        };
        command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
        let start = Instant::now();
        let child = command.spawn()?;
        self.watchdog.watch(child.id(), start + self.timeout);
        let used = child.wait4()?;
        let wall = start.elapsed();
        let timed_out = self.watchdog.rest();
        let (mut status, mut rss_kb) = (used.status, used.rusage.maxrss / 1024);
        if birth == Birth::Launched && !timed_out {
            (status, rss_kb) = read_note(&note)?;
        }
        Ok(Outcome {
            wall,
            cpu: used.rusage.utime + used.rusage.stime,
            rss_kb,
            status,
            timed_out,
            stdout: read_bounded(&out)?,
            stderr: self.without_scratch(read_bounded(&err)?),
        })
    }

    /// Messages name files of the scratch folder, which mean nothing to a reader.
    fn without_scratch(&self, text: Vec<u8>) -> Vec<u8> {
        let folder = format!("{}/", self.scratch.display());
        String::from_utf8_lossy(&text).replace(&folder, "").into_bytes()
    }
}

/// `invocation` by way of the launcher, which leaves its findings in `note`.
fn launched(invocation: &Invocation, note: &Path) -> io::Result<Invocation> {
    let (program, mut arguments) = launcher()?;
    arguments.extend([note.into(), invocation.program.clone().into()]);
    arguments.extend_from_slice(&invocation.arguments);
    Ok(Invocation { program, arguments, ..invocation.clone() })
}

#[cfg(not(test))]
fn launcher() -> io::Result<(PathBuf, Vec<OsString>)> {
    Ok((std::env::current_exe()?, vec![LAUNCH.into()]))
}

/// The unit tests are another program, which has no such door: there a shell stands in, with a figure of its own.
#[cfg(test)]
fn launcher() -> io::Result<(PathBuf, Vec<OsString>)> {
    let script = "note=$1; shift; \"$@\"; printf '%d 1234' $(($? << 8)) >\"$note\"";
    Ok(("/bin/sh".into(), vec!["-c".into(), script.into(), LAUNCH.into()]))
}

/// The first argument that makes this program a launcher.
pub(crate) const LAUNCH: &str = "__launch";

/// The launcher: forks, runs the program to its end and writes its raw status and its peak resident set into `note`.
pub(crate) fn launch(note: &OsStr, program: &OsStr, arguments: &[OsString]) -> io::Result<()> {
    let mut command = Command::new(program);
    // Asking for the identity that we have already is what makes the standard library fork instead of spawning.
    command.args(arguments).uid(nix::unistd::getuid().as_raw());
    let used = command.spawn()?.wait4()?;
    std::fs::write(note, format!("{} {}", used.status.into_raw(), used.rusage.maxrss / 1024))
}

fn read_note(note: &Path) -> io::Result<(ExitStatus, u64)> {
    let text = std::fs::read_to_string(note).unwrap_or_default();
    let numbers =
        text.split_once(' ').and_then(|(status, rss)| Some((status.parse().ok()?, rss.parse().ok()?)));
    let (status, rss_kb) = numbers.ok_or_else(|| io::Error::other("the program could not be started"))?;
    std::fs::remove_file(note)?;
    Ok((ExitStatus::from_raw(status), rss_kb))
}

/// The standard library's command for an invocation, in its own process group, without standard streams.
pub(crate) fn command_of(invocation: &Invocation) -> Command {
    let mut command = Command::new(&invocation.program);
    command.args(&invocation.arguments).current_dir(&invocation.directory).env_clear();
    command.envs(invocation.environment.iter().map(|(name, value)| (name, value)));
    command.process_group(0);
    command
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Confines this process and its children to one processor: the last one of those it may use, which has the least to do
/// with interrupts. Returns it.
pub(crate) fn pin(wanted: Option<usize>) -> io::Result<usize> {
    let allowed = sched_getaffinity(Pid::from_raw(0))?;
    let last = (0..CpuSet::count()).rev().find(|cpu| allowed.is_set(*cpu).unwrap_or(false));
    let cpu = wanted.or(last).unwrap_or(0);
    let mut one = CpuSet::new();
    one.set(cpu)?;
    sched_setaffinity(Pid::from_raw(0), &one)?;
    Ok(cpu)
}

/// Gives this process the processors back that `pin` took.
pub(crate) fn unpin() -> io::Result<()> {
    let mut all = CpuSet::new();
    for cpu in 0..CpuSet::count() {
        all.set(cpu)?;
    }
    Ok(sched_setaffinity(Pid::from_raw(0), &all)?)
}

struct Watched {
    process_group: u32,
    deadline: Instant,
    fired: bool,
}

/// Kills the watched process group once its deadline has passed. It looks at the clock from time to time, so that
/// watching costs the timed process nothing but a lock nobody else holds.
struct Watchdog {
    watched: Arc<Mutex<Option<Watched>>>,
}

impl Watchdog {
    fn start() -> Watchdog {
        let watched = Arc::new(Mutex::new(None));
        let weak = Arc::downgrade(&watched);
        thread::spawn(move || {
            while let Some(watched) = weak.upgrade() {
                look(&watched);
                drop(watched);
                thread::sleep(WATCHDOG_PERIOD);
            }
        });
        Watchdog { watched }
    }

    fn watch(&self, process_group: u32, deadline: Instant) {
        *lock(&self.watched) = Some(Watched { process_group, deadline, fired: false });
    }

    /// Stops watching; whether the process was killed.
    fn rest(&self) -> bool {
        lock(&self.watched).take().is_some_and(|watched| watched.fired)
    }
}

fn lock(watched: &Mutex<Option<Watched>>) -> std::sync::MutexGuard<'_, Option<Watched>> {
    watched.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn look(watched: &Mutex<Option<Watched>>) {
    if let Some(watched) = lock(watched).as_mut()
        && Instant::now() >= watched.deadline
    {
        watched.fired = true;
        // The group may be gone this very moment; then there is nothing to kill.
        let _ = killpg(Pid::from_raw(watched.process_group.cast_signed()), Signal::SIGKILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Invocation {
        Invocation {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            directory: "/".into(),
            environment: vec![("PATH".to_owned(), "/usr/bin:/bin".into())],
        }
    }

    fn runner(name: &str, timeout: Duration) -> Runner {
        let scratch = std::env::temp_dir().join(format!("pithos-bench-test-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&scratch).unwrap();
        Runner::new(&scratch, timeout)
    }

    #[test]
    fn output_status_and_memory() {
        let runner = runner("output", Duration::from_secs(10));
        let good = runner.run(&shell("echo hello; echo oops >&2"), Birth::Launched).unwrap();
        assert_eq!((good.stdout.as_slice(), good.stderr.as_slice()), (&b"hello\n"[..], &b"oops\n"[..]));
        assert_eq!(good.failure(runner.timeout()), None);
        assert_eq!(good.rss_kb, 1234);
        let bad = runner.run(&shell("echo broken >&2; exit 3"), Birth::Spawn).unwrap();
        assert_eq!(bad.failure(runner.timeout()), Some("exit status 3: broken".to_owned()));
        std::fs::remove_dir_all(&runner.scratch).unwrap();
    }

    #[test]
    fn a_hung_process_is_killed_with_its_group() {
        let runner = runner("hang", Duration::from_millis(100));
        let hung = runner.run(&shell("sleep 30 & wait"), Birth::Spawn).unwrap();
        assert!(hung.timed_out);
        assert_eq!(hung.failure(runner.timeout()), Some("timed out after 0.1 s".to_owned()));
        std::fs::remove_dir_all(&runner.scratch).unwrap();
    }

    #[test]
    fn excerpts_are_one_bounded_line() {
        assert_eq!(excerpt(b"\n  first \nsecond"), "first");
        assert_eq!(excerpt("x".repeat(500).as_bytes()).len(), EXCERPT_CHARS + 3);
    }
}
