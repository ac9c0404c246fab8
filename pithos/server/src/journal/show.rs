//! `pithos journal FILE`: a journal for people, oldest call first, the files that were put aside included. What cannot be read is counted and said, never skipped in
//! silence.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pithos_sessions::{errln, outln};
use regex::Regex;
use serde_json::Value;

use crate::journal::record::VERSION;
use crate::limits::{JOURNAL_FILES, JOURNAL_LINE_BYTES_MAX};
use crate::top::plain;

/// What is to be shown.
#[derive(Default)]
pub(crate) struct Choice<'a> {
    /// The last lines only.
    pub(crate) lines: Option<usize>,
    /// Lines that match.
    pub(crate) grep: Option<&'a str>,
    /// As they are in the file.
    pub(crate) as_json: bool,
}

/// Shows a journal; status 1 when nothing was found.
pub(crate) fn run(path: &Path, choice: &Choice<'_>) -> Result<ExitCode, String> {
    let pattern = choice.grep.map(Regex::new).transpose().map_err(|error| format!("--grep: {error}"))?;
    let mut kept: VecDeque<String> = VecDeque::new();
    let (mut found, mut unreadable) = (false, 0_u64);
    for file in files(path) {
        let said = |error: std::io::Error| format!("{}: {error}", file.display());
        each_line(open(&file)?, |line| {
            let Some(record) = line.and_then(|line| serde_json::from_slice::<Value>(line).ok()) else {
                unreadable += 1;
                return;
            };
            let text = match record["v"].as_u64() {
                Some(VERSION) if choice.as_json => record.to_string(),
                Some(VERSION) => told(&record),
                _ => {
                    unreadable += 1;
                    return;
                }
            };
            if pattern.as_ref().is_some_and(|pattern| !pattern.is_match(&text)) {
                return;
            }
            found = true;
            match choice.lines {
                None => outln!("{text}"),
                Some(most) => {
                    kept.push_back(text);
                    if kept.len() > most {
                        kept.pop_front();
                    }
                }
            }
        })
        .map_err(said)?;
    }
    kept.iter().for_each(|text| outln!("{text}"));
    if unreadable > 0 {
        errln!("pithos: {unreadable} line(s) are no records of version {VERSION} of a journal");
    }
    Ok(if found { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The files of a journal that are there, oldest first; its own name always.
pub(super) fn files(path: &Path) -> Vec<PathBuf> {
    let aside = (1..JOURNAL_FILES).rev().map(|number| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    });
    aside.filter(|path| path.exists()).chain([path.to_owned()]).collect()
}

pub(super) fn open(path: &Path) -> Result<File, String> {
    let said = |error: std::io::Error| format!("{}: {error}", path.display());
    // Not waiting: somebody may have put a pipe there.
    let no_wait = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(no_wait).open(path).map_err(said)?;
    if !file.metadata().map_err(said)?.is_file() {
        return Err(format!("{}: it is no file", path.display()));
    }
    Ok(file)
}

/// Hands each line to `take`, none for one that is longer than any that a server writes.
pub(super) fn each_line(file: File, mut take: impl FnMut(Option<&[u8]>)) -> std::io::Result<()> {
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        line.clear();
        let read = reader.by_ref().take(JOURNAL_LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        let whole = line.last() == Some(&b'\n');
        if !whole && read as u64 == JOURNAL_LINE_BYTES_MAX {
            too_long = true;
            continue;
        }
        let good = !std::mem::take(&mut too_long);
        let text = line.trim_ascii();
        if !good || !text.is_empty() {
            take(good.then_some(text));
        }
    }
}

/// One record, on one line.
fn told(record: &Value) -> String {
    let text = |name: &str| plain(record[name].as_str().unwrap_or(""));
    let server: String = text("server").chars().take(4).collect();
    let time = clock(record["time"].as_f64().unwrap_or(0.0));
    match record["kind"].as_str() {
        Some("call") => {
            let marks = [("redacted", "  (secrets taken out)"), ("cut", "  (cut)")].iter();
            let marks: String =
                marks.filter(|(name, _)| !record[*name].is_null()).map(|(_, mark)| *mark).collect();
            let failed = record["ended"] != "good";
            let message =
                if failed { format!("  -> {}", plain(&short(&record["result"]))) } else { String::new() };
            format!(
                "{time}  {server}#{:<5} {:<8} {:<8} {:>10.2} ms  {}{message}{marks}",
                plain(&record["n"].to_string()),
                text("tool"),
                text("ended"),
                record["ms"].as_f64().unwrap_or(0.0),
                plain(&short(&record["arguments"]))
            )
        }
        Some("start") => {
            format!(
                "{time}  {server}  a server of version {} began, process {}, policy {}",
                text("pithos"),
                plain(&record["pid"].to_string()),
                text("policy")
            )
        }
        Some("dropped") => {
            let [count, changing] = ["count", "changing"].map(|name| plain(&record[name].to_string()));
            format!(
                "{time}  {server}  {count} call(s) are missing here, {changing} of them changing something"
            )
        }
        _ => format!("{time}  {server}  {}", plain(&short(record))),
    }
}

/// A value on one line that is not too long.
pub(super) fn short(value: &Value) -> String {
    const SHOWN_CHARS_MAX: usize = 120;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
    if text.chars().count() <= SHOWN_CHARS_MAX {
        return text;
    }
    format!("{}...", text.chars().take(SHOWN_CHARS_MAX).collect::<String>())
}

/// Seconds since 1970 as a date and a time of UTC.
pub(crate) fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    let (days, rest) = (whole / 86_400, whole % 86_400);
    // Days since 1970 to a date: years are counted from March, so that the day that comes and goes is the last.
    let day = days + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0.0, "1970-01-01 00:00:00Z"),
            (951_782_399.9, "2000-02-28 23:59:59Z"),
            (951_782_400.0, "2000-02-29 00:00:00Z"),
            (1_709_251_200.0, "2024-03-01 00:00:00Z"),
            (4_107_542_400.0, "2100-03-01 00:00:00Z"),
            (-5.0, "1970-01-01 00:00:00Z"),
        ] {
            assert_eq!(clock(seconds), text);
        }
    }

    #[test]
    fn every_record_is_one_plain_line() {
        let hostile = "\u{1b}]52;c;x\u{7}\n\u{202e}".repeat(50);
        for kind in ["call", "start", "dropped", "later"] {
            let record = json!({
                "v": 1, "kind": kind, "server": hostile, "time": 1e300, "n": {"a": hostile}, "tool": hostile, "ended": hostile, "ms": -1, "result": hostile,
                "arguments": {hostile.as_str(): hostile}, "pid": {"a": 1}, "policy": hostile, "pithos": hostile,
            });
            let line = told(&record);
            assert!(!line.contains(|c: char| c.is_control() || c == '\u{202e}'), "{line:?}");
        }
    }
}
