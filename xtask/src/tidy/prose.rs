//! Rules on the text of Markdown pages: lines of at most 120 columns (`tidy --write` wraps longer ones), and no dates or revisions outside the
//! pages of measurements, where a reader would take what was once measured for what is.

use super::Tree;

/// The widest line of text. Tables, code and single long words are as wide as they are.
const COLUMNS_MAX: usize = 120;
/// Pages that say when something was measured, by how their path begins: they are about that.
const DATED: [&str; 6] =
    ["docs/measurements/", "docs/benchmarks.md", "bench/", "CHANGELOG.md", "issues/", "docs/dependencies.md"];

/// Pages that a program writes as it likes.
const GENERATED: [&str; 3] = ["docs/benchmarks.md", "docs/dependencies.md", "cynic/conformance/"];

/// The pages whose text people wrap.
fn pages<'t>(tree: &'t Tree<'_>) -> impl Iterator<Item = (&'t std::path::PathBuf, String)> + 't {
    let generated = |file: &std::path::Path| GENERATED.iter().any(|page| file.starts_with(page));
    tree.texts(&["md"]).filter(move |(file, _)| !generated(file))
}

/// Lines that are too wide.
pub(super) fn width(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let wide = |text: &str| text != wrapped(text);
    let problem = |file: &std::path::Path| {
        format!("{}: text of more than {COLUMNS_MAX} columns; run `cargo xtask tidy --write`", file.display())
    };
    Ok(pages(tree).filter(|(_, text)| wide(text)).map(|(file, _)| problem(file)).collect())
}

/// Wraps what is too wide.
pub(super) fn write(tree: &Tree<'_>) -> Result<(), String> {
    for (file, text) in pages(tree) {
        let narrow = wrapped(&text);
        if narrow != text {
            let path = tree.workspace.root.join(file);
            std::fs::write(&path, narrow).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

/// Dates and revisions in pages that say what is.
pub(super) fn dates(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for (file, text) in tree.texts(&["md"]) {
        let path = file.to_string_lossy();
        let reference = path.starts_with("docs/") || !path.contains('/');
        if !reference || DATED.iter().any(|dated| path.starts_with(dated)) {
            continue;
        }
        for (line, found) in dated(&text) {
            problems.push(format!(
                "{path}:{line}: '{found}': what was measured once belongs to docs/measurements, with its date; here stands what is"
            ));
        }
    }
    Ok(problems)
}

/// Words outside code and links that are a date, or the number of a revision after that word.
fn dated(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced {
            continue;
        }
        let outside_code = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        let mut before = "";
        for word in outside_code.split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            let revision = before.starts_with("revision")
                && bare.len() >= 7
                && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
            if revision || is_date(bare) && !word.contains("](") {
                found.push((index + 1, bare.to_owned()));
            }
            before = bare;
        }
    }
    found
}

/// `2026-01-31`.
fn is_date(word: &str) -> bool {
    let form =
        |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    word.len() == 10 && word.starts_with("20") && word.bytes().enumerate().all(form)
}

/// The text with each paragraph and list item that is too wide wrapped.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut unit: Vec<&str> = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        let begins = marker(line).is_some();
        let apart = fence || fenced || stands_alone(line);
        if apart || begins {
            flush(&mut unit, &mut out);
        }
        fenced ^= fence;
        if apart {
            out.push_str(line);
            out.push('\n');
        } else {
            unit.push(line);
        }
    }
    flush(&mut unit, &mut out);
    if !text.ends_with('\n') {
        out.pop();
    }
    out
}

/// Blank lines, headings, tables, HTML, quotations.
fn stands_alone(line: &str) -> bool {
    let start = line.trim_start();
    start.is_empty()
        || start.starts_with(['#', '|', '<', '>'])
        || line.starts_with("    ") && marker(line).is_none()
}

