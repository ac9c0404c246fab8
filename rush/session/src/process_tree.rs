//! The processes below a process, from `/proc`, and their end: for every host of sessions. A process that double-forks or
//! calls `setsid` stays below the nearest subreaper, so nothing that a session starts can leave its tree.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use serde::{Deserialize, Serialize};

/// One running process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its parent's id.
    pub parent: u32,
    /// When it started, in clock ticks since boot: with the pid, its identity.
    pub start_ticks: u64,
    /// Its command line, or its name in brackets when it has none.
    pub command: String,
    /// It has ended and waits to be reaped.
    #[serde(skip)]
    pub zombie: bool,
}

/// Every process that is visible now, without command lines.
fn all() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(one)
        .collect()
}

/// A process by its id, without its command line. One read: the kernel makes the whole text at the first.
fn one(pid: u32) -> Option<Process> {
    let mut text = [0; STAT_BYTES_MAX];
    let length = std::fs::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut text).ok()?;
    parse_stat(&text[..length])
}

/// No `/proc/PID/stat` is longer: fifty-two numbers of at most twenty digits, and a name of at most 64 bytes.
const STAT_BYTES_MAX: usize = 2048;

/// The fields of `/proc/PID/stat` that matter here; the name may hold spaces, brackets and any other bytes.
fn parse_stat(text: &[u8]) -> Option<Process> {
    let open = text.iter().position(|byte| *byte == b'(')?;
    let close = text.iter().rposition(|byte| *byte == b')')?;
    let pid = std::str::from_utf8(&text[..open]).ok()?.trim().parse().ok()?;
    let mut rest = std::str::from_utf8(&text[close + 1..]).ok()?.split_whitespace();
    let zombie = matches!(rest.next()?, "Z" | "X");
    let parent = rest.next()?.parse().ok()?;
    let start_ticks = rest.nth(17)?.parse().ok()?;
    let command = format!("[{}]", String::from_utf8_lossy(&text[open + 1..close]));
    Some(Process { pid, parent, start_ticks, command, zombie })
}

/// The processes below `root`, parents before children. Subtrees that start at a process in `except` are left out.
#[must_use]
pub fn descendants(root: u32, except: &HashSet<u32>) -> Vec<Process> {
    below(all(), root, except)
}

/// The processes below `root` that have not ended, with their command lines.
#[must_use]
pub fn running(root: u32) -> Vec<Process> {
    live(descendants(root, &HashSet::new())).into_iter().map(with_command).collect()
}

/// The processes below `root` that started more than `time` ago. Nothing when the system does not say how long it has been up.
#[must_use]
pub fn older_than(root: u32, time: Duration) -> HashSet<u32> {
    let uptime = std::fs::read_to_string("/proc/uptime").ok();
    let uptime = uptime.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    let Some(uptime) = uptime else { return HashSet::new() };
    // A start is counted in whole ticks: one that falls into the same tick counts as younger.
    let then = ((uptime - time.as_secs_f64()) * TICKS_PER_SECOND) as u64;
    let older = |process: &Process| process.start_ticks + 1 < then;
    descendants(root, &HashSet::new()).into_iter().filter(older).map(|process| process.pid).collect()
}

/// Clock ticks in a second, as `/proc` counts them on every architecture of Linux.
const TICKS_PER_SECOND: f64 = 100.0;

