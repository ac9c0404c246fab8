//! The Python side of iris: classes over the core, and the threads that run Python handlers. Owns the conversion of messages,
//! exceptions and exit reasons; leaves all actor logic to `pithos-iris`, and everything that reads better in Python to
//! the package's `.py` files. Invariant: no thread waits for another while it holds the GIL.
#![deny(unsafe_code)]

mod behaviour;
mod buffer;
mod compat;
mod core;
mod crowd;
mod exit;
mod ffi;
mod forked;
mod host;
mod inbox;
mod interruption;
mod limits;
mod mesh;
mod message;
mod node;
mod outbox;
mod pull_versions;
mod queue;
mod reference;
mod remote;
mod reports;
mod runtime;
mod sent;
mod supervisor;
mod system_message;
mod terms;
mod waiting;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

/// The version of the package.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

const SUB_INTERPRETER: &str = "iris runs in the main interpreter only: its executor threads call handlers there, and objects of one \
    interpreter must not reach another; start another process instead (iris.run_in_process)";

/// An error in a sub-interpreter.
#[pyfunction]
fn check_interpreter(py: Python<'_>) -> PyResult<()> {
    if ffi::in_main_interpreter(py) { Ok(()) } else { Err(PyImportError::new_err(SUB_INTERPRETER)) }
}

// A free-threaded interpreter takes its lock back for this module: the executor threads count on it.
#[pymodule(gil_used = true)]
fn _iris(module: &Bound<'_, PyModule>) -> PyResult<()> {
    check_interpreter(module.py())?;
    module.add_function(wrap_pyfunction!(check_interpreter, module)?)?;
    module.add_class::<runtime::PyRuntime>()?;
    module.add_class::<reference::Ref>()?;
    module.add_class::<inbox::Inbox>()?;
    module.add_class::<inbox::Request>()?;
    module.add_class::<queue::ReadyQueue>()?;
    module.add_class::<exit::ExitReason>()?;
    module.add_class::<exit::Down>()?;
    module.add_class::<exit::Exit>()?;
    module.add_class::<supervisor::SupervisorCore>()?;
    module.add_class::<system_message::PySystemMessage>()?;
    module.add_class::<buffer::Buffer>()?;
    module.add_class::<node::NodeCore>()?;
    module.add_class::<node::RemoteDown>()?;
    module.add_class::<node::RemoteExit>()?;
    module.add_class::<node::NodeUp>()?;
    module.add_class::<node::NodeDown>()?;
    module.add_class::<terms::Reference>()?;
    module.add_class::<terms::Opaque>()?;
    remote::register(module)?;
    module.add("NoReply", module.py().get_type::<message::NoReply>())?;
    module.add("Swapped", module.py().get_type::<message::Swapped>())?;
    module.add("Killed", module.py().get_type::<interruption::Killed>())?;
    module.add("VERSIONS_KEPT", iris_runtime::limits::VERSIONS_KEPT)?;
    module.add("EMPTY", inbox::empty(module.py())?)?;
    module.add("ENDED", inbox::ended(module.py())?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(mesh::mesh_authority, module)?)?;
    module.add_function(wrap_pyfunction!(mesh::mesh_issue, module)?)?;
    module.add_function(wrap_pyfunction!(buffer::allocate_buffer, module)?)?;
    module.add_function(wrap_pyfunction!(runtime::current_pid, module)?)?;
    module.add_function(wrap_pyfunction!(host::never_block_here, module)?)?;
    module.add_function(wrap_pyfunction!(host::parked, module)?)?;
    module.add_function(wrap_pyfunction!(interruption::interrupt_turn, module)?)?;
    module.add_function(wrap_pyfunction!(interruption::take_interrupt_back, module)?)?;
    module.add_function(wrap_pyfunction!(crowd::note_stuck, module)?)?;
    module.add_function(wrap_pyfunction!(core::count_fork, module)?)
}
