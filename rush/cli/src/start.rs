//! Starting a session from the command line: environment, start-up files, and what to run.

use crate::arguments::{self, Arguments};
use crate::interactive;
use rush::exec::script::{FileLines, StandardInputLines};
use rush::perf::Perf;
use rush::state::descriptors::OpenFile;
use rush::state::names;
use rush::state::options::{SetOption, Shopt};
use rush::{Session, sys};
use std::os::unix::ffi::OsStringExt;
use std::rc::Rc;

use rush::{err, out, outln};

/// What it was built of: the release builds of this project say so.
const BUILD: &str = match option_env!("PITHOS_REVISION") {
    Some(revision) => revision,
    None => "built without a revision",
};

const USAGE: &str = "\
usage: rush [option ...] [FILE [ARG ...]]
       rush [option ...] -c COMMAND [NAME [ARG ...]]
       rush --check [FILE ...]                       tells what bash would do otherwise
       rush --connect -c COMMAND [NAME [ARG ...]]    at the daemon, if it runs
       rush daemon start|stop|status
       rush session                                  framed sessions on stdin and stdout

  -c              run COMMAND
  -s              read commands from standard input
  -i              be interactive
  -l, --login     be a login shell
  -o OPTION       as `set -o OPTION`; +o turns it off
  -O OPTION       as `shopt -s OPTION`; +O turns it off
  -r, --restricted
                  be a restricted shell
  --posix         follow POSIX where bash differs
  --norc          do not read the start-up file of interactive shells
  --noprofile     do not read the start-up files of login shells
  --rcfile FILE   read FILE instead of ~/.rushrc or ~/.bashrc
  --json          with -c: print one JSON object about the run (docs/rush-json.md)
  --json-limit N  keep N bytes of each stream in it
  --version       print the version
  --help          print this
  and the letters of `set` (-e -u -x ...)
";

/// The environment of a shell: names and values.
pub(crate) type Environment = Vec<(Vec<u8>, Vec<u8>)>;

/// Runs the command line with the process's own environment; the exit status.
pub(crate) fn run(words: &[Vec<u8>]) -> i32 {
    let environment = std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec()));
    let (status, session) = run_words(words, environment.collect());
    // The process ends now, and with it goes all of this: taking it apart would be for nothing.
    session.map(Box::leak);
    status
}

/// Runs the command line; the exit status, and the shell if there was one.
pub(crate) fn run_words(words: &[Vec<u8>], environment: Environment) -> (i32, Option<Box<Session>>) {
    let name = words.first().cloned().unwrap_or_else(|| b"rush".to_vec());
    let arguments = match arguments::parse(words.get(1..).unwrap_or_default()) {
        Ok(arguments) => arguments,
        Err(message) => {
            let usage = if message.ends_with("invalid option") { USAGE } else { "" };
            err!("{}: {message}\n{usage}", String::from_utf8_lossy(&name));
            return (2, None);
        }
    };
    if arguments.version {
        outln!("rush {} (bash {} compatible; {BUILD})", env!("CARGO_PKG_VERSION"), rush::VERSION);
        return (0, None);
    }
    if arguments.help {
        out!("{USAGE}");
        return (0, None);
    }
    if arguments.check {
        return (crate::check::run(&name, &arguments), None);
    }
    if arguments.json {
        let limit = arguments.json_limit;
        let shell =
            |watcher: &mut dyn FnMut(&mut Session)| run_shell(name, arguments, environment, watcher).0;
        return (crate::json::run(limit, shell), None);
    }
    let (status, session) = run_shell(name, arguments, environment, &mut |_| {});
    (status, Some(session))
}

/// Runs the shell that the arguments ask for. `watcher` sees the session when it is ready and when it has ended.
fn run_shell(
    name: Vec<u8>,
    arguments: Arguments,
    environment: Environment,
    watcher: &mut dyn FnMut(&mut Session),
) -> (i32, Box<Session>) {
    sys::hold_standard_descriptors();
    let mut session = Box::new(Session::new(name.clone()));
    observe(&mut session, &environment);
    let restricted = arguments.restricted || is_restricted_name(&name);
    begin_privileged(&mut session, &arguments);
    let trusted = |name: &[u8]| !restricted || name != b"SHELLOPTS" && !name.starts_with(b"BASH_FUNC_");
    session.import_environment(environment.into_iter().filter(|(name, _)| trusted(name)));
    apply_options(&mut session, &arguments);
    watcher(&mut session);
    let result = if name.first() == Some(&b'-') || arguments.login {
        session.options.put_shopt(Shopt::LoginShell, true);
        if arguments.no_profile { Ok(0) } else { session.run_profile() }
    } else {
        Ok(0)
    };
    let result = result.and_then(|_| run_operands(&mut session, arguments, restricted));
    let status = session.finish(result);
    if let Some(perf) = session.perf.clone() {
        session.write_err(&perf.run_report());
    }
    watcher(&mut session);
    (status, session)
}

/// What the environment asks to be told: errors as JSON, times.
fn observe(session: &mut Session, environment: &Environment) {
    for (name, value) in environment {
        match &name[..] {
            b"RUSH_ERROR_FORMAT" if value == b"json" => session.error_format = Some(crate::errors::as_json),
            b"RUSH_PERF" => {
                session.perf = crate::perf::formatter(value).map(|format| Rc::new(Perf::new(format)));
            }
            _ => {}
        }
    }
}

