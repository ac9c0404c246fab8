//! Engines, isolates and their limits.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::error::{Error, HostError, Result};
use super::handle::Handle;
use super::realm::Realm;
use cynic_engine::bytecode::code::FunctionCode;
use cynic_engine::compiler::{self, CompileOptions};
use cynic_engine::gc::native_stack::StackBounds;
use cynic_engine::gc::{Persistent, data_of};
use cynic_engine::host::{Capabilities, Clock, Entropy, Randomness};
use cynic_engine::limits::HEAP_BYTES_DEFAULT;
use cynic_engine::realm::Realm as RealmRecord;
use cynic_engine::value::Value;
use cynic_engine::vm::modules::ModuleLoader;
use cynic_engine::vm::{CancelToken, JsResult, Options, Vm};

/// What isolates have in common: the posture they are made in, and scripts that were compiled once for all of them.
#[derive(Clone, Debug, Default)]
pub struct Engine {
    options: Options,
}

/// A compiled script; any isolate can run it.
#[derive(Clone)]
pub struct Script {
    pub(super) code: Arc<FunctionCode>,
}

/// What an isolate may use. The heap's limit is fixed; fuel, deadline and cancellation can be set again at any time.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The hard limit of the heap, strings and buffers included.
    pub heap_bytes: usize,
    /// Steps: a step is a call, a turn of a loop, or a piece of work inside the library.
    pub fuel: Option<u64>,
    /// Time from now on.
    pub time: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { heap_bytes: HEAP_BYTES_DEFAULT, fuel: None, time: None }
    }
}

impl Engine {
    /// Isolates are hardened: primordials and the global object are frozen, and no code is made from strings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Leaves primordials and the global object mutable.
    #[must_use]
    pub fn unhardened(mut self) -> Self {
        self.options.hardened = false;
        self
    }

    /// Lets guests make code from strings (always strict).
    #[must_use]
    pub fn allow_eval(mut self) -> Self {
        self.options.allow_eval = true;
        self
    }

    /// Lets guests add properties to a hardened global object; those it has stay frozen.
    #[must_use]
    pub fn open_global(mut self) -> Self {
        self.options.open_global = true;
        self
    }

    /// Takes sources whose names end in `.ts`, `.mts` or `.cts` as TypeScript and strips their types.
    #[must_use]
    pub fn typescript(mut self) -> Self {
        self.options.typescript = true;
        self
    }

    /// Isolates whose programs do the same in every run, however the machine is: they begin with
    /// [`Capabilities::deterministic`] (seed 0), weak references hold their targets, registries never call back, and native recursion
    /// ends at a depth of its own. What a limit on time or on the heap ends, it ends somewhere.
    #[must_use]
    pub fn deterministic(mut self) -> Self {
        self.options.deterministic = true;
        self
    }

    /// A new isolate with a realm. It begins with [`Capabilities::default`].
    pub fn isolate(&self, limits: Limits) -> Isolate {
        let mut vm = Vm::new(Options { heap_bytes_max: limits.heap_bytes, ..self.options });
        vm.metering.deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
        if limits.fuel.is_some() {
            vm.set_fuel(limits.fuel);
        }
        Isolate { vm: Box::new(vm) }
    }

    /// Compiles a script for any number of isolates.
    pub fn compile(&self, name: &str, text: &str) -> Result<Script, HostError> {
        self.compile_as(name, text, self.options.is_typescript(name))
    }

    /// Compiles a script whose types are stripped, whatever its name.
    pub fn compile_typescript(&self, name: &str, text: &str) -> Result<Script, HostError> {
        self.compile_as(name, text, true)
    }

    fn compile_as(&self, name: &str, text: &str, typescript: bool) -> Result<Script, HostError> {
        let options = CompileOptions {
            allow_eval: self.options.allow_eval,
            typescript,
            stack_room: StackBounds::of_current_thread().room(),
            ..CompileOptions::default()
        };
        match compiler::compile_script(name, text, options) {
            Ok(code) => Ok(Script { code }),
            Err(error) => Err(HostError::Syntax(Box::new(error))),
        }
    }
}

/// One heap with its jobs and limits. Used by one thread.
pub struct Isolate {
    vm: Box<Vm>,
}

