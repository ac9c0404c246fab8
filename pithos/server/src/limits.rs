//! The limits of the server: what a client can take from the others, over HTTP before it has shown its token and after; what one message may be.

use std::time::Duration;

/// How long a client may take for the head of a request, idle time between two requests included.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long a client may take for the body of a request.
pub(crate) const BODY_TIME: Duration = Duration::from_secs(30);
/// Bytes of the body of a request.
pub(crate) const BODY_BYTES: usize = 4 << 20;
/// Connections at a time; a further one gets the place of one that nobody needs, or waits while there is none.
pub(crate) const CONNECTIONS: usize = 256;
/// Clients at a time over HTTP: each is a guardian and a few processes of a few megabytes.
pub(crate) const CLIENTS: usize = 64;
/// A client over HTTP that makes no call and holds no stream for so long is ended, unless `--idle` says otherwise: longer than people are at lunch.
pub(crate) const CLIENT_IDLE: Duration = Duration::from_secs(2 * 60 * 60);
/// When all places are taken, a client that has been silent so long gives its place to a new one.
pub(crate) const CLIENT_EVICT: Duration = Duration::from_secs(5 * 60);
/// Between two looks for clients that have been silent too long.
pub(crate) const CLIENT_LOOK_EVERY: Duration = Duration::from_millis(250);
/// Bytes of the word after the token by which a client tells itself from others of the same token.
pub(crate) const WORD_BYTES: usize = 64;
/// One message on standard input, which is as much as the protocol's library takes by default.
pub(crate) const LINE_BYTES: usize = 16 * 1024 * 1024;
/// Ids of calls that a client took back and that it may not use again, because their work may go on.
pub(crate) const CANCELLED_REMEMBERED: usize = 1024;
/// How long what was said last may take to be written to a client that has closed its own side.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(5);
/// Links on the way to a client's configuration, as the kernel follows them.
pub(crate) const LINKS_MAX: usize = 40;

/// Calls that wait to be written to the journal, of all clients: while there are so many, who has one among them waits with the next call.
pub(crate) const JOURNAL_QUEUE: usize = 1024;
/// Bytes that they hold together when that begins.
pub(crate) const JOURNAL_QUEUE_BYTES: usize = 16 << 20;
/// Of one client, whatever the others do.
pub(crate) const JOURNAL_CLIENT_CALLS: usize = 256;
/// Bytes of one client.
pub(crate) const JOURNAL_CLIENT_BYTES: usize = 4 << 20;
/// A journal of which nothing was written for so long stands still, and nobody waits for it.
pub(crate) const JOURNAL_STILL: Duration = Duration::from_secs(5);
/// Between two looks whether it does.
pub(crate) const JOURNAL_LOOK_EVERY: Duration = Duration::from_millis(200);
/// Bytes that the journal's thread writes at once, more or less.
pub(crate) const JOURNAL_BATCH_BYTES: usize = 256 << 10;
/// Bytes of text of the arguments of a call, or of its result, that the journal keeps.
pub(crate) const JOURNAL_STRING_BYTES_MAX: usize = 64 << 10;
/// Values in them that it keeps.
pub(crate) const JOURNAL_NODES_MAX: usize = 4096;
/// A text that is cut loses this much more where no word ends, so that no half of a secret is kept.
pub(crate) const JOURNAL_TEAR_BYTES: usize = 4 << 10;
/// Bytes of a line of a journal that is read: more than the longest that is written, each byte of whose text may be written as six.
pub(crate) const JOURNAL_LINE_BYTES_MAX: u64 = 4 << 20;
/// Files of a journal, the one that is written included.
pub(crate) const JOURNAL_FILES: u64 = 4;
/// Bytes of them together, unless `--audit-space` says otherwise.
pub(crate) const JOURNAL_SPACE: u64 = 256 << 20;
/// The least that they may have.
pub(crate) const JOURNAL_SPACE_MIN: u64 = 1 << 20;
/// How long a server that ends waits for its journal.
pub(crate) const JOURNAL_FINISH: Duration = Duration::from_secs(2);

/// Rows of each kind that one picture of a client has.
pub(crate) const OVERVIEW_ROWS: usize = 200;
/// How long all actor systems may take to say what they hold.
pub(crate) const OVERVIEW_PATIENCE: Duration = Duration::from_secs(1);

