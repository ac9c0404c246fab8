//! The interactive shell on a pseudo-terminal: editing, history, completion, continuation lines and job control.

mod pty;

use pty::Terminal;

#[test]
fn lines_are_edited_in_both_styles() {
    let mut terminal = Terminal::start();
    // Ctrl-A, insert, Ctrl-E.
    terminal.keys("cho a\u{1}e\u{5}bc\r");
    terminal.wait("\nabc\n");
    terminal.line("set -o vi");
    // Escape, to the beginning, insert, back, append.
    terminal.keys("cho a\u{1b}0ie\u{1b}Axyz\r");
    terminal.wait("\naxyz\n");
}

#[test]
fn commands_go_on_over_lines() {
    let mut terminal = Terminal::start();
    terminal.keys("for i in 1 2\r");
    terminal.wait("more: ");
    terminal.keys("do echo n$i; done\r");
    terminal.wait("\nn1\nn2\n");
    terminal.keys("cat <<E\r");
    terminal.wait("more: ");
    terminal.keys("text\rE\r");
    terminal.wait("\ntext\n");
    terminal.keys("echo 'a\r");
    terminal.wait("more: ");
    terminal.keys("b' \\\r");
    terminal.wait("more: ");
    terminal.keys("c\r");
    terminal.wait("\na\nb c\n");
}

#[test]
fn history_is_kept_searched_and_expanded() {
    let mut terminal = Terminal::start();
    terminal.line("HISTCONTROL=ignoreboth");
    // Each entry waits for its prompt: keys that come before the editor are the terminal's, and it has its own meaning for Ctrl-R.
    terminal.keys("echo one two\r");
    terminal.wait("\none two\n");
    terminal.wait("ready> ");
    terminal.keys("echo last: !$\r");
    terminal.wait("echo last: two\nlast: two\n");
    terminal.wait("ready> ");
    terminal.keys(" echo hidden\r");
    terminal.wait("\nhidden\n");
    terminal.wait("ready> ");
    terminal.keys("!ec:0 !?one?:1\r");
    terminal.wait("\necho one\none\n");
    terminal.wait("ready> ");
    // Ctrl-R and a part of the line.
    terminal.keys("\u{12}e two\r");
    terminal.wait("\none two\n");
    terminal.wait("ready> ");
    terminal.keys("\u{1b}[A\r");
    terminal.wait("\none two\n");
    terminal.wait("ready> ");
    terminal.keys("exit\r");
    terminal.wait("exit\n");
    terminal.child.wait().expect("ended");
    let file = std::fs::read_to_string(terminal.home.path().join(".rush_history")).expect("written");
    assert!(file.contains("echo last: two\n"), "{file}");
    assert!(!file.contains("hidden"), "{file}");
    let home = std::mem::replace(&mut terminal.home, tempfile::tempdir().expect("a folder"));
    let mut again = Terminal::start_in(home, &["--norc"]);
    again.keys("!?last:?:0 restored\r");
    again.wait("\nrestored\n");
}

#[test]
fn completion_is_programmable() {
    let mut terminal = Terminal::start();
    std::fs::create_dir(terminal.home.path().join("a folder")).expect("made");
    std::fs::write(terminal.home.path().join("a folder/file.txt"), "found\n").expect("written");
    terminal.line("cd");
    terminal.keys("cat a\\ f\tfi\t\r");
    terminal.wait("\nfound\n");
    terminal.line("complete -W 'alpha beta' greet; greet() { echo got $1; }");
    terminal.keys("greet be\t\r");
    terminal.wait("\ngot beta\n");
    terminal.line("_f() { compopt -o nospace; COMPREPLY=(word$COMP_CWORD); }; complete -F _f greet");
    terminal.keys("greet x w\tX\r");
    terminal.wait("\ngot x\n");
    terminal.line("longvariable=7");
    terminal.keys("echo is $longv\t\r");
    terminal.wait("\nis 7\n");
    terminal.line("long_function_name() { echo called; }");
    terminal.keys("long_f\t\r");
    terminal.wait("\ncalled\n");
}

