//! `cynic disasm FILE...`: the bytecode of scripts and modules, without running them; with `--native`, what scripts become in machine code.

use std::fs;
use std::path::PathBuf;

use cynic::{Engine, Jit, Limits, Script};

use crate::args::Options;
use crate::exit_status::ExitStatus;
use crate::print::{errln, out};

/// Prints the bytecode of each file.
pub(crate) fn run(options: &Options, files: &[PathBuf]) -> Result<ExitStatus, String> {
    let mut status = ExitStatus::Success;
    for file in files {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let name = file.display().to_string();
        let ends_with =
            |known: &[&str]| file.extension().is_some_and(|extension| known.iter().any(|k| extension == *k));
        let is_module = ends_with(&["mjs", "mts", "tsx", "jsx"]);
        let engine = if options.allow.eval { Engine::new().allow_eval() } else { Engine::new() };
        let code = match is_module {
            true if options.native => {
                return Err(format!("{name}: --native lists scripts, and this is a module"));
            }
            true => engine.typescript().disassemble_module(&name, &text).map(Some),
            false if ends_with(&["ts", "cts"]) => {
                engine.compile_typescript(&name, &text).map(|script| listing(options, &engine, &script))
            }
            false => engine.compile(&name, &text).map(|script| listing(options, &engine, &script)),
        };
        match code {
            Ok(Some(text)) => out!("{text}"),
            Ok(None) => {
                return Err(
                    "there is no machine code here: no code generator for this processor and system, or \
                            executable memory is refused"
                        .into(),
                );
            }
            Err(error) => {
                errln!("{error}");
                status = ExitStatus::Uncaught;
            }
        }
    }
    Ok(status)
}

/// The bytecode of a script, with the machine code if that is asked for; `None` if there can be none.
fn listing(options: &Options, engine: &Engine, script: &Script) -> Option<String> {
    if !options.native {
        return Some(script.disassemble());
    }
    engine.clone().jit(Jit::Template).isolate(Limits::default()).list_native(script)
}
