//! What happens in the child between fork and exec, and the few system calls of the parent: the sandbox's one home of
//! unsafe code.
//!
//! Invariant: from `Steps::apply` on nothing allocates, locks or panics; there are only system calls on data that the
//! parent prepared. Another thread of the parent may have held any lock at the moment of the fork.

#![allow(unsafe_code)]

use crate::error::Step;
use seccompiler::BpfProgram;
use std::ffi::{CStr, CString};
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

/// The error number by which a dry run says that every step succeeded.
const DRY_RUN_DONE: i32 = libc::ECANCELED;
/// Capabilities that root keeps inside: what installing and unpacking files needs, on files that are its own anyway.
const CAPABILITIES_KEPT: [libc::c_ulong; 7] = [0, 1, 3, 4, 5, 6, 7];
/// No kernel numbers capabilities beyond this.
const CAPABILITY_MAX: libc::c_ulong = 63;
pub(crate) const MOUNT_ATTR_RDONLY: u64 = 1;
const OPEN_TREE_CLONE: libc::c_uint = 1;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_uint = 4;
pub(crate) const AT_RECURSIVE: libc::c_uint = 0x8000;
const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;

/// Everything that a child does before it becomes the program. Prepared in the parent.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// `CLONE_NEW*` flags; 0 for none.
    pub(crate) namespaces: libc::c_int,
    pub(crate) mounts: Option<Mounts>,
    /// A mount namespace that was made before, and the working directory in it.
    pub(crate) enter: Option<(Arc<OwnedFd>, CString)>,
    /// Bring up the loopback interface of a new network namespace.
    pub(crate) loopback: bool,
    pub(crate) drop_capabilities: bool,
    /// Descriptors from 3 on that stay open, in ascending order.
    pub(crate) kept_descriptors: Vec<RawFd>,
    pub(crate) close_descriptors: bool,
    pub(crate) resource_limits: Vec<(u32, u64)>,
    pub(crate) no_new_privileges: bool,
    pub(crate) ruleset: Option<OwnedFd>,
    pub(crate) filters: Vec<BpfProgram>,
    /// The thread that starts the program has a filter already, which denies what `filters` leave out.
    pub(crate) watched: bool,
}

/// The read-only view of the file system.
#[derive(Debug, Default)]
pub(crate) struct Mounts {
    /// Stay writable.
    pub(crate) writable: Vec<CString>,
    /// Seen as `/tmp`.
    pub(crate) tmp: Option<CString>,
    /// Below `/tmp`, and still there when it is covered; at most [`RESTORED_MAX`].
    pub(crate) restored: Vec<CString>,
    /// `/dev` holds the devices that lead nowhere, shared memory and terminals of its own, and nothing else.
    pub(crate) own_devices: bool,
    /// `/proc` shows the processes of the new pid namespace.
    pub(crate) own_processes: bool,
    /// With `own_processes`: how many processes and threads there may be at once, root's as well.
    pub(crate) processes_max: Option<u64>,
    /// Folders between a writable one and a protected path: as mounts of their own they cannot be renamed away.
    pub(crate) pinned: Vec<CString>,
    /// Exist below a writable folder and stay read-only.
    pub(crate) protected: Vec<CString>,
    /// Files that read as empty.
    pub(crate) hidden: Vec<CString>,
    /// Folders that are empty.
    pub(crate) hidden_folders: Vec<CString>,
    /// Files that stand in for others, and which.
    pub(crate) replaced: Vec<(CString, CString)>,
}

/// As many mounts can be held in an array while `/tmp` is covered.
pub(crate) const RESTORED_MAX: usize = 32;

/// The devices of an own `/dev`: where the host has them, and nothing else of the host's.
const OWN_DEVICES: [&CStr; 6] =
    [c"/dev/null", c"/dev/zero", c"/dev/full", c"/dev/random", c"/dev/urandom", c"/dev/tty"];
