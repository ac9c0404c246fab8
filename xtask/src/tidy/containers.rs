//! Raw containers of cells: what a `Vec<Value>` or a map keyed by `PropertyKey` holds is found by no collection, unless the type that owns it
//! traces it. Outside types with `impl Trace` each file may have as many as `tidy.toml` says, with the reason; the numbers only shrink.

use std::collections::BTreeMap;

use super::Tree;
use super::source::code_only;

/// Words that name a reference to a cell.
const CELLS: &[&str] =
    &["Value", "Object", "JsStr", "Symbol", "PropertyKey", "Gc", "OwnProperty", "PropertyDescriptor"];
/// Containers that live outside the heap and the stack.
const CONTAINERS: &[&str] = &[
    "Vec",
    "VecDeque",
    "HashMap",
    "HashSet",
    "FxHashMap",
    "FxHashSet",
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "Box",
    "Rc",
    "Arc",
];
/// What a container may hold although it names a cell: functions that take or give one.
const FUNCTIONS: &[&str] = &["dyn", "fn", "Fn", "FnMut", "FnOnce"];

/// The check: each file has exactly the number that is declared for it.
pub(super) fn check(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let mut declared = declared(tree);
    let rooms = tree.rule("containers", "rooms").and_then(toml::Value::as_array);
    let rooms: Vec<&str> = rooms.into_iter().flatten().filter_map(toml::Value::as_str).collect();
    let mut problems = Vec::new();
    for (file, text) in tree.texts(&["rs"]) {
        if !rooms.iter().any(|room| file.starts_with(room)) {
            continue;
        }
        let path = file.to_string_lossy().into_owned();
        let lines = untraced(&text);
        let allowed = declared.remove(&path).unwrap_or(0);
        if lines.len() > allowed {
            problems.push(format!(
                "{path}: {} raw containers of cells (lines {lines:?}), {allowed} are declared: use a RootedVec, or a type with `impl Trace` (docs/gc-safety.md)",
                lines.len()
            ));
        } else if lines.len() < allowed {
            problems.push(format!(
                "{path}: {} raw containers of cells, not {allowed}: write that in xtask/tidy.toml",
                lines.len()
            ));
        }
    }
    let gone = declared
        .keys()
        .map(|path| format!("{path} is declared in [containers] and is not there: drop the line"));
    problems.extend(gone);
    Ok(problems)
}

/// How many the files are allowed together.
pub(super) fn report(tree: &Tree<'_>) -> String {
    let declared = declared(tree);
    format!("raw containers of cells: {} in {} files", declared.values().sum::<usize>(), declared.len())
}

fn declared(tree: &Tree<'_>) -> BTreeMap<String, usize> {
    let entries = tree.rule("containers", "allowed").and_then(toml::Value::as_array);
    let entry = |entry: &toml::Value| {
        let count = usize::try_from(entry.get("count")?.as_integer()?).ok()?;
        Some((entry.get("path")?.as_str()?.to_string(), count))
    };
    entries.into_iter().flatten().filter_map(entry).collect()
}

/// The lines with a container of cells that no `impl Trace` of the file reaches.
fn untraced(text: &str) -> Vec<usize> {
    let mut code = code_only(text);
    code.truncate(code.find("#[cfg(test)]").unwrap_or(code.len()));
    let traced = traced_bodies(&code);
    let mut lines: Vec<usize> = containers(&code)
        .into_iter()
        .filter(|at| !traced.iter().any(|(start, end)| (start..end).contains(&at)))
        .map(|at| 1 + code[..at].matches('\n').count())
        .collect();
    lines.dedup();
    lines
}

/// Where containers of cells are named.
fn containers(code: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for (at, word) in words(code) {
        let rest = &code[at + word.len()..];
        let inside = rest.strip_prefix("::<").or_else(|| rest.strip_prefix('<'));
        let Some(inside) = inside.filter(|_| CONTAINERS.contains(&word)) else { continue };
        let inside = &inside[..closing(inside)];
        let names: Vec<&str> = words(inside).into_iter().map(|(_, word)| word).collect();
        let holds_cells = names.iter().any(|name| CELLS.contains(name));
        if holds_cells && !names.iter().any(|name| FUNCTIONS.contains(name)) {
            found.push(at);
        }
    }
    found
}

/// The end of what an opened `<` holds.
fn closing(inside: &str) -> usize {
    let mut depth = 1;
    let mut before = ' ';
    for (at, c) in inside.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            ';' | '{' if depth > 0 && c == '{' => return at,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
        before = c;
    }
    inside.len()
}

/// Where the bodies of structures stand that have an `impl Trace` in this file.
fn traced_bodies(code: &str) -> Vec<(usize, usize)> {
    let names: Vec<&str> = code
        .match_indices("Trace for ")
        .filter_map(|(at, head)| words(&code[at + head.len()..]).first().map(|(_, name)| *name))
        .collect();
    let mut bodies = Vec::new();
    for keyword in ["struct ", "enum "] {
        for (at, _) in code.match_indices(keyword) {
            let rest = &code[at + keyword.len()..];
            let named = words(rest).first().is_some_and(|(place, name)| *place == 0 && names.contains(name));
            if named {
                bodies.push((at, at + keyword.len() + body_end(rest)));
            }
        }
    }
    bodies
}

fn body_end(rest: &str) -> usize {
    let mut depth = 0;
    for (at, c) in rest.char_indices() {
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            ';' if depth == 0 => return at,
            _ => {}
        }
    }
    rest.len()
}

fn words(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let inside = c.is_alphanumeric() || c == '_';
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push((from, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::untraced;

    fn check(text: &str, lines: &[usize]) {
        assert_eq!(untraced(text), lines, "{text}");
    }

    #[test]
    fn containers_of_cells_are_found() {
        check("let v: Vec<Value> = x;", &[1]);
        check("x\nfn f() -> HashMap<PropertyKey, u32> {}", &[2]);
        check("let v = Vec::<(u8, Option<JsStr>)>::new();", &[1]);
        check("let v: Box<[Gc<Shape>]>;", &[1]);
    }

    #[test]
    fn others_are_not() {
        check("let v: RootedVec<Value> = x; // Vec<Value>", &[]);
        check("let f: Box<dyn Fn(Value) -> Value>;", &[]);
        check("fn f(v: Vec<u8>, x: Value) {}", &[]);
        check("#[cfg(test)]\nmod tests { let v: Vec<Value>; }", &[]);
    }

    #[test]
    fn a_type_that_traces_may_have_them() {
        check("struct A { v: Vec<Value> }\nimpl Trace for A {}", &[]);
        check("struct A(Vec<Value>);\nstruct B(Vec<Value>);\nimpl Trace for B {}", &[1]);
    }
}
