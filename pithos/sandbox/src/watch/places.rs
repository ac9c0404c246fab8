//! A policy's paths as bytes, to be searched at every call that is watched.

use crate::policy::{Access, ResolvedPolicy};
use crate::ruleset::{DEVICE_FOLDERS, DEVICES};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Paths, each of which stands for itself and all below it.
struct Paths(Vec<Vec<u8>>);

impl Paths {
    fn new<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Paths {
        let mut all: Vec<Vec<u8>> =
            paths.into_iter().map(|path| path.as_os_str().as_bytes().to_vec()).collect();
        all.sort_unstable();
        all.dedup();
        Paths(all)
    }

    fn contain(&self, path: &[u8]) -> bool {
        self.0.iter().any(|one| {
            one == b"/"
                || path.strip_prefix(one.as_slice()).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
        })
    }
}

/// The lists of a policy, as paths that commands see.
pub(super) struct Places {
    read: Paths,
    write: Paths,
    exec: Paths,
    hide: Paths,
    protect: Paths,
    absent: Paths,
    devices: Paths,
    own_devices: bool,
    device_folders: Paths,
    protected: Vec<PathBuf>,
    /// What stands in for `/tmp` may be used so; none where nothing does.
    private_tmp: Option<[bool; 2]>,
    /// What is below `/tmp` all the same.
    restored: Paths,
}

impl Places {
    pub(super) fn new(policy: &ResolvedPolicy) -> Places {
        let folders: Vec<PathBuf> = DEVICE_FOLDERS.map(PathBuf::from).to_vec();
        Places {
            read: Paths::new(policy.read.iter().chain(&policy.write).chain(&policy.exec)),
            write: Paths::new(&policy.write),
            exec: Paths::new(&policy.exec),
            hide: Paths::new(&policy.hide),
            protect: Paths::new(policy.protect.iter().chain(&policy.nested)),
            absent: Paths::new(&policy.protect_absent),
            devices: Paths::new(&DEVICES.map(PathBuf::from)),
            own_devices: policy.own_devices,
            device_folders: Paths::new(&folders),
            protected: policy
                .protected_below()
                .map(Path::to_owned)
                .chain(policy.nested.iter().cloned())
                .collect(),
            private_tmp: policy
                .stands_in
                .then(|| [&policy.write, &policy.exec].map(|list| list.contains(&policy.private_tmp))),
            restored: Paths::new(&policy.in_tmp().into_iter().map(Path::to_owned).collect::<Vec<_>>()),
        }
    }

    /// Whether a real path may be used so.
    pub(super) fn allow(&self, real: &Path, access: Access) -> bool {
        let path = real.as_os_str().as_bytes();
        if self.hide.contain(path) {
            return false;
        }
        if let Some([write, exec]) = self.private_tmp
            && path.strip_prefix(b"/tmp").is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
            && !self.restored.contain(path)
        {
            return if access == Access::Exec { exec } else { write };
        }
        let device = path.starts_with(b"/dev/")
            && (self.devices.contain(path) || self.own_devices && self.device_folders.contain(path));
        match access {
            Access::Read => device || self.read.contain(path) || self.own_devices && path == b"/dev",
            Access::Write => {
                device
                    || self.write.contain(path) && !self.protect.contain(path) && !self.absent.contain(path)
            }
            Access::Exec => self.exec.contain(path),
        }
    }

    /// Whether a protected path, or a folder that holds one, would be moved with this.
    pub(super) fn holds_protected(&self, real: &Path) -> bool {
        self.protected.iter().any(|path| path.starts_with(real))
    }

    /// Whether this is, or is below, a protected path: no mount protects one that is not there, and when one is replaced from outside the mount
    /// is gone until it is made again.
    pub(super) fn closed(&self, real: &Path) -> bool {
        let path = real.as_os_str().as_bytes();
        (self.absent.contain(path) || self.protect.contain(path)) && self.write.contain(path)
    }
}