/// Where each link of an own `/dev` leads.
const OWN_LINKS: [(&CStr, &CStr); 5] = [
    (c"/proc/self/fd", c"/dev/fd"),
    (c"/proc/self/fd/0", c"/dev/stdin"),
    (c"/proc/self/fd/1", c"/dev/stdout"),
    (c"/proc/self/fd/2", c"/dev/stderr"),
    (c"pts/ptmx", c"/dev/ptmx"),
];
/// Nothing but links, and files to mount devices on, is in the folder itself.
const DEVICES_OPTIONS: &CStr = c"mode=0755,size=64k";
/// Shared memory is memory: a sandbox has 1 GiB of it at most.
const SHARED_MEMORY_OPTIONS: &CStr = c"mode=1777,size=1024m";
/// What covers a hidden folder.
pub(crate) const NOTHING_OPTIONS: &CStr = c"mode=0555,size=4k";
/// Terminals of its own: what others have open cannot be named.
const TERMINALS_OPTIONS: &CStr = c"newinstance,ptmxmode=0666,mode=0620";

pub(crate) type Outcome = Result<(), (Step, i32)>;

/// Makes `command` go through `steps` before it becomes its program. A step that fails is written into `report` by its number.
pub(crate) fn install(command: &mut Command, steps: Arc<Steps>, report: Arc<PipeWriter>, dry_run: bool) {
    let hook = move || match steps.apply() {
        Ok(()) if dry_run => Err(io::Error::from_raw_os_error(DRY_RUN_DONE)),
        Ok(()) => Ok(()),
        Err((step, errno)) => {
            let number = [step as u8];
            // SAFETY: the buffer is one byte that lives through the call, and the descriptor is open as long as `report`.
            let _ = unsafe { libc::write(report.as_raw_fd(), number.as_ptr().cast(), 1) };
            Err(io::Error::from_raw_os_error(errno))
        }
    };
    // SAFETY: the hook runs between fork and exec. It makes system calls on data prepared before the fork, and an
    // `io::Error` of an error number holds no allocation; nothing in it locks or allocates.
    unsafe { command.pre_exec(hook) };
}

/// The step that a failed child reported, if it reported one.
pub(crate) fn reported(report: &mut PipeReader) -> Option<Step> {
    // SAFETY: the descriptor is open; the call changes only its flags. A child that failed at exec wrote nothing, and
    // waiting for it would be for ever.
    let changed = unsafe { libc::fcntl(report.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    let mut number = [0u8];
    (changed == 0 && report.read_exact(&mut number).is_ok()).then(|| Step::from_number(number[0])).flatten()
}

/// Tries steps in a child that never becomes a program.
pub(crate) fn try_out(steps: Steps) -> Result<(), (Option<Step>, io::Error)> {
    let (mut reader, writer) = io::pipe().map_err(|error| (None, error))?;
    let mut command = Command::new("/");
    command.env_clear();
    install(&mut command, Arc::new(steps), Arc::new(writer), true);
    match command.spawn() {
        Err(error) if error.raw_os_error() == Some(DRY_RUN_DONE) => Ok(()),
        Err(error) => Err((reported(&mut reader), error)),
        Ok(_) => Err((None, io::Error::other("a folder was executed"))),
    }
}

/// The Landlock ABI of the kernel, 0 without Landlock.
pub(crate) fn landlock_abi() -> u32 {
    const CREATE_RULESET_VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the kernel takes no attributes and only answers with its version.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<u8>(),
            0usize,
            CREATE_RULESET_VERSION,
        )
    };
    u32::try_from(version).unwrap_or(0)
}

