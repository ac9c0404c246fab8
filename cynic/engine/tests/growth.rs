//! How the work of common operations grows: each program at `n`, `4n` and `16n`, in the engine's own steps, which count instructions' back-edges and
//! calls, iterations of native loops, and bytes that are copied or allocated (64 a step). A step count does not depend on the machine, so the bounds
//! are tight: four times the input may take at most four and a half times the steps (six where sorting is allowed to).
//! `cargo test -p pithos-cynic --test growth -- --nocapture` prints the table.

use cynic_engine::vm::{Options, Vm};

/// Steps may grow so much when the input grows fourfold.
const LINEAR: f64 = 4.5;
/// The same where all is copied once in 2,000 times, which is to show little up to the largest size.
const COPIED_AT_TIMES: f64 = 7.0;
/// The same where a logarithm belongs to it.
const LOGARITHMIC: f64 = 6.0;

/// What is measured; `N` is the size. All of a program is measured, so that what is prepared must be linear, too.
const PROGRAMS: &[(&str, f64, &str)] = &[
    (
        "append and charCodeAt",
        LINEAR,
        "let s = '', x = 0; for (let i = 0; i < N; i++) { s += 'ab'; x += s.charCodeAt(i); }",
    ),
    (
        "append and index",
        LINEAR,
        "let s = '', x = 0; for (let i = 0; i < N; i++) { s += 'a'; if (s[s.length - 1] === 'b') x++; }",
    ),
    (
        "append wide and index",
        LINEAR,
        "let s = '\\u0430', x = 0; for (let i = 0; i < N; i++) { s += 'a'; if (s[s.length - 1] === 'b') x++; }",
    ),
    (
        "append and indexOf",
        LINEAR,
        "let s = '', x = 0; for (let i = 0; i < N; i++) { s += 'ab'; x += s.indexOf('b', s.length - 2); }",
    ),
    (
        "append and slice",
        LINEAR,
        "let s = '', x = 0; for (let i = 0; i < N; i++) { s += 'ab'; x += s.slice(-2).length; }",
    ),
    (
        "append and startsWith",
        LINEAR,
        "let s = '', x = 0; for (let i = 0; i < N; i++) { s += 'ab'; if (s.startsWith('b')) x++; }",
    ),
    (
        "append and compare",
        LINEAR,
        "let s = 'x', t = 'y', x = 0; for (let i = 0; i < N; i++) { s += 'ab'; t += 'ab'; if (s === t) x++; }",
    ),
    (
        "characters of a string",
        LINEAR,
        "const s = 'abcd'.repeat(N / 4); let x = 0; for (let i = 0; i < N; i++) x += s.charCodeAt(i); for (const c of s) x += c.length;",
    ),
    (
        "sticky tokeniser",
        LINEAR,
        "const s = 'ab 12 '.repeat(N / 6), r = /[a-z]+|[0-9]+| /y; let x = 0; while (r.lastIndex < s.length) { r.exec(s); x++; }",
    ),
    (
        "global match",
        LINEAR,
        "const s = 'ab 12 '.repeat(N / 6); let x = 0; for (const m of s.matchAll(/[a-z]+/g)) x += m.index;",
    ),
    ("replace in a long string", LINEAR, "'ab,'.repeat(N / 3).replaceAll(',', ';').split(';').join('+');"),
    (
        "slices of a string",
        LINEAR,
        "const s = 'abcd'.repeat(N); let x = 0; for (let i = 0; i < N; i++) x += s.slice(i, i + 4).length + s.substring(i, i + 100).length;",
    ),
    (
        "prefix test",
        LINEAR,
        "const s = 'abcd'.repeat(N); let x = 0; for (let i = 0; i < N; i++) if (s.startsWith('cd', i)) x++;",
    ),
    ("stack", LINEAR, "const a = []; for (let i = 0; i < N; i++) a.push(i); while (a.length) a.pop();"),
    ("short queue", LINEAR, "const a = [1, 2, 3]; for (let i = 0; i < N; i++) { a.push(i); a.shift(); }"),
    (
        "queue",
        COPIED_AT_TIMES,
        "const a = []; for (let i = 0; i < N; i++) a.push(i); while (a.length) a.shift();",
    ),
    (
        "queue that stays long",
        COPIED_AT_TIMES,
        "const a = []; for (let i = 0; i < N; i++) a.push(i); for (let i = 0; i < N; i++) { a.push(i); a.shift(); }",
    ),
    (
        "slice of one",
        LINEAR,
        "const a = Array.from({ length: N }, (_, i) => i); let x = 0; for (let i = 0; i < N; i++) x += a.slice(i, i + 1).length;",
    ),
    (
        "splice at the end",
        LINEAR,
        "const a = Array.from({ length: N }, (_, i) => i); for (let i = 0; i < N; i++) a.splice(a.length - 1, 1, i);",
    ),
    (
        "spread and one",
        LINEAR,
        "let a = Array.from({ length: N }, (_, i) => i); for (let i = 0; i < 10; i++) a = [...a, i];",
    ),
    (
        "concat",
        LINEAR,
        "let a = Array.from({ length: N }, (_, i) => i); for (let i = 0; i < 10; i++) a = a.concat([i]);",
    ),
    (
        "object spread",
        LINEAR,
        "const o = {}; for (let i = 0; i < 20; i++) o['k' + i] = i; let x = 0; for (let i = 0; i < N; i++) x += { ...o }.k3;",
    ),
    (
        "spread call",
        LINEAR,
        "const a = [1, 2, 3, 4]; let x = 0; for (let i = 0; i < N; i++) x += Math.max(...a);",
    ),
    ("keys upwards", LINEAR, "const a = []; for (let i = 0; i < N; i++) a[i] = i;"),
    (
        "keys downwards",
        LINEAR,
        "const a = []; for (let i = N; i-- > 0;) a[i] = i; for (let i = 0; i < N; i++) if (a[i] !== i) throw 1;",
    ),
    (
        "many keys",
        LINEAR,
        "const o = {}; for (let i = 0; i < N; i++) o['k' + i] = i; for (const k in o) delete o[k];",
    ),
    (
        "map",
        LINEAR,
        "const m = new Map(); for (let i = 0; i < N; i++) m.set(i, i); for (let i = 0; i < N; i++) m.delete(i);",
    ),
    (
        "map as a queue",
        LINEAR,
        "const m = new Map(); for (let i = 0; i < N; i++) { m.set(i, i); if (i > 9) m.delete(m.keys().next().value); }",
    ),
    ("sort of sorted", LINEAR, "const a = Array.from({ length: N }, (_, i) => i); a.sort((x, y) => x - y);"),
    (
        "sort",
        LOGARITHMIC,
        "let x = 1; const a = Array.from({ length: N }, () => x = x * 16807 % 2147483647); a.sort((x, y) => x - y);",
    ),
    (
        "sort of strings",
        LOGARITHMIC,
        "let x = 1; const a = Array.from({ length: N }, () => 'k' + (x = x * 16807 % 2147483647)); a.sort();",
    ),
    ("JSON", LINEAR, "JSON.parse(JSON.stringify(Array.from({ length: N }, (_, i) => ({ i }))));"),
    (
        "promise chain",
        LINEAR,
        "let p = Promise.resolve(0); for (let i = 0; i < N; i++) p = p.then((v) => v + 1);",
    ),
    (
        "generators",
        LINEAR,
        "function* g(n) { for (let i = 0; i < n; i++) yield i; } let x = 0; for (const v of g(N)) x += v;",
    ),
    (
        "closures",
        LINEAR,
        "const a = []; for (let i = 0; i < N; i++) a.push(() => i); let x = 0; for (const f of a) x += f();",
    ),
    (
        "typed arrays",
        LINEAR,
        "const a = new Float64Array(N); for (let i = 0; i < N; i++) a[i] = N - i; a.sort(); a.slice().reverse();",
    ),
];

/// Steps of a program.
fn steps(program: &str, n: usize) -> u64 {
    const FUEL: u64 = 1 << 40;
    let mut vm = Vm::new(Options { hardened: false, ..Options::default() });
    let source = format!("(function (N) {{ {program} }})({n})");
    vm.set_fuel(Some(FUEL));
    let result = vm.evaluate_script("growth.js", &source).and_then(|_| vm.run_jobs());
    if result.is_err() {
        let error = vm.take_exception();
        panic!("{program}: {} {:?}", vm.describe(error), vm.termination());
    }
    FUEL - vm.fuel_left().unwrap_or(0)
}

#[test]
fn work_grows_with_the_input() {
    const SIZE: usize = 4_800;
    let mut complaints = Vec::new();
    println!("{:<26} {:>10} {:>10} {:>10}  growth", "steps", "n", "4n", "16n");
    for (name, bound, program) in PROGRAMS {
        let [a, b, c] = [1, 4, 16].map(|factor| steps(program, SIZE * factor));
        let growth = c as f64 / b as f64;
        println!("{name:<26} {a:>10} {b:>10} {c:>10}  {growth:.2}");
        if growth > *bound {
            complaints.push(format!("{name}: {a}, {b}, {c}: {growth:.2} times for four times the input"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
