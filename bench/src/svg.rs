//! Two kinds of plot as SVG text: dots on a logarithmic scale, one row per bench; lines in log-log scale.

use crate::html::escape;
use std::fmt::Write as _;

/// One contestant's values, one for each row of the plot.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) values: Vec<Option<f64>>,
}

/// A log-log plot of a few series.
pub(crate) struct LinePlot {
    pub(crate) title: String,
    pub(crate) series: Vec<(String, Vec<(f64, f64)>)>,
}

/// Distinguishable on light and dark ground, for people who confuse red and green too.
const COLOURS: [&str; 9] =
    ["#3b82f6", "#e69f00", "#10a37f", "#d55e96", "#8b5cf6", "#56b4e9", "#a3763d", "#e4572e", "#7f8ea3"];

fn colour(at: usize) -> &'static str {
    COLOURS.get(at % COLOURS.len()).copied().unwrap_or("#888")
}

/// A linear map from log10 values to pixels.
struct LogAxis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl LogAxis {
    /// Whole decades around the positive `values`.
    fn around(values: impl Iterator<Item = f64>, from: f64, to: f64) -> LogAxis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| *value > 0.0 && value.is_finite()) {
            low = low.min(value.log10().floor());
            high = high.max(value.log10().ceil());
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if low == high {
            high += 1.0;
        }
        LogAxis { low, high, from, to }
    }

    fn place(&self, value: f64) -> f64 {
        let share = (value.max(1e-12).log10() - self.low) / (self.high - self.low);
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    fn decades(&self) -> impl Iterator<Item = f64> {
        (self.low as i32..=self.high as i32).map(|exponent| 10f64.powi(exponent))
    }
}

fn decade_label(value: f64) -> String {
    if value >= 1.0 { format!("{value:.0}") } else { format!("{value}") }
}

/// One line of dots per row, a legend on top, a strong line at 1.
pub(crate) fn dot_plot(rows: &[String], series: &[Series]) -> String {
    const LEFT: f64 = 150.0;
    const WIDTH: f64 = 1000.0;
    const ROW: f64 = 24.0;
    const TOP: f64 = 50.0;
    let bottom = TOP + ROW * rows.len() as f64;
    let values = series.iter().flat_map(|s| s.values.iter().flatten().copied()).chain([1.0]);
    let axis = LogAxis::around(values, LEFT, WIDTH - 20.0);
    let mut svg = format!(
        "<svg role=img viewBox=\"0 0 {WIDTH} {:.0}\" width={WIDTH} height={:.0}>",
        bottom + 30.0,
        bottom + 30.0
    );
    legend(&mut svg, &series.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), LEFT, 16.0, WIDTH);
    for decade in axis.decades() {
        let x = axis.place(decade);
        let class = if decade == 1.0 { "axis" } else { "grid" };
        let _ = write!(svg, "<line class={class} x1={x:.1} x2={x:.1} y1={TOP:.1} y2={bottom:.1} />");
        let _ = write!(
            svg,
            "<text class=soft x={x:.1} y={:.1} text-anchor=middle>{}</text>",
            bottom + 18.0,
            decade_label(decade)
        );
    }
    for (at, row) in rows.iter().enumerate() {
        let y = TOP + ROW * (at as f64 + 0.5);
        let _ =
            write!(svg, "<text x={:.1} y={:.1} text-anchor=end>{}</text>", LEFT - 10.0, y + 4.0, escape(row));
        let _ = write!(svg, "<line class=grid x1={LEFT:.1} x2={:.1} y1={y:.1} y2={y:.1} />", WIDTH - 20.0);
        for (index, one) in series.iter().enumerate() {
            if let Some(value) = one.values.get(at).copied().flatten() {
                let _ = write!(
                    svg,
                    "<circle cx={:.1} cy={y:.1} r=5.5 fill=\"{}\"><title>{} on {}: {value:.2}</title></circle>",
                    axis.place(value),
                    colour(index),
                    escape(&one.name),
                    escape(row)
                );
            }
        }
    }
    svg + "</svg>"
}

