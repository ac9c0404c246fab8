//! The session's descriptor table. Shell descriptors are virtual: a number maps to a shared `OpenFile`, which is an
//! operating-system descriptor, a capture in memory (command substitution) or input from memory (here-document,
//! builtin pipeline). Numbers become real only in a child. A subshell's table is a clone, so its redirections vanish
//! with it. Numbers the table does not know are what the process inherited.

use crate::{Bytes, sys};
use std::cell::RefCell;
use std::os::fd::RawFd;
use std::rc::Rc;

/// What a shell descriptor refers to.
#[derive(Debug)]
pub enum OpenFile {
    /// A descriptor of the process; closed on drop if owned.
    Os(OsFile),
    /// Output collected in memory; becomes a pipe in a forked child.
    Capture(RefCell<Capture>),
    /// Input from memory.
    Memory(RefCell<MemoryInput>),
}

/// A descriptor of the process, and what was read ahead of it. Invariant: whoever else can see the descriptor's
/// offset (a child, another reader) finds it as if nothing had been read ahead, because `settle` comes first.
#[derive(Debug)]
pub struct OsFile {
    fd: RawFd,
    /// Whether dropping closes it.
    owned: bool,
    ahead: RefCell<ReadAhead>,
}

/// Bytes read but not used, which can be put back.
#[derive(Debug, Default)]
struct ReadAhead {
    bytes: Bytes,
    position: usize,
    /// Whether the descriptor can seek, once known.
    seekable: Option<bool>,
}

impl ReadAhead {
    fn rest(&self) -> &[u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }
}

impl OsFile {
    fn seekable(&self) -> bool {
        *self.ahead.borrow_mut().seekable.get_or_insert_with(|| sys::is_seekable(self.fd))
    }

    /// Puts back what was read ahead.
    fn settle(&self) {
        let mut ahead = self.ahead.borrow_mut();
        let count = ahead.rest().len();
        if count > 0 {
            sys::seek_back(self.fd, count);
        }
        ahead.bytes.clear();
        ahead.position = 0;
    }

    fn read(&self, buffer: &mut [u8]) -> Result<usize, i32> {
        let mut ahead = self.ahead.borrow_mut();
        if ahead.rest().is_empty() {
            return sys::read(self.fd, buffer);
        }
        let count = ahead.rest().len().min(buffer.len());
        buffer[..count].copy_from_slice(&ahead.rest()[..count]);
        ahead.position += count;
        Ok(count)
    }

    fn unread(&self, count: usize) {
        let mut ahead = self.ahead.borrow_mut();
        match ahead.position.checked_sub(count) {
            Some(position) if !ahead.bytes.is_empty() => ahead.position = position,
            _ => {
                drop(ahead);
                self.settle();
                sys::seek_back(self.fd, count);
            }
        }
    }
}

/// Where captured output goes.
#[derive(Debug)]
pub enum Capture {
    /// Into this buffer.
    Buffer(Bytes),
    /// Into this descriptor: we are a forked child and the parent reads the other end.
    Pipe(RawFd),
}

/// Bytes not yet read by the shell.
#[derive(Debug)]
pub struct MemoryInput {
    /// The whole text.
    pub bytes: Bytes,
    /// How much has been read.
    pub position: usize,
    /// The descriptor it became when somebody had to see one; then the other fields are out of use.
    pub file: Option<RawFd>,
    /// Where it comes from, which decides what it is seen as.
    source: Source,
    /// The process that fills a pipe which does not hold all.
    feeder: Option<i32>,
}

/// What input from memory stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The output of the stages before: always a pipe.
    Pipeline,
    /// A here-document or here-string: a pipe that holds it, or a file if it is too long for one.
    HereDocument,
}

impl MemoryInput {
    /// Input holding `bytes`.
    pub fn new(bytes: Bytes, source: Source) -> MemoryInput {
        MemoryInput { bytes, position: 0, file: None, source, feeder: None }
    }

    /// A descriptor of the process with what is left, for whoever needs to see one; later reads share its position.
    pub fn materialize(&mut self) -> Option<RawFd> {
        if self.file.is_none() {
            self.file = match self.source {
                Source::HereDocument if !self.is_seen_as_pipe() => self.as_file(),
                _ => self.as_pipe(),
            };
            self.bytes = Bytes::new();
            self.position = 0;
        }
        self.file
    }

