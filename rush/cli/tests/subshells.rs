//! In-process subshells behave as processes: nothing that happens in one reaches the shell around it. Every script
//! only prints.

use std::process::Command;

fn check(script: &str, expect: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_rush")).args(["-c", script]).output().expect("rush starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expect, "{script}");
}

#[test]
fn exec_replaces_only_the_subshell() {
    check("( exec echo replaced; echo no ); echo after", "replaced\nafter\n");
    check("x=$(exec echo sub); echo $x", "sub\n");
}

#[test]
fn state_is_put_back() {
    check("a=1; ( a=2; b=$(a=3; echo $a); echo $a $b ); echo $a", "2 3\n1\n");
    check("cd /; ( cd /usr; pwd ); pwd", "/usr\n/\n");
    check("umask 022; ( umask 077; umask ); umask", "0077\n0022\n");
    check("( trap 'echo in' EXIT; exit 4 ); echo $?", "in\n4\n");
    check("set -- a b; ( set -- c; echo $# ); echo $#", "1\n2\n");
    check("( ulimit -n 50 ); [ $(ulimit -n) = 50 ] || echo kept", "kept\n");
}

#[test]
fn a_late_fork_goes_on_in_the_child() {
    check("x=$( (echo a; [ $BASHPID = $$ ] || echo other; echo b) ); echo $x", "a other b\n");
}

#[test]
fn a_redirected_background_process_holds_no_pipe_of_the_shell() {
    for script in ["sleep 99 >/dev/null 2>&1 & echo $!", "{ sleep 99; :; } >/dev/null 2>&1 & echo $!"] {
        // Waits for the end of the pipes.
        let output =
            Command::new(env!("CARGO_BIN_EXE_rush")).args(["-c", script]).output().expect("rush starts");
        let pid = String::from_utf8_lossy(&output.stdout).trim().to_string();
        assert!(
            std::path::Path::new(&format!("/proc/{pid}")).exists(),
            "{script}: the output outlived {pid}"
        );
        let _ = Command::new("kill").arg(pid).status();
    }
}

#[test]
fn a_stage_ends_before_the_err_trap_could_run_in_it() {
    let trap = "set -E; trap 'echo err' ERR; f() { return 3; }; ";
    check(&format!("{trap}false | cat; f | cat; echo a | cat | f | cat; echo end"), "end\n");
    check(&format!("{trap}: | false; echo end"), "err\nend\n");
    check("trap 'echo $LINENO' EXIT\n\n:", "1\n");
}

#[test]
fn an_expansion_error_in_a_stage_ends_it_as_it_ends_the_string() {
    check("echo ${x?} | cat; echo ${PIPESTATUS[@]}", "127 0\n");
    check("cat </dev/null | echo ${x?}; echo $?; echo ${x?} & wait $!; echo $?", "127\n127\n");
    check(
        "set -u; echo $((x)) | cat; echo ${PIPESTATUS[@]}; f() { echo $x; }; : | f; echo $?",
        "127 0\n127\n",
    );
    check(
        "{ echo ${x?}; } | cat; echo ${PIPESTATUS[@]}; ( echo ${x?} | cat; echo ${PIPESTATUS[@]} )",
        "1 0\n1 0\n",
    );
    check(
        "eval 'echo ${x?}' | cat; echo ${PIPESTATUS[@]}; eval 'echo ${x?} | cat; echo ${PIPESTATUS[@]}'",
        "1 0\n127 0\n",
    );
    check(
        "set -u; ( echo $((x)) ); echo $?; y=$(echo ${x?} | cat; echo ${PIPESTATUS[@]}); echo $y",
        "1\n1 0\n",
    );
}

#[test]
fn a_tilde_assigned_to_a_key_stays() {
    check(
        "HOME=/h; declare -A m=([k]=~ [l]=a:~/x); echo ${m[k]} ${m[l]}; a=([0]=~); echo $a",
        "~ a:~/x\n/h\n",
    );
}

#[test]
fn no_utility_reads_what_it_writes() {
    let script = "d=$(mktemp -d); cd $d; echo x > f; cat f >> f; echo $?; cat < f >> f; echo $?; rm -r $d";
    check(&format!("{{ {script}; }} 2>/dev/null"), "1\n1\n");
}
