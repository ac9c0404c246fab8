//! `bind` and `~/.inputrc`: keys of the line editor on a pseudo-terminal, and what `bind` prints without one.

mod pty;

use pty::Terminal;
use std::process::Command;

#[test]
fn keys_do_what_bind_says() {
    let mut terminal = Terminal::start();
    terminal.line(r#"bind '"\C-t": "typed text"'"#);
    terminal.keys("echo \u{14}\r");
    terminal.wait("\ntyped text\n");
    terminal.wait("ready> ");
    terminal.line(r#"bind '"\C-xk": backward-kill-word'"#);
    terminal.keys("echo kept gone\u{18}k\r");
    terminal.wait("\nkept\n");
    terminal.wait("ready> ");
    // A macro of several keys: to the beginning, a command, to the end, Return.
    terminal.line(r#"bind '"\C-xm": "\C-aecho \C-e!\C-m"'; set +H"#);
    terminal.keys("macro\u{18}m");
    terminal.wait("\nmacro!\n");
    terminal.wait("ready> ");
    terminal.line(r#"bind -r '\C-t'"#);
    terminal.keys("echo a\u{14}b\r");
    terminal.wait("\nab\n");
}

#[test]
fn shell_commands_on_keys_see_and_change_the_line() {
    let mut terminal = Terminal::start();
    terminal.line(r#"bind -x '"\C-xu": READLINE_LINE=${READLINE_LINE^^}; READLINE_POINT=4'"#);
    terminal.keys("abcdef\u{18}u\u{b}");
    terminal.keys("\u{1}echo \r");
    terminal.wait("\nABCD\n");
    terminal.wait("ready> ");
    terminal.line(r#"bind -x '"\C-xs": echo point $READLINE_POINT'"#);
    terminal.keys("echo é\u{18}s");
    terminal.wait("point 6\n");
    terminal.wait("ready> ");
    terminal.keys("!\r");
    terminal.wait("\né!\n");
}

#[test]
fn functions_of_the_shell() {
    let mut terminal = Terminal::start();
    terminal.line("echo first argument1");
    terminal.keys("echo second argument2\r");
    terminal.wait("\nsecond argument2\n");
    terminal.wait("ready> ");
    terminal.keys("echo again \u{1b}.\r");
    terminal.wait("\nagain argument2\n");
    terminal.wait("ready> ");
    terminal.keys("echo it was\u{1b}#");
    terminal.wait("#echo it was\n");
    terminal.wait("ready> ");
    terminal.keys("echo !$\u{1b}^");
    terminal.wait("echo was");
    terminal.keys("\r");
    terminal.wait("\nwas\n");
    terminal.wait("ready> ");
    terminal.line("bind '\" \": magic-space'");
    terminal.line("echo one");
    terminal.keys("echo !! z\r");
    terminal.wait("\necho one\nend z\n");
    terminal.wait("ready> ");
    terminal.line("EDITOR='sed -i s/before/after/'");
    terminal.keys("echo before\u{18}\u{5}");
    terminal.wait("\nafter\n");
}

#[test]
fn the_initialisation_file_is_read() {
    let home = tempfile::tempdir().expect("a folder");
    let text = "# a comment\nset completion-ignore-case on\n$if Bash\n\"\\C-xa\": \"from a file\"\n$else\n\"\\C-xa\": \"wrong\"\n$endif\n$include ~/more\n";
    std::fs::write(home.path().join(".inputrc"), text).expect("written");
    std::fs::write(home.path().join("more"), "Control-t: \"included\"\n").expect("written");
    std::fs::write(home.path().join("ReadMe.txt"), "found\n").expect("written");
    let mut terminal = Terminal::start_in(home, &["--norc"]);
    terminal.keys("echo \u{18}a\r");
    terminal.wait("\nfrom a file\n");
    terminal.wait("ready> ");
    terminal.keys("echo \u{14}\r");
    terminal.wait("\nincluded\n");
    terminal.wait("ready> ");
    terminal.line("cd");
    terminal.keys("cat readm\t\r");
    terminal.wait("\nfound\n");
    terminal.wait("ready> ");
    terminal.line("bind 'set editing-mode vi'");
    assert_eq!(terminal.line("set -o | grep -c '^vi.*on$'"), "1\n");
    terminal.keys("cho v\u{1b}0ie\r");
    terminal.wait("\nv\n");
    terminal.wait("ready> ");
    assert_eq!(terminal.line("bind '\"jk\": vi-movement-mode'"), "");
    terminal.keys("cho wjk0ie\r");
    terminal.wait("\nw\n");
}

/// Standard output of a shell that edits no lines.
fn printed(script: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_rush"))
        .args(["-c", script])
        .env("INPUTRC", "/dev/null")
        .output()
        .expect("a shell");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

// The expected texts are bash 5.2's.
#[test]
fn what_bind_prints() {
    assert_eq!(
        printed(r#"bind '"\C-xa": "hello"'; bind -s; bind -S; bind -x '"\ey": a "b" c'; bind -X"#),
        "\"\\C-xa\": \"hello\"\n\\C-xa outputs hello\n\"\\ey\": \"a \\\"b\\\" c\"\n"
    );
    assert_eq!(
        printed(
            "bind -q abort; bind -m vi-command -q vi-put; bind -q self-insert; bind -q dump-macros; echo $?"
        ),
        "abort can be invoked via \"\\C-g\", \"\\C-x\\C-g\", \"\\e\\C-g\".\nvi-put can be invoked via \"P\", \"p\".\n\
         self-insert can be invoked via \" \", \"!\", \"\\\"\", \"#\", \"$\", ...\ndump-macros is not bound to any keys.\n1\n"
    );
    assert_eq!(
        printed(
            "bind -m emacs-ctlx '\"z\": abort'; bind -u kill-line; bind -q abort; bind -q kill-line; bind 'Control-o: abort'; bind -m emacs-ctlx -q abort"
        ),
        "abort can be invoked via \"\\C-g\", \"\\C-x\\C-g\", \"\\C-xz\", \"\\e\\C-g\".\nkill-line is not bound to any keys.\n\
         abort can be invoked via \"\\C-g\", \"z\".\n"
    );
    assert_eq!(
        printed(
            "bind 'set completion-ignore-case'; bind 'set bell-style none'; bind 'set editing-mode vi'; bind -v | grep -E 'case on|bell-style|editing|keymap'"
        ),
        "set completion-ignore-case on\nset bell-style none\nset editing-mode vi\nset keymap vi-insert\n"
    );
    let statuses = "bind -q nope; echo $?; bind -m nope; echo $?; bind -f /nonexistent; echo $?; bind -z; echo $?; bind foo; echo $?; bind -x 'x'; echo $?";
    assert_eq!(printed(statuses), "1\n1\n1\n2\n0\n1\n");
}
