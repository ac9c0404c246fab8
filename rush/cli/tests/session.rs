//! `rush session` as a client sees it: the framed protocol of `docs/rush-sessions.md` over standard input and output.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

struct Client {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Client {
    fn start() -> Client {
        let mut child = Command::new("env")
            .args(["--default-signal", env!("CARGO_BIN_EXE_rush"), "session"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("rush starts");
        let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let mut client = Client { child, input, output };
        assert_eq!(client.hear()["type"], "ready");
        client
    }

    fn say(&mut self, message: &Value) {
        let body = message.to_string();
        let mut frame = (body.len() as u32).to_le_bytes().to_vec();
        frame.push(0);
        frame.extend_from_slice(body.as_bytes());
        self.input.write_all(&frame).expect("written");
    }

    fn hear(&mut self) -> Value {
        let mut header = [0; 5];
        self.output.read_exact(&mut header).expect("a header");
        let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        let mut body = vec![0; length as usize];
        self.output.read_exact(&mut body).expect("a body");
        serde_json::from_slice(&body).expect("JSON")
    }

    /// The next message of this type; what was written to stdout before it.
    fn until(&mut self, kind: &str) -> (Value, String) {
        let mut text = String::new();
        loop {
            let message = self.hear();
            if message["type"] == kind {
                return (message, text);
            }
            assert_eq!(message["type"], "output", "{message}");
            if message["stream"] == "stdout" {
                text.push_str(message["data"].as_str().expect("text"));
            }
        }
    }

    fn run(&mut self, session: u64, script: &str) -> (Value, String) {
        self.say(&json!({"type": "run", "id": 9, "session": session, "script": script}));
        self.until("done")
    }
}

#[test]
fn a_session_keeps_its_state_and_tells_how_runs_ended() {
    let mut client = Client::start();
    let (done, _) = client.run(1, "x=1; cd /usr; f() { echo f$x; }");
    assert_eq!((&done["status"], &done["cwd"], &done["session"]), (&json!(0), &json!("/usr"), &json!(1)));
    let (done, text) = client.run(1, "f; false | true; echo é; (exit 3)");
    assert_eq!(text, "f1\né\n");
    assert_eq!(done["status"], 3);
    // Single commands too: the function and the `echo` in it, the pipeline, `echo`, the subshell.
    let stages: Vec<_> =
        done["pipelines"].as_array().expect("a list").iter().map(|row| row["stages"].clone()).collect();
    assert_eq!(stages, [json!([0]), json!([0]), json!([1, 0]), json!([0]), json!([3])]);
    assert!(done["pipelines"].as_array().expect("a list").iter().all(|row| row["line"] == 1));
}

#[test]
fn input_is_fed_and_ends() {
    let mut client = Client::start();
    client.say(&json!({"type": "run", "id": 5, "script": "read a; echo got $a; cat", "input": true}));
    client.say(&json!({"type": "stdin", "id": 5, "data": "one\ntwo"}));
    client.say(&json!({"type": "stdin", "id": 5, "data": "\nthree\n", "end": true}));
    let (done, text) = client.until("done");
    assert_eq!((text.as_str(), &done["id"]), ("got one\ntwo\nthree\n", &json!(5)));
    // Without input there is none to wait for.
    assert_eq!(client.run(1, "cat; echo end").1, "end\n");
}

#[test]
fn a_signal_ends_the_run_and_not_the_session() {
    let mut client = Client::start();
    client.say(&json!({"type": "run", "id": 3, "script": "kept=1; echo start; sleep 100\necho not here"}));
    let first = client.hear();
    assert_eq!(first["data"], "start\n");
    client.say(&json!({"type": "signal", "id": 3, "signal": "INT"}));
    let (done, text) = client.until("done");
    assert_eq!((text.as_str(), &done["terminated"]), ("", &json!("interrupted")));
    assert_eq!(client.run(1, "echo $kept").1, "1\n");
    client.say(&json!({"type": "signal", "id": 77, "signal": "INT"}));
    assert_eq!(client.until("failed").0["id"], 77);
}

#[test]
fn a_signal_ends_a_utility_that_only_reads() {
    let mut client = Client::start();
    for script in [
        "echo start; wc /dev/zero",
        "echo start; grep -c x /dev/zero",
        "echo start; cat /dev/zero >/dev/null",
    ] {
        client.say(&json!({"type": "run", "id": 3, "script": format!("{script}\necho not here")}));
        assert_eq!(client.hear()["data"], "start\n");
        client.say(&json!({"type": "signal", "id": 3, "signal": "INT"}));
        let (done, text) = client.until("done");
        assert_eq!((text.as_str(), &done["terminated"]), ("", &json!("interrupted")), "{script}");
    }
    assert_eq!(client.run(1, "echo here").1, "here\n");
}

/// Where a run may be when it is interrupted: nothing of it goes on afterwards. `@` says that it is under way.
const INTERRUPTED: &[&str] = &[
    "@; (sleep 100); echo",
    "@; x=$(sleep 100); echo not here",
    "echo $(echo start >&3; sleep 100)",
    "@; (/bin/sleep 100); echo not here",
    "@; x=$(/bin/sleep 100); echo not here",
    "@; ( ( x=$(sleep 100) ) ); echo not here",
    "@; read x <fifo; echo not here",
    "@; echo x >fifo; echo not here",
    "@; x=$(<fifo); echo not here",
    "@; mapfile <fifo; echo not here",
    "@; sleep 100 | cat; echo not here",
    "@; while :; do :; done; echo not here",
    "@; (trap : USR1; (sleep 100); echo not here); echo not here",
    "trap : USR1; @; (sleep 100; echo not here); echo not here",
    "@; eval 'sleep 100'; echo not here",
    "@; f() { sleep 100; echo not here; }; f; echo not here",
    "@; /bin/sleep 100 & wait; echo not here",
];

#[test]
fn an_interrupt_ends_a_run_wherever_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut client = Client::start();
    client.run(1, &format!("cd '{}'; mkfifo fifo", folder.path().display()));
    for script in INTERRUPTED {
        let script = format!("exec 3>&1\n{}", script.replace('@', "echo start"));
        client.say(&json!({"type": "run", "id": 3, "script": script}));
        assert_eq!(client.hear()["data"], "start\n", "{script}");
        std::thread::sleep(Duration::from_millis(50));
        client.say(&json!({"type": "signal", "id": 3, "signal": "INT"}));
        let (done, text) = client.until("done");
        assert_eq!((text.as_str(), &done["terminated"]), ("", &json!("interrupted")), "{script}");
    }
    assert_eq!(client.run(1, "echo here").1, "here\n");
}

#[test]
fn other_signals_end_utilities_as_they_end_programs() {
    let mut client = Client::start();
    for signal in ["TERM", "KILL", "HUP", "QUIT"] {
        for script in
            ["sleep 100", "/bin/sleep 100", "(sleep 100)", "cat /dev/zero >/dev/null", "sort </dev/zero"]
        {
            client
                .say(&json!({"type": "run", "id": 3, "script": format!("echo start; {script}\necho next")}));
            assert_eq!(client.hear()["data"], "start\n");
            std::thread::sleep(Duration::from_millis(50));
            client.say(&json!({"type": "signal", "id": 3, "signal": signal}));
            let (done, text) = client.until("done");
            assert_eq!((text.as_str(), &done["status"]), ("next\n", &json!(0)), "{signal} {script}");
        }
    }
}

#[test]
fn a_wrong_message_is_told_of_and_ends_nothing() {
    let mut client = Client::start();
    client.run(1, "kept=1");
    for request in [
        json!({"type": "run", "id": 4, "session": "one", "script": ":"}),
        json!({"type": "run", "id": 4, "script": 5}),
        json!({"type": "run", "id": 4}),
        json!({"type": "run", "id": 4, "script": ":", "environment": 7}),
        json!({"type": "signal", "id": 4, "signal": 9}),
        json!({"type": "close", "id": 4, "session": -1}),
        json!({"type": "nothing", "id": 4}),
        json!({"id": 4}),
    ] {
        client.say(&request);
        assert_eq!(client.until("failed").0["id"], 4, "{request}");
    }
    for request in
        [json!([1, 2]), json!(null), json!("run"), json!({"type": "run", "id": "x", "script": ":"})]
    {
        client.say(&request);
        assert_eq!(client.until("failed").0["id"], 0, "{request}");
    }
    assert_eq!(client.run(1, "echo $kept").1, "1\n");
}

#[test]
fn snapshots_restore_and_forks_part_ways() {
    let mut client = Client::start();
    client.run(1, "x=before; cd /usr");
    client.say(&json!({"type": "snapshot", "id": 1}));
    let (made, _) = client.until("snapshotted");
    client.run(1, "x=after; cd /");
    client.say(&json!({"type": "fork", "id": 2}));
    let (forked, _) = client.until("forked");
    let copy = forked["session"].as_u64().expect("a number");
    client.run(copy, "x=copy");
    assert_eq!(client.run(1, "echo $x $PWD").1, "after /\n");
    client.say(&json!({"type": "restore", "id": 3, "session": 1, "snapshot": made["snapshot"]}));
    client.until("restored");
    assert_eq!(client.run(1, "echo $x $PWD").1, "before /usr\n");
    assert_eq!(client.run(copy, "echo $x $PWD").1, "copy /\n");
}

#[test]
fn what_cannot_be_done_is_said() {
    let mut client = Client::start();
    for request in [
        json!({"type": "run", "id": 4, "session": 8, "script": ":"}),
        json!({"type": "restore", "id": 4, "session": 1, "snapshot": 1}),
        json!({"type": "stdin", "id": 4, "data": "x"}),
        json!({"type": "close", "id": 4, "session": 12}),
    ] {
        client.say(&request);
        assert_eq!(client.until("failed").0["id"], 4, "{request}");
    }
    // A run that is left by `exit` ends with that status, and the session goes on until it is closed.
    let (done, _) = client.run(1, "exit 6");
    assert_eq!((&done["status"], &done["exited"]), (&json!(6), &json!(true)));
    assert_eq!(client.run(1, "echo here").1, "here\n");
    client.say(&json!({"type": "close", "id": 5, "session": 1}));
    assert_eq!(client.until("closed").0["session"], 1);
}

#[test]
fn a_client_that_goes_leaves_nothing() {
    let mut client = Client::start();
    client.say(&json!({"type": "run", "id": 1, "script": "sleep 100 & echo $! $$; setsid sleep 100 | cat"}));
    let text = client.hear()["data"].as_str().expect("text").to_string();
    let pids: Vec<u32> = text.split_whitespace().map(|pid| pid.parse().expect("a number")).collect();
    client.child.kill().expect("killed");
    client.child.wait().expect("reaped");
    let start = Instant::now();
    while pids.iter().any(|pid| std::path::Path::new(&format!("/proc/{pid}")).exists()) {
        assert!(start.elapsed() < Duration::from_secs(20), "{pids:?}");
        std::thread::sleep(Duration::from_micros(500));
    }
    println!("all were gone after {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
}

#[test]
fn a_run_that_asked_for_it_is_undone_as_a_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut client = Client::start();
    let path = folder.path().display();
    client.run(
        1,
        &format!("cd {path}; RUSH_UNDO_DIR={path}/.kept; mkdir d; echo old > d/x; echo old > y; type undo"),
    );
    // Nothing is kept before it is asked for.
    client.run(1, "rm y; set -o undo; echo old > y");
    let (_, text) = client.run(
        1,
        "rm -r d; mv y z; for i in 1 2 3; do echo $i > z; done; ls; undo --list | wc -l; undo; ls; cat d/x y",
    );
    assert_eq!(
        text,
        "z\n1\nundone (3): rm -r d; mv y z; for i in 1 2 3; do echo $i > z; done; ls; undo --list | wc -l; undo; ls; cat d/x y\n`undo 2` takes this back\nd\ny\nold\nold\n"
    );
    let (_, text) = client.run(1, "undo 2>&1; set +o undo; rm y; type undo 2>&1");
    assert!(text.contains("nothing to undo") && text.ends_with("undo: not found\n"), "{text}");
}
