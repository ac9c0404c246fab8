//! Attempts to get out, each run four ways: as ourselves and (when we are root) as an unprivileged user, with namespaces
//! and without. Each attempt is also run with no sandbox, where it must succeed: an attempt that cannot succeed proves nothing.
//!
//! An attempt is this test program started again with `ATTEMPT` set; it ends with status 0 when it got out.

#![cfg(target_os = "linux")]

use pithos_sandbox::{
    Access, Context, DenialKind, Machine, Namespaces, Network, Plan, Policy, Preset, probe,
};
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

const NOBODY: u32 = 65_534;
const DENIED: i32 = 77;

/// What an attempt needs so that it could succeed without a sandbox.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Nothing,
    Root,
    /// Only the read-only mounts stop it.
    Mounts,
    /// Only the watcher stops it.
    Watcher,
    /// Root outside, an unprivileged user inside.
    SetuidFile,
}

type Attempt = fn(&Scene) -> io::Result<()>;

const ATTEMPTS: [(&str, Needs, Attempt); 67] = [
    ("write a file outside", Needs::Nothing, |s| fs::write(s.outside.join("new"), "x")),
    ("write into a file outside", Needs::Nothing, |s| append(&s.victim())),
    ("write through a symbolic link", Needs::Nothing, |s| {
        let link = s.workspace.join(format!("link{}", std::process::id()));
        std::os::unix::fs::symlink(s.victim(), &link)?;
        append(&link)
    }),
    ("write by way of dot-dot", Needs::Nothing, |s| append(&s.workspace.join("../outside/victim"))),
    ("write by way of /proc/self/root", Needs::Nothing, |s| append(&below("/proc/self/root", &s.victim()))),
    ("write by way of /proc/self/cwd", Needs::Nothing, |_| {
        append(Path::new("/proc/self/cwd/../outside/victim"))
    }),
    ("write by way of another process's root", Needs::Nothing, |s| {
        append(&below(&format!("/proc/{}/root", s.victim_process), &s.victim()))
    }),
    ("hard link", Needs::Nothing, |s| {
        let link = s.workspace.join(format!("hard{}", std::process::id()));
        fs::hard_link(s.victim(), &link)?;
        append(&link)
    }),
    ("rename a file out", Needs::Nothing, |s| {
        let own = s.workspace.join(format!("own{}", std::process::id()));
        fs::write(&own, "x")?;
        fs::rename(own, s.outside.join("renamed"))
    }),
    ("truncate", Needs::Nothing, |s| File::options().write(true).truncate(true).open(s.victim()).map(drop)),
    ("remove", Needs::Nothing, |s| fs::remove_file(s.outside.join("removable"))),
    ("make a folder", Needs::Nothing, |s| {
        fs::create_dir(s.outside.join(format!("folder{}", std::process::id())))
    }),
    ("change a mode", Needs::Mounts, |s| fs::set_permissions(s.victim(), Permissions::from_mode(0o666))),
    ("read a secret", Needs::Nothing, |s| fs::read(s.outside.join("secret")).map(drop)),
    ("list a folder", Needs::Nothing, |s| fs::read_dir(&s.outside).map(drop)),
    ("execute a program outside", Needs::Nothing, |s| succeed(Command::new(s.outside.join("tool")))),
    ("an inherited descriptor", Needs::Nothing, |s| {
        fs::read_link(format!("/proc/self/fd/{}", s.descriptor)).map(drop)
    }),
    ("an abstract socket", Needs::Nothing, |s| {
        UnixStream::connect_addr(&SocketAddr::from_abstract_name(&s.abstract_name)?).map(drop)
    }),
    ("a Unix socket with a path", Needs::Nothing, |s| {
        UnixStream::connect(s.outside.join("socket")).map(drop)
    }),
    ("TCP to the host", Needs::Nothing, |s| TcpStream::connect(("127.0.0.1", s.tcp_port)).map(drop)),
    ("listening on TCP", Needs::Nothing, |_| TcpListener::bind(("127.0.0.1", 0)).map(drop)),
    ("UDP to the host", Needs::Nothing, |s| {
        UdpSocket::bind(("127.0.0.1", 0))?.send_to(b"x", ("127.0.0.1", s.udp_port)).map(drop)
    }),
    ("a raw kernel socket", Needs::Nothing, |_| perl("exit(defined(socket(my $s, 16, 3, 0)) ? 0 : 77)")),
    ("signal a process outside", Needs::Nothing, |s| {
        succeed(tool("kill", &["-CONT", &s.victim_process.to_string()]))
    }),
    ("the environment of a process outside", Needs::Nothing, |s| {
        fs::read(format!("/proc/{}/environ", s.victim_process)).map(drop)
    }),
    ("the memory of a process outside", Needs::Nothing, |s| {
        File::options().read(true).write(true).open(format!("/proc/{}/mem", s.victim_process)).map(drop)
    }),
    ("ptrace", Needs::Nothing, |s| {
        perl(&format!("exit(syscall(101, 0x4206, {}, 0, 0) == 0 ? 0 : 77)", s.victim_process))
    }),
    ("io_uring", Needs::Nothing, |_| perl("my $p = \"\\0\" x 120; exit(syscall(425, 4, $p) >= 0 ? 0 : 77)")),
    ("a user namespace", Needs::Nothing, |_| succeed(tool("unshare", &["-U", "true"]))),
    ("push characters into a terminal", Needs::Nothing, |_| {
        // Without a sandbox the kernel asks whether this is a terminal at all (error 25); the filter never gets that far.
        perl("my $c = 'x'; ioctl(STDIN, 0x5412, $c); exit($! + 0 == 25 ? 0 : 77)")
    }),
    ("a terminal of somebody else", Needs::Nothing, |s| {
        File::options().read(true).write(true).open(&s.terminal).map(drop)
    }),
    ("a disk", Needs::Root, |_| {
        let disks = ["/dev/loop-control", "/dev/kvm", "/dev/vda", "/dev/sda", "/dev/mem", "/dev/kmsg"];
        let open = |path| File::options().read(true).open(path);
        disks
            .into_iter()
            .map(open)
            .find(Result::is_ok)
            .map_or(Err(io::Error::other("none")), |disk| disk.map(drop))
    }),
    ("a file that is protected", Needs::Mounts, |s| append(&s.workspace.join(".git/config"))),
    ("a new file in a folder that is protected", Needs::Mounts, |s| {
        fs::write(s.workspace.join(".git/hooks/pre-commit"), "x")
    }),
    ("a file put in the place of a protected one", Needs::Mounts, |s| {
        let own = s.workspace.join(format!("config{}", std::process::id()));
        fs::write(&own, "x")?;
        fs::rename(own, s.workspace.join(".git/config"))
    }),
    ("a protected path whose folder is renamed", Needs::Mounts, |s| {
        fs::rename(s.workspace.join(".git"), s.workspace.join(".git-aside"))?;
        fs::create_dir_all(s.workspace.join(".git/hooks"))
    }),
    ("a secret among tools", Needs::Nothing, |s| {
        let text = fs::read_to_string(s.workspace.join("../tools/credentials"))?;
        if text.is_empty() { Err(io::Error::other("empty")) } else { Ok(()) }
    }),
    ("a secret in a folder among tools", Needs::Nothing, |s| {
        fs::read(s.workspace.join("../tools/secrets/token")).map(drop)
    }),
    ("a secret in git's configuration", Needs::Nothing, |s| {
        let text = fs::read_to_string(s.workspace.join("../tools/gitconfig"))?;
        if text.contains("secret") { Ok(()) } else { Err(io::Error::other("not in it")) }
    }),
    ("a protected file that is not there yet", Needs::Watcher, |s| {
        fs::write(s.workspace.join(".envrc"), "x")
    }),
    ("a protected folder moved to where none is yet", Needs::Watcher, |s| {
        let own = s.workspace.join(format!("own{}", std::process::id()));
        fs::create_dir(&own)?;
        fs::rename(own, s.workspace.join(".claude"))
    }),
    ("a protected file made through a link to where it is not yet", Needs::Watcher, |s| {
        let link = s.own("link");
        std::os::unix::fs::symlink(".envrc", &link)?;
        fs::write(link, "x")
    }),
    ("a protected file made through links to links", Needs::Watcher, |s| {
        let (one, two) = (s.own("one"), s.own("two"));
        std::os::unix::fs::symlink(s.workspace.join(".envrc"), &one)?;
        std::os::unix::fs::symlink(&one, &two)?;
        fs::write(two, "x")
    }),
    ("a protected file made by a link through /proc/self", Needs::Watcher, |s| {
        let link = s.own("link");
        std::os::unix::fs::symlink("/proc/self/cwd/.envrc", &link)?;
        fs::write(link, "x")
    }),
    (
        "a protected file made by a link through /proc/thread-self, where the watcher would find a decoy",
        Needs::Watcher,
        |s| {
            let (folder, link) = (s.own("folder"), s.own("link"));
            fs::create_dir(&folder)?;
            std::os::unix::fs::symlink(&s.workspace, folder.join("back"))?;
            std::env::set_current_dir(&folder)?;
            std::os::unix::fs::symlink("/proc/thread-self/cwd/back/.envrc", &link)?;
            fs::write(link, "x")
        },
    ),
    ("a protected file made through a thread of one's own in /proc", Needs::Watcher, |_| {
        fs::write(format!("/proc/self/task/{}/cwd/.envrc", nix::unistd::gettid()), "x")
    }),
    ("a protected file made by the longest path there is", Needs::Watcher, |_| {
        fs::write(format!("{}.envrc", "./".repeat(2040)), "x")
    }),
    ("a protected file made from a descriptor", Needs::Watcher, |s| {
        let folder = File::open(s.workspace.join(".git"))?;
        let flags = nix::fcntl::OFlag::O_CREAT | nix::fcntl::OFlag::O_WRONLY;
        let made = nix::fcntl::openat(&folder, "../.envrc", flags, nix::sys::stat::Mode::S_IRWXU);
        made.map(drop).map_err(io::Error::from)
    }),
    ("a protected file made as if the folder were the root", Needs::Watcher, |s| {
        let folder = File::open(&s.workspace)?;
        let how = nix::fcntl::OpenHow::new()
            .flags(nix::fcntl::OFlag::O_CREAT | nix::fcntl::OFlag::O_WRONLY)
            .mode(nix::sys::stat::Mode::S_IRWXU)
            .resolve(nix::fcntl::ResolveFlag::RESOLVE_IN_ROOT);
        nix::fcntl::openat2(&folder, "/.envrc", how).map(drop).map_err(io::Error::from)
    }),
    ("a link put where a protected file is not yet", Needs::Watcher, |s| {
        std::os::unix::fs::symlink("file", s.workspace.join(".envrc"))
    }),
    ("a second name put where a protected file is not yet", Needs::Watcher, |s| {
        let own = s.own("own");
        fs::write(&own, "x")?;
        fs::hard_link(own, s.workspace.join(".envrc"))
    }),
    ("git led to another configuration", Needs::Watcher, |s| {
        fs::write(s.workspace.join(".git/commondir"), "../other")
    }),
    ("a link that is protected", Needs::Mounts, |s| {
        fs::remove_file(s.workspace.join(".bashrc"))?;
        fs::write(s.workspace.join(".bashrc"), "x")
    }),
    ("a link that is protected, replaced by a folder of one's own", Needs::Mounts, |s| {
        let own = s.own("own");
        fs::create_dir(&own)?;
        let aside = s.own("aside");
        fs::rename(s.workspace.join(".cursor"), aside)?;
        fs::rename(own, s.workspace.join(".cursor"))
    }),
    ("what a protected link leads to", Needs::Mounts, |s| append(&s.workspace.join("conf/bashrc"))),
    ("the folder of what a protected link leads to", Needs::Mounts, |s| {
        fs::rename(s.workspace.join("conf"), s.own("aside"))
    }),
    ("a submodule's configuration", Needs::Mounts, |s| append(&s.workspace.join(".git/modules/sub/config"))),
    ("a submodule's own link to its repository", Needs::Mounts, |s| append(&s.workspace.join("sub/.git"))),
    ("hooks where the configuration says they are", Needs::Mounts, |s| {
        fs::write(s.workspace.join(".githooks/pre-commit"), "x")
    }),
    ("configuration that the configuration includes", Needs::Mounts, |s| {
        append(&s.workspace.join("shared.gitconfig"))
    }),
    ("a program that runs as who owns it", Needs::Nothing, |s| {
        let own = s.own("own");
        fs::write(&own, "x")?;
        fs::set_permissions(&own, Permissions::from_mode(0o4755))
    }),
    ("a program that runs as its group, by descriptor", Needs::Nothing, |s| {
        File::create(s.own("own"))?.set_permissions(Permissions::from_mode(0o2755))
    }),
    ("a program that is made to run as who owns it", Needs::Nothing, |s| {
        let own = s.own("own");
        let mut options = File::options();
        std::os::unix::fs::OpenOptionsExt::mode(options.write(true).create_new(true), 0o4755).open(&own)?;
        let set = fs::metadata(&own)?.mode() & 0o4000 != 0;
        if set { Ok(()) } else { Err(io::Error::other("no such mode")) }
    }),
    ("a node that runs as who owns it", Needs::Nothing, |s| {
        let (kind, mode) = (nix::sys::stat::SFlag::S_IFREG, nix::sys::stat::Mode::from_bits_retain(0o4755));
        nix::sys::stat::mknod(&s.own("own"), kind, mode, 0).map_err(io::Error::from)
    }),
    ("mount", Needs::Root, |s| {
        succeed(tool("mount", &["-t", "tmpfs", "none", &s.workspace.to_string_lossy()]))
    }),
    ("change the kernel's settings", Needs::Root, |_| {
        File::options().write(true).open("/proc/sys/kernel/core_pattern").map(drop)
    }),
    ("a setuid program", Needs::SetuidFile, |s| {
        let output = Command::new(s.workspace.join("setuid-id")).arg("-u").output()?;
        if output.stdout == b"0\n" { Ok(()) } else { Err(io::Error::other("still nobody")) }
    }),
];

