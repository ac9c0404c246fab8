//! Which registers the collector looks at: not those of values that the code is done with, and all that it still reads.

use cynic_engine::bytecode::liveness::Liveness;
use cynic_engine::bytecode::{FunctionCode, Op};
use cynic_engine::compiler::{CompileOptions, compile_script};
use cynic_engine::vm::{Options, Vm};

/// The first function of `source`.
fn function(source: &str) -> std::sync::Arc<FunctionCode> {
    let script =
        compile_script("t.js", source, CompileOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    script.functions[0].clone()
}

/// The words at which instructions of this kind stand.
fn places(function: &FunctionCode, wanted: Op) -> Vec<usize> {
    let (mut found, mut pc) = (Vec::new(), 0);
    while let Some(op) = function.code.get(pc).and_then(|word| Op::decode(*word)) {
        if op == wanted {
            found.push(pc);
        }
        pc += op.len();
    }
    found
}

#[test]
fn a_parameter_is_live_until_its_last_use() {
    let function = function("function f(x) { g(x); g(1); }");
    let liveness = Liveness::of(&function).expect("a small function");
    let calls = places(&function, Op::Call);
    assert!(liveness.is_live(0, 1));
    assert!(!liveness.is_live(calls[1], 1), "the second call does not need x");
}

#[test]
fn a_loop_keeps_what_its_next_round_reads() {
    let function = function("function f(x) { for (;;) { g(x); h(); } }");
    let liveness = Liveness::of(&function).expect("a small function");
    for call in places(&function, Op::Call) {
        assert!(liveness.is_live(call, 1));
    }
}

#[test]
fn a_handler_keeps_what_it_reads() {
    let function = function("function f(x) { try { g() } catch { return x } return 1 }");
    let liveness = Liveness::of(&function).expect("a small function");
    assert!(liveness.is_live(places(&function, Op::Call)[0], 1));
}

/// The most bytes that any collection found in use while `source` ran.
fn peak_bytes(source: &str) -> usize {
    let mut vm = Vm::new(Options::default());
    let value = vm.evaluate_script("t.js", source);
    assert!(value.is_ok_and(|value| value.as_int32() == Some(8 * 32_767)), "{source}");
    vm.gc_stats().peak_bytes
}

const TREES: &str = "
    function tree(d) { return d ? { left: tree(d - 1), right: tree(d - 1) } : { left: null, right: null } }
    function count(t) { return t.left === null ? 1 : 1 + count(t.left) + count(t.right) }
";

#[test]
fn trees_that_were_counted_do_not_pile_up() {
    // Eight trees of 1.5 MB, each in a variable or a temporary of its own.
    let mut locals = format!("{TREES} function f() {{ let n = 0; ");
    let mut resumed = format!("{TREES} function* g() {{ let n = 0; ");
    for i in 0..8 {
        locals.push_str(&format!("const t{i} = tree(14); n += count(t{i}); "));
        resumed.push_str(&format!("const t{i} = tree(14); n += count(t{i}); yield n; "));
    }
    locals.push_str("return n } f()");
    resumed.push_str("} let last; for (const n of g()) last = n; last");
    for source in [locals, resumed] {
        let peak = peak_bytes(&source);
        assert!(peak < 9 << 20, "{peak} bytes: {source}");
    }
}

/// The value of `source` as a string, with a collection at every allocation.
fn run_zealously(source: &str) -> String {
    let mut vm = Vm::new(Options { hardened: false, ..Options::default() });
    vm.heap.set_zeal(true);
    match vm.evaluate_script("t.js", source) {
        Ok(value) => vm.to_rust_string(value).unwrap_or_default(),
        Err(_) => {
            let error = vm.take_exception();
            format!("threw {}", error.as_object().map(|o| vm.error_header(o)).unwrap_or_default())
        }
    }
}

#[test]
fn what_code_still_reads_survives() {
    let o = "const o = s => ({ s });";
    for (source, expected) in [
        // Windows of calls while their arguments are made.
        ("((a, b, c) => a.s + b.s + c.s)(o('a'), o('b'), o('c'))", "abc"),
        // More arguments than parameters, and the other way round.
        (
            "(function (a) { o(1); return a.s + arguments[1].s + arguments.length })(o('a'), o('b'), o('c'))",
            "ab3",
        ),
        (
            "((a, ...rest) => { o(1); return a.s + rest.map(x => x.s).join('') })(o('a'), o('b'), o('c'))",
            "abc",
        ),
        ("((a, b = o('d')) => { o(1); return a.s + b.s })(o('a'))", "ad"),
        // Getters, setters and methods in frames of the same run loop.
        (
            "const g = { get x() { return o('x') }, m(y) { return this.x.s + y.s } }; g.m(o('y')) + g.x.s",
            "xyx",
        ),
        // Handlers and finally.
        (
            "(() => { const a = o('a'); try { o(1); throw o('e') } catch (e) { o(2); return a.s + e.s } finally { o(3) } })()",
            "ae",
        ),
        // Loops, destructuring, iterators that close.
        (
            "let r = ''; for (const [k, v] of [[o('k'), o('v')], [o('l'), o('w')]]) { o(1); r += k.s + v.s } r",
            "kvlw",
        ),
        (
            "const [a, ...b] = [o('a'), o('b'), o('c')]; const { s, ...t } = { s: o('s'), t: o('t') }; a.s + b[1].s + s.s + t.t.s",
            "acst",
        ),
        // Suspended frames.
        (
            "function* g(a) { const b = o('b'); try { yield a; yield b } finally { yield o('f') } } [...g(o('a'))].map(x => x.s).join('')",
            "abf",
        ),
        (
            "function* g() { yield* [o('a'), o('b')]; return o('c') } const i = g(); i.next().value.s + i.next().value.s + i.next().value.s",
            "abc",
        ),
        // Classes, super, fields, tail calls.
        (
            "class A { x = o('x'); constructor(y) { this.y = y } } class B extends A { z = o('z'); constructor() { super(o('y')); o(1) } } const b = new B(); b.x.s + b.y.s + b.z.s",
            "xyz",
        ),
        ("const t = (n, a) => n ? t(n - 1, a) : a.s; t(50, o('a'))", "a"),
        // Resources: the completion is in registers that the instructions name by their first only.
        (
            "let r = ''; try { using a = { [Symbol.dispose]() { throw o('d') } }; throw o('t') } catch (e) { r = e.error.s + e.suppressed.s } r",
            "dt",
        ),
        // Literals made of many values, templates, spread.
        (
            "const l = { a: o('a'), b: [o('b'), ...[o('c')]], c: `${o('d').s}${o('e').s}` }; l.a.s + l.b[0].s + l.b[1].s + l.c",
            "abcde",
        ),
    ] {
        assert_eq!(run_zealously(&format!("{o} {source}")), expected, "{source}");
    }
}
