//! In-process utilities (`ls`, `cat`, `grep` ...) for the shell, and the civil calendar they share.
//!
//! Invariant: output is byte for byte that of the GNU program for every flag a utility accepts. Anything else, an
//! unknown flag or a usage error, makes it decline ([`Outcome::Fallthrough`]) before it has read, written or
//! changed anything, and the shell runs the external program. Knows nothing of the shell: the world comes in
//! through [`Context`].
#![forbid(unsafe_code)]

mod awk;
mod base64;
mod basename;
pub mod calendar;
mod cat;
mod checksum;
mod context;
mod cp;
mod cut;
mod date;
mod decimal;
mod diff;
mod du;
mod env;
mod find;
mod git;
mod grep;
mod head;
mod json;
pub mod limits;
mod ls;
mod mkdir;
mod mode;
mod mv;
mod options;
mod owners;
mod posix;
mod query;
mod quoting;
mod realpath;
mod rm;
mod sed;
mod seq;
mod sleep;
mod sort;
mod stat;
mod tail;
mod tee;
mod touch;
mod tr;
mod uniq;
mod wc;
mod which;
mod wildcard;
mod xargs;

pub use context::{Context, Ended, Host, Input, Outcome};

use std::io;

/// What runs a utility. An error is one of writing the output.
type Run = fn(&mut Context<'_>) -> io::Result<Outcome>;

/// Every utility, sorted by name.
static UTILITIES: &[(&str, Run)] = &[
    ("awk", awk::run),
    ("base64", base64::run),
    ("basename", basename::run),
    ("cat", cat::run),
    ("cp", cp::run),
    ("cut", cut::run),
    ("date", date::run),
    ("diff", diff::run),
    ("dirname", basename::run_dirname),
    ("du", du::run),
    ("env", env::run),
    ("find", find::run),
    ("git", git::run),
    ("grep", grep::run),
    ("head", head::run),
    ("json", query::run),
    ("ls", ls::run),
    ("md5sum", checksum::run),
    ("mkdir", mkdir::run),
    ("mv", mv::run),
    ("realpath", realpath::run),
    ("rm", rm::run),
    ("sed", sed::run),
    ("seq", seq::run),
    ("sha1sum", checksum::run),
    ("sha224sum", checksum::run),
    ("sha256sum", checksum::run),
    ("sha384sum", checksum::run),
    ("sha512sum", checksum::run),
    ("sleep", sleep::run),
    ("sort", sort::run),
    ("stat", stat::run),
    ("tail", tail::run),
    ("tee", tee::run),
    ("touch", touch::run),
    ("tr", tr::run),
    ("uniq", uniq::run),
    ("wc", wc::run),
    ("which", which::run),
    ("xargs", xargs::run),
];

/// The names of all utilities, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    UTILITIES.iter().map(|(name, _)| *name)
}

/// Whether there is a utility called `name`.
pub fn exists(name: &[u8]) -> bool {
    find_utility(name).is_some()
}

/// Whether a utility stands for no program, so that it is there wherever no program has its name.
pub fn stands_alone(name: &[u8]) -> bool {
    name == b"json"
}

/// How a utility is used and what it does, for `help`. Those that stand for a program say so.
pub fn help(name: &str) -> (String, &'static str) {
    let known = |synopsis: &str, summary| (format!("{name} {synopsis}"), summary);
    match name {
        "json" => known(query::SYNOPSIS, "Read and change JSON."),
        "git" => known(
            "status | branch | log | diff [OPTION]...",
            "Read a repository in this shell, or run git for anything else.",
        ),
        _ => known(
            "[ARGUMENT]...",
            "Run in this shell, or run the program for options that are not known here.",
        ),
    }
}

fn find_utility(name: &[u8]) -> Option<Run> {
    let index = UTILITIES.binary_search_by(|(n, _)| n.as_bytes().cmp(name)).ok()?;
    UTILITIES.get(index).map(|(_, run)| *run)
}

/// Runs the utility that `context.args[0]` names. A reader that has gone away ends it quietly, as SIGPIPE would,
/// and so does a user who asks to stop, as SIGINT would.
pub fn run(context: &mut Context<'_>) -> Outcome {
    let name = context.args.first().cloned().unwrap_or_default();
    let Some(utility) = find_utility(&name) else { return Outcome::Fallthrough };
    let mut output = Sticky { inner: &mut *context.output, failed: false };
    let mut within = Context {
        args: context.args,
        directory: context.directory,
        input: &mut *context.input,
        output: &mut output,
        errors: &mut *context.errors,
        interrupted: context.interrupted,
        before_read: context.before_read,
        host: &mut *context.host,
    };
    let result = utility(&mut within).and_then(|outcome| {
        if outcome != Outcome::Fallthrough {
            within.output.flush()?;
        }
        Ok(outcome)
    });
    // What was not passed on yet is dropped with the rest.
    if (context.interrupted)() {
        return Outcome::Status(limits::INTERRUPTED_STATUS);
    }
    match result {
        Ok(outcome) => outcome,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            Outcome::Status(limits::BROKEN_PIPE_STATUS)
        }
        Err(error) => Outcome::Status(write_failed(context, &error)),
    }
}

/// Output that keeps in mind that passing it on failed once, where nobody asked at the time.
struct Sticky<'o> {
    inner: &'o mut dyn io::Write,
    failed: bool,
}

impl io::Write for Sticky<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.inner.flush();
        let failed_before = self.failed;
        self.failed |= result.is_err();
        if failed_before && result.is_ok() { Err(io::ErrorKind::Other.into()) } else { result }
    }
}

/// Says that standard output could not be written, as each program words it; the status.
fn write_failed(context: &mut Context<'_>, error: &io::Error) -> i32 {
    let reason = context::reason(error);
    let (utf8, name) = (context.is_utf8(), context.name().to_vec());
    let output = match name.as_slice() {
        b"find" => quoting::marked(b"standard output", utf8),
        _ => b"'standard output'".to_vec(),
    };
    match name.as_slice() {
        // They said so themselves.
        b"sort" | b"tee" => {}
        b"diff" => context.complain(&[b"standard output: ", reason.as_bytes()]),
        // The reason was not kept.
        _ if error.raw_os_error().is_none() => context.complain(&[b"write error"]),
        b"wc" => context.complain(&[b"write error"]),
        b"awk" => context.complain(&[b"write failure (", reason.as_bytes(), b")"]),
        b"sed" => context.complain(&[b"couldn't flush stdout: ", reason.as_bytes()]),
        b"find" => {
            context.complain(&[&output, b": ", reason.as_bytes()]);
            context.complain(&[b"write error"]);
        }
        _ => context.complain(&[b"write error: ", reason.as_bytes()]),
    }
    trouble_status(&name)
}

/// The status of a utility that could not go on.
pub fn trouble_status(name: &[u8]) -> i32 {
    match name {
        b"awk" | b"diff" | b"grep" | b"ls" | b"sort" => 2,
        b"env" => 125,
        b"sed" => 4,
        _ => 1,
    }
}
