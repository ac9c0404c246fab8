//! The sandbox of Pithos: a policy is data, a plan is what this machine will enforce of it, and a plan is applied to a
//! command before it is started.
//!
//! ```no_run
//! use pithos_sandbox::{Context, Plan, Policy, Preset, probe};
//!
//! let machine = probe();
//! let policy = Policy::preset(Preset::Workspace);
//! let context = Context {
//!     workspace: "/srv/project".into(),
//!     home: None,
//!     private_tmp: "/srv/private".into(),
//!     environment: std::env::vars_os().collect(),
//! };
//! let plan = Plan::prepare(&policy, &context, &machine)?;
//! let mut command = std::process::Command::new("/bin/sh");
//! plan.apply(&mut command)?;
//! let child = plan.spawn(&mut command)?;
//! # Ok::<(), pithos_sandbox::Error>(())
//! ```
//!
//! Invariants:
//! - It fails closed: what a policy forbids is forbidden, or `prepare` or `spawn` is an error that says which part cannot be had.
//! - Everything that allocates happens in the parent; between fork and exec only system calls on prepared data are made.
//! - The order in the child is process group, namespaces and mounts, capabilities, descriptors, resource limits,
//!   `no_new_privs`, Landlock, and seccomp last.
//!
//! Left to others: waiting, time-outs on the wall clock (`ResourceLimits::wall_seconds` is for whoever waits), and killing what is left over.

#![deny(unsafe_code)]

mod child;
mod denial;
mod environment;
mod error;
mod filter;
mod gitconfig;
mod hosts;
mod keeper;
pub mod limits;
mod memory;
mod nested;
mod overlay;
mod plan;
mod policy;
mod preset;
mod probe;
mod protect;
mod repository;
mod ruleset;
mod standby;
mod watch;

pub use denial::{Denial, DenialKind, refused_host};
pub use environment::proxy_variables;
pub use error::{Error, Step};
pub use hosts::{Hosts, PROXY};
pub use memory::deny_executable_memory;
pub use overlay::{Overlaid, unfit};
pub use plan::{Contained, Enforcement, Plan};
pub use policy::{
    Access, Context, HeaderRule, Namespaces, Network, Policy, Reach, ResolvedPolicy, ResourceLimits,
    UnixSockets,
};
pub use preset::Preset;
pub use probe::{Machine, probe};
pub use standby::Standby;
pub use watch::{Notice, Refused, Watching};
