//! Whether a call that is about to be made will be denied because of the policy, and not for a reason that every process would meet: a file that is
//! not there, or whose own mode says no.
//!
//! Looks at the file system as the caller sees it, so it runs where the mounts of the commands are. What it finds is reported; the kernel decides.

use super::calls::{Call, Flags, Named, What};
use super::entry::Entry;
use super::kernel::{self, Asked};
use super::places::Places;
use crate::denial::{self, Denial, DenialKind};
use crate::filter;
use crate::policy::{Access, Network, ResolvedPolicy};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What came of it.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// It goes on, and nothing is known against it.
    Allowed,
    /// It goes on, and the kernel will say no.
    Denied(Denial),
    /// It ends here with this error number: the kernel has no rule for it, or one that somebody outside may just have taken away. Where the
    /// caller's memory was looked at, another of its threads may change that: a hurdle and no wall.
    Stopped(Denial, i32),
    /// It goes on, and something comes to be whose name is protected in every folder.
    Made(PathBuf),
}

/// What calls are held against.
pub(super) struct Judge {
    policy: ResolvedPolicy,
    places: Places,
    /// Mode, owner and times are denied too.
    read_only_mounts: bool,
    own_processes: bool,
    user: Identity,
}

/// Who the commands run as.
struct Identity {
    user: u32,
    groups: Vec<u32>,
}

/// Something that a path leads to.
pub(super) struct Found {
    pub(super) real: PathBuf,
    pub(super) data: Metadata,
}

const READ: u32 = 4;
const WRITE: u32 = 2;
const RUN: u32 = 1;

impl Judge {
    pub(super) fn new(policy: &ResolvedPolicy, read_only_mounts: bool, own_processes: bool) -> Judge {
        Judge {
            places: Places::new(policy),
            policy: policy.clone(),
            read_only_mounts,
            own_processes,
            user: Identity::of_this_process(),
        }
    }

    pub(super) fn judge(&self, call: &Call, asked: &Asked) -> Verdict {
        if call.mode(&asked.arguments).is_some_and(|mode| mode & filter::SET_ID_BITS != 0) {
            // In registers, which nobody can change.
            let mut denial = denial::set_id_mode(&self.policy);
            denial.call = Some(call.name.to_owned());
            return Verdict::Stopped(denial, libc::EPERM);
        }
        let verdict = match call.what {
            What::Open(named, flags) => self.open(asked, named, flags),
            What::Make(named) => self.entry(asked, named, false).and_then(|entry| self.make(&entry)),
            What::Remove(named) => self.entry(asked, named, false).and_then(|entry| self.remove(&entry)),
            What::Rename(from, to) => self.rename(asked, from, to),
            What::Link(from, to) => self.link(asked, from, to),
            What::Attributes(named, links) => {
                let follow = links.followed(&asked.arguments);
                self.name(asked, named).and_then(|path| self.attributes(&path, follow))
            }
            What::Execute(named) => self.name(asked, named).and_then(|path| self.execute(&path)),
            What::Bind(at, length) => self.bind(asked, at, length),
            What::Reach(at, length) => self.reach(asked, at, length),
            What::Signal => self.signal(asked),
        };
        let mut finding = match verdict {
            None => return Verdict::Allowed,
            Some(Finding::Made(path)) => return Verdict::Made(path),
            Some(Finding::Denied(finding)) => finding,
        };
        finding.denial.call = Some(call.name.to_owned());
        if finding.stop {
            Verdict::Stopped(finding.denial, libc::EROFS)
        } else {
            Verdict::Denied(finding.denial)
        }
    }

