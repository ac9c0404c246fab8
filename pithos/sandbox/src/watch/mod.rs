//! Watching: which calls of the commands the policy denies, as the kernel sees them and not as programs tell of it. A filter stops each call that could
//! be denied until a thread here has looked at it (seccomp user notification); then it goes on, and Landlock, mounts and modes decide. So a denial is
//! known with its path and call whatever the exit status is and wherever the program's message goes.
//!
//! Watching reports and does not decide: between the look and the call another thread of the program may change its arguments. Two kinds of
//! calls are ended here all the same: those that are refused by their number and plain arguments, which nobody can change, and the making of protected
//! paths, for which the kernel has no rule.
//!
//! The filter belongs to one thread, which starts all commands; the threads that answer are not under it. When they end, the calls that are asked about fail: it
//! fails closed.

mod calls;
mod judge;
mod kernel;
mod places;

use crate::denial::{self, Denial};
use crate::error::Error;
use crate::limits::{ANCESTORS_MAX, WATCHERS_MAX};
use crate::policy::ResolvedPolicy;
use judge::{Judge, Verdict};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

/// Which calls are watched; a look costs some 10 microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Watching {
    /// All that can be denied.
    #[default]
    All,
    /// All but opening files to read them, which is nine in ten of the calls.
    Changes,
    /// None: denials are read from what programs say.
    Off,
}

/// A call that was denied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The process that made it, and those above it, by their ids where the watcher is.
    pub processes: Vec<u32>,
    /// What was denied.
    pub denial: Denial,
}

type Report = dyn Fn(Refused) + Send + Sync;
type Start = (Command, mpsc::Sender<(Command, io::Result<Child>)>);

/// The thread whose commands are watched.
#[derive(Debug)]
pub(crate) struct Watch {
    starts: Mutex<mpsc::Sender<Start>>,
}

impl Watch {
    /// Makes the thread that starts commands, and those that look at their calls.
    pub(crate) fn start(
        policy: &ResolvedPolicy,
        read_only_mounts: bool,
        own_processes: bool,
        report: Arc<Report>,
    ) -> Result<Watch, Error> {
        let program = calls::program(&policy.policy, own_processes)?;
        let judge = Arc::new(Judge::new(policy, read_only_mounts, own_processes));
        let policy = Arc::new(policy.clone());
        let watchers = std::thread::available_parallelism().map_or(1, usize::from).min(WATCHERS_MAX);
        // They are made before there is a filter: a thread has that of who made it.
        let mut waiting = Vec::new();
        for _ in 0..watchers {
            let (sender, receiver) = mpsc::channel::<Arc<OwnedFd>>();
            let (judge, policy, report) = (Arc::clone(&judge), Arc::clone(&policy), Arc::clone(&report));
            let watcher = move || {
                if let Ok(listener) = receiver.recv() {
                    look_on(&listener, &judge, &policy, &*report);
                }
            };
            thread("denials", watcher)?;
            waiting.push(sender);
        }
        let (starts, wanted) = mpsc::channel::<Start>();
        let (installed, listener) = mpsc::channel();
        thread("starter", move || {
            let listener = kernel::install(&program);
            let good = listener.is_ok();
            let _ = installed.send(listener);
            while good && let Ok((mut command, done)) = wanted.recv() {
                let child = command.spawn();
                let _ = done.send((command, child));
            }
        })?;
        let gone = |_| Error::Start(io::Error::other("the thread that starts commands has ended"));
        let listener = Arc::new(listener.recv().map_err(gone)?.map_err(Error::Start)?);
        for watcher in waiting {
            let _ = watcher.send(Arc::clone(&listener));
        }
        Ok(Watch { starts: Mutex::new(starts) })
    }

    /// Starts a command under the filter.
    pub(crate) fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        let (done, answer) = mpsc::channel();
        let gone = || io::Error::other("the thread that starts commands has ended");
        let moved = std::mem::replace(command, Command::new(""));
        let starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        starts.send((moved, done)).map_err(|_| gone())?;
        drop(starts);
        let (back, child) = answer.recv().map_err(|_| gone())?;
        *command = back;
        child
    }
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map(drop).map_err(Error::Start)
}

/// Answers until nobody asks any more.
fn look_on(listener: &OwnedFd, judge: &Judge, policy: &ResolvedPolicy, report: &Report) {
    let own = std::process::id();
    while let Some(asked) = kernel::receive(listener) {
        // A panic would leave the caller waiting, and later calls failing without a word.
        let looked =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match calls::find(asked.number) {
                None => Verdict::Stopped(
                    denial::refused_call(policy, asked.number, &asked.arguments),
                    libc::EPERM,
                ),
                Some(call) => judge.judge(call, &asked),
            }));
        let (denial, error) = match looked {
            Ok(Verdict::Allowed) => (None, None),
            Ok(Verdict::Denied(denial)) => (Some(denial), None),
            Ok(Verdict::Stopped(denial, error)) => (Some(denial), Some(error)),
            Err(_) => (None, calls::find(asked.number).is_none().then_some(libc::EPERM)),
        };
        if let Some(denial) = denial.filter(|_| !judge::is_name_cache(&asked)) {
            let processes = ancestors(asked.thread);
            // The thread that starts commands is under the filter too.
            if processes.first() != Some(&own) {
                report(Refused { processes, denial });
            }
        }
        // After the report: who hears that a command has ended can read what it was denied.
        kernel::answer(listener, asked.id, error);
    }
}

/// A process (of this thread) and those above it, nearest first.
pub(crate) fn ancestors(thread: u32) -> Vec<u32> {
    let field = |pid: u32, key: &str| -> Option<u32> {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix(key))?.trim().parse().ok()
    };
    let mut chain = Vec::new();
    let mut next = field(thread, "Tgid:");
    while let Some(pid) = next.filter(|pid| *pid > 0 && chain.len() < ANCESTORS_MAX) {
        chain.push(pid);
        next = field(pid, "PPid:");
    }
    chain
}

/// Whether calls can be watched here: not before Linux 5.9, and not where somebody above watches already.
pub(crate) fn possible() -> bool {
    let policy = crate::policy::Policy::default();
    let Ok(program) = calls::program(&policy, true) else { return false };
    std::thread::spawn(move || kernel::install(&program).is_ok()).join().unwrap_or(false)
}
