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
mod connect;
mod entry;
mod judge;
mod kernel;
mod places;
mod target;

use crate::denial::{self, Denial};
use crate::error::Error;
use crate::limits::{ANCESTORS_MAX, WATCHERS_MAX};
use crate::policy::ResolvedPolicy;
use connect::{Connector, Outcome};
use judge::{Judge, Verdict};
use kernel::sockets::Alarm;
use kernel::{Answer, Asked};
use serde::{Deserialize, Serialize};
use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
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

/// What is told of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notice {
    /// It was denied.
    Refused(Refused),
    /// It makes something whose name is protected in every folder, at this real path or below it.
    Made(PathBuf),
}

pub(crate) type Report = dyn Fn(Notice) + Send + Sync;
type Start = (Command, mpsc::Sender<(Command, io::Result<Child>)>);

/// The thread whose commands are watched.
pub(crate) struct Watch {
    starts: Mutex<mpsc::Sender<Start>>,
    /// Who is told of denials.
    pub(crate) report: Arc<Report>,
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

/// A mount namespace, and a working directory in it: where commands see other files than this process does, those who look at their calls look there.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) namespace: Arc<OwnedFd>,
    pub(crate) directory: CString,
}

impl Place {
    /// Takes this thread there.
    fn enter(&self) -> io::Result<()> {
        let entered = crate::child::own_place()
            .and_then(|()| crate::child::enter_mounts(&self.namespace))
            .and_then(|()| crate::child::change_directory(&self.directory));
        entered.map_err(|(_, errno)| io::Error::from_raw_os_error(errno))
    }
}

