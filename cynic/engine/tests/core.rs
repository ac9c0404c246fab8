//! The runtime core without an interpreter: values, properties, arrays, strings and collections through `Vm`,
//! each also with a collection at every allocation.

use cynic_engine::atoms;
use cynic_engine::object::PropertyDescriptor;
use cynic_engine::property_key::PropertyKey;
use cynic_engine::realm::Intrinsic;
use cynic_engine::shape::{Lock, attrs};
use cynic_engine::value::Value;
use cynic_engine::vm::{Abrupt, Options, Termination, Vm};

/// Runs `f` in a plain isolate and in one that collects at every allocation.
fn check(f: impl Fn(&mut Vm)) {
    f(&mut Vm::new(Options { hardened: false, ..Options::default() }));
    let mut vm = Vm::new(Options { hardened: false, ..Options::default() });
    vm.heap.set_zeal(true);
    f(&mut vm);
}

fn text(vm: &mut Vm, v: Value) -> String {
    match vm.to_rust_string(v) {
        Ok(s) => s,
        Err(_) => {
            let e = vm.take_exception();
            format!("threw {}", e.as_object().map(|o| vm.error_header(o)).unwrap_or_default())
        }
    }
}

#[test]
fn properties_survive_growth_and_deletion() {
    check(|vm| {
        let o = vm.new_object();
        for i in 0..300 {
            let key = vm.key_from_str(&format!("p{i}"));
            assert!(vm.set(o, key, Value::int32(i), Value::object(o)).is_ok());
        }
        for i in (0..300).step_by(3) {
            let key = vm.key_from_str(&format!("p{i}"));
            assert_eq!(vm.delete_property(o, key), Ok(true));
        }
        for i in 0..300 {
            let key = vm.key_from_str(&format!("p{i}"));
            let want = if i % 3 == 0 { Value::UNDEFINED } else { Value::int32(i) };
            assert_eq!(vm.get(o, key), Ok(want), "p{i}");
        }
        assert_eq!(vm.own_property_keys(o).map(|k| k.len()), Ok(200));
    });
}

#[test]
fn overflowing_properties_and_elements_do_not_disturb_each_other() {
    check(|vm| {
        let objects = [vm.new_object(), vm.new_array()];
        for o in objects {
            let put = |vm: &mut Vm, key, i: u32| {
                let fresh = vm.new_object();
                let x = vm.key_from_str("x");
                assert!(vm.create_data_property(fresh, x, Value::from(i)).is_ok());
                assert!(vm.create_data_property(o, key, Value::object(fresh)).is_ok());
            };
            // Names beyond the inline slots and indices by turns, then an index that makes the elements sparse.
            for i in 0..40u32 {
                let name = vm.key_from_str(&format!("p{i}"));
                put(vm, name, i);
                put(vm, PropertyKey::index(i), 1000 + i);
            }
            let get = |vm: &mut Vm, key| {
                let x = vm.key_from_str("x");
                let value = vm.get(o, key).ok().and_then(|v| v.as_object()).expect("an object");
                vm.get(value, x)
            };
            for sparse in [false, true] {
                for i in 0..40u32 {
                    let name = vm.key_from_str(&format!("p{i}"));
                    assert_eq!(get(vm, name), Ok(Value::from(i)), "p{i}, sparse {sparse}");
                    let want = Ok(Value::from(1000 + i));
                    assert_eq!(get(vm, PropertyKey::index(i)), want, "{i}, sparse {sparse}");
                }
                put(vm, PropertyKey::index(4_000_000_000), 1);
            }
        }
    });
}

