//! [`Vm`]: the state of one isolate, passed as `&mut Vm` everywhere.
//!
//! Owns the heap, the register stack, the current realm, the pending exception or termination, metering and
//! options. Invariant: used by one thread at a time; whoever returns `Err(Abrupt::Throw)` has set the exception.
//! Left to others: the interpreter (`vm::interpreter`), calls (`vm::call`), metering (`vm::metering`).

pub mod call;
pub mod errors;
pub mod eval;
pub mod interpreter;
pub mod jobs;
pub mod memory;
pub mod metering;
pub mod modules;
pub mod register_stack;

use std::collections::HashMap;

use crate::gc::native_stack::StackBounds;
use crate::gc::{Data, Gc, Heap, RootedVec};
use crate::host::HostHooks;
use crate::limits;
use crate::object::Object;
use crate::property_key::PropertyKey;
use crate::realm::{Intrinsic, Realm};
use crate::shape::Shape;
use crate::string::intern::InternTable;
use crate::symbol::Symbol;
use crate::value::Value;

pub use metering::{CancelToken, Metering, Termination};
pub use register_stack::RegisterStack;

/// Why an operation did not complete normally. The thrown value, or the termination, is in the [`Vm`].
#[repr(u64)]
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Abrupt {
    /// A guest exception: [`Vm::take_exception`].
    Throw = 0,
    /// The guest was ended: [`Vm::termination`]. Guest code cannot catch it, and `finally` does not run.
    Terminate = 1,
}

/// The result of anything that may run guest code.
pub type JsResult<T> = Result<T, Abrupt>;

/// What the guest may do; fixed when the isolate is made.
#[derive(Copy, Clone, Debug)]
pub struct Options {
    /// Frozen primordials and global object, the override mistake mended.
    pub hardened: bool,
    /// `eval` and `Function(string)` work.
    pub allow_eval: bool,
    /// A hardened global object may gain properties; those it has stay frozen.
    pub open_global: bool,
    /// Sources whose names end in `.ts`, `.mts` or `.cts` are TypeScript; their types are stripped.
    pub typescript: bool,
    /// The hard limit of the heap.
    pub heap_bytes_max: usize,
}

impl Options {
    /// Whether a source of that name has types to strip.
    pub fn is_typescript(&self, name: &str) -> bool {
        self.typescript && [".ts", ".mts", ".cts"].iter().any(|ending| name.ends_with(ending))
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            hardened: true,
            allow_eval: false,
            open_global: false,
            typescript: false,
            heap_bytes_max: limits::HEAP_BYTES_DEFAULT,
        }
    }
}

/// One isolate's state.
pub struct Vm {
    /// The heap.
    pub heap: Heap,
    /// Registers of the virtual machine.
    pub stack: RegisterStack,
    /// Steps left until the next look at fuel, deadline and cancellation.
    pub budget: u32,
    /// Fuel, deadline, cancellation.
    pub metering: Metering,
    /// What the guest may do.
    pub options: Options,
    /// The clock, the time zone, randomness.
    pub host: HostHooks,
    /// Advances when the set of properties of any prototype changes: guards cached prototype lookups. Wide enough that no guest
    /// can make it come round to a value that an old cache remembers.
    pub proto_epoch: u64,
    /// Whether some prototype may have indexed properties (then element fast paths must look).
    pub indexed_prototypes: bool,
    /// The key of all hashes of what the guest chooses.
    pub(crate) hash_seed: crate::string::hash::HashSeed,
    /// Property lookups that all sites share.
    pub(crate) lookup_cache: crate::object::cache::LookupCache,
    pub(crate) interned: InternTable,
    pub(crate) root_shapes: rustc_hash::FxHashMap<(u64, u32), Gc<Shape>>,
    pub(crate) symbol_registry: HashMap<PropertyKey, Symbol>,
    /// Promises of `Atomics.waitAsync` that are pending.
    pub(crate) async_waiters: Vec<crate::builtins::atomics_wait::AsyncWaiter>,
    /// Whether `Atomics.wait` may block this agent (AgentCanSuspend).
    pub can_block: bool,
    /// Compiled patterns and the matcher's memory.
    pub(crate) regexp: crate::builtins::regexp::RegExpState,
    /// Targets of WeakRefs that must survive the current job.
    pub(crate) kept_alive: Vec<Value>,
    /// The arrays that are being joined, to end cycles.
    pub(crate) joining: Vec<Object>,
    /// Every live FinalizationRegistry (weakly).
    pub(crate) finalization_registries: Vec<Gc<Data<crate::builtins::finalization_registry::Registry>>>,
    realm: Option<Gc<Data<Realm>>>,
    exception: Value,
    termination: Option<Termination>,
    pub(crate) native_stack: StackBounds,
    pub(crate) native_stack_limit: usize,
    pub(crate) closure_hooks: call::ClosureHooks,
    /// Frames, jobs and everything else of the interpreter.
    pub interpreter: interpreter::Interpreter,
}

