//! `cynic test262`: the conformance suite.
//!
//! `discover` finds the tests, `supervisor` deals them to worker processes, a `worker` reads each test (`metadata`, `skip`,
//! `harness`), has it evaluated and lets `judge` decide; `report` counts and `expectation` compares with the committed list.
//! Nothing here knows the engine, except `evaluate` and `host`.

mod agent;
mod discover;
mod evaluate;
mod expectation;
mod harness;
mod host;
mod judge;
mod metadata;
mod modules;
mod report;
mod skip;
mod supervisor;
mod worker;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use cynic::{Jit, Zeal};

use self::evaluate::EngineEvaluator;
use self::expectation::{Expectations, Surprises};
use self::judge::Verdict;
use self::report::Report;
use self::supervisor::Supervisor;
use crate::args::{JIT_MODES, Options};
use crate::exit_status::ExitStatus;
use crate::limits::{
    PROGRESS_INTERVAL, TEST262_DEADLINE, TEST262_STACK_BYTES, TEST262_WATCHDOG, TEST262_ZEAL_FACTOR,
};

use crate::print::{out, outln};

/// The list of known failures, relative to the folder that the command is run in.
const DEFAULT_EXPECTATIONS: &str = "cynic/conformance/test262-failures.txt";

/// Runs the suite and compares it with the expectations.
pub(crate) fn run(options: &Options) -> Result<ExitStatus, String> {
    let suite = suite(options)?;
    let tests = discover::tests(&suite, &options.filter)
        .map_err(|error| format!("cannot list {}: {error}", suite.display()))?;
    if tests.is_empty() {
        return Err(format!("no test's path contains {:?}", options.filter));
    }
    let report = supervise(options, &suite, &tests)?;
    show(options, &report)?;
    settle(options, &tests, &report)
}

/// Serves tests to the supervisor that started this process.
pub(crate) fn serve(options: &Options) -> Result<ExitStatus, String> {
    let suite = suite(options)?;
    let factor = if options.gc_zeal != Zeal::Off { TEST262_ZEAL_FACTOR } else { 1 };
    let deadline = options.timeout.unwrap_or(TEST262_DEADLINE * factor);
    let (gc_zeal, jit) = (options.gc_zeal, options.jit);
    // A thread of its own, because its stack is sized by us and not by the environment.
    let worker = thread::Builder::new().stack_size(TEST262_STACK_BYTES).spawn(move || {
        let mut evaluator = EngineEvaluator::new(deadline, gc_zeal, jit);
        worker::serve(&suite, &mut evaluator, io::stdin().lock(), io::stdout())
    });
    match worker.map(thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => Ok(ExitStatus::Success),
        Ok(Ok(Err(error))) | Err(error) => Err(format!("worker: {error}")),
        Ok(Err(_)) => Err("worker: panicked".into()),
    }
}

fn suite(options: &Options) -> Result<PathBuf, String> {
    let variable = std::env::var_os(discover::SUITE_VARIABLE).map(PathBuf::from);
    discover::locate(options.suite.clone(), variable)
}

fn supervise(options: &Options, suite: &Path, tests: &[String]) -> Result<Report, String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find myself: {error}"))?;
    let arguments = worker_arguments(options, suite);
    let jobs = options.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    let factor = if options.gc_zeal != Zeal::Off { TEST262_ZEAL_FACTOR } else { 1 };
    let progress = Progress::new(tests.len(), !options.quiet && io::stderr().is_terminal());
    let supervisor = Supervisor {
        command: &|| {
            let mut command = Command::new(&program);
            command.args(&arguments);
            command
        },
        jobs,
        watchdog: TEST262_WATCHDOG * factor,
        on_verdict: &|path, verdict| progress.note(path, verdict),
    };
    let started = Instant::now();
    let verdicts = supervisor.run(tests);
    progress.clear();
    let verdicts: Vec<(String, Verdict)> = tests.iter().cloned().zip(verdicts).collect();
    Ok(Report::new(&verdicts, started.elapsed()))
}

fn worker_arguments(options: &Options, suite: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["test262-worker".into(), "--suite".into(), suite.into()];
    match options.gc_zeal {
        Zeal::Off => {}
        Zeal::Whole => arguments.push("--gc-zeal".into()),
        Zeal::Steps => arguments.push("--gc-zeal-steps".into()),
    }
    for (name, mode) in JIT_MODES {
        if mode == options.jit && mode != Jit::Off {
            arguments.push(format!("--jit={name}").into());
        }
    }
    if let Some(timeout) = options.timeout {
        arguments.push(format!("--timeout={}ms", timeout.as_millis()).into());
    }
    arguments
}

fn show(options: &Options, report: &Report) -> Result<(), String> {
    if options.list_failures {
        out!("{}", report.failure_list());
    }
    if !options.quiet {
        outln!("folder: passed / failed / skipped");
        out!("{}", report.folder_table());
    }
    outln!("{}", report.total_line());
    if let Some(file) = &options.json {
        std::fs::write(file, report.to_json()).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}

/// Compares with the list, or rewrites it.
fn settle(options: &Options, tests: &[String], report: &Report) -> Result<ExitStatus, String> {
    let file = options.expectations.clone().unwrap_or_else(|| DEFAULT_EXPECTATIONS.into());
    let name = file.display();
    let list = Expectations::read(&file).map_err(|error| format!("{name}: {error}"))?;
    let failed = report.failed_paths();
    let surprises = list.compare(tests, &failed);
    if options.bless {
        list.blessed(tests, &failed).write(&file).map_err(|error| format!("{name}: {error}"))?;
        outln!("{name}: {} added, {} removed", surprises.failures.len(), surprises.passes.len());
        return Ok(ExitStatus::Success);
    }
    if surprises.is_empty() {
        return Ok(ExitStatus::Success);
    }
    show_surprises(&surprises);
    Ok(ExitStatus::Uncaught)
}

fn show_surprises(surprises: &Surprises) {
    for (what, paths) in [("unexpected failure", &surprises.failures), ("unexpected pass", &surprises.passes)]
    {
        for path in paths {
            outln!("{what}: {path}");
        }
    }
    outln!("{} unexpected failures, {} unexpected passes", surprises.failures.len(), surprises.passes.len());
}

/// The progress line on a terminal.
struct Progress {
    total: usize,
    visible: bool,
    state: Mutex<ProgressState>,
}

struct ProgressState {
    done: usize,
    failed: usize,
    drawn: Instant,
}

impl Progress {
    fn new(total: usize, visible: bool) -> Self {
        Progress {
            total,
            visible,
            state: Mutex::new(ProgressState { done: 0, failed: 0, drawn: Instant::now() }),
        }
    }

    fn note(&self, path: &str, verdict: &Verdict) {
        if !self.visible {
            return;
        }
        let Ok(mut state) = self.state.lock() else { return };
        state.done += 1;
        state.failed += usize::from(!matches!(verdict, Verdict::Passed | Verdict::Skipped(_)));
        if state.drawn.elapsed() >= PROGRESS_INTERVAL {
            state.drawn = Instant::now();
            let shown: String = path.chars().take(60).collect();
            let _ = write!(
                io::stderr(),
                "\r\x1b[K{}/{}  {} failed  {shown}",
                state.done,
                self.total,
                state.failed
            );
        }
    }

    fn clear(&self) {
        if self.visible {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
