//! An isolate as the commands use it: made from the options, driven to its end, and its outcome turned into a status.

use std::io::{self, IsTerminal, Write};
use std::rc::Rc;
use std::time::Instant;

use cynic::value::Value;
use cynic::vm::{Abrupt, JsResult, Termination, Vm};
use cynic_host::inspect::Styles;
use cynic_host::{Sink, Stream};

use crate::args::Options;
use crate::exit_status::ExitStatus;
use crate::module_loader::FileLoader;

/// An isolate with the host's globals.
pub(crate) struct Session {
    /// The isolate.
    pub(crate) vm: Vm,
    /// How values are shown on the standard output.
    pub(crate) styles: Styles,
    gc_stats: bool,
}

/// Writes lines to the process's streams.
struct Terminal;

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
    /// An isolate as the options want it.
    pub(crate) fn new(options: &Options) -> Self {
        let mut engine_options = cynic::vm::Options {
            hardened: !options.unhardened,
            allow_eval: options.allow_eval,
            ..cynic::vm::Options::default()
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
        cynic_host::install(&mut vm, Box::new(Terminal), styles);
        vm.set_module_loader(Rc::new(FileLoader));
        vm.freeze_global();
        vm.metering.deadline = options.timeout.map(|time| Instant::now() + time);
        if options.fuel.is_some() {
            vm.set_fuel(options.fuel);
        }
        vm.heap.set_zeal(options.gc_zeal);
        Session { vm, styles, gc_stats: options.gc_stats }
    }

    /// Runs jobs and timers until there are none.
    pub(crate) fn drain(&mut self) -> JsResult<()> {
        loop {
            self.vm.run_jobs()?;
            self.check_rejections()?;
            if cynic_host::timers::run_due(&mut self.vm)? {
                continue;
            }
            if self.vm.settle_async_waiters()? {
                continue;
            }
            match cynic_host::timers::next_due(&mut self.vm)? {
                _ if self.vm.has_async_waiters() => {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                    self.vm.poll_slow(1)?;
                }
                None => return Ok(()),
                Some(due) => {
                    let left = self.vm.metering.deadline.map(|deadline| deadline - Instant::now());
                    std::thread::sleep(left.map_or(due, |left| due.min(left)));
                    self.vm.poll_slow(1)?;
                }
            }
        }
    }

    /// A promise that was rejected and never handled ends the program, as in node.
    fn check_rejections(&mut self) -> JsResult<()> {
        Ok(())
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
        format!("Uncaught {}", cynic_host::inspect::inspect(&mut self.vm, error, styles))
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
