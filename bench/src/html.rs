//! The run as one self-contained page: plots as SVG, the same figures as tables below them, no scripts, nothing fetched.

use crate::growth::is_steep;
use crate::machine::date_and_time;
use crate::model::{Cell, GrowthResult, Report, RowResult, SuiteResult};
use crate::svg::{LinePlot, Series, dot_plot, line_plot};
use crate::table::{Tone, figure, group_means, ratio, ratio_text, tone};
use std::fmt::Write as _;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1d2430;--soft:#667080;--line:#d8dde5;--page:#fff;--good:#0a7d4b;--bad:#c0392b}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#98a2b3;--line:#333b47;--page:#14181f;--good:#4cc38a;--bad:#ff7b72}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:1080px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{margin-top:2.5rem;font-size:1.2rem}p.meta,figcaption{color:var(--soft)}
figure{margin:1rem 0;overflow-x:auto}svg text{fill:var(--ink);font:12px system-ui,sans-serif}svg .soft{fill:var(--soft)}
svg .grid{stroke:var(--line)}svg .axis{stroke:var(--soft)}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;display:block;overflow-x:auto}
td,th{padding:.2rem .6rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
td:first-child,th:first-child{text-align:left}.good{color:var(--good)}.bad{color:var(--bad)}.dim{color:var(--soft)}
ul.plain{list-style:none;padding:0}.plots{display:flex;flex-wrap:wrap;gap:1rem}";

/// The page.
pub(crate) fn render(report: &Report) -> String {
    let mut body = String::new();
    let machine = &report.machine;
    let _ = write!(
        body,
        "<h1>Pithos and its peers</h1><p class=meta>{} UTC, revision {}, host {}: {}, {} CPUs, {} MB, {}. {} clock, {} runs \
         after one discarded warm-up, interleaved. <code>pithos-bench {}</code></p>",
        date_and_time(report.unix_time),
        escape(&report.revision),
        escape(&machine.host),
        escape(&machine.cpu),
        machine.cpus,
        machine.memory_mb,
        escape(&machine.system),
        report.clock.name(),
        report.runs,
        escape(&report.command)
    );
    for suite in &report.suites {
        render_suite(&mut body, suite);
    }
    if !report.growth.is_empty() {
        render_growth(&mut body, &report.growth);
    }
    format!(
        "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>Pithos bench</title><style>{STYLE}</style></head><body>{body}</body></html>\n"
    )
}

fn render_suite(body: &mut String, suite: &SuiteResult) {
    let others: Vec<usize> = (0..suite.contestants.len()).filter(|at| *at != suite.subject).collect();
    let subject = suite.contestants.get(suite.subject).map_or("?", |contestant| contestant.name.as_str());
    let _ = write!(body, "<h2>{}</h2><ul class=plain>", escape(&suite.title));
    for contestant in &suite.contestants {
        let _ = write!(body, "<li><b>{}</b> {}</li>", escape(&contestant.name), escape(&contestant.version));
    }
    let series: Vec<Series> = others
        .iter()
        .filter_map(|at| Some((at, suite.contestants.get(*at)?)))
        .map(|(at, contestant)| Series {
            name: contestant.name.clone(),
            values: suite.rows.iter().map(|row| advantage(row, suite.subject, *at)).collect(),
        })
        .collect();
    let rows: Vec<String> = suite.rows.iter().map(|row| row.name.clone()).collect();
    let _ = write!(
        body,
        "</ul><figure>{}<figcaption>How many times {subject} is ahead of each peer; right of 1 it is ahead.</figcaption></figure>",
        dot_plot(&rows, &series)
    );
    render_table(body, suite, &others, subject);
}

/// How many times the subject is ahead: above 1 is better whatever the unit.
fn advantage(row: &RowResult, subject: usize, other: usize) -> Option<f64> {
    let ratio = ratio(row, subject, other)?;
    (ratio > 0.0).then(|| if row.unit.higher_is_better() { ratio } else { 1.0 / ratio })
}

fn render_table(body: &mut String, suite: &SuiteResult, others: &[usize], subject: &str) {
    let _ = write!(body, "<table><tr><th>bench<th>{}<th>unit<th>min<th>max<th>rss KB", escape(subject));
    for contestant in others.iter().filter_map(|at| suite.contestants.get(*at)) {
        let _ = write!(body, "<th>{}", escape(&contestant.name));
    }
    for row in &suite.rows {
        let _ = write!(body, "<tr><td>{}", escape(&row.name));
        match row.cells.get(suite.subject).and_then(Cell::figures) {
            Some(own) => {
                let s = own.summary;
                let (median, min, max) = (figure(s.median), figure(s.min), figure(s.max));
                let _ =
                    write!(body, "<td>{median}<td>{}<td>{min}<td>{max}<td>{}", row.unit.label(), own.rss_kb);
            }
            None => {
                let _ = write!(body, "<td class=bad>none<td>{}<td><td><td>", row.unit.label());
            }
        }
        for other in others {
            body.push_str(&table_cell(row, suite.subject, *other));
        }
    }
    for group in groups(suite) {
        let _ = write!(body, "<tr><td class=dim>geomean of {}<td><td><td><td><td>", escape(group));
        for mean in group_means(suite, group, others) {
            let _ = write!(body, "<td>{}", mean.map_or(String::new(), |(mean, _)| ratio_text(mean)));
        }
    }
    body.push_str("</table>");
}

fn groups(suite: &SuiteResult) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for row in &suite.rows {
        let members = suite.rows.iter().filter(|other| other.group == row.group).count();
        if members > 1 && !names.contains(&row.group.as_str()) && suite.name != "iris" {
            names.push(&row.group);
        }
    }
    names
}

