//! One run of a remote session: its pipes, what its client has sent for it, and characters that a read has cut.

use std::collections::BTreeMap;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd};

use rush_session::{Frames, RemoteRun, Run, StreamName, ToShell};
use rustix::io::Errno;

use crate::limits::PENDING_INPUT_BYTES_MAX;

/// A script that runs, or whose output a background process still writes.
pub(super) struct ActiveRun {
    /// The client's number for it.
    pub(super) id: u64,
    stdout: Option<Reader>,
    stderr: Option<Reader>,
    input: Option<PipeWriter>,
    queue: Vec<u8>,
    input_ends: bool,
}

struct Reader {
    pipe: PipeReader,
    /// The beginning of a character whose rest has not been read.
    cut: Vec<u8>,
}

impl ActiveRun {
    /// Hands the script to the shell.
    pub(super) fn start(request: RemoteRun, shell: &Frames) -> io::Result<ActiveRun> {
        let RemoteRun { id, script, cwd, environment, input, .. } = request;
        let environment: BTreeMap<String, String> = environment;
        let (out_reader, out_writer) = io::pipe()?;
        let (err_reader, err_writer) = io::pipe()?;
        let (in_reader, in_writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&out_reader, true)?;
        rustix::io::ioctl_fionbio(&err_reader, true)?;
        rustix::io::ioctl_fionbio(&in_writer, true)?;
        let run = Run { id, script, cwd, environment, terminal: false };
        shell.send(&ToShell::Run(run), &[in_reader.as_fd(), out_writer.as_fd(), err_writer.as_fd()])?;
        let reader = |pipe| Some(Reader { pipe, cut: Vec::new() });
        Ok(ActiveRun {
            id,
            stdout: reader(out_reader),
            stderr: reader(err_reader),
            input: input.then_some(in_writer),
            queue: Vec::new(),
            input_ends: false,
        })
    }

    fn slot(&mut self, name: StreamName) -> &mut Option<Reader> {
        match name {
            StreamName::Stdout => &mut self.stdout,
            StreamName::Stderr => &mut self.stderr,
        }
    }

    /// The pipes that have not ended.
    pub(super) fn readers(&self) -> impl Iterator<Item = (StreamName, BorrowedFd<'_>)> {
        let named = [(StreamName::Stdout, &self.stdout), (StreamName::Stderr, &self.stderr)];
        named.into_iter().filter_map(|(name, reader)| Some((name, reader.as_ref()?.pipe.as_fd())))
    }

    /// The input pipe while something waits to be written or it is to be closed.
    pub(super) fn writer(&self) -> Option<BorrowedFd<'_>> {
        if self.queue.is_empty() && !self.input_ends { None } else { self.input.as_ref().map(AsFd::as_fd) }
    }

    /// Whether more output can come.
    pub(super) fn has_output(&self) -> bool {
        self.stdout.is_some() || self.stderr.is_some()
    }

    /// Takes input for the script.
    pub(super) fn queue(&mut self, data: &[u8], end: bool) -> Result<(), &'static str> {
        if self.input.is_none() {
            return Err("this run has no input; say `input` when starting it");
        }
        if self.queue.len() + data.len() > PENDING_INPUT_BYTES_MAX {
            return Err("too much input waits for this run to read it");
        }
        self.queue.extend_from_slice(data);
        self.input_ends |= end;
        self.feed();
        Ok(())
    }

    /// Writes what the pipe takes.
    pub(super) fn feed(&mut self) {
        let Some(pipe) = &self.input else { return };
        while !self.queue.is_empty() {
            match rustix::io::write(pipe, &self.queue) {
                Ok(count) => drop(self.queue.drain(..count)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => return self.close_input(),
            }
        }
        if self.input_ends {
            self.close_input();
        }
    }

    /// Nobody reads any more, or all has been written.
    pub(super) fn close_input(&mut self) {
        self.input = None;
        self.queue.clear();
    }

    /// One read that does not wait; `None` when there was no whole character, or the stream has ended.
    pub(super) fn read(&mut self, name: StreamName) -> Option<String> {
        let mut chunk = [0; 16 * 1024];
        let slot = self.slot(name);
        let reader = slot.as_mut()?;
        match rustix::io::read(&reader.pipe, &mut chunk) {
            Ok(0) => {
                let rest = std::mem::take(&mut reader.cut);
                *slot = None;
                (!rest.is_empty()).then(|| String::from_utf8_lossy(&rest).into_owned())
            }
            Ok(count) => {
                reader.cut.extend_from_slice(&chunk[..count]);
                let text = take_text(&mut reader.cut);
                (!text.is_empty()).then_some(text)
            }
            Err(Errno::AGAIN | Errno::INTR) => None,
            Err(_) => {
                *slot = None;
                None
            }
        }
    }
}

/// Takes the text at the beginning of `bytes`, leaving a character that is not whole yet.
fn take_text(bytes: &mut Vec<u8>) -> String {
    let whole = match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(_) => bytes.len() - cut_bytes(bytes),
    };
    let rest = bytes.split_off(whole);
    let text = String::from_utf8_lossy(bytes).into_owned();
    *bytes = rest;
    text
}

/// How many bytes at the end begin a character without ending it.
fn cut_bytes(bytes: &[u8]) -> usize {
    (1..=3.min(bytes.len()))
        .find(|count| {
            let tail = &bytes[bytes.len() - count..];
            tail[0] >= 0xc0 && matches!(std::str::from_utf8(tail), Err(error) if error.error_len().is_none())
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_cut_character_waits_for_its_rest() {
        let mut bytes = "aé".as_bytes()[..2].to_vec();
        assert_eq!(super::take_text(&mut bytes), "a");
        bytes.push(0xa9);
        assert_eq!(super::take_text(&mut bytes), "é");
        let mut invalid = vec![b'x', 0xff, b'y'];
        assert_eq!(super::take_text(&mut invalid), "x\u{fffd}y");
        assert!(invalid.is_empty());
    }
}
