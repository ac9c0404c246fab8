//! The guardian: the one process that starts every worker and that outlives the server by as long as it takes to end them all.
//!
//! Two processes: one outside the sandbox, which only waits and sweeps, and one inside ([`Plan::contain`]), with a pid namespace its first process:
//! when that ends, however, the kernel ends everything in it. All ids that pass through its socket are those inside; [`client`] translates.
//!
//! It is a subreaper, so whatever a worker leaves behind becomes the guardian's own child. When its socket closes (the server
//! ended, however), it kills everything below it and exits. When a worker ends, what that worker left is killed too. Workers die
//! with the guardian (parent-death signal), and the server is a subreaper as well, so killing the guardian leaves nothing either.
//!
//! The server's half is [`client`]; this half is a single thread that waits in `poll`.

mod client;
mod names;
mod strays;

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::{AsFd, IntoRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use pithos_sandbox::{Contained, Overlaid, Plan};
use rush::errln;
use rush_session::Frames;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::mount::FsPickFlags;
use rustix::process::{Pid, PidfdFlags, WaitOptions, pidfd_open, waitpid};
use serde::{Deserialize, Serialize};

pub use client::{Exit, Guardian, raise_descriptor_limit};
pub(crate) use names::id_inside;

use crate::cgroup;
use crate::compiling::EXECUTABLE_MEMORY;
use crate::confinement::Confinement;
use crate::limits::{END_PATIENCE_MS, KILL_GRACE_MS, OOM_SCORE_ADJUSTMENT};
use crate::{ACTORS_ROLE, CELL_ROLE};
use rush_session::process_tree;

/// How long what a worker left is pursued.
const END_PATIENCE: Duration = Duration::from_millis(END_PATIENCE_MS);

/// What the server asks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ToGuardian {
    /// Watch the workers' calls, and report denied ones on the socket that this carries. With a second one: make the proxy's listening socket, where
    /// workers find it, and send it there. Comes first.
    Watch,
    /// Start a worker of this role. Carries the worker's socket.
    Spawn {
        id: u64,
        role: String,
        arguments: Vec<String>,
        /// The overlays that it is to run over.
        #[serde(default)]
        overlays: Vec<OverlayRequest>,
    },
    /// A process below a worker is a worker of its own from now on (a forked session).
    Adopt { pid: u32 },
    /// End a worker and all below it.
    End { pid: u32 },
    /// Let the overlays that a worker runs over see what is below them now.
    Refresh { id: u64, pid: u32, roots: Vec<PathBuf> },
}

/// An overlay to mount: its folder, and its layers below the folder of layers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OverlayRequest {
    pub(crate) root: PathBuf,
    pub(crate) upper: PathBuf,
    pub(crate) work: PathBuf,
}

/// A worker.
struct Worker {
    pidfd: OwnedFd,
    /// The plan of a worker over an overlay: the thread that started it belongs to that, and a worker dies with the thread that started it.
    _overlaid: Option<Plan>,
}

/// What the guardian says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum FromGuardian {
    Spawned {
        id: u64,
        pid: u32,
    },
    Failed {
        id: u64,
        message: String,
    },
    Refreshed {
        id: u64,
    },
    /// A worker ended; `left` is what it had left behind and what was killed.
    Exited {
        pid: u32,
        exit: Exit,
        left: Vec<process_tree::Process>,
    },
}

/// The guardian's main function: `socket` leads to the server, `arguments` are the limit of descriptors and those of
/// [`Confinement::arguments`]. Returns when
/// everything below is gone.
///
/// # Errors
/// When the process cannot become a subreaper, the socket is no socket, or the policy cannot be enforced.
pub fn main(socket: OwnedFd, arguments: &[String]) -> io::Result<()> {
    // A group leader already (started by hand) is fine too.
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let [descriptors, arguments @ ..] = arguments else {
        return Err(io::Error::other("the guardian is started by the server only"));
    };
    client::take_descriptor_limit(descriptors);
    let confinement = Confinement::from_arguments(arguments)?;
    // Nothing of this process's own folder is needed, and it may be covered inside.
    std::env::set_current_dir("/")?;
    // What is started from here on is limited together.
    let group = cgroup::enter();
    let plan = match confinement.contain().map_err(io::Error::other)? {
        Contained::Outside { child } => {
            // Closed already, on this side.
            let _ = socket.into_raw_fd();
            let watched = keep_watch(child);
            if let Some(group) = group {
                group.leave();
            }
            return watched;
        }
        Contained::Inside(plan) => *plan,
    };
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    prefer_for_the_killer();
    let mut state = State { frames: Frames::new(socket), workers: HashMap::new(), plan };
    while state.turn()? {}
    process_tree::end_all_below(&HashSet::new(), END_PATIENCE);
    Ok(())
}

