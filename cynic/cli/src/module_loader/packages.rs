//! Packages by name: `node_modules` of the importer's folder and those around it, `exports` of their description.
//! <https://nodejs.org/api/esm.html#resolution-algorithm>
//!
//! Every look at a file goes through the loader's permissions.

use std::path::{Component, Path, PathBuf};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::FileLoader;

/// Where packages lie.
pub(super) const FOLDER: &str = "node_modules";
/// The conditions of `exports` that hold for `import`, besides `default`.
pub(super) const IMPORTED: &[&str] = &["cynic", "import", "module"];
/// Those that hold for `require`.
pub(super) const REQUIRED: &[&str] = &["cynic", "require"];
/// Arrays and conditions in one another.
const NESTING_MAX: usize = 16;

/// The file that a bare specifier names under these conditions, perhaps without its ending.
pub(super) fn resolve(
    loader: &FileLoader,
    from: &Path,
    specifier: &str,
    conditions: &[&str],
) -> Result<PathBuf, String> {
    if specifier.starts_with('#') {
        return resolve_private(loader, from, specifier, conditions);
    }
    let (name, rest) = split(specifier).ok_or("it is no path and no name of a package")?;
    let from = folder(from)?;
    let found = from.ancestors().filter(|around| !around.ends_with(FOLDER)).find_map(|around| {
        let package = around.join(FOLDER).join(name);
        let description = loader.read_small(&package.join("package.json"))?;
        Some((package, description))
    });
    let (package, description) = found.ok_or_else(|| format!("there is no package '{name}'"))?;
    let description: Json =
        serde_json::from_str(&description).map_err(|_| format!("the package.json of '{name}' is no JSON"))?;
    let target = match description.get("exports").filter(|exports| !matches!(exports, Json::Null)) {
        Some(exports) => {
            let target = exported(exports, rest, conditions).ok_or_else(|| {
                let what =
                    if rest == "." { "nothing that can be imported".into() } else { format!("no '{rest}'") };
                format!("the package '{name}' exports {what}")
            })?;
            inside(&target).ok_or_else(|| format!("the package '{name}' exports a path outside of it"))?
        }
        None if rest == "." => {
            let fields: &[&str] = if conditions == REQUIRED { &["main"] } else { &["module", "main"] };
            let main = fields.iter().find_map(|field| description.get(field)?.as_str());
            PathBuf::from(main.unwrap_or("index.js"))
        }
        None => PathBuf::from(rest),
    };
    Ok(super::normalized(&package.join(target)))
}

/// The folder of an importer as an absolute path.
fn folder(path: &Path) -> Result<PathBuf, String> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    super::absolute(path).map_err(|error| error.to_string())
}

/// PACKAGE_IMPORTS_RESOLVE: a name that begins with `#`, by the `imports` of the package around the importer.
fn resolve_private(
    loader: &FileLoader,
    from: &Path,
    specifier: &str,
    conditions: &[&str],
) -> Result<PathBuf, String> {
    let absolute = folder(from)?;
    let nothing = || format!("no package around the importer has the import '{specifier}'");
    let (folder, description) = around(loader, &absolute).ok_or_else(nothing)?;
    let imports = description.get("imports").ok_or_else(nothing)?;
    let found = matched(imports, specifier, conditions).ok_or_else(nothing)?;
    if found.starts_with("./") {
        let path = inside(&found).ok_or("it leads out of its package")?;
        return Ok(super::normalized(&folder.join(path)));
    }
    if found.starts_with('#') {
        return Err("a private name stands for another one".into());
    }
    resolve(loader, from, &found, conditions)
}

/// The nearest folder with a description of a package, and that.
fn around(loader: &FileLoader, from: &Path) -> Option<(PathBuf, Json)> {
    let mut folders = from.ancestors().take_while(|folder| !folder.ends_with(FOLDER));
    folders.find_map(|folder| {
        let description = loader.read_small(&folder.join("package.json"))?;
        Some((folder.to_owned(), serde_json::from_str(&description).ok()?))
    })
}

