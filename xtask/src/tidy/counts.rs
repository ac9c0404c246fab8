//! Figures in documents that follow from files of the tree: how many cases of a suite pass is the number of its cases without those on the list;
//! which Rust is needed is what the root manifest says.

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
    problems.extend(compiler(tree)?);
    Ok(problems)
}

/// Files that say which Rust is needed, each in its own words around the number.
const COMPILERS: [(&str, &str); 3] = [
    ("rust-toolchain.toml", "channel = \"@.0\""),
    ("README.md", "Rust @ or newer"),
    ("Makefile", "install Rust @ or newer"),
];

/// They all say what `rust-version` in the root manifest says.
fn compiler(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let read = |name: &str| {
        std::fs::read_to_string(tree.workspace.root.join(name)).map_err(|error| format!("{name}: {error}"))
    };
    let manifest = read("Cargo.toml")?;
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let version = version.unwrap_or_default().trim_matches('"');
    let mut problems = Vec::new();
    for (file, words) in COMPILERS {
        let wanted = words.replace('@', version);
        if !read(file)?.contains(&wanted) {
            problems.push(format!("{file} must say '{wanted}', which is the rust-version of Cargo.toml"));
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
