//! Two stored runs side by side: how each row of ours changed. Runs of different hosts or clocks are refused.

use crate::model::{Cell, Report};
use crate::table::{figure, ratio_text};
use std::fmt::Write as _;

/// The comparison as text, or why there is none.
pub(crate) fn compare(before: &Report, after: &Report) -> Result<String, String> {
    if before.machine.host != after.machine.host {
        return Err(format!(
            "these runs are of different hosts ({} and {}): their figures say nothing about each other; run both on one machine",
            before.machine.host, after.machine.host
        ));
    }
    if before.clock != after.clock {
        let (a, b) = (before.clock.name(), after.clock.name());
        return Err(format!("these runs use different clocks ({a} and {b}): repeat one with --clock {a}"));
    }
    let mut out =
        format!("{} -> {} (below 1: less time, or a lower rate)\n", before.revision, after.revision);
    for suite in &after.suites {
        let Some(old_suite) = before.suites.iter().find(|old| old.name == suite.name) else { continue };
        for row in &suite.rows {
            let Some(old_row) = old_suite.rows.iter().find(|old| old.name == row.name) else { continue };
            let median = |cells: &[Cell], at: usize| Some(cells.get(at)?.figures()?.summary.median);
            let (Some(old), Some(new)) =
                (median(&old_row.cells, old_suite.subject), median(&row.cells, suite.subject))
            else {
                continue;
            };
            let ratio = ratio_text(new / old.max(1e-12));
            let _ = writeln!(
                out,
                "  {:<12} {:<20} {:>12} -> {:>12} {:<6} {ratio}",
                suite.name,
                row.name,
                figure(old),
                figure(new),
                row.unit.label()
            );
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Clock;
    use crate::table::tests::sample_report;

    #[test]
    fn same_host_only() {
        let (a, mut b) = (sample_report(), sample_report());
        assert!(compare(&a, &b).unwrap().contains("1.00"));
        b.machine.host = "ffffffff".into();
        assert!(compare(&a, &b).unwrap_err().contains("different hosts"));
        b.machine.host.clone_from(&a.machine.host);
        b.clock = Clock::Cpu;
        assert!(compare(&a, &b).unwrap_err().contains("different clocks"));
    }
}
