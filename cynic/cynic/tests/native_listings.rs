//! The machine code of small functions, as files: a line `--- PROGRAM`, then what `cynic disasm --native` shows of it. A change of the template
//! tier shows as a change of these files: `CYNIC_LISTINGS=bless cargo test -p pithos-cynic --test native_listings` writes them anew, for the
//! eye to judge. Where there is no code generator, there is nothing to list.

use std::path::{Path, PathBuf};

use cynic::{Engine, Jit, Limits};

const MARK: &str = "--- ";

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native");
    let entries = std::fs::read_dir(folder).expect("the listings");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a listing").path()).collect();
    paths.sort();
    paths
}

/// What follows its program's own code is that of the function in it.
fn listed(program: &str) -> Option<String> {
    let engine = Engine::new().jit(Jit::Template);
    let script = engine.compile("t.js", program).expect("a program");
    let text = engine.isolate(Limits::default()).list_native(&script)?;
    Some(format!("{MARK}{program}\n{text}\n"))
}

#[test]
fn functions_become_the_code_in_their_listings() {
    if listed("0").is_none() {
        println!("no code generator here");
        return;
    }
    let bless = std::env::var_os("CYNIC_LISTINGS").is_some_and(|value| value == "bless");
    for path in files() {
        let wanted = std::fs::read_to_string(&path).expect("a listing");
        let programs = wanted.lines().filter_map(|line| line.strip_prefix(MARK));
        let found: String = programs.filter_map(listed).collect();
        assert!(!found.contains("? 0x"), "{}: bytes that the listing does not know", path.display());
        if bless {
            std::fs::write(&path, found).expect("a listing");
            continue;
        }
        let first = found.lines().zip(wanted.lines()).find(|(found, wanted)| found != wanted);
        assert!(found == wanted, "{}: first (found, expected): {first:?}", path.display());
    }
}

/// Every instruction of a listing of a large program is known to it.
#[test]
fn listings_know_every_encoding() {
    for program in [
        "(a, b) => [a + b, a - 1, a * b, a / b, a % 8, a | b, a & 65536, ~a, -a, !a, a << b, a >>> 3, a < b, a <= 0.5, a === b, a == b, ++a]",
        "(t, i, v) => { t[i] = v; t.x = t[i].y; t.z(i); for (const e of t) v += e.length; return new t(v); }",
        "class A { #p = 1; get p() { return this.#p; } set p(v) { this.#p = v; } m() { return super.m(this.#p, Math.floor(this.p)); } }",
        "function f(n) { let s = ''; for (let i = 0; i < n; i++) { try { s += String(i).charCodeAt(0); } finally { s += Math.max(i, n) + Math.sqrt(i); } } return f(n - 1); }",
        "async function* g(...a) { for await (const x of a) yield* x?.y ?? typeof a; switch (a.length) { case 1: return a.push(1); default: return a.pop(); } }",
    ] {
        let Some(text) = listed(program) else { return };
        let unknown = text.lines().find(|line| line.contains("? 0x"));
        assert_eq!(unknown, None, "{program}");
    }
}
