//! The language end to end: small scripts and their completion values.

use cynic_engine::vm::{Options, Vm};

/// Runs `source` in an isolate of its own; the result is the completion value (or the exception) as a string.
fn run(source: &str) -> String {
    let options = Options { hardened: false, allow_eval: true, ..Options::default() };
    let mut vm = Vm::new(options);
    let result = vm.evaluate_script("test.js", source).and_then(|value| {
        vm.run_jobs()?;
        Ok(value)
    });
    let value = match result {
        Ok(value) => value,
        Err(cynic_engine::vm::Abrupt::Terminate) => return format!("terminated: {:?}", vm.termination()),
        Err(_) => {
            let error = vm.take_exception();
            let text = vm.to_string(error).map(|s| s.to_rust_string()).unwrap_or_default();
            return format!("throws {text}");
        }
    };
    match value.as_symbol() {
        Some(_) => "symbol".to_owned(),
        None => vm.to_string(value).map(|s| s.to_rust_string()).unwrap_or_default(),
    }
}

#[track_caller]
fn check(source: &str, expected: &str) {
    assert_eq!(run(source), expected, "{source}");
}

#[test]
fn expressions() {
    check("1+1", "2");
    check("'a' + 1 + 2", "a12");
    check("1 + 2 * 3 - 4 / 2", "5");
    check("(1, 2)", "2");
    check("let a = 3; a += 4; a", "7");
    check("let a = 1; a + (a = 5)", "6");
    check("null ?? 'x'", "x");
    check("`a${1}b${2}`", "a1b2");
    check("typeof nothing", "undefined");
    check("nothing", "throws ReferenceError: nothing is not defined");
    check("2n ** 64n", "18446744073709551616");
    check("undefined?.a.b.c", "undefined");
    check("-5 % 5 === 0 && 1 / (-5 % 5)", "-Infinity");
}

#[test]
fn functions_and_closures() {
    check("function f(a, b) { return a * b } f(6, 7)", "42");
    check("function f() { let n = 0; return () => ++n } let g = f(); g(); g(); g()", "3");
    check("let fs = []; for (let i = 0; i < 3; i++) fs[i] = () => i; fs[0]() + fs[1]() + fs[2]()", "3");
    check("function f(a, b = a + 1, ...c) { return a + b + c.length } f(1, undefined, 3, 4)", "5");
    check("function f({ a, b: [c, d = 4] }) { return a + c + d } f({ a: 1, b: [2] })", "7");
    check("(function fact(n) { return n < 2 ? 1 : n * fact(n - 1) })(10)", "3628800");
    check(
        "function sum(n, acc) { if (n === 0) return acc; return sum(n - 1, acc + 1) } sum(1000000, 0)",
        "1000000",
    );
    check("function f() { return 1 + f() } try { f() } catch (e) { e instanceof RangeError }", "true");
    check("function f() { return arguments.length } f(1, 2, 3)", "3");
}

#[test]
fn objects_and_classes() {
    check("let o = { a: 1, get b() { return this.a + 1 }, ['c' + 1]: 3 }; o.a + o.b + o.c1", "6");
    check("class A { constructor(x) { this.x = x } get y() { return this.x * 2 } } new A(4).y", "8");
    check("class A { f() { return 1 } } class B extends A { f() { return super.f() + 1 } } new B().f()", "2");
    check("class A { #p = 1; static #q = 2; m() { return this.#p + A.#q } } new A().m()", "3");
    check("class A { x = this.constructor.name; static { this.z = 5 } } new A().x + A.z", "A5");
    check("class A {} class B extends A { constructor() { super(); this.k = 3 } } new B().k", "3");
    check("class A { constructor(...a) { this.n = a.length } } class B extends A {} new B(1, 2).n", "2");
    check("class A {} A()", "throws TypeError: class constructor A cannot be called without 'new'");
}

