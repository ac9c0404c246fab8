//! Every link of the built site leads to a file of it, and every `#fragment` to an element. What rustdoc wrote is checked by rustdoc.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::resolved;

/// What is broken, as sentences.
pub(super) fn links(site: &Path) -> Result<Vec<String>, String> {
    let mut pages = BTreeMap::new();
    collect(site, Path::new(""), &mut pages)?;
    let ids: BTreeMap<&PathBuf, BTreeSet<&str>> =
        pages.iter().map(|(path, text)| (path, values(text, "id=\"").collect())).collect();
    let mut broken = Vec::new();
    for (path, text) in &pages {
        for target in values(text, "href=\"").chain(values(text, "src=\"")) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, fragment) = target.split_once('#').unwrap_or((target, ""));
            let other = if file.is_empty() { path.clone() } else { resolved(path, file) };
            if !site.join(&other).is_file() {
                broken.push(format!("{}: the link '{target}' leads nowhere", path.display()));
            } else if !fragment.is_empty() && ids.get(&other).is_some_and(|ids| !ids.contains(fragment)) {
                broken.push(format!("{}: the link '{target}' has no such heading", path.display()));
            }
        }
    }
    Ok(broken)
}

fn collect(site: &Path, below: &Path, pages: &mut BTreeMap<PathBuf, String>) -> Result<(), String> {
    let folder = site.join(below);
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let entry = entry.map_err(|error| error.to_string())?;
        let path = below.join(entry.file_name());
        if entry.path().is_dir() {
            if path != Path::new("api") {
                collect(site, &path, pages)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let text = std::fs::read_to_string(entry.path());
            pages.insert(path, text.map_err(|error| format!("{}: {error}", entry.path().display()))?);
        }
    }
    Ok(())
}

/// The values of an attribute; code in a page has its quotes escaped.
fn values<'t>(text: &'t str, attribute: &'t str) -> impl Iterator<Item = &'t str> + 't {
    text.match_indices(attribute).filter_map(move |(at, _)| {
        let rest = &text[at + attribute.len()..];
        rest.find('"').map(|end| &rest[..end])
    })
}
