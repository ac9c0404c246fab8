//! Nesting: ten thousand levels of whatever nests run with the usual stack of 8 MiB, and less of it with a small one; what is
//! deeper than the limits is an error that says so. Nothing ends by a signal. The scripts are generated, because what nests is
//! parsed, run, printed and taken apart by different code.

use std::io::Write;
use std::process::{Command, Output, Stdio};

const RUSH: &str = env!("CARGO_BIN_EXE_rush");
/// A little less than ten thousand: the frame around counts too.
const DEEP: usize = 9_990;
/// More than any limit.
const TOO_DEEP: usize = 50_000;
/// What a script of this depth may take of the address space.
const MEMORY_KIB: usize = 3 << 20;

/// A name, and a script of this depth that prints `ok`.
type Nest = (&'static str, fn(usize) -> String);

fn around(n: usize, open: &str, middle: &str, close: &str) -> String {
    format!("{}{middle}{}", open.repeat(n), close.repeat(n))
}

/// What nests in the text. `(` and `((` are looked at twice at each level, which takes time that grows with the square.
const TEXTS: &[Nest] = &[
    ("groups", |n| around(n, "{ ", "echo ok; ", "}; ")),
    ("if", |n| around(n, "if :; then ", "echo ok; ", "fi; ")),
    ("else", |n| around(n, "if false; then :; else ", "echo ok; ", "fi; ")),
    ("elif", |n| format!("if false; then :; {} else echo ok; fi", "elif false; then :; ".repeat(n))),
    ("while", |n| around(n, "while :; do ", "echo ok; ", "break; done; ")),
    ("for", |n| around(n, "for i in 1; do ", "echo ok; ", "done; ")),
    ("case", |n| around(n, "case x in x) ", "echo ok", ";; esac ")),
    ("subshells", |n| around(n / 4, "( ", "echo ok", " )")),
    ("substitutions", |n| around(n, "echo $(", "echo ok", ")")),
    ("quoted substitutions", |n| around(n, "echo \"$(", "echo ok", ")\"")),
    ("operands", |n| format!("echo {}", around(n, "${x:-", "ok", "}"))),
    ("quoted operands", |n| format!("echo {}", around(n, "\"${x:-", "ok", "}\""))),
    ("operands of a here-document", |n| format!("cat <<E\n{}\nE\n", around(n, "${x:-", "ok", "}"))),
    ("parentheses of arithmetic", |n| format!("(({})) && echo ok", around(n, "(", "1", ")"))),
    ("arithmetic in arithmetic", |n| format!("[ {} = 1 ] && echo ok", around(n, "$((", "1", "))"))),
    ("signs", |n| format!("((x = {} 1)) && echo ok", "- ".repeat(n))),
    ("conditions of arithmetic", |n| format!("(({})) && echo ok", around(n, "1?", "1", ":0"))),
    ("powers", |n| format!("(({}1)) && echo ok", "1**".repeat(n))),
    ("assignments of arithmetic", |n| format!("(({}1)) && echo ok", "a=".repeat(n))),
    ("subscripts", |n| format!("a=ok; echo {}", around(n / 4, "${a[0*", "0", "]}"))),
    ("subscripts of arithmetic", |n| format!("(({} == 0)) && echo ok", around(n, "a[", "0", "]"))),
    ("[[ ( ]]", |n| format!("[[ {} ]] && echo ok", around(n, "( ", "a", " )"))),
    ("[[ ! ]]", |n| format!("[[ {} a || b ]] && echo ok", "! ".repeat(n))),
    ("[[ && ]]", |n| format!("[[ {} a ]] && echo ok", "a && ".repeat(n))),
    ("[ ! ]", |n| format!("[ {} a -o b ] && echo ok", "! ".repeat(n))),
    ("[ ( ]", |n| format!("[ {} ] && echo ok", around(n, "\\( ", "a", " \\)"))),
    ("functions in functions", |n| format!("{} echo ok", around(n, "f() { ", ":;", " }; "))),
    ("a printed function", |n| {
        format!("f() {{ {} }}; declare -f f >/dev/null; echo ok", around(n / 4, "{ ", ":; ", "}; "))
    }),
];

/// What is read in a second way at each level, because the first one fails late.
const SECOND_WAYS: &[Nest] = &[
    ("`$((` of a subshell", |n| {
        format!("[ \"{}\" = ok ] && echo ok", around(n / 8, "$((echo ", "ok", ") )"))
    }),
    ("bad parameters", |n| format!("if false; then echo {}; fi; echo ok", around(n / 8, "${a[", "0", "]x}"))),
    ("bad parameters in arithmetic", |n| {
        format!("if false; then echo {}; fi; echo ok", around(n / 8, "$((${a[", "0", "]x}) )"))
    }),
];

/// What recurses while it runs.
const CALLS: &[Nest] = &[
    ("calls", |n| format!("f() {{ [ $1 -gt 1 ] && f $(($1-1)); :; }}; f {n}; echo ok")),
    ("calls in commands", |n| {
        format!(
            "f() {{ for i in 1; do case $1 in 1) ;; *) while :; do if :; then {{ f $(($1-1)); }}; fi; break; done;; esac; done; }}
             f {n}; echo ok"
        )
    }),
    ("calls in subshells", |n| format!("f() ( [ $1 -gt 1 ] && f $(($1-1)); : ); f {}; echo ok", n / 4)),
    ("calls in substitutions", |n| {
        format!("f() {{ [ $1 -gt 1 ] && x=$(f $(($1-1))); :; }}; f {}; echo ok", n / 4)
    }),
    ("eval", |n| format!("n={n}; x='[ $((--n)) -gt 0 ] && eval \"$x\"; :'; eval \"$x\"; echo ok")),
    ("source", |n| format!("echo '[ $((--n)) -gt 0 ] && . ./again; :' > again; n={n}; . ./again; echo ok")),
    ("traps", |n| {
        format!("n={n}; trap f USR1; f() {{ [ $((--n)) -gt 0 ] && kill -USR1 $$; :; }}; f; echo ok")
    }),
];

/// What expands level by level. (That no file has such a name is found out at the end of it.)
const EXPANSIONS: &[Nest] = &[
    ("components of a path", |n| format!("set -- {}*; echo ok", "a/".repeat(n))),
    ("folders above", |n| format!("set -- {}*; echo ok", "../".repeat(n))),
    ("patterns as components", |n| format!("set -- {}x; echo ok", "*/".repeat(n))),
    ("globstar", |n| format!("shopt -s globstar; set -- {}x; echo ok", "**/".repeat(n))),
    ("completed names", |n| format!("compgen -f {0}; compgen -G '{0}*'; echo ok", "a/".repeat(n))),
];

/// What recurses for ever. What comes out is an error or, where each level ignores it, the end.
const ENDLESS: &[&str] = &[
    "f() { f; }; f",
    "f() { f; f; }; f",
    "f() { (f); }; f",
    "f() { x=$(f); }; f",
    "x='eval \"$x\"'; eval \"$x\"",
    "echo '. ./again' > again; . ./again",
    "x=y; y=x; echo $((x))",
    "a[0]='a[0]'; echo $((a[0]))",
    "trap f DEBUG; set -T; f() { f; }; :",
    "trap f ERR; set -E; f() { false; f; }; false",
    "command_not_found_handle() { nosuch; }; nosuch",
    "f() { mapfile -c 1 -C f <<< x; }; f",
    "PS4='$(f)'; f() { :; }; set -x; f",
    "f() { local x=${y:-$(f)}; }; f",
    "f() { for i in $(f); do f; done; }; f",
];

/// The script, from a file, with this much stack in KiB.
fn run(script: &str, stack: &str) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("script");
    std::fs::File::create(&path).and_then(|mut file| file.write_all(script.as_bytes())).expect("a script");
    let limits = format!("ulimit -s {stack} && ulimit -v {MEMORY_KIB} && exec \"$0\" ./script");
    Command::new("sh")
        .args(["-c", &limits, RUSH])
        .stdin(Stdio::null())
        .current_dir(folder.path())
        .output()
        .expect("sh starts")
}

