//! What the interpreter's fast paths must not get wrong: each case makes a cache learn, then changes what it learnt.

use cynic_engine::vm::{Options, Vm};

#[track_caller]
fn check(source: &str, expected: &str) {
    for zeal in [false, true] {
        let options = Options { hardened: false, ..Options::default() };
        let mut vm = Vm::new(options);
        vm.heap.set_zeal(zeal);
        let result = vm.evaluate_script("test.js", source);
        let value = result.unwrap_or_else(|_| vm.take_exception());
        let text = vm.to_string(value).map(|s| s.to_rust_string()).unwrap_or_default();
        assert_eq!(text, expected, "{source}");
    }
}

#[test]
fn getters_run_in_the_same_loop_and_may_change_or_throw() {
    check(
        "class A { constructor(n) { this.n = n; } get double() { return this.n * 2; } }
        let s = 0; for (let i = 0; i < 20; i++) s += new A(i).double; s",
        "380",
    );
    check(
        "const o = { get x() { return 1; } }; const read = () => o.x; let s = '';
        for (let i = 0; i < 6; i++) { s += read(); if (i === 2) Object.defineProperty(o, 'x', { get() { return 2; } }); } s",
        "111222",
    );
    check(
        "const o = { get x() { throw new Error('no'); } }; let s = '';
        for (let i = 0; i < 3; i++) try { o.x; } catch (e) { s += e.message + /test.js:1[^]*test.js:2/.test(e.stack); } s",
        "notruenotruenotrue",
    );
    check(
        "const o = { get f() { return function () { return this === o; }; } }; '' + o.f() + o.f()",
        "truetrue",
    );
    check(
        "const o = { get x() { return arguments.length + ',' + (new.target === undefined); } }; o.x",
        "0,true",
    );
    check(
        "class C {}; const o = Object.defineProperty({}, 'x', { get: C }); let s; try { o.x } catch (e) { s = e.name } s",
        "TypeError",
    );
    check(
        "const o = Object.defineProperty({}, 'x', { get: function* () { yield 7; } }); o.x.next().value",
        "7",
    );
}

#[test]
fn iteration_over_arrays_follows_what_stands_in_the_prototypes() {
    for other in ["Map.prototype.values", "Set.prototype.values", "Object.values", "Array.prototype.keys"] {
        check(
            &format!(
                "const sum = () => {{ let s = 0; for (const v of [1, 2]) s += v; return s; }}; const first = sum();
                Array.prototype[Symbol.iterator] = {other}; let s; try {{ s = sum(); }} catch (e) {{ s = e.name; }} first + ',' + s"
            ),
            if other == "Array.prototype.keys" { "3,1" } else { "3,TypeError" },
        );
    }
    check(
        "let calls = 0; const values = Array.prototype.values; Object.defineProperty(Array.prototype, Symbol.iterator, { get() { calls++; return values; } });
        let s = 0; for (const v of [1, 2]) s += v; const [a] = [5]; s + ',' + a + ',' + calls",
        "3,5,2",
    );
}

#[test]
fn methods_of_primitives_follow_their_prototypes() {
    check(
        "const f = (v) => v.twice(); String.prototype.twice = function () { return this + this; };
        Number.prototype.twice = function () { return this * 2; };
        let s = ''; for (let i = 0; i < 4; i++) s += f('a') + f(i);
        String.prototype.twice = function () { return '!'; }; s += f('b');
        delete Number.prototype.twice; Object.prototype.twice = () => '?'; s + f(1) + f(true)",
        "aa0aa2aa4aa6!??",
    );
    check(
        "const f = (v) => v.length; '' + f('abc') + f([1]) + f(5) + f({ length: 'x' }) + f(new Uint8Array(4))",
        "31undefinedx4",
    );
}

#[test]
fn many_shapes_at_one_site() {
    check(
        "const make = [(i) => ({ v: i }), (i) => ({ a: 0, v: i }), (i) => ({ b: 0, c: 0, v: i }), (i) => Object.create({ v: i }),
            (i) => ({ get v() { return i; } }), () => ({})];
        const read = (o) => o.v; let s = 0;
        for (let i = 0; i < 120; i++) { const v = read(make[i % 6](i)); s += v === undefined ? 1000 : v; } s",
        "25900",
    );
    check(
        "class A { f() { return 1; } } class B extends A {} class C extends B { f() { return 3; } }
        const os = [new A(), new B(), new C()]; let s = '';
        for (let i = 0; i < 60; i++) { if (i === 45) B.prototype.f = () => 2; s += os[i % 3].f(); }
        s === '113'.repeat(15) + '123'.repeat(5)",
        "true",
    );
    check(
        "const o = {}; for (let i = 0; i < 50; i++) o['k' + i] = i; let s = 0;
        for (let j = 0; j < 3; j++) { for (let i = 0; i < 50; i++) s += o['k' + i] ?? 0; delete o['k' + j]; } s",
        "3674",
    );
}

