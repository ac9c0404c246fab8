//! Modes of the shell that few use, the restricted shell and `set -k`, and loops over variables that cannot be assigned: output, messages and statuses are those of the
//! installed bash, where that is bash 5.2.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// What a restricted shell runs. Files have relative names, in a folder of the test's own.
const RESTRICTED: &[&str] = &[
    "echo $-; shopt restricted_shell",
    "shopt -u restricted_shell; echo $?; shopt restricted_shell; cd /; echo $?",
    "set +r; echo $?; cd /; echo $?",
    "set -r; echo $?",
    "cd; echo $?; cd .; echo $?; cd -; echo $?; (cd /); echo $?; pushd /; echo $?; popd; echo $?",
    "/bin/echo hi; echo $?; command /bin/echo hi; echo $?; ./x; echo $?; \"a/b\" c; echo $?",
    "/bin/echo a | cat; echo ${PIPESTATUS[@]}; /bin/echo a & wait $!; echo $?",
    "exec echo hi; echo $?",
    "exec 3</dev/null; echo $?; exec; echo $?; exec > out; echo $?",
    "echo hi > out; echo $?; echo hi >> out; echo $?; echo hi >| out; echo $?; echo hi &> out; echo $?",
    "echo hi <> out; echo $?; echo hi >& out; echo $?; echo hi &>> out; echo $?; > /dev/null; echo $?",
    "echo hi >&2; echo a 2>&1; cat </dev/null; echo $?; x=$(echo a > out); echo $?; { :; } > out; echo $?",
    ". /dev/null; echo $?; source ./x; echo $?; . x; echo $?",
    "PATH=/bin; echo not reached",
    "SHELL=/bin; echo not reached",
    "BASH_ENV=x; echo not reached",
    "HISTFILE=x; echo not reached",
    "unset PATH; echo $?; export PATH=/bin; echo $?; read PATH <<< a; echo $?",
    "hash -p /bin/ls ls; echo $?; hash -p a/b c; echo $?; BASH_CMDS[x]=/bin/ls; type x",
    "command -p ls; echo $?; command -v cd",
    "enable -f x y; echo $?; enable cd; echo $?; enable -n cd; enable cd; echo $?",
    "history -r /x; echo $?; history -w ./x; echo $?",
    "trap 'cd /' EXIT",
    "set -e; cd /; echo not reached",
    "eval 'cd /'; echo $?; pwd | wc -l; type /bin/sh; echo >(cat) | wc -l",
    "for PATH in a; do echo b; done; echo $?",
    "f; echo $?",
];

const KEYWORD: &[&str] = &[
    "set -k; env a=1 | grep ^a=; exec env a=9 | grep ^a=",
    "set -k; echo a=1 b \"c=$x\" d=2; echo \"[$a]\"",
    "set -k; f() { echo \"$# $a\"; }; f x a=5 y; echo \"[$a]\"",
    "set -k; a=1 b=2; echo $a$b",
    "set -k; echo \"a=1\" \\b=2 \"c\"=3 d\"=4\"",
    "set -k; export q=1 >out; declare -p q",
    "set -k; eval a=3; echo \"[$a]\"; a=1; eval echo \\$a a=2; echo $a",
    "set -k; echo x > out a=1 y; cat out",
    "set -k; set +k a=1; echo \"[$1]\"; echo a=1",
    "set -o keyword; echo a=1; echo $-",
    "set -k; a=1 : b=2; echo \"[$a$b]\"",
    "set -k; set -x; echo a=1 b c=2",
    "set -k; if [ a=1 ]; then echo yes; else echo no; fi",
    "set -k; x=a=1; echo $x; echo {a,b}=1 1a=2",
    "set -k; echo a=b | cat; (echo a=1 2); test a=1 = a=1 && echo t",
    "set -k; HOME=/h; env a=~ | grep ^a=; env a=$HOME:~ | grep ^a=",
    "set -k; let a=1; echo $? \"[$a]\"",
    "set -k; b=7; echo b=8 $b",
    "set -k; v=x; env a=$v\"$v y\" b+=z | grep '^[ab]=' | sort",
];

