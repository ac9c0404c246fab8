//! What completion puts into the line: the common beginning of the candidates, quoted where they are names of files, and what follows
//! a whole word. As readline and bash do it, down to which quote is used. The line is not changed here.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::LineCompletion;
use crate::{Bytes, Session};

/// The characters whose presence makes a file's name be quoted (readline's `rl_filename_quote_characters`).
const ASK_FOR_QUOTES: &[u8] = b" \t\n\\\"'@<>=;|&()#$`?*[!:{~";

/// The characters that get a backslash in it.
const WITH_BACKSLASH: &[u8] = b" \t!\"$&'()*,;<>?[\\]^`{|}:=@";

/// A change of the line: what stands in `start..end` becomes `text`, and the cursor stands behind it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Insertion {
    /// Where the change begins.
    pub start: usize,
    /// Where what is replaced ends.
    pub end: usize,
    /// What comes there.
    pub text: Bytes,
}

impl LineCompletion {
    /// What all candidates begin with.
    #[must_use]
    pub fn common(&self) -> Bytes {
        let Some((first, rest)) = self.candidates.split_first() else { return Bytes::new() };
        let mut length = first.len();
        for candidate in rest {
            let same = first
                .iter()
                .zip(candidate)
                .take_while(|(a, b)| a == b || self.folds_case && a.eq_ignore_ascii_case(b));
            length = length.min(same.count());
        }
        while length < first.len() && first.get(length).is_some_and(|byte| byte & 0xc0 == 0x80) {
            length -= 1;
        }
        first.get(..length).unwrap_or(first).to_vec()
    }

    /// `text`, a candidate or the beginning of several, in the word's place.
    #[must_use]
    pub fn beginning(&self, line: &[u8], point: usize, text: &[u8]) -> Insertion {
        self.replacement(line, point, text, false).0
    }

    /// `text`, a candidate or the beginning of several, as it is put in the word's place, and the quote it is in then.
    fn replacement(&self, line: &[u8], point: usize, text: &[u8], single: bool) -> (Insertion, Option<u8>) {
        let mut quote = self.quote;
        let asks = self.files && !self.no_quote && text.iter().any(|byte| ASK_FOR_QUOTES.contains(byte));
        // A tilde that was typed stands for a folder.
        let tilde = text.starts_with(b"~") && line.get(self.start) != Some(&b'~');
        let replacement = if asks { quoted(text, &mut quote, single, tilde) } else { text.to_vec() };
        let (mut start, mut end) = (self.start, point);
        let before = start.checked_sub(1).and_then(|at| line.get(at)).copied();
        let begins = replacement.first().copied();
        if before.is_some() && before == self.quote && (begins == self.quote || quote != self.quote) {
            start -= 1;
        }
        if quote.is_some() && line.get(end).copied() == quote && replacement.last().copied() == quote {
            end += 1;
        }
        (Insertion { start, end, text: replacement }, quote)
    }
}

/// A file's name in the quote that is open, or with backslashes, or in single quotes if it holds a line break. The quote is left open
/// where the name is only the beginning of several.
fn quoted(text: &[u8], quote: &mut Option<u8>, single: bool, tilde: bool) -> Bytes {
    if quote.is_none() && text.contains(&b'\n') {
        *quote = Some(b'\'');
    }
    // In double quotes a `!` would be the history's.
    if *quote == Some(b'"') && text.contains(&b'!') {
        *quote = None;
    }
    let mut out = Bytes::with_capacity(text.len() + 4);
    out.extend(*quote);
    if tilde && quote.is_none() {
        out.push(b'\\');
    }
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        match *quote {
            Some(b'\'') if byte == b'\'' => out.extend_from_slice(b"'\\''"),
            Some(b'\'') => out.push(byte),
            Some(_) => {
                if matches!(byte, b'"' | b'\\' | b'`' | b'$') {
                    out.push(b'\\');
                }
                out.push(byte);
            }
            None => {
                if WITH_BACKSLASH.contains(&byte) || byte == b'#' && rest.len() == text.len() {
                    out.push(b'\\');
                }
                out.push(byte);
            }
        }
        rest = after;
    }
    if single {
        out.extend(*quote);
    }
    out
}

