//! Unix sockets of the sandbox's own: what listens inside is reached, what listens outside never is, and every `connect`, which is made for the caller, ends
//! as it does without a sandbox. As root and as an unprivileged user. The programs are Python; each attempt to get out also runs without a sandbox, where it
//! must get through.

#![cfg(target_os = "linux")]

use pithos_sandbox::probe;
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const NOBODY: u32 = 65_534;

/// What every program begins with.
const PRELUDE: &str = r#"
import array, ctypes, errno, os, select, signal, socket, struct, sys, threading, time
S, Q, D, U = socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM, socket.AF_UNIX
HOST = os.environ["HOST"]
libc = ctypes.CDLL(None, use_errno=True)
def sun(path):
    path = path.encode() if isinstance(path, str) else path
    return struct.pack("=H", U) + path + (b"" if path[:1] == b"\0" else b"\0")
def connect(fd, address, length=None):
    buffer = address if not isinstance(address, bytes) else ctypes.create_string_buffer(address, len(address))
    ctypes.set_errno(0)
    result = libc.connect(fd, buffer, len(address) if length is None else length)
    return 0 if result == 0 else ctypes.get_errno()
def word(code): return errno.errorcode.get(code, code)
def attempt(work):
    try: return work() or 0
    except OSError as error: return error.errno
"#;

/// Attempts to bring a byte to a listener of the host. Each is one program; those that need a race say how often they try.
const ATTEMPTS: [(&str, &str); 17] = [
    ("a path outside", "s = socket.socket(U, S); s.connect('../outside/host'); s.send(b'x')"),
    ("a path in the workspace", "s = socket.socket(U, S); s.connect('host'); s.send(b'x')"),
    ("without waiting", "s = socket.socket(U, S); s.setblocking(False); s.connect('host'); s.send(b'x')"),
    ("a hard link", "s = socket.socket(U, S); s.connect('hard'); s.send(b'x')"),
    ("a symbolic link", "s = socket.socket(U, S); s.connect('soft'); s.send(b'x')"),
    (
        "a new hard link",
        "os.link('host', 'newlink'); s = socket.socket(U, S); s.connect('newlink'); s.send(b'x')",
    ),
    (
        "a renamed one",
        "os.rename('host', 'other'); s = socket.socket(U, S); s.connect('other'); s.send(b'x')",
    ),
    (
        "a descriptor of the path",
        "f = os.open('host', os.O_PATH); s = socket.socket(U, S); s.connect(f'/proc/self/fd/{f}'); s.send(b'x')",
    ),
    (
        "another process's folder",
        "s = socket.socket(U, S); s.connect(f'/proc/{os.getpid()}/cwd/host'); s.send(b'x')",
    ),
    (
        "the root of a process",
        "s = socket.socket(U, S); s.connect('/proc/self/root' + os.getcwd() + '/host'); s.send(b'x')",
    ),
    ("an abstract name", "s = socket.socket(U, S); s.connect('\\0' + HOST); s.send(b'x')"),
    ("a datagram", "s = socket.socket(U, D); s.sendto(b'x', 'datagrams')"),
    ("a datagram of a pair", "a, b = socket.socketpair(U, D); a.sendto(b'x', 'datagrams')"),
    (
        "a message of a raw pair",
        "a, b = socket.socketpair(U, socket.SOCK_RAW); a.sendmsg([b'x'], [], 0, '../outside/datagrams')",
    ),
    ("a pair that connects anew", "a, b = socket.socketpair(U, D); a.connect('datagrams'); a.send(b'x')"),
    (
        "a child that inherits the socket",
        "s = socket.socket(U, S)\nif os.fork() == 0:\n  s.connect('host'); s.send(b'x'); os._exit(0)\nos.wait(); s.send(b'x')",
    ),
    (
        "another thread that writes all the time",
        r"
s = socket.socket(U, S)
def write():
    for _ in range(20000):
        try: os.write(s.fileno(), b'x'); return
        except OSError: pass
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
t = threading.Thread(target=write); t.start()
try: s.connect('host')
finally: t.join()",
    ),
];

