//! Iterator helper objects (27.1.2.1): the lazy methods as resumable state machines.
//! <https://tc39.es/ecma262/#sec-iterator-helper-objects>
//!
//! Internal slot 0 holds the `Helper`. The specification describes closures run as generators; here each kind is one
//! step function. Invariant: while a step runs the state is `Running`, so that re-entry is a TypeError.

use std::cell::{Cell, RefCell};

use super::chunking;
use super::zip::Zip;
use super::{callback, this_iterator, unopened};
use crate::gc::{Data, ExternalCharge, Gc, Trace, Tracer};
use crate::limits;
use crate::object::function::CallArgs;
use crate::object::{Object, ObjectKind};
use crate::ops::IteratorRecord;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, method, to_string_tag};
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %IteratorHelperPrototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::IteratorPrototype),
    properties: &[method("next", 0, next), method("return", 0, return_), to_string_tag("Iterator Helper")],
};

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum State {
    /// `next` was never called.
    Start,
    Suspended,
    Running,
    Completed,
}

/// What the helper does with the values of its underlying iterators.
pub(super) enum Kind {
    Map,
    Filter,
    Take(Cell<f64>),
    Drop(Cell<f64>),
    FlatMap(Cell<Option<IteratorRecord>>),
    /// The iterables still to come with their methods, the next one last; and the one that is open.
    Concat(RefCell<Vec<(Value, Value)>>, Cell<Option<IteratorRecord>>),
    Zip(Zip),
    Chunks(u32),
    /// The values of the current window are in an array of the helper's own.
    Windows {
        size: u32,
        allows_partial: bool,
        window: Cell<Option<Object>>,
    },
}

impl Kind {
    /// Bytes of the lists that a helper keeps.
    fn list_bytes(&self) -> usize {
        match self {
            Kind::Concat(rest, _) => rest.borrow().len() * size_of::<(Value, Value)>(),
            Kind::Zip(zip) => zip.list_bytes(),
            _ => 0,
        }
    }
}

/// The state of one helper object.
pub(super) struct Helper {
    kind: Kind,
    underlying: Cell<Option<IteratorRecord>>,
    function: Value,
    counter: Cell<f64>,
    state: Cell<State>,
    /// For lists of iterators.
    _charge: ExternalCharge,
}

fn trace_record(tracer: &mut Tracer<'_>, record: Option<IteratorRecord>) {
    if let Some(r) = record {
        tracer.cell(r.iterator);
        tracer.value(r.next_method);
    }
}

impl Trace for Helper {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        trace_record(tracer, self.underlying.get());
        tracer.value(self.function);
        self.kind.trace(tracer);
    }
}

impl Trace for Kind {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        match self {
            Kind::FlatMap(inner) => trace_record(tracer, inner.get()),
            Kind::Concat(rest, open) => {
                for (iterable, method) in rest.borrow().iter() {
                    tracer.value(*iterable);
                    tracer.value(*method);
                }
                trace_record(tracer, open.get());
            }
            Kind::Zip(zip) => zip.trace(tracer),
            Kind::Windows { window, .. } => {
                if let Some(window) = window.get() {
                    tracer.cell(window);
                }
            }
            _ => {}
        }
    }
}

/// A helper object.
pub(super) fn create(vm: &mut Vm, kind: Kind, underlying: Option<IteratorRecord>, function: Value) -> Value {
    let prototype = Value::object(vm.intrinsic(Intrinsic::IteratorHelperPrototype));
    let o = vm.new_exotic(ObjectKind::IteratorHelper, prototype, 1);
    let charge = ExternalCharge::default();
    let bytes = kind.list_bytes();
    if bytes > limits::UNCHARGED_VALUES_MAX * size_of::<Value>() {
        charge.set_beyond_limit(&vm.heap, bytes);
    }
    let helper = vm.alloc_data(Helper {
        kind,
        underlying: Cell::new(underlying),
        function,
        counter: Cell::new(0.0),
        state: Cell::new(State::Start),
        _charge: charge,
    });
    o.set_slot(0, Value::cell(helper));
    Value::object(o)
}

/// 27.1.4.8
pub(super) fn map(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    with_callback(vm, args, Kind::Map)
}
/// 27.1.4.4
pub(super) fn filter(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    with_callback(vm, args, Kind::Filter)
}
/// 27.1.4.6
pub(super) fn flat_map(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    with_callback(vm, args, Kind::FlatMap(Cell::new(None)))
}

fn with_callback(vm: &mut Vm, args: CallArgs, kind: Kind) -> JsResult<Value> {
    let o = this_iterator(vm, args)?;
    let f = callback(vm, o, args.get(0))?;
    let record = vm.get_iterator_direct(o)?;
    Ok(create(vm, kind, Some(record), f))
}

