//! Signals: what a shell does that is asked to end, or to interrupt what it runs, wherever it is at the time. The expectations
//! are what bash 5.2 prints.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const RUSH: &str = env!("CARGO_BIN_EXE_rush");

/// How long anything may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A shell that runs `script`, which makes the file `ready` when it can be signalled.
fn start(folder: &Path, script: &str) -> Child {
    let file =
        || std::fs::OpenOptions::new().append(true).create(true).open(folder.join("out")).expect("a file");
    let child = Command::new("env")
        .args(["--default-signal", RUSH, "-c", script])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .stdout(file())
        .stderr(file())
        .current_dir(folder)
        .spawn()
        .expect("env starts");
    wait_until(|| folder.join("ready").exists(), script);
    // It comes to what follows.
    std::thread::sleep(Duration::from_millis(100));
    child
}

#[track_caller]
fn wait_until(mut done: impl FnMut() -> bool, what: &str) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "hangs: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What the shell printed, its status, and the signal that ended it.
#[track_caller]
fn signalled(script: &str, signal: i32) -> (String, Option<i32>, Option<i32>) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = start(folder.path(), script);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::from_named_raw(signal).expect("a signal"))
        .expect("sent");
    let mut status = None;
    wait_until(
        || {
            status = child.try_wait().expect("waits");
            status.is_some()
        },
        script,
    );
    let status = status.expect("ended");
    let text = std::fs::read_to_string(folder.path().join("out")).expect("the output");
    (text, status.code(), status.signal())
}

/// What a shell may be doing when the signal comes. `@` is where it says that it is ready.
const BUSY: &[&str] = &[
    "@; sleep 100",
    "@; /bin/sleep 9",
    "@; while :; do :; done",
    "@; for ((;;)); do x=$((x+1)); done",
    "@; (sleep 100; echo x); echo y",
    "@; (trap 'echo in' EXIT; sleep 100)",
    "@; ( : $BASHPID; /bin/sleep 9 )",
    "x=$(@; sleep 100; echo x); echo $x",
    "x=$(@; /bin/sleep 9; echo x); echo $x",
    "echo $(@; sleep 100)",
    "@; /bin/sleep 9 | cat; echo y",
    "@; cat /dev/zero | /bin/sleep 9",
    "@; read x </dev/zero",
    "@; mapfile </dev/zero",
    "mkfifo f; @; x=$(<f)",
    "mkfifo f; @; read x <f; echo y",
    "mkfifo f; @; echo y >f; echo y",
    "f() { /bin/sleep 9 & wait; }; @; f; echo y",
    "@; coproc sleep 9; wait",
    "@; /bin/sleep 9 & wait $!; echo y",
    "@; eval 'sleep 100; echo y'; echo y",
    "@; . /dev/stdin <<< 'sleep 100'; echo y",
    "set -e; @; ! sleep 100 || echo y",
    "@; if sleep 100; then echo y; else echo y; fi",
    "@; cat /dev/zero >/dev/null; echo y",
    "@; sort </dev/zero >/dev/null; echo y",
    "@; exec 3< <(/bin/sleep 9); cat <&3; echo y",
];

/// The signals that end a shell.
const ENDING: [i32; 6] = [
    libc_signal::HUP,
    libc_signal::TERM,
    libc_signal::USR1,
    libc_signal::USR2,
    libc_signal::ALRM,
    libc_signal::INT,
];

mod libc_signal {
    pub const HUP: i32 = 1;
    pub const INT: i32 = 2;
    pub const USR1: i32 = 10;
    pub const USR2: i32 = 12;
    pub const ALRM: i32 = 14;
    pub const TERM: i32 = 15;
}

#[test]
fn the_exit_trap_runs_whatever_a_signal_ends() {
    for (n, busy) in BUSY.iter().enumerate() {
        // Each with TERM and one other signal; SIGINT waits for a program and is the program's own business.
        for signal in [libc_signal::TERM, ENDING[n % 5]] {
            let script = format!("trap 'echo bye' EXIT; {}", busy.replace('@', ": >ready"));
            let (text, _, killed) = signalled(&script, signal);
            assert_eq!((text.as_str(), killed), ("bye\n", Some(signal)), "{script}");
        }
    }
}

#[test]
fn without_a_trap_the_signal_ends_it_at_once() {
    for busy in BUSY {
        let script = busy.replace('@', ": >ready");
        let (text, _, killed) = signalled(&script, libc_signal::TERM);
        assert_eq!((text.as_str(), killed), ("", Some(libc_signal::TERM)), "{script}");
    }
}

#[test]
fn the_status_is_the_signals_whatever_the_trap_does() {
    for action in
        ["exit 3", "false", "kill -TERM $$", "sleep 0.1", "(exit 4)", "set -e; false", "x=$(echo y)"]
    {
        let (_, _, killed) =
            signalled(&format!("trap '{action}' EXIT; : >ready; sleep 100"), libc_signal::TERM);
        assert_eq!(killed, Some(libc_signal::TERM), "{action}");
    }
    let (text, ..) = signalled("trap 'echo $?' EXIT; : >ready; sleep 100", libc_signal::TERM);
    assert_eq!(text, "0\n");
}

