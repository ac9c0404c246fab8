//! Figures in documents that follow from files of the tree: how many cases of a suite pass is the number of its cases without those on the list.

use super::Tree;

/// Each suite of `tidy.toml`: the pages that tell how it stands must say so.
pub(super) fn check(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    let suites = tree.rule("documents", "suites").and_then(toml::Value::as_array);
    for suite in suites.into_iter().flatten() {
        let text = |key: &str| suite.get(key).and_then(toml::Value::as_str).unwrap_or("");
        let cases = suite.get("cases").and_then(toml::Value::as_integer).unwrap_or(0) as usize;
        let list = std::fs::read_to_string(tree.workspace.root.join(text("list")))
            .map_err(|error| format!("{}: {error}", text("list")))?;
        let failing = list.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).count();
        let wanted = format!("{} of {}", grouped(cases - failing), grouped(cases));
        let pages = suite.get("pages").and_then(toml::Value::as_array);
        for page in pages.into_iter().flatten().filter_map(toml::Value::as_str) {
            let words = std::fs::read_to_string(tree.workspace.root.join(page)).unwrap_or_default();
            if !words.split_whitespace().collect::<Vec<_>>().join(" ").contains(&wanted) {
                problems.push(format!("{page} must say '{wanted}': so many cases pass by {}", text("list")));
            }
        }
    }
    Ok(problems)
}

/// `12345` as `12,345`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(
            [7, 119, 2_504, 45_138, 1_000_000].map(grouped),
            ["7", "119", "2,504", "45,138", "1,000,000"]
        );
    }
}
