//! The result as tables of ratios for a terminal. Colour only where the caller says that it is one.

use crate::growth::is_steep;
use crate::limits::NOISE;
use crate::model::{Cell, GrowthResult, Report, RowResult, SuiteResult, Unit};
use crate::stats::geometric_mean;
use std::fmt::Write as _;

/// How good a figure is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Good,
    Bad,
    Dim,
}

/// Everything that the terminal shows of a run.
pub(crate) fn render(report: &Report, colour: bool) -> String {
    let mut out = String::new();
    let machine = &report.machine;
    let _ = writeln!(
        out,
        "host {} ({}, {} CPUs, {} MB, {}), revision {}, {} clock, {} runs after one warm-up",
        machine.host,
        machine.cpu,
        machine.cpus,
        machine.memory_mb,
        machine.system,
        report.revision,
        report.clock.name(),
        report.runs
    );
    for suite in &report.suites {
        out.push_str(&render_suite(suite, colour));
    }
    out.push_str(&render_growth(&report.growth, colour));
    out
}

fn render_suite(suite: &SuiteResult, colour: bool) -> String {
    let subject = suite.contestants.get(suite.subject);
    let subject_name = subject.map_or("?", |contestant| contestant.name.as_str());
    let mut out = format!("\n{}\n", suite.title);
    for contestant in &suite.contestants {
        let _ = writeln!(out, "  {:<13} {}", contestant.name, contestant.version);
    }
    let _ = writeln!(
        out,
        "ratios are {subject_name}'s figure divided by the other's: below 1 {subject_name} is ahead on times and sizes, above 1 on rates (/s)\n"
    );
    if subject.is_some_and(|contestant| !contestant.ours) {
        let _ = writeln!(out, "ours is not built: {subject_name} stands in for it\n");
    }
    let mut grid = Grid::default();
    let others: Vec<usize> = (0..suite.contestants.len()).filter(|at| *at != suite.subject).collect();
    let mut head = vec![plain("bench"), plain(subject_name), plain("unit"), plain("spread"), plain("rss KB")];
    head.extend(others.iter().filter_map(|at| suite.contestants.get(*at)).map(|c| plain(&c.name)));
    grid.rows.push(head);
    let mut group = "";
    for row in &suite.rows {
        if row.group != group {
            push_mean(&mut grid, suite, &others, group);
            group = &row.group;
        }
        grid.rows.push(suite_row(suite, row, &others));
    }
    push_mean(&mut grid, suite, &others, group);
    out.push_str(&grid.render(colour));
    out.push_str(&render_disqualified(suite));
    out
}

fn suite_row(suite: &SuiteResult, row: &RowResult, others: &[usize]) -> Vec<(String, Tone)> {
    let own = row.cells.get(suite.subject);
    let mut cells = vec![plain(&row.name)];
    match own.and_then(Cell::figures) {
        Some(figures) => {
            let spread = format!("{:.0}%", figures.summary.spread * 100.0);
            let rss = if figures.rss_kb > 0 { figures.rss_kb.to_string() } else { String::new() };
            let median = figure(figures.summary.median);
            cells.extend([plain(&median), plain(row.unit.label()), plain(&spread), plain(&rss)]);
        }
        None => cells.extend([("none".to_owned(), Tone::Bad), plain(row.unit.label()), plain(""), plain("")]),
    }
    for other in others {
        cells.push(ratio_cell(row, suite.subject, *other));
    }
    cells
}

fn ratio_cell(row: &RowResult, subject: usize, other: usize) -> (String, Tone) {
    match (ratio(row, subject, other), row.cells.get(other)) {
        (Some(value), _) => (ratio_text(value), tone(value, row.unit)),
        (None, Some(Cell::Measured(figures))) => (format!("({})", figure(figures.summary.median)), Tone::Dim),
        (None, Some(Cell::Disqualified { .. })) => ("x".to_owned(), Tone::Dim),
        _ => ("-".to_owned(), Tone::Dim),
    }
}

/// The subject's median over another contestant's, where both have one.
pub(crate) fn ratio(row: &RowResult, subject: usize, other: usize) -> Option<f64> {
    let median = |at: usize| row.cells.get(at)?.figures().map(|figures| figures.summary.median);
    let (own, other) = (median(subject)?, median(other)?);
    (other > 0.0).then(|| own / other)
}

/// The colour of a ratio: plain within the noise.
pub(crate) fn tone(ratio: f64, unit: Unit) -> Tone {
    let gain = if unit.higher_is_better() { ratio } else { 1.0 / ratio.max(1e-12) };
    if (gain - 1.0).abs() <= NOISE {
        Tone::Plain
    } else if gain > 1.0 {
        Tone::Good
    } else {
        Tone::Bad
    }
}

