//! `setTimeout`, `setInterval` and their clearing. The embedder decides when timers run.
//!
//! Due times are on the isolate's clock; of two timers due at once the one set first runs first. Delays below one millisecond
//! count as one, as in node. Callbacks and arguments are rooted while they wait.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use cynic_engine::gc::Persistent;
use cynic_engine::object::function::CallArgs;
use cynic_engine::value::Value;
use cynic_engine::vm::{JsResult, Vm};

use crate::{Error, Isolate};

use crate::host::limits::TIMERS_MAX;
use crate::host::state::state;

/// The longest delay, 2^31 - 1 milliseconds; longer ones count as one millisecond, as in node.
const DELAY_MS_MAX: f64 = 2_147_483_647.0;

struct Timer {
    callback: Persistent,
    /// An array: what a guest passes lies on its own heap, where the limit sees it.
    arguments: Persistent,
    interval_ns: Option<i128>,
}

/// The timers that wait, by due time and number.
#[derive(Default)]
pub(crate) struct Timers {
    waiting: BTreeMap<(i128, u64), Timer>,
    /// When each is due, by number.
    due: HashMap<u64, i128>,
    /// Wide enough that no guest can make a new timer take the number of one that waits.
    next_number: u64,
}

impl Timers {
    fn insert(&mut self, due: i128, number: u64, timer: Timer) {
        self.due.insert(number, due);
        self.waiting.insert((due, number), timer);
    }

    /// The first timer, if it is due.
    fn take_due(&mut self, now: i128) -> Option<(u64, Timer)> {
        let first = self.waiting.first_entry().filter(|first| first.key().0 <= now)?;
        let ((_, number), timer) = first.remove_entry();
        self.due.remove(&number);
        Some((number, timer))
    }

    fn clear(&mut self, number: u64) {
        if let Some(due) = self.due.remove(&number) {
            self.waiting.remove(&(due, number));
        }
    }
}

pub(crate) fn set_timeout(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    set(vm, args, false)
}

pub(crate) fn set_interval(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    set(vm, args, true)
}

fn set(vm: &mut Vm, args: CallArgs, repeats: bool) -> JsResult<Value> {
    let callback = args.get(0);
    if !callback.as_object().is_some_and(|callback| callback.is_callable()) {
        return Err(vm.throw_type_error("the callback of a timer must be a function"));
    }
    let delay = vm.to_number(args.get(1))?;
    let delay_ms = if (1.0..=DELAY_MS_MAX).contains(&delay) { delay.trunc() } else { 1.0 };
    start(vm, args, delay_ms as i128 * 1_000_000, repeats)
}

/// Calls a function when the jobs have run, after what was posted before: a task of the host's own.
pub(crate) fn post_task(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    start(vm, args, 0, false)
}

fn start(vm: &mut Vm, args: CallArgs, delay_ns: i128, repeats: bool) -> JsResult<Value> {
    let callback = args.get(0);
    let due = vm.host_now_nanoseconds()? + delay_ns;
    let callback = Persistent::new(&vm.heap, callback);
    let arguments = vm.new_array_from(args.rest(2))?;
    let arguments = Persistent::new(&vm.heap, Value::object(arguments));
    let Some(state) = state(vm) else { return Err(vm.throw_type_error("this isolate has no timers")) };
    let timers = &mut state.timers;
    if timers.waiting.len() >= TIMERS_MAX {
        return Err(vm.throw_range_error("too many timers"));
    }
    timers.next_number += 1;
    let number = timers.next_number;
    timers.insert(due, number, Timer { callback, arguments, interval_ns: repeats.then_some(delay_ns) });
    Ok(Value::number(number as f64))
}

pub(crate) fn clear(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if let (Some(number), Some(state)) = (args.get(0).as_number(), state(vm)) {
        state.timers.clear(number as u64);
    }
    Ok(Value::UNDEFINED)
}

/// How long until the next timer is due; `None` if none waits.
pub fn next_due(isolate: &mut Isolate) -> Result<Option<Duration>, Error> {
    let due = next_due_in(isolate.vm());
    isolate.check(due)
}

/// Runs the first timer that is due; false if none is. Jobs are the caller's to run.
pub fn run_due(isolate: &mut Isolate) -> Result<bool, Error> {
    let ran = run_due_in(isolate.vm());
    isolate.check(ran)
}

fn next_due_in(vm: &mut Vm) -> JsResult<Option<Duration>> {
    let now = vm.host_now_nanoseconds()?;
    let Some(state) = state(vm) else { return Ok(None) };
    let first = state.timers.waiting.keys().next();
    Ok(first.map(|(due, _)| Duration::from_nanos(u64::try_from(due - now).unwrap_or(0))))
}

fn run_due_in(vm: &mut Vm) -> JsResult<bool> {
    let now = vm.host_now_nanoseconds()?;
    let Some(state) = state(vm) else { return Ok(false) };
    let Some((number, timer)) = state.timers.take_due(now) else { return Ok(false) };
    let callback = timer.callback.get();
    let arguments = vm.create_list_from_array_like(timer.arguments.get())?;
    if let (Some(interval), Some(state)) = (timer.interval_ns, crate::host::state::state(vm)) {
        state.timers.insert(now + interval, number, timer);
    }
    vm.call(callback, Value::UNDEFINED, &arguments)?;
    Ok(true)
}
