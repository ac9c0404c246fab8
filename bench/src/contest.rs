//! One row at a time: every contestant does the same work, interleaved A B A B with the order turned round each time,
//! after one warm-up that checks the output, takes the memory figure and is otherwise discarded.
//!
//! Invariant: a contestant whose output is wrong, whose status is not 0 or that takes too long is disqualified with the
//! reason, and none of its times is shown.

use crate::limits::{ROW_BUDGET, RUNS_MIN, SAMPLE_BUDGET, SAMPLE_MEASURED_MIN, SAMPLE_RUNS_MAX};
use crate::model::{Cell, Clock, ContestantInfo, Figures, RowResult, Unit};
use crate::process::{Birth, Invocation, Outcome, Runner, excerpt};
use crate::stats::Summary;
use serde::Deserialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A program under test and how a suite calls it.
#[derive(Clone, Debug)]
pub(crate) struct Contestant {
    pub(crate) info: ContestantInfo,
    pub(crate) program: PathBuf,
    /// The arguments before the ones of the row.
    pub(crate) prefix: Vec<String>,
}

/// What the output must be.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    /// Exactly this, trailing blanks aside.
    Exactly(String),
    /// What most contestants print; the first of equals wins.
    Agreement,
    /// A line of JSON as `bench/actors/README.md` describes it, with nothing wrong in it.
    Report,
    /// Whatever it is.
    Anything,
}

/// Where a row's figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    /// The process's time in ms, less that of an empty program where the row says so.
    Process,
    /// The peak resident set of the process in KB; one run is enough.
    PeakMemory,
    /// Operations per second by the program's own report.
    ReportedRate,
    /// Bytes per actor by the program's own report.
    ReportedBytes,
    /// A latency in ms by the program's own report.
    ReportedLatency,
}

/// One row of a suite.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) unit: Unit,
    pub(crate) operations: u64,
    pub(crate) figure: Figure,
    pub(crate) expected: Expected,
    pub(crate) less_startup: bool,
    /// In the order of the contestants; none where there is no such program for one.
    pub(crate) invocations: Vec<Option<Invocation>>,
}

/// What the operator asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) runs: usize,
    pub(crate) clock: Clock,
}

/// The programs' own report, one line of JSON.
#[derive(Debug, Deserialize)]
struct Reported {
    ops: f64,
    seconds: f64,
    bytes_per_actor: f64,
    #[serde(default)]
    latency_us: f64,
    wrong: u64,
}

/// Runs one row. `startup_ms` is the start-up of each contestant, in their order; empty when it is not known.
pub(crate) fn run_case(
    case: &Case,
    contestants: &[Contestant],
    startup_ms: &[Option<f64>],
    runner: &Runner,
    settings: Settings,
) -> RowResult {
    let mut entrants: Vec<Entrant<'_>> = case
        .invocations
        .iter()
        .map(|invocation| Entrant::warm_up(case, invocation.as_ref(), runner))
        .collect();
    disqualify_wrong_output(case, &mut entrants, contestants);
    let rounds = if case.figure == Figure::PeakMemory { 0 } else { settings.runs };
    for round in 0..rounds {
        // Turning the order round keeps a drift of the machine from favouring whoever comes first.
        let order: Vec<usize> =
            if round % 2 == 0 { (0..entrants.len()).collect() } else { (0..entrants.len()).rev().collect() };
        for at in order {
            if let Some(entrant) = entrants.get_mut(at) {
                entrant.timed_run(case, round, runner, settings);
            }
        }
    }
    let cells = entrants.into_iter().enumerate().map(|(at, entrant)| {
        let startup =
            if case.less_startup { startup_ms.get(at).copied().flatten().unwrap_or(0.0) } else { 0.0 };
        entrant.cell(case, startup)
    });
    RowResult {
        name: case.name.clone(),
        group: case.group.clone(),
        unit: case.unit,
        operations: case.operations,
        cells: cells.collect(),
    }
}

/// A contestant within one row.
struct Entrant<'a> {
    invocation: Option<&'a Invocation>,
    disqualified: Option<String>,
    warm_up_output: Vec<u8>,
    rss_kb: u64,
    runs_allowed: usize,
    samples: Vec<f64>,
}