/// A small log-log plot with its legend.
pub(crate) fn line_plot(plot: &LinePlot) -> String {
    const WIDTH: f64 = 330.0;
    const HEIGHT: f64 = 200.0;
    let points = || plot.series.iter().flat_map(|(_, points)| points.iter());
    let x_axis = LogAxis::around(points().map(|p| p.0), 50.0, WIDTH - 15.0);
    let y_axis = LogAxis::around(points().map(|p| p.1), HEIGHT - 10.0, 30.0);
    let height = HEIGHT + 30.0 + 16.0 * plot.series.len() as f64;
    let mut svg =
        format!("<svg role=img viewBox=\"0 0 {WIDTH} {height:.0}\" width={WIDTH} height={height:.0}>");
    let _ = write!(svg, "<text x=10 y=16 font-weight=bold>{}</text>", escape(&plot.title));
    for decade in x_axis.decades() {
        let x = x_axis.place(decade);
        let _ = write!(svg, "<line class=grid x1={x:.1} x2={x:.1} y1=30 y2={:.1} />", HEIGHT - 10.0);
        let _ = write!(
            svg,
            "<text class=soft x={x:.1} y={:.1} text-anchor=middle>x{}</text>",
            HEIGHT + 6.0,
            decade_label(decade)
        );
    }
    for decade in y_axis.decades() {
        let y = y_axis.place(decade);
        let _ = write!(svg, "<line class=grid x1=50 x2={:.1} y1={y:.1} y2={y:.1} />", WIDTH - 15.0);
        let _ = write!(
            svg,
            "<text class=soft x=44 y={:.1} text-anchor=end>{} ms</text>",
            y + 4.0,
            decade_label(decade)
        );
    }
    for (index, (name, points)) in plot.series.iter().enumerate() {
        let path: Vec<String> =
            points.iter().map(|(x, y)| format!("{:.1},{:.1}", x_axis.place(*x), y_axis.place(*y))).collect();
        let stroke = colour(index);
        let _ = write!(
            svg,
            "<polyline points=\"{}\" fill=none stroke=\"{stroke}\" stroke-width=2 />",
            path.join(" ")
        );
        for (x, y) in points {
            let (cx, cy) = (x_axis.place(*x), y_axis.place(*y));
            let _ = write!(
                svg,
                "<circle cx={cx:.1} cy={cy:.1} r=3.5 fill=\"{stroke}\"><title>{y:.1} ms</title></circle>"
            );
        }
        let y = HEIGHT + 26.0 + 16.0 * index as f64;
        let _ = write!(
            svg,
            "<circle cx=56 cy={:.1} r=4.5 fill=\"{stroke}\" /><text x=66 y={y:.1}>{}</text>",
            y - 4.0,
            escape(name)
        );
    }
    svg + "</svg>"
}

fn legend(svg: &mut String, names: &[&str], left: f64, y: f64, width: f64) {
    let (mut x, mut y) = (left, y);
    for (index, name) in names.iter().enumerate() {
        let advance = 30.0 + 7.5 * name.chars().count() as f64;
        if x + advance > width {
            x = left;
            y += 18.0;
        }
        let _ = write!(svg, "<circle cx={x:.1} cy={:.1} r=5.5 fill=\"{}\" />", y - 4.0, colour(index));
        let _ = write!(svg, "<text x={:.1} y={y:.1}>{}</text>", x + 10.0, escape(name));
        x += advance;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_axis_covers_whole_decades() {
        let axis = LogAxis::around([0.5, 30.0].into_iter(), 0.0, 300.0);
        assert_eq!((axis.low, axis.high), (-1.0, 2.0));
        assert!((axis.place(1.0) - 100.0).abs() < 1e-9);
        assert_eq!(axis.decades().count(), 4);
        let empty = LogAxis::around(std::iter::empty(), 0.0, 1.0);
        assert!(empty.place(5.0).is_finite());
    }

    #[test]
    fn one_dot_for_each_value() {
        let series = [Series { name: "a".into(), values: vec![Some(2.0), None] }];
        let svg = dot_plot(&["x".into(), "y".into()], &series);
        assert_eq!(svg.matches("<title>").count(), 1);
        assert!(svg.ends_with("</svg>"));
    }
}
