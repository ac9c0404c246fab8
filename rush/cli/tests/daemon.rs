//! The daemon and its client: a command run there is as if run here, and whoever is killed leaves nothing behind.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A daemon in a folder of its own, stopped at the end.
struct Daemon {
    folder: TempDir,
}

impl Daemon {
    /// `None` where no client may use a daemon.
    fn start() -> Option<Daemon> {
        if !may_use() {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let daemon = Daemon { folder };
        // Not captured: the daemon keeps standard error.
        let status = daemon.rush(&["daemon", "start", "--pool", "2"]).status().expect("started");
        assert!(status.success());
        Some(daemon)
    }

    fn rush(&self, words: &[&str]) -> Command {
        // What is ignored on entry cannot be trapped, and whoever runs the tests in the background ignores interrupts, or
        // leaves descriptors open: with those a client runs its command itself.
        let close = r#"for fd in /proc/$$/fd/*; do fd=${fd##*/}; if (( fd > 2 )); then exec {fd}>&-; fi; done; exec "$@""#;
        let mut command = Command::new("env");
        command.args([
            "--default-signal",
            env!("CARGO_BIN_EXE_rush"),
            "-c",
            close,
            "rush",
            env!("CARGO_BIN_EXE_rush"),
        ]);
        command.args(words).env("RUSH_DAEMON_DIR", self.folder.path().join("d")).env("RUSH_TRACE", "connect");
        command
    }

    fn run(&self, script: &str) -> Output {
        let output = self.rush(&["--connect", "-c", script]).output().expect("rush");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(errors.contains("rush: connect: ran at daemon"), "{errors}");
        output
    }

    /// A client whose command prints process ids: the client, and the ids of the first line.
    fn client(&self, script: &str) -> (Child, Vec<u32>) {
        let mut child =
            self.rush(&["--connect", "-c", script]).stdout(Stdio::piped()).spawn().expect("client");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("a line");
        (child, line.split_whitespace().map(|pid| pid.parse().expect("a number")).collect())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.rush(&["daemon", "stop"]).output();
    }
}

/// Whether a client may run its command elsewhere: with `no_new_privs` it may not.
fn may_use() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let may = status.lines().any(|line| line == "NoNewPrivs:\t0");
    if !may {
        pithos_skipped::test("with no_new_privs no client may use a daemon");
    }
    may
}

fn alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Waits until none of the processes is left, not even an ended one that nobody has reaped, and says how long that took.
fn wait_gone(pids: &[u32]) {
    let start = Instant::now();
    while pids.iter().any(|pid| alive(*pid)) {
        assert!(start.elapsed() < Duration::from_secs(20), "still there: {pids:?}");
        std::thread::sleep(Duration::from_micros(500));
    }
    println!("{} processes were gone after {:.1} ms", pids.len(), start.elapsed().as_secs_f64() * 1e3);
}

/// The processes below `pid` that have this command line.
fn below(pid: u32, command: &str) -> Vec<u32> {
    let output = Command::new("ps").args(["axo", "pid,ppid,args"]).output().expect("ps");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows: Vec<(u32, u32, String)> = text
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (pid, parent) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            Some((pid, parent, words.collect::<Vec<_>>().join(" ")))
        })
        .collect();
    let mut tree = vec![pid];
    let mut at = 0;
    while let Some(parent) = tree.get(at).copied() {
        tree.extend(rows.iter().filter(|row| row.1 == parent).map(|row| row.0));
        at += 1;
    }
    rows.iter().filter(|row| tree.contains(&row.0) && row.2 == command).map(|row| row.0).collect()
}

#[test]
fn a_command_runs_there_as_it_would_here() {
    let Some(daemon) = Daemon::start() else { return };
    let mut command =
        daemon.rush(&["--connect", "-c", "echo $0 $1 $X $PWD; umask; cat >&2; exit 7", "name", "one"]);
    command
        .env("X", "y z")
        .current_dir("/usr")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("client");
    std::io::Write::write_all(&mut child.stdin.take().expect("piped"), b"in\n").expect("written");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().next(), Some("name one y z /usr"));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("in\n"));
    assert_eq!(output.status.code(), Some(7));
}

