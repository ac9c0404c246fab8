//! Pathname expansion (POSIX XCU 2.14.3, bash's globstar, dotglob, nocaseglob and GLOBIGNORE).
//!
//! Owns walking directories by the components of a pattern. Results are sorted by byte value, as with
//! `LC_COLLATE=C`. Leaves to the caller what no match means (`nullglob`, `failglob`), and reading options.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::{Node, Options, Pattern, has_magic, unescape};
use crate::sys::stack;

/// Directory levels that `**` descends; deeper trees are cut off rather than exhausting the stack.
const GLOBSTAR_DEPTH_MAX: usize = 512;

/// The options of an expansion.
#[derive(Debug, Clone, Copy, Default)]
pub struct GlobOptions<'a> {
    /// How names are compared (`nocaseglob`, `extglob`).
    pub pattern: Options,
    /// `dotglob`: `*` matches names that begin with a dot.
    pub dotglob: bool,
    /// `globstar`: a component `**` matches any number of directories.
    pub globstar: bool,
    /// `globskipdots` off: a pattern such as `.*` also matches `.` and `..`.
    pub match_dot_dirs: bool,
    /// Leave the paths in the order of their directories.
    pub unsorted: bool,
    /// The patterns of GLOBIGNORE; a path that matches one is left out.
    pub ignore: &'a [Pattern],
}

/// What one component of the pattern asks for.
enum Component {
    Literal(Vec<u8>),
    Pattern(Pattern),
    Globstar,
}

/// Expands `pattern` (backslashes before quoted characters) relative to `directory`. An empty result means
/// that nothing matched.
pub fn expand(pattern: &[u8], directory: &Path, options: &GlobOptions<'_>) -> Vec<Vec<u8>> {
    let (separators, components) = split(pattern, options);
    let mut walk = Walk { directory, options, found: Vec::new(), checked: false };
    let start = separators.first().cloned().unwrap_or_default();
    walk.visit(start, &components, separators.get(1..).unwrap_or_default(), 0);
    let mut found = walk.found;
    if !options.ignore.is_empty() {
        found.retain(|path| !is_ignored(path, options.ignore));
    }
    if !options.unsorted {
        found.sort_unstable();
        found.dedup();
    }
    found
}

/// Splits at slashes: the run of slashes before each component (and after the last), and the components.
fn split(pattern: &[u8], options: &GlobOptions<'_>) -> (Vec<Vec<u8>>, Vec<Component>) {
    let mut separators = vec![Vec::new()];
    let mut components = Vec::new();
    let mut rest = pattern;
    loop {
        let slashes = rest.iter().take_while(|&&b| b == b'/').count();
        if let Some(last) = separators.last_mut() {
            last.resize(last.len() + slashes, b'/');
        }
        rest = rest.get(slashes..).unwrap_or_default();
        if rest.is_empty() {
            return (separators, components);
        }
        let end = component_end(rest);
        let (text, after) = rest.split_at_checked(end).unwrap_or((rest, b""));
        components.push(component(text, options));
        separators.push(Vec::new());
        rest = after;
    }
}

/// The end of the component at the start of `text`: an unescaped slash, or a slash that is merely quoted.
fn component_end(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'/' => return at,
            b'\\' if text.get(at + 1) != Some(&b'/') => at += 2,
            b'\\' => return at,
            _ => at += 1,
        }
    }
    text.len()
}

fn component(text: &[u8], options: &GlobOptions<'_>) -> Component {
    if options.globstar && text == b"**" {
        return Component::Globstar;
    }
    if !has_magic(text, options.pattern.extended) {
        return Component::Literal(unescape(text));
    }
    Component::Pattern(Pattern::compile(text, options.pattern))
}

/// GLOBIGNORE compares as pathnames: a pattern has as many components as the path.
fn is_ignored(path: &[u8], ignore: &[Pattern]) -> bool {
    ignore.iter().any(|pattern| {
        let slashes = |nodes: &[Node]| {
            nodes.iter().map(|n| if let Node::Literal(l) = n { count_slashes(l) } else { 0 }).sum::<usize>()
        };
        slashes(&pattern.nodes) == count_slashes(path) && pattern.matches(path)
    })
}

fn count_slashes(text: &[u8]) -> usize {
    text.iter().filter(|&&b| b == b'/').count()
}

struct Walk<'a> {
    directory: &'a Path,
    options: &'a GlobOptions<'a>,
    found: Vec<Vec<u8>>,
    /// The last components were literal, so the path has not been seen in a directory.
    checked: bool,
}

