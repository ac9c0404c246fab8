//! The system calls of connecting a caller's socket for it: taking a duplicate of the descriptor, connecting, putting another socket in its place, and
//! the alarm that keeps a call from waiting.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// A handle of a thread, and not of its whole process. Kernels before 6.9 do not know it.
const PIDFD_THREAD: libc::c_int = libc::O_EXCL;
/// `_IOW('!', 2, u64)` and `_IOW('!', 3, struct seccomp_notif_addfd)`; not every C library's bindings name them.
const NOTIFY_ID_VALID: libc::c_ulong = 0x4008_2102;
const NOTIFY_ADD_DESCRIPTOR: libc::c_ulong = 0x4018_2103;
/// Put the descriptor at this number, in the place of what is there.
const ADD_AT_NUMBER: u32 = 1;
/// Deliver a timer's signal to one thread; not in every C library's bindings.
const SIGEV_THREAD_ID: libc::c_int = 4;
/// Ignored by default, so one that comes late harms nobody.
const ALARM: libc::c_int = libc::SIGURG;

/// What `struct seccomp_notif_addfd` of the kernel holds.
#[repr(C)]
struct AddDescriptor {
    id: u64,
    flags: u32,
    source: u32,
    target: u32,
    target_flags: u32,
}

fn owned(result: libc::c_long) -> io::Result<OwnedFd> {
    let descriptor = RawFd::try_from(result).ok().filter(|fd| *fd >= 0);
    let descriptor = descriptor.ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the kernel just gave this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The same, made again as long as a signal came between.
fn uninterrupted(mut call: impl FnMut() -> libc::c_int) -> io::Result<libc::c_int> {
    loop {
        match checked(call()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// A descriptor of what `descriptor` of a thread is, without the thread's doing. `process` says whose thread it is, where that must be known.
pub(in crate::watch) fn duplicate(
    thread: u32,
    process: impl FnOnce() -> Option<u32>,
    descriptor: i32,
) -> io::Result<OwnedFd> {
    let open = |pid: u32, flags: libc::c_int| {
        // SAFETY: takes numbers only.
        owned(unsafe { libc::syscall(libc::SYS_pidfd_open, pid.cast_signed(), flags) })
    };
    let holder = match open(thread, PIDFD_THREAD) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            open(process().ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))?, 0)?
        }
        other => other?,
    };
    // SAFETY: takes numbers only; the first is a descriptor that lives through the call.
    owned(unsafe { libc::syscall(libc::SYS_pidfd_getfd, holder.as_raw_fd(), descriptor, 0 as libc::c_uint) })
}

/// Whether the caller of a question still waits for its answer: nobody else has its ids then.
pub(in crate::watch) fn is_asked(listener: &OwnedFd, id: u64) -> bool {
    // SAFETY: the number is the one that this command reads, and it lives through the call.
    uninterrupted(|| unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFY_ID_VALID as _, &raw const id) })
        .is_ok()
}

/// Puts `socket` at a number of the caller's descriptors.
pub(in crate::watch) fn put(
    listener: &OwnedFd,
    id: u64,
    socket: &OwnedFd,
    at: i32,
    close_at_exec: bool,
) -> io::Result<()> {
    let request = AddDescriptor {
        id,
        flags: ADD_AT_NUMBER,
        source: socket.as_raw_fd().cast_unsigned(),
        target: at.cast_unsigned(),
        target_flags: if close_at_exec { libc::O_CLOEXEC.cast_unsigned() } else { 0 },
    };
    uninterrupted(|| {
        // SAFETY: the structure is the one that this command reads, and it lives through the call.
        unsafe { libc::ioctl(listener.as_raw_fd(), NOTIFY_ADD_DESCRIPTOR as _, &raw const request) }
    })
    .map(drop)
}

/// A new Unix socket that does not wait.
pub(in crate::watch) fn new_unix(kind: i32) -> io::Result<OwnedFd> {
    let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: takes numbers only.
    owned(unsafe { libc::socket(libc::AF_UNIX, kind | flags, 0) }.into())
}

/// What `struct open_how` of the kernel holds.
#[repr(C)]
struct OpenHow {
    flags: u64,
    mode: u64,
    resolve: u64,
}

/// Fail at a link of `/proc` that leads to what a process has open.
const NO_MAGIC_LINKS: u64 = 2;

