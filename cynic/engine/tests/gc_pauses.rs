//! The collector under load: a large live heap while more is allocated, with marking in steps.

use cynic::object::Object;
use cynic::property_key::PropertyKey;
use cynic::value::Value;
use cynic::vm::{Options, Vm};

/// A binary tree of the given depth.
fn tree(vm: &mut Vm, left: PropertyKey, right: PropertyKey, depth: u32) -> Object {
    let o = vm.new_object();
    if depth > 0 {
        let l = tree(vm, left, right, depth - 1);
        assert!(vm.create_data_property(o, left, Value::object(l)).is_ok());
        let r = tree(vm, left, right, depth - 1);
        assert!(vm.create_data_property(o, right, Value::object(r)).is_ok());
    }
    o
}

fn count(vm: &mut Vm, left: PropertyKey, right: PropertyKey, o: Object) -> u32 {
    let mut n = 1;
    for key in [left, right] {
        if let Some(child) = vm.get(o, key).expect("no getter").as_object() {
            n += count(vm, left, right, child);
        }
    }
    n
}

#[test]
fn a_large_heap_survives_steps_and_mutation() {
    let mut vm = Vm::new(Options::default());
    let (left, right) = (vm.key_from_str("left"), vm.key_from_str("right"));
    let keep = vm.new_array();
    for _ in 0..16 {
        let t = tree(&mut vm, left, right, 13);
        assert!(vm.try_push_element(keep, Value::object(t)));
    }
    // Replace subtrees while allocating: old objects come to refer to new ones, again and again.
    for round in 0..200u32 {
        let fresh = tree(&mut vm, left, right, 9);
        let mut at = keep.element(round % 16).as_object().expect("a tree");
        for _ in 0..3 {
            at = vm.get(at, left).expect("no getter").as_object().expect("deep enough");
        }
        let key = if round % 2 == 0 { left } else { right };
        assert!(vm.set_or_throw(at, key, Value::object(fresh)).is_ok());
    }
    let mut total = 0;
    for i in 0..16 {
        let t = keep.element(i).as_object().expect("a tree");
        total += count(&mut vm, left, right, t);
    }
    // A depth-9 subtree stands wherever one was put (13 levels less 4), so no count changes.
    assert_eq!(total, 16 * ((1 << 14) - 1));
    let stats = vm.gc_stats();
    assert!(stats.full_collections >= 1 && stats.young_collections > 1, "{stats:?}");
    println!("{stats:?}");
}

#[test]
fn a_large_array_is_traced_in_portions_and_only_where_it_changed() {
    let mut vm = Vm::new(Options::default());
    let array = vm.new_array();
    let x = vm.key_from_str("x");
    for i in 0..300_000 {
        let o = vm.new_object();
        assert!(vm.create_data_property(o, x, Value::int32(i)).is_ok());
        assert!(vm.try_push_element(array, Value::object(o)));
    }
    for i in (0..300_000u32).step_by(7) {
        let o = vm.new_object();
        assert!(vm.create_data_property(o, x, Value::int32(-1)).is_ok());
        assert!(array.try_set_element(i, Value::object(o)));
    }
    for i in 0..300_000u32 {
        let o = array.element(i).as_object().expect("an object");
        let want = if i % 7 == 0 { -1 } else { i as i32 };
        assert_eq!(vm.get(o, x), Ok(Value::int32(want)));
    }
}

/// Keeps the last `window` of many objects, and of as many others none.
fn slide(vm: &mut Vm, window: u32, objects: u32) {
    let x = vm.key_from_str("x");
    let keep = vm.new_array();
    for i in 0..objects {
        let o = vm.new_object();
        assert!(vm.create_data_property(o, x, Value::int32(i as i32)).is_ok());
        vm.new_object();
        let kept = if i < window {
            vm.try_push_element(keep, Value::object(o))
        } else {
            keep.try_set_element(i % window, Value::object(o))
        };
        assert!(kept);
    }
}

#[test]
fn a_small_heap_with_survivors_stays_small() {
    let mut vm = Vm::new(Options::default());
    slide(&mut vm, 16_000, 300_000);
    let stats = vm.gc_stats();
    let live = stats.live_bytes;
    assert!((700_000..2_000_000).contains(&live), "{stats:?}");
    assert!(stats.peak_bytes < live + (7 << 18), "{stats:?}");
}
