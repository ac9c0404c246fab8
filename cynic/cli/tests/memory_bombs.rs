//! Single calls that make much of little end inside the heap's limit: lists of keys, texts that grow when they are normalised.

use measured::{BESIDES_KIB, HEAP_KIB, empty_kib, run};

mod measured;

/// What is done with `S`, a long string, and `A`, a long typed array.
const CALLS: &[&str] = &[
    "for (const k in S);",
    "for (const k in Object(S));",
    "for (const k in A);",
    "Object.keys(S)",
    "Object.keys(A)",
    "Object.entries(S)",
    "Object.values(Object(S))",
    "Object.getOwnPropertyNames(S)",
    "Object.getOwnPropertyDescriptors(S)",
    "Object.create({}, Object(S))",
    "Object.assign({}, S)",
    "Object.assign({}, A)",
    "({ ...S })",
    "const { ...r } = S",
    "Reflect.ownKeys(Object(S))",
    "Reflect.ownKeys(new Proxy(Object(S), {}))",
    "Reflect.ownKeys(new Proxy(Object(S), { ownKeys: (t) => Reflect.ownKeys(t) }))",
    "Object.freeze(Object(S))",
    "Object.isFrozen(Object.preventExtensions(Object(S)))",
    "harden(Object(S))",
    "JSON.stringify(A)",
    "structuredClone(Object(S))",
    "console.log(Object(S))",
    "console.dir(Object(S))",
    "console.table(Object(S))",
    "'\\ufdfa'.repeat(2e6).normalize('NFKC')",
    "'\\ufdfa'.repeat(2e6).normalize('NFKD')",
    "'\\u0390'.repeat(2e6).normalize('NFD')",
    "'\\u{1d160}'.repeat(1e6).normalize('NFC')",
    "'\\ufdfa'.repeat(2e6).localeCompare('\\ufdfa'.repeat(2e6))",
    "'\\u0390'.repeat(3e6).toUpperCase()",
    "'\\ud800'.repeat(2e6).normalize('NFKC')",
];

#[test]
fn one_call_stays_inside_the_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut faults = Vec::new();
    for (index, call) in CALLS.iter().enumerate() {
        let file = folder.path().join(format!("a{index}.js"));
        let source = format!("const S = 'a'.repeat(2 ** 23), A = new Uint8Array(2 ** 22);\n{{ {call} }}\n");
        std::fs::write(&file, source).expect("written");
        let ended = run(&[], &file);
        let above = ended.peak_kib.saturating_sub(HEAP_KIB + empty_kib());
        let ends = [0, 1, 121, 124].map(Some);
        if !ends.contains(&ended.code) || ended.stderr.contains("SyntaxError") || above > BESIDES_KIB {
            faults.push(format!("{call}: {:?}, {above} KiB above, {}", ended.code, ended.stderr));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
