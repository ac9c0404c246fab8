//! Every limit of the command, with its reason.

/// How much of each stream `--json` keeps when `--json-limit` does not say, in bytes: a program reads it whole.
pub(crate) const CAPTURE_BYTES_MAX: u64 = 1 << 20;

/// How long `--json` waits, after the shell has ended, for what background processes still write.
pub(crate) const CAPTURE_GRACE_MS: u64 = 20;

/// How long the last processes of a dead session are pursued; one that cannot die waits in the kernel.
pub(crate) const KILL_PATIENCE_MS: u64 = 5_000;

/// Shells that a daemon keeps ready when `--pool` does not say: several at once, each a few hundred pages of its own.
pub(crate) const POOL_SHELLS: usize = 4;

/// The most that `--pool` may ask for.
pub(crate) const POOL_SHELLS_MAX: usize = 64;

/// How long a daemon waits before it replaces a shell that was taken, so that the copying does not compete with the client.
pub(crate) const REFILL_DELAY_MS: u64 = 3;

/// How long a shell that has answered waits for its client to go before it ends itself.
pub(crate) const CLIENT_PATIENCE_MS: i64 = 5;

/// Variables of the environment in which a pooled shell is warmed: as many as users have, so that theirs find memory.
pub(crate) const REHEARSED_VARIABLES: usize = 64;

/// How long `daemon start` and `stop` wait for it to be there or gone.
pub(crate) const DAEMON_PATIENCE_MS: u64 = 5_000;

/// Copies and snapshots that one `rush session` may hold.
pub(crate) const SHELLS_MAX: usize = 64;

/// Input that waits for a command to read it, per run.
pub(crate) const PENDING_INPUT_BYTES_MAX: usize = 16 << 20;

/// Macros bound to keys that type one another.
pub(crate) const MACRO_DEPTH_MAX: usize = 16;

/// How long a prompt waits to be told whether the repository has changes: less than anybody sees.
pub(crate) const GIT_PROMPT_PATIENCE_MS: u64 = 10;

/// How long that question may take before it is given up, so that a slow file system holds no process for ever.
pub(crate) const GIT_PROMPT_TIMEOUT_MS: u64 = 2_000;