/// Whether we are root in our namespace.
pub(crate) fn is_root() -> bool {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

impl Steps {
    fn apply(&self) -> Outcome {
        new_session();
        if let Some((namespace, directory)) = &self.enter {
            enter_mounts(namespace)?;
            change_directory(directory)?;
        }
        if self.namespaces != 0 {
            self.enter_namespaces()?;
        }
        if self.drop_capabilities {
            drop_capabilities();
        }
        if self.close_descriptors {
            self.mark_descriptors()?;
        }
        for (resource, limit) in &self.resource_limits {
            limit_resource(*resource, *limit)?;
        }
        if self.no_new_privileges {
            // SAFETY: takes numbers only.
            let result = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
            check(Step::NoNewPrivileges, result.into())?;
        }
        if let Some(ruleset) = &self.ruleset {
            // SAFETY: the descriptor is open and of a ruleset.
            let result =
                unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0u32) };
            check(Step::Landlock, result)?;
        }
        if self.watched && !has_filter() {
            return Err((Step::Seccomp, libc::EPERM));
        }
        for filter in &self.filters {
            install_filter(filter)?;
        }
        Ok(())
    }

    fn enter_namespaces(&self) -> Outcome {
        self.make_namespaces()?;
        if self.namespaces & libc::CLONE_NEWPID != 0 {
            // Only children are in the new pid namespace: one of them tries what is left, and ends with it.
            return in_a_child(|| self.furnish());
        }
        self.furnish()
    }

    /// Mounts and network of namespaces that were made.
    fn furnish(&self) -> Outcome {
        let mut directory = [0u8; libc::PATH_MAX as usize];
        // SAFETY: the buffer is as long as is said.
        let known = !unsafe { libc::getcwd(directory.as_mut_ptr().cast(), directory.len()) }.is_null();
        if let Some(mounts) = &self.mounts {
            mounts.apply()?;
            if known {
                // The working directory was below the mounts that are read-only now. Where it is hidden by them (it was in the other `/tmp`),
                // there is none inside, and what runs next names its own.
                // SAFETY: `getcwd` ended the path with a zero, and the other one is a literal.
                let moved =
                    unsafe { libc::chdir(directory.as_ptr().cast()) == 0 || libc::chdir(c"/".as_ptr()) == 0 };
                check(Step::Mounts, if moved { 0 } else { -1 })?;
            }
        }
        if self.loopback {
            loopback_up()?;
        }
        Ok(())
    }

    fn make_namespaces(&self) -> Outcome {
        // SAFETY: these take nothing and cannot fail.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        // A process that changed its user may not write its own maps unless it is dumpable. Exec sets this anew.
        // SAFETY: takes numbers only.
        unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) };
        // SAFETY: takes a number only; the process has one thread.
        check(Step::Namespaces, unsafe { libc::unshare(self.namespaces) }.into())?;
        if self.namespaces & libc::CLONE_NEWUSER != 0 {
            write_file(c"/proc/self/setgroups", b"deny")?;
            write_map(c"/proc/self/uid_map", user)?;
            write_map(c"/proc/self/gid_map", group)?;
        }
        Ok(())
    }

    /// Closes at exec every descriptor but the standard ones and those that are kept.
    fn mark_descriptors(&self) -> Outcome {
        let mut from: libc::c_uint = 3;
        for kept in &self.kept_descriptors {
            let Ok(kept) = libc::c_uint::try_from(*kept) else { continue };
            if kept > from {
                close_range(from, kept - 1)?;
            }
            // SAFETY: takes numbers only. A descriptor that is not open is nothing to keep.
            unsafe { libc::fcntl(kept.cast_signed(), libc::F_SETFD, 0) };
            from = from.max(kept.saturating_add(1));
        }
        close_range(from, libc::c_uint::MAX)
    }
}

