//! What the shell says of its in-process utilities, and that they run where they should.

use std::process::{Command, Output};

fn rush(script: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rush"));
    command.args(["-c", script]).env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C");
    command.output().expect("rush starts")
}

fn text(script: &str) -> String {
    let output = rush(script);
    String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8")
}

#[test]
fn json_is_there_without_a_program() {
    assert_eq!(
        text("type json; type -t json; command -v json; command -V json"),
        "json is a shell utility\nbuiltin\njson\njson is a shell utility\n"
    );
    assert_eq!(text(r#"echo '{"a": [1, "x"]}' | json get '.a[1]'"#), "x\n");
    assert_eq!(
        text(r#"x=$(json get .a <<<'{"a": 5}'); echo "$x" "$(echo '[2]' | json query -c '.[0]' | cat)""#),
        "5 2\n"
    );
    assert_eq!(text("json get .b <<<'{}'; echo $?"), "1\n");
    assert_eq!(
        text("(json set -c .a 1 <<<'{}') | cat; json set -c .b 2 <<<'{}' >/dev/null && echo done"),
        "{\"a\":1}\ndone\n"
    );
}

#[test]
fn json_gives_way() {
    assert_eq!(text("json() { echo mine; }; json get; type -t json"), "mine\nfunction\n");
    let without = text("set +o utilities; json get .a; echo $?; type json");
    assert!(without.contains("json: command not found") && without.contains("127\n"), "{without}");
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("json");
    std::fs::write(&program, "#!/bin/sh\necho program\n").expect("written");
    let script = format!("chmod +x {0}/json; PATH={0}:$PATH; type json; json get", folder.path().display());
    assert_eq!(text(&script), format!("json is {}\nprogram\n", program.display()));
}

#[test]
fn help_knows_the_utilities() {
    let help = text("help git json ls");
    assert!(help.contains("git status | branch | log"), "{help}");
    assert!(help.contains("json get [-j] PATH [FILE]"), "{help}");
    assert!(help.contains("ls: ls [ARGUMENT]..."), "{help}");
    // A builtin that is a utility's namesake has one topic.
    assert_eq!(text("help -d pwd").lines().count(), 1);
}
