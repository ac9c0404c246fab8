//! Evaluating one test with the engine: a fresh isolate, the harness, the test, its jobs and timers.
//!
//! The only file of the runner, besides `host`, that knows the engine. Harness files are compiled once per worker.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cynic::host::inspect::Styles;
use cynic::host::{Sink, Stream};
use cynic_engine::bytecode::code::FunctionCode;
use cynic_engine::compiler::{self, CompileOptions};
use cynic_engine::value::Value;
use cynic_engine::vm::{Abrupt, Vm};

use super::judge::Completion;
use super::metadata::Phase;
use super::worker::{Evaluator, Test};
use super::{agent, host};
use crate::limits::TEST262_HEAP_BYTES_MAX;
use crate::module_loader::FileLoader;

/// How tests are evaluated.
pub(crate) struct EngineEvaluator {
    /// Time a test may take.
    pub(crate) deadline: Duration,
    /// Whether every allocation collects.
    pub(crate) gc_zeal: bool,
    /// Compiled harness files, by name.
    harness: HashMap<String, Arc<FunctionCode>>,
}

/// Keeps what a test prints.
struct Printed(Rc<RefCell<Vec<String>>>);

impl Sink for Printed {
    fn line(&mut self, stream: Stream, text: &str) {
        if stream == Stream::Output {
            self.0.borrow_mut().push(text.to_owned());
        }
    }
}

/// Keeps nothing.
pub(super) struct Silent;

impl Sink for Silent {
    fn line(&mut self, _stream: Stream, _text: &str) {}
}

/// Why an evaluation ended before its end.
pub(super) enum Stop {
    Threw(Phase),
    Syntax(String),
    Terminated,
}

impl EngineEvaluator {
    /// An evaluator with an empty cache.
    pub(crate) fn new(deadline: Duration, gc_zeal: bool) -> Self {
        EngineEvaluator { deadline, gc_zeal, harness: HashMap::new() }
    }

    fn isolate(&self, test: &Test<'_>, printed: &Rc<RefCell<Vec<String>>>) -> Vm {
        let options = cynic_engine::vm::Options {
            hardened: false,
            allow_eval: true,
            heap_bytes_max: TEST262_HEAP_BYTES_MAX,
            ..Default::default()
        };
        let mut vm = Vm::new(options);
        vm.metering.deadline = Some(Instant::now() + self.deadline);
        cynic::host::install(&mut vm, Box::new(Printed(printed.clone())), Styles::Plain);
        vm.can_block = test.metadata.flags.can_block.unwrap_or(true);
        vm.set_module_loader(Rc::new(FileLoader::unrestricted()));
        vm.install_globals(host::GLOBALS);
        agent::begin_test(&vm);
        vm
    }

    fn run_harness(&mut self, vm: &mut Vm, test: &Test<'_>) -> Result<(), String> {
        for (name, text) in &test.harness {
            let code = match self.harness.get(*name) {
                Some(code) => code.clone(),
                None => {
                    let code = compiler::compile_script(name, text, compile_options())
                        .map_err(|error| format!("harness/{name}: {error}"))?;
                    self.harness.insert((*name).to_owned(), code.clone());
                    code
                }
            };
            if vm.run_script(&code).is_err() {
                let (error, message) = describe(vm);
                return Err(format!("harness/{name}: {error}: {message}"));
            }
        }
        Ok(())
    }
}

pub(super) fn compile_options() -> CompileOptions {
    CompileOptions { allow_eval: true, typescript: false, ..CompileOptions::default() }
}