impl Mounts {
    fn apply(&self) -> Outcome {
        mount(None, c"/", libc::MS_REC | libc::MS_PRIVATE)?;
        if self.own_devices {
            own_devices()?;
        }
        if self.own_processes {
            let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
            mount_new(c"proc", c"/proc", flags, None)?;
            if let Some(most) = self.processes_max {
                bound_pids(most);
            }
        }
        self.cover_tmp()?;
        for path in &self.writable {
            mount(Some(path), path, libc::MS_BIND | libc::MS_REC)?;
        }
        for path in &self.hidden {
            mount(Some(c"/dev/null"), path, libc::MS_BIND)?;
        }
        for (copy, path) in &self.replaced {
            mount(Some(copy), path, libc::MS_BIND)?;
        }
        for path in &self.hidden_folders {
            mount_new(c"tmpfs", path, libc::MS_NOSUID | libc::MS_NODEV, Some(NOTHING_OPTIONS))?;
        }
        mount_attributes(c"/", AT_RECURSIVE, MOUNT_ATTR_RDONLY, 0)?;
        if self.own_devices {
            for path in [c"/dev/shm", c"/dev/pts"] {
                mount_attributes(path, 0, 0, MOUNT_ATTR_RDONLY)?;
            }
        }
        for path in &self.writable {
            // What was read-only already when we came, below a writable folder, stays so and makes the first attempt fail.
            mount_attributes(path, AT_RECURSIVE, 0, MOUNT_ATTR_RDONLY)
                .or_else(|_| mount_attributes(path, 0, 0, MOUNT_ATTR_RDONLY))?;
        }
        if self.tmp.is_some() {
            mount_attributes(c"/tmp", 0, 0, MOUNT_ATTR_RDONLY)?;
        }
        for path in &self.pinned {
            mount(Some(path), path, libc::MS_BIND | libc::MS_REC)?;
        }
        for path in &self.protected {
            close_path(path)?;
        }
        Ok(())
    }
}

/// Makes what is at `path` a mount of its own that is read-only; of a link, the link itself. There is no moment at which it is a mount
/// and can be written.
pub(crate) fn close_path(path: &CStr) -> Outcome {
    let tree = clone_tree(path, AT_RECURSIVE | libc::AT_SYMLINK_NOFOLLOW.cast_unsigned());
    check(Step::Mounts, tree)?;
    // SAFETY: the descriptor was just opened and nobody else has it.
    let tree = unsafe { OwnedFd::from_raw_fd(tree as RawFd) };
    let flags = AT_RECURSIVE | libc::AT_EMPTY_PATH.cast_unsigned();
    mount_attributes_at(tree.as_raw_fd(), c"", flags, MOUNT_ATTR_RDONLY, 0)?;
    attach(tree.as_raw_fd(), path)
}

impl Mounts {
    /// Puts the private folder on `/tmp`, and on it again what was there and is allowed.
    fn cover_tmp(&self) -> Outcome {
        let Some(tmp) = &self.tmp else { return Ok(()) };
        let mut trees = [-1; RESTORED_MAX];
        for (tree, path) in trees.iter_mut().zip(&self.restored) {
            *tree = clone_tree(path, AT_RECURSIVE);
            check(Step::Mounts, *tree)?;
        }
        mount(Some(tmp), c"/tmp", libc::MS_BIND)?;
        for (tree, path) in trees.into_iter().zip(&self.restored) {
            attach_tree(tree, path)?;
        }
        Ok(())
    }
}

/// A mount of what is at `path`, attached nowhere yet: its descriptor, or less than zero.
fn clone_tree(path: &CStr, flags: libc::c_uint) -> libc::c_long {
    let flags = OPEN_TREE_CLONE | libc::O_CLOEXEC.cast_unsigned() | flags;
    // SAFETY: the path ends with a zero.
    unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) }
}

/// Mounts a tree of [`clone_tree`] at `path` and closes it.
fn attach_tree(tree: libc::c_long, path: &CStr) -> Outcome {
    let attached = attach(tree as RawFd, path);
    // SAFETY: the descriptor is ours and closed once.
    unsafe { libc::close(tree as libc::c_int) };
    attached
}

