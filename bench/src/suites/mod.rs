//! The suites: which contestants a part has and which rows. A suite describes work and measures nothing itself, but for
//! the shell's session row, which is a conversation, and for the server's, which `pithos figures` measures.

pub(crate) mod actors;
pub(crate) mod agents;
pub(crate) mod javascript;
pub(crate) mod session;
pub(crate) mod shell;

use crate::contest::{Case, Contestant, Settings, run_case};
use crate::model::{ContestantInfo, RowResult, SuiteResult};
use crate::process::{Invocation, Runner};
use std::ffi::OsString;
use std::path::Path;

/// A suite that is ready to run.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) contestants: Vec<Contestant>,
    /// The row whose times are start-up, and are subtracted from those of the others.
    pub(crate) startup: Option<Case>,
    pub(crate) cases: Vec<Case>,
    /// The peer that is compared with the others where ours is not built.
    pub(crate) reference: &'static str,
}

impl Suite {
    /// Runs every row, with a line of progress on standard error for each.
    pub(crate) fn run(&self, runner: &Runner, settings: Settings) -> SuiteResult {
        let mut result = self.empty_result();
        let mut startup_ms = Vec::new();
        if let Some(startup) = &self.startup {
            progress(self.name, &startup.name);
            let row = run_case(startup, &self.contestants, &[], runner, settings);
            startup_ms = startup_of(&row);
            result.rows.push(row);
        }
        for case in &self.cases {
            progress(self.name, &case.name);
            result.rows.push(run_case(case, &self.contestants, &startup_ms, runner, settings));
        }
        result
    }

    /// The suite's description with no rows yet.
    pub(crate) fn empty_result(&self) -> SuiteResult {
        let contestants: Vec<ContestantInfo> = self.contestants.iter().map(|c| c.info.clone()).collect();
        let ours = contestants.iter().position(|contestant| contestant.ours);
        let reference = contestants.iter().position(|contestant| contestant.name == self.reference);
        SuiteResult {
            name: self.name.to_owned(),
            title: self.title.to_owned(),
            subject: ours.or(reference).unwrap_or(0),
            contestants,
            rows: Vec::new(),
        }
    }
}

/// The median of each contestant on the start-up row, in ms.
pub(crate) fn startup_of(row: &RowResult) -> Vec<Option<f64>> {
    row.cells.iter().map(|cell| cell.figures().map(|figures| figures.summary.median)).collect()
}

/// One line on standard error: what is being measured now.
pub(crate) fn progress(suite: &str, row: &str) {
    eprintln!("bench: {suite}: {row}");
}

/// Whether a row's name contains the filter.
pub(crate) fn wanted(name: &str, filter: Option<&str>) -> bool {
    filter.is_none_or(|part| name.contains(part))
}

/// `contestant` with `arguments` after its prefix, in `directory`, with the small environment that every row has.
pub(crate) fn invocation(contestant: &Contestant, arguments: &[OsString], directory: &Path) -> Invocation {
    let mut all: Vec<OsString> = contestant.prefix.iter().map(OsString::from).collect();
    all.extend_from_slice(arguments);
    let environment = [
        ("PATH", OsString::from("/usr/local/bin:/usr/bin:/bin")),
        ("HOME", directory.into()),
        ("TMPDIR", directory.into()),
        ("LC_ALL", OsString::from("C")),
    ];
    Invocation {
        program: contestant.program.clone(),
        arguments: all,
        directory: directory.to_owned(),
        environment: environment.map(|(name, value)| (name.to_owned(), value)).to_vec(),
    }
}

/// `source` with every integer after the mark `/*n*/` multiplied by `factor` (at least 1).
pub(crate) fn scaled_source(source: &str, factor: f64) -> String {
    const MARK: &str = "/*n*/ ";
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find(MARK) {
        let (before, after) = rest.split_at(at + MARK.len());
        out.push_str(before);
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (number, tail) = after.split_at(digits);
        match number.parse::<f64>() {
            Ok(n) => out.push_str(&format!("{}", (n * factor).round().max(1.0) as u64)),
            Err(_) => out.push_str(number),
        }
        rest = tail;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_scale_after_the_mark_only() {
        assert_eq!(scaled_source("i < /*n*/ 500; j < 10", 10.0), "i < /*n*/ 5000; j < 10");
        assert_eq!(scaled_source("f(/*n*/ 6, /*n*/ 4)", 0.1), "f(/*n*/ 1, /*n*/ 1)");
        assert_eq!(scaled_source("/*n*/ x", 2.0), "/*n*/ x");
    }
}
