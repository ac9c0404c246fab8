//! Unsafe code stands only in its named homes, and every crate that has none of them forbids it.

use std::path::Path;

use super::Tree;
use super::source::code_only;

/// The check: no `unsafe` outside the homes; crate roots without a home carry `#![forbid(unsafe_code)]`.
pub(super) fn check(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let homes = tree.declared_paths("unsafe", "homes");
    let mut problems = Vec::new();
    for (file, text) in tree.texts(&["rs"]) {
        let code = code_only(&text);
        let at_home = homes.iter().any(|home| file.starts_with(Path::new(home)));
        if !at_home && let Some(line) = code.lines().position(has_unsafe) {
            problems.push(format!(
                "{}:{}: unsafe code outside its named homes: move it into one, or name the file in xtask/tidy.toml and in ARCHITECTURE.md with the reason",
                file.display(),
                line + 1
            ));
        }
        let crate_root = file.ends_with("src/lib.rs") || file.ends_with("src/main.rs");
        let crate_folder = file.parent().unwrap_or(Path::new(""));
        let houses = homes.iter().any(|home| Path::new(home).starts_with(crate_folder));
        if crate_root && !houses && !at_home && !code.contains("#![forbid(unsafe_code)]") {
            problems.push(format!(
                "{} has no unsafe home below it: add `#![forbid(unsafe_code)]`",
                file.display()
            ));
        }
    }
    Ok(problems)
}

fn has_unsafe(line: &str) -> bool {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == "unsafe")
}