/// The geometric means of a group's ratios, one for each other contestant.
pub(crate) fn group_means(suite: &SuiteResult, group: &str, others: &[usize]) -> Vec<Option<(f64, usize)>> {
    let rows: Vec<&RowResult> = suite.rows.iter().filter(|row| row.group == group).collect();
    let mean = |other: &usize| {
        let ratios: Vec<f64> = rows.iter().filter_map(|row| ratio(row, suite.subject, *other)).collect();
        geometric_mean(&ratios).map(|mean| (mean, ratios.len()))
    };
    others.iter().map(mean).collect()
}

fn push_mean(grid: &mut Grid, suite: &SuiteResult, others: &[usize], group: &str) {
    let rows: Vec<&RowResult> = suite.rows.iter().filter(|row| row.group == group).collect();
    let same_direction = rows.windows(2).all(|pair| match pair {
        [a, b] => a.unit.higher_is_better() == b.unit.higher_is_better(),
        _ => true,
    });
    if rows.len() < 2 || !same_direction {
        return;
    }
    let unit = rows.first().map_or(Unit::Millis, |row| row.unit);
    let mut cells = vec![plain(&format!("  geomean of {group}")), plain(""), plain(""), plain(""), plain("")];
    for mean in group_means(suite, group, others) {
        cells.push(match mean {
            Some((mean, count)) if count == rows.len() => (ratio_text(mean), tone(mean, unit)),
            Some((mean, count)) => (format!("{} ({count})", ratio_text(mean)), tone(mean, unit)),
            None => ("-".to_owned(), Tone::Dim),
        });
    }
    grid.rows.push(cells);
}

