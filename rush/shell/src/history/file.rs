//! The text of a history file: a command per line, or a `#` and the time before each command, which then may take several lines.

use std::path::Path;

use super::Entry;
use crate::{Bytes, limits, sys};

/// What is in a history file, of a very long one the newest lines.
pub fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let (mut text, whole) = sys::end_of_file(path, limits::HISTORY_BYTES_MAX)?;
    if !whole {
        // It begins in the middle of a line.
        let begun = text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| at + 1);
        text.drain(..begun);
    }
    Ok(text)
}

/// The time that a line of a `#` and digits gives.
fn time(line: &[u8]) -> Option<i64> {
    let digits = line.strip_prefix(b"#").filter(|rest| rest.first().is_some_and(u8::is_ascii_digit))?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    std::str::from_utf8(digits.get(..end)?).ok()?.parse().ok()
}

/// The entries in `text` behind its first `skip` lines, and how many lines there are. Entries without a time get `now`. With `joins`
/// the lines between two times are one entry, if the text begins with a time.
pub fn parse(text: &[u8], skip: usize, joins: bool, now: i64) -> (Vec<Entry>, usize) {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    if text.is_empty() {
        return (Vec::new(), 0);
    }
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let joins = joins && lines.first().is_some_and(|line| time(line).is_some());
    let mut entries: Vec<Entry> = Vec::new();
    let mut pending = None;
    for line in lines.iter().skip(skip) {
        match (time(line), entries.last_mut()) {
            (Some(time), _) => pending = Some(time),
            (None, Some(last)) if joins && pending.is_none() => {
                last.text.push(b'\n');
                last.text.extend_from_slice(line);
            }
            (None, _) if line.is_empty() => {}
            (None, _) => {
                entries.push(Entry { text: line.to_vec(), time: pending.take().unwrap_or(now) });
            }
        }
    }
    (entries, lines.len())
}

/// The end of a history file's `text` that holds its `limit` newest entries: lines, or what stands behind each time if the text begins
/// with one.
pub fn newest(text: &[u8], limit: usize) -> &[u8] {
    let timed = text.split(|byte| *byte == b'\n').next().is_some_and(|line| time(line).is_some());
    let mut starts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if !timed || time(line).is_some() {
            starts.push(at);
        }
        at += line.len();
    }
    let first = starts.len().saturating_sub(limit);
    text.get(starts.get(first).copied().unwrap_or(text.len())..).unwrap_or_default()
}

/// The text of `entries`, with times if `timed`.
pub fn format(entries: &[Entry], timed: bool) -> Bytes {
    let mut text = Bytes::new();
    for entry in entries {
        if timed {
            text.extend_from_slice(format!("#{}\n", entry.time).as_bytes());
        }
        text.extend_from_slice(&entry.text);
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Entry, format, newest, parse};

    fn entry(text: &str, time: i64) -> Entry {
        Entry { text: text.into(), time }
    }

    #[test]
    fn entries_of_several_lines_survive_with_times() {
        let entries = [entry("for i in 1\ndo\n\necho $i\ndone", 5), entry("pwd", 6)];
        let text = format(&entries, true);
        assert_eq!(parse(&text, 0, true, 9), (entries.to_vec(), 8));
    }

    #[test]
    fn without_times_every_line_is_an_entry() {
        let (entries, lines) = parse(b"a\n\nb\n", 0, true, 9);
        assert_eq!((entries, lines), (vec![entry("a", 9), entry("b", 9)], 3));
        let (entries, _) = parse(b"#7\na\nb\n", 0, false, 9);
        assert_eq!(entries, [entry("a", 7), entry("b", 9)]);
        assert_eq!(parse(b"a\nb\nc\n", 2, false, 9).0, [entry("c", 9)]);
        assert_eq!(parse(b"", 0, false, 9), (vec![], 0));
    }

    #[test]
    fn files_are_shortened_by_entries() {
        assert_eq!(newest(b"a\nb\nc\n", 2), b"b\nc\n");
        assert_eq!(newest(b"#1\na\nb\n#2\nc\n", 1), b"#2\nc\n");
        assert_eq!(newest(b"a\n", 0), b"");
        assert_eq!(newest(b"a\n", 9), b"a\n");
    }
}
