//! Nodes: an iris node is to be a node of a BEAM cluster, by the Erlang distribution protocol. Owns, so far, its terms and their bytes;
//! handshake and connections come next. It knows nothing of Python.
#![forbid(unsafe_code)]

pub mod etf;
pub mod limits;
pub mod term;

pub use etf::EtfError;
pub use term::{Atom, Big, Pid, Port, Reference, Term};
