//! In-process utilities: when they stand for a program, and the shell as the world they see.
//!
//! Invariant: a utility runs only where the program it stands for would: the name has no slash, PATH leads to one
//! of the system's own directories, and `set -o utilities` is on. What it declines is run as the program.

use crate::state::descriptors::{Entry, OpenFile};
use crate::state::names;
use crate::state::options::SetOption;
use crate::state::value::Attributes;
use crate::sys::resource;
use crate::{Bytes, Outcome, Session, limits, sys};
use rush_utilities::{Context, Ended, Host, Input};
use std::cell::RefCell;
use std::ffi::CString;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where the programs are that utilities stand for.
const STANDARD_DIRECTORIES: [&[u8]; 4] = [b"/usr/bin", b"/bin", b"/usr/sbin", b"/sbin"];

impl Session {
    /// Whether an in-process utility stands for the program `name` at `path`.
    pub(crate) fn utility_stands_for(&self, name: &[u8], path: &[u8]) -> bool {
        if !self.is(SetOption::Utilities)
            || !rush_utilities::exists(name)
            || rush_utilities::stands_alone(name)
            // Options behind operands, block sizes and more are others then.
            || self.variables.slot(names::POSIXLY_CORRECT).attributes.has(Attributes::EXPORT)
        {
            return false;
        }
        let directory = path.strip_suffix(name).and_then(|d| d.strip_suffix(b"/"));
        directory.is_some_and(|d| STANDARD_DIRECTORIES.contains(&d))
    }

    /// Whether SIGINT gives up what runs, as it would end a program. (A trap waits until the command has ended.)
    pub(crate) fn stops_at_interrupts(&self) -> bool {
        (self.interactive || self.interrupt_discards) && self.traps.get(libc::SIGINT as usize).is_none()
    }

    /// Whether `name` is a utility that stands for no program, and there is no program of its name.
    pub(crate) fn lone_utility(&mut self, name: &[u8]) -> bool {
        rush_utilities::stands_alone(name)
            && self.is(SetOption::Utilities)
            && self.search_path(name, true).is_empty()
    }

    /// Whether standard input or a file among `operands` is the file that standard output goes to. Programs say that it
    /// is, or read what they write for ever; it is left to them.
    fn reads_what_it_writes(&self, operands: &[Bytes]) -> bool {
        let regular = |number| sys::regular_file(self.descriptors.get(number)?.os_descriptor()?);
        let Some(output) = regular(1) else { return false };
        regular(0) == Some(output) || operands.iter().any(|operand| sys::identity(operand) == Some(output))
    }

    /// Runs `args` in this process if a utility stands for the program at `path` (or for none, and it is empty); `None`
    /// if the program must run.
    pub(crate) fn run_utility(&mut self, path: &[u8], args: &[Bytes]) -> Option<Outcome> {
        let name = args.first()?;
        if !(path.is_empty() || self.utility_stands_for(name, path))
            || args.iter().any(|a| names_descriptor(a))
        {
            return None;
        }
        if !path.is_empty() && (self.reads_what_it_writes(&args[1..]) || file_sizes_are_limited()) {
            return None;
        }
        self.flush_output();
        if !self.levels.is_empty() {
            self.drain_level_pipes();
        }
        let interrupted = sys::utility_stops;
        let output = Output::new(self.descriptors.get(1), interrupted);
        let output = Rc::new(RefCell::new(output));
        let mut input = StandardInput { file: self.descriptors.get(0), interrupted, output: output.clone() };
        let mut errors = Errors(self.descriptors.get(2));
        let terminal = self.descriptor_is_terminal(1);
        // `env` reads it from the cache.
        self.environment_block();
        let program = path.to_vec();
        // A reader that goes away ends the utility, not the shell around it.
        let shields =
            !sys::signal_is_ignored(libc::SIGPIPE) && self.traps.get(libc::SIGPIPE as usize).is_none();
        if shields {
            sys::signal_ignore(libc::SIGPIPE);
        }
        let bounded = sys::memory::Bounded::new();
        let outcome = rush_utilities::run(&mut Context {
            args,
            directory: Path::new(""),
            input: &mut input,
            output: &mut Shared(output.clone()),
            errors: &mut errors,
            interrupted,
            before_read: &|file: BorrowedFd<'_>| output.borrow_mut().before_read(file.as_raw_fd()),
            host: &mut Shell { session: self, program, terminal, shields },
        });
        if shields {
            self.unshield();
        }
        let exceeded = sys::memory::is_exceeded();
        drop(bounded);
        match outcome {
            rush_utilities::Outcome::Status(_) if exceeded && sys::utility_stop().is_none() => {
                let _ = errors.write_all(&[name, b": memory exhausted\n".as_slice()].concat());
                Some(Ok(rush_utilities::trouble_status(name)))
            }
            rush_utilities::Outcome::Status(_) if interrupted() => Some(Ok(self.stopped_status())),
            rush_utilities::Outcome::Status(status) => Some(Ok(status)),
            rush_utilities::Outcome::Fallthrough => None,
        }
    }
}

