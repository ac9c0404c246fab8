//! Whatever a subshell changes, the shell around it does not see: every variable, option, table and property of the process
//! is changed in every kind of subshell, and a listing of everything from before is held against one from after.

use std::process::{Command, Stdio};

/// Lists all state that a script can ask for, but what changes by itself.
const LISTING: &str = r#"
listing() {
  local changing=' BASHPID RANDOM SRANDOM EPOCHSECONDS BASH_MONOSECONDS EPOCHREALTIME SECONDS LINENO BASH_COMMAND BASH_LINENO PIPESTATUS _ HISTCMD name changing FUNCNAME before after ignored item '
  local name digit
  for name in $(compgen -v); do [[ $changing == *" $name "* ]] || declare -p "$name" 2>&1; done
  declare -p FUNCNAME
  echo "0=$0 $#: $* status options $- bg $! depth $BASH_SUBSHELL young $((SECONDS < 500))"
  set +o; shopt -p; alias; hash -l; trap; declare -f; declare -F; complete -p; enable -a; enable -ps
  umask; umask -S; pwd; dirs -v; ulimit -a; history; jobs -p; times >/dev/null; bind -p 2>/dev/null; bind -v 2>/dev/null
  for digit in 1 7 9 10 11; do { : >&$digit; } 2>/dev/null && echo open $digit; done
  getopts ab letter; echo "$letter $OPTIND"; OPTIND=1
}
"#;

const SETUP: &str = r#"
shopt -s expand_aliases
set -o history
set -- -ab -b c
plain=value; declare -i number=7; declare -x exported=1; declare -r constant=1; declare -a array=(a b [7]=c)
declare -A map=([k]=v [l]=w); declare -n reference=plain; declare -u upper=ABC; declare -l lower=abc; unset absent
old() { echo old; }; other() { echo other; }; alias a=b c='d '
hash -p /bin/true tool; hash -p /bin/false spare
trap 'echo usr' USR1; trap '' USR2; complete -W 'x y' command; pushd -n /usr >/dev/null; history -s 'one line'
sleep 30 & background=$!
exec 7</dev/null
"#;

/// What is changed, one change in every subshell, besides what is made from lists.
const CHANGES: &[&str] = &[
    "SECONDS=1000",
    "RANDOM=5",
    "BASH_ARGV0=changed",
    "OPTIND=3",
    "hash -p /bin/true added",
    "hash -r",
    "hash -d tool",
    "tool",
    "BASH_CMDS[x]=/bin/true",
    "BASH_ALIASES[x]=y",
    "DIRSTACK[1]=/tmp",
    "alias a=changed added=x",
    "unalias a",
    "unalias -a",
    "old() { echo new; }",
    "unset -f old",
    "added() { :; }",
    "export -f old",
    "readonly -f old",
    "declare -ft old",
    "trap 'echo changed' USR1",
    "trap - USR1",
    "trap - USR2",
    "trap : EXIT",
    "trap : ERR DEBUG RETURN",
    "complete -W z command",
    "complete -r",
    "complete -W z added",
    "compopt -o nospace command",
    "enable -n echo",
    "enable -n ls",
    "cd /tmp",
    "cd / && cd -",
    "pushd /",
    "popd -n",
    "dirs -c",
    "umask 0123",
    "ulimit -S -c 0",
    "ulimit -S -n 100",
    "history -c",
    "history -s added",
    "set -- changed",
    "shift",
    "getopts ab letter",
    "array+=(x)",
    "array[20]=x",
    "unset 'array[1]'",
    "map[new]=x",
    "unset 'map[k]'",
    "reference=changed",
    "declare -n reference=number",
    "exec 7<&-",
    "exec 9</dev/null",
    "exec >/dev/null",
    "sleep 0 & wait",
    "wait",
    "set -o posix",
    "bind -x '\"\\C-g\": echo'",
    "bind 'set bell-style none'",
    "printf -v plain x",
    "read plain <<< x",
    "mapfile array <<< x",
    "exit 3",
    "set -e; false",
    "kill -TERM $BASHPID",
    "eval 'plain=x; exit'",
    ". /dev/null changed",
    "let number=9",
    "((number++))",
    "exec true",
    "break",
    "return",
    "local x",
    "disown -a",
    "unset plain number array map",
    "IFS=x",
    "PATH=/nowhere",
    "HOME=/nowhere",
    "LC_ALL=C",
    "set -f",
    "POSIXLY_CORRECT=1",
    "HISTSIZE=1",
    "coproc { :; }; wait",
    ": ${absent:=new}",
    "for plain in 1 2; do :; done",
    "[[ abc =~ b ]]",
    "exec {descriptor}</dev/null",
];

