//! Packages by name: `node_modules` of the importer's folder and those around it, `exports` of their description.
//! <https://nodejs.org/api/esm.html#resolution-algorithm>
//!
//! Every look at a file goes through the loader's permissions. CommonJS is not there, and says so.

use std::path::{Component, Path, PathBuf};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::FileLoader;

/// Where packages lie.
pub(super) const FOLDER: &str = "node_modules";
/// The conditions of `exports` that hold, besides `default`.
const CONDITIONS: [&str; 3] = ["cynic", "import", "module"];
/// Arrays and conditions in one another.
const NESTING_MAX: usize = 16;

/// The file that a bare specifier names, perhaps without its ending.
pub(super) fn resolve(loader: &FileLoader, from: &Path, specifier: &str) -> Result<PathBuf, String> {
    if specifier.starts_with('#') {
        return Err("names that begin with # are not supported".into());
    }
    let (name, rest) = split(specifier).ok_or("it is no path and no name of a package")?;
    let from = std::path::absolute(from).map_err(|error| error.to_string())?;
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
            let target = exported(exports, rest).ok_or_else(|| {
                let what =
                    if rest == "." { "nothing that can be imported".into() } else { format!("no '{rest}'") };
                format!("the package '{name}' exports {what}")
            })?;
            inside(&target).ok_or_else(|| format!("the package '{name}' exports a path outside of it"))?
        }
        None if rest == "." => {
            let main = ["module", "main"].iter().find_map(|field| description.get(field)?.as_str());
            PathBuf::from(main.unwrap_or("index.js"))
        }
        None => PathBuf::from(rest),
    };
    Ok(super::normalized(&package.join(target)))
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
fn exported(exports: &Json, rest: &str) -> Option<String> {
    let subpaths = match exports {
        Json::Object(members) if members.iter().any(|member| member.0.starts_with('.')) => members,
        _ => return if rest == "." { target(exports, "", 0) } else { None },
    };
    let subpath = if rest == "." { ".".to_owned() } else { format!("./{rest}") };
    if let Some(exact) = exports.get(&subpath).filter(|_| !subpath.contains('*')) {
        return target(exact, "", 0);
    }
    // The longest part before the star decides.
    let patterns = subpaths.iter().filter_map(|(key, value)| {
        let (before, after) = key.split_once('*')?;
        let star = subpath.strip_prefix(before)?.strip_suffix(after)?;
        Some((before.len(), after.len(), star, value))
    });
    let best = patterns.max_by_key(|(before, after, ..)| (*before, *after))?;
    target(best.3, best.2, 0)
}

/// PACKAGE_TARGET_RESOLVE: a path, or the first condition or alternative that gives one.
fn target(value: &Json, star: &str, depth: usize) -> Option<String> {
    match value {
        Json::Text(path) => Some(path.replace('*', star)),
        Json::Array(alternatives) if depth < NESTING_MAX => {
            alternatives.iter().find_map(|alternative| target(alternative, star, depth + 1))
        }
        Json::Object(conditions) if depth < NESTING_MAX => conditions
            .iter()
            .filter(|(condition, _)| condition == "default" || CONDITIONS.contains(&condition.as_str()))
            .find_map(|(_, value)| target(value, star, depth + 1)),
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

/// Whether a file of a package is written for `require`.
pub(super) fn is_common_js(path: &Path, text: &str) -> bool {
    const MODULE: [&str; 8] =
        ["export ", "export{", "export*", "import ", "import{", "import*", "import\"", "import'"];
    const COMMON: [&str; 3] = ["module.exports", "exports.", "require("];
    let is_in_package = path.components().any(|component| component.as_os_str() == FOLDER);
    path.extension().is_some_and(|extension| extension == "cjs")
        || is_in_package
            && COMMON.iter().any(|word| text.contains(word))
            && !MODULE.iter().any(|word| text.contains(word))
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
            assert_eq!(exported(&exports, rest).as_deref(), expected, "{rest}");
        }
        assert_eq!(exported(&Json::Text("./i.js".into()), ".").as_deref(), Some("./i.js"));
        assert_eq!(exported(&Json::Text("./i.js".into()), "sub"), None);
    }

    #[test]
    fn targets_stay_inside() {
        assert!(inside("./a/b.js").is_some());
        for outside in ["../a.js", "./../a.js", "/etc/passwd", "a.js", "./a/../../b", "./node_modules/b"] {
            assert_eq!(inside(outside), None, "{outside}");
        }
    }
}
