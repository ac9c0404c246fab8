//! The recorded runs of each part, `bench/log/{cynic,rush,iris}.md`: newest first, appended by this program, with the
//! change against the previous entry *of the same host*. Figures of different hosts are never compared.

use crate::machine::date_and_time;
use crate::model::{Cell, Report, RowResult, SuiteResult, Unit};
use crate::table::figure;
use std::fmt::Write as _;

/// Where entries begin; what stands above is the log's introduction.
const ENTRY: &str = "\n## ";
const NO_COMPARISON: &str = "not compared: no earlier entry of this host";

/// An entry that is read back.
#[derive(Debug, PartialEq)]
struct Entry {
    host: String,
    clock: String,
    /// Name of the row and median of ours.
    medians: Vec<(String, f64)>,
}

/// The text of the log of `part` with an entry for `report` put on top; `log` is its present text, empty at first.
/// `extra` is Markdown that belongs to the entry, such as the split of the shell's time.
pub(crate) fn append(log: &str, part: &str, report: &Report, suites: &[&SuiteResult], extra: &str) -> String {
    let (introduction, entries) = match log.find(ENTRY) {
        Some(at) => log.split_at(at),
        None if log.trim().is_empty() => ("", ""),
        None => (log, ""),
    };
    let introduction = if introduction.is_empty() { new_introduction(part) } else { introduction.to_owned() };
    let parsed: Vec<Entry> = entries.split(ENTRY).filter_map(parse).collect();
    let previous = parsed.iter().find(|e| e.host == report.machine.host && e.clock == report.clock.name());
    let entry = render(report, suites, previous, extra);
    format!("{}\n{}\n{}", introduction.trim_end(), entry, entries).trim_end().to_owned() + "\n"
}

/// What to tell the operator about the comparison.
pub(crate) fn comparison_note(log: &str, report: &Report) -> Option<String> {
    let newest = log.split(ENTRY).skip(1).find_map(parse)?;
    (newest.host != report.machine.host).then(|| {
        format!(
            "the newest entry is of host {}, this is host {}: figures of different hosts are not compared",
            newest.host, report.machine.host
        )
    })
}

fn new_introduction(part: &str) -> String {
    format!(
        "# {part}: recorded runs\n\n\
         Newest first, appended by `pithos-bench record {part}`: median, least and greatest of the timed runs after one discarded\n\
         warm-up, start-up subtracted but for the row that is start-up. `change` is the median against the previous entry of the\n\
         same host and clock. Two hosts are never compared. The whole run, every peer and sample included, is in `../runs`.\n"
    )
}

fn render(report: &Report, suites: &[&SuiteResult], previous: Option<&Entry>, extra: &str) -> String {
    let machine = &report.machine;
    let mut out = format!(
        "\n## {} UTC, {}, host {}\n\n",
        date_and_time(report.unix_time),
        report.revision,
        machine.host
    );
    let _ = writeln!(
        out,
        "{} with {} CPUs, {} MB, {}; {} clock; {} runs; `pithos-bench {}`.",
        machine.cpu,
        machine.cpus,
        machine.memory_mb,
        machine.system,
        report.clock.name(),
        report.runs,
        report.command
    );
    if previous.is_none() {
        let _ = writeln!(out, "Changes are {NO_COMPARISON}.");
    }
    for suite in suites {
        out.push_str(&render_suite(suite, previous));
    }
    if !extra.is_empty() {
        let _ = write!(out, "\n{}\n", extra.trim());
    }
    out
}

fn render_suite(suite: &SuiteResult, previous: Option<&Entry>) -> String {
    let mut out = String::new();
    let mut columns = "";
    for row in &suite.rows {
        let wanted = columns_of(row.unit);
        if wanted != columns {
            let _ = write!(out, "\n| bench | {wanted} | rss_kb | change |\n|---|---|---|---|---|---|\n");
            columns = wanted;
        }
        let _ = writeln!(out, "{}", render_row(suite, row, previous));
    }
    out
}

fn columns_of(unit: Unit) -> &'static str {
    match unit {
        Unit::Millis => "median_ms | min_ms | max_ms",
        Unit::MicrosPerOperation => "median_us | min_us | max_us",
        Unit::OperationsPerSecond => "median_per_s | min_per_s | max_per_s",
        Unit::Bytes => "median_bytes | min_bytes | max_bytes",
        Unit::Kilobytes => "median_kb | min_kb | max_kb",
    }
}

