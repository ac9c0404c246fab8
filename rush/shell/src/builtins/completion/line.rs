//! Completion of a command line: which command and word the cursor is in, which specification applies, and the candidates as
//! text to put in the word's place.

use super::{Specification, actions, generate};
use crate::builtins::completion::compgen;
use crate::{Bytes, Session};

/// What can stand in the place of the word at the cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineCompletion {
    /// Where the word begins.
    pub start: usize,
    /// The candidates, not quoted.
    pub candidates: Vec<Bytes>,
    /// Whether they name files, so that directories get a slash.
    pub files: bool,
    /// Whether no blank follows a candidate.
    pub no_space: bool,
    /// The quote that the word is in.
    pub quote: Option<u8>,
}

/// A word of the line: where it begins, its text without quotes, and the quote that it ends in.
#[derive(Debug, Clone, Default)]
struct LineWord {
    start: usize,
    end: usize,
    text: Bytes,
    quote: Option<u8>,
}

/// The simple command that ends at the cursor.
#[derive(Debug, Default)]
struct CommandLine {
    /// Its words; the last is at the cursor and may be empty.
    words: Vec<LineWord>,
    /// Whether the last word is a redirection's file.
    redirected: bool,
}

impl Session {
    /// The completion of `line` at the byte `point`.
    pub fn complete_line(&mut self, line: &[u8], point: usize) -> LineCompletion {
        let command = scan(line.get(..point).unwrap_or(line));
        let Some(word) = command.words.last().cloned() else { return LineCompletion::default() };
        let word = self.after_breaks(line, word);
        let mut found = LineCompletion { start: word.start, quote: word.quote, ..LineCompletion::default() };
        if word.text.starts_with(b"$") && word.quote != Some(b'\'') {
            found.candidates = self.complete_variable(&word.text);
            found.no_space = true;
            return found;
        }
        let first = command.words.iter().position(|word| !is_assignment(&word.text));
        let at_command = first == Some(command.words.len() - 1) && !command.redirected;
        if command.redirected || first.is_none() || at_command && word.text.contains(&b'/') {
            self.complete_file(&word.text, &mut found);
        } else if at_command {
            found.candidates = actions::candidates(self, "command", &word.text);
        } else {
            let words = command.words.get(first.unwrap_or(0)..).unwrap_or_default();
            self.complete_argument(line, point, words, &mut found);
        }
        found.candidates.sort();
        found.candidates.dedup();
        found
    }

    fn complete_variable(&mut self, word: &[u8]) -> Vec<Bytes> {
        let (open, close) =
            if word.starts_with(b"${") { (&b"${"[..], &b"}"[..]) } else { (&b"$"[..], &b""[..]) };
        let names = actions::candidates(self, "variable", word.get(open.len()..).unwrap_or_default());
        names.into_iter().map(|name| [open, &name, close].concat()).collect()
    }

    /// Files; a leading tilde stays as it was typed.
    fn complete_file(&mut self, word: &[u8], found: &mut LineCompletion) {
        found.files = true;
        let home = self.get(b"HOME").map(|value| value.into_owned()).filter(|home| !home.is_empty());
        match (home, word.strip_prefix(b"~/")) {
            (Some(home), Some(rest)) if found.quote.is_none() => {
                let names = actions::candidates(self, "file", &[&home[..], b"/", rest].concat());
                let shorten = |name: Bytes| [b"~", name.get(home.len()..).unwrap_or_default()].concat();
                found.candidates = names.into_iter().map(shorten).collect();
            }
            _ => found.candidates = actions::candidates(self, "file", word),
        }
    }

    fn specification(&self, command: &[u8]) -> Option<(Specification, bool)> {
        let completions = &self.builtin_state.completions;
        let base = command.rsplit(|byte| *byte == b'/').next().unwrap_or(command);
        let own = completions.commands.get(command).or_else(|| completions.commands.get(base));
        own.map(|s| (s.clone(), false)).or_else(|| completions.default.clone().map(|s| (s, true)))
    }

