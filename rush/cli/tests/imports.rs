//! Functions from the environment: whatever a variable that looks like a function's holds, nothing runs, and what is
//! defined is the one function that the variable names.

use std::process::{Command, Stdio};

const RUSH: &str = env!("CARGO_BIN_EXE_rush");

/// What a stranger would like to run: it leaves a file behind and a word in the output.
const ATTACK: &str = "echo VULN; : > broken";

/// Names of functions. `@` stands for the attack.
const NAMES: &[&str] = &[
    "foo",
    "a-b",
    "a.b",
    "1",
    "*",
    "%%",
    "",
    " ",
    "a b",
    "@;foo",
    "@\nfoo",
    "@|foo",
    "@&foo",
    "@ foo",
    "$(@)",
    "`@`",
    "a$(@)",
    "a`@`",
    "<(@)",
    "foo<(@)",
    "a\nfoo",
    "\nfoo",
    "foo\n",
    "foo\n@\nfoo",
    "\\\nfoo",
    "#foo",
    "foo#",
    "/foo",
    "a/b",
    "/bin/echo",
    "if",
    "!",
    "time",
    "coproc",
    "coproc foo",
    "function foo",
    "[[",
    "{",
    "}",
    "(",
    ")",
    "foo() { :; }; @; foo",
    "foo() { @; }\nfoo\nfoo",
    "export",
    "a\"b",
    "a'b",
    "a\\b",
    "a<b",
    "a>broken b",
    ">broken foo",
    "2>broken foo",
    "x[$(@)]",
    "x[$(@)]+",
    "~",
    "-p",
    "--",
    "select",
];

/// Bodies of functions.
const BODIES: &[&str] = &[
    "() { :; }",
    "() { @; }",
    "() {\n@\n}",
    "() { :; } >broken",
    "() { :; } >$(@)",
    "() { :; } <<A\n$(@)\nA",
    "() { _; } >_[$($())] { @; }",
    "() { x() { _; }; x() { _; } <<a; }",
    "() { (a)=>\\",
    "() { :;",
    "() { :",
    "() {",
    "() { }",
    "(){ @; }",
    "() ( @; )",
    " () { @; }",
    "() { :; } { @; }",
    "() { ${x[$(@)]}; }",
    "() { (( x[$(@)] )); }",
    "() { case $(@) in *) @;; esac; }",
    "() { :; }}",
    "() { } }",
    "() { \"; @; \"; }",
    "() { '; @",
    "() { `@`; }",
];

/// What follows the body.
const TRAILERS: &[&str] = &[
    "",
    ";",
    " ",
    "\n",
    " # @",
    "\n# @\n",
    "; @",
    ";@",
    "\n@",
    "\n\n @",
    " & @",
    "&",
    " && @",
    " || @",
    " | @",
    " |& @",
    ";;",
    "; ;",
    ")",
    " }",
    ";}",
    "\n}\n@",
    " @",
    "\r\n@",
    "; foo",
    "\nfoo",
    "\nfoo\n",
    "; foo() { @; }; foo",
    "\nb() { :; }",
    "<<A",
    "<<A\n$(@)\nA\n@",
    "\\\n@",
    "\\",
    "; trap '@' EXIT",
    "\ntrap '@' DEBUG",
    ">broken",
    ">broken; @",
    "$(@)",
    "`@`",
    " <(@)",
    "; x=$(@)",
    "\nalias ls='@'",
    "\0",
];

/// Whole values of the shapes by which shells were attacked, and some of their kind.
const ATTACKS: &[&str] = &[
    "() { :; }; @",
    "() { :; };\n@",
    "() { :; }\n@",
    "() { :; } ; @ ; f() { :; }",
    "() { :; } & @",
    "() { :; } && @",
    "() { :; } | { @; }",
    "() { :; } >$(@ >&2)",
    "() { :; } 2>&1; @ #",
    "() { ( :; ) }; @",
    "() { a=\\\n}; @",
    "() { (a)=>\\\n; @",
    "() { x() { _; }; x() { _; } <<a; }; @",
    "() { :; }; } ; @",
    "() { _; } >_[$($())] { @; }",
    "() {\n:\n}\n\n\n@\n",
    "() { cat <<E\n$(@)\nE\n}; @",
    "() { cat <<E; }\nE\n@",
    "() { :; }\r\n@",
    "() { :; } coproc { @; }",
    "() { :; }; time @",
    "() { :; }\n! @",
    "() { for x in a; do :; done; }; @",
    "() { :; } <(@ >&2)",
    "() { :; } <<<$(@ >&2)",
    "() { :; } {fd}<$(@ >&2)",
    "() { unclosed; @",
    "() { :; }}; @",
    "() { alias f=g; }; alias f='@'\nf",
    "() { :; }; trap '@' EXIT",
    "() { :; }; trap '@' DEBUG",
];

/// What a trailer that adds nothing looks like.
fn adds_nothing(trailer: &str) -> bool {
    let comment = trailer.trim_start_matches([';', ' ', '\n']);
    comment.is_empty() && trailer.matches(';').count() <= 1 && trailer != "; ;" || comment.starts_with('#')
}

fn filled(text: &str) -> String {
    text.replace('@', ATTACK).replace('\0', "")
}

/// Runs `rush ARGS -c SCRIPT` with a variable for each of `functions`; gives the output, errors among it.
fn run(arguments: &[&str], functions: &[(String, String)], script: &str) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(RUSH);
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .args(arguments)
        .args(["-c", script])
        .current_dir(folder.path());
    for (name, value) in functions {
        command.env(format!("BASH_FUNC_{name}%%"), value);
    }
    let output = command.stdin(Stdio::null()).output().expect("rush starts");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder").collect();
    assert!(left.is_empty(), "{functions:?} left files behind\n{text}");
    assert!(output.status.code().is_some(), "{functions:?}: {:?}\n{text}", output.status);
    text
}

