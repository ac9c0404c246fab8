//! Statements that exercise one feature each: objects with accessors, proxies, iterators, classes, and the libraries.
//!
//! What can be seen is printed as it happens, so that the order of the engine's calls is compared too.

use super::Writer;
use super::words::{
    DATE_METHODS, DATE_TEXTS, NUMBERS, PATTERN_USES, PATTERNS, STRING_METHODS, TEXTS, TYPED_ARRAYS,
    TYPED_METHODS, VIEW_ACCESS,
};

impl Writer<'_> {
    /// One of the features, by number.
    pub(super) fn feature(&mut self, choice: usize, depth: u32) {
        match choice {
            0 => self.accessors(depth),
            1 => self.proxy(),
            2 | 3 => self.iterator(depth),
            4 => self.class_hierarchy(depth),
            5 => self.generator_driver(depth),
            6 => self.delegation(),
            7 => self.typed_array(),
            8 => self.data_view(),
            9 | 10 => self.regexp(),
            11 => self.strings(),
            12 => self.date(),
            13 => self.json(),
            14 => self.finally_jumps(depth),
            15 => self.loop_closures(),
            16 => self.collections(),
            _ => self.coercions(),
        }
    }

    /// `template` with every `#` replaced by a number of its own.
    fn with_numbers(&mut self, template: &str) -> String {
        let mut parts = template.split('#');
        let mut text = parts.next().unwrap_or_default().to_string();
        for part in parts {
            text.push_str(self.random.pick(NUMBERS));
            text.push_str(part);
        }
        text
    }

    /// Prints `expression`, or the name of what it throws.
    fn print_guarded(&mut self, expression: &str) {
        self.line(&format!(
            "try {{ print({expression}); }} catch (e) {{ if (e instanceof EvalError) throw e; print(e instanceof Error ? e.name : e); }}"
        ));
    }

    fn accessors(&mut self, depth: u32) {
        let (name, key, value) = (self.fresh(), self.expression(2), self.expression(2));
        self.line(&format!("let {name} = {{ n: 1, get x() {{ print(\"get\"); return this.n; }}, set x(v) {{ print(\"set\", v); this.n = clip(v); }}, [index({key})]: {value}, m(...rest)"));
        self.function_body(&["rest".to_string()], depth, false);
        self.line("};");
        let (value, operator) = (self.expression(2), self.random.pick(&["+", "-", "||", "&&", "??", "*"]));
        self.print_guarded(&format!("{name}.x {operator}= {value}"));
        self.print_guarded(&format!("{name}.x++, {name}.m({name}.x), Object.keys({name})"));
        self.print_guarded(&format!(
            "{{ __proto__: {name}, get y() {{ return super.x; }} }}.y, {{ ...{name} }}"
        ));
        self.names.push(name);
    }

    /// A proxy whose traps print; for-in is left out, because the order of its internal calls is up to the engine.
    fn proxy(&mut self) {
        let (name, target) = (self.fresh(), self.expression(1));
        self.line(&format!("let {name} = new Proxy(Object({target}), {{"));
        for (trap, parameters) in [
            ("get", "t, k, r"),
            ("set", "t, k, v, r"),
            ("has", "t, k"),
            ("deleteProperty", "t, k"),
            ("ownKeys", "t"),
            ("getOwnPropertyDescriptor", "t, k"),
            ("defineProperty", "t, k, d"),
            ("getPrototypeOf", "t"),
        ] {
            if self.random.chance(60) {
                let shown = if parameters.starts_with("t, k") { "String(k)" } else { "0" };
                self.line(&format!(
                    "{trap}({parameters}) {{ tick(); print(\"{trap}\", {shown}); return Reflect.{trap}({parameters}); }},"
                ));
            }
        }
        self.line("});");
        for _ in 0..3 {
            let use_it = self.random.pick(&[
                "P.a",
                "P.a = 1",
                "\"a\" in P",
                "delete P.b",
                "Object.keys(P)",
                "({ ...P })",
                "Object.entries(P).length",
                "Object.assign(P, { c: 3 }).c",
                "P instanceof Array",
                "JSON.stringify(P)",
                "Array.isArray(P)",
                "P.length",
                "Object.getOwnPropertyDescriptor(P, \"a\")",
                "Object.isFrozen(P)",
                "Object.freeze(P) === P",
                "P.b ??= 5",
                "Array.prototype.concat.call([], P).length",
                "Array.prototype.includes.call(P, 2)",
                "`${Object.prototype.toString.call(P)}`",
                "Reflect.ownKeys(P).length",
            ]);
            self.print_guarded(&use_it.replace('P', &name));
        }
    }

    /// An iterator that prints what is asked of it, and something that uses it. `Object.fromEntries` does not: V8 closes
    /// an iterator that has itself thrown there, against the language.
    fn iterator(&mut self, depth: u32) {
        let (name, limit, value) = (self.fresh(), self.random.below(5), self.expression(2));
        let closing = self.random.pick(&[
            "return() { print(\"return\"); return {}; }",
            "return() { print(\"return\"); return 1; }",
            "return() { print(\"return\"); throw new RangeError; }",
            "",
        ]);
        let next = self.random.pick(&[
            "return { value: i, done: i++ >= L };",
            "if (i === 2) throw new RangeError; return { value: [i, i + 1], done: i++ >= L };",
            "return { get value() { print(\"value\"); return V; }, get done() { print(\"done\"); return i++ >= L; } };",
            "return i++ < L ? { value: V } : { done: 1 };",
            "return i++ < L ? { value: V } : i;",
        ]);
        let next = next.replace('L', &limit.to_string()).replace('V', &value);
        self.line(&format!("let {name} = {{ [Symbol.iterator]() {{ let i = 0; return {{ next() {{ tick(); print(\"next\", i); {next} }}, {closing} }}; }} }};"));
        if self.random.chance(40) {
            let x = self.fresh();
            let pattern = self.random.pick(&["X", "[X = 5]", "{ length: X }", "[, ...X]"]).replace('X', &x);
            self.line("try {");
            self.line(&format!("for (const {pattern} of {name})"));
            self.names.push(x);
            self.body(depth);
            self.names.pop();
            self.line("} catch (e) { if (e instanceof EvalError) throw e; print(e?.name); }");
            return;
        }
        let use_it = self.random.pick(&[
            "[...I]",
            "Array.from(I, (x) => x)",
            "new Set(I).size",
            "new Map(I).size",
            "((a, b) => [a, b])(...I)",
            "(() => { const [a, b = 4, ...c] = I; return [a, b, c]; })()",
            "(() => { let a, o = {}; [a, o.b] = I; return [a, o]; })()",
            "(() => { for (const x of I) if (x) break; })()",
            "(() => { for (const x of I) return x; })()",
            "(() => { try { for (const x of I) throw x; } catch (e) { return [e]; } })()",
            "Math.max(...I)",
            "(() => { const [] = I; })()",
            "(() => { const [a] = I; return a; })()",
            "new Uint8Array(I)",
            "(function* () { yield* I; })().next()",
            "Promise === I",
            "(([a, [b] = [2]]) => b)(I)",
        ]);
        self.print_guarded(&use_it.replace('I', &name));
    }

    fn class_hierarchy(&mut self, depth: u32) {
        let (base, derived, field) = (self.fresh(), self.fresh(), self.expression(2));
        self.line(&format!("class {base} {{ #p = 1; static #c = 0; static made() {{ return {base}.#c; }} constructor(a) {{ {base}.#c++; this.a = a; print(new.target === {base}); this.init?.(); }}"));
        self.line("get p() { return this.#p; } set p(v) { this.#p = clip(v); } #m(x) { return x + this.#p; } callM(x) { return this.#m(x); } static { print(\"static\", this.name.length > 0); }");
        self.line("toString() { return \"base\"; } *[Symbol.iterator]() { yield this.#p; yield* [1, 2]; } }");
        let returned = self.random.pick(&[
            "",
            "return { z: 1 };",
            "return undefined;",
            "if (a) return 1;",
            "try { return; } finally { print(\"f\"); }",
        ]);
        self.line(&format!("class {derived} extends {base} {{ f = ({field}, this.a); static s = super.made(); ['c' + 1] = 2; init() {{ print(\"init\", \"f\" in this); }} constructor(a) {{ print(\"before\"); super(a); {returned} }}"));
        self.line("toString() { return \"derived \" + super.toString(); } get p() { return super.p; } set p(v) { super.p = v; } m()");
        self.function_body(&[], depth, false);
        self.line("}");
        let instance = self.fresh();
        let argument = self.random.pick(&["0", "1", "[]", "undefined"]);
        self.line(&format!("let {instance}; try {{ {instance} = new {derived}({argument}); }} catch (e) {{ print(e.name); {instance} = new {base}(2); }}"));
        for use_it in [
            "`${O}`",
            "O.p += 2",
            "O.callM(3)",
            "[...O]",
            "O",
            "B.made()",
            "O.m?.()",
            "D.s",
            "O instanceof D",
            "B.prototype.callM.call({}, 1)",
        ] {
            if self.random.chance(60) {
                let text = use_it.replace('O', &instance).replace('B', &base).replace('D', &derived);
                self.print_guarded(&text);
            }
        }
        self.names.push(instance);
    }

    /// A generator with protected regions, driven by next, throw and return.
    fn generator_driver(&mut self, depth: u32) {
        let (name, it) = (self.fresh(), self.fresh());
        let value = self.expression(2);
        self.line(&format!("function* {name}(n) {{ tick(); try {{ print(\"in\", yield {value}); for (let i = 0; i < n; i++) {{ try {{ print(yield i); }} finally {{ print(\"inner\"); }} }}"));
        self.line("} catch (e) { if (e instanceof EvalError) throw e; print(\"caught\", e); yield \"late\"; } finally");
        self.line("{ print(\"outer\");");
        if self.random.chance(30) {
            self.line("yield \"cleanup\";");
        }
        if self.random.chance(20) {
            self.line("return \"forced\";");
        }
        self.line("} return \"end\"; }");
        let (count, steps) = (self.random.below(4), 2 + self.random.below(5));
        self.line(&format!("let {it} = {name}({count});"));
        for _ in 0..steps {
            let step = self.random.pick(&[
                "next(1)",
                "next()",
                "throw(\"t\")",
                "return(\"r\")",
                "next([2])",
                "next()",
            ]);
            self.print_guarded(&format!("{it}.{step}"));
        }
        let (x, loop_over) = (self.fresh(), self.random.pick(&["G(3)", "G(1)", "I"]));
        let loop_over = loop_over.replace('G', &name).replace('I', &it);
        self.line(&format!("for (const {x} of {loop_over})"));
        self.names.push(x);
        self.body(depth);
        self.names.pop();
    }

    fn delegation(&mut self) {
        let (inner, outer) = (self.fresh(), self.fresh());
        let (value, source) = (
            self.expression(2),
            self.random.pick(&["I()", "[1, 2]", "\"ab\"", "[I(), 3].values()", "new Set([5, 6])"]),
        );
        self.line(&format!("function* {inner}() {{ tick(); try {{ const x = yield {value}; print(\"got\", x); yield 2; }} finally {{ print(\"inner done\"); }} return 7; }}"));
        self.line(&format!(
            "function* {outer}() {{ tick(); const r = yield* {}; print(\"result\", r); return [r]; }}",
            source.replace('I', &inner)
        ));
        let use_it = self.random.pick(&[
            "[...O()]",
            "(() => { const [a] = O(); return a; })()",
            "(() => { const o = O(); return [o.next(1), o.next(2), o.next(3), o.next(4)]; })()",
            "(() => { const o = O(); o.next(); return [o.return(5), o.next()]; })()",
            "(() => { const o = O(); o.next(); return o.throw(new RangeError); })()",
            "(() => { for (const x of O()) for (const y of O()) if (y === 2) return [x, y]; })()",
            "Array.from(O(), (x) => [x])",
            "Math.max(...O())",
        ]);
        self.print_guarded(&use_it.replace('O', &outer));
    }

    fn typed_array(&mut self) {
        let (name, kind, value) = (self.fresh(), self.random.pick(TYPED_ARRAYS), self.expression(2));
        let from = self.random.below(6);
        self.line(&format!("let {name} = new {kind}([1, 2.5, -3, 300, NaN, 1e10].slice({from})); {name}[1] = Number(typeof ({value}) === \"bigint\"); {name}[99] = 1; {name}[\"-0\"] = 2;"));
        for _ in 0..3 {
            let method = self.random.pick(TYPED_METHODS);
            self.print_guarded(&format!("{name}.{method}"));
        }
        self.print_guarded(&format!("{name}, Object.keys({name}), 99 in {name}, [...{name}.keys()]"));
    }

    fn data_view(&mut self) {
        let (name, n) = (self.fresh(), 8 + self.random.below(9));
        self.line(&format!("let {name} = new DataView(new ArrayBuffer({n}));"));
        for _ in 0..4 {
            let (write, read) = (self.random.pick(VIEW_ACCESS), self.random.pick(VIEW_ACCESS));
            let value =
                if write.starts_with("Big") { "123456789012345678901n" } else { self.random.pick(NUMBERS) };
            let (to, from) = (self.random.below(14), self.random.below(12));
            let (little, big) = (self.random.chance(50), self.random.chance(50));
            self.print_guarded(&format!(
                "{name}.set{write}({to}, {value}, {little}), {name}.get{read}({from}, {big})"
            ));
        }
    }

    fn regexp(&mut self) {
        let (pattern, text) = (self.random.pick(PATTERNS), self.random.pick(TEXTS));
        let use_it = self.random.pick(PATTERN_USES).replace('R', pattern);
        self.print_guarded(&format!("{text}.{use_it}"));
        if pattern.contains("/g") {
            self.print_guarded(&format!(
                "[...{text}.matchAll({pattern})].map((m) => [m.index, ...m, m.groups?.x])"
            ));
        }
        let name = self.fresh();
        self.line(&format!("const {name} = {pattern}; for (let n = 0; n < 4; n++) {{ const m = {name}.exec({text}); print(m && [m.index, ...m], {name}.lastIndex); if (!m) break; if ({name}.lastIndex === m.index) {name}.lastIndex++; }}"));
    }

    fn strings(&mut self) {
        let text = if self.random.chance(50) {
            self.random.pick(TEXTS).to_string()
        } else {
            format!("String({})", self.expression(1))
        };
        for _ in 0..3 {
            let method = self.random.pick(STRING_METHODS);
            let method = self.with_numbers(method);
            self.print_guarded(&format!("{text}.{method}"));
        }
    }

    fn date(&mut self) {
        let name = self.fresh();
        let start = if self.random.chance(50) {
            format!("Date.parse(\"{}\")", self.random.pick(DATE_TEXTS))
        } else {
            self.with_numbers("Date.UTC(2020 + #, #, #, #)")
        };
        self.line(&format!("let {name} = new Date({start});"));
        for _ in 0..3 {
            let method = self.random.pick(DATE_METHODS);
            let method = self.with_numbers(method);
            self.print_guarded(&format!("{name}.{method}"));
        }
    }

    fn json(&mut self) {
        let value = self.expression(1);
        let replacer = self.random.pick(&[
            "null",
            "(k, v) => typeof v === \"bigint\" ? \"big\" : v",
            "[\"a\", \"length\", 0]",
            "function (k, v) { return Array.isArray(this) ? [v].at(0) : v; }",
        ]);
        let indent = self.random.pick(&["0", "2", "\"\\t\"", "\"--------------\"", "undefined"]);
        self.print_guarded(&format!("JSON.stringify([{value}, {{ a: {value}, toJSON(k) {{ return [k, 1]; }} }}], {replacer}, {indent})?.slice(0, 300)"));
        let text = self.random.pick(&[
            "[1, {\\\"a\\\": [2, null]}, \\\"x\\\"]",
            "{\\\"a\\\": 1, \\\"a\\\": {\\\"__proto__\\\": 2}}",
            "[1e400, -0, 0.1]",
            "[1,]",
            "\\\"\\\\ud83d\\\"",
            "01",
            " [ ] ",
        ]);
        let reviver = self.random.pick(&[
            "undefined",
            "(k, v) => (print(k, v), v)",
            "(k, v) => k === \"a\" ? undefined : v",
            "function (k, v) { if (k === \"0\") this[1] = 9; return v; }",
        ]);
        self.print_guarded(&format!("JSON.parse(\"{text}\", {reviver})"));
    }

    /// Jumps out of protected regions in loops.
    fn finally_jumps(&mut self, depth: u32) {
        let (f, x) = (self.fresh(), self.fresh());
        let mut jump = || {
            let jumps = [
                "break",
                "continue",
                "break out",
                "continue out",
                "return x",
                "throw x",
                "x",
                "x",
                "return (() => x)()",
            ];
            jumps[self.random.below(jumps.len())]
        };
        let (first, second, third) = (jump(), jump(), jump());
        self.line(&format!("const {f} = () => {{ let n = 0; out: for (const x of [1, 2, 3]) {{ for (let i = 0; i < 3; i++) {{ tick(); try {{ try {{ n++; if (i === x - 1) {first}; }} catch (e) {{ print(\"c\", e); if (n > 2) {second}; }} finally {{ print(\"f\", n); if (n === 4) {third}; }} }} finally {{ n++; }} }} }} return [n]; }};"));
        self.print_guarded(&format!("{f}()"));
        let value = self.expression(2);
        self.line(&format!("print((() => {{ let {x} = {value}; try {{ return {x}; }} finally {{ {x} = 0;"));
        self.names.push(x);
        let (loops, generator) = (std::mem::take(&mut self.loops), std::mem::take(&mut self.in_generator));
        self.simple();
        (self.loops, self.in_generator) = (loops, generator);
        self.names.pop();
        self.line("} })());");
        debug_assert!(depth <= super::DEPTH_MAX);
    }

    /// Closures made in every part of a loop's head.
    fn loop_closures(&mut self) {
        let list = self.fresh();
        let value = self.expression(3);
        self.line(&format!("let {list} = []; for (let i = 0, f = () => i; {list}.push(() => [i, f()]), i < 3; {list}.push(() => i++), i++) {{ let j = i; {list}.push(() => [j++, i, {value}]); if (i === 1) continue; {list}.push(function () {{ return typeof this + i; }}); }}"));
        self.line(&format!("for (const f of {list}) print(f()); print({list}.map((f) => f()));"));
        self.line(&format!("{list} = []; for (const k in {{ a: 1, b: 2 }}) {list}.push(() => k); for (const [i, v] of [4, 5].entries()) {list}.push((d = () => i + v) => d()); print({list}.map((f) => f()));"));
    }

    fn collections(&mut self) {
        let name = self.fresh();
        let (a, b) = (self.expression(2), self.expression(2));
        self.line(&format!("let {name} = new Map([[NaN, 1], [-0, 2], [{a}, 3], [{b}, 4]]); for (const [k, v] of {name}) {{ tick(); print(v); if (v === 1) {name}.delete(k); if (v === 2) {name}.set(\"new\", 5); if (v === 3 && {name}.size < 6) {{ {name}.delete(k); {name}.set(k, 6); }} }}"));
        self.print_guarded(&format!(
            "[...{name}.values()], {name}.get(0), {name}.has(NaN), new Set([{a}, {b}, {a}]).size"
        ));
        self.print_guarded(&format!("(() => {{ const s = new Set([1, 2, 3]); const out = []; s.forEach((x) => {{ out.push(x); s.delete(x); if (x < 3) s.add(x + 10); tick(); }}); return out; }})(), [{a}, , {b}].flatMap((x) => [x, [x]]).length"));
        self.print_guarded(
            "[5, 1, 4, , 2, undefined].sort(), [3, , 1].indexOf(undefined), Array(3).fill().map((_, i) => i)",
        );
    }

    fn coercions(&mut self) {
        let name = self.fresh();
        let kind = self.random.pick(&[
            "{ valueOf() { print(\"valueOf\"); return 4; }, toString() { print(\"toString\"); return \"s\"; } }",
            "{ [Symbol.toPrimitive](hint) { print(hint); return hint === \"number\" ? 8 : hint; } }",
            "{ valueOf() { print(\"v\"); return {}; }, toString() { print(\"t\"); return \"9\"; } }",
            "{ valueOf() { print(\"v\"); return 3n; } }",
            "{ valueOf: 1, toString() { throw new RangeError; } }",
        ]);
        self.line(&format!("let {name} = {kind};"));
        let other = self.expression(2);
        for _ in 0..3 {
            let use_it = self.random.pick(&[
                "C + X",
                "X - C",
                "`${C}`",
                "C < X",
                "C == X",
                "+C",
                "[C].join()",
                "({ s: 1, 9: 2 })[C]",
                "X in { [C]: 1 }",
                "Math.max(C, 2)",
                "C ** 2",
                "-C",
                "\"abc\".at(C)",
                "[1, 2, 3].slice(C)",
                "Date.UTC(C, 1)",
                "Number(C)",
                "parseInt(C)",
                "C++",
                "C >= C",
                "isNaN(C)",
                "String(C).length",
                "[5, 6][C]",
                "C?.toString?.()",
                "BigInt(C)",
                "C !== C",
                "Object.is(C, C)",
            ]);
            self.print_guarded(&use_it.replace('C', &name).replace('X', &format!("({other})")));
        }
    }
}
