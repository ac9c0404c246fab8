//! Overlays of writable folders: which folders of a policy can have one, and the mounting of them in a mount namespace of their own, once for
//! each command that is to run over them. Owns no unsafe code (that is in `child`) and nothing of what is in the layers.
//!
//! The folder of all layers (the *store*) is mounted in one mount namespace that no command is in. For a new overlay a thread
//! goes there, makes a copy of the namespace, mounts the overlays, takes the store away, builds the Landlock rules (a right to a
//! folder is none to what is mounted on it), and ends. Invariant: in a namespace that a command is in, no path leads to a layer.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::child::{self, Mounts, Outcome, STORE_AT, Steps};
use crate::error::{Error, Step};
use crate::filter;
use crate::plan::{Plan, c_path};
use crate::probe::Machine;
use crate::ruleset;
use crate::watch::{Place, Watch};

mod ground;

pub use ground::unfit;

/// One folder that is overlaid, and its layers as paths below the store.
#[derive(Clone, Debug)]
pub struct Overlaid {
    /// The folder; what it holds is the lower layer.
    pub root: PathBuf,
    /// Takes the changes; exists.
    pub upper: PathBuf,
    /// The kernel's own, beside the upper layer; exists and is empty.
    pub work: PathBuf,
}

/// What overlays are made with.
#[derive(Debug)]
pub(crate) struct Ground {
    /// The mount namespace that sees the store.
    store: OwnedFd,
    /// What is mounted below writable folders, and has to be again.
    mounts: Mounts,
    machine: Machine,
}

impl Ground {
    pub(crate) fn new(store: OwnedFd, mounts: Mounts, machine: &Machine) -> Ground {
        Ground { store, mounts, machine: machine.clone() }
    }
}

impl Plan {
    /// The folders that an overlay of everything writable is made of: all but the private temporary one.
    ///
    /// # Errors
    /// Why there can be no overlay under this policy, or on this machine, as far as that is known before one is mounted.
    pub fn overlay_roots(&self) -> Result<Vec<PathBuf>, String> {
        if !self.enforcement().read_only_mounts {
            return Err("no mount namespace is used".to_owned());
        }
        ground::roots(self.policy())
    }

    /// This plan for one command, over overlays; the command begins in `directory`. Only where [`Plan::contain`] was given a store. They
    /// are watched where the others are, by threads of their own that see what they see.
    ///
    /// # Errors
    /// When a mount or the rules cannot be made. Nothing has changed then.
    pub fn overlaid(&self, layers: &[Overlaid], directory: &Path) -> Result<Plan, Error> {
        let failed = |(step, errno)| Error::Child { step, source: std::io::Error::from_raw_os_error(errno) };
        let Some(ground) = &self.overlays else {
            return Err(Error::Unenforceable {
                what: "an overlay".to_owned(),
                advice: "it needs a mount namespace and a folder for its layers".to_owned(),
            });
        };
        let ready = layers.iter().map(Layers::new).collect::<Result<Vec<_>, _>>()?;
        let policy = &self.policy().policy;
        // A thread has mounts of its own, so nothing has to be put back.
        let (namespace, ruleset) = std::thread::scope(|scope| {
            let made = scope.spawn(|| {
                let namespace = ground.mount(&ready).map_err(failed)?;
                let rules = || ruleset::build(self.policy(), &ground.machine, true);
                Ok::<_, Error>((namespace, policy.confine.then(rules).transpose()?))
            });
            made.join()
                .unwrap_or_else(|_| Err(Error::Rules("the thread that mounts has panicked".to_owned())))
        })?;
        let place = Place { namespace: Arc::new(namespace), directory: c_path(directory)? };
        let watched = self.watch.as_ref().map(|watch| {
            let (mounts, processes) = (self.enforcement().read_only_mounts, self.enforcement().own_processes);
            Watch::start(self.policy(), mounts, processes, Arc::clone(&watch.report), Some(&place))
        });
        let watch = watched.transpose()?;
        let filters = match (&watch, policy.confine) {
            (Some(_), _) => self.steps.filters.clone(),
            (None, true) => filter::build(policy)?,
            (None, false) => Vec::new(),
        };
        let steps = Steps {
            namespaces: 0,
            mounts: None,
            // The thread that starts watched commands is there already.
            enter: watch.is_none().then_some((place.namespace, place.directory)),
            loopback: false,
            watched: watch.is_some(),
            drop_capabilities: self.steps.drop_capabilities,
            kept_descriptors: self.steps.kept_descriptors.clone(),
            close_descriptors: self.steps.close_descriptors,
            resource_limits: self.steps.resource_limits.clone(),
            no_new_privileges: self.steps.no_new_privileges,
            ruleset,
            filters,
        };
        self.with_steps(steps, watch)
    }
}