/// Whether the package around a file says that its `.js` files are modules; `None` if it says nothing.
fn says_module(loader: &FileLoader, path: &Path) -> Option<bool> {
    let absolute = std::path::absolute(path).ok()?;
    let (_, description) = around(loader, absolute.parent()?)?;
    match description.get("type")?.as_str()? {
        "module" => Some(true),
        "commonjs" => Some(false),
        _ => None,
    }
}

/// The file that a folder's description names as its main one.
pub(super) fn main_of(loader: &FileLoader, folder: &Path) -> Option<PathBuf> {
    let description: Json = serde_json::from_str(&loader.read_small(&folder.join("package.json"))?).ok()?;
    Some(super::normalized(&folder.join(description.get("main")?.as_str()?)))
}

/// `@scope/name/rest` as name and `./rest`; `.` if there is no rest.
fn split(specifier: &str) -> Option<(&str, &str)> {
    let scoped = specifier.starts_with('@');
    let end = specifier.match_indices('/').nth(usize::from(scoped)).map_or(specifier.len(), |(at, _)| at);
    let name = &specifier[..end];
    let parts = name.split('/').count();
    let odd = name.contains(['\\', '%', ':'])
        || name.split('/').any(|part| part.is_empty() || part == "@" || part.starts_with('.'));
    if odd || parts != 1 + usize::from(scoped) {
        return None;
    }
    Some((name, specifier.get(end + 1..).filter(|rest| !rest.is_empty()).unwrap_or(".")))
}

/// PACKAGE_EXPORTS_RESOLVE: what `exports` says for a subpath (`.` or `rest`).
fn exported(exports: &Json, rest: &str, conditions: &[&str]) -> Option<String> {
    match exports {
        Json::Object(members) if members.iter().any(|member| member.0.starts_with('.')) => {}
        _ => return if rest == "." { target(exports, "", conditions, 0) } else { None },
    }
    let subpath = if rest == "." { ".".to_owned() } else { format!("./{rest}") };
    matched(exports, &subpath, conditions)
}

/// PACKAGE_IMPORTS_EXPORTS_RESOLVE: what a table says for a key, which may be a pattern there.
fn matched(table: &Json, subpath: &str, conditions: &[&str]) -> Option<String> {
    let Json::Object(subpaths) = table else { return None };
    if let Some(exact) = table.get(subpath).filter(|_| !subpath.contains('*')) {
        return target(exact, "", conditions, 0);
    }
    // The longest part before the star decides.
    let patterns = subpaths.iter().filter_map(|(key, value)| {
        let (before, after) = key.split_once('*')?;
        let star = subpath.strip_prefix(before)?.strip_suffix(after)?;
        Some((before.len(), after.len(), star, value))
    });
    let best = patterns.max_by_key(|(before, after, ..)| (*before, *after))?;
    target(best.3, best.2, conditions, 0)
}

/// PACKAGE_TARGET_RESOLVE: a path, or the first condition or alternative that gives one.
fn target(value: &Json, star: &str, conditions: &[&str], depth: usize) -> Option<String> {
    match value {
        Json::Text(path) => Some(path.replace('*', star)),
        Json::Array(alternatives) if depth < NESTING_MAX => {
            alternatives.iter().find_map(|alternative| target(alternative, star, conditions, depth + 1))
        }
        Json::Object(branches) if depth < NESTING_MAX => branches
            .iter()
            .filter(|(condition, _)| condition == "default" || conditions.contains(&condition.as_str()))
            .find_map(|(_, value)| target(value, star, conditions, depth + 1)),
        _ => None,
    }
}

/// The path within its package.
fn inside(target: &str) -> Option<PathBuf> {
    let path = Path::new(target.strip_prefix("./")?);
    let fine = path.components().all(|component| {
        matches!(component, Component::Normal(name) if name != FOLDER) || component == Component::CurDir
    });
    fine.then(|| path.to_owned())
}