impl Session {
    /// The status of a utility that a signal has ended.
    fn stopped_status(&self) -> crate::Status {
        match sys::utility_stop() {
            // The shell ends, and its EXIT trap sees the status of what came before.
            _ if sys::fatal_pending().is_some() => self.status,
            // With this a host says that what runs is to end.
            Some(libc::SIGURG) => 128 + libc::SIGTERM,
            Some(signal) => 128 + signal,
            None => 0,
        }
    }
}

/// Whether an argument names a descriptor: only a child has the shell's descriptors under their numbers.
fn names_descriptor(argument: &[u8]) -> bool {
    [&b"/dev/fd/"[..], b"/dev/std", b"/proc/self/"].iter().any(|prefix| argument.starts_with(prefix))
}

/// Whether a file that grows too large ends the process that writes it: then that must not be the shell.
#[allow(clippy::unnecessary_cast, reason = "the type of a resource differs between C libraries")]
fn file_sizes_are_limited() -> bool {
    resource::limits(libc::RLIMIT_FSIZE as u32).is_ok_and(|limits| limits.soft != libc::RLIM_INFINITY)
}

/// The error with which a utility ends when its host's SIGINT gives up the run. (`Interrupted` would be tried again.)
fn given_up() -> io::Error {
    io::Error::other("interrupted")
}

struct StandardInput {
    file: Option<Rc<OpenFile>>,
    interrupted: fn() -> bool,
    output: Rc<RefCell<Output>>,
}

impl Read for StandardInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(file) = &self.file else { return Err(io::Error::from_raw_os_error(libc::EBADF)) };
        if let Some(fd) = file.os_descriptor() {
            self.output.borrow_mut().before_read(fd);
        }
        let read = file.read(buffer).map_err(io::Error::from_raw_os_error);
        if (self.interrupted)() { Err(given_up()) } else { read }
    }
}

impl Input for StandardInput {
    fn unread(&mut self, count: usize) -> bool {
        match &self.file {
            Some(file) if file.is_seen_as_file() => {
                file.unread(count);
                true
            }
            _ => false,
        }
    }

    fn extent(&self) -> Option<(u64, u64)> {
        self.file.as_ref()?.extent()
    }
}

/// A buffered descriptor.
struct Output {
    file: Option<Rc<OpenFile>>,
    buffer: Bytes,
    interrupted: fn() -> bool,
    /// What went wrong when output was passed on before a read: the next write tells.
    failed: Option<io::Error>,
}

impl Output {
    fn new(file: Option<Rc<OpenFile>>, interrupted: fn() -> bool) -> Output {
        Output { file, buffer: Bytes::new(), interrupted, failed: None }
    }

    fn pass_on(&self, bytes: &[u8]) -> io::Result<()> {
        let Some(file) = &self.file else { return Err(io::Error::from_raw_os_error(libc::EBADF)) };
        file.write_all(bytes).map_err(io::Error::from_raw_os_error)
    }

