//! Compiled code does what the interpreter does: the same values, errors and stack traces, the same steps, under every limit and with a
//! collector that is always at work. Where nothing can be compiled, there is nothing to compare and the tests say so.

use std::time::{Duration, Instant};

use cynic_engine::gc::Zeal;
use cynic_engine::jit::{self, Mode};
use cynic_engine::vm::{Options, Termination, Vm};

/// How a run ended, as text, and the fuel that was left.
type Outcome = (String, Option<u64>);

fn isolate(mode: Mode) -> Vm {
    let mut vm = Vm::new(Options { hardened: false, allow_eval: true, ..Options::default() });
    jit::enable(&mut vm, mode);
    vm
}

/// The interpreter that a mode is compared with: it looks at the limits as often, because a call that does takes a step more.
fn interpreter_for(mode: Mode) -> Vm {
    let mut vm = isolate(Mode::Off);
    vm.metering.looks_often = mode == Mode::EagerTemplate;
    if vm.metering.looks_often {
        vm.budget = 1;
    }
    vm
}

fn evaluate(vm: &mut Vm, source: &str) -> String {
    match vm.evaluate_script("test.js", source) {
        Ok(value) => {
            vm.to_string(value).map(|text| text.to_rust_string()).unwrap_or_else(|_| "unprintable".into())
        }
        Err(_) if vm.termination().is_some() => {
            format!("ended: {}", vm.termination().map(|t| t.to_string()).unwrap_or_default())
        }
        Err(_) => {
            let error = vm.take_exception();
            vm.to_string(error).map(|text| text.to_rust_string()).unwrap_or_else(|_| "unprintable".into())
        }
    }
}

fn interpreted(mode: Mode, fuel: Option<u64>, source: &str) -> Outcome {
    let mut vm = interpreter_for(mode);
    vm.set_fuel(fuel);
    let text = evaluate(&mut vm, source);
    (text, vm.fuel_left())
}

fn run(mode: Mode, fuel: Option<u64>, source: &str) -> Outcome {
    let mut vm = isolate(mode);
    vm.set_fuel(fuel);
    let text = evaluate(&mut vm, source);
    if mode == Mode::ForceTemplate && jit::stats(&vm).is_none_or(|stats| stats.functions == 0) {
        println!("nothing is compiled here");
    }
    (text, vm.fuel_left())
}

/// The ways to compile that are compared with the interpreter: before anything ran, and when the caches know a little.
const COMPILING: [Mode; 2] = [Mode::ForceTemplate, Mode::EagerTemplate];

/// The same in all modes, with the same fuel left.
#[track_caller]
fn same(source: &str) -> String {
    let fuel = Some(1 << 30);
    for mode in COMPILING {
        assert_eq!(run(mode, fuel, source), interpreted(mode, fuel, source), "{mode:?}: {source}");
    }
    run(Mode::Off, fuel, source).0
}

/// Values at which operators change what they do.
const EDGES: &str = "const edges = [0, -0, 1, -1, 2, 3, 7, 31, 32, 33, -31, 46341, 65536, 2147483647, -2147483648, 2147483648, -2147483649,
    4294967295, 4294967296, 9007199254740993, 1e21, -1e300, 9223372036854775807, -9223372036854775808, 0.5, -0.5, 1.5, NaN, Infinity, -Infinity,
    5e-324, true, false, null, undefined, '', '5', 'x', 10n, -3n, {}, [4], Symbol.iterator];
    const show = (v) => typeof v === 'bigint' ? v + 'n' : Object.is(v, -0) ? '-0' : typeof v === 'symbol' ? 'symbol' : typeof v + String(v);
    const attempt = (f) => { try { return show(f()); } catch (e) { return e.name; } };
    let out = '';";

#[test]
fn operators_on_pairs_of_edges() {
    let operators = [
        "+", "-", "*", "/", "%", "**", "&", "|", "^", "<<", ">>", ">>>", "<", "<=", ">", ">=", "==", "!=",
        "===", "!==",
    ];
    for op in operators {
        // As a value and as a condition, of a branch forwards and of one backwards.
        same(&format!(
            "{EDGES} for (const a of edges) for (const b of edges) {{
                out += attempt(() => a {op} b) + (attempt(() => {{ if (a {op} b) return 1; return 0; }}));
                out += attempt(() => {{ let n = 0; do {{ n++; }} while (n < 3 && (a {op} b)); return n; }});
                out += attempt(() => {{ let n = 0; while (n < 3 && !(a {op} b)) n++; return n; }});
            }} out"
        ));
    }
}

