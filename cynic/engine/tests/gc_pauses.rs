//! The collector under load: a large live heap while more is allocated, with marking in steps.

use cynic_engine::gc::Zeal;
use cynic_engine::object::Object;
use cynic_engine::property_key::PropertyKey;
use cynic_engine::value::Value;
use cynic_engine::vm::{Options, Vm};

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

/// Allocates until the collector has run some times.
fn collect(vm: &mut Vm) {
    let collections = |vm: &Vm| vm.gc_stats().young_collections + vm.gc_stats().full_collections;
    let before = collections(vm);
    while collections(vm) < before + 3 {
        vm.new_object();
    }
}

#[test]
fn more_writes_than_are_remembered_singly_lose_nothing() {
    const LENGTH: u32 = 200_000;
    let mut vm = Vm::new(Options::default());
    let array = vm.new_array();
    let x = vm.key_from_str("x");
    for _ in 0..LENGTH {
        assert!(vm.try_push_element(array, Value::UNDEFINED));
    }
    let old = vm.new_object();
    assert!(array.try_set_element(0, Value::object(old)));
    collect(&mut vm);
    // All remembered elements are spent on one that needs none; those written then must count none the less.
    for round in 0..3 {
        for i in 0..LENGTH / 2 {
            assert!(array.try_set_element(LENGTH / 2 + i, Value::object(old)));
        }
        let late = [7, LENGTH / 3, LENGTH - 1];
        for i in late {
            let o = vm.new_object();
            assert!(vm.create_data_property(o, x, Value::int32(round)).is_ok());
            assert!(array.try_set_element(i, Value::object(o)));
        }
        collect(&mut vm);
        for i in late {
            let o = array.element(i).as_object().expect("an object");
            assert_eq!(vm.get(o, x), Ok(Value::int32(round)), "element {i}");
        }
    }
}

#[test]
fn a_long_array_that_is_written_all_over_is_not_looked_at_as_a_whole() {
    const LENGTH: u32 = 400_000;
    let mut vm = Vm::new(Options::default());
    let x = vm.key_from_str("x");
    let array = vm.new_array();
    for _ in 0..LENGTH {
        let o = vm.new_object();
        assert!(vm.create_data_property(o, x, Value::int32(-1)).is_ok());
        assert!(vm.try_push_element(array, Value::object(o)));
    }
    collect(&mut vm);
    let mut expected = vec![-1; LENGTH as usize];
    let before = vm.gc_stats();
    let mut at = 1u32;
    for i in 0..LENGTH {
        at = at.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let o = vm.new_object();
        assert!(vm.create_data_property(o, x, Value::int32(i as i32)).is_ok());
        assert!(array.try_set_element(at % LENGTH, Value::object(o)));
        expected[(at % LENGTH) as usize] = i as i32;
    }
    let stats = vm.gc_stats();
    let looked_at = stats.elements_traced_again - before.elements_traced_again;
    let collections = stats.young_collections - before.young_collections;
    assert!(collections > 5, "{stats:?}");
    assert!(looked_at <= 2 * u64::from(LENGTH), "{looked_at} elements in {collections} collections");
    for (i, want) in expected.into_iter().enumerate() {
        let o = array.element(i as u32).as_object().expect("an object");
        assert_eq!(vm.get(o, x), Ok(Value::int32(want)), "element {i}");
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

/// Near the limit room for the next cells shrinks with each collection: it must not end with one for every few cells, each of which looks at
/// all that builtins gather.
#[test]
fn a_heap_near_its_limit_does_not_crawl() {
    for mebibytes in 6..=12 {
        let mut vm = Vm::new(Options { heap_bytes_max: mebibytes << 20, ..Options::default() });
        let _ = vm.evaluate_script("a.js", "Object.keys(new BigInt64Array(2e5)).length");
        let stats = vm.gc_stats();
        let collections = stats.young_collections + stats.full_collections;
        assert!(collections < 150, "{mebibytes} MiB: {stats:?}");
    }
}

/// A prototype's shapes are forgotten with it, in young collections too: its place may be another one's soon.
#[test]
fn prototypes_that_come_and_go_leave_nothing_to_those_in_their_place() {
    let source = "const kept = [];
        for (let i = 0; i < 200000; i++) {
            const prototype = { own: i, ['p' + i % 7]: i };
            const object = Object.create(prototype);
            object.x = i;
            if (object.own !== i || object['p' + i % 7] !== i || Object.getPrototypeOf(object) !== prototype) throw i;
            if (i % 97 === 0) kept.push(object);
        }
        kept.every((o, at) => o.own === at * 97 && o.x === at * 97) + ' ' + kept.length";
    for zeal in [Zeal::Off, Zeal::Steps] {
        let mut vm = Vm::new(Options::default());
        vm.heap.set_zeal_mode(zeal);
        let (source, count) = match zeal {
            Zeal::Off => (source.to_owned(), 2062),
            _ => (source.replace("200000", "3000"), 31),
        };
        let Ok(value) = vm.evaluate_script("test.js", &source) else { panic!("an exception") };
        let text = vm.to_string(value).map(|text| text.to_rust_string());
        assert_eq!(text.ok(), Some(format!("true {count}")));
    }
}
