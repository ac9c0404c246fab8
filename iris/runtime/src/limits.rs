//! Every limit of the actor core: its name, default and reason. Nothing else in the crate carries a bare number.
//! Leaves to callers which of the defaults they override (pools, capacities and time-outs are all options).

/// Messages that one actor may process before it yields its worker (Erlang's "reductions", counted in messages).
pub const BUDGET_DEFAULT: u32 = 100;

/// Messages between two looks at the clock while a worker holds its host (for Python: while it holds the GIL).
pub const SLICE_MESSAGES: u32 = 64;

/// Longest time in microseconds that a worker keeps its host before it lets others in.
pub const SLICE_US: u64 = 1_000;

/// Time in microseconds that a round of a worker's queues should take at most: where many actors wait, each gets fewer messages a turn.
pub const ROUND_US: u64 = 250_000;

/// Messages that a worker handles from its own queue, and then from the shared one, while both have work.
pub const SHARE_MESSAGES: u32 = 61;

/// Jobs in a worker's own queue up to which it takes from the shared queue in batches, which wait behind them.
pub const BATCH_BEHIND_MAX: usize = 64;

/// Jobs that a worker takes from the shared queue at once, where there are so many.
pub const INJECTOR_CHUNK: usize = 32;

/// Empty chunks that the shared queue keeps for what comes next.
pub const INJECTOR_SPARES: usize = 64;

/// Period in milliseconds at which the keeper looks for workers that overstay.
pub const KEEPER_TICK_MS: u64 = 2;

/// The period for a while after a stand-in was called, because the next handler in the queue may block as well.
pub const KEEPER_TICK_ALERT_MS: u64 = 1;

/// How many of the short periods there are after each stand-in.
pub const KEEPER_ALERT_TICKS: u32 = 32;

/// Ticks that the keeper goes on after the last worker went to sleep, so that a busy system does not wake it again and again.
pub const KEEPER_LINGER_TICKS: u32 = 50;

/// Processor time in microseconds that a turn which lasts has had between two looks of the keeper if it is the handler's fault, and not that
/// of other programs.
pub const OVERSTAY_RAN_US: u64 = 500;

/// Extra workers that a pool may start to stand in for workers whose handler blocks outside iris.
pub const SPARE_WORKERS_MAX: usize = 62;

/// Threads that a pool may have beyond that, one for each worker that waits for another actor: as many actors may ask one another in a chain, or
/// ask one that is busy, before the next request is refused. They stay, asleep, for the next time.
pub const WAITING_WORKERS_MAX: usize = 960;

/// Workers of the default pool that start with the first actor; the others when they are needed.
pub const EARLY_WORKERS: usize = 2;

/// Largest number of pools in one runtime; a cell stores its pool in one byte.
pub const POOLS_MAX: usize = 32;

/// Time in milliseconds after which a handler that has not returned is reported as slow.
pub const SLOW_HANDLER_MS: u64 = 500;

/// Time in milliseconds that a killed actor's handler has to come to its end before it is interrupted, and between two interruptions.
pub const INTERRUPT_MS: u64 = 100;

/// Interruptions that a killed actor's handler may outlive before the actor is given up, and its thread left to it.
pub const INTERRUPTS_MAX: u32 = 8;

/// Slow-handler reports that are kept for introspection.
pub const SLOW_HANDLERS_KEPT: usize = 64;

/// Behaviour versions that can be rolled back to, beside the running one.
pub const VERSIONS_KEPT: usize = 16;

/// Redirects that one message may take from full mailbox to full mailbox; ends cycles of redirection.
pub const REDIRECT_HOPS_MAX: u32 = 8;

/// Dead letters whose description is kept for the log.
pub const DEAD_LETTERS_KEPT: usize = 256;

/// Queue capacity in messages above which an idle actor gives its buffer back.
pub const IDLE_QUEUE_KEPT: usize = 64;

/// Queue capacity in messages above which a busy actor's used buffer is not used again.
pub const BUSY_QUEUE_KEPT: usize = 4_096;

/// Restarts that a supervisor allows within `INTENSITY_PERIOD_MS` unless told otherwise (OTP allows 1 in 5 s).
pub const INTENSITY_DEFAULT: u32 = 3;

/// Window in milliseconds for a supervisor's restart intensity.
pub const INTENSITY_PERIOD_MS: u64 = 5_000;

/// Time in milliseconds that a child has for its orderly end before it is killed.
pub const SHUTDOWN_TIMEOUT_MS: u64 = 5_000;

/// First pause in milliseconds of a supervisor's exponential back-off, where back-off is on.
pub const BACKOFF_FIRST_MS: u64 = 10;

/// Longest pause in milliseconds of a supervisor's exponential back-off.
pub const BACKOFF_MAX_MS: u64 = 10_000;

/// Time in milliseconds that dropping a `Runtime` waits for its worker threads to end.
pub const DROP_TIMEOUT_MS: u64 = 2_000;

/// Time in milliseconds that killed actors have to be gone before `stop` returns, or their supervisor goes on, without them (a handler may
/// never return).
pub const KILL_GRACE_MS: u64 = 200;

/// Pages in the first chunk of the slab; each further chunk is twice as large.
pub const SLAB_FIRST_CHUNK: usize = 16;

/// Chunks of the slab: 16 * (2^23 - 1) pages of 64 slots are more than an index can tell.
pub const SLAB_CHUNKS: usize = 23;

/// Pages of the slab that keep their memory when they are empty, so that a few actors that come and go cost no allocation.
pub const SLAB_PAGES_KEPT: usize = if cfg!(miri) { 2 } else { 16 };

/// Longest timer in milliseconds (2^36 - 1, about two years): what six levels of 64 slots reach.
pub const TIMER_MAX_MS: u64 = (1 << 36) - 1;

/// Cancelled timers that may wait in the wheel before it is swept.
pub const TIMER_TOMBSTONES_MAX: usize = if cfg!(miri) { 64 } else { 1_024 };

/// Rounds in which a worker looks for work and waits on its processor in between.
pub const SEARCH_ROUNDS: u32 = 24;

/// Rounds after those in which it lets other threads run in between. Then it sleeps, and whoever has a job for it pays for a wake-up.
pub const SEARCH_YIELDS: u32 = 8;