#[test]
fn private_names_of_classes_that_are_evaluated_twice() {
    check(
        "const make = () => class { #x; constructor(x) { this.#x = x; } get() { return this.#x; } set(x) { this.#x = x; }
            static read(o) { return o.#x; } };
        const [A, B] = [make(), make()]; const a = new A(1), b = new B(2); let s = '';
        for (let i = 0; i < 4; i++) { s += A.read(a) + B.read(b); a.set(i); b.get(); }
        try { A.read(b); } catch (e) { s += e.name; } s + a.get()",
        "3234TypeError3",
    );
}

#[test]
fn dictionaries_without_prototypes_gain_properties() {
    check(
        "const read = (o) => o.x, also = (o) => o.x; const o = Object.create(null); for (let i = 0; i < 99; i++) o['k' + i] = i;
        delete o.k0; let s = ''; for (let i = 0; i < 4; i++) s += read(o) + also(o); o.x = 1; s + read(o) + also(o)",
        "NaNNaNNaNNaN11",
    );
}

#[test]
fn strings_that_grow_share_a_buffer() {
    // Two strings that continue one prefix must not see each other's pieces.
    check(
        "let s = ''; for (let i = 0; i < 200; i++) s += 'ab' + (i % 10);
        const a = s + 'left', b = s + 'right', c = a + '1', d = a + '2'; s += 'x';
        [s.length, a.slice(-5), b.slice(-6), c.slice(-6), d.slice(-6), s.slice(-3), (c + d + b).length].join()",
        "601,9left,9right,9left1,9left2,b9x,1815",
    );
    check(
        "const parts = []; let s = ''; for (let i = 0; i < 300; i++) { s += i; parts.push(s); }
        parts.every((p, i) => i === 0 || p === parts[i - 1] + i) + ',' + s.length",
        "true,790",
    );
    check(
        "let s = ''; for (let i = 0; i < 100; i++) s += 'abc'; for (let i = 0; i < 100; i++) s += i === 50 ? 'Ж' : 'd';
        s.length + s[350] + s[349] + s.indexOf('Ж')",
        "400Жd350",
    );
    check(
        "let s = 'Ж'; for (let i = 0; i < 400; i++) s += 'ab'; const m = new Map([[s, 1]]);
        let t = 'Ж'; for (let i = 0; i < 200; i++) t = t + 'abab'; m.get(t) + ',' + ({ [s]: 2 })[t] + ',' + (s === t)",
        "1,2,true",
    );
    check(
        "let s = ''; for (let i = 0; i < 500; i++) s += 'x'; const sub = s.substring(100, 400); let u = sub; for (let i = 0; i < 99; i++) u += 'y';
        s += 'z'; [sub.length, u.length, u.slice(298, 302), s.slice(498)].join()",
        "300,399,xxyy,xxz",
    );
}

#[test]
fn elements_of_typed_arrays() {
    check(
        "const out = []; const values = [1, -1, 1.5, 300, -0.5, NaN, 4294967295, 2 ** 40 + 3];
        for (const T of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array]) {
            const a = new T(9); for (let i = 0; i < values.length; i++) a[i] = values[i]; let s = []; for (let i = 0; i < 10; i++) s.push(a[i]); out.push(s.join()); }
        out.join(';')",
        "1,-1,1,44,0,0,-1,3,0,;1,255,1,44,0,0,255,3,0,;1,0,2,255,0,0,255,255,0,;1,-1,1,300,0,0,-1,3,0,;\
         1,65535,1,300,0,0,65535,3,0,;1,-1,1,300,0,0,-1,3,0,;1,4294967295,1,300,0,0,4294967295,3,0,;\
         1,-1,1.5,300,-0.5,NaN,4294967296,1099511627776,0,;1,-1,1.5,300,-0.5,NaN,4294967295,1099511627779,0,",
    );
    check(
        "const a = new Float64Array([3, 0.5]); const list = ['x', 'y', 'z', 'w']; list[a[0]] + (a[0] === 3) + Object.is(a[0] % 3, 0)",
        "wtruetrue",
    );
    check(
        "const b = new ArrayBuffer(16, { maxByteLength: 32 }); const a = new Uint8Array(b, 8, 8), t = new Uint8Array(b); const read = (x, i) => x[i];
        a[7] = 5; let s = [read(a, 7), read(t, 15)]; b.resize(12); s.push(read(a, 7), read(t, 11), read(t, 12), a.length); a[0] = 9; b.resize(16); s.push(read(a, 0), read(a, 7)); s.join()",
        "5,5,,0,,0,0,0",
    );
    check(
        "const a = new Uint8Array(4); const f = () => { a[1] = 7; return a[1]; }; let s = '' + f(); structuredCloneless(a); function structuredCloneless(x) { x.buffer.transfer(); } s + f() + a.length",
        "7undefined0",
    );
}