fn render_row(suite: &SuiteResult, row: &RowResult, previous: Option<&Entry>) -> String {
    let name = row_name(suite, row);
    match row.cells.get(suite.subject) {
        Some(Cell::Measured(figures)) => {
            let summary = figures.summary;
            let before = previous.and_then(|entry| entry.medians.iter().find(|(n, _)| *n == name));
            let change = before.map_or("-".to_owned(), |(_, median)| change(*median, summary.median));
            let rss = if figures.rss_kb > 0 { figures.rss_kb.to_string() } else { "-".to_owned() };
            let [median, min, max] = [summary.median, summary.min, summary.max].map(figure);
            format!("| {name} | {median} | {min} | {max} | {rss} | {change} |")
        }
        Some(Cell::Disqualified { reason }) => {
            format!("| {name} | failed | - | - | - | {} |", reason.replace('|', "\\|"))
        }
        _ => format!("| {name} | - | - | - | - | - |"),
    }
}

/// Rows of the two actor halves share a log, so their names carry the half.
fn row_name(suite: &SuiteResult, row: &RowResult) -> String {
    match suite.name.strip_prefix("iris-") {
        Some(half) => format!("{half} {}", row.name),
        None => row.name.clone(),
    }
}

fn change(before: f64, now: f64) -> String {
    if before <= 0.0 { "-".to_owned() } else { format!("{:+.1}%", (now / before - 1.0) * 100.0) }
}

/// Reads an entry back: its host, its clock and the medians of its tables.
fn parse(entry: &str) -> Option<Entry> {
    let title = entry.lines().next()?;
    let (_, host) = title.rsplit_once("host ")?;
    let clock = if entry.contains("; cpu clock;") { "cpu" } else { "wall" };
    let mut medians = Vec::new();
    for line in entry.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        if let (Some(name), Some(median)) = (cells.first(), cells.get(1))
            && let Ok(median) = median.replace(',', "").parse::<f64>()
        {
            medians.push(((*name).to_owned(), median));
        }
    }
    Some(Entry { host: host.trim().to_owned(), clock: clock.to_owned(), medians })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::sample_report;

    fn appended(log: &str, report: &Report) -> String {
        append(log, "cynic", report, &report.suites.iter().collect::<Vec<_>>(), "")
    }

    #[test]
    fn entries_are_newest_first_and_compare_with_the_same_host() {
        let first = sample_report();
        let mut second = first.clone();
        second.unix_time += 86_400;
        second.revision = "fedcba9876".into();
        if let Some(Cell::Measured(figures)) = second.suites[0].rows[1].cells.get_mut(0) {
            figures.summary.median = 12.5;
        }
        let one = appended("", &first);
        assert!(one.starts_with("# cynic: recorded runs\n"));
        assert!(one.contains(NO_COMPARISON));
        assert!(one.contains("| arith | 10.0 | 9.00 | 11.0 | 4096 | - |"), "{one}");
        let two = appended(&one, &second);
        assert!(two.contains("| arith | 12.5 | 9.00 | 11.0 | 4096 | +25.0% |"), "{two}");
        assert!(two.find("fedcba9876").unwrap() < two.find("0123456789").unwrap());
        assert_eq!(two.matches("# cynic: recorded runs").count(), 1);
    }

    #[test]
    fn another_host_is_not_compared() {
        let log = appended("", &sample_report());
        let mut other = sample_report();
        other.machine.host = "ffffffff".into();
        assert!(comparison_note(&log, &other).unwrap().contains("are not compared"));
        assert_eq!(comparison_note(&log, &sample_report()), None);
        let two = appended(&log, &other);
        assert!(!two.contains("+0.0%") && two.matches(NO_COMPARISON).count() == 2);
        // A third entry of the first host looks past the other host's.
        assert!(appended(&two, &sample_report()).contains("+0.0%"));
    }

    #[test]
    fn clocks_are_not_mixed() {
        let log = appended("", &sample_report());
        let mut other = sample_report();
        other.clock = crate::model::Clock::Cpu;
        assert!(!appended(&log, &other).contains("+0.0%"));
    }

    #[test]
    fn failures_are_recorded_and_read_back_as_nothing() {
        let mut report = sample_report();
        report.suites[0].rows[1].cells[0] = Cell::Disqualified { reason: "a | b".into() };
        let log = appended("", &report);
        assert!(log.contains("| arith | failed | - | - | - | a \\| b |"));
        let entry = log.split(ENTRY).skip(1).find_map(parse).unwrap();
        assert!(entry.medians.iter().all(|(name, _)| name != "arith"));
    }
}
