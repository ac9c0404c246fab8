//! `rush session`: sessions over standard input and output, for clients that cannot pass descriptors. One thread waits in
//! `poll` for the client, the shells and the pipes of their runs; the shells speak the socket protocol (`rush_session::serve`).
//!
//! The host is one of a guarded pair: when the client goes, or either process of the pair, everything below ends.

mod run;

use std::collections::BTreeMap;
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;

use rush::errln;
use rush::{Session, signals, sys};
use rush_session::{
    Decoder, Fork, Frames, FromHost, FromShell, RemoteRun, StreamName, ToHost, ToShell, VERSION, encode,
};
use rustix::event::{PollFd, PollFlags, poll};

use crate::guard;
use crate::limits::SHELLS_MAX;
use run::ActiveRun;

/// Signals by number.
const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;
const SIGPIPE: i32 = 13;
const SIGURG: i32 = 23;
/// HUP, QUIT, KILL and TERM.
const ENDS_UTILITIES: [i32; 4] = [1, 3, SIGKILL, 15];

/// Runs `rush session`; the exit status.
pub(crate) fn main() -> i32 {
    match guard::run_guarded(|alive| match serve(alive) {
        Ok(()) => 0,
        Err(error) => {
            errln!("rush session: {error}");
            1
        }
    }) {
        Ok(status) => status,
        Err(error) => {
            errln!("rush session: {error}");
            1
        }
    }
}

fn serve(alive: PipeReader) -> io::Result<()> {
    let mut host = Host::start(alive)?;
    host.say(&FromHost::Ready { pid: std::process::id(), version: VERSION })?;
    while host.turn()? {}
    Ok(())
}

/// A shell process: a session, or a snapshot that waits.
struct Shell {
    pid: i32,
    handle: OwnedFd,
    frames: Frames,
    run: Option<ActiveRun>,
    snapshot: bool,
}

struct Host {
    alive: PipeReader,
    input: Decoder,
    shells: BTreeMap<u64, Shell>,
    last: u64,
    /// Runs that ended but whose pipes a background process still holds.
    lingering: Vec<ActiveRun>,
}

/// What a descriptor that became ready belongs to.
#[derive(Clone, Copy)]
enum Source {
    Client,
    Guard,
    Answer(u64),
    Ended(u64),
    Output(u64, StreamName),
    Input(u64),
    Lingering(usize, StreamName),
}

impl Host {
    fn start(alive: PipeReader) -> io::Result<Host> {
        sys::signal_ignore(SIGPIPE);
        let mut host = Host {
            alive,
            input: Decoder::default(),
            shells: BTreeMap::new(),
            last: 0,
            lingering: Vec::new(),
        };
        let (ours, theirs) = UnixStream::pair()?;
        let pid = sys::fork().map_err(io::Error::from_raw_os_error)?;
        if pid == 0 {
            drop(ours);
            sys::exit_now(i32::from(be_shell(theirs).is_err()));
        }
        let mut frames = Frames::new(ours.into());
        expect_ready(&mut frames)?;
        host.add(pid, frames, false)?;
        Ok(host)
    }

    fn add(&mut self, pid: i32, frames: Frames, snapshot: bool) -> io::Result<u64> {
        self.last += 1;
        let handle = sys::owned_process_handle(pid)?;
        self.shells.insert(self.last, Shell { pid, handle, frames, run: None, snapshot });
        Ok(self.last)
    }

