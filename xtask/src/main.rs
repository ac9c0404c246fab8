//! `cargo xtask`: the workspace's own checks. Owns the command line; each check is a module.
#![forbid(unsafe_code)]

fn main() {
    eprintln!("usage: cargo xtask tidy");
    std::process::exit(2);
}
