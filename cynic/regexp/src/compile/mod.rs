//! From the tree to a program: a flat list of instructions for the matcher, and what lets it skip places where no match can begin.

mod analysis;
mod emit;
pub(crate) mod program;

pub(crate) use emit::compile;
