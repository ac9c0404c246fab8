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
        if !policy.hosts.is_empty() {
            chosen.retain(|(existing, _)| !is_proxy_variable(existing));
            let proxy = crate::PROXY.to_string();
            chosen
                .extend(proxy_variables(&proxy).into_iter().map(|(name, value)| (name.into(), value.into())));
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

/// What tells programs of a proxy; `proxy` is its address, with or without who asks.
pub fn proxy_variables(proxy: &str) -> Vec<(&'static str, String)> {
    let url = format!("http://{proxy}");
    let mut all: Vec<(&str, String)> = PROXY_VARIABLES.into_iter().map(|name| (name, url.clone())).collect();
    // What sessions serve on the loopback is asked directly.
    all.extend(DIRECT_VARIABLES.map(|name| (name, "localhost,127.0.0.1,::1".to_owned())));
    // Node looks at the variables when it is told to.
    all.push(("NODE_USE_ENV_PROXY", "1".to_owned()));
    all
}

const PROXY_VARIABLES: [&str; 6] =
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
const DIRECT_VARIABLES: [&str; 2] = ["NO_PROXY", "no_proxy"];

fn is_proxy_variable(name: &OsStr) -> bool {
    PROXY_VARIABLES.iter().chain(&DIRECT_VARIABLES).any(|known| name == *known)
}

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
