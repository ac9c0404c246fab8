//! `--deterministic`: whatever a program can reach, two runs print the same bytes, however different their surroundings are.

use std::path::PathBuf;
use std::process::{Command, Output};

fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/deterministic/everything.js")
}

/// A run in surroundings of its own: environment, stack, zone.
fn run(flags: &[&str], stack: &str, variables: &[(&str, String)]) -> Output {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -s {stack}; exec \"$@\"")).arg("sh");
    command.arg(env!("CARGO_BIN_EXE_cynic")).args(flags).arg(program());
    command.args(if flags.contains(&"--deterministic") { None } else { Some("short") });
    command.env_clear().envs(variables.iter().map(|(name, value)| (*name, value.as_str())));
    command.output().expect("the command runs")
}

fn runs(flags: &[&str]) -> [Output; 3] {
    let few = [("TZ", "UTC".to_owned())];
    let many =
        [("TZ", "Asia/Tokyo".to_owned()), ("LANG", "tr_TR.UTF-8".to_owned()), ("X", "x".repeat(60_000))];
    [run(flags, "8192", &few), run(flags, "16384", &many), run(flags, "8192", &many)]
}

#[test]
fn runs_are_the_same_byte_for_byte() {
    for flags in [&["--deterministic"][..], &["--deterministic", "--unhardened", "--allow=eval", "--seed=7"]]
    {
        let [one, others @ ..] = runs(flags);
        let shown = String::from_utf8_lossy(&one.stdout).into_owned();
        assert_eq!(one.status.code(), Some(0), "{}", String::from_utf8_lossy(&one.stderr));
        assert!(shown.contains("alive 2000") && shown.contains("recursion RangeError"), "{flags:?}");
        assert!(!shown.contains("finalized"), "{flags:?}");
        for other in others {
            let text = String::from_utf8_lossy(&other.stdout).into_owned();
            let different = shown.lines().zip(text.lines()).find(|(a, b)| a != b);
            assert_eq!(different, None, "{flags:?}");
            assert!(one == other, "{flags:?}: the streams differ in length or the statuses do");
        }
    }
}

#[test]
fn without_the_flag_the_walk_would_notice() {
    let [one, other, _] = runs(&["--allow=clock", "--allow=random"]);
    assert_eq!(one.status.code(), Some(0), "{}", String::from_utf8_lossy(&one.stderr));
    let different = |part: &str| {
        let lines = |output: &Output| -> Vec<String> {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.lines().filter(|line| line.contains(part)).map(str::to_owned).collect()
        };
        !lines(&one).is_empty() && lines(&one) != lines(&other)
    };
    for part in [
        "Math.random",
        "crypto.randomUUID",
        "performance.now",
        "Temporal.Now.instant",
        "Temporal.Now.timeZoneId",
        "Date(0)",
    ] {
        assert!(different(part), "{part}");
    }
}

#[test]
fn the_seed_decides_the_random_numbers() {
    let numbers = |flags: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cynic"));
        let output = command.args(flags).args(["-e", "`${Math.random()} ${crypto.randomUUID()}`"]).output();
        String::from_utf8_lossy(&output.expect("the command runs").stdout).into_owned()
    };
    let first = numbers(&["--deterministic"]);
    assert_eq!(first, numbers(&["--deterministic", "--seed=0"]));
    assert_ne!(first, numbers(&["--deterministic", "--seed=1"]));
}