fn append(path: &Path) -> io::Result<()> {
    File::options().append(true).open(path)?.write_all(b"x")
}

fn below(root: &str, path: &Path) -> PathBuf {
    Path::new(root).join(path.strip_prefix("/").unwrap())
}

fn tool(name: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(arguments);
    command
}

fn perl(script: &str) -> io::Result<()> {
    succeed(tool("perl", &["-e", script]))
}

fn succeed(mut command: Command) -> io::Result<()> {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(status.to_string())) }
}

/// What stands around an attempt.
struct Scene {
    workspace: PathBuf,
    outside: PathBuf,
    victim_process: u32,
    descriptor: i32,
    abstract_name: String,
    /// The other end of a terminal that somebody has open.
    terminal: PathBuf,
    tcp_port: u16,
    udp_port: u16,
}

impl Scene {
    fn victim(&self) -> PathBuf {
        self.outside.join("victim")
    }

    /// A name that nobody else has.
    fn own(&self, name: &str) -> PathBuf {
        self.workspace.join(format!("{name}{}", std::process::id()))
    }

    fn variables(&self) -> Vec<(&'static str, OsString)> {
        vec![
            ("SCENE_WORKSPACE", self.workspace.clone().into()),
            ("SCENE_OUTSIDE", self.outside.clone().into()),
            ("SCENE_PROCESS", self.victim_process.to_string().into()),
            ("SCENE_DESCRIPTOR", self.descriptor.to_string().into()),
            ("SCENE_ABSTRACT", self.abstract_name.clone().into()),
            ("SCENE_TERMINAL", self.terminal.clone().into()),
            ("SCENE_TCP", self.tcp_port.to_string().into()),
            ("SCENE_UDP", self.udp_port.to_string().into()),
        ]
    }

