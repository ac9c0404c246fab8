//! `rush --json -c COMMAND`: runs the command in a child whose output is captured, and prints one object that says how it
//! went. The shape is `rush_session::RunResult`; the schema is in `docs/rush-json.md`.
//!
//! Invariant: whatever the child does (a crash, `kill -9 $$`, a closed standard output), the result is printed.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::time::{Duration, Instant};

use rush::errln;
use rush::exec::record::{PipelineRecord, Wanted};
use rush::{Session, signals, sys};
use rush_session::{Captured, RunResult, Status, Timings};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::limits::{CAPTURE_BYTES_MAX, CAPTURE_GRACE_MS};

/// SIGINT, SIGQUIT, SIGHUP and SIGTERM by number.
const KEYBOARD: [i32; 2] = [2, 3];
const FORWARDED: [i32; 2] = [1, 15];

/// What the child says about itself at its end.
type Tail = RunResult;

/// Runs `shell` (all of rush, told which record to keep) in a captured child; the exit status.
pub(crate) fn run(limit: Option<u64>, shell: impl FnOnce(&mut dyn FnMut(&mut Session)) -> i32) -> i32 {
    match capture(limit.unwrap_or(CAPTURE_BYTES_MAX), shell) {
        Ok(result) => {
            let mut line = serde_json::to_string(&result).unwrap_or_default();
            line.push('\n');
            if io::stdout().write_all(line.as_bytes()).is_err() {
                return 1;
            }
            result.status.0
        }
        Err(error) => {
            errln!("rush: --json: {error}");
            1
        }
    }
}

fn capture(limit: u64, shell: impl FnOnce(&mut dyn FnMut(&mut Session)) -> i32) -> io::Result<RunResult> {
    let start = Instant::now();
    let (out_reader, out_writer) = io::pipe()?;
    let (err_reader, err_writer) = io::pipe()?;
    let (tail_reader, tail_writer) = io::pipe()?;
    let pid = sys::fork().map_err(io::Error::from_raw_os_error)?;
    if pid == 0 {
        drop((out_reader, err_reader, tail_reader));
        be_child(out_writer, err_writer, tail_writer, shell);
    }
    drop((out_writer, err_writer, tail_writer));
    KEYBOARD.into_iter().for_each(sys::signal_ignore);
    FORWARDED.into_iter().for_each(sys::signal_catch);
    let mut out = Stream::new(out_reader, limit);
    let mut err = Stream::new(err_reader, limit);
    let mut tail = Stream::new(tail_reader, u64::MAX);
    let wait_status = watch(pid, &mut [&mut out, &mut err, &mut tail])?;
    let mut result: RunResult = serde_json::from_slice(&tail.kept).unwrap_or_default();
    result.version = 1;
    result.status = Status(sys::shell_status(wait_status));
    result.signal = sys::term_signal(wait_status).and_then(signals::name);
    result.timings.wall_us = start.elapsed().as_micros() as u64;
    if result.cwd.is_none() {
        // The child could not say; what the kernel counted for it is known all the same.
        let clocks = sys::clocks();
        result.timings.user_us = clocks.user_us;
        result.timings.system_us = clocks.system_us;
    }
    result.stdout = out.captured();
    result.stderr = err.captured();
    Ok(result)
}

/// The child: a shell that writes into the pipes, and its tail at the end.
fn be_child(
    out: PipeWriter,
    err: PipeWriter,
    mut tail: PipeWriter,
    shell: impl FnOnce(&mut dyn FnMut(&mut Session)) -> i32,
) -> ! {
    let placed = rustix::stdio::dup2_stdout(&out).and_then(|()| rustix::stdio::dup2_stderr(&err));
    drop((out, err));
    if placed.is_err() {
        sys::exit_now(1);
    }
    let mut ended = false;
    let mut watcher = |session: &mut Session| {
        if !std::mem::replace(&mut ended, true) {
            session.pipeline_record = Some(Box::new(PipelineRecord::new(Wanted::Every)));
            return;
        }
        let _ = tail.write_all(&serde_json::to_vec(&summary(session)).unwrap_or_default());
    };
    let status = shell(&mut watcher);
    sys::exit_now(status);
}

