//! Abstract operations (section 7), with the specification's names, as methods of `Vm`.
//! <https://tc39.es/ecma262/#sec-abstract-operations>

pub(crate) mod bigint_division;
pub(crate) mod bigint_text;
pub mod compare;
pub mod conversion;
pub mod iteration;
pub mod numeric;
pub mod objects;

pub use conversion::number_to_rust_string;
pub use iteration::IteratorRecord;
