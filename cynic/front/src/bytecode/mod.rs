//! Bytecode: the opcode table, the compiled form of a function, and the tools over them.
//!
//! Owns the format that the compiler writes and the virtual machine runs. Nothing here touches the heap: compiled
//! functions are plain data, shared by every isolate of a thread, and linked to heap values by the virtual machine.

pub mod assembler;
pub mod code;
pub mod disassemble;
mod flow;
pub mod liveness;
pub mod opcodes;
pub(crate) mod spill;
pub mod verify;

pub use assembler::{Assembler, Label};
pub use code::{ClassSite, CodeKind, Constant, EvalSite, FunctionCode, Handler, Text};
pub use opcodes::{Kind, Op, Slot, operand};
