//! Cynic: a strict-only, hardened ECMAScript engine, for programs that embed it.
//!
//! The embedding API stands at the root ([`Engine`], [`Isolate`], [`Realm`], [`Handle`]); [`host`] is what guests can be given besides the
//! language. This crate is the only door: the virtual machine, raw values and the collector are in crates of their own
//! (`pithos-cynic-engine`, `-heap`, `-front`), whose APIs are the engine's own and promise nothing to others.
//!
//! # What a safe program cannot do
//!
//! A value is reached by a [`Handle`] only, which is a root: it stays what it is over collections, wherever it is kept.
//!
//! ```
//! # use cynic::{Engine, Handle, Limits};
//! let mut isolate = Engine::new().isolate(Limits::default());
//! let mut texts: Vec<Handle> = Vec::new();
//! for i in 0..64 {
//!     texts.push(isolate.realm().value(format!("text {i}"))?);
//! }
//! isolate.collect_garbage();
//! assert_eq!(texts[63].to::<String>(&mut isolate.realm())?, "text 63");
//! # Ok::<(), cynic::Error>(())
//! ```
//!
//! Raw values, which the collector does not find in a `Vec`, are not public, nor is what makes them:
//!
//! ```compile_fail,E0616
//! # use cynic::{Engine, Handle, Limits};
//! let mut isolate = Engine::new().isolate(Limits::default());
//! let mut texts = Vec::new();
//! for i in 0..64 {
//!     texts.push(isolate.realm().vm.new_string(&format!("text {i}")));
//! }
//! isolate.collect_garbage();
//! # Ok::<(), cynic::Error>(())
//! ```
//!
//! ```compile_fail,E0624
//! # use cynic::{Engine, Limits};
//! let mut isolate = Engine::new().isolate(Limits::default());
//! let vm = isolate.vm();
//! ```
//!
//! So a number cannot be taken for an object:
//!
//! ```compile_fail,E0432
//! use cynic::value::Value;
//! Value::number(1.5).object_unchecked().shape();
//! ```
//!
//! Handles, realms and isolates stay on their thread, and a realm does not outlive its isolate:
//!
//! ```compile_fail,E0277
//! # use cynic::{Engine, Limits};
//! let mut isolate = Engine::new().isolate(Limits::default());
//! let object = isolate.realm().new_object();
//! std::thread::spawn(move || object.is_object());
//! ```
//!
//! ```compile_fail,E0277
//! # use cynic::{Engine, Limits};
//! let isolate = Engine::new().isolate(Limits::default());
//! std::thread::spawn(move || drop(isolate));
//! ```
//!
//! ```compile_fail,E0505
//! # use cynic::{Engine, Limits};
//! let mut isolate = Engine::new().isolate(Limits::default());
//! let mut realm = isolate.realm();
//! drop(isolate);
//! realm.new_object();
//! ```
#![forbid(unsafe_code)]

mod embedding;
pub mod host;

pub use self::embedding::*;
