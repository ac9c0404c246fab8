//! Random ECMAScript programs: strict, deterministic, and sure to end.
//!
//! Every loop and every function ticks a counter that throws in the end; strings, arrays and integers are clipped where they
//! could grow, and no computed key makes an array long: natives go through 2^32 holes without a tick. Programs print with `show`, which says what a value is without touching anything that engines may differ
//! in (messages, stacks, addresses). Invariant: the same seed gives the same text on every machine.

mod features;
mod words;

use crate::random::Random;
use words::{BINARY, CALLBACKS, LITERALS, METHODS, STATICS, UNARY};

/// What surrounds every program. `RESULT` is the value of the whole: the printed lines.
const PRELUDE: &str = r#"(() => { "use strict";
const lines = [];
let ticks = 0;
const tick = () => { if (++ticks > 3000) throw new EvalError("ticks"); };
const clip = (v) => typeof v === "string" ? v.slice(0, 60) : typeof v === "bigint" ? BigInt.asIntN(200, v) : Array.isArray(v) && v.length > 12 ? v.slice(0, 12) : v;
const index = (v) => { v = clip(v); if (typeof v === "symbol") return v; const k = String(v); return k === "length" || k > 99 ? "a" : typeof v === "object" || typeof v === "function" ? k : v; };
const show = (v, depth = 0) => {
  switch (typeof v) {
    case "string": return JSON.stringify(v.slice(0, 200));
    case "number": return Object.is(v, -0) ? "-0" : String(v);
    case "bigint": return v + "n";
    case "symbol": return "symbol";
    case "function": return "function " + v.length;
    case "object": break;
    default: return String(v);
  }
  if (v === null) return "null";
  if (depth > 2) return "...";
  try {
    if (v instanceof Error) return "error " + v.name;
    if (v instanceof Map) return "Map" + show([...v], depth);
    if (v instanceof Set) return "Set" + show([...v], depth);
    if (ArrayBuffer.isView(v)) return "view " + Array.prototype.join.call(v, " ");
    if (v instanceof RegExp) return String(v) + v.lastIndex;
    if (Array.isArray(v)) { let text = "["; for (let i = 0; i < Math.min(v.length, 20); i++) text += (i in v ? show(v[i], depth + 1) : "hole") + ","; return text + v.length + "]"; }
    return "{" + Reflect.ownKeys(v).slice(0, 20).map((k) => String(k) + ":" + show(v[k], depth + 1)).join() + "}";
  } catch (e) { return "threw " + e?.name; }
};
const print = (...values) => { if (lines.length < 200) lines.push(values.map((v) => show(v)).join(" ")); };
try {
"#;

const EPILOGUE: &str = r#"
} catch (e) { lines.push("uncaught " + (e instanceof Error ? e.name : show(e))); }
return lines.join("\n"); })()"#;

/// How deep expressions and statements nest.
const DEPTH_MAX: u32 = 4;

/// A program from the stream.
pub(crate) fn program(random: &mut Random) -> String {
    let mut writer = Writer {
        random,
        out: PRELUDE.to_string(),
        names: Vec::new(),
        next: 0,
        in_generator: false,
        labels: 0,
        loops: 0,
    };
    for _ in 0..6 {
        writer.declaration();
    }
    for _ in 0..12 {
        writer.statement(0);
    }
    let names = writer.names.clone();
    for name in names.iter().take(12) {
        writer.line(&format!("print({:?}, {name});", name));
    }
    writer.out.push_str(EPILOGUE);
    writer.out
}

