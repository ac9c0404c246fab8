//! Attribute files: only whether they could change how content is compared. Anything that converts declines.

use std::collections::HashMap;

use super::index::Index;
use super::repository::{Repository, as_path, read_if_there};
use super::{Attempt, Decline};

/// The attribute files, read as far as they were needed.
pub(crate) struct Attributes<'r> {
    repository: &'r Repository,
    index: &'r Index,
    /// Whether line endings may be made uniform, by folder: a path with a slash at its end, or nothing for the root.
    folders: HashMap<Vec<u8>, bool>,
}

impl<'r> Attributes<'r> {
    /// Nothing is read yet.
    pub(crate) fn new(repository: &'r Repository, index: &'r Index) -> Attributes<'r> {
        Attributes { repository, index, folders: HashMap::new() }
    }

    /// Whether the line endings of the file at `path` may be made uniform.
    pub(crate) fn line_endings(&mut self, path: &[u8]) -> Attempt<bool> {
        let folder = path.iter().rposition(|&b| b == b'/').map_or(0, |slash| slash + 1);
        self.folder(path.get(..folder).unwrap_or_default())
    }

    fn folder(&mut self, folder: &[u8]) -> Attempt<bool> {
        if let Some(known) = self.folders.get(folder) {
            return Ok(*known);
        }
        let outer = match folder.split_last() {
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
            Err(_) => false,
        };
        let effects = outer || own;
        self.folders.insert(folder.to_vec(), effects);
        Ok(effects)
    }

    fn of_everything(&self) -> Attempt<bool> {
        let user = self.repository.user_folder.as_ref().map(|folder| [folder, &b"attributes"[..]].concat());
        let own = self.repository.git_path(b"info/attributes");
        let mut effects = false;
        for file in [Some(b"/etc/gitattributes".to_vec()), user, Some(own)].into_iter().flatten() {
            if let Some(text) = read_if_there(&file)? {
                effects = effects || read(&text)?;
            }
        }
        Ok(effects)
    }
}

/// Reads the lines of an attribute file.
fn read(text: &[u8]) -> Attempt<bool> {
    let mut effects = false;
    for line in text.split(|&b| b == b'\n') {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        // A quoted pattern may hold blanks; a macro may stand for anything.
        if line.starts_with(b"\"") || line.starts_with(b"[") {
            return Err(Decline);
        }
        let words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        for word in words.skip(1) {
            let name = word.strip_prefix(b"-").or(word.strip_prefix(b"!")).unwrap_or(word);
            match name {
                b"text" | b"text=auto" | b"eol=lf" | b"binary" => effects = true,
                b"diff" => {}
                name if name.starts_with(b"diff=") => {}
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
        assert!(read(b"# c\n*.md linguist-detectable=true\n").is_ok_and(|e| !e));
        assert!(read(b"* text=auto\n*.png -text -diff\n").is_ok_and(|e| e));
    }
}
