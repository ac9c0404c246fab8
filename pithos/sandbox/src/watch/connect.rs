//! Connecting for callers, where a policy has Unix sockets of its own. Their `connect` never goes on: between a look and the call another thread could
//! change the address in memory, or the descriptor. So it is made here, with one copy of the address and a duplicate of the socket.
//!
//! An internet socket is connected by its duplicate, to what was judged. A Unix socket that the caller could already write to must not be connected to
//! a listener that nobody knows yet; so a new socket is, the kernel says which process listens, and only when that is one of ours (of the same pid namespace) is the new
//! socket put in the place of the caller's. It has what matters of the caller's options. A socket that has a name would lose it, and is refused. The listener sees the
//! watcher's process id and the caller's user.
//!
//! Nothing here waits for long: a connection that has to wait (a listener without room) is handed to one thread that looks after all of these.

use super::judge::{self, Judge};
use super::kernel::sockets::{self, Alarm};
use super::kernel::{self, Answer, Asked};
use super::proc_text;
use super::target;
use crate::denial::Denial;
use crate::limits::CONNECTIONS_WAITING_MAX;
use crate::policy::Access;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// The longest address that the kernel takes, and the longest of a Unix socket.
const ADDRESS_BYTES_MAX: usize = 128;
const UNIX_ADDRESS_BYTES_MAX: usize = size_of::<libc::sockaddr_un>();
/// How often connections that wait are looked at.
const TICK: Duration = Duration::from_millis(10);
/// Where the C library asks for names, if there is such a service.
const NAME_CACHE: &str = "nscd/socket";
/// What a Unix socket takes along into its new body. Sizes of buffers are apart, since the kernel doubles what it is told.
const OPTIONS_KEPT: [i32; 6] = [
    libc::SO_PASSCRED,
    libc::SO_PASSSEC,
    libc::SO_PASSPIDFD,
    libc::SO_RCVTIMEO,
    libc::SO_SNDTIMEO,
    libc::SO_RCVLOWAT,
];

/// What came of an attempt to connect.
pub(super) struct Outcome {
    pub(super) denial: Option<Denial>,
    /// None when it is answered later.
    pub(super) answer: Option<Answer>,
}

impl Outcome {
    fn error(number: i32) -> Outcome {
        Outcome { denial: None, answer: Some(Answer::Error(number)) }
    }

    fn of(error: &io::Error) -> Outcome {
        Outcome::error(number_of(error))
    }

    fn denied(denial: Denial) -> Outcome {
        Outcome { denial: Some(denial), answer: Some(Answer::Error(libc::EACCES)) }
    }
}

fn number_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::ECONNREFUSED)
}

/// What connects, shared by the threads that look at calls.
pub(super) struct Connector {
    waiting: Mutex<mpsc::Sender<Waiting>>,
    /// How many wait.
    count: Arc<AtomicUsize>,
}

/// A connection that has to wait.
struct Waiting {
    asked: Asked,
    attempt: Attempt,
    /// The caller's own patience ends then.
    until: Option<Instant>,
}

enum Attempt {
    /// A duplicate of the caller's socket and where it connects to.
    Internet(OwnedFd, Vec<u8>),
    Unix(Unix),
}

/// A Unix socket that is to take the place of the caller's.
struct Unix {
    socket: OwnedFd,
    address: Vec<u8>,
    /// The file that the address leads to, so that it stays the same; none for an abstract name.
    _file: Option<File>,
    /// For messages.
    real: PathBuf,
    at: i32,
    close_at_exec: bool,
    flags: i32,
}

enum Tried {
    Connected,
    Refused(i32),
    Outside,
    Full,
}

/// What the thread that looks after connections works on.
pub(super) struct Attendant {
    waiting: mpsc::Receiver<Waiting>,
    count: Arc<AtomicUsize>,
}

impl Connector {
    pub(super) fn new() -> (Connector, Attendant) {
        let (sender, waiting) = mpsc::channel();
        let count = Arc::new(AtomicUsize::new(0));
        (Connector { waiting: Mutex::new(sender), count: Arc::clone(&count) }, Attendant { waiting, count })
    }

    /// Makes the `connect` that is asked about.
    pub(super) fn connect(&self, judge: &Judge, listener: &OwnedFd, alarm: &Alarm, asked: &Asked) -> Outcome {
        let mut held = None;
        let outcome = self.attempt(judge, listener, alarm, asked, &mut held);
        let_go(alarm, held);
        outcome.unwrap_or_else(|error| Outcome::of(&error))
    }

