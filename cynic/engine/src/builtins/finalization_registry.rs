//! FinalizationRegistry (26.2). <https://tc39.es/ecma262/#sec-finalization-registry-objects>
//!
//! Internal slot 0 holds the registry's cells. When a collection finds a target dead, its held value moves to the list of
//! those that are ready; the host then runs the callbacks as jobs of their own ([`Vm::run_finalization_jobs`]).

use std::cell::{Cell, RefCell};

use crate::gc::{Data, ExternalCharge, Gc, Trace, Tracer};
use crate::object::ObjectKind;
use crate::object::function::{CallArgs, NativeSpec};
use crate::realm::{Body, Intrinsic, IntrinsicSpec, constructor, method, prototype, to_string_tag};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %FinalizationRegistry%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("FinalizationRegistry", 1, construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::FinalizationRegistryPrototype)],
};

/// %FinalizationRegistry.prototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::FinalizationRegistry),
        method("register", 2, register),
        method("unregister", 1, unregister),
        to_string_tag("FinalizationRegistry"),
    ],
};

struct Registration {
    target: Value,
    held: Value,
    token: Value,
}

/// The state of one registry.
pub(crate) struct Registry {
    callback: Cell<Value>,
    cells: RefCell<Vec<Registration>>,
    ready: RefCell<Vec<Value>>,
    charge: ExternalCharge,
    /// Targets are held: in a deterministic isolate the collector must not show.
    is_strong: bool,
}

impl Trace for Registry {
    const BARRIERED: bool = true;
    const WEAK: bool = true;

    fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.value(self.callback.get());
        for c in self.cells.borrow().iter() {
            tracer.value(c.held);
            if self.is_strong {
                tracer.value(c.target);
                tracer.value(c.token);
            }
        }
        tracer.values(&self.ready.borrow());
    }

    fn sweep_weak(&self, tracer: &Tracer<'_>) {
        let mut ready = self.ready.borrow_mut();
        self.cells.borrow_mut().retain_mut(|c| {
            if !tracer.is_marked(c.token) {
                c.token = Value::UNDEFINED;
            }
            let alive = tracer.is_marked(c.target);
            if !alive {
                ready.push(c.held);
            }
            alive
        });
        if !ready.is_empty() {
            tracer.note_finalization();
        }
    }
}

/// 26.2.1.1
fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.is_construct() {
        return Err(vm.throw_type_error("Constructor FinalizationRegistry requires 'new'"));
    }
    if !args.get(0).is_callable() {
        return Err(vm.throw_type_error("FinalizationRegistry: cleanup must be callable"));
    }
    let o = vm.ordinary_create_from_constructor(
        args.new_target,
        Intrinsic::FinalizationRegistryPrototype,
        ObjectKind::FinalizationRegistry,
        1,
    )?;
    let is_strong = vm.options.deterministic;
    let state = vm.alloc_data(Registry {
        callback: Cell::new(args.get(0)),
        cells: RefCell::default(),
        ready: RefCell::default(),
        charge: ExternalCharge::default(),
        is_strong,
    });
    o.set_slot(0, Value::cell(state));
    vm.finalization_registries.push(state);
    Ok(Value::object(o))
}

fn this_registry(vm: &mut Vm, args: CallArgs) -> JsResult<Gc<Data<Registry>>> {
    let state = args
        .this
        .as_object()
        .filter(|o| o.is(ObjectKind::FinalizationRegistry))
        .and_then(|o| o.data::<Registry>(0));
    match state {
        Some(s) => Ok(s),
        None => {
            let message = format!("Method called on incompatible receiver {}", vm.describe(args.this));
            Err(vm.throw_type_error(&message))
        }
    }
}

/// 26.2.3.2
fn register(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let state = this_registry(vm, args)?;
    let (target, held, token) = (args.get(0), args.get(1), args.get(2));
    if !vm.can_be_held_weakly(target) {
        return Err(vm.throw_type_error("FinalizationRegistry.prototype.register: invalid target"));
    }
    if vm.same_value(target, held) {
        return Err(vm.throw_type_error(
            "FinalizationRegistry.prototype.register: target and holdings must not be same",
        ));
    }
    if !vm.can_be_held_weakly(token) && !token.is_undefined() {
        return Err(vm.throw_type_error("FinalizationRegistry.prototype.register: invalid unregister token"));
    }
    let mut cells = state.cells.borrow_mut();
    let grows = cells.len() == cells.capacity();
    cells.push(Registration { target, held, token });
    let bytes = cells.capacity() * size_of::<Registration>();
    drop(cells);
    state.write_barrier();
    if grows {
        vm.recharge_external(&state.charge, bytes)?;
    }
    Ok(Value::UNDEFINED)
}

/// 26.2.3.3
fn unregister(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let state = this_registry(vm, args)?;
    let token = args.get(0);
    if !vm.can_be_held_weakly(token) {
        return Err(
            vm.throw_type_error("FinalizationRegistry.prototype.unregister: invalid unregister token")
        );
    }
    let mut cells = state.cells.borrow_mut();
    let before = cells.len();
    cells.retain(|c| c.token != token);
    Ok(Value::bool(cells.len() != before))
}

impl Vm {
    /// Whether cleanup callbacks are due.
    pub fn finalization_jobs_due(&self) -> bool {
        self.heap.finalization_due()
    }

    /// Runs the cleanup callbacks that are due (HostEnqueueFinalizationRegistryCleanupJob); stops at the first that
    /// throws, and leaves the rest due.
    pub fn run_finalization_jobs(&mut self) -> JsResult<()> {
        self.heap.set_finalization_due(false);
        for i in 0..self.finalization_registries.len() {
            let Some(&state) = self.finalization_registries.get(i) else { break };
            loop {
                let Some(held) = state.ready.borrow_mut().pop() else { break };
                let outcome = self.call(state.callback.get(), Value::UNDEFINED, &[held]);
                if outcome.is_err() {
                    self.heap.set_finalization_due(true);
                    outcome?;
                }
            }
        }
        Ok(())
    }
}