    fn of_environment() -> Scene {
        let text = |name: &str| std::env::var(name).unwrap();
        Scene {
            workspace: text("SCENE_WORKSPACE").into(),
            outside: text("SCENE_OUTSIDE").into(),
            victim_process: text("SCENE_PROCESS").parse().unwrap(),
            descriptor: text("SCENE_DESCRIPTOR").parse().unwrap(),
            abstract_name: text("SCENE_ABSTRACT"),
            terminal: text("SCENE_TERMINAL").into(),
            tcp_port: text("SCENE_TCP").parse().unwrap(),
            udp_port: text("SCENE_UDP").parse().unwrap(),
        }
    }
}

/// The scene and what keeps it alive.
struct Stage {
    scene: Scene,
    victim: Child,
    _kept: (File, TcpListener, UdpSocket, UnixListener, UnixListener, nix::pty::PtyMaster),
}

/// One test at a time: a child that another thread forks holds our descriptors until its exec, and then a program that
/// was just written cannot be executed and an address that was just given up is still in use.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stage {
    /// `user` owns everything, so that only the sandbox stands between an attempt and its success.
    fn build(name: &str, user: Option<u32>) -> Stage {
        Stage::build_in(Path::new(env!("CARGO_TARGET_TMPDIR")), name, user)
    }

    fn build_in(folder: &Path, name: &str, user: Option<u32>) -> Stage {
        let base = folder.join(format!("{name}-{}", std::process::id()));
        let (workspace, outside) = (base.join("workspace"), base.join("outside"));
        for folder in [&base, &workspace, &workspace.join("tmp"), &outside] {
            fs::create_dir_all(folder).unwrap();
        }
        for file in ["victim", "removable", "secret"] {
            fs::write(outside.join(file), "secret").unwrap();
        }
        fs::copy("/bin/true", outside.join("tool")).unwrap();
        let folders = [
            ".git",
            ".git/hooks",
            ".git/modules/sub/hooks",
            ".githooks",
            "conf",
            "sub",
            "../tools",
            "../tools/secrets",
        ];
        for folder in folders {
            fs::create_dir_all(workspace.join(folder)).unwrap();
        }
        for (file, text) in [
            (".git/config", "[core]\n\thooksPath = .githooks\n[include]\n\tpath = ../shared.gitconfig\n"),
            (".git/modules/sub/HEAD", "ref: refs/heads/main\n"),
            (".git/modules/sub/config", "[core]\n\tworktree = ../../../sub\n"),
            ("sub/.git", "gitdir: ../.git/modules/sub\n"),
            ("shared.gitconfig", "[user]\n"),
            ("conf/bashrc", "x"),
        ] {
            fs::write(workspace.join(file), text).unwrap();
        }
        std::os::unix::fs::symlink("conf/bashrc", workspace.join(".bashrc")).unwrap();
        std::os::unix::fs::symlink("conf", workspace.join(".cursor")).unwrap();
        fs::write(workspace.join("../tools/credentials"), "secret").unwrap();
        fs::write(workspace.join("../tools/secrets/token"), "secret").unwrap();
        fs::write(workspace.join("../tools/gitconfig"), "[user]\n\tname = a\n[github]\n\ttoken = secret\n")
            .unwrap();
        let listener = UnixListener::bind(outside.join("socket")).unwrap();
        if let Some(user) = user {
            for path in [&base, &workspace, &workspace.join("tmp"), &outside] {
                std::os::unix::fs::chown(path, Some(user), Some(user)).unwrap();
            }
            for path in [
                ".git",
                ".git/hooks",
                ".git/config",
                ".git/modules/sub/config",
                ".githooks",
                "conf",
                "conf/bashrc",
                "sub",
                "sub/.git",
                "shared.gitconfig",
                "../tools",
                "../tools/credentials",
                "../tools/gitconfig",
            ] {
                std::os::unix::fs::chown(workspace.join(path), Some(user), Some(user)).unwrap();
            }
            for file in ["victim", "removable", "secret", "tool", "socket"] {
                std::os::unix::fs::chown(outside.join(file), Some(user), Some(user)).unwrap();
            }
            let helper = workspace.join("setuid-id");
            fs::copy("/usr/bin/id", &helper).unwrap();
            fs::set_permissions(&helper, Permissions::from_mode(0o4755)).unwrap();
        }
        let open = File::options().append(true).open(outside.join("victim")).unwrap();
        nix::fcntl::fcntl(&open, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).unwrap();
        let abstract_name = format!("pithos-escape-{name}-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let abstract_listener = UnixListener::bind_addr(&address).unwrap();
        let (tcp, udp) = (TcpListener::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let mut sleeper = Command::new("sleep");
        sleeper.arg("600").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(user) = user {
            sleeper.uid(user).gid(user);
        }
        let victim = sleeper.spawn().unwrap();
        let (terminal, terminal_name) = somebodys_terminal(user);
        let scene = Scene {
            terminal: terminal_name,
            workspace,
            outside,
            victim_process: victim.id(),
            descriptor: open.as_raw_fd(),
            abstract_name,
            tcp_port: tcp.local_addr().unwrap().port(),
            udp_port: udp.local_addr().unwrap().port(),
        };
        Stage { scene, victim, _kept: (open, tcp, udp, listener, abstract_listener, terminal) }
    }

    fn plan(&self, mut policy: Policy, namespaces: Namespaces, machine: &Machine) -> Plan {
        let program = std::env::current_exe().unwrap();
        policy.exec.push(program.parent().unwrap().to_owned());
        if policy.confine {
            policy.read.push("$workspace/../tools".into());
            policy.redact = vec!["$workspace/../tools/gitconfig".into()];
            policy
                .hide
                .extend(["credentials", "secrets"].map(|name| Path::new("$workspace/../tools").join(name)));
        }
        policy.namespaces = if policy.confine { namespaces } else { Namespaces::Off };
        Plan::prepare(&policy, &self.context(), machine).unwrap()
    }

    fn context(&self) -> Context {
        Context {
            workspace: self.scene.workspace.clone(),
            home: None,
            private_tmp: self.scene.workspace.join("tmp"),
            environment: vec![
                ("PATH".into(), "/usr/bin:/bin:/usr/sbin:/sbin".into()),
                ("SECRET_TOKEN".into(), "secret".into()),
                ("LD_PRELOAD".into(), "/nonexistent.so".into()),
            ],
        }
    }

    /// Runs one attempt; whether it got out.
    fn attempt(&self, name: &str, plan: &Plan, user: Option<u32>) -> bool {
        let mut command = Command::new(std::env::current_exe().unwrap());
        plan.apply(&mut command).unwrap();
        command.args(["--exact", "one_attempt", "--nocapture", "--test-threads=1"]);
        command.env("ATTEMPT", name).envs(self.scene.variables()).env_remove("LD_PRELOAD");
        command
            .current_dir(&self.scene.workspace)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let output = plan.spawn(&mut command).unwrap().wait_with_output().unwrap();
        match output.status.code() {
            Some(0) => true,
            Some(DENIED) => false,
            _ => panic!("{name}: {:?}: {}", output.status, String::from_utf8_lossy(&output.stderr)),
        }
    }
}

/// A terminal that this program has open, of the user who tries to reach it.
fn somebodys_terminal(user: Option<u32>) -> (nix::pty::PtyMaster, PathBuf) {
    let master = nix::pty::posix_openpt(nix::fcntl::OFlag::O_RDWR | nix::fcntl::OFlag::O_NOCTTY).unwrap();
    nix::pty::grantpt(&master).unwrap();
    nix::pty::unlockpt(&master).unwrap();
    let name = PathBuf::from(nix::pty::ptsname_r(&master).unwrap());
    if let Some(user) = user {
        std::os::unix::fs::chown(&name, Some(user), Some(user)).unwrap();
    }
    (master, name)
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        let _ = fs::remove_dir_all(self.scene.workspace.parent().unwrap());
    }
}

