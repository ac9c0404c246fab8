//! Runs a case through the in-process utility.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rush_utilities::{Context, Ended, Host, Input, Outcome};

use crate::case::{Case, Observed};

/// Standard input: a pipe or a file.
struct Standard<'f> {
    file: &'f File,
    seekable: bool,
}

impl Read for Standard<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Input for Standard<'_> {
    fn unread(&mut self, count: usize) -> bool {
        self.seekable && self.file.seek(SeekFrom::Current(-(count as i64))).is_ok()
    }
    fn extent(&self) -> Option<(u64, u64)> {
        let metadata = self.file.metadata().ok().filter(|metadata| metadata.is_file())?;
        Some((metadata.len(), (&mut &*self.file).stream_position().ok()?))
    }
}

/// Output that programs which the utility starts write to as well.
#[derive(Clone)]
struct Shared(Rc<RefCell<Vec<u8>>>, bool);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        if self.1 && !self.0.borrow().is_empty() {
            self.0.borrow_mut().clear();
            return Err(io::Error::from_raw_os_error(NO_SPACE));
        }
        Ok(())
    }
}

/// ENOSPC
const NO_SPACE: i32 = 28;

struct World {
    variables: Vec<(String, String)>,
    directory: PathBuf,
    output: Shared,
    errors: Shared,
    stdin: File,
}

impl Host for World {
    fn variable(&self, name: &str) -> Option<Vec<u8>> {
        self.variables.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone().into_bytes())
    }
    fn environment(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.variables.iter().map(|(n, v)| (n.clone().into_bytes(), v.clone().into_bytes())).collect()
    }
    fn now(&self) -> (i64, u32) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (now.as_secs() as i64, now.subsec_nanos())
    }
    fn sleep(&mut self, _: Duration) -> bool {
        true
    }
    fn run(
        &mut self,
        args: &[Vec<u8>],
        environment: Option<&[(Vec<u8>, Vec<u8>)]>,
        no_input: bool,
    ) -> io::Result<Ended> {
        let words: Vec<&OsStr> = args.iter().map(|word| OsStr::from_bytes(word)).collect();
        let own = self.environment();
        let variables = environment.unwrap_or(&own).iter();
        let variables = variables.map(|(name, value)| (OsStr::from_bytes(name), OsStr::from_bytes(value)));
        let stdin = if no_input { Stdio::null() } else { self.stdin.try_clone()?.into() };
        let (name, rest) = words.split_first().ok_or(io::ErrorKind::NotFound)?;
        let mut command = Command::new(name);
        if self.output.1 {
            command.stdout(File::options().write(true).open("/dev/full")?);
        }
        command.args(rest).current_dir(&self.directory).env_clear().envs(variables).stdin(stdin);
        let output = command.output()?;
        self.output.0.borrow_mut().extend(output.stdout);
        self.errors.0.borrow_mut().extend(output.stderr);
        Ok(match output.status.code() {
            Some(status) => Ended::Status(status),
            None => Ended::Signal(output.status.signal().unwrap_or(0)),
        })
    }
    fn output_is_terminal(&self) -> bool {
        false
    }
    fn umask(&self) -> u32 {
        0o022
    }
    fn user_id(&self) -> u32 {
        std::fs::metadata("/proc/self").map_or(0, |metadata| metadata.uid())
    }
}

/// When the utility that runs on this thread is to give up: made smaller, a program with a loop may have no end.
fn is_late() -> bool {
    UNTIL.with(|until| until.get().is_some_and(|until| std::time::Instant::now() > until))
}

thread_local! {
    static UNTIL: std::cell::Cell<Option<std::time::Instant>> = const { std::cell::Cell::new(None) };
}

/// What the utility makes of the case in `directory`; `None` if it declines. The panics of the utility are the caller's.
pub(crate) fn run(case: &Case, directory: &Path, stdin: &File) -> Option<Observed> {
    let (output, errors) = (Shared(Rc::default(), case.full), Shared(Rc::default(), false));
    let seekable = case.stdin != crate::Stdin::Pipe;
    let mut world = World {
        variables: crate::peer::environment(case),
        directory: directory.to_path_buf(),
        output: output.clone(),
        errors: errors.clone(),
        stdin: stdin.try_clone().ok()?,
    };
    UNTIL.set(Some(std::time::Instant::now() + std::time::Duration::from_secs(3)));
    let outcome = rush_utilities::run(&mut Context {
        args: &case.args,
        directory,
        input: &mut Standard { file: stdin, seekable },
        output: &mut output.clone(),
        errors: &mut errors.clone(),
        interrupted: is_late,
        before_read: &|_| {},
        host: &mut world,
    });
    let Outcome::Status(status) = outcome else { return None };
    let (output, errors) = (output.0.borrow().clone(), errors.0.borrow().clone());
    Some(Observed { output, errors, status, offset: None, tree: Vec::new() })
}
