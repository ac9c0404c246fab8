//! What the keyboard stops at a terminal, on a pseudo-terminal.

mod pty;

use pty::Terminal;

/// A program that is stopped by Ctrl-Z as soon as it says that it is there. (It is one process: `sh` that waits in `vfork` cannot be stopped.)
fn stop(terminal: &mut Terminal, line: &str) {
    terminal.keys(&format!("{line}\r"));
    terminal.wait("\nthere\n");
    terminal.keys("\u{1a}");
    terminal.wait("Stopped");
}

#[test]
fn a_subshell_is_a_job_of_its_own() {
    let mut terminal = Terminal::start();
    stop(&mut terminal, "(sh -c 'echo there; exec sleep 0.2'; echo aft''er)");
    terminal.wait("( sh -c 'echo there; exec sleep 0.2'; echo aft''er )\n");
    terminal.wait("ready> ");
    assert!(terminal.line("jobs").contains("( sh -c 'echo there"));
    terminal.keys("fg\r");
    terminal.wait("\nafter\n");
    terminal.wait("ready> ");
    assert_eq!(terminal.line("jobs"), "");
}

#[test]
fn what_reads_a_pipe_is_part_of_the_job() {
    let mut terminal = Terminal::start();
    stop(&mut terminal, "echo a | (read y; sh -c 'echo there; exec sleep 0.2'; echo got $y)");
    terminal.wait("ready> ");
    terminal.keys("%1\r");
    terminal.wait("\ngot a\n");
    terminal.wait("ready> ");
}

#[test]
fn loops_end_when_what_runs_in_them_is_stopped() {
    for (line, behind) in [
        ("for i in 1 2; do sh -c 'echo there; exec sleep 100'; echo ro''und; done", ""),
        ("while sh -c 'echo there; exec sleep 100'; do echo ro''und; done; echo beh''ind", "behind\n"),
        (
            "for i in 1 2; do for j in 1 2; do (sh -c 'echo there; exec sleep 100') && echo ro''und; done; done; echo beh''ind",
            "behind\n",
        ),
    ] {
        let mut terminal = Terminal::start();
        stop(&mut terminal, line);
        let shown = terminal.wait("ready> ");
        assert!(shown.ends_with(behind) && !shown.contains("round"), "{line}: {shown}");
        terminal.line("kill -KILL %1");
    }
}

#[test]
fn a_job_is_named_as_a_command() {
    let mut terminal = Terminal::start();
    stop(&mut terminal, "sh -c 'echo there; exec sleep 100' 'a b'");
    terminal.wait("sh -c 'echo there; exec sleep 100' 'a b'\n");
    terminal.wait("ready> ");
    assert!(terminal.line("%1 & true").contains("[1]+ sh -c"));
    assert!(terminal.line("jobs").contains("Running"));
    assert!(terminal.line("%9").contains("fg: %9: no such job"));
    terminal.line("kill -KILL %1");
}
