//! Circles of imports: files of a crate that all reach one another through `use` and paths. The largest of each crate may not be larger than
//! `tidy.toml` says; where it is smaller, the number there has to follow.
//!
//! A rough reading of Rust: paths that begin with `crate`, `self` or `super` are followed to the file of the longest module that they name.
//! What a file gets through a type's methods is not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::Tree;
use super::source::code_only;

/// The largest circle that needs no entry.
const FILES_MAX: usize = 6;

/// The files of a crate by module path (`["gc", "heap"]`), with their code.
type Modules = BTreeMap<Vec<String>, (PathBuf, String)>;

/// The check: no circle is larger than its crate's number, and no number larger than its crate's circle.
pub(super) fn check(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let declared = tree.rules.get("circles").and_then(toml::Value::as_table);
    let mut problems = Vec::new();
    for (folder, modules) in crates(tree) {
        let circle = largest(&edges(&modules));
        let number = declared.and_then(|table| table.get(&folder)).and_then(toml::Value::as_integer);
        let most = number.map_or(FILES_MAX, |number| usize::try_from(number).unwrap_or(0));
        if circle.len() > most {
            let names: Vec<String> = circle.iter().map(|at| modules[at].0.display().to_string()).collect();
            problems.push(format!(
                "{folder}: {} files import one another in a circle, and {most} may: {}",
                circle.len(),
                names.join(" ")
            ));
        } else if number.is_some() && circle.len() < most {
            problems.push(format!(
                "{folder}: its largest circle has {} files; write that in xtask/tidy.toml in place of {most}{}",
                circle.len(),
                if circle.len() <= FILES_MAX { ", or leave the line out" } else { "" }
            ));
        }
    }
    Ok(problems)
}

/// The largest circle of each crate, as lines.
pub(super) fn report(tree: &Tree<'_>) -> Vec<String> {
    let line = |(folder, modules): (String, Modules)| {
        format!("{folder}: {} of {} files", largest(&edges(&modules)).len(), modules.len())
    };
    crates(tree).into_iter().map(line).collect()
}

/// The crates by folder.
fn crates(tree: &Tree<'_>) -> BTreeMap<String, Modules> {
    let mut crates: BTreeMap<String, Modules> = BTreeMap::new();
    for (file, text) in tree.texts(&["rs"]) {
        let Some((folder, inside)) = split(file) else { continue };
        let mut code = code_only(&text);
        code.truncate(code.find("#[cfg(test)]").unwrap_or(code.len()));
        crates.entry(folder).or_default().insert(module_of(&inside), (file.clone(), code));
    }
    crates
}

/// A crate's folder, and the file's place below its `src`.
fn split(file: &Path) -> Option<(String, PathBuf)> {
    let text = file.to_str()?;
    let (folder, inside) = text.split_once("/src/")?;
    (!inside.starts_with("bin/")).then(|| (folder.to_string(), PathBuf::from(inside)))
}

fn module_of(inside: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        inside.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if matches!(names.last().map(String::as_str), Some("mod")) || (names.len() == 1 && is_root(&names[0])) {
        names.pop();
    }
    names
}

fn is_root(name: &str) -> bool {
    name == "lib" || name == "main"
}

/// Which files each file names.
fn edges(modules: &Modules) -> BTreeMap<&Vec<String>, BTreeSet<&Vec<String>>> {
    modules
        .iter()
        .map(|(at, (_, code))| {
            let targets = paths(code)
                .into_iter()
                .filter_map(|path| resolve(modules, at, &path))
                .filter(|target| *target != at)
                .collect();
            (at, targets)
        })
        .collect()
}

/// The module of the longest part of `path` that is one.
fn resolve<'m>(modules: &'m Modules, at: &[String], path: &[String]) -> Option<&'m Vec<String>> {
    let mut from = match path.first()?.as_str() {
        "crate" => Vec::new(),
        _ => at.to_vec(),
    };
    for name in path {
        match name.as_str() {
            "crate" | "self" => {}
            "super" => {
                from.pop()?;
            }
            name => from.push(name.to_string()),
        }
    }
    loop {
        if let Some((found, _)) = modules.get_key_value(&from) {
            return Some(found);
        }
        from.pop()?;
    }
}

