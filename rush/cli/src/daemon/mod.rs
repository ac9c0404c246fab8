//! `rush daemon start|stop|status`: a pool of warm shells behind a Unix socket. The protocol is `rush_session`'s, the socket's
//! place and its safety are [`place`]'s, the client is `crate::connect`.

mod clock;
mod confinement;
pub(crate) mod place;
mod server;
mod shell;

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rush::sys;
use rush::{err, errln, out, outln};

use crate::guard;
use crate::limits::{DAEMON_PATIENCE_MS, POOL_SHELLS, POOL_SHELLS_MAX};

const USAGE: &str = "\
usage: rush daemon start [--pool N] [--foreground]
       rush daemon stop
       rush daemon status

Keeps N warm shells for `rush --connect -c COMMAND`. The socket is in $RUSH_DAEMON_DIR, else $XDG_RUNTIME_DIR/rush,
else /tmp/rush-UID.
";

/// Runs `rush daemon ...`; the exit status.
pub(crate) fn main(words: &[Vec<u8>]) -> i32 {
    let folder = place::folder(|name| std::env::var_os(name).map(std::os::unix::ffi::OsStringExt::into_vec));
    let words: Vec<String> = words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match &words[..] {
        ["start", rest @ ..] => match options(rest) {
            Some(options) => start(&folder, &options),
            None => return usage(),
        },
        ["stop"] => stop(&folder),
        ["status"] => status(&folder),
        ["--help"] => {
            out!("{USAGE}");
            return 0;
        }
        _ => return usage(),
    };
    match done {
        Ok(status) => status,
        Err(error) => {
            errln!("rush daemon: {error}");
            1
        }
    }
}

fn usage() -> i32 {
    err!("{USAGE}");
    2
}

struct Options {
    pool: usize,
    foreground: bool,
}

fn options(words: &[&str]) -> Option<Options> {
    let mut options = Options { pool: POOL_SHELLS, foreground: false };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--pool" => options.pool = words.next()?.parse().ok()?,
            "--foreground" => options.foreground = true,
            _ => return None,
        }
    }
    (1..=POOL_SHELLS_MAX).contains(&options.pool).then_some(options)
}

/// Starts the daemon and returns when clients can connect.
fn start(folder: &Path, options: &Options) -> io::Result<i32> {
    if options.foreground {
        return run(folder, options.pool);
    }
    if let Ok(pid) = running(folder) {
        outln!("rush daemon: running already, process {pid}");
        return Ok(0);
    }
    place::prepare(folder)?;
    let (mut reader, writer) = io::pipe()?;
    let mut command = Command::new("/proc/self/exe");
    // The environment of whoever starts the daemon is no client's business.
    command.args(["daemon", "start", "--foreground", "--pool", &options.pool.to_string()]).env_clear();
    command.env(place::FOLDER_VARIABLE, folder).current_dir("/").arg0("rush");
    command.stdin(Stdio::null()).stdout(Stdio::from(writer)).stderr(Stdio::inherit());
    let mut child = command.spawn()?;
    drop(command);
    let mut word = [0];
    if reader.read(&mut word)? == 1 {
        outln!("rush daemon: {} shells at {}", options.pool, place::socket(folder).display());
        return Ok(0);
    }
    child.wait()?;
    Ok(1)
}

/// The daemon itself: a guarded pair away from the terminal. One byte on standard output says that it serves.
fn run(folder: &Path, pool: usize) -> io::Result<i32> {
    // Whatever whoever starts it had open, ignored or held back is no client's.
    sys::close_above_standard();
    sys::forget_signal_settings();
    // Fails for a group's leader only, which is what it is for.
    let _ = rustix::process::setsid();
    let status = guard::run_guarded(|alive| {
        let ready = || {
            let _ = io::stdout().write_all(b"+").and_then(|()| io::stdout().flush());
            let _ = lead_nowhere();
        };
        match server::serve(folder, pool, alive, ready) {
            Ok(()) => 0,
            Err(error) => {
                errln!("rush daemon: {error}");
                1
            }
        }
    });
    let gone = status?;
    if running(folder).is_err() {
        let _ = std::fs::remove_file(place::socket(folder));
    }
    // Being told to stop is an ordinary end.
    Ok(if gone == 128 + SIGTERM { 0 } else { gone })
}

const SIGTERM: i32 = 15;

fn lead_nowhere() -> io::Result<()> {
    let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(rustix::stdio::dup2_stderr(&null)?)
}

/// The process that serves the socket.
fn running(folder: &Path) -> io::Result<i32> {
    let path: PathBuf = place::socket(folder);
    place::check_folder(folder)?;
    place::check_socket(&path)?;
    place::check_peer(UnixStream::connect(&path)?)
}

/// Ends the daemon, its pool and whatever their clients started.
fn stop(folder: &Path) -> io::Result<i32> {
    let Ok(pid) = running(folder) else {
        outln!("rush daemon: not running");
        return Ok(1);
    };
    sys::send_signal(pid, SIGTERM).map_err(io::Error::from_raw_os_error)?;
    let start = Instant::now();
    while place::socket(folder).exists() {
        if start.elapsed() > Duration::from_millis(DAEMON_PATIENCE_MS) {
            return Err(io::Error::other(format!("process {pid} does not end")));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    outln!("rush daemon: stopped");
    Ok(0)
}

fn status(folder: &Path) -> io::Result<i32> {
    match running(folder) {
        Ok(pid) => {
            outln!("rush daemon: running, process {pid}, {}", place::socket(folder).display());
            Ok(0)
        }
        Err(_) => {
            outln!("rush daemon: not running");
            Ok(1)
        }
    }
}
