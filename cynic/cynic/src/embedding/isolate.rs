//! Engines, isolates and their limits.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::error::{Error, HostError, Result};
use super::handle::Handle;
use super::realm::Realm;
use cynic_engine::bytecode::code::FunctionCode;
use cynic_engine::bytecode::disassemble::disassemble;
use cynic_engine::bytecode::verify::{VerifyError, verify, verify_flow};
use cynic_engine::compiler::{self, CompileOptions, ModuleCode};
use cynic_engine::gc::native_stack::StackBounds;
use cynic_engine::gc::{GcStats, Persistent, Zeal};
use cynic_engine::host::{Capabilities, Clock, Entropy, Randomness};
use cynic_engine::jit::{Mode as Jit, Stats as JitStats};
use cynic_engine::limits::HEAP_BYTES_DEFAULT;
use cynic_engine::syntax::Dialect;
use cynic_engine::vm::modules::ModuleLoader;
use cynic_engine::vm::{CancelToken, JsResult, Options, Vm};

/// What isolates have in common: the posture they are made in, and scripts that were compiled once for all of them.
#[derive(Clone, Debug, Default)]
pub struct Engine {
    options: Options,
    jit: Jit,
}

/// A compiled script; any isolate can run it.
#[derive(Clone)]
pub struct Script {
    pub(super) code: Arc<FunctionCode>,
}

impl Script {
    /// The bytecode, as text.
    pub fn disassemble(&self) -> String {
        disassemble(&self.code)
    }

    /// Bytecode of the front end's (`pithos-cynic-front`), from wherever it comes: it is verified first.
    pub fn from_bytecode(code: FunctionCode) -> Result<Self, VerifyError> {
        verify(&code)?;
        verify_flow(&code)?;
        Ok(Script { code: Arc::new(code) })
    }
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

    /// Takes sources whose names end in `.ts`, `.mts` or `.cts` as TypeScript, `.tsx` as TypeScript with JSX, `.jsx` as JavaScript with JSX.
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

    /// Lets isolates compile what runs often to machine code, where there is a code generator and the system allows it. Off by default:
    /// compiled code is the largest thing that could be wrong about an engine.
    #[must_use]
    pub fn jit(mut self, jit: Jit) -> Self {
        self.jit = jit;
        self
    }

    /// A new isolate with a realm. It begins with [`Capabilities::default`].
    pub fn isolate(&self, limits: Limits) -> Isolate {
        let mut vm = Vm::new(Options { heap_bytes_max: limits.heap_bytes, ..self.options });
        cynic_engine::jit::enable(&mut vm, self.jit);
        vm.metering.deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
        if limits.fuel.is_some() {
            vm.set_fuel(limits.fuel);
        }
        Isolate { vm: Box::new(vm) }
    }

    /// Compiles a script for any number of isolates.
    pub fn compile(&self, name: &str, text: &str) -> Result<Script, HostError> {
        self.compile_as(name, text, self.options.dialect(name))
    }

    /// Compiles a script in TypeScript, whatever its name.
    pub fn compile_typescript(&self, name: &str, text: &str) -> Result<Script, HostError> {
        self.compile_as(name, text, Dialect::TYPESCRIPT)
    }

    /// Where the last statement of an async function's body begins, in bytes, if it is an expression: what a console would show as the value.
    /// `None` also where the body is wrong, or nested so deeply that looking would take more stack than there is.
    #[must_use]
    pub fn last_expression(&self, body: &str) -> Option<usize> {
        let options = self.compile_options(Dialect::TYPESCRIPT);
        let stack = compiler::stack_needed("<body>", body, options).ok()?;
        // The wrapper around it is a few units more.
        if stack.saturating_mul(2) > options.stack_room {
            return None;
        }
        cynic_engine::syntax::last_expression(body, true)
    }

    /// Checks a module's text without running it.
    pub fn check_module(&self, name: &str, text: &str) -> Result<(), HostError> {
        self.module_code(name, text).map(drop)
    }

    /// The bytecode of a module, as text.
    pub fn disassemble_module(&self, name: &str, text: &str) -> Result<String, HostError> {
        let module = self.module_code(name, text)?;
        Ok(module.body.as_deref().map(disassemble).unwrap_or_default())
    }

    fn module_code(&self, name: &str, text: &str) -> Result<ModuleCode, HostError> {
        let options = self.compile_options(self.options.dialect(name));
        compiler::compile_module(name, text, options).map_err(|error| HostError::Syntax(Box::new(error)))
    }

    fn compile_options(&self, dialect: Dialect) -> CompileOptions {
        CompileOptions {
            allow_eval: self.options.allow_eval,
            dialect,
            stack_room: StackBounds::of_current_thread().room(),
            ..CompileOptions::default()
        }
    }

