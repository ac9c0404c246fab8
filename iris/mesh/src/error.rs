//! What can go wrong between nodes, as data, and its text.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use crate::etf::EtfError;
use crate::term::Term;

/// Why a node did not start, a connection was not made or something was not sent.
#[derive(Debug)]
pub enum MeshError {
    /// Not a node's name.
    Name(String),
    /// Beyond loopback a cookie protects nothing, and this node has no TLS.
    NotLoopback(SocketAddr),
    /// A certificate, a key or TLS itself.
    Tls(String),
    /// The port mapper knows no such node, or refuses.
    Epmd(String),
    /// A system call failed; what was attempted.
    Io(String, io::Error),
    /// The peer does not speak the protocol, or not with this cookie.
    Handshake(&'static str),
    /// The connection is gone.
    NoConnection(String),
    /// The peer does not read fast enough.
    Busy(String),
    /// What was to be sent has no bytes.
    Etf(EtfError),
    /// What was to be sent, or came, is longer than a frame may be.
    FrameLength,
    /// A frame that the protocol does not know.
    Frame(&'static str),
    /// The actor has ended, or is not of this node.
    NoProcess,
    /// A limit of this node; which one.
    Limit(&'static str),
}

impl fmt::Display for MeshError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "{name:?} is not the name of a node: write name@host"),
            Self::NotLoopback(address) => {
                write!(
                    f,
                    "{address} is not a loopback address: between machines nodes need TLS: make certificates with `python -m iris mesh init`"
                )
            }
            Self::Tls(text) => f.write_str(text),
            Self::Epmd(text) => write!(f, "epmd: {text}"),
            Self::Io(what, error) => write!(f, "{what}: {error}"),
            Self::Handshake(text) => write!(f, "handshake: {text}"),
            Self::NoConnection(node) => write!(f, "no connection to {node}"),
            Self::Busy(node) => write!(f, "{node} does not read what is sent to it"),
            Self::Etf(error) => error.fmt(f),
            Self::FrameLength => f.write_str("longer than a frame may be"),
            Self::Frame(text) => write!(f, "not a valid frame: {text}"),
            Self::NoProcess => f.write_str("the actor has ended or was not given to this node"),
            Self::Limit(what) => write!(f, "too many {what}"),
        }
    }
}

impl std::error::Error for MeshError {}

impl From<EtfError> for MeshError {
    fn from(error: EtfError) -> Self {
        Self::Etf(error)
    }
}

/// Why a call has no reply.
#[derive(Debug)]
pub enum CallError {
    /// It was not sent.
    NotSent(MeshError),
    /// The deadline passed.
    Timeout,
    /// The callee ended, or was not there: `noproc`, `noconnection` or its own reason.
    Down(Term),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent(error) => error.fmt(f),
            Self::Timeout => f.write_str("no reply before the deadline"),
            Self::Down(reason) => write!(f, "the callee is gone: {reason}"),
        }
    }
}

impl std::error::Error for CallError {}
