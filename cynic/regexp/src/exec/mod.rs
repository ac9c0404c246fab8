//! Running a program over an input: finding places to start (`scan`), matching at one (`matcher`), and remembering failures when a search turns
//! out to be catastrophic (`memo`).

pub(crate) mod input;
pub(crate) mod matcher;
mod memo;
mod scan;