    fn compile_as(&self, name: &str, text: &str, dialect: Dialect) -> Result<Script, HostError> {
        let options = self.compile_options(dialect);
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
    pub(super) root: Persistent,
}

impl Isolate {
    /// The isolate's first realm.
    pub fn realm(&mut self) -> Realm<'_> {
        Realm { vm: &mut self.vm }
    }

    /// A further realm: its own global object and intrinsics.
    pub fn new_realm(&mut self) -> RealmId {
        self.realm().new_realm()
    }

    /// Does something in a realm that [`Isolate::new_realm`] made.
    pub fn in_realm<T>(&mut self, id: &RealmId, act: impl FnOnce(&mut Realm<'_>) -> Result<T>) -> Result<T> {
        self.realm().in_realm(id, act)
    }

    /// The layer below.
    pub(crate) fn vm(&mut self) -> &mut Vm {
        &mut self.vm
    }

    pub(crate) fn check<T>(&mut self, outcome: JsResult<T>) -> Result<T> {
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

    /// Says all that the host gives: call it before what looks at the clock (`cynic_host::install`).
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

    /// Bytes of the heap that are in use, garbage included.
    pub fn heap_bytes(&self) -> usize {
        self.vm.heap.used_bytes()
    }

    /// Figures about the heap and its collector.
    pub fn gc_stats(&self) -> GcStats {
        self.vm.gc_stats()
    }

    /// The machine code of a script's functions, each instruction of bytecode with what the template tier makes of it, as it would be before
    /// they run. `None` where nothing is compiled, as for [`Isolate::jit_stats`].
    pub fn list_native(&mut self, script: &Script) -> Option<String> {
        cynic_engine::jit::listing(&mut self.vm, &script.code)
    }

    /// Figures about compiled code; `None` where nothing is compiled: the engine's switch is off, or there is no code generator.
    pub fn jit_stats(&self) -> Option<JitStats> {
        cynic_engine::jit::stats(&self.vm)
    }

    /// The smallest nursery: the heap is not collected before that much has been allocated.
    pub fn set_gc_threshold(&mut self, bytes: usize) {
        self.vm.heap.set_threshold(bytes);
    }

    /// Makes the collector eager, to find mistakes of the engine's.
    pub fn set_gc_zeal(&mut self, zeal: Zeal) {
        self.vm.heap.set_zeal_mode(zeal);
    }

    /// Whether `Atomics.wait` may block the isolate's thread.
    pub fn set_can_block(&mut self, can_block: bool) {
        self.vm.can_block = can_block;
    }

    /// When guests must have ended.
    pub fn deadline(&self) -> Option<Instant> {
        self.vm.metering.deadline
    }

    /// Steps left, if they are limited.
    pub fn fuel_left(&self) -> Option<u64> {
        self.vm.fuel_left()
    }

    /// Whether somebody may hold a token that ends the guest.
    pub fn is_cancellable(&self) -> bool {
        self.vm.metering.cancel.is_some()
    }

    /// Lets scripts declare again what an earlier one declared with `let`, `const` or `class`, as at a prompt.
    pub fn redeclare_globals(&mut self) {
        self.vm.options.redeclare_globals = true;
    }

    /// Drops the jobs that wait: after an interruption, say.
    pub fn clear_jobs(&mut self) {
        self.vm.clear_jobs();
    }

    /// Lets the holder of this token end the guest, who may hold those of other isolates.
    pub fn set_cancel_token(&mut self, token: CancelToken) {
        self.vm.metering.cancel = Some(token);
    }

    /// Looks at the limits, as guest code does: for hosts that wait or work on a guest's behalf.
    pub fn poll(&mut self) -> Result<()> {
        let polled = self.vm.poll_slow(1);
        self.check(polled)
    }

    /// Calls `look` whenever the limits are looked at: lets a test measure how far apart that is.
    pub fn on_look(&mut self, look: impl FnMut() + 'static) {
        self.vm.metering.on_look = Some(Box::new(look));
    }

    /// Whether a promise of `Atomics.waitAsync` is pending.
    pub fn has_async_waiters(&self) -> bool {
        self.vm.has_async_waiters()
    }

    /// How long the host may wait before it looks at the promises of `Atomics.waitAsync` again if nobody notifies; `None` if none of them has a
    /// timeout.
    pub fn next_async_waiter(&self) -> Option<Duration> {
        self.vm.next_async_waiter()
    }

    /// The host is about to wait that long. True if a virtual clock was moved instead, and there is nothing to wait for.
    pub fn wait_virtually(&mut self, time: Duration) -> bool {
        self.vm.host_wait(time)
    }

    /// Settles promises of `Atomics.waitAsync` that were notified or timed out; false if there were none.
    pub fn settle_async_waiters(&mut self) -> Result<bool> {
        let settled = self.vm.settle_async_waiters();
        self.check(settled)
    }
}
