//! The history: what is remembered, how it is listed, edited and kept. The commands come from a pipe, as bash reads them with `-i`; the
//! expected texts are bash 5.2's.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Standard output of an interactive shell that reads `lines`, and the history file.
fn run(home: &Path, lines: &str) -> (String, String) {
    let file = home.join("history");
    let mut child = Command::new(env!("CARGO_BIN_EXE_rush"))
        .args(["--norc", "-i"])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home)
        .env("HISTFILE", &file)
        .env("PS1", "p> ")
        .env("PS2", "m> ")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    child.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("ended");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    (String::from_utf8_lossy(&output.stdout).into_owned(), text)
}

fn fresh(lines: &str) -> (String, String) {
    run(tempfile::tempdir().expect("a folder").path(), lines)
}

/// The text with times replaced.
fn timeless(text: &str) -> String {
    let time = |line: &str| line.starts_with('#') && line[1..].bytes().all(|byte| byte.is_ascii_digit());
    text.lines().map(|line| if time(line) { "#TIME\n".into() } else { format!("{line}\n") }).collect()
}

#[test]
fn prompts_and_lines_are_shown_on_standard_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rush"))
        .args(["--norc", "-i"])
        .env("PS1", "p> ")
        .env("PS2", "m> ")
        .env("HISTFILE", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    child.stdin.take().expect("a pipe").write_all(b"for i in 1\ndo :; done\n").expect("written");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "p> for i in 1\nm> do :; done\np> exit\n");
}

#[test]
fn commands_of_several_lines_are_one_entry() {
    let (out, file) = fresh("for i in 1\ndo\necho $i\ndone\necho 'a\nb'\nhistory\n");
    let entries = "for i in 1; do echo $i; done\necho 'a\nb'\nhistory\n";
    assert_eq!(out, "1\na\nb\n    1  for i in 1; do echo $i; done\n    2  echo 'a\nb'\n    3  history\n");
    assert_eq!(file, entries);
}

#[test]
fn times_are_kept_and_shown() {
    let home = tempfile::tempdir().expect("a folder");
    let (out, file) =
        run(home.path(), "shopt -s lithist\nHISTTIMEFORMAT='T '\nif true\nthen echo x; fi\nhistory 2\n");
    assert_eq!(out, "x\n    3  T if true\nthen echo x; fi\n    4  T history 2\n");
    assert_eq!(
        timeless(&file),
        "#TIME\nshopt -s lithist\n#TIME\nHISTTIMEFORMAT='T '\n#TIME\nif true\nthen echo x; fi\n#TIME\nhistory 2\n"
    );
    // With the format set, what stands between two times is one entry; without, every line is.
    let (out, _) =
        run(home.path(), "HISTTIMEFORMAT='%Y '\nhistory -c\nhistory -r\nhistory | grep -c '^ *[0-9]'\n");
    assert_eq!(out, "6\n");
}

#[test]
fn the_list_is_edited() {
    let (out, _) = fresh(
        "echo a >/dev/null\necho b >/dev/null\nhistory -d 1\nhistory -s x y; :\nhistory\nhistory -p '!!' '!?b'\nhistory -d 99; echo $?\n\
         history -d 1-2\nhistory -anr; echo $?\nhistory 1 2; echo not run\nhistory -c\nhistory\n",
    );
    assert_eq!(
        out,
        "    1  echo b >/dev/null\n    2  history -d 1\n    3  x y\n    4  history\nhistory\necho b >/dev/null\n1\n1\n    1  history\n"
    );
}

#[test]
fn fc_lists_and_runs_commands_before_itself() {
    let (out, file) = fresh(
        "echo aa\necho bb\nfc -l\nfc -ln -2 -1\nfc -lr 1 2\nfc -s a=x b=y echo\nfc -e 'sed -i s/aa/edited/' 1\nfc -l nope; echo $?\nfc -e true -0; echo $?\nhistory 3\n",
    );
    assert_eq!(
        out,
        "aa\nbb\n1\t echo aa\n2\t echo bb\n\t echo bb\n\t fc -l\n2\t echo bb\n1\t echo aa\nyy\nedited\n1\n1\n    \
         8  fc -l nope; echo $?\n    9  fc -e true -0; echo $?\n   10  history 3\n"
    );
    assert!(file.contains("echo yy\necho edited\n"), "{file}");
}

#[test]
fn what_is_remembered() {
    let (out, _) = fresh(
        "HISTCONTROL=ignoreboth\n : hidden\n:\n:\nHISTIGNORE='echo*:&'\necho x >/dev/null\nset +o history\n: off\nset -o history\nhistory\n",
    );
    assert_eq!(
        out,
        "    1  HISTCONTROL=ignoreboth\n    2  :\n    3  HISTIGNORE='echo*:&'\n    4  set +o history\n    5  history\n"
    );
}

