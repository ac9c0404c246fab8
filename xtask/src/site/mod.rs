//! `make docs`: the pages of the tree as a site that a browser opens from the disk, with navigation, search and the API documents of all libraries.
//! Owns which pages there are and where everything lies; `page` turns one into HTML, `check` follows every link of the result.
//!
//! Pages lie as in the tree, with `.html` for `.md` (`README.md` at the top is `index.html`), so that a relative link stays what it is.

mod check;
mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use self::page::{Page, escape};
use crate::release;
use crate::workspace::Workspace;

/// The page whose headings and lists are the navigation.
const MAP: &str = "docs/README.md";
/// The page that a site opens with.
const FRONT: &str = "README.md";
const STYLE: &str = include_str!("style.css");
const SEARCH: &str = include_str!("search.js");
/// Module documents lead developers to private items too; every other broken link is an error.
pub(crate) const RUSTDOC_FLAGS: &str = "-D warnings -A rustdoc::private_intra_doc_links";

/// A group of the navigation: its title, and its pages with the words that lead to them.
struct Section {
    title: String,
    entries: Vec<(String, PathBuf)>,
}

/// `cargo xtask docs [--no-api]`.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), String> {
    let api = match arguments {
        [] => true,
        [flag] if flag == "--no-api" => false,
        _ => return Err("usage: cargo xtask docs [--no-api]".to_string()),
    };
    if api {
        let mut doc = workspace.cargo(&["doc", "--workspace", "--lib", "--no-deps", "--locked"]);
        release::run(doc.env("RUSTDOCFLAGS", RUSTDOC_FLAGS), "cargo doc")?;
    }
    // Without waiting for rustdoc: what it wrote before.
    let folder = workspace.target().join("doc");
    let (site, pages) = build(workspace, folder.is_dir().then_some(folder.as_path()))?;
    println!("{pages} pages: {}", site.join("index.html").display());
    Ok(())
}

/// Writes the site, with the API documents that `cargo doc` wrote to `api`, and follows its links; its folder and its number of pages.
pub(crate) fn build(workspace: &Workspace, api: Option<&Path>) -> Result<(PathBuf, usize), String> {
    let site = workspace.target().join("site");
    if site.exists() {
        std::fs::remove_dir_all(&site).map_err(|error| format!("{}: {error}", site.display()))?;
    }
    let tracked: BTreeSet<PathBuf> = workspace.tracked_files()?.into_iter().collect();
    let map = read(&workspace.root, Path::new(MAP))?;
    let mut sections = sections(&map);
    let mut pages = reachable(&workspace.root, &tracked, &sections)?;
    let files: BTreeSet<PathBuf> = pages
        .values()
        .flat_map(Page::targets)
        .filter(|target| !is_page(target) && tracked.contains(target))
        .collect();
    for file in files {
        copy(&workspace.root.join(&file), &site.join(&file))?;
    }
    if let Some(folder) = api {
        link_tree(folder, &site.join("api"))?;
        let crates = Page::new(Path::new("api.md"), &libraries(workspace, folder)?, &|_| true);
        sections
            .push(Section { title: "API".into(), entries: vec![("Rust crates".into(), "api.md".into())] });
        pages.insert("api.md".into(), crates);
    }
    let order: Vec<PathBuf> =
        sections.iter().flat_map(|section| section.entries.iter().map(|(_, path)| path.clone())).collect();
    for (path, page) in &pages {
        write(&site.join(address(path)), &document(page, path, &sections, &order))?;
    }
    write(&site.join("style.css"), STYLE)?;
    write(&site.join("search.js"), SEARCH)?;
    write(&site.join("search-index.js"), &search_index(&pages)?)?;
    let broken = check::links(&site)?;
    if broken.is_empty() { Ok((site, pages.len())) } else { Err(broken.join("\n")) }
}