fn render_disqualified(suite: &SuiteResult) -> String {
    let mut out = String::new();
    for row in &suite.rows {
        for (cell, contestant) in row.cells.iter().zip(&suite.contestants) {
            if let Cell::Disqualified { reason } = cell {
                let _ = writeln!(out, "  x {} on {}: {reason}", contestant.name, row.name);
            }
        }
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

fn render_growth(growth: &[GrowthResult], colour: bool) -> String {
    if growth.is_empty() {
        return String::new();
    }
    let mut grid = Grid::default();
    let head =
        ["growth", "runtime", "x1 ms", "x10 ms", "x100 ms", "slope", "x1 KB", "x10 KB", "x100 KB", "slope"];
    grid.rows.push(head.map(plain).to_vec());
    for result in growth {
        let at = |size: &str| result.points.iter().find(|point| point.size == size);
        let mut cells =
            vec![plain(&format!("{}: {}", result.suite, result.workload)), plain(&result.contestant)];
        for size in ["x1", "x10", "x100"] {
            cells.push(plain(&at(size).map_or("-".to_owned(), |point| figure(point.millis))));
        }
        cells.push(slope_cell(result.time_slope));
        for size in ["x1", "x10", "x100"] {
            cells.push(plain(&at(size).map_or("-".to_owned(), |point| point.rss_kb.to_string())));
        }
        cells.push(slope_cell(result.memory_slope));
        grid.rows.push(cells);
    }
    let mut out = format!(
        "\nGrowth (time less start-up; slopes in log-log scale, 1 is linear, ! is steeper)\n{}",
        grid.render(colour)
    );
    for result in growth.iter().filter(|result| !result.note.is_empty()) {
        let _ = writeln!(out, "  x {} on {}: {}", result.contestant, result.workload, result.note);
    }
    out
}

fn slope_cell(slope: Option<f64>) -> (String, Tone) {
    match slope {
        Some(value) if is_steep(slope) => (format!("{value:.2} !"), Tone::Bad),
        Some(value) => (format!("{value:.2}"), Tone::Good),
        None => ("-".to_owned(), Tone::Dim),
    }
}

fn plain(text: &str) -> (String, Tone) {
    (text.to_owned(), Tone::Plain)
}

/// A figure with three significant digits, or as a whole number with thousands apart.
pub(crate) fn figure(value: f64) -> String {
    match value {
        v if v >= 1000.0 => thousands(v.round() as u64),
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v if v >= 0.001 => format!("{v:.3}"),
        _ => "0".to_owned(),
    }
}

fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A ratio with as many digits as it deserves.
pub(crate) fn ratio_text(ratio: f64) -> String {
    match ratio {
        r if r >= 100.0 => format!("{r:.0}"),
        r if r >= 10.0 => format!("{r:.1}"),
        r if r >= 0.1 => format!("{r:.2}"),
        r => format!("{r:.3}"),
    }
}

/// Cells in columns: the first two left-aligned where they are text, the others to the right.
#[derive(Default)]
struct Grid {
    rows: Vec<Vec<(String, Tone)>>,
}

impl Grid {
    fn render(&self, colour: bool) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|(text, _)| text.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for ((text, tone), width) in row.iter().zip(&widths) {
                let padding = " ".repeat(width.saturating_sub(text.chars().count()));
                let painted = paint(text, *tone, colour);
                // Only the first column is text; figures line up on the right.
                if line.is_empty() {
                    line = format!("{painted}{padding}");
                } else {
                    let _ = write!(line, "  {padding}{painted}");
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

fn paint(text: &str, tone: Tone, colour: bool) -> String {
    let code = match tone {
        Tone::Good => "32",
        Tone::Bad => "31",
        Tone::Dim => "2",
        Tone::Plain => return text.to_owned(),
    };
    if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::{Clock, ContestantInfo, FORMAT, Figures, Machine};
    use crate::stats::Summary;

    /// A small run with one of everything, for the tests of tables, pages and logs.
    pub(crate) fn sample_report() -> Report {
        let measured = |median: f64| {
            let summary = Summary { median, min: median * 0.9, max: median * 1.1, spread: 0.02 };
            Cell::Measured(Figures { summary, rss_kb: 4096, samples: vec![median] })
        };
        let row = |name: &str, group: &str, cells: Vec<Cell>| RowResult {
            name: name.into(),
            group: group.into(),
            unit: Unit::Millis,
            operations: 1,
            cells,
        };
        let contestant = |name: &str, ours| ContestantInfo { name: name.into(), version: "1.0".into(), ours };
        let failed = Cell::Disqualified { reason: "wrong output".into() };
        let suite = SuiteResult {
            name: "cynic".into(),
            title: "JavaScript engines".into(),
            subject: 0,
            contestants: vec![
                contestant("cynic", true),
                contestant("quickjs-ng", false),
                contestant("hermes", false),
            ],
            rows: vec![
                row("startup", "startup", vec![measured(1.0), measured(2.0), measured(4.0)]),
                row("arith", "fixtures", vec![measured(10.0), measured(40.0), measured(5.0)]),
                row("calls", "fixtures", vec![measured(10.0), measured(10.0), failed]),
            ],
        };
        let point = |size: &str, factor: f64, millis: f64| crate::model::GrowthPoint {
            size: size.into(),
            factor,
            millis,
            rss_kb: 5000,
            rss_over_empty_kb: 10,
        };
        let growth = GrowthResult {
            suite: "cynic".into(),
            workload: "growth/queue".into(),
            contestant: "cynic".into(),
            ours: true,
            points: vec![point("x1", 0.1, 4.0), point("x10", 1.0, 400.0)],
            time_slope: Some(2.0),
            memory_slope: None,
            note: "x100: timed out after 30 s".into(),
        };
        let machine = Machine {
            host: "0123abcd".into(),
            cpu: "Some CPU".into(),
            cpus: 2,
            memory_mb: 2048,
            system: "Linux 6.0 x86_64".into(),
        };
        Report {
            format: FORMAT,
            unix_time: 1_700_000_000,
            revision: "0123456789".into(),
            command: "js --runs 10".into(),
            clock: Clock::Wall,
            runs: 10,
            machine,
            suites: vec![suite],
            growth: vec![growth],
        }
    }

    #[test]
    fn ratios_means_and_reasons() {
        let text = render(&sample_report(), false);
        let line = |start: &str| {
            let found = text.lines().find(|line| line.trim_start().starts_with(start)).unwrap_or("");
            found.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(line("arith"), "arith 10.0 ms 2% 4096 0.25 2.00");
        assert_eq!(line("calls"), "calls 10.0 ms 2% 4096 1.00 x");
        assert_eq!(line("geomean of fixtures"), "geomean of fixtures 0.50 2.00 (1)");
        assert!(text.contains("x hermes on calls: wrong output"));
        assert!(text.contains("2.00 !") && text.contains("x100: timed out"));
        assert!(!text.contains('\x1b'));
        assert!(render(&sample_report(), true).contains("\x1b[32m0.25\x1b[0m"));
    }

    #[test]
    fn tones_know_the_direction_and_the_noise() {
        assert_eq!(tone(0.5, Unit::Millis), Tone::Good);
        assert_eq!(tone(0.5, Unit::OperationsPerSecond), Tone::Bad);
        assert_eq!(tone(1.03, Unit::Millis), Tone::Plain);
    }

    #[test]
    fn figures_keep_three_digits() {
        let figures = [0.0123, 1.234, 12.34, 123.4, 1_234_567.0].map(figure);
        assert_eq!(figures, ["0.012", "1.23", "12.3", "123", "1,234,567"]);
        assert_eq!(ratio_text(0.0123), "0.012");
    }
}