#[test]
fn shapes_are_shared_until_objects_differ() {
    check(|vm| {
        let (a, b) = (vm.new_object(), vm.new_object());
        for o in [a, b] {
            for name in ["x", "y"] {
                let key = vm.key_from_str(name);
                assert_eq!(vm.create_data_property(o, key, Value::ZERO), Ok(true));
            }
        }
        assert!(a.shape().ptr_eq(b.shape()));
        let y = vm.key_from_str("y");
        let desc = PropertyDescriptor { enumerable: Some(false), ..Default::default() };
        assert_eq!(vm.define_own_property(b, y, &desc), Ok(true));
        assert!(!a.shape().ptr_eq(b.shape()));
        assert_eq!(b.shape().lookup(y).map(|p| p.attrs), Some(attrs::METHOD));
    });
}

#[test]
fn arrays_couple_length_and_elements() {
    check(|vm| {
        let a = vm.new_array();
        for i in 0..100 {
            assert!(vm.try_push_element(a, Value::int32(i)));
        }
        assert_eq!(vm.get(a, atoms::LENGTH), Ok(Value::int32(100)));
        assert_eq!(vm.set(a, PropertyKey::index(5_000_000), Value::TRUE, Value::object(a)), Ok(true));
        assert_eq!(vm.get(a, atoms::LENGTH), Ok(Value::int32(5_000_001)));
        assert_eq!(vm.get(a, PropertyKey::index(99)), Ok(Value::int32(99)));
        assert_eq!(vm.set(a, atoms::LENGTH, Value::int32(10), Value::object(a)), Ok(true));
        assert_eq!(vm.get(a, PropertyKey::index(10)), Ok(Value::UNDEFINED));
        assert_eq!(vm.own_property_keys(a).map(|k| k.len()), Ok(11));
        assert_eq!(vm.set(a, atoms::LENGTH, Value::number(1.5), Value::object(a)), Err(Abrupt::Throw));
        let e = vm.take_exception();
        assert_eq!(
            e.as_object().map(|o| vm.error_header(o)).as_deref(),
            Some("RangeError: Invalid array length")
        );
    });
}

#[test]
fn strings_join_slice_and_intern() {
    check(|vm| {
        let mut s = vm.new_string("");
        for i in 0..200 {
            let part = vm.new_string(&format!("part {i}; "));
            s = vm.concat(s, part).expect("short");
        }
        let want: String = (0..200).map(|i| format!("part {i}; ")).collect();
        assert_eq!(s.to_rust_string(), want);
        let sub = vm.substring(s, 100, 300);
        assert_eq!(text(vm, Value::string(sub)), want[100..300]);
        let wide = vm.new_string("żółć");
        let joined = vm.concat(sub, wide).expect("short");
        assert_eq!(text(vm, Value::string(joined)), format!("{}żółć", &want[100..300]));
        let (k1, k2) = (vm.key_from_string(joined), vm.key_from_str(&format!("{}żółć", &want[100..300])));
        assert_eq!(k1, k2);
        assert_eq!(vm.key_from_str("length"), atoms::LENGTH);
        assert_eq!(vm.key_from_str("17").as_index(), Some(17));
    });
}

#[test]
fn intrinsics_are_lazy_and_whole() {
    check(|vm| {
        let global = vm.global_object();
        let key = vm.key_from_str("TypeError");
        let constructor = vm.get(global, key).expect("no getter");
        let constructor = constructor.as_object().expect("a constructor");
        let message = Value::string(vm.new_string("boo"));
        let error = vm.construct(constructor, &[message], constructor).expect("constructs");
        assert_eq!(text(vm, Value::object(error)), "TypeError: boo");
        assert_eq!(vm.error_header(error), "TypeError: boo");
        let shown = vm.invoke(Value::object(error), atoms::TO_STRING, &[]).expect("no throw");
        assert_eq!(text(vm, shown), "TypeError: boo");
        let prototype = vm.intrinsic(Intrinsic::ErrorPrototype);
        assert_eq!(vm.instance_of(Value::object(error), Value::object(constructor)), Ok(true));
        assert_ne!(error.prototype(), Value::object(prototype));
    });
}

