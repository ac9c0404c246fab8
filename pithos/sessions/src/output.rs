//! What is kept of a run's output: the beginning and the end in memory, everything in a log on disk, and the rendering of
//! it within a budget. Invariants: memory stays under `HEAD_BYTES + TAIL_BYTES` and one read, however much a run talks; while there is no
//! log file, the head holds everything. Short runs therefore touch no disk.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ansi::Ansi;
use crate::limits::{HEAD_BYTES, LOG_BYTES_MAX, READ_BYTES, REMEMBERED_BYTES, TAIL_BYTES};
use crate::space::{Held, Space};

/// Which of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Error,
}

/// Sums over a run's output so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes on standard output.
    pub stdout_bytes: u64,
    /// Bytes on standard error.
    pub stderr_bytes: u64,
    /// Line ends on both.
    pub lines: u64,
    /// The output holds NUL bytes: what of it is no text is named and not shown.
    pub binary: bool,
    /// The log reached its limit or could not be written; the text says which.
    pub log_stopped: Option<&'static str>,
}

impl Totals {
    /// Bytes on both streams.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.stdout_bytes + self.stderr_bytes
    }
}

/// The collector of one run.
pub struct Capture {
    head: Vec<u8>,
    tail: VecDeque<Vec<u8>>,
    tail_bytes: usize,
    error_tail: VecDeque<u8>,
    totals: Totals,
    log: Log,
    log_path: PathBuf,
    logged: u64,
    /// What the log takes of the room that all logs have; none for what has no log.
    held: Option<Arc<Held>>,
    /// Each stream by itself, for a run that wants them apart.
    apart: Option<Box<[Capture; 2]>>,
}

/// The log on disk.
enum Log {
    /// Not made yet: the head holds everything.
    Unneeded,
    Open(File),
    /// Whole so far, and opened again when more comes: a run that is over holds no descriptor.
    Closed,
    /// Full, or it could not be written: `Totals::log_stopped` says why.
    Stopped,
}

/// Why a log stops when all of them have no more room.
const NO_ROOM: &str =
    "all logs of this server together reached their limit; 'pithos serve --log-space' sets another";
/// What the result shows of standard error by itself.
const ERROR_TAIL_BYTES: usize = 4 * 1024;

impl Capture {
    /// A collector whose log will be `log_path`; when that cannot be written the run goes on and the totals say so.
    #[must_use]
    pub fn new(log_path: PathBuf, space: &Space) -> Self {
        Self { held: Some(space.log(log_path.clone())), ..Self::without_log(log_path) }
    }

    /// The same, which keeps both streams apart as well.
    #[must_use]
    pub fn new_apart(log_path: PathBuf, space: &Space) -> Self {
        let stream = || Self { log: Log::Stopped, ..Self::without_log(PathBuf::new()) };
        Self { apart: Some(Box::new([stream(), stream()])), ..Self::new(log_path, space) }
    }

    fn without_log(log_path: PathBuf) -> Self {
        Self {
            held: None,
            apart: None,
            head: Vec::new(),
            tail: VecDeque::new(),
            tail_bytes: 0,
            error_tail: VecDeque::new(),
            totals: Totals::default(),
            log: Log::Unneeded,
            log_path,
            logged: 0,
        }
    }

    /// Takes what was read from a stream.
    pub fn write(&mut self, stream: Stream, bytes: &[u8]) {
        if let Some(apart) = &mut self.apart {
            apart[usize::from(stream == Stream::Error)].write(stream, bytes);
        }
        match stream {
            Stream::Out => self.totals.stdout_bytes += bytes.len() as u64,
            Stream::Error => {
                self.totals.stderr_bytes += bytes.len() as u64;
                self.error_tail.extend(&bytes[bytes.len().saturating_sub(ERROR_TAIL_BYTES)..]);
                let over = self.error_tail.len().saturating_sub(ERROR_TAIL_BYTES);
                self.error_tail.drain(..over);
            }
        }
        self.totals.lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.totals.binary |= bytes.contains(&0);
        if self.head.len() + bytes.len() > HEAD_BYTES {
            self.open_log();
        }
        self.write_log(bytes);
        let for_head = if self.tail.is_empty() {
            bytes.len().min(HEAD_BYTES.saturating_sub(self.head.len()))
        } else {
            0
        };
        self.head.extend_from_slice(&bytes[..for_head]);
        for chunk in bytes[for_head..].chunks(READ_BYTES) {
            self.tail.push_back(chunk.to_vec());
            self.tail_bytes += chunk.len();
        }
        while self.tail.front().is_some_and(|front| self.tail_bytes - front.len() >= TAIL_BYTES) {
            self.tail_bytes -= self.tail.pop_front().map_or(0, |front| front.len());
        }
    }

