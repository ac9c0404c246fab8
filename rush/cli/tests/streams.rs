//! What runs in this process behaves at its ends like the program: output does not wait with the input, a pipe is a pipe to
//! whoever looks, messages come between what is written around them.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Long enough for a loaded machine: only a failure takes it.
const PATIENCE: Duration = Duration::from_secs(30);

fn command(script: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rush"));
    command.args(["-c", script]).env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C");
    command
}

fn run(script: &str) -> Output {
    command(script).stdin(Stdio::null()).output().expect("rush starts")
}

fn text(script: &str) -> String {
    let output = run(script);
    String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8")
}

/// Starts a script, feeds it `input` without ending it, and gives the first line that comes.
fn first_line(script: &str, input: &str) -> Option<String> {
    let mut child: Child =
        command(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("rush starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("written");
    let stdout = child.stdout.take().expect("a pipe");
    let (sender, receiver) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut lines = BufReader::new(stdout);
        let mut line = String::new();
        let _ = lines.read_line(&mut line);
        let _ = sender.send(line);
        let _ = lines.read_to_end(&mut Vec::new());
    });
    let line = receiver.recv_timeout(PATIENCE).ok();
    drop(stdin);
    let _ = child.wait();
    let _ = reader.join();
    line
}

#[test]
fn output_does_not_wait_with_the_input() {
    for (utility, expected) in [
        ("cat", "a\n"),
        ("cat -n", "     1\ta\n"),
        ("cat -A -", "a$\n"),
        ("grep -n .", "1:a\n"),
        ("grep -v x", "a\n"),
        ("grep -o a", "a\n"),
        ("tr a b", "b\n"),
        ("cut -c1", "a\n"),
        ("uniq", "a\n"),
        ("head -n5", "a\n"),
        ("tail -n +1", "a\n"),
        ("tee", "a\n"),
        ("xargs -n1 echo", "a\n"),
        ("xargs -I X echo X", "a\n"),
        ("cat | cat", "a\n"),
        ("while read -r x; do echo $x; done", "a\n"),
        ("{ cat; }", "a\n"),
        ("(cat -)", "a\n"),
    ] {
        assert_eq!(first_line(utility, "a\nb\n").as_deref(), Some(expected), "{utility}");
    }
    // Only the first of them reads what must not wait.
    assert_eq!(text("coproc cat; echo hi >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo got $x"), "got hi\n");
}

#[test]
fn output_does_not_wait_with_a_fifo() {
    let folder = tempfile::tempdir().expect("a folder");
    let fifo = folder.path().join("fifo");
    let script =
        |utility: &str| format!("mkfifo {0} 2>/dev/null; (cat > {0}) & {utility} {0}", fifo.display());
    for utility in ["cat", "cat -n", "grep -n .", "cut -c1-3", "head -n3", "tail -n +1", "uniq"] {
        let script = format!("exec 3<&0; {}", script(utility).replace("(cat", "(cat <&3"));
        let line = first_line(&script, "abc\nd\n");
        assert!(line.is_some_and(|line| line.contains("abc")), "{utility}");
    }
}

#[test]
fn a_pipe_is_a_pipe_to_whoever_looks() {
    assert_eq!(text("echo x | [ -p /dev/stdin ]; echo $?"), "0\n");
    assert_eq!(text("echo x | { [[ -p /dev/fd/0 ]] && cat; }"), "x\n");
    assert_eq!(text("f() { [ -p /dev/stdin ] && echo pipe; }; echo x | f"), "pipe\n");
    for script in
        ["echo x | stat -Lc %F /dev/stdin", "stat -Lc %F - <<<x", "stat -Lc %F /dev/stdin <<X\ny\nX"]
    {
        assert_eq!(text(script), "fifo\n", "{script}");
    }
    // A program finds what is left, whatever of it was read before, and however much it is.
    assert_eq!(text("printf '1\\n2\\n3\\n' | { read -r x; /usr/bin/cat; echo $x; }"), "2\n3\n1\n");
    let long = "printf '%0200000d' 1";
    assert_eq!(text(&format!("{long} | /usr/bin/wc -c")), "200000\n");
    assert_eq!(text(&format!("{long} | stat -Lc %F /dev/stdin")), "fifo\n");
    assert_eq!(text(&format!("x=$({long} | /usr/bin/head -c 3); echo $x")), "000\n");
    assert_eq!(text(&format!("{long} | {{ /usr/bin/head -c 3; echo; wait; }}")), "000\n");
    // As in bash, what does not fit into a pipe comes as a file.
    assert_eq!(text(&format!("x=$({long}); stat -Lc %F - <<<$x; wc -c <<<$x")), "regular file\n200001\n");
}

