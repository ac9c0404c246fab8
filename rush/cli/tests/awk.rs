//! `awk` in process: command lines with what GNU awk prints of them (`awk.txt`), run where some awk is installed.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const CASES: &str = include_str!("awk.txt");

/// The files that the cases read.
const PEOPLE: &str = "alice 30 5.5 x,y,z\nbob 25 -3 a b\ncarol  41 1e3 q\n\ndave 7 0x10 +5 .5\neve,frank;gina|hank\n10 9 8 7\n  \
                      leading spaces here\ntab\tsep\tline\n";
const PARAGRAPHS: &str = "k1 v1\nk2 v2\n\n\npara two\nline\n";

/// A folder with the files. The shell runs in process what is installed as a program, too.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("f"), PEOPLE).expect("written");
    fs::write(folder.path().join("g"), PARAGRAPHS).expect("written");
    folder
}

/// Whether there is an awk to stand for.
fn is_installed() -> bool {
    let found = ["/bin/awk", "/usr/bin/awk"].iter().any(|path| Path::new(path).exists());
    if !found {
        pithos_skipped::part("no awk is installed");
    }
    found
}

fn run(folder: &Path, script: &str, locale: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rush"));
    command.args(["-c", script]).current_dir(folder).env_clear();
    command.env("PATH", "/usr/bin:/bin").env("LC_ALL", locale).output().expect("rush starts")
}

#[test]
fn programs_print_what_gnu_awk_prints() {
    if !is_installed() {
        return;
    }
    let folder = folder();
    let mut failures = Vec::new();
    let cases: Vec<&str> = CASES.split("===\n").filter(|case| !case.is_empty()).collect();
    assert!(cases.len() > 100, "the cases are there");
    for case in cases {
        // A program may have several lines: the output begins where the quotes are closed.
        let text = case.strip_prefix("$ ").expect("a command");
        let ends = text.match_indices('\n').map(|(at, _)| at);
        let end = ends.into_iter().find(|at| text[..*at].matches('\'').count() % 2 == 0).expect("an end");
        let (script, expected) = (&text[..end], &text[end + 1..]);
        let expected = expected.replace("⏎\n", "");
        let output = run(folder.path(), script, "C");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        if printed != expected {
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            failures.push(format!("{script}\n  expected {expected:?}\n  printed  {printed:?} {errors}"));
        }
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn characters_are_those_of_the_locale() {
    if !is_installed() {
        return;
    }
    let folder = folder();
    let script = r#"awk 'BEGIN{s="né€"; print length(s), substr(s,2,1), index(s,"€"), toupper(s); printf "%-4s|%.2s|%c\n", s, s, s; n=split(s,a,""); print n, a[3]}'"#;
    let text = |locale| String::from_utf8_lossy(&run(folder.path(), script, locale).stdout).into_owned();
    assert_eq!(text("C.UTF-8"), "3 é 3 NÉ€\nné€ |né|n\n3 €\n");
    assert!(text("C").starts_with("6 "));
}

#[test]
fn errors_have_a_message_and_a_status() {
    if !is_installed() {
        return;
    }
    let folder = folder();
    for (script, message) in [
        ("awk 'BEGIN{print 1/0}'", "awk: division by zero\n"),
        ("awk 'BEGIN{printf \"%d %d\\n\", 1}'", "awk: not enough arguments for the format\n"),
        ("awk 'BEGIN{print $(-1)}'", "awk: there is no field $-1\n"),
        ("awk 'BEGIN{NF=-1}'", "awk: NF cannot be -1\n"),
        ("awk 'BEGIN{NF=1e300}'", "awk: NF cannot be "),
        ("awk 'function f(){f()} BEGIN{f()}'", "awk: functions call each other 100000 levels deep\n"),
        ("awk 'BEGIN{x=\"(\"; print \"a\" ~ x}'", "awk: the regular expression \"(\" cannot be used here\n"),
        (
            "awk 'BEGIN{print > \"/nowhere/x\"}'",
            "awk: cannot write \"/nowhere/x\" (No such file or directory)\n",
        ),
        (
            "awk 'BEGIN{ARGV[1]=\"nofile\"; ARGC=2}{print}'",
            "awk: cannot open \"nofile\" (No such file or directory)\n",
        ),
    ] {
        let output = run(folder.path(), script, "C");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(errors.starts_with(message) && output.status.code() == Some(2), "{script}: {output:?}");
    }
}
