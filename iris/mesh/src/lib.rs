//! Nodes: an iris node is a node of a BEAM cluster, by the Erlang distribution protocol. Owns the term format, the handshake, the
//! connections and what remote processes may do to local actors; leaves actors to `pithos-iris`. It knows nothing of Python.
//! Invariant: without TLS nothing here listens or connects beyond loopback, because a cookie alone protects neither secrecy nor integrity.
//!
//! Start reading at `node`, then `meeting` (how connections come to be), `connection` (their threads), `etf` (bytes).
#![forbid(unsafe_code)]

pub mod authority;
mod connection;
mod dispatch;
mod epmd;
mod error;
pub mod etf;
mod global;
mod groups;
mod handshake;
pub mod limits;
mod meeting;
mod node;
mod process;
pub mod term;
mod tls;
mod transport;

pub use error::{CallError, MeshError};
pub use etf::{EtfError, Private};
pub use node::{Around, Caller, Destination, Node, NodeEvent, Options};
pub use process::{Received, reason_term};
pub use term::{Atom, Big, Pid, Port, Reference, Term};
pub use tls::Tls;
