//! Every builtin with every letter as an option, and with operands that mean nothing to most: output, messages and statuses are those of
//! the installed bash, where that is bash 5.2.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

const BUILTINS: &str = ". : [ alias bg break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable \
                        eval exec exit export false fc fg getopts hash history jobs kill let local logout mapfile popd printf pushd pwd \
                        read readonly return set shift shopt suspend test trap true type ulimit umask unalias unset wait";

/// Commands whose difference is known: what they list is each shell's own, or see `docs/differences-bash.md`.
const KNOWN: [&str; 39] = [
    // bash 5.3's options.
    ". -p",
    ". -p x",
    "compgen -V",
    "compgen -V x",
    "read -E",
    "read -E x",
    "compgen -k",
    "complete -r x",
    "declare +x",
    "declare -A",
    "declare -a",
    "declare -g",
    "declare -G",
    "declare -i",
    "declare -p",
    "declare -r",
    "declare -x",
    "declare -I",
    "enable -d",
    "enable -d x",
    "enable -f x",
    "enable ''",
    "export -p",
    "hash -d x",
    "hash -p x",
    "history -w",
    "let -c",
    "let -c x",
    "popd ''",
    "pushd -n",
    "readonly -n",
    "readonly -p",
    "set -o",
    "ulimit ''",
    "unset +x",
    "unset ''",
    "unset =",
    "unset 1x",
    "umask ''",
];

fn commands() -> Vec<String> {
    let mut commands = Vec::new();
    for builtin in BUILTINS.split_whitespace() {
        for letter in ('a'..='z').chain('A'..='Z').chain(['#']) {
            let stops = builtin == "suspend" && letter == 'f';
            // These list much that is each shell's own.
            let lists = matches!(builtin, "compgen") && "abcdefgjksuv".contains(letter);
            if !stops && !lists {
                commands.push(format!("{builtin} -{letter}"));
                commands.push(format!("{builtin} -{letter} x"));
            }
        }
        for operand in ["x", "x y", "+x", "''", "=", "1x"] {
            commands.push(format!("{builtin} {operand}"));
        }
    }
    commands.retain(|command| !KNOWN.contains(&command.as_str()));
    commands
}

/// What the shell says of each command, by command.
fn run(shell: &str, commands: &[String]) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let script: String = commands
        .iter()
        .map(|command| {
            format!("printf '\\036%s\\n' \"{command}\"; ({command}) </dev/null 2>&1; echo \"= $?\"\n")
        })
        .collect();
    std::fs::write(folder.path().join("script"), script).expect("written");
    let output = Command::new(shell)
        .arg("script")
        .current_dir(folder.path())
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("HOME", "/nonexistent"), ("LC_ALL", "C")])
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let text =
        String::from_utf8_lossy(&output.stdout).replace(&folder.path().display().to_string(), "FOLDER");
    let parts = text.split('\u{1e}').skip(1);
    parts
        .filter_map(|part| part.split_once('\n'))
        .map(|(command, said)| (command.into(), said.into()))
        .collect()
}

#[test]
fn options_are_accepted_and_refused_as_in_bash() {
    let version = Command::new("bash").arg("--version").output();
    if !version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("version 5.2.")) {
        pithos_skipped::test("bash 5.2 is not installed");
        return;
    }
    let commands = commands();
    let (bash, rush) = (run("bash", &commands), run(env!("CARGO_BIN_EXE_rush"), &commands));
    assert_eq!(bash.len(), commands.len());
    let differ = |command: &&String| bash.get(*command) != rush.get(*command);
    let different: Vec<String> = commands
        .iter()
        .filter(differ)
        .map(|command| format!("{command}\n  bash: {:?}\n  rush: {:?}", bash.get(command), rush.get(command)))
        .collect();
    assert!(different.is_empty(), "{} commands differ:\n{}", different.len(), different.join("\n"));
}