/// What a path leads to, from `folder` if it is relative; through no descriptor, folder or root of any process.
pub(in crate::watch) fn look_up(folder: Option<&File>, path: &Path) -> io::Result<File> {
    let text = CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)?;
    let flags = (libc::O_PATH | libc::O_CLOEXEC).cast_unsigned();
    let how = OpenHow { flags: flags.into(), mode: 0, resolve: NO_MAGIC_LINKS };
    let from = folder.map_or(libc::AT_FDCWD, AsRawFd::as_raw_fd);
    // SAFETY: the path ends with a zero, the structure is as long as is said, and both live through the call.
    let result = unsafe {
        libc::syscall(libc::SYS_openat2, from, text.as_ptr(), &raw const how, size_of::<OpenHow>())
    };
    owned(result).map(File::from)
}

/// An error unless our user may write a file that is held open, whatever more rights we have than the commands.
pub(in crate::watch) fn may_write(file: &File) -> io::Result<()> {
    let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())).map_err(io::Error::other)?;
    // SAFETY: the path ends with a zero and lives through the call.
    checked(unsafe { libc::access(path.as_ptr(), libc::W_OK) }).map(drop)
}

/// Connects to the address of these bytes.
pub(in crate::watch) fn connect(socket: &OwnedFd, address: &[u8]) -> io::Result<()> {
    let length =
        libc::socklen_t::try_from(address.len()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    // SAFETY: the address is as long as is said; the kernel copies it.
    checked(unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) }).map(drop)
}

/// An option of a socket, in a buffer of its size; how much of that the kernel filled.
fn option_bytes(socket: &OwnedFd, name: i32, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = libc::socklen_t::try_from(buffer.len()).unwrap_or(0);
    // SAFETY: the buffer is as long as is said, and both live through the call.
    checked(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            name,
            buffer.as_mut_ptr().cast(),
            &raw mut length,
        )
    })?;
    Ok((length as usize).min(buffer.len()))
}

/// An option that is a number.
pub(in crate::watch) fn option(socket: &OwnedFd, name: i32) -> io::Result<i32> {
    let mut number = [0; 4];
    option_bytes(socket, name, &mut number)?;
    Ok(i32::from_ne_bytes(number))
}

/// Sets an option that is a number.
pub(in crate::watch) fn set_option(socket: &OwnedFd, name: i32, value: i32) -> io::Result<()> {
    set_option_bytes(socket, name, &value.to_ne_bytes())
}

fn set_option_bytes(socket: &OwnedFd, name: i32, value: &[u8]) -> io::Result<()> {
    let length = libc::socklen_t::try_from(value.len()).unwrap_or(0);
    // SAFETY: the value is as long as is said, and lives through the call.
    checked(unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, name, value.as_ptr().cast(), length)
    })
    .map(drop)
}

/// Gives `to` an option of `from`, whatever it holds.
pub(in crate::watch) fn copy_option(from: &OwnedFd, to: &OwnedFd, name: i32) -> io::Result<()> {
    let mut value = [0; 16];
    let length = option_bytes(from, name, &mut value)?;
    set_option_bytes(to, name, &value[..length])
}

/// How long a call on this socket waits; none for ever.
pub(in crate::watch) fn patience(socket: &OwnedFd) -> Option<Duration> {
    let mut value = [0; size_of::<libc::timeval>()];
    option_bytes(socket, libc::SO_SNDTIMEO, &mut value).ok()?;
    let (seconds, rest) = value.split_at(value.len() / 2);
    let number = |bytes: &[u8]| bytes.try_into().map_or(0, i64::from_ne_bytes);
    let time = Duration::from_secs(number(seconds).try_into().ok()?)
        + Duration::from_micros(number(rest).try_into().ok()?);
    (!time.is_zero()).then_some(time)
}

/// The process that called `listen` on what this socket is connected to, by its id here; 0 for one that is not in our namespace.
pub(in crate::watch) fn peer_process(socket: &OwnedFd) -> io::Result<i32> {
    let mut value = [0; size_of::<libc::ucred>()];
    let length = option_bytes(socket, libc::SO_PEERCRED, &mut value)?;
    // The id is the first of three numbers.
    let id = value.first_chunk().filter(|_| length == value.len());
    Ok(id.map_or(0, |id| i32::from_ne_bytes(*id)))
}

type NameCall = unsafe extern "C" fn(libc::c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> libc::c_int;

/// The length of the name that a socket or its other end has.
fn name_length(call: NameCall, socket: &OwnedFd) -> io::Result<usize> {
    let mut buffer = [0u8; 128];
    let mut length = buffer.len() as libc::socklen_t;
    // SAFETY: `call` is getsockname or getpeername; the buffer is as long as is said, and both live through the call.
    checked(unsafe { call(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), &raw mut length) })?;
    Ok(length as usize)
}

