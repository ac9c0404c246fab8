//! The recorded runs of the bench as documents: one page with every row, one picture with the means. Each suite is shown
//! from the newest run that measured it, so that a figure stands in one place and has one answer.

mod page;
mod picture;

use serde_json::Value;

use super::Tree;

/// Where recorded runs lie.
const FOLDER: &str = "bench/runs";

/// A suite as the newest run has it.
struct Suite {
    /// The file of the run.
    file: String,
    /// `YYYY-MM-DD` of the run.
    date: String,
    revision: String,
    /// How it was timed: the clock, the number of runs, the machine.
    how: String,
    title: String,
    subject: String,
    /// Everybody else, with versions, in the order of the run.
    peers: Vec<(String, String)>,
    rows: Vec<Row>,
}

/// One row: the subject's own figure, and how many times it is ahead of each peer (above 1 is better, whatever the unit).
struct Row {
    name: String,
    group: String,
    figure: String,
    ahead: Vec<Option<f64>>,
}

/// The page of every row.
pub(super) fn page(tree: &Tree<'_>) -> Result<String, String> {
    Ok(page::write(&newest(tree)?))
}

/// The picture of the means.
pub(super) fn picture(tree: &Tree<'_>) -> Result<String, String> {
    Ok(picture::draw(&newest(tree)?))
}

/// Every suite, each from the newest run that holds it, in the order of the newest run that holds most.
fn newest(tree: &Tree<'_>) -> Result<Vec<Suite>, String> {
    let folder = tree.workspace.root.join(FOLDER);
    let listing = std::fs::read_dir(&folder).map_err(|error| format!("{FOLDER}: {error}"))?;
    let mut files: Vec<String> =
        listing.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    files.retain(|file| file.ends_with(".json"));
    files.sort();
    let mut found: Vec<(String, Suite)> = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(folder.join(&file)).map_err(|error| format!("{file}: {error}"))?;
        let run: Value = serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
        for suite in run["suites"].as_array().into_iter().flatten() {
            let read = read(&file, &run, suite).ok_or_else(|| format!("{file}: not a recorded run"))?;
            let key = text_of(&suite["name"]);
            match found.iter_mut().find(|(name, _)| *name == key) {
                Some((_, old)) => *old = read,
                None => found.push((key, read)),
            }
        }
    }
    const ORDER: [&str; 5] = ["pithos", "cynic", "rush", "iris-rust", "iris-python"];
    found.sort_by_key(|(name, _)| ORDER.iter().position(|known| known == name).unwrap_or(ORDER.len()));
    Ok(found.into_iter().map(|(_, suite)| suite).collect())
}

fn read(file: &str, run: &Value, suite: &Value) -> Option<Suite> {
    let subject = usize::try_from(suite["subject"].as_u64()?).ok()?;
    let contestants = suite["contestants"].as_array()?;
    let others: Vec<usize> = (0..contestants.len()).filter(|at| *at != subject).collect();
    let rows = suite["rows"].as_array()?.iter().map(|row| read_row(row, subject, &others)).collect();
    let machine = &run["machine"];
    Some(Suite {
        file: file.to_string(),
        date: file.get(..10)?.to_string(),
        revision: text_of(&run["revision"]),
        how: format!(
            "{} clock, {} runs, {} with {} processors, {}",
            text_of(&run["clock"]),
            run["runs"],
            text_of(&machine["cpu"]),
            machine["cpus"],
            text_of(&machine["system"])
        ),
        title: text_of(&suite["title"]),
        subject: text_of(&contestants.get(subject)?["name"]),
        peers: others
            .iter()
            .map(|at| (text_of(&contestants[*at]["name"]), text_of(&contestants[*at]["version"])))
            .collect(),
        rows,
    })
}

fn read_row(row: &Value, subject: usize, others: &[usize]) -> Row {
    let median = |at: usize| row["cells"][at]["summary"]["median"].as_f64().filter(|value| *value > 0.0);
    let unit = row["unit"].as_str().unwrap_or("");
    let ahead = |at: &usize| {
        let ratio = median(subject)? / median(*at)?;
        Some(if unit == "operations_per_second" { ratio } else { 1.0 / ratio })
    };
    Row {
        name: text_of(&row["name"]),
        group: text_of(&row["group"]),
        figure: median(subject).map_or_else(|| "-".to_string(), |value| figure(value, unit)),
        ahead: others.iter().map(ahead).collect(),
    }
}

/// A figure with its unit, to three digits.
fn figure(value: f64, unit: &str) -> String {
    let label = match unit {
        "millis" => "ms",
        "micros_per_operation" => "µs",
        "operations_per_second" => "/s",
        "kilobytes" => "KB",
        other => other,
    };
    match value {
        value if value >= 1e6 => format!("{:.3}M {label}", value / 1e6),
        value if value >= 1e4 => format!("{:.1}k {label}", value / 1e3),
        value if value >= 100.0 => format!("{value:.0} {label}"),
        value if value >= 10.0 => format!("{value:.1} {label}"),
        value => format!("{value:.2} {label}"),
    }
}

/// How many times ahead, as people read it.
fn times(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// The geometric mean over the rows of what the subject is ahead of a peer; nothing when they never met.
fn mean(rows: &[&Row], peer: usize) -> Option<f64> {
    let logs: Vec<f64> =
        rows.iter().filter_map(|row| row.ahead.get(peer).copied().flatten()).map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or("?").to_string()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(super) fn suite() -> Suite {
        let run = serde_json::json!({"revision": "abc", "clock": "wall", "runs": 3,
            "machine": {"cpu": "CPU & co", "cpus": 2, "system": "Linux"}});
        let suite = serde_json::json!({"name": "x", "title": "Things", "subject": 1, "contestants": [
            {"name": "peer<1>", "version": "1"}, {"name": "ours", "version": "2"}], "rows": [
            {"name": "a", "group": "g", "unit": "millis", "cells": [{"summary": {"median": 8.0}}, {"summary": {"median": 2.0}}]},
            {"name": "b", "group": "g", "unit": "operations_per_second", "cells": [{"summary": {"median": 1e6}}, {"summary": {"median": 1.6e7}}]},
            {"name": "c", "group": "h", "unit": "kilobytes", "cells": [{"state": "absent"}, {"summary": {"median": 12.0}}]}]});
        read("2026-01-02-03-04-x.json", &run, &suite).expect("a suite")
    }

    #[test]
    fn ahead_is_above_one_whatever_the_unit() {
        let suite = suite();
        assert_eq!((suite.date.as_str(), suite.subject.as_str()), ("2026-01-02", "ours"));
        let ahead: Vec<_> = suite.rows.iter().map(|row| row.ahead[0]).collect();
        assert_eq!(ahead, [Some(4.0), Some(16.0), None]);
        let rows: Vec<&Row> = suite.rows.iter().collect();
        assert!((mean(&rows, 0).expect("a mean") - 8.0).abs() < 1e-9);
        assert_eq!(mean(&rows[2..], 0), None);
        assert_eq!(suite.rows[1].figure, "16.000M /s");
    }
}
