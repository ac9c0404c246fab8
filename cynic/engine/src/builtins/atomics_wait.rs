//! `Atomics.wait` and `Atomics.notify` (25.4.13, 25.4.15): lists of waiters in the shared block, one per byte.
//! <https://tc39.es/ecma262/#sec-waiterlist-records>
//!
//! States of a waiter: waiting (in a list), notified (taken out by a notifier), timed out (taken out by itself). The list's lock is the critical
//! section of the specification: comparing and entering happen under it, and whoever takes a waiter out decides its state.
//! A thread waits in short slices, so that its limits (deadline, cancellation) end the wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::atomics::{validate_atomic_access, validate_integer_typed_array};
use crate::builtins::promise;
use crate::gc::roots::Persistent;
use crate::object::buffer::SharedBlock;
use crate::object::function::CallArgs;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// How long a thread sleeps before it looks at its limits.
const SLICE: Duration = Duration::from_millis(5);

/// One agent that waits at one place.
#[derive(Default)]
pub struct Waiter {
    notified: AtomicBool,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Waiter {
    /// Whether a notifier has taken it out of its list.
    pub fn is_notified(&self) -> bool {
        self.notified.load(Ordering::Acquire)
    }

    fn notify(&self) {
        let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.notified.store(true, Ordering::Release);
        self.wake.notify_all();
    }

    /// Sleeps until notified, at most for `timeout`.
    fn sleep(&self, timeout: Duration) {
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_notified() {
            drop(self.wake.wait_timeout(guard, timeout));
        }
    }
}

impl SharedBlock {
    /// Enters the list of `at` if `still_equal` says so under its lock.
    pub(super) fn enter(&self, at: usize, still_equal: impl FnOnce() -> bool) -> Option<Arc<Waiter>> {
        let mut lists = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        if !still_equal() {
            return None;
        }
        let waiter = Arc::new(Waiter::default());
        lists.entry(at).or_default().push_back(Arc::clone(&waiter));
        Some(waiter)
    }

    /// Takes a waiter out of its list after a timeout; false if a notifier was faster.
    pub(super) fn leave(&self, at: usize, waiter: &Arc<Waiter>) -> bool {
        let mut lists = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(list) = lists.get_mut(&at) else { return false };
        // Those that leave together do so in the order in which they came: the first is found at once.
        let place = list.iter().position(|other| Arc::ptr_eq(other, waiter));
        let left = place.and_then(|place| list.remove(place)).is_some();
        if list.is_empty() {
            lists.remove(&at);
        }
        left
    }

    /// Wakes the first `count` waiters of `at`.
    fn notify(&self, at: usize, count: f64) -> usize {
        let mut lists = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(list) = lists.get_mut(&at) else { return 0 };
        let count = count.min(list.len() as f64) as usize;
        list.drain(..count).for_each(|waiter| waiter.notify());
        if list.is_empty() {
            lists.remove(&at);
        }
        count
    }
}

/// The arguments of `wait` and `waitAsync` once they are converted.
pub(super) struct WaitRequest {
    pub(super) block: Arc<SharedBlock>,
    pub(super) at: usize,
    /// `None` waits for ever.
    pub(super) timeout: Option<Duration>,
    /// The value is what the guest expects.
    pub(super) waiter: Option<Arc<Waiter>>,
}

/// The steps of DoWait (25.4.3.14) up to the critical section; enters the list if the value is the expected one and the timeout is not 0.
pub(super) fn prepare(vm: &mut Vm, args: &CallArgs, may_block: bool) -> JsResult<WaitRequest> {
    let typed = validate_integer_typed_array(vm, args.get(0), true)?;
    let Some(block) = typed.view.buffer.shared_block() else {
        return Err(vm.throw_type_error("Atomics.wait needs a typed array over a SharedArrayBuffer"));
    };
    let at = validate_atomic_access(vm, &typed, args.get(1))?;
    let expected = if typed.element().is_bigint() {
        typed.element().to_bits(vm, args.get(2))?
    } else {
        u64::from(vm.to_int32(args.get(2))? as u32)
    };
    let timeout = vm.to_number(args.get(3))?;
    let timeout = match timeout {
        ms if ms.is_nan() || ms == f64::INFINITY => None,
        ms if ms <= 0.0 => Some(Duration::ZERO),
        ms => Duration::try_from_secs_f64(ms / 1000.0).ok(),
    };
    if may_block && !vm.can_block {
        return Err(vm.throw_type_error("Atomics.wait cannot be called in this agent"));
    }
    let (buffer, size) = (typed.view.buffer, typed.element().size());
    let waiter = block.enter(at, || buffer.atomic_load(at, size) == expected);
    Ok(WaitRequest { block, at, timeout, waiter })
}

/// 25.4.13
pub(super) fn wait(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let request = prepare(vm, &args, true)?;
    let Some(waiter) = &request.waiter else { return Ok(text(vm, "not-equal")) };
    if let Some(timeout) = request.timeout
        && vm.host_wait(timeout)
    {
        let timed_out = request.block.leave(request.at, waiter);
        return Ok(text(vm, if timed_out { "timed-out" } else { "ok" }));
    }
    let deadline = request.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    loop {
        if waiter.is_notified() {
            return Ok(text(vm, "ok"));
        }
        let left = deadline.map_or(SLICE, |deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            let timed_out = request.block.leave(request.at, waiter);
            return Ok(text(vm, if timed_out { "timed-out" } else { "ok" }));
        }
        waiter.sleep(left.min(SLICE));
        if let Err(abrupt) = vm.poll_slow(1) {
            request.block.leave(request.at, waiter);
            return Err(abrupt);
        }
    }
}

/// A promise of `Atomics.waitAsync` that has not been settled.
pub struct AsyncWaiter {
    promise: Persistent,
    block: Arc<SharedBlock>,
    at: usize,
    waiter: Arc<Waiter>,
    deadline: Option<Deadline>,
}

/// When a waiter has waited long enough, on the machine's clock or on the isolate's own.
#[derive(Clone, Copy)]
enum Deadline {
    Real(Instant),
    Virtual(i128),
}

impl Deadline {
    fn after(vm: &Vm, timeout: Duration) -> Option<Self> {
        match vm.host_virtual_now() {
            Some(now) => Some(Self::Virtual(now + i128::try_from(timeout.as_nanos()).ok()?)),
            None => Instant::now().checked_add(timeout).map(Self::Real),
        }
    }

