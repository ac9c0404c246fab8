//! How far an error reaches: subscripts that cannot be evaluated, indirections that lead nowhere, builtins with too many operands and jobs that
//! have been forgotten, wherever they may stand, in a `-c` string and in a script, in POSIX mode and without it. The expectation is what the
//! installed bash does, where it is 5.2.

use std::process::{Command, Stdio};

const RUSH: &str = env!("CARGO_BIN_EXE_rush");

/// Subscripts of an indexed array that are no expressions.
const SUBSCRIPTS: &[&str] = &["1/0", "1+", "@@"];

/// Where a subscript may stand, for `%`.
const USES: &[&str] = &[
    "a[%]=2",
    "a[%]+=2",
    "a=([%]=2)",
    "declare a=([%]=2)",
    "declare \"a[%]=2\"",
    "echo ${a[%]}",
    "echo \"${a[%]:-d}\"",
    "x=${a[%]}",
    "for i in ${a[%]}; do :; done",
    "case ${a[%]} in *) echo c;; esac",
    "unset \"a[%]\"",
    "read \"a[%]\" <<<x",
    "printf -v \"a[%]\" x",
    "[[ -v a[%] ]]",
    "[[ a[%] -eq 1 ]]",
    "(( a[%]=2 ))",
    "let \"a[%]=2\"",
    "x=$((a[%]))",
];

const OTHERS: &[&str] = &[
    "x=; echo ${!x-}",
    "unset x; echo ${!x-d}",
    "x=1a; echo ${!x}",
    "x='b c'; echo ${!x-d}",
    "command shift 1 2",
    "shift 1 2",
    "shift x",
    "builtin shift 1 2",
    "exit 1 2",
    "command exit 1 2",
    "f() { return 1 2; echo in; }; f",
    "for i in 1; do break 1 2; done",
];

/// What may be around it, for `%`.
const FRAMES: &[&str] = &[
    "%; echo st $?\necho alive",
    "%\necho st $?",
    "f() { %; echo st $?; }; f; echo after\necho alive",
    "( %; echo st $? ); echo after $?\necho alive",
    "y=$( %; echo st $? ); echo after $? $y\necho alive",
    "% || echo or $?\necho alive",
];

fn bash_is_here() -> bool {
    let version = Command::new("bash").args(["-c", "echo ${BASH_VERSION%.*}"]).output();
    let here = version.is_ok_and(|output| output.stdout == b"5.2\n");
    if !here {
        pithos_skipped::part("bash 5.2 is not here");
    }
    here
}

/// A message without the number of its line, which bash miscounts in substitutions, and the colon behind it.
fn without_number<'t>((_, rest): (&'t str, &'t str)) -> &'t str {
    rest.split_once(": ").map_or(rest, |(_, message)| message)
}

/// Output, messages without the shell's name and the line, and status.
fn observe(
    shell: &str,
    script: &str,
    as_file: bool,
    folder: &std::path::Path,
) -> (String, String, Option<i32>) {
    let mut command = Command::new(shell);
    if as_file {
        let path = folder.join("script");
        std::fs::write(&path, script).expect("a script is written");
        command.arg(path);
    } else {
        command.args(["-c", script, "sh"]);
    }
    let output = command.env("LC_ALL", "C").stdin(Stdio::null()).output().expect("the shell starts");
    let messages = String::from_utf8_lossy(&output.stderr)
        .lines()
        .map(|line| line.split_once("line ").map_or(line, without_number).to_owned() + "\n")
        .collect();
    (String::from_utf8_lossy(&output.stdout).into_owned(), messages, output.status.code())
}

fn compare(scripts: impl Iterator<Item = String>) {
    compare_as(scripts, &[false, true]);
}

fn compare_as(scripts: impl Iterator<Item = String>, ways: &[bool]) {
    if !bash_is_here() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut differing = Vec::new();
    for script in scripts {
        for &as_file in ways {
            let (theirs, ours) = (
                observe("bash", &script, as_file, folder.path()),
                observe(RUSH, &script, as_file, folder.path()),
            );
            if theirs != ours {
                differing.push(format!("{script}\n  file {as_file}\n  bash {theirs:?}\n  rush {ours:?}"));
            }
        }
    }
    assert!(differing.is_empty(), "{} differ\n{}", differing.len(), differing.join("\n"));
}

#[test]
fn subscripts_that_are_no_expressions() {
    let uses = USES.iter().enumerate();
    compare(uses.flat_map(|(n, used)| {
        FRAMES.iter().flat_map(move |frame| {
            // Every use in every frame; the subscripts take turns.
            let script = frame.replace('%', &used.replace('%', SUBSCRIPTS[n % SUBSCRIPTS.len()]));
            [script.clone(), format!("set -o posix\n{script}")]
        })
    }));
}

#[test]
fn indirections_and_operands() {
    compare(OTHERS.iter().flat_map(|used| FRAMES.iter().map(|frame| frame.replace('%', used))));
    // Of builtins with too many operands in POSIX mode the page of differences speaks.
    let some = OTHERS.iter().take(4);
    compare(
        some.flat_map(|used| {
            FRAMES.iter().map(|frame| format!("set -o posix\n{}", frame.replace('%', used)))
        }),
    );
}

#[test]
fn jobs_that_have_ended() {
    let ended = "(exit 3) & p=$!; ";
    let foreground = ["/bin/sleep 0.1", "(/bin/sleep 0.1)", "/bin/sleep 0.1 | cat", "{ /bin/sleep 0.1; }"];
    let asks =
        ["wait %1", "wait $p", "wait %1; wait %1", "jobs", "kill -0 %1", "wait -n", "wait", "disown %1"];
    let scripts = foreground
        .iter()
        .flat_map(|foreground| asks.iter().map(move |ask| format!("{ended}{foreground}; {ask}; echo $?")));
    compare_as(scripts, &[false]);
}
