//! Tests that are modules.

use cynic::vm::Vm;

use super::evaluate::Stop;
use super::metadata::Phase;
use super::worker::Test;

/// Loads, links and evaluates a test.
pub(super) fn run(vm: &mut Vm, _test: &Test<'_>) -> Result<(), Stop> {
    vm.throw_type_error("modules are not there yet");
    Err(Stop::Threw(Phase::Runtime))
}
