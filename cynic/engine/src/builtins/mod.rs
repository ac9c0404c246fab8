//! The standard library: one file per intrinsic, named after it. Each file has const tables (`CONSTRUCTOR`,
//! `PROTOTYPE`: see [`crate::realm::IntrinsicSpec`]) and the native functions they name; `registry` lists the tables.

pub mod array;
pub mod bigint;
pub mod boolean;
pub mod date;
pub mod error;
pub mod finalization_registry;
pub mod function;
pub mod global;
mod group_by;
mod harden;
pub mod iterator;
pub mod json;
pub mod map;
pub mod math;
pub mod number;
pub mod object;
pub mod object_prototype;
mod ordered_table;
pub mod proxy;
pub mod reflect;
pub mod regexp;
mod regexp_exec;
pub mod regexp_string_iterator;
mod regexp_symbols;
pub mod registry;
pub mod set;
pub mod string;
pub mod string_exotic;
pub mod string_iterator;
mod string_search;
mod string_text;
pub mod symbol;
pub mod temporal;
pub mod uri;
pub mod weak;

/// The length that an array iterator sees of a typed array; a TypeError when it is out of bounds (23.1.5.1).
fn typed_array_length(vm: &mut crate::vm::Vm, o: crate::object::Object) -> crate::vm::JsResult<u64> {
    vm.length_of_array_like(o)
}
