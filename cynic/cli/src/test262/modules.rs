//! Tests that are modules. <https://github.com/tc39/test262/blob/main/INTERPRETING.md>

use cynic::{Isolate, PromiseState};

use super::evaluate::{Stop, drain, engine, stop};
use super::metadata::Phase;
use super::worker::Test;

/// Loads, links and evaluates a test, and runs its jobs.
pub(super) fn run(isolate: &mut Isolate, test: &Test<'_>) -> Result<(), Stop> {
    let key = test.file.to_string_lossy();
    // Compiled here first, to tell the test's own early errors from those of what it imports.
    engine().check_module(&key, test.source).map_err(|error| Stop::Syntax(error.to_string()))?;
    let begun = isolate.realm().begin_import_text(&key, test.source);
    let evaluation = begun.map_err(|error| stop(error, Phase::Resolution))?;
    let drained = drain(isolate);
    let mut realm = isolate.realm();
    match realm.promise_state(&evaluation) {
        Ok(PromiseState::Rejected(reason)) => Err(stop(realm.thrown(&reason), Phase::Runtime)),
        _ => drained,
    }
}
