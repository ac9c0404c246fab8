//! A Rust test that cannot run on this machine says so here. The test harness has no such outcome and counts a test that
//! returns early as passed; `cargo xtask test` reads the records and counts it as skipped instead.
#![forbid(unsafe_code)]

use std::io::Write;

/// The variable that names the file of records, one line each: the test and the reason, with a tab between them.
pub const RECORDS: &str = "PITHOS_SKIPPED";

/// Records that the running test, or the named part of it, does not run here, and why. Several parts of a test may say so:
/// a test is counted once, and only when `whole` is true (a part is told, and the test still counts as passed).
///
/// # Panics
/// When the file of records cannot be written: a skip that nobody hears of is what this is against.
pub fn record(whole: bool, why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("?");
    eprintln!("{test}: skipped: {why}");
    let Some(path) = std::env::var_os(RECORDS).filter(|path| !path.is_empty()) else { return };
    let kind = if whole { "test" } else { "part" };
    let line = format!("{kind}\t{test}\t{}\n", why.replace(['\n', '\t'], " "));
    let file = std::fs::OpenOptions::new().append(true).create(true).open(&path);
    // One write of less than a page: lines of several processes do not mix.
    file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the file of skipped tests");
}

/// This test does not run here.
pub fn test(why: &str) {
    record(true, why);
}

/// A part of this test does not run here.
pub fn part(why: &str) {
    record(false, why);
}

/// Whether `program` can be started here; otherwise this test is recorded as skipped.
#[must_use]
pub fn unless_installed(program: &str) -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()));
    if !found {
        test(&format!("{program} is not installed"));
    }
    found
}
