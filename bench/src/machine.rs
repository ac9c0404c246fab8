//! What a run says about where and when it was made. The host is a description and a hash of the hardware, never a name.

use crate::model::Machine;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Describes this machine from `/proc`.
pub(crate) fn describe() -> Machine {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| field_of(&cpuinfo, name).unwrap_or("unknown").to_owned();
    let cpu = field("model name");
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let memory_mb = fs::read_to_string("/proc/meminfo").ok().and_then(|text| memory_mb(&text)).unwrap_or(0);
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let system = format!("Linux {} {}", release.trim(), std::env::consts::ARCH);
    // Memory is rounded to gigabytes: what the kernel keeps for itself differs between boots.
    let identity = format!("{cpu}|{}|{}|{cpus}|{}", field("stepping"), field("cache size"), memory_mb / 1024);
    Machine { host: format!("{:08x}", fnv1a(identity.as_bytes()) as u32), cpu, cpus, memory_mb, system }
}

/// Whether this process, and with it whatever it starts, runs with real-time priority. Such a process keeps its processor until it waits, so
/// engines that compile or collect in other threads are starved by their own main thread.
pub(crate) fn has_real_time_priority() -> bool {
    // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: `policy` is field 41; the state, after the name, is field 3.
    const POLICY_AFTER_NAME: usize = 41 - 3;
    const REAL_TIME: [&str; 2] = ["1", "2"];
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let policy = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(POLICY_AFTER_NAME));
    policy.is_some_and(|policy| REAL_TIME.contains(&policy))
}

fn field_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
    line.split_once(':').map(|(_, value)| value.trim())
}

fn memory_mb(meminfo: &str) -> Option<u64> {
    let kilobytes = field_of(meminfo, "MemTotal")?.split(' ').next()?;
    kilobytes.parse::<u64>().ok().map(|kb| kb / 1024)
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The commit of the tree at `root`, with `+` when it has changes; `unknown` outside a repository.
pub(crate) fn revision(root: &Path) -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=10", "HEAD"]) else { return "unknown".to_owned() };
    let clean = git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|text| text.is_empty());
    if clean { commit } else { commit + "+" }
}

/// Seconds since 1970.
pub(crate) fn unix_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}

/// `2026-11-21 14:05` in UTC, by the proleptic Gregorian calendar.
pub(crate) fn date_and_time(unix_time: u64) -> String {
    let (days, seconds) = (unix_time / 86_400, unix_time % 86_400);
    // Days are counted from 0000-03-01, so that a leap day is the last of its year.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", seconds / 3600, seconds % 3600 / 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date_and_time(0), "1970-01-01 00:00");
        assert_eq!(date_and_time(951_782_399), "2000-02-28 23:59");
        assert_eq!(date_and_time(951_782_400), "2000-02-29 00:00");
        assert_eq!(date_and_time(4_107_542_400), "2100-03-01 00:00");
    }

    #[test]
    fn fields_of_proc_files() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Some CPU\nstepping\t: 1\n";
        assert_eq!(field_of(cpuinfo, "model name"), Some("Some CPU"));
        assert_eq!(field_of(cpuinfo, "absent"), None);
        assert_eq!(memory_mb("MemTotal:       2048000 kB\n"), Some(2000));
    }
}
