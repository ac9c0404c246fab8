//! Every limit of the command, with its reason.
// Those of the daemon and of sessions have no use where these are not.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

/// How much of each stream `--json` keeps when `--json-limit` does not say, in bytes: a program reads it whole.
pub(crate) const CAPTURE_BYTES_MAX: u64 = 1 << 20;

/// How long `--json` waits, after the shell has ended, for what background processes still write.
pub(crate) const CAPTURE_GRACE_MS: u64 = 20;

/// How long the last processes of a dead session are pursued; one that cannot die waits in the kernel.
pub(crate) const KILL_PATIENCE_MS: u64 = 5_000;

/// Shells that a daemon keeps ready when `--pool` does not say: as many as one client after the other takes before the
/// first is replaced.
pub(crate) const POOL_SHELLS: usize = 12;

/// The most that `--pool` may ask for.
pub(crate) const POOL_SHELLS_MAX: usize = 64;

/// How long a command runs before the daemon wakes to watch its client and to replace its shell: most have ended by then,
/// and did not share the processors with it. Longer than a tick of the kernel (4 ms), because a timer that is due before the
/// next tick has to be programmed, which costs a virtual machine 15 microseconds.
pub(crate) const WATCH_DELAY_MS: u64 = 5;

/// How long a shell that has answered sleeps before it ends itself: its client, and whoever waits for that, come first.
pub(crate) const END_DELAY_MS: u64 = 5;

/// Variables of the environment in which a pooled shell is warmed: as many as users have, so that theirs find memory.
pub(crate) const REHEARSED_VARIABLES: usize = 64;

/// How long `daemon start` and `stop` wait for it to be there or gone.
pub(crate) const DAEMON_PATIENCE_MS: u64 = 5_000;

/// Copies and snapshots that one `rush session` may hold.
pub(crate) const SHELLS_MAX: usize = 64;

/// Input that waits for a command to read it, per run.
pub(crate) const PENDING_INPUT_BYTES_MAX: usize = 16 << 20;

/// How long a prompt waits to be told whether the repository has changes: less than anybody sees.
pub(crate) const GIT_PROMPT_PATIENCE_MS: u64 = 10;

/// How long that question may take before it is given up, so that a slow file system holds no process for ever.
pub(crate) const GIT_PROMPT_TIMEOUT_MS: u64 = 2_000;