    /// Makes the log with everything so far, if there is none.
    fn open_log(&mut self) {
        if !matches!(self.log, Log::Unneeded) {
            return;
        }
        match File::create(&self.log_path) {
            Ok(file) => {
                self.log = Log::Open(file);
                let head = std::mem::take(&mut self.head);
                self.write_log(&head);
                self.head = head;
            }
            Err(_) => self.stop_log("the log file could not be created"),
        }
    }

    fn write_log(&mut self, bytes: &[u8]) {
        if matches!(self.log, Log::Closed) && !bytes.is_empty() {
            match File::options().append(true).open(&self.log_path) {
                Ok(file) => self.log = Log::Open(file),
                Err(_) => return self.stop_log("the log file could not be opened again"),
            }
        }
        let Log::Open(log) = &mut self.log else { return };
        let room = LOG_BYTES_MAX.saturating_sub(self.logged).min(bytes.len() as u64) as usize;
        if self.held.as_ref().is_some_and(|held| !held.take(room as u64)) {
            return self.stop_log(NO_ROOM);
        }
        if log.write_all(&bytes[..room]).is_err() {
            return self.stop_log("the log could not be written (is the disk full?)");
        }
        self.logged += room as u64;
        if room < bytes.len() {
            self.stop_log("the log reached its limit");
        }
    }

    /// What its log takes of the room of all.
    pub(crate) fn held(&self) -> Option<Arc<Held>> {
        self.held.clone()
    }

    /// Whether the log was removed to make room for others.
    #[must_use]
    pub fn log_gone(&self) -> bool {
        self.held.as_ref().is_some_and(|held| held.gone())
    }

    /// One stream by itself, for a run that wanted them apart.
    #[must_use]
    pub fn render_apart(&self, stream: Stream, budget: Budget) -> Option<Rendered> {
        Some(self.apart.as_ref()?[usize::from(stream == Stream::Error)].render(budget, false))
    }

    fn stop_log(&mut self, why: &'static str) {
        self.totals.log_stopped = Some(why);
        self.log = Log::Stopped;
    }

    /// Lets go of the log's descriptor.
    pub fn close_log(&mut self) {
        if matches!(self.log, Log::Open(_)) {
            self.log = Log::Closed;
        }
    }

    /// The log's file, made now if it was not needed before.
    pub fn log_file(&mut self) -> &Path {
        if matches!(self.log, Log::Unneeded) {
            self.open_log();
            self.close_log();
        }
        &self.log_path
    }

    /// Gives back most of the memory of a run that has ended: what a later look needs is in the log.
    pub fn shrink(&mut self) {
        if self.head.len() + self.tail_bytes <= REMEMBERED_BYTES {
            return;
        }
        self.open_log();
        let held: Vec<u8> = self.tail.iter().flatten().copied().collect();
        let end = if held.is_empty() { self.head.as_slice() } else { held.as_slice() };
        let end = end[end.len().saturating_sub(REMEMBERED_BYTES / 2)..].to_vec();
        self.tail_bytes = end.len();
        self.tail = [end].into();
        self.head.truncate(REMEMBERED_BYTES / 2);
        self.head.shrink_to_fit();
        self.close_log();
    }

    /// Head and tail are the whole output, with nothing between them left out.
    fn is_whole(&self) -> bool {
        self.totals.bytes() == (self.head.len() + self.tail_bytes) as u64
    }

    /// The sums so far.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Removes the log, if one was made.
    pub fn remove_log(&self) {
        if let Some(held) = self.held.as_ref().filter(|_| !matches!(self.log, Log::Unneeded)) {
            held.remove();
        }
    }

    /// Where the whole log is.
    #[must_use]
    pub fn log_path(&self) -> &Path {
        &self.log_path
    }

    /// The last of standard error by itself.
    #[must_use]
    pub fn stderr_tail(&self) -> String {
        let (front, back) = self.error_tail.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }

    /// The output within the budget: all of it, or its beginning and its end with a line between that says what is left
    /// out. A failed run shows more of its end, where the error stands.
    #[must_use]
    pub fn render(&self, budget: Budget, failed: bool) -> Rendered {
        let total = self.totals.bytes();
        let whole_is_binary = || Rendered {
            text: format!("[binary output: {total} bytes; read the log by its handle]\n"),
            truncated: true,
        };
        let held: Vec<u8> = self.tail.iter().flatten().copied().collect();
        if total as usize <= budget.bytes && self.totals.lines <= budget.lines as u64 && self.is_whole() {
            let all = [self.head.as_slice(), &held].concat();
            if self.totals.binary && is_no_text(&all) {
                return whole_is_binary();
            }
            return Rendered { text: shown(&budget.ansi.apply(&all)), truncated: false };
        }
        let share = if failed { 4 } else { 2 };
        let head = line_start_cut(&self.head[..(budget.bytes / share).min(self.head.len())]);
        let head = first_lines(head, budget.lines / share);
        let want_tail = budget.bytes - head.len();
        // When the run is only a little over the budget, the end may lie in the head buffer still.
        let joined = if held.len() < want_tail && self.is_whole() {
            [self.head.get(head.len()..).unwrap_or_default(), &held].concat()
        } else {
            held
        };
        let from = joined.len().saturating_sub(want_tail);
        let tail = if from == 0 { &joined[..] } else { line_end_cut(&joined[from..]) };
        let tail = last_lines(tail, budget.lines - budget.lines / share);
        let binary = [head, tail].map(|part| self.totals.binary && is_no_text(part));
        if binary[0] && (binary[1] || tail.is_empty()) || binary[1] && head.is_empty() {
            return whole_is_binary();
        }
        let text = |part: &[u8], binary: bool| match binary {
            true => format!("[{} bytes that are no text]\n", part.len()),
            false => shown(&budget.ansi.apply(part)),
        };
        let (head_text, tail_text) = (text(head, binary[0]), text(tail, binary[1]));
        let left_out = total as usize - head.len() - tail.len();
        let text = format!("{head_text}[… {left_out} of {total} bytes left out …]\n{tail_text}");
        Rendered { text, truncated: true }
    }

    /// The bytes from `offset` of the whole output that are still in memory or in the log, at most `length`.
    #[must_use]
    pub fn since(&self, offset: u64, length: usize) -> Vec<u8> {
        let end = offset as usize + length;
        if end <= self.head.len() || matches!(self.log, Log::Unneeded) {
            let from = (offset as usize).min(self.head.len());
            return self.head[from..end.min(self.head.len())].to_vec();
        }
        crate::log::read(&self.log_path, offset, length).unwrap_or_default()
    }
}

/// Whether more than a quarter of it is NUL bytes and what is not UTF-8. One such byte makes nothing unreadable, and must hide nothing.
fn is_no_text(bytes: &[u8]) -> bool {
    let broken: usize = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    let nuls = bytes.iter().filter(|byte| **byte == 0).count();
    (broken + nuls) * 4 > bytes.len()
}

/// The text of bytes, with a sign for each NUL.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if text.contains('\0') { text.replace('\0', "\u{2400}") } else { text.into_owned() }
}

/// How much of an output a reader wants.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Bytes, the line about what is left out not counted.
    pub bytes: usize,
    /// Lines, likewise.
    pub lines: usize,
    /// Whether control sequences are shown; the bytes are counted before they are left out.
    pub ansi: Ansi,
}

impl Budget {
    /// So many bytes in any number of lines.
    #[must_use]
    pub fn bytes(bytes: usize) -> Self {
        Self { bytes, lines: usize::MAX, ansi: Ansi::Keep }
    }
}

/// A text for a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The text, UTF-8 with replacement characters.
    pub text: String,
    /// Something of the output is not in the text.
    pub truncated: bool,
}

/// Ends at the last line end, if there is one in the last half.
fn line_start_cut(bytes: &[u8]) -> &[u8] {
    match bytes.iter().rposition(|byte| *byte == b'\n') {
        Some(at) if at >= bytes.len() / 2 => &bytes[..=at],
        _ => utf8_end(bytes),
    }
}

/// At most so many lines of the beginning.
fn first_lines(bytes: &[u8], lines: usize) -> &[u8] {
    let end = bytes.split_inclusive(|byte| *byte == b'\n').take(lines).map(<[u8]>::len).sum();
    &bytes[..end]
}

