//! Rules on single files: the header, the length, and no path of anybody's machine.

use super::Tree;

/// A line that carries this marker may name a machine path (a test of `~root`, say).
const PATH_ALLOWED: &str = "tidy-allow: path";
/// First components of absolute paths that belong to one machine.
const MACHINE_ROOTS: &[&str] = &["home", "root", "work", "Users"];

/// Every Rust file opens with `//!`, every Python file with a docstring, every shell script says what it is after its first line.
pub(super) fn headers(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for (file, text) in tree.texts(&["rs", "py", "pyi"]) {
        let rust = file.extension().is_some_and(|e| e == "rs");
        let mut lines =
            text.lines().map(str::trim_start).skip_while(|line| line.is_empty() || line.starts_with("#!"));
        let first = lines.find(|line| rust || !line.starts_with('#')).unwrap_or("");
        let good = if rust {
            first.starts_with("//!")
        } else {
            first.is_empty() || first.starts_with("\"\"\"") || first.starts_with("r\"\"\"")
        };
        if !good {
            let wanted = if rust { "`//!` lines" } else { "a docstring" };
            problems.push(format!(
                "{} must open with {wanted}: what it owns, its invariant, what it leaves to others",
                file.display()
            ));
        }
    }
    Ok(problems)
}

/// No file is longer than the limit, but for declared tables.
pub(super) fn length(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let limit = tree.rule("files", "lines_max").and_then(toml::Value::as_integer).unwrap_or(1200) as usize;
    let tables = tree.declared_paths("files", "tables");
    let mut problems = Vec::new();
    for (file, text) in tree.texts(&["rs", "py"]) {
        let lines = text.lines().count();
        let name = file.to_string_lossy();
        if lines > limit && !tables.iter().any(|table| table.as_str() == name) {
            problems.push(format!(
                "{name} has {lines} lines (at most {limit}): split it by concept, or, if it is a table, declare it in xtask/tidy.toml with the reason"
            ));
        }
    }
    Ok(problems)
}

/// What `tidy.toml` declares must still exist, so that the lists do not rot.
pub(super) fn declared_entries_exist(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for (section, key) in [("files", "tables"), ("unsafe", "homes")] {
        for path in tree.declared_paths(section, key) {
            if !tree.workspace.root.join(&path).exists() {
                problems.push(format!("xtask/tidy.toml names {path}, which is gone: delete the entry"));
            }
        }
    }
    Ok(problems)
}

/// No absolute path of one person's machine.
pub(super) fn machine_paths(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    let extensions = ["rs", "py", "pyi", "toml", "md", "sh", "js", "mjs", "ts", "c", "json", "yml", "txt"];
    for (file, text) in tree.texts(&extensions) {
        for (index, line) in text.lines().enumerate() {
            if let Some(path) = machine_path(line).filter(|_| !line.contains(PATH_ALLOWED)) {
                problems.push(format!(
                    "{}:{}: '{path}' is a path of one machine: take it from a parameter or the environment, or mark the line `{PATH_ALLOWED}` when it is an example by intent",
                    file.display(),
                    index + 1
                ));
            }
        }
    }
    Ok(problems)
}

fn machine_path(line: &str) -> Option<String> {
    for root in MACHINE_ROOTS {
        let wanted = format!("/{root}/");
        for (at, _) in line.match_indices(&wanted) {
            let before = line[..at].chars().next_back();
            let rest = &line[at + wanted.len()..];
            let absolute = !before.is_some_and(|c| c.is_alphanumeric() || "._-~/}>)$*".contains(c));
            if absolute && rest.starts_with(|c: char| c.is_alphanumeric() || c == '.') {
                let end = rest.find(|c: char| c.is_whitespace() || "\"'`)".contains(c)).unwrap_or(rest.len());
                return Some(format!("{wanted}{}", &rest[..end]));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::machine_path;

    #[test]
    fn absolute_machine_paths_are_seen_and_relative_ones_are_not() {
        let slash = '/';
        assert!(machine_path(&format!("see {slash}home/ada/x.rs")).is_some());
        assert!(machine_path(&format!("\"{slash}work/main\"")).is_some());
        assert!(machine_path("src/home/page.rs and $HOME/work/x").is_none());
        assert!(machine_path("the /home/ folder").is_none());
    }
}
