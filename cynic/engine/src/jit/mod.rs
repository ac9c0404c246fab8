//! Compiled code: what is compiled when, and the embedder's switch.
//!
//! Start reading here; then `tier` (compiling and installing), `template` (what becomes of each instruction), `stubs` (how code is entered
//! and left). `docs/cynic-jit.md` has the design. The interpreter knows nothing of this module but the trait `Compiler`.
//!
//! Invariants: compiled code does what the interpreter does, step for step, so that fuel, limits and errors are the same; it trusts what
//! the bytecode's verifier proved and checks everything about objects; what it has no code for it calls the interpreter's own instruction
//! for.

#[cfg(not(cynic_jit))]
#[path = "absent.rs"]
mod tier;
#[cfg(cynic_jit)]
mod tier;

use std::sync::Arc;

use crate::bytecode::FunctionCode;
use crate::vm::Vm;
pub use crate::vm::interpreter::compiled::Stats;

/// Whether and when functions are compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Never: the engine maps no executable memory.
    #[default]
    Off,
    /// By the template tier, when they have run often.
    Template,
    /// By the template tier, before they run: for tests.
    ForceTemplate,
    /// By the template tier, after some dozens of steps, when their caches know a little: for tests.
    EagerTemplate,
}

/// Lets functions of the isolate be compiled from now on. Where there is no code generator for the processor, or the system refuses
/// executable memory, the interpreter runs everything, which changes nothing but the time: [`stats`] tells.
pub fn enable(vm: &mut Vm, mode: Mode) {
    vm.metering.looks_often = mode == Mode::EagerTemplate;
    if vm.metering.looks_often && vm.metering.fuel.is_none() {
        // The first look, too.
        vm.budget = 1;
    }
    vm.interpreter.compiler = match mode {
        Mode::Off => None,
        mode => tier::compiler(mode == Mode::ForceTemplate),
    };
}

/// The machine code of a function and of those in it, each instruction of bytecode with what becomes of it, as it would be before they run.
/// `None` where there is nothing that compiles.
pub fn listing(vm: &mut Vm, function: &Arc<FunctionCode>) -> Option<String> {
    vm.list_compiled(function)
}

/// Figures about compiled code; `None` where there is nothing that compiles.
pub fn stats(vm: &Vm) -> Option<Stats> {
    vm.interpreter.compiler.as_ref().map(|compiler| compiler.stats())
}
