//! Cynic: a strict-only, hardened ECMAScript engine, for programs that embed it.
//!
//! The embedding API stands at the root ([`Engine`], [`Isolate`], [`Realm`], [`Handle`]); [`host`] is what guests can be given besides the
//! language.
#![forbid(unsafe_code)]

mod embedding;
pub mod host;

pub use self::embedding::*;
