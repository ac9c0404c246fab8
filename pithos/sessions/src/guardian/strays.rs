//! The guardians of this process, and what is left when one of them ends. Owns the list of those that live: a program may have several managers, and the
//! end of one guardian must not touch what runs below another.

use std::collections::HashSet;
use std::io;
use std::process::{Child, Command};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use rush_session::process_tree;
use rustix::process::Signal;

use crate::sync::Locked;

/// Between two looks, for what was killed to go.
const LOOK_PAUSE: Duration = Duration::from_millis(1);

/// The processes of the guardians that live.
static LIVING: LazyLock<Locked<HashSet<u32>>> = LazyLock::new(Locked::default);

/// Starts a guardian: nobody who looks at the list sees its process and not its name.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    LIVING.with(|living| {
        let child = command.spawn()?;
        living.insert(child.id());
        Ok(child)
    })
}

/// Kills what came to this process from the guardian `gone`, until nothing is left or `patience` is over. Blocks.
pub(super) fn sweep(gone: u32, patience: Duration) {
    let end = Instant::now() + patience;
    LIVING.with(|living| living.remove(&gone));
    loop {
        let strays = strays();
        if strays.is_empty() || Instant::now() >= end {
            return;
        }
        strays.into_iter().for_each(|pid| process_tree::signal(pid, Signal::KILL));
        std::thread::sleep(LOOK_PAUSE);
    }
}

/// What is below this process and below none of its guardians.
fn strays() -> Vec<u32> {
    let all = process_tree::descendants(std::process::id(), &HashSet::new());
    // After the look at the processes: a guardian that is in it is in the list by now.
    let mut kept = LIVING.with(|living| living.clone());
    let mut strays = Vec::new();
    // Parents come before their children.
    for process in all {
        if kept.contains(&process.pid) || kept.contains(&process.parent) {
            kept.insert(process.pid);
        } else if !process.zombie {
            strays.push(process.pid);
        }
    }
    strays
}
