//! What `rm`, `mv` and `cp` are about to replace, by their words. It may name more than they will: what is still there
//! afterwards needs no undoing.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::place;

/// What may happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Touch {
    /// The file is removed.
    Gone { path: PathBuf, folders: bool },
    /// Another file comes into its place.
    Replaced { path: PathBuf },
    /// Something else is written into the file.
    Overwritten { path: PathBuf },
    /// The file goes to another place.
    Moved { from: PathBuf, to: PathBuf },
}

impl Touch {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Touch::Gone { path, .. }
            | Touch::Replaced { path }
            | Touch::Overwritten { path }
            | Touch::Moved { from: path, .. } => path,
        }
    }
}

/// The words of a command line, sorted.
#[derive(Default)]
struct Words<'a> {
    operands: Vec<&'a [u8]>,
    letters: Vec<u8>,
    long: Vec<&'a [u8]>,
    target: Option<&'a [u8]>,
}

impl<'a> Words<'a> {
    /// Options of GNU's programs: `valued` are the letters with an argument; long ones may be cut short.
    fn sort(args: &'a [Vec<u8>], valued: &[u8]) -> Words<'a> {
        let mut words = Words::default();
        let mut rest = args.iter().skip(1);
        while let Some(word) = rest.next() {
            match word.as_slice() {
                b"--" => {
                    words.operands.extend(rest.by_ref().map(Vec::as_slice));
                }
                [b'-', b'-', long @ ..] => {
                    let (name, value) = match long.iter().position(|&byte| byte == b'=') {
                        Some(at) => (long.get(..at).unwrap_or_default(), long.get(at + 1..)),
                        None => (long, None),
                    };
                    words.long.push(name);
                    let takes = |full: &[u8], least: usize| name.len() >= least && full.starts_with(name);
                    if !valued.is_empty() && takes(b"target-directory", 1) {
                        words.target = value.or_else(|| rest.next().map(Vec::as_slice));
                    } else if !valued.is_empty()
                        && value.is_none()
                        && (takes(b"suffix", 2) || takes(b"no-preserve", 4) || takes(b"sparse", 2))
                    {
                        rest.next();
                    }
                }
                [b'-', cluster @ ..] if !cluster.is_empty() => {
                    for (at, &letter) in cluster.iter().enumerate() {
                        words.letters.push(letter);
                        if valued.contains(&letter) {
                            let glued = cluster.get(at + 1..).filter(|glued| !glued.is_empty());
                            let value = glued.or_else(|| rest.next().map(Vec::as_slice));
                            if letter == b't' {
                                words.target = value;
                            }
                            break;
                        }
                    }
                }
                operand => words.operands.push(operand),
            }
        }
        words
    }

    fn has(&self, letters: &[u8], long: &[u8], least: usize) -> bool {
        self.letters.iter().any(|letter| letters.contains(letter))
            || self.long.iter().any(|name| name.len() >= least && long.starts_with(name))
    }

    /// Sources, each with its destination.
    fn pairs(&self, directory: &Path) -> Vec<(&'a [u8], PathBuf)> {
        let mut sources = self.operands.clone();
        let given = if self.target.is_some() { self.target } else { sources.pop() };
        let Some(target) = given.filter(|target| !target.is_empty()) else { return Vec::new() };
        let place = directory.join(OsStr::from_bytes(target));
        let as_file = self.has(b"T", b"no-target-directory", 4) || !place.is_dir();
        let parents = self.has(b"", b"parents", 2);
        let destination = |source: &&'a [u8]| {
            if as_file {
                return Some((*source, place::of_word(directory, target)?));
            }
            let folder = place.canonicalize().ok()?;
            let path = Path::new(OsStr::from_bytes(source));
            let inner = if parents {
                folder.join(path.strip_prefix("/").unwrap_or(path))
            } else {
                folder.join(path.file_name().unwrap_or(OsStr::new("")))
            };
            Some((*source, inner))
        };
        sources.iter().filter_map(destination).collect()
    }
}

/// Whether there are plans for a command of this name.
pub fn concerns(name: &[u8]) -> bool {
    matches!(name, b"rm" | b"mv" | b"cp")
}