    fn left(self, vm: &Vm) -> Duration {
        match self {
            Self::Real(at) => at.saturating_duration_since(Instant::now()),
            Self::Virtual(at) => {
                let left = at - vm.host_virtual_now().unwrap_or(at);
                Duration::from_nanos(u64::try_from(left.max(0)).unwrap_or(u64::MAX))
            }
        }
    }
}

impl Drop for AsyncWaiter {
    fn drop(&mut self) {
        if !self.waiter.is_notified() {
            self.block.leave(self.at, &self.waiter);
        }
    }
}

/// 25.4.14
pub(super) fn wait_async(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let request = prepare(vm, &args, false)?;
    let (is_async, value) = match request.waiter {
        None => (false, text(vm, "not-equal")),
        Some(waiter) if request.timeout == Some(Duration::ZERO) => {
            request.block.leave(request.at, &waiter);
            (false, text(vm, "timed-out"))
        }
        Some(waiter) => {
            if vm.async_waiters.len() >= crate::limits::ASYNC_WAITERS_MAX {
                request.block.leave(request.at, &waiter);
                return Err(vm.throw_range_error("too many waiters"));
            }
            let promise = Value::object(promise::new_promise(vm));
            let deadline = request.timeout.and_then(|timeout| Deadline::after(vm, timeout));
            let promise_root = Persistent::new(&vm.heap, promise);
            let (block, at) = (request.block, request.at);
            vm.async_waiters.push(AsyncWaiter { promise: promise_root, block, at, waiter, deadline });
            (true, promise)
        }
    };
    let result = vm.new_object();
    vm.create_data_property_or_throw(result, crate::atoms::ASYNC, Value::bool(is_async))?;
    vm.create_data_property_or_throw(result, crate::atoms::VALUE, value)?;
    Ok(Value::object(result))
}

impl Vm {
    /// Whether promises of `Atomics.waitAsync` are pending: then the host looks at [`Vm::settle_async_waiters`] now and then.
    pub fn has_async_waiters(&self) -> bool {
        !self.async_waiters.is_empty()
    }

    /// How long the host may wait before it looks at the promises of `Atomics.waitAsync` again if nobody notifies: exact on a virtual
    /// clock; `None` if none of them has a timeout.
    pub fn next_async_waiter(&self) -> Option<Duration> {
        self.async_waiters.iter().filter_map(|pending| Some(pending.deadline?.left(self))).min()
    }

    /// Settles the promises of `Atomics.waitAsync` whose waiters were notified or have timed out; true if there was one.
    pub fn settle_async_waiters(&mut self) -> JsResult<bool> {
        let mut waiters = std::mem::take(&mut self.async_waiters);
        let is_due = |pending: &mut AsyncWaiter| {
            pending.waiter.is_notified()
                || pending.deadline.is_some_and(|deadline| deadline.left(self).is_zero())
        };
        let due: Vec<AsyncWaiter> = waiters.extract_if(.., is_due).collect();
        self.async_waiters = waiters;
        let settled = !due.is_empty();
        for pending in due {
            let notified = pending.waiter.is_notified();
            let timed_out = !notified && pending.block.leave(pending.at, &pending.waiter);
            // It is in no list any more, whoever took it out.
            pending.waiter.notified.store(true, Ordering::Release);
            let outcome = text(self, if timed_out { "timed-out" } else { "ok" });
            if let Some(promise) = pending.promise.get().as_object() {
                promise::resolve_promise(self, promise, outcome)?;
            }
        }
        Ok(settled)
    }
}

pub(super) fn text(vm: &mut Vm, s: &'static str) -> Value {
    Value::string(vm.intern_str(s))
}

/// 25.4.15
pub(super) fn notify(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let typed = validate_integer_typed_array(vm, args.get(0), true)?;
    let at = validate_atomic_access(vm, &typed, args.get(1))?;
    let count = match args.get(2) {
        v if v.is_undefined() => f64::INFINITY,
        v => vm.to_integer_or_infinity(v)?.max(0.0),
    };
    let Some(block) = typed.view.buffer.shared_block() else { return Ok(Value::int32(0)) };
    Ok(Value::int32(block.notify(at, count) as i32))
}
