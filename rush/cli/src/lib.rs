//! The `rush` command as a library, so that tests can be the shell themselves: the command line and starting up.
#![forbid(unsafe_code)]

mod arguments;
mod errors;
mod start;

pub use start::run;
