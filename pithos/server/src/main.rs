//! The `pithos` command: the MCP server, and the same work from a command line. The only place that knows JSON-RPC.
#![forbid(unsafe_code)]
// They panic when a stream cannot be written: see `print`.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod asking;
mod cli;
mod clients;
mod connections;
mod console;
mod control;
mod demo;
mod desk;
mod handler;
mod http;
mod inspect;
mod install;
mod journal;
mod json_edit;
mod limits;
mod lines;
mod message;
mod metrics;
mod once;
mod overview;
mod resources;
mod result;
mod schema;
mod serve;
mod servers;
mod state;
mod tasks;
mod tools;
mod top;
mod watchdog;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    // Workers are this same executable under a role; they must not pay for anything of the server.
    if let Some(code) = pithos_sessions::run_role(&arguments) {
        return code;
    }
    cli::main()
}