#[test]
fn jobs_get_the_terminal_and_give_it_back() {
    let mut terminal = Terminal::start();
    terminal.keys("cat\r");
    terminal.wait("cat\n");
    terminal.keys("typed\r");
    terminal.wait("typed\ntyped\n");
    terminal.keys("\u{1a}");
    terminal.wait("[1]+  Stopped                 cat\n");
    assert!(terminal.line("jobs").contains("Stopped"));
    terminal.keys("fg\r");
    terminal.wait("\ncat\n");
    terminal.keys("more\r");
    terminal.wait("more\nmore\n");
    terminal.keys("\u{3}");
    terminal.wait("ready> ");
    assert_eq!(terminal.line("echo $?"), "130\n");
    // Not a short sleep: in any shell, the key is lost on a program that has ended while the terminal is still its.
    terminal.keys("while :; do sleep 5; done\r");
    terminal.wait("done\n");
    terminal.keys("\u{3}");
    terminal.wait("ready> ");
    terminal.keys("while :; do :; done\r");
    terminal.wait("done\n");
    terminal.keys("\u{3}");
    terminal.wait("ready> ");
    // What the first command prints shows that the editor has left the terminal: only then is Ctrl-D the end of the input.
    terminal.keys("echo go; cat | tr a-z A-Z\r");
    terminal.wait("\ngo\n");
    terminal.keys("pipe\r");
    terminal.wait("pipe\n");
    terminal.keys("\u{4}");
    terminal.wait("PIPE\n");
    terminal.keys("sh -c 'kill -STOP $$; exit 3' &\r");
    terminal.wait("[1] ");
    terminal.keys("\r");
    while !terminal.line("jobs").contains("Stopped") {}
    terminal.keys("exit\r");
    terminal.wait("There are stopped jobs.\n");
    terminal.wait("ready> ");
    terminal.keys("fg\r");
    terminal.wait("ready> ");
    assert_eq!(terminal.line("echo $?"), "3\n");
}

#[test]
fn start_up_files_prompts_and_suggestions() {
    let home = tempfile::tempdir().expect("a folder");
    std::fs::write(home.path().join(".bashrc"), "echo from bashrc\n").expect("written");
    let rc = "PS1='\\[\\e[32m\\]\\W ready> \\[\\e[0m\\]'; PROMPT_COMMAND='echo before $?'\n";
    std::fs::write(home.path().join(".rushrc"), rc).expect("written");
    let mut terminal = Terminal::start_in(home, &[]);
    terminal.keys("false\r");
    terminal.wait("before 1\n");
    terminal.keys("ehco hi\r");
    terminal.wait("ehco: command not found\n");
    terminal.wait("did you mean `echo'?\n");
}

#[test]
fn words_end_at_word_breaks_in_completion() {
    let mut terminal = Terminal::start();
    std::fs::write(terminal.home.path().join("a:b"), "found\n").expect("written");
    terminal.line("cd; complete -W 'red green' paint");
    terminal.line("paint() { echo painted $1; }");
    terminal.keys("paint --colour=g\t\r");
    terminal.wait("\npainted --colour=green\n");
    terminal.wait("ready> ");
    // A function sees the words as they were typed, cut at the breaks.
    terminal.line(r#"_f() { w="<$2><$3>$COMP_CWORD:${COMP_WORDS[*]}"; }"#);
    terminal.line("complete -F _f see");
    terminal.keys("see a=b:c 'q w' host::d\t\r");
    terminal.wait("ready> ");
    assert_eq!(terminal.line("echo \"$w\""), "<d><::>9:see a = b : c 'q w' host :: d\n");
    // A file's name with one in it is completed so that it is one word.
    terminal.keys("cat a\t\r");
    terminal.wait("\nfound\n");
}

#[test]
fn the_first_process_of_a_pipeline_is_never_stopped() {
    let mut terminal = Terminal::start();
    // Who gives it the terminal first, the shell or itself, is a matter of luck.
    let text = terminal.line("for ((n = 0; n < 500; n++)); do set -o | grep -c '^vi.*off$'; done | uniq -c");
    assert_eq!(text.trim(), "500 1");
    let text = terminal.line("for ((n = 0; n < 500; n++)); do set -o | /bin/cat >/dev/null; done; jobs");
    assert_eq!(text, "");
}
