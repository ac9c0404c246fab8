//! Processes that leave nothing behind: what runs below one of a guarded pair ends when either of the two does, however it
//! does. Both are subreapers, so a process cannot escape by losing its parent; each knows when the other has gone.

use std::collections::HashSet;
use std::io::{self, PipeReader};
use std::time::Duration;

use rush::sys;
use rush_session::{adopt_orphans, process_tree};

use crate::limits::KILL_PATIENCE_MS;

const KILL_PATIENCE: Duration = Duration::from_millis(KILL_PATIENCE_MS);

/// Runs `body` in a child of a guarded pair; its status. `body` gets the read end of a pipe that ends with the parent; when
/// it returns, everything below it is ended.
pub(crate) fn run_guarded(body: impl FnOnce(PipeReader) -> i32) -> io::Result<i32> {
    adopt_orphans()?;
    let (alive, holder) = io::pipe()?;
    let pid = sys::fork().map_err(io::Error::from_raw_os_error)?;
    if pid == 0 {
        drop(holder);
        let _ = adopt_orphans();
        let status = body(alive);
        end_all_below(&[]);
        sys::exit_now(status);
    }
    drop(alive);
    let status = loop {
        match sys::wait_any(true) {
            Ok((ended, status)) if ended == pid && !sys::is_stopped(status) && !sys::is_continued(status) => {
                break sys::shell_status(status);
            }
            Ok(_) => {}
            Err(error) if error == rustix::io::Errno::INTR.raw_os_error() => {}
            Err(_) => break 1,
        }
    };
    end_all_below(&[]);
    drop(holder);
    Ok(status)
}

/// Kills and reaps every process below this one that is not one of `except` or below one.
pub(crate) fn end_all_below(except: &[i32]) {
    let _ = process_tree::end_all_below(&numbers(except), KILL_PATIENCE);
}

/// Kills every process below another one, which stays; without `except` and what is below those.
pub(crate) fn end_below(root: i32, except: &[i32]) {
    let _ = process_tree::end(root.unsigned_abs(), &numbers(except), Duration::ZERO, KILL_PATIENCE);
}

/// The live processes below `root` now, without `except` and what is below those.
pub(crate) fn live_below(root: i32, except: &[i32]) -> Vec<i32> {
    let below = process_tree::descendants(root.unsigned_abs(), &numbers(except));
    below.iter().filter(|process| !process.zombie).map(|process| process.pid as i32).collect()
}

fn numbers(pids: &[i32]) -> HashSet<u32> {
    pids.iter().map(|pid| pid.unsigned_abs()).collect()
}