    fn complete_argument(
        &mut self,
        line: &[u8],
        point: usize,
        words: &[LineWord],
        found: &mut LineCompletion,
    ) {
        let text = |back: usize| {
            words
                .len()
                .checked_sub(back)
                .and_then(|at| words.get(at))
                .map(|w| w.text.clone())
                .unwrap_or_default()
        };
        let (command, word, previous) = (text(words.len()), text(1), text(2));
        let Some((mut specification, mut default)) = self.specification(&command) else {
            return self.complete_file(&word, found);
        };
        self.describe_line(line, point, words);
        let (word, previous) = self.current_words(line, words).unwrap_or((word, previous));
        // A default function that loads the command's own says 124: once more.
        for _ in 0..2 {
            self.builtin_state.completing = Some(specification.options.clone());
            let status = self.status;
            let generated = generate(self, &specification, &command, &word, &previous);
            let retry = std::mem::replace(&mut self.status, status) == compgen::STATUS_RETRY;
            if let Some(options) = self.builtin_state.completing.take() {
                specification.options = options;
            }
            found.candidates = generated.unwrap_or_default();
            match self.specification(&command) {
                Some((own, own_is_default)) if retry && default && !own_is_default => {
                    (specification, default) = (own, own_is_default);
                }
                _ => break,
            }
        }
        let has = |name: &str| specification.options.contains(&name);
        found.no_space = has("nospace");
        found.files = has("filenames")
            || specification.actions.iter().any(|action| matches!(*action, "file" | "directory"));
        if found.candidates.is_empty() && (has("default") || has("bashdefault")) {
            self.complete_file(&word, found);
        } else if found.candidates.is_empty() && has("dirnames") || has("plusdirs") {
            found.files = true;
            found.candidates.extend(actions::candidates(self, "directory", &word));
        }
    }

    /// The characters that end words for completion: `COMP_WORDBREAKS` without blanks and quotes, which the shell's own words end at.
    fn word_breaks(&mut self) -> Bytes {
        let mut breaks = self.get(b"COMP_WORDBREAKS").map(|value| value.into_owned()).unwrap_or_default();
        breaks.retain(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'"' | b'\'' | b'\\'));
        breaks
    }

    /// The part of `word` behind its last word break, which is what is completed.
    fn after_breaks(&mut self, line: &[u8], word: LineWord) -> LineWord {
        let breaks = self.word_breaks();
        let mut parts = pieces(line, &word, &breaks);
        match parts.pop() {
            Some(last) if last.end == word.end && !is_break(line, &last, &breaks) => last,
            Some(_) => LineWord { start: word.end, end: word.end, ..LineWord::default() },
            None => word,
        }
    }

    /// The word at the cursor and the one before it, as `COMP_WORDBREAKS` cuts them.
    fn current_words(&mut self, line: &[u8], words: &[LineWord]) -> Option<(Bytes, Bytes)> {
        let breaks = self.word_breaks();
        let parts: Vec<LineWord> = words.iter().flat_map(|word| pieces(line, word, &breaks)).collect();
        let last = parts.last()?;
        let previous = parts.len().checked_sub(2).and_then(|at| parts.get(at));
        let previous = previous.and_then(|word| line.get(word.start..word.end)).unwrap_or_default().to_vec();
        // Behind a break nothing has been typed yet.
        let word = if is_break(line, last, &breaks) { Bytes::new() } else { last.text.clone() };
        Some((word, previous))
    }

    /// The variables that completion functions read. The words stand there as they were typed.
    fn describe_line(&mut self, line: &[u8], point: usize, words: &[LineWord]) {
        let start = words.first().map_or(0, |word| word.start);
        let breaks = self.word_breaks();
        let parts: Vec<Bytes> = words
            .iter()
            .flat_map(|word| pieces(line, word, &breaks))
            .map(|part| line.get(part.start..part.end).unwrap_or_default().to_vec())
            .collect();
        let _ = self.set(b"COMP_LINE", line.get(start..).unwrap_or_default().to_vec());
        let _ = self.set(b"COMP_POINT", point.saturating_sub(start).to_string().into_bytes());
        let _ = self.set(b"COMP_CWORD", parts.len().saturating_sub(1).to_string().into_bytes());
        let _ = self.set_array(b"COMP_WORDS", parts);
        let _ = self.set(b"COMP_TYPE", b"9".to_vec());
        let _ = self.set(b"COMP_KEY", b"9".to_vec());
    }
}

/// Whether a piece is a run of word breaks.
fn is_break(line: &[u8], piece: &LineWord, breaks: &[u8]) -> bool {
    line.get(piece.start).is_some_and(|byte| piece.end > piece.start && breaks.contains(byte))
}

