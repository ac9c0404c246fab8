//! `Iterator.zip` and `Iterator.zipKeyed` (joint iteration): several iterators walked in step.
//! <https://tc39.es/proposal-joint-iteration/>
//!
//! Invariant: `open` says which iterators must still be closed; they are closed in reverse order.

use std::cell::{Cell, RefCell};

use super::helper::{Kind, create};
use crate::gc::{RootedVec, Trace, Tracer};
use crate::object::Object;
use crate::object::function::CallArgs;
use crate::ops::IteratorRecord;
use crate::property_key::PropertyKey;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Mode {
    Shortest,
    Longest,
    Strict,
}

/// The state of a zip helper.
pub(super) struct Zip {
    mode: Mode,
    iterators: RefCell<Vec<IteratorRecord>>,
    open: RefCell<Vec<bool>>,
    padding: Vec<Value>,
    /// Property keys of the results; None for arrays.
    keys: Option<Vec<PropertyKey>>,
    done: Cell<bool>,
}

impl Trace for Zip {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        for r in self.iterators.borrow().iter() {
            tracer.cell(r.iterator);
            tracer.value(r.next_method);
        }
        tracer.values(&self.padding);
        for &k in self.keys.iter().flatten() {
            tracer.key(k);
        }
    }
}

impl Zip {
    /// Bytes of the lists.
    pub(super) fn list_bytes(&self) -> usize {
        let iterators = self.iterators.borrow().len();
        let keys = self.keys.as_ref().map_or(0, Vec::len);
        iterators * (size_of::<IteratorRecord>() + 1) + (self.padding.len() + keys) * size_of::<Value>()
    }

    /// IteratorCloseAll over what is open.
    pub(super) fn close_all<T>(&self, vm: &mut Vm, completion: JsResult<T>, _unstarted: bool) -> JsResult<T> {
        let mut completion = completion;
        let n = self.open.borrow().len();
        for i in (0..n).rev() {
            if std::mem::replace(&mut self.open.borrow_mut()[i], false) {
                let record = self.iterators.borrow()[i];
                completion = vm.iterator_close(&record, completion);
            }
        }
        completion
    }

    fn pull(&self, vm: &mut Vm, i: usize) -> JsResult<Option<Value>> {
        let mut record = self.iterators.borrow()[i];
        let result = vm.iterator_step_value(&mut record);
        if !matches!(result, Ok(Some(_))) {
            self.open.borrow_mut()[i] = false;
        }
        result
    }

    fn is_open(&self, i: usize) -> bool {
        self.open.borrow()[i]
    }

    /// One row, or None when done.
    pub(super) fn step(&self, vm: &mut Vm) -> JsResult<Option<Value>> {
        let n = self.open.borrow().len();
        if n == 0 || self.done.get() {
            return Ok(None);
        }
        let mut row = vm.scratch();
        for i in 0..n {
            let v = if self.is_open(i) {
                match self.pull(vm, i) {
                    Ok(Some(v)) => v,
                    Ok(None) => match self.exhausted(vm, i)? {
                        Some(padding) => padding,
                        None => return Ok(None),
                    },
                    Err(e) => return self.close_all(vm, Err(e), false),
                }
            } else {
                self.padding.get(i).copied().unwrap_or(Value::UNDEFINED)
            };
            row.push(v);
        }
        self.finish_row(vm, &row).map(Some)
    }

    /// What happens when iterator `i` ends: its padding, or None when all of it ends.
    fn exhausted(&self, vm: &mut Vm, i: usize) -> JsResult<Option<Value>> {
        match self.mode {
            Mode::Shortest => {
                self.done.set(true);
                self.close_all(vm, Ok(None), false)
            }
            Mode::Strict => {
                self.done.set(true);
                self.check_all_exhausted(vm, i)?;
                Ok(None)
            }
            Mode::Longest if !self.open.borrow().contains(&true) => {
                self.done.set(true);
                Ok(None)
            }
            Mode::Longest => Ok(Some(self.padding.get(i).copied().unwrap_or(Value::UNDEFINED))),
        }
    }

    fn check_all_exhausted(&self, vm: &mut Vm, i: usize) -> JsResult<()> {
        if i != 0 {
            let error = vm.throw_type_error("the iterators have different lengths");
            return self.close_all(vm, Err(error), false);
        }
        let n = self.open.borrow().len();
        for k in 1..n {
            let mut record = self.iterators.borrow()[k];
            match vm.iterator_step(&mut record) {
                Ok(None) => self.open.borrow_mut()[k] = false,
                Ok(Some(_)) => {
                    let error = vm.throw_type_error("the iterators have different lengths");
                    return self.close_all(vm, Err(error), false);
                }
                Err(e) => {
                    self.open.borrow_mut()[k] = false;
                    return self.close_all(vm, Err(e), false);
                }
            }
        }
        Ok(())
    }

    fn finish_row(&self, vm: &mut Vm, row: &RootedVec) -> JsResult<Value> {
        let Some(keys) = &self.keys else { return Ok(Value::object(vm.new_array_from(row)?)) };
        let o = vm.new_object_with(Value::NULL);
        for (&key, &v) in keys.iter().zip(row.iter()) {
            vm.create_data_property_or_throw(o, key, v)?;
        }
        Ok(Value::object(o))
    }
}

/// The iterators opened so far, rooted: pairs of iterator and `next`.
struct Opened(RootedVec);

impl Opened {
    fn push(&mut self, record: IteratorRecord) {
        self.0.push(Value::object(record.iterator));
        self.0.push(record.next_method);
    }

