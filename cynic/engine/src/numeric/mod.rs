//! Arithmetic and formatting of numbers that need no engine: pure functions over `f64`.
//!
//! Owns exactness: every result here is the one that ECMA-262 asks for, not an approximation of it.

pub(crate) mod decimal;
pub(crate) mod exact_sum;
pub(crate) mod half;
pub(crate) mod radix;
