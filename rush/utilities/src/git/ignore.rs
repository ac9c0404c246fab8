//! Ignore files: which untracked names git does not speak of.

use super::repository::{Repository, read_if_there};
use super::wildmatch::matches;
use super::{Attempt, Decline};

/// What a pattern's text allows instead of the general match.
enum Shape {
    /// No wildcards.
    Literal,
    /// `*` and then no wildcards.
    Suffix,
    Wild,
}

struct Pattern {
    /// Without the leading `!`, a leading slash and a trailing one.
    text: Vec<u8>,
    shape: Shape,
    negative: bool,
    folders_only: bool,
    /// It has no slash, so that it is matched against the last part of a name only.
    name_only: bool,
}

/// The patterns of one file, for the names below `folder`.
struct List {
    folder: Vec<u8>,
    patterns: Vec<Pattern>,
}

/// All lists that are in force; later ones win, and later patterns in a list win.
pub(crate) struct Ignores {
    lists: Vec<List>,
}

impl Ignores {
    /// The lists of the user and of the repository.
    pub(crate) fn open(repository: &Repository) -> Attempt<Ignores> {
        let mut ignores = Ignores { lists: Vec::new() };
        let user = match repository.config.value("core", b"", "excludesfile") {
            Some(path) if path.starts_with(b"/") => Some(path.to_vec()),
            Some(path) => {
                let home = repository.home.as_ref().ok_or(Decline)?;
                let rest = path.strip_prefix(b"~/").ok_or(Decline)?;
                Some([home.as_slice(), b"/", rest].concat())
            }
            None => repository.user_folder.as_ref().map(|folder| [folder, &b"ignore"[..]].concat()),
        };
        for file in user.into_iter().chain([repository.git_path(b"info/exclude")]) {
            if let Some(text) = read_if_there(&file)? {
                ignores.push(b"", &text);
            }
        }
        Ok(ignores)
    }

    /// Puts the patterns of `folder`'s own list (a path with a slash at its end, or nothing) in force.
    pub(crate) fn push(&mut self, folder: &[u8], text: &[u8]) {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let patterns = text.split(|&b| b == b'\n').filter_map(pattern).collect();
        self.lists.push(List { folder: folder.to_vec(), patterns });
    }

    /// Takes the last list out of force.
    pub(crate) fn pop(&mut self) {
        self.lists.pop();
    }

    /// Whether `path` is ignored by a pattern for itself (not by one for a folder around it).
    pub(crate) fn excludes(&self, path: &[u8], is_folder: bool) -> Attempt<bool> {
        let name = crate::basename::base_name(path);
        for list in self.lists.iter().rev() {
            let Some(inside) = path.strip_prefix(list.folder.as_slice()) else { continue };
            for pattern in list.patterns.iter().rev() {
                if pattern.folders_only && !is_folder {
                    continue;
                }
                if pattern.takes(if pattern.name_only { name } else { inside })? {
                    return Ok(!pattern.negative);
                }
            }
        }
        Ok(false)
    }
}

impl Pattern {
    fn takes(&self, text: &[u8]) -> Attempt<bool> {
        match self.shape {
            Shape::Literal => Ok(self.text == text),
            Shape::Suffix if self.name_only => Ok(text.ends_with(self.text.get(1..).unwrap_or_default())),
            _ => matches(&self.text, text, !self.name_only).ok_or(Decline),
        }
    }
}

/// Reads one line.
fn pattern(line: &[u8]) -> Option<Pattern> {
    if line.starts_with(b"#") {
        return None;
    }
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut text = without_trailing_blanks(line);
    let negative = text.starts_with(b"!");
    if negative {
        text = text.get(1..)?;
    }
    let folders_only = text.ends_with(b"/");
    if folders_only {
        text = text.get(..text.len() - 1)?;
    }
    let name_only = !text.contains(&b'/');
    text = text.strip_prefix(b"/").unwrap_or(text);
    if text.is_empty() {
        return None;
    }
    let wild = |text: &[u8]| text.iter().any(|b| b"*?[\\".contains(b));
    let shape = match text {
        text if !wild(text) => Shape::Literal,
        [b'*', rest @ ..] if !wild(rest) => Shape::Suffix,
        _ => Shape::Wild,
    };
    Some(Pattern { text: text.to_vec(), shape, negative, folders_only, name_only })
}

/// Blanks at the end do not count unless a backslash protects them.
fn without_trailing_blanks(line: &[u8]) -> &[u8] {
    let mut kept = 0;
    let mut escaped = false;
    for (at, &byte) in line.iter().enumerate() {
        if escaped || byte != b' ' {
            kept = at + 1;
        }
        escaped = byte == b'\\' && !escaped;
    }
    line.get(..kept).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excluded(text: &str, path: &str, is_folder: bool) -> bool {
        let mut ignores = Ignores { lists: Vec::new() };
        ignores.push(b"", text.as_bytes());
        ignores.excludes(path.as_bytes(), is_folder).unwrap_or_else(|_| panic!("declined"))
    }

    #[test]
    fn the_rules_of_ignore_files() {
        assert!(excluded("*.o\n", "d/a.o", false));
        assert!(!excluded("*.o\n!a.o\n", "d/a.o", false));
        assert!(excluded("build/\n", "x/build", true));
        assert!(!excluded("build/\n", "x/build", false));
        assert!(excluded("/top\n", "top", false));
        assert!(!excluded("/top\n", "d/top", false));
        assert!(excluded("d/*.c\n", "d/a.c", false));
        assert!(!excluded("d/*.c\n", "x/d/a.c", false));
        assert!(excluded("a\\ \n", "a ", false));
        assert!(excluded("a  \r\n", "a  ", false) || excluded("a  \n", "a", false));
        assert!(!excluded("#a\n", "#a", false));
        assert!(excluded("\\#a\n", "#a", false));
    }
}
