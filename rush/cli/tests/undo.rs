//! `undo` at a terminal, and that scripts keep nothing.

mod pty;

use std::fs;
use std::process::Command;

use pty::Terminal;

#[test]
fn lines_at_a_terminal_are_undone() {
    let mut terminal = Terminal::start();
    terminal.line("cd; mkdir d; echo one > a; echo two > d/b; ln -s a l");
    terminal.line("rm -r d");
    assert_eq!(terminal.line("undo; cat d/b"), "undone (1): rm -r d; echo en''d\ntwo\n");
    // What a link leads to is written into; the link stays.
    terminal.line("echo new > l");
    assert!(terminal.line("undo").starts_with("undone (1): echo new > l"));
    assert_eq!(terminal.line("cat a; readlink l"), "one\na\n");
    // In a background job, a subshell, a pipeline.
    terminal.line("(rm a) | cat; rm d/b & wait");
    for _ in 0..3 {
        terminal.line("undo");
    }
    assert_eq!(terminal.line("cat a d/b"), "one\ntwo\n");
    let kept = terminal.home.path().join(".local/state/rush/undo");
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(kept).expect("made").permissions()) & 0o777,
        0o700
    );
}

#[test]
fn what_has_come_since_stays_until_it_is_forced() {
    let mut terminal = Terminal::start();
    terminal.line("cd; echo old > a");
    terminal.line("rm a");
    fs::write(terminal.home.path().join("a"), "other\n").expect("written");
    assert!(terminal.line("undo").contains("there is another one now"));
    assert_eq!(terminal.line("cat a"), "other\n");
    let text = terminal.line("undo -f");
    assert!(text.contains("takes this back"), "{text}");
    assert_eq!(terminal.line("cat a"), "old\n");
}

#[test]
fn scripts_keep_nothing() {
    let home = tempfile::tempdir().expect("a folder");
    for arguments in [&["-c", "echo 1 > a; echo 2 > a; rm a"][..], &["-ic", "echo 1 > a; echo 2 > a; rm a"]] {
        let status = Command::new(env!("CARGO_BIN_EXE_rush"))
            .args(arguments)
            .env("HOME", home.path())
            .env_remove("XDG_STATE_HOME")
            .current_dir(home.path())
            .status();
        assert!(status.expect("it runs").success());
        assert!(!home.path().join(".local").exists());
    }
}
