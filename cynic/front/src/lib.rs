//! Cynic's front end: source text to a checked syntax tree, and that to bytecode.
//!
//! Start reading at [`compiler`]; [`syntax`] owns the grammar's goals and early errors, [`bytecode`] the one opcode table, the form of a
//! compiled function, the disassembler, the verifiers and liveness. Invariant: nothing here knows the heap or the virtual machine. What
//! comes out is plain data that any isolate can link to its own values.
#![forbid(unsafe_code)]

pub mod bytecode;
pub mod compiler;
pub mod limits;
pub mod syntax;
