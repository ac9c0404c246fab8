//! The embedding API: a safe face of the engine for hosts.
//!
//! An [`Engine`] holds what all isolates share (the posture and compiled scripts), an [`Isolate`] is one heap with its job queue and limits,
//! and a [`Realm`] is a global environment of an isolate, through which everything is done: evaluating scripts and modules, defining host
//! functions, calling JavaScript from Rust, converting values (by hand or with serde), settling promises.
//!
//! Three things can go wrong, and they are three types: an [`Exception`] is the guest's own outcome, a [`Termination`] means that a
//! limit ended it, a [`HostError`] is the host's mistake. [`Error`] is whichever it was.
//!
//! Invariants: a [`Handle`] keeps its value alive wherever the host puts it, and every operation checks that it belongs to the isolate it is
//! used with. No reference into the heap ever gets out. What lies below (raw values, the collector,
//! the virtual machine) is not public: no safe program can misuse it.
//!
//! ```
//! use cynic::{Engine, Limits};
//!
//! let engine = Engine::new();
//! let mut isolate = engine.isolate(Limits { fuel: Some(1_000_000), ..Limits::default() });
//! let mut realm = isolate.realm();
//! realm.define("add", |a: f64, b: f64| a + b)?;
//! let sum: f64 = realm.evaluate("sum.js", "add(40, 2)")?.to(&mut realm)?;
//! assert_eq!(sum, 42.0);
//! # Ok::<(), cynic::Error>(())
//! ```

mod class;
mod convert;
mod deserialize;
mod error;
mod function;
mod handle;
mod isolate;
mod preview;
mod promise;
mod realm;
mod serialize;
mod shared_memory;

pub use self::class::{Class, Instance, Native};
pub use self::convert::{FromJs, IntoJs, Serde};
pub use self::error::{Error, Exception, HostError};
pub use self::function::{HostFunction, Rest};
pub use self::handle::Handle;
pub use self::isolate::{Engine, Isolate, Limits, RealmId, Script};
pub use self::promise::{PromiseState, Resolver};
pub use self::realm::Realm;
pub use self::shared_memory::SharedMemory;
pub use cynic_engine::gc::{GcStats, Zeal};
pub use cynic_engine::host::{Capabilities, Clock, Entropy, Randomness};
pub use cynic_engine::jit::{Mode as Jit, Stats as JitStats};
pub use cynic_engine::structured_clone::Cloned;
pub use cynic_engine::syntax::{SyntaxError, awaiting_entry};
pub use cynic_engine::vm::modules::{ModuleKind, ModuleLoader};
pub use cynic_engine::vm::{CancelToken, Termination};