impl Walk<'_> {
    fn path(&self, prefix: &[u8]) -> PathBuf {
        match prefix {
            [] => self.directory.to_path_buf(),
            _ => self.directory.join(OsStr::from_bytes(prefix)),
        }
    }

    fn visit(&mut self, mut prefix: Vec<u8>, components: &[Component], separators: &[Vec<u8>], depth: usize) {
        let (mut components, mut separators) = (components, separators);
        let (component, rest, separator, separators_rest) = loop {
            let Some((component, rest)) = components.split_first() else { return };
            let (separator, separators_rest) = match separators.split_first() {
                Some((first, rest)) => (first.as_slice(), rest),
                None => (b"".as_slice(), separators),
            };
            match component {
                // A level of a path costs no level of the stack.
                Component::Literal(text) if !rest.is_empty() => {
                    prefix.extend_from_slice(text);
                    prefix.extend_from_slice(separator);
                    self.checked = false;
                    (components, separators) = (rest, separators_rest);
                }
                _ => break (component, rest, separator, separators_rest),
            }
        };
        match component {
            Component::Literal(text) => {
                prefix.extend_from_slice(text);
                self.checked = false;
                self.descend(prefix, separator, rest, separators_rest, depth);
            }
            Component::Pattern(pattern) => {
                for entry in self.entries(&prefix, pattern) {
                    if !separator.is_empty() && !self.may_be_directory(&prefix, &entry) {
                        continue;
                    }
                    let mut path = prefix.clone();
                    path.extend_from_slice(&entry.name);
                    self.checked = true;
                    self.descend(path, separator, rest, separators_rest, depth);
                }
            }
            Component::Globstar => self.globstar(prefix, separator, rest, separators_rest, depth),
        }
    }

    /// Appends the separator and goes on, or records the path if this was the last component.
    fn descend(
        &mut self,
        mut path: Vec<u8>,
        separator: &[u8],
        rest: &[Component],
        separators: &[Vec<u8>],
        depth: usize,
    ) {
        path.extend_from_slice(separator);
        if !rest.is_empty() {
            stack::with_room(|| self.visit(path, rest, separators, depth));
        } else if self.checked || fs::symlink_metadata(self.path(&path)).is_ok() {
            self.found.push(path);
        }
    }

    fn entries(&self, prefix: &[u8], pattern: &Pattern) -> Vec<Entry> {
        let dot = pattern.has_leading_dot();
        let mut entries = Vec::new();
        let Ok(reader) = fs::read_dir(self.path(prefix)) else { return entries };
        for entry in reader.flatten() {
            let kind = entry.file_type();
            let name = entry.file_name().into_vec();
            if name.first() == Some(&b'.') && !dot && !self.options.dotglob {
                continue;
            }
            if pattern.matches(&name) {
                entries.push(Entry { name, kind: kind.ok() });
            }
        }
        if self.options.match_dot_dirs && dot {
            for name in [b".".as_slice(), b".."] {
                if pattern.matches(name) {
                    entries.push(Entry { name: name.to_vec(), kind: None });
                }
            }
        }
        entries
    }

    fn may_be_directory(&self, prefix: &[u8], entry: &Entry) -> bool {
        match entry.kind {
            Some(kind) if kind.is_dir() => true,
            Some(kind) if !kind.is_symlink() => false,
            _ => {
                let path = [prefix, &entry.name].concat();
                fs::metadata(self.path(&path)).is_ok_and(|m| m.is_dir())
            }
        }
    }

    /// `**`: as the last component every file below, otherwise every directory below and the start itself.
    fn globstar(
        &mut self,
        prefix: Vec<u8>,
        separator: &[u8],
        rest: &[Component],
        separators: &[Vec<u8>],
        depth: usize,
    ) {
        let last = rest.is_empty();
        if depth == 0 || !last {
            if !last {
                // Zero directories: the next component starts right here.
                stack::with_room(|| self.visit(prefix.clone(), rest, separators, depth));
            } else if !prefix.is_empty() && fs::metadata(self.path(&prefix)).is_ok_and(|m| m.is_dir()) {
                self.found.push(prefix.clone());
            }
        }
        if depth >= GLOBSTAR_DEPTH_MAX {
            return;
        }
        let everything = Pattern::compile(b"*", self.options.pattern);
        for entry in self.entries(&prefix, &everything) {
            let is_directory = entry.kind.is_some_and(|k| k.is_dir());
            let mut path = prefix.clone();
            path.extend_from_slice(&entry.name);
            if last && separator.is_empty() {
                self.found.push(path.clone());
            } else if last && self.may_be_directory(&prefix, &entry) {
                self.found.push([path.as_slice(), separator].concat());
            }
            if is_directory {
                path.extend_from_slice(if separator.is_empty() { b"/" } else { separator });
                stack::with_room(|| self.globstar(path, separator, rest, separators, depth + 1));
            }
        }
    }
}

struct Entry {
    name: Vec<u8>,
    kind: Option<fs::FileType>,
}
