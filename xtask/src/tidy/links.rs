//! Every relative link in a Markdown file leads to a file, and its `#fragment` to a heading.

use std::path::Path;

use super::Tree;

/// The check over all tracked Markdown files.
pub(super) fn check(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for (file, text) in tree.texts(&["md"]) {
        for (line, target) in links(&text) {
            if let Some(problem) = broken(&tree.workspace.root, file, &text, &target) {
                problems.push(format!("{}:{line}: link '{target}': {problem}", file.display()));
            }
        }
    }
    Ok(problems)
}

/// The targets of `[text](target)` outside code, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let outside_code: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for (at, _) in outside_code.match_indices("](") {
            let rest = &outside_code[at + 2..];
            if let Some(end) = rest.find(')') {
                found.push((index + 1, rest[..end].trim().to_string()));
            }
        }
    }
    found
}

fn broken(root: &Path, file: &Path, text: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, fragment) = target.split_once('#').unwrap_or((target, ""));
    let linked = root.join(file.parent().unwrap_or(Path::new(""))).join(path);
    if !path.is_empty() && !linked.exists() {
        return Some("no such file; correct the path or remove the link".to_string());
    }
    if fragment.is_empty() || !(path.is_empty() || path.ends_with(".md")) {
        return None;
    }
    let other =
        if path.is_empty() { text.to_string() } else { std::fs::read_to_string(&linked).unwrap_or_default() };
    let has = other.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line) == fragment);
    if has { None } else { Some(format!("no heading makes the anchor '#{fragment}'")) }
}

/// The anchor that a heading gets: lower case, spaces to hyphens, punctuation dropped.
pub(crate) fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    words
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{anchor, links};

    #[test]
    fn links_outside_code_are_found() {
        let found = links("see [a](x.md) and `[b](y.md)`\n```\n[c](z.md)\n```\n[d](#e)");
        assert_eq!(found, vec![(1, "x.md".to_string()), (5, "#e".to_string())]);
        assert_eq!(anchor("## What it must show: all"), "what-it-must-show-all");
    }
}