#[test]
fn iteration_without_result_objects_is_not_seen() {
    // A generator's next on another kind of iterator, and the other way round, still throw.
    check(
        "function* g() { yield 1; } const it = g(); it.next = [][Symbol.iterator]().next; let s;
        try { for (const x of it); } catch (e) { s = e.name; } s",
        "TypeError",
    );
    check(
        "function* inner() { yield 1; yield 2; return 3; } function* outer() { const r = yield* inner(); yield r; yield* [4, 5]; }
        [...outer()].join()",
        "1,2,3,4,5",
    );
    check(
        "function* g() { try { for (const x of it) ; } catch (e) { yield e.name; } } const it = g(); [...it].join()",
        "TypeError",
    );
    check(
        "const m = new Map([[1, 2]]); let s = ''; for (const [k, v] of m) { s += k + v; if (k < 4) m.set(k + 1, v); } s + [...'aЖ'].length",
        "34562",
    );
}

#[test]
fn loops_that_step_generators_follow_the_protocol() {
    // A `next` that is the marker of such loops, or that of arrays, is not callable.
    for next in ["true", "1", "null"] {
        check(
            &format!(
                "const it = {{ next: {next}, [Symbol.iterator]() {{ return this; }} }}; let s = '';
                try {{ for (const x of it); }} catch (e) {{ s += e.name; }}
                try {{ const [a] = it; }} catch (e) {{ s += e.name; }} s"
            ),
            "TypeErrorTypeError",
        );
    }
    // Somebody else steps the generator, ends it, or replaces `next` and `return` while the loop runs.
    check(
        "function* g() { for (let i = 0; i < 9; i++) yield i; } const it = g(); let s = '';
        for (const x of it) { s += x; if (x === 2) s += it.next().value; if (x === 5) it.next = () => ({ done: true }); if (x === 6) it.return(); } s",
        "0123456",
    );
    check(
        "let s = ''; function* g() { try { yield 1; yield 2; } finally { s += 'f'; } }
        for (const x of g()) { s += x; break; } for (const x of g()) s += x; const [a] = g();
        try { for (const x of g()) throw 3; } catch (e) { s += e; } s + a",
        "1f12fff31",
    );
    check(
        "function* g() { yield 1; throw new RangeError('two'); } let s = ''; const it = g();
        try { for (const x of it) s += x; } catch (e) { s += e.name; } s + it.next().done",
        "1RangeErrortrue",
    );
    // What a yield gives, generators in generators, and frames that move while they are suspended.
    check(
        "function* g(a, b) { let n = 0; while (n < 3) { const got = yield [a, b, ...arguments].length + n++; if (got !== undefined) return; } }
        const deep = (n) => n === 0 ? [...g(1, 2, 3)].length : deep(n - 1); let s = '';
        function* outer() { for (const x of g(1, 2, 3, 4)) { yield x; deep(5); } }
        for (const x of outer()) { s += x; } s",
        "678",
    );
    // Finished before the loop, and running when the loop begins.
    check(
        "function* g() { yield 1; } const it = g(); [...it]; let s = ''; for (const x of it) s += x;
        function* h() { try { for (const x of self) yield x; } catch (e) { yield e.name; } } const self = h(); for (const x of self) s += x; s",
        "TypeError",
    );
    check(
        "function* count(n) { for (let i = 0; i < n; i++) { const o = { i }; yield o; } } let sum = 0;
        for (const { i } of count(2000)) sum += i; sum",
        "1999000",
    );
}

#[test]
fn for_in_follows_prototypes_and_deletions() {
    check(
        "const p = { a: 1, x: 2 }, o = Object.create(p, { h: { value: 1 } }); o.b = 1; o.a = 2; Object.defineProperty(p, 'h', { value: 1, enumerable: true });
        let s = ''; for (const k in o) { s += k; if (k === 'b') delete o.a; } s",
        "bax",
    );
    check(
        "class A { m() {} } const o = new A(); o.z = 1; o[3] = 1; let s = ''; for (const k in o) s += k; for (const k in 'ab') s += k; s",
        "3z01",
    );
}