    fn is_seen_as_pipe(&self) -> bool {
        self.source == Source::Pipeline || self.bytes.len() <= crate::limits::HERE_DOCUMENT_PIPE_BYTES
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    fn as_file(&self) -> Option<RawFd> {
        let fd = sys::memory_file().ok()?;
        if sys::write_all(fd, self.rest()).is_err() {
            sys::close(fd);
            return None;
        }
        sys::rewind(fd);
        Some(fd)
    }

    /// A pipe with the rest in it, or behind it a process that writes it.
    fn as_pipe(&mut self) -> Option<RawFd> {
        let (reader, writer) = sys::pipe().ok()?;
        let fits = self.rest().len() <= sys::pipe_capacity(writer);
        if fits {
            let _ = sys::write_all(writer, self.rest());
        } else {
            match sys::fork() {
                Ok(0) => self.feed(writer),
                Ok(pid) => self.feeder = Some(pid),
                Err(_) => {
                    sys::close(reader);
                    sys::close(writer);
                    return None;
                }
            }
        }
        sys::close(writer);
        Some(reader)
    }

    /// In a child: writes the rest and ends. Holds nothing else open, so that nobody waits for an end of file because of it.
    fn feed(&self, writer: RawFd) -> ! {
        sys::close_others(writer);
        sys::signal_default(libc::SIGPIPE);
        sys::exit_now(i32::from(sys::write_all(writer, self.rest()).is_err()))
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        match self {
            OpenFile::Os(file) => {
                file.settle();
                if file.owned {
                    sys::close(file.fd);
                }
            }
            OpenFile::Capture(capture) => {
                if let Capture::Pipe(fd) = capture.get_mut() {
                    sys::close(*fd);
                }
            }
            OpenFile::Memory(input) => {
                let input = input.get_mut();
                if let Some(fd) = input.file {
                    sys::close(fd);
                }
                // Without a reader it ends by itself; where others still read, it is not waited for.
                if let Some(pid) = input.feeder {
                    sys::reap(pid);
                }
            }
        }
    }
}

impl OpenFile {
    /// A shared file owning `fd`.
    pub fn owned(fd: RawFd) -> Rc<OpenFile> {
        Rc::new(OpenFile::Os(OsFile { fd, owned: true, ahead: RefCell::default() }))
    }

    /// A shared file for `fd`, which belongs to someone else.
    pub fn borrowed(fd: RawFd) -> Rc<OpenFile> {
        Rc::new(OpenFile::Os(OsFile { fd, owned: false, ahead: RefCell::default() }))
    }

    /// Puts back what was read ahead, so that others find the offset where the shell's own reading stands.
    pub fn settle(&self) {
        if let OpenFile::Os(file) = self {
            file.settle();
        }
    }

    /// Reads a block ahead if nothing is left of the last one; what is not used stays here until `settle`. Only for
    /// a file that the shell opened itself: then nobody else moves its offset unseen.
    pub fn read_ahead(&self) -> Result<(), i32> {
        let OpenFile::Os(file) = self else { return Ok(()) };
        if !file.owned || !file.seekable() || !file.ahead.borrow().rest().is_empty() {
            return Ok(());
        }
        let mut ahead = file.ahead.borrow_mut();
        ahead.position = 0;
        ahead.bytes.resize(crate::limits::READ_AHEAD_BYTES, 0);
        let result = sys::read(file.fd, &mut ahead.bytes);
        ahead.bytes.truncate(*result.as_ref().unwrap_or(&0));
        result.map(|_| ())
    }

    /// The process's descriptor, if there is one, for asking about it; whoever reads it or hands it on calls `settle`
    /// first.
    pub fn os_descriptor(&self) -> Option<RawFd> {
        match self {
            OpenFile::Os(file) => Some(file.fd),
            OpenFile::Capture(capture) => match &*capture.borrow() {
                Capture::Pipe(fd) => Some(*fd),
                Capture::Buffer(_) => None,
            },
            OpenFile::Memory(input) => input.borrow().file,
        }
    }

