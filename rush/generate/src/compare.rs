//! Generates cases of one utility, runs them through both, and counts.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::case::{Case, Observed, Stdin};
use crate::grammar::{self, Grammar};
use crate::peer::{self, Sinks};
use crate::random::Random;
use crate::{ours, shrink, tree};

/// What a number of cases gave.
#[derive(Debug, Default)]
pub struct Count {
    /// Cases generated.
    pub lines: u64,
    /// Of these, answered in process and so compared.
    pub answered: u64,
    /// Of these, differing.
    pub differing: u64,
    /// The differences, each described in its smallest form, once.
    pub differences: Vec<String>,
}

/// A folder in which cases of one utility are compared; removed at the end.
pub struct Bench {
    grammar: &'static Grammar,
    folder: PathBuf,
    sinks: Sinks,
    built: bool,
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Bench {
    /// `None` if the utility has no grammar, its program is not here or not GNU's, or there is no place for files.
    pub fn new(name: &str) -> Option<Self> {
        let grammar = grammar::ALL.iter().find(|grammar| grammar.name == name)?;
        if !peer::is_gnu(name) {
            return None;
        }
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        let folder = place.join(format!("rush-generate-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).ok()?;
        let sinks = Sinks::new(&folder).ok()?;
        Some(Self { grammar, folder, sinks, built: false })
    }

    /// Compares `lines` cases from `seed`; stops after `differences_max` that differ.
    pub fn run(&mut self, seed: u64, lines: u64, differences_max: usize) -> io::Result<Count> {
        let mut count = Count::default();
        let mut seen = std::collections::HashSet::new();
        for index in 0..lines {
            // Each case has a seed of its own, so that one can be repeated alone.
            let seed = seed.wrapping_add(index);
            let case = self.grammar.case(&mut Random::new(seed));
            count.lines += 1;
            let Some(first) = self.judge(&case)? else { continue };
            count.answered += 1;
            if first.is_empty() {
                continue;
            }
            let small = shrink::shrink(&case, self.grammar.changes, |smaller| {
                self.judge(smaller).is_ok_and(|verdict| verdict.is_some_and(|text| !text.is_empty()))
            });
            let text = self.judge(&small)?.unwrap_or_default();
            count.differing += 1;
            if !seen.insert(text.clone()) {
                continue;
            }
            count.differences.push(format!("{small}\n{text}\n  seed {seed} of {}", self.grammar.name));
            if count.differences.len() >= differences_max {
                break;
            }
        }
        Ok(count)
    }

    /// `None` if the utility declines; otherwise what differs, which is hopefully nothing.
    fn judge(&mut self, case: &Case) -> io::Result<Option<String>> {
        let run = |bench: &mut Self, mine: bool| bench.observe(case, mine);
        let Some(mine) = run(self, true)? else { return Ok(None) };
        let Some(theirs) = run(self, false)? else { return Ok(None) };
        if mine == theirs {
            return Ok(Some(String::new()));
        }
        Ok(Some(format!("  ours: {mine}\n  GNU:  {theirs}{}", mine.tree_difference(&theirs))))
    }

    fn observe(&mut self, case: &Case, mine: bool) -> io::Result<Option<Observed>> {
        // Messages may name the folder: both run in one of the same name.
        let root = self.folder.join("tree");
        if self.grammar.changes || !self.built {
            let _ = fs::remove_dir_all(&root);
            tree::build(&root, !self.grammar.changes)?;
            self.built = true;
        }
        let stdin = self.stdin(case)?;
        let result = if mine {
            let run = || ours::run(case, &root, &stdin);
            match catch_unwind(AssertUnwindSafe(run)) {
                Ok(None) => return Ok(None),
                Ok(Some(observed)) => observed,
                Err(_) => Observed {
                    output: b"panicked".to_vec(),
                    errors: Vec::new(),
                    status: -1,
                    offset: None,
                    tree: Vec::new(),
                },
            }
        } else {
            match peer::run(case, &root, &stdin, &self.sinks)? {
                None => return Ok(None),
                Some(observed) => observed,
            }
        };
        let mut result = result;
        if self.grammar.changes {
            result.tree = tree::describe(&root);
        }
        // Where a file is left is a promise of those that succeed (and `tail` goes wherever it likes).
        if case.stdin != Stdin::Pipe && result.status == 0 && self.grammar.name != "tail" {
            result.offset = Some((&stdin).stream_position()?);
        }
        Ok(Some(result))
    }

    fn stdin(&self, case: &Case) -> io::Result<File> {
        if case.stdin == Stdin::Pipe {
            let (reader, mut writer) = io::pipe()?;
            writer.write_all(&case.input)?;
            return Ok(std::os::fd::OwnedFd::from(reader).into());
        }
        let path = self.folder.join("input");
        let mut file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
        file.write_all(&case.input)?;
        let start = if let Stdin::FileAt(offset) = case.stdin { offset } else { 0 };
        file.seek(SeekFrom::Start(start))?;
        Ok(file)
    }
}