#[test]
fn control_flow() {
    check("let s = 0; for (const v of [1, 2, 3]) s += v; s", "6");
    check("let s = ''; for (const k in { a: 1, b: 2 }) s += k; s", "ab");
    check("let r = ''; try { throw 1 } catch (e) { r += e } finally { r += 'f' } r", "1f");
    check("function f() { try { return 1 } finally { return 2 } } f()", "2");
    check("function f() { for (;;) { try { break } finally { continue } } } 1", "1");
    check("let n = 0; outer: for (let i = 0; i < 3; i++) for (;;) { n++; continue outer } n", "3");
    check("switch (3) { case 1: 'a'; break; case 3: 'b'; default: 'c' }", "c");
    check("let i = 0; do { i++ } while (i < 5); i", "5");
    check("{ x; let x = 1 }", "throws ReferenceError: cannot access 'x' before initialization");
}

#[test]
fn generators_and_async() {
    check(
        "function* g() { yield 1; yield* [2, 3]; return 4 } let s = ''; for (const v of g()) s += v; s",
        "123",
    );
    check(
        "function* g() { try { yield 1 } finally { yield 2 } } let i = g(); i.next(); i.return(9).value",
        "2",
    );
    check("let r = []; (async () => { r.push(await 1); r.push(await 2) })(); r.push(0); r", "0,1,2");
    check(
        "let p = Promise.resolve(0); for (let i = 0; i < 10; i++) p = p.then(v => v + 1); let o = {}; p.then(v => o.toString = () => '' + v); o",
        "10",
    );
    check(
        "let r = []; async function* g() { yield 1; yield 2 } (async () => { for await (const v of g()) r.push(v) })(); r",
        "1,2",
    );
}

#[test]
fn eval_and_function() {
    check("function f(a) { return eval('a + 1') } f(1)", "2");
    check("new Function('a', 'b', 'return a + b')(1, 2)", "3");
    check("eval('1;;;')", "1");
    check("(0, eval)('var z = 1; z')", "1");
}

/// Modules from a table of texts.
struct Table(&'static [(&'static str, &'static str)]);

impl cynic_engine::vm::modules::ModuleLoader for Table {
    fn resolve(&self, _referrer: &str, specifier: &str) -> Result<String, String> {
        Ok(specifier.to_owned())
    }
    fn load(&self, key: &str, _kind: cynic_engine::vm::modules::ModuleKind) -> Result<String, String> {
        let row = self.0.iter().find(|(name, _)| *name == key);
        row.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "no such module".to_owned())
    }
}

/// Evaluates the module `main` of `modules`; the result is the global `out` as a string.
#[track_caller]
fn check_modules(modules: &'static [(&'static str, &'static str)], expected: &str) {
    let mut vm = Vm::new(Options { hardened: false, ..Options::default() });
    vm.set_module_loader(std::rc::Rc::new(Table(modules)));
    let result = vm
        .evaluate_script("setup.js", "var out = []")
        .and_then(|_| vm.load_module("main"))
        .and_then(|module| vm.evaluate_module(module))
        .and_then(|_| vm.run_jobs())
        .and_then(|()| vm.evaluate_script("out.js", "out.join()"));
    let text = match result {
        Ok(value) => vm.to_string(value).map(|s| s.to_rust_string()).unwrap_or_default(),
        Err(_) => {
            let error = vm.take_exception();
            format!("throws {}", vm.to_string(error).map(|s| s.to_rust_string()).unwrap_or_default())
        }
    };
    assert_eq!(text, expected);
}

#[test]
fn modules() {
    check_modules(
        &[
            (
                "main",
                "import d, { n, bump } from 'a'; import * as ns from 'a'; bump(); out.push(d, n, ns.n, Object.keys(ns))",
            ),
            ("a", "export let n = 1; export function bump() { n++ } export default 'd'"),
        ],
        "d,2,2,bump,default,n",
    );
    check_modules(
        &[
            ("main", "import { f } from 'b'; export function g() { return 'g' } out.push(f())"),
            ("b", "import { g } from 'main'; export function f() { return g() + 'f' }"),
        ],
        "gf",
    );
    check_modules(
        &[
            (
                "main",
                "import { x } from 'a'; out.push(x); out.push(await import('c').then(m => m.default.k))",
            ),
            ("a", "export let x = await 5"),
            ("c", "export default { k: import.meta.url }"),
        ],
        "5,c",
    );
    check_modules(
        &[("main", "import j from 'j' with { type: 'json' }; out.push(j.a)"), ("j", "{\"a\": 7}")],
        "7",
    );
    check_modules(
        &[("main", "import { nope } from 'a'"), ("a", "")],
        "throws SyntaxError: the export 'nope' that 'main' asks for is not there",
    );
}

