//! What happens in the child between fork and exec, and the few system calls of the parent: the sandbox's one home of
//! unsafe code.
//!
//! Invariant: from `Steps::apply` on nothing allocates, locks or panics; there are only system calls on data that the
//! parent prepared. Another thread of the parent may have held any lock at the moment of the fork.

#![allow(unsafe_code)]

use crate::error::Step;
use seccompiler::BpfProgram;
use std::ffi::CString;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

/// The error number by which a dry run says that every step succeeded.
const DRY_RUN_DONE: i32 = libc::ECANCELED;
/// Capabilities that root keeps inside: what installing and unpacking files needs, on files that are its own anyway.
const CAPABILITIES_KEPT: [libc::c_ulong; 7] = [0, 1, 3, 4, 5, 6, 7];
/// No kernel numbers capabilities beyond this.
const CAPABILITY_MAX: libc::c_ulong = 63;
const MOUNT_ATTR_RDONLY: u64 = 1;
const AT_RECURSIVE: libc::c_uint = 0x8000;
const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;

/// Everything that a child does before it becomes the program. Prepared in the parent.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// `CLONE_NEW*` flags; 0 for none.
    pub(crate) namespaces: libc::c_int,
    pub(crate) mounts: Option<Mounts>,
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
}

/// The read-only view of the file system.
#[derive(Debug, Default)]
pub(crate) struct Mounts {
    /// Stay writable.
    pub(crate) writable: Vec<CString>,
    /// Seen as `/tmp`.
    pub(crate) tmp: Option<CString>,
}

type Outcome = Result<(), (Step, i32)>;

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
        for filter in &self.filters {
            install_filter(filter)?;
        }
        Ok(())
    }

    fn enter_namespaces(&self) -> Outcome {
        let mut directory = [0u8; libc::PATH_MAX as usize];
        // SAFETY: the buffer is as long as is said.
        let known = !unsafe { libc::getcwd(directory.as_mut_ptr().cast(), directory.len()) }.is_null();
        // SAFETY: these take nothing and cannot fail.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        // A process that changed its user may not write its own maps unless it is dumpable. Exec sets this anew.
        // SAFETY: takes numbers only.
        unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) };
        // SAFETY: takes a number only; the child has one thread.
        check(Step::Namespaces, unsafe { libc::unshare(self.namespaces) }.into())?;
        if self.namespaces & libc::CLONE_NEWUSER != 0 {
            write_file(c"/proc/self/setgroups", b"deny")?;
            write_map(c"/proc/self/uid_map", user)?;
            write_map(c"/proc/self/gid_map", group)?;
        }
        if let Some(mounts) = &self.mounts {
            mounts.apply()?;
            if known {
                // The working directory was below the mounts that are read-only now.
                // SAFETY: `getcwd` ended the path with a zero.
                check(Step::Mounts, unsafe { libc::chdir(directory.as_ptr().cast()) }.into())?;
            }
        }
        if self.loopback {
            loopback_up()?;
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
        for path in &self.writable {
            mount(Some(path), path, libc::MS_BIND | libc::MS_REC)?;
        }
        if let Some(tmp) = &self.tmp {
            mount(Some(tmp), c"/tmp", libc::MS_BIND)?;
        }
        mount_attributes(c"/", AT_RECURSIVE, MOUNT_ATTR_RDONLY, 0)?;
        for path in &self.writable {
            // What was read-only already when we came, below a writable folder, stays so and makes the first attempt fail.
            mount_attributes(path, AT_RECURSIVE, 0, MOUNT_ATTR_RDONLY)
                .or_else(|_| mount_attributes(path, 0, 0, MOUNT_ATTR_RDONLY))?;
        }
        if self.tmp.is_some() {
            mount_attributes(c"/tmp", 0, 0, MOUNT_ATTR_RDONLY)?;
        }
        Ok(())
    }
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

fn mount(source: Option<&std::ffi::CStr>, target: &std::ffi::CStr, flags: libc::c_ulong) -> Outcome {
    let source = source.map_or(std::ptr::null(), std::ffi::CStr::as_ptr);
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

fn mount_attributes(path: &std::ffi::CStr, flags: libc::c_uint, set: u64, clear: u64) -> Outcome {
    let attributes = MountAttributes { set, clear, propagation: 0, user_namespace: 0 };
    // SAFETY: the path ends with a zero; the structure is as large as is said; both live through the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<MountAttributes>(),
        )
    };
    check(Step::Mounts, result)
}

fn write_file(path: &std::ffi::CStr, text: &[u8]) -> Outcome {
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

/// Maps one identity to itself, formatted without allocating: `ID ID 1`.
fn write_map(path: &std::ffi::CStr, identity: u32) -> Outcome {
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
