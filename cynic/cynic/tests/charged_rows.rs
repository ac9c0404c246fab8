//! Work without a back-edge and without a call of the guest's own is paid for where it is done: rows of operations, and the arguments of one call.
//! A row of thousands of them ends after a few, by fuel where the operands are long, and by the heap's limit where each takes memory.

use cynic::{Engine, Error, Isolate, Limits, Termination};

/// Units of a long string: more steps than a piece of the budget, and than the fuel has.
const UNITS: usize = 4 << 20;
/// Steps of the whole row.
const FUEL: u64 = UNITS as u64 / 64 / 2;
/// Operations in a row.
const ROW: usize = 500;
/// How many may be done before it ends: the one that exceeds the limit, and those before which nobody looks.
const DONE_MAX: usize = 8;
const HEAP_BYTES: usize = 32 << 20;
/// The heap may end so much above its limit: what is small is handed out and looked at later.
const BESIDES: usize = 1 << 20;

/// Expressions over a long string `$`, another of the same length and nearly the same units `t` and an object `o`.
const OPERATIONS: &[&str] = &[
    "+$",
    "-$",
    "$ - 1",
    "1 * $",
    "$ | 0",
    "$ ** 2",
    "$ === t",
    "$ !== t",
    "$ == t",
    "$ != t",
    "$ < t",
    "$ >= t",
    "o[$]",
    "$ in o",
    "delete o[$]",
    "o[$] = 1",
    "({ [$]: 1 })",
    "isNaN($)",
    "Number($)",
    "$ === t ? 1 : 2",
    "$ === t || 1",
    "$ === t && 1",
    "o?.[$]",
    "Object.is($, t)",
    "[t].includes($)",
    "[t].indexOf($)",
    "Object.hasOwn(o, $)",
    "Reflect.get(o, $)",
    "parseFloat($)",
    "$.indexOf('z')",
    "Symbol.for($)",
    "new Set([$])",
    "encodeURIComponent($)",
];

/// Those that flatten a rope and look at little of it.
const LOOKS: &[&str] = &[
    "$.charCodeAt(1)",
    "$.at(-1)",
    "$[5]",
    "$.codePointAt(1)",
    "$.endsWith('z')",
    "$.search('2')",
    "$.trim()",
    "[...$.slice(0, 3)]",
];

/// The functions that look at each of very many arguments.
const CALLS: &[&str] = &[
    "Math.max(...a)",
    "Math.min(...a)",
    "Math.hypot(...a)",
    "String.fromCharCode(...a)",
    "Function(...a)",
    "''.concat(...a).at(0)",
    "new Date(...a)",
    "Date.UTC(...a)",
    "new Set(a)",
    "a.includes(t)",
    "a.indexOf(t)",
    "a.lastIndexOf(t)",
    "a.sort()",
    "new Float64Array(a)",
    "a.join()",
    "JSON.stringify(a)",
    "Object.groupBy(a, (x) => x)",
    "a.map(Number)",
    "structuredClone(a)",
    "console.log(...a)",
];

fn isolate(heap_bytes: usize) -> Isolate {
    let mut isolate =
        Engine::new().unhardened().allow_eval().isolate(Limits { heap_bytes, ..Limits::default() });
    let prepared = format!(
        "var n = 0, x, o = {{}}, a = [];
         const long = '1'.repeat({UNITS}), t = '1'.repeat({UNITS} - 4) + '1112', s = '1'.repeat({UNITS} - 4) + '1111';"
    );
    isolate.realm().evaluate("prepare.js", &prepared).expect("prepared");
    isolate
}

/// How many operations of a row were done; a complaint if it did not end.
fn done(isolate: &mut Isolate, row: &str, limit: Termination) -> Result<usize, String> {
    match isolate.realm().evaluate("row.js", row) {
        Err(Error::Terminated(by)) if by == limit => {}
        other => return Err(format!("ended with {:?}", other.map(drop))),
    }
    isolate.recover();
    isolate.set_fuel(None);
    let count = isolate.realm().evaluate("count.js", "n").map_err(|error| error.to_string())?;
    let text = isolate.realm().to_text(&count).map_err(|error| error.to_string())?;
    text.parse().map_err(|_| text)
}

#[test]
fn a_row_of_operations_on_long_strings_ends_by_fuel() {
    let mut faults = Vec::new();
    for operation in OPERATIONS {
        let mut isolate = isolate(1 << 30);
        let row = format!("n++; x = {};", operation.replace('$', "s")).repeat(ROW);
        isolate.realm().evaluate("flat.js", "s.at(0); t.at(0)").expect("flattened");
        isolate.set_fuel(Some(FUEL));
        match done(&mut isolate, &row, Termination::Fuel) {
            Ok(count) if count <= DONE_MAX => {}
            other => faults.push(format!("{operation}: {other:?}")),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Ropes whose room was there when each was made, and is not when all of them are flattened.
const ROPES: &str = "for (let i = 0; i < 500; i++) a.push(long + (1000 + i));";

#[test]
fn ropes_are_flattened_inside_the_heap() {
    let mut faults = Vec::new();
    let rows = OPERATIONS.iter().chain(LOOKS).map(|operation| {
        let row = (0..ROW).map(|i| format!("n++; x = {};", operation.replace('$', &format!("a[{i}]"))));
        (*operation, row.collect::<String>())
    });
    let calls = CALLS.iter().map(|call| (*call, format!("x = {call};")));
    for (name, program) in rows.chain(calls) {
        let mut isolate = isolate(HEAP_BYTES);
        isolate.realm().evaluate("ropes.js", ROPES).expect("made");
        let ended = isolate.realm().evaluate("row.js", &program).map(drop);
        let (now, peak) = (isolate.heap_bytes(), isolate.gc_stats().peak_bytes);
        if now.max(peak) > HEAP_BYTES + BESIDES {
            faults.push(format!("{name}: {now} bytes at the end, {peak} at most; {ended:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
