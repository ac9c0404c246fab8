//! `$262.agent`: further agents of a test, each an isolate on a thread of its own.
//!
//! The main agent of a test and the agents it starts share a [`Cluster`] through a thread-local role. Blocks of memory are passed
//! by broadcast; reports come back as strings. Agents end with the test: their deadline is the test's, and a new test cancels the
//! agents of the one before it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cynic::host::inspect::Styles;
use cynic_engine::gc::Persistent;
use cynic_engine::object::buffer::SharedBlock;
use cynic_engine::object::function::CallArgs;
use cynic_engine::realm::{PropertySpec, ValueSpec, data, method};
use cynic_engine::shape::attrs;
use cynic_engine::value::Value;
use cynic_engine::vm::{CancelToken, JsResult, Vm};

use crate::limits::{TEST262_HEAP_BYTES_MAX, TEST262_STACK_BYTES};

/// What a broadcast carries.
#[derive(Clone)]
struct Broadcast {
    block: Arc<SharedBlock>,
    growable: bool,
    number: f64,
    received: Sender<()>,
}

/// What the agents of a test share.
struct Cluster {
    reports: Mutex<VecDeque<String>>,
    started: Instant,
    cancel: CancelToken,
    deadline: Option<Instant>,
}

/// What this thread is to the running test.
enum Role {
    Main { cluster: Arc<Cluster>, agents: Vec<Sender<Broadcast>> },
    Agent { cluster: Arc<Cluster>, callback: Option<Persistent> },
}

thread_local! {
    static ROLE: RefCell<Option<Role>> = const { RefCell::new(None) };
}

/// Makes this thread the main agent of a new test, and ends the agents of the last one.
pub(super) fn begin_test(vm: &Vm) {
    end_test();
    let cluster = Cluster {
        reports: Mutex::default(),
        started: Instant::now(),
        cancel: CancelToken::new(),
        deadline: vm.metering.deadline,
    };
    ROLE.set(Some(Role::Main { cluster: Arc::new(cluster), agents: Vec::new() }));
}

/// Ends the agents of the test.
pub(super) fn end_test() {
    if let Some(Role::Main { cluster, .. }) = ROLE.take() {
        cluster.cancel.cancel();
    }
}

/// The methods of `$262.agent`, for main agents and others alike.
pub(super) static AGENT: &[PropertySpec] = &[
    method("broadcast", 2, broadcast),
    method("getReport", 0, get_report),
    method("leaving", 0, |_, _| Ok(Value::UNDEFINED)),
    method("monotonicNow", 0, monotonic_now),
    method("receiveBroadcast", 1, receive_broadcast),
    method("report", 1, report),
    method("sleep", 1, sleep),
    method("start", 1, start),
];

fn cluster(vm: &mut Vm) -> JsResult<Arc<Cluster>> {
    let found = ROLE.with_borrow(|role| match role {
        Some(Role::Main { cluster, .. } | Role::Agent { cluster, .. }) => Some(cluster.clone()),
        None => None,
    });
    found.ok_or_else(|| vm.throw_type_error("there are no agents here"))
}

fn start(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let source = vm.to_rust_string(args.get(0))?;
    let cluster = cluster(vm)?;
    let (sender, receiver) = mpsc::channel();
    let builder = thread::Builder::new().stack_size(TEST262_STACK_BYTES);
    if let Err(error) = builder.spawn(move || run_agent(cluster, &source, &receiver)) {
        return Err(vm.throw_type_error(&format!("cannot start an agent: {error}")));
    }
    ROLE.with_borrow_mut(|role| {
        if let Some(Role::Main { agents, .. }) = role {
            agents.push(sender);
        }
    });
    Ok(Value::UNDEFINED)
}

/// The life of an agent: its script, then one broadcast, then its jobs.
fn run_agent(cluster: Arc<Cluster>, source: &str, broadcasts: &Receiver<Broadcast>) {
    let options = cynic_engine::vm::Options {
        hardened: false,
        allow_eval: true,
        heap_bytes_max: TEST262_HEAP_BYTES_MAX,
        ..Default::default()
    };
    let mut vm = Vm::new(options);
    vm.metering.deadline = cluster.deadline;
    vm.metering.cancel = Some(cluster.cancel.clone());
    cynic::host::install(&mut vm, Box::new(super::evaluate::Silent), Styles::Plain);
    vm.install_globals(super::host::GLOBALS);
    ROLE.set(Some(Role::Agent { cluster: cluster.clone(), callback: None }));
    let outcome = vm.evaluate_script("agent", source);
    let outcome =
        outcome.and_then(|_| receive(&mut vm, &cluster, broadcasts)).and_then(|()| finish_jobs(&mut vm));
    if outcome.is_err() {
        let (name, message) = super::evaluate::describe(&mut vm);
        push_report(&cluster, format!("agent failed: {name}: {message}"));
    }
    // The callback's root must go before its isolate.
    ROLE.set(None);
}