fn table_cell(row: &RowResult, subject: usize, other: usize) -> String {
    let class = |tone: Tone| match tone {
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Dim => "dim",
        Tone::Plain => "plain",
    };
    match (ratio(row, subject, other), row.cells.get(other)) {
        (Some(value), Some(Cell::Measured(figures))) => {
            let their = format!("{} {}", figure(figures.summary.median), row.unit.label());
            format!(
                "<td class={} title=\"{}\">{}",
                class(tone(value, row.unit)),
                escape(&their),
                ratio_text(value)
            )
        }
        (None, Some(Cell::Measured(figures))) => {
            format!("<td class=dim>({})", figure(figures.summary.median))
        }
        (_, Some(Cell::Disqualified { reason })) => format!("<td class=dim title=\"{}\">x", escape(reason)),
        _ => "<td class=dim>-".to_owned(),
    }
}

fn render_growth(body: &mut String, growth: &[GrowthResult]) {
    body.push_str("<h2>Growth</h2><p class=meta>Time less start-up over size, both logarithmic. A slope of 1 is linear.</p><div class=plots>");
    let mut shown: Vec<(&str, &str)> = Vec::new();
    for result in growth {
        let key = (result.suite.as_str(), result.workload.as_str());
        if shown.contains(&key) {
            continue;
        }
        shown.push(key);
        let same: Vec<&GrowthResult> =
            growth.iter().filter(|r| (r.suite.as_str(), r.workload.as_str()) == key).collect();
        let series = same.iter().map(|r| {
            let steep = if is_steep(r.time_slope) { " !" } else { "" };
            let slope = r.time_slope.map_or(String::new(), |slope| format!(" {slope:.2}{steep}"));
            let points = r.points.iter().map(|point| (point.factor * 10.0, point.millis)).collect();
            (format!("{}{slope}", r.contestant), points)
        });
        let plot = LinePlot { title: format!("{}: {}", key.0, key.1), series: series.collect() };
        let _ = write!(body, "<figure>{}</figure>", line_plot(&plot));
    }
    body.push_str("</div>");
}

/// Text as HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::sample_report;

    #[test]
    fn the_page_is_self_contained_and_escaped() {
        let mut report = sample_report();
        report.command = "js --filter <b>".into();
        let page = render(&report);
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b>\""));
        assert!(page.contains("<svg") && page.contains("geomean of fixtures"));
        assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("<script"));
        assert!(page.contains("title=\"wrong output\""));
    }

    #[test]
    fn ahead_is_right_of_one_for_times() {
        let report = sample_report();
        assert_eq!(advantage(&report.suites[0].rows[1], 0, 1), Some(4.0));
    }
}
