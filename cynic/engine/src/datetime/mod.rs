//! Time values and the civil calendar, without the engine: the arithmetic, parsing and formatting behind `Date`.
//!
//! A *time value* is a count of milliseconds since 1970-01-01T00:00:00Z as `f64`, or NaN. Time zones come in as offsets.
//! <https://tc39.es/ecma262/#sec-overview-of-date-objects-and-definitions-of-abstract-operations>

pub(crate) mod civil;
pub(crate) mod format;
pub(crate) mod parse;