/// Races between the look and the call, 2,000 connections each. An inside listener takes every other one.
const RACES: [(&str, &str); 4] = [
    (
        "the address changes",
        r"
buffer = ctypes.create_string_buffer(sun('aaaa'), 7)
def change():
    while not over:
        ctypes.memmove(ctypes.addressof(buffer) + 2, b'host', 4); ctypes.memmove(ctypes.addressof(buffer) + 2, b'aaaa', 4)
def once():
    s = socket.socket(U, S)
    if libc.connect(s.fileno(), buffer, 7) == 0: s.send(b'x')
    s.close()",
    ),
    (
        "the descriptor changes",
        r"
unix = socket.socket(U, S)
place = os.dup(0)
def change():
    while not over:
        fresh = socket.socket(U, S); os.dup2(fresh.fileno(), place); os.dup2(internet.fileno(), place); fresh.close()
def once():
    s = libc.connect(place, sun('host'), 7)
    try: os.write(place, b'x')
    except OSError: pass",
    ),
    (
        "the file changes",
        r"
os.link('aaaa', 'kept'); os.link('host', 'hostkept')
def change():
    while not over:
        for name in ('kept', 'hostkept'):
            os.link(name, 'next'); os.rename('next', 'swap')
def once():
    s = socket.socket(U, S)
    if libc.connect(s.fileno(), sun('swap'), 7) == 0: s.send(b'x')
    s.close()",
    ),
    (
        "a thread writes",
        r"
shared = [socket.socket(U, S)]
def change():
    while not over:
        try: os.write(shared[0].fileno(), b'x')
        except (OSError, ValueError): pass
def once():
    libc.connect(shared[0].fileno(), sun('host'), 7)
    old, shared[0] = shared[0], socket.socket(U, S); old.close()",
    ),
];

const RACE: &str = r"
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
inside = socket.socket(U, S); inside.bind('aaaa'); inside.listen(64)
internet = socket.socket(socket.AF_INET, S)
def take():
    while True:
        inside.accept()[0].close()
threading.Thread(target=take, daemon=True).start()
over = False
PART
t = threading.Thread(target=change); t.start()
for _ in range(2000):
    try: once()
    except OSError: pass
over = True; t.join()
print('tried')
";

struct Stage {
    base: PathBuf,
    user: Option<u32>,
    name: String,
    bytes: Arc<AtomicUsize>,
}

impl Stage {
    /// A workspace with listeners of the host in it and around it, which count the bytes that they get.
    fn build(label: &str, user: Option<u32>) -> Stage {
        // Listeners live on, so their names must not come again.
        static STAGES: AtomicUsize = AtomicUsize::new(0);
        let number = STAGES.fetch_add(1, Ordering::Relaxed);
        let label = format!("{label}{}-{}-{number}", user.unwrap_or(0), std::process::id());
        let base = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&label);
        let _ = fs::remove_dir_all(&base);
        for folder in ["workspace/tmp", "outside"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        let bytes = Arc::new(AtomicUsize::new(0));
        let stage = Stage { base, user, name: format!("pithos-{label}"), bytes };
        // The path of a socket must be short, and that of this folder may not be.
        let folder = File::open(&stage.base).unwrap();
        let near = |place: &str| format!("/proc/self/fd/{}/{place}", folder.as_raw_fd());
        for place in ["outside/host", "workspace/host"] {
            stage.count(UnixListener::bind(near(place)).unwrap());
        }
        for place in ["outside/datagrams", "workspace/datagrams"] {
            let socket = UnixDatagram::bind(near(place)).unwrap();
            let bytes = Arc::clone(&stage.bytes);
            std::thread::spawn(move || {
                let mut buffer = [0; 64];
                while let Ok(read) = socket.recv(&mut buffer) {
                    bytes.fetch_add(read, Ordering::SeqCst);
                }
            });
        }
        let address = SocketAddr::from_abstract_name(&stage.name).unwrap();
        stage.count(UnixListener::bind_addr(&address).unwrap());
        fs::hard_link(stage.base.join("outside/host"), stage.base.join("workspace/hard")).unwrap();
        std::os::unix::fs::symlink("../outside/host", stage.base.join("workspace/soft")).unwrap();
        if let Some(user) = user {
            let mut chown = Command::new("chown");
            let status = chown.arg("-R").arg(format!("{user}:{user}")).arg(&stage.base).status().unwrap();
            assert!(status.success());
        }
        stage
    }