#[test]
fn resources() {
    check(
        "let r = []; { using a = { [Symbol.dispose]() { r.push('a') } }; using b = { [Symbol.dispose]() { r.push('b') } }; r.push(1) } r",
        "1,b,a",
    );
    check(
        "let r = []; (async () => { await using a = { async [Symbol.asyncDispose]() { r.push('a') } }; r.push(1) })(); r",
        "1,a",
    );
    check(
        "try { using a = { [Symbol.dispose]() { throw 2 } }; throw 1 } catch (e) { e.error + ',' + e.suppressed }",
        "2,1",
    );
}

#[test]
fn continue_keeps_the_iterator_of_its_own_loop() {
    let iterator = "let closed = 0; let it = { [Symbol.iterator]() { let i = 0; return { next() { return { value: i, done: i++ > 2 } }, return() { closed++; return {} } } } };";
    check(&format!("{iterator} let n = 0; for (const x of it) {{ n++; continue }} n + ',' + closed"), "3,0");
    check(&format!("{iterator} for (const x of it) break; closed"), "1");
    check(
        &format!("{iterator} let k = 0; o: while (k++ < 2) {{ for (const x of it) continue o }} closed"),
        "2",
    );
}

/// An empty loop whose condition needs a slow path: strings are compared.
const SLOW_EMPTY_LOOP: &str = "(function () { const a = 'a', b = 'b'; while (a < b); })()";

#[test]
fn empty_loops_are_metered() {
    for source in
        ["for (;;) {}", "while (true) {}", "do {} while (true)", "for (;;) if (1) {}", SLOW_EMPTY_LOOP]
    {
        let mut vm = Vm::new(Options::default());
        vm.set_fuel(Some(10_000));
        assert!(vm.evaluate_script("loop.js", source).is_err(), "{source}");
        assert_eq!(vm.termination(), Some(cynic_engine::vm::Termination::Fuel), "{source}");
    }
}

#[test]
fn generators_are_stepped_by_loops() {
    check("function* g() { yield 1; yield 2; return 3 } let s = 0; for (const x of g()) s += x; s", "3");
    check(
        "function* g() { yield* h(); yield 3 } function* h() { yield 1; yield 2 } [...g()].join()",
        "1,2,3",
    );
    check(
        "function* g() { yield* h() } function* h() { yield 1; yield 2 } let s = ''; for (const x of g()) s += x; s",
        "12",
    );
    check("function* g() { yield 1; throw 'x' } try { for (const x of g()); } catch (e) { e }", "x");
    check(
        "let log = ''; function* g() { try { yield 1; yield 2 } finally { log += 'f' } } for (const x of g()) break; log",
        "f",
    );
    check(
        "function* g() { for (const x of it) yield x } const it = g(); it.next()",
        "throws TypeError: the generator is already running",
    );
    check(
        "function* g(n) { yield n; for (const x of g(n + 1)) yield x } let c = 0; for (const x of g(0)) if (++c > 50) break; c",
        "51",
    );
    check(
        "const [a, , b = 7, ...c] = (function* () { yield 1; yield 2; yield; yield 4 })(); [a, b, c]",
        "1,7,4",
    );
    check(
        "function* g() { yield* { [Symbol.iterator]() { return { next: () => ({ get done() { throw 'd' } }) } } } } let r; try { for (const x of g()); } catch (e) { r = e } r",
        "d",
    );
    check(
        "function* deep() { for (const x of deep()) yield x } try { for (const x of deep()); } catch (e) { e instanceof RangeError }",
        "true",
    );
}