/// 27.1.4.11
pub(super) fn take(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, limit) = with_limit(vm, args)?;
    let record = vm.get_iterator_direct(o)?;
    Ok(create(vm, Kind::Take(Cell::new(limit)), Some(record), Value::UNDEFINED))
}

/// 27.1.4.2
pub(super) fn drop(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, limit) = with_limit(vm, args)?;
    let record = vm.get_iterator_direct(o)?;
    Ok(create(vm, Kind::Drop(Cell::new(limit)), Some(record), Value::UNDEFINED))
}

fn with_limit(vm: &mut Vm, args: CallArgs) -> JsResult<(Object, f64)> {
    let o = this_iterator(vm, args)?;
    let limit = parse_limit(vm, args.get(0));
    let limit = vm.close_if_abrupt(&unopened(o), limit)?;
    Ok((o, limit))
}

fn parse_limit(vm: &mut Vm, v: Value) -> JsResult<f64> {
    let n = vm.to_number(v)?;
    if n.is_nan() {
        return Err(vm.throw_range_error("the limit must be a number"));
    }
    if n.is_finite() && n > 9_007_199_254_740_991.0 {
        return Err(vm.throw_range_error("the limit is too large"));
    }
    if n.trunc() < 0.0 {
        return Err(vm.throw_range_error("the limit must not be negative"));
    }
    Ok(n.trunc())
}

/// 27.1.3.2.1
pub(super) fn concat(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let mut roots = vm.scratch();
    let mut iterables = Vec::new();
    for &item in args.as_slice() {
        if !item.is_object() {
            return Err(vm.throw_type_error("Iterator.concat: every argument must be an iterable object"));
        }
        let f = vm.get_method(item, symbol::ITERATOR)?;
        if f.is_undefined() {
            return Err(vm.throw_type_error("Iterator.concat: an argument is not iterable"));
        }
        roots.push(f);
        iterables.push((item, f));
    }
    iterables.reverse();
    Ok(create(vm, Kind::Concat(RefCell::new(iterables), Cell::new(None)), None, Value::UNDEFINED))
}

fn this_helper(vm: &mut Vm, args: CallArgs) -> JsResult<Gc<Data<Helper>>> {
    let helper =
        args.this.as_object().filter(|o| o.is(ObjectKind::IteratorHelper)).and_then(|o| o.data::<Helper>(0));
    match helper {
        Some(h) if h.state.get() == State::Running => {
            Err(vm.throw_type_error("the iterator helper is already running"))
        }
        Some(h) => Ok(h),
        None => Err(vm.throw_type_error("not an iterator helper")),
    }
}

/// 27.1.2.1.1
fn next(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let helper = this_helper(vm, args)?;
    if helper.state.get() == State::Completed {
        return Ok(Value::object(vm.create_iter_result_object(Value::UNDEFINED, true)));
    }
    helper.state.set(State::Running);
    let result = step(vm, helper);
    let finished = !matches!(result, Ok(Some(_)));
    helper.state.set(if finished { State::Completed } else { State::Suspended });
    let value = result?;
    Ok(Value::object(vm.create_iter_result_object(value.unwrap_or(Value::UNDEFINED), finished)))
}

/// 27.1.2.1.2
fn return_(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let helper = this_helper(vm, args)?;
    let state = helper.state.get();
    if state != State::Completed {
        // A helper that has started is resumed with a return completion, during which it counts as running.
        let running = state == State::Suspended;
        helper.state.set(if running { State::Running } else { State::Completed });
        let closed = close_all(vm, helper, state == State::Start);
        helper.state.set(State::Completed);
        closed?;
    }
    Ok(Value::object(vm.create_iter_result_object(Value::UNDEFINED, true)))
}

fn close_all(vm: &mut Vm, helper: Gc<Data<Helper>>, unstarted: bool) -> JsResult<()> {
    let outcome = match &helper.kind {
        Kind::FlatMap(inner) if let Some(open) = inner.take() => vm.iterator_close(&open, Ok(())),
        Kind::Concat(rest, open) => {
            rest.borrow_mut().clear();
            match open.take() {
                Some(open) => vm.iterator_close(&open, Ok(())),
                None => Ok(()),
            }
        }
        Kind::Zip(zip) => zip.close_all(vm, Ok(()), unstarted),
        _ => Ok(()),
    };
    match helper.underlying.get() {
        // A helper may still have values when the underlying iterator has ended.
        Some(record) if !record.done => vm.iterator_close(&record, outcome),
        _ => outcome,
    }
}