#[test]
fn templates_join_their_parts_in_order() {
    check(
        "let i = 0; const f = () => ++i; `${f()}-${f()}:${f()}${f()}|${f()}/${f()}.${f()}${''}${f()}!`",
        "1-2:34|5/6.78!",
    );
    check("let s = 'x'; s = `${s}${s += 'y'}${s}`; s", "xxyxy");
    check("`${''}` + `` + `${`${1}${2}`}` + `Ж${1}Ж`", "12Ж1Ж");
    check("let s; try { `a${Symbol()}` } catch (e) { s = e.name } s", "TypeError");
}

#[test]
fn long_queues_lose_nothing_when_their_start_moves() {
    // Against a model that copies, over every way to change an array whose start has moved, while collections run.
    check(
        "let state = 1; const random = (n) => (state = state * 16807 % 2147483647) % n;
        const fresh = (i) => ({ i, s: 'text ' + i });
        let a = [], model = [], next = 0, log = '';
        const add = (n) => { for (; n > 0; n--) { const o = fresh(next++); a.push(o); model = model.concat([o]); } };
        for (let i = 0; i < 1100; i++) { const o = fresh(next++); a.push(o); model[model.length] = o; }
        const same = () => a.length === model.length && a.every((o, i) => o === model[i] && o.s === 'text ' + o.i);
        for (let round = 0; round < 60; round++) {
            for (let n = random(20); n > 0; n--) { const x = a.shift(), y = model[0]; model = model.slice(1); if (x !== y) log += 'shift;'; }
            add(random(20));
            switch (random(6)) {
                case 0: { const o = fresh(next++), at = random(a.length); a[at] = o; model = model.map((x, i) => i === at ? o : x); break; }
                case 1: { const o = fresh(next++); a.unshift(o); model = [o].concat(model); break; }
                case 2: a.splice(random(100), 2); model = null; break;
                case 3: a.named = round; break;
                case 4: a.reverse(); model = model.slice().reverse(); break;
                default: a.length -= 3; model = model.slice(0, a.length);
            }
            model ??= Array.from(a);
            if (round % 10 === 0 && !same()) log += round + ';';
        }
        log + same()",
        "true",
    );
    check(
        "const a = []; for (let i = 0; i < 5000; i++) a.push([i]); let s = 0;
        for (let i = 0; i < 6000; i++) { a.push([i + 5000]); const x = a.shift(); if (x[0] !== i) s++; }
        (s + a.length) + ',' + a[0][0] + ',' + a[4999][0]",
        "5000,6000,10999",
    );
}

#[test]
fn no_number_of_changes_makes_an_old_cache_valid_again() {
    // What a guest reaches by changing prototypes 2^8, 2^16 or 2^32 times, less the one change that must be noticed.
    const CHANGES: [u64; 3] = [(1 << 8) - 1, (1 << 16) - 1, (1 << 32) - 1];
    let programs = [
        // A property of a prototype that another one hides.
        (
            "const far = { x: 'far' }, near = { __proto__: far }, o = { __proto__: near }; const read = () => o.x;
            for (let i = 0; i < 20; i++) read();",
            "near.x = 'near'",
            "read()",
            "near",
        ),
        // An absence that ends.
        (
            "const near = {}, o = { __proto__: near }; const read = () => o.x; for (let i = 0; i < 20; i++) read();",
            "near.x = 'near'",
            "read()",
            "near",
        ),
        // Data in a slot that becomes an accessor's.
        (
            "const near = { x: 'data' }, o = { __proto__: near }; const read = () => o.x; for (let i = 0; i < 20; i++) read();",
            "Object.defineProperty(near, 'x', { get() { return 'near'; } })",
            "read()",
            "near",
        ),
        // A property that is added where a prototype has a setter now.
        (
            "let log = ''; const near = {}; const add = () => { const o = { __proto__: near }; o.x = 1; return Object.keys(o).length + log; };
            for (let i = 0; i < 20; i++) add();",
            "Object.defineProperty(near, 'x', { set(v) { log += 'set'; } })",
            "add()",
            "0set",
        ),
    ];
    for (learn, change, ask, expected) in programs {
        for changes in CHANGES {
            let mut vm = Vm::new(Options { hardened: false, ..Options::default() });
            let text = |vm: &mut Vm, source: &str| {
                let value = vm.evaluate_script("test.js", source);
                let value = value.unwrap_or_else(|_| vm.take_exception());
                vm.to_string(value).map(|s| s.to_rust_string()).unwrap_or_default()
            };
            text(&mut vm, learn);
            let before = vm.proto_epoch;
            text(&mut vm, change);
            let made = vm.proto_epoch - before;
            vm.proto_epoch = vm.proto_epoch.wrapping_add((changes + 1).saturating_sub(made));
            assert_eq!(text(&mut vm, ask), expected, "{learn} {change} after {changes} changes");
        }
    }
}