/// What is put before the client so that it may do less than the daemon, ignores other signals, or has other descriptors.
const RESTRICTIONS: &[&str] = &[
    "nice -n 5 @",
    "setpriv --no-new-privs @",
    "setpriv --bounding-set -sys_time @",
    "setpriv --groups 12345 @",
    "unshare --uts @",
    "unshare --mount @",
    "unshare --user --map-root-user @",
    "unshare --pid --fork @",
    "chrt --batch 0 @",
    "taskset 1 @",
    "env --ignore-signal=HUP @",
    "env --ignore-signal=PIPE @",
    "env --block-signal=USR1 @",
    "prlimit --nofile=100 @",
    "prlimit --cpu=50 @",
    "bash -c 'ulimit -u 5000; exec @' x",
    "bash -c 'exec 3<.; exec @' x",
    "bash -c 'exec 17>&1; exec @' x",
    "bash -c 'exec 0<&-; exec @' x",
    "bash -c 'exec 1>&-; exec @' x",
    "bash -c 'exec 0<&- 1>&- 2>&-; exec @' x",
];

#[test]
fn a_client_that_may_do_less_runs_its_command_itself() {
    let Some(daemon) = Daemon::start() else { return };
    let file = daemon.folder.path().join("pid");
    let mut tried = 0;
    for restriction in RESTRICTIONS {
        let rush = env!("CARGO_BIN_EXE_rush");
        // The command is run by a child of the client's own process, or by the client: never below the daemon.
        let client = format!("{rush} --connect -c \"echo \\$\\$ >'{}'; cat\"", file.display());
        let line = if restriction.starts_with("bash") {
            restriction.replace('@', &client.replace('\'', "'\\''"))
        } else {
            restriction.replace('@', &client)
        };
        let _ = std::fs::remove_file(&file);
        let mut command = daemon.rush(&[]);
        let output = command
            .args(["-c", &format!("echo $$; exec {line}")])
            .stdin(Stdio::null())
            .output()
            .expect("run");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!errors.contains("ran at daemon"), "{restriction}: {errors}");
        if file.exists() {
            tried += 1;
        } else {
            // Not everybody may do everything.
            eprintln!("skipped: {restriction}: {errors}");
        }
    }
    assert!(tried > 8, "only {tried} of the restrictions can be had here");
    assert_eq!(daemon.run("echo there").stdout, b"there\n");
}

#[test]
fn the_daemon_keeps_nothing_of_who_starts_it() {
    if !may_use() {
        return;
    }
    let daemon = Daemon { folder: tempfile::tempdir().expect("a folder") };
    let file = daemon.folder.path().join("kept");
    let start = format!(
        "trap '' HUP USR1; exec 5>'{}' 33>&5; {} daemon start --pool 2",
        file.display(),
        env!("CARGO_BIN_EXE_rush")
    );
    assert!(daemon.rush(&["-c", &start]).status().expect("started").success());
    let output = daemon.run("ls -l /proc/$PPID/fd /proc/$$/fd; grep SigIgn /proc/$PPID/status; trap 'echo caught' HUP; kill -HUP $$");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!text.contains("kept"), "{text}");
    assert!(text.ends_with("caught\n"), "{text}");
}

#[test]
fn no_command_sees_another_ones_state() {
    let Some(daemon) = Daemon::start() else { return };
    for _ in 0..8 {
        let output = daemon.run("echo ${seen-no}; seen=yes; cd /; set -e");
        assert_eq!(output.stdout, b"no\n");
    }
}

#[test]
fn the_place_is_the_users_own() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let Some(daemon) = Daemon::start() else { return };
    let folder = daemon.folder.path().join("d");
    assert_eq!(folder.metadata().expect("there").mode() & 0o777, 0o700);
    assert_eq!(folder.join("rush.sock").metadata().expect("there").mode() & 0o777, 0o600);
    // A folder that others may enter is not trusted: the command runs here.
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).expect("changed");
    let output = daemon.rush(&["--connect", "-c", "echo ok"]).output().expect("rush");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).expect("changed");
    assert_eq!(output.stdout, b"ok\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("running here"));
}

#[test]
fn without_a_daemon_the_client_is_the_shell() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_rush"))
        .args(["--connect", "-c", "echo $((6 * 7)); exit 3"])
        .env("RUSH_DAEMON_DIR", folder.path())
        .output()
        .expect("rush");
    assert_eq!((&output.stdout[..], output.status.code()), (&b"42\n"[..], Some(3)));
}

#[test]
fn a_killed_client_leaves_nothing() {
    let Some(daemon) = Daemon::start() else { return };
    let (mut client, pids) = daemon.client("echo $$; sleep 100 & sleep 100 | cat");
    let shell = pids[0];
    let start = Instant::now();
    let (mut sleeps, mut cat) = (Vec::new(), Vec::new());
    while sleeps.len() < 2 || cat.is_empty() {
        assert!(start.elapsed() < Duration::from_secs(20), "{sleeps:?} {cat:?}");
        sleeps = below(shell, "sleep 100");
        cat = below(shell, "cat");
    }
    client.kill().expect("killed");
    client.wait().expect("reaped");
    wait_gone(&[&sleeps[..], &cat[..], &[shell]].concat());
}

