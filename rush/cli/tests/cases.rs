//! Shell scripts as files, `cases/*.sh`, that rush and bash answer alike. Each begins with a line that says what it is about and ends with what is
//! printed (`#> line`, both streams mixed) and the status (`#? number`), which are comments to both shells.
//!
//! To add one: write the script, and run `RUSH_CASES=bless cargo test -p pithos-rush-cli --test cases bash`, which has bash write the end.

use std::path::{Path, PathBuf};
use std::process::Command;

const RUSH: &str = env!("CARGO_BIN_EXE_rush");
const BASH: &str = "bash";

struct Case {
    path: PathBuf,
    script: String,
    /// What is printed, and the status, as the file has them.
    end: String,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the cases").map(|entry| entry.expect("a case").path()).collect();
    paths.sort();
    paths.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> Case {
    let text = std::fs::read_to_string(&path).expect("a case");
    assert!(text.starts_with("# "), "{}: the first line says what the case is about", path.display());
    let of_the_end = |line: &&str| line.starts_with("#>") || line.starts_with("#?");
    let lines = |wanted: bool| {
        text.lines().filter(|line| of_the_end(line) == wanted).map(|line| format!("{line}\n")).collect()
    };
    Case { script: lines(false), end: lines(true), path }
}

/// What a shell makes of a case, in an empty folder, written as the end of a file.
fn answer(shell: &str, case: &Case) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let work = folder.path().join("w");
    std::fs::create_dir(&work).expect("a folder");
    std::fs::write(folder.path().join("case.sh"), &case.script).expect("a file");
    let output = Command::new("env")
        .args(["--default-signal", "sh", "-c", r#"exec "$0" ../case.sh 2>&1 </dev/null"#, shell])
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C.UTF-8")])
        .env("HOME", folder.path())
        .current_dir(&work)
        .output()
        .expect("sh starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut end: String =
        text.lines().map(|line| format!("#> {line}").trim_end_matches(' ').to_string() + "\n").collect();
    let status = output.status.code().map_or("a signal".to_string(), |status| status.to_string());
    end.push_str(&format!("#? {status}\n"));
    end
}

/// The cases that a shell answers otherwise, told.
fn differences(shell: &str) -> Vec<String> {
    let told = |case: &Case| {
        let found = answer(shell, case);
        let wanted: String =
            case.end.lines().map(|line| line.trim_end_matches(' ').to_string() + "\n").collect();
        (found != wanted)
            .then(|| format!("{}\n--- expected\n{wanted}--- {shell}\n{found}", case.path.display()))
    };
    cases().iter().filter_map(told).collect()
}

#[test]
fn rush_answers_every_case() {
    let wrong = differences(RUSH);
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn bash_answers_every_case() {
    let version = Command::new(BASH).args(["-c", "echo ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}"]).output();
    if !version.is_ok_and(|output| output.stdout == b"5.2\n") {
        pithos_skipped::test("bash 5.2 is not installed");
        return;
    }
    if std::env::var_os("RUSH_CASES").is_some_and(|value| value == "bless") {
        for case in cases() {
            std::fs::write(&case.path, case.script.clone() + &answer(BASH, &case)).expect("a case");
        }
        return;
    }
    let wrong = differences(BASH);
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}
