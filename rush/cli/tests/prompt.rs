//! The prompt's word about git, the terminal's size, and the spinner, on a pseudo-terminal.

mod pty;

use pty::Terminal;
use std::path::Path;
use std::process::Command;

fn git(folder: &Path, words: &[&str]) {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=A", "-c", "user.email=a@b"])
        .args(words)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn the_default_prompt_shows_branch_and_changes() {
    let home = tempfile::tempdir().expect("a folder");
    let tree = home.path().join("tree");
    std::fs::create_dir(&tree).expect("made");
    git(&tree, &["init", "-q", "-b", "topic"]);
    std::fs::write(tree.join("file"), "1\n").expect("written");
    git(&tree, &["add", "file"]);
    git(&tree, &["commit", "-q", "-m", "one"]);
    let end = if rustix::process::geteuid().is_root() { "# " } else { "$ " };
    let mut terminal = Terminal::launch(home, &["--norc"], &[]);
    terminal.wait(end);
    terminal.keys("cd\r");
    terminal.wait(&format!("~{end}"));
    terminal.keys("cd tree\r");
    terminal.wait(&format!("~/tree (topic){end}"));
    terminal.keys("echo 2 >file\r");
    // The answer comes with this prompt or, on a busy machine, with one of the next.
    while !terminal.wait(end).ends_with("~/tree (topic*)") {
        terminal.keys("\r");
    }
    terminal.keys("PS1='mi''ne> '\r");
    terminal.wait("mine> ");
    terminal.keys("PS1='$RUSH_PROMPT_GIT: '\r");
    while !terminal.wait(": ").ends_with(" (topic*)") {
        terminal.keys("\r");
    }
}

#[test]
fn the_size_of_the_terminal_is_known() {
    let mut terminal = Terminal::start();
    terminal.resize(33, 111);
    terminal.line(":");
    assert_eq!(terminal.line("echo $LINES $COLUMNS"), "33 111\n");
}

#[test]
fn silent_programs_have_a_spinner() {
    let home = tempfile::tempdir().expect("a folder");
    let mut terminal = Terminal::launch(home, &["--norc"], &[("PS1", "ready> ")]);
    terminal.wait("ready> ");
    // NO_COLOR is set: nothing is drawn.
    terminal.keys("sleep 0.3 >/dev/null 2>&1; echo do''ne\r");
    let shown = terminal.wait("\ndone\n");
    assert!(!shown.contains('\u{8}'), "{shown:?}");
    let home = tempfile::tempdir().expect("a folder");
    let mut terminal = Terminal::launch_styled(home);
    terminal.wait("ready> ");
    terminal.keys("sleep 0.4 >/dev/null 2>&1; echo do''ne\r");
    let shown = terminal.wait("done\n");
    assert!(shown.contains("⠋\u{8}⠙\u{8}"), "{shown:?}");
    // What was drawn is taken away before anything else is written.
    assert!(shown.ends_with(" \u{8}"), "{shown:?}");
    terminal.wait("ready> ");
    // Programs that write to the terminal are left alone.
    terminal.keys("sleep 0.3; sleep 0.3 2>/dev/null; echo do''ne\r");
    let shown = terminal.wait("done\n");
    assert!(!shown.contains('\u{8}'), "{shown:?}");
    terminal.wait("ready> ");
    terminal.keys("RUSH_SPINNER=0\r");
    terminal.wait("ready> ");
    terminal.keys("sleep 0.3 >/dev/null 2>&1; echo do''ne\r");
    let shown = terminal.wait("done\n");
    assert!(!shown.contains('⠋'), "{shown:?}");
}
