//! The environment of a sandboxed program: what the policy names and nothing else.

use crate::policy::{Context, Policy};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The variables to start with. `TMPDIR` and its kin are `tmp`, as the program sees its private folder, whatever they were.
pub(crate) fn select(policy: &Policy, context: &Context, tmp: &Path) -> Vec<(OsString, OsString)> {
    let mut chosen: Vec<(OsString, OsString)> =
        context.environment.iter().filter(|(name, _)| allows(policy, name)).cloned().collect();
    if policy.confine {
        for name in ["TMPDIR", "TMP", "TEMP"] {
            chosen.retain(|(existing, _)| existing != name);
            chosen.push((name.into(), tmp.into()));
        }
        for (name, folder) in CACHES {
            if !chosen.iter().any(|(existing, _)| existing == name) {
                chosen.push((name.into(), tmp.join(folder).into()));
            }
        }
    }
    chosen
}

/// Where tools keep what they have fetched or built: by default at home, which is not writable, and without it some do not work at all.
/// Below the private folder it is writable, seen by all sessions of a server, and gone with it.
const CACHES: [(&str, &str); 4] = [
    ("XDG_CACHE_HOME", ".cache"),
    ("GOCACHE", ".cache/go-build"),
    ("npm_config_cache", ".cache/npm"),
    ("GRADLE_USER_HOME", ".gradle"),
];

/// Whether the policy passes a variable on.
pub(crate) fn allows(policy: &Policy, name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return policy.environment.iter().any(|pattern| pattern == "*") };
    policy.environment.iter().any(|pattern| match pattern.strip_suffix('*') {
        // A pattern does not hand the loader's variables to a confined program by accident.
        Some(start) => name.starts_with(start) && (!policy.confine || !name.starts_with("LD_")),
        None => pattern == name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(patterns: &[&str], confine: bool) -> Vec<String> {
        let names = ["HOME", "LC_ALL", "LD_PRELOAD", "SECRET_TOKEN", "TMPDIR"];
        let context = Context {
            workspace: "/".into(),
            home: None,
            private_tmp: "/private".into(),
            environment: names.map(|name| (name.into(), "value".into())).to_vec(),
        };
        let environment = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        let policy = Policy { environment, confine, ..Policy::default() };
        select(&policy, &context, Path::new("/private"))
            .into_iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect()
    }

    #[test]
    fn only_named_variables_pass() {
        let private = [
            "TMPDIR=/private",
            "TMP=/private",
            "TEMP=/private",
            "XDG_CACHE_HOME=/private/.cache",
            "GOCACHE=/private/.cache/go-build",
            "npm_config_cache=/private/.cache/npm",
            "GRADLE_USER_HOME=/private/.gradle",
        ];
        assert_eq!(chosen(&["HOME", "LC_*"], true), [&["HOME=value", "LC_ALL=value"], &private[..]].concat());
        assert_eq!(chosen(&[], true), private);
    }

    #[test]
    fn the_loader_is_never_steered_by_a_pattern() {
        assert!(!chosen(&["*"], true).contains(&"LD_PRELOAD=value".to_owned()));
        assert!(chosen(&["LD_PRELOAD"], true).contains(&"LD_PRELOAD=value".to_owned()));
        assert!(chosen(&["*"], false).contains(&"LD_PRELOAD=value".to_owned()));
    }
}
