//! Evaluating one test with the engine: a fresh isolate, the harness, the test, its jobs and timers.
//!
//! Harness files are compiled once per worker.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use cynic::host::inspect::Styles;
use cynic::host::{Sink, Stream, timers};
use cynic::{Engine, Error, Exception, Isolate, Jit, Limits, Realm, Script, Zeal};

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
    /// How eager the collector is.
    pub(crate) gc_zeal: Zeal,
    jit: Jit,
    /// Compiled harness files, by name.
    harness: HashMap<String, Script>,
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
    Threw(Phase, Box<Exception>),
    Syntax(String),
    /// By a limit, or the host's own error.
    Ended(String),
}

impl EngineEvaluator {
    /// An evaluator with an empty cache.
    pub(crate) fn new(deadline: Duration, gc_zeal: Zeal, jit: Jit) -> Self {
        EngineEvaluator { deadline, gc_zeal, jit, harness: HashMap::new() }
    }

    fn isolate(&self, test: &Test<'_>, printed: &Rc<RefCell<Vec<String>>>) -> Result<Isolate, Error> {
        let mut isolate = engine().jit(self.jit).isolate(Limits {
            heap_bytes: TEST262_HEAP_BYTES_MAX,
            time: Some(self.deadline),
            fuel: None,
        });
        cynic::host::install(&mut isolate, Box::new(Printed(printed.clone())), Styles::Plain);
        isolate.set_can_block(test.metadata.flags.can_block.unwrap_or(true));
        isolate.set_module_loader(FileLoader::unrestricted());
        host::install(&mut isolate.realm())?;
        agent::begin_test(&isolate);
        Ok(isolate)
    }

    fn run_harness(&mut self, isolate: &mut Isolate, test: &Test<'_>) -> Result<(), String> {
        for (name, text) in &test.harness {
            let script = match self.harness.get(*name) {
                Some(script) => script.clone(),
                None => {
                    let script =
                        engine().compile(name, text).map_err(|error| format!("harness/{name}: {error}"))?;
                    self.harness.insert((*name).to_owned(), script.clone());
                    script
                }
            };
            isolate.realm().run(&script).map_err(|error| format!("harness/{name}: {error}"))?;
        }
        Ok(())
    }

    fn evaluate_in(&mut self, isolate: &mut Isolate, test: &Test<'_>) -> Result<(), Stop> {
        isolate.set_gc_zeal(self.gc_zeal);
        let outcome = run_test(isolate, test).and_then(|()| drain(isolate));
        isolate.set_gc_zeal(Zeal::Off);
        outcome
    }
}

/// The posture of the tests.
pub(super) fn engine() -> Engine {
    Engine::new().unhardened().allow_eval()
}

impl Evaluator for EngineEvaluator {
    fn evaluate(&mut self, test: &Test<'_>) -> Completion {
        let printed = Rc::new(RefCell::new(Vec::new()));
        let mut isolate = match self.isolate(test, &printed) {
            Ok(isolate) => isolate,
            Err(error) => return Completion::Broken(error.to_string()),
        };
        if let Err(why) = self.run_harness(&mut isolate, test) {
            return Completion::Broken(why);
        }
        let outcome = self.evaluate_in(&mut isolate, test);
        agent::end_test();
        match outcome {
            Ok(()) => Completion::Normal(printed.take()),
            Err(Stop::Syntax(message)) => {
                Completion::Threw { phase: Phase::Parse, name: "SyntaxError".into(), message }
            }
            Err(Stop::Threw(phase, exception)) => {
                isolate.set_deadline(None);
                let (name, message) = describe(&mut isolate.realm(), &exception);
                Completion::Threw { phase, name, message }
            }
            Err(Stop::Ended(why)) => Completion::Terminated(why),
        }
    }
}

fn run_test(isolate: &mut Isolate, test: &Test<'_>) -> Result<(), Stop> {
    let name = test.file.to_string_lossy();
    if test.metadata.flags.module {
        return super::modules::run(isolate, test);
    }
    let script = engine().compile(&name, test.source).map_err(|error| Stop::Syntax(error.to_string()))?;
    isolate.realm().run(&script).map(drop).map_err(|error| stop(error, Phase::Runtime))
}

/// Why a test stopped.
pub(super) fn stop(error: Error, phase: Phase) -> Stop {
    match error {
        Error::Thrown(exception) => Stop::Threw(phase, exception),
        Error::Terminated(why) => Stop::Ended(why.to_string()),
        Error::Host(error) => Stop::Ended(error.to_string()),
    }
}

/// How long promises of `Atomics.waitAsync` keep a test alive when nothing settles them.
const ASYNC_WAIT_PATIENCE: Duration = Duration::from_secs(2);
/// How often they are looked at.
const ASYNC_WAIT_SLICE: Duration = Duration::from_millis(1);

/// Runs jobs, timers and asynchronous waits until there are none.
pub(super) fn drain(isolate: &mut Isolate) -> Result<(), Stop> {
    drain_isolate(isolate).map_err(|error| stop(error, Phase::Runtime))
}

fn drain_isolate(isolate: &mut Isolate) -> Result<(), Error> {
    let mut idle_since = Instant::now();
    loop {
        isolate.run_jobs()?;
        if timers::run_due(isolate)? {
            continue;
        }
        if isolate.settle_async_waiters()? {
            idle_since = Instant::now();
            continue;
        }
        if isolate.has_async_waiters() && idle_since.elapsed() < ASYNC_WAIT_PATIENCE {
            isolate.poll()?;
            std::thread::sleep(ASYNC_WAIT_SLICE);
            continue;
        }
        let Some(due) = timers::next_due(isolate)? else { return Ok(()) };
        if isolate.deadline().is_some_and(|deadline| Instant::now() + due > deadline) {
            return Ok(());
        }
        std::thread::sleep(due);
    }
}

/// The name of a thrown value's constructor, and its message.
fn describe(realm: &mut Realm<'_>, exception: &Exception) -> (String, String) {
    let error = &exception.value;
    let message = if error.is_object() { realm.get(error, "message").ok() } else { None };
    let message = message.and_then(|message| message.to::<String>(realm).ok());
    (
        error_name(realm, exception).unwrap_or_else(|| "a value".into()),
        message.unwrap_or_else(|| exception.message.clone()),
    )
}

fn error_name(realm: &mut Realm<'_>, exception: &Exception) -> Option<String> {
    if !exception.value.is_object() {
        return None;
    }
    let constructor = realm.get(&exception.value, "constructor").ok()?;
    realm.get(&constructor, "name").ok()?.to(realm).ok()
}