    fn say(&self, message: &FromHost) -> io::Result<()> {
        let mut bytes = &encode(message, 0)?[..];
        while !bytes.is_empty() {
            match rustix::io::write(rustix::stdio::stdout(), bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn fail(&self, id: u64, message: impl Into<String>) -> io::Result<()> {
        self.say(&FromHost::Failed { id, message: message.into() })
    }

    /// Waits for something to happen and handles it; false when the client or the guard has gone.
    fn turn(&mut self) -> io::Result<bool> {
        for source in self.wait()? {
            match source {
                Source::Guard => return Ok(false),
                Source::Client => {
                    if !self.read_client()? {
                        return Ok(false);
                    }
                }
                Source::Output(session, name) => self.read_output(session, name)?,
                Source::Input(session) => {
                    if let Some(run) = self.run(session) {
                        run.feed();
                    }
                }
                Source::Answer(session) => self.hear(session)?,
                Source::Ended(session) => self.shell_ended(session)?,
                Source::Lingering(at, name) => self.read_lingering(at, name)?,
            }
        }
        self.lingering.retain(ActiveRun::has_output);
        Ok(true)
    }

    fn wait(&self) -> io::Result<Vec<Source>> {
        let mut sources = vec![Source::Client, Source::Guard];
        let mut waits = vec![
            PollFd::from_borrowed_fd(rustix::stdio::stdin(), PollFlags::IN),
            PollFd::new(&self.alive, PollFlags::IN),
        ];
        for (number, shell) in &self.shells {
            // Output before the answer that the run has ended.
            if let Some(run) = &shell.run {
                for (name, reader) in run.readers() {
                    sources.push(Source::Output(*number, name));
                    waits.push(PollFd::from_borrowed_fd(reader, PollFlags::IN));
                }
                if let Some(writer) = run.writer() {
                    sources.push(Source::Input(*number));
                    waits.push(PollFd::from_borrowed_fd(writer, PollFlags::OUT));
                }
            }
            sources.push(Source::Answer(*number));
            waits.push(PollFd::from_borrowed_fd(shell.frames.descriptor(), PollFlags::IN));
            sources.push(Source::Ended(*number));
            waits.push(PollFd::new(&shell.handle, PollFlags::IN));
        }
        for (at, run) in self.lingering.iter().enumerate() {
            for (name, reader) in run.readers() {
                sources.push(Source::Lingering(at, name));
                waits.push(PollFd::from_borrowed_fd(reader, PollFlags::IN));
            }
        }
        match poll(&mut waits, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = sources.into_iter().zip(&waits).filter(|(_, wait)| !wait.revents().is_empty());
        Ok(ready.map(|(source, _)| source).collect())
    }

    fn run(&mut self, session: u64) -> Option<&mut ActiveRun> {
        self.shells.get_mut(&session)?.run.as_mut()
    }

    fn run_by_id(&mut self, id: u64) -> Option<(&mut ActiveRun, i32)> {
        let shell = self.shells.values_mut().find(|shell| shell.run.as_ref().is_some_and(|r| r.id == id))?;
        let pid = shell.pid;
        shell.run.as_mut().map(|run| (run, pid))
    }

    /// Reads what the client sent; false at the end.
    fn read_client(&mut self) -> io::Result<bool> {
        let mut chunk = [0; 16 * 1024];
        match rustix::io::read(rustix::stdio::stdin(), &mut chunk) {
            Ok(0) => return Ok(false),
            Ok(count) => self.input.push(&chunk[..count]),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
        loop {
            match self.input.next_frame::<ToHost>() {
                Ok(Some(Ok((ToHost::Exit, _)))) => return Ok(false),
                Ok(Some(Ok((message, _)))) => self.handle(message)?,
                Ok(Some(Err(bad))) => {
                    self.fail(bad.id, format!("{}; the protocol is in docs/rush-sessions.md", bad.message))?;
                }
                Ok(None) => return Ok(true),
                Err(error) => {
                    // The stream is of no use after it.
                    self.fail(0, format!("{error}; the protocol is in docs/rush-sessions.md"))?;
                    return Err(error);
                }
            }
        }
    }

    fn handle(&mut self, message: ToHost) -> io::Result<()> {
        match message {
            ToHost::Run(run) => self.start_run(run),
            ToHost::Stdin { id, data, end } => match self.run_by_id(id) {
                Some((run, _)) => match run.queue(data.as_bytes(), end) {
                    Ok(()) => Ok(()),
                    Err(message) => self.fail(id, message),
                },
                None => self.fail(id, "no such run takes input"),
            },
            ToHost::Signal { id, signal } => self.signal(id, &signal),
            ToHost::Snapshot { id, session } => match self.copy(session) {
                Ok((pid, frames)) => {
                    let snapshot = self.add(pid, frames, true)?;
                    self.say(&FromHost::Snapshotted { id, snapshot })
                }
                Err(message) => self.fail(id, message),
            },
            ToHost::Fork { id, session } => match self.copy(session) {
                Ok((pid, frames)) => {
                    let session = self.add(pid, frames, false)?;
                    self.say(&FromHost::Forked { id, session })
                }
                Err(message) => self.fail(id, message),
            },
            ToHost::Restore { id, session, snapshot } => self.restore(id, session, snapshot),
            ToHost::Close { id, session } => match self.shells.remove(&session) {
                Some(shell) => {
                    self.end(shell);
                    self.say(&FromHost::Closed { session, signal: None })
                }
                None => self.fail(id, format!("there is no session {session}")),
            },
            ToHost::Exit => Ok(()),
        }
    }

    fn start_run(&mut self, request: RemoteRun) -> io::Result<()> {
        let RemoteRun { id, session, .. } = request;
        let shell = match self.shells.get_mut(&session) {
            Some(shell) if shell.snapshot => return self.fail(id, "that is a snapshot; restore or fork it"),
            Some(shell) if shell.run.is_some() => {
                return self.fail(id, "a script is running in that session");
            }
            Some(shell) => shell,
            None => return self.fail(id, format!("there is no session {session}")),
        };
        match ActiveRun::start(request, &shell.frames) {
            Ok(run) => {
                shell.run = Some(run);
                Ok(())
            }
            Err(error) => self.fail(id, error.to_string()),
        }
    }

    fn signal(&mut self, id: u64, name: &str) -> io::Result<()> {
        let Some(number) = signals::number_of(name.as_bytes()) else {
            return self.fail(id, format!("{name}: no such signal"));
        };
        let Some((_, shell)) = self.run_by_id(id) else { return self.fail(id, "no such run") };
        // The shell comes first: it would go on with the next command when the program it waits for has ended.
        // A utility that runs in the shell's own process ends as a program would.
        match number {
            SIGINT => sys::send_signal(shell, SIGINT),
            _ if ENDS_UTILITIES.contains(&number) => sys::send_signal(shell, SIGURG),
            _ => Ok(()),
        }
        // A shell that has died is told of by itself.
        .unwrap_or_default();
        for pid in guard::live_below(shell, &self.others(shell)) {
            let _ = sys::send_signal(pid, number);
        }
        Ok(())
    }

    /// A copy of a shell in which nothing runs.
    fn copy(&mut self, session: u64) -> Result<(i32, Frames), String> {
        if self.shells.len() >= SHELLS_MAX {
            return Err(format!("{SHELLS_MAX} sessions and snapshots are the most; close one"));
        }
        let shell = self.shells.get_mut(&session).ok_or_else(|| format!("there is no session {session}"))?;
        if shell.run.is_some() {
            return Err("a script is running in that session".into());
        }
        let mut copied = || -> io::Result<(i32, Frames)> {
            let (ours, theirs) = UnixStream::pair()?;
            shell.frames.send(&ToShell::Fork(Fork { id: 0 }), &[theirs.as_fd()])?;
            drop(theirs);
            let pid = match shell.frames.receive::<FromShell>()? {
                Some((FromShell::Forked { pid, .. }, _)) => pid as i32,
                Some((FromShell::Failed { message, .. }, _)) => return Err(io::Error::other(message)),
                _ => return Err(io::Error::other("the session ended while it was being copied")),
            };
            let mut frames = Frames::new(ours.into());
            expect_ready(&mut frames)?;
            Ok((pid, frames))
        };
        copied().map_err(|error| error.to_string())
    }

    fn restore(&mut self, id: u64, session: u64, snapshot: u64) -> io::Result<()> {
        if !self.shells.get(&snapshot).is_some_and(|shell| shell.snapshot) {
            return self.fail(id, format!("{snapshot} is no snapshot"));
        }
        if self.shells.get(&session).is_none_or(|shell| shell.snapshot) {
            return self.fail(id, format!("there is no session {session}"));
        }
        let (pid, frames) = match self.copy(snapshot) {
            Ok(copied) => copied,
            Err(message) => return self.fail(id, message),
        };
        let shell =
            Shell { pid, handle: sys::owned_process_handle(pid)?, frames, run: None, snapshot: false };
        if let Some(old) = self.shells.insert(session, shell) {
            self.end(old);
        }
        self.say(&FromHost::Restored { id, session })
    }

    fn read_output(&mut self, session: u64, name: StreamName) -> io::Result<()> {
        let Some(run) = self.run(session) else { return Ok(()) };
        let id = run.id;
        match run.read(name) {
            Some(data) => self.say(&FromHost::Output { id, stream: name, data }),
            None => Ok(()),
        }
    }

    fn read_lingering(&mut self, at: usize, name: StreamName) -> io::Result<()> {
        let Some(run) = self.lingering.get_mut(at) else { return Ok(()) };
        let id = run.id;
        match run.read(name) {
            Some(data) => self.say(&FromHost::Output { id, stream: name, data }),
            None => Ok(()),
        }
    }

    /// Takes a shell's answer to its run.
    fn hear(&mut self, session: u64) -> io::Result<()> {
        let Some(shell) = self.shells.get_mut(&session) else { return Ok(()) };
        let answer = match shell.frames.receive::<FromShell>() {
            Ok(Some((answer, _))) => answer,
            // Its process handle says how it ended.
            _ => return Ok(()),
        };
        let Some(mut run) = shell.run.take() else { return Ok(()) };
        let id = run.id;
        for name in [StreamName::Stdout, StreamName::Stderr] {
            while let Some(data) = run.read(name) {
                self.say(&FromHost::Output { id, stream: name, data })?;
            }
        }
        run.close_input();
        self.lingering.push(run);
        match answer {
            FromShell::Done(done) => self.say(&FromHost::Done { session, done }),
            FromShell::Failed { message, .. } => self.fail(id, message),
            _ => self.fail(id, "the shell gave an answer to something else"),
        }
    }

    fn shell_ended(&mut self, session: u64) -> io::Result<()> {
        // What it said last comes first.
        self.hear(session)?;
        let Some(shell) = self.shells.remove(&session) else { return Ok(()) };
        let status = sys::wait_child(shell.pid).map_or(0, |(_, status)| status);
        if let Some(run) = shell.run {
            self.fail(run.id, "the session's process died")?;
        }
        self.end_strays();
        self.say(&FromHost::Closed { session, signal: sys::term_signal(status).and_then(signals::name) })
    }

    /// Ends a shell and all below it.
    fn end(&mut self, shell: Shell) {
        // First what is below: a copy's orphans would go to the session it was copied from.
        guard::end_below(shell.pid, &self.others(shell.pid));
        let _ = sys::send_signal(shell.pid, SIGKILL);
        let _ = sys::wait_child(shell.pid);
        self.end_strays();
    }

    fn end_strays(&self) {
        guard::end_all_below(&self.others(0));
    }

    /// The shells but `pid`.
    fn others(&self, pid: i32) -> Vec<i32> {
        self.shells.values().map(|shell| shell.pid).filter(|other| *other != pid).collect()
    }
}

/// The shell's process: a session of its own, which serves until its host goes.
fn be_shell(socket: UnixStream) -> io::Result<()> {
    rustix::process::setsid()?;
    rush_session::adopt_orphans()?;
    rush_session::end_with_parent()?;
    let socket = rustix::io::fcntl_dupfd_cloexec(&socket, DESCRIPTOR_MIN)?;
    let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    sys::signal_default(SIGPIPE);
    sys::signal_catch(SIGINT);
    sys::signal_catch(SIGURG);
    let mut session = Session::new(b"rush".to_vec());
    let environment = std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec()));
    session.import_environment(environment);
    rush_session::serve(session, socket)
}

/// The descriptor from which a shell's own ones are numbered, above what scripts use by number.
const DESCRIPTOR_MIN: i32 = 100;

fn expect_ready(frames: &mut Frames) -> io::Result<()> {
    match frames.receive::<FromShell>()? {
        Some((FromShell::Ready { .. }, _)) => Ok(()),
        _ => Err(io::Error::other("the shell did not get ready")),
    }
}