impl Evaluator for EngineEvaluator {
    fn evaluate(&mut self, test: &Test<'_>) -> Completion {
        let printed = Rc::new(RefCell::new(Vec::new()));
        let mut vm = self.isolate(test, &printed);
        if let Err(why) = self.run_harness(&mut vm, test) {
            return Completion::Broken(why);
        }
        vm.heap.set_zeal(self.gc_zeal);
        let outcome = run_test(&mut vm, test).and_then(|()| drain(&mut vm));
        vm.heap.set_zeal(false);
        agent::end_test();
        match outcome {
            Ok(()) => Completion::Normal(printed.take()),
            Err(Stop::Syntax(message)) => {
                Completion::Threw { phase: Phase::Parse, name: "SyntaxError".into(), message }
            }
            Err(Stop::Threw(phase)) => {
                let (name, message) = describe(&mut vm);
                Completion::Threw { phase, name, message }
            }
            Err(Stop::Terminated) => {
                Completion::Terminated(vm.termination().map_or_else(|| "?".into(), |why| why.to_string()))
            }
        }
    }
}

fn run_test(vm: &mut Vm, test: &Test<'_>) -> Result<(), Stop> {
    let name = test.file.to_string_lossy();
    if test.metadata.flags.module {
        return super::modules::run(vm, test);
    }
    let code = compiler::compile_script(&name, test.source, compile_options())
        .map_err(|error| Stop::Syntax(error.to_string()))?;
    match vm.run_script(&code) {
        Ok(_) => Ok(()),
        Err(abrupt) => Err(stop(abrupt, Phase::Runtime)),
    }
}

fn stop(abrupt: Abrupt, phase: Phase) -> Stop {
    match abrupt {
        Abrupt::Throw => Stop::Threw(phase),
        Abrupt::Terminate => Stop::Terminated,
    }
}

/// How long promises of `Atomics.waitAsync` keep a test alive when nothing settles them.
const ASYNC_WAIT_PATIENCE: Duration = Duration::from_secs(2);
/// How often they are looked at.
const ASYNC_WAIT_SLICE: Duration = Duration::from_millis(1);

/// Runs jobs, timers and asynchronous waits until there are none.
pub(super) fn drain(vm: &mut Vm) -> Result<(), Stop> {
    let mut idle_since = Instant::now();
    loop {
        vm.run_jobs().map_err(|abrupt| stop(abrupt, Phase::Runtime))?;
        if cynic::host::timers::run_due(vm).map_err(|abrupt| stop(abrupt, Phase::Runtime))? {
            continue;
        }
        if vm.settle_async_waiters().map_err(|abrupt| stop(abrupt, Phase::Runtime))? {
            idle_since = Instant::now();
            continue;
        }
        if vm.has_async_waiters() && idle_since.elapsed() < ASYNC_WAIT_PATIENCE {
            vm.poll_slow(1).map_err(|abrupt| stop(abrupt, Phase::Runtime))?;
            std::thread::sleep(ASYNC_WAIT_SLICE);
            continue;
        }
        let due = cynic::host::timers::next_due(vm).map_err(|abrupt| stop(abrupt, Phase::Runtime))?;
        let Some(due) = due else { return Ok(()) };
        if vm.metering.deadline.is_some_and(|deadline| Instant::now() + due > deadline) {
            return Ok(());
        }
        std::thread::sleep(due);
    }
}

/// The name of the pending exception's constructor, and its message.
pub(super) fn describe(vm: &mut Vm) -> (String, String) {
    vm.metering.deadline = None;
    let error = vm.take_exception();
    let name = error_name(vm, error).unwrap_or_else(|| "a value".into());
    let message = match error.as_object() {
        Some(object) => vm.get(object, cynic_engine::atoms::MESSAGE).unwrap_or(Value::UNDEFINED),
        None => error,
    };
    (name, message.as_string().map_or_else(|| vm.describe(message), |message| message.to_rust_string()))
}

fn error_name(vm: &mut Vm, error: Value) -> Option<String> {
    let constructor = vm.get(error.as_object()?, cynic_engine::atoms::CONSTRUCTOR).ok()?;
    let name = vm.get(constructor.as_object()?, cynic_engine::atoms::NAME).ok()?;
    name.as_string().map(|name| name.to_rust_string())
}