    fn attempt(
        &self,
        judge: &Judge,
        listener: &OwnedFd,
        alarm: &Alarm,
        asked: &Asked,
        held: &mut Option<OwnedFd>,
    ) -> io::Result<Outcome> {
        let [descriptor, at, length, ..] = asked.arguments;
        let socket = sockets::duplicate(asked.thread, || process(asked), descriptor as i32)
            .map_err(|error| io::Error::from_raw_os_error(refused_to_look(&error)))?;
        let socket = held.insert(socket);
        // The caller may have ended, and its id be another's by now.
        if !sockets::is_asked(listener, asked.id) {
            return Ok(Outcome::error(libc::EINTR));
        }
        let length = length as i32;
        let mut bytes = [0; ADDRESS_BYTES_MAX];
        let wanted = usize::try_from(length).ok().and_then(|length| bytes.get_mut(..length));
        let wanted = wanted.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
        if kernel::read_memory(asked.thread, at, wanted) < wanted.len() {
            return Ok(Outcome::error(libc::EFAULT));
        }
        let address = wanted.to_vec();
        match sockets::option(socket, libc::SO_DOMAIN)? {
            libc::AF_INET | libc::AF_INET6 => self.internet(judge, alarm, asked, held, address),
            libc::AF_UNIX => self.unix(judge, listener, alarm, asked, socket, address),
            _ => Ok(Outcome::error(libc::EACCES)),
        }
    }

    fn internet(
        &self,
        judge: &Judge,
        alarm: &Alarm,
        asked: &Asked,
        held: &mut Option<OwnedFd>,
        address: Vec<u8>,
    ) -> io::Result<Outcome> {
        let Some(socket) = held.as_ref() else { return Ok(Outcome::error(libc::EBADF)) };
        let stream = sockets::option(socket, libc::SO_TYPE)? != libc::SOCK_DGRAM;
        let found = judge.internet(&address);
        if let Some((denial, true)) = found.clone().filter(|_| stream) {
            return Ok(Outcome::denied(denial));
        }
        let denial = found.map(|(denial, _)| denial);
        let start = Instant::now();
        let done = if stream {
            alarm.bound(|| sockets::connect(socket, &address))?
        } else {
            sockets::connect(socket, &address)
        };
        let answer = match done {
            Ok(()) => Some(Answer::Done),
            // Our alarm and not the caller's: it would have waited.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                let until = sockets::patience(socket).and_then(|time| start.checked_add(time));
                let attempt = held.take().map(|socket| Attempt::Internet(socket, address));
                let waiting = attempt.map(|attempt| Waiting { asked: *asked, attempt, until });
                waiting.and_then(|waiting| self.wait(alarm, waiting).err()).map(Answer::Error)
            }
            Err(error) => Some(Answer::Error(number_of(&error))),
        };
        Ok(Outcome { denial, answer })
    }

    fn unix(
        &self,
        judge: &Judge,
        listener: &OwnedFd,
        alarm: &Alarm,
        asked: &Asked,
        socket: &OwnedFd,
        address: Vec<u8>,
    ) -> io::Result<Outcome> {
        let family = address.first_chunk().map(|family| i32::from(u16::from_ne_bytes(*family)));
        if family != Some(libc::AF_UNIX) || !(3..=UNIX_ADDRESS_BYTES_MAX).contains(&address.len()) {
            return Ok(Outcome::error(libc::EINVAL));
        }
        let kind = sockets::option(socket, libc::SO_TYPE)?;
        // Only those that reach an address by `connect` alone can be had here, so this is one that was never made by the caller.
        if kind != libc::SOCK_STREAM && kind != libc::SOCK_SEQPACKET {
            return Ok(Outcome::error(libc::EACCES));
        }
        // The other end must not take the caller for another user.
        let users = judge::status(asked.thread, "Uid:").unwrap_or_default();
        // The effective one is seen at the other end, and the last one is who looks for files.
        if [1, 3].iter().any(|which| users.get(*which) != Some(&judge.user())) {
            return Ok(Outcome::error(libc::EACCES));
        }
        let (file, real, address) = match address[2..].split(|byte| *byte == 0).next() {
            Some(path) if !path.is_empty() => {
                let (file, found) = target::opened(
                    asked,
                    process(asked).unwrap_or(asked.thread),
                    Path::new(OsStr::from_bytes(path)),
                )?;
                sockets::may_write(&file)?;
                if !found.data.file_type().is_socket() {
                    return Ok(Outcome::error(libc::ECONNREFUSED));
                }
                // Nothing inside can have made it, so it is not even asked who listens.
                if !judge.allows(&found.real, Access::Write) {
                    return Ok(outside(judge, &found.real));
                }
                let address = unix_address(&format!("/proc/self/fd/{}", file.as_raw_fd()));
                (Some(file), found.real, address)
            }
            // The names of the sandbox's own network.
            _ => {
                let name = String::from_utf8_lossy(&address[3..]).into_owned();
                (None, PathBuf::from(format!("@{name}")), address)
            }
        };
        if sockets::is_connected(socket) {
            return Ok(Outcome::error(libc::EISCONN));
        }
        if sockets::option(socket, libc::SO_ACCEPTCONN)? != 0 {
            return Ok(Outcome::error(libc::EINVAL));
        }
        if sockets::is_named(socket) {
            return Ok(Outcome::denied(judge.named_socket(&real)));
        }
        let at = asked.arguments[0] as i32;
        let flags = sockets::status_flags(socket)?;
        let unix = Unix {
            socket: body_like(socket, kind)?,
            address,
            _file: file,
            real,
            at,
            close_at_exec: closes_at_exec(asked.thread, at),
            flags,
        };
        Ok(match unix.try_it(listener, asked.id) {
            Tried::Connected => Outcome { denial: None, answer: Some(Answer::Done) },
            Tried::Refused(number) => Outcome::error(number),
            Tried::Outside => outside(judge, &unix.real),
            Tried::Full if flags & libc::O_NONBLOCK != 0 => Outcome::error(libc::EAGAIN),
            Tried::Full => {
                let until = sockets::patience(socket).and_then(|time| Instant::now().checked_add(time));
                let waiting = Waiting { asked: *asked, attempt: Attempt::Unix(unix), until };
                Outcome { denial: None, answer: self.wait(alarm, waiting).err().map(Answer::Error) }
            }
        })
    }

    /// Hands a connection to the thread that looks after those that wait.
    fn wait(&self, alarm: &Alarm, waiting: Waiting) -> Result<(), i32> {
        let room = |count: usize| (count < CONNECTIONS_WAITING_MAX).then_some(count + 1);
        if self.count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).is_err() {
            let_go(alarm, waiting);
            return Err(libc::EAGAIN);
        }
        let sender = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        sender.send(waiting).map_err(|error| {
            let_go(alarm, error.0);
            libc::EAGAIN
        })
    }
}

