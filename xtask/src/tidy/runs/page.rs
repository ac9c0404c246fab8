//! `docs/benchmarks.md`: every row of every suite, beside the peers.

use std::fmt::Write as _;

use super::{Row, Suite, mean, times};

const HEAD: &str = "\
# Benchmarks

Made from the newest recorded runs in `bench/runs` by `cargo xtask tidy --write`; do not edit. How a row is measured:
[bench/README.md](../bench/README.md).

The second column is our own figure, the others say **how many times ahead of the peer** we are: above 1 we are ahead, below 1
the peer is, whatever the unit. A dash: the peer has no such program, or answered wrongly. Means are geometric.
";

pub(super) fn write(suites: &[Suite]) -> String {
    let mut out = String::from(HEAD);
    for suite in suites {
        let _ = write!(out, "\n## {}\n\n", suite.title);
        let _ = write!(out, "| {} |", suite.subject);
        out.push_str(" ours |");
        for (peer, _) in &suite.peers {
            let _ = write!(out, " {peer} |");
        }
        let _ = writeln!(out, "\n|---|---|{}", "---|".repeat(suite.peers.len()));
        let mut groups: Vec<&str> = Vec::new();
        for row in &suite.rows {
            if !groups.contains(&row.group.as_str()) {
                groups.push(&row.group);
            }
        }
        for group in groups {
            let rows: Vec<&Row> = suite.rows.iter().filter(|row| row.group == group).collect();
            for row in &rows {
                let ahead: Vec<String> = row.ahead.iter().map(|value| cell(*value)).collect();
                let _ = writeln!(out, "| {} | {} | {} |", row.name, row.figure, ahead.join(" | "));
            }
            if rows.len() > 1 {
                let means: Vec<String> = (0..suite.peers.len()).map(|peer| cell(mean(&rows, peer))).collect();
                let _ = writeln!(out, "| **mean of {group}** | | {} |", means.join(" | "));
            }
        }
        let versions: Vec<String> =
            suite.peers.iter().map(|(name, version)| format!("- {name}: {version}")).collect();
        let _ = write!(
            out,
            "\nRun `{}` ({}, revision {}):\n{}.\n\n{}\n",
            suite.file,
            suite.date,
            suite.revision,
            suite.how,
            versions.join("\n")
        );
    }
    out
}

fn cell(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_string(), times)
}

#[cfg(test)]
mod tests {
    use super::super::tests::suite;
    use super::*;

    #[test]
    fn every_row_and_mean_is_there() {
        let page = write(&[suite()]);
        assert!(page.contains("| a | 2.00 ms | 4.00 |"), "{page}");
        assert!(page.contains("| **mean of g** | | 8.00 |"));
        assert!(page.contains("| c | 12.0 KB | - |"));
    }
}
