//! How many lines of which files changed: `--stat`, `--shortstat` and `--numstat`.

use super::patch::{compared, is_binary};
use super::{Format, Pair, Printer};
use crate::git::change::Kind;
use crate::git::quote::quoted;
use crate::git::{Attempt, Decline};

/// Columns of the output, where `COLUMNS` says nothing.
const COLUMNS: usize = 80;
/// The least room for the graph, and with that for the names.
const GRAPH_MIN: usize = 6;
const WIDTH_MIN: usize = 16;
/// Columns beside the name, the number and the graph.
const BETWEEN: usize = 6;
/// Columns of `Bin  ->  bytes`.
const BINARY_WORDS: usize = 14;

/// What is counted of a file.
struct Counted {
    name: Vec<u8>,
    binary: bool,
    /// Lines, or bytes of a binary file.
    added: usize,
    removed: usize,
}

impl Printer<'_> {
    /// The counts of all files.
    pub(super) fn stat(&self, pairs: &[Pair<'_>], format: Format, width: Option<usize>) -> Attempt<Vec<u8>> {
        let files = pairs.iter().map(|pair| self.counted(pair)).collect::<Attempt<Vec<_>>>()?;
        Ok(match format {
            _ if files.is_empty() => Vec::new(),
            Format::Numbers => files.iter().flat_map(numbers).collect(),
            Format::ShortStat => summary(&files),
            _ => [graph(&files, width.unwrap_or(COLUMNS))?, summary(&files)].concat(),
        })
    }

    fn counted(&self, pair: &Pair<'_>) -> Attempt<Counted> {
        let name = match &pair.change.from {
            Some(from) => self.both_names(from, &pair.change.path),
            None => quoted(&pair.change.path, self.ascii_only).unwrap_or_else(|| pair.change.path.clone()),
        };
        let (old, new) = (&pair.old, &pair.new);
        let binary = is_binary(&old.content) || is_binary(&new.content);
        let (added, removed) = if old.id == new.id {
            (0, 0)
        } else if binary {
            (new.content.len(), old.content.len())
        } else {
            let [old, new] = compared(&old.content, &new.content)?;
            let count = |changed: &[bool]| changed.iter().filter(|c| **c).count();
            (count(&new.changed), count(&old.changed))
        };
        Ok(Counted { name, binary, added, removed })
    }

    /// `folder/{old => new}/file`.
    fn both_names(&self, old: &[u8], new: &[u8]) -> Vec<u8> {
        let (quoted_old, quoted_new) = (quoted(old, self.ascii_only), quoted(new, self.ascii_only));
        if quoted_old.is_some() || quoted_new.is_some() {
            let old = quoted_old.unwrap_or_else(|| old.to_vec());
            return [&old, &b" => "[..], &quoted_new.unwrap_or_else(|| new.to_vec())].concat();
        }
        let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let prefix = old[..same].iter().rposition(|&b| b == b'/').map_or(0, |slash| slash + 1);
        // The slash that ends the prefix may begin the suffix, too.
        let most = old.len().min(new.len()) - prefix.saturating_sub(1);
        let same = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        let tail = &old[old.len() - same..];
        let suffix = tail.iter().position(|&b| b == b'/').map_or(0, |slash| tail.len() - slash);
        let middle = |name: &'_ [u8]| {
            let end = (name.len() - suffix).max(prefix);
            name[prefix..end].to_vec()
        };
        let joined = [middle(old), b" => ".to_vec(), middle(new)].concat();
        if prefix + suffix == 0 {
            return joined;
        }
        [&old[..prefix], b"{", &joined, b"}", &old[old.len() - suffix..]].concat()
    }

    /// The letter and the names of each file.
    pub(super) fn names(&self, pairs: &[Pair<'_>], letters: bool, null: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let (between, end) = if null { (b'\0', b'\0') } else { (b'\t', b'\n') };
        for Pair { change, .. } in pairs {
            if letters {
                out.push(change.kind.letter());
                if change.kind == Kind::Renamed {
                    out.extend(format!("{:03}", change.score).into_bytes());
                }
                out.push(between);
            }
            let mut name = |name: &[u8], end: u8| {
                match quoted(name, self.ascii_only).filter(|_| !null) {
                    Some(quoted) => out.extend(quoted),
                    None => out.extend_from_slice(name),
                }
                out.push(end);
            };
            if let Some(from) = change.from.as_ref().filter(|_| letters) {
                name(from, between);
            }
            name(&change.path, end);
        }
        out
    }
}

