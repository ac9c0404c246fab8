//! Where inspected values break into lines and columns: node's rules, on finished texts.
//!
//! Pure functions over strings; widths are counted without colour codes.

use unicode_width::UnicodeWidthChar;

/// The width beyond which a value is broken into lines.
pub(super) const BREAK_LENGTH: usize = 80;
/// How many innermost levels may share one line.
const COMPACT: usize = 3;
/// The most columns that array elements are laid out in.
const COLUMNS_MAX: usize = 15;
/// Elements up to this count are never laid out in columns.
const UNGROUPED_MAX: usize = 6;

/// What is between the braces, and around it.
pub(super) struct Parts {
    /// `Foo`, `[Function: f]` or nothing.
    pub(super) base: String,
    /// The opening brace with what precedes it.
    pub(super) open: String,
    /// The closing brace.
    pub(super) close: &'static str,
    /// The entries.
    pub(super) entries: Vec<String>,
    /// Whether these are array elements; and whether they are all numbers, which are aligned to the right.
    pub(super) elements: Option<Alignment>,
    /// Whether the last entry only says how many more there are.
    pub(super) truncated: bool,
}

/// How array elements are aligned in columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Alignment {
    /// Numbers.
    Right,
    /// Anything else.
    Left,
}

/// The printed width of a text.
pub(super) fn width(text: &str) -> usize {
    let mut count = 0;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            characters.by_ref().find(|character| *character == 'm');
        } else {
            count += character.width().unwrap_or(0);
        }
    }
    count
}

/// Puts the parts together, on one line if they are few and short. `levels_below` is how much deeper the nesting went.
pub(super) fn assemble(parts: Parts, indentation: usize, levels_below: usize) -> String {
    let Parts { base, open, close, mut entries, elements, truncated } = parts;
    let count = entries.len();
    if let Some(alignment) = elements.filter(|_| count > UNGROUPED_MAX) {
        entries = group(entries, indentation, alignment, truncated);
    }
    let prefix = if base.is_empty() { String::new() } else { format!("{base} ") };
    if levels_below < COMPACT && entries.len() == count {
        let start = entries.len() + indentation + width(&open) + width(&base) + 10;
        let total = entries.iter().map(|entry| width(entry)).sum::<usize>() + entries.len() + start;
        let multiline = base.contains('\n') || entries.iter().any(|entry| entry.contains('\n'));
        if total <= BREAK_LENGTH && !multiline {
            return format!("{prefix}{open} {} {close}", entries.join(", "));
        }
    }
    let indent = format!("\n{}", " ".repeat(indentation));
    let separator = format!(",{indent}  ");
    format!("{prefix}{open}{indent}  {}{indent}{close}", entries.join(&separator))
}

/// Lays out short elements in columns.
fn group(entries: Vec<String>, indentation: usize, alignment: Alignment, truncated: bool) -> Vec<String> {
    const SEPARATOR: usize = 2;
    let count = entries.len() - usize::from(truncated);
    let widths: Vec<usize> = entries.iter().take(count).map(|entry| width(entry)).collect();
    let longest = widths.iter().copied().max().unwrap_or(0);
    let total: usize = widths.iter().map(|width| width + SEPARATOR).sum();
    let cell = longest + SEPARATOR;
    let worthwhile = total as f64 / cell as f64 > 5.0 || longest <= 6;
    if cell * 3 + indentation >= BREAK_LENGTH || !worthwhile {
        return entries;
    }
    let columns = column_count(cell, total, entries.len(), count, indentation);
    if columns <= 1 {
        return entries;
    }
    let column_widths: Vec<usize> = (0..columns)
        .map(|column| widths.iter().skip(column).step_by(columns).copied().max().unwrap_or(0) + SEPARATOR)
        .collect();
    let mut rows: Vec<String> = Vec::new();
    for (row_entries, row_widths) in entries[..count].chunks(columns).zip(widths.chunks(columns)) {
        rows.push(row(row_entries, row_widths, &column_widths, alignment));
    }
    rows.extend(entries.into_iter().skip(count));
    rows
}

fn column_count(cell: usize, total: usize, entries: usize, count: usize, indentation: usize) -> usize {
    /// How much taller than wide a character is, about.
    const CHARACTER_HEIGHT: f64 = 2.5;
    let bias = (cell as f64 - total as f64 / entries as f64).max(0.0).sqrt();
    let biased = (cell as f64 - 3.0 - bias).max(1.0);
    let square = ((CHARACTER_HEIGHT * biased * count as f64).sqrt() / biased).round() as usize;
    square.min(BREAK_LENGTH.saturating_sub(indentation) / cell).min(COMPACT * 4).min(COLUMNS_MAX)
}

fn row(entries: &[String], widths: &[usize], columns: &[usize], alignment: Alignment) -> String {
    let mut text = String::new();
    let last = entries.len() - 1;
    for (index, (entry, width)) in entries.iter().zip(widths).enumerate() {
        let comma = if index < last { ", " } else { "" };
        let room = if index < last { columns[index] } else { columns[index] - 2 };
        let padding = " ".repeat(room.saturating_sub(width + comma.len()));
        match alignment {
            Alignment::Right => text.extend([padding.as_str(), entry, comma]),
            Alignment::Left if index < last => text.extend([entry.as_str(), comma, &padding]),
            Alignment::Left => text.push_str(entry),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(entries: Vec<String>, elements: Option<Alignment>) -> Parts {
        Parts { base: String::new(), open: "[".into(), close: "]", entries, elements, truncated: false }
    }

    #[test]
    fn numbers_are_laid_out_as_node_does() {
        let entries = (1..=10).map(|number: i32| number.to_string()).collect();
        let text = assemble(parts(entries, Some(Alignment::Right)), 0, 0);
        assert_eq!(text, "[\n  1, 2, 3, 4,  5,\n  6, 7, 8, 9, 10\n]");
    }

    #[test]
    fn long_lines_are_broken() {
        let entries = vec!["x".repeat(30), "y".repeat(30), "z".repeat(10)];
        assert!(assemble(parts(entries.clone(), None), 0, 0).contains("\n  y"));
        assert!(!assemble(parts(entries[..2].to_vec(), None), 0, 0).contains('\n'));
    }

    #[test]
    fn deep_nesting_is_broken() {
        assert_eq!(assemble(parts(vec!["1".into()], None), 0, 3), "[\n  1\n]");
        assert_eq!(assemble(parts(vec!["1".into()], None), 0, 2), "[ 1 ]");
    }

    #[test]
    fn colours_have_no_width() {
        assert_eq!(width("\u{1b}[33m12\u{1b}[39m"), 2);
    }
}