/// What the command may do to files.
pub(crate) fn plan(directory: &Path, args: &[Vec<u8>]) -> Vec<Touch> {
    match args.first().map(Vec::as_slice) {
        Some(b"rm") => {
            let words = Words::sort(args, b"");
            let folders = words.has(b"rRd", b"recursive", 1) || words.has(b"", b"dir", 1);
            let place = |word: &&[u8]| place::of_word(directory, word);
            let paths: Vec<PathBuf> = words.operands.iter().filter_map(place).collect();
            // What goes with a folder is kept with it.
            let outer = |path: &&PathBuf| {
                !folders || !paths.iter().any(|other| *path != other && path.starts_with(other))
            };
            paths.iter().filter(outer).map(|path| Touch::Gone { path: path.clone(), folders }).collect()
        }
        Some(b"mv") => moves(directory, &Words::sort(args, b"St")),
        Some(b"cp") => copies(directory, &Words::sort(args, b"St")),
        _ => Vec::new(),
    }
}

fn moves(directory: &Path, words: &Words<'_>) -> Vec<Touch> {
    let mut touches = Vec::new();
    for (source, to) in words.pairs(directory) {
        let Some(from) = place::of_word(directory, source) else { continue };
        let Some(stat) = place::stat(&from) else { continue };
        if from == to {
            continue;
        }
        let folder = to.parent().and_then(|folder| std::fs::metadata(folder).ok());
        if place::stat(&to).is_some() {
            touches.push(Touch::Gone { path: to.clone(), folders: true });
        }
        let device = folder.map(|folder| std::os::unix::fs::MetadataExt::dev(&folder));
        if device == Some(place::identity(&stat).0) {
            touches.push(Touch::Moved { from, to });
        } else {
            // It is copied to the other file system and removed.
            touches.push(Touch::Gone { path: from, folders: true });
        }
    }
    touches
}

fn copies(directory: &Path, words: &Words<'_>) -> Vec<Touch> {
    let recursive = words.has(b"rRa", b"recursive", 1) || words.has(b"", b"archive", 2);
    // A link, or a file that is removed or renamed first, makes place for another.
    let always = words.has(b"lsbS", b"link", 1)
        || words.has(b"", b"backup", 1)
        || words.has(b"", b"suffix", 2)
        || words.has(b"", b"symbolic-link", 2)
        || words.has(b"", b"remove-destination", 3);
    let follows =
        words.has(b"LH", b"dereference", 3) || !recursive && !words.has(b"dP", b"no-dereference", 4);
    let mut copies = Copies { recursive, always, follows, touches: Vec::new() };
    for (source, to) in words.pairs(directory) {
        copies.visit(&directory.join(OsStr::from_bytes(source)), &to, 0);
    }
    copies.touches
}

/// What `cp` does, as far as it matters to what is there.
struct Copies {
    recursive: bool,
    always: bool,
    follows: bool,
    touches: Vec<Touch>,
}

impl Copies {
    fn visit(&mut self, from: &Path, to: &Path, depth: usize) {
        let (Ok(source), Ok(there)) = (std::fs::symlink_metadata(from), std::fs::symlink_metadata(to)) else {
            return;
        };
        if source.is_symlink() && !self.follows {
            // A link is made, and what is there is removed first.
            self.touches.push(Touch::Replaced { path: to.to_path_buf() });
        } else if std::fs::metadata(from).is_ok_and(|source| source.is_dir()) {
            if !self.recursive || !to.is_dir() || depth > crate::limits::DEPTH_MAX {
                return;
            }
            let Ok(names) = std::fs::read_dir(from) else { return };
            for name in names.flatten().map(|entry| entry.file_name()) {
                self.visit(&from.join(&name), &to.join(&name), depth + 1);
            }
        } else if self.always && !there.is_dir() {
            self.touches.push(Touch::Replaced { path: to.to_path_buf() });
        } else if let Some(path) = content_at(to) {
            self.touches.push(Touch::Overwritten { path });
        }
    }
}

/// The file that is written into when `path` is: where a link leads. `None` for what has no content.
pub(crate) fn content_at(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    let metadata = std::fs::symlink_metadata(&path).ok()?;
    metadata.is_file().then_some(path)
}