#[test]
fn a_program_that_lives_on_after_an_interrupt_saves_the_script() {
    for script in [
        ": >ready; /bin/sleep 0.6; echo on $?",
        ": >ready; /bin/sleep 0.6 | cat; echo on $?",
        ": >ready; x=$(/bin/sleep 0.6; echo 0); echo on $x",
        ": >ready; (: $BASHPID; /bin/sleep 0.6); echo on $?",
        "trap 'echo bye' EXIT; : >ready; /bin/sleep 0.6; trap - EXIT; echo on $?",
    ] {
        assert_eq!(signalled(script, libc_signal::INT), ("on 0\n".to_owned(), Some(0), None), "{script}");
    }
    // One that dies of it takes the script along.
    let script = "trap 'echo bye' EXIT; : >ready; /bin/sh -c 'sleep 0.5; kill -INT $$'; echo on";
    assert_eq!(signalled(script, libc_signal::INT), ("bye\n".to_owned(), None, Some(libc_signal::INT)));
}

#[test]
fn a_trapped_signal_interrupts_utilities_and_waits() {
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        for utility in ["sleep 100", "cat /dev/zero >/dev/null", "sort </dev/zero >/dev/null"] {
            let script = format!("trap 'echo got' {name}; : >ready; {utility}; echo on $?");
            assert_eq!(
                signalled(&script, number),
                (format!("got\non {}\n", 128 + number), Some(0), None),
                "{script}"
            );
        }
    }
    for (name, number) in [("USR1", 10), ("TERM", 15), ("ALRM", 14), ("HUP", 1)] {
        for wait in ["wait", "wait $!", "wait -n"] {
            let script = format!("trap : {name}; /bin/sleep 9 & : >ready; {wait}; echo $?; kill $!");
            assert_eq!(
                signalled(&script, number),
                (format!("{}\n", 128 + number), Some(0), None),
                "{script}"
            );
        }
    }
}

/// Whoever sees what a script printed may interrupt it before the program that comes next is there.
#[test]
fn an_interrupt_that_comes_before_the_program_ends_both() {
    for script in [
        "echo ready; /bin/sleep 1000; echo no",
        "trap : EXIT; echo ready; /bin/sleep 1000; echo no",
        "echo ready; /bin/sleep 1000 | /bin/cat; echo no",
    ] {
        for round in 0..60 {
            let mut command = Command::new("env");
            command
                .args(["--default-signal", RUSH, "-c", script])
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null());
            let mut child = command.process_group(0).spawn().expect("the shell starts");
            let mut output = child.stdout.take().expect("a pipe");
            let mut line = [0; 6];
            output.read_exact(&mut line).expect("a line");
            // More or less soon, but always about when the program is started.
            for _ in 0..round * 50 {
                std::hint::spin_loop();
            }
            let group = rustix::process::Pid::from_child(&child);
            rustix::process::kill_process_group(group, rustix::process::Signal::INT).expect("it lives");
            wait_until(|| child.try_wait().expect("ours").is_some(), &format!("{script}, round {round}"));
            let status = child.wait().expect("ours");
            assert_eq!(status.signal(), Some(libc::SIGINT), "{script}, round {round}");
            let mut rest = String::new();
            output.read_to_string(&mut rest).expect("text");
            assert_eq!(rest, "");
        }
    }
}

#[test]
fn a_signal_that_comes_with_the_end_of_a_child_is_not_waited_over() {
    // The child sends it as the last thing that it does, so that both arrive together; the other child would hold `wait` up.
    for (script, status, told) in [
        ("trap 'echo bye; kill $p' EXIT; sleep 1000 & p=$!; (kill -TERM $$) & wait", 143, "bye\n"),
        ("trap 'echo bye; kill $p' EXIT; sleep 1000 & p=$!; (sleep 0.1; kill -HUP $$) & wait", 129, "bye\n"),
        (
            "trap 'echo bye; kill $p' EXIT; sleep 1000 & p=$!; (sleep 0.1; kill -HUP $$) & wait $p",
            129,
            "bye\n",
        ),
        (
            "trap 'echo bye; kill $p' EXIT; sleep 1000 & p=$!; (sleep 0.1; kill -USR1 $$) & wait -n $p",
            138,
            "bye\n",
        ),
        (
            "trap 'kill $p; echo t' USR1; sleep 1000 & p=$!; (sleep 0.1; kill -USR1 $$) & wait; echo",
            0,
            "t\n\n",
        ),
    ] {
        for _ in 0..10 {
            let output = Command::new("timeout")
                .args(["60", "env", "--default-signal", RUSH, "-c", script])
                .stderr(Stdio::null())
                .output()
                .expect("timeout runs");
            let ended = output.status.code().or(output.status.signal().map(|signal| 128 + signal));
            assert_eq!(
                (ended, String::from_utf8_lossy(&output.stdout).as_ref()),
                (Some(status), told),
                "{script}"
            );
        }
    }
}
