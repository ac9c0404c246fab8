//! Attribute files: only whether they could change how content is compared or how differences are shown. Anything that
//! converts declines.

use std::collections::HashMap;

use super::index::Index;
use super::repository::{Repository, as_path, read_if_there};
use super::wildmatch::matches;
use super::{Attempt, Decline};
use crate::basename::base_name;

/// The attribute files, read as far as they were needed.
pub(crate) struct Attributes<'r> {
    repository: &'r Repository,
    index: &'r Index,
    /// What they do, by folder: a path with a slash at its end, or nothing for the root.
    folders: HashMap<Vec<u8>, Effects>,
}

/// What the attributes of a folder and those around it do.
#[derive(Clone, Default)]
struct Effects {
    /// Line endings may be made uniform.
    endings: bool,
    /// The patterns of files whose differences are shown in a way of their own.
    shown_otherwise: Vec<Vec<u8>>,
}

impl Effects {
    fn add(&mut self, other: Effects) {
        self.endings |= other.endings;
        self.shown_otherwise.extend(other.shown_otherwise);
    }
}

impl<'r> Attributes<'r> {
    /// Nothing is read yet.
    pub(crate) fn new(repository: &'r Repository, index: &'r Index) -> Attributes<'r> {
        Attributes { repository, index, folders: HashMap::new() }
    }

    /// Whether the line endings of the file at `path` may be made uniform.
    pub(crate) fn line_endings(&mut self, path: &[u8]) -> Attempt<bool> {
        Ok(self.of(path)?.endings)
    }

    /// Whether nothing is said of how differences of the file at `path` are shown.
    pub(crate) fn shown_plainly(&mut self, path: &[u8]) -> Attempt<bool> {
        for pattern in self.of(path)?.shown_otherwise {
            // Patterns with folders in them may match any path.
            if pattern.contains(&b'/') || matches(&pattern, base_name(path), false).ok_or(Decline)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn of(&mut self, path: &[u8]) -> Attempt<Effects> {
        let folder = path.iter().rposition(|&b| b == b'/').map_or(0, |slash| slash + 1);
        self.folder(path.get(..folder).unwrap_or_default())
    }

    fn folder(&mut self, folder: &[u8]) -> Attempt<Effects> {
        if let Some(known) = self.folders.get(folder) {
            return Ok(known.clone());
        }
        let mut effects = match folder.split_last() {
            Some((_, inner)) => {
                let parent = inner.iter().rposition(|&b| b == b'/').map_or(0, |slash| slash + 1);
                self.folder(folder.get(..parent).unwrap_or_default())?
            }
            None => self.of_everything()?,
        };
        let name = [folder, b".gitattributes"].concat();
        let path = [self.repository.base.as_slice(), &name].concat();
        let own = match as_path(&path).symlink_metadata() {
            Ok(found) if found.is_file() => read(&read_if_there(&path)?.unwrap_or_default())?,
            Ok(_) => return Err(Decline),
            // Git then takes it from the index.
            Err(_) if self.index.contains(&name) => return Err(Decline),
            Err(_) => Effects::default(),
        };
        effects.add(own);
        self.folders.insert(folder.to_vec(), effects.clone());
        Ok(effects)
    }

    fn of_everything(&self) -> Attempt<Effects> {
        let user = self.repository.user_folder.as_ref().map(|folder| [folder, &b"attributes"[..]].concat());
        let own = self.repository.git_path(b"info/attributes");
        let mut effects = Effects::default();
        for file in [Some(b"/etc/gitattributes".to_vec()), user, Some(own)].into_iter().flatten() {
            if let Some(text) = read_if_there(&file)? {
                effects.add(read(&text)?);
            }
        }
        Ok(effects)
    }
}

/// Reads the lines of an attribute file.
fn read(text: &[u8]) -> Attempt<Effects> {
    let mut effects = Effects::default();
    for line in text.split(|&b| b == b'\n') {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        // A quoted pattern may hold blanks; a macro may stand for anything.
        if line.starts_with(b"\"") || line.starts_with(b"[") {
            return Err(Decline);
        }
        let mut words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        let pattern = words.next().unwrap_or_default();
        for word in words {
            let name = word.strip_prefix(b"-").or(word.strip_prefix(b"!")).unwrap_or(word);
            match name {
                b"text" | b"text=auto" | b"eol=lf" => effects.endings = true,
                name if name == b"binary" || name == b"diff" || name.starts_with(b"diff=") => {
                    effects.endings |= name == b"binary";
                    effects.shown_otherwise.push(pattern.to_vec());
                }
                name if is_of_no_effect(name) => {}
                _ => return Err(Decline),
            }
        }
    }
    Ok(effects)
}

/// Attributes that concern merges, archives, whitespace checks and web sites.
fn is_of_no_effect(name: &[u8]) -> bool {
    let names: [&[u8]; 6] =
        [b"merge", b"export-ignore", b"export-subst", b"whitespace", b"delta", b"conflict-marker-size"];
    let bare = name.split(|&b| b == b'=').next().unwrap_or_default();
    names.contains(&bare) || bare.starts_with(b"linguist-") || bare.starts_with(b"gitlab-")
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn what_converts_declines() {
        for text in [
            "* filter=lfs",
            "*.c ident",
            "* working-tree-encoding=utf-16",
            "* eol=crlf",
            "[attr]x -text",
            "* crlf",
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
        assert!(read(b"# c\n*.md linguist-detectable=true\n").is_ok_and(|e| !e.endings));
        let effects = read(b"* text=auto\n*.png -text -diff\n*.rs diff=rust\n").unwrap_or_default();
        assert!(effects.endings);
        assert_eq!(effects.shown_otherwise, [b"*.png".to_vec(), b"*.rs".to_vec()]);
    }
}