    fn count(&self, listener: UnixListener) {
        let bytes = Arc::clone(&self.bytes);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let bytes = Arc::clone(&bytes);
                std::thread::spawn(move || {
                    let mut buffer = [0; 64];
                    while let Ok(read @ 1..) = stream.read(&mut buffer) {
                        bytes.fetch_add(read, Ordering::SeqCst);
                    }
                });
            }
        });
    }

    /// How many bytes came to the host, once those on their way are there.
    fn came(&self, expected: bool) -> usize {
        for _ in 0..if expected { 100 } else { 5 } {
            if self.bytes.load(Ordering::SeqCst) > 0 {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.bytes.load(Ordering::SeqCst)
    }

    /// Runs a shell script, in the sandbox when a network is named: whether it ended well, what it printed, and what was denied.
    fn run(&self, network: Option<&str>, script: &str) -> (bool, String, Vec<String>) {
        let built = std::env::current_exe().unwrap();
        let example = built.parent().unwrap().parent().unwrap().join("examples/confine");
        let mut command = match network {
            Some(network) => {
                let mut command = Command::new(example);
                command.args(["watched", network, "auto", script]);
                command
            }
            None => {
                let mut command = Command::new("/bin/sh");
                command.args(["-c", script]);
                command
            }
        };
        command.env_clear().env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        command.env("HOME", self.base.join("workspace")).env("TMPDIR", self.base.join("workspace/tmp"));
        command.current_dir(self.base.join("workspace")).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        let (mut text, mut denied) = (String::from_utf8_lossy(&output.stdout).into_owned(), Vec::new());
        for line in String::from_utf8_lossy(&output.stderr).lines() {
            match line.strip_prefix("denied\t") {
                Some(denial) => denied.push(denial.to_owned()),
                None => text = text + line + "\n",
            }
        }
        (output.status.success(), text, denied)
    }

    fn python(&self, network: Option<&str>, program: &str) -> (bool, String, Vec<String>) {
        fs::write(self.base.join("workspace/program.py"), format!("{PRELUDE}\n{program}\n")).unwrap();
        self.run(network, &format!("HOST={} timeout 120 python3 program.py", self.name))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.base);
    }
}

fn users() -> Vec<Option<u32>> {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return vec![None];
    }
    let list = Command::new(std::env::current_exe().unwrap()).arg("--list").uid(NOBODY).gid(NOBODY).output();
    if list.is_ok_and(|output| output.status.success()) {
        vec![None, Some(NOBODY)]
    } else {
        eprintln!("an unprivileged user cannot reach this program: only tried as root");
        vec![None]
    }
}

/// Whether programs have Unix sockets of their own here, and Python.
fn possible() -> bool {
    let machine = probe();
    let all = machine.can_confine()
        && machine.watching
        && machine.pid_namespace
        && machine.network_namespace
        && machine.mount_namespace;
    let python = Command::new("/usr/bin/python3").arg("--version").output().is_ok();
    if !all || !python {
        pithos_skipped::test(&format!("no Unix sockets of a sandbox's own, or no python3: {machine}"));
    }
    all && python
}