struct Writer<'r> {
    random: &'r mut Random,
    out: String,
    /// Variables in scope, `let` all.
    names: Vec<String>,
    next: u32,
    in_generator: bool,
    labels: u32,
    loops: u32,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("v{}", self.next)
    }

    fn name(&mut self) -> String {
        match self.names.len() {
            0 => "undefined".to_string(),
            n => self.names[self.random.below(n)].clone(),
        }
    }

    fn declaration(&mut self) {
        let value = self.expression(0);
        let name = self.fresh();
        self.line(&format!("let {name} = {value};"));
        self.names.push(name);
    }

    /// Statements in braces, with a scope of their own.
    fn block(&mut self, depth: u32) {
        let visible = self.names.len();
        self.line("{");
        for _ in 0..1 + self.random.below(3) {
            self.statement(depth + 1);
        }
        self.line("}");
        self.names.truncate(visible);
    }

    fn statement(&mut self, depth: u32) {
        if depth >= DEPTH_MAX {
            return self.simple();
        }
        match self.random.below(40) {
            0..=4 => self.simple(),
            5 | 6 => self.declaration(),
            7 | 8 => {
                let test = self.expression(1);
                self.line(&format!("if ({test})"));
                self.block(depth);
                if self.random.chance(50) {
                    self.line("else");
                    self.block(depth);
                }
            }
            9 => self.counted_loop(depth),
            10 => self.iteration(depth),
            11 => self.while_loop(depth),
            12 | 13 => self.protected(depth),
            14 => self.switch(depth),
            15 | 16 => self.function(depth),
            17 => self.class(depth),
            18 => self.generator(depth),
            19 => self.destructuring(),
            20 => self.labelled(depth),
            21 => self.closures(),
            choice => self.feature(choice - 22, depth),
        }
    }

    fn simple(&mut self) {
        let name = self.name();
        match self.random.below(9) {
            0 | 1 => {
                let value = self.expression(0);
                self.line(&format!("print({value});"));
            }
            2 | 3 if name != "undefined" => {
                let value = self.expression(0);
                self.line(&format!("{name} = clip({value});"));
            }
            4 if name != "undefined" => {
                let (operator, value) = (self.random.pick(BINARY), self.expression(1));
                let assignment = if matches!(operator, "<" | "<=" | ">" | ">=" | "==" | "!=" | "===" | "!==")
                {
                    "+"
                } else {
                    operator
                };
                self.line(&format!("{name} {assignment}= {value}; {name} = clip({name});"));
            }
            5 if name != "undefined" => {
                let update = *["++", "--"].get(self.random.below(2)).unwrap_or(&"++");
                self.line(&format!("{name}{update};"));
            }
            6 => {
                let (key, value) = (self.expression(2), self.expression(1));
                self.line(&format!("if (typeof {name} === \"object\" && {name} && !ArrayBuffer.isView({name})) {name}[index({key})] = {value};"));
            }
            7 if self.in_generator => {
                let value = self.expression(1);
                self.line(&format!("print(yield {value});"));
            }
            7 if self.loops > 0 && self.random.chance(50) => {
                let (jump, test) = (self.random.pick(&["break", "continue"]), self.expression(2));
                self.line(&format!("if ({test}) {jump};"));
            }
            8 => {
                let key = self.expression(2);
                self.line(&format!("print(delete Object({name})[{key}]);"));
            }
            _ => {
                let value = self.expression(0);
                self.line(&format!("{value};"));
            }
        }
    }

    fn body(&mut self, depth: u32) {
        self.loops += 1;
        self.line("{ tick();");
        let visible = self.names.len();
        for _ in 0..1 + self.random.below(3) {
            self.statement(depth + 1);
        }
        self.names.truncate(visible);
        self.line("}");
        self.loops -= 1;
    }

    fn counted_loop(&mut self, depth: u32) {
        let (i, n) = (self.fresh(), self.random.below(12));
        self.line(&format!("for (let {i} = 0; {i} < {n}; {i}++)"));
        // The variable is read, not written, so that the loop ends soon.
        let visible = self.names.len();
        self.line("{");
        let copy = self.fresh();
        self.line(&format!("let {copy} = {i};"));
        self.names.push(copy);
        self.body(depth);
        self.line("}");
        self.names.truncate(visible);
    }

    fn iteration(&mut self, depth: u32) {
        let (x, of, over) = (self.fresh(), self.random.pick(&["of", "in"]), self.expression(1));
        let over = if of == "of" {
            format!("(Array.isArray(clip({over})) ? [1, 2, \"x\"] : \"ab\")")
        } else {
            format!("Object({over})")
        };
        self.line(&format!("for (let {x} {of} {over})"));
        self.names.push(x);
        self.body(depth);
        self.names.pop();
    }

    fn while_loop(&mut self, depth: u32) {
        let counter = self.fresh();
        let n = self.random.below(8);
        self.line(&format!("let {counter} = 0;"));
        if self.random.chance(50) {
            self.line(&format!("while ({counter}++ < {n})"));
            self.body(depth);
        } else {
            self.line("do");
            self.body(depth);
            self.line(&format!("while (++{counter} < {n});"));
        }
    }

    fn protected(&mut self, depth: u32) {
        self.line("try");
        self.block(depth);
        if self.random.chance(75) {
            let error = self.fresh();
            self.line(&format!("catch ({error}) {{ if ({error} instanceof EvalError) throw {error}; print({error} instanceof Error ? {error}.name : {error});"));
            self.statement(depth + 1);
            self.line("}");
            if self.random.chance(60) {
                return;
            }
        }
        self.line("finally");
        let (loops, generator) = (std::mem::take(&mut self.loops), std::mem::take(&mut self.in_generator));
        self.block(depth);
        (self.loops, self.in_generator) = (loops, generator);
    }

    fn switch(&mut self, depth: u32) {
        let value = self.expression(1);
        self.line(&format!("switch ({value}) {{"));
        let loops = std::mem::take(&mut self.loops);
        for _ in 0..self.random.below(4) {
            let case = self.expression(2);
            self.line(&format!("case {case}:"));
            self.block(depth);
            if self.random.chance(60) {
                self.line("break;");
            }
        }
        self.line("default:");
        self.block(depth);
        self.line("}");
        self.loops = loops;
    }

    /// Writes a function's body: names of the outside are visible, loops are not.
    fn function_body(&mut self, parameters: &[String], depth: u32, is_generator: bool) {
        let visible = self.names.len();
        let (loops, generator) =
            (std::mem::take(&mut self.loops), std::mem::replace(&mut self.in_generator, is_generator));
        self.names.extend_from_slice(parameters);
        self.line("{ tick();");
        for _ in 0..1 + self.random.below(4) {
            self.statement(depth + 1);
        }
        let value = self.expression(1);
        self.line(&format!("return {value}; }}"));
        self.names.truncate(visible);
        (self.loops, self.in_generator) = (loops, generator);
    }

    fn parameters(&mut self) -> (String, Vec<String>) {
        let (mut text, mut names) = (String::new(), Vec::new());
        for _ in 0..self.random.below(4) {
            let name = self.fresh();
            let default =
                if self.random.chance(30) { format!(" = {}", self.expression(2)) } else { String::new() };
            text.push_str(&format!("{name}{default}, "));
            names.push(name);
        }
        if self.random.chance(20) {
            let rest = self.fresh();
            text.push_str(&format!("...{rest}"));
            names.push(rest);
        }
        (text, names)
    }

    fn function(&mut self, depth: u32) {
        let (name, (text, parameters)) = (self.fresh(), self.parameters());
        self.line(&format!("let {name} = function ({text})"));
        self.function_body(&parameters, depth, false);
        let arguments = self.arguments();
        self.line(&format!("; print({name}({arguments}));"));
        self.names.push(name);
    }

    fn class(&mut self, depth: u32) {
        let (name, field, base) = (
            self.fresh(),
            self.expression(2),
            self.random.pick(&["", "extends Array", "extends Object", "extends Map"]),
        );
        self.line(&format!("class {name} {base} {{ p = {field}; #q = 1; static s = 2; get g() {{ return this.#q; }} set g(v) {{ this.#q = v; }} static m(o) {{ return #q in o; }} "));
        self.line("m()");
        self.function_body(&[], depth, false);
        self.line("}");
        let instance = self.fresh();
        self.line(&format!("let {instance} = new {name}(); print({instance}.g, {instance}.m(), {name}.m({instance}), {name}.s); {instance}.g = {}; print({instance});", self.next));
        self.names.push(instance);
    }

    fn generator(&mut self, depth: u32) {
        let name = self.fresh();
        self.line(&format!("function* {name}()"));
        self.function_body(&[], depth, true);
        let sent = self.expression(2);
        self.line(&format!("{{ const it = {name}(); for (let k = 0; k < 6; k++) {{ const r = it.next({sent}); print(r.value, r.done); if (r.done) break; }} print(it.return(1).done); }}"));
    }

    fn destructuring(&mut self) {
        let (a, b, c) = (self.fresh(), self.fresh(), self.fresh());
        let (value, default) = (self.expression(1), self.expression(2));
        if self.random.chance(50) {
            self.line(&format!("let [{a}, {b} = {default}, ...{c}] = [].concat({value});"));
        } else {
            self.line(&format!("let {{ a: {a}, length: {b} = {default}, ...{c} }} = Object({value});"));
        }
        self.names.extend([a, b, c]);
    }

    fn labelled(&mut self, depth: u32) {
        self.labels += 1;
        let (label, i) = (format!("l{}", self.labels), self.fresh());
        let (test, jump) = (self.expression(2), self.random.pick(&["break", "continue"]));
        self.line(&format!("{label}: for (let {i} = 0; {i} < 5; {i}++) {{ for (;;) {{ tick(); if ({test}) {jump} {label}; if ({i} > 2) break {label};"));
        self.loops += 1;
        let visible = self.names.len();
        self.simple();
        self.names.truncate(visible);
        self.loops -= 1;
        self.block(depth);
        self.line("break; } }");
    }

    /// Closures over the variables of a loop, called afterwards.
    fn closures(&mut self) {
        let (list, value) = (self.fresh(), self.expression(2));
        self.line(&format!("let {list} = []; for (let i = 0, j = 3; i < 3; i++, j--) {{ {list}.push(() => [i, j, {value}]); if (i === 1) i = i; }} for (const f of {list}) print(f());"));
    }

    fn arguments(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.random.below(4) {
            let value = self.expression(2);
            let spread = if self.random.chance(10) { "...[1, 2]," } else { "" };
            text.push_str(&format!("{spread}{value},"));
        }
        text
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth >= DEPTH_MAX || self.random.chance(20) {
            return if self.random.chance(60) {
                self.name()
            } else {
                format!("({})", self.random.pick(LITERALS))
            };
        }
        let d = depth + 1;
        match self.random.below(20) {
            0 => format!("({})", self.random.pick(LITERALS)),
            1..=5 => {
                let (a, b) = (self.expression(d), self.expression(d));
                format!("(clip({a}) {} {b})", self.random.pick(BINARY))
            }
            6 => format!("({}{})", self.random.pick(UNARY), self.expression(d)),
            7 => format!("({} ? {} : {})", self.expression(d), self.expression(d), self.expression(d)),
            8..=10 => {
                let (object, method) = (self.expression(d), self.random.pick(METHODS));
                let dot = if method.starts_with('[') { "?." } else { self.random.pick(&[".", "?."]) };
                format!("clip({object}{}{dot}{method})", "")
            }
            11 => {
                let (x, callback) = (self.fresh(), self.random.pick(CALLBACKS));
                self.names.push(x.clone());
                let body = self.expression(d);
                self.names.pop();
                format!("[3, 1, 2].{callback}(({x}) => {body})")
            }
            12 | 13 => {
                let arguments = self.arguments();
                let f = self.random.pick(STATICS);
                let f = if f == "structuredCloneLike" { "((x) => x)" } else { f };
                format!("clip({f}({arguments}))")
            }
            14 => format!("`${{{}}}|${{{}}}`", self.name(), self.expression(d)),
            15 => format!("[{}, ...[{}], {}]", self.expression(d), self.expression(d), self.expression(d)),
            16 => format!(
                "({{ a: {}, [index({})]: {}, get b() {{ return {}; }} }})",
                self.expression(d),
                self.expression(d),
                self.expression(d),
                self.expression(DEPTH_MAX)
            ),
            17 => format!(
                "[5, 2, 9, 1].sort((x, y) => {})",
                self.random.pick(&["x - y", "y - x", "0", "x < y ? -1 : 1"])
            ),
            18 => format!("({}, {})", self.expression(d), self.expression(d)),
            _ => format!(
                "[1, 2, 3].reduce((x, y) => clip(x + {}), {})",
                self.expression(d),
                self.expression(d)
            ),
        }
    }
}
