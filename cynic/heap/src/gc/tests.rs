//! The heap against a model of it, with a collector that sees registered roots only: nothing here relies on the native stack, so Miri can
//! interpret it (`cargo xtask miri heap`).
//!
//! Collections are postponed but where a test asks for one.

use std::cell::Cell;
use std::rc::Rc;

use super::native_stack::StackBounds;
use super::{Gc, Persistent, RootedVec, Trace, Tracer, collect, data_of};
use crate::mutator::{Abrupt, Mutator, Owner};
use crate::object::{JsObject, ObjectKind};
use crate::property_key::PropertyKey;
use crate::shape::attrs;
use crate::string::JsStr;
use crate::value::Value;

static NOBODY: Owner = Owner {
    trace: |_, _| {},
    purge: |_, _| {},
    forget_caches: |_| {},
    throw_range_error: |_, _| Abrupt::Throw,
};

/// Steps of the random tests; an interpreter takes a thousand times longer for each.
const STEPS: usize = if cfg!(miri) { 150 } else { 40_000 };
const HEAP_BYTES: usize = 64 << 20;

fn mutator() -> Mutator {
    // SAFETY: the owner's functions do nothing.
    let mut mutator = unsafe { Mutator::new(HEAP_BYTES, &NOBODY) };
    mutator.native_stack = StackBounds { low: 0, high: 0 };
    mutator.heap.postpone_collections();
    mutator
}

fn young(mutator: &mut Mutator) {
    mutator.stop(|heap, roots, weak| collect::young(heap, roots, weak));
}

fn text(mutator: &mut Mutator, value: Value) -> String {
    value.as_string().expect("a string").text(mutator).expect("room")
}

/// Numbers that only look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Where a full collection is.
#[derive(PartialEq)]
enum Stage {
    Idle,
    Marking,
}

/// One more step of some collection: young ones, whole ones, and those that mark a little at a time.
fn collect_some(mutator: &mut Mutator, numbers: &mut Numbers, stage: &mut Stage) {
    match (&*stage, numbers.below(4)) {
        (Stage::Idle, 0) => mutator.collect_garbage(),
        (Stage::Idle, 1) => {
            mutator.stop(|heap, roots, _| collect::begin_full(heap, roots));
            *stage = Stage::Marking;
        }
        (Stage::Idle, _) => young(mutator),
        (Stage::Marking, 0) => {
            mutator.stop(|heap, roots, weak| collect::finish(heap, roots, weak));
            *stage = Stage::Idle;
        }
        (Stage::Marking, 1) => mutator.stop(|heap, roots, _| collect::next_round(heap, roots)),
        (Stage::Marking, 2) => mutator.stop(|heap, _, _| collect::relieve(heap)),
        (Stage::Marking, _) => mutator.stop(|heap, _, _| {
            collect::mark_step(heap, 8);
        }),
    }
}

#[test]
fn strings_keep_their_text() {
    let mut mutator = mutator();
    let mut numbers = Numbers(1);
    let mut stage = Stage::Idle;
    let mut roots = mutator.scratch();
    let mut model: Vec<String> = Vec::new();
    for at in 0..24 {
        let new = format!("string {at} {}", if at % 3 == 0 { "ü\u{1f600}" } else { "" });
        let string = mutator.new_string(&new);
        roots.push(Value::string(string));
        model.push(new);
    }
    for _ in 0..STEPS {
        let (to, a, b) = (numbers.below(24), numbers.below(24), numbers.below(24));
        let string = |at: usize| roots[at].as_string().expect("a string");
        match numbers.below(6) {
            0 | 1 if model[a].len() + model[b].len() < 400 => {
                let new = mutator.concat(string(a), string(b)).expect("room");
                roots[to] = Value::string(new);
                model[to] = format!("{}{}", model[a], model[b]);
            }
            2 if model[a].is_ascii() => {
                let from = numbers.below(model[a].len() + 1);
                let end = from + numbers.below(model[a].len() - from + 1);
                let new = mutator.substring(string(a), from, end);
                roots[to] = Value::string(new);
                model[to] = model[a][from..end].to_string();
            }
            3 => {
                let name = format!("name{}", numbers.below(30));
                let new = mutator.intern_str(&name);
                roots[to] = Value::string(new);
                model[to] = name;
            }
            4 => collect_some(&mut mutator, &mut numbers, &mut stage),
            _ => assert_eq!(text(&mut mutator, roots[a]), model[a]),
        }
    }
    for (value, expected) in roots.clone().into_iter().zip(&model) {
        assert_eq!(&text(&mut mutator, value), expected);
    }
}

/// A model of an object: named properties in their order, and elements.
#[derive(Default)]
struct Model {
    properties: Vec<(usize, f64)>,
    elements: Vec<Option<usize>>,
}

fn key(mutator: &mut Mutator, name: usize) -> PropertyKey {
    mutator.key_from_str(&format!("property{name}"))
}

