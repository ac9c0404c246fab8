//! An isolate as the commands use it: made from the options, driven to its end, and its outcome turned into a status.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use cynic::host::inspect::Styles;
use cynic::host::{Sink, Stream};
use cynic_engine::gc::Persistent;
use cynic_engine::host::Capabilities;
use cynic_engine::preview::{self, PromiseState, promise_state};
use cynic_engine::value::Value;
use cynic_engine::vm::{Abrupt, CancelToken, JsResult, Termination, Vm};

use crate::args::Options;
use crate::exit_status::ExitStatus;
use crate::module_loader::FileLoader;
use crate::sources::Sources;

/// An isolate with the host's globals.
pub(crate) struct Session {
    /// The isolate.
    pub(crate) vm: Vm,
    /// How values are shown on the standard output.
    pub(crate) styles: Styles,
    gc_stats: bool,
    /// The error being thrown is the reason of a promise that nobody handles.
    in_promise: bool,
    sources: Sources,
}

/// How often `Atomics.waitAsync` is looked at while nothing else happens.
const WAITER_INTERVAL: Duration = Duration::from_millis(1);

/// How soon an interrupt ends a wait.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(20);

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
        Self::with_sink(options, None, Box::new(Terminal))
    }

    /// The same for a program from a file: modules may come from its folder.
    pub(crate) fn for_program(options: &Options, file: Option<&Path>) -> Self {
        Self::with_sink(options, file, Box::new(Terminal))
    }

    /// An isolate as the options want it.
    pub(crate) fn with_sink(options: &Options, file: Option<&Path>, sink: Box<dyn Sink>) -> Self {
        let programs = options.before.iter().map(PathBuf::as_path).chain(file);
        let folders: Vec<PathBuf> = programs.filter_map(|file| file.parent().map(Path::to_owned)).collect();
        let mut engine_options = cynic_engine::vm::Options {
            hardened: !options.unhardened,
            allow_eval: options.allow.eval,
            open_global: !options.seal_globals,
            deterministic: options.deterministic,
            typescript: true,
            ..cynic_engine::vm::Options::default()
        };
        if let Some(bytes) = options.heap_bytes_max {
            engine_options.heap_bytes_max = bytes;
        }
        let mut vm = Vm::new(engine_options);
        if let Some(bytes) = options.gc_threshold_bytes {
            vm.heap.set_threshold(bytes);
        }
        vm.host.capabilities = match options.deterministic {
            true => Capabilities::deterministic(options.seed.unwrap_or(0)),
            false => options.allow.capabilities(),
        };
        let styles = styles_for(io::stdout().is_terminal());
        cynic::host::install(&mut vm, sink, styles);
        define_arguments(&mut vm, file, &options.arguments);
        let sources = Sources::default();
        let packages = options.allow.packages.then(|| folders.clone());
        let folders = folders.into_iter().chain(options.allow.read.iter().cloned());
        vm.set_module_loader(Rc::new(FileLoader::below(folders, packages, sources.clone())));
        vm.freeze_global();
        vm.metering.deadline = options.timeout.map(|time| Instant::now() + time);
        if options.fuel.is_some() {
            vm.set_fuel(options.fuel);
        }
        vm.heap.set_zeal(options.gc_zeal);
        Session { vm, styles, gc_stats: options.gc_stats, in_promise: false, sources }
    }

    /// The texts that the session has run.
    pub(crate) fn sources(&self) -> &Sources {
        &self.sources
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
        let timer = cynic::host::timers::next_due(&mut self.vm)?;
        let waiter = self.vm.next_async_waiter();
        match timer.into_iter().chain(waiter).min() {
            Some(due) if self.vm.host_wait(due) => {}
            _ if self.vm.has_async_waiters() => std::thread::sleep(WAITER_INTERVAL),
            None => return Ok(false),
            Some(due) => {
                let left = self
                    .vm
                    .metering
                    .deadline
                    .map(|deadline| deadline.saturating_duration_since(Instant::now()));
                let interruptible = self.vm.metering.cancel.as_ref().map(|_| INTERRUPT_INTERVAL);
                std::thread::sleep([left, interruptible].into_iter().flatten().fold(due, Duration::min));
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

    /// What another thread may use to interrupt what is being evaluated.
    pub(crate) fn interruptible(&mut self) -> CancelToken {
        self.vm.metering.cancel.get_or_insert_with(CancelToken::new).clone()
    }

    /// Goes on after an interrupt, with everything but the jobs that waited; false if something else ended the program.
    pub(crate) fn recover(&mut self) -> bool {
        if self.vm.termination() != Some(Termination::Cancelled) {
            return false;
        }
        self.interruptible().reset();
        self.vm.clear_termination();
        self.vm.clear_jobs();
        self.in_promise = false;
        true
    }

    /// Evaluates a piece of code that may await at its top level, as the REPL and `eval` do; its value.
    pub(crate) fn evaluate_entry(&mut self, name: &str, text: &str) -> JsResult<Value> {
        self.sources.add_text(name, text);
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
        let excerpt = error.as_object().and_then(|error| preview::error_stack(&mut self.vm, error));
        let excerpt = excerpt.and_then(|stack| self.sources.excerpt(&stack));
        let excerpt = excerpt.map_or_else(String::new, |excerpt| format!("{excerpt}\n"));
        format!("{excerpt}Uncaught{place} {}", cynic::host::inspect::inspect(&mut self.vm, error, styles))
    }
}

/// `scriptArgs`: the program as it was named, and its arguments.
fn define_arguments(vm: &mut Vm, file: Option<&Path>, arguments: &[String]) {
    let name = file.map_or_else(|| "-".into(), Path::to_string_lossy);
    let mut values = vm.scratch();
    for text in std::iter::once(name.as_ref()).chain(arguments.iter().map(String::as_str)) {
        let value = Value::string(vm.new_string(text));
        values.push(value);
    }
    // Only a heap's limit below what the arguments take could fail: then there are none.
    let Ok(array) = vm.new_array_from(&values) else { return };
    let _ = vm.harden(Value::object(array));
    vm.install_global_value("scriptArgs", Value::object(array));
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
