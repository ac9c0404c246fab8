//! An isolate as the commands use it: made from the options, driven to its end, and its outcome turned into a status.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use cynic::host::inspect::Styles;
use cynic::host::{Sink, Stream};
use cynic_engine::gc::Persistent;
use cynic_engine::preview::{PromiseState, promise_state};
use cynic_engine::value::Value;
use cynic_engine::vm::{Abrupt, JsResult, Termination, Vm};

use crate::args::Options;
use crate::commands::list_features::TYPESCRIPT;
use crate::exit_status::ExitStatus;
use crate::module_loader::FileLoader;

/// An isolate with the host's globals.
pub(crate) struct Session {
    /// The isolate.
    pub(crate) vm: Vm,
    /// How values are shown on the standard output.
    pub(crate) styles: Styles,
    gc_stats: bool,
    /// The error being thrown is the reason of a promise that nobody handles.
    in_promise: bool,
}

/// How often `Atomics.waitAsync` is looked at while nothing else happens.
const WAITER_INTERVAL: Duration = Duration::from_millis(1);

/// Writes lines to the process's streams.
pub(crate) struct Terminal;

impl Sink for Terminal {
    fn line(&mut self, stream: Stream, text: &str) {
        // A closed pipe is the reader's way to say that it has seen enough.
        let _ignored = match stream {
            Stream::Output => writeln!(io::stdout(), "{text}"),
            Stream::Diagnostics => writeln!(io::stderr(), "{text}"),
        };
    }
}

/// Colours on a terminal only.
fn styles_for(is_terminal: bool) -> Styles {
    if is_terminal && std::env::var_os("NO_COLOR").is_none() { Styles::Coloured } else { Styles::Plain }
}

impl Session {
    /// An isolate as the options want it, whose texts go to the process's streams.
    pub(crate) fn new(options: &Options) -> Self {
        Self::with_sink(options, &[], Box::new(Terminal))
    }

    /// The same for a program from files: modules may come from their folders.
    pub(crate) fn for_files(options: &Options, files: &[PathBuf]) -> Self {
        Self::with_sink(options, files, Box::new(Terminal))
    }

    /// An isolate as the options want it.
    pub(crate) fn with_sink(options: &Options, files: &[PathBuf], sink: Box<dyn Sink>) -> Self {
        let folders = files.iter().filter_map(|file| file.parent().map(Path::to_owned));
        let folders = folders.chain(options.allow_read.iter().cloned());
        let mut engine_options = cynic_engine::vm::Options {
            hardened: !options.unhardened,
            allow_eval: options.allow_eval,
            open_global: options.allow_globals,
            typescript: options.enable.iter().any(|feature| feature == TYPESCRIPT),
            ..cynic_engine::vm::Options::default()
        };
        if let Some(bytes) = options.heap_bytes_max {
            engine_options.heap_bytes_max = bytes;
        }
        let mut vm = Vm::new(engine_options);
        if let Some(bytes) = options.gc_threshold_bytes {
            vm.heap.set_threshold(bytes);
        }
        if let Some(zone) = std::env::var("TZ").ok().filter(|zone| !zone.is_empty()) {
            vm.host.time_zone = zone.trim_start_matches(':').to_owned();
        }
        let styles = styles_for(io::stdout().is_terminal());
        cynic::host::install(&mut vm, sink, styles);
        vm.set_module_loader(Rc::new(FileLoader::below(folders)));
        vm.freeze_global();
        vm.metering.deadline = options.timeout.map(|time| Instant::now() + time);
        if options.fuel.is_some() {
            vm.set_fuel(options.fuel);
        }
        vm.heap.set_zeal(options.gc_zeal);
        Session { vm, styles, gc_stats: options.gc_stats, in_promise: false }
    }

    /// Runs jobs and timers until there are none. Ends early when `awaited` is rejected, or when a rejected promise has no handler.
    pub(crate) fn drain(&mut self, awaited: Option<&Persistent>) -> JsResult<()> {
        while self.turn(awaited)? {}
        Ok(())
    }

    /// Runs jobs and timers until the promise is settled, and gives its value; undefined if nothing is left that could settle it.
    pub(crate) fn settle(&mut self, promise: &Persistent) -> JsResult<Value> {
        loop {
            let more = self.turn(Some(promise))?;
            match promise.get().as_object().map(promise_state) {
                Some(PromiseState::Fulfilled(value)) => return Ok(value),
                _ if !more => return Ok(Value::UNDEFINED),
                _ => {}
            }
        }
    }

