//! The processes below a process, from `/proc`, and their end. A process that double-forks or calls `setsid` stays below the
//! nearest subreaper, so nothing that a session starts can leave its tree.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
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
        .filter_map(|pid| parse_stat(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?))
        .collect()
}

/// The fields of `/proc/PID/stat` that matter here; the name may hold spaces and brackets.
fn parse_stat(text: &str) -> Option<Process> {
    let open = text.find('(')?;
    let close = text.rfind(')')?;
    let pid = text[..open].trim().parse().ok()?;
    let rest: Vec<&str> = text[close + 1..].split_whitespace().collect();
    Some(Process {
        pid,
        parent: rest.get(1)?.parse().ok()?,
        start_ticks: rest.get(19)?.parse().ok()?,
        command: format!("[{}]", &text[open + 1..close]),
        zombie: matches!(*rest.first()?, "Z" | "X"),
    })
}

/// The live processes below `root`, children before grandchildren. Subtrees that start at a process in `except` are left out.
#[must_use]
pub fn descendants(root: u32, except: &HashSet<u32>) -> Vec<Process> {
    let mut children: HashMap<u32, Vec<Process>> = HashMap::new();
    for process in all() {
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

/// Looks at all processes, one after another, that must find nothing before an end is believed.
const EMPTY_LOOKS: u32 = 2;

/// Ends what `victims` selects below `root`: SIGTERM, after `grace` SIGKILL, again until nothing new appears or `patience` is over.
/// Returns what was alive when it began, with command lines. Blocks; the caller must not be the tree's reaper of live children.
#[must_use]
pub fn end(
    root: u32,
    except: &HashSet<u32>,
    grace: Duration,
    patience: Duration,
    victims: impl Fn(&Process) -> bool,
) -> Vec<Process> {
    let select = || -> Vec<Process> {
        descendants(root, except).into_iter().filter(|process| !process.zombie && victims(process)).collect()
    };
    let first: Vec<Process> = select().into_iter().map(with_command).collect();
    if first.is_empty() {
        return first;
    }
    let start = Instant::now();
    if !grace.is_zero() {
        for process in &first {
            signal(process.pid, Signal::TERM);
            // A stopped process must wake to die of SIGTERM.
            signal(process.pid, Signal::CONT);
        }
        while start.elapsed() < grace && !select().is_empty() {
            std::thread::sleep(Duration::from_millis(2));
        }
    } else {
        // At once, and not after another look at all processes.
        first.iter().for_each(|process| signal(process.pid, Signal::KILL));
    }
    // A look at /proc is no snapshot: a process that is born during it may be missed once, and not twice.
    let mut empty_looks = 0;
    while start.elapsed() < grace + patience && empty_looks < EMPTY_LOOKS {
        let left = select();
        empty_looks = if left.is_empty() { empty_looks + 1 } else { 0 };
        left.iter().for_each(|process| signal(process.pid, Signal::KILL));
        std::thread::sleep(Duration::from_millis(1));
    }
    first
}

/// The process below `root`, if any, that waits in `read` on its standard input while that is the pipe or terminal `input`
/// (the target of the link `/proc/PID/fd/0`).
#[must_use]
pub fn waits_for_input(root: u32, input: &str) -> Option<Process> {
    let none = HashSet::new();
    let shell = std::fs::read_to_string(format!("/proc/{root}/stat")).ok().and_then(|text| parse_stat(&text));
    let candidates = descendants(root, &none).into_iter().chain(shell);
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
    use std::time::Duration;

    use super::{descendants, end, parse_stat};

    #[test]
    fn names_with_brackets_and_spaces_are_read() {
        let fields = "S 7 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4242 0 0";
        let process = parse_stat(&format!("12 (a) b (c)) {fields}")).expect("parsed");
        assert_eq!((process.pid, process.parent, process.start_ticks), (12, 7, 4242));
        assert!(parse_stat("garbage").is_none());
    }

    #[test]
    fn a_tree_ends_whole() {
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
        let ended = end(child.id(), &none, Duration::from_millis(50), Duration::from_secs(5), |_| true);
        assert!(ended.iter().any(|process| process.command == "sleep 1000"), "{ended:?}");
        child.wait().expect("reaped");
        assert!(descendants(child.id(), &none).is_empty());
    }
}