#[test]
fn killed_clients_leave_nothing_however_the_ends_fall_together() {
    let Some(daemon) = Daemon::start() else { return };
    for _ in 0..40 {
        let (mut client, pids) = daemon.client("sleep 100 & echo $! $$; sleep 100 | cat");
        client.kill().expect("killed");
        client.wait().expect("reaped");
        wait_gone(&pids);
    }
}

#[test]
fn a_process_that_hides_from_its_parent_is_found() {
    let Some(daemon) = Daemon::start() else { return };
    let script = "(setsid sleep 100 >/dev/null & echo $! $$); sleep 100";
    let (mut client, pids) = daemon.client(script);
    client.kill().expect("killed");
    client.wait().expect("reaped");
    wait_gone(&pids);
}

#[test]
fn a_shell_that_is_killed_ends_its_client_the_same_way() {
    use std::os::unix::process::ExitStatusExt;
    let Some(daemon) = Daemon::start() else { return };
    assert_eq!(daemon.run("kill -9 $$").status.signal(), Some(9));
    // And what it had started goes with it.
    let (mut client, pids) = daemon.client("sleep 100 & echo $! $$; kill -9 $$");
    client.wait().expect("ended");
    wait_gone(&pids);
}

#[test]
fn background_processes_of_a_command_that_ended_live_on() {
    let Some(daemon) = Daemon::start() else { return };
    let output = daemon.run("sleep 100 >/dev/null 2>&1 & echo $!");
    let pid: u32 = String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number");
    // Another shell that dies makes the daemon look for strays: this is none.
    let _ = daemon.run("kill -9 $$");
    assert!(alive(pid));
    let stopped = daemon.rush(&["daemon", "stop"]).output().expect("rush");
    assert!(stopped.status.success());
    wait_gone(&[pid]);
}

#[test]
fn a_program_in_the_shells_place_ends_the_client_as_it_ends() {
    let Some(daemon) = Daemon::start() else { return };
    // Before the daemon has looked at the client, and after.
    for delay in ["0", "0.1"] {
        let output = daemon.run(&format!("exec sh -c 'sleep {delay}; echo there; exit 3'"));
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(3), &b"there\n"[..]));
    }
}

#[test]
fn the_clients_streams_are_given_back_before_the_answer() {
    let Some(daemon) = Daemon::start() else { return };
    // The background process keeps its shell, so that it can be looked at.
    let output = daemon.run("sleep 100 >/dev/null 2>&1 & echo $$");
    let shell = String::from_utf8_lossy(&output.stdout).trim().to_string();
    for stream in 0..3 {
        let link = std::fs::read_link(format!("/proc/{shell}/fd/{stream}")).expect("the shell lives");
        assert_eq!(link, Path::new("/dev/null"));
    }
}

#[test]
fn clients_in_a_row_find_shells() {
    let Some(daemon) = Daemon::start() else { return };
    // More than the pool holds, faster than it is filled.
    for number in 0..40 {
        let output = daemon.run(&format!("echo {number}"));
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{number}\n"));
    }
    let clients: Vec<Child> = (0..8)
        .map(|_| daemon.rush(&["--connect", "-c", "sleep 0.2; exit 3"]).spawn().expect("client"))
        .collect();
    for mut client in clients {
        assert_eq!(client.wait().expect("ended").code(), Some(3));
    }
}

#[test]
fn signals_reach_the_command() {
    let Some(daemon) = Daemon::start() else { return };
    let (mut client, _) = daemon.client("trap 'exit 9' INT; echo 1; while :; do sleep 0.01; done");
    let _ = Command::new("kill").args(["-INT", &client.id().to_string()]).status();
    assert_eq!(client.wait().expect("ended").code(), Some(9));
}

#[test]
fn a_killed_daemon_leaves_nothing() {
    let Some(daemon) = Daemon::start() else { return };
    let (mut client, pids) = daemon.client("sleep 100 & echo $! $$; wait");
    let status = daemon.rush(&["daemon", "status"]).output().expect("rush");
    let text = String::from_utf8_lossy(&status.stdout).into_owned();
    let process = text.split("process ").nth(1).and_then(|rest| rest.split(',').next()).expect("a process");
    let _ = Command::new("kill").args(["-9", process]).status();
    client.wait().expect("ended");
    // Its socket answers until the kernel has taken it down, which may be after the shells are gone.
    wait_gone(&[pids, vec![process.parse().expect("a number")]].concat());
    // Shells that waited hold it until they are gone as well.
    let start = Instant::now();
    while daemon.rush(&["daemon", "status"]).status().expect("rush").code() != Some(1) {
        assert!(start.elapsed() < Duration::from_secs(60), "the socket still answers");
    }
}
