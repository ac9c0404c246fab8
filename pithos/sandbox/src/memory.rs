//! Denying this process executable memory for good: for workers that run nothing but the server's own interpreter, once their libraries are
//! loaded. Code that a guest could bring into memory stays data.

use crate::error::Error;
use crate::filter;

/// Denies this thread, and all that it starts, mapping memory that can be executed and making memory so. Programs that it would start cannot
/// load their libraries any more. There is no way back.
pub fn deny_executable_memory() -> Result<(), Error> {
    let program = filter::build_without_executable_memory()?;
    seccompiler::apply_filter(&program).map_err(|error| Error::Rules(error.to_string()))
}
