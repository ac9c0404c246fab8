//! A private view of the file system in which everything is read-only but one scratch folder. A shell with a bug deletes
//! real files; every shell row runs in here, ours and the peers' alike.
//!
//! Invariant: fails closed. Unless every writable mount could be made read-only, `enter` is an error and no row runs.

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// File systems that hold no files of anybody's.
const PSEUDO: [&str; 16] = [
    "proc",
    "sysfs",
    "devtmpfs",
    "devpts",
    "mqueue",
    "cgroup",
    "cgroup2",
    "securityfs",
    "debugfs",
    "tracefs",
    "pstore",
    "bpf",
    "configfs",
    "fusectl",
    "hugetlbfs",
    "binfmt_misc",
];

/// Moves this process into its own mount namespace, where only `scratch` (a fresh tmpfs) can be written.
/// Must be called while the process has one thread.
pub(crate) fn enter(scratch: &Path) -> io::Result<()> {
    if nix::unistd::geteuid().is_root() {
        unshare(CloneFlags::CLONE_NEWNS)?
    } else {
        enter_user_namespace()?
    }
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>)?;
    for mounted in parse_mounts(&fs::read_to_string("/proc/self/mountinfo")?) {
        remount_read_only(&mounted)?;
    }
    mount(Some("tmpfs"), scratch, Some("tmpfs"), MsFlags::MS_NOSUID | MsFlags::MS_NODEV, Some("mode=0700"))?;
    let probe = Path::new("/pithos-bench-must-not-be-writable");
    if fs::write(probe, b"").is_ok() {
        let _ = fs::remove_file(probe);
        return Err(io::Error::other("the root is still writable"));
    }
    Ok(())
}

/// Without root the mount namespace needs a user namespace around it, in which we stay who we are.
fn enter_user_namespace() -> io::Result<()> {
    let (uid, gid) = (nix::unistd::geteuid(), nix::unistd::getegid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))
}

#[derive(Debug, PartialEq, Eq)]
struct Mounted {
    path: PathBuf,
    flags: MsFlags,
}

fn remount_read_only(mounted: &Mounted) -> io::Result<()> {
    let flags = mounted.flags | MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
    match mount(None::<&str>, &mounted.path, None::<&str>, flags, None::<&str>) {
        Ok(()) => Ok(()),
        // Another mount hides this one: nothing can be written through it.
        Err(nix::errno::Errno::EINVAL | nix::errno::Errno::ENOENT) if !mounted.path.exists() => Ok(()),
        Err(error) => Err(io::Error::other(format!("{} stays writable: {error}", mounted.path.display()))),
    }
}

/// The mounts of `mountinfo` that can hold files and are writable. A later mount on the same path hides an earlier one.
fn parse_mounts(mountinfo: &str) -> Vec<Mounted> {
    let mut mounts: Vec<Mounted> = Vec::new();
    for line in mountinfo.lines() {
        let Some((left, right)) = line.split_once(" - ") else { continue };
        let left: Vec<&str> = left.split(' ').collect();
        let (Some(path), Some(options)) = (left.get(4), left.get(5)) else { continue };
        let kind = right.split(' ').next().unwrap_or("");
        let path = PathBuf::from(unescape(path));
        mounts.retain(|mounted| mounted.path != path);
        if !PSEUDO.contains(&kind) && !options.split(',').any(|option| option == "ro") {
            mounts.push(Mounted { path, flags: kept_flags(options) });
        }
    }
    mounts
}

/// The flags that a remount inside a user namespace must repeat.
fn kept_flags(options: &str) -> MsFlags {
    options.split(',').fold(MsFlags::empty(), |flags, option| {
        flags
            | match option {
                "nosuid" => MsFlags::MS_NOSUID,
                "nodev" => MsFlags::MS_NODEV,
                "noexec" => MsFlags::MS_NOEXEC,
                "noatime" => MsFlags::MS_NOATIME,
                "nodiratime" => MsFlags::MS_NODIRATIME,
                "relatime" => MsFlags::MS_RELATIME,
                _ => MsFlags::empty(),
            }
    })
}

/// `mountinfo` writes blanks and backslashes as three octal digits.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let digits = after.get(1..4).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match digits {
            Some(byte) => out.push(char::from(byte)),
            None => out.push('\\'),
        }
        rest = after.get(if digits.is_some() { 4 } else { 1 }..).unwrap_or("");
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writable_mounts_are_found() {
        let info = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:21 / /proc rw,nosuid,nodev,noexec - proc proc rw
24 22 0:22 / /home\\040dir rw,nosuid,nodev - xfs /dev/vdb rw
25 22 0:23 / /usr ro,relatime - ext4 /dev/vdc ro
26 22 0:24 / /run rw,nosuid - tmpfs tmpfs rw
27 26 0:25 / /run ro - tmpfs tmpfs ro
";
        let mounts = parse_mounts(info);
        let paths: Vec<&str> = mounts.iter().filter_map(|mounted| mounted.path.to_str()).collect();
        assert_eq!(paths, ["/", "/home dir"]);
        assert_eq!(mounts[1].flags, MsFlags::MS_NOSUID | MsFlags::MS_NODEV);
    }
}