/// One overlay's paths as system calls take them.
struct Layers {
    root: CString,
    upper: CString,
    work: CString,
}

impl Layers {
    fn new(layer: &Overlaid) -> Result<Layers, Error> {
        let below = |path: &Path| {
            // Names of layers are made by the server; one that options would have to quote is none of its.
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(byte);
            let text = path.to_str().filter(|text| text.as_bytes().iter().all(plain) && !text.contains(".."));
            let text = text.ok_or_else(|| Error::Policy(format!("{}: not a layer", path.display())))?;
            c_path(&Path::new("/dev/shm").join(text.trim_start_matches('/')))
        };
        Ok(Layers { root: c_path(&layer.root)?, upper: below(&layer.upper)?, work: below(&layer.work)? })
    }

    fn mount(&self) -> Outcome {
        let root = child::open_folder(&self.root, libc::O_PATH | libc::O_DIRECTORY)?;
        // By descriptor, because a path may hold what separates options.
        let options = format!(
            "lowerdir=/proc/self/fd/{},upperdir={},workdir={},userxattr",
            root.as_raw_fd(),
            self.upper.to_string_lossy(),
            self.work.to_string_lossy()
        );
        let options = CString::new(options).map_err(|_| (Step::Mounts, libc::EINVAL))?;
        child::mount_new(c"overlay", &self.root, libc::MS_NOSUID | libc::MS_NODEV, Some(&options))
    }
}

impl Ground {
    /// In a copy of the store's namespace, in which this thread then is: the overlays, with everything on them that was mounted below, and without the store.
    fn mount(&self, layers: &[Layers]) -> Result<OwnedFd, (Step, i32)> {
        child::own_place()?;
        child::enter_mounts(&self.store)?;
        child::split_mounts()?;
        for layer in layers {
            layer.mount()?;
        }
        let covered = |path: &&CString| layers.iter().any(|layer| is_below(path, &layer.root));
        let Mounts { hidden, hidden_folders, pinned, protected, .. } = &self.mounts;
        for path in hidden.iter().filter(covered) {
            there(child::mount(Some(c"/dev/null"), path, libc::MS_BIND))?;
        }
        for path in hidden_folders.iter().filter(covered) {
            let quiet = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_RDONLY;
            there(child::mount_new(c"tmpfs", path, quiet, Some(child::NOTHING_OPTIONS)))?;
        }
        for path in pinned.iter().filter(covered) {
            there(child::mount(Some(path), path, libc::MS_BIND | libc::MS_REC))?;
        }
        for path in protected.iter().filter(covered) {
            there(child::close_path(path))?;
        }
        child::unmount(STORE_AT)?;
        child::present_mounts()
    }
}

/// What is not there any more needs no mount.
fn there(outcome: Outcome) -> Outcome {
    match outcome {
        Err((_, libc::ENOENT)) => Ok(()),
        outcome => outcome,
    }
}

fn is_below(path: &CStr, root: &CStr) -> bool {
    let (path, root) = (path.to_bytes(), root.to_bytes());
    path.strip_prefix(root).is_some_and(|rest| rest.starts_with(b"/"))
}
