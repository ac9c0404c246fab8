//! One command in the sandbox, with the caller's own standard streams: what `pithos run` is. No server, no guardian, no event loop, and nothing copies the
//! command's output: what stands on descriptors 0, 1 and 2 is the command's.
//!
//! Three processes: this one, outside, passes signals on and keeps the time; its child, the first process inside the namespaces
//! ([`Plan::contain`]), starts the command, reaps, and at its end the kernel ends what is left; the command is a shell worker of one script.
//! A fourth waits to remove the folders: the one outside cannot, because its mounts are as read-only as the command's.
//! Signals are blocked from the beginning and read one by one, so none is lost between two steps.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal as Number};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use pithos_sandbox::{Contained, Denial, Notice, Plan, Standby};
use rush::errln;
use rush_session::process_tree;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, wait, waitpid,
};

use crate::ONCE_ROLE;
use crate::confinement::Confinement;
use crate::error::Error;
use crate::guardian;
use crate::limits::{END_PATIENCE_MS, KILL_GRACE_MS};
use crate::sync::Locked;

/// As many denials are told when a command has failed.
const DENIALS_TOLD_MAX: usize = 10;
/// What a caller sends that the command should get.
const PASSED_ON: [Number; 9] = [
    Number::SIGINT,
    Number::SIGTERM,
    Number::SIGHUP,
    Number::SIGQUIT,
    Number::SIGUSR1,
    Number::SIGUSR2,
    Number::SIGALRM,
    Number::SIGCONT,
    Number::SIGWINCH,
];
/// A process that a signal ended counts as this and the signal.
const STATUS_SIGNAL_BASE: i32 = 128;
/// The status of a command whose time was over, as `timeout` has it.
pub const STATUS_TIMEOUT: u8 = 124;
/// The status when no command was started, as programs that start others have it.
pub const STATUS_NOT_STARTED: u8 = 125;

/// What to run.
#[derive(Debug, Clone)]
pub enum Program {
    /// Shell source.
    Script(OsString),
    /// A program and its arguments, which no shell looks at.
    Words(Vec<OsString>),
}

/// Runs a program in the sandbox of `confinement` with this process's standard streams; the status to end with. Afterwards, and also when this process is
/// killed, the folders `passing` are removed. This process must have one thread, and
/// must do nothing but end afterwards: it may be the copy inside that comes back.
///
/// # Errors
/// When the sandbox cannot be had, or the program cannot be started in it.
pub fn run(
    confinement: &Confinement,
    program: &Program,
    timeout: Option<Duration>,
    passing: &[PathBuf],
) -> Result<u8, Error> {
    let end = timeout.map(|timeout| Instant::now() + timeout);
    rush::sys::keep_closed_descriptors();
    let mut signals = SigSet::empty();
    PASSED_ON.into_iter().for_each(|signal| signals.add(signal));
    signals.add(Number::SIGCHLD);
    signals.thread_block().map_err(|error| Error::Once(error.into()))?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| Error::Once(error.into()))?;
    let cleaner = Standby::new(|| {
        for folder in passing {
            let _ = std::fs::remove_dir_all(folder);
        }
    });
    let cleaner = cleaner.map_err(Error::Once)?;
    match confinement.contain().map_err(Error::Sandbox)? {
        Contained::Outside { child } => outside(child, &signals, end, &cleaner).map_err(Error::Once),
        Contained::Inside(plan) => {
            cleaner.forget();
            inside(*plan, program, &signals, &confinement.workspace)
        }
    }
}

/// The signals of a set, one by one.
struct Signals(SignalFd);