#[test]
fn no_byte_reaches_the_host() {
    if !possible() {
        return;
    }
    let mut wrong = Vec::new();
    for user in users() {
        for (name, program) in ATTEMPTS {
            for network in ["off", "loopback"] {
                let stage = Stage::build("out", user);
                let (_, text, denied) = stage.python(Some(network), program);
                if stage.came(false) > 0 {
                    wrong.push(format!("{name} got out as {user:?} with network {network}: {text}"));
                }
                if denied.is_empty() && name != "an abstract name" && !text.contains("Refused") {
                    wrong.push(format!("{name} as {user:?} with network {network}: no denial: {text}"));
                }
            }
            let stage = Stage::build("free", user);
            let (_, text, _) = stage.python(None, program);
            if stage.came(true) == 0 {
                wrong.push(format!("{name} fails as {user:?} even without a sandbox: {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_race_brings_a_byte_to_the_host() {
    if !possible() {
        return;
    }
    let mut wrong = Vec::new();
    for user in users() {
        for (name, part) in RACES {
            let stage = Stage::build("race", user);
            let (_, text, _) = stage.python(Some("loopback"), &RACE.replace("PART", part));
            if stage.came(false) > 0 || !text.contains("tried") {
                wrong.push(format!("{name} as {user:?}: {} bytes: {text}", stage.came(false)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Connections whose every outcome must be what the kernel gives a program that nobody watches: each prints a line.
const SAME: &str = r"
L = lambda family=socket.AF_INET, backlog=8: (lambda l: (l.bind(('::1' if family == socket.AF_INET6 else '127.0.0.1', 0)), l.listen(backlog), l)[2])(socket.socket(family, S))
def say(name, *values): print(name, *[word(value) if isinstance(value, int) and not isinstance(value, bool) else value for value in values], flush=True)
def sin(port, host='127.0.0.1'): return struct.pack('=H', socket.AF_INET) + struct.pack('>H', port) + socket.inet_aton(host) + bytes(8)
l = L(); port = l.getsockname()[1]
closed = L(); refused = closed.getsockname()[1]; closed.close()
T = lambda: socket.socket(socket.AF_INET, S)
s = T(); say('connected', connect(s.fileno(), sin(port)), s.getpeername()[1] == port, s.getblocking())
say('again', connect(s.fileno(), sin(port)), s.send(b'x'))
say('disconnected', connect(s.fileno(), struct.pack('=H', 0) + bytes(14)), attempt(s.getpeername))
say('and again', connect(s.fileno(), sin(port)))
s = T(); say('refused', connect(s.fileno(), sin(refused)), connect(s.fileno(), sin(refused)), connect(s.fileno(), sin(port)))
s = T(); s.setblocking(False); say('without waiting', connect(s.fileno(), sin(port)), bool(select.select([], [s], [], 5)[1]), s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), connect(s.fileno(), sin(port)))
s = T(); s.setblocking(False); say('refused without waiting', connect(s.fileno(), sin(refused)), bool(select.select([], [s], [], 5)[1]), s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
s = T(); s.settimeout(5); say('with a time-out', attempt(lambda: s.connect(('127.0.0.1', port))), s.gettimeout())
s = T(); say('a listener', connect(l.fileno(), sin(port)))
say('no descriptor', connect(987, sin(port)), connect(-1, sin(port)))
r, w = os.pipe(); f = os.open('.', os.O_RDONLY); o = os.open('.', os.O_PATH)
say('no socket', connect(r, sin(port)), connect(f, sin(port)), connect(o, sin(port)))
for length in (0, 1, 2, 3, 8, 15, 17, 128, 129, -1, 1 << 31, 1 << 20):
    s = T(); buffer = ctypes.create_string_buffer(sin(port), 256); say('length', length > 15 and length < 1 << 20, connect(s.fileno(), buffer, length))
s = T(); say('no memory', connect(s.fileno(), ctypes.c_void_p(8), 16), connect(s.fileno(), None, 16))
s = T(); say('other families', connect(s.fileno(), sun('a')), connect(s.fileno(), struct.pack('=H', 999) + bytes(14)))
for kind in (S, Q):
    s = socket.socket(U, kind); say('unix', connect(s.fileno(), sin(port)), connect(s.fileno(), b'\1\0'), connect(s.fileno(), b'\1'), connect(s.fileno(), sun('missing')), connect(s.fileno(), sun('program.py')), connect(s.fileno(), sun('missing/x')), connect(s.fileno(), sun('program.py/x')), connect(s.fileno(), sun('\0nobody')), connect(s.fileno(), struct.pack('=H', 0) + bytes(14)), connect(s.fileno(), ctypes.c_void_p(8), 16), connect(s.fileno(), sun('a' * 108)), connect(s.fileno(), sun('b' * 107)))
    u = socket.socket(U, kind); u.bind('u%d' % kind); say('nobody listens', connect(s.fileno(), sun('u%d' % kind)))
    u.listen(1); say('a listener', connect(u.fileno(), sun('u%d' % kind)))
    other = socket.socket(U, S if kind == Q else Q); say('another kind', connect(other.fileno(), sun('u%d' % kind)))
    say('unix connected', connect(s.fileno(), sun('u%d' % kind)), connect(s.fileno(), sun('u%d' % kind)), s.send(b'x'), s.getpeername(), s.getsockname(), s.getblocking(), os.get_inheritable(s.fileno()))
    s2 = socket.socket(U, kind); s2.setblocking(False); os.set_inheritable(s2.fileno(), True); s2.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 20000); s2.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1); s2.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('qq', 7, 0))
    say('options', connect(s2.fileno(), sun('u%d' % kind)), s2.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF), s2.getsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED), s2.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, 16), os.get_blocking(s2.fileno()), os.get_inheritable(s2.fileno()))
    s3 = socket.socket(U, kind); s3.setblocking(False); say('full', connect(s3.fileno(), sun('u%d' % kind)))
    s3.setblocking(True); s3.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack('qq', 0, 100000)); say('full for a time', connect(s3.fileno(), sun('u%d' % kind)))
    s4 = socket.socket(U, kind); t = threading.Thread(target=lambda: (time.sleep(.1), u.accept())); t.start(); say('full for a moment', connect(s4.fileno(), sun('u%d' % kind))); t.join()
    a = socket.socket(U, kind); a.bind('\0n%d' % kind); a.listen(1); s = socket.socket(U, kind); say('abstract', connect(s.fileno(), b'\1\0\0n' + b'%d' % kind), s.getpeername())
    v = socket.socket(U, kind); v.bind('v%d' % kind); v.listen(8); p = socket.socketpair(U, kind)[0]; say('a pair', connect(p.fileno(), sun('v%d' % kind)))
d = socket.socket(socket.AF_INET, D); say('datagrams', connect(d.fileno(), sin(port)), d.getpeername()[1] == port, connect(d.fileno(), struct.pack('=H', 0) + bytes(14)), attempt(d.getpeername), connect(d.fileno(), sin(9)), connect(d.fileno(), sun('a')))
try:
    six = L(socket.AF_INET6); p6 = six.getsockname()
    s = socket.socket(socket.AF_INET6, S); say('six', attempt(lambda: s.connect(p6)), s.getpeername() == p6)
    s = socket.socket(socket.AF_INET6, S); say('six refused', attempt(lambda: s.connect(('::1', refused))), connect(s.fileno(), sin(port)))
    s = socket.socket(socket.AF_INET6, S); say('mapped', attempt(lambda: s.connect(('::ffff:127.0.0.1', port))))
except OSError: pass
full = L(backlog=0); held = []
for _ in range(8):
    s = T(); s.setblocking(False); connect(s.fileno(), sin(full.getsockname()[1])); held.append(s)
s = T(); s.setblocking(False); say('full listener', connect(s.fileno(), sin(full.getsockname()[1])), connect(s.fileno(), sin(full.getsockname()[1])))
s = T(); s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack('qq', 0, 200000)); say('full for a time', connect(s.fileno(), sin(full.getsockname()[1])))
s = T(); s.settimeout(.2); say('full with a time-out', str(attempt(lambda: s.connect(full.getsockname()))))
class Rang(Exception): pass
def ring(*_): raise Rang
signal.signal(signal.SIGALRM, ring); signal.setitimer(signal.ITIMER_REAL, .2)
s = T()
try: s.connect(full.getsockname()); say('rang', False)
except Rang: say('rang', True)
s = T(); t = threading.Thread(target=lambda: (time.sleep(.2), [full.accept() for _ in range(1)], time.sleep(.1), full.close())); t.start()
code = connect(s.fileno(), sin(full.getsockname()[1])); say('a listener that goes', code in (0, errno.ECONNREFUSED, errno.ECONNRESET)); t.join()
l.close(); l = L(backlog=64)
def fifty():
    for _ in range(50):
        s = T(); s.connect(l.getsockname()); s.close()
threads = [threading.Thread(target=fifty) for _ in range(8)]
taker = threading.Thread(target=lambda: [l.accept()[0].close() for _ in range(400)]); taker.start()
[t.start() for t in threads]; [t.join() for t in threads]; taker.join(); say('four hundred', True)
v = socket.socket(U, S); v.bind('many'); v.listen(8)
for _ in range(3000):
    s = socket.socket(U, S); s.connect('many'); s.close(); v.accept()[0].close()
say('descriptors', len(os.listdir('/proc/self/fd')) < 60)
";

#[test]
fn every_connection_ends_as_without_a_sandbox() {
    if !possible() {
        return;
    }
    for user in users() {
        let (stage, free) = (Stage::build("same", user), Stage::build("free-same", user));
        let (well, inside, denied) = stage.python(Some("loopback"), SAME);
        let (free_well, outside, _) = free.python(None, SAME);
        assert!(free_well, "{outside}");
        assert!(well, "{inside}");
        assert_eq!(inside.lines().collect::<Vec<_>>(), outside.lines().collect::<Vec<_>>(), "as {user:?}");
        assert!(denied.is_empty(), "as {user:?}: {denied:?}");
    }
}

/// Runs one program inside as every user: its lines, which must say `ok` last, and nothing denied.
fn ends_well(label: &str, program: &str) {
    if !possible() {
        return;
    }
    for user in users() {
        let stage = Stage::build(label, user);
        let (well, text, denied) = stage.python(Some("loopback"), program);
        assert!(well && text.trim_end().ends_with("ok"), "as {user:?}: {text}");
        assert!(denied.is_empty(), "as {user:?}: {denied:?}");
        assert_eq!(stage.came(false), 0, "as {user:?}");
    }
}

/// A caller that is killed leaves its socket to who made the call for it; the kernel lets who closes it last wait for the other end.
#[test]
fn a_killed_caller_whose_socket_lingers_keeps_nobody_waiting() {
    ends_well(
        "linger",
        r"
import random
l = socket.socket(); l.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096); l.bind(('127.0.0.1', 0)); l.listen(64)
port = l.getsockname()[1]; kept = []
address = struct.pack('=H', socket.AF_INET) + struct.pack('>H', port) + socket.inet_aton('127.0.0.1') + bytes(8)
for _ in range(200):
    s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096); s.connect(('127.0.0.1', port)); kept.append(l.accept()[0])
    s.setblocking(False)
    try:
        while True: s.send(bytes(4096))
    except BlockingIOError: pass
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 60000))
    r, w = os.pipe(); child = os.fork()
    if child == 0:
        def spin():
            while True: libc.connect(s.fileno(), address, 16)
        for _ in range(4): threading.Thread(target=spin, daemon=True).start()
        os.write(w, b'x'); time.sleep(600)
    s.close(); os.read(r, 1); os.close(r); os.close(w)
    time.sleep(random.random() * .01); os.kill(child, 9)
    open('/dev/null').close(); os.waitpid(child, 0)
print('ok')",
    );
}

