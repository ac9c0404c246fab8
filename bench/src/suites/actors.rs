//! iris's rows: the workloads W1 to W9, P2 and P6 on our runtime and its peers. Every contestant is a program that follows the
//! protocol of `bench/actors/README.md`.

use super::{Suite, invocation, wanted};
use crate::contest::{Case, Contestant, Expected, Figure};
use crate::locate::{Places, version};
use crate::model::{ContestantInfo, Unit};
use std::env;
use std::path::{Path, PathBuf};

/// Workload, name of the row, operations at scale 1, unit.
const WORKLOADS: [(&str, &str, u64, Unit); 11] = [
    ("W1", "W1 spawn", 100_000, Unit::OperationsPerSecond),
    ("W2", "W2 one to each", 100_000, Unit::OperationsPerSecond),
    ("W3", "W3 many to one", 1_000_000, Unit::OperationsPerSecond),
    ("W4", "W4 ping-pong", 100_000, Unit::OperationsPerSecond),
    ("W5", "W5 swaps applied", 100_000, Unit::OperationsPerSecond),
    ("W6", "W6 idle actor", 100_000, Unit::Bytes),
    ("W7", "W7 teardown", 100_000, Unit::OperationsPerSecond),
    ("W8", "W8 p99 under load", 2_000, Unit::Millis),
    ("W9", "W9 worst beside blocked", 100, Unit::Millis),
    ("P2", "P2 pull one to each", 100_000, Unit::OperationsPerSecond),
    ("P6", "P6 pull waiting actor", 100_000, Unit::Bytes),
];

/// The workloads of the growth run: the ones whose time means something at a tenth of the size.
pub(crate) const GROWTH: [&str; 5] = ["W1", "W2", "W3", "W4", "W7"];

/// The two halves of the part: each is compared with the peers of its own language, and with Erlang.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Rust,
    Python,
}

/// Ours and every peer that is there.
pub(crate) fn contestants(places: &Places, half: Half) -> Vec<Contestant> {
    let mut all: Vec<Contestant> = ours(places, half).into_iter().collect();
    match half {
        Half::Rust => {
            for name in ["tokio", "actix", "ractor"] {
                let Some(program) = places.peer(&format!("actors-{name}")) else { continue };
                let version = locked_version(places, name);
                let info = ContestantInfo { name: name.to_owned(), version, ours: false };
                all.push(Contestant { info, program, prefix: Vec::new() });
            }
        }
        Half::Python => {
            let Some(program) = places.peer("python").or_else(|| places.peer("python3")) else { return all };
            all.push(python_peer(places, &program, "asyncio", &["--version"]));
            let pykka = ["-c", "import importlib.metadata as m; print(m.version('pykka'))"];
            all.push(python_peer(places, &program, "pykka", &pykka));
        }
    }
    all.extend(erlang(places));
    all
}

/// The suite of one half.
pub(crate) fn suite(places: &Places, scratch: &Path, half: Half, filter: Option<&str>) -> Suite {
    let contestants = contestants(places, half);
    // The pull rows are Python's: in Rust an inbox is as cheap as any actor.
    let meant = |workload: &str| half == Half::Python || !workload.starts_with('P');
    let rows = WORKLOADS.iter().filter(|(workload, name, ..)| meant(workload) && wanted(name, filter));
    let cases = rows.map(|(workload, ..)| case(scratch, &contestants, workload, 1.0)).collect();
    let (name, title, reference) = match half {
        Half::Rust => ("iris-rust", "Actor runtimes, Rust", "tokio"),
        Half::Python => ("iris-python", "Actor runtimes, Python", "asyncio"),
    };
    Suite { name, title, contestants, startup: None, cases, reference }
}

/// One workload at one size.
pub(crate) fn case(scratch: &Path, contestants: &[Contestant], workload: &str, factor: f64) -> Case {
    let row = WORKLOADS.iter().find(|(name, ..)| *name == workload);
    let (name, operations, unit) =
        row.map_or((workload, 1, Unit::OperationsPerSecond), |(_, n, o, u)| (*n, *o, *u));
    let arguments = [workload.into(), format!("{factor}").into()];
    Case {
        name: name.to_owned(),
        group: "workloads".to_owned(),
        unit,
        operations: (operations as f64 * factor) as u64,
        figure: match unit {
            Unit::Bytes => Figure::ReportedBytes,
            Unit::Millis => Figure::ReportedLatency,
            _ => Figure::ReportedRate,
        },
        expected: Expected::Report,
        less_startup: false,
        invocations: contestants.iter().map(|c| Some(invocation(c, &arguments, scratch))).collect(),
    }
}

fn ours(places: &Places, half: Half) -> Option<Contestant> {
    let (variable, name) = match half {
        Half::Rust => ("PITHOS_BENCH_IRIS_RUST", "iris-rust"),
        Half::Python => ("PITHOS_BENCH_IRIS_PYTHON", "iris-python"),
    };
    let (program, prefix) = match env::var(variable) {
        Ok(line) => {
            let mut words = line.split_whitespace().map(str::to_owned);
            (PathBuf::from(words.next()?), words.collect())
        }
        Err(_) => default_command(places, half)?,
    };
    let info = ContestantInfo { name: name.to_owned(), version: "this tree".to_owned(), ours: true };
    Some(Contestant { info, program, prefix })
}

fn default_command(places: &Places, half: Half) -> Option<(PathBuf, Vec<String>)> {
    match half {
        Half::Rust => Some((places.ours("PITHOS_BENCH_IRIS_ACTORS", "iris-actors")?, Vec::new())),
        Half::Python => {
            let script = places.bench("actors/iris_actors.py");
            // `make bench` names the interpreter that has this checkout's wheel.
            let python = env::var_os("PITHOS_BENCH_PYTHON").map(PathBuf::from)?;
            script.exists().then(|| (python, vec![script.to_string_lossy().into_owned()]))
        }
    }
}

fn python_peer(places: &Places, program: &Path, name: &str, version_arguments: &[&str]) -> Contestant {
    let script = places.bench(&format!("actors/peers/{name}_actors.py"));
    let version = version(program, version_arguments, "");
    let info = ContestantInfo { name: name.to_owned(), version, ours: false };
    Contestant { info, program: program.to_owned(), prefix: vec![script.to_string_lossy().into_owned()] }
}

fn erlang(places: &Places) -> Option<Contestant> {
    let program = places.peer("erl")?;
    if !places.peers.join("actors.beam").exists() {
        return None;
    }
    let folder = places.peers.to_string_lossy();
    let prefix = ["-noshell", "+P", "20000000", "-pa", &folder, "-run", "actors", "main"];
    let question = ["-noshell", "-eval", "io:format(\"OTP ~s~n\",[erlang:system_info(otp_release)]),halt()."];
    let info =
        ContestantInfo { name: "erlang".into(), version: version(&program, &question, ""), ours: false };
    Some(Contestant { info, program, prefix: prefix.map(str::to_owned).to_vec() })
}

/// The version of a Rust peer as the lock file of `bench/peers-rust` has it.
fn locked_version(places: &Places, name: &str) -> String {
    let lock = std::fs::read_to_string(places.bench("peers-rust/Cargo.lock")).unwrap_or_default();
    let mark = format!("name = \"{name}\"\nversion = \"");
    let found = lock.split_once(&mark).and_then(|(_, rest)| rest.split('"').next());
    found.unwrap_or("unknown").to_owned()
}
