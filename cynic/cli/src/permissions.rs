//! What the host gives to a program, and what `--allow` adds: deny by default.
//!
//! | The program | Without asking | With |
//! |---|---|---|
//! | runs code that it makes from strings | no | `--allow=eval` |
//! | imports files | from below the program's folder | `--allow=read=DIR` |
//! | imports packages by name | no | `--allow=packages` |
//! | runs CommonJS modules | no | `--allow=commonjs` |
//! | knows the time | to a millisecond | `--allow=clock`: as precisely as the system does |
//! | gets random numbers | `Math.random` | `--allow=random`: `crypto`, from the system's entropy |
//! | adds to the global object | yes; `--seal-globals` forbids it | |
//!
//! It is also given its arguments, the zone in the variable `TZ`, timers and the two output streams; no environment, no other files, no
//! input, no network, no processes. `--deterministic` replaces clock, zone and randomness by ones that are the same in every run.

use std::path::PathBuf;

use cynic::{Capabilities, Clock, Entropy};

/// The row of `--allow` in the help text.
pub(crate) const HELP: &str = "allow `eval` (code from strings, always strict), `read=DIR` (modules from below DIR too), `packages` (imports by name from node_modules), `commonjs` (modules with `require`), `clock` (time beyond milliseconds), `random` (crypto); may be repeated";

/// What `--allow` takes.
pub(crate) const NAMES: [&str; 7] = ["eval", "read=", "packages", "commonjs", "clock", "random", "globals"];

/// What was allowed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Permissions {
    /// Code from strings.
    pub(crate) eval: bool,
    /// Folders that modules may come from besides the program's.
    pub(crate) read: Vec<PathBuf>,
    /// Imports by name.
    pub(crate) packages: bool,
    /// CommonJS modules.
    pub(crate) common_js: bool,
    /// The system's clock as it is.
    pub(crate) clock: bool,
    /// The system's entropy.
    pub(crate) random: bool,
}

impl Permissions {
    /// Adds what a value of `--allow` says.
    pub(crate) fn add(&mut self, what: &str) -> Result<(), String> {
        match what {
            "eval" => self.eval = true,
            "packages" => self.packages = true,
            "commonjs" => self.common_js = true,
            "clock" => self.clock = true,
            "random" => self.random = true,
            // Allowed unless `--seal-globals` says otherwise.
            "globals" => {}
            _ => match what.strip_prefix("read=") {
                Some("") => return Err("`read=` needs a folder".into()),
                Some(folder) => self.read.push(folder.into()),
                None => {
                    return Err(format!(
                        "unknown permission {what}; there are `eval`, `read=DIR`, `packages`, `commonjs`, `clock`, `random` and `globals`"
                    ));
                }
            },
        }
        Ok(())
    }

    /// What the isolate is given.
    pub(crate) fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        if self.clock {
            capabilities.clock = Clock::System;
        }
        if self.random {
            capabilities.entropy = Entropy::Custom(Box::new(fill_from_system));
        }
        if let Some(zone) = std::env::var("TZ").ok().filter(|zone| !zone.is_empty()) {
            zone.trim_start_matches(':').clone_into(&mut capabilities.time_zone);
        }
        capabilities
    }
}

/// Random bytes from the kernel.
fn fill_from_system(bytes: &mut [u8]) -> bool {
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
    true
}
