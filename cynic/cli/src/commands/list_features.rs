//! `cynic --list-features`.

use crate::exit_status::ExitStatus;
use crate::print::outln;

/// The features that `--enable` knows, with what they do.
const FEATURES: &[(&str, &str)] =
    &[("typescript", "run .ts, .mts, .cts, .tsx and .jsx files (on by default)")];

/// Prints the features.
pub(crate) fn run() -> Result<ExitStatus, String> {
    for (name, meaning) in FEATURES {
        outln!("{name:20} {meaning}");
    }
    Ok(ExitStatus::Success)
}

/// Fails on a name that is not in the list.
pub(crate) fn check(names: &[String]) -> Result<(), String> {
    match names.iter().find(|name| !FEATURES.iter().any(|feature| feature.0 == name.as_str())) {
        Some(unknown) => Err(format!("unknown feature {unknown}; see --list-features")),
        None => Ok(()),
    }
}