/// The paths in a file that begin with `crate`, `self` or `super`; the branches of a `use` tree are paths of their own.
fn paths(code: &str) -> Vec<Vec<String>> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let starts = matches!(tokens[at], "crate" | "self" | "super")
            && tokens.get(at + 1) == Some(&"::")
            && (at == 0 || tokens[at - 1] != "::");
        if starts { at = path(&tokens, at, &[], &mut found) } else { at += 1 }
    }
    found
}

/// Reads the path, or the tree, that begins at a token, after `before`; gives where it ends.
fn path(tokens: &[&str], mut at: usize, before: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut names = before.to_vec();
    loop {
        match tokens.get(at) {
            Some(&"{") => {
                at += 1;
                while at < tokens.len() && tokens[at] != "}" {
                    at = if tokens[at] == "," { at + 1 } else { path(tokens, at, &names, found) };
                }
                return at + 1;
            }
            Some(&name) if is_name(name) => {
                names.push(name.to_string());
                at += 1;
            }
            _ => {
                found.push(names);
                return at + 1;
            }
        }
        if tokens.get(at) != Some(&"::") {
            // `as name` belongs to the branch.
            if tokens.get(at) == Some(&"as") {
                at += 2;
            }
            found.push(names);
            return at;
        }
        at += 1;
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Words, `::` and single marks.
fn tokens(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        found.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    found
}

/// The largest set of files that all reach one another: Kosaraju's algorithm.
fn largest<'m>(edges: &BTreeMap<&'m Vec<String>, BTreeSet<&'m Vec<String>>>) -> Vec<Vec<String>> {
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    for &start in edges.keys() {
        visit(start, &|at| edges[at].iter().copied().collect(), &mut seen, &mut order);
    }
    let mut backwards: BTreeMap<&Vec<String>, Vec<&Vec<String>>> = BTreeMap::new();
    for (&from, targets) in edges {
        for &to in targets {
            backwards.entry(to).or_default().push(from);
        }
    }
    let mut seen = BTreeSet::new();
    let mut best = Vec::new();
    for &start in order.iter().rev() {
        let mut circle = Vec::new();
        visit(start, &|at| backwards.get(at).cloned().unwrap_or_default(), &mut seen, &mut circle);
        if circle.len() > best.len() {
            best = circle;
        }
    }
    let mut names: Vec<Vec<String>> = best.into_iter().cloned().collect();
    names.sort();
    names
}

/// Adds what `start` reaches to `order`, each after what it leads to.
fn visit<'m>(
    start: &'m Vec<String>,
    next: &dyn Fn(&'m Vec<String>) -> Vec<&'m Vec<String>>,
    seen: &mut BTreeSet<&'m Vec<String>>,
    order: &mut Vec<&'m Vec<String>>,
) {
    if seen.insert(start) {
        for to in next(start) {
            visit(to, next, seen, order);
        }
        order.push(start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(files: &[(&str, &str)]) -> Modules {
        let module = |(file, code): &(&str, &str)| {
            (module_of(Path::new(file)), (PathBuf::from(file), code_only(code)))
        };
        files.iter().map(module).collect()
    }

    fn circle(files: &[(&str, &str)]) -> Vec<String> {
        let modules = modules(files);
        largest(&edges(&modules)).iter().map(|names| names.join("::")).collect()
    }

    #[test]
    fn circles_are_found_through_trees_and_relative_paths() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::{b::{self, X}, other};"),
            ("b/mod.rs", "mod d; // use crate::c;"),
            ("b/d.rs", "fn f() { super::super::a::g::<u8>(); }"),
            ("c.rs", "use crate::a;"),
        ];
        assert_eq!(circle(&files).len(), 1);
        let mut closed = files;
        closed[2].1 = "mod d; pub use self::d::Y as Z;";
        assert_eq!(circle(&closed), ["a", "b", "b::d"]);
    }

    #[test]
    fn what_is_no_import_makes_no_circle() {
        assert_eq!(
            circle(&[("lib.rs", "mod a;"), ("a.rs", "use std::a; let self_ = x.crate_; \"crate::b\"")]).len(),
            1
        );
    }
}