#[test]
fn what_is_read_from_a_pipe_is_gone() {
    assert_eq!(text("printf '1\\n2\\n' | { head -n1; cat; }"), "1\n");
    assert_eq!(text("{ head -n1; cat; } <<X\n1\n2\nX"), "1\n");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("f");
    std::fs::write(&file, "1\n2\n3\n").expect("written");
    assert_eq!(text(&format!("{{ head -n1; cat; }} < {}", file.display())), "1\n2\n3\n");
    assert_eq!(text(&format!("{{ grep -m1 2; cat; }} < {}", file.display())), "2\n3\n");
    assert_eq!(text(&format!("exec 3< {}; (cat <&3) & wait", file.display())), "1\n2\n3\n");
    assert_eq!(text(&format!("wc < {}; wc -c < {0}", file.display())), "3 3 6\n6\n");
}

#[test]
fn messages_come_in_between() {
    let output = text("exec 2>&1; cat /missing - /missing <<<x; ls /dev/null /missing");
    assert_eq!(
        output,
        "cat: /missing: No such file or directory\nx\ncat: /missing: No such file or directory\n\
         ls: cannot access '/missing': No such file or directory\n/dev/null\n"
    );
}

#[test]
fn a_full_device_is_told_as_the_program_tells_it() {
    for (script, expected) in [
        ("ls / > /dev/full", "ls: write error: No space left on device\n2\n"),
        ("grep -c x /dev/null > /dev/full", "grep: write error: No space left on device\n2\n"),
        ("cat /etc/passwd > /dev/full", "cat: write error: No space left on device\n1\n"),
        ("echo x | tee > /dev/full", "tee: 'standard output': No space left on device\n1\n"),
        ("wc </dev/null > /dev/full", "wc: write error\n1\n"),
    ] {
        assert_eq!(text(&format!("exec 2>&1; {script}; echo $?")), expected, "{script}");
    }
}

#[test]
fn a_file_that_grows_too_large_ends_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = format!("cd {}; (ulimit -f 1; seq 100000 > out); echo $?", folder.path().display());
    let output = run(&script);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "153\n");
    assert!(output.status.success());
}

/// Standard output or error of the command itself that takes nothing: no panic, an honest status.
#[test]
fn a_stream_that_takes_nothing_is_no_crash() {
    let gone = || Stdio::from(std::io::pipe().expect("a pipe").1);
    let full = || Stdio::from(std::fs::File::options().write(true).open("/dev/full").expect("a device"));
    for words in
        [&["--version"][..], &["--help"], &["daemon", "status"], &["daemon", "--help"], &["--nothing"]]
    {
        for (kind, sink) in [("gone", &gone as &dyn Fn() -> Stdio), ("full", &full)] {
            for on_output in [true, false] {
                let mut command = Command::new(env!("CARGO_BIN_EXE_rush"));
                command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
                if on_output {
                    command.stdout(sink())
                } else {
                    command.stderr(sink())
                };
                let output = command.output().expect("rush starts");
                let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
                let status = output.status;
                assert!(!told.contains("panicked"), "{words:?}, {kind}: {told}");
                assert!(
                    !matches!(status.code(), Some(101)) && status.signal() != Some(6),
                    "{words:?}, {kind}: {status}"
                );
                if on_output && kind == "full" && words[0] != "--nothing" {
                    assert_eq!(status.code(), Some(1), "{words:?}");
                    assert!(told.contains("No space left"), "{words:?}: {told}");
                }
            }
        }
    }
}
