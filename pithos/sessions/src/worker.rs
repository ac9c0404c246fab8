//! The worker roles: how the processes below the guardian start and what ties them to it. What a shell worker then does is
//! `rush_session::serve`.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;

use rush::exec::script::FileLines;
use rush::state::descriptors::OpenFile;
use rush::{Session, sys};
use rustix::process::{Resource, Signal};

use crate::{SCRIPT_ROLE, compiling};

/// The descriptor from which the worker's own ones are numbered, above what scripts use by number.
const DESCRIPTOR_MIN: i32 = 100;
/// SIGINT and SIGPIPE by number, as the shell counts signals.
const SIGINT: i32 = 2;
const SIGPIPE: i32 = 13;
/// And those by which the kernel tells of wrong accesses.
const SIGSEGV: i32 = 11;
const SIGBUS: i32 = 7;

/// Takes the socket that stands on standard input, and leaves nothing in its place.
pub(crate) fn own_socket() -> io::Result<OwnedFd> {
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), DESCRIPTOR_MIN)?;
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    Ok(socket)
}

/// A shell worker. Returns when the client has gone or asked for the end.
pub(crate) fn shell() -> io::Result<()> {
    become_worker()?;
    let socket = own_socket()?;
    sys::signal_default(SIGPIPE);
    sys::signal_catch(SIGINT);
    let mut session = Session::new(b"rush".to_vec());
    session.import_environment(environment());
    session.script_role = Some(SCRIPT_ROLE.as_bytes());
    name_a_shell(&mut session);
    rush_session::serve(session, socket)
}

/// A script without `#!`, started by a session: `arguments` are its path and its own arguments; the status.
pub(crate) fn script(arguments: &[String]) -> io::Result<u8> {
    let mut words = std::env::args_os().map(OsStringExt::into_vec);
    let name = words.next().unwrap_or_default();
    // As bytes: arguments need not be text.
    let mut words = words.skip(1);
    let Some(path) = words.next().filter(|_| !arguments.is_empty()) else {
        return Err(io::Error::other("a script is started by a session only"));
    };
    let mut session = Session::new(name);
    session.import_environment(environment());
    session.script_role = Some(SCRIPT_ROLE.as_bytes());
    name_a_shell(&mut session);
    session.positional = words.collect::<Vec<_>>().into();
    let file = sys::open(&path, 0, 0).map_err(io::Error::from_raw_os_error)?;
    session.set_name(path);
    let result = session.run_script(Box::new(FileLines::new(OpenFile::owned(file))));
    Ok(session.finish(result) as u8)
}

/// The command of [`crate::once`]: a script, or words, on this process's own standard streams; the status.
pub(crate) fn once() -> io::Result<u8> {
    sys::keep_closed_descriptors();
    become_worker()?;
    // The last two as well: this runtime's own handlers would swallow them when they are sent.
    [SIGPIPE, SIGSEGV, SIGBUS].into_iter().for_each(sys::signal_default);
    crate::once::take_signals()?;
    let mut words = std::env::args_os().skip(2).map(OsStringExt::into_vec);
    let kind = words.next();
    let mut session = Session::new(b"pithos".to_vec());
    session.import_environment(environment());
    session.script_role = Some(SCRIPT_ROLE.as_bytes());
    name_a_shell(&mut session);
    let script = match (kind.as_deref(), words.next()) {
        (Some(b"script"), Some(script)) => script,
        (Some(b"words"), Some(program)) => {
            // It takes this process's place, and gets the signals itself.
            session.positional = std::iter::once(program).chain(words).collect::<Vec<_>>().into();
            b"exec -- \"$@\"".to_vec()
        }
        _ => return Err(io::Error::other("a command is started by pithos run only")),
    };
    let result = session.run_text(&script, 1);
    Ok(session.finish(result) as u8)
}

fn environment() -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
    std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec()))
}

/// `$BASH` is what scripts start to get another shell: a program that is there, and this executable is none.
fn name_a_shell(session: &mut Session) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = ["bash", "sh"].iter().find_map(|name| {
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
    });
    if let Some(shell) = found.and_then(|shell| shell.into_os_string().into_string().ok()) {
        let word = format!("BASH='{}'", shell.replace('\'', "'\\''"));
        let _ = session.run_text(word.as_bytes(), 1);
    }
}

/// A cell worker. Returns when the server has gone.
pub(crate) fn cell(arguments: &[String]) -> io::Result<()> {
    become_worker()?;
    compiling::settle(arguments)?;
    crate::cells::main(own_socket()?)
}

/// An actor worker. Returns when the server has gone.
pub(crate) fn actors(arguments: &[String]) -> io::Result<()> {
    become_worker()?;
    compiling::settle(arguments)?;
    crate::actors::main(own_socket()?)
}

/// Away from the terminal, adopting what its scripts leave behind, and gone when the guardian goes.
fn become_worker() -> io::Result<()> {
    // Done already when the sandbox started it.
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // A core dump of a shell that limits killed helps nobody.
    let mut core = rustix::process::getrlimit(Resource::Core);
    core.current = Some(0);
    rustix::process::setrlimit(Resource::Core, core)?;
    Ok(())
}
