//! Expressions nest as deeply as programs write them, whatever registers a function has: what an operator keeps for later waits elsewhere
//! where they run short.

use cynic_engine::vm::{Options, Vm};

fn run(source: &str) -> String {
    let mut vm = Vm::new(Options { hardened: false, ..Options::default() });
    match vm.evaluate_script("test.js", source) {
        Ok(value) => vm.to_string(value).map(|s| s.to_rust_string()).unwrap_or_default(),
        Err(_) => {
            let error = vm.take_exception();
            vm.to_string(error).map(|s| s.to_rust_string()).unwrap_or_default()
        }
    }
}

/// `start`, `n` times what `before` gives for a level, `middle`, `n` times `after`, `end`.
struct Kind {
    start: &'static str,
    before: fn(usize) -> String,
    middle: &'static str,
    after: &'static str,
    end: &'static str,
    expected: fn(usize) -> String,
}

const KINDS: &[Kind] = &[
    Kind {
        start: "var x = {};",
        before: |i| format!("x.a{i} = "),
        middle: "'v'",
        after: "",
        end: "; Object.keys(x).length + x.a0",
        expected: |n| format!("{n}v"),
    },
    Kind {
        start: "var x = {}, i = 0, order = '';",
        before: |i| format!("(order += '.', x)[i++ + {i}] = "),
        middle: "(order += 'v', 7)",
        after: "",
        end: "; order.length + '/' + i + '/' + Object.keys(x).length + '/' + x[0]",
        expected: |n| format!("{}/{n}/{n}/7", n + 1),
    },
    Kind {
        start: "function f(a) { return a + 1 } var r = ",
        before: |_| "f(".into(),
        middle: "0",
        after: ")",
        end: "; r",
        expected: |n| n.to_string(),
    },
    Kind {
        start: "function f(a, b, c) { return a + b + c } var r = ",
        before: |i| format!("f({i} * 0 + 1, (() => 0)(), "),
        middle: "0",
        after: ")",
        end: "; r",
        expected: |n| n.to_string(),
    },
    Kind {
        start: "var o = { n: 0, m(a, b) { this.n += a; return b } }; var r = ",
        before: |_| "o.m(1, ".into(),
        middle: "'end'",
        after: ")",
        end: "; r + o.n",
        expected: |n| format!("end{n}"),
    },
    Kind {
        start: "class A { constructor(a) { this.a = a } } var r = ",
        before: |_| "new A(".into(),
        middle: "null",
        after: ")",
        end: "; var n = 0; while (r) { r = r.a; n++ }; n",
        expected: |n| n.to_string(),
    },
    Kind {
        start: "class B { m(a) { return a + 1 } } class C extends B { r() { return ",
        before: |_| "super.m(".into(),
        middle: "0",
        after: ")",
        end: " } } new C().r()",
        expected: |n| n.to_string(),
    },
    Kind {
        start: "var x = { a: 1 }; var r = ",
        before: |_| "x.a += ".into(),
        middle: "1",
        after: "",
        end: "; r + '/' + x.a",
        expected: |n| format!("{0}/{0}", n + 1),
    },
    Kind {
        start: "var x = { i: 0, get o() { return [5, 6] } }; var r = ",
        before: |_| "x.o[".into(),
        middle: "6",
        after: " - 5]",
        end: "; r",
        expected: |_| "6".into(),
    },
    Kind {
        start: "function* g() { return ",
        before: |_| "f(1, ".into(),
        middle: "yield 5",
        after: ")",
        end: " } function f(a, b) { return a + b } const i = g(); i.next(); i.next(10).value",
        expected: |n| (n + 10).to_string(),
    },
    Kind {
        start: "function f(a, b) { return b } var x = {}; var r; try { r = ",
        before: |i| format!("f(x.a{i} = f(1, {i}), "),
        middle: "(() => { throw 'out' })()",
        after: ")",
        end: " } catch (e) { r = e + Object.keys(x).length } r",
        expected: |n| format!("out{n}"),
    },
];

#[test]
fn nesting_has_no_width() {
    for (index, kind) in KINDS.iter().enumerate() {
        for n in [1, 20, 40, 60, 80, 100, 160, 250, 600] {
            let before: String = (0..n).map(kind.before).collect();
            let source = format!("{}{before}{}{}{}", kind.start, kind.middle, kind.after.repeat(n), kind.end);
            assert_eq!(run(&source), (kind.expected)(n), "kind {index}, {n} levels");
        }
    }
}

/// The same where a function has as many variables as registers hold.
#[test]
fn nesting_has_no_width_beside_many_variables() {
    for locals in [20, 100, 159, 200] {
        for (index, kind) in KINDS.iter().enumerate().take(6) {
            for n in [30, 120] {
                let variables: String = (0..locals).map(|i| format!("let v{i} = {i};")).collect();
                let uses: String = (0..locals).map(|i| format!("v{i};")).collect();
                let before: String = (0..n).map(kind.before).collect();
                let (end, last) = kind.end.split_at(kind.end.rfind(';').map_or(0, |at| at + 1));
                let source = format!(
                    "(function () {{ {variables} {}{before}{}{}{end} {uses} return [v0, v{}, {last}].join(' ') }})()",
                    kind.start,
                    kind.middle,
                    kind.after.repeat(n),
                    locals - 1
                );
                let expected = format!("0 {} {}", locals - 1, (kind.expected)(n));
                assert_eq!(run(&source), expected, "kind {index}, {n} levels, {locals} variables");
            }
        }
    }
}
