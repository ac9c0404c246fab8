//! Reading the log of a run: a range, the last lines, a search. Works on files of any size in bounded memory; blocks.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use regex::bytes::Regex;

use crate::limits::{GREP_MATCHES_MAX, LINE_BYTES_SHOWN_MAX};

/// At most `length` bytes from `offset`.
///
/// # Errors
/// What the file system says.
pub fn read(path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    // An offset beyond what a file can have is the end, and no error.
    let offset = offset.min(file.metadata()?.len());
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The last `lines` lines, at most `budget` bytes of them.
///
/// # Errors
/// What the file system says.
pub fn tail(path: &Path, lines: usize, budget: usize) -> io::Result<Vec<u8>> {
    let length = std::fs::metadata(path)?.len();
    let bytes = read(path, length.saturating_sub(budget as u64), budget)?;
    let body = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let cut = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n').nth(lines.saturating_sub(1));
    Ok(cut.map_or(0, |(at, _)| at + 1)).map(|from| bytes[from..].to_vec())
}

/// A line that matched, or stands near one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// From 1.
    pub number: u64,
    /// The text, cut at `LINE_BYTES_SHOWN_MAX`.
    pub text: String,
    /// It matched, and is not context only.
    pub matched: bool,
}

/// The lines that match, with `context` lines before and after each; at most `matches_max` matches. The flag says whether there are more.
///
/// # Errors
/// What the file system says.
pub fn grep(
    path: &Path,
    pattern: &Regex,
    context: usize,
    matches_max: usize,
) -> io::Result<(Vec<Line>, bool)> {
    let limit = matches_max.min(GREP_MATCHES_MAX);
    let mut reader = BufReader::with_capacity(256 * 1024, File::open(path)?);
    let (mut found, mut before) = (Vec::new(), VecDeque::new());
    let (mut matches, mut after, mut number) = (0, 0, 0);
    let mut line = Vec::new();
    while read_line(&mut reader, &mut line)? {
        number += 1;
        let matched = pattern.is_match(&line);
        if matched && matches == limit {
            return Ok((found, true));
        }
        let shown = Line { number, text: shorten(&line), matched };
        if matched {
            matches += 1;
            after = context;
            found.extend(before.drain(..));
            found.push(shown);
        } else if after > 0 {
            after -= 1;
            found.push(shown);
        } else if context > 0 {
            before.push_back(shown);
            if before.len() > context {
                before.pop_front();
            }
        }
    }
    Ok((found, false))
}

/// A line longer than this is searched in pieces, so that no line can fill the memory.
const LINE_BYTES_READ_MAX: u64 = 1024 * 1024;

fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let read = reader.by_ref().take(LINE_BYTES_READ_MAX).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(read > 0)
}

fn shorten(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(LINE_BYTES_SHOWN_MAX)]).into_owned();
    if line.len() > LINE_BYTES_SHOWN_MAX { format!("{text}[… line of {} bytes]", line.len()) } else { text }
}

#[cfg(test)]
mod tests {
    use regex::bytes::Regex;

    use super::{grep, read, tail};

    #[test]
    fn ranges_tails_and_matches() {
        let path = std::env::temp_dir().join(format!("pithos-log-test-{}", std::process::id()));
        let text: String = (1..=1000).map(|n| format!("line {n}\n")).collect();
        std::fs::write(&path, &text).expect("written");
        assert_eq!(read(&path, 5, 3).expect("read"), b"1\nl");
        assert_eq!(tail(&path, 2, 4096).expect("tail"), b"line 999\nline 1000\n");
        let pattern = Regex::new("^line 50$").expect("pattern");
        let (lines, more) = grep(&path, &pattern, 1, 10).expect("grep");
        let shown: Vec<(u64, bool)> = lines.iter().map(|line| (line.number, line.matched)).collect();
        assert_eq!((shown, more), (vec![(49, false), (50, true), (51, false)], false));
        let every = Regex::new("line").expect("pattern");
        assert!(grep(&path, &every, 0, 10).expect("grep").1);
        let _ = std::fs::remove_file(&path);
    }
}