/// Who looks a path up for the caller has descriptors and rights of its own.
#[test]
fn no_path_leads_by_way_of_the_watcher() {
    ends_well(
        "links",
        r"
inside = socket.socket(U, S); inside.bind('aaaa'); inside.listen(64)
here = os.getcwd(); folder = os.open('.', os.O_RDONLY); near = 'aaaa'
os.makedirs('deep/er'); os.symlink('../aaaa', 'deep/up'); os.symlink('/proc/self/root', 'rootlink'); os.symlink('/proc/self/cwd', 'cwdlink')
def go(path):
    s = socket.socket(U, S); return connect(s.fileno(), sun(path))
for path in (f'/proc/self/fd/{folder}/aaaa', f'/dev/fd/{folder}/aaaa', '/proc/self/cwd/aaaa', f'/proc/{os.getpid()}/cwd/aaaa', '/proc/thread-self/cwd/deep/../aaaa', 'deep/up', 'deep/er/../up', './/aaaa'):
    assert go(path) == 0, (path, word(go(path)))
for path in ('rootlink', 'cwdlink', 'cwdlink/aaaa', 'rootlink/tmp', '/proc/1/root', '/proc/1/cwd', '/proc/1/root/tmp', '//proc/1/cwd/.', '/proc/self/../1/cwd', '/proc/self/task/../../1/root', *[f'/proc/1/fd/{n}' for n in range(64)], *[f'/proc/1/fd/{n}/.' for n in range(64)]):
    assert go(path) in (errno.ELOOP, errno.ENOENT, errno.EACCES, errno.ENOTDIR), (path, word(go(path)))
for n in range(64):
    os.symlink(f'/proc/self/fd/{n}/.', f'n{n}'); assert go(f'n{n}') in (errno.ELOOP, errno.ENOENT, errno.ENOTDIR), (n, word(go(f'n{n}')))
os.chdir('deep/er'); assert go('../../aaaa') == 0
os.rmdir('../er'); assert go('aaaa') == errno.ENOENT and go('../up') == 0
print('ok')",
    );
}

