//! Small programs of which one was answered differently from bash. The expected output is bash 5.2's.

use std::process::Command;

fn check(script: &str, expect: &str) {
    // Whatever signals are ignored where the tests run (as under nohup): what is ignored at the start stays so.
    let output = Command::new("env")
        .args(["--default-signal", "timeout", "20", env!("CARGO_BIN_EXE_rush"), "-c", script])
        .env("HOME", "/h/me")
        .output()
        .expect("rush starts");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(text, expect, "{script}");
}

#[test]
fn breaks_and_continues_in_conditions() {
    check("for x in 1; do until continue; do echo no; done; done; echo end", "end\n");
    check("for i in 1 2; do while break 2; do echo no; done; echo in; done; echo $i", "1\n");
    check("for i in 1 2; do if continue; then echo no; fi; echo no; done; echo $i", "2\n");
    check("n=0; until ((n++)); do while continue 2; do :; done; done; echo $n", "2\n");
    check("while until break 2; do :; done; do :; done; echo end", "end\n");
}

#[test]
fn getopts_starts_again_when_optind_is_local_or_assigned() {
    let inner = "f() { local OPTIND o; while getopts xyz o; do echo \"in $o\"; done; }; ";
    let outer = "while getopts abc o; do echo \"out $o\"; f -xy -z; done";
    let inside = "in x\nin y\nin z\n";
    let expect = format!("out a\n{inside}out b\n{inside}out c\n{inside}");
    check(&format!("{inner} set -- -ab -c; {outer}"), &expect);
    check(&format!("{} set -- -ab -c; {outer}", inner.replace("OPTIND", "OPTIND=1")), &expect);
    check("for i in 1 2 3; do OPTIND=1; getopts xy o -xy; echo $o; done", "x\nx\nx\n");
    check("OPTIND=0; getopts xy o -xy; getopts xy o -xy; echo $o $OPTIND", "y 2\n");
}

#[test]
fn slices_of_lists() {
    check(
        "declare -A m=([a]=1 [b]=2 [c]=3 [d]=4); echo \"${m[@]: -2}|${m[@]:0:2}|${m[@]:4}\"",
        "2 1|4 3|1\n",
    );
    check(
        "x=hello; echo \"${x[@]:1:2}\"; a=([3]=a [7]=b [9]=c); echo \"${a[@]:4:2}|${a[@]: -1}\"",
        "el\nb c|c\n",
    );
    check(
        "set -- p q r; echo \"${@:2}|${@: -1}|${@:4}|${*:1:2}\"; shift; echo \"$1 $# ${@:1:1}\"",
        "q r|r||p q\nq 2 q\n",
    );
}

#[test]
fn words_and_quotes() {
    check("x=(~:~/b a=~ ~/x); printf '%s\\n' \"${x[@]}\"", "/h/me:~/b\na=~\n/h/me/x\n");
    check("x=($(echo a=~)); echo $x", "a=/h/me\n");
    check(r#"v=set; echo "${v:+"x\xy"}" "${v:+"a\$b"}" "${v:+x\xy}" "${u:-"x\xy"}""#, "xxy a$b x\\xy xxy\n");
    check("v=1; echo \"${v:+\"$(echo \"\\x\")\"}\"", "\\x\n");
    check("wh\\\nile true; do bre\\\nak; done; ca\\\nse a in a) echo $LINENO;; esa\\\nc", "4\n");
    check("[\\\n[ a == a ]\\\n] && echo same", "same\n");
    check("eval $'cat <<E\\nabc' 2>/dev/null", "abc\n");
    check("declare b[2]; declare -p b", "declare -a b\n");
    check("read -N 3 -a a <<< 'a b c'; declare -p a", "declare -a a=([0]=\"a b\")\n");
    check("f() { :; }; f a b; echo $_; g() { x=1; }; g k; echo $_", "b\nk\n");
    check("(set -f -! 2>/dev/null; [[ $- == *f* ]] || echo none)", "none\n");
    check("hash -p /bin/echo name; name hi; hash -t name", "hi\n/bin/echo\n");
    check("cd /usr/lib; PROMPT_DIRTRIM=1; p='\\w'; echo ${p@P}; HOME=/usr; echo ${p@P}", ".../lib\n~/lib\n");
}

#[test]
fn aliases_open_and_close_compound_commands() {
    let aliases = "shopt -s expand_aliases; alias LOOP='while true; do' END=done OPEN='{' CLOSE='}' IF='if true; then' ELSE=else FI=fi DO=do BODY='{ echo body;'\n";
    let run = |script: &str, expect: &str| check(&format!("{aliases}{script}"), expect);
    run("LOOP echo a; break; END", "a\n");
    run("OPEN echo b; CLOSE", "b\n");
    run("IF echo c; ELSE echo d; FI", "c\n");
    run("for i in 1 2; DO echo $i; END", "1\n2\n");
    run("f() BODY }; f", "body\n");
}

#[test]
fn what_was_ignored_at_the_start_stays_ignored() {
    let script = "trap '' HUP; exec \"$0\" -c 'trap \"echo x\" HUP; trap; kill -HUP $$; echo alive'";
    let output = Command::new("env")
        .args(["--default-signal", "sh", "-c", script, env!("CARGO_BIN_EXE_rush")])
        .output()
        .expect("env and sh are there");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "trap -- '' SIGHUP\nalive\n");
    check("(trap 'echo caught' INT; kill -INT $BASHPID; :) & wait", "caught\n");
}

#[test]
fn a_function_has_options_of_its_own() {
    check(
        "f() { local -; set -f -u; shopt -s nullglob; }; f; [[ $- == *[fu]* ]] || echo back; shopt -q nullglob && echo on",
        "back\non\n",
    );
}

#[test]
fn the_jobs_of_the_parent_are_not_children_of_a_subshell() {
    check("sleep 0 & (wait $! 2>/dev/null; echo $?); wait $!; echo $?", "127\n0\n");
    check(
        "(SECONDS=1000); echo $((SECONDS < 100)); hash -p /bin/true t; (hash -r); x=$(hash -d t); hash -t t",
        "1\n/bin/true\n",
    );
}
