//! Cynic's heap: cells and the collector, and everything that is laid out in cells.
//!
//! Start reading at [`gc`] (cells, pointers, tracing) and [`mutator`] (the program's side: allocation, limits, roots); then [`value`],
//! [`string`], [`object`] and [`shape`]. Nearly all of the engine's unsafe code is here, behind an API for the engine's own crates.
//! `docs/gc-safety.md` has its rules. Programs use the crate `pithos-cynic`.
//!
//! Left to others: what objects *do* (internal methods, properties that need calls), which is the engine's.

#![deny(unsafe_code)]
// The specification's names (ToString, FromPropertyDescriptor) are kept.
#![allow(clippy::wrong_self_convention)]

pub mod atoms;
pub mod bigint;
#[allow(unsafe_code)]
pub mod gc;
pub mod limits;
#[allow(unsafe_code)]
pub mod mutator;
#[allow(unsafe_code)]
pub mod object;
pub mod property_key;
pub mod shape;
pub mod string;
pub mod symbol;
#[allow(unsafe_code)]
pub mod value;
