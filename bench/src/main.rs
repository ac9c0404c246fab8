//! `pithos-bench`: the peer harness. It runs the same work on our binaries and on every peer it finds, interleaved in one
//! run, and prints ratios. This file only joins the parts: `cli` says what is asked for, `suites` what the work is,
//! `contest` measures a row, `table`, `html` and `log` show the result.
//!
//! Invariant: shell rows run in the sandbox or not at all.

#![forbid(unsafe_code)]

mod cli;
mod compare;
mod contest;
mod growth;
mod html;
mod limits;
mod locate;
mod log;
mod machine;
mod model;
mod perf;
mod process;
mod sandbox;
mod stats;
mod suites;
mod svg;
mod table;

use cli::{Command, Options, Part, ShellWork};
use contest::{Contestant, Settings};
use limits::{GROWTH_RUNS, RUNS_DEFAULT};
use locate::Places;
use model::{FORMAT, GrowthResult, Report, SuiteResult};
use process::Runner;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use suites::actors::Half;
use suites::{Suite, actors, agents, javascript, session, shell, wanted};

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    // Before anything else: the launcher must stay tiny.
    let mut raw = std::env::args_os().skip(1);
    if raw.next().is_some_and(|word| word == process::LAUNCH)
        && let (Some(note), Some(program)) = (raw.next(), raw.next())
    {
        let launched = process::launch(&note, &program, &raw.collect::<Vec<_>>());
        return if launched.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, options) = match cli::parse(arguments.clone()) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("pithos-bench: {message}");
            return ExitCode::from(2);
        }
    };
    match run(command, &options, &arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pithos-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command, options: &Options, arguments: &[String]) -> Result<(), Failure> {
    match command {
        Command::Help => print!("{}", cli::HELP),
        Command::Version => println!("pithos-bench {}", env!("CARGO_PKG_VERSION")),
        Command::Spawn(count) => spawn_many(count)?,
        Command::Show(file) => present(&load(&file)?, options)?,
        Command::Compare(old, new) => print!("{}", compare::compare(&load(&old)?, &load(&new)?)?),
        Command::List => list(&Places::find(options.root.clone())?)?,
        Command::ShellWorker(work, scratch) => shell_worker(work, &scratch, options)?,
        Command::Suites(parts) => {
            let bench = Bench::new(options, arguments)?;
            let report = bench.measure(&parts, &[])?;
            present(&report, options)?;
        }
        Command::Growth(parts) => {
            let bench = Bench::new(options, arguments)?;
            let report = bench.measure(&[], &parts)?;
            present(&report, options)?;
        }
        Command::Record(parts) => {
            let bench = Bench::new(options, arguments)?;
            for part in parts {
                bench.record(part)?;
            }
        }
    }
    Ok(())
}

/// A run that is under way: where things are, what was asked for, a scratch folder that is removed at the end.
struct Bench<'a> {
    places: Places,
    options: &'a Options,
    command: String,
    scratch: Scratch,
}

