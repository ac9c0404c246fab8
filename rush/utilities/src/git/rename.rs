//! Which removed file a new one was: by name of the object, by its own name, by similarity, in git's order and with its
//! figures.

use std::collections::{HashMap, HashSet};

use super::change::{Change, Kind};
use super::index::{MODE_FILE, MODE_TYPE};
use super::objects::{self, Objects};
use super::oid::Oid;
use super::{Attempt, Decline};
use crate::basename::base_name;
use crate::limits::GIT_RENAMES_MAX;

/// The score of identical content.
const SCORE_MAX: u64 = 60_000;
/// The score from which two files are one renamed file.
const SCORE_MIN: u64 = SCORE_MAX / 2;
/// The same for files of one name that no others have.
const SAME_NAME_SCORE_MIN: u64 = SCORE_MIN + (SCORE_MAX - SCORE_MIN) / 2;
/// Sources that are kept for a new file.
const CANDIDATES: usize = 4;
/// Bytes after which a stretch ends if no line does.
const STRETCH_BYTES: usize = 64;
/// Stretches are told apart by their hash modulo this.
const STRETCH_HASHES: u32 = 107_927;

/// How often which stretches of bytes are in a file.
type Stretches = HashMap<u32, u64>;

/// A removed or a new file.
struct Side<'c> {
    path: &'c [u8],
    mode: u32,
    id: Oid,
}

struct Search<'o> {
    objects: &'o Objects<'o>,
    old: Vec<Side<'o>>,
    new: Vec<Side<'o>>,
    /// For each new file the removed one that it was, and the score.
    found: Vec<Option<(usize, u64)>>,
    used: HashSet<usize>,
    content: HashMap<Oid, (u64, Stretches)>,
}

/// Joins removed and new files that are one renamed file.
pub(crate) fn detect(objects: &Objects<'_>, changes: Vec<Change>) -> Attempt<Vec<Change>> {
    let of_kind = |kind: Kind| changes.iter().filter(move |change| change.kind == kind);
    let old: Vec<Side<'_>> = of_kind(Kind::Deleted)
        .map(|change| Side { path: &change.path, mode: change.old.0, id: change.old.1 })
        .collect();
    let new: Vec<Side<'_>> = of_kind(Kind::Added)
        .map(|change| Side { path: &change.path, mode: change.new.0, id: change.new.1 })
        .collect();
    if old.is_empty() || new.is_empty() {
        return Ok(changes);
    }
    if old.len().max(new.len()) > GIT_RENAMES_MAX {
        return Err(Decline);
    }
    let found = vec![None; new.len()];
    let mut search = Search { objects, old, new, found, used: HashSet::new(), content: HashMap::new() };
    search.identical();
    search.of_one_name()?;
    search.similar()?;
    Ok(search.joined(&changes))
}

