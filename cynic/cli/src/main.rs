//! The `cynic` command. Owns the process: arguments, files, standard streams, exit status. Everything about the language
//! is in the engine; what guests find on the global object besides it is in the host crate.
#![forbid(unsafe_code)]
// They panic when a stream cannot be written: see `print`.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod args;
mod commands;
mod common_js;
mod exit_status;
mod interrupt;
mod limits;
mod module_loader;
mod permissions;
mod print;
mod session;
mod shell_help;
mod sources;
mod test262;
mod watch;

use std::io::IsTerminal;
use std::process::ExitCode;

use crate::args::{Command, Invocation};
use crate::exit_status::ExitStatus;
use crate::print::{errln, out, outln};

/// What it was built of: the release builds of this project say so.
const BUILD: &str = match option_env!("PITHOS_REVISION") {
    Some(revision) => revision,
    None => "built without a revision",
};

fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(1);
    let outcome = match args::parse(arguments, std::io::stdin().is_terminal()) {
        Ok(invocation) => dispatch(&invocation),
        Err(why) => {
            errln!("cynic: {why}\nTry `cynic --help`.");
            return ExitStatus::Usage.into();
        }
    };
    match outcome {
        Ok(status) => status.into(),
        Err(why) => {
            errln!("cynic: {why}");
            ExitStatus::Uncaught.into()
        }
    }
}

fn dispatch(invocation: &Invocation) -> Result<ExitStatus, String> {
    let Invocation { command, options } = invocation;
    commands::list_features::check(&options.enable)?;
    match command {
        Command::Test262 => test262::run(options),
        Command::Test262Worker => test262::serve(options),
        Command::Help => {
            out!("{}", args::help());
            Ok(ExitStatus::Success)
        }
        Command::Version => {
            outln!("cynic {} ({BUILD})", env!("CARGO_PKG_VERSION"));
            Ok(ExitStatus::Success)
        }
        Command::ListFeatures => commands::list_features::run(),
        Command::Completions(shell) => {
            out!("{}", shell_help::completions(shell));
            Ok(ExitStatus::Success)
        }
        Command::Manual => {
            out!("{}", args::manual());
            Ok(ExitStatus::Success)
        }
        Command::Run(Some(file)) if options.watch => watch::run(options, file),
        Command::Run(file) => commands::run::run(options, file.as_deref()),
        Command::Eval(code) => commands::eval::run(options, code),
        Command::Repl => commands::repl::run(options),
        Command::Disassemble(files) => commands::disasm::run(options, files),
    }
}