fn tail(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&text[text.len().saturating_sub(300)..]).into_owned()
}

/// Prints `ok` alone.
#[track_caller]
fn runs(nests: &[Nest], depth: usize, stack: &str) {
    for (name, script) in nests {
        let output = run(&script(depth), stack);
        assert!(output.status.success(), "{name}: {}, {}", output.status, tail(&output));
        let all_ok = output.stdout.split(|byte| *byte == b'\n').all(|line| line == b"ok" || line.is_empty());
        assert!(all_ok && !output.stdout.is_empty(), "{name}: {}", tail(&output));
    }
}

/// Ends by itself, with an error if anything went wrong.
#[track_caller]
fn ends(name: &str, script: &str, stack: &str) {
    let output = run(script, stack);
    let text = tail(&output);
    assert!(output.status.code().is_some_and(|code| code < 126), "{name}: {}, {text}", output.status);
    assert!(output.status.success() || !output.stderr.is_empty(), "{name}: no word of {}", output.status);
}

#[test]
fn texts_nest_ten_thousand_levels() {
    runs(TEXTS, DEEP, "8192");
    runs(SECOND_WAYS, DEEP, "8192");
}

#[test]
fn calls_nest_ten_thousand_levels() {
    runs(CALLS, DEEP, "8192");
}

#[test]
fn expansions_go_fifty_thousand_levels() {
    runs(EXPANSIONS, TOO_DEEP, "8192");
    let braces: Nest = ("braces", |n| format!("set -- {}; echo ok", around(n, "{a,", "x", "}")));
    runs(&[braces], DEEP, "8192");
    runs(&[braces], DEEP, "512");
}

#[test]
fn a_small_stack_is_enough() {
    runs(EXPANSIONS, 1_000, "512");
    runs(TEXTS, 1_000, "512");
    runs(CALLS, 1_000, "512");
}

#[test]
fn what_is_too_deep_is_an_error() {
    for (name, script) in TEXTS {
        if !matches!(*name, "subshells" | "subscripts" | "subscripts of arithmetic" | "a printed function") {
            ends(name, &script(TOO_DEEP), "8192");
        }
    }
    for (name, script) in CALLS {
        ends(name, &script(TOO_DEEP), "8192");
    }
}

#[test]
fn what_is_cut_off_is_an_error() {
    for (name, script) in TEXTS.iter().chain(SECOND_WAYS) {
        let mut text = script(DEEP / 4);
        text.truncate(text.len() / 2);
        let output = run(&text, "8192");
        assert!(output.status.code().is_some_and(|code| code < 126), "{name}: {}", tail(&output));
    }
}

#[test]
fn endless_recursion_ends() {
    for script in ENDLESS {
        ends(script, script, "8192");
    }
}

#[test]
fn funcnest_bounds_calls() {
    let output = run("FUNCNEST=5; f() { echo $((++n)); f; }; f; echo after $?", "8192");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n2\n3\n4\n5\n");
    assert!(tail(&output).contains("f: maximum function nesting level exceeded (5)"), "{}", tail(&output));
}