/// Closes what may be the last descriptor of a caller's socket, now that the caller has been killed: the kernel lets who closes one wait for the other
/// end, for as long as the caller asked for (`SO_LINGER`), but not past a signal.
fn let_go<T>(alarm: &Alarm, held: T) {
    let _ = alarm.bound(|| drop(held));
}

/// The process whose thread asks.
fn process(asked: &Asked) -> Option<u32> {
    judge::status(asked.thread, "Tgid:")?.first().copied()
}

/// Our right to look is no matter of the caller's, so it is told that the call is not permitted.
fn refused_to_look(error: &io::Error) -> i32 {
    match error.raw_os_error() {
        Some(libc::EBADF) => libc::EBADF,
        Some(libc::ESRCH) => libc::EINTR,
        Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM) => libc::ENOBUFS,
        _ => libc::EACCES,
    }
}

fn outside(judge: &Judge, real: &Path) -> Outcome {
    if real.ends_with(NAME_CACHE) {
        return Outcome::error(libc::EACCES);
    }
    Outcome::denied(judge.outside_socket(real))
}

/// The address of a path that is short.
fn unix_address(path: &str) -> Vec<u8> {
    let mut address = (libc::AF_UNIX as u16).to_ne_bytes().to_vec();
    address.extend(path.as_bytes());
    address.push(0);
    address
}

/// A new socket with what matters of another's options. One that this kernel does not know is not set either.
fn body_like(socket: &OwnedFd, kind: i32) -> io::Result<OwnedFd> {
    let body = sockets::new_unix(kind)?;
    for name in OPTIONS_KEPT {
        let _ = sockets::copy_option(socket, &body, name);
    }
    for name in [libc::SO_SNDBUF, libc::SO_RCVBUF] {
        let size = sockets::option(socket, name)?;
        if size != sockets::option(&body, name)? {
            let _ = sockets::set_option(&body, name, size / 2);
        }
    }
    Ok(body)
}