/// The other end: performs the attempt that `ATTEMPT` names. As an ordinary test it does nothing.
#[test]
fn one_attempt() {
    let Ok(wanted) = std::env::var("ATTEMPT") else { return };
    let (_, _, attempt) = ATTEMPTS.iter().find(|(name, ..)| *name == wanted).unwrap();
    match attempt(&Scene::of_environment()) {
        Ok(()) => std::process::exit(0),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(DENIED)
        }
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

fn users() -> Vec<Option<u32>> {
    if !is_root() {
        return vec![None];
    }
    let reachable = Command::new(std::env::current_exe().unwrap())
        .arg("--list")
        .uid(NOBODY)
        .gid(NOBODY)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if reachable.is_ok_and(|status| status.success()) {
        vec![None, Some(NOBODY)]
    } else {
        eprintln!("an unprivileged user cannot reach this program: only tried as root");
        vec![None]
    }
}

fn possible(needs: Needs, user: Option<u32>) -> bool {
    match needs {
        Needs::Nothing | Needs::Mounts | Needs::Watcher => true,
        Needs::Root => is_root() && user.is_none(),
        Needs::SetuidFile => user.is_some(),
    }
}

fn nobody_gets_out(namespaces: Namespaces, label: &str, watched: bool) {
    let _alone = alone();
    let machine = probe();
    if !machine.can_confine() {
        pithos_skipped::test(&format!("this machine cannot confine: {machine}"));
        return;
    }
    for user in users() {
        for (name, needs, _) in ATTEMPTS {
            let stage = Stage::build(&format!("{label}{}", user.unwrap_or(0)), user);
            let mut plan = stage.plan(Policy::preset(Preset::Workspace), namespaces, &machine);
            if watched {
                plan.watch(|_| ()).unwrap();
            }
            if needs == Needs::Watcher && !watched {
                continue;
            }
            if !possible(needs, user) || needs == Needs::Mounts && !plan.enforcement().read_only_mounts {
                continue;
            }
            assert!(
                !stage.attempt(name, &plan, user),
                "{name} got out as {user:?} with namespaces {namespaces:?}"
            );
        }
    }
}

#[test]
fn nobody_gets_out_with_namespaces() {
    nobody_gets_out(Namespaces::Auto, "auto", false);
}

#[test]
fn nobody_gets_out_without_namespaces() {
    nobody_gets_out(Namespaces::Off, "off", false);
}

/// Where calls are watched, some are refused by the watcher and not by the filter alone.
#[test]
fn nobody_gets_out_while_watched() {
    if !probe().watching {
        eprintln!("skipped: calls cannot be watched here");
        return;
    }
    nobody_gets_out(Namespaces::Off, "watched", true);
}

#[test]
fn every_attempt_succeeds_without_a_sandbox() {
    let _alone = alone();
    let machine = probe();
    for user in users() {
        for (name, needs, _) in ATTEMPTS {
            // The attempt's own kernel may lack the feature; that is not the sandbox's doing.
            let absent = match name {
                "io_uring" => true,
                "a user namespace" => !machine.user_namespace,
                "mount" => !machine.mount_namespace,
                "a disk" => {
                    !["/dev/loop-control", "/dev/kvm", "/dev/vda", "/dev/sda", "/dev/mem", "/dev/kmsg"]
                        .iter()
                        .any(|path| Path::new(path).exists())
                }
                _ => false,
            };
            if possible(needs, user) && !absent {
                let stage = Stage::build(&format!("free{}", user.unwrap_or(0)), user);
                let plan = stage.plan(Policy::preset(Preset::Trusted), Namespaces::Off, &machine);
                assert!(stage.attempt(name, &plan, user), "{name} fails as {user:?} even without a sandbox");
                if name == "mount" {
                    let _ = Command::new("umount").arg(&stage.scene.workspace).status();
                }
            }
        }
    }
}

/// Runs a shell script in the sandbox of `policy`; what it printed on both streams, and whether it ended well.
fn script(stage: &Stage, plan: &Plan, text: &str) -> (bool, String) {
    let mut command = Command::new("/bin/sh");
    plan.apply(&mut command).unwrap();
    command.args(["-c", text]).current_dir(&stage.scene.workspace).stdin(Stdio::null());
    let output =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn ordinary_work_goes_on() {
    let _alone = alone();
    let machine = probe();
    if !machine.can_confine() {
        return;
    }
    let stage = Stage::build("work", None);
    for namespaces in [Namespaces::Auto, Namespaces::Off] {
        let plan = stage.plan(Policy::preset(Preset::Workspace), namespaces, &machine);
        let (well, text) = script(
            &stage,
            &plan,
            "set -e; echo hello >file; chmod 700 file; mv file other; cat other; ls /usr >/dev/null; echo x | cat >$TMPDIR/t; \
             mkdir -p a/b; ln -s b a/c; rm -r a; pwd; test -z \"$SECRET_TOKEN$LD_PRELOAD\"",
        );
        assert!(well, "{namespaces:?}: {text}");
        assert_eq!(text, format!("hello\n{}\n", stage.scene.workspace.canonicalize().unwrap().display()));
    }
}

#[test]
fn a_denial_is_explained_with_its_rule() {
    let _alone = alone();
    let machine = probe();
    if !machine.can_confine() {
        return;
    }
    let stage = Stage::build("explain", None);
    let plan = stage.plan(Policy::preset(Preset::Workspace), Namespaces::Auto, &machine);
    let victim = stage.scene.victim().canonicalize().unwrap();
    let (well, text) = script(&stage, &plan, &format!("echo x >>{}", victim.display()));
    assert!(!well);
    let denials = plan.explain(text.as_bytes());
    assert_eq!(denials.len(), 1, "{text}");
    assert_eq!(denials[0].subject, victim.display().to_string());
    assert!(matches!(denials[0].kind, DenialKind::Write | DenialKind::Read));
    assert!(plan.check_path(&victim, Access::Write).is_err());
    let (_, text) = script(&stage, &plan, "cat ../outside/secret");
    assert_eq!(plan.explain(text.as_bytes())[0].kind, DenialKind::Read, "{text}");
}

#[test]
fn the_loopback_is_private() {
    let _alone = alone();
    let machine = probe();
    if !(machine.can_confine() && machine.network_namespace) {
        return;
    }
    let stage = Stage::build("loopback", None);
    let policy = Policy { network: Network::Loopback, ..Policy::preset(Preset::Workspace) };
    let plan = stage.plan(policy, Namespaces::Auto, &machine);
    assert!(plan.enforcement().private_network);
    assert!(stage.attempt("listening on TCP", &plan, None), "the sandbox's own loopback is there");
    assert!(!stage.attempt("TCP to the host", &plan, None), "the host's is not");
    assert!(!stage.attempt("an abstract socket", &plan, None));
}

#[test]
fn the_private_folder_is_tmp() {
    let _alone = alone();
    let machine = probe();
    if !(machine.can_confine() && machine.mount_namespace) {
        return;
    }
    // Also where the workspace itself is below /tmp.
    let below = tempfile::tempdir_in("/tmp").unwrap();
    for base in [Path::new(env!("CARGO_TARGET_TMPDIR")), below.path()] {
        let stage = Stage::build_in(base, "tmp", None);
        private_folder_is_tmp(&stage, &machine);
    }
}

fn private_folder_is_tmp(stage: &Stage, machine: &Machine) {
    let plan = stage.plan(Policy::preset(Preset::Workspace), Namespaces::Auto, machine);
    assert!(plan.enforcement().private_tmp);
    let name = format!("pithos-private-{}", std::process::id());
    let text =
        format!("echo x >/tmp/{name}; test $TMPDIR = /tmp && pwd && echo y >inside && ls /tmp >/dev/null");
    let (well, text) = script(stage, &plan, &text);
    assert!(well, "{text}");
    assert!(!Path::new("/tmp").join(&name).exists());
    assert!(plan.policy().host_path(&Path::new("/tmp").join(&name)).exists());
    assert!(plan.check_path(&Path::new("/tmp").join(&name), Access::Write).is_ok());
    assert!(stage.scene.workspace.join("inside").exists());
}

#[test]
fn limits_hold() {
    let _alone = alone();
    let machine = probe();
    if !machine.can_confine() {
        return;
    }
    let stage = Stage::build("limits", None);
    let mut policy = Policy::preset(Preset::Workspace);
    policy.limits.file_size_mb = Some(1);
    policy.limits.open_files = Some(20);
    let plan = stage.plan(policy, Namespaces::Auto, &machine);
    let (_, text) = script(&stage, &plan, "ulimit -n; head -c 3000000 /dev/zero >big; wc -c <big; ulimit -c");
    assert!(text.starts_with("20\n") && text.contains("1048576") && text.contains("\n0\n"), "{text}");
}

#[test]
fn what_cannot_be_enforced_is_an_error() {
    let _alone = alone();
    let stage = Stage::build("closed", None);
    let mut machine = probe();
    machine.landlock_abi = 0;
    let error = Plan::prepare(&Policy::preset(Preset::Workspace), &stage.context(), &machine).unwrap_err();
    assert!(error.to_string().contains("Landlock"), "{error}");
    machine = Machine { seccomp: false, landlock_abi: 7, ..machine };
    assert!(Plan::prepare(&Policy::preset(Preset::ReadOnly), &stage.context(), &machine).is_err());
    machine = Machine { seccomp: true, network_namespace: false, mount_namespace: false, ..machine };
    let policy = Policy { network: Network::Loopback, ..Policy::preset(Preset::Workspace) };
    assert!(Plan::prepare(&policy, &stage.context(), &machine).unwrap_err().to_string().contains("loopback"));
    let policy = Policy { namespaces: Namespaces::Require, ..Policy::preset(Preset::Workspace) };
    assert!(Plan::prepare(&policy, &stage.context(), &machine).unwrap_err().to_string().contains("require"));
}

#[test]
fn a_missing_program_is_not_the_sandbox_failing() {
    let _alone = alone();
    let machine = probe();
    if !machine.can_confine() {
        return;
    }
    let stage = Stage::build("missing", None);
    let plan = stage.plan(Policy::preset(Preset::Workspace), Namespaces::Auto, &machine);
    let mut command = Command::new("/nonexistent");
    plan.apply(&mut command).unwrap();
    assert!(matches!(plan.spawn(&mut command).unwrap_err(), pithos_sandbox::Error::Start(_)));
    // The plan is still good.
    let (well, _) = script(&stage, &plan, "true");
    assert!(well);
}

/// Runs a shell script inside what [`Plan::contain`] makes, as `user`; what it printed, and whether it ended well. The example program
/// starts it, because only a process of one thread can be contained.
fn contained(stage: &Stage, network: &str, user: Option<u32>, text: &str) -> (bool, String) {
    let built = std::env::current_exe().unwrap();
    let example = built.parent().unwrap().parent().unwrap().join("examples/confine");
    let mut command = Command::new(example);
    command.args(["together", network, text]).env("TMPDIR", stage.scene.workspace.join("tmp"));
    command.current_dir(&stage.scene.workspace).stdin(Stdio::null());
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let output =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    (output.status.success(), text)
}
/// What a session finds in `/dev`, held against a list: whatever else appears there is reached by accident.
#[test]
fn nothing_is_in_dev_but_what_leads_nowhere() {
    let _alone = alone();
    let machine = probe();
    if !(machine.can_confine() && machine.mount_namespace) {
        pithos_skipped::test("there is no mount namespace here");
        return;
    }
    for user in users() {
        let stage = Stage::build("dev", user);
        devices_are_own(&stage, user);
    }
}

fn devices_are_own(stage: &Stage, user: Option<u32>) {
    let (well, text) = contained(stage, "off", user, "ls /dev; ls /dev/pts; ls -A /dev/shm");
    assert!(well, "{text}");
    let expected = "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero ptmx";
    assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), expected);
    let (well, text) = contained(
        stage,
        "off",
        user,
        "set -e; echo x >/dev/null; head -c 2 /dev/zero | wc -c; echo y >/dev/shm/y; cat /dev/shm/y; echo z | cat /dev/fd/0; \
         if echo >/dev/new; then exit 1; fi; script -qc 'tty' /dev/null | tr -d '\\r'",
    );
    assert!(well, "{text}");
    assert!(text.contains("2\ny\nz\n") && text.contains("/dev/pts/0"), "{text}");
}