#[test]
fn spread_calls() {
    check(
        "function f(a, b, ...c) { return [a, b, c, arguments.length].join('|') } f(...[1, 2, 3], 4)",
        "1|2|3,4|4",
    );
    check("const o = { n: 5, m(...a) { return this.n + a.length } }; o.m(...'abc')", "8");
    check("function f() { return arguments.length } f(...Array(1000).fill(0))", "1000");
    check("function f(n) { return n ? f(...[n - 1]) + 1 : 0 } f(1000)", "1000");
    check("function f() { return f(...[1]) + 1 } try { f() } catch (e) { e instanceof RangeError }", "true");
    check("class C {} C(...[])", "throws TypeError: class constructor C cannot be called without 'new'");
    check("let x = 1; (function () { let x = 2; return eval(...['x', 'y']) + eval(...[]) })()", "NaN");
    check("let r; (function () { let x = 2; r = eval(...['x']) })(); r", "2");
}

#[test]
fn order_of_evaluation() {
    let super_key = "const a = { p: 1 }, b = { p: -1 };
        const o = { __proto__: a, m() { return super[key] += 1 }, n() { return ++super[key] } };
        const key = { toString() { Object.setPrototypeOf(o, b); return 'p' } };";
    check(&format!("{super_key} o.m()"), "2");
    check(&format!("{super_key} o.n()"), "2");
    check("made = (this.made = 5)", "throws ReferenceError: made is not defined");
    check("var mine = (this.mine = 4, 5); mine", "5");
}

#[test]
fn completion_values_of_finalisers() {
    check("do { 1; try { 2 } finally { 3; break; 4 } } while (false)", "3");
    check("do { 1; try { 2 } finally { break; 4 } } while (false)", "undefined");
    check("do { 1; try { 2 } finally { 3; continue } 5 } while (false)", "3");
    check("do { 1; try { 2 } finally { 3 } } while (false)", "2");
    check("do { 1; try { 2 } finally { do { 3; break } while (0) } } while (false)", "2");
    check("do { try { 1 } finally { try { 2 } finally { 3; break } } } while (false)", "3");
}

#[test]
fn lone_surrogates_in_source_text() {
    check(r"eval('/\\ud800/').source.length", "6");
    check(r"eval('/' + '\\ud800' + '/').source.length", "6");
    check("eval('/' + String.fromCharCode(0xd800) + '/').source.length", "1");
    check("eval('/\\\\' + String.fromCharCode(0xd800) + '/').source.length", "2");
    check("eval('\"' + String.fromCharCode(0xd800) + '\"').length", "1");
    check("eval('\"\\\\' + String.fromCharCode(0xdc00) + '\"').charCodeAt(0)", "56320");
}

#[test]
fn strings_are_sorted_and_joined() {
    let code_points = "map((s) => [...s].map((c) => c.codePointAt(0).toString(36)).join('.')).join()";
    check(
        &format!(
            r"['b', 'a\u{{1f600}}', 'a', '', 'a\0', 'abcde', 'abcdd', '\xff', '\uffff', 'abcd'].sort().{code_points}"
        ),
        ",2p,2p.0,2p.2q.2r.2s,2p.2q.2r.2s.2s,2p.2q.2r.2s.2t,2p.2r5s,2q,73,1ekf",
    );
    check(
        "[1, -5, -2147483648, null, undefined, 'x', 1.5, [2, [3]]].join('|')",
        "1|-5|-2147483648|||x|1.5|2,3",
    );
    check(
        "['ab' < 'b', 'ab' < 'aa', 'a' < 'ab', '' < 'a', 'b' < 'a', 'a' <= 'a', '\\xff' < '\\u0100'].join()",
        "true,false,true,true,false,true,true",
    );
}

#[test]
fn a_stack_begins_with_name_and_message() {
    check("new TypeError('odd').stack.split('\\n')[0]", "TypeError: odd");
    check("new Error('').stack.split('\\n')[0]", "Error");
    check("const e = new Error('m'); e.name = ''; e.stack.split('\\n')[0]", "m");
    check("new Error('\\ud800').stack.charCodeAt(7)", "55296");
    check(
        "const s = new Error('x'.repeat(2 ** 28)).stack; s.length > 2 ** 27 && s.length < 2 ** 27 + 1000",
        "true",
    );
}

