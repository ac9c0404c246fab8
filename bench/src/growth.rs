//! Growth: headline workloads at x1, x10 and x100, and the slope of time and memory in log-log scale. A slope of 1 is
//! linear; a quadratic shows as 2 and is flagged.

use crate::contest::{Case, Contestant, Settings, run_case};
use crate::limits::{GROWTH_FACTORS, SLOPE_MAX, SLOPE_POINT_KB_MIN, SLOPE_POINT_MS_MIN};
use crate::model::{Cell, GrowthPoint, GrowthResult, RowResult, Unit};
use crate::process::Runner;
use crate::stats::log_log_slope;
use crate::suites::{progress, startup_of};
use std::io;

/// One suite's growth run.
pub(crate) struct Plan<'a> {
    pub(crate) suite: &'a str,
    pub(crate) contestants: &'a [Contestant],
    /// The row of an empty program, whose time and memory are subtracted.
    pub(crate) startup: Option<Case>,
    pub(crate) workloads: &'a [&'a str],
    /// Makes a workload's row at a size.
    pub(crate) make: &'a dyn Fn(&str, f64) -> io::Result<Case>,
}

/// Runs a plan.
pub(crate) fn run(plan: &Plan<'_>, runner: &Runner, settings: Settings) -> io::Result<Vec<GrowthResult>> {
    let empty = plan.startup.as_ref().map(|case| run_case(case, plan.contestants, &[], runner, settings));
    let startup_ms = empty.as_ref().map(startup_of).unwrap_or_default();
    let mut results = Vec::new();
    for workload in plan.workloads {
        let mut rows = Vec::new();
        for (size, factor) in GROWTH_FACTORS {
            progress(plan.suite, &format!("growth of {workload}: {size}"));
            let case = (plan.make)(workload, factor)?;
            rows.push(run_case(&case, plan.contestants, &startup_ms, runner, settings));
        }
        for (at, contestant) in plan.contestants.iter().enumerate() {
            let empty_rss = empty.as_ref().and_then(|row| rss_of(row, at)).unwrap_or(0);
            let mut result = of_contestant(&rows, at, empty_rss);
            if result.points.is_empty() && result.note.is_empty() {
                continue;
            }
            result.suite = plan.suite.to_owned();
            result.workload = (*workload).to_owned();
            result.contestant = contestant.info.name.clone();
            result.ours = contestant.info.ours;
            results.push(result);
        }
    }
    Ok(results)
}

/// Whether a slope says that something grows faster than its input.
pub(crate) fn is_steep(slope: Option<f64>) -> bool {
    slope.is_some_and(|slope| slope > SLOPE_MAX)
}

fn rss_of(row: &RowResult, at: usize) -> Option<u64> {
    row.cells.get(at)?.figures().map(|figures| figures.rss_kb)
}

fn of_contestant(rows: &[RowResult], at: usize, empty_rss_kb: u64) -> GrowthResult {
    let mut points = Vec::new();
    let mut note = String::new();
    for (row, (size, factor)) in rows.iter().zip(GROWTH_FACTORS) {
        match row.cells.get(at) {
            Some(Cell::Measured(figures)) => points.push(GrowthPoint {
                size: size.to_owned(),
                factor,
                millis: millis(row, figures.summary.median),
                rss_kb: figures.rss_kb,
                rss_over_empty_kb: figures.rss_kb.saturating_sub(empty_rss_kb),
            }),
            Some(Cell::Disqualified { reason }) if note.is_empty() => note = format!("{size}: {reason}"),
            _ => {}
        }
    }
    let time: Vec<(f64, f64)> =
        points.iter().filter(|p| p.millis >= SLOPE_POINT_MS_MIN).map(|p| (p.factor, p.millis)).collect();
    let memory: Vec<(f64, f64)> = points
        .iter()
        .map(|p| (p.factor, p.rss_over_empty_kb as f64))
        .filter(|(_, kilobytes)| *kilobytes >= SLOPE_POINT_KB_MIN)
        .collect();
    GrowthResult {
        suite: String::new(),
        workload: String::new(),
        contestant: String::new(),
        ours: false,
        time_slope: log_log_slope(&time),
        memory_slope: log_log_slope(&memory),
        points,
        note,
    }
}

/// A row's figure as the time of the whole run.
fn millis(row: &RowResult, figure: f64) -> f64 {
    let operations = row.operations as f64;
    match row.unit {
        Unit::MicrosPerOperation => figure * operations / 1e3,
        Unit::OperationsPerSecond => operations / figure.max(1e-9) * 1e3,
        Unit::Millis | Unit::Bytes | Unit::Kilobytes => figure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Figures;
    use crate::stats::Summary;

    fn row(unit: Unit, operations: u64, figure: f64, rss_kb: u64) -> RowResult {
        let summary = Summary { median: figure, min: figure, max: figure, spread: 0.0 };
        let cells = vec![Cell::Measured(Figures { summary, rss_kb, samples: vec![figure] })];
        RowResult { name: "w".into(), group: "g".into(), unit, operations, cells }
    }

    #[test]
    fn a_quadratic_is_steep_and_a_line_is_not() {
        let quadratic = [10.0, 1000.0, 100_000.0].map(|ms| row(Unit::Millis, 1, ms, 5000));
        let result = of_contestant(&quadratic, 0, 4000);
        assert!(is_steep(result.time_slope));
        assert_eq!(result.memory_slope, None);
        let line = [(10, 3.0), (100, 3.1), (1000, 2.9)]
            .map(|(n, us)| row(Unit::MicrosPerOperation, n * 1000, us, n * 5000));
        let result = of_contestant(&line, 0, 1000);
        assert!(!is_steep(result.time_slope) && result.time_slope.is_some());
        assert!((result.memory_slope.unwrap() - 1.0).abs() < 0.05);
    }

    #[test]
    fn rates_become_times() {
        assert_eq!(millis(&row(Unit::OperationsPerSecond, 1000, 0.0, 0), 100_000.0), 10.0);
    }
}
