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
pub mod metering;
pub mod modules;
mod owner;
pub mod register_stack;

use std::collections::HashMap;

use crate::gc::native_stack::{StackBounds, address_of_frame};
use std::ops::{Deref, DerefMut};

use cynic_heap::mutator::Mutator;
pub use cynic_heap::mutator::{Abrupt, JsResult, Termination};

use crate::gc::{Data, Gc};
use crate::host::{Capabilities, HostHooks};
use crate::limits;
use crate::object::Object;
use crate::property_key::PropertyKey;
use crate::realm::{Intrinsic, Realm};
use crate::symbol::Symbol;
use crate::syntax::Dialect;
use crate::value::Value;

pub use metering::{CancelToken, Metering};
pub use register_stack::RegisterStack;

/// What the guest may do; fixed when the isolate is made.
#[derive(Copy, Clone, Debug)]
pub struct Options {
    /// Frozen primordials and global object, the override mistake mended.
    pub hardened: bool,
    /// `eval` and `Function(string)` work.
    pub allow_eval: bool,
    /// A hardened global object may gain properties; those it has stay frozen.
    pub open_global: bool,
    /// Nothing that differs from run to run shows: a virtual clock, fixed seeds, weak references that hold, native recursion that ends
    /// at the same depth.
    pub deterministic: bool,
    /// Scripts may declare again what earlier ones declared, as a person at a prompt does.
    pub redeclare_globals: bool,
    /// Sources whose names end in `.ts`, `.mts`, `.cts`, `.tsx` or `.jsx` are what these endings say.
    pub typescript: bool,
    /// The hard limit of the heap.
    pub heap_bytes_max: usize,
}

impl Options {
    /// What a source of that name may have besides JavaScript.
    pub fn dialect(&self, name: &str) -> Dialect {
        if self.typescript { Dialect::of_name(name) } else { Dialect::JAVASCRIPT }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            hardened: true,
            allow_eval: false,
            open_global: false,
            deterministic: false,
            redeclare_globals: false,
            typescript: false,
            heap_bytes_max: limits::HEAP_BYTES_DEFAULT,
        }
    }
}

/// One isolate's state. It dereferences to its [`Mutator`], through which everything is allocated.
#[repr(C)]
pub struct Vm {
    /// The program's side of the heap. The first field: `owner` finds the `Vm` from its address.
    mutator: Mutator,
    /// Registers of the virtual machine.
    pub stack: RegisterStack,
    /// Fuel, deadline, cancellation.
    pub metering: Metering,
    /// What the guest may do.
    pub options: Options,
    /// The clock, the time zone, randomness.
    pub host: HostHooks,
    /// Property lookups that all sites share.
    pub(crate) lookup_cache: crate::object::cache::LookupCache,
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
            mutator: owner::mutator(options.heap_bytes_max),
            stack: RegisterStack::new(limits::VM_STACK_REGISTERS),
            metering: Metering::default(),
            options,
            host: HostHooks::new(Capabilities::of(&options)),
            lookup_cache: Default::default(),
            symbol_registry: HashMap::new(),
            async_waiters: Vec::new(),
            can_block: true,
            regexp: Default::default(),
            kept_alive: Vec::new(),
            joining: Vec::new(),
            finalization_registries: Vec::new(),
            realm: None,
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
        if self.options.deterministic {
            // How much of the stack is used already depends on the environment, its size on the machine.
            let limit = address_of_frame().saturating_sub(limits::DETERMINISTIC_STACK_BYTES);
            self.native_stack_limit = self.native_stack_limit.max(limit);
        }
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
}

/// Where parts of a [`Vm`] are, for generated code.
#[cfg(cynic_jit)]
pub(crate) mod offsets {
    use super::interpreter::Interpreter;
    use super::{Mutator, RegisterStack, Vm};
    use crate::gc::Heap;
    use std::mem::offset_of;

    pub(crate) const BUDGET: usize = offset_of!(Vm, mutator) + offset_of!(Mutator, budget);
    pub(crate) const PROTO_EPOCH: usize = offset_of!(Vm, mutator) + offset_of!(Mutator, proto_epoch);
    pub(crate) const STACK_TOP: usize = offset_of!(Vm, stack) + offset_of!(RegisterStack, top);
    pub(crate) const STACK_LIMIT: usize = offset_of!(Vm, stack) + super::register_stack::LIMIT_OFFSET;
    pub(crate) const FRAME: usize = offset_of!(Vm, interpreter) + offset_of!(Interpreter, frame);
    pub(crate) const FRAMES_END: usize = offset_of!(Vm, interpreter) + offset_of!(Interpreter, frames_end);
    /// The current realm's cell.
    pub(crate) const REALM: usize = offset_of!(Vm, realm);

    /// See [`Heap::run_of`]: cursor and end from the isolate's address, and the size.
    pub(crate) fn run_of(bytes: usize) -> Option<(usize, usize, usize)> {
        let heap = offset_of!(Vm, mutator) + offset_of!(Mutator, heap);
        Heap::run_of(bytes).map(|(cursor, end, size)| (heap + cursor, heap + end, size))
    }
}

impl Deref for Vm {
    type Target = Mutator;
    #[inline(always)]
    fn deref(&self) -> &Mutator {
        &self.mutator
    }
}

impl DerefMut for Vm {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Mutator {
        &mut self.mutator
    }
}