/// Mounts a tree at `path`, which is not followed when it is a link.
fn attach(tree: RawFd, path: &CStr) -> Outcome {
    let flags = MOVE_MOUNT_F_EMPTY_PATH;
    // SAFETY: both paths end with a zero; a descriptor that is no tree is an error.
    let moved = unsafe {
        libc::syscall(libc::SYS_move_mount, tree, c"".as_ptr(), libc::AT_FDCWD, path.as_ptr(), flags)
    };
    check(Step::Mounts, moved)
}

/// Covers `/dev`. Devices cannot be made in a user namespace, so the host's nodes are taken along one by one.
fn own_devices() -> Outcome {
    let mut trees = [-1; OWN_DEVICES.len()];
    for (tree, device) in trees.iter_mut().zip(OWN_DEVICES) {
        // A device that the host lacks is not there inside either.
        *tree = clone_tree(device, 0);
    }
    let quiet = libc::MS_NOSUID | libc::MS_NOEXEC;
    mount_new(c"tmpfs", c"/dev", quiet, Some(DEVICES_OPTIONS))?;
    for (tree, device) in trees.into_iter().zip(OWN_DEVICES) {
        if tree < 0 {
            continue;
        }
        make_file(device)?;
        attach_tree(tree, device)?;
    }
    make_folder(c"/dev/shm")?;
    mount_new(c"tmpfs", c"/dev/shm", libc::MS_NOSUID | libc::MS_NODEV, Some(SHARED_MEMORY_OPTIONS))?;
    make_folder(c"/dev/pts")?;
    mount_new(c"devpts", c"/dev/pts", quiet, Some(TERMINALS_OPTIONS))?;
    for (target, link) in OWN_LINKS {
        // SAFETY: both paths end with a zero.
        check(Step::Mounts, unsafe { libc::symlink(target.as_ptr(), link.as_ptr()) }.into())?;
    }
    Ok(())
}

fn make_folder(path: &CStr) -> Outcome {
    // SAFETY: the path ends with a zero.
    check(Step::Mounts, unsafe { libc::mkdir(path.as_ptr(), 0o755) }.into())
}

fn make_file(path: &CStr) -> Outcome {
    // SAFETY: the path ends with a zero.
    let file = unsafe { libc::open(path.as_ptr(), libc::O_CREAT | libc::O_RDONLY | libc::O_CLOEXEC, 0o666) };
    check(Step::Mounts, file.into())?;
    // SAFETY: the descriptor was just opened and is closed once.
    unsafe { libc::close(file) };
    Ok(())
}

/// A new file system of a kind.
pub(crate) fn mount_new(kind: &CStr, target: &CStr, flags: libc::c_ulong, options: Option<&CStr>) -> Outcome {
    let data = options.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: all texts end with a zero and live through the call; the options may be null.
    let result = unsafe { libc::mount(kind.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, data.cast()) };
    check(Step::Mounts, result.into())
}

/// Does `work` in a child process and waits for it. Its exit status tells which step failed.
fn in_a_child(work: impl FnOnce() -> Outcome) -> Outcome {
    // SAFETY: the process has one thread; the child makes system calls only and leaves by `_exit`.
    let child = unsafe { libc::fork() };
    check(Step::Namespaces, child.into())?;
    if child == 0 {
        let status = match work() {
            Ok(()) => 0,
            Err((step, _)) => step as libc::c_int,
        };
        // SAFETY: takes a number only.
        unsafe { libc::_exit(status) };
    }
    let mut status = 0;
    // SAFETY: the pointer is to a number that lives through the call.
    check(Step::Namespaces, unsafe { libc::waitpid(child, &raw mut status, 0) }.into())?;
    match u8::try_from(libc::WEXITSTATUS(status)) {
        Ok(0) if libc::WIFEXITED(status) => Ok(()),
        Ok(number) => Err((Step::from_number(number).unwrap_or(Step::Namespaces), libc::EPERM)),
        Err(_) => Err((Step::Namespaces, libc::EPERM)),
    }
}

