//! Rules on crates: which may depend on which, one line of justification for each third-party crate, the licence
//! list and the duplicate versions of `deny.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::Tree;

/// Dependencies point down and inward, as `tidy.toml` lists the rooms.
pub(super) fn direction(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let metadata = tree.workspace.metadata()?;
    let members = members(&metadata, &tree.workspace.root);
    let mut problems = Vec::new();
    for (name, room) in &members {
        let allowed = allowed_rooms(tree, room);
        for dependency in internal_dependencies(&metadata, name, &members) {
            let target = &members[&dependency];
            if target != room && !allowed.iter().any(|prefix| Path::new(target).starts_with(prefix)) {
                problems.push(format!(
                    "{room} depends on {target}, which is against the direction of ARCHITECTURE.md: invert it (a trait in the lower crate, a parameter), or argue the rule in xtask/tidy.toml"
                ));
            }
        }
    }
    Ok(problems)
}

/// Package name to folder relative to the root.
fn members(metadata: &Value, root: &Path) -> BTreeMap<String, String> {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    let ids: BTreeSet<&str> = array(&metadata["workspace_members"]).filter_map(Value::as_str).collect();
    array(&metadata["packages"])
        .filter(|package| package["id"].as_str().is_some_and(|id| ids.contains(id)))
        .filter_map(|package| {
            let manifest = Path::new(package["manifest_path"].as_str()?);
            let folder = manifest.parent()?.strip_prefix(&root).ok()?;
            Some((package["name"].as_str()?.to_string(), folder.to_string_lossy().into_owned()))
        })
        .collect()
}

/// The rule of the longest matching room.
fn allowed_rooms(tree: &Tree<'_>, room: &str) -> Vec<String> {
    let rooms = tree.rules.get("rooms").and_then(toml::Value::as_table);
    let rule = rooms
        .into_iter()
        .flatten()
        .filter(|(prefix, _)| Path::new(room).starts_with(prefix))
        .max_by_key(|(prefix, _)| prefix.len());
    let list = rule.and_then(|(_, value)| value.as_array());
    list.into_iter().flatten().filter_map(|value| value.as_str().map(str::to_string)).collect()
}

fn internal_dependencies(metadata: &Value, name: &str, members: &BTreeMap<String, String>) -> Vec<String> {
    array(&metadata["packages"])
        .filter(|package| package["name"] == name && package["source"].is_null())
        .flat_map(|package| array(&package["dependencies"]))
        // A test may use a neighbour as its peer or oracle; what ships may not.
        .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
        .filter_map(|dependency| dependency["name"].as_str())
        .filter(|dependency| members.contains_key(*dependency))
        .map(str::to_string)
        .collect()
}

/// The line before each `[workspace.dependencies]` entry is a comment that justifies it; no member declares a version of its own.
pub(super) fn justification(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for (file, text) in tree.texts(&["toml"]).filter(|(file, _)| file.ends_with("Cargo.toml")) {
        let root = file.as_path() == Path::new("Cargo.toml");
        let separate = !root && text.lines().any(|line| line.trim() == "[workspace]");
        let mut section = "";
        let mut before = "";
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') {
                section = line;
            }
            let entry = line.split_once('=').map(|(name, _)| name.trim()).filter(|_| !line.starts_with('#'));
            let name = entry.unwrap_or("").split('.').next().unwrap_or("");
            if root && section == "[workspace.dependencies]" && entry.is_some() {
                let ours = line.contains("path =");
                if !ours && !before.starts_with('#') {
                    problems.push(format!(
                        "Cargo.toml: '{name}' needs one comment line before it that justifies the dependency"
                    ));
                }
            } else if !root && !separate && section.contains("dependencies") && entry.is_some() {
                let inherited = line.contains("workspace = true") || line.contains(".workspace");
                if !inherited && !line.contains("path =") && section.ends_with("dependencies]") {
                    problems.push(format!(
                        "{}: '{name}' must be declared in the root's [workspace.dependencies] and inherited with `workspace = true`",
                        file.display()
                    ));
                }
            }
            if !line.is_empty() {
                before = line;
            }
        }
    }
    Ok(problems)
}

/// Every crate has an allowed licence, comes from the registry, and stands in one version unless `deny.toml` skips it.
pub(super) fn licences_and_versions(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(tree.workspace.root.join("deny.toml"))
        .map_err(|error| format!("deny.toml: {error}"))?;
    let deny: toml::Table = text.parse().map_err(|error| format!("deny.toml: {error}"))?;
    let strings = |section: &str, key: &str| -> Vec<String> {
        let list = deny.get(section).and_then(|s| s.get(key)).and_then(toml::Value::as_array);
        list.into_iter()
            .flatten()
            .filter_map(|v| v.as_str().or_else(|| v.get("name").or_else(|| v.get("crate"))?.as_str()))
            .map(str::to_string)
            .collect()
    };
    let allowed = strings("licenses", "allow");
    let skipped = strings("bans", "skip");
    let metadata = tree.workspace.metadata()?;
    let mut problems = Vec::new();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in array(&metadata["packages"]) {
        let name = package["name"].as_str().unwrap_or("");
        if package["source"].is_null() {
            continue;
        }
        versions.entry(name).or_default().insert(package["version"].as_str().unwrap_or(""));
        let licence = package["license"].as_str().unwrap_or("");
        if !licence_allowed(licence, &allowed) {
            problems.push(format!(
                "'{name}' has the licence '{licence}', which deny.toml does not allow: choose another crate"
            ));
        }
        if !package["source"].as_str().unwrap_or("").starts_with("registry+") {
            problems.push(format!("'{name}' does not come from a registry: depend on a published version"));
        }
    }
    for (name, versions) in &versions {
        if versions.len() > 1 && !skipped.iter().any(|skip| skip == name) {
            let list: Vec<&str> = versions.iter().copied().collect();
            problems.push(format!(
                "'{name}' stands in several versions ({}): align them, or add it to `skip` in deny.toml with the reason",
                list.join(", ")
            ));
        }
    }
    for name in &skipped {
        if versions.get(name.as_str()).is_none_or(|versions| versions.len() < 2) {
            problems
                .push(format!("deny.toml skips '{name}', which stands in one version now: delete the entry"));
        }
    }
    Ok(problems)
}

/// An SPDX expression of `OR` over `AND`, with or without brackets; good when one alternative is allowed whole.
fn licence_allowed(expression: &str, allowed: &[String]) -> bool {
    let has = |name: &str| allowed.iter().any(|entry| entry == name.trim());
    let flat = expression.replace('/', " OR ");
    if flat.contains('(') {
        // `(A OR B) AND C`: each bracketed or bare part must be good on its own.
        return flat.split(" AND ").all(|part| {
            let part = part.trim().trim_start_matches('(').trim_end_matches(')');
            part.split(" OR ").any(has)
        });
    }
    flat.split(" OR ").any(|alternative| alternative.split(" AND ").all(has))
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::licence_allowed;

    #[test]
    fn licence_expressions() {
        let allowed: Vec<String> = ["MIT", "Apache-2.0", "Unicode-3.0"].map(String::from).to_vec();
        for good in [
            "MIT",
            "GPL-2.0 OR MIT",
            "MIT/Apache-2.0",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "MIT AND Unicode-3.0",
        ] {
            assert!(licence_allowed(good, &allowed), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND GPL-3.0"] {
            assert!(!licence_allowed(bad, &allowed), "{bad}");
        }
    }
}
