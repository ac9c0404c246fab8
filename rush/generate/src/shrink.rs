//! Makes a case that differs smaller while it still differs.

use crate::case::{Case, Locale, Stdin};

/// How many smaller cases are tried.
const TRIES_MAX: usize = 400;

/// The smallest case found for which `differs` holds. Words of utilities that change files are dropped but never cut:
/// a part of a name may be another's.
pub(crate) fn shrink(case: &Case, changes: bool, mut differs: impl FnMut(&Case) -> bool) -> Case {
    let mut best = case.clone();
    let mut tries = 0;
    loop {
        let smaller = candidates(&best, changes).into_iter().find(|candidate| {
            tries += 1;
            tries <= TRIES_MAX && differs(candidate)
        });
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// Cases one step smaller, the boldest first.
fn candidates(case: &Case, changes: bool) -> Vec<Case> {
    let mut out = Vec::new();
    let with = |change: &dyn Fn(&mut Case)| {
        let mut smaller = case.clone();
        change(&mut smaller);
        smaller
    };
    if case.full {
        out.push(with(&|c| c.full = false));
    }
    if !case.input.is_empty() {
        out.push(with(&|c| c.input.clear()));
    }
    if case.stdin != Stdin::Pipe {
        out.push(with(&|c| c.stdin = Stdin::Pipe));
    }
    if let Stdin::FileAt(offset) = case.stdin
        && offset > 0
    {
        out.push(with(&|c| c.stdin = Stdin::File));
        out.push(with(&|c| c.stdin = Stdin::FileAt(offset / 2)));
    }
    if case.locale == Locale::LangUtf8 {
        out.push(with(&|c| c.locale = Locale::Utf8));
    }
    if matches!(case.locale, Locale::Utf8 | Locale::Unset) {
        out.push(with(&|c| c.locale = Locale::C));
    }
    out.extend((1..case.args.len()).map(|at| with(&|c| _ = c.args.remove(at))));
    let lines: Vec<&[u8]> = case.input.split_inclusive(|b| *b == b'\n').collect();
    if lines.len() > 1 {
        out.push(with(&|c| c.input = lines[..lines.len() / 2].concat()));
        out.push(with(&|c| c.input = lines[lines.len() / 2..].concat()));
        out.extend(
            (0..lines.len())
                .map(|at| with(&|c| c.input = [&lines[..at], &lines[at + 1..]].concat().concat())),
        );
    }
    if !changes {
        for (index, word) in case.args.iter().enumerate().skip(1) {
            out.extend((0..word.len()).map(|at| with(&|c| _ = c.args[index].remove(at))));
        }
    }
    out.extend((0..case.input.len().min(200)).map(|at| with(&|c| _ = c.input.remove(at))));
    out
}
