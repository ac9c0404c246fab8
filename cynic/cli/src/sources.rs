//! The texts that a session has run: an error that nobody caught shows the line it comes from.
//!
//! Invariant: only names that the session itself gave to a text are looked up, so that no stack that a program made up shows another file.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::limits::EXCERPT_COLUMNS_MAX;
use crate::module_loader::read_source;
use crate::watch::Stamp;

enum Source {
    Text(Rc<str>),
    /// Read again when it is needed.
    File(PathBuf),
}

/// Shared by a session and its module loader.
#[derive(Clone, Default)]
pub(crate) struct Sources {
    texts: Rc<RefCell<HashMap<String, Source>>>,
    /// What files were before they were read.
    watched: Rc<RefCell<BTreeMap<PathBuf, Stamp>>>,
}

impl Sources {
    /// A text that is in no file.
    pub(crate) fn add_text(&self, name: &str, text: &str) {
        self.texts.borrow_mut().insert(name.to_owned(), Source::Text(text.into()));
    }

    /// A file that was read.
    pub(crate) fn add_file(&self, name: &str, path: impl Into<PathBuf>) {
        self.texts.borrow_mut().insert(name.to_owned(), Source::File(path.into()));
    }

    /// A file that is about to be read: the program depends on it.
    pub(crate) fn watch(&self, path: &Path) {
        self.watched.borrow_mut().entry(path.to_owned()).or_insert_with(|| Stamp::of(path));
    }

    /// How many files the program depends on.
    pub(crate) fn watched(&self) -> usize {
        self.watched.borrow().len()
    }

    /// A file that is not what it was when it was read.
    pub(crate) fn changed(&self) -> Option<PathBuf> {
        let watched = self.watched.borrow();
        watched.iter().find(|(path, stamp)| Stamp::of(path) != **stamp).map(|(path, _)| path.clone())
    }

    /// The source line and a caret for the first place of a stack (`at f (name:line:column)` or `at name:line:column`) whose text is
    /// known.
    pub(crate) fn excerpt(&self, stack: &str) -> Option<String> {
        stack.lines().find_map(|line| {
            let place = line.trim_start().strip_prefix("at ")?;
            let place = match place.strip_suffix(')') {
                Some(inside) => inside.rsplit_once(" (").map_or(inside, |(_, place)| place),
                None => place,
            };
            let (rest, column) = place.rsplit_once(':')?;
            let (name, line) = rest.rsplit_once(':')?;
            self.line(name, line.parse().ok()?, column.parse().ok()?)
        })
    }

    fn line(&self, name: &str, line: usize, column: usize) -> Option<String> {
        let text: Rc<str> = match self.texts.borrow().get(name)? {
            Source::Text(text) => text.clone(),
            Source::File(path) => read_source(path).ok()?.into(),
        };
        let shown = text.split(['\n', '\r', '\u{2028}', '\u{2029}']).nth(line_index(&text, line)?)?;
        // A bundle's line may be megabytes long.
        let before = column.checked_sub(1)?;
        let from = before.saturating_sub(EXCERPT_COLUMNS_MAX / 2);
        let part: String = shown.chars().skip(from).take(EXCERPT_COLUMNS_MAX).collect();
        if part.trim().is_empty() {
            return None;
        }
        // Tabs stay tabs, so that the caret stands below its place.
        let indent: String =
            part.chars().take(before - from).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        Some(format!("{name}:{line}\n{part}\n{indent}^"))
    }
}

/// Which piece of the text, cut at every line terminator, line `line` is: a carriage return and a line feed end one line together.
fn line_index(text: &str, line: usize) -> Option<usize> {
    let wanted = line.checked_sub(1)?;
    if !text.contains('\r') {
        return Some(wanted);
    }
    let (mut lines, mut pieces, mut previous) = (0, 0, '\0');
    for c in text.chars() {
        if lines == wanted && !(previous == '\r' && c == '\n') {
            break;
        }
        if matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}') {
            pieces += 1;
            if !(previous == '\r' && c == '\n') {
                lines += 1;
            }
        }
        previous = c;
    }
    (lines == wanted).then_some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_known_place_is_shown() {
        let sources = Sources::default();
        sources.add_text("a.js", "one;\r\n\ttwo();\nthree\n");
        let excerpt = |stack| sources.excerpt(stack);
        assert_eq!(
            excerpt("Error\n    at f (a.js:2:2)\n    at a.js:1:1").as_deref(),
            Some("a.js:2\n\ttwo();\n\t^")
        );
        assert_eq!(excerpt("Error\n    at native\n    at a.js:3:3").as_deref(), Some("a.js:3\nthree\n  ^"));
        for unknown in
            ["", "Error", "    at /etc/passwd:1:1", "    at a.js:9:1", "    at a.js:0:0", "    at a.js:x:1"]
        {
            assert_eq!(excerpt(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn long_lines_are_cut() {
        let sources = Sources::default();
        sources.add_text("a.js", &format!("{}!{}", "x".repeat(100_000), "y".repeat(100_000)));
        let shown = sources.excerpt("    at a.js:1:100001").expect("known");
        assert!(shown.len() < 500, "{}", shown.len());
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[1].find('!'), lines[2].find('^'));
    }
}
