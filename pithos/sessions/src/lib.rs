//! Shell sessions and jobs for software agents: supervised processes, bounded output, honest ends. No wire format: the server
//! crate puts MCP before it, and programs may use it directly.
//!
//! Processes: the server starts one *guardian*; the guardian starts the *workers*, each a shell session, a runner of JavaScript cells or a system of actors. They are this same executable
//! under other role arguments, so the command that links this crate must hand those roles to [`run_role`] first thing.
//!
//! ```text
//! server ── guardian ── shell worker (session) ── what it runs
//!                    ├─ shell worker (forked from another)
//!                    ├─ cell worker (JavaScript)
//!                    └─ actor worker (JavaScript actors on iris)
//! ```
//!
//! Inside the server everything that lives stands in one supervision tree of iris: see `tree`.
#![forbid(unsafe_code)]
// They panic when a stream cannot be written: see `print`.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod actors;
mod ansi;
mod cells;
mod cgroup;
mod checkpoints;
mod compiling;
mod confinement;
mod connection;
mod error;
mod guardian;
mod job;
pub mod limits;
pub mod log;
mod manager;
mod noticed;
pub mod once;
mod output;
mod overlay;
mod ports;
mod proxy;
mod screen;
mod shell;
mod space;
mod stream;
mod sync;
mod tree;
mod worker;

use std::io::ErrorKind;

pub use actors::{ActorRequest, DEFAULT_SYSTEM, RestartPolicy};
pub use ansi::Ansi;
pub use cells::{Answer, Cell, CellEnd, CellRequest, Outcome, Tape, Tools};
pub use cgroup::memory_together;
pub use checkpoints::{Checkpoint, RanJob};
pub use confinement::Confinement;
pub use error::Error;
pub use guardian::{Exit, raise_descriptor_limit};
pub use job::{End, Job, Reason, Stdin};
pub use manager::{Config, DEFAULT_SESSION, Manager, Request, Session, Warm};
pub use output::{Budget, Capture, Rendered, Stream, Totals};
pub use overlay::{Changed, Committed, Differences, UndoTo, recover_commits};
pub use pithos_sandbox::{Denial, Enforcement};
pub use proxy::{Asker, Question, Reply, Replying};
pub use rush::{err, errln, out, outln};
pub use rush_session::process_tree::Process;
pub use rush_session::{Pipeline, RunDone, Status};
pub use screen::View;
pub use space::Space;
pub use stream::TerminalSize;
pub use sync::Locked;
pub use tree::TreeNode;

/// The first argument of the guardian process.
const GUARDIAN_ROLE: &str = "--pithos-guardian";
/// The first argument of an actor worker.
const ACTORS_ROLE: &str = "--pithos-actors";
/// The first argument of a cell worker.
const CELL_ROLE: &str = "--pithos-cell";
/// The first argument of the command of [`once`].
const ONCE_ROLE: &str = "--pithos-once";
/// The first argument of a script that the kernel does not run by itself.
const SCRIPT_ROLE: &str = "--pithos-script";
/// The first argument of a shell worker.
const SHELL_ROLE: &str = "--pithos-shell";

/// Whether the process of this id was started below this one: a session, a worker, or what runs in one.
#[must_use]
pub fn started(pid: u32) -> bool {
    processes_below().contains(&pid)
}

/// The processes that were started below this one.
#[must_use]
pub fn processes_below() -> Vec<u32> {
    let below =
        rush_session::process_tree::descendants(std::process::id(), &std::collections::HashSet::new());
    below.into_iter().map(|process| process.pid).collect()
}

/// Runs a worker role when `arguments` (without the program's name) ask for one; `None` when they do not.
#[must_use]
pub fn run_role(arguments: &[String]) -> Option<std::process::ExitCode> {
    let one_script: fn(&[String]) -> std::io::Result<u8> = match arguments.first()?.as_str() {
        SCRIPT_ROLE => worker::script,
        ONCE_ROLE => |_| worker::once(),
        _ => return run_worker(arguments),
    };
    Some(match one_script(&arguments[1..]) {
        Ok(status) => status.into(),
        Err(error) => {
            errln!("{}: {error}", arguments.get(1).map_or("pithos", String::as_str));
            // As shells say of a script that cannot be read.
            std::process::ExitCode::from(126)
        }
    })
}

fn run_worker(arguments: &[String]) -> Option<std::process::ExitCode> {
    let result = match arguments.first()?.as_str() {
        GUARDIAN_ROLE => worker::own_socket().and_then(|socket| guardian::main(socket, &arguments[1..])),
        ACTORS_ROLE => worker::actors(&arguments[1..]),
        CELL_ROLE => worker::cell(&arguments[1..]),
        SHELL_ROLE => worker::shell(),
        _ => return None,
    };
    Some(match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        // A server that ends while its workers start is no failure of theirs.
        Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {
            std::process::ExitCode::SUCCESS
        }
        Err(error) => {
            errln!("pithos: worker: {error}");
            std::process::ExitCode::FAILURE
        }
    })
}