/// Runs jobs until neither jobs nor asynchronous waits are left.
fn finish_jobs(vm: &mut Vm) -> JsResult<()> {
    loop {
        vm.run_jobs()?;
        if vm.settle_async_waiters()? {
            continue;
        }
        if !vm.has_async_waiters() {
            return Ok(());
        }
        vm.poll_slow(1)?;
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits for a broadcast, if the agent has asked for one, and hands it over.
fn receive(vm: &mut Vm, cluster: &Cluster, broadcasts: &Receiver<Broadcast>) -> JsResult<()> {
    /// How often a waiting agent looks whether the test is over.
    const SLICE: Duration = Duration::from_millis(20);
    let callback = ROLE.with_borrow_mut(|role| match role {
        Some(Role::Agent { callback, .. }) => callback.take(),
        _ => None,
    });
    let Some(callback) = callback else { return vm.run_jobs() };
    loop {
        match broadcasts.recv_timeout(SLICE) {
            Ok(Broadcast { block, growable, number, received }) => {
                let buffer = vm.new_shared_array_buffer(block, growable)?;
                // The sender may be gone already; then nobody waits.
                let _ignored = received.send(());
                let arguments = [Value::object(buffer), Value::number(number)];
                vm.call(callback.get(), Value::UNDEFINED, &arguments)?;
                return Ok(());
            }
            Err(mpsc::RecvTimeoutError::Timeout) if !cluster.cancel.is_cancelled() => vm.poll_slow(1)?,
            Err(_) => return Ok(()),
        }
    }
}

fn broadcast(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    /// How long an agent may take to reach its `receiveBroadcast`.
    const PATIENCE: Duration = Duration::from_secs(10);
    let shared = args.get(0).as_object().and_then(|buffer| vm.shared_block(buffer));
    let Some((block, growable)) = shared else {
        return Err(vm.throw_type_error("broadcast needs a SharedArrayBuffer"));
    };
    let number = vm.to_number(args.get(1))?;
    let (received, confirmations) = mpsc::channel();
    let message = Broadcast { block, growable, number, received };
    let sent = ROLE.with_borrow(|role| match role {
        Some(Role::Main { agents, .. }) => {
            agents.iter().filter(|agent| agent.send(message.clone()).is_ok()).count()
        }
        _ => 0,
    });
    for _ in 0..sent {
        if confirmations.recv_timeout(PATIENCE).is_err() {
            break;
        }
    }
    Ok(Value::UNDEFINED)
}

fn receive_broadcast(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let root = Persistent::new(&vm.heap, args.get(0));
    ROLE.with_borrow_mut(|role| {
        if let Some(Role::Agent { callback, .. }) = role {
            *callback = Some(root);
        }
    });
    Ok(Value::UNDEFINED)
}

fn push_report(cluster: &Cluster, text: String) {
    cluster.reports.lock().unwrap_or_else(PoisonError::into_inner).push_back(text);
}

fn report(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let text = vm.to_rust_string(args.get(0))?;
    push_report(&*cluster(vm)?, text);
    Ok(Value::UNDEFINED)
}

fn get_report(vm: &mut Vm, _args: CallArgs) -> JsResult<Value> {
    let cluster = cluster(vm)?;
    let text = cluster.reports.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    Ok(text.map_or(Value::NULL, |text| Value::string(vm.new_string(&text))))
}

fn sleep(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    /// The longest sleep between two looks at the limits.
    const SLICE_MS: f64 = 50.0;
    let mut left = vm.to_number(args.get(0))?;
    while left > 0.0 {
        let slice = left.min(SLICE_MS);
        thread::sleep(Duration::from_secs_f64(slice / 1000.0));
        left -= slice;
        vm.poll_slow(1)?;
    }
    Ok(Value::UNDEFINED)
}

fn monotonic_now(vm: &mut Vm, _args: CallArgs) -> JsResult<Value> {
    let cluster = cluster(vm)?;
    Ok(Value::number(cluster.started.elapsed().as_secs_f64() * 1000.0))
}

/// The row of `$262` that holds all this.
pub(super) const ROW: PropertySpec =
    data("agent", ValueSpec::Constant(|vm| Value::object(vm.new_host_namespace(AGENT))), attrs::METHOD);
