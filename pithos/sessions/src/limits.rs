//! Every limit of sessions and jobs, each with its reason. Times in milliseconds, sizes in bytes.

/// Sessions that may be open at once: each is a process of a few megabytes.
pub const SESSIONS_MAX: usize = 256;
/// Jobs whose results and logs are remembered; the oldest that has ended goes first.
pub const JOBS_REMEMBERED_MAX: usize = 1024;
/// Shell processes that wait for a session, so that opening one costs no process start.
pub const POOL_SIZE: usize = 4;
/// A run without a time-out of its own ends after this: long enough for a build.
pub const RUN_TIMEOUT_MS_DEFAULT: u64 = 10 * 60 * 1000;
/// The longest time-out that a client may ask for: a day.
pub const RUN_TIMEOUT_MS_MAX: u64 = 24 * 60 * 60 * 1000;
/// A call that is still running after this comes back as a running job: clients give up after a minute.
pub const RUN_YIELD_MS_DEFAULT: u64 = 30 * 1000;
/// How long an interrupted shell may take to come back before it is killed itself.
pub const KILL_GRACE_MS: u64 = 1000;
/// A run that is being stopped is interrupted again after this, until `KILL_GRACE_MS` are over.
pub const INTERRUPT_AGAIN_MS: u64 = 50;
/// Between SIGTERM and SIGKILL for the processes of a run.
pub const TERMINATE_GRACE_MS: u64 = 50;
/// How long what a worker left is pursued; one that cannot die waits in the kernel.
pub const END_PATIENCE_MS: u64 = 5 * 1000;
/// How long the guardian and a shell may take to say that they are ready.
pub const START_TIMEOUT_MS: u64 = 10 * 1000;
/// What a result shows of a run's output by default.
pub const OUTPUT_BYTES_DEFAULT: usize = 16 * 1024;
/// The most that one result may show.
pub const OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// Of one line that a search found, or that an actor logged, this many bytes are shown.
pub const LINE_BYTES_SHOWN_MAX: usize = 4 * 1024;
/// Kept in memory of each run's beginning.
pub const HEAD_BYTES: usize = OUTPUT_BYTES_MAX / 2;
/// Kept in memory of each run's end.
pub const TAIL_BYTES: usize = OUTPUT_BYTES_MAX;
/// Kept in memory of a run that ended a while ago: head and tail together.
pub const REMEMBERED_BYTES: usize = 16 * 1024;
/// Ended runs that keep all they hold in memory; older ones are cut to [`REMEMBERED_BYTES`].
pub const JOBS_WHOLE_MAX: usize = 8;
/// A log on disk stops growing here; the run goes on.
pub const LOG_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// One read of a pipe.
pub const READ_BYTES: usize = 64 * 1024;
/// The same until a run has filled it once: most runs say little.
pub const READ_BYTES_FIRST: usize = 4 * 1024;
/// What is read at most of a pipe when its script has ended: more than a pipe holds.
pub const DRAIN_BYTES: usize = 256 * 1024;
/// Matches that one search of a log returns at most.
pub const GREP_MATCHES_MAX: usize = 1000;
/// Text that may be written to a job's stdin in one call.
pub const STDIN_BYTES_MAX: usize = 1024 * 1024;
/// Processes that a result lists as killed.
pub const KILLED_LISTED_MAX: usize = 50;
/// Wall time of a cell that asks for none.
pub const CELL_TIMEOUT_MS_DEFAULT: u64 = 30 * 1000;
/// Past its deadline, a worker has this long to say so itself before it is killed.
pub const CELL_GRACE_MS: u64 = 500;
/// JavaScript heap of a cell that asks for none.
pub const CELL_HEAP_BYTES_DEFAULT: usize = 256 * 1024 * 1024;
/// Cell workers that wait, so that a cell costs no process start.
pub const CELLS_WARM: usize = 2;
/// A worker is replaced after this many cells: whatever one leaks ends with it.
pub const CELLS_PER_WORKER: u32 = 1000;
/// Cells whose ends are remembered.
pub const CELLS_REMEMBERED_MAX: usize = 256;
/// Of what a cell's clock said, so many different times are kept for replays,
pub const TAPE_CLOCK_RUNS_MAX: usize = 2048;
/// and of what it waited for, so many ends.
pub const TAPE_TURNS_MAX: usize = 2048;
/// Of a cell's value, this much is kept.
pub const CELL_VALUE_BYTES_MAX: usize = 256 * 1024;
/// Of a cell's error with its stack, this much is kept.
pub const CELL_ERROR_BYTES_MAX: usize = 64 * 1024;
/// Of one line that a cell prints, this much is kept: a long one must not take the room of all others.
pub const CELL_CONSOLE_LINE_BYTES_MAX: usize = 16 * 1024;
/// Of what a cell prints, this much is kept.
pub const CELL_CONSOLE_BYTES_MAX: usize = 64 * 1024;
/// The largest file that `read` gives.
pub const CELL_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// What `store` keeps of a session, as JSON.
pub const CELL_STORE_BYTES_MAX: usize = 1024 * 1024;
/// Arguments of a tool that a cell calls, as JSON, and what the tool answers.
pub const TOOL_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Of the message of a tool that failed, a cell sees this much.
pub const TOOL_MESSAGE_CHARS_MAX: usize = 64 * 1024;
/// Calls of tools that one cell has under way; more of them fail.
pub const TOOLS_AT_ONCE_MAX: usize = 64;
/// Units that have ended leave the tree together, this long after the first: a wake-up of its worker for each would cost every call.
pub const TREE_REAP_MS: u64 = 5;
/// Systems of actors: each is a worker process.
pub const ACTOR_SYSTEMS_MAX: usize = 16;
/// Actors that one system may hold.
pub const ACTORS_MAX: u32 = 1_000_000;
/// Messages that one actor's mailbox takes before it refuses more.
pub const ACTOR_MAILBOX_MAX: usize = 10_000;
/// Messages that one call may send.
pub const ACTOR_SENDS_MAX: u64 = 5_000_000;
/// A message as JSON.
pub const ACTOR_MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// Steps that the handling of one message may take: about a tenth of a second.
pub const ACTOR_FUEL_PER_MESSAGE: u64 = 10_000_000;
/// Steps that finding the largest state of a group may take, when its heap is full.
pub const ACTOR_FUEL_PER_COUNT: u64 = 500_000_000;
/// JavaScript heap that the actors of one group share.
pub const ACTOR_HEAP_BYTES: usize = 512 * 1024 * 1024;
/// Versions of a behaviour that a group may see in its life; their code stays in the isolate.
pub const ACTOR_VERSIONS_MAX: u32 = 1000;
/// Restarts within [`ACTOR_RESTARTS_PERIOD_MS`] that end a group.
pub const ACTOR_RESTARTS_MAX: u32 = 1000;
/// The window of [`ACTOR_RESTARTS_MAX`].
pub const ACTOR_RESTARTS_PERIOD_MS: u64 = 5000;
/// Lines of `actor.log` and of ends that a group keeps.
pub const ACTOR_LOG_LINES: usize = 50;
/// Replies that an ask of a group shows one by one.
pub const ACTOR_REPLIES_SHOWN: usize = 10;
/// Different replies that an ask of a group counts.
pub const ACTOR_DISTINCT_MAX: usize = 20;
/// Requests that a system carries out side by side.
pub const ACTOR_REQUESTS_MAX: usize = 32;
/// Replies and swaps are waited for so long when the client does not say.
pub const ACTOR_TIMEOUT_MS_DEFAULT: u64 = 10 * 1000;
/// Past a request's own time, its system has this long to answer before it is ended.
pub const ACTOR_GRACE_MS: u64 = 30 * 1000;
/// Connections through the proxy at once; more wait.
pub const PROXY_CONNECTIONS_MAX: usize = 256;
/// The head of a request to the proxy.
pub const PROXY_HEAD_BYTES_MAX: usize = 32 * 1024;
/// The first message of TLS: far longer than any client's.
pub const PROXY_HELLO_BYTES_MAX: usize = 64 * 1024;
/// How long a program may take to say what it wants of the proxy.
pub const PROXY_HEAD_MS: u64 = 30 * 1000;
/// Between two looks whether a program still waits for what a person is asked.
pub const PROXY_LOOK_MS: u64 = 20;
/// How long a name and a connection to one address may take.
pub const PROXY_DIAL_MS: u64 = 20 * 1000;
/// A connection through the proxy on which nobody says anything ends after this.
pub const PROXY_IDLE_MS: u64 = 10 * 60 * 1000;
/// One read of a connection through the proxy.
pub const PROXY_PIECE_BYTES: usize = 16 * 1024;
/// Denials that are kept of one run or cell; more of them say nothing new.
pub const DENIALS_KEPT_MAX: usize = 64;
/// Files and folders of protected names, made in folders below, that one server tells of.
pub const MADE_TOLD_MAX: usize = 1024;
/// One report of a denial; a path and the advice about it fit.
pub const DENIAL_BYTES_MAX: usize = 32 * 1024;
/// Reports that are read in one go: more than the socket holds.
pub const DENIALS_HEARD_AT_ONCE: usize = 4096;
/// How much rather the kernel ends what agents run than anything else when memory is short (-1000 to 1000).
pub const OOM_SCORE_ADJUSTMENT: &str = "500";
/// The script of one call: with everything that JSON may add it fits into a frame of the sessions' protocol.
pub const COMMAND_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Standard input that a call may bring along.
pub const STDIN_TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The code of a cell: somewhat less than the engine parses.
pub const CODE_BYTES_MAX: usize = 1_000_000;
/// One variable of a call's environment with its name: the kernel starts no program with a longer one.
pub const ENVIRONMENT_VARIABLE_BYTES_MAX: usize = 128 * 1024 - 2;
/// All variables of a call together: programs with more than 2 MB of arguments and environment are not started.
pub const ENVIRONMENT_BYTES_MAX: usize = 1024 * 1024;
/// A path of a call.
pub const PATH_BYTES_MAX: usize = 4096;
/// What is kept for a process that does not read what it is sent.
pub const UNSENT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The longest time-out that a cell may ask for: a day.
pub const CELL_TIMEOUT_MS_MAX: u64 = RUN_TIMEOUT_MS_MAX;
/// How long text that a program does not read is held against its job.
pub const STDIN_PATIENCE_MS: u64 = 5 * 1000;
/// Between two looks whether a run waits for input; a look reads `/proc`.
pub const PROMPT_LOOK_MS: u64 = 40;
/// Calls of an overlaid session that can be undone; the oldest goes first.
pub const UNDO_CALLS_MAX: usize = 32;
/// An overlay that has been looked through to what is below so lately is not again: it would be found anew by every call of many. What changes below in
/// that time counts as unseen when it is judged, so that nothing is lost.
pub const VIEW_FRESH_MS: u64 = 200;
/// Checkpoints of one workspace and client; beyond, those that nobody named make room.
pub const CHECKPOINTS_MAX: usize = 256;
/// Changed files of all of them together; `--checkpoint-space` of `pithos serve` sets another.
pub const CHECKPOINTS_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// A checkpoint that was given neither a name nor a time to live goes after a week.
pub const CHECKPOINT_TTL_S_DEFAULT: u64 = 7 * 24 * 3600;
/// What is kept of one beside the content of files: names and attributes of 100,000 files and more.
pub const CHECKPOINT_RECORD_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Jobs that a checkpoint names, the last ones.
pub const CHECKPOINT_JOBS_MAX: usize = 200;
/// Of a job's script, what is remembered.
pub const JOB_SCRIPT_BYTES_MAX: usize = 16 << 10;
/// Of the script of such a job, so many characters.
pub const CHECKPOINT_COMMAND_CHARS: usize = 200;
/// Shells that wait over an empty overlay, once one such session was opened.
pub const OVERLAYS_WARM: usize = 2;
/// Bytes that one call may change and still be undone: keeping them is a copy.
pub const LEVEL_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Changed files that a result lists.
pub const CHANGED_LISTED_MAX: usize = 50;
/// Files that a diff lists.
pub const DIFF_LISTED_MAX: usize = 1000;
/// The state of a shell as text, when it moves to another process: it is run as a script.
pub const SHELL_STATE_BYTES_MAX: u64 = COMMAND_BYTES_MAX as u64;
/// How long the reading or the restoring of a shell's state may take.
pub const SHELL_STATE_TIMEOUT_MS: u64 = 10 * 1000;
/// Cells of the largest terminal whose screen is modelled: some megabytes.
pub const SCREEN_CELLS_MAX: usize = 100_000;
/// Of the machine's memory, what a server starts may take so many hundredths together, where control groups are delegated.
pub const MEMORY_TOGETHER_PERCENT: u64 = 75;
/// All logs of a server together; `--log-space` of `pithos serve` sets another.
pub const LOGS_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// How long a signal waits for the shell to begin the run that it is for; one that has sent all its output elsewhere looks as if it had not.
pub const BEGIN_PATIENCE_MS: u64 = 500;
/// Between two looks for that.
pub const BEGIN_LOOK_MS: u64 = 1;
/// Questions about hosts that wait for a person while another is asked; further ones are refused.
pub const ASK_WAITING_MAX: usize = 32;
/// A job that was refused so many hosts is not asked for any more.
pub const ASK_REFUSALS_MAX: u32 = 5;
/// Answers about hosts that are remembered; nobody is asked beyond.
pub const ASK_REMEMBERED_MAX: usize = 4096;
/// Seconds that a person has to answer.
pub const ASK_S: u64 = 300;
