//! Whatever nests does so as deeply as programs write it, whatever registers a frame has: those that it has no room for live elsewhere.

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
    /// Levels up to which nothing but registers could run short.
    levels_max: usize,
}

impl Kind {
    fn source(&self, n: usize) -> String {
        let before: String = (0..n).map(self.before).collect();
        let after = self.after.repeat(n);
        format!("{}{before}{}{after}{}", self.start, self.middle, self.end).replace("LEVELS", &n.to_string())
    }
}

const ALL: usize = usize::MAX;

const KINDS: &[Kind] = &[
    Kind {
        start: "var x = {};",
        before: |i| format!("x.a{i} = "),
        middle: "'v'",
        after: "",
        end: "; Object.keys(x).length + x.a0",
        expected: |n| format!("{n}v"),
        levels_max: ALL,
    },
    Kind {
        start: "var x = {}, i = 0, order = '';",
        before: |i| format!("(order += '.', x)[i++ + {i}] = "),
        middle: "(order += 'v', 7)",
        after: "",
        end: "; order.length + '/' + i + '/' + Object.keys(x).length + '/' + x[0]",
        expected: |n| format!("{}/{n}/{n}/7", n + 1),
        levels_max: ALL,
    },
    Kind {
        start: "function f(a) { return a + 1 } var r = ",
        before: |_| "f(".into(),
        middle: "0",
        after: ")",
        end: "; r",
        expected: |n| n.to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "function f(a, b, c) { return a + b + c } var r = ",
        before: |i| format!("f({i} * 0 + 1, (() => 0)(), "),
        middle: "0",
        after: ")",
        end: "; r",
        expected: |n| n.to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "var o = { n: 0, m(a, b) { this.n += a; return b } }; var r = ",
        before: |_| "o.m(1, ".into(),
        middle: "'end'",
        after: ")",
        end: "; r + o.n",
        expected: |n| format!("end{n}"),
        levels_max: ALL,
    },
    Kind {
        start: "class A { constructor(a) { this.a = a } } var r = ",
        before: |_| "new A(".into(),
        middle: "null",
        after: ")",
        end: "; var n = 0; while (r) { r = r.a; n++ }; n",
        expected: |n| n.to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "class B { m(a) { return a + 1 } } class C extends B { r() { return ",
        before: |_| "super.m(".into(),
        middle: "0",
        after: ")",
        end: " } } new C().r()",
        expected: |n| n.to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "var x = { a: 1 }; var r = ",
        before: |_| "x.a += ".into(),
        middle: "1",
        after: "",
        end: "; r + '/' + x.a",
        expected: |n| format!("{0}/{0}", n + 1),
        levels_max: ALL,
    },
    Kind {
        start: "var x = { i: 0, get o() { return [5, 6] } }; var r = ",
        before: |_| "x.o[".into(),
        middle: "6",
        after: " - 5]",
        end: "; r",
        expected: |_| "6".into(),
        levels_max: ALL,
    },
    Kind {
        start: "function* g() { return ",
        before: |_| "f(1, ".into(),
        middle: "yield 5",
        after: ")",
        end: " } function f(a, b) { return a + b } const i = g(); i.next(); i.next(10).value",
        expected: |n| (n + 10).to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "function f(a, b) { return b } var x = {}; var r; try { r = ",
        before: |i| format!("f(x.a{i} = f(1, {i}), "),
        middle: "(() => { throw 'out' })()",
        after: ")",
        end: " } catch (e) { r = e + Object.keys(x).length } r",
        expected: |n| format!("out{n}"),
        levels_max: ALL,
    },
    // What gathers values.
    Kind {
        start: "var r = ",
        before: |i| format!("[{i}, "),
        middle: "[]",
        after: ", 'e']",
        end: "; var n = 0; while (r.length) { if (r[0] !== n++ || r[2] !== 'e') throw n; r = r[1] } n",
        expected: |n| n.to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "var r = ",
        before: |_| "[...'ab', , ...".into(),
        middle: "[]",
        after: "]",
        end: "; r.length + '/' + Object.keys(r).length",
        expected: |n| format!("{}/{}", 3 * n, 3 * n - 1),
        levels_max: ALL,
    },
    Kind {
        start: "var r = ",
        before: |i| format!("{{ a: {i}, b: "),
        middle: "null",
        after: ", c: 1 }",
        end: "; var n = 0; while (r) { if (r.a !== n++ || r.c !== 1) throw n; r = r.b } n",
        expected: |n| n.to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "var k = 'key', r = ",
        before: |_| "{ [k + 1]: 1, get g() { return 5 }, ['b']: ".into(),
        middle: "null",
        after: ", ...{ z: 1 } }",
        end: "; var n = 0; while (r) { n++; if (r.key1 + r.g + r.z !== 7) throw n; r = r.b } n",
        expected: |n| n.to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "var r = ",
        before: |_| "`<${".into(),
        middle: "'-'",
        after: "}>`",
        end: "; r.length + r[0] + r.at(-1)",
        expected: |n| format!("{}<>", 2 * n + 1),
        levels_max: ALL,
    },
    Kind {
        start: "var t = (s, a, b) => s.raw.join('') + a + b; var r = ",
        before: |_| "t`<${1}${".into(),
        middle: "'-'",
        after: "}`",
        end: "; r.length",
        expected: |n| (2 * n + 1).to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "function f() { return arguments.length + arguments[3] } var r = ",
        before: |_| "f(...'ab', 1, ".into(),
        middle: "0",
        after: ")",
        end: "; r",
        expected: |n| (4 * n).to_string(),
        levels_max: ALL,
    },
    // Operators.
    Kind {
        start: "var o = { v: 0, get g() { return ++this.v } }; var r = ",
        before: |_| "o.g - (".into(),
        middle: "0",
        after: ")",
        end: "; r + '/' + o.v",
        expected: |n| format!("{}/{n}", if n % 2 == 0 { -(n as i64) / 2 } else { n as i64 / 2 + 1 }),
        levels_max: ALL,
    },
    Kind {
        start: "var one = () => 1; var r = ",
        before: |_| "one() ** (".into(),
        middle: "2",
        after: ")",
        end: "; r",
        expected: |_| "1".into(),
        levels_max: ALL,
    },
    Kind {
        start: "var yes = () => true, no = () => null; var r = ",
        before: |_| "yes() && (no() ?? (yes() ? ".into(),
        middle: "'deep'",
        after: " : 0))",
        end: "; r",
        expected: |_| "deep".into(),
        levels_max: ALL,
    },
    Kind {
        start: "var x = { i: 1, get o() { return [0, 1] } }; var r = ",
        before: |_| "x?.o?.[".into(),
        middle: "1",
        after: "]",
        end: "; r",
        expected: |_| "1".into(),
        levels_max: ALL,
    },
    Kind {
        start: "var x = [0]; var r = ",
        before: |_| "x[x[0]] += ".into(),
        middle: "1",
        after: " * 1",
        end: "; r + '/' + x.length",
        expected: |_| "1/1".into(),
        levels_max: ALL,
    },
    Kind {
        start: "var x = {}; var r = ",
        before: |i| format!("x.a{i} ??= "),
        middle: "3",
        after: "",
        end: "; r + Object.keys(x).length",
        expected: |n| (3 + n).to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "class P { #p = 0; r() { return ",
        before: |_| "this.#p += 1 + 0 * (".into(),
        middle: "0",
        after: ")",
        end: " } } new P().r()",
        expected: |_| "1".into(),
        levels_max: ALL,
    },
    Kind {
        start: "var r = ",
        before: |_| "typeof delete void (1, ".into(),
        middle: "0",
        after: ")",
        end: "; r",
        expected: |_| "boolean".into(),
        levels_max: ALL,
    },
    // Patterns.
    Kind {
        start: "function build(n) { let v = ['in']; while (n--) v = [1, v]; return v } var ",
        before: |i| format!("[a{i}, "),
        middle: "[last]",
        after: "]",
        end: " = build(LEVELS); last + a0",
        expected: |_| "in1".into(),
        levels_max: ALL,
    },
    Kind {
        start: "function build(n) { let v = { last: 'in' }; while (n--) v = { a: 1, b: v, c: 2 }; return v } var x = {}; (",
        before: |_| "{ a: x.v, b: ".into(),
        middle: "{ last: x.v }",
        after: ", ...x.rest }",
        end: " = build(LEVELS)); x.v + x.rest.c",
        expected: |_| "in2".into(),
        levels_max: ALL,
    },
    Kind {
        start: "var f = (",
        before: |i| format!("{{ a{i} = {i}, b: "),
        middle: "{ last = 'in' }",
        after: " = {} }",
        end: " = {}) => a0 + last; f()",
        expected: |_| "0in".into(),
        levels_max: 250,
    },
    // Statements. The first counts what is closed on the way out.
    Kind {
        start: "var closed = 0, it = { [Symbol.iterator]() { return { next: () => ({ value: 1, done: false }), return: () => { closed++; return {} } } } };
            (function () { ",
        before: |i| format!("for (const v{i} of it) "),
        middle: "return",
        after: "",
        end: " })(); closed",
        expected: |n| n.to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "var closed = 0, it = { *[Symbol.iterator]() { try { yield 1; yield 2 } finally { closed++ } } }; try { ",
        before: |i| format!("for (const v{i} of it) "),
        middle: "throw 'out'",
        after: "",
        end: " } catch (e) { closed += e } closed",
        expected: |n| format!("{n}out"),
        levels_max: ALL,
    },
    Kind {
        start: "var n = 0; outer: ",
        before: |i| format!("for (const v{i} of [1, 2]) for (const k{i} in {{ a: 1 }}) "),
        middle: "{ n++; continue outer }",
        after: "",
        end: "; n",
        expected: |_| "2".into(),
        levels_max: ALL,
    },
    Kind {
        start: "var n = 0, fs = []; ",
        before: |i| format!("for (let v{i} = 0; v{i} < 1; v{i}++) {{ fs.push(() => v{i}); "),
        middle: "n = 'in'",
        after: "}",
        end: "; n + fs.length + fs[0]()",
        expected: |n| format!("in{n}0"),
        levels_max: ALL,
    },
    Kind {
        start: "var n = 0; ",
        before: |i| format!("switch (n) {{ case {i} - {i}: let l{i} = 1; "),
        middle: "n = 'in'",
        after: "}",
        end: "; n",
        expected: |_| "in".into(),
        levels_max: ALL,
    },
    Kind {
        start: "var n = ''; (function () { ",
        before: |_| "try { ".into(),
        middle: "return",
        after: " } finally { n += '.' }",
        end: " })(); n.length",
        expected: |n| n.to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "var n = 0; ",
        before: |_| "try { ".into(),
        middle: "throw 0",
        after: " } catch (e) { n++; throw e + 1 }",
        end: "",
        expected: |n| n.to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "var n = 0; ",
        before: |i| format!("try {{ throw {i} }} catch (e{i}) {{ n += e{i} - {i} + 1; "),
        middle: "n += e0",
        after: " }",
        end: "; n",
        expected: |n| n.to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "var n = 0; (function () { ",
        before: |i| format!("{{ let v{i} = {i}, w{i} = 1; n += w{i}; if (v{i} >= 0) do {{ "),
        middle: "return v0",
        after: " } while (false) }",
        end: " })(); n",
        expected: |n| n.to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "var n = 0; { ",
        before: |i| format!("{{ using u{i} = {{ [Symbol.dispose]() {{ n++ }} }}; "),
        middle: "",
        after: " }",
        end: " } n",
        expected: |n| n.to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "var f; ",
        before: |i| format!("for (let v{i} = {i}; v{i} < {i} + 1; v{i}++) {{ (() => v{i}); "),
        middle: "f = () => v0 + 5",
        after: "}",
        end: "; f()",
        expected: |_| "5".into(),
        levels_max: 250,
    },
    // Coroutines.
    Kind {
        start: "function* g() { return ",
        before: |_| "[1, yield ".into(),
        middle: "0",
        after: "]",
        end: " } const i = g(); let n = 0; while (!i.next(n).done) n++; n",
        expected: |n| n.to_string(),
        levels_max: ALL,
    },
    Kind {
        start: "function* g() { ",
        before: |i| format!("for (const v{i} of [1]) "),
        middle: "{ yield 'a'; yield v0 }",
        after: "",
        end: " } [...g()].join('')",
        expected: |_| "a1".into(),
        levels_max: ALL,
    },
    Kind {
        start: "var seen; async function f() { return ",
        before: |_| "[await ".into(),
        middle: "0",
        after: ", 1]",
        end: " } f().then((v) => { seen = v }); ''",
        expected: |_| String::new(),
        levels_max: ALL,
    },
    Kind {
        start: "var C = ",
        before: |_| "class { static v = ".into(),
        middle: "'in'",
        after: " }",
        end: "; let n = 0; while (C.v) { C = C.v; if (C !== 'in') n++; } n + 1",
        expected: |n| n.to_string(),
        levels_max: 100,
    },
];

#[test]
fn nesting_has_no_width() {
    for (index, kind) in KINDS.iter().enumerate() {
        for n in [1, 20, 40, 60, 80, 100, 160, 250, 600] {
            if n > kind.levels_max {
                continue;
            }
            let source = kind.source(n);
            let t = std::time::Instant::now();
            let got = run(&source);
            println!("kind {index} {n} {:?}", t.elapsed());
            assert_eq!(got, (kind.expected)(n), "kind {index}, {n} levels");
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

#[test]
fn a_variable_of_too_many_scopes_away_is_an_error_and_not_another_one() {
    let open: String = (0..300).map(|i| format!("{{ let v{i} = {i}; (() => v{i}); ")).collect();
    let source = format!("var f; {open} f = () => v0 + 5 {} f()", "}".repeat(300));
    let outcome = run(&source);
    assert!(outcome.starts_with("SyntaxError: a variable is used more than 255 scopes"), "{outcome}");
}

/// As many parameters as one likes, with everything that a parameter can be; and arguments that are missing, whatever prototypes have there.
#[test]
fn parameters_have_no_number() {
    for n in [1, 40, 41, 100, 120, 121, 160, 255, 256, 300, 2000] {
        let names: String = (0..n).map(|i| format!("p{i}, ")).collect();
        let all = format!("{names}d = p0 + 1, {{ x, ...o }} = {{ x: 5, y: 6 }}, [e] = [7], ...rest");
        let given: String = (0..n).map(|i| format!("{i}, ")).collect();
        let last = n - 1;
        let check = format!(
            "[f({given}), f({given} 9, {{ x: 1, z: 2 }}, 'q', 'r', 's'), f(1), f.length, f.toString().length > 0].join(' ')"
        );
        let body = format!(
            "[p0, p{last}, d, x, Object.keys(o), e, rest.length, rest.length > 1 ? rest[1] : '', arguments.length].join()"
        );
        let expected = format!(
            "0,{last},1,5,y,7,0,,{n} 0,{last},9,1,z,q,2,s,{} 1,{},2,5,y,7,0,,1 {n} true",
            n + 5,
            if n == 1 { "1" } else { "" }
        );
        for form in [
            "function f(P) { return B }",
            "var f = { m(P) { return B } }.m",
            "function f(P) { return (() => B)() }",
        ] {
            let function = form.replace('P', &all).replace('B', &body);
            let source = format!(
                "Object.prototype[{last}] = 'wrong'; Array.prototype[{n}] = 'wrong'; {function}; {check}"
            );
            assert_eq!(run(&source), expected, "{n} parameters, {form}");
        }
        let generator =
            format!("function* g({all}) {{ yield p{last}; yield arguments.length }} [...g({given})].join()");
        assert_eq!(run(&generator), format!("{last},{n}"), "{n} parameters");
        let class = format!(
            "class A {{ constructor({all}) {{ this.v = p{last} + d }} }} class B extends A {{}} new B({given} 1).v"
        );
        assert_eq!(run(&class), (last + 1).to_string(), "{n} parameters");
    }
}

/// Patterns with a rest remember their keys in registers.
#[test]
fn rests_of_patterns_leave_out_many_keys() {
    for n in [1, 50, 100, 140, 230] {
        let keys: String = (0..n).map(|i| format!("a{i}, ")).collect();
        let values: String = (0..n).map(|i| format!("a{i}: {i}, ")).collect();
        let source =
            format!("var {{ {keys} ...r }} = {{ {values} z: 'z' }}; a{} + Object.keys(r).join()", n - 1);
        assert_eq!(run(&source), format!("{}z", n - 1), "{n} keys");
    }
}