fn new_object(mutator: &mut Mutator) -> Value {
    let shape = mutator.root_shape(Value::NULL, 0);
    Value::object(mutator.alloc_object(shape, ObjectKind::Ordinary, 2, 0))
}

fn object_in(roots: &RootedVec, at: usize) -> Gc<JsObject> {
    roots[at].as_object().expect("an object")
}

#[test]
fn objects_keep_properties_and_elements() {
    const OBJECTS: usize = 12;
    let mut mutator = mutator();
    let mut numbers = Numbers(2);
    let mut stage = Stage::Idle;
    let mut roots = mutator.scratch();
    let mut model: Vec<Model> = Vec::new();
    for _ in 0..OBJECTS {
        roots.push(new_object(&mut mutator));
        model.push(Model::default());
    }
    // Elements hold boxes: objects with one element, the number.
    for step in 0..STEPS {
        let at = numbers.below(OBJECTS);
        let object = object_in(&roots, at);
        match numbers.below(9) {
            0 | 1 => {
                let (name, number) = (numbers.below(20), step as f64 + 0.5);
                let key = key(&mut mutator, name);
                match object.shape().lookup(key) {
                    Some(found) => {
                        object.set_slot(found.slot, Value::number(number));
                        model[at].properties.iter_mut().filter(|p| p.0 == name).for_each(|p| p.1 = number);
                    }
                    None => {
                        let (shape, slot) = mutator.shape_add(object.shape(), key, attrs::ALL);
                        mutator.add_slot(object, shape, slot, Value::number(number));
                        model[at].properties.push((name, number));
                    }
                }
            }
            2 | 3 => {
                let held = new_object(&mut mutator);
                let inner = held.as_object().expect("an object");
                mutator.reserve_elements(inner, 1).expect("room");
                assert!(inner.elements().push(Value::number(step as f64)));
                let length = object.elements().len();
                mutator.reserve_elements(object, length + 1).expect("room");
                assert!(object.elements().push(held));
                model[at].elements.push(Some(step));
            }
            4 if !model[at].elements.is_empty() => {
                let index = numbers.below(model[at].elements.len());
                object.elements().set(index as u32, Value::EMPTY);
                model[at].elements[index] = None;
            }
            5 if numbers.below(10) == 0 => {
                roots[at] = new_object(&mut mutator);
                model[at] = Model::default();
            }
            6 => collect_some(&mut mutator, &mut numbers, &mut stage),
            _ => compare(&mut mutator, object, &model[at]),
        }
    }
    for (at, expected) in model.iter().enumerate() {
        compare(&mut mutator, object_in(&roots, at), expected);
    }
}

fn compare(mutator: &mut Mutator, object: Gc<JsObject>, expected: &Model) {
    assert_eq!(object.shape().property_count() as usize, expected.properties.len());
    for &(name, number) in &expected.properties {
        let key = key(mutator, name);
        let found = object.shape().lookup(key).expect("the property");
        assert_eq!(object.slot(found.slot).as_number(), Some(number));
    }
    assert_eq!(object.elements().len() as usize, expected.elements.len());
    for (index, &held) in expected.elements.iter().enumerate() {
        let value = object.element(index as u32);
        let number = value.as_object().and_then(|inner| inner.element(0).as_number());
        assert_eq!(number, held.map(|step| step as f64));
    }
}

/// Data that says when it is dropped.
struct Noisy {
    held: Cell<Value>,
    dropped: Rc<Cell<usize>>,
}

impl Trace for Noisy {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.value(self.held.get());
    }
}

impl Drop for Noisy {
    fn drop(&mut self) {
        self.dropped.set(self.dropped.get() + 1);
    }
}

#[test]
fn data_is_traced_and_dropped_once() {
    let dropped = Rc::new(Cell::new(0));
    let mut mutator = mutator();
    let mut roots = mutator.scratch();
    for _ in 0..10 {
        let data = mutator.alloc_data(Noisy { held: Cell::new(Value::UNDEFINED), dropped: dropped.clone() });
        roots.push(Value::cell(data));
    }
    mutator.collect_garbage();
    for round in 0..4 {
        let string = mutator.new_string(&format!("held since round {round}"));
        data_of::<Noisy>(roots[round]).expect("data").held.set(Value::string(string));
        young(&mut mutator);
        for earlier in 0..=round {
            let held = data_of::<Noisy>(roots[earlier]).expect("data").held.get();
            assert_eq!(text(&mut mutator, held), format!("held since round {earlier}"));
        }
    }
    roots.truncate(3);
    mutator.collect_garbage();
    assert_eq!(dropped.get(), 7);
    drop(roots);
    drop(mutator);
    assert_eq!(dropped.get(), 10);
}