/// Which of the two processes after [`contain`] this is.
pub(crate) enum Side {
    /// The one outside, which only waits for the child of this id.
    Outside(u32),
    /// The one inside: with a pid namespace its first process. With the mount namespace in which the store is seen, if there is one.
    Inside(Option<OwnedFd>),
}

/// Puts a child of this process into the namespaces of `steps`, furnished; the child goes on as the process did. The process must have
/// one thread. The child dies with the process outside. `store` is a folder that only a mount namespace beside the child's sees, at [`STORE_AT`];
/// without it there are no overlays, and everything else is as it would be.
pub(crate) fn contain(steps: &Steps, store: Option<&CStr>) -> Result<Side, (Step, io::Error)> {
    let failed = |(step, errno): (Step, i32)| (step, io::Error::from_raw_os_error(errno));
    if steps.namespaces != 0 {
        steps.make_namespaces().map_err(failed)?;
    }
    // SAFETY: one thread, says the contract; both sides go on as ordinary processes.
    let child = unsafe { libc::fork() };
    check(Step::Namespaces, child.into()).map_err(failed)?;
    if child != 0 {
        // What the side inside holds must close when it ends, so nothing of it may stay open here.
        // SAFETY: takes numbers only; nothing on this side uses descriptors beyond the standard ones any more.
        unsafe {
            libc::syscall(libc::SYS_close_range, 3 as libc::c_uint, libc::c_uint::MAX, 0 as libc::c_uint)
        };
        return Ok(Side::Outside(child.cast_unsigned()));
    }
    // SAFETY: takes numbers only.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) };
    // Taken before `/tmp` is covered.
    let store = store.filter(|_| steps.mounts.is_some()).map(|path| {
        // What is mounted in there later is nobody else's.
        let _ = mount(None, c"/", libc::MS_REC | libc::MS_PRIVATE);
        clone_tree(path, 0)
    });
    if steps.namespaces != 0 {
        steps.furnish().map_err(failed)?;
    }
    Ok(Side::Inside(store.filter(|tree| *tree >= 0).and_then(|tree| keep_store(tree).ok())))
}

/// Where the store is while overlays are mounted: shared memory is not needed then.
pub(crate) const STORE_AT: &CStr = c"/dev/shm";

/// Mounts the store, keeps this mount namespace as a descriptor, and goes on in a copy without the store.
fn keep_store(tree: libc::c_long) -> Result<OwnedFd, (Step, i32)> {
    attach_tree(tree, STORE_AT)?;
    let kept = present_mounts();
    let apart = kept.and_then(|kept| split_mounts().map(|()| kept));
    unmount(STORE_AT)?;
    apart
}

/// The mount namespace of this thread.
pub(crate) fn present_mounts() -> Result<OwnedFd, (Step, i32)> {
    open_folder(c"/proc/thread-self/ns/mnt", libc::O_RDONLY)
}

/// A descriptor of what is at `path`.
pub(crate) fn open_folder(path: &CStr, flags: libc::c_int) -> Result<OwnedFd, (Step, i32)> {
    // SAFETY: the path ends with a zero.
    let fd = unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) };
    check(Step::Mounts, fd.into())?;
    // SAFETY: the descriptor was just opened and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Gives this thread a root and a working directory of its own, which it may then change the namespace of.
pub(crate) fn own_place() -> Outcome {
    // SAFETY: takes a number only.
    check(Step::Mounts, unsafe { libc::unshare(libc::CLONE_FS) }.into())
}

/// Gives this thread a copy of its mount namespace.
pub(crate) fn split_mounts() -> Outcome {
    // SAFETY: takes a number only.
    check(Step::Mounts, unsafe { libc::unshare(libc::CLONE_NEWNS) }.into())
}

/// Takes this thread, whose place is its own, into a mount namespace, at its root.
pub(crate) fn enter_mounts(namespace: &OwnedFd) -> Outcome {
    // SAFETY: takes numbers only.
    check(Step::Mounts, unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNS) }.into())
}