impl Signals {
    fn new(set: &SigSet) -> io::Result<Self> {
        Ok(Self(SignalFd::with_flags(set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?))
    }

    /// The next one, or none when the time is over.
    fn next(&mut self, end: Option<Instant>) -> io::Result<Option<Signal>> {
        loop {
            if let Some(info) = self.0.read_signal()? {
                let number = i32::try_from(info.ssi_signo).unwrap_or(0);
                return Ok(Signal::from_named_raw(number).or(Some(Signal::CHILD)));
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            let time = left.map(|left| Timespec {
                tv_sec: left.as_secs() as i64,
                tv_nsec: i64::from(left.subsec_nanos()),
            });
            match poll(&mut [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN)], time.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The process outside: passes signals on until the one inside has ended.
fn outside(child: u32, set: &SigSet, mut end: Option<Instant>, cleaner: &Standby) -> io::Result<u8> {
    // Nothing here may open a file for writing, or read one, before the one inside has made its mounts read-only: they are this process's too, and as long
    // as somebody may write there the kernel calls them busy.
    let (number, child) = (child, pid(child)?);
    let mut own_processes = None;
    let mut signals = Signals::new(set)?;
    // Who reads the command's output must see its end when the command has closed it.
    let _ = let_go(&[rustix::stdio::stdin(), rustix::stdio::stdout()]);
    let mut timed_out = false;
    let status = loop {
        match signals.next(end)? {
            Some(Signal::CHILD) => {
                // As long as it is not reaped. With ids of its own, the kernel ends everything inside with its first process.
                own_processes.get_or_insert_with(|| guardian::id_inside(number) == Some(1));
                if let Some((_, status)) = waitpid(Some(child), WaitOptions::NOHANG)? {
                    break status;
                }
            }
            Some(signal) => {
                let _ = kill_process(child, signal);
            }
            None => {
                let signal = if timed_out { Signal::KILL } else { Signal::TERM };
                timed_out = true;
                let _ = kill_process(child, signal);
                end = Some(Instant::now() + Duration::from_millis(2 * KILL_GRACE_MS));
            }
        }
    };
    if own_processes != Some(true) {
        process_tree::end_all_below(
            &std::collections::HashSet::from([cleaner.id()]),
            Duration::from_millis(END_PATIENCE_MS),
        );
    }
    if timed_out {
        errln!("pithos: the command was ended: its time was over");
        return Ok(STATUS_TIMEOUT);
    }
    Ok(status_of(status))
}

/// The process inside: starts the command, passes signals on to its process group, reaps.
fn inside(mut plan: Plan, program: &Program, set: &SigSet, folder: &Path) -> Result<u8, Error> {
    let denials: Arc<Locked<Vec<Denial>>> = Arc::default();
    let seen = Arc::clone(&denials);
    // Where calls cannot be watched the command says itself what it was refused.
    let _ = plan.watch(move |notice| {
        let Notice::Refused(refused) = notice else { return };
        seen.with(|seen| {
            if seen.len() < DENIALS_TOLD_MAX
                && seen.iter().all(|known| known.subject != refused.denial.subject)
            {
                seen.push(refused.denial);
            }
        });
    });
    let mut command = Command::new("/proc/self/exe");
    command.arg(ONCE_ROLE);
    match program {
        Program::Script(script) => command.args([OsStr::new("script"), script]),
        Program::Words(words) => command.arg("words").args(words),
    };
    command.current_dir(folder).stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    plan.apply(&mut command).map_err(Error::Sandbox)?;
    // `spawn` and never `wait`: whatever ends is reaped below.
    let started = plan.spawn(&mut command).map_err(Error::Sandbox)?;
    let status = attend(started.id(), set);
    // What is left ends before the watcher of its calls does: a call that nobody answers any more fails in words that puzzle. With other ids than these the
    // process outside ends it.
    if std::process::id() == 1 {
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(-1), Number::SIGKILL);
    }
    let status = status.map_err(Error::Once)?;
    if status != 0 {
        for denial in denials.with(std::mem::take) {
            errln!(
                "[the sandbox denied {}: {}; to allow it, {}]",
                denial.subject,
                denial.rule,
                denial.how_to_allow
            );
        }
    }
    Ok(status)
}

fn attend(worker: u32, set: &SigSet) -> io::Result<u8> {
    let worker = pid(worker)?;
    let mut signals = Signals::new(set)?;
    // Standard error is needed for what was denied.
    let _ = let_go(&[rustix::stdio::stdin(), rustix::stdio::stdout()]);
    let mut passed_on = false;
    let mut done: Option<u8> = None;
    let mut end = None;
    loop {
        match signals.next(end)? {
            Some(Signal::CHILD) => loop {
                match wait(WaitOptions::NOHANG) {
                    Ok(Some((ended, status))) if ended == worker => {
                        let code = status_of(status);
                        // What was sent to the command was sent to all of it: the others may have things to put in order.
                        if !passed_on || status.terminating_signal().is_none() {
                            return Ok(code);
                        }
                        done = Some(code);
                        end = Some(Instant::now() + Duration::from_millis(KILL_GRACE_MS));
                    }
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(_) => return Ok(done.unwrap_or(STATUS_NOT_STARTED)),
                }
            },
            Some(signal) => {
                passed_on |= ![Signal::CONT, Signal::WINCH].contains(&signal);
                let _ = kill_process_group(worker, signal);
                if signal == Signal::TERM {
                    let _ = kill_process_group(worker, Signal::CONT);
                }
            }
            None => return Ok(done.unwrap_or(STATUS_NOT_STARTED)),
        }
    }
}

/// Puts nothing in the place of these standard streams.
fn let_go(streams: &[BorrowedFd<'_>]) -> io::Result<()> {
    // Only for reading: nothing is written to them any more, and while the mounts are made `/dev/null` is a plain file for a moment, before the device is
    // mounted on it; open for writing it would keep all of `/dev` from becoming read-only.
    let null = std::fs::File::open("/dev/null")?;
    for stream in streams {
        match std::os::fd::AsRawFd::as_raw_fd(stream) {
            0 => rustix::stdio::dup2_stdin(&null)?,
            _ => rustix::stdio::dup2_stdout(&null)?,
        }
    }
    Ok(())
}

fn pid(number: u32) -> io::Result<Pid> {
    let raw = i32::try_from(number).ok().and_then(Pid::from_raw);
    raw.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

fn status_of(status: WaitStatus) -> u8 {
    let code = status.exit_status().or_else(|| Some(STATUS_SIGNAL_BASE + status.terminating_signal()?));
    u8::try_from(code.unwrap_or(1)).unwrap_or(1)
}

/// The command's side: takes signals again, which a new process inherits blocked.
pub(crate) fn take_signals() -> io::Result<()> {
    Ok(SigSet::all().thread_unblock()?)
}