impl Watch {
    /// Makes the thread that starts commands, and those that look at their calls: all of them at `place`, if one is given.
    pub(crate) fn start(
        policy: &ResolvedPolicy,
        read_only_mounts: bool,
        own_processes: bool,
        report: Arc<Report>,
        place: Option<&Place>,
    ) -> Result<Watch, Error> {
        let program = calls::program(&policy.policy, own_processes, policy.own_sockets)?;
        let judge = Arc::new(Judge::new(policy, read_only_mounts, own_processes));
        let own_sockets = policy.own_sockets;
        let policy = Arc::new(policy.clone());
        let (connector, attendant) = Connector::new();
        let connector = own_sockets.then(|| Arc::new(connector));
        let watchers = std::thread::available_parallelism().map_or(1, usize::from).min(WATCHERS_MAX);
        // They are made before there is a filter: a thread has that of who made it.
        let mut waiting = Vec::new();
        for _ in 0..watchers {
            let (sender, receiver) = mpsc::channel::<Arc<OwnedFd>>();
            let (judge, policy, report) = (Arc::clone(&judge), Arc::clone(&policy), Arc::clone(&report));
            let connector = connector.clone();
            let watcher = move |alarm: Option<Alarm>| {
                if let Ok(listener) = receiver.recv() {
                    look_on(&listener, &judge, &policy, &*report, connector.as_deref().zip(alarm.as_ref()));
                }
            };
            alarmed_thread("denials", own_sockets, place.cloned(), watcher)?;
            waiting.push(sender);
        }
        drop(connector);
        if own_sockets {
            let (sender, receiver) = mpsc::channel::<Arc<OwnedFd>>();
            let (judge, report) = (Arc::clone(&judge), Arc::clone(&report));
            let work = move |alarm: Option<Alarm>| {
                if let (Ok(listener), Some(alarm)) = (receiver.recv(), alarm) {
                    let tell = |asked: &Asked, denial| tell(&*report, asked, denial);
                    attendant.attend(&listener, &judge, &alarm, &tell);
                }
            };
            alarmed_thread("connections", true, place.cloned(), work)?;
            waiting.push(sender);
        }
        let (starts, wanted) = mpsc::channel::<Start>();
        let (installed, listener) = mpsc::channel();
        let place = place.cloned();
        thread("starter", move || {
            // Before the filter, which has no say for this process.
            let there = place.as_ref().map_or(Ok(()), Place::enter);
            let listener = there.and_then(|()| kernel::install(&program));
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
        Ok(Watch { starts: Mutex::new(starts), report })
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

/// The same with an alarm of the thread's own, if one is wanted; an error when it cannot be had.
fn alarmed_thread(
    name: &str,
    wanted: bool,
    place: Option<Place>,
    work: impl FnOnce(Option<Alarm>) + Send + 'static,
) -> Result<(), Error> {
    let (made, alarm) = mpsc::channel();
    thread(name, move || {
        let there = place.as_ref().map_or(Ok(()), Place::enter);
        match there.and_then(|()| wanted.then(Alarm::new).transpose()) {
            Ok(alarm) => {
                let _ = made.send(Ok(()));
                work(alarm);
            }
            Err(error) => drop(made.send(Err(error))),
        }
    })?;
    let gone = |_| Error::Start(io::Error::other("a thread that looks at calls has ended"));
    alarm.recv().map_err(gone)?.map_err(Error::Start)
}

/// Reports what a caller was denied, with its process and those above.
fn tell(report: &Report, asked: &Asked, denial: Denial) {
    let processes = ancestors(asked.thread);
    // The thread that starts commands is under the filter too.
    if processes.first() != Some(&std::process::id()) {
        report(Notice::Refused(Refused { processes, denial }));
    }
}

/// Answers until nobody asks any more. With a connector every `connect` is made by it.
fn look_on(
    listener: &OwnedFd,
    judge: &Judge,
    policy: &ResolvedPolicy,
    report: &Report,
    connector: Option<(&Connector, &Alarm)>,
) {
    while let Some(asked) = kernel::receive(listener) {
        // A panic would leave the caller waiting, and later calls failing without a word.
        let made = connector.filter(|_| asked.number == libc::SYS_connect);
        let look = || match (made, calls::find(asked.number)) {
            (Some((connector, alarm)), _) => connector.connect(judge, listener, alarm, &asked),
            (None, None) => {
                let denial = denial::refused_call(policy, asked.number, &asked.arguments);
                Outcome { denial: Some(denial), answer: Some(Answer::Error(libc::EPERM)) }
            }
            (None, Some(call)) => match judge.judge(call, &asked) {
                Verdict::Made(path) => {
                    report(Notice::Made(path));
                    Verdict::Allowed.into()
                }
                verdict => verdict.into(),
            },
        };
        let looked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(look));
        let Outcome { denial, answer } = looked.unwrap_or_else(|_| {
            let ends = made.is_some() || calls::find(asked.number).is_none();
            let answer = if ends { Answer::Error(libc::EPERM) } else { Answer::Continue };
            Outcome { denial: None, answer: Some(answer) }
        });
        if let Some(denial) = denial.filter(|_| !judge::is_name_cache(&asked)) {
            tell(report, &asked, denial);
        }
        // After the report: who hears that a command has ended can read what it was denied.
        if let Some(answer) = answer {
            kernel::answer(listener, asked.id, answer);
        }
    }
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Outcome {
        let (denial, answer) = match verdict {
            Verdict::Allowed | Verdict::Made(_) => (None, Answer::Continue),
            Verdict::Denied(denial) => (Some(denial), Answer::Continue),
            Verdict::Stopped(denial, error) => (Some(denial), Answer::Error(error)),
        };
        Outcome { denial, answer: Some(answer) }
    }
}

/// A file of a process's folder below `/proc`. What names there are (its own, those of what it maps) is the process's own choice, and need not be text.
pub(crate) fn proc_text(process: u32, file: &str) -> Option<String> {
    let bytes = std::fs::read(format!("/proc/{process}/{file}")).ok()?;
    Some(
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    )
}

/// A process (of this thread) and those above it, nearest first.
pub(crate) fn ancestors(thread: u32) -> Vec<u32> {
    let field = |pid: u32, key: &str| -> Option<u32> {
        let status = proc_text(pid, "status")?;
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
    let Ok(program) = calls::program(&policy, true, true) else { return false };
    std::thread::spawn(move || kernel::install(&program).is_ok()).join().unwrap_or(false)
}
