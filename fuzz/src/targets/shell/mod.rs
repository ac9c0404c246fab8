//! The shell: any bytes must parse to an answer, and random scripts must do what bash does.

mod compare;
mod expression;
mod parse;
mod script;

pub(super) use compare::against_bash;
pub(super) use parse::parse;
