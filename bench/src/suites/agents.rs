//! pithos's rows: what a call, a session and a cell cost through the whole server. `pithos figures` measures them, and new processes of
//! bash and node beside them, interleaved; this suite runs it again and again and keeps the figures.

use super::{progress, wanted};
use crate::contest::Settings;
use crate::locate::{Places, version};
use crate::model::{Cell, ContestantInfo, Figures, RowResult, SuiteResult, Unit};
use crate::stats::Summary;
use serde::Deserialize;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// The contestants; ours is the first.
const CONTESTANTS: [&str; 4] = ["pithos", "bash -c", "bash -lc", "node -e"];

/// A row: its name, which percentile it shows, and what each contestant's figure is called in the report.
type Row = (&'static str, Percentile, [Option<&'static str>; 4]);

#[derive(Clone, Copy)]
enum Percentile {
    Middle,
    Slowest,
}

const CALL: [Option<&str>; 4] =
    [Some("echo hi"), Some("bash -c 'echo hi'"), Some("bash -lc 'echo hi'"), None];
const OPEN: [Option<&str>; 4] = [Some("open a session"), None, None, None];
const CELL: [Option<&str>; 4] = [Some("JavaScript cell, 1 + 1"), None, None, Some("node -e '1 + 1'")];

const ROWS: [Row; 6] = [
    ("echo hi, p50", Percentile::Middle, CALL),
    ("echo hi, p99", Percentile::Slowest, CALL),
    ("open a session, p50", Percentile::Middle, OPEN),
    ("open a session, p99", Percentile::Slowest, OPEN),
    ("cell 1 + 1, p50", Percentile::Middle, CELL),
    ("cell 1 + 1, p99", Percentile::Slowest, CELL),
];

/// What `pithos figures --json` says.
#[derive(Deserialize)]
struct Report {
    rows: Vec<ReportRow>,
    sessions: u64,
    sessions_mb: f64,
}

#[derive(Deserialize)]
struct ReportRow {
    name: String,
    p50_us: f64,
    p99_us: f64,
}

/// Runs the suite; none where pithos is not built.
pub(crate) fn run(
    places: &Places,
    settings: Settings,
    filter: Option<&str>,
) -> io::Result<Option<SuiteResult>> {
    let Some(pithos) = places.ours("PITHOS_BENCH_PITHOS", "pithos") else { return Ok(None) };
    let mut reports = Vec::new();
    for run in 0..settings.runs {
        progress("pithos", &format!("run {} of {}", run + 1, settings.runs));
        reports.push(measure(&pithos)?);
    }
    let mut rows: Vec<RowResult> =
        ROWS.iter().filter(|(name, ..)| wanted(name, filter)).map(|row| row_of(row, &reports)).collect();
    if wanted(MEMORY, filter) {
        rows.push(memory_row(&reports));
    }
    let describe = |name: &str| ContestantInfo {
        name: name.to_owned(),
        version: if name == CONTESTANTS[0] { "this tree".to_owned() } else { peer_version(places, name) },
        ours: name == CONTESTANTS[0],
    };
    Ok(Some(SuiteResult {
        name: "pithos".to_owned(),
        title: "Calls through the server".to_owned(),
        subject: 0,
        contestants: CONTESTANTS.into_iter().map(describe).collect(),
        rows,
    }))
}

const MEMORY: &str = "a session, memory";

fn measure(pithos: &Path) -> io::Result<Report> {
    let output = Command::new(pithos)
        .args(["figures", "--json"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("pithos figures ended with {}", output.status)));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn row_of((name, percentile, figures): &Row, reports: &[Report]) -> RowResult {
    let samples = |figure: &str| -> Vec<f64> {
        let rows = reports.iter().filter_map(|report| report.rows.iter().find(|row| row.name == figure));
        rows.map(|row| match percentile {
            Percentile::Middle => row.p50_us,
            Percentile::Slowest => row.p99_us,
        })
        .collect()
    };
    let cells = figures.iter().map(|figure| figure.map_or(Cell::Absent, |figure| cell(samples(figure))));
    RowResult {
        name: (*name).to_owned(),
        group: "calls".to_owned(),
        unit: Unit::MicrosPerOperation,
        operations: 1,
        cells: cells.collect(),
    }
}

/// Proportional memory of the server with a hundred sessions, for each of them.
fn memory_row(reports: &[Report]) -> RowResult {
    let each = |report: &Report| report.sessions_mb * 1024.0 / report.sessions.max(1) as f64;
    let mut cells = vec![cell(reports.iter().map(each).collect())];
    cells.resize_with(CONTESTANTS.len(), || Cell::Absent);
    RowResult {
        name: MEMORY.to_owned(),
        group: "memory".to_owned(),
        unit: Unit::Kilobytes,
        operations: 1,
        cells,
    }
}

fn cell(samples: Vec<f64>) -> Cell {
    match Summary::of(&samples) {
        Some(summary) => Cell::Measured(Figures { summary, rss_kb: 0, samples }),
        None => Cell::Absent,
    }
}

fn peer_version(places: &Places, name: &str) -> String {
    let program = name.split(' ').next().unwrap_or(name);
    places.peer(program).map_or_else(|| "absent".to_owned(), |path| version(&path, &["--version"], ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_becomes_rows_and_what_is_missing_stays_absent() {
        let text = r#"{"rows": [{"name": "echo hi", "calls": 5, "p50_us": 200.0, "p99_us": 900.0}], "sessions": 100, "sessions_mb": 50}"#;
        let reports: Vec<Report> = vec![serde_json::from_str(text).unwrap()];
        let row = row_of(&ROWS[1], &reports);
        assert_eq!(
            row.cells.first().and_then(Cell::figures).map(|figures| figures.summary.median),
            Some(900.0)
        );
        assert!(matches!(row.cells.get(1), Some(Cell::Absent)));
        let memory = memory_row(&reports);
        assert_eq!(
            memory.cells.first().and_then(Cell::figures).map(|figures| figures.summary.median),
            Some(512.0)
        );
    }
}