#[test]
fn operators_with_small_and_large_immediates() {
    let operators =
        ["+", "-", "*", "%", "&", "|", "^", "<<", ">>", ">>>", "<", "<=", ">", ">=", "===", "!=="];
    let immediates = [
        "0",
        "1",
        "-1",
        "8",
        "7",
        "31",
        "32",
        "255",
        "32767",
        "32768",
        "-32768",
        "-40000",
        "2147483647",
        "-2147483648",
    ];
    for op in operators {
        let mut cases = String::new();
        for right in immediates {
            cases.push_str(&format!(
                "out += attempt(() => a {op} {right}) + attempt(() => {{ if (a {op} {right}) return 1; return 0; }})
                    + attempt(() => {{ let n = 0; do {{ n++; }} while (n < 3 && a {op} {right}); return n; }});"
            ));
        }
        same(&format!("{EDGES} for (const a of edges) {{ {cases} }} out"));
    }
}

#[test]
fn operators_on_one_edge() {
    for expression in [
        "-a",
        "+a",
        "~a",
        "!a",
        "typeof a",
        "++a",
        "--a",
        "a++",
        "a--",
        "a ?? 1",
        "a?.x",
        "a && 1",
        "a || 1",
        "a ? 1 : 2",
    ] {
        same(&format!(
            "{EDGES} for (const e of edges) {{ let a = e; out += attempt(() => {expression}) + attempt(() => a); }} out"
        ));
    }
}

