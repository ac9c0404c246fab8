//! An isolate as the commands use it: made from the options, driven to its end, and its outcome turned into a status.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use cynic::host::inspect::{Styles, inspect};
use cynic::host::{Sink, Stream, timers};
use cynic::{Capabilities, Engine, Error, Exception, Handle, Isolate, Limits, PromiseState, Termination};

use crate::args::Options;
use crate::common_js::CommonJs;
use crate::exit_status::ExitStatus;
use crate::module_loader::{FileLoader, ImportMap, read_source};
use crate::print::{errln, lost};
use crate::sources::Sources;
use crate::watch::Watch;

type Result<T = ()> = std::result::Result<T, Error>;

/// An isolate with the host's globals.
pub(crate) struct Session {
    /// The isolate.
    pub(crate) isolate: Isolate,
    /// How values are shown on the standard output.
    pub(crate) styles: Styles,
    gc_stats: bool,
    jit_stats: bool,
    /// The error being thrown is the reason of a promise that nobody handles.
    in_promise: bool,
    sources: Sources,
    common_js: Option<Rc<CommonJs>>,
    /// Ends the program when one of its files changes.
    watch: Option<Watch>,
}

/// How often `Atomics.waitAsync` is looked at while nothing else happens.
const WAITER_INTERVAL: Duration = Duration::from_millis(1);

/// How soon an interrupt ends a wait.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(20);

/// Writes lines to the process's streams.
pub(crate) struct Terminal;

impl Sink for Terminal {
    fn line(&mut self, stream: Stream, text: &str) {
        match stream {
            Stream::Output => match writeln!(io::stdout(), "{text}") {
                // A closed pipe is the reader's way to say that it has seen enough.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => lost(&error),
                _ => {}
            },
            Stream::Diagnostics => drop(writeln!(io::stderr(), "{text}")),
        }
    }
}

/// Colours on a terminal only.
fn styles_for(is_terminal: bool) -> Styles {
    if is_terminal && std::env::var_os("NO_COLOR").is_none() { Styles::Coloured } else { Styles::Plain }
}

impl Session {
    /// An isolate as the options want it, whose texts go to the process's streams.
    pub(crate) fn new(options: &Options) -> Self {
        Self::with_sink(options, None, &Sources::default(), None, Box::new(Terminal))
    }

    /// The same for a program from a file: modules may come from its folder. What is read becomes known to `sources`.
    pub(crate) fn for_program(
        options: &Options,
        file: Option<&Path>,
        sources: &Sources,
    ) -> std::result::Result<Self, String> {
        let import_map =
            options.import_map.as_deref().map(|path| read_import_map(path, sources)).transpose()?;
        let mut session =
            Self::with_sink(options, file, sources, import_map.map(Rc::new), Box::new(Terminal));
        if options.watch {
            session.watch = Some(Watch::new(sources.clone()));
            let (mut watch, token) = (Watch::new(sources.clone()), session.isolate.cancel_token());
            session.isolate.on_look(move || {
                if watch.look().is_some() {
                    token.cancel();
                }
            });
        }
        Ok(session)
    }

    /// An isolate as the options want it.
    pub(crate) fn with_sink(
        options: &Options,
        file: Option<&Path>,
        sources: &Sources,
        import_map: Option<Rc<ImportMap>>,
        sink: Box<dyn Sink>,
    ) -> Self {
        let programs = options.before.iter().map(PathBuf::as_path).chain(file);
        let folders: Vec<PathBuf> = programs.filter_map(|file| file.parent().map(Path::to_owned)).collect();
        let mut limits = Limits::default();
        if let Some(bytes) = options.heap_bytes_max {
            limits.heap_bytes = bytes;
        }
        let mut isolate = engine(options).isolate(limits);
        if let Some(bytes) = options.gc_threshold_bytes {
            isolate.set_gc_threshold(bytes);
        }
        isolate.set_capabilities(match options.deterministic {
            true => Capabilities::deterministic(options.seed.unwrap_or(0)),
            false => options.allow.capabilities(),
        });
        let styles = styles_for(io::stdout().is_terminal());
        cynic::host::install(&mut isolate, sink, styles);
        // Only a heap's limit below what the arguments take could fail: then there are none.
        let _ = define_arguments(&mut isolate, file, options);
        let packages = options.allow.packages.then(|| folders.clone());
        let folders = folders.into_iter().chain(options.allow.read.iter().cloned());
        let loader = FileLoader::below(folders, packages, sources.clone())
            .with_common_js(options.allow.common_js)
            .with_import_map(import_map);
        let heap_bytes = options.heap_bytes_max.unwrap_or(usize::MAX);
        let common_js = options.allow.common_js.then(|| loader.clone());
        // Like the arguments: it fails only where nothing could run.
        let common_js =
            common_js.and_then(|loader| CommonJs::install(&mut isolate.realm(), loader, heap_bytes).ok());
        isolate.set_module_loader(loader);
        isolate.seal_global();
        isolate.set_deadline(options.timeout.map(|time| Instant::now() + time));
        if options.fuel.is_some() {
            isolate.set_fuel(options.fuel);
        }
        isolate.set_gc_zeal(options.gc_zeal);
        Session {
            isolate,
            styles,
            gc_stats: options.gc_stats,
            jit_stats: options.jit_stats,
            in_promise: false,
            sources: sources.clone(),
            common_js,
            watch: None,
        }
    }

