//! In-process utilities (`ls`, `cat`, `grep` ...) behind the shell's builtin calling convention.
//!
//! Invariant: output is byte for byte that of the GNU program for every flag a utility accepts; any other flag
//! makes it decline, and the shell runs the external program. Leaves parsing, expansion and redirection to `rush`.
#![forbid(unsafe_code)]
