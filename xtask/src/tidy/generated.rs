//! Documents that are made from tables: each is a pair of a path and a function that writes its text. The check compares
//! the committed text with what the table gives now; `cargo xtask tidy --write` renews it.

use super::{Tree, runs};

type Generator = fn(&Tree<'_>) -> Result<String, String>;

const DOCUMENTS: &[(&str, Generator)] = &[
    ("docs/dependencies.md", dependencies),
    ("docs/unsafe.md", unsafe_homes),
    ("docs/benchmarks.md", runs::page),
    ("docs/images/benchmarks.svg", runs::picture),
];

/// Says which documents are not what their table gives.
pub(super) fn check(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for (path, generate) in DOCUMENTS {
        let committed = std::fs::read_to_string(tree.workspace.root.join(path)).unwrap_or_default();
        if committed != generate(tree)? {
            problems.push(format!("{path} is not current: run `cargo xtask tidy --write` and commit it"));
        }
    }
    Ok(problems)
}

/// Writes every generated document.
pub(super) fn write(tree: &Tree<'_>) -> Result<(), String> {
    for (path, generate) in DOCUMENTS {
        let full = tree.workspace.root.join(path);
        std::fs::write(&full, generate(tree)?).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}

/// The third-party crates with their reasons, from the root manifest.
fn dependencies(tree: &Tree<'_>) -> Result<String, String> {
    let manifest =
        std::fs::read_to_string(tree.workspace.root.join("Cargo.toml")).map_err(|error| error.to_string())?;
    let table = manifest.split("[workspace.dependencies]").nth(1).unwrap_or("");
    let table = table.split("\n[").next().unwrap_or("");
    let mut rows = Vec::new();
    let mut reason = String::new();
    for line in table.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix('#') {
            reason = comment.trim().to_string();
        } else if let Some((name, value)) = line.split_once('=')
            && !value.contains("path =")
        {
            rows.push(format!("| `{}` | {} |", name.trim(), reason));
        }
    }
    rows.sort();
    Ok(format!(
        "# Dependencies\n\nMade from `[workspace.dependencies]` in `Cargo.toml` by `cargo xtask tidy --write`; do not edit.\n\n\
         | crate | why it is here |\n|---|---|\n{}\n",
        rows.join("\n")
    ))
}

/// The homes of unsafe code with their reasons, from `xtask/tidy.toml`.
fn unsafe_homes(tree: &Tree<'_>) -> Result<String, String> {
    let homes = tree.rule("unsafe", "homes").and_then(toml::Value::as_array);
    let mut text = String::from(
        "# Homes of unsafe code\n\nMade from `xtask/tidy.toml` by `cargo xtask tidy --write`; do not edit. Unsafe code stands nowhere else;\n\
         each block names the invariant that makes it sound and who upholds it.\n\n| home | why |\n|---|---|\n",
    );
    for home in homes.into_iter().flatten() {
        let field = |key: &str| home.get(key).and_then(toml::Value::as_str).unwrap_or("");
        text.push_str(&format!("| `{}` | {} |\n", field("path"), field("reason")));
    }
    Ok(text)
}