    /// Passes on what is there if a reader of `input` would have to wait: whoever reads the output must not wait with it.
    fn before_read(&mut self, input: RawFd) {
        if !self.buffer.is_empty() && sys::poll_readable(&[input], 0).is_empty() {
            self.failed = self.flush().err();
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.interrupted)() {
            self.buffer.clear();
            return Err(given_up());
        }
        // OPTIMIZATION: a block goes on its way as it is. Equals collecting it first.
        if bytes.len() >= limits::OUTPUT_BUFFER_BYTES {
            self.flush()?;
            self.pass_on(bytes)?;
            return Ok(bytes.len());
        }
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= limits::OUTPUT_BUFFER_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.buffer.is_empty() {
            return Ok(());
        }
        if (self.interrupted)() {
            self.buffer.clear();
            return Err(given_up());
        }
        let buffer = std::mem::take(&mut self.buffer);
        let written = self.pass_on(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
        written
    }
}

/// Standard output, which reading may pass on.
struct Shared(Rc<RefCell<Output>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

/// Standard error: nothing waits, so that it comes between what is written to the same file before and after.
struct Errors(Option<Rc<OpenFile>>);

impl Write for Errors {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(file) = &self.0 else { return Err(io::Error::from_raw_os_error(libc::EBADF)) };
        file.write_all(bytes).map_err(io::Error::from_raw_os_error)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Shell<'s> {
    session: &'s mut Session,
    program: Bytes,
    terminal: bool,
    /// SIGPIPE is ignored while the utility runs; programs that it starts must not inherit that.
    shields: bool,
}

impl Shell<'_> {
    fn find(&mut self, name: &[u8]) -> io::Result<Bytes> {
        if name.contains(&b'/') {
            return Ok(name.to_vec());
        }
        let found = self.session.search_path(name, true).into_iter().next();
        found.ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))
    }

    fn launch(&mut self, path: &[u8], args: &[Bytes]) -> io::Result<Ended> {
        if self.shields {
            self.session.unshield();
        }
        let launch = super::Launch::new(self.session);
        let started = self.session.spawn(path, args, &launch);
        if self.shields {
            sys::signal_ignore(libc::SIGPIPE);
        }
        launch.collect(self.session);
        let pid = started.map_err(io::Error::from_raw_os_error)?;
        let status = self.session.wait_foreground(pid, args);
        Ok(match self.session.killed.take() {
            None => Ended::Status(status),
            Some((_, raw)) => {
                // `env` would have become the program; the others tell of it themselves.
                self.session.killed = Some((pid, raw)).filter(|_| self.program.ends_with(b"env"));
                Ended::Signal(status - 128)
            }
        })
    }
}

impl Host for Shell<'_> {
    fn variable(&self, name: &str) -> Option<Bytes> {
        let id = self.session.variables.names.find(name.as_bytes())?;
        let slot = self.session.variables.slot(id);
        let exported = slot.attributes.has(crate::state::value::Attributes::EXPORT);
        if exported { slot.value.scalar().map(|v| v.into_owned()) } else { None }
    }

    fn environment(&self) -> Vec<(Bytes, Bytes)> {
        let mut all = Vec::new();
        if let Some((_, block)) = &self.session.environment {
            for entry in block.iter().map(|e| e.as_bytes()) {
                if let Some(at) = entry.iter().position(|&b| b == b'=') {
                    let value = entry.get(at + 1..).unwrap_or_default();
                    all.push((entry.get(..at).unwrap_or_default().to_vec(), value.to_vec()));
                }
            }
        }
        all.push((b"_".to_vec(), self.program.clone()));
        all
    }

    fn now(&self) -> (i64, u32) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (now.as_secs() as i64, now.subsec_nanos())
    }

    fn sleep(&mut self, duration: Duration) -> bool {
        let start = Instant::now();
        loop {
            let left = duration.saturating_sub(start.elapsed());
            if left.is_zero() {
                return true;
            }
            // No descriptor: only time or a signal ends the wait.
            match resource::wait_readable(-1, Some(left)) {
                Err(_) if sys::utility_stops() => return false,
                _ => {}
            }
        }
    }

    fn run(
        &mut self,
        args: &[Bytes],
        environment: Option<&[(Bytes, Bytes)]>,
        no_input: bool,
    ) -> io::Result<Ended> {
        let path = self.find(args.first().map_or(b"", Vec::as_slice))?;
        let saved_input = if no_input {
            let null = sys::open(b"/dev/null", libc::O_RDONLY, 0).map_err(io::Error::from_raw_os_error)?;
            Some(self.session.descriptors.replace(0, Entry::Open(OpenFile::owned(null))))
        } else {
            None
        };
        let saved_environment = environment.map(|all| {
            let entries = all.iter().filter(|(name, _)| name != b"_");
            let block =
                entries.filter_map(|(name, value)| CString::new([name, value.as_slice()].join(&b'=')).ok());
            let generation = self.session.variables.export_generation;
            self.session.environment.replace((generation, Rc::new(block.collect())))
        });
        let result = self.launch(&path, args);
        if let Some(environment) = saved_environment {
            self.session.environment = environment;
        }
        if let Some(input) = saved_input {
            self.session.descriptors.replace(0, input);
        }
        result
    }

    fn output_is_terminal(&self) -> bool {
        self.terminal
    }

    fn umask(&self) -> u32 {
        resource::umask()
    }

    fn user_id(&self) -> u32 {
        resource::effective_ids().0
    }
}
