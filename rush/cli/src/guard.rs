//! Processes that leave nothing behind: what runs below one of a guarded pair ends when either of the two does, however it
//! does. Both are subreapers, so a process cannot escape by losing its parent; each knows when the other has gone.

use std::collections::HashMap;
use std::fs;
use std::io::{self, PipeReader};
use std::time::{Duration, Instant};

use rush::sys;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};

use crate::limits::KILL_PATIENCE_MS;

/// Runs `body` in a child of a guarded pair; its status. `body` gets the read end of a pipe that ends with the parent; when
/// it returns, everything below it is ended.
pub(crate) fn run_guarded(body: impl FnOnce(PipeReader) -> i32) -> io::Result<i32> {
    set_child_subreaper(Some(getpid()))?;
    let (alive, holder) = io::pipe()?;
    let pid = sys::fork().map_err(io::Error::from_raw_os_error)?;
    if pid == 0 {
        drop(holder);
        let _ = set_child_subreaper(Some(getpid()));
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

/// Looks at all processes, one after another, that must find nothing before an end is believed: a look at `/proc` is no
/// snapshot, and a process whose parent goes during it may be missed once, and not twice.
const EMPTY_LOOKS: u32 = 2;

/// Kills every process below this one that is not one of `except` or below one, until nothing new turns up.
pub(crate) fn end_all_below(except: &[i32]) {
    end_below(getpid().as_raw_nonzero().get(), except);
}

/// The same below another process.
pub(crate) fn end_below(root: i32, except: &[i32]) {
    let start = Instant::now();
    let mut empty_looks = 0;
    while empty_looks < EMPTY_LOOKS && start.elapsed() < Duration::from_millis(KILL_PATIENCE_MS) {
        // One look for both: what dies between two would be neither alive in the one nor ended in the other.
        let processes = processes();
        reap_strays(&processes, except);
        let left = below(processes, root, except);
        for pid in left.iter().copied().filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
        if left.is_empty() {
            empty_looks += 1;
        } else {
            empty_looks = 0;
            std::thread::sleep(Duration::from_micros(500));
        }
    }
}

/// Reaps ended children but those in `except`, which somebody waits for.
fn reap_strays(processes: &[Process], except: &[i32]) {
    let me = getpid().as_raw_nonzero().get();
    for process in processes.iter().filter(|p| p.zombie && p.parent == me && !except.contains(&p.pid)) {
        if let Some(pid) = Pid::from_raw(process.pid) {
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

/// The live processes below `root` now, without `except` and what is below those.
pub(crate) fn live_below(root: i32, except: &[i32]) -> Vec<i32> {
    below(processes(), root, except)
}

fn below(processes: Vec<Process>, root: i32, except: &[i32]) -> Vec<i32> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in processes {
        children.entry(process.parent).or_default().push(process);
    }
    let (mut found, mut queue) = (Vec::new(), vec![root]);
    while let Some(parent) = queue.pop() {
        for process in children.remove(&parent).unwrap_or_default() {
            if except.contains(&process.pid) {
                continue;
            }
            queue.push(process.pid);
            if !process.zombie {
                found.push(process.pid);
            }
        }
    }
    found
}

struct Process {
    pid: i32,
    parent: i32,
    zombie: bool,
}

fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter_map(|pid| parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)).collect()
}

/// Reads a `stat` line; the name stands in parentheses and may hold anything, so the fields are counted from the last one.
fn parse(pid: i32, text: &str) -> Option<Process> {
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    Some(Process { pid, parent: fields.next()?.parse().ok()?, zombie: state == "Z" || state == "X" })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn names_with_parentheses_are_read() {
        let process = parse(12, "12 (a) b (c)) Z 7 1 1 0").expect("a process");
        assert_eq!((process.pid, process.parent, process.zombie), (12, 7, true));
        assert!(parse(1, "garbage").is_none());
    }
}
