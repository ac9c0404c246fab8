//! The standard library: one file per intrinsic, named after it. Each file has const tables (`CONSTRUCTOR`,
//! `PROTOTYPE`: see [`crate::realm::IntrinsicSpec`]) and the native functions they name; `registry` lists the tables.

pub mod array;
pub mod bigint;
pub mod boolean;
pub mod date;
pub mod error;
pub mod function;
pub mod global;
pub mod iterator;
pub mod json;
pub mod math;
pub mod number;
pub mod object;
pub mod proxy;
pub mod regexp;
mod regexp_exec;
pub mod regexp_string_iterator;
mod regexp_symbols;
pub mod registry;
pub mod string;
pub mod string_exotic;
pub mod string_iterator;
mod string_search;
mod string_text;
pub mod symbol;
pub mod temporal;
pub mod uri;