/// Every kind of subshell; `CHANGE` stands for the change.
const KINDS: &[&str] = &[
    "( CHANGE\n) >/dev/null 2>&1",
    "ignored=\nignored=$( CHANGE\n) 2>/dev/null; unset ignored",
    "{ CHANGE\n} 2>/dev/null | :",
    ": | { CHANGE\n} >/dev/null 2>&1",
    "{ CHANGE\n} >/dev/null 2>&1 & wait $! 2>/dev/null",
    "( ( CHANGE\n); CHANGE\n) >/dev/null 2>&1",
    ": <( CHANGE\n) 2>/dev/null",
];

fn script(kind: &str) -> String {
    let mut script = format!("{LISTING}{SETUP}");
    // An untouched background job keeps its number, and `$!` is set again by the kind that makes one.
    let check = |change: &str| {
        let change_here = kind.replace("CHANGE", change);
        format!(
            "{change_here}\nafter=$(listing 2>&1)\nif [[ $kind == *'&'* ]]; then :; fi\n\
             if [ \"$before\" != \"$after\" ]; then printf 'leaks: %s\\n' {quoted}; \
             diff <(echo \"$before\") <(echo \"$after\"); before=$after; fi\n",
            quoted = format_args!("'{}'", change.replace('\'', "'\\''")),
        )
    };
    script.push_str("before=; after=\n");
    script.push_str(&kind.replace("CHANGE", ":"));
    script.push_str("\nbefore=$(listing 2>&1)\n");
    for change in CHANGES {
        script.push_str(&check(change));
    }
    let each = [
        ("$(compgen -v)", "eval \"$item=5\""),
        ("$(compgen -v)", "unset \"$item\""),
        ("$(compgen -v)", "declare -i \"$item\""),
        ("$(compgen -v)", "export \"$item\""),
        ("$(compgen -v)", "readonly \"$item\""),
        ("$(compgen -A setopt)", "set -o $item"),
        ("$(compgen -A setopt)", "set +o $item"),
        ("$(compgen -A shopt)", "shopt -s $item"),
        ("$(compgen -A shopt)", "shopt -u $item"),
    ];
    for (items, change) in each {
        script.push_str(&format!("for item in {items}; do\n"));
        // The listing costs more than the change: a loop is checked once at its end.
        script.push_str(&kind.replace("CHANGE", change));
        script.push_str("\ndone\nunset item\n");
        script.push_str(
            &check(":").replace("'leaks: %s\\n' ':'", &format!("'leaks: each of %s\\n' '{change}'")),
        );
    }
    script.push_str("kill $background; wait $background 2>/dev/null; echo checked\n");
    // What a background subshell changes by being one.
    script.replace(
        "bg $!",
        if kind.contains('&') && kind.contains("wait") || kind.contains("<(") { "" } else { "bg $!" },
    )
}

fn run(kind: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_rush"))
        .args(["-c", &script(kind)])
        .stdin(Stdio::null())
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("rush starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn nothing_that_a_subshell_changes_reaches_the_shell_around_it() {
    for kind in KINDS {
        assert_eq!(run(kind), "checked\n", "in {kind}");
    }
}

#[test]
fn a_random_sequence_goes_on_after_a_subshell_where_it_was() {
    let script = "RANDOM=7; a=$RANDOM b=$RANDOM; RANDOM=7; c=$RANDOM; (RANDOM=1; : $RANDOM); x=$(RANDOM=3); [ $a$b = $c$RANDOM ] && echo same";
    let output = Command::new(env!("CARGO_BIN_EXE_rush")).args(["-c", script]).output().expect("rush starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "same\n");
}