fn summary(session: &mut Session) -> Tail {
    let record = session.pipeline_record.take();
    let clocks = sys::clocks();
    Tail {
        pipelines_dropped: record.as_ref().map_or(0, |record| record.dropped),
        pipelines: record.map_or_else(Vec::new, |record| rush_session::pipelines(*record)),
        cwd: std::env::current_dir().ok().map(|path| path.to_string_lossy().into_owned()),
        timings: Timings { wall_us: 0, user_us: clocks.user_us, system_us: clocks.system_us },
        ..Tail::default()
    }
}

/// Collects the streams until the child has ended and they have, too, or a background process keeps them.
fn watch(pid: i32, streams: &mut [&mut Stream]) -> io::Result<i32> {
    let handle = sys::owned_process_handle(pid)?;
    let mut ended: Option<(i32, Instant)> = None;
    loop {
        let open: Vec<usize> = (0..streams.len()).filter(|n| !streams[*n].ended).collect();
        let mut waits: Vec<PollFd<'_>> =
            open.iter().map(|n| PollFd::new(&streams[*n].reader, PollFlags::IN)).collect();
        let patience = match &ended {
            None => {
                waits.push(PollFd::new(&handle, PollFlags::IN));
                None
            }
            Some((status, since)) => {
                let left = Duration::from_millis(CAPTURE_GRACE_MS).saturating_sub(since.elapsed());
                if open.is_empty() || left.is_zero() {
                    return Ok(*status);
                }
                Some(Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) })
            }
        };
        match poll(&mut waits, patience.as_ref()) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => {
                forward(pid);
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = waits.iter().map(|wait| !wait.revents().is_empty()).collect();
        drop(waits);
        for (n, _) in open.iter().zip(&ready).filter(|(_, ready)| **ready) {
            streams[*n].read();
        }
        if ended.is_none() && ready.last() == Some(&true) {
            let (_, status) = sys::wait_child(pid).map_err(io::Error::from_raw_os_error)?;
            ended = Some((status, Instant::now()));
        }
    }
}

/// Hands signals that were sent to this process on to the shell.
fn forward(pid: i32) {
    let pending = sys::take_pending_signals();
    for signal in FORWARDED.into_iter().filter(|signal| pending >> (signal - 1) & 1 != 0) {
        let _ = sys::send_signal(pid, signal);
    }
}

/// One captured stream.
struct Stream {
    reader: PipeReader,
    kept: Vec<u8>,
    limit: u64,
    bytes: u64,
    ended: bool,
}

impl Stream {
    fn new(reader: PipeReader, limit: u64) -> Stream {
        Stream { reader, kept: Vec::new(), limit, bytes: 0, ended: false }
    }

    fn read(&mut self) {
        let mut chunk = [0; 16 * 1024];
        match self.reader.read(&mut chunk) {
            Ok(0) => self.ended = true,
            Ok(count) => {
                let room = self.limit.saturating_sub(self.kept.len() as u64).min(count as u64) as usize;
                self.kept.extend_from_slice(&chunk[..room]);
                self.bytes += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.ended = true,
        }
    }

    fn captured(mut self) -> Captured {
        let truncated = self.bytes > self.kept.len() as u64;
        if truncated && let Err(error) = std::str::from_utf8(&self.kept)
            // A character that the limit cut is not an invalid one.
            && error.error_len().is_none()
        {
            self.kept.truncate(error.valid_up_to());
        }
        let lossy = std::str::from_utf8(&self.kept).is_err();
        let text = String::from_utf8_lossy(&self.kept).into_owned();
        Captured { text, bytes: self.bytes, truncated, lossy, open: !self.ended }
    }
}
