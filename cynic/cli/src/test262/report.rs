//! Counting verdicts and showing them: per folder, in total, as JSON, and as a list of failures.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

use super::discover::folder_of;
use super::judge::Verdict;

/// How many tests of a folder ended how.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    /// As demanded.
    pub(crate) passed: usize,
    /// Not as demanded; crashes and hangs included.
    pub(crate) failed: usize,
    /// Not run.
    pub(crate) skipped: usize,
    /// Killed the worker.
    pub(crate) crashed: usize,
    /// Had to be killed.
    pub(crate) hung: usize,
}

impl Counts {
    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Skipped(_) => self.skipped += 1,
            Verdict::Failed(_) => self.failed += 1,
            Verdict::Crashed(_) => {
                self.failed += 1;
                self.crashed += 1;
            }
            Verdict::Hung => {
                self.failed += 1;
                self.hung += 1;
            }
        }
    }
}

/// One failed test.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Failure {
    path: String,
    kind: &'static str,
    message: String,
}

/// The result of a run.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    total: Counts,
    seconds: f64,
    folders: BTreeMap<String, Counts>,
    failures: Vec<Failure>,
}

impl Report {
    /// Gathers the verdicts, which come in path order.
    pub(crate) fn new(verdicts: &[(String, Verdict)], elapsed: Duration) -> Self {
        let mut report = Report { seconds: elapsed.as_secs_f64(), ..Report::default() };
        for (path, verdict) in verdicts {
            report.total.add(verdict);
            report.folders.entry(folder_of(path).to_owned()).or_default().add(verdict);
            if let Some((kind, message)) = describe_failure(verdict) {
                report.failures.push(Failure { path: path.clone(), kind, message });
            }
        }
        report
    }

    /// The paths of the failed tests.
    pub(crate) fn failed_paths(&self) -> BTreeSet<String> {
        self.failures.iter().map(|failure| failure.path.clone()).collect()
    }

    /// The table of folders.
    pub(crate) fn folder_table(&self) -> String {
        let width = self.folders.keys().map(String::len).max().unwrap_or(0);
        let mut text = String::new();
        for (folder, counts) in &self.folders {
            let Counts { passed, failed, skipped, .. } = counts;
            let _ = writeln!(text, "{folder:width$}  {passed:>6} / {failed:>5} / {skipped:>5}");
        }
        text
    }

    /// The line of totals.
    pub(crate) fn total_line(&self) -> String {
        let Counts { passed, failed, skipped, crashed, hung } = self.total;
        let ran = passed + failed;
        let share = if ran == 0 { 0.0 } else { 100.0 * passed as f64 / ran as f64 };
        format!(
            "passed {passed} / failed {failed} / skipped {skipped}  ({share:.2} % of {ran} run; \
             {crashed} crashes, {hung} hangs; {:.1} s)",
            self.seconds
        )
    }

    /// One line per failure.
    pub(crate) fn failure_list(&self) -> String {
        let mut text = String::new();
        for Failure { path, kind, message } in &self.failures {
            let first = message.lines().next().unwrap_or_default();
            let _ = writeln!(text, "{kind} {path}: {first}");
        }
        text
    }

    /// The whole report as JSON.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
    }
}

fn describe_failure(verdict: &Verdict) -> Option<(&'static str, String)> {
    match verdict {
        Verdict::Failed(message) => Some(("FAIL", message.clone())),
        Verdict::Crashed(message) => Some(("CRASH", message.clone())),
        Verdict::Hung => Some(("HANG", "killed by the watchdog".into())),
        Verdict::Passed | Verdict::Skipped(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Report {
        let verdicts = [
            ("built-ins/Array/a.js".to_owned(), Verdict::Passed),
            ("built-ins/Array/b/c.js".to_owned(), Verdict::Failed("x\ny".into())),
            ("built-ins/Map/a.js".to_owned(), Verdict::Crashed("signal 11".into())),
            ("harness/a.js".to_owned(), Verdict::Skipped("noStrict".into())),
        ];
        Report::new(&verdicts, Duration::from_millis(1500))
    }

    #[test]
    fn counts_are_per_folder_and_in_total() {
        let report = sample();
        assert_eq!(report.total, Counts { passed: 1, failed: 2, skipped: 1, crashed: 1, hung: 0 });
        assert_eq!(report.folders["built-ins/Array"].failed, 1);
        assert!(report.folder_table().lines().count() == 3);
        assert!(
            report.total_line().starts_with("passed 1 / failed 2 / skipped 1  (33.33 % of 3 run; 1 crashes")
        );
    }

    #[test]
    fn failures_are_listed_by_their_first_line() {
        let list = sample().failure_list();
        assert_eq!(list, "FAIL built-ins/Array/b/c.js: x\nCRASH built-ins/Map/a.js: signal 11\n");
    }
}
