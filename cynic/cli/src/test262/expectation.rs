//! The committed list of known failures, and how a run is compared with it.
//!
//! One path per line, sorted; lines that begin with `#` are comments. A run is as expected when exactly the listed tests
//! fail: a surprise pass is as wrong as a surprise failure, so that the list can only tell the truth.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

const HEADING: &str =
    "# Tests that fail today, one path per line, sorted. Rewritten by `cynic test262 --bless`.\n";

/// The known failures.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Expectations(BTreeSet<String>);

/// Where a run differs from the expectations.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Surprises {
    /// Failed, but not listed.
    pub(crate) failures: Vec<String>,
    /// Listed, but passed (or skipped).
    pub(crate) passes: Vec<String>,
}

impl Surprises {
    /// Whether the run was as expected.
    pub(crate) fn is_empty(&self) -> bool {
        self.failures.is_empty() && self.passes.is_empty()
    }
}

impl Expectations {
    /// Reads the list; a file that does not exist is the empty list.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        match fs::read_to_string(path) {
            Ok(text) => Ok(Self::parse(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    fn parse(text: &str) -> Self {
        let lines = text.lines().map(str::trim);
        Expectations(
            lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect(),
        )
    }

    fn render(&self) -> String {
        let mut text = HEADING.to_owned();
        for path in &self.0 {
            text.push_str(path);
            text.push('\n');
        }
        text
    }

    /// Writes the list.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        fs::write(path, self.render())
    }

    /// Compares with a run over `ran`, of which `failed` failed. Entries for tests that were not run are left alone.
    pub(crate) fn compare(&self, ran: &[String], failed: &BTreeSet<String>) -> Surprises {
        let failures = failed.iter().filter(|path| !self.0.contains(*path)).cloned().collect();
        let passes = ran.iter().filter(|path| self.0.contains(*path) && !failed.contains(*path));
        Surprises { failures, passes: passes.cloned().collect() }
    }

    /// The list that makes a run over `ran` be as expected.
    pub(crate) fn blessed(&self, ran: &[String], failed: &BTreeSet<String>) -> Self {
        let mut next = self.0.clone();
        for path in ran {
            next.remove(path);
        }
        next.extend(failed.iter().cloned());
        Expectations(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(items: &[&str]) -> Vec<String> {
        items.iter().map(|item| (*item).to_owned()).collect()
    }

    fn set(items: &[&str]) -> BTreeSet<String> {
        strings(items).into_iter().collect()
    }

    #[test]
    fn a_surprise_pass_and_a_surprise_failure_are_both_reported() {
        let list = Expectations::parse("# known\na.js\nb.js\nz.js\n");
        let surprises = list.compare(&strings(&["a.js", "b.js", "c.js"]), &set(&["a.js", "c.js"]));
        assert_eq!(surprises, Surprises { failures: strings(&["c.js"]), passes: strings(&["b.js"]) });
    }

    #[test]
    fn entries_outside_the_filter_are_not_surprises() {
        let list = Expectations::parse("z.js\n");
        assert!(list.compare(&strings(&["a.js"]), &set(&[])).is_empty());
    }

    #[test]
    fn blessing_keeps_what_was_not_run_and_sorts() {
        let list = Expectations::parse("b.js\nz.js\n");
        let next = list.blessed(&strings(&["a.js", "b.js"]), &set(&["a.js"]));
        assert_eq!(next.render(), format!("{HEADING}a.js\nz.js\n"));
        assert!(next.compare(&strings(&["a.js", "b.js"]), &set(&["a.js"])).is_empty());
    }
}
