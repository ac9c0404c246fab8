//! The `rush` command: reads the process's arguments and environment and hands them to the shell library.
#![forbid(unsafe_code)]

mod arguments;
mod start;

fn main() {
    let arguments: Vec<Vec<u8>> =
        std::env::args_os().map(std::os::unix::ffi::OsStringExt::into_vec).collect();
    let status = start::run(&arguments);
    rush::sys::exit_now(status);
}