impl<'a> Entrant<'a> {
    fn warm_up(case: &Case, invocation: Option<&'a Invocation>, runner: &Runner) -> Entrant<'a> {
        let mut entrant = Entrant {
            invocation,
            disqualified: None,
            warm_up_output: Vec::new(),
            rss_kb: 0,
            runs_allowed: usize::MAX,
            samples: Vec::new(),
        };
        let Some(invocation) = invocation else { return entrant };
        match runner.run(invocation, Birth::Launched) {
            Ok(outcome) => {
                entrant.disqualified =
                    outcome.failure(runner.timeout()).or_else(|| check(&case.expected, &outcome));
                entrant.rss_kb = outcome.rss_kb;
                entrant.runs_allowed = runs_within_budget(outcome.wall);
                entrant.warm_up_output = outcome.stdout;
            }
            Err(error) => entrant.disqualified = Some(format!("does not start: {error}")),
        }
        entrant
    }

    fn timed_run(&mut self, case: &Case, round: usize, runner: &Runner, settings: Settings) {
        let Some(invocation) = self.invocation else { return };
        if self.disqualified.is_some() || round >= self.runs_allowed {
            return;
        }
        let begin = Instant::now();
        let mut parts = Vec::new();
        while let Some(outcome) = self.run_once(invocation, case, runner) {
            let Some(part) = Part::of(case.figure, &outcome, settings.clock) else {
                self.disqualified = Some("its report has no such figure".to_owned());
                return;
            };
            parts.push(part);
            let measured: f64 = parts.iter().map(Part::seconds).sum();
            let enough = measured >= SAMPLE_MEASURED_MIN.as_secs_f64() || parts.len() >= SAMPLE_RUNS_MAX;
            if enough || begin.elapsed() >= SAMPLE_BUDGET {
                self.samples.push(Part::sample(&parts));
                return;
            }
        }
    }

    /// One run whose output is right; otherwise the contestant is disqualified.
    fn run_once(&mut self, invocation: &Invocation, case: &Case, runner: &Runner) -> Option<Outcome> {
        let outcome = match runner.run(invocation, Birth::Spawn) {
            Ok(outcome) => outcome,
            Err(error) => {
                self.disqualified = Some(format!("does not start: {error}"));
                return None;
            }
        };
        let changed = matches!(case.expected, Expected::Exactly(_) | Expected::Agreement)
            && outcome.stdout != self.warm_up_output;
        self.disqualified = outcome
            .failure(runner.timeout())
            .or_else(|| check(&case.expected, &outcome))
            .or_else(|| changed.then(|| "its output changes from run to run".to_owned()));
        self.disqualified.is_none().then_some(outcome)
    }

    fn cell(self, case: &Case, startup_ms: f64) -> Cell {
        if self.invocation.is_none() {
            return Cell::Absent;
        }
        if let Some(reason) = self.disqualified {
            return Cell::Disqualified { reason };
        }
        let samples: Vec<f64> = match case.figure {
            Figure::PeakMemory => vec![self.rss_kb as f64],
            _ => self.samples.iter().map(|value| in_unit(*value, case, startup_ms)).collect(),
        };
        match Summary::of(&samples) {
            Some(summary) => Cell::Measured(Figures { summary, rss_kb: self.rss_kb, samples }),
            None => Cell::Disqualified { reason: "no run was made".to_owned() },
        }
    }
}

fn runs_within_budget(warm_up: Duration) -> usize {
    let affordable = ROW_BUDGET.as_secs_f64() / warm_up.as_secs_f64().max(1e-6);
    (affordable as usize).max(RUNS_MIN)
}

/// What one run adds to a sample.
enum Part {
    /// The sample is this figure.
    Whole(f64),
    /// The sample is all operations over the time of all runs.
    Rate { operations: f64, seconds: f64 },
}

impl Part {
    fn of(figure: Figure, outcome: &Outcome, clock: Clock) -> Option<Part> {
        let reported = || serde_json::from_slice::<Reported>(&outcome.stdout).ok();
        match figure {
            Figure::Process | Figure::PeakMemory => {
                let time = if clock == Clock::Wall { outcome.wall } else { outcome.cpu };
                Some(Part::Whole(time.as_secs_f64() * 1e3))
            }
            Figure::ReportedRate => {
                let report = reported().filter(|report| report.seconds > 0.0)?;
                Some(Part::Rate { operations: report.ops, seconds: report.seconds })
            }
            Figure::ReportedBytes => reported().map(|report| Part::Whole(report.bytes_per_actor)),
            Figure::ReportedLatency => reported().map(|report| Part::Whole(report.latency_us / 1e3)),
        }
    }