/// The listener sees the right user, and what goes over the connection is the kernel's own.
#[test]
fn programs_talk_over_sockets_of_their_own() {
    ends_well(
        "talk",
        r"
import multiprocessing
from multiprocessing.connection import Client, Listener
def client(address):
    with Client(address, family='AF_UNIX', authkey=b'key') as c: c.send(c.recv() + 1)
def square(n): return n * n
def peer(path, kind):
    l = socket.socket(U, kind); l.bind(path); l.listen(8)
    c = socket.socket(U, kind); c.connect(path); a, _ = l.accept()
    pid, uid, gid = struct.unpack('3i', a.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    assert (uid, gid) == (os.geteuid(), os.getegid()) and pid > 0, (pid, uid, gid)
    pid, uid, gid = struct.unpack('3i', c.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    assert (pid, uid, gid) == (os.getpid(), os.geteuid(), os.getegid()), (pid, uid, gid)
    r, w = os.pipe(); socket.send_fds(c, [b'x'], [w]); message, (got,), _, _ = socket.recv_fds(a, 8, 1)
    os.write(got, b'passed'); assert message == b'x' and os.read(r, 9) == b'passed'
    a.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1); c.send(b'y')
    _, control, _, _ = a.recvmsg(8, 64); assert struct.unpack('3i', control[0][2])[0] == os.getpid()
if __name__ == '__main__':
    for kind in (S, Q):
        peer('p%d' % kind, kind); peer('\0p%d' % kind, kind)
    for address in ('m', '\0m'):
        with Listener(address, family='AF_UNIX', authkey=b'key') as l:
            p = multiprocessing.Process(target=client, args=(address,)); p.start()
            with l.accept() as c: c.send(41); assert c.recv() == 42
            p.join(); assert p.exitcode == 0
    with multiprocessing.Manager() as manager:
        d = manager.dict(); d['a'] = 1; assert dict(d) == {'a': 1}
    for method in ('fork', 'forkserver', 'spawn'):
        with multiprocessing.get_context(method).Pool(2) as pool: assert pool.map(square, range(5)) == [0, 1, 4, 9, 16]
    print('ok')",
    );
}

/// The 32-bit calls have other numbers, and one of them is all of the socket calls.
#[test]
fn calls_of_32_bit_programs_end_the_program() {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    ends_well(
        "old",
        r"
import mmap
for number in (20, 102, 359, 360, 361, 362, 369, 370, 425):
    child = os.fork()
    if child == 0:
        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        # push rbx; eax = number; ebx = 1; ecx = edx = 0; int 0x80; pop rbx; ret
        code.write(b'\x53\xb8' + struct.pack('=I', number) + b'\xbb\x01\0\0\0\x31\xc9\x31\xd2\xcd\x80\x5b\xc3')
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), number
print('ok')",
    );
}