#[test]
fn delegation_to_generators() {
    let tree =
        "function* walk(n) { if (n > 0) { yield* walk(n - 1); yield n; yield* walk(n - 1); } return n; }";
    check(&format!("{tree} [...walk(3)].join()"), "1,2,1,3,1,2,1");
    check(&format!("{tree} let s = 0; for (const n of walk(12)) s += n; s"), "8178");
    // What is sent reaches the innermost, and what it returns is the value of the expression.
    check(
        "function* inner() { const got = []; got.push(yield 1); got.push(yield 2); return got; }
         function* middle() { return yield* inner(); }
         function* outer() { const got = yield* middle(); yield got.join('-'); }
         const it = outer(); it.next('lost'); it.next('a'); it.next('b').value",
        "a-b",
    );
    check(
        "function* inner() { try { yield 1; } catch (e) { yield 'caught ' + e; } finally { yield 'end'; } }
         function* outer() { yield* inner(); yield 'after'; }
         const it = outer(); it.next(); [it.throw('x').value, it.return(5).value, it.next().value].join()",
        "caught x,end,after",
    );
    check(
        "function* inner() { yield 1; throw new Error('inside'); }
         function* outer() { try { yield* inner(); } catch (e) { yield e.message; } }
         [...outer()].join()",
        "1,inside",
    );
    check(
        "let it; function* g() { yield* it; } it = g(); it.next()",
        "throws TypeError: the generator is already running",
    );
    check(
        "function* done() {} const d = done(); d.next(); function* g() { yield* d; yield 1; } [...g()].join()",
        "1",
    );
    check(
        "function* deep(n) { if (n) yield* deep(n - 1); else yield 'bottom'; }
         let r; try { r = deep(1e6).next().value; } catch (e) { r = e.name; } r + deep(1000).next().value",
        "RangeErrorbottom",
    );
    // One that is not the language's own is asked as before.
    check(
        "function* inner() { yield 1; } const own = inner(); own.next = () => ({ done: true, value: 7 });
         function* outer() { return yield* own; } outer().next().value",
        "7",
    );
}

#[test]
fn a_division_of_long_integers_costs_fuel() {
    let mut vm = Vm::new(Options::default());
    vm.set_fuel(Some(100_000));
    let source = "const a = (1n << 4000000n) - 1n, b = (1n << 2000000n) - 1n;";
    assert!(vm.evaluate_script("a.js", source).is_ok());
    for operator in ["/", "%"] {
        vm.set_fuel(Some(100_000));
        let result = vm.evaluate_script("b.js", &format!("a {operator} b"));
        assert_eq!(result, Err(cynic_engine::vm::Abrupt::Terminate), "{operator}");
        vm.clear_termination();
    }
}

#[test]
fn super_calls_in_direct_eval_bind_this() {
    let derived = |body: &str| {
        format!(
            "let log = []; class A {{ constructor() {{ this.x = 1 }} }} class B extends A {{ f = eval('this'); constructor() {{ {body} }} }} const b = new B(); log.push(b.x, b.f === b); log.join()"
        )
    };
    check(&derived("const r = eval('super(); this'); log.push(r === this)"), "true,1,true");
    check(&derived("eval('super()'); log.push(this.x)"), "1,1,true");
    check(&derived("(() => eval('super()'))(); log.push(this.x)"), "1,1,true");
    check(&derived("eval('(() => super())()'); log.push(eval('this') === this)"), "true,1,true");
    check(
        &derived("eval(\"eval('super(); this')\"); log.push(eval('() => this')() === this)"),
        "true,1,true",
    );
    check(&derived("try { eval('this') } catch (e) { log.push(e.name) } super()"), "ReferenceError,1,true");
    check(
        &derived("super(); try { eval('super()') } catch (e) { log.push(e.name) }"),
        "ReferenceError,1,true",
    );
    check(
        &derived("eval('super()'); try { super() } catch (e) { log.push(e.name) }"),
        "ReferenceError,1,true",
    );
}