    /// What runs CommonJS modules, if they are allowed.
    pub(crate) fn common_js(&self) -> Option<Rc<CommonJs>> {
        self.common_js.clone()
    }

    /// The texts that the session has run.
    pub(crate) fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Runs jobs and timers until there are none. Ends early when `awaited` is rejected, or when a rejected promise has no handler.
    pub(crate) fn drain(&mut self, awaited: Option<&Handle>) -> Result {
        while self.turn(awaited)? {}
        Ok(())
    }

    /// Runs jobs and timers until the promise is settled, and gives its value; `None` if nothing is left that could settle it.
    pub(crate) fn settle(&mut self, promise: &Handle) -> Result<Option<Handle>> {
        loop {
            let more = self.turn(Some(promise))?;
            match self.isolate.realm().promise_state(promise)? {
                PromiseState::Fulfilled(value) => return Ok(Some(value)),
                _ if !more => return Ok(None),
                _ => {}
            }
        }
    }

    /// Runs what can run now, or waits for what is due next; false when nothing is left.
    fn turn(&mut self, awaited: Option<&Handle>) -> Result<bool> {
        self.run_jobs(awaited)?;
        if self.watch.as_mut().is_some_and(|watch| watch.look().is_some()) {
            return Err(Error::Terminated(Termination::Cancelled));
        }
        if timers::run_due(&mut self.isolate)? || self.isolate.settle_async_waiters()? {
            return Ok(true);
        }
        let timer = timers::next_due(&mut self.isolate)?;
        let waiter = self.isolate.next_async_waiter();
        match timer.into_iter().chain(waiter).min() {
            Some(due) if self.isolate.wait_virtually(due) => {}
            _ if self.isolate.has_async_waiters() => std::thread::sleep(WAITER_INTERVAL),
            None => return Ok(false),
            Some(due) => {
                let left = self.isolate.deadline().map(|end| end.saturating_duration_since(Instant::now()));
                let interruptible =
                    (self.isolate.is_cancellable() || self.watch.is_some()).then_some(INTERRUPT_INTERVAL);
                std::thread::sleep([left, interruptible].into_iter().flatten().fold(due, Duration::min));
            }
        }
        self.isolate.poll()?;
        Ok(true)
    }

    /// How long nothing needs to run; `None` if nothing is waited for.
    pub(crate) fn next_due(&mut self) -> Option<Duration> {
        let timer = timers::next_due(&mut self.isolate).ok().flatten();
        let waiter = self.isolate.has_async_waiters().then_some(WAITER_INTERVAL);
        timer.into_iter().chain(waiter).min()
    }

    /// Runs the jobs and the timers that are due, without waiting for others: between the entries of a session.
    pub(crate) fn catch_up(&mut self) -> Result {
        self.run_jobs(None)?;
        while timers::run_due(&mut self.isolate)? {
            self.run_jobs(None)?;
        }
        Ok(())
    }

    /// Runs one timer that is due, and the jobs that follow from it.
    pub(crate) fn run_one(&mut self) -> Result {
        timers::run_due(&mut self.isolate)?;
        self.isolate.settle_async_waiters()?;
        self.run_jobs(None)
    }

    /// Runs jobs. A rejection that nobody handles ends the program, as in node.
    fn run_jobs(&mut self, awaited: Option<&Handle>) -> Result {
        self.isolate.run_jobs()?;
        if let Some(promise) = awaited {
            let mut realm = self.isolate.realm();
            if let PromiseState::Rejected(reason) = realm.promise_state(promise)? {
                realm.mark_handled(promise)?;
                return Err(realm.thrown(&reason));
            }
        }
        let reasons = self.isolate.take_unhandled_rejections();
        match reasons.first() {
            Some(reason) => {
                self.in_promise = true;
                Err(self.isolate.realm().thrown(reason))
            }
            None => Ok(()),
        }
    }

    /// Goes on after an interrupt, with everything but the jobs that waited; false if something else ended the program.
    pub(crate) fn recover(&mut self, error: &Error) -> bool {
        if !matches!(error, Error::Terminated(Termination::Cancelled)) {
            return false;
        }
        self.isolate.cancel_token().reset();
        self.isolate.recover();
        self.isolate.clear_jobs();
        self.in_promise = false;
        true
    }