    fn open(&self, asked: &Asked, named: Named, flags: Flags) -> Option<Finding> {
        let flags = match flags {
            Flags::Fixed(flags) => flags,
            Flags::Argument(at) => asked.arguments[at] as i32,
        };
        if flags & libc::O_PATH != 0 {
            return None;
        }
        let writes = flags & libc::O_ACCMODE != libc::O_RDONLY || flags & libc::O_TRUNC != 0;
        let reads = flags & libc::O_ACCMODE != libc::O_WRONLY;
        let follow = flags & libc::O_NOFOLLOW == 0;
        if flags & libc::O_TMPFILE == libc::O_TMPFILE {
            let folder = found(&self.name(asked, named)?, true).ok()?;
            return self.denied(&folder.real, Access::Write, WRITE | RUN, &folder.data, Advice::Inside);
        }
        let fresh = flags & libc::O_CREAT != 0;
        let file = if fresh || writes {
            // Nobody follows a link to make something that must be new.
            let entry = self.entry(asked, named, follow && flags & libc::O_EXCL == 0)?;
            if entry.is_free() {
                return if fresh { self.make(&entry) } else { None };
            }
            found(&entry.path(), follow).ok()?
        } else {
            found(&self.name(asked, named)?, follow).ok()?
        };
        let kind = file.data.file_type();
        if kind.is_socket() || flags & libc::O_EXCL != 0 && fresh {
            return None;
        }
        let read = || self.denied(&file.real, Access::Read, READ, &file.data, Advice::Itself);
        let write = || self.denied(&file.real, Access::Write, WRITE, &file.data, Advice::Itself);
        writes.then(write).flatten().or_else(|| reads.then(read).flatten())
    }

    /// A name that is not there yet, in a folder that is.
    fn make(&self, entry: &Entry) -> Option<Finding> {
        if !entry.is_free() {
            return None;
        }
        let real = entry.real()?;
        let denied = self.denied(&real, Access::Write, WRITE | RUN, &entry.folder_data()?, Advice::Folder);
        denied.or_else(|| self.policy.nested_name(&real).filter(|at| *at == real).map(Finding::Made))
    }

    /// A name that goes away or becomes another's.
    fn remove(&self, entry: &Entry) -> Option<Finding> {
        if entry.is_free() {
            return None;
        }
        let real = entry.real()?;
        let denied = self.denied(&real, Access::Write, WRITE | RUN, &entry.folder_data()?, Advice::Folder);
        denied.or_else(|| {
            let holds = self.places.holds_protected(&real);
            holds.then(|| {
                Finding::Denied(Denied { stop: true, ..self.finding(&real, Access::Write, Advice::Folder) })
            })
        })
    }

    fn rename(&self, asked: &Asked, from: Named, to: Named) -> Option<Finding> {
        let (from, to) = (self.entry(asked, from, false)?, self.entry(asked, to, false)?);
        if from.is_free() {
            return None;
        }
        let target = if to.is_free() { self.make(&to) } else { self.remove(&to) };
        let found = denial_first(target, || self.remove(&from));
        found.or_else(|| self.policy.nested_in_moved(&from.path(), &to.real()?).map(Finding::Made))
    }

    fn link(&self, asked: &Asked, from: Named, to: Named) -> Option<Finding> {
        let (from, to) = (self.name(asked, from)?, self.entry(asked, to, false)?);
        let file = found(&from, false).ok()?;
        // A link is another way to write the file, wherever it is.
        let write = || self.denied(&file.real, Access::Write, 0, &file.data, Advice::Itself);
        denial_first(self.make(&to), write)
    }

    fn attributes(&self, path: &Path, follow: bool) -> Option<Finding> {
        if !self.read_only_mounts {
            return None;
        }
        let file = found(path, follow).ok()?;
        // Its owner may, or root.
        let own = self.user.user == 0 || file.data.uid() == self.user.user;
        own.then(|| self.denied(&file.real, Access::Write, 0, &file.data, Advice::Itself)).flatten()
    }

    fn execute(&self, path: &Path) -> Option<Finding> {
        let file = found(path, true).ok().filter(|file| file.data.is_file())?;
        let denied = self.denied(&file.real, Access::Exec, RUN, &file.data, Advice::Itself);
        if denied.is_some() || !self.user.may(&file.data, RUN) {
            return denied;
        }
        // The kernel opens the program that a script names by itself.
        let interpreter = interpreter(&file.real)?;
        let program = found(&interpreter, true).ok().filter(|program| program.data.is_file())?;
        self.denied(&program.real, Access::Exec, RUN, &program.data, Advice::Itself)
    }

