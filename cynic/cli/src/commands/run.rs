//! `cynic run FILE...`: scripts and modules, one after another in one realm; with no file, the standard input.

use std::path::{Path, PathBuf};

use cynic_engine::gc::Persistent;
use cynic_engine::value::Value;
use cynic_engine::vm::JsResult;

use crate::args::Options;
use crate::commands::list_features::TYPESCRIPT;
use crate::exit_status::ExitStatus;
use crate::module_loader::{read_source, read_stream};
use crate::session::Session;

/// Runs the files.
pub(crate) fn run(options: &Options, files: &[PathBuf]) -> Result<ExitStatus, String> {
    let mut session = Session::for_files(options, files);
    let mut outcome = Ok(());
    if files.is_empty() {
        let text = read_stream(std::io::stdin()).map_err(|error| format!("standard input: {error}"))?;
        outcome = script(&mut session, "<stdin>", &text);
    }
    for file in files {
        let text = read_source(file).map_err(|error| format!("{}: {error}", file.display()))?;
        check_typescript(options, file)?;
        let name = file.display().to_string();
        outcome = if is_module(file) {
            module(&mut session, file, &text)
        } else {
            script(&mut session, &name, &text)
        };
        if outcome.is_err() {
            break;
        }
    }
    let outcome = outcome.and_then(|()| session.drain(None));
    Ok(session.finish(outcome))
}

/// TypeScript is a feature that is asked for.
fn check_typescript(options: &Options, file: &Path) -> Result<(), String> {
    let is_typescript = file
        .extension()
        .is_some_and(|extension| ["ts", "mts", "cts"].iter().any(|known| extension == *known));
    if is_typescript && !options.enable.iter().any(|feature| feature == TYPESCRIPT) {
        return Err(format!("{}: TypeScript needs --enable={TYPESCRIPT}", file.display()));
    }
    Ok(())
}

fn is_module(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "mjs" || extension == "mts")
}

fn script(session: &mut Session, name: &str, text: &str) -> JsResult<()> {
    session.vm.execute_script(name, text)
}

fn module(session: &mut Session, file: &Path, text: &str) -> JsResult<()> {
    let module = session.vm.load_module_from(&file.to_string_lossy(), text)?;
    let evaluation = session.vm.evaluate_module(module)?;
    let root = Persistent::new(&session.vm.heap, Value::object(evaluation));
    session.drain(Some(&root))
}
