//! Runs a plan of commands one after another: quiet when green, a progress line while one is long, and the
//! failing command with its output last. Owns the terminal for all sub-commands that run others.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often a long step reports when nobody watches a terminal.
const REPORT_EVERY: Duration = Duration::from_secs(60);
/// How much of a failing command's output is shown; the whole is in its log file.
const SHOWN_BYTES_MAX: u64 = 24 * 1024;

/// What the test runners counted.
#[derive(Default, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Counts {
    /// Adds what `log` says in the closing lines of cargo test, pytest or our own conformance runners.
    pub(crate) fn add_log(&mut self, log: &str) {
        for line in log.lines() {
            let line = line.trim().trim_matches('=').trim();
            let counted = line.starts_with("test result:")
                || line.starts_with("total:")
                || (line.contains(" passed") && line.contains(" in ") && line.ends_with(['s', ')']));
            if !counted {
                continue;
            }
            let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || c == ';' || c == ',').collect();
            let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            for pair in words.windows(2) {
                let Ok(number) = pair[0].parse::<u64>() else { continue };
                match pair[1] {
                    "passed" => self.passed += number,
                    "failed" => self.failed += number,
                    "ignored" | "skipped" => self.skipped += number,
                    _ => {}
                }
            }
        }
    }
}

/// The terminal, the log folder and the sums of a run.
pub(crate) struct Steps {
    logs: PathBuf,
    total: usize,
    done: usize,
    /// Sum over every step so far.
    pub(crate) counts: Counts,
    terminal: bool,
}

impl Steps {
    /// A run of `total` steps whose logs go to `logs`.
    pub(crate) fn new(logs: PathBuf, total: usize) -> Result<Self, String> {
        std::fs::create_dir_all(&logs).map_err(|error| format!("{}: {error}", logs.display()))?;
        let terminal = std::io::stderr().is_terminal();
        Ok(Self { logs, total, done: 0, counts: Counts::default(), terminal })
    }

    /// As [`Steps::run`], for Rust tests: those that record that they cannot run here count as skipped, and are listed.
    pub(crate) fn run_tests(&mut self, name: &str, command: &mut Command) -> Result<(), String> {
        let records = self.logs.join(format!("{name}.skipped"));
        File::create(&records).map_err(|error| format!("{}: {error}", records.display()))?;
        // Absolute: each test runs in the folder of its crate.
        let path = records.canonicalize().map_err(|error| format!("{}: {error}", records.display()))?;
        let done = self.run(name, command.env(pithos_skipped::RECORDS, &path));
        let text = std::fs::read_to_string(&records).unwrap_or_default();
        let (tests, told) = skipped(&text);
        told.iter().for_each(|line| eprintln!("  skipped: {line}"));
        self.counts.passed = self.counts.passed.saturating_sub(tests);
        self.counts.skipped += tests;
        done
    }

    /// Says that a step does not run here, and why.
    pub(crate) fn skip(&mut self, name: &str, why: &str) {
        self.done += 1;
        eprintln!("[{}/{}] {name}: skipped: {why}", self.done, self.total);
    }

    /// Runs something of our own in place of a command.
    pub(crate) fn inside(
        &mut self,
        name: &str,
        work: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        self.done += 1;
        let start = Instant::now();
        work().map_err(|error| format!("{error}\nthe step that failed: {name}"))?;
        self.finished(name, start);
        Ok(())
    }

    /// Runs `command`; its output is kept in a log and shown only when it fails.
    pub(crate) fn run(&mut self, name: &str, command: &mut Command) -> Result<(), String> {
        self.done += 1;
        let start = Instant::now();
        let path = self.logs.join(format!("{}.log", name.replace([' ', '/'], "-")));
        let log = File::create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let both = log.try_clone().map_err(|error| error.to_string())?;
        command.stdin(Stdio::null()).stdout(log).stderr(both);
        let shown = describe(command);
        let status = self.wait(name, command, &path, start)?;
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
        self.counts.add_log(&text);
        if status.success() {
            self.finished(name, start);
            return Ok(());
        }
        self.clear_line();
        eprintln!("{}", tail(&path));
        Err(format!(
            "step '{name}' failed ({status}); its whole output is in {}\nthe command: {shown}",
            path.display()
        ))
    }