    fn bind(&self, asked: &Asked, at: usize, length: usize) -> Option<Finding> {
        match address(asked, at, length)? {
            Address::Path(path) => {
                self.make(&Entry::find(asked.thread, None, path.as_os_str().as_bytes(), false)?)
            }
            Address::Internet(address) => {
                self.port_denied(address).then(|| Finding::Denied(self.network(&address)))
            }
        }
    }

    fn reach(&self, asked: &Asked, at: usize, length: usize) -> Option<Finding> {
        let Address::Internet(address) = address(asked, at, length)? else { return None };
        self.reached(address).map(Finding::Denied)
    }

    fn reached(&self, address: SocketAddr) -> Option<Denied> {
        let leads_out = self.policy.policy.network == Network::Loopback && !is_own(address.ip());
        (leads_out || self.port_denied(address)).then(|| self.network(&address))
    }

    /// What is found against connecting to the address of these bytes, and whether it is a matter of ports, which Landlock would judge
    /// if the caller connected itself.
    pub(super) fn internet(&self, address: &[u8]) -> Option<(Denial, bool)> {
        let Some(Address::Internet(address)) = parsed(address) else { return None };
        let mut denial = self.reached(address)?.denial;
        denial.call = Some("connect".to_owned());
        Some((denial, self.port_denied(address)))
    }

    /// Connecting to a socket on which nobody inside listens.
    pub(super) fn outside_socket(&self, path: &Path) -> Denial {
        denial::socket_denial(
            &self.policy,
            &path.display().to_string(),
            "who listens there is outside of the sandbox",
        )
    }

    /// Connecting a socket that was given a name before.
    pub(super) fn named_socket(&self, path: &Path) -> Denial {
        denial::socket_denial(
            &self.policy,
            &path.display().to_string(),
            "a Unix socket that is bound to a name of its own cannot be connected",
        )
    }

    /// Who the commands run as.
    pub(super) fn user(&self) -> u32 {
        self.user.user
    }

    /// Whether the policy allows a real path to be used so.
    pub(super) fn allows(&self, real: &Path, access: Access) -> bool {
        self.places.allow(real, access)
    }

    /// Whether the policy names the ports of its loopback, and this one is not among them.
    fn port_denied(&self, address: SocketAddr) -> bool {
        let ports = &self.policy.policy.loopback_ports;
        let proxy = !self.policy.policy.hosts.is_empty() && address == crate::PROXY;
        !ports.is_empty() && !ports.contains(&address.port()) && !proxy
    }

    fn network(&self, address: &SocketAddr) -> Denied {
        let subject =
            if address.port() == 53 { format!("{address} (a name server)") } else { address.to_string() };
        Denied { denial: denial::network_denial(&self.policy, &subject), stop: false }
    }

    /// A signal to a process that is not below the sandbox.
    fn signal(&self, asked: &Asked) -> Option<Finding> {
        let target = u32::try_from(asked.arguments[0] as i32).ok().filter(|pid| *pid > 0)?;
        if self.own_processes || asked.arguments[1] == 0 {
            return None;
        }
        let data = Path::new("/proc").join(target.to_string()).metadata().ok()?;
        let may = self.user.user == 0 || data.uid() == self.user.user;
        if !may || super::ancestors(target).contains(&std::process::id()) {
            return None;
        }
        let name = super::proc_text(target, "comm").unwrap_or_default();
        let denial = Denial {
            kind: DenialKind::Syscall,
            subject: format!("a signal to process {target} ({})", name.trim()),
            rule: format!(
                "policy {:?}: signals reach the sandbox's own processes only",
                self.policy.policy.name
            ),
            how_to_allow: denial::NO_POLICY.to_owned(),
            call: None,
        };
        Some(Finding::Denied(Denied { denial, stop: false }))
    }