impl<'a> Bench<'a> {
    fn new(options: &'a Options, arguments: &[String]) -> Result<Bench<'a>, Failure> {
        let places = Places::find(options.root.clone())?;
        Ok(Bench { places, options, command: recorded_command(arguments), scratch: Scratch::new()? })
    }

    /// Runs the parts' suites and growth runs.
    fn measure(&self, suites: &[Part], growth: &[Part]) -> Result<Report, Failure> {
        if machine::has_real_time_priority() {
            eprintln!(
                "bench: this is real-time priority: peers that compile or collect in other threads are starved, their ratios mean little"
            );
        }
        let mut report = Report {
            format: FORMAT,
            unix_time: machine::unix_time(),
            revision: machine::revision(&self.places.root),
            command: self.command.clone(),
            clock: self.options.clock,
            runs: self.options.runs,
            machine: machine::describe(),
            suites: Vec::new(),
            growth: Vec::new(),
        };
        for part in suites {
            report.suites.extend(self.suite(*part)?);
        }
        for part in growth {
            report.growth.extend(self.growth(*part)?);
        }
        Ok(report)
    }

    fn suite(&self, part: Part) -> Result<Vec<SuiteResult>, Failure> {
        let (settings, filter) = (settings(self.options), self.options.filter.as_deref());
        let scratch = self.scratch.path.as_path();
        match part {
            Part::Cynic => {
                process::pin(self.options.cpu)?;
                let mut suite = javascript::suite(&self.places, scratch, filter)?;
                keep_peers(&mut suite, self.options);
                Ok(vec![suite.run(&self.runner(), settings)])
            }
            Part::Rush => Ok(serde_json::from_slice(&self.shell_in_sandbox(ShellWork::Rows)?)?),
            Part::Iris => {
                process::unpin()?;
                let mut results = Vec::new();
                for half in [Half::Rust, Half::Python] {
                    let mut suite = actors::suite(&self.places, scratch, half, filter);
                    keep_peers(&mut suite, self.options);
                    results.push(suite.run(&self.runner(), settings));
                }
                Ok(results)
            }
            Part::Pithos => {
                process::unpin()?;
                Ok(agents::run(&self.places, settings, filter)?.into_iter().collect())
            }
        }
    }

    fn growth(&self, part: Part) -> Result<Vec<GrowthResult>, Failure> {
        let scratch = self.scratch.path.as_path();
        match part {
            Part::Cynic => {
                process::pin(self.options.cpu)?;
                let mut contestants = javascript::contestants(&self.places);
                keep(&mut contestants, self.options, &["quickjs-ng", "jsc-nojit"]);
                let make = |name: &str, factor: f64| {
                    let expected = contest::Expected::Agreement;
                    javascript::case(&self.places, scratch, &contestants, name, factor, expected)
                };
                let startup = Some(javascript::startup(scratch, &contestants)?);
                self.run_growth("cynic", &contestants, startup, &javascript::GROWTH, &make)
            }
            Part::Rush => Ok(serde_json::from_slice(&self.shell_in_sandbox(ShellWork::Growth)?)?),
            Part::Iris => {
                process::unpin()?;
                let mut results = Vec::new();
                for (half, name, peer) in
                    [(Half::Rust, "iris-rust", "tokio"), (Half::Python, "iris-python", "asyncio")]
                {
                    let mut contestants = actors::contestants(&self.places, half);
                    keep(&mut contestants, self.options, &[peer]);
                    let make = |workload: &str, factor: f64| {
                        Ok(actors::case(scratch, &contestants, workload, factor))
                    };
                    results.extend(self.run_growth(name, &contestants, None, &actors::GROWTH, &make)?);
                }
                Ok(results)
            }
            // A call does not grow.
            Part::Pithos => Ok(Vec::new()),
        }
    }

    fn run_growth(
        &self,
        suite: &str,
        contestants: &[Contestant],
        startup: Option<contest::Case>,
        workloads: &[&str],
        make: &dyn Fn(&str, f64) -> io::Result<contest::Case>,
    ) -> Result<Vec<GrowthResult>, Failure> {
        let workloads = filtered(workloads, self.options);
        let plan = growth::Plan { suite, contestants, startup, workloads: &workloads, make };
        Ok(growth::run(&plan, &self.runner(), growth_settings(self.options))?)
    }

    fn runner(&self) -> Runner {
        Runner::new(&self.scratch.path, self.options.timeout)
    }

    /// Starts this program again as the worker that enters the sandbox; what it prints is the result.
    fn shell_in_sandbox(&self, work: ShellWork) -> Result<Vec<u8>, Failure> {
        let mut worker = std::process::Command::new(std::env::current_exe()?);
        worker.args(["__shell", work.name()]).arg(&self.scratch.path);
        worker.arg("--root").arg(&self.places.root);
        worker.args(["--runs", &self.options.runs.to_string(), "--clock", self.options.clock.name()]);
        worker.args(["--timeout", &self.options.timeout.as_secs().to_string()]);
        for (name, value) in
            [("--filter", &self.options.filter), ("--cpu", &self.options.cpu.map(|n| n.to_string()))]
        {
            if let Some(value) = value {
                worker.args([name, value]);
            }
        }
        if let Some(peers) = &self.options.peers {
            worker.args(["--peers", &peers.join(",")]);
        }
        let output = worker.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err(format!("the shell rows ended with {}", output.status).into());
        }
        Ok(output.stdout)
    }

