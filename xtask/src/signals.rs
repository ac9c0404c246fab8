//! Signals that whoever started this process ignores (`nohup`, a job in the background of a script) stay ignored in everything that it starts, and
//! a shell may not trap those. So what is built and tested here runs as from a terminal: this process begins anew without them.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Says that this process has begun anew.
const MARK: &str = "PITHOS_XTASK_SIGNALS";
/// Rust's runtime ignores it in this process, and gives children the default.
const SIGPIPE: u64 = 1 << (13 - 1);

/// Begins anew if signals are ignored, where `/proc` tells and GNU's `env` can; goes on as it is elsewhere.
pub(crate) fn begin_with_defaults() {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return };
    if std::env::var_os(MARK).is_some() || ignored(&status) & !SIGPIPE == 0 {
        return;
    }
    let Ok(this) = std::env::current_exe() else { return };
    // It only comes back if there is no such `env`.
    let knows = Command::new("env").args(["--default-signal", "true"]).output();
    if knows.is_ok_and(|output| output.status.success()) {
        let error = Command::new("env")
            .arg("--default-signal")
            .arg(this)
            .args(std::env::args_os().skip(1))
            .env(MARK, "1")
            .exec();
        eprintln!("xtask: signals stay ignored, and tests of them may fail: {error}");
    }
}

/// The set of ignored signals that `/proc/PID/status` tells: bit n-1 for signal n.
fn ignored(status: &str) -> u64 {
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::ignored;

    #[test]
    fn the_set_is_read_from_the_status() {
        assert_eq!(ignored("Name:\tx\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000001007\n"), 0x1007);
        assert_eq!(ignored("Name:\tx\n"), 0);
    }
}