/// Names a realm of an isolate.
#[derive(Clone)]
pub struct RealmId {
    root: Persistent,
}

impl Isolate {
    /// The isolate's first realm.
    pub fn realm(&mut self) -> Realm<'_> {
        Realm { vm: &mut self.vm }
    }

    /// A further realm: its own global object and intrinsics.
    pub fn new_realm(&mut self) -> RealmId {
        let realm = self.vm.new_realm();
        RealmId { root: Persistent::new(&self.vm.heap, Value::cell(realm)) }
    }

    /// Does something in a realm that [`Isolate::new_realm`] made.
    pub fn in_realm<T>(&mut self, id: &RealmId, act: impl FnOnce(&mut Realm<'_>) -> Result<T>) -> Result<T> {
        let record = Some(&id.root).filter(|root| root.belongs_to(&self.vm.heap)).map(Persistent::get);
        let Some(record) = record.and_then(data_of::<RealmRecord>) else {
            return Err(HostError::ForeignHandle.into());
        };
        let previous = self.vm.enter_realm(record);
        let result = act(&mut Realm { vm: &mut self.vm });
        self.vm.enter_realm(previous);
        result
    }

    /// The layer below, for hosts that extend the engine itself ([`crate::host::install`] takes it).
    pub fn vm(&mut self) -> &mut Vm {
        &mut self.vm
    }

    /// The outcome of something that was done to [`Isolate::vm`], as the API's own operations report theirs.
    pub fn check<T>(&mut self, outcome: JsResult<T>) -> Result<T> {
        outcome.map_err(|abrupt| Error::of(&mut self.vm, abrupt))
    }

    /// Seals a hardened global object now, not at the first evaluation.
    pub fn seal_global(&mut self) {
        self.vm.seal_global();
    }

    /// Says where modules come from.
    pub fn set_module_loader(&mut self, loader: impl ModuleLoader + 'static) {
        self.vm.set_module_loader(Rc::new(loader));
    }

    /// Says all that the host gives: call it before what looks at the clock ([`crate::host::install`]).
    pub fn set_capabilities(&mut self, capabilities: Capabilities) {
        self.vm.host.capabilities = capabilities;
    }

    /// Says what the time is, or that guests may not know.
    pub fn set_clock(&mut self, clock: Clock) {
        self.vm.host.capabilities.clock = clock;
    }

    /// Says where random numbers come from, or that there are none.
    pub fn set_randomness(&mut self, randomness: Randomness) {
        self.vm.host.capabilities.randomness = randomness;
    }

    /// Says where random bytes come from that nobody may guess, or that there are none.
    pub fn set_entropy(&mut self, entropy: Entropy) {
        self.vm.host.capabilities.entropy = entropy;
    }

    /// Names the local time zone; an unknown one counts as UTC.
    pub fn set_time_zone(&mut self, identifier: &str) {
        identifier.clone_into(&mut self.vm.host.capabilities.time_zone);
    }

    /// Gives the guest that many steps from now on, or any number.
    pub fn set_fuel(&mut self, steps: Option<u64>) {
        self.vm.set_fuel(steps);
    }

    /// When guests must have ended.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.vm.metering.deadline = deadline;
    }

    /// Lets another thread end the guest.
    pub fn cancel_token(&mut self) -> CancelToken {
        self.vm.metering.cancel.get_or_insert_with(CancelToken::new).clone()
    }

    /// Makes the isolate usable again after a termination; set the limit that was hit first.
    pub fn recover(&mut self) {
        self.vm.clear_termination();
    }

    /// Whether a job waits.
    pub fn has_jobs(&self) -> bool {
        self.vm.has_jobs()
    }

    /// Runs jobs (promise reactions and the like) until there are none.
    pub fn run_jobs(&mut self) -> Result<()> {
        let ran = self.vm.run_jobs();
        self.check(ran)
    }

    /// The reasons of promises that were rejected and are not handled, each once. To be asked for when the jobs have run.
    pub fn take_unhandled_rejections(&mut self) -> Vec<Handle> {
        let reasons = self.vm.take_unhandled_rejections();
        reasons.iter().map(|&reason| Handle::new(&self.vm, reason)).collect()
    }

    /// Collects garbage now.
    pub fn collect_garbage(&mut self) {
        self.vm.collect_garbage();
    }
}