impl Vm {
    /// An isolate with one realm.
    pub fn new(options: Options) -> Vm {
        let bounds = StackBounds::of_current_thread();
        let mut vm = Vm {
            heap: Heap::new(options.heap_bytes_max),
            stack: RegisterStack::new(limits::VM_STACK_REGISTERS),
            budget: limits::POLL_INTERVAL,
            metering: Metering::default(),
            options,
            host: HostHooks::default(),
            proto_epoch: 0,
            indexed_prototypes: false,
            hash_seed: crate::string::hash::HashSeed::random(),
            lookup_cache: Default::default(),
            interned: InternTable::default(),
            root_shapes: Default::default(),
            symbol_registry: HashMap::new(),
            async_waiters: Vec::new(),
            can_block: true,
            regexp: Default::default(),
            kept_alive: Vec::new(),
            joining: Vec::new(),
            finalization_registries: Vec::new(),
            realm: None,
            exception: Value::UNDEFINED,
            termination: None,
            native_stack: bounds,
            native_stack_limit: 0,
            closure_hooks: interpreter::HOOKS,
            interpreter: interpreter::Interpreter::new(),
        };
        vm.set_native_stack(bounds);
        let realm = vm.new_realm();
        vm.realm = Some(realm);
        vm
    }

    /// Says on which native stack the isolate runs from now on (a coroutine's, say).
    pub fn set_native_stack(&mut self, bounds: StackBounds) {
        self.native_stack = bounds;
        let reserve = limits::NATIVE_STACK_RESERVE_BYTES.min((bounds.high - bounds.low) / 4);
        self.native_stack_limit = bounds.low + reserve;
    }

    /// The current realm.
    #[inline(always)]
    pub fn realm(&self) -> Gc<Data<Realm>> {
        match self.realm {
            Some(r) => r,
            None => unreachable!("the realm is made before anything can run"),
        }
    }

    /// Whether `realm` is the current one.
    #[inline(always)]
    pub(crate) fn runs_in(&self, realm: Gc<Data<Realm>>) -> bool {
        self.realm == Some(realm)
    }

    pub(crate) fn try_realm(&self) -> Option<Gc<Data<Realm>>> {
        self.realm
    }

    /// The current realm's data.
    #[inline(always)]
    pub fn realm_data(&self) -> &'static Realm {
        let realm = self.realm();
        // SAFETY: realms live as long as anything runs in them: the current one is a root, and the reference is used
        // for single reads and writes of its cells only.
        #[allow(unsafe_code)]
        unsafe {
            &*realm.data_ptr()
        }
    }

    /// Makes `realm` the current one; the previous one is returned, to be put back.
    pub fn enter_realm(&mut self, realm: Gc<Data<Realm>>) -> Gc<Data<Realm>> {
        let old = self.realm();
        self.realm = Some(realm);
        old
    }

    /// The global object of the current realm.
    pub fn global_object(&mut self) -> Object {
        self.intrinsic(Intrinsic::GlobalThis)
    }

    /// An empty rooted vector for values that must survive allocations.
    pub fn scratch(&self) -> RootedVec {
        RootedVec::new(&self.heap)
    }

    /// Throws `v`.
    #[inline]
    pub fn throw(&mut self, v: Value) -> Abrupt {
        self.exception = v;
        Abrupt::Throw
    }

    /// Takes the thrown value, after `Abrupt::Throw`.
    pub fn take_exception(&mut self) -> Value {
        std::mem::replace(&mut self.exception, Value::UNDEFINED)
    }

    /// Why the guest was ended, after `Abrupt::Terminate`.
    pub fn termination(&self) -> Option<Termination> {
        self.termination
    }

    /// Ends the guest.
    pub fn terminate(&mut self, why: Termination) -> Abrupt {
        self.termination.get_or_insert(why);
        Abrupt::Terminate
    }

    /// Forgets a termination, so that the host can use the isolate again.
    pub fn clear_termination(&mut self) {
        self.termination = None;
    }

    /// Invalidates every cached prototype lookup.
    #[inline]
    pub fn bump_proto_epoch(&mut self) {
        self.proto_epoch += 1;
    }
}