#[test]
fn large_cells_big_integers_symbols_and_accessors() {
    let mut mutator = mutator();
    let mut roots = mutator.scratch();
    let array = mutator.new_value_array(5_000, Value::number(1.0));
    roots.push(Value::cell(array));
    let digits = mutator.new_bigint(num_bigint::BigInt::from(7).pow(3_000));
    roots.push(Value::bigint(digits));
    let description = mutator.new_string("a description");
    let symbol = mutator.new_symbol(Some(description));
    roots.push(Value::symbol(symbol));
    mutator.collect_garbage();
    // Stores at both ends of an array that was traced already.
    for index in [0, 4_999, 17] {
        let string = mutator.new_string(&format!("element {index}"));
        array.set(index, Value::string(string));
        young(&mut mutator);
    }
    for index in [0, 4_999, 17] {
        assert_eq!(text(&mut mutator, array.get(index)), format!("element {index}"));
    }
    assert_eq!(*digits.value(), num_bigint::BigInt::from(7).pow(3_000));
    assert_eq!(text(&mut mutator, Value::string(symbol.description().expect("it has one"))), "a description");
    let getter = mutator.new_string("getter");
    let pair = mutator.new_accessor(Value::string(getter), Value::UNDEFINED);
    roots.push(Value::cell(pair));
    young(&mut mutator);
    mutator.collect_garbage();
    assert_eq!(text(&mut mutator, pair.getter()), "getter");
    let before = mutator.heap.used_bytes();
    roots.clear();
    mutator.collect_garbage();
    assert!(mutator.heap.used_bytes() + 5_000 * size_of::<Value>() < before + 1_024);
}

#[test]
fn names_are_let_go_and_made_again() {
    let mut mutator = mutator();
    let mut keys: RootedVec<PropertyKey> = RootedVec::new(&mutator.heap);
    for at in 0..200 {
        let key = mutator.key_from_str(&format!("name {at}"));
        if at % 2 == 0 {
            keys.push(key);
        }
    }
    young(&mut mutator);
    mutator.collect_garbage();
    for at in 0..200 {
        let again: JsStr = mutator.intern_str(&format!("name {at}"));
        let key = mutator.key_from_string(again);
        assert_eq!(keys.contains(&key), at % 2 == 0, "{at}");
    }
}

#[test]
fn handles_outlive_the_heap() {
    let mut mutator = mutator();
    let string = mutator.new_string("kept by a handle");
    let handle = Persistent::new(&mutator.heap, Value::string(string));
    let copy = handle.clone();
    mutator.collect_garbage();
    drop(handle);
    young(&mut mutator);
    mutator.collect_garbage();
    assert_eq!(text(&mut mutator, copy.get()), "kept by a handle");
    let vector = mutator.scratch();
    drop(mutator);
    assert!(copy.get().is_undefined());
    drop((copy, vector));
}

/// Words that may be addresses, as in the saved registers of a coroutine.
struct Saved {
    words: Cell<[usize; 8]>,
}

impl Trace for Saved {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        for word in self.words.get() {
            tracer.conservative(word);
        }
    }
}

#[test]
fn a_step_leaves_cells_alone_that_are_not_handed_out_yet() {
    let mut mutator = mutator();
    let mut roots = mutator.scratch();
    let shape = mutator.root_shape(Value::NULL, 0);
    roots.push(Value::cell(shape));
    let object = |mutator: &mut Mutator, slots| mutator.alloc_object(shape, ObjectKind::Ordinary, slots, 0);
    // Objects of other sizes leave heads, shapes and slots all over the blocks, which are used again.
    for _ in 0..2_000 {
        object(&mut mutator, 2);
        object(&mut mutator, 5);
    }
    mutator.collect_garbage();
    let saved = mutator.alloc_data(Saved { words: Cell::default() });
    roots.push(Value::cell(saved));
    mutator.stop(|heap, roots, _| collect::begin_full(heap, roots));
    // This opens a run, in which the next cells are yet to be handed out.
    let first = object(&mut mutator, 3).addr();
    let size = size_of::<JsObject>() + 3 * size_of::<Value>();
    let words = std::array::from_fn(|i| first + (i + 1) * size);
    saved.words.set(words);
    mutator.stop(|heap, _, _| assert!(collect::mark_step(heap, usize::MAX)));
    let mut objects = mutator.scratch();
    for (i, word) in words.into_iter().enumerate() {
        let object = object(&mut mutator, 3);
        assert_eq!(object.addr(), word);
        let text = mutator.new_string(&format!("text {i}"));
        object.set_slot(0, Value::string(text));
        objects.push(Value::object(object));
    }
    mutator.stop(|heap, roots, weak| collect::finish(heap, roots, weak));
    for i in 0..2_000 {
        mutator.new_string(&format!("else {i}"));
    }
    for (i, object) in objects.iter().enumerate() {
        let slot = object.as_object().expect("an object").slot(0);
        assert_eq!(text(&mut mutator, slot), format!("text {i}"));
    }
}
