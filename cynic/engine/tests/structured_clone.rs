//! Structured clone: into plain data, across a thread, and into another isolate.

use cynic_engine::value::Value;
use cynic_engine::vm::{Options, Vm};

fn eval(vm: &mut Vm, code: &str) -> Value {
    match vm.evaluate_script("test", code) {
        Ok(v) => v,
        Err(_) => {
            let e = vm.take_exception();
            let text = e.as_object().map(|o| vm.error_header(o)).unwrap_or_default();
            Value::string(vm.new_string(&format!("threw {text}")))
        }
    }
}

/// Evaluates `source` in one isolate, clones the result into another, and evaluates `probe` there with it as `v`.
fn check(source: &str, probe: &str, expect: &str) {
    let mut from = Vm::new(Options::default());
    let v = eval(&mut from, source);
    let cloned = match from.structured_serialize(v) {
        Ok(c) => c,
        Err(_) => {
            let e = from.take_exception();
            let text = e.as_object().map(|o| from.error_header(o)).unwrap_or_default();
            assert!(text.contains(expect), "{source}: {text}");
            return;
        }
    };
    let (probe, expect, source) = (probe.to_owned(), expect.to_owned(), source.to_owned());
    let there = std::thread::spawn(move || {
        let mut to = Vm::new(Options::default());
        let v = to.structured_deserialize(&cloned).expect("plain data");
        let f = eval(&mut to, &format!("(v) => String({probe})"));
        let shown = to.call(f, Value::UNDEFINED, &[v]).expect("no throw");
        assert_eq!(to.to_rust_string(shown).expect("a string"), expect, "{source}");
    });
    assert!(there.join().is_ok());
}

#[test]
fn values_arrive_as_they_were() {
    check(
        "({a: 1, b: ['x', , 3n], c: {d: null}})",
        "v.a + v.b[0] + (1 in v.b) + v.b.length + v.b[2] + v.c.d",
        "1xfalse33null",
    );
    check("const o = {}; o.self = o; o.list = [o, o]; o", "v.self === v && v.list[1] === v", "true");
    check("new Map([[1, new Set(['ż'])]])", "v.get(1).has('ż')", "true");
    check("new Date(86400000)", "v.toISOString()", "1970-01-02T00:00:00.000Z");
    check("/a+/gi", "v.flags + v.source", "gia+");
    check("new RangeError('far')", "v instanceof RangeError && v.message", "far");
    check("new Uint16Array([1, 2, 65535])", "v.constructor.name + v.join()", "Uint16Array1,2,65535");
    check("new Uint8Array([7, 8]).buffer", "v.byteLength + new Uint8Array(v)[1]", "10");
    check("Object(true)", "typeof v + v.valueOf()", "objecttrue");
}

#[test]
fn what_cannot_be_cloned_is_refused() {
    check("(() => 1)", "", "DataCloneError");
    check("({s: Symbol('x')})", "", "DataCloneError");
    check("new WeakMap()", "", "DataCloneError");
    check("({get x() { throw new TypeError('mine'); }})", "", "mine");
}