/// Pages of the documents that the map does not lead to, and so no reader finds.
pub(crate) fn unreachable(workspace: &Workspace, tracked: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let map = read(&workspace.root, Path::new(MAP))?;
    let listed: BTreeSet<PathBuf> = sections(&map)
        .into_iter()
        .flat_map(|section| section.entries.into_iter().map(|(_, path)| path))
        .collect();
    let page =
        |file: &&PathBuf| file.starts_with("docs") && is_page(file) && !listed.contains(file.as_path());
    Ok(tracked.iter().filter(page).filter(|file| file.as_path() != Path::new(MAP)).cloned().collect())
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// Where a page of the tree lies in the site.
fn address(path: &Path) -> PathBuf {
    if path == Path::new(FRONT) { PathBuf::from("index.html") } else { path.with_extension("html") }
}

/// `target` as a link on `page` has it, from the top of the tree.
fn resolved(page: &Path, target: &str) -> PathBuf {
    let mut path = page.parent().map(Path::to_path_buf).unwrap_or_default();
    for component in Path::new(target).components() {
        match component {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

/// The way from a page's address to the top of the site: empty, or `../` so many times.
fn way_up(path: &Path) -> String {
    "../".repeat(path.components().count().saturating_sub(1))
}

/// The map's headings of the second level, and the first link of each of their list items.
fn sections(map: &str) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    for line in map.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            found.push(Section { title: title.trim().to_string(), entries: Vec::new() });
        } else if let Some(link) = line.trim_start().strip_prefix("- [")
            && let Some((words, rest)) = link.split_once("](")
            && let Some((target, _)) = rest.split_once(')')
            && let Some(section) = found.last_mut()
        {
            section.entries.push((words.to_string(), resolved(Path::new(MAP), target)));
        }
    }
    found
}

/// The pages of the navigation, the front page and the map, and what they lead to.
fn reachable(
    root: &Path,
    tracked: &BTreeSet<PathBuf>,
    sections: &[Section],
) -> Result<BTreeMap<PathBuf, Page>, String> {
    let entries = sections.iter().flat_map(|section| section.entries.iter().map(|(_, path)| path.clone()));
    let mut waiting: Vec<PathBuf> = entries.chain([FRONT.into(), MAP.into()]).collect();
    let mut pages = BTreeMap::new();
    while let Some(path) = waiting.pop() {
        if pages.contains_key(&path) {
            continue;
        }
        let page = Page::new(&path, &read(root, &path)?, &|target| tracked.contains(target));
        waiting.extend(page.targets().filter(|target| is_page(target) && tracked.contains(target)));
        pages.insert(path, page);
    }
    Ok(pages)
}

/// A page's whole HTML document.
fn document(page: &Page, path: &Path, sections: &[Section], order: &[PathBuf]) -> String {
    let up = way_up(path);
    let mut navigation = String::new();
    for section in sections {
        let _ = write!(navigation, "<h2>{}</h2>\n<ul>\n", escape(&section.title));
        for (words, target) in &section.entries {
            let here = target == path;
            let current = if here { " aria-current=\"page\"" } else { "" };
            let _ = write!(
                navigation,
                "<li><a href=\"{up}{}\"{current}>{}</a>",
                address(target).display(),
                escape(words)
            );
            if here && page.headings.len() > 1 {
                navigation.push_str("<ul>");
                for (anchor, text) in &page.headings {
                    let _ = write!(navigation, "<li><a href=\"#{anchor}\">{}</a></li>", escape(text));
                }
                navigation.push_str("</ul>");
            }
            navigation.push_str("</li>\n");
        }
        navigation.push_str("</ul>\n");
    }
    let neighbour = |at: Option<usize>, rel: &str| {
        let Some(target) = at.and_then(|at| order.get(at)) else { return String::new() };
        let words = sections.iter().flat_map(|section| &section.entries).find(|(_, path)| path == target);
        let words = words.map_or("", |(words, _)| words.as_str());
        format!("<a rel=\"{rel}\" href=\"{up}{}\">{}</a>", address(target).display(), escape(words))
    };
    let at = order.iter().position(|other| other == path);
    let before = neighbour(at.and_then(|at| at.checked_sub(1)), "prev");
    let after = neighbour(at.map(|at| at + 1), "next");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <link rel=\"stylesheet\" href=\"{up}style.css\">\n<script defer src=\"{up}search-index.js\"></script>\n\
         <script defer src=\"{up}search.js\"></script>\n</head>\n<body data-up=\"{up}\">\n\
         <header><a class=\"name\" href=\"{up}index.html\">Pithos</a> <a class=\"pages\" href=\"#pages\">pages</a>\n\
         <input type=\"search\" id=\"search\" placeholder=\"Search\" aria-label=\"Search\" autocomplete=\"off\"></header>\n\
         <div class=\"columns\">\n<main>\n<ol id=\"found\" hidden></ol>\n<article>\n{body}</article>\n\
         <footer>{before}{after}</footer>\n</main>\n<nav id=\"pages\">\n{navigation}</nav>\n</div>\n</body>\n</html>\n",
        title = escape(&page.title),
        body = page.html,
    )
}

