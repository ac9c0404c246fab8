//! The words of `git diff`.

use super::Format;
use crate::Context;
use crate::git::change::Change;
use crate::git::objects::Objects;
use crate::git::oid::Oid;
use crate::git::refs::Refs;
use crate::git::repository::Repository;
use crate::git::revision::resolve;
use crate::git::{Attempt, Decline};

/// Unchanged lines around changed ones, unless something else is said.
const CONTEXT_LINES: usize = 3;

/// What is asked for.
pub(super) struct Options<'w> {
    pub(super) format: Format,
    /// The index is compared with a commit.
    pub(super) cached: bool,
    pub(super) context: usize,
    pub(super) renames: bool,
    /// Names end with a zero byte and have no quotes.
    pub(super) null: bool,
    /// `a/` and `b/` stand before names.
    pub(super) prefixes: bool,
    /// The status tells whether there are differences.
    pub(super) tell: bool,
    /// Nothing is printed.
    pub(super) quiet: bool,
    /// Letters of the kinds that are shown, and of those that are not.
    filter: Vec<u8>,
    words: Vec<&'w [u8]>,
    /// How many words stand before the last flag: git takes a flag behind a path for a path.
    words_before_flags: usize,
    /// The words behind `--`.
    paths: Option<Vec<&'w [u8]>>,
}

/// What is compared.
pub(super) struct Operands {
    pub(super) commits: Vec<Oid>,
    /// Paths from the root, without a slash at the end unless only what is in a folder is meant; none for all.
    pub(super) paths: Vec<Vec<u8>>,
}

impl<'w> Options<'w> {
    pub(super) fn parse(words: &'w [Vec<u8>]) -> Attempt<Options<'w>> {
        let mut options = Options {
            format: Format::Patch,
            cached: false,
            context: CONTEXT_LINES,
            renames: true,
            null: false,
            prefixes: true,
            tell: false,
            quiet: false,
            filter: Vec::new(),
            words: Vec::new(),
            words_before_flags: 0,
            paths: None,
        };
        let mut format = None;
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let asked = match word.as_slice() {
                b"--" => {
                    options.paths = Some(rest.map(Vec::as_slice).collect());
                    break;
                }
                word if !word.starts_with(b"-") => {
                    options.words.push(word);
                    continue;
                }
                b"-p" | b"-u" | b"--patch" => Some(Format::Patch),
                b"--stat" => Some(Format::Stat),
                b"--shortstat" => Some(Format::ShortStat),
                b"--numstat" => Some(Format::Numbers),
                b"--name-only" => Some(Format::Names),
                b"--name-status" => Some(Format::Letters),
                word => {
                    options.flag(word)?;
                    None
                }
            };
            if asked.is_some() && format.is_some_and(|format| Some(format) != asked) {
                return Err(Decline);
            }
            format = format.or(asked);
            options.words_before_flags = options.words.len();
        }
        options.format = format.unwrap_or(Format::Patch);
        let named = matches!(options.format, Format::Names | Format::Letters);
        if options.null && !named { Err(Decline) } else { Ok(options) }
    }

