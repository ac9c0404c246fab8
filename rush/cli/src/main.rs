//! The `rush` command: hands the process's arguments to the shell and ends with its status.
#![forbid(unsafe_code)]

fn main() {
    let arguments: Vec<Vec<u8>> =
        std::env::args_os().map(std::os::unix::ffi::OsStringExt::into_vec).collect();
    rush::sys::exit_now(rush_cli::run(&arguments));
}
