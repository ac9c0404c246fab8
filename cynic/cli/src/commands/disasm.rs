//! `cynic disasm FILE...`: the bytecode of scripts and modules, without running them.

use std::fs;
use std::path::PathBuf;

use cynic::Engine;

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
            true => engine.typescript().disassemble_module(&name, &text),
            false if ends_with(&["ts", "cts"]) => {
                engine.compile_typescript(&name, &text).map(|script| script.disassemble())
            }
            false => engine.compile(&name, &text).map(|script| script.disassemble()),
        };
        match code {
            Ok(text) => out!("{text}"),
            Err(error) => {
                errln!("{error}");
                status = ExitStatus::Uncaught;
            }
        }
    }
    Ok(status)
}
