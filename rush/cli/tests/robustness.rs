//! Hostile surroundings: closed descriptors, full disks, little memory, huge and binary input. The expectations are
//! what bash 5.2 prints, or, where bash crashes or hangs, a clear error.

use std::process::{Command, Output};

const RUSH: &str = env!("CARGO_BIN_EXE_rush");

/// Runs a line of `sh` in which `$RUSH` is the shell under test.
fn sh(line: &str) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    Command::new("sh")
        .args(["-c", line])
        .env("RUSH", RUSH)
        .env_remove("LC_ALL")
        .env("LANG", "C.UTF-8")
        .current_dir(folder.path())
        .output()
        .expect("sh starts")
}

/// Both outputs of `sh`, with the shell's path as `rush`.
#[track_caller]
fn check(line: &str, expect: &str) {
    let output = sh(line);
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).replace(RUSH, "rush");
    assert_eq!(text, expect, "{line}");
}

#[test]
fn closed_descriptors_are_closed() {
    check(
        r#""$RUSH" -c 'echo hi' >&-; echo $?"#,
        "1\nrush: line 1: echo: write error: Bad file descriptor\n",
    );
    check(r#""$RUSH" -c '/bin/echo hi' 2>/dev/null >&-; echo $?"#, "1\n");
    check(r#""$RUSH" -c 'read x; echo $?' <&- 2>/dev/null"#, "1\n");
    check(r#""$RUSH" -c 'echo lost >&2; echo $?' 2>&-"#, "1\n");
    check(r#""$RUSH" -c 'x=$(echo hi); [ "$x" = hi ]' <&- >&- 2>&-; echo $?"#, "0\n");
    check(r#""$RUSH" -c 'cat <<< in; echo a | cat' <&-"#, "in\na\n");
    check(r#""$RUSH" -c 'exec 1>&-; echo x 2>/dev/null; echo $? >&2'"#, "1\n");
}

#[test]
fn a_full_disk_is_reported() {
    let full = "write error: No space left on device\n";
    check(r#""$RUSH" -c 'echo hi > /dev/full; echo $?'"#, &format!("1\nrush: line 1: echo: {full}"));
    check(r#""$RUSH" -c 'printf x > /dev/full; echo $?'"#, &format!("1\nrush: line 1: printf: {full}"));
    check(
        r#""$RUSH" -c 'cat <<< x > /dev/full; echo $?' 2>&1"#,
        &format!("cat: {full}1\n").replace("cat: write", "cat: write"),
    );
    check(
        r#""$RUSH" -c 'for i in 1 2; do echo $i; done' > /dev/full; echo $?"#,
        &format!("1\n{0}{0}", format!("rush: line 1: echo: {full}")),
    );
}

#[test]
fn nul_bytes_are_dropped() {
    check(r#"printf 'a\0b\nc' | "$RUSH" -c 'read x; echo "$x"; read y; echo "$? $y"'"#, "ab\n1 c\n");
    let warning = "rush: line 1: warning: command substitution: ignored null byte in input\n";
    check(r#""$RUSH" -c 'x=$(printf "a\0b"); echo "$x" ${#x}'"#, &format!("ab 2\n{warning}"));
    check(r#"printf 'a\0b\0' | "$RUSH" -c 'mapfile -d "" x; echo ${#x[@]} ${x[1]}'"#, "2 b\n");
    check(r#"printf 'echo first\necho a\0b\n' > s; "$RUSH" s"#, "first\nab\n");
    check(r#"printf 'echo a\0b\n' > s; "$RUSH" s; echo $?"#, "126\ns: s: cannot execute binary file\n");
    check(r#"cp /bin/true t; "$RUSH" ./t; echo $?"#, "126\n./t: ./t: cannot execute binary file\n");
}

#[test]
fn invalid_utf8_is_kept() {
    check(
        r#""$RUSH" -c 'x=$'"'"'a\xffb\xc3\xa9'"'"'; echo ${#x} "${x:3:1}"; printf "%q\n" "$x"'"#,
        "4 é\n$'a\\377bé'\n",
    );
    check(
        r#""$RUSH" -c 'x=$'"'"'\xff\xfe'"'"'; case $x in ??) echo two;; esac; echo "${x//?/.}"'"#,
        "two\n..\n",
    );
    check(
        r#""$RUSH" -c 'touch "$(printf "\377x")"; for f in ?x; do printf "%q\n" "$f"; done'"#,
        "$'\\377x'\n",
    );
}

#[test]
fn a_line_of_ten_megabytes() {
    let big = "head -c 10000000 /dev/zero | tr '\\0' a > big;";
    check(
        &format!(
            r#"{big} "$RUSH" -c 'read -r x < big; echo ${{#x}}; y=${{x//a/b}}; echo ${{#y}}; [[ $y == b*b ]]; echo $?'"#
        ),
        "10000000\n10000000\n0\n",
    );
    check(
        &format!(r#"{big} {{ printf 'echo '; cat big; printf ' | wc -c\n'; }} > s; "$RUSH" s"#),
        "10000001\n",
    );
    check(
        &format!(
            r#"{big} "$RUSH" -c 'read -n 9999999 x < big; echo ${{#x}}; mapfile l < big; echo ${{#l[0]}}'"#
        ),
        "9999999\n10000000\n",
    );
}

#[test]
fn a_hundred_thousand_arguments() {
    check(
        r#""$RUSH" -c 'set -- $(seq 100000); f() { echo $# ${100000}; }; f "$@"; /bin/echo "$@" | wc -w; shift 99999; echo $1'"#,
        "100000 100000\n100000\n100000\n",
    );
    check(r#""$RUSH" -c 'echo $#' x $(seq 100000)"#, "100000\n");
    check(
        r#""$RUSH" -c '/bin/true $(seq 1000000); echo $?'"#,
        "126\nrush: line 1: /bin/true: Argument list too long\n",
    );
}

#[test]
fn too_little_memory_is_an_error() {
    let output = sh(r#"ulimit -v 60000; "$RUSH" -c 'x=a; while :; do x=$x$x; done'; echo $?"#);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("cannot allocate memory"), "{message}");
}

/// Each holds what has no end: a line, a file, a text that grows, a table. The shell goes on, as it does after a program.
#[test]
fn a_utility_that_takes_too_much_memory_ends_alone() {
    for (line, status) in [
        ("sort /dev/zero", 2),
        ("tail /dev/zero", 1),
        ("grep x /dev/zero", 2),
        ("sed p /dev/zero", 4),
        ("uniq /dev/zero", 1),
        ("awk 1 /dev/zero", 2),
        ("diff /dev/zero /dev/null", 2),
        ("tail -c 999999999 </dev/zero", 1),
        ("sort </dev/zero", 2),
        ("sed ':a;s/.*/&&/;ta' <<< x", 4),
        ("sed ':a;G;h;ba' <<< x", 4),
        ("awk 'BEGIN { while (1) s = s \"aaaaaaaaaaaaaaaa\" }'", 2),
        ("awk 'BEGIN { s = \"x\"; while (1) s = s s }'", 2),
        ("awk 'BEGIN { while (1) a[i++] = \"xxxxxxxx\" i }'", 2),
        ("awk 'BEGIN { s = \"x\"; while (1) gsub(/x/, \"xx\", s) }'", 2),
        ("awk 'BEGIN { s = \"x\"; while (1) s = gensub(/x/, \"xx\", \"g\", s) }'", 2),
    ] {
        let name = line.split(' ').next().unwrap_or_default();
        let output = sh(&format!(
            r#"ulimit -v 250000; "$RUSH" -c {} 2>&1"#,
            quoted(&format!("x=kept; {line} >/dev/null; echo $? $x"))
        ));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(text, format!("{name}: memory exhausted\n{status} kept\n"), "{line}");
    }
}

/// A word for `sh`.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[test]
fn descriptors_run_out_with_an_error() {
    let output = sh(
        r#"ulimit -n 20; "$RUSH" -c 'for i in {3..40}; do eval "exec $i>/dev/null" || break; done; echo $i' 2>&1"#,
    );
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("/dev/null: Too many open files") && !text.ends_with("40\n"), "{text}");
}

#[test]
fn endless_recursion_and_nesting_are_errors() {
    let output = sh(r#""$RUSH" -c 'f() { f; }; f'; echo $?"#);
    assert!(String::from_utf8_lossy(&output.stderr).contains("maximum function nesting level exceeded"));
    let output = sh(r#""$RUSH" -c "$(printf '{ %.0s' $(seq 30000))"; echo $?"#);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("nested too deeply"));
}