#[test]
fn processes_inside_are_alone_counted_and_end_together() {
    let _alone = alone();
    let machine = probe();
    if !(machine.can_confine() && machine.pid_namespace) {
        pithos_skipped::test("there is no pid namespace here");
        return;
    }
    for user in users() {
        let stage = Stage::build("processes", user);
        let (_, text) =
            contained(&stage, "off", user, "ls -d /proc/[0-9]* | wc -l; cat /proc/sys/kernel/pid_max");
        let mut numbers = text.split_whitespace().map(|word| word.parse::<u64>().unwrap());
        assert!(numbers.next().unwrap() <= 6, "{text}");
        if machine.processes_bounded {
            assert_eq!(numbers.next(), Some(2048 + 300), "{text}");
            // Root too cannot pass the bound: dash says so and ends.
            let (well, text) =
                contained(&stage, "off", user, "i=0; while [ $i -lt 3000 ]; do sleep 20 & i=$((i+1)); done");
            assert!(!well && text.to_lowercase().contains("fork"), "{text}");
        }
        let name = format!("{}.5", 100_000 + std::process::id());
        contained(&stage, "off", user, &format!("setsid sleep {name} & (setsid sleep {name} &) ; sleep 0.2"));
        let left = Command::new("pgrep").args(["-f", &format!("sleep {name}")]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&left.stdout), "", "left after the first process ended");
    }
}

#[test]
fn the_loopback_of_a_container_is_shared_by_its_commands_and_private() {
    let _alone = alone();
    let machine = probe();
    if !(machine.can_confine() && machine.network_namespace) {
        pithos_skipped::test("there is no network namespace here");
        return;
    }
    for user in users() {
        let stage = Stage::build("together", user);
        let script = format!(
            "perl -MIO::Socket::INET -e 'my $l = IO::Socket::INET->new(Listen => 1, LocalAddr => \"127.0.0.1\") or exit 3; \
             IO::Socket::INET->new(PeerAddr => \"127.0.0.1\", PeerPort => $l->sockport) or exit 4; \
             IO::Socket::INET->new(PeerAddr => \"127.0.0.1\", PeerPort => {}) and exit 5; exit 0'",
            stage.scene.tcp_port
        );
        let (well, text) = contained(&stage, "loopback", user, &script);
        assert!(well, "as {user:?}: {text}");
    }
}
