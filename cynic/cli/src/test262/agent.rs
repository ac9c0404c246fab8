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
use cynic::{CancelToken, Engine, Error, Handle, HostError, Isolate, Limits, Realm, SharedMemory};

use crate::limits::{TEST262_HEAP_BYTES_MAX, TEST262_STACK_BYTES};

type Result<T = ()> = std::result::Result<T, Error>;

/// What a broadcast carries.
#[derive(Clone)]
struct Broadcast {
    memory: SharedMemory,
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
    Agent { cluster: Arc<Cluster>, callback: Option<Handle> },
}

thread_local! {
    static ROLE: RefCell<Option<Role>> = const { RefCell::new(None) };
}

/// Makes this thread the main agent of a new test, and ends the agents of the last one.
pub(super) fn begin_test(isolate: &Isolate) {
    end_test();
    let cluster = Cluster {
        reports: Mutex::default(),
        started: Instant::now(),
        cancel: CancelToken::new(),
        deadline: isolate.deadline(),
    };
    ROLE.set(Some(Role::Main { cluster: Arc::new(cluster), agents: Vec::new() }));
}

/// Ends the agents of the test.
pub(super) fn end_test() {
    if let Some(Role::Main { cluster, .. }) = ROLE.take() {
        cluster.cancel.cancel();
    }
}

/// Defines `agent` on `$262`, for main agents and others alike.
pub(super) fn install(realm: &mut Realm<'_>, host: &Handle) -> Result {
    let agent = realm.new_object();
    let methods = [
        realm.function("broadcast", broadcast),
        realm.function("getReport", get_report),
        realm.function("leaving", || ()),
        realm.function("monotonicNow", monotonic_now),
        realm.function("receiveBroadcast", receive_broadcast),
        realm.function("report", report),
        realm.function("sleep", sleep),
        realm.function("start", start),
    ];
    for method in methods {
        let name: String = realm.get(&method, "name")?.to(realm)?;
        realm.set(&agent, &name, method)?;
    }
    realm.set(host, "agent", agent)
}

fn cluster() -> Result<Arc<Cluster>> {
    let found = ROLE.with_borrow(|role| match role {
        Some(Role::Main { cluster, .. } | Role::Agent { cluster, .. }) => Some(cluster.clone()),
        None => None,
    });
    found.ok_or_else(|| HostError::Conversion("there are no agents here".into()).into())
}

fn start(realm: &mut Realm<'_>, source: Handle) -> Result {
    let source = realm.to_text(&source)?;
    let cluster = cluster()?;
    let (sender, receiver) = mpsc::channel();
    let builder = thread::Builder::new().stack_size(TEST262_STACK_BYTES);
    if let Err(error) = builder.spawn(move || run_agent(cluster, &source, &receiver)) {
        return Err(HostError::Conversion(format!("cannot start an agent: {error}")).into());
    }
    ROLE.with_borrow_mut(|role| {
        if let Some(Role::Main { agents, .. }) = role {
            agents.push(sender);
        }
    });
    Ok(())
}

/// The life of an agent: its script, then one broadcast, then its jobs.
fn run_agent(cluster: Arc<Cluster>, source: &str, broadcasts: &Receiver<Broadcast>) {
    let limits = Limits { heap_bytes: TEST262_HEAP_BYTES_MAX, ..Limits::default() };
    let mut isolate = Engine::new().unhardened().allow_eval().isolate(limits);
    isolate.set_deadline(cluster.deadline);
    isolate.set_cancel_token(cluster.cancel.clone());
    cynic::host::install(&mut isolate, Box::new(super::evaluate::Silent), Styles::Plain);
    ROLE.set(Some(Role::Agent { cluster: cluster.clone(), callback: None }));
    let outcome = super::host::install(&mut isolate.realm());
    let outcome = outcome.and_then(|()| isolate.realm().execute("agent", source));
    let outcome = outcome.and_then(|()| receive(&mut isolate, &cluster, broadcasts));
    if let Err(error) = outcome.and_then(|()| finish_jobs(&mut isolate)) {
        push_report(&cluster, format!("agent failed: {error}"));
    }
    ROLE.set(None);
}

/// Runs jobs until neither jobs nor asynchronous waits are left.
fn finish_jobs(isolate: &mut Isolate) -> Result {
    loop {
        isolate.run_jobs()?;
        if isolate.settle_async_waiters()? {
            continue;
        }
        if !isolate.has_async_waiters() {
            return Ok(());
        }
        isolate.poll()?;
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits for a broadcast, if the agent has asked for one, and hands it over.
fn receive(isolate: &mut Isolate, cluster: &Cluster, broadcasts: &Receiver<Broadcast>) -> Result {
    /// How often a waiting agent looks whether the test is over.
    const SLICE: Duration = Duration::from_millis(20);
    let callback = ROLE.with_borrow_mut(|role| match role {
        Some(Role::Agent { callback, .. }) => callback.take(),
        _ => None,
    });
    let Some(callback) = callback else { return isolate.run_jobs() };
    loop {
        match broadcasts.recv_timeout(SLICE) {
            Ok(Broadcast { memory, number, received }) => {
                let mut realm = isolate.realm();
                let buffer = realm.shared_array_buffer(&memory)?;
                // The sender may be gone already; then nobody waits.
                let _ignored = received.send(());
                let number = realm.value(number)?;
                return realm.call(&callback, &[buffer, number]).map(drop);
            }
            Err(mpsc::RecvTimeoutError::Timeout) if !cluster.cancel.is_cancelled() => isolate.poll()?,
            Err(_) => return Ok(()),
        }
    }
}

fn broadcast(realm: &mut Realm<'_>, buffer: Handle, number: Option<f64>) -> Result {
    /// How long an agent may take to reach its `receiveBroadcast`.
    const PATIENCE: Duration = Duration::from_secs(10);
    let Some(memory) = realm.shared_memory(&buffer)? else {
        return Err(HostError::Conversion("broadcast needs a SharedArrayBuffer".into()).into());
    };
    let (received, confirmations) = mpsc::channel();
    let message = Broadcast { memory, number: number.unwrap_or(f64::NAN), received };
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
    Ok(())
}

fn receive_broadcast(function: Handle) {
    ROLE.with_borrow_mut(|role| {
        if let Some(Role::Agent { callback, .. }) = role {
            *callback = Some(function);
        }
    });
}

fn push_report(cluster: &Cluster, text: String) {
    cluster.reports.lock().unwrap_or_else(PoisonError::into_inner).push_back(text);
}

fn report(realm: &mut Realm<'_>, text: Handle) -> Result {
    let text = realm.to_text(&text)?;
    push_report(&*cluster()?, text);
    Ok(())
}

/// The next report, or null.
fn get_report(realm: &mut Realm<'_>) -> Result<Handle> {
    let text = cluster()?.reports.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    match text {
        Some(text) => realm.value(text),
        None => realm.parse_json("null"),
    }
}

fn sleep(realm: &mut Realm<'_>, time: f64) -> Result {
    /// The longest sleep between two looks at the limits.
    const SLICE_MS: f64 = 50.0;
    let mut left = time;
    while left > 0.0 {
        let slice = left.min(SLICE_MS);
        thread::sleep(Duration::from_secs_f64(slice / 1000.0));
        left -= slice;
        realm.poll()?;
    }
    Ok(())
}

fn monotonic_now() -> Result<f64> {
    Ok(cluster()?.started.elapsed().as_secs_f64() * 1000.0)
}