    fn wait(
        &self,
        name: &str,
        command: &mut Command,
        path: &PathBuf,
        start: Instant,
    ) -> Result<ExitStatus, String> {
        let mut child =
            command.spawn().map_err(|error| format!("cannot start {}: {error}", describe(command)))?;
        let mut reported = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(if start.elapsed().as_secs() < 2 { 20 } else { 200 }));
            let seconds = start.elapsed().as_secs();
            if self.terminal && seconds >= 1 {
                let _ =
                    write!(std::io::stderr(), "\r\x1b[K[{}/{}] {name} … {seconds} s", self.done, self.total);
            } else if !self.terminal && reported.elapsed() >= REPORT_EVERY {
                reported = Instant::now();
                eprintln!("[{}/{}] {name} … {seconds} s: {}", self.done, self.total, last_line(path));
            }
        }
    }

    fn finished(&self, name: &str, start: Instant) {
        self.clear_line();
        eprintln!("[{}/{}] {name}: ok ({:.1} s)", self.done, self.total, start.elapsed().as_secs_f64());
    }

    fn clear_line(&self) {
        if self.terminal {
            eprint!("\r\x1b[K");
        }
    }
}

/// How many tests the records name, and what there is to tell, each once.
fn skipped(records: &str) -> (u64, BTreeSet<String>) {
    let fields = |line: &str| {
        let mut parts = line.splitn(3, '\t').map(str::to_string);
        Some((parts.next()?, parts.next()?, parts.next()?))
    };
    let records: BTreeSet<_> = records.lines().filter_map(fields).collect();
    let tests: BTreeSet<&String> =
        records.iter().filter(|(kind, ..)| kind == "test").map(|(_, test, _)| test).collect();
    let told = records.iter().map(|(kind, test, why)| match kind.as_str() {
        "test" => format!("{test}: {why}"),
        _ => format!("a part of {test}: {why}"),
    });
    (tests.len() as u64, told.collect())
}

fn describe(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

fn tail(path: &PathBuf) -> String {
    let Ok(mut file) = File::open(path) else { return String::new() };
    let length = file.metadata().map(|data| data.len()).unwrap_or(0);
    let from = length.saturating_sub(SHOWN_BYTES_MAX);
    let mut bytes = Vec::new();
    if file.seek(SeekFrom::Start(from)).is_ok() {
        let _ = file.read_to_end(&mut bytes);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if from > 0 { format!("… ({from} bytes before this are in the log)\n{text}") } else { text }
}

fn last_line(path: &PathBuf) -> String {
    let text = tail(path);
    let line = text.rsplit(['\n', '\r']).find(|line| !line.trim().is_empty()).unwrap_or("").trim();
    line.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::{Counts, skipped};

    #[test]
    fn a_test_that_could_not_run_is_counted_once() {
        let records = "test\ta\tno bash\ntest\ta\tno bash\npart\tb\tno GNU sort\ntest\tc::d\tno valgrind\n";
        let (tests, told) = skipped(records);
        assert_eq!((tests, told.len()), (2, 3));
        assert!(told.contains("a part of b: no GNU sort"));
    }

    fn check(log: &str, expected: (u64, u64, u64)) {
        let mut counts = Counts::default();
        counts.add_log(log);
        assert_eq!((counts.passed, counts.failed, counts.skipped), expected, "{log}");
    }

    #[test]
    fn closing_lines_of_the_runners_are_counted() {
        check("test result: ok. 12 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out", (12, 0, 3));
        check("===== 40 passed, 2 skipped in 3.21s =====", (40, 0, 2));
        check("240 passed, 4 skipped in 75.64s (0:01:15)", (240, 0, 4));
        check("total: 48000 passed, 12 failed, 400 skipped", (48000, 12, 400));
        check("running 4 tests\nfour passed", (0, 0, 0));
    }
}