fn numbers(file: &Counted) -> Vec<u8> {
    let counts =
        if file.binary { "-\t-\t".to_owned() } else { format!("{}\t{}\t", file.added, file.removed) };
    [counts.as_bytes(), &file.name, b"\n"].concat()
}

fn summary(files: &[Counted]) -> Vec<u8> {
    let sum = |count: fn(&Counted) -> usize| files.iter().filter(|f| !f.binary).map(count).sum::<usize>();
    let (added, removed) = (sum(|f| f.added), sum(|f| f.removed));
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let mut text = format!(" {} file{} changed", files.len(), plural(files.len()));
    if added > 0 || removed == 0 {
        text += &format!(", {added} insertion{}(+)", plural(added));
    }
    if removed > 0 || added == 0 {
        text += &format!(", {removed} deletion{}(-)", plural(removed));
    }
    text.push('\n');
    text.into_bytes()
}

fn digits(number: usize) -> usize {
    number.to_string().len()
}

/// A line for each file, as wide as `width` allows.
fn graph(files: &[Counted], width: usize) -> Attempt<Vec<u8>> {
    if files.iter().any(|file| !file.name.is_ascii()) {
        return Err(Decline);
    }
    let longest = files.iter().map(|f| f.name.len()).max().unwrap_or_default();
    let (mut most, mut binary, mut number_width) = (0, 0, 0);
    for file in files {
        if file.binary {
            binary = binary.max(BINARY_WORDS + digits(file.added) + digits(file.removed));
            number_width = 3;
        } else {
            most = most.max(file.added + file.removed);
        }
    }
    number_width = number_width.max(digits(most));
    let width = width.max(WIDTH_MIN + BETWEEN + number_width);
    let mut graph = if most + 4 > binary { most } else { binary - 4 };
    let mut names = longest;
    if names + number_width + BETWEEN + graph > width {
        let share = (width * 3 / 8).saturating_sub(number_width + BETWEEN);
        if graph > share {
            graph = share.max(GRAPH_MIN);
        }
        let rest = width - number_width - BETWEEN;
        if names > rest.saturating_sub(graph) {
            names = rest.saturating_sub(graph);
        } else {
            graph = rest - names;
        }
    }
    let mut out = Vec::new();
    for file in files {
        let (dots, name) = fitted(&file.name, names);
        out.push(b' ');
        out.extend([dots, name].concat());
        out.resize(out.len() + names.saturating_sub(dots.len() + name.len()), b' ');
        if file.binary {
            out.extend(format!(" | {:>number_width$}", "Bin").into_bytes());
            if file.added + file.removed > 0 {
                out.extend(format!(" {} -> {} bytes", file.removed, file.added).into_bytes());
            }
        } else {
            let all = file.added + file.removed;
            out.extend(format!(" | {all:number_width$}{}", if all > 0 { " " } else { "" }).into_bytes());
            let (plus, minus) = scaled(file.added, file.removed, graph, most);
            out.resize(out.len() + plus, b'+');
            out.resize(out.len() + minus, b'-');
        }
        out.push(b'\n');
    }
    Ok(out)
}

/// A name that is too long loses its beginning, if possible up to a slash.
fn fitted(name: &[u8], width: usize) -> (&'static [u8], &[u8]) {
    if name.len() <= width {
        return (b"", name);
    }
    let end = &name[name.len() - width.saturating_sub(3)..];
    let slash = memchr::memchr(b'/', end).unwrap_or_default();
    (b"...", &end[slash..])
}

/// How many signs of each kind stand for the lines.
fn scaled(added: usize, removed: usize, graph: usize, most: usize) -> (usize, usize) {
    if graph > most {
        return (added, removed);
    }
    let scale = |count: usize| if count == 0 { 0 } else { 1 + count * (graph - 1) / most };
    let mut total = scale(added + removed);
    if total < 2 && added > 0 && removed > 0 {
        total = 2;
    }
    if added < removed {
        let added = scale(added);
        (added, total - added)
    } else {
        let removed = scale(removed);
        (total - removed, removed)
    }
}