/// With `-p`, or as another user than who started it, the shell takes neither functions nor options nor start-up files
/// from the environment; without `-p` it then becomes who started it. `-n` runs nothing and so defines nothing.
fn begin_privileged(session: &mut Session, arguments: &Arguments) {
    let given =
        |wanted| arguments.set.iter().rev().find(|(option, _)| *option == wanted).is_some_and(|(_, on)| *on);
    let borrowed = sys::users::has_borrowed_privilege();
    session.options.put(SetOption::Privileged, borrowed || given(SetOption::Privileged));
    session.options.put(SetOption::Noexec, given(SetOption::Noexec));
    let posix = is_posix(session, arguments);
    session.options.put(SetOption::Posix, posix);
    if borrowed && !given(SetOption::Privileged) {
        session.drop_privilege();
    }
}

/// As `sh` it is the POSIX shell.
fn is_posix(session: &Session, arguments: &Arguments) -> bool {
    let called = session.name.rsplit(|b| *b == b'/').next().unwrap_or_default();
    arguments.posix || matches!(called, b"sh" | b"-sh")
}

fn apply_options(session: &mut Session, arguments: &Arguments) {
    if is_posix(session, arguments) {
        session.options.put(SetOption::Posix, true);
    }
    for (option, on) in &arguments.set {
        session.options.put(*option, *on);
    }
    for (option, on) in arguments.shopt.iter().filter(|(option, _)| *option != Shopt::RestrictedShell) {
        session.options.put_shopt(*option, *on);
    }
}

/// Whether a shell called by this name is a restricted one.
fn is_restricted_name(name: &[u8]) -> bool {
    matches!(name.rsplit(|b| *b == b'/').next(), Some(b"rbash" | b"-rbash"))
}

/// What is read at start is not restricted, only what runs then.
fn run_environment_file(session: &mut Session, restricted: bool) -> rush::Outcome {
    let result = session.run_environment_file();
    if restricted {
        session.restrict();
    }
    result
}

fn run_operands(session: &mut Session, arguments: Arguments, restricted: bool) -> rush::Outcome {
    let mut operands = arguments.operands.into_iter();
    if arguments.command_string {
        let text = operands.next().unwrap_or_default();
        if let Some(name) = operands.next() {
            session.set_name(name);
        }
        session.positional = operands.collect::<Vec<_>>().into();
        session.runs_command_string = true;
        start_interactive(session, arguments.interactive, arguments.no_rc, arguments.rc_file)?;
        run_environment_file(session, restricted)?;
        return session.run_command_string(&text);
    }
    let script = if arguments.standard_input { None } else { operands.next() };
    session.positional = operands.collect::<Vec<_>>().into();
    if let Some(script) = script {
        start_interactive(session, arguments.interactive, arguments.no_rc, arguments.rc_file)?;
        run_environment_file(session, restricted)?;
        return run_file(session, script);
    }
    session.reads_standard_input = true;
    let terminal = sys::is_terminal(0) && sys::is_terminal(2);
    let interactive = arguments.interactive || terminal;
    start_interactive(session, interactive, arguments.no_rc, arguments.rc_file)?;
    run_environment_file(session, restricted)?;
    if session.interactive {
        return interactive::run(session, terminal);
    }
    let file = OpenFile::borrowed(0);
    let lines = StandardInputLines::new(file);
    session.commands_from = Some(lines.place());
    session.run_script(Box::new(lines))
}

fn start_interactive(
    session: &mut Session,
    interactive: bool,
    no_rc: bool,
    rc_file: Option<Vec<u8>>,
) -> rush::Outcome {
    if !interactive {
        // Scripts ask by these whether somebody sits there.
        session.variables.unset(names::PS1, None);
        session.variables.unset(names::PS2, None);
        return Ok(0);
    }
    session.become_interactive();
    if sys::is_terminal(0) && sys::is_terminal(2) && session.control_terminal() {
        // A program can be stopped with the keyboard, and the shell itself cannot.
        session.options.put(SetOption::Utilities, false);
        session.options.put(SetOption::Undo, true);
    }
    if no_rc { Ok(0) } else { session.run_rc_file(rc_file) }
}

/// Whether the first line of the script in `fd` holds a NUL byte. What cannot be put back is not looked at.
fn looks_binary(fd: i32) -> bool {
    if !sys::is_seekable(fd) {
        return false;
    }
    let mut start = [0; 80];
    let length = sys::read(fd, &mut start).unwrap_or(0);
    sys::seek_back(fd, length);
    let line = start[..length].split(|b| *b == b'\n').next().unwrap_or_default();
    line.contains(&0)
}

fn run_file(session: &mut Session, script: Vec<u8>) -> rush::Outcome {
    let fail = |session: &mut Session, error: i32, status: i32| {
        let text = format!(
            "{}: {}: {}\n",
            String::from_utf8_lossy(&session.name),
            String::from_utf8_lossy(&script),
            sys::strerror(error)
        );
        session.write_err(text.as_bytes());
        Ok(status)
    };
    if sys::is_directory(&script) {
        return fail(session, 21, 126);
    }
    match sys::open(&script, 0, 0) {
        Ok(fd) if looks_binary(fd) => {
            sys::close(fd);
            let script = String::from_utf8_lossy(&script);
            session.write_err(format!("{script}: {script}: cannot execute binary file\n").as_bytes());
            Ok(126)
        }
        Ok(fd) => {
            session.set_name(script);
            session.run_script(Box::new(FileLines::new(OpenFile::owned(fd))))
        }
        Err(error) => fail(session, error, if error == 2 { 127 } else { 126 }),
    }
}
