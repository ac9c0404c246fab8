//! `cynic disasm FILE...`: the bytecode of scripts and modules, without running them.

use std::fs;
use std::path::PathBuf;

use cynic_engine::bytecode::disassemble::disassemble;
use cynic_engine::compiler::{self, CompileOptions};

use crate::args::Options;
use crate::exit_status::ExitStatus;

/// Prints the bytecode of each file.
pub(crate) fn run(options: &Options, files: &[PathBuf]) -> Result<ExitStatus, String> {
    let mut status = ExitStatus::Success;
    for file in files {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let name = file.display().to_string();
        let ends_with =
            |known: &[&str]| file.extension().is_some_and(|extension| known.iter().any(|k| extension == *k));
        let is_module = ends_with(&["mjs", "mts"]);
        let compile_options = CompileOptions {
            allow_eval: options.allow.eval,
            typescript: ends_with(&["ts", "mts", "cts"]),
            ..CompileOptions::default()
        };
        let code = if is_module {
            compiler::compile_module(&name, &text, compile_options).map(|module| module.body)
        } else {
            compiler::compile_script(&name, &text, compile_options).map(Some)
        };
        match code {
            Ok(Some(code)) => print!("{}", disassemble(&code)),
            Ok(None) => {}
            Err(error) => {
                eprintln!("SyntaxError: {error}");
                status = ExitStatus::Uncaught;
            }
        }
    }
    Ok(status)
}
