//! `--watch`: the program runs again when a file that it was read from has changed.
//!
//! Files are looked at a few times a second, by time, size and identity, whatever file system they are on; so a program that is still
//! running is ended where it looks at its limits, and one that has ended waits for the next change. A file counts from before it is read.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::args::Options;
use crate::commands::run;
use crate::exit_status::ExitStatus;
use crate::print::errln;
use crate::sources::Sources;

/// How often files are looked at.
const INTERVAL: Duration = Duration::from_millis(100);
/// How long a change may go on: editors write a file in several steps.
const SETTLE: Duration = Duration::from_millis(30);

/// What a file was: nothing where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(Option<(u64, u64, i64, i64, u64)>);

impl Stamp {
    /// What it is now.
    pub(crate) fn of(path: &Path) -> Self {
        let metadata = std::fs::metadata(path).ok();
        Stamp(metadata.map(|file| (file.dev(), file.ino(), file.mtime(), file.mtime_nsec(), file.len())))
    }
}

/// Looks at the files of a program while it runs.
pub(crate) struct Watch {
    sources: Sources,
    next: Instant,
    changed: Option<PathBuf>,
}

impl Watch {
    /// Watches what is read from now on.
    pub(crate) fn new(sources: Sources) -> Self {
        Watch { sources, next: Instant::now() + INTERVAL, changed: None }
    }

    /// The file that has changed, if it is time to look.
    pub(crate) fn look(&mut self) -> Option<&Path> {
        if self.changed.is_none() && Instant::now() >= self.next {
            self.next = Instant::now() + INTERVAL;
            self.changed = self.sources.changed();
        }
        self.changed.as_deref()
    }
}

/// Runs the program again and again; only a signal ends it.
pub(crate) fn run(options: &Options, file: &Path) -> Result<ExitStatus, String> {
    loop {
        let sources = Sources::default();
        sources.watch(file);
        options.before.iter().for_each(|script| sources.watch(script));
        let outcome = run::run_one(options, Some(file), &sources);
        if let Err(why) = &outcome {
            errln!("cynic: {why}");
        }
        let changed = match sources.changed() {
            Some(changed) => changed,
            None => {
                let (count, files) =
                    (sources.watched(), if sources.watched() == 1 { "file" } else { "files" });
                errln!("cynic: the program has ended; waiting for a change of {count} {files}");
                wait(&sources)
            }
        };
        std::thread::sleep(SETTLE);
        errln!("cynic: {} has changed: running again", changed.display());
    }
}

fn wait(sources: &Sources) -> PathBuf {
    loop {
        std::thread::sleep(INTERVAL);
        if let Some(changed) = sources.changed() {
            return changed;
        }
    }
}