/// The list of the libraries that have documents in `folder`, as a page.
fn libraries(workspace: &Workspace, folder: &Path) -> Result<String, String> {
    let metadata = workspace.metadata()?;
    let mut text = String::from(
        "# Rust crates\n\nMade by rustdoc; `pithos-cynic` and `pithos-iris` are the two that other programs use.\n\n| crate | what it is |\n|---|---|\n",
    );
    let members: BTreeSet<&str> =
        metadata["workspace_members"].as_array().into_iter().flatten().filter_map(|id| id.as_str()).collect();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let library = package["targets"].as_array().into_iter().flatten().find(|target| {
            let kinds = target["kind"].as_array();
            kinds.into_iter().flatten().any(|kind| kind == "lib" || kind == "cdylib" || kind == "rlib")
        });
        if let (Some(library), Some(name)) = (library, package["name"].as_str())
            && package["id"].as_str().is_some_and(|id| members.contains(id))
        {
            let documents = library["name"].as_str().unwrap_or(name).replace('-', "_");
            if !folder.join(&documents).join("index.html").is_file() {
                continue;
            }
            let what = package["description"].as_str().unwrap_or("");
            let _ = writeln!(text, "| [{name}](api/{documents}/index.html) | {what} |");
        }
    }
    Ok(text)
}

/// What the search looks through: each section of each page with its text, as a script, because a page from the disk may fetch nothing.
fn search_index(pages: &BTreeMap<PathBuf, Page>) -> Result<String, String> {
    let mut rows = Vec::new();
    for (path, page) in pages {
        for part in &page.parts {
            let url = match part.anchor.as_str() {
                "" => address(path).display().to_string(),
                anchor => format!("{}#{anchor}", address(path).display()),
            };
            rows.push(serde_json::json!([page.title, part.heading, url, part.text]));
        }
    }
    let json = serde_json::to_string(&rows).map_err(|error| error.to_string())?;
    Ok(format!("window.searchIndex = {json};\n"))
}

fn read(root: &Path, path: &Path) -> Result<String, String> {
    std::fs::read_to_string(root.join(path)).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    std::fs::copy(from, to).map(drop).map_err(|error| format!("{}: {error}", to.display()))
}

/// A tree's files a second time, without their content where the file system can.
fn link_tree(from: &Path, to: &Path) -> Result<(), String> {
    std::fs::create_dir_all(to).map_err(|error| format!("{}: {error}", to.display()))?;
    let entries = std::fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    for entry in entries {
        let entry = entry.map_err(|error| error.to_string())?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            link_tree(&source, &target)?;
        } else if std::fs::hard_link(&source, &target).is_err() {
            copy(&source, &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_is_the_navigation() {
        let map = "# Map\n\n## One\n\n- [first](a.md): what it is, see [b](b.md)\n- [second](../C.md)\n\n## Two\n\ntext\n";
        let found = sections(map);
        let titles: Vec<&str> = found.iter().map(|section| section.title.as_str()).collect();
        assert_eq!(titles, ["One", "Two"]);
        let paths: Vec<&Path> = found[0].entries.iter().map(|(_, path)| path.as_path()).collect();
        assert_eq!(paths, [Path::new("docs/a.md"), Path::new("C.md")]);
    }

    #[test]
    fn addresses() {
        assert_eq!(address(Path::new("README.md")), Path::new("index.html"));
        assert_eq!(address(Path::new("docs/README.md")), Path::new("docs/README.html"));
        assert_eq!(resolved(Path::new("docs/a/b.md"), "../../x/./y.md"), Path::new("x/y.md"));
        assert_eq!(
            (way_up(Path::new("index.html")), way_up(Path::new("a/b/c.html"))),
            (String::new(), "../../".into())
        );
    }
}