impl Search<'_> {
    fn join(&mut self, new: usize, old: usize, score: u64) {
        if let Some(found) = self.found.get_mut(new) {
            *found = Some((old, score));
            self.used.insert(old);
        }
    }

    /// The new files without a source yet, and the removed files that are no source yet.
    fn left(&self) -> (Vec<usize>, Vec<usize>) {
        let new = self.found.iter().enumerate().filter(|(_, found)| found.is_none()).map(|(at, _)| at);
        (new.collect(), (0..self.old.len()).filter(|at| !self.used.contains(at)).collect())
    }

    fn identical(&mut self) {
        for at in 0..self.new.len() {
            let Some(new) = self.new.get(at) else { continue };
            let candidates = self.old.iter().enumerate().filter(|(index, old)| {
                let files = is_file(old.mode) && is_file(new.mode);
                old.id == new.id && !self.used.contains(index) && (files || old.mode == new.mode)
            });
            let candidates: Vec<(usize, bool)> =
                candidates.map(|(index, old)| (index, base_name(old.path) == base_name(new.path))).collect();
            let best = candidates.iter().find(|(_, same)| *same).or(candidates.first());
            if let Some((old, _)) = best {
                self.join(at, *old, SCORE_MAX);
            }
        }
    }

    /// Files whose last part of the name no other file has on their side.
    fn of_one_name(&mut self) -> Attempt<()> {
        let (new, old) = self.left();
        let only = |sides: &[Side<'_>], left: &[usize]| {
            let mut names: HashMap<Vec<u8>, Option<usize>> = HashMap::new();
            for &at in left {
                let Some(side) = sides.get(at) else { continue };
                let name = base_name(side.path).to_vec();
                names.entry(name).and_modify(|only| *only = None).or_insert(Some(at));
            }
            names
        };
        let (new_names, old_names) = (only(&self.new, &new), only(&self.old, &old));
        for at in old {
            let name = self.old.get(at).map(|old| base_name(old.path)).unwrap_or_default();
            if let (Some(Some(_)), Some(Some(new))) = (old_names.get(name), new_names.get(name)) {
                let score = self.similarity(at, *new, SAME_NAME_SCORE_MIN)?;
                if score >= SAME_NAME_SCORE_MIN {
                    self.join(*new, at, score);
                }
            }
        }
        Ok(())
    }

    fn similar(&mut self) -> Attempt<()> {
        let (new, old) = self.left();
        // The best candidates of each new file: score, whether the names are the same, new, old.
        let mut all: Vec<(u64, bool, usize, usize)> = Vec::new();
        for &at in &new {
            let mut best: Vec<(u64, bool, usize, usize)> = Vec::with_capacity(CANDIDATES + 1);
            for &from in &old {
                let score = self.similarity(from, at, SCORE_MIN)?;
                let name =
                    |sides: &[Side<'_>], at: usize| sides.get(at).map(|side| base_name(side.path).to_vec());
                let candidate = (score, name(&self.old, from) == name(&self.new, at), at, from);
                if best.len() < CANDIDATES {
                    best.push(candidate);
                } else {
                    let rank = |c: &(u64, bool, usize, usize)| (c.0, c.1);
                    // The first of the worst gives way.
                    let worst = (0..best.len()).min_by_key(|i| best.get(*i).map(rank));
                    if let Some(worst) =
                        worst.and_then(|i| best.get_mut(i)).filter(|w| rank(w) < rank(&candidate))
                    {
                        *worst = candidate;
                    }
                }
            }
            all.extend(best);
        }
        all.sort_by_key(|(score, same, _, _)| std::cmp::Reverse((*score, *same)));
        for (score, _, new, old) in all {
            let free = self.found.get(new).is_some_and(Option::is_none) && !self.used.contains(&old);
            if free && score >= SCORE_MIN {
                self.join(new, old, score);
            }
        }
        Ok(())
    }

    /// How much of the larger file both have, at least if that is `least` or more.
    fn similarity(&mut self, old: usize, new: usize, least: u64) -> Attempt<u64> {
        let (old, new) = (self.old.get(old).ok_or(Decline)?, self.new.get(new).ok_or(Decline)?);
        if !is_file(old.mode) || !is_file(new.mode) {
            return Ok(0);
        }
        for id in [old.id, new.id] {
            if !self.content.contains_key(&id) {
                let content = self.objects.expect(&id, objects::Kind::Blob)?;
                self.content.insert(id, (content.len() as u64, stretches(&content)?));
            }
        }
        let (old_size, old) = self.content.get(&old.id).ok_or(Decline)?;
        let (new_size, new) = self.content.get(&new.id).ok_or(Decline)?;
        let larger = *old_size.max(new_size);
        let difference = old_size.abs_diff(*new_size);
        if larger * (SCORE_MAX - least) < difference * SCORE_MAX || *new_size == 0 {
            return Ok(0);
        }
        let common: u64 = old.iter().map(|(hash, count)| *count.min(new.get(hash).unwrap_or(&0))).sum();
        Ok(common * SCORE_MAX / larger)
    }

    fn joined(self, changes: &[Change]) -> Vec<Change> {
        let gone: HashSet<&[u8]> =
            self.used.iter().filter_map(|at| self.old.get(*at)).map(|old| old.path).collect();
        let mut origins: HashMap<&[u8], (&Side<'_>, u64)> = HashMap::new();
        for (new, found) in self.new.iter().zip(&self.found) {
            if let Some((old, score)) = found.and_then(|(old, score)| Some((self.old.get(old)?, score))) {
                origins.insert(new.path, (old, score));
            }
        }
        let kept = changes.iter().filter(|c| c.kind != Kind::Deleted || !gone.contains(c.path.as_slice()));
        let joined = kept.map(|change| match origins.get(change.path.as_slice()) {
            Some((old, score)) if change.kind == Kind::Added => Change {
                kind: Kind::Renamed,
                from: Some(old.path.to_vec()),
                old: (old.mode, old.id),
                score: (score * 100 / SCORE_MAX) as u32,
                ..change.clone()
            },
            _ => change.clone(),
        });
        joined.collect()
    }
}

fn is_file(mode: u32) -> bool {
    mode & MODE_TYPE == MODE_FILE
}

/// Counts the bytes of equal stretches: lines, or 64 bytes of longer ones. What releases of git count differently (a last
/// stretch without an end) or by attributes (carriage returns) declines.
fn stretches(content: &[u8]) -> Attempt<Stretches> {
    let mut counts = Stretches::new();
    let (mut low, mut high, mut length) = (0u32, 0u32, 0usize);
    for &byte in content {
        if byte == b'\r' {
            return Err(Decline);
        }
        let before = low;
        low = (low << 7) ^ (high >> 25);
        high = (high << 7) ^ (before >> 25);
        low = low.wrapping_add(u32::from(byte));
        length += 1;
        if length >= STRETCH_BYTES || byte == b'\n' {
            let hash = low.wrapping_add(high.wrapping_mul(0x61)) % STRETCH_HASHES;
            *counts.entry(hash).or_default() += length as u64;
            (low, high, length) = (0, 0, 0);
        }
    }
    if length > 0 { Err(Decline) } else { Ok(counts) }
}