    /// Runs what can run now, or waits for what is due next; false when nothing is left.
    fn turn(&mut self, awaited: Option<&Persistent>) -> JsResult<bool> {
        self.run_jobs(awaited)?;
        if cynic::host::timers::run_due(&mut self.vm)? || self.vm.settle_async_waiters()? {
            return Ok(true);
        }
        match cynic::host::timers::next_due(&mut self.vm)? {
            _ if self.vm.has_async_waiters() => std::thread::sleep(WAITER_INTERVAL),
            None => return Ok(false),
            Some(due) => {
                let left = self.vm.metering.deadline.map(|deadline| deadline - Instant::now());
                std::thread::sleep(left.map_or(due, |left| due.min(left)));
            }
        }
        self.vm.poll_slow(1)?;
        Ok(true)
    }

    /// How long nothing needs to run; `None` if nothing is waited for.
    pub(crate) fn next_due(&mut self) -> Option<Duration> {
        let timer = cynic::host::timers::next_due(&mut self.vm).ok().flatten();
        let waiter = self.vm.has_async_waiters().then_some(WAITER_INTERVAL);
        timer.into_iter().chain(waiter).min()
    }

    /// Runs the jobs and the timers that are due, without waiting for others: between the entries of a session.
    pub(crate) fn catch_up(&mut self) -> JsResult<()> {
        self.run_jobs(None)?;
        while cynic::host::timers::run_due(&mut self.vm)? {
            self.run_jobs(None)?;
        }
        Ok(())
    }

    /// Runs one timer that is due, and the jobs that follow from it.
    pub(crate) fn run_one(&mut self) -> JsResult<()> {
        cynic::host::timers::run_due(&mut self.vm)?;
        self.vm.settle_async_waiters()?;
        self.run_jobs(None)
    }

    /// Runs jobs. A rejection that nobody handles ends the program, as in node.
    fn run_jobs(&mut self, awaited: Option<&Persistent>) -> JsResult<()> {
        self.vm.run_jobs()?;
        if let Some(promise) = awaited.map(Persistent::get)
            && let Some(PromiseState::Rejected(reason)) = promise.as_object().map(promise_state)
        {
            self.vm.forget_rejection(promise);
            return Err(self.vm.throw(reason));
        }
        let reasons = self.vm.take_unhandled_rejections();
        match reasons.first() {
            Some(&reason) => {
                self.in_promise = true;
                Err(self.vm.throw(reason))
            }
            None => Ok(()),
        }
    }

    /// Evaluates a piece of code that may await at its top level, as the REPL and `eval` do; its value.
    pub(crate) fn evaluate_entry(&mut self, name: &str, text: &str) -> JsResult<Value> {
        let Some(script) = cynic_engine::syntax::awaiting_entry(text, self.vm.options.typescript) else {
            return self.vm.evaluate_script(name, text);
        };
        let promise = self.vm.evaluate_script(name, &script)?;
        let promise = Persistent::new(&self.vm.heap, promise);
        let wrapped = self.settle(&promise)?;
        Ok(wrapped.as_object().map_or(Value::UNDEFINED, |wrapped| wrapped.element(0)))
    }

    /// Reports how the program ended.
    pub(crate) fn finish(mut self, outcome: JsResult<()>) -> ExitStatus {
        let status = match outcome {
            Ok(()) => ExitStatus::Success,
            Err(abrupt) => self.report(abrupt),
        };
        if self.gc_stats {
            eprintln!("{:#?}", self.vm.gc_stats());
        }
        status
    }

    /// Prints why evaluation ended early, and says which status that is.
    pub(crate) fn report(&mut self, abrupt: Abrupt) -> ExitStatus {
        match abrupt {
            Abrupt::Throw => {
                let error = self.vm.take_exception();
                let text = self.describe_uncaught(error);
                eprintln!("{text}");
                ExitStatus::Uncaught
            }
            Abrupt::Terminate => {
                let why = self.vm.termination();
                let text = why.map_or_else(String::new, |why| why.to_string());
                eprintln!("cynic: terminated: {text}");
                termination_status(why)
            }
        }
    }

    /// `Uncaught` and the error as the console shows it.
    pub(crate) fn describe_uncaught(&mut self, error: Value) -> String {
        let styles = styles_for(io::stderr().is_terminal());
        let place = if std::mem::take(&mut self.in_promise) { " (in promise)" } else { "" };
        format!("Uncaught{place} {}", cynic::host::inspect::inspect(&mut self.vm, error, styles))
    }
}

fn termination_status(why: Option<Termination>) -> ExitStatus {
    match why {
        Some(Termination::Fuel) => ExitStatus::OutOfFuel,
        Some(Termination::Heap) => ExitStatus::OutOfMemory,
        Some(Termination::Deadline) => ExitStatus::DeadlineExceeded,
        Some(Termination::Cancelled) => ExitStatus::Cancelled,
        _ => ExitStatus::Uncaught,
    }
}
