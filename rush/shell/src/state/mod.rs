//! The state of a session: variables, options, descriptors, and the session that holds them.

pub mod access;
pub mod array;
pub mod descriptors;
mod import;
pub mod names;
pub mod options;
pub mod positional;
pub mod scope;
pub mod session;
pub mod startup;
pub mod value;
pub mod variables;