/// One value, or None when the helper is done.
fn step(vm: &mut Vm, helper: Gc<Data<Helper>>) -> JsResult<Option<Value>> {
    match &helper.kind {
        Kind::Map => step_map(vm, &helper),
        Kind::Filter => step_filter(vm, &helper),
        Kind::Take(left) => step_take(vm, &helper, left),
        Kind::Drop(left) => step_drop(vm, &helper, left),
        Kind::FlatMap(inner) => step_flat_map(vm, &helper, inner),
        Kind::Concat(rest, open) => step_concat(vm, rest, open),
        Kind::Zip(zip) => zip.step(vm),
        Kind::Chunks(size) => chunking::step_chunks(vm, &helper, *size),
        Kind::Windows { size, allows_partial, window } => {
            chunking::step_windows(vm, &helper, *size, *allows_partial, window)
        }
    }
}

impl Helper {
    /// IteratorStepValue of the underlying iterator.
    pub(super) fn pull(&self, vm: &mut Vm) -> JsResult<Option<Value>> {
        let Some(mut record) = self.underlying.get() else { return Ok(None) };
        let result = vm.iterator_step_value(&mut record);
        self.underlying.set(Some(record));
        result
    }

    /// Whether the underlying iterator has ended.
    pub(super) fn is_exhausted(&self) -> bool {
        self.underlying.get().is_some_and(|record| record.done)
    }

    /// Calls the helper's function with a value and the counter, closing the underlying iterator if it throws.
    fn apply(&self, vm: &mut Vm, v: Value) -> JsResult<Value> {
        let counter = self.counter.get();
        self.counter.set(counter + 1.0);
        let result = vm.call(self.function, Value::UNDEFINED, &[v, Value::number(counter)]);
        match self.underlying.get() {
            Some(record) => vm.close_if_abrupt(&record, result),
            None => result,
        }
    }
}

fn step_map(vm: &mut Vm, helper: &Helper) -> JsResult<Option<Value>> {
    match helper.pull(vm)? {
        Some(v) => helper.apply(vm, v).map(Some),
        None => Ok(None),
    }
}

fn step_filter(vm: &mut Vm, helper: &Helper) -> JsResult<Option<Value>> {
    while let Some(v) = helper.pull(vm)? {
        if helper.apply(vm, v)?.to_boolean() {
            return Ok(Some(v));
        }
    }
    Ok(None)
}

fn step_take(vm: &mut Vm, helper: &Helper, left: &Cell<f64>) -> JsResult<Option<Value>> {
    if left.get() <= 0.0 {
        return match helper.underlying.get() {
            Some(record) => vm.iterator_close(&record, Ok(None)),
            None => Ok(None),
        };
    }
    left.set(left.get() - 1.0);
    helper.pull(vm)
}

fn step_drop(vm: &mut Vm, helper: &Helper, left: &Cell<f64>) -> JsResult<Option<Value>> {
    while left.get() > 0.0 {
        left.set(left.get() - 1.0);
        if helper.pull(vm)?.is_none() {
            return Ok(None);
        }
    }
    helper.pull(vm)
}

fn step_flat_map(
    vm: &mut Vm,
    helper: &Helper,
    inner: &Cell<Option<IteratorRecord>>,
) -> JsResult<Option<Value>> {
    loop {
        if let Some(mut open) = inner.get() {
            let result = vm.iterator_step_value(&mut open);
            let value = close_underlying_if_abrupt(vm, helper, result).inspect_err(|_| inner.set(None))?;
            if value.is_some() {
                return Ok(value);
            }
            inner.set(None);
        }
        let Some(v) = helper.pull(vm)? else { return Ok(None) };
        let mapped = helper.apply(vm, v)?;
        let opened = vm.get_iterator_flattenable(mapped, false);
        inner.set(Some(close_underlying_if_abrupt(vm, helper, opened)?));
    }
}

pub(super) fn close_underlying_if_abrupt<T>(
    vm: &mut Vm,
    helper: &Helper,
    result: JsResult<T>,
) -> JsResult<T> {
    match helper.underlying.get() {
        Some(record) => vm.close_if_abrupt(&record, result),
        None => result,
    }
}

fn step_concat(
    vm: &mut Vm,
    rest: &RefCell<Vec<(Value, Value)>>,
    open: &Cell<Option<IteratorRecord>>,
) -> JsResult<Option<Value>> {
    loop {
        if let Some(mut record) = open.get() {
            let value = vm.iterator_step_value(&mut record).inspect_err(|_| open.set(None))?;
            if value.is_some() {
                return Ok(value);
            }
            open.set(None);
        }
        let Some((iterable, f)) = rest.borrow_mut().pop() else { return Ok(None) };
        let iterator = vm.call(f, iterable, &[])?;
        let Some(o) = iterator.as_object() else {
            return Err(vm.throw_type_error("Result of the Symbol.iterator method is not an object"));
        };
        open.set(Some(vm.get_iterator_direct(o)?));
    }
}
