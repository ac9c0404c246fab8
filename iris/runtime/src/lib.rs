//! iris: 100,000s of actors in one process, supervised in OTP's vocabulary, with logic that can be replaced while it runs.
//! This crate is the core: cells, mailboxes, a work-stealing scheduler, links, monitors, supervisors, timers. It knows
//! nothing of Python or JavaScript; hosts bring their own pools (`Host`) and message types.
//! It contains no unsafe code at all: the proofs are in the headers of `mailbox` and `scheduler`.
//!
//! Start reading at `cell` (one actor and its turn), then `mailbox` (the states), then `scheduler`.
#![forbid(unsafe_code)]

mod behaviour;
mod call;
mod cell;
mod context;
mod dead_letters;
mod exit;
mod handle;
mod inbox;
pub mod limits;
mod mailbox;
mod metrics;
mod pid;
mod reference;
mod registry;
mod relations;
mod runtime;
mod scheduler;
pub mod simulation;
mod slab;
pub mod supervisor;
mod sync;
mod timer;
#[cfg_attr(feature = "tracing", path = "trace_on.rs")]
#[cfg_attr(not(feature = "tracing"), path = "trace_off.rs")]
mod trace;
mod versions;
mod virtual_actor;

pub use behaviour::{Behaviour, Direction, Flow, Handler, MonitorRef, Signal};
pub use call::{Call, CallError, ReplyTo, call_pair};
pub use cell::CellSnapshot;
pub use context::{Context, current_pid};
pub use dead_letters::DeadLetter;
pub use exit::{Exception, ExitReason};
pub use handle::{Handle, SpawnError, SpawnOptions, WeakHandle};
pub use inbox::{Inbox, Nothing, Received};
pub use mailbox::Overflow;
pub use metrics::{ActorInfo, Metrics};
pub use pid::Pid;
pub use reference::{ActorRef, SendError, WeakActorRef};
pub use registry::{NameError, Taking};
pub use runtime::{Builder, Runtime, StopReport};
pub use scheduler::keeper::SlowHandler;
pub use scheduler::{Host, PlainHost, PoolOptions};
pub use timer::TimerId;
pub use virtual_actor::Factory;
