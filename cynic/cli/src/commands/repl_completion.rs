//! What the Tab key offers in the REPL: keywords and globals, or properties of what stands before the last dot.
//!
//! Invariant: completing runs no guest code. A name whose value only a getter or a proxy could tell has no completions.

use cynic::{Handle, Realm};

use crate::limits::COMPLETIONS_MAX;

/// Words that begin expressions and statements, or stand inside them.
const KEYWORDS: &[&str] = &[
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "default",
    "delete",
    "do",
    "else",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "import",
    "in",
    "instanceof",
    "let",
    "new",
    "null",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "using",
    "var",
    "void",
    "while",
    "yield",
];

/// Where the word that ends at `at` begins, and what it may become.
pub(crate) fn complete(realm: &mut Realm<'_>, line: &str, at: usize) -> (usize, Vec<String>) {
    let before = line.get(..at).unwrap_or(line);
    let (path, word) = path_and_word(before);
    let Some((root, members)) = path.split_first() else {
        let mut names: Vec<String> = KEYWORDS.iter().map(|word| (*word).to_owned()).collect();
        names.extend(realm.global_names());
        return (at - word.len(), matching(names, word));
    };
    let mut value = root_value(realm, root);
    for name in members {
        value = value.and_then(|value| realm.peek_property(&value, name).ok().flatten());
    }
    let names = value.and_then(|value| realm.property_names(&value).ok()).unwrap_or_default();
    (at - word.len(), matching(names, word))
}

fn root_value(realm: &mut Realm<'_>, name: &str) -> Option<Handle> {
    match name {
        "this" => Some(realm.global()),
        _ if name.starts_with(|c: char| c.is_ascii_digit()) => None,
        _ => realm.peek_global(name),
    }
}

/// `a.b.wo` is the path `a`, `b` and the word `wo`. The path is empty where no dot stands before the word; it is one that leads
/// nowhere where the dot stands behind something else than names.
fn path_and_word(text: &str) -> (Vec<&str>, &str) {
    let (mut rest, word) = split_name(text);
    let mut path = Vec::new();
    while let Some(before) = rest.strip_suffix("?.").or_else(|| rest.strip_suffix('.')) {
        // Three dots spread what follows.
        if path.is_empty() && before.ends_with("..") {
            break;
        }
        let (further, name) = split_name(before);
        path.push(name);
        rest = further;
        if name.is_empty() {
            break;
        }
    }
    path.reverse();
    (path, word)
}

/// A text and the name that it ends with.
fn split_name(text: &str) -> (&str, &str) {
    let name_bytes: usize = text.chars().rev().take_while(|c| is_part(*c)).map(char::len_utf8).sum();
    text.split_at(text.len() - name_bytes)
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn matching(mut names: Vec<String>, word: &str) -> Vec<String> {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(is_part) && !name.starts_with(|c: char| c.is_numeric())
    };
    names.retain(|name| name.starts_with(word) && is_name(name));
    names.sort_unstable();
    names.dedup();
    names.truncate(COMPLETIONS_MAX);
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use cynic::{Engine, Isolate, Limits};

    fn offered(source: &str, line: &str) -> Vec<String> {
        let mut isolate = isolate();
        let mut realm = isolate.realm();
        assert!(realm.execute("a.js", source).is_ok(), "{source}");
        complete(&mut realm, line, line.len()).1
    }

    fn isolate() -> Isolate {
        Engine::new().isolate(Limits::default())
    }

    #[test]
    fn globals_and_keywords() {
        assert_eq!(
            offered("let instant = 1; var inner = 2;", "x = in"),
            ["in", "inner", "instanceof", "instant"]
        );
        assert_eq!(offered("", "[...Promi"), ["Promise"]);
        assert!(offered("", "").contains(&"while".to_owned()));
    }

    #[test]
    fn properties_own_and_inherited() {
        let source = "const o = { inner: { alpha: 1, alps: 2 }, 'no name': 3, 7: 4 };";
        assert_eq!(offered(source, "o.inner.al"), ["alpha", "alps"]);
        assert_eq!(offered(source, "f(o?.inner?.alpha.toF"), ["toFixed"]);
        assert_eq!(offered("const text = 'x';", "text.pad"), ["padEnd", "padStart"]);
        assert_eq!(offered("", "Math.PI.toP"), ["toPrecision"]);
        assert!(offered(source, "o.").contains(&"inner".to_owned()));
        assert!(!offered(source, "o.").contains(&"no name".to_owned()));
    }

    #[test]
    fn where_the_word_begins() {
        let mut isolate = isolate();
        let mut realm = isolate.realm();
        assert_eq!(complete(&mut realm, "x + Math.flo(y)", 12), (9, vec!["floor".to_owned()]));
        assert_eq!(complete(&mut realm, "\u{e4}.flo", 6).0, 3);
    }

    #[test]
    fn guest_code_does_not_run() {
        let source = "let ran = 0;
            const trap = { get value() { ran++; return { inside: 1 }; } };
            const proxy = new Proxy({ inside: 1 }, { get() { ran++; }, ownKeys() { ran++; return []; },
                getOwnPropertyDescriptor() { ran++; }, getPrototypeOf() { ran++; return null; } });
            const heir = Object.create(proxy, { own: { value: 1 } });";
        let mut isolate = isolate();
        let mut realm = isolate.realm();
        assert!(realm.execute("a.js", source).is_ok());
        for (line, expected) in
            [("trap.value.in", vec![]), ("proxy.in", vec![]), ("heir.", vec!["own".to_owned()])]
        {
            assert_eq!(complete(&mut realm, line, line.len()).1, expected, "{line}");
        }
        let ran = realm.peek_global("ran").expect("a global");
        assert_eq!(ran.to::<i32>(&mut realm).expect("a number"), 0);
    }

    #[test]
    fn what_is_not_known_has_none() {
        for line in ["nowhere.a", "f().a", "'x'.a", "1.a", "a[0].b", "undefined.a", "null.a", "..a.b"] {
            assert_eq!(offered("", line), Vec::<String>::new(), "{line}");
        }
        let mut isolate = isolate();
        let mut realm = isolate.realm();
        assert!(realm.execute("a.js", "throw 1; let dead;").is_err());
        assert_eq!(complete(&mut realm, "dead.a", 6).1, Vec::<String>::new());
    }
}