/// The parts of a word: runs of word breaks outside quotes, and what is between them.
fn pieces(line: &[u8], word: &LineWord, breaks: &[u8]) -> Vec<LineWord> {
    let mut parts = Vec::new();
    let mut part = LineWord { start: word.start, end: word.start, ..LineWord::default() };
    let (mut at, mut in_breaks) = (word.start, false);
    while at < word.end {
        let Some(&byte) = line.get(at) else { break };
        let breaking = part.quote.is_none() && breaks.contains(&byte);
        if at > part.start && breaking != in_breaks {
            parts.push(std::mem::replace(&mut part, LineWord { start: at, ..LineWord::default() }));
        }
        in_breaks = breaking;
        at += 1;
        match (byte, part.quote) {
            (b'\\', None | Some(b'"')) => {
                part.text.extend(line.get(at).filter(|_| at < word.end));
                at += 1;
            }
            (_, Some(open)) if byte == open => part.quote = None,
            (b'\'' | b'"', None) => part.quote = Some(byte),
            _ => part.text.push(byte),
        }
        part.end = at.min(word.end);
    }
    parts.push(part);
    parts
}

fn is_assignment(word: &[u8]) -> bool {
    word.iter().position(|byte| *byte == b'=').is_some_and(|at| crate::state::names::is_name(&word[..at]))
}

/// Splits the text before the cursor into the words of the command that it ends in.
fn scan(text: &[u8]) -> CommandLine {
    let mut command = CommandLine::default();
    let mut word = LineWord::default();
    let mut begun = false;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if !begun {
            word.start = at;
        }
        at += 1;
        match (byte, word.quote) {
            (b'\\', None | Some(b'"')) => {
                word.text.extend(text.get(at));
                at += 1;
                begun = true;
            }
            (_, Some(open)) if byte == open => word.quote = None,
            (b'\'' | b'"', None) => {
                word.quote = Some(byte);
                begun = true;
            }
            (b' ' | b'\t', None) => {
                if begun {
                    let mut ended = std::mem::take(&mut word);
                    ended.end = at - 1;
                    // A redirection's file is no argument.
                    if !std::mem::take(&mut command.redirected) {
                        command.words.push(ended);
                    }
                }
                begun = false;
            }
            (b';' | b'|' | b'&' | b'(' | b')' | b'\n' | b'`', None) => {
                command = CommandLine::default();
                word = LineWord::default();
                begun = false;
            }
            (b'<' | b'>', None) => {
                if begun && !word.text.iter().all(u8::is_ascii_digit) {
                    word.end = at - 1;
                    command.words.push(std::mem::take(&mut word));
                }
                word = LineWord::default();
                begun = false;
                command.redirected = true;
            }
            _ => {
                word.text.push(byte);
                begun = true;
            }
        }
    }
    if !begun {
        word = LineWord { start: text.len(), ..LineWord::default() };
    }
    word.end = text.len();
    command.words.push(word);
    command
}

#[cfg(test)]
mod tests {
    use super::{pieces, scan};

    fn parts(text: &str) -> Vec<String> {
        let command = scan(text.as_bytes());
        let word = command.words.last().expect("a word");
        let parts = pieces(text.as_bytes(), word, b"@><=;|&(:");
        parts.iter().map(|part| String::from_utf8_lossy(&part.text).into_owned()).collect()
    }

    #[test]
    fn words_end_at_breaks() {
        assert_eq!(parts("x --color=al"), ["--color", "=", "al"]);
        assert_eq!(parts("x --color="), ["--color", "="]);
        assert_eq!(parts("x host::dir"), ["host", "::", "dir"]);
        assert_eq!(parts("x 'a:b'c\\:d:e"), ["a:bc:d", ":", "e"]);
        assert_eq!(parts("x "), [""]);
    }

    fn words(text: &str) -> Vec<String> {
        let command = scan(text.as_bytes());
        command.words.iter().map(|word| String::from_utf8_lossy(&word.text).into_owned()).collect()
    }

    #[test]
    fn the_command_at_the_cursor() {
        assert_eq!(words("ls -l; git sta"), ["git", "sta"]);
        assert_eq!(words("a | b 'c d' e\\ f "), ["b", "c d", "e f", ""]);
        assert_eq!(words("x=$(cat fi"), ["cat", "fi"]);
        assert_eq!(words(""), [""]);
        let command = scan(b"sort <in >ou");
        assert!(command.redirected);
        assert_eq!(command.words.last().map(|word| word.start), Some(10));
    }
}