    /// Measures one part and appends it to its log and to the stored runs.
    fn record(&self, part: Part) -> Result<(), Failure> {
        if self.options.filter.is_some() || self.options.runs < RUNS_DEFAULT {
            return Err(format!("a recorded run has all rows and at least {RUNS_DEFAULT} runs").into());
        }
        let report = self.measure(&[part], &[])?;
        let ours = |suite: &&SuiteResult| suite.contestants.get(suite.subject).is_some_and(|c| c.ours);
        let measured: Vec<&SuiteResult> = report.suites.iter().filter(ours).collect();
        if measured.is_empty() {
            return Err(format!("{}: ours is not built, there is nothing to record", part.name()).into());
        }
        let extra = match part {
            Part::Rush => serde_json::from_slice(&self.shell_in_sandbox(ShellWork::Split)?)?,
            Part::Cynic | Part::Iris | Part::Pithos => String::new(),
        };
        let log = self.places.bench(&format!("log/{}.md", part.name()));
        let text = fs::read_to_string(&log).unwrap_or_default();
        if let Some(note) = log::comparison_note(&text, &report) {
            eprintln!("bench: {note}");
        }
        fs::create_dir_all(self.places.bench("log"))?;
        fs::write(&log, log::append(&text, part.name(), &report, &measured, &extra))?;
        let day = machine::date_and_time(report.unix_time).replace([' ', ':'], "-");
        let run = self.places.bench(&format!("runs/{day}-{}.json", part.name()));
        fs::create_dir_all(self.places.bench("runs"))?;
        fs::write(&run, serde_json::to_string(&report)? + "\n")?;
        present(&report, self.options)?;
        eprintln!("bench: recorded in {} and {}", log.display(), run.display());
        Ok(())
    }
}

/// The worker inside the sandbox: results as JSON on standard output.
fn shell_worker(work: ShellWork, scratch: &Path, options: &Options) -> Result<(), Failure> {
    let places = Places::find(options.root.clone())?;
    sandbox::enter(scratch).map_err(|error| {
        format!(
            "the sandbox for the shell rows cannot be made ({error}), so they do not run: a shell with a bug deletes real files. \
             Run as root, or where unprivileged user namespaces are allowed"
        )
    })?;
    process::pin(options.cpu)?;
    let runner = Runner::new(scratch, options.timeout);
    let text = match work {
        ShellWork::Rows => serde_json::to_string(&[shell_rows(&places, scratch, &runner, options)?])?,
        ShellWork::Growth => serde_json::to_string(&shell_growth(&places, scratch, &runner, options)?)?,
        ShellWork::Split => serde_json::to_string(&perf::split_table(&places))?,
    };
    println!("{text}");
    Ok(())
}

fn shell_rows(
    places: &Places,
    scratch: &Path,
    runner: &Runner,
    options: &Options,
) -> io::Result<SuiteResult> {
    let filter = options.filter.as_deref();
    let mut suite = shell::suite(places, scratch, filter)?;
    keep_peers(&mut suite, options);
    let mut result = suite.run(runner, settings(options));
    if wanted("session", filter) {
        suites::progress("rush", "session");
        result.rows.push(session::run(&suite.contestants, scratch, options.timeout, settings(options)));
    }
    Ok(result)
}

fn shell_growth(
    places: &Places,
    scratch: &Path,
    runner: &Runner,
    options: &Options,
) -> io::Result<Vec<GrowthResult>> {
    let mut contestants = shell::contestants(places)?;
    keep(&mut contestants, options, &["bash", "dash"]);
    let make = |name: &str, factor: f64| shell::case(places, scratch, &contestants, name, factor);
    let workloads = filtered(&shell::GROWTH, options);
    let startup = Some(shell::startup(scratch, &contestants));
    let plan = growth::Plan {
        suite: "rush",
        contestants: &contestants,
        startup,
        workloads: &workloads,
        make: &make,
    };
    growth::run(&plan, runner, growth_settings(options))
}

