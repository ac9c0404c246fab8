//! In-process utilities (`ls`, `cat`, `grep` ...) for the shell, and the civil calendar they share.
//!
//! Invariant: output is byte for byte that of the GNU program for every flag a utility accepts; any other flag
//! makes it decline, and the shell runs the external program. Knows nothing of the shell: the context comes in
//! as parameters.
#![forbid(unsafe_code)]

pub mod calendar;