    /// Evaluates a piece of code that may await at its top level, as the REPL and `eval` do; its value.
    pub(crate) fn evaluate_entry(&mut self, name: &str, text: &str) -> Result<Handle> {
        self.sources.add_text(name, text);
        let Some(script) = cynic::awaiting_entry(text, true) else {
            return self.isolate.realm().evaluate(name, text);
        };
        let promise = self.isolate.realm().evaluate(name, &script)?;
        let wrapped = self.settle(&promise)?;
        let mut realm = self.isolate.realm();
        match wrapped.filter(Handle::is_object) {
            Some(wrapped) => realm.get(&wrapped, "0"),
            None => realm.value(()),
        }
    }

    /// The value as the REPL shows it.
    pub(crate) fn shown(&mut self, value: &Handle) -> String {
        inspect(&mut self.isolate.realm(), value, self.styles).unwrap_or_else(|error| error.to_string())
    }

    /// Reports how the program ended.
    pub(crate) fn finish(mut self, outcome: Result) -> ExitStatus {
        let status = match outcome {
            Ok(()) => ExitStatus::Success,
            Err(error) => self.report(&error),
        };
        if self.gc_stats {
            errln!("{:#?}", self.isolate.gc_stats());
        }
        if self.jit_stats {
            match self.isolate.jit_stats() {
                Some(stats) => errln!("{stats:#?}"),
                None => errln!(
                    "nothing is compiled: --jit=off, or no code generator for this processor and system"
                ),
            }
        }
        status
    }

    /// Prints why evaluation ended early, and says which status that is.
    pub(crate) fn report(&mut self, error: &Error) -> ExitStatus {
        match error {
            Error::Thrown(exception) => {
                let text = self.describe_uncaught(exception);
                errln!("{text}");
                ExitStatus::Uncaught
            }
            // The message that comes next says it all.
            Error::Terminated(Termination::Cancelled) if self.watch.is_some() => ExitStatus::Cancelled,
            Error::Terminated(why) => {
                errln!("cynic: terminated: {why}");
                termination_status(*why)
            }
            Error::Host(error) => {
                errln!("cynic: {error}");
                ExitStatus::Uncaught
            }
        }
    }

    /// `Uncaught` and the error as the console shows it.
    pub(crate) fn describe_uncaught(&mut self, exception: &Exception) -> String {
        let styles = styles_for(io::stderr().is_terminal());
        let place = if std::mem::take(&mut self.in_promise) { " (in promise)" } else { "" };
        let excerpt = exception.stack.as_deref().and_then(|stack| self.sources.excerpt(stack));
        let excerpt = excerpt.map_or_else(String::new, |excerpt| format!("{excerpt}\n"));
        let shown = inspect(&mut self.isolate.realm(), &exception.value, styles);
        let shown = shown.unwrap_or_else(|error| error.to_string());
        // An error without a place is shown in brackets, to tell it from text beside it; here is none.
        let bare = exception.stack.as_deref().filter(|stack| shown == format!("[{stack}]"));
        format!("{excerpt}Uncaught{place} {}", bare.unwrap_or(&shown))
    }
}

fn read_import_map(path: &Path, sources: &Sources) -> std::result::Result<ImportMap, String> {
    sources.watch(path);
    let text = read_source(path).map_err(|error| error.to_string());
    let map = text.and_then(|text| ImportMap::parse(path, &text));
    map.map_err(|why| format!("--import-map: {}: {why}", path.display()))
}

/// The posture that the options want.
fn engine(options: &Options) -> Engine {
    let mut engine = Engine::new().typescript().jit(options.jit);
    if options.unhardened {
        engine = engine.unhardened();
    }
    if options.allow.eval {
        engine = engine.allow_eval();
    }
    if !options.seal_globals {
        engine = engine.open_global();
    }
    if options.deterministic {
        engine = engine.deterministic();
    }
    engine
}

/// `scriptArgs`: the program as it was named, and its arguments.
fn define_arguments(isolate: &mut Isolate, file: Option<&Path>, options: &Options) -> Result {
    let name = file.map_or_else(|| "-".into(), Path::to_string_lossy);
    let texts: Vec<&str> =
        std::iter::once(name.as_ref()).chain(options.arguments.iter().map(String::as_str)).collect();
    let mut realm = isolate.realm();
    let array = realm.to_js(&texts)?;
    // Hardening goes on to what an array inherits from, which stays as it is in an open realm.
    if !options.unhardened {
        realm.harden(&array)?;
    }
    realm.define_global("scriptArgs", array)
}

fn termination_status(why: Termination) -> ExitStatus {
    match why {
        Termination::Fuel => ExitStatus::OutOfFuel,
        Termination::Heap => ExitStatus::OutOfMemory,
        Termination::Deadline => ExitStatus::DeadlineExceeded,
        Termination::Cancelled => ExitStatus::Cancelled,
        Termination::Host => ExitStatus::Uncaught,
    }
}