/// Whether a Unix socket has an address of its own.
pub(in crate::watch) fn is_named(socket: &OwnedFd) -> bool {
    name_length(libc::getsockname, socket).is_ok_and(|length| length > size_of::<libc::sa_family_t>())
}

/// Whether a socket has another end.
pub(in crate::watch) fn is_connected(socket: &OwnedFd) -> bool {
    name_length(libc::getpeername, socket).is_ok()
}

/// The flags of an open file: whether its calls wait, and what else is set.
pub(in crate::watch) fn status_flags(socket: &OwnedFd) -> io::Result<i32> {
    // SAFETY: takes numbers only.
    checked(unsafe { libc::fcntl(socket.as_raw_fd(), libc::F_GETFL) })
}

/// Sets those flags.
pub(in crate::watch) fn set_status_flags(socket: &OwnedFd, flags: i32) -> io::Result<()> {
    // SAFETY: takes numbers only.
    checked(unsafe { libc::fcntl(socket.as_raw_fd(), libc::F_SETFL, flags) }).map(drop)
}

/// Which of these sockets have an answer, after this time at the latest.
pub(in crate::watch) fn ready<'a>(
    sockets: impl Iterator<Item = &'a OwnedFd>,
    patience: Duration,
) -> Vec<RawFd> {
    let mut waits: Vec<libc::pollfd> = sockets
        .map(|socket| libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLOUT, revents: 0 })
        .collect();
    let milliseconds = libc::c_int::try_from(patience.as_millis()).unwrap_or(libc::c_int::MAX);
    // SAFETY: as many structures as are said, which live through the call.
    let any = unsafe { libc::poll(waits.as_mut_ptr(), waits.len() as libc::nfds_t, milliseconds) };
    waits.retain(|wait| any > 0 && wait.revents != 0);
    waits.into_iter().map(|wait| wait.fd).collect()
}

/// Interrupts calls of the thread that made it, so that none waits for long: again and again while it is set, so that a call that
/// begins after the first signal is interrupted too.
pub(in crate::watch) struct Alarm {
    timer: libc::timer_t,
    /// It stays with its thread.
    _thread: PhantomData<*const ()>,
}

/// How often a call that waits is interrupted. A connection over the loopback is there or refused long before.
const ALARM_PERIOD: Duration = Duration::from_millis(2);

extern "C" fn interrupted(_: libc::c_int) {}

impl Alarm {
    /// An alarm of this thread.
    pub(in crate::watch) fn new() -> io::Result<Alarm> {
        let handler: extern "C" fn(libc::c_int) = interrupted;
        // SAFETY: numbers and pointers all of it, for which zero is a value.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // Without SA_RESTART: a call that is interrupted ends.
        action.sa_sigaction = handler as libc::sighandler_t;
        // SAFETY: the handler does nothing, so it may run anywhere; the structure lives through the call.
        checked(unsafe { libc::sigaction(ALARM, &raw const action, std::ptr::null_mut()) })?;
        // SAFETY: a set of zeros is a value, and it is filled before it is read; it lives through the calls.
        let unblocked = unsafe {
            let mut signals: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut signals);
            libc::sigaddset(&raw mut signals, ALARM);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const signals, std::ptr::null_mut())
        };
        if unblocked != 0 {
            return Err(io::Error::from_raw_os_error(unblocked));
        }
        // SAFETY: numbers and pointers all of it, for which zero is a value.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = ALARM;
        // SAFETY: takes nothing.
        event.sigev_notify_thread_id = unsafe { libc::syscall(libc::SYS_gettid) } as libc::c_int;
        let mut timer: libc::timer_t = std::ptr::null_mut();
        // SAFETY: both structures live through the call.
        checked(unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) })?;
        Ok(Alarm { timer, _thread: PhantomData })
    }

    /// Does `work`, whose calls are interrupted when they wait.
    pub(in crate::watch) fn bound<T>(&self, work: impl FnOnce() -> T) -> io::Result<T> {
        self.set(ALARM_PERIOD)?;
        let done = work();
        self.set(Duration::ZERO)?;
        Ok(done)
    }

    fn set(&self, period: Duration) -> io::Result<()> {
        let time = libc::timespec { tv_sec: 0, tv_nsec: period.subsec_nanos().into() };
        let times = libc::itimerspec { it_interval: time, it_value: time };
        // SAFETY: the timer is ours and there until `drop`; the structure lives through the call.
        checked(unsafe { libc::timer_settime(self.timer, 0, &raw const times, std::ptr::null_mut()) })
            .map(drop)
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        // SAFETY: the timer is ours, and deleted once.
        unsafe { libc::timer_delete(self.timer) };
    }
}
