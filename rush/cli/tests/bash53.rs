//! What bash 5.3 added to the language and its builtins. The expectations follow its manual, because the bash that other tests
//! compare with is 5.2.

use std::process::Command;

const RUSH: &str = env!("CARGO_BIN_EXE_rush");

/// Both outputs of a script in an empty folder, mixed, and the status.
#[track_caller]
fn check(script: &str, expect: &str, status: i32) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new("sh")
        .args(["-c", r#"exec "$0" -c "$1" rush 2>&1"#, RUSH, script])
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C")])
        .current_dir(folder.path())
        .output()
        .expect("sh starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expect, "{script}");
    assert_eq!(output.status.code(), Some(status), "{script}");
}

#[test]
fn output_of_commands_in_the_shell_itself() {
    check("echo \"a${ echo b; }c\"", "abc\n", 0);
    check("x=${ printf 'a\\n\\n\\n'; }; echo \"[$x]\"", "[a]\n", 0);
    check("x=${\necho one\necho two\n}; echo \"$x\"", "one\ntwo\n", 0);
    check("x=${\techo tab;}; echo $x", "tab\n", 0);
    check("echo ${ echo a b; } \"${ echo 'c  d'; }\"", "a b c  d\n", 0);
    check("cat <<E\n${ echo in a here-document; }\nE", "in a here-document\n", 0);
    check("echo $(( ${ echo 20; } + 1 )) ${x:-${ echo d; }}", "21 d\n", 0);
    check("echo hi >f; echo \"${ < f; }\"", "hi\n", 0);
    check("x=${ /bin/echo from a program; }; echo $x", "from a program\n", 0);
    check("x=${ echo a | /bin/cat | tr a b; }; echo $x", "b\n", 0);
    check("x=${ seq 100000; }; echo ${#x}", "588894\n", 0);
    check("echo \"[${ :; }]\" \"[${ }]\"", "[] []\n", 0);
}

#[test]
fn side_effects_stay() {
    check("x=1; y=${ x=2; echo out; }; echo $x $y", "2 out\n", 0);
    check("mkdir d; y=${ cd d; pwd; }; [ \"$PWD\" = \"$y\" ] && echo moved", "moved\n", 0);
    check("set -- a b; y=${ shift; echo $1; }; echo $# $1 $y", "1 b b\n", 0);
    check(
        "y=${ set -f; f() { echo defined; }; echo $BASH_SUBSHELL; }; f; echo $- $y",
        "defined\nfhBc 0\n",
        0,
    );
    check("y=${ trap 'echo trapped' EXIT; }; echo end", "end\ntrapped\n", 0);
    check("y=${ exec 3>f; echo x; }; echo kept >&3; cat f; echo $y", "kept\nx\n", 0);
    check(
        "y=${ exec >f; echo in the file; }; echo outside; cat f; echo \"[$y]\"",
        "outside\nin the file\n[]\n",
        0,
    );
    check("x=1; echo ${ x=2; echo in; } | cat; echo $x", "in\n1\n", 0);
    check("x=1; y=$( z=${ x=3; echo $x; }; echo $z $x ); echo $y $x", "3 3 1\n", 0);
    check("p=$BASHPID; y=${ [ $BASHPID = $p ] && echo same; }; echo $y", "same\n", 0);
    check(
        "( p=$BASHPID; y=${ [ $BASHPID = $p ] && echo same; }; echo $y; x=${ echo $BASHPID; }; [ $x = $p ] && echo again )",
        "same\nagain\n",
        0,
    );
}

#[test]
fn a_scope_of_its_own() {
    check("x=1; y=${ local x=2; echo $x; }; echo $x $y", "1 2\n", 0);
    check("f() { local x=2; y=${ local x=3; x=4; echo $x; }; echo $x $y; }; x=1; f; echo $x", "2 4\n1\n", 0);
    check("y=${ local -; set -f; echo $-; }; case $- in *f*) echo on;; *) echo off;; esac", "off\n", 0);
    check("y=${ echo a; return 3; echo b; }; echo $y $?", "a 3\n", 0);
    check("f() { y=${ return 3; }; echo after $?; return 4; }; f; echo $?", "after 3\n4\n", 0);
    check("return 2>/dev/null; echo $?", "2\n", 0);
    check(
        "for i in 1 2; do y=${ for j in 1 2; do break; done; echo $j; }; echo $i $y; done",
        "1 1\n2 1\n",
        0,
    );
    check("REPLY=r; y=${ REPLY=x; echo $REPLY; }; echo $REPLY $y", "r x\n", 0);
}

#[test]
fn values_in_reply() {
    check("echo \"a${| REPLY=b; }c\"", "abc\n", 0);
    check("x=${|REPLY=$'v\\n\\n'; }; echo \"[$x]\"", "[v\n\n]\n", 0);
    check("x=${| echo shown; REPLY=v; }; echo $x", "shown\nv\n", 0);
    check("REPLY=r; x=${| echo \"[${REPLY-unset}]\"; }; echo \"[$x]$REPLY\"", "[unset]\n[]r\n", 0);
    check("x=${| read <<<line; }; echo $x", "line\n", 0);
    check("x=${| REPLY=1; return 5; }; echo $x $?", "1 5\n", 0);
    check("x=${| y=2; REPLY=$y; }; echo $x $y", "2 2\n", 0);
    check("f() { REPLY=$(( $1 * 2 )); }; echo ${| f 4; } ${| f ${| f 1; }; }", "8 4\n", 0);
    check("unset REPLY; : ${| REPLY=2; }; echo ${REPLY-unset}", "unset\n", 0);
}

#[test]
fn statuses_errors_and_ends() {
    check("x=${ false; }; echo $?", "1\n", 0);
    check("${ echo echo; } a; ${ :; }; echo $?", "a\n0\n", 0);
    check("set -e; x=${ false; echo after; }; echo not reached", "", 1);
    check("set -e; x=${ false; }; echo not reached", "", 1);
    check("set -e; if x=${ false; echo $?; }; then echo $x; fi", "1\n", 0);
    check("trap 'echo end' EXIT; x=${ echo lost; exit 4; }; echo not reached", "end\n", 4);
    check("x=${ echo a; : ${y?gone}; }; echo not reached", "rush: line 1: y: gone\n", 127);
    check("trap 'echo err' ERR; x=${ false; echo v; }; echo $x", "err v\n", 0);
    check("x=${ echo a & wait; }; echo $x", "a\n", 0);
    check("x=${ /bin/sleep 5 & kill $!; echo a; }; echo $x", "a\n", 0);
}

#[test]
fn where_it_ends() {
    check("echo ${ echo }; }", "}\n", 0);
    check("echo ${ { echo a; }; } ${ { echo b; } } ${ (echo c) } ${ { echo d; }}", "a b c d\n", 0);
    check("echo ${ echo a;}b${ echo c;}", "abc\n", 0);
    check("echo ${ case x in x) echo y;; esac; } ${ if :; then echo z; fi }", "y z\n", 0);
    check("echo ${ echo $(echo '}'); } ${ echo \"}\"; }", "} }\n", 0);
    check("f() { echo ${ echo a; } \"${| REPLY=b; }\"; }; f; eval \"$(declare -f f)\"; f", "a b\na b\n", 0);
    check("echo ${ echo a }", "rush: -c: line 1: unexpected EOF while looking for matching `}'\n", 2);
    check(
        "echo ${ echo a; ) }",
        "rush: -c: line 1: syntax error near unexpected token `)'\nrush: -c: line 1: `echo ${ echo a; ) }'\n",
        2,
    );
}

#[test]
fn depth() {
    let nested = |n: usize| {
        format!("echo {}echo ok{}", "${ echo ".repeat(n), "; }".repeat(n)).replace("echo echo", "echo")
    };
    check(&nested(200), "ok\n", 0);
    let endless = "f() { echo ${ f; }; }; ulimit -n 200; f >/dev/null; echo not reached";
    let output = Command::new(RUSH).args(["-c", endless]).output().expect("rush starts");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(messages.contains("cannot make a file") || messages.contains("nesting level"), "{messages}");
    assert_eq!(output.status.code(), Some(1), "{messages}");
}

#[test]
fn the_order_of_paths() {
    let files = "printf 333 >b; printf 1 >c; printf 22 >a; : >10; : >9; touch -d @5 a; touch -d @7 b; touch -d @6 c; touch -d @1 9 10; ";
    for (order, expect) in [
        ("", "10 9 a b c"),
        ("name", "10 9 a b c"),
        ("-", "c b a 9 10"),
        ("+", "10 9 a b c"),
        ("numeric", "9 10 a b c"),
        ("-numeric", "c b a 10 9"),
        ("size", "10 9 c a b"),
        ("-size", "b a c 9 10"),
        ("mtime", "10 9 a c b"),
        ("-mtime", "b c a 9 10"),
        ("nonsense", "10 9 a b c"),
    ] {
        check(&format!("{files}GLOBSORT={order}; echo *"), &format!("{expect}\n"), 0);
    }
    check(&format!("{files}GLOBSORT=nosort; set -- *; echo $#"), "5\n", 0);
    check(&format!("{files}GLOBSORT=-name; unset GLOBSORT; echo *"), "10 9 a b c\n", 0);
}

#[test]
fn variables_and_options() {
    check("a=$BASH_MONOSECONDS; [[ $a =~ ^[0-9]+$ ]] && (( BASH_MONOSECONDS >= a )) && echo ok", "ok\n", 0);
    check(
        "shopt -s array_expand_once; shopt -q assoc_expand_once && echo on; shopt -u array_expand_once; echo $?",
        "on\n0\n",
        0,
    );
    check("compgen -V found -W 'ab ac b' a; echo $? ${#found[@]} ${found[*]}", "0 2 ab ac\n", 0);
    check("compgen -V found -W b a; echo $? ${#found[@]}", "1 0\n", 0);
    check("compgen -V 1x -W a a", "rush: line 1: compgen: `1x': not a valid identifier\n", 1);
    check("read -E x <<<line; echo $x", "line\n", 0);
}

#[test]
fn source_with_a_path() {
    let files = "mkdir d e; echo 'echo from d $1' >d/f; echo 'echo here' >f; echo 'echo from e' >e/g; ";
    check(
        &format!("{files}. -p d f arg; source -p e:d f; . -p nowhere f; echo $?"),
        "from d arg\nfrom d\nrush: line 1: f: No such file or directory\n1\n",
        0,
    );
    check(&format!("{files}source -pe:d g; source -p e -- g; . -p e ./f"), "from e\nfrom e\nhere\n", 0);
    check(". -p", "rush: line 1: .: -p: option requires an argument\n.: usage: . filename [arguments]\n", 2);
}
