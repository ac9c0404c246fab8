//! Medians, spreads, geometric means and slopes. Pure functions over slices of finite numbers.

use serde::{Deserialize, Serialize};

/// Location and spread of one row's samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Summary {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// Distance between the quartiles as a fraction of the median.
    pub(crate) spread: f64,
}

impl Summary {
    /// The summary of `samples`; none of an empty slice.
    pub(crate) fn of(samples: &[f64]) -> Option<Summary> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let median = quantile(&sorted, 0.5);
        let quartiles = quantile(&sorted, 0.75) - quantile(&sorted, 0.25);
        let spread = if median.abs() > 0.0 { quartiles / median.abs() } else { 0.0 };
        Some(Summary { median, min, max, spread })
    }
}

/// Linear interpolation between the order statistics of a sorted slice that is not empty.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let at = q * last as f64;
    let low = at.floor() as usize;
    let high = (low + 1).min(last);
    match (sorted.get(low), sorted.get(high)) {
        (Some(a), Some(b)) => a + (b - a) * (at - low as f64),
        _ => 0.0,
    }
}

/// The geometric mean; none when there is nothing positive to average.
pub(crate) fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|v| *v <= 0.0 || !v.is_finite()) {
        return None;
    }
    let logs: f64 = values.iter().map(|v| v.ln()).sum();
    Some((logs / values.len() as f64).exp())
}

/// Least-squares slope of log(y) over log(x), the exponent of a power law; none with fewer than two usable points.
pub(crate) fn log_log_slope(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> =
        points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0).map(|(x, y)| (x.ln(), y.ln())).collect();
    if logs.len() < 2 {
        return None;
    }
    let n = logs.len() as f64;
    let (mean_x, mean_y) =
        (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let covariance: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    (variance > 0.0).then(|| covariance / variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_of_odd_and_even_counts() {
        let odd = Summary::of(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!((odd.median, odd.min, odd.max), (2.0, 1.0, 3.0));
        assert!((odd.spread - 0.5).abs() < 1e-12);
        assert_eq!(Summary::of(&[1.0, 2.0, 3.0, 4.0]).unwrap().median, 2.5);
        assert_eq!(Summary::of(&[7.0]).unwrap().spread, 0.0);
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn geometric_mean_needs_positive_values() {
        assert!((geometric_mean(&[1.0, 4.0]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
    }

    #[test]
    fn slope_is_the_exponent() {
        let quadratic = [(1.0, 3.0), (10.0, 300.0), (100.0, 30_000.0)];
        assert!((log_log_slope(&quadratic).unwrap() - 2.0).abs() < 1e-9);
        let linear = [(1.0, 5.0), (10.0, 50.0)];
        assert!((log_log_slope(&linear).unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(log_log_slope(&[(1.0, 5.0), (10.0, 0.0)]), None);
        assert_eq!(log_log_slope(&[(1.0, 5.0), (1.0, 6.0)]), None);
    }
}
