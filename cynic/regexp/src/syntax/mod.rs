//! From pattern text to a tree. Never executes and never fails other than with a [`crate::SyntaxError`]; case folding is resolved here, so
//! that the tree only speaks of sets of characters.

pub(crate) mod ast;
mod case_memo;
mod class;
mod class_set;
mod escape;
pub(crate) use escape::push_code_point;
mod groups;
pub(crate) mod parser;
