//! CommonJS modules seen by `import`: the default export is `module.exports`, and the names that the text is seen to export are exports too.
//!
//! The text is not run to find them, and not parsed: as node's lexer does, a scan looks for the ways in which such names are written
//! (<https://github.com/nodejs/cjs-module-lexer>). What it does not see is in the default export.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::FileLoader;
use crate::common_js::BRIDGE;

/// Modules whose exports another one passes on, in one another.
const DEPTH_MAX: usize = 8;
/// Names that one module may export.
const NAMES_MAX: usize = 10_000;

/// A module that has the exports of the CommonJS module `key`.
pub(super) fn as_module(loader: &FileLoader, key: &str, text: &str) -> String {
    let mut names = BTreeSet::new();
    collect(loader, key, text, DEPTH_MAX, &mut names);
    names.remove("default");
    names.remove("module.exports");
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let mut module = format!(
        "const m = globalThis[{}]({}); export default m; export {{ m as 'module.exports' }};",
        quoted(BRIDGE),
        quoted(key)
    );
    if names.is_empty() {
        return module;
    }
    module.push_str("const {");
    for (index, name) in names.iter().enumerate() {
        let _ = write!(module, "{}: ${index},", quoted(name));
    }
    module.push_str("} = m ?? {}; export {");
    for (index, name) in names.iter().enumerate() {
        let _ = write!(module, "${index} as {},", quoted(name));
    }
    module.push_str("};");
    module
}

fn collect(loader: &FileLoader, key: &str, text: &str, depth: usize, names: &mut BTreeSet<String>) {
    let found = scan(text);
    names.extend(found.names.into_iter().take(NAMES_MAX.saturating_sub(names.len())));
    let Some(depth) = depth.checked_sub(1) else { return };
    for specifier in found.passed_on {
        let Ok(other) = loader.resolve_required(key, &specifier) else { continue };
        let Ok(text) = loader.read(&other, usize::MAX) else { continue };
        if loader.is_common_js(&other, &text) {
            collect(loader, &other, &text, depth, names);
        }
    }
}

/// What a scan finds.
#[derive(Debug, Default)]
struct Found {
    names: BTreeSet<String>,
    /// Specifiers of modules whose exports are exported.
    passed_on: Vec<String>,
}

fn scan(text: &str) -> Found {
    let mut found = Found::default();
    for (at, _) in text.match_indices("exports") {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$')) {
            continue;
        }
        let is_whole = text[..at].ends_with("module.");
        let rest = text[at + "exports".len()..].trim_start();
        if let Some(name) = rest.strip_prefix('.').and_then(identifier) {
            if assigned(&rest[1 + name.len()..]) {
                found.names.insert(name.to_owned());
            }
        } else if let Some((name, rest)) = rest.strip_prefix('[').and_then(|rest| string(rest.trim_start())) {
            if rest.trim_start().strip_prefix(']').is_some_and(assigned) {
                found.names.insert(name.to_owned());
            }
        } else if let Some((name, _)) = rest.strip_prefix(',').and_then(|rest| string(rest.trim_start())) {
            // Object.defineProperty(exports, "name", ...
            let call = text[..at].trim_end_matches("module.").trim_end();
            if call.ends_with("defineProperty(") {
                found.names.insert(name.to_owned());
            }
        } else if is_whole && assigned(rest) {
            whole(rest.trim_start().trim_start_matches('=').trim_start(), &mut found);
        }
    }
    for call in ["__exportStar(require(", "__export(require(", "__reExport(exports, require("] {
        for (at, _) in text.match_indices(call) {
            if let Some((specifier, _)) = string(&text[at + call.len()..]) {
                found.passed_on.push(specifier.to_owned());
            }
        }
    }
    found
}

/// `module.exports = ` what: an object literal, or another module.
fn whole(value: &str, found: &mut Found) {
    if let Some(call) = value.strip_prefix("require(") {
        found.passed_on.extend(string(call.trim_start()).map(|(specifier, _)| specifier.to_owned()));
        return;
    }
    let Some(mut rest) = value.strip_prefix('{') else { return };
    loop {
        rest = trimmed(rest);
        if let Some(spread) = rest.strip_prefix("...require(") {
            let Some((specifier, after)) = string(spread.trim_start()) else { return };
            found.passed_on.push(specifier.to_owned());
            rest = trimmed(after.trim_start().strip_prefix(')').unwrap_or(after));
        } else {
            let (name, after) = match (identifier(rest), string(rest)) {
                (Some(name), _) => (name, &rest[name.len()..]),
                (None, Some((name, after))) => (name, after),
                (None, None) => return,
            };
            found.names.insert(name.to_owned());
            rest = trimmed(after);
            if let Some(value) = rest.strip_prefix(':') {
                // Only what is as simple as a name can be stepped over.
                let value = trimmed(value);
                let Some(name) = identifier(value) else { return };
                rest = trimmed(&value[name.len()..]);
            }
        }
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => return,
        }
    }
}

/// Without blanks and comments at the beginning.
fn trimmed(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        if let Some(comment) = text.strip_prefix("//") {
            text = comment.split_once('\n').map_or("", |(_, rest)| rest);
        } else if let Some(comment) = text.strip_prefix("/*") {
            text = comment.split_once("*/").map_or("", |(_, rest)| rest);
        } else {
            return text;
        }
    }
}

/// Whether an assignment follows.
fn assigned(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('=') && !text.starts_with("==") && !text.starts_with("=>")
}

/// The identifier at the beginning.
fn identifier(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).unwrap_or(text.len());
    let name = &text[..end];
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
}

/// The string literal at the beginning, if it has no escapes, and what follows it.
fn string(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (content, rest) = text[1..].split_once(quote)?;
    (!content.contains(['\\', '\n'])).then_some((content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_they_are_written() {
        for (text, names, passed_on) in [
            (
                "exports.a = 1; module.exports.b = 2; exports.c == 3; exports.d.e = 4; myexports.f = 5",
                "a b",
                "",
            ),
            ("exports['x-y'] = 1; exports[\"z\"]=2", "x-y z", ""),
            (
                "Object.defineProperty(exports, \"__esModule\", { value: true }); Object.defineProperty(module.exports,'q',{})",
                "__esModule q",
                "",
            ),
            ("0 && (module.exports = { a, b: c, 'd': e, /* f */ g })", "a b d g", ""),
            ("module.exports = { a, b: function () {}, c }", "a b", ""),
            ("module.exports = require('./x')", "", "./x"),
            ("module.exports = { ...require(\"y\"), a }", "a", "y"),
            ("__exportStar(require(\"./z\"), exports)", "", "./z"),
            ("exports.a = exports.b = void 0", "a b", ""),
            ("module.exports = class {}", "", ""),
        ] {
            let found = scan(text);
            assert_eq!(found.names.into_iter().collect::<Vec<_>>().join(" "), names, "{text}");
            assert_eq!(found.passed_on.join(" "), passed_on, "{text}");
        }
    }
}