impl Session {
    /// What Tab changes: the common beginning of all candidates, or the only one with what follows a word. `None` if there is nothing
    /// to put in the word's place.
    pub fn completion_insertion(
        &mut self,
        found: &LineCompletion,
        line: &[u8],
        point: usize,
    ) -> Option<Insertion> {
        if let [only] = &found.candidates[..] {
            return Some(self.candidate_insertion(found, line, point, only));
        }
        let common = found.common();
        (!common.is_empty()).then(|| found.beginning(line, point, &common))
    }

    /// One candidate, with the closing quote, the slash of a folder or the blank that follows it.
    pub fn candidate_insertion(
        &mut self,
        found: &LineCompletion,
        line: &[u8],
        point: usize,
        candidate: &[u8],
    ) -> Insertion {
        let (mut insertion, quote) = found.replacement(line, point, candidate, true);
        let changes = line.get(found.start..point) != Some(candidate);
        let end_of_line = insertion.end >= line.len();
        let next = line.get(insertion.end).copied();
        match found.files.then(|| self.kind_of_candidate(candidate, changes)) {
            Some(Kind::Directory) => {
                let ends = insertion.text.last() == Some(&b'/') && next.is_none();
                if !ends && next != Some(b'/') && self.bindings().is_on("mark-directories") {
                    insertion.text.push(b'/');
                }
            }
            Some(Kind::LinkToDirectory) => {}
            _ if end_of_line => {
                if insertion.text.last().copied() != quote {
                    insertion.text.extend(quote);
                }
                insertion.text.extend(found.append);
            }
            _ => {}
        }
        insertion
    }

    /// Whether a candidate, which may begin with a tilde, is a folder.
    fn kind_of_candidate(&mut self, candidate: &[u8], changes: bool) -> Kind {
        let home = self.get(b"HOME").map(|value| value.into_owned());
        let path = match (candidate.strip_prefix(b"~/"), home) {
            (Some(rest), Some(home)) => [&home[..], b"/", rest].concat(),
            _ => candidate.to_vec(),
        };
        let path = Path::new(std::ffi::OsStr::from_bytes(&path));
        let follows = !changes || self.bindings().is_on("mark-symlinked-directories");
        match (path.is_dir(), follows || !path.is_symlink()) {
            (true, true) => Kind::Directory,
            (true, false) => Kind::LinkToDirectory,
            _ => Kind::Other,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Directory,
    LinkToDirectory,
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a name becomes; `word` is what has been typed of it.
    fn check(word: &str, name: &str, files: bool, expect: &str) {
        let line = format!("x {word}");
        let quote = word.bytes().next().filter(|byte| matches!(byte, b'\'' | b'"'));
        let start = 2 + usize::from(quote.is_some());
        let found = LineCompletion { start, quote, files, ..LineCompletion::default() };
        let (insertion, _) = found.replacement(line.as_bytes(), line.len(), name.as_bytes(), true);
        let mut text = line.into_bytes();
        text.splice(insertion.start..insertion.end, insertion.text);
        assert_eq!(String::from_utf8_lossy(&text), format!("x {expect}"), "{word} to {name}");
    }

    // The expected texts are bash 5.2's.
    #[test]
    fn names_of_files_are_quoted_and_others_are_not() {
        check("feat", "feat/one ", false, "feat/one ");
        check("b", "b c,d}^%]~+#-:=@", true, "b\\ c\\,d\\}\\^%\\]~+#-\\:\\=\\@");
        check("i", "i u~#v", true, "i\\ u~#v");
        check("p", "p,b", true, "p,b");
        check("\\#", "#n", true, "\\#n");
        check("\\~", "~ w", true, "\\~\\ w");
        check("\"b", "b c,d}", true, "\"b c,d}\"");
        check("'D", "D'b", true, "'D'\\''b'");
        check("\"C", "C$b", true, "\"C\\$b\"");
        check("\"x", "x!b", true, "x\\!b");
        check("A", "A\nb", true, "'A\nb'");
        check("'b", "b", true, "'b");
    }

    #[test]
    fn what_candidates_begin_with() {
        let found = |names: &[&str], folds_case| LineCompletion {
            candidates: names.iter().map(|name| name.as_bytes().to_vec()).collect(),
            folds_case,
            ..LineCompletion::default()
        };
        assert_eq!(found(&["abc", "abd"], false).common(), b"ab");
        assert_eq!(found(&["abc", "Abd"], false).common(), b"");
        assert_eq!(found(&["abc", "Abd"], true).common(), b"ab");
        assert_eq!(found(&["é", "è"], false).common(), b"");
    }
}