    /// Writes all of `bytes`.
    pub fn write_all(&self, bytes: &[u8]) -> Result<(), i32> {
        match self {
            OpenFile::Os(file) => {
                file.settle();
                sys::write_all(file.fd, bytes)
            }
            OpenFile::Capture(capture) => match &mut *capture.borrow_mut() {
                Capture::Buffer(buffer) => {
                    buffer.extend_from_slice(bytes);
                    Ok(())
                }
                Capture::Pipe(fd) => sys::write_all(*fd, bytes),
            },
            OpenFile::Memory(_) => Err(libc::EBADF),
        }
    }

    /// Reads into `buffer`; 0 is the end of the file.
    pub fn read(&self, buffer: &mut [u8]) -> Result<usize, i32> {
        match self {
            OpenFile::Os(file) => file.read(buffer),
            OpenFile::Capture(_) => Err(libc::EBADF),
            OpenFile::Memory(input) => {
                let mut input = input.borrow_mut();
                if let Some(fd) = input.file {
                    return sys::read(fd, buffer);
                }
                let rest = input.bytes.get(input.position..).unwrap_or_default();
                let n = rest.len().min(buffer.len());
                buffer[..n].copy_from_slice(&rest[..n]);
                input.position += n;
                Ok(n)
            }
        }
    }

    /// Whether reading more than asked for could steal input from a child: true for pipes, terminals and sockets;
    /// files and memory can be put back with `unread`.
    pub fn can_unread(&self) -> bool {
        match self {
            OpenFile::Os(file) => file.seekable(),
            // What became a pipe takes nothing back.
            OpenFile::Memory(input) => input.borrow().file.is_none_or(sys::is_seekable),
            OpenFile::Capture(_) => false,
        }
    }

    /// Whether a program would find a file here that it can go back in.
    pub fn is_seen_as_file(&self) -> bool {
        match self {
            OpenFile::Memory(input) if input.borrow().file.is_none() => !input.borrow().is_seen_as_pipe(),
            _ => self.can_unread(),
        }
    }

    /// The size of the regular file that a program would find here, and where it stands in it.
    pub fn extent(&self) -> Option<(u64, u64)> {
        match self {
            OpenFile::Memory(input) if input.borrow().file.is_none() => {
                let input = input.borrow();
                (!input.is_seen_as_pipe()).then_some((input.bytes.len() as u64, input.position as u64))
            }
            _ => {
                self.settle();
                sys::file_extent(self.os_descriptor()?)
            }
        }
    }

    /// The process's descriptor for looking at it, made if there is none yet.
    pub fn visible_descriptor(&self) -> Option<RawFd> {
        match self {
            OpenFile::Memory(input) => input.borrow_mut().materialize(),
            _ => self.os_descriptor(),
        }
    }

    /// Puts the last `count` bytes read back, where `can_unread` says so.
    pub fn unread(&self, count: usize) {
        match self {
            OpenFile::Os(file) => file.unread(count),
            OpenFile::Memory(input) => {
                let mut input = input.borrow_mut();
                if let Some(fd) = input.file {
                    sys::seek_back(fd, count);
                    return;
                }
                input.position = input.position.saturating_sub(count);
            }
            OpenFile::Capture(_) => {}
        }
    }
}

/// One number of the table.
#[derive(Debug, Clone, Default)]
pub enum Entry {
    /// Whatever the process inherited under this number.
    #[default]
    Inherited,
    /// Closed by the shell.
    Closed,
    /// Open.
    Open(Rc<OpenFile>),
}

/// The table.
#[derive(Debug, Clone, Default)]
pub struct Descriptors {
    entries: Vec<Entry>,
}

impl Descriptors {
    /// The file under `number`, if open.
    pub fn get(&self, number: usize) -> Option<Rc<OpenFile>> {
        match self.entries.get(number).unwrap_or(&Entry::Inherited) {
            Entry::Open(file) => Some(file.clone()),
            Entry::Closed => None,
            Entry::Inherited => {
                let fd = RawFd::try_from(number).ok()?;
                sys::is_inheritable(fd).then(|| OpenFile::borrowed(fd))
            }
        }
    }

    /// Puts `entry` under `number` and returns what was there.
    pub fn replace(&mut self, number: usize, entry: Entry) -> Entry {
        if number >= self.entries.len() {
            self.entries.resize(number + 1, Entry::Inherited);
        }
        std::mem::replace(&mut self.entries[number], entry)
    }

    /// The entries, by number.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}