/// The names that the shell says it has as functions.
fn defined(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.strip_prefix("declare -f")?.split_once(' '))
        .map(|(_, name)| name)
        .collect()
}

#[test]
fn nothing_runs_whatever_a_function_in_the_environment_is() {
    for (row, name) in NAMES.iter().map(|name| filled(name)).enumerate() {
        for (column, body) in BODIES.iter().enumerate() {
            // Everything with the plain name; with the others, each body and each trailer once in a few names.
            let wanted = |at: usize| name == "foo" || (row + column + at).is_multiple_of(29);
            for (_, trailer) in TRAILERS.iter().enumerate().filter(|(at, _)| wanted(*at)) {
                let functions = [(name.clone(), filled(&[*body, *trailer].concat()))];
                let text = run(&[], &functions, "declare -F; declare -p -F >&2; trap; alias");
                let shown = text.lines().any(|line| line == "VULN");
                assert!(!shown, "{functions:?} ran\n{text}");
                let names = defined(&text);
                let only = names.iter().all(|found| **found == *name);
                assert!(only, "{functions:?} defines {names:?}");
            }
        }
    }
}

#[test]
fn no_known_attack_runs_whatever_the_variable_and_the_mode() {
    for value in ATTACKS.iter().map(|value| filled(value)) {
        for arguments in [&[][..], &["-p"], &["--posix"], &["-i", "--norc"]] {
            let text = run(arguments, &[("ls".to_owned(), value.clone())], ":; true");
            assert!(!text.lines().any(|line| line == "VULN"), "{value:?} {arguments:?}\n{text}");
        }
        // What only looks like a function's variable is text.
        for name in ["foo", "PS4", "BASH_FUNC_foo()", "BASH_FUNC_foo%", "%%", "BASH_FUNC_"] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let mut command = Command::new(RUSH);
            command.env_clear().env(name, &value).args(["-c", ":"]).current_dir(folder.path());
            let output = command.stdin(Stdio::null()).output().expect("rush starts");
            assert_eq!((output.stdout.len(), output.stderr.len()), (0, 0), "{name}={value:?}: {output:?}");
            assert!(
                std::fs::read_dir(folder.path()).expect("the folder").next().is_none(),
                "{name}={value:?}"
            );
        }
    }
}

#[test]
fn one_definition_and_nothing_else_is_imported() {
    for trailer in TRAILERS.iter().filter(|trailer| !trailer.contains("<<") && !trailer.starts_with('>')) {
        let functions = [("foo".to_owned(), filled(&["() { echo in; }", *trailer].concat()))];
        let text = run(&[], &functions, "foo");
        if adds_nothing(trailer) || *trailer == "\0" {
            assert_eq!(text, "in\n", "{functions:?}");
        } else {
            let refused = "rush: error importing function definition for `foo'\n";
            let path = format!("{RUSH}: error importing function definition for `foo'\n");
            assert!(text.contains(&path) || text.contains(refused), "{functions:?}\n{text}");
            assert!(text.contains("foo: command not found"), "{functions:?}\n{text}");
        }
    }
}

#[test]
fn names_are_those_that_a_definition_may_have() {
    for name in ["foo", "a-b", "a.b", "1", "*", "%%", "export"] {
        assert_eq!(defined(&run(&[], &[(name.into(), "() { :; }".into())], "declare -F")), [name]);
    }
    let export = [("export".to_owned(), "() { :; }".to_owned()), ("a-b".to_owned(), "() { :; }".to_owned())];
    assert_eq!(defined(&run(&["--posix"], &export, "declare -F")), [""; 0]);
}

#[test]
fn a_shell_with_privileges_takes_nothing_from_its_environment() {
    let functions = [("foo".to_owned(), "() { echo in; }".to_owned())];
    for arguments in [&["-p"][..], &["-o", "privileged"], &["-r"], &["-n"]] {
        let text = run(arguments, &functions, "foo");
        assert!(!text.contains("in\n"), "{arguments:?}: {text}");
        assert!(!text.contains("importing"), "{arguments:?}: {text}");
    }
    // The programs that it starts get what it did not take, as it came.
    let text = run(&["-p"], &functions, "env | grep BASH_FUNC");
    assert_eq!(text, "BASH_FUNC_foo%%=() { echo in; }\n");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("start");
    std::fs::write(&file, "echo VULN\n").expect("written");
    for (mode, name) in [("-p", "BASH_ENV"), ("-p", "ENV"), ("-ip", "ENV")] {
        let output = Command::new(RUSH)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env(name, &file)
            .envs([("SHELLOPTS", "xtrace"), ("BASHOPTS", "extglob"), ("CDPATH", "/"), ("GLOBIGNORE", "*")])
            .args(["--posix", "--norc", mode, "-c", "echo $CDPATH $GLOBIGNORE; shopt extglob"])
            .stdin(Stdio::null())
            .output()
            .expect("rush starts");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "\nextglob        \toff\n", "{mode} {name}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains('+'), "{mode} {name}");
    }
}

#[test]
fn functions_go_from_shell_to_shell() {
    let script = r#"f() { echo "f $1"; cat <<A
x $1
A
}; export -f f; "$0" -c 'f 1; declare -F; "$0" -c "f 2" "$0"' "$0""#;
    let output =
        Command::new(RUSH).env_clear().env("PATH", "/usr/bin:/bin").args(["-c", script, RUSH]).output();
    let output = output.expect("rush starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "f 1\nx 1\ndeclare -fx f\nf 2\nx 2\n");
}