/// Output, messages and status of one shell, called by `name`.
fn run(shell: &str, name: &str, arguments: &[&str], script: &str) -> (String, String, Option<i32>) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(shell)
        .arg0(name)
        .args(arguments)
        .args(["-c", script])
        .current_dir(folder.path())
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C"), ("BASH_FUNC_f%%", "() { echo function; }")])
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

fn compare(name: &str, arguments: &[&str], scripts: &[&str]) {
    let version = Command::new("bash").arg("--version").output();
    if !version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("version 5.2.")) {
        pithos_skipped::test("bash 5.2 is not installed");
        return;
    }
    for script in scripts {
        let bash = run("bash", name, arguments, script);
        assert_eq!(run(env!("CARGO_BIN_EXE_rush"), name, arguments, script), bash, "{script}");
    }
}

#[test]
fn a_restricted_shell_refuses_what_bash_does() {
    compare("shell", &["-r"], RESTRICTED);
    compare("shell", &["--restricted"], &["cd /", "PATH=x"]);
    compare("rbash", &[], &["cd /; echo $-"]);
    compare("-rbash", &["--noprofile"], &["cd /; echo $-"]);
    compare("shell", &[], &["set -r; cd /; echo $-; PATH=x", "set +r; cd /; pwd", "f"]);
    compare("shell", &["+r"], &["cd /; pwd"]);
    compare("shell", &["-O", "restricted_shell"], &["cd /; pwd"]);
}

#[test]
fn what_a_restricted_shell_reads_at_start_is_not_restricted() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("env");
    std::fs::write(&file, "cd /; echo $?\n").expect("written");
    for shell in ["bash", env!("CARGO_BIN_EXE_rush")] {
        let run =
            Command::new(shell).args(["-r", "-c", "pwd; cd /; echo $?"]).env("BASH_ENV", &file).output();
        assert_eq!(String::from_utf8_lossy(&run.expect("a shell").stdout), "0\n/\n1\n", "{shell}");
    }
}

#[test]
fn assignments_anywhere_are_for_the_command_under_set_k() {
    compare("shell", &[], KEYWORD);
}

#[test]
fn a_loop_whose_variable_is_readonly_fails_alone() {
    compare(
        "shell",
        &[],
        &[
            "readonly r=1; for r in a b; do echo $r; done; echo $?",
            "readonly r=1; for r in; do :; done; echo $?",
            "readonly r=1; for i in 1 2; do for r in a; do :; done; echo $i $?; done",
            "readonly r=1; select r in a b; do echo $r; break; done <<< 1; echo $?",
            "set -e; readonly r=1; for r in a b; do echo $r; done; echo not reached",
            "set -e; readonly r=1; for r in a b; do echo $r; done || echo or; echo $?",
            "trap 'echo err' ERR; readonly r=1; for r in a b; do echo $r; done; echo $?",
            "set -o posix; readonly r=1; for r in a b; do echo $r; done; echo not reached",
        ],
    );
}

/// `set -n` in a script: nothing runs after it, wherever it stands, and what follows is only read.
#[test]
fn nothing_runs_after_noexec() {
    let cases = [
        ("set -n; echo hi", "", 0),
        ("set -n && echo hi", "", 0),
        ("for i in 1 2; do echo $i; set -n; done; echo x", "1\n", 0),
        ("f() { set -n; echo in; }; f; echo out", "", 0),
        ("(set -n; echo in); echo out", "out\n", 0),
        ("if set -n; then echo y; fi; echo z", "", 0),
        ("while :; do set -n; done; echo e", "", 0),
        ("x=$(set -n; echo a); echo [$x]", "[]\n", 0),
        ("eval 'set -n; echo a'; echo b", "", 0),
        ("set -n | cat; echo p", "p\n", 0),
        ("{ set -o noexec; echo a; } >/dev/null; echo b", "", 0),
        ("echo before\nset -n\necho after\nif", "before\n", 2),
    ];
    for (script, expected, status) in cases {
        let output =
            Command::new(env!("CARGO_BIN_EXE_rush")).args(["-c", script]).output().expect("rush starts");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{script}");
        assert_eq!(output.status.code(), Some(status), "{script}");
    }
}
