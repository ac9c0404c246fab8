//! What random scripts have found (`pithos-fuzz shell-bash`) and was mended. The expectations are what bash 5.2 prints.

use std::process::Command;

const RUSH: &str = env!("CARGO_BIN_EXE_rush");

/// Both outputs of a `-c` string in an empty folder, mixed, and the status.
#[track_caller]
fn check(script: &str, expect: &str, status: i32) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Whatever signals are ignored where the tests run (as under nohup): what is ignored at the start stays so.
    let output = Command::new("env")
        .args(["--default-signal", "sh", "-c", r#"exec "$0" -c "$1" rush 2>&1"#, RUSH, script])
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C")])
        .current_dir(folder.path())
        .output()
        .expect("sh starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expect, "{script}");
    assert_eq!(output.status.code(), Some(status), "{script}");
}

#[test]
fn signs_apply_to_whole_conditions() {
    check("echo $((-(1 ? 5 : 2) + 16)) $((!(1 ? 0 : 2))) $((~(0 ? 1 : 2))) $((-5 + - 3))", "11 1 -3 -8\n", 0);
}

#[test]
fn arithmetic_is_evaluated_up_to_an_error() {
    let error = "((: c -= 1 s : syntax error in expression (error token is \"s \")";
    check("c=5; (( c -= 1 s )); echo $c", &format!("rush: line 1: {error}\n4\n"), 0);
    check("set -u; v='zz w'; echo $((v))", "rush: line 1: zz: unbound variable\n", 127);
    let error = "p .b: syntax error: invalid arithmetic operator (error token is \".b\")";
    check("p=1; q='p .b'; echo $((q))", &format!("rush: line 1: {error}\n"), 1);
    let error = "x y$: syntax error: invalid arithmetic operator (error token is \"$\")";
    check("v='x y$'; echo $((v))", &format!("rush: line 1: {error}\n"), 1);
    check("readonly a=q; let b=1 a=2 c=3; echo $? $b $c", "rush: line 1: a: readonly variable\n1 1\n", 0);
}

#[test]
fn a_subshell_that_becomes_a_process_stays_in_its_loop() {
    check(
        "for i in 1 2; do ( for j in 1; do : $BASHPID; done; echo in $i ); done; echo out",
        "in 1\nin 2\nout\n",
        0,
    );
    check("( for j in 1 2; do : $BASHPID; break; done; echo $j )", "1\n", 0);
}

#[test]
fn set_e_does_not_see_every_expansion_error() {
    let error = "rush: line 2:  -1: substring expression < 0\n";
    check("set -e\nd=-3; echo ${d:2: -1}\necho next $?", &format!("{error}next 1\n"), 0);
    let error = "rush: line 2: 1+: syntax error: operand expected (error token is \"+\")\n";
    check("set -e\necho $((1+))\necho next $?", &format!("{error}next 1\n"), 0);
    check("set -e; shopt -s failglob\necho *nothing*\necho next", "rush: line 2: no match: *nothing*\n", 1);
    let error = "rush: line 1: arr: bad array subscript\n";
    check("set -e; unset arr; echo ${arr[-1]} || echo or; echo next", error, 1);
}

#[test]
fn statuses_of_fatal_expansions() {
    let error = "rush: line 1: zz: unbound variable\n";
    check("set -u; echo $zz | cat; echo ${PIPESTATUS[*]}", &format!("{error}127 0\n"), 0);
    check("set -u; { echo $zz; } | cat; echo ${PIPESTATUS[*]}", &format!("{error}1 0\n"), 0);
    check("set -u; (( zz )) | cat; echo ${PIPESTATUS[*]}", &format!("{error}1 0\n"), 0);
    check("set -u; ( echo $zz ); echo $?", &format!("{error}1\n"), 0);
    check("set -eu; echo $zz", error, 1);
    check("set -u; arr=(1); (( arr[8]++ )); echo ${arr[@]}", "1 1\n", 0);
    check("set -e; echo ${e:?}", "rush: line 1: e: parameter null or not set\n", 1);
}

#[test]
fn redirections_of_checked_commands() {
    let error = "rush: line 1: missing/x: No such file or directory\n";
    check("true | false; (( 1 )) > missing/x; echo \"${PIPESTATUS[*]}\"", &format!("{error}0 1\n"), 0);
    check("exec 3>&1; trap 'echo err' ERR; (( 0 )) >/dev/null; [[ a = b ]] >/dev/null; echo end", "end\n", 0);
    let error = |line: u32| format!("rush: line {line}: missing: No such file or directory\n");
    check("\n\n{ :; } < missing\n:\n\n{ echo; } < missing; echo x", &(error(3) + &error(6) + "x\n"), 0);
    check("fd=77; echo x >&$fd", "rush: line 1: $fd: Bad file descriptor\n", 1);
}

#[test]
fn functions_whose_body_is_one_checked_command() {
    check("set -e; trap 'echo err' ERR; g() ( false ); g; echo no", "", 1);
    check("trap 'echo err' ERR; g() ( false ); g; echo no", "err\nno\n", 0);
}

#[test]
fn subscripts() {
    let error = "rush: line 1: arr: bad array subscript\n";
    check("unset arr; echo ${arr[-1]}x", &format!("{error}x\n"), 0);
    check("s=abc; echo ${s[-1]}y ${s[0]}", "rush: line 1: s: bad array subscript\ny abc\n", 0);
    check("arr[1-3]=x; echo no", "rush: line 1: arr[1-3]: bad array subscript\n", 1);
    check("arr[ -1]=x; echo no", "rush: line 1: arr[ -1]: bad array subscript\n", 1);
}

#[test]
fn messages_of_builtins() {
    check("[ -a arr -eq 1 ]", "rush: line 1: [: syntax error: `-eq' unexpected\n", 2);
    check("[ -1 -a x ]; echo $?; [ -1 x y ]", "0\nrush: line 1: [: x: binary operator expected\n", 2);
    let error = |text: &str, kind: &str| format!("rush: line 1: printf: {text}: invalid {kind}\n");
    let octal = error("08", "octal number") + &error("-08", "number") + &error("-0xg", "number");
    check("printf '%d ' 010 -010 08 -08 -0xg 2>&1 >/dev/null", &octal, 1);
    let error = "environment: line 1: local: `': not a valid identifier\n";
    check("g() { local -n r=$1; r=5; echo \"in $r\"; }; g; echo after", &format!("{error}in 5\nafter\n"), 0);
    check(
        "set -o posix; trap 'echo x' INT; trap -p INT TERM; trap",
        "trap -- 'echo x' INT\ntrap -- - TERM\ntrap -- 'echo x' INT\n",
        0,
    );
    let trace = "+ readonly zz=q\n+ declare xx=4\n";
    check("set -x; readonly zz=q 2>/dev/null; declare xx=4 2>/dev/null", trace, 0);
}

#[test]
fn a_program_in_the_working_directory_may_come_first() {
    let make = r#"printf '#!/bin/sh\necho %s\n' $2 >$1; chmod +x $1;"#;
    let script = format!(
        "mkdir d; make() {{ {make} }}; make d/prog one; PATH=.:$PWD/d:$PATH; prog; make prog two; prog; rm prog; prog"
    );
    check(&script, "one\ntwo\none\n", 0);
}

#[test]
fn only_the_first_word_makes_a_declaration() {
    check(
        "x='a b'; declare c=$x; builtin declare d=$x; command declare e=$x; echo \"$c|$d|$e\"",
        "a b|a|a\n",
        0,
    );
    check("x='a b'; \\declare c=$x; b=declare; $b d=$x; echo \"$c|$d\"", "a|a\n", 0);
    check("set -o posix; x='a b'; command export c=$x; builtin export d=$x; echo \"$c|$d\"", "a b|a\n", 0);
    let error = "rush: eval: line 1: syntax error near unexpected token `('\n";
    for name in ["builtin", "command"] {
        let line = format!("{name} declare a=(x y)");
        check(&format!("eval '{line}'"), &format!("{error}rush: eval: line 1: `{line}'\n"), 2);
    }
}

#[test]
fn a_local_that_began_before_the_call_stays_local() {
    let unset = "unlocal() { unset -v v; }; v=global; ";
    check(&format!("{unset}f() {{ local v=l; unset v; echo ${{v-no}}; }}; v=t f"), "no\n", 0);
    check(&format!("{unset}f() {{ local v=l; unlocal; echo ${{v-no}}; }}; v=t f"), "global\n", 0);
    check(&format!("{unset}f() {{ local v=l; unset v; unlocal; echo ${{v-no}}; }}; v=t f"), "global\n", 0);
    let inner = "v=t2 eval 'local v=l2; (unset v; echo ${v-no}); (unlocal; echo ${v-no})'";
    check(&format!("{unset}f() {{ local v=l1; {inner}; }}; v=t f"), "no\nl1\n", 0);
}

#[test]
fn the_line_of_a_signals_trap_is_its_own() {
    check("trap 'echo $LINENO' USR1\n\nkill -USR1 $$\n:", "1\n", 0);
    check("trap 'echo $LINENO' ERR\n\nfalse\n:", "3\n", 0);
}

#[test]
fn a_background_command_has_no_err_trap() {
    let trap = "set -E; trap 'echo err' ERR; ";
    check(&format!("{trap}false & wait; /bin/false & wait; f() {{ :; return 3; }}; f & wait"), "", 0);
    check(&format!("{trap}{{ false; echo in; }} & wait; true && false & wait"), "err\nin\nerr\n", 0);
}

#[test]
fn aliases_that_end_in_blanks_may_give_aliases() {
    let aliases = "shopt -s expand_aliases\nalias F1='for ' F2='F1 ' e1='i ' e2='e1 ' IN='in '\n";
    check(&format!("{aliases}F2 e2 IN 1 2; do echo $i; done"), "1\n2\n", 0);
}

#[test]
fn separators_may_have_several_bytes() {
    let locale = "LC_ALL=C.UTF-8; IFS=ç; ";
    check(&format!("{locale}x=çxçy; printf '<%s>' $x; set -- a b; echo \"$*\""), "<><x><y>açb\n", 0);
    check(&format!("{locale}read a b <<<1ç2ç3; echo \"$a|$b\""), "1|2ç3\n", 0);
    check(&format!("{locale}x=é; printf '<%s>' $x"), "<é>", 0);
    check("LC_ALL=C; IFS=ç; x=çx; printf '<%s>' $x", "<><><x>", 0);
}

/// Jobs by their numbers where there is no job control: their processes are in the script's own process group, which must not get the signal.
#[test]
fn kill_finds_the_jobs_of_a_script() {
    check("sleep 100 & kill %1; wait; echo $?", "0\n", 0);
    check("sleep 100 | cat & kill %1; wait; echo $?", "0\n", 0);
    check("sleep 100 | sleep 100 | cat & kill %1; wait %1; echo $?", "143\n", 0);
    check("sleep 100 & kill %%; wait $!; echo $?", "143\n", 0);
    check("sleep 100 & kill %sleep; wait $!; echo $?", "143\n", 0);
    check("exec 2>/dev/null; (sleep 100) & kill -9 %1; wait %1; echo $?", "137\n", 0);
    check("sleep 100 & kill -STOP %1; kill -CONT %1; kill %1; wait $!; echo $?", "143\n", 0);
    check("sleep 100 & sleep 100 & kill %1 %2; wait %1; echo $?; wait %2; echo $?", "143\n143\n", 0);
    check("kill %7; echo $?", "rush: line 1: kill: %7: no such job\n1\n", 0);
}

/// The traps of a shell are not those of its children, not even for the moment between fork and reset.
#[test]
fn a_signal_right_after_the_fork_is_the_childs_own() {
    let loops = "trap 'echo got' TERM; for i in {1..40}; do";
    for job in
        ["sleep 100", "sleep 100 | cat", "(sleep 100)", "{ sleep 100; echo never; }", "while :; do :; done"]
    {
        check(&format!("{loops} {job} & kill %%; wait $!; done; echo $?"), "143\n", 0);
    }
}

#[test]
fn elements_without_quotes_are_joined_with_the_first_separator_and_split() {
    let show = r#"s() { printf '[%s]' "$@"; echo; };"#;
    for word in ["$*", "$@", "${a[@]}", "${a[*]}", "${*:1}", "${u-$*}"] {
        let script = format!(
            r#"{show} set -- a "" b ""; a=("$@"); IFS=,; s {word}; IFS=' ,'; s {word}; IFS=; s {word}"#
        );
        check(&script, "[a][][b]\n[a][b]\n[a][b]\n", 0);
        let script = format!(
            r#"{show} set -- "" "x,y" , "z,"; a=("$@"); IFS=:,; s {word}; s "{word}" | tr -d '\n' | wc -l"#
        );
        check(&script, "[][x][y][][][z][]\n0\n".replace("[z][]", "[z]").as_str(), 0);
    }
}

#[test]
fn elements_name_descriptors() {
    check(
        "exec {a[1]}>out; echo x >&${a[1]}; exec {a[1]}>&-; echo $?; cat out; echo y >&${a[1]}",
        "0\nx\nrush: line 1: ${a[1]}: Bad file descriptor\n",
        1,
    );
}

#[test]
fn elements_before_the_first_one() {
    let error = "rush: line 1: a[-9]: bad array subscript\n";
    check("a=(1 2 3); (( a[-9]=2 )); echo $? ${a[@]}", &format!("{error}0 1 2 3\n"), 0);
    check("a=(1 2 3); echo $((a[-9]=2)); echo ${a[@]}", &format!("{error}2\n1 2 3\n"), 0);
    check(
        "a=(1 2); unset 'a[]'; echo $? ${a[@]}; declare -A m=([x]=1); unset 'm[]'; echo $?",
        "0 1 2\n0\n",
        0,
    );
}

#[test]
fn fields_have_a_width_that_is_kept_or_told_of() {
    for format in ["%20000000d", "%-20000000s", "%.20000000d"] {
        check(&format!("printf {format} 1 | wc -c"), "20000000\n", 0);
    }
    for (format, arguments) in
        [("%3000000000d", "1"), ("%*s", "3000000000 x"), ("%.*d", "3000000000 1"), ("%-*s", "-3000000000 x")]
    {
        let error = "rush: line 1: printf: a field of more than 268435456 characters\n";
        check(&format!("printf 'a{format}b' {arguments}"), &format!("{error}a"), 1);
    }
}

#[test]
fn small_differences() {
    check("set -o posix; x=2 export y=1; echo $x; x=3 readonly z=1; echo $x", "2\n3\n", 0);
    check("x=2 export y=1; echo \"[$x]\"", "[]\n", 0);
    check("printf '%q ' é 'a b' x", "$'\\303\\251' a\\ b x ", 0);
    check("TMOUT=1; read x < <(sleep 3); echo $?", "142\n", 0);
    for (level, expect) in
        [("-5", "0\n"), ("0", "1\n"), ("abc", "1\n"), ("' 3'", "4\n"), ("2147483647", "0\n")]
    {
        check(&format!("SHLVL={level} \"${{BASH}}\" -c 'echo $SHLVL'"), expect, 0);
    }
    check("SHLVL=999 $BASH -c 'echo $SHLVL' 2>/dev/null", "1\n", 0);
}

#[test]
fn what_a_loop_starts_does_not_pile_up() {
    let zombies = "cat /proc/[0-9]*/stat 2>/dev/null | awk -v p=$$ '$4 == p && $3 == \"Z\"' | wc -l";
    check(
        &format!("for i in {{1..50}}; do : <(:); done; sleep 0.3; : <(:); z=$({zombies}); echo $((z < 5))"),
        "1\n",
        0,
    );
    check(
        "for i in {1..20}; do coproc { :; }; wait; done; set -- /proc/$$/fd/*; echo $(($# < 20))",
        "1\n",
        0,
    );
    check("x=<(:); wait $!; echo $?; : <(exit 3); wait $!; echo $?", "0\n3\n", 0);
}

#[test]
fn slices_count_characters() {
    for (locale, expect) in [("C.UTF-8", "3 é 日é 日 aé aé日\n"), ("C", "")] {
        let script = format!(
            r#"LC_ALL={locale}; s=aé日; set -- "${{#s}}" "${{s:1:1}}" "${{s: -1}}${{s:1: -1}}" "${{s:2}}" "${{s::2}}" "${{s:0:9}}"; [ $# = 6 ] && [ {locale} = C ] || echo "$*""#
        );
        check(&script, expect, 0);
    }
    check(
        "s=abc; echo ${s:s=1:1} $s; s=abcd; i=0; echo ${s:i++:1}${s:i++:1} ${s:9}- ${s: -9}-",
        "b 1\nab - -\n",
        0,
    );
}