/// Changes this thread's working directory.
pub(crate) fn change_directory(path: &CStr) -> Outcome {
    // SAFETY: the path ends with a zero.
    check(Step::Mounts, unsafe { libc::chdir(path.as_ptr()) }.into())
}

/// Takes the topmost mount at `path` away, now for whoever looks and for good when its last user goes.
pub(crate) fn unmount(path: &CStr) -> Outcome {
    // SAFETY: the path ends with a zero.
    check(Step::Mounts, unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) }.into())
}

/// Whether this thread is under a system call filter.
fn has_filter() -> bool {
    // SAFETY: takes a number only.
    let mode = unsafe { libc::prctl(libc::PR_GET_SECCOMP) };
    libc::c_uint::try_from(mode) == Ok(libc::SECCOMP_MODE_FILTER as libc::c_uint)
}

/// The number of the last error.
fn errno() -> i32 {
    // SAFETY: the pointer is to this thread's own error number.
    unsafe { *libc::__errno_location() }
}

fn check(step: Step, result: libc::c_long) -> Outcome {
    if result < 0 { Err((step, errno())) } else { Ok(()) }
}

/// A session, and with it a process group, without the caller's terminal.
fn new_session() {
    // SAFETY: takes nothing. It fails only for the leader of a process group, which a new process is not.
    unsafe { libc::setsid() };
}

pub(crate) fn mount(source: Option<&CStr>, target: &CStr, flags: libc::c_ulong) -> Outcome {
    let source = source.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: source and target are null or end with a zero and live through the call; type and data may be null.
    let result = unsafe { libc::mount(source, target.as_ptr(), std::ptr::null(), flags, std::ptr::null()) };
    check(Step::Mounts, result.into())
}

/// `struct mount_attr` of the kernel.
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

pub(crate) fn mount_attributes(path: &CStr, flags: libc::c_uint, set: u64, clear: u64) -> Outcome {
    mount_attributes_at(libc::AT_FDCWD, path, flags, set, clear)
}

fn mount_attributes_at(from: RawFd, path: &CStr, flags: libc::c_uint, set: u64, clear: u64) -> Outcome {
    let attributes = MountAttributes { set, clear, propagation: 0, user_namespace: 0 };
    // SAFETY: the path ends with a zero; the structure is as large as is said; both live through the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            from,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<MountAttributes>(),
        )
    };
    check(Step::Mounts, result)
}

fn write_file(path: &CStr, text: &[u8]) -> Outcome {
    // SAFETY: the path ends with a zero.
    let file = unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    check(Step::Identity, file.into())?;
    // SAFETY: the buffer is as long as is said, and the descriptor was just opened.
    let written = unsafe { libc::write(file, text.as_ptr().cast(), text.len()) };
    let result = if written < 0 { Err((Step::Identity, errno())) } else { Ok(()) };
    // SAFETY: the descriptor is ours and closed once.
    unsafe { libc::close(file) };
    result
}

/// Numbers below this are given to nobody once pids have wrapped, so a bound counts from here.
const RESERVED_PIDS: u64 = 300;

/// Bounds how many processes and threads the pid namespace of this process holds, as far as the kernel keeps that number for each
/// namespace. `/proc` must be the namespace's own: through another one the whole machine's number would change.
fn bound_pids(most: u64) -> bool {
    namespaced_pid_max() && write_pid_max(most)
}

/// Whether this kernel keeps the greatest pid for each namespace: Linux 6.14 and later.
pub(crate) fn namespaced_pid_max() -> bool {
    let mut text = [0u8; 32];
    // SAFETY: the path ends with a zero; the buffer is as long as is said; the descriptor is closed once.
    let read = unsafe {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        let file = libc::open(c"/proc/sys/kernel/osrelease".as_ptr(), flags);
        if file < 0 {
            return false;
        }
        let read = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        read
    };
    let Ok(length) = usize::try_from(read) else { return false };
    let mut numbers = text[..length].split(|byte| !byte.is_ascii_digit()).map(|digits| {
        digits
            .iter()
            .fold(0u32, |number, digit| number.saturating_mul(10).saturating_add(u32::from(digit - b'0')))
    });
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version >= (6, 14)
}

