//! The worker roles: how the processes below the guardian start and what ties them to it. What a shell worker then does is
//! `rush_session::serve`.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;

use rush::{Session, sys};
use rustix::process::{Resource, Signal};

/// The descriptor from which the worker's own ones are numbered, above what scripts use by number.
const DESCRIPTOR_MIN: i32 = 100;
/// SIGINT and SIGPIPE by number, as the shell counts signals.
const SIGINT: i32 = 2;
const SIGPIPE: i32 = 13;

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
    session.import_environment(std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec())));
    rush_session::serve(session, socket)
}

/// A cell worker. Returns when the server has gone.
pub(crate) fn cell() -> io::Result<()> {
    become_worker()?;
    crate::cells::main(own_socket()?)
}

/// An actor worker. Returns when the server has gone.
pub(crate) fn actors() -> io::Result<()> {
    become_worker()?;
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
