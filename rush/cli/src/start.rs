//! Starting a session from the command line: environment, start-up files, and what to run.

use crate::arguments::{self, Arguments};
use rush::exec::script::{FileLines, StandardInputLines};
use rush::state::descriptors::OpenFile;
use rush::state::options::{SetOption, Shopt};
use rush::{Session, sys};
use std::os::unix::ffi::OsStringExt;
use std::rc::Rc;

const USAGE: &str = "\
usage: rush [option ...] [FILE [ARG ...]]
       rush [option ...] -c COMMAND [NAME [ARG ...]]

  -c              run COMMAND
  -s              read commands from standard input
  -i              be interactive
  -l, --login     be a login shell
  -o OPTION       as `set -o OPTION`; +o turns it off
  -O OPTION       as `shopt -s OPTION`; +O turns it off
  --posix         follow POSIX where bash differs
  --norc          do not read the start-up file of interactive shells
  --noprofile     do not read the start-up files of login shells
  --rcfile FILE   read FILE instead of ~/.rushrc or ~/.bashrc
  --version       print the version
  --help          print this
  and the letters of `set` (-e -u -x ...)
";

/// Runs the command line; the exit status.
pub fn run(words: &[Vec<u8>]) -> i32 {
    let name = words.first().cloned().unwrap_or_else(|| b"rush".to_vec());
    let arguments = match arguments::parse(words.get(1..).unwrap_or_default()) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprint!("{}: {message}\n{USAGE}", String::from_utf8_lossy(&name));
            return 2;
        }
    };
    if arguments.version {
        println!("rush {} (bash {} compatible)", env!("CARGO_PKG_VERSION"), rush::VERSION);
        return 0;
    }
    if arguments.help {
        print!("{USAGE}");
        return 0;
    }
    // The Rust runtime ignores SIGPIPE; commands expect its default.
    sys::signal_default(13);
    let mut session = Session::new(name.clone());
    let environment = std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec()));
    session.import_environment(environment);
    apply_options(&mut session, &arguments);
    if std::env::var_os("RUSH_ERROR_FORMAT").is_some_and(|format| format == "json") {
        session.error_format = Some(crate::errors::as_json);
    }
    if name.first() == Some(&b'-') || arguments.login {
        session.options.put_shopt(Shopt::LoginShell, true);
        if !arguments.no_profile {
            let result = session.run_profile();
            if result.is_err() {
                return session.finish(result);
            }
        }
    }
    let result = run_operands(&mut session, arguments);
    session.finish(result)
}

fn apply_options(session: &mut Session, arguments: &Arguments) {
    if arguments.posix {
        session.options.put(SetOption::Posix, true);
    }
    for (option, on) in &arguments.set {
        session.options.put(*option, *on);
    }
    for (option, on) in &arguments.shopt {
        session.options.put_shopt(*option, *on);
    }
}

fn run_operands(session: &mut Session, arguments: Arguments) -> rush::Outcome {
    let mut operands = arguments.operands.into_iter();
    if arguments.command_string {
        let text = operands.next().unwrap_or_default();
        if let Some(name) = operands.next() {
            session.set_name(name);
        }
        session.positional = Rc::new(operands.collect());
        session.runs_command_string = true;
        start_interactive(session, arguments.interactive, arguments.no_rc, arguments.rc_file)?;
        session.run_environment_file()?;
        return session.run_command_string(&text);
    }
    let script = if arguments.standard_input { None } else { operands.next() };
    session.positional = Rc::new(operands.collect());
    if let Some(script) = script {
        start_interactive(session, arguments.interactive, arguments.no_rc, arguments.rc_file)?;
        session.run_environment_file()?;
        return run_file(session, script);
    }
    session.reads_standard_input = true;
    let terminal = sys::is_terminal(0) && sys::is_terminal(2);
    let interactive = arguments.interactive || terminal;
    start_interactive(session, interactive, arguments.no_rc, arguments.rc_file)?;
    session.run_environment_file()?;
    let file = Rc::new(OpenFile::Os { fd: 0, owned: false });
    session.run_script(Box::new(StandardInputLines::new(file)))
}

fn start_interactive(
    session: &mut Session,
    interactive: bool,
    no_rc: bool,
    rc_file: Option<Vec<u8>>,
) -> rush::Outcome {
    if !interactive {
        return Ok(0);
    }
    session.become_interactive();
    if no_rc { Ok(0) } else { session.run_rc_file(rc_file) }
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
        Ok(fd) => {
            session.set_name(script);
            session.run_script(Box::new(FileLines::new(OpenFile::owned(fd))))
        }
        Err(error) => fail(session, error, if error == 2 { 127 } else { 126 }),
    }
}