#[test]
fn hardened_prototypes_do_not_shadow_forbid() {
    let mut vm = Vm::new(Options::default());
    let prototype = vm.intrinsic(Intrinsic::ErrorPrototype);
    assert_eq!(vm.set(prototype, atoms::NAME, Value::TRUE, Value::object(prototype)), Ok(false));
    let error = vm.new_error(Intrinsic::ErrorPrototype, "x");
    assert_eq!(vm.set(error, atoms::NAME, Value::TRUE, Value::object(error)), Ok(true));
    assert_eq!(vm.get(error, atoms::NAME), Ok(Value::TRUE));
}

#[test]
fn locks_reach_elements_and_properties() {
    check(|vm| {
        let a = vm.new_array_from(&[Value::int32(1), Value::int32(2)]).expect("small");
        vm.ordinary_lock(a, Lock::Freeze);
        assert_eq!(vm.set(a, PropertyKey::index(0), Value::TRUE, Value::object(a)), Ok(false));
        assert_eq!(vm.set(a, PropertyKey::index(2), Value::TRUE, Value::object(a)), Ok(false));
        assert_eq!(vm.set(a, atoms::LENGTH, Value::ZERO, Value::object(a)), Ok(false));
        assert!(!vm.try_push_element(a, Value::TRUE));
        assert_eq!(vm.test_integrity_level(a, Lock::Freeze), Ok(true));
    });
}

#[test]
fn garbage_goes_and_live_data_stays() {
    let mut vm = Vm::new(Options::default());
    let keep = vm.new_array();
    for i in 0..2_000_000 {
        let o = vm.new_object();
        let x = vm.key_from_str("x");
        assert_eq!(vm.create_data_property(o, x, Value::int32(i)), Ok(true));
        if i % 1000 == 0 {
            vm.try_push_element(keep, Value::object(o));
        }
    }
    let x = vm.key_from_str("x");
    for i in 0..2000 {
        let o = keep.element(i).as_object().expect("kept");
        assert_eq!(vm.get(o, x), Ok(Value::int32(i as i32 * 1000)));
    }
    let stats = vm.gc_stats();
    assert!(stats.full_collections + stats.young_collections > 3, "{stats:?}");
    assert!(stats.peak_bytes < 32 << 20, "{stats:?}");
}

#[test]
fn the_heap_limit_ends_the_guest() {
    let mut vm = Vm::new(Options { heap_bytes_max: 8 << 20, ..Options::default() });
    let keep = vm.new_array();
    let mut outcome = Ok(());
    for _ in 0..10_000_000 {
        let o = vm.new_object();
        if !vm.try_push_element(keep, Value::object(o)) {
            break;
        }
        outcome = vm.poll();
        if outcome.is_err() {
            break;
        }
    }
    assert!(outcome == Err(Abrupt::Terminate) || vm.termination().is_some());
    assert_eq!(vm.termination(), Some(Termination::Heap));
}

#[test]
fn fuel_ends_the_guest_exactly_once_it_is_used_up() {
    let mut vm = Vm::new(Options::default());
    vm.set_fuel(Some(10_000));
    let mut steps = 0;
    while vm.poll().is_ok() {
        steps += 1;
    }
    assert!((9_990..=10_000).contains(&steps), "{steps}");
    assert_eq!(vm.termination(), Some(Termination::Fuel));
    assert_eq!(vm.poll(), Err(Abrupt::Terminate));
}

#[test]
fn the_smallest_cells_share_blocks() {
    let mut vm = Vm::new(Options::default());
    let keep = vm.new_array();
    let before = vm.heap.committed_bytes();
    for _ in 0..10_000 {
        let cell = vm.new_value_array(1, Value::ZERO);
        std::hint::black_box(cell);
        let object = vm.new_object();
        assert!(vm.try_push_element(keep, Value::object(object)));
    }
    // 10,000 objects of 56 bytes, their array while it grows, and cells of 32 bytes that die.
    let grown = vm.heap.committed_bytes() - before;
    assert!(grown < 4 << 20, "{grown} bytes");
}
