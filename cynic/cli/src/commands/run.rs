//! `cynic FILE [ARGUMENT...]`: a script or a module, from a file or the standard input.

use std::path::Path;

use cynic::Error;

use crate::args::Options;
use crate::exit_status::ExitStatus;
use crate::module_loader::{read_source, read_stream};
use crate::print::errln;
use crate::session::Session;
use crate::sources::Sources;

/// What the standard input is called.
const STDIN: &str = "<stdin>";

/// Runs the program, or only checks it and the files after it.
pub(crate) fn run(options: &Options, file: Option<&Path>) -> Result<ExitStatus, String> {
    let mut status = run_one(options, file, &Sources::default())?;
    if options.check {
        for file in &options.arguments {
            let next = run_one(options, Some(Path::new(file)), &Sources::default())?;
            status = if status == ExitStatus::Success { next } else { status };
        }
    }
    Ok(status)
}

/// Runs or checks one program, whose files become known to `sources`.
pub(crate) fn run_one(
    options: &Options,
    file: Option<&Path>,
    sources: &Sources,
) -> Result<ExitStatus, String> {
    let mut session = Session::for_program(options, file, sources)?;
    let outcome = run_before(&mut session, options)?;
    let (name, text) = match file {
        Some(file) => (file.to_string_lossy().into_owned(), read(file)?),
        None => {
            let text = read_stream(std::io::stdin()).map_err(|error| format!("standard input: {error}"))?;
            (STDIN.to_owned(), text)
        }
    };
    match file {
        Some(file) => session.sources().add_file(&name, file),
        None => session.sources().add_text(&name, &text),
    }
    let outcome = outcome.and_then(|()| execute(&mut session, options, &name, &text));
    let settled = *outcome.as_ref().unwrap_or(&true);
    let outcome = outcome.and_then(|_| session.drain(None));
    let status = session.finish(outcome);
    if settled || status != ExitStatus::Success {
        return Ok(status);
    }
    errln!("cynic: {name}: the module awaits at its top level what nothing will settle");
    Ok(ExitStatus::Unsettled)
}

/// Runs the scripts that come before the program; the error is of one that cannot be read.
pub(crate) fn run_before(session: &mut Session, options: &Options) -> Result<Result<(), Error>, String> {
    let mut outcome = Ok(());
    for script in &options.before {
        let text = read(script)?;
        outcome = outcome.and_then(|()| {
            let name = script.to_string_lossy();
            session.sources().add_file(&name, script);
            session.isolate.realm().execute(&name, &text)
        });
    }
    Ok(outcome)
}

fn read(file: &Path) -> Result<String, String> {
    read_source(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Whether the name says that the file is a module, or that it is none; otherwise its text does.
fn is_module(name: &str) -> Option<bool> {
    let ends_with = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    // Elements need an import, which lowering adds.
    if ends_with(&[".mjs", ".mts", ".tsx", ".jsx"]) {
        Some(true)
    } else if ends_with(&[".cjs", ".cts"]) {
        Some(false)
    } else {
        None
    }
}

/// Whether the program has come to its end, or is a module that waits for ever.
fn execute(session: &mut Session, options: &Options, name: &str, text: &str) -> Result<bool, Error> {
    let is_module = if options.module { Some(true) } else { is_module(name) };
    let common_js = session.common_js().filter(|modules| {
        !options.module && (is_module == Some(false) || is_module.is_none() && modules.is_one(name, text))
    });
    let mut realm = session.isolate.realm();
    if let Some(modules) = common_js {
        return modules.run_main(&mut realm, name, text, options.check).map(|()| true);
    }
    let script = match is_module {
        Some(true) => None,
        Some(false) => Some(realm.compile(name, text)?),
        None => realm.compile_program(name, text)?,
    };
    match script {
        Some(_) if options.check => Ok(true),
        None if options.check => realm.check_module(name, text).map(|()| true),
        Some(script) => realm.run(&script).map(|_| true),
        None => {
            let evaluation = realm.begin_import_text(name, text)?;
            session.settle(&evaluation).map(|value| value.is_some())
        }
    }
}
