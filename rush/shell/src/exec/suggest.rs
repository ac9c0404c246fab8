//! "Did you mean": the command whose name is nearest to one that was not found. Only at a terminal; scripts see bash's message.

use crate::{Bytes, Session};

/// A name this far away is another word.
const DISTANCE_MAX: usize = 2;

impl Session {
    /// After `name` was not found: says which command it may have been.
    pub(crate) fn suggest_command(&mut self, name: &[u8]) {
        // One letter is near to everything.
        if self.terminal.is_none() || name.len() < 3 {
            return;
        }
        let mut names: Vec<Bytes> = crate::builtins::BUILTINS.iter().map(|b| b.name.into()).collect();
        names.extend(self.functions.keys().cloned());
        names.extend(self.aliases.keys().cloned());
        names.extend(self.program_names());
        let near = names.into_iter().filter(|known| known.len().abs_diff(name.len()) <= DISTANCE_MAX);
        let nearest = near.map(|known| (distance(name, &known), known)).min();
        if let Some((away, known)) = nearest
            && away <= DISTANCE_MAX.min(name.len() / 3)
        {
            let line = [b"did you mean `", &known[..], b"'?\n"].concat();
            self.write_err(&line);
        }
    }

    fn program_names(&mut self) -> Vec<Bytes> {
        use std::os::unix::ffi::{OsStrExt, OsStringExt};
        let path = self.get(b"PATH").map(|value| value.into_owned()).unwrap_or_default();
        let folders = path.split(|byte| *byte == b':').filter(|folder| !folder.is_empty());
        let entries =
            folders.filter_map(|folder| std::fs::read_dir(std::ffi::OsStr::from_bytes(folder)).ok());
        entries.flatten().flatten().map(|entry| entry.file_name().into_vec()).collect()
    }
}

/// The number of letters to insert, remove, replace or exchange with the next one (optimal string alignment).
pub(crate) fn distance(left: &[u8], right: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let mut best = (row[j] + usize::from(a != b)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                best = best.min(before[j - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn an_exchange_is_one_step() {
        assert_eq!(distance(b"ehco", b"echo"), 1);
        assert_eq!(distance(b"gti", b"git"), 1);
        assert_eq!(distance(b"", b"ab"), 2);
        assert_eq!(distance(b"same", b"same"), 0);
    }
}
