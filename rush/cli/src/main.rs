//! The `rush` command: reads the process's arguments and environment and hands them to the shell library.
#![forbid(unsafe_code)]

fn main() {
    eprintln!("rush: the interpreter is not landed yet");
    std::process::exit(2);
}