fn below(processes: Vec<Process>, root: u32, except: &HashSet<u32>) -> Vec<Process> {
    let mut children: HashMap<u32, Vec<Process>> = HashMap::new();
    for process in processes {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut queue = vec![root];
    let mut seen = HashSet::from([root]);
    while let Some(parent) = queue.pop() {
        for process in children.remove(&parent).unwrap_or_default() {
            if !except.contains(&process.pid) && seen.insert(process.pid) {
                queue.push(process.pid);
                found.push(process);
            }
        }
    }
    found
}

/// Puts the command line in place of the bracketed name.
fn with_command(mut process: Process) -> Process {
    if let Ok(bytes) = std::fs::read(format!("/proc/{}/cmdline", process.pid)) {
        let words: Vec<String> = bytes
            .split(|b| *b == 0)
            .filter(|w| !w.is_empty())
            .map(|w| String::from_utf8_lossy(w).into_owned())
            .collect();
        if !words.is_empty() {
            process.command = words.join(" ").chars().take(200).collect();
        }
    }
    process
}

/// Sends `signal`; a process that is gone already is no error.
pub fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// Looks at all processes, one after another, that must find nothing before an end is believed: a look at `/proc` is no
/// snapshot, and a process that is born or loses its parent during it may be missed once, and not twice.
const EMPTY_LOOKS: u32 = 2;

/// Between two looks, for what was killed to go.
const LOOK_PAUSE: Duration = Duration::from_micros(500);

/// Ends everything below `root`: SIGTERM, after `grace` SIGKILL, again until nothing new appears or `patience` is over.
/// Returns what was alive when it began, with command lines. Blocks; reaps nothing, so that `root` may be anybody.
pub fn end(root: u32, except: &HashSet<u32>, grace: Duration, patience: Duration) -> Vec<Process> {
    let look = || live(descendants(root, except));
    let first: Vec<Process> = look().into_iter().map(with_command).collect();
    if !grace.is_zero() {
        ask_to_end(&first);
        let start = Instant::now();
        while start.elapsed() < grace && !look().is_empty() {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    kill_until_empty(&first, patience, look);
    first
}

/// Kills everything below this process but the subtrees in `except`, until nothing new appears or `patience` is over, and
/// reaps what ends of it. Returns what was alive when it began, with command lines. For a subreaper that has no children
/// besides those in `except` whose end somebody else awaits.
pub fn end_all_below(except: &HashSet<u32>, patience: Duration) -> Vec<Process> {
    let me = std::process::id();
    // One look for both: what dies between two would be neither alive in the one nor ended in the other.
    let look = || {
        let processes = all();
        reap_strays(&processes, me, except);
        live(below(processes, me, except))
    };
    let first: Vec<Process> = look().into_iter().map(with_command).collect();
    kill_until_empty(&first, patience, look);
    first
}

fn live(processes: Vec<Process>) -> Vec<Process> {
    processes.into_iter().filter(|process| !process.zombie).collect()
}

fn ask_to_end(processes: &[Process]) {
    for process in processes {
        signal(process.pid, Signal::TERM);
        // A stopped process must wake to die of SIGTERM.
        signal(process.pid, Signal::CONT);
    }
}

/// Kills what `first` found and what `look` goes on finding.
fn kill_until_empty(first: &[Process], patience: Duration, look: impl Fn() -> Vec<Process>) {
    let start = Instant::now();
    let mut empty_looks = u32::from(first.is_empty());
    first.iter().for_each(|process| signal(process.pid, Signal::KILL));
    while empty_looks < EMPTY_LOOKS && start.elapsed() < patience {
        if empty_looks == 0 {
            std::thread::sleep(LOOK_PAUSE);
        }
        let left = look();
        empty_looks = if left.is_empty() { empty_looks + 1 } else { 0 };
        left.iter().for_each(|process| signal(process.pid, Signal::KILL));
    }
}

fn reap_strays(processes: &[Process], me: u32, except: &HashSet<u32>) {
    for process in processes.iter().filter(|p| p.zombie && p.parent == me && !except.contains(&p.pid)) {
        if let Some(pid) = i32::try_from(process.pid).ok().and_then(Pid::from_raw) {
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

/// The process below `root`, if any, that waits in `read` on its standard input while that is the pipe or terminal `input`
/// (the target of the link `/proc/PID/fd/0`).
#[must_use]
pub fn waits_for_input(root: u32, input: &str) -> Option<Process> {
    let none = HashSet::new();
    let candidates = descendants(root, &none).into_iter().chain(one(root));
    candidates.into_iter().find(|process| blocked_on_stdin(process.pid, input)).map(with_command)
}

fn blocked_on_stdin(pid: u32, input: &str) -> bool {
    let link = std::fs::read_link(format!("/proc/{pid}/fd/0"));
    if !link.is_ok_and(|target| target.to_str() == Some(input)) {
        return false;
    }
    // The first field is the system call: 0 is read on x86-64 and 63 on arm64; the second is its descriptor.
    let read = if cfg!(target_arch = "x86_64") { "0" } else { "63" };
    match std::fs::read_to_string(format!("/proc/{pid}/syscall")) {
        Ok(text) => {
            let mut words = text.split_whitespace();
            words.next() == Some(read) && words.next() == Some("0x0")
        }
        // Without the right to see the system call, the kernel's wait channel tells as much.
        Err(_) => std::fs::read_to_string(format!("/proc/{pid}/wchan"))
            .is_ok_and(|channel| channel.contains("pipe_read") || channel.contains("n_tty_read")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::process::Command;
    use std::sync::{Mutex, PoisonError};
    use std::time::Duration;

    use super::{descendants, end, end_all_below, parse_stat};

    /// Held by each test that has children: one of them ends all that it does not know.
    static CHILDREN: Mutex<()> = Mutex::new(());

    #[test]
    fn names_with_brackets_and_spaces_are_read() {
        let fields = "S 7 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4242 0 0";
        let process = parse_stat(format!("12 (a) b (c)) {fields}").as_bytes()).expect("parsed");
        assert_eq!((process.pid, process.parent, process.start_ticks), (12, 7, 4242));
        let named = [b"12 (\xff) ", fields.as_bytes()].concat();
        assert_eq!(parse_stat(&named).expect("parsed").parent, 7, "a name of any bytes");
        assert!(parse_stat(b"garbage").is_none());
    }

    #[test]
    fn what_is_below_this_process_ends_and_is_reaped_but_the_excepted() {
        let _alone = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept = Command::new("sleep").arg("1000").spawn().expect("sleep");
        let mut stray = Command::new("sleep").arg("2000").spawn().expect("sleep");
        let mut except: HashSet<u32> =
            descendants(std::process::id(), &HashSet::new()).iter().map(|process| process.pid).collect();
        except.remove(&stray.id());
        let ended = end_all_below(&except, Duration::from_secs(5));
        assert!(ended.iter().any(|process| process.pid == stray.id()), "{ended:?}");
        assert!(stray.wait().is_err(), "the stray was reaped");
        assert!(kept.try_wait().expect("a child").is_none(), "the excepted one lives");
        kept.kill().expect("killed");
        kept.wait().expect("reaped");
    }

    #[test]
    fn a_tree_ends_whole() {
        let _alone = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut child =
            Command::new("sh").args(["-c", "sleep 1000 & sleep 1000 | cat; true"]).spawn().expect("sh");
        let none = HashSet::new();
        let mut below = 0;
        for _ in 0..200 {
            below = descendants(child.id(), &none).len();
            if below == 3 {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(below, 3, "sh has three children");
        let ended = end(child.id(), &none, Duration::from_millis(50), Duration::from_secs(5));
        assert!(ended.iter().any(|process| process.command == "sleep 1000"), "{ended:?}");
        child.wait().expect("reaped");
        assert!(descendants(child.id(), &none).is_empty());
    }
}
