//! Cynic: a strict-only, hardened ECMAScript engine.
//!
//! Start reading at [`vm::Vm`] (the state of an isolate), [`value::Value`], [`object::JsObject`] and [`gc`];
//! then `builtins`, one file per intrinsic. `docs/cynic.md` has the decisions and the map.
//!
//! Unsafe code lives in the homes named there (`gc`, `value`, `string`, `object`'s layout, `vm`'s stacks and dispatch); the rest of the
//! crate denies it.

#![deny(unsafe_code)]
// The specification's names (ToString, FromPropertyDescriptor) are kept, and `Vm` is never `Copy`.
#![allow(clippy::wrong_self_convention)]

pub mod builtins;
mod datetime;
pub mod host;
pub mod host_objects;
pub mod jit;
pub mod limits;
mod numeric;
#[allow(unsafe_code)]
pub mod object;
pub mod ops;
pub mod preview;
pub mod realm;
pub mod structured_clone;
pub mod vm;

pub use cynic_front::{bytecode, compiler, for_each_opcode, syntax};
pub use cynic_heap::{atoms, bigint, gc, property_key, shape, string, symbol, value};
