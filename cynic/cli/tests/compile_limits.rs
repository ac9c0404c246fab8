//! Compiling is inside the limits: for every kind of source, large ones end in time and within the heap's limit, and little more.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use nix::sys::resource::{UsageWho, getrusage};

/// The heap's limit of every child.
const HEAP_KIB: u64 = 16 << 10;
/// What a process of a build with assertions takes besides its heap: itself, its text, the reserve of its stacks.
const BESIDES_KIB: u64 = 48 << 10;
/// Processor seconds of a child: its deadline is half a second, and the machine may be slow.
const PROCESSOR_SECONDS: u64 = 20;
/// Bytes of a large source.
const LARGE: usize = 6 << 20;

/// What one kind of source begins with, repeats (with `%` for a number) and ends with.
const KINDS: &[(&str, &str, &str)] = &[
    ("[", "a=>1,", "]"),
    ("", "a=>1;", ""),
    ("[", "async()=>1,", "]"),
    ("", "function f%(){}", ""),
    ("[", "function*(){},", "]"),
    ("({", "a(){},", "})"),
    ("({", "get a%(){},", "})"),
    ("", "(class{});", ""),
    ("class A{", "a(){}", "}"),
    ("class A{", "a%=1;", "}"),
    ("class A{", "static{}", "}"),
    ("class A{", "#a%;", "}"),
    ("", "{}", ""),
    ("", "{let a}", ""),
    ("", ";", ""),
    ("", "let a%;", ""),
    ("var ", "a%,", "z"),
    ("", "a%;", ""),
    ("[", "\"%\",", "]"),
    ("[", ".%,", "]"),
    ("[", "1,", "]"),
    ("[", ",", "]"),
    ("[", "{},", "]"),
    ("({", "a%:1,", "})"),
    ("[", "...a,", "]"),
    ("", "a();", ""),
    ("f(", "a,", "a)"),
    ("", "a?.b;", ""),
    ("a", "+a", ""),
    ("", "[a]=b;", ""),
    ("", "({a}=b);", ""),
    ("", "`${a}`;", ""),
    ("", "a``;", ""),
    ("[", "/a/,", "]"),
    ("switch(1){", "case %:", "}"),
    ("", "try{}finally{}", ""),
    ("", "for(let a of b);", ""),
    ("", "if(a);else ", ";"),
    ("", "1n;", ""),
    ("(", "a%,", "z)=>1"),
    ("{let x;", "()=>x;", "}"),
    ("", "[", ""),
    ("", "(", ""),
    ("", "//\n", "for(;;);"),
    ("'", "x", "'"),
];

fn source((start, middle, end): (&str, &str, &str), bytes: usize) -> String {
    let mut source = String::with_capacity(bytes + 64);
    source.push_str(start);
    let mut number = 0;
    while source.len() < bytes {
        match middle.split_once('%') {
            Some((before, after)) => source.push_str(&format!("{before}{number}{after}")),
            None => source.push_str(middle),
        }
        number += 1;
    }
    source.push_str(end);
    source
}

/// Runs a file under the limits; the shell's limit of processor time ends what hangs.
fn run(flags: &[&str], file: &Path) -> Output {
    let script = format!("ulimit -c 0; ulimit -t {PROCESSOR_SECONDS}; exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_cynic"), "--heap-limit=16M", "--timeout=500ms"]);
    command.args(flags).arg(file).stdin(Stdio::null());
    command.output().expect("the shell runs")
}

/// The greatest resident set of any child so far, in KiB.
fn peak_kib() -> u64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("it cannot fail");
    usage.max_rss().try_into().expect("a size")
}

/// Statuses of an uncaught error and of the terminations by fuel, heap and deadline; and the normal end.
const ENDED: [i32; 5] = [0, 1, 120, 121, 124];

fn ends_within_the_limits(flags: &[&str], kind: &str, program: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.js", "a.mjs"] {
        let file = folder.path().join(name);
        std::fs::write(&file, program).expect("written");
        let output = run(flags, &file);
        let shown = String::from_utf8_lossy(&output.stderr).chars().take(200).collect::<String>();
        let ended = output.status.code().is_some_and(|code| ENDED.contains(&code));
        assert!(ended, "{name}: {kind}: {}: {shown}", output.status);
        let peak = peak_kib();
        assert!(peak <= HEAP_KIB + BESIDES_KIB, "{name}: {kind}: {peak} KiB; {shown}");
    }
}

/// Large sources, and those that are just small enough to be let in: these show what the estimate is worth.
#[test]
fn every_kind_of_source_ends_within_the_limits() {
    for &kind in KINDS {
        for bytes in [LARGE, 64 << 10] {
            ends_within_the_limits(&[], kind.1, &source(kind, bytes));
        }
    }
}

#[test]
fn code_from_strings_is_inside_the_limits_too() {
    for &(start, middle, end) in KINDS {
        let (before, after) = middle.split_once('%').unwrap_or((middle, ""));
        let program = format!(
            "let s = {start:?} + ({before:?} + 1 + {after:?}).repeat(200000) + {end:?}; try {{ (0, eval)(s) }} catch {{}} try {{ Function(s) }} catch {{}}"
        );
        ends_within_the_limits(&["--allow=eval"], middle, &program);
    }
}

/// A pattern, and flags, nearly as long as the heap's limit: neither is copied to be looked up, nor quoted in full.
#[test]
fn long_patterns_and_flags_are_not_copied() {
    for program in [
        "RegExp('[a-z]'.repeat(2600000))",
        "RegExp('a', 'gggga'.repeat(2600000))",
        "RegExp('(a)'.repeat(4300000), 'v')",
    ] {
        ends_within_the_limits(&[], program, program);
    }
}

#[test]
fn fuel_pays_for_the_length_of_a_source() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.js");
    std::fs::write(&file, source(("", ";", ""), 1 << 20)).expect("written");
    let output = run(&["--heap-limit=1G", "--timeout=60", "--fuel=1000"], &file);
    assert_eq!(output.status.code(), Some(120), "{}", String::from_utf8_lossy(&output.stderr));
}