    /// The time that it has measured, as far as that decides whether the sample is long enough.
    fn seconds(&self) -> f64 {
        match self {
            Part::Whole(_) => f64::INFINITY,
            Part::Rate { seconds, .. } => *seconds,
        }
    }

    fn sample(parts: &[Part]) -> f64 {
        let (mut operations, mut time) = (0.0, 0.0);
        for part in parts {
            match part {
                Part::Whole(figure) => return *figure,
                Part::Rate { operations: more, seconds } => {
                    operations += more;
                    time += seconds;
                }
            }
        }
        operations / time
    }
}

/// A sample in the row's unit. Times never fall below a nanosecond: start-up noise can exceed a tiny row.
fn in_unit(value: f64, case: &Case, startup_ms: f64) -> f64 {
    match case.unit {
        Unit::Millis => (value - startup_ms).max(1e-6),
        Unit::MicrosPerOperation => (value - startup_ms).max(1e-6) * 1e3 / case.operations.max(1) as f64,
        Unit::OperationsPerSecond | Unit::Bytes | Unit::Kilobytes => value,
    }
}

fn check(expected: &Expected, outcome: &Outcome) -> Option<String> {
    match expected {
        Expected::Exactly(text) => {
            let got = String::from_utf8_lossy(&outcome.stdout);
            (got.trim_end() != text).then(|| wrong_output(text, &outcome.stdout, &outcome.stderr))
        }
        Expected::Report => match serde_json::from_slice::<Reported>(&outcome.stdout) {
            Ok(report) if report.wrong > 0 => {
                Some(format!("{} violations seen by the workload's checks", report.wrong))
            }
            Ok(_) => None,
            Err(error) => Some(format!("its report is not understood: {error}")),
        },
        Expected::Agreement | Expected::Anything => None,
    }
}

fn wrong_output(expected: &str, stdout: &[u8], stderr: &[u8]) -> String {
    let mut message = format!("wrong output: {:?} instead of {expected:?}", excerpt(stdout));
    let complaint = excerpt(stderr);
    if !complaint.is_empty() {
        message = format!("{message} ({complaint})");
    }
    message
}

/// With `Agreement`, what most contestants print is right; our own is never the judge of its own cause.
fn disqualify_wrong_output(case: &Case, entrants: &mut [Entrant<'_>], contestants: &[Contestant]) {
    if !matches!(case.expected, Expected::Agreement) {
        return;
    }
    let votes: Vec<&Vec<u8>> = entrants
        .iter()
        .zip(contestants)
        .filter(|(entrant, contestant)| {
            entrant.invocation.is_some() && entrant.disqualified.is_none() && !contestant.info.ours
        })
        .map(|(entrant, _)| &entrant.warm_up_output)
        .collect();
    let Some(right) = majority(&votes).cloned() else { return };
    for entrant in entrants.iter_mut().filter(|entrant| entrant.disqualified.is_none()) {
        if entrant.invocation.is_some() && entrant.warm_up_output != right {
            entrant.disqualified = Some(wrong_output(&excerpt(&right), &entrant.warm_up_output, b""));
        }
    }
}

/// The most frequent value, the first of equals.
fn majority<'a, T: PartialEq>(votes: &[&'a T]) -> Option<&'a T> {
    let mut best: Option<(&'a T, usize)> = None;
    for vote in votes {
        let count = votes.iter().filter(|other| *other == vote).count();
        if best.is_none_or(|(_, most)| count > most) {
            best = Some((vote, count));
        }
    }
    best.map(|(vote, _)| vote)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contestant(name: &str, ours: bool) -> Contestant {
        let info = ContestantInfo { name: name.to_owned(), version: String::new(), ours };
        Contestant { info, program: "/bin/sh".into(), prefix: Vec::new() }
    }

    fn shell(script: &str) -> Option<Invocation> {
        Some(Invocation {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            directory: "/".into(),
            environment: Vec::new(),
        })
    }

    fn run(expected: Expected, figure: Figure, unit: Unit, scripts: &[(&str, bool)]) -> RowResult {
        let folder =
            format!("pithos-bench-test-contest-{}-{:?}", std::process::id(), std::thread::current().id());
        let scratch = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&scratch).unwrap();
        let contestants: Vec<Contestant> =
            scripts.iter().map(|(name, ours)| contestant(name, *ours)).collect();
        let case = Case {
            name: "row".to_owned(),
            group: "group".to_owned(),
            unit,
            operations: 1,
            figure,
            expected,
            less_startup: true,
            invocations: scripts.iter().map(|(script, _)| shell(script)).collect(),
        };
        let runner = Runner::new(&scratch, Duration::from_secs(10));
        let settings = Settings { runs: 3, clock: Clock::Wall };
        let row = run_case(&case, &contestants, &[], &runner, settings);
        std::fs::remove_dir_all(&scratch).unwrap();
        row
    }

    fn reason(cell: &Cell) -> &str {
        match cell {
            Cell::Disqualified { reason } => reason,
            _ => "",
        }
    }

    #[test]
    fn wrong_output_disqualifies() {
        let expected = Expected::Exactly("1".to_owned());
        let row = run(expected, Figure::Process, Unit::Millis, &[("echo 1", true), ("echo 2", false)]);
        assert_eq!(row.cells[0].figures().unwrap().samples.len(), 3);
        assert_eq!(reason(&row.cells[1]), "wrong output: \"2\" instead of \"1\"");
    }

    #[test]
    fn our_own_output_does_not_vote() {
        let scripts = [("echo ours", true), ("echo a", false), ("echo b", false), ("echo b", false)];
        let row = run(Expected::Agreement, Figure::Process, Unit::Millis, &scripts);
        assert!(reason(&row.cells[0]).contains("\"ours\" instead of \"b\""));
        assert!(reason(&row.cells[1]).contains("\"a\" instead of \"b\""));
        assert!(row.cells[2].figures().is_some() && row.cells[3].figures().is_some());
    }

    #[test]
    fn reports_are_read_and_checked() {
        let good = r#"echo '{"workload":"W3","ops":1000,"seconds":0.5,"bytes_per_actor":0,"wrong":0}'"#;
        let bad = r#"echo '{"workload":"W3","ops":1000,"seconds":0.5,"bytes_per_actor":0,"wrong":7}'"#;
        let scripts = [(good, true), (bad, false), ("exit 3", false)];
        let row = run(Expected::Report, Figure::ReportedRate, Unit::OperationsPerSecond, &scripts);
        assert_eq!(row.cells[0].figures().unwrap().summary.median, 2000.0);
        assert!(reason(&row.cells[1]).starts_with("7 violations"));
        assert_eq!(reason(&row.cells[2]), "exit status 3");
    }

    #[test]
    fn short_measurements_are_repeated_until_a_sample_is_long_enough() {
        let log = std::env::temp_dir().join(format!("pithos-bench-parts-{}", std::process::id()));
        let script = format!(
            "echo >> {0}; [ $(($(wc -l < {0}) % 2)) = 0 ] && s=0.03 || s=0.05; echo '{{\"workload\":\"W2\",\"ops\":1000,\"seconds\":'$s',\"bytes_per_actor\":0,\"wrong\":0}}'",
            log.display()
        );
        let row = run(Expected::Report, Figure::ReportedRate, Unit::OperationsPerSecond, &[(&script, true)]);
        let lines = std::fs::read_to_string(&log).unwrap().lines().count();
        std::fs::remove_file(&log).unwrap();
        // A warm-up, then 0.03 + 0.05 + 0.03, 0.05 + 0.03 + 0.05 and 0.03 + 0.05 + 0.03 seconds.
        assert_eq!(lines, 1 + 9);
        let samples = &row.cells[0].figures().unwrap().samples;
        let expected = [3000.0 / 0.11, 3000.0 / 0.13, 3000.0 / 0.11];
        assert!(
            samples.iter().zip(expected).all(|(got, want)| (got / want - 1.0).abs() < 1e-9),
            "{samples:?}"
        );
    }

    #[test]
    fn memory_is_that_of_the_child() {
        let row = run(Expected::Anything, Figure::PeakMemory, Unit::Kilobytes, &[("echo 1", true)]);
        let figures = row.cells[0].figures().unwrap();
        assert_eq!(figures.samples, [figures.rss_kb as f64]);
    }
}