    fn flag(&mut self, word: &[u8]) -> Attempt<()> {
        match word {
            b"--cached" | b"--staged" => self.cached = true,
            b"-z" => self.null = true,
            b"--quiet" => (self.quiet, self.tell) = (true, true),
            b"--exit-code" => self.tell = true,
            b"--no-renames" => self.renames = false,
            b"-M" | b"--find-renames" => self.renames = true,
            b"--no-prefix" => self.prefixes = false,
            b"--no-color" | b"--color=never" | b"--no-ext-diff" => {}
            _ => {
                let value = |name: &[u8]| word.strip_prefix(name);
                if let Some(lines) = value(b"-U").or(value(b"--unified=")) {
                    let lines = crate::options::number(lines).and_then(|lines| usize::try_from(lines).ok());
                    // Without context git cuts common ends off first.
                    self.context = lines.filter(|lines| (1..1 << 16).contains(lines)).ok_or(Decline)?;
                } else {
                    self.filter = value(b"--diff-filter=").ok_or(Decline)?.to_vec();
                    if !self.filter.iter().all(|letter| b"ACDMRTacdmrt".contains(letter)) {
                        return Err(Decline);
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether changes of this kind are asked for.
    pub(super) fn wants(&self, change: &Change) -> bool {
        let letter = change.kind.letter();
        let has = |letter: u8| self.filter.contains(&letter);
        let all = !self.filter.iter().any(u8::is_ascii_uppercase);
        (all || has(letter)) && !has(letter.to_ascii_lowercase())
    }

    /// Which of the words are commits and which paths. What could be either declines.
    pub(super) fn operands(
        &self,
        context: &Context<'_>,
        repository: &Repository,
        refs: &Refs<'_>,
        objects: &Objects<'_>,
    ) -> Attempt<Operands> {
        let mut operands = Operands { commits: Vec::new(), paths: Vec::new() };
        let exists = |word: &[u8]| context.path(word).symlink_metadata().is_ok();
        for (at, word) in self.words.iter().enumerate() {
            if exists(word) && self.paths.is_none() {
                if at < self.words_before_flags {
                    return Err(Decline);
                }
                for path in self.words.iter().skip(at) {
                    let known = exists(path) && !may_be_a_revision(path, refs)?;
                    operands.paths.push(known.then(|| below_root(path, &repository.prefix)).ok_or(Decline)??);
                }
                break;
            }
            if exists(word) || memchr::memmem::find(word, b"...").is_some() || word.starts_with(b"^") {
                return Err(Decline);
            }
            let or_head = |name: &[u8]| resolve(if name.is_empty() { b"HEAD" } else { name }, refs, objects);
            match memchr::memmem::find(word, b"..") {
                Some(dots) => {
                    operands.commits.push(or_head(word.get(..dots).unwrap_or_default())?);
                    operands.commits.push(or_head(word.get(dots + 2..).unwrap_or_default())?);
                }
                None => operands.commits.push(resolve(word, refs, objects)?),
            }
        }
        for path in self.paths.iter().flatten() {
            operands.paths.push(below_root(path, &repository.prefix)?);
        }
        Ok(operands)
    }
}

/// Whether git could take a word for something in the history.
fn may_be_a_revision(word: &[u8], refs: &Refs<'_>) -> Attempt<bool> {
    let mut inner = word;
    while let Some(rest) = inner.strip_prefix(b"../") {
        inner = rest;
    }
    if inner == b".." || inner == b"." {
        return Ok(false);
    }
    let odd = word.iter().any(|b| b"@:^~{".contains(b));
    let described = memchr::memmem::find(word, b"-g").is_some();
    let abbreviated = word.len() >= 4 && word.iter().all(u8::is_ascii_hexdigit);
    let range = memchr::memmem::find(inner, b"..").is_some();
    let folders: [&[u8]; 5] = [b"", b"refs/", b"refs/tags/", b"refs/heads/", b"refs/remotes/"];
    let mut names = folders.iter().map(|folder| [folder, word].concat()).collect::<Vec<_>>();
    names.push([b"refs/remotes/", word, b"/HEAD"].concat());
    for name in names {
        if refs.resolve(&name)?.is_some() {
            return Ok(true);
        }
    }
    Ok(odd || described || abbreviated || range)
}

/// The path from the root that a word in the folder `prefix` means. Wildcards and the like decline.
fn below_root(word: &[u8], prefix: &[u8]) -> Attempt<Vec<u8>> {
    let magic = word.starts_with(b":") || word.iter().any(|b| b"*?[\\".contains(b));
    if word.is_empty() || word.starts_with(b"/") || magic {
        return Err(Decline);
    }
    let mut parts: Vec<&[u8]> = prefix.split(|&b| b == b'/').filter(|part| !part.is_empty()).collect();
    for part in word.split(|&b| b == b'/') {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop().ok_or(Decline)?),
            part => parts.push(part),
        }
    }
    let mut path = parts.join(&b'/');
    if word.ends_with(b"/") && !path.is_empty() {
        path.push(b'/');
    }
    Ok(path)
}

impl Operands {
    /// Whether `path` is asked for.
    pub(super) fn cover(&self, path: &[u8]) -> bool {
        let covers = |asked: &Vec<u8>| {
            let rest = path.strip_prefix(asked.as_slice());
            asked.is_empty()
                || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || asked.ends_with(b"/"))
        };
        self.paths.is_empty() || self.paths.iter().any(covers)
    }
}