/// The process outside waits for the one inside. With a pid namespace the kernel has ended everything else by then; otherwise what is left
/// has become this process's, also when server and guardian were killed together.
fn keep_watch(child: u32) -> io::Result<()> {
    let pid = i32::try_from(child).ok().and_then(Pid::from_raw);
    while let Err(rustix::io::Errno::INTR) = waitpid(pid, WaitOptions::empty()) {}
    process_tree::end_all_below(&HashSet::new(), END_PATIENCE);
    Ok(())
}

/// When the machine runs out of memory, what agents run goes before what people work with.
fn prefer_for_the_killer() {
    // Not allowed everywhere, and then everything is as it was.
    let _ = std::fs::write("/proc/self/oom_score_adj", OOM_SCORE_ADJUSTMENT);
}

struct State {
    frames: Frames,
    /// Worker pid to its pidfd.
    workers: HashMap<u32, Worker>,
    /// What every worker is confined by.
    plan: Plan,
}

impl State {
    /// Waits for one event and handles it; false when the server has gone.
    fn turn(&mut self) -> io::Result<bool> {
        let ended: Vec<u32> = {
            let order: Vec<u32> = self.workers.keys().copied().collect();
            let mut waits: Vec<PollFd<'_>> = order
                .iter()
                .map(|pid| PollFd::from_borrowed_fd(self.workers[pid].pidfd.as_fd(), PollFlags::IN))
                .collect();
            waits.push(PollFd::from_borrowed_fd(self.frames.descriptor(), PollFlags::IN));
            match poll(&mut waits, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let socket_ready = waits.last().is_some_and(|wait| !wait.revents().is_empty());
            let ended = order.iter().zip(&waits).filter(|(_, wait)| !wait.revents().is_empty());
            let ended = ended.map(|(pid, _)| *pid).collect();
            if socket_ready && !self.serve()? {
                return Ok(false);
            }
            ended
        };
        if !ended.is_empty() {
            self.workers_ended(&ended)?;
        }
        Ok(true)
    }

    /// Handles what has come; false at the end of the stream, or when it makes no sense any more. One read may bring several requests, and no more of the
    /// socket would tell of the second.
    fn serve(&mut self) -> io::Result<bool> {
        let mut next = self.frames.receive::<ToGuardian>();
        loop {
            let Ok(Some((request, descriptors))) = next else { return Ok(false) };
            if !self.carry_out(request, descriptors)? {
                return Ok(false);
            }
            next = self.frames.buffered();
            if matches!(next, Ok(None)) {
                return Ok(true);
            }
        }
    }

    /// Handles one request; false when nobody hears of it any more.
    fn carry_out(&mut self, request: ToGuardian, mut descriptors: Vec<OwnedFd>) -> io::Result<bool> {
        match request {
            ToGuardian::Spawn { id, role, arguments, overlays } => {
                let spawned = match descriptors.pop() {
                    Some(socket) => spawn(&self.plan, &role, &arguments, overlays, socket),
                    None => Err(io::Error::other("no socket came with the request")),
                };
                let answer = match spawned.and_then(|(pid, overlaid)| Ok((pid, open_pidfd(pid)?, overlaid))) {
                    Ok((pid, pidfd, overlaid)) => {
                        self.workers.insert(pid, Worker { pidfd, _overlaid: overlaid });
                        FromGuardian::Spawned { id, pid }
                    }
                    Err(error) => FromGuardian::Failed { id, message: error.to_string() },
                };
                self.say(&answer)
            }
            ToGuardian::Watch => {
                if let Some(door) = (descriptors.len() > 1).then(|| descriptors.pop()).flatten()
                    && let Err(error) = hand_out_listener(door)
                {
                    errln!("pithos: no host can be reached: {}: {error}", pithos_sandbox::PROXY);
                }
                let watched =
                    descriptors.pop().map(|socket| self.plan.watch(crate::noticed::reporter(socket)));
                if let Some(Err(error)) = watched {
                    errln!("pithos: denials are known from what programs say only: {error}");
                }
                Ok(true)
            }
            ToGuardian::Adopt { pid } => {
                if let Ok(pidfd) = open_pidfd(pid) {
                    self.workers.insert(pid, Worker { pidfd, _overlaid: None });
                    return Ok(true);
                }
                self.say(&FromGuardian::Exited { pid, exit: Exit::Unknown, left: Vec::new() })
            }
            ToGuardian::Refresh { id, pid, roots } => {
                self.say(&match roots.iter().try_for_each(|root| refresh(pid, root)) {
                    Ok(()) => FromGuardian::Refreshed { id },
                    Err(error) => FromGuardian::Failed { id, message: error.to_string() },
                })
            }
            ToGuardian::End { pid } => {
                if self.workers.contains_key(&pid) {
                    let others = self.others(pid);
                    let _ =
                        process_tree::end(pid, &others, Duration::ZERO, Duration::from_millis(KILL_GRACE_MS));
                    process_tree::signal(pid, rustix::process::Signal::KILL);
                }
                Ok(true)
            }
        }
    }

    fn say(&self, message: &FromGuardian) -> io::Result<bool> {
        Ok(self.frames.send(message, &[]).is_ok())
    }

    fn others(&self, pid: u32) -> HashSet<u32> {
        self.workers.keys().copied().filter(|other| *other != pid).collect()
    }

    /// Reaps workers, kills what they left behind, and tells the server. Workers that end together are looked after together: a look at all
    /// processes takes longer than everything else here. Only now can there be strays, because every worker is a subreaper itself.
    fn workers_ended(&mut self, ended: &[u32]) -> io::Result<()> {
        let exits: Vec<(u32, Exit)> = ended.iter().map(|pid| (*pid, reap(*pid))).collect();
        ended.iter().for_each(|pid| drop(self.workers.remove(pid)));
        // What a worker left has been re-parented to this process; everything that is not a worker must go.
        let workers: HashSet<u32> = self.workers.keys().copied().collect();
        let left = process_tree::end_all_below(&workers, END_PATIENCE);
        for (pid, exit) in exits {
            let _ = self.say(&FromGuardian::Exited { pid, exit, left: left.clone() })?;
        }
        Ok(())
    }
}

fn spawn(
    plan: &Plan,
    role: &str,
    arguments: &[String],
    overlays: Vec<OverlayRequest>,
    socket: OwnedFd,
) -> io::Result<(u32, Option<Plan>)> {
    let layers: Vec<Overlaid> = overlays
        .into_iter()
        .map(|OverlayRequest { root, upper, work }| Overlaid { root, upper, work })
        .collect();
    let overlaid = (!layers.is_empty()).then(|| plan.overlaid(&layers, &plan.policy().workspace));
    let overlaid = overlaid.transpose().map_err(io::Error::other)?;
    let plan = overlaid.as_ref().unwrap_or(plan);
    let mut command = Command::new("/proc/self/exe");
    command
        .arg(role)
        .args(arguments)
        .args(executable_memory(plan, role))
        .current_dir(&plan.policy().workspace)
        .stdin(Stdio::from(socket))
        .stdout(Stdio::null())
        .stderr(Stdio::inherit());
    plan.apply(&mut command).map_err(io::Error::other)?;
    // `spawn` and never `wait`: the guardian reaps by pid.
    let child = plan.spawn(&mut command).map_err(io::Error::other)?;
    Ok((child.id(), overlaid))
}

/// The argument that lets a worker compile the JavaScript it runs, where the policy does.
fn executable_memory(plan: &Plan, role: &str) -> Option<&'static str> {
    let allowed = plan.policy().policy.executable_memory && matches!(role, CELL_ROLE | ACTORS_ROLE);
    allowed.then_some(EXECUTABLE_MEMORY)
}