/// Whether a descriptor of the caller's is closed when it becomes another program.
fn closes_at_exec(thread: u32, descriptor: i32) -> bool {
    let text = proc_text(thread, &format!("fdinfo/{descriptor}")).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    flags
        .and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok())
        .is_some_and(|flags| flags & libc::O_CLOEXEC != 0)
}

impl Unix {
    /// Connects without waiting, and gives the socket to the caller when one of ours listens.
    fn try_it(&self, listener: &OwnedFd, id: u64) -> Tried {
        match sockets::connect(&self.socket, &self.address) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Tried::Full,
            Err(error) => return Tried::Refused(number_of(&error)),
        }
        // Who does not belong to our pid namespace has no id in it.
        if sockets::peer_process(&self.socket).unwrap_or(0) <= 0 {
            return Tried::Outside;
        }
        let given = sockets::set_status_flags(&self.socket, self.flags)
            .and_then(|()| sockets::put(listener, id, &self.socket, self.at, self.close_at_exec));
        match given {
            Ok(()) => Tried::Connected,
            Err(error) => Tried::Refused(number_of(&error)),
        }
    }
}

impl Attendant {
    /// Looks after connections that wait until no more can come. `report` hears of denials.
    pub(super) fn attend(
        self,
        listener: &OwnedFd,
        judge: &Judge,
        alarm: &Alarm,
        report: &dyn Fn(&Asked, Denial),
    ) {
        let mut all: Vec<Waiting> = Vec::new();
        loop {
            if all.is_empty() {
                match self.waiting.recv() {
                    Ok(waiting) => all.push(waiting),
                    Err(_) => return,
                }
            }
            all.extend(self.waiting.try_iter());
            let streams = all.iter().filter_map(|waiting| match &waiting.attempt {
                Attempt::Internet(socket, _) => Some(socket),
                Attempt::Unix(_) => None,
            });
            let ready = sockets::ready(streams, TICK);
            let ended = all.extract_if(.., |waiting| {
                let Some(outcome) = waiting.look(listener, judge, alarm, &ready) else {
                    return !sockets::is_asked(listener, waiting.asked.id);
                };
                if let Some(denial) = outcome.denial {
                    report(&waiting.asked, denial);
                }
                if let Some(answer) = outcome.answer {
                    kernel::answer(listener, waiting.asked.id, answer);
                }
                true
            });
            let ended: Vec<Waiting> = ended.collect();
            self.count.fetch_sub(ended.len(), Ordering::Relaxed);
            let_go(alarm, ended);
            if !ready.is_empty() {
                // What is ready and still no connection is made to be so by its owner: that must not cost more than others' time.
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

impl Waiting {
    /// What came of it; none while it waits.
    fn look(&self, listener: &OwnedFd, judge: &Judge, alarm: &Alarm, ready: &[i32]) -> Option<Outcome> {
        let done = Outcome { denial: None, answer: Some(Answer::Done) };
        let late = match &self.attempt {
            Attempt::Internet(socket, address) => {
                if ready.contains(&socket.as_raw_fd()) {
                    // The second call tells what came of the first.
                    let result = alarm.bound(|| sockets::connect(socket, address)).unwrap_or_else(Err);
                    match result.map_err(|error| number_of(&error)) {
                        Ok(()) | Err(libc::EISCONN) => return Some(done),
                        Err(libc::EINTR | libc::EALREADY | libc::EINPROGRESS) => {}
                        Err(number) => return Some(Outcome::error(number)),
                    }
                }
                libc::EINPROGRESS
            }
            Attempt::Unix(unix) => match unix.try_it(listener, self.asked.id) {
                Tried::Connected => return Some(done),
                Tried::Refused(number) => return Some(Outcome::error(number)),
                Tried::Outside => return Some(outside(judge, &unix.real)),
                Tried::Full => libc::EAGAIN,
            },
        };
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return Some(Outcome::error(late));
        }
        is_interrupted(self.asked.thread).then(|| Outcome::error(libc::EINTR))
    }
}

/// Whether a signal that a thread has a handler for waits for it.
fn is_interrupted(thread: u32) -> bool {
    let text = proc_text(thread, "status").unwrap_or_default();
    let set = |key: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
        u64::from_str_radix(line.trim(), 16).unwrap_or(0)
    };
    (set("SigPnd:") | set("ShdPnd:")) & !set("SigBlk:") & set("SigCgt:") != 0
}
