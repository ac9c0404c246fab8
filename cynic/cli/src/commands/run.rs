//! `cynic FILE [ARGUMENT...]`: a script or a module, from a file or the standard input.

use std::path::Path;

use cynic_engine::gc::Persistent;
use cynic_engine::value::Value;
use cynic_engine::vm::JsResult;
use cynic_engine::vm::eval::Program;

use crate::args::Options;
use crate::exit_status::ExitStatus;
use crate::module_loader::{read_source, read_stream};
use crate::session::Session;

/// What the standard input is called.
const STDIN: &str = "<stdin>";

/// Runs the program, or only checks it.
pub(crate) fn run(options: &Options, file: Option<&Path>) -> Result<ExitStatus, String> {
    let mut session = Session::for_program(options, file);
    let mut outcome = Ok(());
    for script in &options.before {
        let text = read(script)?;
        outcome = outcome.and_then(|()| {
            let name = script.to_string_lossy();
            session.sources().add_file(&name, script);
            session.vm.execute_script(&name, &text)
        });
    }
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
    let outcome = outcome.and_then(|()| session.drain(None));
    Ok(session.finish(outcome))
}

fn read(file: &Path) -> Result<String, String> {
    read_source(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Whether the name says that the file is a module, or that it is none; otherwise its text does.
fn is_module(name: &str) -> Option<bool> {
    let ends_with = |endings: [&str; 2]| endings.iter().any(|ending| name.ends_with(ending));
    if ends_with([".mjs", ".mts"]) {
        Some(true)
    } else if ends_with([".cjs", ".cts"]) {
        Some(false)
    } else {
        None
    }
}

fn execute(session: &mut Session, options: &Options, name: &str, text: &str) -> JsResult<()> {
    let is_module = if options.module { Some(true) } else { is_module(name) };
    let script = match is_module {
        Some(true) => None,
        Some(false) => Some(session.vm.compile_script(name, text)?),
        None => match session.vm.compile_program(name, text)? {
            Program::Script(code) => Some(code),
            Program::Module => None,
        },
    };
    match script {
        Some(_) if options.check => Ok(()),
        None if options.check => session.vm.check_module(name, text),
        Some(code) => session.vm.run_script(&code).map(drop),
        None => module(session, name, text),
    }
}

fn module(session: &mut Session, name: &str, text: &str) -> JsResult<()> {
    let module = session.vm.load_module_from(name, text)?;
    let evaluation = session.vm.evaluate_module(module)?;
    let root = Persistent::new(&session.vm.heap, Value::object(evaluation));
    session.drain(Some(&root))
}