fn settings(options: &Options) -> Settings {
    Settings { runs: options.runs, clock: options.clock }
}

fn growth_settings(options: &Options) -> Settings {
    Settings { runs: options.runs.min(GROWTH_RUNS), clock: options.clock }
}

fn filtered<'a>(workloads: &[&'a str], options: &Options) -> Vec<&'a str> {
    workloads.iter().copied().filter(|name| wanted(name, options.filter.as_deref())).collect()
}

/// Whether a contestant takes part: ours always, peers by `--peers` or else by `default` (all when that is empty).
fn takes_part(contestant: &Contestant, options: &Options, default: &[&str]) -> bool {
    let name = contestant.info.name.as_str();
    contestant.info.ours
        || match &options.peers {
            Some(peers) => peers.iter().any(|peer| peer == name),
            None => default.is_empty() || default.contains(&name),
        }
}

fn keep(contestants: &mut Vec<Contestant>, options: &Options, default: &[&str]) {
    contestants.retain(|contestant| takes_part(contestant, options, default));
}

/// Takes the peers that were not asked for out of a suite, column by column.
fn keep_peers(suite: &mut Suite, options: &Options) {
    let kept: Vec<bool> =
        suite.contestants.iter().map(|contestant| takes_part(contestant, options, &[])).collect();
    for case in suite.startup.iter_mut().chain(&mut suite.cases) {
        let mut column = kept.iter();
        case.invocations.retain(|_| column.next().copied().unwrap_or(false));
    }
    let mut column = kept.iter();
    suite.contestants.retain(|_| column.next().copied().unwrap_or(false));
}

fn present(report: &Report, options: &Options) -> Result<(), Failure> {
    let colour = options.colour && io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    print!("{}", table::render(report, colour));
    if let Some(file) = &options.json {
        fs::write(file, serde_json::to_string(report)? + "\n")?;
    }
    if let Some(file) = &options.html {
        fs::write(file, html::render(report))?;
    }
    Ok(())
}

fn load(file: &Path) -> Result<Report, Failure> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let report: Report = serde_json::from_str(&text)
        .map_err(|error| format!("{} is not a stored run of format {FORMAT}: {error}", file.display()))?;
    if report.format == FORMAT {
        Ok(report)
    } else {
        Err(format!("{}: unknown format", file.display()).into())
    }
}

fn list(places: &Places) -> Result<(), Failure> {
    let scratch = Scratch::new()?;
    let mut suites =
        vec![javascript::suite(places, &scratch.path, None)?, shell::suite(places, &scratch.path, None)?];
    suites.extend([Half::Rust, Half::Python].map(|half| actors::suite(places, &scratch.path, half, None)));
    for suite in suites {
        println!("{} ({})", suite.title, suite.name);
        for contestant in &suite.contestants {
            let ours = if contestant.info.ours { "ours " } else { "" };
            println!(
                "  {ours}{}: {} [{}]",
                contestant.info.name,
                contestant.info.version,
                contestant.program.display()
            );
        }
        let rows: Vec<&str> =
            suite.startup.iter().chain(&suite.cases).map(|case| case.name.as_str()).collect();
        println!("  rows: {}\n", rows.join(", "));
    }
    Ok(())
}

/// The command as it is recorded: without folders, which are nobody's business.
fn recorded_command(arguments: &[String]) -> String {
    let short = |argument: &String| match argument.rsplit_once('/') {
        Some((_, name)) => name.to_owned(),
        None => argument.clone(),
    };
    arguments.iter().map(short).collect::<Vec<_>>().join(" ")
}

fn spawn_many(count: u64) -> Result<(), Failure> {
    for _ in 0..count {
        std::process::Command::new("/bin/true").stdin(Stdio::null()).status()?;
    }
    println!("{count}");
    Ok(())
}

/// A folder of this process in the system's temporary folder, removed at the end.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new() -> io::Result<Scratch> {
        let path = std::env::temp_dir().join(format!("pithos-bench-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Scratch { path: path.canonicalize()? })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing depends on it: the system clears its temporary folder anyway.
        let _ = fs::remove_dir_all(&self.path);
    }
}
