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
}

/// Lets functions of the isolate be compiled from now on. Where there is no code generator for the processor, or the system refuses
/// executable memory, the interpreter runs everything, which changes nothing but the time: [`stats`] tells.
pub fn enable(vm: &mut Vm, mode: Mode) {
    vm.interpreter.compiler = match mode {
        Mode::Off => None,
        mode => tier::compiler(mode == Mode::ForceTemplate),
    };
}

/// Figures about compiled code; `None` where there is nothing that compiles.
pub fn stats(vm: &Vm) -> Option<Stats> {
    vm.interpreter.compiler.as_ref().map(|compiler| compiler.stats())
}