    fn records(&self) -> Vec<IteratorRecord> {
        let record = |pair: &[Value]| {
            let iterator = pair[0].as_object()?;
            Some(IteratorRecord { iterator, next_method: pair[1], done: false })
        };
        self.0.chunks_exact(2).filter_map(record).collect()
    }

    /// IfAbruptCloseIterators.
    fn close_if_abrupt<T>(&self, vm: &mut Vm, result: JsResult<T>) -> JsResult<T> {
        let Err(e) = result else { return result };
        let mut completion = Err(e);
        for record in self.records().iter().rev() {
            completion = vm.iterator_close(record, completion);
        }
        completion
    }
}

/// The options of both functions: mode and padding.
fn read_options(vm: &mut Vm, options: Value) -> JsResult<(Mode, Value)> {
    if options.is_undefined() {
        return Ok((Mode::Shortest, Value::UNDEFINED));
    }
    let Some(o) = options.as_object() else {
        return Err(vm.throw_type_error("the options must be an object"));
    };
    let key = vm.key_from_str("mode");
    let mode = vm.get(o, key)?;
    let mode = match mode.as_string().map(|s| s.text(vm)).transpose()?.as_deref() {
        _ if mode.is_undefined() => Mode::Shortest,
        Some("shortest") => Mode::Shortest,
        Some("longest") => Mode::Longest,
        Some("strict") => Mode::Strict,
        _ => return Err(vm.throw_type_error("mode must be \"shortest\", \"longest\" or \"strict\"")),
    };
    let mut padding = Value::UNDEFINED;
    if mode == Mode::Longest {
        let key = vm.key_from_str("padding");
        padding = vm.get(o, key)?;
        if !padding.is_undefined() && !padding.is_object() {
            return Err(vm.throw_type_error("padding must be an object"));
        }
    }
    Ok((mode, padding))
}

fn iterables_argument(vm: &mut Vm, v: Value) -> JsResult<Object> {
    match v.as_object() {
        Some(o) => Ok(o),
        None => Err(vm.throw_type_error("the iterables must be an object")),
    }
}

fn make(
    vm: &mut Vm,
    mode: Mode,
    opened: &Opened,
    padding: &RootedVec,
    keys: Option<&RootedVec<PropertyKey>>,
) -> Value {
    let iterators = opened.records();
    let zip = Zip {
        mode,
        open: RefCell::new(vec![true; iterators.len()]),
        iterators: RefCell::new(iterators),
        padding: padding.to_vec(),
        keys: keys.map(|keys| keys.to_vec()),
        done: Cell::new(false),
    };
    create(vm, Kind::Zip(zip), None, Value::UNDEFINED)
}

/// `Iterator.zip(iterables, options)`
pub(super) fn zip(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let iterables = iterables_argument(vm, args.get(0))?;
    let (mode, padding_option) = read_options(vm, args.get(1))?;
    let mut opened = Opened(vm.scratch());
    let mut input = vm.get_iterator(Value::object(iterables))?;
    loop {
        let next = vm.iterator_step_value(&mut input);
        let Some(v) = opened.close_if_abrupt(vm, next)? else { break };
        let record = vm.get_iterator_flattenable(v, false);
        let record = match record {
            Ok(r) => r,
            Err(e) => {
                let closed = opened.close_if_abrupt(vm, Err(e));
                return vm.iterator_close(&input, closed);
            }
        };
        opened.push(record);
    }
    let mut padding = vm.scratch();
    if mode == Mode::Longest && !padding_option.is_undefined() {
        let n = opened.records().len();
        let result = read_padding(vm, padding_option, n, &mut padding);
        opened.close_if_abrupt(vm, result)?;
    }
    Ok(make(vm, mode, &opened, &padding, None))
}

fn read_padding(vm: &mut Vm, option: Value, n: usize, padding: &mut RootedVec) -> JsResult<()> {
    let mut record = vm.get_iterator(option)?;
    for _ in 0..n {
        match vm.iterator_step_value(&mut record)? {
            Some(v) => padding.push(v),
            None => return Ok(()),
        }
    }
    vm.iterator_close(&record, Ok(()))
}

/// `Iterator.zipKeyed(iterables, options)`
pub(super) fn zip_keyed(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let iterables = iterables_argument(vm, args.get(0))?;
    let (mode, padding_option) = read_options(vm, args.get(1))?;
    let mut opened = Opened(vm.scratch());
    let all = vm.own_property_keys(iterables)?;
    let mut keys: RootedVec<PropertyKey> = RootedVec::new(&vm.heap);
    for &key in all.iter() {
        let result = open_keyed(vm, iterables, key);
        if let Some(record) = opened.close_if_abrupt(vm, result)? {
            keys.push(key);
            opened.push(record);
        }
    }
    let mut padding = vm.scratch();
    if mode == Mode::Longest
        && let Some(o) = padding_option.as_object()
    {
        for &key in keys.iter() {
            let v = vm.get(o, key);
            let v = opened.close_if_abrupt(vm, v)?;
            padding.push(v);
        }
    }
    Ok(make(vm, mode, &opened, &padding, Some(&keys)))
}

fn open_keyed(vm: &mut Vm, iterables: Object, key: PropertyKey) -> JsResult<Option<IteratorRecord>> {
    let Some(p) = vm.get_own_property(iterables, key)? else { return Ok(None) };
    if !p.is_enumerable() {
        return Ok(None);
    }
    let v = vm.get(iterables, key)?;
    if v.is_undefined() {
        return Ok(None);
    }
    vm.get_iterator_flattenable(v, false).map(Some)
}