    /// What is found against using `real` so, when the caller's own rights on `data` would have been enough.
    fn denied(
        &self,
        real: &Path,
        access: Access,
        rights: u32,
        data: &Metadata,
        advice: Advice,
    ) -> Option<Finding> {
        let device = data.file_type().is_char_device() && data.dev() != 0 && real.starts_with("/dev/pts");
        if device || self.places.allow(real, access) || !self.user.may(data, rights) {
            return None;
        }
        Some(Finding::Denied(self.finding(real, access, advice)))
    }

    fn finding(&self, real: &Path, access: Access, advice: Advice) -> Denied {
        let stop = access == Access::Write && self.places.closed(real);
        Denied { denial: denial::of_real_path(&self.policy, real, access, advice), stop }
    }

    /// The entry of a folder that a call names, looked up as the caller would; none when it names none.
    fn entry(&self, asked: &Asked, Named(folder, text): Named, follow: bool) -> Option<Entry> {
        let text = kernel::read_text(asked.thread, asked.arguments[text])?;
        let folder = folder.map(|at| asked.arguments[at] as i32).filter(|fd| *fd != libc::AT_FDCWD);
        Entry::find(asked.thread, folder, &text, follow)
    }

    /// The path that a call names, as this process can open it; none when it names nothing that a policy judges.
    fn name(&self, asked: &Asked, Named(folder, text): Named) -> Option<PathBuf> {
        let text = kernel::read_text(asked.thread, asked.arguments[text])?;
        let path = PathBuf::from(std::ffi::OsString::from_vec(text));
        if path.is_absolute() {
            return Some(of_caller(path, asked.thread));
        }
        let folder = folder.map(|at| asked.arguments[at] as i32).filter(|fd| *fd != libc::AT_FDCWD);
        let from = match folder {
            Some(descriptor) => format!("/proc/{}/fd/{descriptor}", asked.thread),
            None => format!("/proc/{}/cwd", asked.thread),
        };
        // An empty path is the descriptor itself.
        Some(if path.as_os_str().is_empty() { from.into() } else { Path::new(&from).join(path) })
    }
}

/// What there is to say of a call.
pub(super) enum Finding {
    Denied(Denied),
    Made(PathBuf),
}

pub(super) struct Denied {
    pub(super) denial: Denial,
    stop: bool,
}

/// Of two findings about one call, a denial before what would be made.
fn denial_first(first: Option<Finding>, second: impl FnOnce() -> Option<Finding>) -> Option<Finding> {
    match first {
        Some(Finding::Denied(_)) => first,
        made => second().or(made),
    }
}

pub(crate) use crate::denial::Advice;

impl Identity {
    fn of_this_process() -> Identity {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let numbers = |key: &str| -> Vec<u32> {
            let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
            line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
        };
        let (users, mut groups) = (numbers("Uid:"), numbers("Gid:"));
        groups.extend(numbers("Groups:"));
        Identity { user: users.get(1).copied().unwrap_or(0), groups }
    }

    /// Whether the mode of a file gives these rights. Root has all but running what nobody may run.
    fn may(&self, data: &Metadata, rights: u32) -> bool {
        let mode = data.mode();
        if self.user == 0 {
            return rights != RUN || data.is_dir() || mode & 0o111 != 0;
        }
        let shift = if data.uid() == self.user {
            6
        } else if self.groups.contains(&data.gid()) {
            3
        } else {
            0
        };
        mode >> shift & rights == rights
    }
}

/// The numbers of one line of a thread's status.
pub(super) fn status(thread: u32, key: &str) -> Option<Vec<u32>> {
    let text = super::proc_text(thread, "status")?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.split_whitespace().filter_map(|word| word.parse().ok()).collect())
}

/// `/proc/self` and what leads there mean the caller.
fn of_caller(path: PathBuf, thread: u32) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    if !bytes.starts_with(b"/proc/") && !bytes.starts_with(b"/dev/") {
        return path;
    }
    let own = format!("/proc/{thread}");
    for (from, to) in [
        ("/proc/self", ""),
        ("/proc/thread-self", ""),
        ("/dev/fd", "/fd"),
        ("/dev/stdin", "/fd/0"),
        ("/dev/stdout", "/fd/1"),
        ("/dev/stderr", "/fd/2"),
    ] {
        if let Ok(rest) = path.strip_prefix(from) {
            let base = PathBuf::from(format!("{own}{to}"));
            return if rest.as_os_str().is_empty() { base } else { base.join(rest) };
        }
    }
    path
}

