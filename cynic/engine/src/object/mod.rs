//! What objects do: the internal methods over the layout that [`cynic_heap::object`] owns, inline caches, buffers and functions.

pub mod array_exotic;
pub mod buffer;
pub mod cache;
pub mod elements;
pub mod function;
pub mod internal_methods;
pub mod ordinary;
pub mod typed_view;

pub use cynic_heap::object::*;
