//! The memory of everything that a guardian starts, together: a control group (version 2) of its own, where this process may make one. Whether it may is found
//! out by doing it, because delegation shows in no single place. Owns the group's folder: it is made at the start and removed at the end; folders that killed
//! guardians left are removed by the next, which the kernel allows only for groups without processes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::limits::MEMORY_TOGETHER_PERCENT;

/// Where the hierarchy of version 2 is.
const ROOT: &str = "/sys/fs/cgroup";
/// The names of groups of ours begin so; the process id of the guardian follows.
const PREFIX: &str = "pithos-";

/// A group; the guardian is in it until [`Group::leave`].
pub(crate) struct Group {
    folder: PathBuf,
    parent: PathBuf,
}

/// Whether the memory of all processes together can be limited here: the limit in bytes, or why it cannot.
///
/// # Errors
/// What stands in the way, in words.
pub fn memory_together() -> Result<u64, String> {
    let bytes = bytes_max().map_err(|error| format!("the machine's memory: {error}"))?;
    let group = Group::make("probe").map_err(|error| error.to_string())?;
    let limited = group.limit(bytes);
    group.remove();
    limited.map(|()| bytes).map_err(|error| error.to_string())
}

/// Puts this process, and with it all that it will start, under the limit. None where that is not possible, which `pithos doctor` tells.
pub(crate) fn enter() -> Option<Group> {
    let bytes = bytes_max().ok()?;
    let group = Group::make("").ok()?;
    let entered = group.limit(bytes).and_then(|()| fs::write(group.folder.join("cgroup.procs"), "0"));
    if entered.is_err() {
        group.remove();
        return None;
    }
    Some(group)
}

impl Group {
    fn make(what: &str) -> io::Result<Self> {
        let parent = own_group()?;
        sweep(&parent);
        let folder = parent.join(format!("{PREFIX}{what}{}", std::process::id()));
        fs::create_dir(&folder)
            .map_err(|error| told(&error, "no control group of version 2 is delegated to this process"))?;
        Ok(Self { folder, parent })
    }

    fn limit(&self, bytes: u64) -> io::Result<()> {
        let limit = self.folder.join("memory.max");
        if !limit.exists() {
            // Only a group without processes of its own can hand a controller on, or the root.
            fs::write(self.parent.join("cgroup.subtree_control"), "+memory").map_err(|error| {
                told(&error, "the memory controller is not handed on to groups below this one")
            })?;
        }
        fs::write(&limit, bytes.to_string()).map_err(|error| told(&error, "memory.max"))?;
        // Swap would be a way around it; not every kernel counts it.
        let _ = fs::write(self.folder.join("memory.swap.max"), "0");
        Ok(())
    }

    /// Goes back to where this process was, and removes the group once nothing is in it.
    pub(crate) fn leave(self) {
        let _ = fs::write(self.parent.join("cgroup.procs"), "0");
        self.remove();
    }

    fn remove(&self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

fn told(error: &io::Error, what: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{what} ({error})"))
}

/// The folder of the group that this process is in.
fn own_group() -> io::Result<PathBuf> {
    let text = fs::read_to_string("/proc/self/cgroup")?;
    let path = text.lines().find_map(|line| line.strip_prefix("0::"));
    let path = path.ok_or_else(|| io::Error::other("there is no control group of version 2"))?;
    let folder = Path::new(ROOT).join(path.trim_start_matches('/'));
    if folder.join("cgroup.procs").exists() {
        return Ok(folder);
    }
    Err(io::Error::other(
        "the control groups of version 2 are not mounted where this process could see its own",
    ))
}

/// Removes groups that nobody is in.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The limit: a part of the machine's memory.
fn bytes_max() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/meminfo")?;
    let total =
        text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse().ok());
    let total: u64 = total.ok_or_else(|| io::Error::other("/proc/meminfo has no MemTotal"))?;
    Ok(total * 1024 / 100 * MEMORY_TOGETHER_PERCENT)
}

#[cfg(test)]
mod tests {
    use super::memory_together;

    #[test]
    fn the_answer_is_a_limit_or_a_reason() {
        match memory_together() {
            Ok(bytes) => assert!(bytes > 1 << 20),
            Err(reason) => assert!(!reason.is_empty(), "{reason}"),
        }
    }
}