/// Calls that the page's timeline goes back.
pub(crate) const RECENT_CALLS: usize = 1000;
/// Bytes of each text of such a call.
pub(crate) const RECENT_TEXT_BYTES: usize = 160;

/// Between two pictures that an open page is given.
pub(crate) const CONSOLE_EVERY: Duration = Duration::from_secs(1);
/// Pages that may be open at a time.
pub(crate) const CONSOLE_WATCHERS: usize = 16;
/// Bytes of output of a job that the page is sent at once.
pub(crate) const CONSOLE_OUTPUT_BYTES: usize = 64 << 10;
/// Between two pieces of output of a job.
pub(crate) const CONSOLE_PIECE_EVERY: Duration = Duration::from_millis(100);
/// A page that is further behind its job than this goes on near the end.
pub(crate) const CONSOLE_BEHIND_BYTES: u64 = 1 << 20;
/// How far from the end: also where a page begins that asks for no place.
pub(crate) const CONSOLE_BACK_BYTES: u64 = 256 << 10;
/// Pages that may follow jobs at a time.
pub(crate) const CONSOLE_FOLLOWERS: usize = 16;
/// Jobs of a client that are looked at for a prompt, for one picture: each look reads the table of processes.
pub(crate) const CONSOLE_PROMPTS: usize = 16;
/// Between two samples for the plots.
pub(crate) const CONSOLE_SAMPLE_EVERY: Duration = Duration::from_secs(5);
/// Samples that are kept: a quarter of an hour.
pub(crate) const CONSOLE_SAMPLES: usize = 180;
/// Denials that the page lists, the newest jobs' first.
pub(crate) const CONSOLE_DENIALS: usize = 500;
/// Bytes of an action that the page asks for: text for a program that waits is most of it.
pub(crate) const CONSOLE_ACT_BYTES: usize = 64 << 10;
/// Bytes of a diff that the page shows.
pub(crate) const CONSOLE_DIFF_BYTES: usize = 64 << 10;
/// Questions that wait for an answer on the page.
pub(crate) const CONSOLE_QUESTIONS: usize = 64;
/// Bytes of the body of a request of the page.
pub(crate) const CONSOLE_BODY_BYTES: usize = 4 << 10;
/// How long an invitation to the page is good.
pub(crate) const CONSOLE_INVITATION_TIME: Duration = Duration::from_secs(60);
/// Invitations at a time; the oldest goes.
pub(crate) const CONSOLE_INVITATIONS: usize = 16;
/// How long a browser stays signed in.
pub(crate) const CONSOLE_COOKIE_TIME: Duration = Duration::from_secs(12 * 60 * 60);
/// Browsers that are signed in at a time; the oldest goes.
pub(crate) const CONSOLE_COOKIES: usize = 32;
/// Bytes of a file that names other servers.
pub(crate) const SERVERS_BYTES_MAX: u64 = 1 << 20;
/// Servers in such a file.
pub(crate) const SERVERS_MAX: usize = 64;
/// Seconds that such a server may take to start and to list its tools; some are downloaded first.
pub(crate) const SERVER_START_S: u64 = 60;
/// How long such a server may take to answer a `ping`, when a call of it was given up.
pub(crate) const SERVER_PING_TIME: Duration = Duration::from_secs(5);
/// Of a cell's value that is no JSON, beside the text that has all of it.
pub(crate) const SHOWN_BYTES_MAX: usize = 4 << 10;
/// Bytes of a resource that is read at once; of a log its end.
pub(crate) const RESOURCE_BYTES_MAX: usize = 1 << 20;
/// Logs that are listed as resources: the newest.
pub(crate) const RESOURCES_LISTED: usize = 200;
/// Resources that one client is told of.
pub(crate) const RESOURCES_WATCHED: usize = 64;
/// Between two messages about one log.
pub(crate) const RESOURCE_TOLD_EVERY: Duration = Duration::from_millis(500);
/// Between two looks whether a file has changed.
pub(crate) const RESOURCE_FILE_LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long a `run` of a client that knows tasks may take before it is one.
pub(crate) const TASK_AFTER_MS: u64 = 2000;
/// How often a client is asked to look at a task.
pub(crate) const TASK_POLL_MS: u64 = 1000;
/// Of the text of a regular expression in a call.
pub(crate) const PATTERN_BYTES_MAX: usize = 8 << 10;