/// Programs of every kind of instruction.
const PROGRAMS: &[&str] = &[
    "let s = 0; for (let i = 0; i < 300; i++) s = (s * 31 + i) | 0; s",
    "function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2); } f(12)",
    "function tail(n, a) { if (n === 0) return a; return tail(n - 1, a + 1); } tail(500, 0)",
    "function even(n) { return n === 0 ? true : odd(n - 1); } function odd(n) { return n === 0 ? false : even(n - 1); } even(301)",
    "class P { constructor(x) { this.x = x; } get y() { return this.x * 2; } add(o) { return new P(this.x + o.x); } }
     let p = new P(1); for (let i = 0; i < 40; i++) p = p.add(new P(i)); p.x + ',' + p.y",
    "class A { #n = 1; static s = 2; bump() { return ++this.#n; } } class B extends A { constructor() { super(); this.z = super.bump(); } }
     let t = 0; for (let i = 0; i < 20; i++) { const b = new B(); t += b.z + b.bump() + B.s; } t",
    "function* g(n) { try { for (let i = 0; i < n; i++) yield i; } finally { out += 'f'; } } let out = '';
     for (const v of g(9)) out += v; for (const v of g(9)) { if (v > 3) break; out += v; } [...g(3), ...g(2)].join() + out",
    "function* inner() { const got = yield 1; yield got; return 3; } function* outer() { const r = yield* inner(); yield r; }
     const it = outer(); [it.next().value, it.next('x').value, it.next().value, it.next().done].join()",
    "let s = ''; for (let i = 0; i < 30; i++) { try { if (i % 3 === 0) throw new Error('e' + i); s += i; } catch (e) { s += e.message; } finally { s += '.'; } } s",
    "function deep(n) { if (n === 0) throw new TypeError('bottom'); return deep(n - 1) + 1; } let s; try { deep(30); } catch (e) { s = e.stack.split('\\n').length; } s",
    "const nested = () => { try { return [1, 2, 3].map((x) => { if (x === 2) throw x; return x; }); } catch (e) { return 'c' + e; } }; nested() + nested()",
    "let r = 0; const o = { a: 1, b: 2, get c() { return this.a + this.b; }, set d(v) { this.a = v; } };
     for (let i = 0; i < 25; i++) { o.d = i; o.b += o.c; delete o.e; o.e = i; r += o.b + ('a' in o) + Object.keys(o).length; } r",
    "const a = []; for (let i = 0; i < 50; i++) a.push(i * 1.5); let s = 0; for (const v of a) s += v; for (let i = 0; i < a.length; i++) { a[i] = a[i] + 1; s -= a[i]; } s",
    "const a = [1, , 3]; a[5] = 6; let s = ''; for (let i = 0; i < 7; i++) s += a[i]; for (const k in a) s += k; a.length = 2; s + a.length + a",
    "const t = [new Int8Array(4), new Uint8Array(4), new Uint8ClampedArray(4), new Int16Array(4), new Uint16Array(4), new Int32Array(4), new Uint32Array(4), new Float32Array(4), new Float64Array(4)];
     let s = ''; for (const x of t) { for (const v of [0, -1, 1.5, 300, -1e10, NaN, 2 ** 31, 4294967295, Infinity, -0, undefined, '7']) { for (let i = -1; i < 5; i++) x[i] = v; s += x[0] + x[4] + ',' + x[-1] + ','; } s += x.length; } s",
    "function sum() { let s = 0; for (let i = 0; i < arguments.length; i++) s += arguments[i]; return s; } function rest(a, ...r) { return a + r.length; }
     sum() + sum(1) + sum(1, 2, 3) + rest(1) + rest(1, 2, 3) + sum(...[4, 5, 6]) + ((a, b = 2, c) => `${a}${b}${c}`)(1)",
    "const m = new Map(); for (let i = 0; i < 30; i++) m.set('k' + (i % 7), i); let s = ''; for (const [k, v] of m) s += k + v; s",
    "let x = 1; const bump = () => { x++; return () => x; }; const f = bump(); x = f() + 1; { let y = x; x = (() => y * 2)(); } eval('x + 1') + x",
    "function F(a) { this.a = a; if (a > 3) return { a: -1 }; if (a > 2) return 5; } let s = ''; for (let i = 0; i < 6; i++) s += new F(i).a; s + (() => F.prototype.constructor === F)()",
    "let s = ''; for (const v of ['', 'a', 0, 1, NaN, null, undefined, {}, [], true, 10n, 0n]) { s += v ? 1 : 0; if (!v) s += 'n'; s += typeof v; switch (v) { case 0: s += 'z'; break; case 'a': s += 'A'; default: s += 'd'; } } s",
    "let log = ''; const p = new Proxy({}, { get: (t, k) => { log += String(k); return k; }, has: () => true }); log + p.abc + ('q' in p) + log",
    "label: for (let i = 0; i < 6; i++) { for (let j = 0; j < 6; j++) { if (j === 3) continue label; if (i === 4) break label; } } 'done'",
    "let s = 0; const it = { [Symbol.iterator]() { let n = 0; return { next: () => ({ done: n >= 5, value: n++ }), return() { s += 100; return {}; } }; } };
     for (const v of it) s += v; for (const v of it) { if (v === 2) break; } const [a, b] = it; s + a + b",
    "globalThis.g = 1; let s = 0; for (let i = 0; i < 10; i++) { g += i; s += g; } function read() { return typeof missing; } s + read() + (() => { try { return missing; } catch (e) { return e.name; } })()",
    "let s; try { (() => { later; let later = 1; })(); } catch (e) { s = e.name; } try { (() => { const c = 1; c = 2; })(); } catch (e) { s += e.name; } s",
    "let n = 0; const shapes = [{ v: 1 }, { a: 0, v: 2 }, { a: 0, b: 0, v: 3 }, Object.create({ v: 4 }), { get v() { return 5; } }, 'str', [6]];
     for (let i = 0; i < 70; i++) { const o = shapes[i % 7]; n += (o.v ?? 10); if (typeof o === 'object' && i % 7 < 4) o.w = i; } n",
    "const o = {}; for (let i = 0; i < 40; i++) o['p' + i] = i; let s = 0; for (let i = 0; i < 3; i++) { s += o.p0 + o.p5 + o.p39; o.p39 = i; o.p1 = i; } s",
    // Sites that meet many shapes, values and getters; getters of every kind.
    "const make = [() => ({ v: 1, m() { return this.v; } }), () => ({ a: 0, v: 2, m() { return -this.v; } }), () => new (class { v = 3; m() { return this.v; } }), () => ({ get v() { return this.m(); }, m() { return 4; } }),
       () => Object.create({ v: 5, m() { return 5; } }), () => new (class { #w = 6; get v() { return this.#w++; } m() { return this.v + this.v; } }), () => ({ __proto__: null, v: 7, m: (...a) => a.length }), () => ({ get v() { throw new Error('v'); }, m: Math.max })];
     let s = ''; for (let i = 0; i < 48; i++) { const o = make[i % 8](); try { s += o.v + ',' + o.m(1) + ';'; o.n = i; o.v = i; } catch (e) { s += e.message; } } s",
    "const o = { get length() { return 9; }, get loud() { 'use strict'; return arguments.length + typeof this; }, get strange() { return (function () { return 1; })(); } };
     Object.defineProperty(o, 'bad', { get: class {} }); Object.defineProperty(o, 'two', { get: function (a, b) { return a === undefined && b === undefined; } });
     Object.defineProperty(o, 'native', { get: Object.prototype.toString }); let s = ''; for (let i = 0; i < 12; i++) { s += o.length + o.loud + o.strange + o.two + o.native; try { o.bad; } catch (e) { s += e.name; } } s",
    // Arguments that are missing or too many, and tail calls that keep and change the count.
    "function three(a, b, c) { return a + ',' + b + ',' + c; } function all(a) { return a + arguments.length; } function tail(n, x) { return n > 0 ? tail(n - 1) : three(x, n); } function New(a, b) { this.r = a + '' + b; }
     function ping(n) { 'use strict'; return n ? pong(n - 1, n, n) : this; } function pong(n, a, b) { 'use strict'; return n ? ping(n - 1) : all(a, b, n); } const self = { f() { 'use strict'; return three.call(this, 1); } };
     let s = ''; for (let i = 0; i < 20; i++) s += three() + three(1, 2, 3, 4, 5) + all() + all(1, 2, 3) + tail(i) + new New().r + new New(1, 2, 3).r + ping(i) + self.f(); s",
    "class D extends Array { constructor(a) { super(a); this.k = 1; } } function outer(n) { 'use strict'; return n === 0 ? new D(3).length : (() => outer(n - 1))(); }
     async function later(x) { return inner(x); } async function inner(x) { return await x; } function* gen(n) { return n ? yield* gen(n - 1) : outer(2); } let s = outer(20); for (const v of gen(3)) s += v; later(1); s + [...gen(2)].length",
    // Private members, slots beyond those inside the object, old objects that are written.
    "class P { #a = 0; #b = {}; set(v) { this.#a = v; this.#b = { v }; return this; } get() { return this.#a + this.#b.v; } static other(o) { o.#a = 1; } }
     const p = new P(); let s = 0; for (let i = 0; i < 30; i++) { p.set(i); s += p.get(); } try { P.other({}); } catch (e) { s += e.name; } s",
    "const big = {}; for (let i = 0; i < 60; i++) big['k' + i] = i; function work(o) { o.k59 = o.k58 + 1; o.k3 = { x: o.k59 }; o.k58 = o.k3.x; return o.k58; } let s = 0; for (let i = 0; i < 50; i++) s += work(big); const list = [0, 0, 0];
     for (let i = 0; i < 50; i++) { list[i % 3] = { i }; list[(i + 1) % 3] = i; s += typeof list[i % 3] === 'object' ? 1 : 2; } s",
    "globalThis.counter = 0; globalThis.holder = null; function touch(i) { counter = counter + i; holder = { i, before: counter }; return holder.before + Math.PI; } let s = 0; for (let i = 0; i < 40; i++) s += touch(i); delete globalThis.holder;
     try { touch(1); } catch (e) { s += e.name; } Object.defineProperty(globalThis, 'counter', { get: () => 5, set(v) { s += v; }, configurable: true }); try { touch(2); } catch (e) { s += e.name; } s",
    "const names = ['alpha', 'b', '\u{1F600}x', 'rope' + 'x'.repeat(30) + String(Math.PI)]; let s = ''; for (let i = 0; i < 40; i++) { const n = names[i % 4]; s += n.charCodeAt(i % 7) + n.slice(1, 3) + n.indexOf('x') + n.at(-1).length; } String.prototype.extra = function () { return this.length; };
     for (const n of names) s += n.extra(); String.prototype.charCodeAt = () => 'other'; s + names[0].charCodeAt(0)",
    "const make = [() => ({ a: 1 }), () => ({ b: 1, a: 1 }), () => Object.freeze({ a: 1 }), () => ({ c: 0, get a() { return this.c; }, set a(v) { this.c = -v; } }), () => [1], () => ({ __proto__: { a: 2 } }),
       () => new Proxy({}, { set(t, k, v) { t.seen = v; return true; } }), () => ({ d: 1, e: 1, a: 3 }), () => Object.create({ set a(v) { this.z = v; } })];
     let s = ''; for (let i = 0; i < 54; i++) { const o = make[i % 9](); try { o.a = i; } catch (e) { s += e.name; } try { o.length = 2; } catch (e) { s += 'l'; } s += JSON.stringify(o) + o.a; } s",
    "let s = 0; for (const list of [[], [1], [1, 2, 3], [,], [[]], 'ab', new Set([4])]) { for (const v of list) { s += Number(v ?? 100); if (v === 1) list.push?.(50); } for (const v of list) { if (v) break; } } s",
    // Callees that the code knows, and that are others later.
    "class A { m(x) { return x + 1; } n(x, y, z) { return [x, y, z].join(); } } const o = new A(); function call(i) { return o.m(i) + o.n(i) + o.n(i, 1, 2, 3); } let s = ''; for (let i = 0; i < 60; i++) s += call(i);
     const kept = A.prototype.m; A.prototype.m = function (x) { return x + ':' + arguments.length; }; for (let i = 0; i < 20; i++) s += call(i); A.prototype.m = Math.abs; for (let i = 0; i < 20; i++) s += call(-i);
     A.prototype.m = kept; o.m = () => 'own'; for (let i = 0; i < 20; i++) s += call(i); A.prototype.m = 5; delete o.m; try { call(1); } catch (e) { s += e.name; } s",
    "function f(a, b) { return a + ',' + b; } function g() { return f(1) + f(1, 2) + f(1, 2, 3); } let s = ''; for (let i = 0; i < 60; i++) s += g(); f = (x, ...r) => x + r.length; for (let i = 0; i < 20; i++) s += g();
     f = class { }; try { g(); } catch (e) { s += e.name; } f = function* () { yield 7; }; s += g(); f = undefined; try { g(); } catch (e) { s += e.name; } s",
    "class P { constructor(x) { this.x = x; this.y = x * 2; } } class Q extends P { constructor(x) { super(x); this.z = x; } } function make(C, i) { return new C(i); } function make1(i) { return new P(i); } let s = 0;
     for (let i = 0; i < 80; i++) { const p = make1(i); s += p.x + p.y + Object.keys(p).length; p['k' + i % 9] = i; const q = make(i % 2 ? P : Q, i); s += Object.keys(q).join().length; } Object.defineProperty(P.prototype, 'x', { set(v) { s += 1000; } });
     for (let i = 0; i < 20; i++) s += make1(i).y; s",
    "function F(x) { this.x = x; } F.prototype.get = function () { return this.x; }; let s = 0; for (let i = 0; i < 60; i++) s += new F(i).get(); F.prototype = { get() { return -this.x; } }; for (let i = 0; i < 30; i++) s += new F(i).get(); s",
    "function lit(i) { return { a: i, b: [i], c: { d: i } }; } const kept = []; for (let i = 0; i < 90; i++) { const o = lit(i); o['e' + i % 30] = i; kept.push(o); if (kept.length > 7) kept.shift(); } JSON.stringify(kept)",
    // `this` that is no object where the code wants one.
    "'use strict'; function both() { return typeof this + this.length + this.at + this.x; } let s = ''; for (let i = 0; i < 50; i++) s += both.call(i % 3 ? { length: i, x: 1 } : 'str'); try { both(); } catch (e) { s += e.name; }
     Number.prototype.twice = function () { const f = () => this.valueOf() + this.toFixed(1); return f(); }; for (let i = 0; i < 40; i++) s += (i).twice() + both.call(i) + both.call([i]); s",
    // Arrays as stacks.
    "const a = []; let s = ''; for (let i = 0; i < 90; i++) { s += a.push(i); if (i % 3 === 0) s += a.pop(); if (i % 7 === 0) s += a.pop() + ',' + a.pop(); } const holes = [1, , 3, ,]; for (let i = 0; i < 6; i++) s += holes.pop() + '' + holes.length;
     const frozen = Object.freeze([1]), fixed = Object.seal([1, 2]), short = Object.defineProperty([5], 'length', { writable: false }), like = { length: 2, 0: 'a', 1: 'b', push: a.push, pop: a.pop };
     for (let i = 0; i < 9; i++) for (const b of [frozen, fixed, short, like, [], new Array(3)]) { try { s += b.push(i); } catch (e) { s += e.name; } try { s += b.pop(); } catch (e) { s += e.name; } s += b.length; }
     Array.prototype[3] = 'proto'; const t = [1, 2, 3]; for (let i = 0; i < 5; i++) { s += t.push(i) + ',' + t.pop(); t.length = 4; s += t.pop(); } delete Array.prototype[3]; s",
    "let s = 0; function sum(list) { let t = 0; for (const v of list) t += v; return t; } for (let i = 0; i < 60; i++) s += sum([i, 1]); const kept = Array.prototype[Symbol.iterator]; Array.prototype[Symbol.iterator] = function* () { yield 1000; };
     for (let i = 0; i < 30; i++) s += sum([i, 1]); Array.prototype[Symbol.iterator] = kept; const proto = Object.getPrototypeOf([][Symbol.iterator]()), next = proto.next; proto.next = function () { s += 5; return next.call(this); };
     for (let i = 0; i < 30; i++) s += sum([i, 1]); proto.next = next; s + sum([7])",
    "let s = ''; const f = function self(n) { return n ? self(n - 1) + this.k : ''; }; f.call({ k: 'x' }, 0) + [1, 2].reduce((a, b) => a + b) + f.length + f.name",
];

#[test]
fn programs_give_the_same_values_and_take_the_same_steps() {
    for source in PROGRAMS {
        let text = same(source);
        assert!(!text.starts_with("ended") && !text.contains("SyntaxError"), "{source}: {text}");
    }
}

#[test]
fn fuel_ends_them_at_the_same_step() {
    for source in PROGRAMS {
        let (_, left) = run(Mode::Off, Some(1 << 20), source);
        let steps = (1 << 20) - left.unwrap_or(0);
        // Every step of short programs, some of long ones; what a program has printed by then is in an exception's place.
        for fuel in (1..=steps + 1).step_by(1 + steps as usize / 40) {
            for mode in COMPILING {
                let compiled = run(mode, Some(fuel), source);
                assert_eq!(
                    compiled,
                    interpreted(mode, Some(fuel), source),
                    "{mode:?}, {fuel} of {steps}: {source}"
                );
            }
        }
    }
}

/// Natives that have code of their own, with every kind of argument and as a different function of that name.
#[test]
fn natives_on_edges() {
    for call in [
        "Math.abs(a)",
        "Math.floor(a)",
        "Math.sqrt(a)",
        "Math.clz32(a)",
        "Math.imul(a, 7)",
        "Math.imul(a, b)",
        "Math.max(a, b)",
        "Math.min(a, b)",
        "Math.max(a)",
        "Math.min(a, b, 0)",
        "'text\\u{1F600}'.charCodeAt(a)",
        "('' + a).charCodeAt(b)",
        "'x'.charCodeAt()",
        "-a",
        "a >>> b",
        "a % b",
        "({ abs: Math.floor, floor: (x) => x, sqrt: Math.abs }).abs(a)",
        "({ floor: (x) => [x] }).floor(a)",
        "({ max: Math.min }).max(a, b)",
    ] {
        same(&format!(
            "{EDGES} for (const a of edges) for (const b of edges) {{ out += attempt(() => {call}); if ({}) break; }} out",
            !call.contains('b')
        ));
    }
    same(
        "const kept = Math.floor; let s = 0; const f = (x) => Math.floor(x); for (let i = 0; i < 20; i++) { s += f(i + 0.5); if (i === 10) Math.floor = (x) => x * 2; } Math.floor = kept; s + f(1.5)",
    );
}

/// How far a guest came before it was ended.
#[test]
fn a_guest_that_is_ended_has_done_the_same() {
    let source =
        "globalThis.done = 0; function work(n) { for (let i = 0; i < n; i++) done++; } while (true) work(3);";
    for fuel in [10, 11, 12, 13, 100, 4095, 4096, 4097, 10_000] {
        let modes = [Mode::Off, Mode::ForceTemplate, Mode::Template, Mode::EagerTemplate];
        let far =
            [interpreter_for(Mode::EagerTemplate)].into_iter().chain(modes.map(isolate)).map(|mut vm| {
                vm.set_fuel(Some(fuel));
                let ended = evaluate(&mut vm, source);
                assert_eq!(ended, "ended: out of fuel");
                vm.clear_termination();
                vm.set_fuel(None);
                evaluate(&mut vm, "done")
            });
        let far: Vec<String> = far.collect();
        assert_eq!(far[0], far[4]);
        assert_eq!(far[1], far[2]);
        assert_eq!(far[1], far[3]);
    }
}

#[test]
fn the_collector_may_run_at_every_allocation() {
    for source in PROGRAMS {
        let (expected, _) = run(Mode::Off, None, source);
        for (zeal, mode) in COMPILING.into_iter().flat_map(|mode| [(Zeal::Whole, mode), (Zeal::Steps, mode)])
        {
            let mut vm = isolate(mode);
            vm.heap.set_zeal_mode(zeal);
            let text = evaluate(&mut vm, source);
            vm.heap.set_zeal_mode(Zeal::Off);
            assert_eq!(text, expected, "{zeal:?}: {source}");
        }
    }
}

#[test]
fn limits_hold_in_compiled_loops() {
    let loops = [
        "for (;;);",
        "let i = 0; while (true) i++;",
        "function f() { f(); } for (;;) try { f(); } catch {}",
        "(function t() { return t(); })()",
    ];
    for source in loops {
        for mode in [Mode::ForceTemplate, Mode::Template] {
            let mut vm = isolate(mode);
            vm.metering.deadline = Some(Instant::now() + Duration::from_millis(20));
            assert_eq!(evaluate(&mut vm, source), "ended: deadline exceeded", "{source}");
            let mut vm = isolate(mode);
            let token = cynic_engine::vm::CancelToken::new();
            vm.metering.cancel = Some(token.clone());
            token.cancel();
            assert_eq!(evaluate(&mut vm, source), "ended: cancelled", "{source}");
        }
    }
    let mut vm = Vm::new(Options { heap_bytes_max: 8 << 20, ..Options::default() });
    jit::enable(&mut vm, Mode::ForceTemplate);
    assert!(vm.evaluate_script("heap.js", "const keep = []; for (;;) keep.push({ a: 1, b: [2] });").is_err());
    assert_eq!(vm.termination(), Some(Termination::Heap));
}

/// A hot loop is entered where it stands, calls what is compiled and what is not, and goes on after both.
#[test]
fn hot_functions_are_compiled_while_they_run() {
    let source = "let cold = 0; function rare(n) { cold += n; return cold & 7; }
        function* steps(n) { for (let i = 0; i < n; i++) yield i; }
        function hot(n) { let s = 0; for (let i = 0; i < n; i++) { s = (s + (i % 1000 === 0 ? rare(i) : i)) | 0; if (i % 50000 === 1) try { throw i; } catch (e) { s ^= e; } } return s; }
        let t = hot(200000); for (const v of steps(100000)) t = (t + v) | 0; [1, 2, 3].forEach(() => { t ^= hot(30000); }); t";
    let interpreted = run(Mode::Off, Some(1 << 40), source);
    let mut vm = isolate(Mode::Template);
    vm.set_fuel(Some(1 << 40));
    let text = evaluate(&mut vm, source);
    assert_eq!((text, vm.fuel_left()), interpreted);
    match jit::stats(&vm) {
        Some(stats) if stats.refused == 0 => {
            assert!(stats.functions >= 2, "{stats:?}");
            assert!(stats.used_bytes as u64 >= stats.code_bytes, "{stats:?}");
        }
        other => println!("nothing is compiled here: {other:?}"),
    }
}

/// Functions that are gone give their code's memory back.
#[test]
fn code_of_dead_functions_is_given_back() {
    let mut vm = isolate(Mode::ForceTemplate);
    let source = "for (let i = 0; i < 300; i++) { const f = new Function('a', 'return a + ' + i + '+ [1,2,3].map(x => x * a).length'); if (f(1) !== 4 + i) throw i; } 'ok'";
    assert_eq!(evaluate(&mut vm, source), "ok");
    let Some(before) = jit::stats(&vm) else { return };
    vm.collect_garbage();
    let after = jit::stats(&vm).unwrap_or_default();
    if before.functions > 0 {
        assert!(after.used_bytes * 2 < before.used_bytes, "{before:?} {after:?}");
    }
    assert_eq!(evaluate(&mut vm, source), "ok");
}

/// Large literals of a program never stand in the machine code as they are.
#[test]
fn the_guest_does_not_choose_bytes_of_code() {
    let source = "function f(a) { return (a ^ 0x3c909090) + (a & 0x3c909090) * 0x3c909090 - (a < 0x3c909090 ? 0x3c909090 : 1.5e300); } f(5)";
    same(source);
}