fn write_pid_max(most: u64) -> bool {
    let mut text = [0u8; 20];
    let mut at = text.len();
    let mut rest = most.saturating_add(RESERVED_PIDS);
    while at > 0 && (rest > 0 || at == text.len()) {
        at -= 1;
        text[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    // SAFETY: the path ends with a zero; the buffer is as long as is said; the descriptor is closed once.
    unsafe {
        let file = libc::open(c"/proc/sys/kernel/pid_max".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if file < 0 {
            return false;
        }
        let length = text.len() - at;
        let written = libc::write(file, text[at..].as_ptr().cast(), length);
        libc::close(file);
        usize::try_from(written) == Ok(length)
    }
}

/// Maps one identity to itself, formatted without allocating: `ID ID 1`.
fn write_map(path: &CStr, identity: u32) -> Outcome {
    let mut text = [0u8; 32];
    let mut length = 0;
    for separator in [b' ', b' '] {
        let mut divisor = 1_000_000_000;
        let mut started = false;
        while divisor > 0 {
            let digit = (identity / divisor % 10) as u8;
            started |= digit != 0 || divisor == 1;
            if started {
                text[length] = b'0' + digit;
                length += 1;
            }
            divisor /= 10;
        }
        text[length] = separator;
        length += 1;
    }
    text[length] = b'1';
    write_file(path, &text[..=length])
}

fn loopback_up() -> Outcome {
    // SAFETY: takes numbers only.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    check(Step::Loopback, socket.into())?;
    // SAFETY: an all-zero request is a valid one: a name of zeros and flags of zero.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request is the structure that this control command reads, and it lives through the call.
    let result = unsafe { libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request) };
    let result = check(Step::Loopback, result.into());
    // SAFETY: the descriptor is ours and closed once.
    unsafe { libc::close(socket) };
    result
}

/// Takes capabilities out of the bounding set, so that root after exec has only the kept ones. It fails for who has none
/// to lose, and at the end of the kernel's list.
fn drop_capabilities() {
    for capability in 0..=CAPABILITY_MAX {
        if !CAPABILITIES_KEPT.contains(&capability) {
            // SAFETY: takes numbers only.
            unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
        }
    }
}

fn close_range(from: libc::c_uint, to: libc::c_uint) -> Outcome {
    // SAFETY: takes numbers only; the descriptors stay open until exec.
    check(Step::Descriptors, unsafe { libc::syscall(libc::SYS_close_range, from, to, CLOSE_RANGE_CLOEXEC) })
}

fn limit_resource(resource: u32, limit: u64) -> Outcome {
    let mut present = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is the one that the call fills.
    check(Step::ResourceLimits, unsafe { libc::getrlimit(resource as _, &raw mut present) }.into())?;
    // A limit is lowered, never raised: raising needs privileges and is no business of a sandbox.
    let value = limit.min(present.rlim_max);
    let wanted = libc::rlimit { rlim_cur: value, rlim_max: value };
    // SAFETY: the structure is the one that the call reads.
    check(Step::ResourceLimits, unsafe { libc::setrlimit(resource as _, &raw const wanted) }.into())
}

fn install_filter(filter: &BpfProgram) -> Outcome {
    let program = libc::sock_fprog {
        len: libc::c_ushort::try_from(filter.len()).unwrap_or(libc::c_ushort::MAX),
        filter: filter.as_ptr().cast_mut().cast(),
    };
    // SAFETY: the program has the layout that the kernel reads, is as long as is said, and lives through the call; the
    // kernel only reads it.
    let result = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            0 as libc::c_ulong,
            &raw const program,
        )
    };
    check(Step::Seccomp, result)
}