/// Whether a file is written for `require`: its ending says so, or its package, or else its text.
pub(super) fn is_common_js(loader: &FileLoader, path: &Path, text: &str) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("cjs" | "cts") => true,
        Some("mjs" | "mts" | "tsx" | "jsx") => false,
        _ => uses_require(text) && !has_module_syntax(text) && says_module(loader, path) != Some(true),
    }
}

/// Whether a file is a module whatever its text.
pub(super) fn is_es_module(loader: &FileLoader, path: &Path) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("mjs" | "mts") => true,
        Some("js" | "ts" | "jsx" | "tsx") => says_module(loader, path) == Some(true),
        _ => false,
    }
}

/// Whether a text names what only CommonJS has.
fn uses_require(text: &str) -> bool {
    ["module.exports", "exports.", "exports[", "require(", "define("].iter().any(|word| text.contains(word))
}

/// Whether a statement may begin with `import` or `export`.
fn has_module_syntax(text: &str) -> bool {
    ["import", "export"].iter().any(|word| {
        text.match_indices(word).any(|(at, _)| {
            let before = text[..at].trim_end_matches([' ', '\t']).chars().next_back();
            let begins = before.is_none_or(|c| matches!(c, '\n' | '\r' | ';' | '}' | '/'));
            let after = text[at + word.len()..].chars().next();
            begins && after.is_some_and(|c| matches!(c, ' ' | '\t' | '\n' | '{' | '*' | '"' | '\''))
        })
    })
}

/// A JSON value whose objects keep the order of the text: conditions are tried in it.
#[derive(Debug)]
enum Json {
    Null,
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
    Other,
}

impl Json {
    fn get(&self, key: &str) -> Option<&Json> {
        let Json::Object(members) = self else { return None };
        members.iter().find(|member| member.0 == key).map(|member| &member.1)
    }

    fn as_str(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(member) = members.next_entry()? {
            object.push(member);
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_subpaths() {
        for (specifier, expected) in [
            ("a", Some(("a", "."))),
            ("a/", Some(("a", "."))),
            ("a/b/c", Some(("a", "b/c"))),
            ("@s/a", Some(("@s/a", "."))),
            ("@s/a/b", Some(("@s/a", "b"))),
            ("@s", None),
            ("", None),
            ("@/a", None),
            (".a", None),
            ("a%2f", None),
            ("node:fs", None),
        ] {
            assert_eq!(split(specifier), expected, "{specifier}");
        }
    }

    #[test]
    fn exports_by_condition_and_pattern() {
        let exports: Json = serde_json::from_str(
            r#"{ ".": { "require": "./c.cjs", "import": { "types": "./t", "default": "./m.js" } },
                 "./f/*": "./files/*.js", "./f/x/*": ["./x/*.mjs"], "./f/secret": null, "./g*.js": "./g/*.js" }"#,
        )
        .expect("JSON");
        for (rest, expected) in [
            (".", Some("./m.js")),
            ("f/a", Some("./files/a.js")),
            ("f/x/a", Some("./x/a.mjs")),
            ("f/secret", None),
            ("ga.js", Some("./g/a.js")),
            ("h", None),
        ] {
            assert_eq!(exported(&exports, rest, IMPORTED).as_deref(), expected, "{rest}");
        }
        assert_eq!(exported(&exports, ".", REQUIRED).as_deref(), Some("./c.cjs"));
        assert_eq!(exported(&Json::Text("./i.js".into()), ".", IMPORTED).as_deref(), Some("./i.js"));
        assert_eq!(exported(&Json::Text("./i.js".into()), "sub", IMPORTED), None);
    }

    #[test]
    fn targets_stay_inside() {
        assert!(inside("./a/b.js").is_some());
        for outside in ["../a.js", "./../a.js", "/etc/passwd", "a.js", "./a/../../b", "./node_modules/b"] {
            assert_eq!(inside(outside), None, "{outside}");
        }
    }
}
