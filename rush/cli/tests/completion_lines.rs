//! What Tab makes of a line, rush beside bash 5.2: files with every special character, functions that get their words, and the commands
//! of Debian's bash-completion. Lines are compared, not candidates: a key writes the line to a file.

mod pty;

use pty::Terminal;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a completion may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

const BASH_COMPLETION: &str = "/usr/share/bash-completion";

/// A shell that writes its line to a file at `C-x q`.
struct Shell {
    terminal: Terminal,
    lines: std::path::PathBuf,
}

impl Shell {
    /// In `folder`, after `setup`.
    fn start(program: &str, folder: &Path, setup: &str) -> Shell {
        let home = tempfile::tempdir().expect("a folder");
        let lines = home.path().join("lines");
        let rc = home.path().join("rc");
        let text = format!(
            "cd '{}'\nHISTFILE=\nbind -x '\"\\C-xq\": printf \"%s\\0\" \"$READLINE_LINE\" >>~/lines; READLINE_LINE= READLINE_POINT=0'\n{setup}\nPS1='ready> '\n",
            folder.display()
        );
        std::fs::write(&rc, text).expect("written");
        std::fs::write(&lines, "").expect("written");
        let rc = rc.display().to_string();
        let variables = [("NO_COLOR", "1"), ("INPUTRC", "/dev/null"), ("LC_ALL", "C.UTF-8")];
        let mut terminal = Terminal::launch_program(home, program, &["--rcfile", &rc], &variables);
        terminal.wait("ready> ");
        Shell { terminal, lines }
    }

    fn rush(folder: &Path, setup: &str) -> Shell {
        Shell::start(env!("CARGO_BIN_EXE_rush"), folder, setup)
    }

    /// The line that `keys` make.
    fn line(&mut self, keys: &str) -> String {
        let before = std::fs::metadata(&self.lines).expect("the lines").len() as usize;
        self.terminal.keys(&format!("{keys}\u{18}q"));
        let begun = Instant::now();
        loop {
            let text = std::fs::read(&self.lines).expect("the lines");
            if let Some(new) = text.get(before..).and_then(|new| new.strip_suffix(b"\0")) {
                return String::from_utf8_lossy(new).into_owned();
            }
            assert!(begun.elapsed() < PATIENCE, "no answer to {keys:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Compares the lines of all `keys`; what differs twice is a difference.
fn differences(folder: &Path, setup: &str, keys: impl Iterator<Item = String>) -> (usize, Vec<String>) {
    let mut rush = Shell::rush(folder, setup);
    let mut bash = Shell::start("bash", folder, setup);
    let (mut count, mut out) = (0, Vec::new());
    for keys in keys {
        count += 1;
        let (ours, theirs) = (rush.line(&keys), bash.line(&keys));
        if ours != theirs && rush.line(&keys) != bash.line(&keys) {
            out.push(format!("{keys:?}: rush {ours:?}, bash {theirs:?}"));
        }
    }
    (count, out)
}

fn bash_is_here() -> bool {
    let version = std::process::Command::new("bash").arg("--version").output();
    let right = version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("version 5.2"));
    if !right {
        pithos_skipped::test("bash 5.2 is not installed");
    }
    right
}

#[test]
fn files_with_special_characters() {
    if !bash_is_here() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let special = " \t\n!\"#$%&'()*+,-.:;<=>?@[\\]^_`{|}~é";
    let mut keys = Vec::new();
    for (at, character) in special.chars().enumerate() {
        // Each name begins with its own letters, so that they are told apart; some characters come first, too.
        let letters = format!("{}{}", char::from(b'a' + (at / 20) as u8), char::from(b'a' + (at % 20) as u8));
        std::fs::write(folder.path().join(format!("{letters}{character}b c")), "").expect("written");
        std::fs::create_dir(folder.path().join(format!("D{letters}{character}d"))).expect("made");
        for quote in ["", "'", "\""] {
            keys.push(format!("cat {quote}{letters}\t"));
            keys.push(format!("cat {quote}D{letters}\t"));
            keys.push(format!("cat x{quote}{letters}\t"));
            keys.push(format!("cat >{quote}{letters}\t"));
            keys.push(format!("cat a={quote}{letters}\t"));
        }
    }
    std::fs::write(folder.path().join("two 1 x"), "").expect("written");
    std::fs::write(folder.path().join("two 2 x"), "").expect("written");
    std::os::unix::fs::symlink("Daa d", folder.path().join("link")).expect("made");
    for word in ["Da", "tw", "lin", "nothing"] {
        keys.push(format!("./{word}\t"));
    }
    for quote in ["", "'", "\""] {
        for word in ["tw", "lin", "link", "two", "nothing", "$HOM", "${HOM", "~roo", "~/nothing", ""] {
            // Bash expands `$` and `~` where the quotes are against it: not followed.
            if quote != "'" && !(quote == "\"" && word == "~roo") || !word.starts_with(['$', '~']) {
                keys.push(format!("cat {quote}{word}\t"));
            }
        }
    }
    let (count, out) = differences(folder.path(), "", keys.into_iter());
    assert!(out.is_empty(), "{} of {count} lines differ:\n{}", out.len(), out.join("\n"));
}

/// A small generator, so that a failure can be run again.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

#[test]
fn completion_functions_see_the_same_words() {
    if !bash_is_here() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let setup = r#"see() { COMPREPLY=("$(printf '<%s>' "$2" "$3" "${COMP_WORDS[@]}")$COMP_CWORD|$COMP_LINE|$COMP_POINT"); }; complete -F see see; bind 'set bell-style none'"#;
    let parts = [
        "a", "bc", " ", " ", " ", "=", ":", "'", "\"", "\\ ", ">", "<", "--x", "@", "$v", "~", "2>", "a=b",
        "#",
    ];
    let mut random = Random(7);
    let keys = (0..400).map(|_| {
        let text: String = (0..1 + random.below(6)).map(|_| parts[random.below(parts.len())]).collect();
        format!("see {text}\t")
    });
    let (count, out) = differences(folder.path(), setup, keys.collect::<Vec<_>>().into_iter());
    assert!(out.is_empty(), "{} of {count} lines differ:\n{}", out.len(), out.join("\n"));
}

/// The names of the commands that bash-completion knows.
fn commands() -> Vec<String> {
    let entries =
        std::fs::read_dir(Path::new(BASH_COMPLETION).join("completions")).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('_')).collect();
    names.sort();
    names
}

#[test]
fn commands_of_bash_completion() {
    if !bash_is_here() {
        return;
    }
    if !Path::new(BASH_COMPLETION).join("bash_completion").exists() {
        return pithos_skipped::test("bash-completion is not installed");
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("some folder")).expect("made");
    std::fs::write(folder.path().join("some folder/file.txt"), "").expect("written");
    // `script`, which gives programs a terminal of their own, would read the keys that are typed ahead.
    let setup = format!(
        ". {BASH_COMPLETION}/bash_completion 2>/dev/null; _bashcomp_try_faketty() {{ \"$@\" </dev/null; }}"
    );
    let step = if std::env::var_os("COMPLETION_ALL").is_some() { 1 } else { 12 };
    let names = commands();
    let keys = names
        .iter()
        .step_by(step)
        .flat_map(|name| ["\t", "so\t", "-\t", "--\t", "--h\t"].map(|rest| format!("{name} {rest}")));
    let (count, out) = differences(folder.path(), &setup, keys);
    assert!(out.is_empty(), "{} of {count} lines differ:\n{}", out.len(), out.join("\n"));
}