#[test]
fn the_file_grows_and_is_kept_short() {
    let home = tempfile::tempdir().expect("a folder");
    std::fs::write(home.path().join("history"), "old1\nold2\n").expect("written");
    let (_, file) = run(home.path(), ": one\n: two\n");
    assert_eq!(file, "old1\nold2\n: one\n: two\n");
    let (_, file) = run(home.path(), "HISTFILESIZE=3\n");
    assert_eq!(file, ": one\n: two\nHISTFILESIZE=3\n");
    let (out, _) = run(home.path(), "history -a; cat history\n");
    assert_eq!(out, "");
    let (_, file) = run(home.path(), "HISTSIZE=1\n: a\n: b\n");
    assert_eq!(file, ": b\n");
}

#[test]
fn prompt_commands_run_before_prompts() {
    let (out, _) = fresh("PROMPT_COMMAND='echo P $?; fc -ln -1'\nfalse\n(exit 3)\n");
    assert_eq!(out, "P 0\n\t PROMPT_COMMAND='echo P $?; fc -ln -1'\nP 1\n\t false\nP 3\n\t (exit 3)\n");
}

#[test]
fn scripts_may_turn_the_history_on() {
    let output = Command::new(env!("CARGO_BIN_EXE_rush"))
        .arg("-s")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = output.expect("a shell");
    let script = b"set -o history\nPS1='\\! \\#'\nhistory -c\necho ${PS1@P}\necho ${PS1@P}\nhistory -c\nfor i in 1\ndo :; done\nhistory\nhistory -p '!!'\n";
    child.stdin.take().expect("a pipe").write_all(script).expect("written");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "1 4\n2 5\n    1  for i in 1; do :; done\n    2  history\nhistory\n"
    );
}

/// Runs a shell with such a history file and such an inputrc, and little memory, for as long as it takes.
fn run_with(home: &Path, history: &Path, inputrc: &Path) -> std::process::Output {
    let script = "ulimit -v 1000000; exec timeout 60 \"$0\" --norc -i";
    let mut child = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_rush")])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home)
        .env("HISTFILE", history)
        .env("INPUTRC", inputrc)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    let lines = "bind -f \"$INPUTRC\"; history -r; history -n; echo \"$((1 + 1))\"\n";
    child.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("written");
    child.wait_with_output().expect("ended")
}

#[test]
fn a_file_that_is_no_file_keeps_nobody_waiting() {
    let home = tempfile::tempdir().expect("a folder");
    let fifo = home.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs").success());
    let sparse = home.path().join("sparse");
    let file = std::fs::File::create(&sparse).expect("a file");
    file.set_len(8 << 30).expect("a long file");
    for odd in [
        &fifo,
        &sparse,
        Path::new("/dev/zero"),
        Path::new("/dev/full"),
        Path::new("/dev/urandom"),
        home.path(),
    ] {
        let output = run_with(home.path(), odd, odd);
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.code().is_some_and(|code| code < 2) && out.ends_with("2\n"),
            "{odd:?}: {output:?}"
        );
    }
}

#[test]
fn a_very_long_history_is_read_from_its_end() {
    let home = tempfile::tempdir().expect("a folder");
    let mut file = std::fs::File::create(home.path().join("history")).expect("a file");
    file.set_len(1 << 30).expect("a long file");
    std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0)).expect("its end");
    file.write_all(b"\nold command\n").expect("written");
    let (out, _) = run(home.path(), "HISTFILE=; history 3\n");
    assert!(out.contains("old command\n"), "{out}");
}

#[test]
fn a_shell_that_is_hung_up_keeps_its_history() {
    let home = tempfile::tempdir().expect("a folder");
    for (lines, kept) in [
        ("echo one\nkill -HUP $$\necho never\n", "echo one\nkill -HUP $$\n"),
        ("echo two\nsleep 1000 &\nstopped=1\n(sleep 0.3; kill -HUP $$) & wait\n", "wait\n"),
        ("trap 'echo bye' EXIT\nkill -HUP $$\n", "kill -HUP $$\n"),
        ("trap - HUP\nkill -HUP $$\n", "kill -HUP $$\n"),
    ] {
        let (out, text) = run(home.path(), lines);
        assert!(text.ends_with(kept) && !out.contains("never"), "{lines}: {out}{text}");
        assert_eq!(out.contains("bye"), lines.contains("bye"), "{out}");
    }
    // What ignores it, or has a trap, goes on.
    let (out, _) =
        run(home.path(), "trap '' HUP\nkill -HUP $$\ntrap 'echo trapped' HUP\nkill -HUP $$\necho on\n");
    assert_eq!(out, "trapped\non\n");
}