/// The width of a list item's marker with the blanks around it.
fn marker(line: &str) -> Option<usize> {
    let start = line.trim_start();
    let indent = line.len() - start.len();
    let digits = start.bytes().take_while(u8::is_ascii_digit).count();
    let length = match start.as_bytes() {
        [b'-' | b'*' | b'+', b' ', ..] => 2,
        bytes if digits > 0 && bytes.get(digits..digits + 2) == Some(b". ") => digits + 2,
        _ => return None,
    };
    Some(indent + length)
}

fn flush(unit: &mut Vec<&str>, out: &mut String) {
    let lines = std::mem::take(unit);
    let Some(first) = lines.first() else { return };
    let wide = |line: &&str| line.chars().count() > COLUMNS_MAX;
    // Two blanks at a line's end are a break of the line.
    if !lines.iter().any(wide) || lines.iter().any(|line| line.ends_with("  ")) {
        lines.iter().for_each(|line| out.extend([line, "\n"]));
        return;
    }
    let indent = marker(first).unwrap_or_else(|| first.len() - first.trim_start().len());
    let lead = first.get(..indent).unwrap_or("");
    let text = lines.iter().enumerate().map(|(at, line)| if at == 0 { &line[indent..] } else { line.trim() });
    let text = text.collect::<Vec<_>>().join(" ");
    let mut line = lead.to_owned();
    let mut empty = true;
    for piece in pieces(&text) {
        if !empty && line.chars().count() + 1 + piece.chars().count() > COLUMNS_MAX {
            out.extend([line.as_str(), "\n"]);
            line = " ".repeat(indent);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(&piece);
        empty = false;
    }
    out.extend([line.as_str(), "\n"]);
}

/// Words that may be torn apart: code stays in one line, and so does the target of a link; a word that would begin a list, a heading or a table stays
/// with the one before it.
fn pieces(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut open = false;
    for word in text.split_whitespace() {
        let starts_something = word.starts_with(['#', '|', '>', '<'])
            || matches!(word, "-" | "*" | "+" | "=" | "---" | "===")
            || word
                .strip_suffix('.')
                .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
        match found.last_mut() {
            Some(last) if open || starts_something => {
                last.push(' ');
                last.push_str(word);
            }
            _ => found.push(word.to_owned()),
        }
        open ^= word.bytes().filter(|byte| *byte == b'`').count() % 2 == 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS_MAX, dated, wrapped};

    #[test]
    fn wide_text_is_wrapped_and_means_the_same() {
        let long = "word ".repeat(60);
        let text = format!(
            "# {long}\n\n{long}`code with {long}` end\n\n- {long}\n  more\n- short\n1. {long}\n\n| {long} |\n\n```\n{long}\n```\n"
        );
        let narrow = wrapped(&text);
        assert_eq!(wrapped(&narrow), narrow, "wrapping twice is wrapping once");
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(plain(&narrow), plain(&text));
        let exempt = |line: &str| line.starts_with(['#', '|']) || line.contains('`');
        let wide: Vec<&str> =
            narrow.lines().filter(|line| line.len() > COLUMNS_MAX && !exempt(line)).collect();
        assert_eq!(wide, [long.as_str()], "what is in a fence stays");
        assert!(narrow.contains("\n  word word"), "items keep their indent: {narrow}");
    }

    #[test]
    fn what_would_begin_something_else_begins_no_line() {
        let filler = "x".repeat(117);
        for word in ["-", "*", "#1", "|", "1.", ">"] {
            let narrow = wrapped(&format!("{filler} a {word} b\n"));
            assert!(narrow.lines().all(|line| !line.trim_start().starts_with(word)), "{narrow}");
        }
    }

    #[test]
    fn dates_are_found_outside_code() {
        let text = "as of 2026-01-31.\n`2026-01-31`\n```\n2026-01-31\n```\n[run](runs/2026-01-31.json)\nat revision 0a1b2c3 it\n";
        let found: Vec<usize> = dated(text).into_iter().map(|(line, _)| line).collect();
        assert_eq!(found, [1, 7]);
    }
}