/// What a path leads to, and its real path. What has no path of its own (pipes, deleted files) is nothing to a policy.
fn found(path: &Path, follow: bool) -> io::Result<Found> {
    let flags = libc::O_PATH | if follow { 0 } else { libc::O_NOFOLLOW };
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let real = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    if !real.is_absolute() || real.as_os_str().as_bytes().ends_with(b" (deleted)") {
        return Err(io::Error::other("has no path"));
    }
    let data = file.metadata()?;
    Ok(Found { real, data })
}

/// The program that the first line of a script names.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let mut start = [0; 256];
    let read = File::open(script).ok()?.read(&mut start).ok()?;
    let line = start[..read].strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let word = line.trim_ascii().split(u8::is_ascii_whitespace).next()?;
    word.starts_with(b"/").then(|| PathBuf::from(std::ffi::OsStr::from_bytes(word)))
}

enum Address {
    Internet(SocketAddr),
    Path(PathBuf),
}

/// The address that a call passes.
fn address(asked: &Asked, at: usize, length: usize) -> Option<Address> {
    let mut bytes = [0u8; 128];
    let length = usize::try_from(asked.arguments[length]).ok()?.min(bytes.len());
    let read = kernel::read_memory(asked.thread, asked.arguments[at], &mut bytes[..length]);
    parsed(&bytes[..read])
}

fn parsed(bytes: &[u8]) -> Option<Address> {
    let family = i32::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
    let port = || Some(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?));
    match family {
        libc::AF_INET => {
            let ip: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
            Some(Address::Internet((Ipv4Addr::from(ip), port()?).into()))
        }
        libc::AF_INET6 => {
            let ip: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
            Some(Address::Internet((Ipv6Addr::from(ip).to_canonical(), port()?).into()))
        }
        libc::AF_UNIX => {
            let path = bytes.get(2..)?.split(|byte| *byte == 0).next()?;
            (!path.is_empty()).then(|| Address::Path(PathBuf::from(std::ffi::OsStr::from_bytes(path))))
        }
        _ => None,
    }
}

/// Whether the C library makes this socket for itself, to ask a name service cache that hardly any machine has. A program that was allowed
/// the socket would find nobody there, so its refusal is none of the caller's business.
pub(super) fn is_name_cache(asked: &Asked) -> bool {
    let wanted = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    let [family, kind, ..] = asked.arguments;
    if asked.number != libc::SYS_socket || family as i32 != libc::AF_UNIX || kind as i32 != wanted {
        return false;
    }
    let Some(caller) = return_address(asked.thread) else { return true };
    let maps = super::proc_text(asked.thread, "maps").unwrap_or_default();
    let contains = |line: &&str| {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let bound = |text| u64::from_str_radix(text, 16).unwrap_or(0);
        range.is_some_and(|(start, end)| (bound(start)..bound(end)).contains(&caller))
    };
    let library = maps.lines().find(contains).and_then(|line| line.rsplit('/').next()).unwrap_or_default();
    library.starts_with("libc.so") || library.starts_with("libc-")
}

/// Where the function that made a call returns to: the C library's wrappers leave it on top of the stack. None where it is kept in a register.
fn return_address(thread: u32) -> Option<u64> {
    if cfg!(not(target_arch = "x86_64")) {
        return None;
    }
    // The number of the call, its arguments, the stack pointer and the program counter.
    let line = super::proc_text(thread, "syscall")?;
    let stack = line.split_whitespace().rev().nth(1)?.strip_prefix("0x")?;
    let mut word = [0; 8];
    let read = kernel::read_memory(thread, u64::from_str_radix(stack, 16).ok()?, &mut word);
    (read == word.len()).then(|| u64::from_ne_bytes(word))
}

/// Whether an address is on the sandbox's own loopback, where an unspecified one leads too.
fn is_own(ip: IpAddr) -> bool {
    ip.is_loopback() || ip.is_unspecified()
}