/// At most so many lines of the end.
fn last_lines(bytes: &[u8], lines: usize) -> &[u8] {
    let kept: usize = bytes.split_inclusive(|byte| *byte == b'\n').rev().take(lines).map(<[u8]>::len).sum();
    &bytes[bytes.len() - kept..]
}

/// Begins after the first line end, if there is one in the first half.
fn line_end_cut(bytes: &[u8]) -> &[u8] {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(at) if at < bytes.len() / 2 => &bytes[at + 1..],
        _ => {
            let skip = bytes.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
            &bytes[skip..]
        }
    }
}

/// Without the beginning of a character that is cut off.
fn utf8_end(bytes: &[u8]) -> &[u8] {
    let lead = bytes
        .iter()
        .rev()
        .take(4)
        .position(|byte| byte & 0xC0 != 0x80)
        .map_or(0, |back| bytes.len() - 1 - back);
    match bytes.get(lead) {
        Some(byte) if *byte >= 0xC0 && bytes.len() - lead < (byte.leading_ones() as usize) => &bytes[..lead],
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::{Ansi, Budget, Capture, Space, Stream};
    use crate::limits::{HEAD_BYTES, READ_BYTES, REMEMBERED_BYTES, TAIL_BYTES};

    fn capture(name: &str) -> Capture {
        let path = std::env::temp_dir().join(format!("pithos-output-test-{}-{name}", std::process::id()));
        Capture::new(path, &Space::default())
    }

    #[test]
    fn small_output_is_shown_whole() {
        let mut capture = capture("small");
        capture.write(Stream::Out, b"one\n");
        capture.write(Stream::Error, "zw\u{f6}lf\n".as_bytes());
        let rendered = capture.render(Budget::bytes(1024), false);
        assert_eq!((rendered.text.as_str(), rendered.truncated), ("one\nzw\u{f6}lf\n", false));
        assert_eq!(capture.stderr_tail(), "zw\u{f6}lf\n");
        assert_eq!(capture.totals().lines, 2);
        let _ = std::fs::remove_file(capture.log_path());
    }

    #[test]
    fn a_flood_keeps_head_and_tail_and_the_log_keeps_all() {
        let mut capture = capture("flood");
        let mut sent = 0_u64;
        for number in 0..200_000 {
            let line = format!("line {number} of the flood\n");
            sent += line.len() as u64;
            capture.write(Stream::Out, line.as_bytes());
        }
        let rendered = capture.render(Budget::bytes(4096), true);
        assert!(rendered.truncated && rendered.text.len() < 4096 + 200);
        assert!(
            rendered.text.starts_with("line 0 of the flood\n")
                && rendered.text.ends_with("line 199999 of the flood\n")
        );
        assert!(capture.tail_bytes <= TAIL_BYTES + READ_BYTES && capture.head.len() <= HEAD_BYTES);
        assert_eq!(std::fs::metadata(capture.log_path()).expect("log").len(), sent);
        assert_eq!(capture.since(sent - 6, 100), b"flood\n");
        let _ = std::fs::remove_file(capture.log_path());
    }

    #[test]
    fn streams_can_be_had_apart_and_sequences_left_out() {
        let path = std::env::temp_dir().join(format!("pithos-output-test-{}-apart", std::process::id()));
        let mut capture = Capture::new_apart(path, &Space::default());
        for number in 0..100_000 {
            capture.write(Stream::Out, format!("\x1b[1mout {number}\x1b[0m\n").as_bytes());
            capture.write(Stream::Error, b"e\n");
        }
        let budget = Budget { ansi: Ansi::Strip, ..Budget::bytes(1 << 20) };
        let out = capture.render_apart(Stream::Out, budget).expect("apart");
        assert!(out.truncated && out.text.starts_with("out 0\nout 1\n") && out.text.ends_with("out 99999\n"));
        let error = capture.render_apart(Stream::Error, budget).expect("apart");
        assert_eq!((error.text, error.truncated), ("e\n".repeat(100_000), false));
        capture.remove_log();
        assert!(!capture.log_path().exists());
    }

    #[test]
    fn logs_have_room_together() {
        let space = Space::new(300_000);
        let path = |name: &str| {
            std::env::temp_dir().join(format!("pithos-output-test-{}-room-{name}", std::process::id()))
        };
        let mut first = Capture::new(path("first"), &space);
        first.write(Stream::Out, &[b'x'; 200_000]);
        assert_eq!(first.totals().log_stopped, None);
        let mut second = Capture::new(path("second"), &space);
        second.write(Stream::Out, &[b'x'; 150_000]);
        assert!(second.totals().log_stopped.is_some_and(|why| why.contains("--log-space")));
        first.held().expect("a log").over();
        space.make_room(150_000);
        assert!(first.log_gone() && !path("first").exists());
        let mut third = Capture::new(path("third"), &space);
        third.write(Stream::Out, &[b'x'; 150_000]);
        assert_eq!(third.totals().log_stopped, None);
        second.remove_log();
        third.remove_log();
    }

    #[test]
    fn lines_are_budgeted_as_well_as_bytes() {
        let mut capture = capture("lines");
        let all: String = (0..100).map(|number| format!("{number}\n")).collect();
        capture.write(Stream::Out, all.as_bytes());
        let budget = |lines| Budget { bytes: 4096, lines, ansi: Ansi::Keep };
        assert_eq!(capture.render(budget(100), false).text, all);
        let shown = capture.render(budget(4), false);
        assert_eq!(shown.text, "0\n1\n[… 280 of 290 bytes left out …]\n98\n99\n");
        assert!(shown.truncated);
        assert_eq!(capture.render(budget(4), true).text, "0\n[… 279 of 290 bytes left out …]\n97\n98\n99\n");
    }

    #[test]
    fn short_runs_touch_no_disk_until_their_log_is_wanted() {
        let mut capture = capture("short");
        capture.write(Stream::Out, b"one\n");
        assert!(!capture.log_path().exists());
        assert_eq!(std::fs::read(capture.log_file()).expect("log"), b"one\n");
        capture.write(Stream::Out, b"two\n");
        assert_eq!(std::fs::read(capture.log_path()).expect("log"), b"one\ntwo\n");
        let _ = std::fs::remove_file(capture.log_path());
    }

    #[test]
    fn a_shrunk_capture_shows_its_ends_and_its_log_the_rest() {
        let mut capture = capture("shrunk");
        let all: String = (0..20_000).map(|number| format!("line {number}\n")).collect();
        capture.write(Stream::Out, all.as_bytes());
        capture.shrink();
        assert!(capture.head.len() + capture.tail_bytes <= REMEMBERED_BYTES);
        let rendered = capture.render(Budget::bytes(1 << 20), false);
        assert!(rendered.truncated && rendered.text.starts_with("line 0\n"));
        assert!(rendered.text.ends_with("line 19999\n"), "{}", &rendered.text[rendered.text.len() - 50..]);
        assert_eq!(std::fs::read(capture.log_file()).expect("log"), all.as_bytes());
        assert_eq!(capture.since(5, 3), b"0\nl");
        let _ = std::fs::remove_file(capture.log_path());
    }

    #[test]
    fn a_long_line_is_shown_within_the_budget_and_binary_data_is_named() {
        let mut capture = capture("line");
        for length in [1_usize, 4_095, 4_096, 4_097, 16_384, 100_000, 262_144] {
            let mut capture = self::capture(&format!("line-{length}"));
            capture.write(Stream::Out, &vec![b'x'; length]);
            let whole = capture.render(Budget::bytes(length), false);
            assert_eq!((whole.text.len(), whole.truncated), (length, false), "all that was asked for");
            let part = capture.render(Budget::bytes(length - 1), false);
            let shown = part.text.matches('x').count();
            assert!(part.truncated && shown < length && shown + 2 >= length, "{shown} of {length}");
            let _ = std::fs::remove_file(capture.log_path());
        }
        capture.write(Stream::Out, &vec![b'x'; 100_000]);
        capture.write(Stream::Out, b"\0");
        // One byte hides nothing.
        let rendered = capture.render(Budget::bytes(200_000), false);
        assert!(rendered.text.ends_with("x\u{2400}") && !rendered.truncated);
        assert!(capture.render(Budget::bytes(1000), false).text.ends_with("x\u{2400}"));
        capture.write(Stream::Out, &[0; 100_000]);
        let rendered = capture.render(Budget::bytes(300_000), false);
        assert!(rendered.text.starts_with("[binary output: 200001 bytes") && rendered.truncated);
        let rendered = capture.render(Budget::bytes(1000), false);
        assert!(
            rendered.text.starts_with("xxx") && rendered.text.ends_with("[500 bytes that are no text]\n")
        );
        let _ = std::fs::remove_file(capture.log_path());
    }
}
