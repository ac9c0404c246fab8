//! Which folders can be overlaid: judged before anything is mounted, so that no program meets an error number that nobody understands.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::limits::OVERLAY_LOOK_MAX;
use crate::policy::ResolvedPolicy;

/// The topmost writable folders but the private one.
pub(super) fn roots(policy: &ResolvedPolicy) -> Result<Vec<PathBuf>, String> {
    let mut roots: Vec<PathBuf> =
        policy.write.iter().filter(|path| !path.starts_with(&policy.private_tmp)).cloned().collect();
    roots.sort();
    roots.dedup_by(|later, earlier| later.starts_with(&*earlier));
    for root in &roots {
        if !root.is_dir() {
            return Err(format!("{} is writable and no folder", root.display()));
        }
        if policy.private_tmp.starts_with(root) {
            return Err(format!("{} holds the server's own files", root.display()));
        }
    }
    if roots.is_empty() { Err("the policy lets nothing be written".to_owned()) } else { Ok(roots) }
}

/// Why `root` cannot be overlaid: something is mounted below, or, where owners are not all `mapped`, a file there is of another owner or group, and
/// the kernel would refuse every change to it. Looks at a bounded number of files.
pub fn unfit(root: &Path, mapped: bool) -> Option<String> {
    let mounts = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    for line in String::from_utf8_lossy(&mounts).lines() {
        let point = line.split(' ').nth(4).map(unescaped).unwrap_or_default();
        if point != root && point.starts_with(root) {
            return Some(format!("{} is a mount of its own", point.display()));
        }
    }
    if mapped { None } else { foreign(root) }
}

/// A path as mountinfo writes it.
fn unescaped(text: &str) -> PathBuf {
    PathBuf::from(
        text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\"),
    )
}

fn foreign(root: &Path) -> Option<String> {
    let own = own_ids()?;
    let mut folders = vec![root.to_owned()];
    let mut looked = 0usize;
    let judge = |path: &Path| {
        let data = path.symlink_metadata().ok()?;
        let ids = (data.uid(), data.gid());
        (ids != own).then(|| {
            let (user, group) = ids;
            format!(
                "{} belongs to user {user} and group {group}, and the sandbox knows only {} and {}",
                path.display(),
                own.0,
                own.1
            )
        })
    };
    if let Some(why) = judge(root) {
        return Some(why);
    }
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            looked += 1;
            if looked > OVERLAY_LOOK_MAX {
                return None;
            }
            if let Some(why) = judge(&entry.path()) {
                return Some(why);
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    None
}

/// Effective user and group of this process.
fn own_ids() -> Option<(u32, u32)> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let id = |name: &str| {
        status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().nth(1)?.parse().ok()
    };
    Some((id("Uid:")?, id("Gid:")?))
}
