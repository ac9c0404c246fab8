//! The tree's own rules. Each check reads the tree and returns what is wrong as sentences that say what to do;
//! this file owns the order, the data file `xtask/tidy.toml`, and the report.

mod blocks;
mod circles;
mod containers;
mod counts;
mod crates;
mod files;
mod generated;
mod links;
mod names;
mod prose;
mod runs;
mod source;
mod unsafe_homes;

use std::path::PathBuf;

pub(crate) use links::anchor;

use crate::site;
use crate::workspace::Workspace;

/// Everything a check may look at.
pub(crate) struct Tree<'a> {
    workspace: &'a Workspace,
    files: Vec<PathBuf>,
    rules: toml::Table,
}

impl Tree<'_> {
    /// The tracked files with this extension, with their text.
    fn texts<'t>(&'t self, extensions: &'t [&str]) -> impl Iterator<Item = (&'t PathBuf, String)> + 't {
        self.files
            .iter()
            .filter(|file| file.extension().and_then(|e| e.to_str()).is_some_and(|e| extensions.contains(&e)))
            .filter_map(|file| Some((file, std::fs::read_to_string(self.workspace.root.join(file)).ok()?)))
    }

    /// A list of tables or strings of `tidy.toml`.
    fn rule(&self, section: &str, key: &str) -> Option<&toml::Value> {
        self.rules.get(section)?.get(key)
    }

    /// The `path` of each entry of a list of `{ path, reason }`.
    fn declared_paths(&self, section: &str, key: &str) -> Vec<String> {
        let entries = self.rule(section, key).and_then(toml::Value::as_array);
        entries
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.get("path").and_then(toml::Value::as_str))
            .map(str::to_string)
            .collect()
    }
}

type Check = fn(&Tree<'_>) -> Result<Vec<String>, String>;

const CHECKS: &[(&str, Check)] = &[
    ("file headers", files::headers),
    ("file length", files::length),
    ("declared entries", files::declared_entries_exist),
    ("machine paths", files::machine_paths),
    ("unsafe homes", unsafe_homes::check),
    ("raw containers of cells", containers::check),
    ("circles of imports", circles::check),
    ("dependency direction", crates::direction),
    ("dependency justification", crates::justification),
    ("licences and versions", crates::licences_and_versions),
    ("Markdown links", links::check),
    ("map of the documents", map_of_documents),
    ("code in documents", blocks::check),
    ("names in documents", names::check),
    ("figures in documents", counts::check),
    ("width of text", prose::width),
    ("dates in reference pages", prose::dates),
    ("generated documents", generated::check),
];

/// `cargo xtask tidy [--write]`.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), String> {
    let tree = load(workspace)?;
    match arguments {
        [] => check_all(&tree),
        [flag] if flag == "--write" => {
            generated::write(&tree)?;
            prose::write(&tree)
        }
        _ => Err(format!("unknown arguments {arguments:?}; usage: cargo xtask tidy [--write]")),
    }
}

/// Every page of the documents is in their map, which is the navigation of the site.
fn map_of_documents(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let lost = site::unreachable(tree.workspace, &tree.files)?;
    Ok(lost
        .iter()
        .map(|page| format!("{} is not in docs/README.md: no reader finds it", page.display()))
        .collect())
}

fn load(workspace: &Workspace) -> Result<Tree<'_>, String> {
    let path = workspace.root.join("xtask/tidy.toml");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let rules = text.parse().map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Tree { workspace, files: workspace.tracked_files()?, rules })
}

fn check_all(tree: &Tree<'_>) -> Result<(), String> {
    let mut wrong = 0;
    for (name, check) in CHECKS {
        for problem in check(tree)? {
            wrong += 1;
            eprintln!("tidy: {name}: {problem}");
        }
    }
    for line in circles::report(tree).iter().chain([&containers::report(tree), &blocks::report(tree)]) {
        println!("{line}");
    }
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} problem(s); each line above says what to do")) }
}
