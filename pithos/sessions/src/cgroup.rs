//! The memory of everything that a guardian starts, together: a control group (version 2) of its own, where this process may make one. Whether it may is found
//! out by doing it, because delegation shows in no single place. Owns the group's folder: it is made at the start and removed at the end; folders that killed
//! guardians left are removed by the next, which the kernel allows only for groups without processes.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::limits::MEMORY_TOGETHER_PERCENT;

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
    let (groups, mounts) =
        (fs::read_to_string("/proc/self/cgroup")?, fs::read_to_string("/proc/self/mountinfo")?);
    let folder = folder_of(&groups, &mounts).map_err(io::Error::other)?;
    let controllers = fs::read_to_string(folder.join("cgroup.controllers"))?;
    if controllers.split_whitespace().any(|one| one == "memory") {
        return Ok(folder);
    }
    // A machine may have both versions, and the memory with the first.
    Err(io::Error::other(
        "the memory controller is none of version 2 here, or not handed on to this process's group",
    ))
}

/// Where the group of version 2 that `/proc/self/cgroup` names is found, by `/proc/self/mountinfo`: the hierarchy may be mounted anywhere, and only a part of it.
fn folder_of(groups: &str, mounts: &str) -> Result<PathBuf, &'static str> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"));
    let path = Path::new(path.ok_or("there is no control group of version 2")?);
    let mut hidden = false;
    for line in mounts.lines() {
        let Some((place, kind)) = line.split_once(" - ") else { continue };
        if kind.split(' ').next() != Some("cgroup2") {
            continue;
        }
        hidden = true;
        let mut fields = place.split(' ').skip(3);
        let (Some(root), Some(at)) = (fields.next(), fields.next()) else { continue };
        if let Ok(below) = path.strip_prefix(root)
            && !path.components().any(|part| part == Component::ParentDir)
        {
            return Ok(Path::new(at).join(below));
        }
    }
    Err(if hidden {
        "the control groups of version 2 are not mounted where this process could see its own"
    } else {
        "the control groups of version 2 are not mounted"
    })
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
    use std::path::PathBuf;

    use super::{folder_of, memory_together};

    #[test]
    fn a_group_is_found_where_the_hierarchy_is_mounted() {
        let whole = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
        let hybrid = "31 24 0:27 / /sys/fs/cgroup ro - tmpfs tmpfs ro\n32 31 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n33 31 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";
        let part = "40 1 0:26 /user.slice/one /mnt rw - cgroup2 cgroup2 rw";
        for (groups, mounts, found) in [
            ("0::/\n", whole, Ok("/sys/fs/cgroup")),
            ("0::/user.slice/x.scope\n", whole, Ok("/sys/fs/cgroup/user.slice/x.scope")),
            ("4:memory:/a\n0::/b\n", hybrid, Ok("/sys/fs/cgroup/unified/b")),
            ("0::/user.slice/one/deep\n", part, Ok("/mnt/deep")),
            ("0::/user.slice/other\n", part, Err("see its own")),
            ("0::/../outside\n", whole, Err("see its own")),
            ("0::/\n", "31 24 0:27 / / rw - ext4 /dev/a rw", Err("are not mounted")),
            ("4:memory:/a\n", whole, Err("no control group")),
        ] {
            match (folder_of(groups, mounts), found) {
                (Ok(folder), Ok(path)) => assert_eq!(folder, PathBuf::from(path)),
                (Err(why), Err(word)) => assert!(why.contains(word), "{why}"),
                (other, _) => panic!("{groups:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn the_answer_is_a_limit_or_a_reason() {
        match memory_together() {
            Ok(bytes) => assert!(bytes > 1 << 20),
            Err(reason) => assert!(!reason.is_empty(), "{reason}"),
        }
    }
}
