//! Import maps: what a specifier means, said in one file. <https://html.spec.whatwg.org/multipage/webappapis.html#import-maps>
//!
//! Addresses are files; paths are relative to the map's own folder. What a map says is no permission: the file must be one that may be read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{is_path, normalized};

type Specifiers = BTreeMap<String, Option<String>>;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    imports: Specifiers,
    #[serde(default)]
    scopes: BTreeMap<String, Specifiers>,
}

/// A map, read.
pub(crate) struct ImportMap {
    /// Where the map is.
    folder: PathBuf,
    imports: Specifiers,
    /// By the folders (or files) whose imports they are for, as absolute paths.
    scopes: Vec<(PathBuf, Specifiers)>,
}

impl ImportMap {
    /// The map in `text`, which is the file `path`.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, String> {
        if !text.trim_start().starts_with('{') {
            return Err("it is no JSON object".into());
        }
        let written: Written = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let mut map = ImportMap { folder, imports: Specifiers::new(), scopes: Vec::new() };
        map.imports = map.checked(written.imports)?;
        for (scope, imports) in written.scopes {
            let path = map.absolute(&scope);
            let imports = map.checked(imports)?;
            map.scopes.push((path, imports));
        }
        // The longest first: it says more.
        map.scopes.sort_by_key(|(path, _)| std::cmp::Reverse(path.as_os_str().len()));
        Ok(map)
    }

    fn absolute(&self, path: &str) -> PathBuf {
        let path = self.folder.join(path);
        normalized(&std::path::absolute(&path).unwrap_or(path))
    }

    /// Keys that are paths in one spelling; addresses that are files.
    fn checked(&self, specifiers: Specifiers) -> Result<Specifiers, String> {
        let mut checked = Specifiers::new();
        for (key, address) in specifiers {
            let ends = key.ends_with('/');
            if let Some(address) = &address {
                if !is_path(address) {
                    return Err(format!("the address '{address}' of '{key}' is no path (./, ../ or /)"));
                }
                if ends && !address.ends_with('/') {
                    return Err(format!("the address of '{key}' must end with / as well"));
                }
            }
            let key = if is_path(&key) { self.spelled(&self.absolute(&key), ends) } else { key };
            checked.insert(key, address);
        }
        Ok(checked)
    }

    fn spelled(&self, path: &Path, ends: bool) -> String {
        let path = path.to_string_lossy();
        if ends && !path.ends_with('/') { format!("{path}/") } else { path.into_owned() }
    }

    /// What the map says of a specifier; `None` is nothing.
    pub(crate) fn resolve(&self, referrer: &str, specifier: &str) -> Option<Result<PathBuf, String>> {
        let referrer = std::path::absolute(referrer).map(|path| normalized(&path)).unwrap_or_default();
        let name = if is_path(specifier) {
            let path = referrer.parent().unwrap_or(Path::new("")).join(specifier);
            self.spelled(&normalized(&path), specifier.ends_with('/'))
        } else {
            specifier.to_owned()
        };
        let scopes = self.scopes.iter().filter(|(scope, _)| referrer.starts_with(scope));
        let tables = scopes.map(|(_, imports)| imports).chain([&self.imports]);
        tables.filter_map(|imports| self.address(imports, &name)).next()
    }

    fn address(&self, imports: &Specifiers, name: &str) -> Option<Result<PathBuf, String>> {
        let exact = imports.get(name).map(|address| (address, ""));
        // Of the prefixes that fit, the longest.
        let prefixes = imports.iter().filter(|(key, _)| key.ends_with('/'));
        let prefix = prefixes.filter_map(|(key, address)| Some((address, name.strip_prefix(key.as_str())?)));
        let (address, rest) = exact.or_else(|| prefix.min_by_key(|(_, rest)| rest.len()))?;
        let Some(address) = address else {
            return Some(Err(format!("the import map forbids '{name}'")));
        };
        let target = normalized(&self.folder.join(address));
        let path = normalized(&target.join(rest));
        Some(match path.starts_with(&target) {
            true => Ok(if rest.is_empty() { target } else { path }),
            false => Err(format!("'{name}' leads out of what the import map says")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(text: &str) -> Result<ImportMap, String> {
        ImportMap::parse(Path::new("m/map.json"), text)
    }

    #[test]
    fn specifiers_by_name_prefix_path_and_scope() {
        let map = map(
            r#"{ "imports": { "lib": "./lib.mjs", "p/": "./pack/", "p/x/": "../x/", "no": null, "./own.mjs": "./other.mjs" },
                 "scopes": { "./inner/": { "lib": "./inner/lib.mjs" }, "./inner/deep/": { "no": "/yes.mjs" } } }"#,
        )
        .expect("a map");
        let at = |referrer: &str, specifier: &str| map.resolve(referrer, specifier);
        for (referrer, specifier, expected) in [
            ("m/a.mjs", "lib", Some("m/lib.mjs")),
            ("b.mjs", "lib", Some("m/lib.mjs")),
            ("m/inner/a.mjs", "lib", Some("m/inner/lib.mjs")),
            ("m/inner/deep/a.mjs", "lib", Some("m/inner/lib.mjs")),
            ("m/inner/deep/a.mjs", "no", Some("/yes.mjs")),
            ("m/innermost/a.mjs", "lib", Some("m/lib.mjs")),
            ("m/a.mjs", "p/y/z.mjs", Some("m/pack/y/z.mjs")),
            ("m/a.mjs", "p/x/z.mjs", Some("x/z.mjs")),
            ("m/a.mjs", "./own.mjs", Some("m/other.mjs")),
            ("m/sub/a.mjs", "../own.mjs", Some("m/other.mjs")),
            ("m/a.mjs", "other", None),
            ("m/a.mjs", "p", None),
        ] {
            let found = at(referrer, specifier).map(|path| path.expect("allowed"));
            assert_eq!(found.as_deref(), expected.map(Path::new), "{specifier} in {referrer}");
        }
        assert!(at("m/a.mjs", "no").is_some_and(|found| found.is_err()));
        assert!(at("m/a.mjs", "p/../../secret.mjs").is_some_and(|found| found.is_err()));
    }

    #[test]
    fn what_is_no_map_is_refused() {
        for text in [
            "",
            "[]",
            r#"{ "import": {} }"#,
            r#"{ "imports": { "a": "https://host/a.mjs" } }"#,
            r#"{ "imports": { "a/": "./a" } }"#,
            r#"{ "imports": { "a": 1 } }"#,
        ] {
            assert!(map(text).is_err(), "{text}");
        }
    }
}