/// Has the kernel forget which files an overlay that `pid` sees was last found to be over: it remembers a name's file as long as it likes, and a file that
/// was renamed to that name below would not be seen. Configuring the mount anew with nothing new is what does that, and nothing else.
fn refresh(pid: u32, root: &Path) -> io::Result<()> {
    let path = format!("/proc/{pid}/root{}", root.display());
    let mount = rustix::mount::fspick(rustix::fs::CWD, path, FsPickFlags::FSPICK_CLOEXEC)?;
    Ok(rustix::mount::fsconfig_reconfigure(mount)?)
}

/// Listens on the loopback of this process, which is the workers', for the server.
fn hand_out_listener(door: OwnedFd) -> io::Result<()> {
    let listener = std::net::TcpListener::bind(pithos_sandbox::PROXY)?;
    Frames::new(door).send(&(), &[listener.as_fd()])
}

fn open_pidfd(pid: u32) -> io::Result<OwnedFd> {
    let raw = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(pidfd_open(raw, PidfdFlags::empty())?)
}

fn reap(pid: u32) -> Exit {
    let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
    match raw.map(|pid| waitpid(Some(pid), WaitOptions::NOHANG)) {
        Some(Ok(Some((_, status)))) => match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Exit::Code(code),
            (_, Some(signal)) => Exit::Signal(signal),
            _ => Exit::Unknown,
        },
        _ => Exit::Unknown,
    }
}
