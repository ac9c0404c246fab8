//! `docs/images/benchmarks.svg`: a bar per peer, how many times ahead of it we are in the geometric mean, on a logarithmic
//! scale with a line at 1. Readable on light and dark ground; the same figures stand as text beside the bars.

use std::fmt::Write as _;

use super::{Row, Suite, mean, times};

const WIDTH: f64 = 860.0;
const LEFT: f64 = 150.0;
const RIGHT: f64 = 70.0;
const BAR: f64 = 20.0;
const TITLE: f64 = 34.0;

const STYLE: &str = "\
text{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1d2430}.soft{fill:#667080}.title{font-weight:600}\
.one{stroke:#667080}.ahead{fill:#0a7d4b}.behind{fill:#c2570c}\
@media(prefers-color-scheme:dark){text{fill:#e6e9ee}.soft{fill:#98a2b3}.one{stroke:#98a2b3}.ahead{fill:#4cc38a}.behind{fill:#ff9b6a}}";

pub(super) fn draw(suites: &[Suite]) -> String {
    let bars: Vec<(&Suite, Vec<(&str, f64)>)> = suites.iter().map(|suite| (suite, means(suite))).collect();
    let values = || bars.iter().flat_map(|(_, bars)| bars.iter().map(|(_, value)| *value));
    let low = values().fold(1.0_f64, f64::min).log10();
    let high = values().fold(1.0_f64, f64::max).log10().max(low + 1e-9);
    let place = |value: f64| LEFT + (value.log10() - low) / (high - low) * (WIDTH - LEFT - RIGHT);
    let one = place(1.0);
    let mut body = String::new();
    let mut y = 24.0;
    let _ = write!(
        body,
        "<text class=\"soft\" x=\"{LEFT}\" y=\"{y}\">times ahead of each peer, geometric mean of all rows (logarithmic; the line is 1)</text>"
    );
    for (suite, bars) in &bars {
        y += TITLE;
        let _ = write!(
            body,
            "<text class=\"title\" x=\"12\" y=\"{y:.0}\">{}: {}</text>",
            escape(&suite.title),
            escape(&suite.subject)
        );
        let top = y + 8.0;
        y += 6.0;
        for (peer, value) in bars {
            let (from, to) = (one.min(place(*value)), one.max(place(*value)));
            let class = if *value >= 1.0 { "ahead" } else { "behind" };
            let _ = write!(
                body,
                "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}</text><rect class=\"{class}\" x=\"{from:.1}\" y=\"{:.0}\" width=\"{:.1}\" height=\"13\" rx=\"2\"/><text class=\"soft\" x=\"{:.1}\" y=\"{:.0}\">{}</text>",
                LEFT - 10.0,
                y + 15.0,
                escape(peer),
                y + 4.0,
                (to - from).max(1.5),
                to + 7.0,
                y + 15.0,
                times(*value)
            );
            y += BAR;
        }
        let _ = write!(
            body,
            "<line class=\"one\" x1=\"{one:.1}\" x2=\"{one:.1}\" y1=\"{top:.0}\" y2=\"{:.0}\"/>",
            y + 2.0
        );
    }
    let height = y + 20.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"how many times ahead of its peers each part is\" \
         viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" height=\"{height:.0}\"><style>{STYLE}</style>{body}</svg>\n"
    )
}

/// Each peer's mean over all rows; the floor of a suite is no peer.
fn means(suite: &Suite) -> Vec<(&str, f64)> {
    let rows: Vec<&Row> = suite.rows.iter().collect();
    let bar = |(at, (name, _)): (usize, &'_ (String, String))| Some((at, name.clone(), mean(&rows, at)?));
    let mut bars: Vec<(usize, String, f64)> = suite.peers.iter().enumerate().filter_map(bar).collect();
    bars.retain(|(_, name, _)| name != "floor");
    bars.into_iter().map(|(at, _, value)| (suite.peers[at].0.as_str(), value)).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::tests::suite;
    use super::*;

    #[test]
    fn a_bar_and_a_figure_for_each_peer() {
        let svg = draw(&[suite()]);
        assert_eq!(svg.matches("<rect").count(), 1);
        assert!(svg.contains("peer&lt;1&gt;") && svg.contains(">8.00<") && svg.contains("class=\"ahead\""));
        assert!(draw(&[]).ends_with("</svg>\n"));
    }
}
