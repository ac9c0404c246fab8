//! Completion of a command line: which command and word the cursor is in, which specification applies, and the candidates as
//! text to put in the word's place.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Specification, actions, compgen, generate, word};
use crate::builtins::lookup::is_executable_file;
use crate::{Bytes, Session};

/// What can stand in the place of the word at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineCompletion {
    /// Where the word begins, behind the quote that is open.
    pub start: usize,
    /// The candidates, not quoted.
    pub candidates: Vec<Bytes>,
    /// Whether they name files, which are quoted, and of which directories get a slash.
    pub files: bool,
    /// Whether even names of files are not quoted.
    pub no_quote: bool,
    /// What follows a whole word.
    pub append: Option<u8>,
    /// The quote that the word is in.
    pub quote: Option<u8>,
    /// Whether upper and lower case are the same.
    pub folds_case: bool,
}

impl Default for LineCompletion {
    fn default() -> LineCompletion {
        LineCompletion {
            start: 0,
            candidates: Vec::new(),
            files: false,
            no_quote: false,
            append: Some(b' '),
            quote: None,
            folds_case: false,
        }
    }
}

/// A word of the line: its text without quotes, and the quote that it ends in.
#[derive(Debug, Clone, Default)]
struct LineWord {
    text: Bytes,
    quote: Option<u8>,
}

/// The simple command that ends at the cursor.
#[derive(Debug, Default)]
struct CommandLine {
    /// Where it begins.
    start: Option<usize>,
    /// Its words; the last is at the cursor and may be empty.
    words: Vec<LineWord>,
    /// Whether the last word is a redirection's file.
    redirected: bool,
}

/// The word that is completed.
#[derive(Debug)]
struct Current {
    /// As it was typed.
    typed: Bytes,
    /// Without its quotes.
    text: Bytes,
}

impl Session {
    /// The completion of `line` at the byte `point`.
    pub fn complete_line(&mut self, line: &[u8], point: usize) -> LineCompletion {
        let before = line.get(..point).unwrap_or(line);
        let command = scan(before);
        let breaks = self.word_breaks();
        let at = word::at_cursor(before, &breaks);
        let typed = before.get(at.start..).unwrap_or_default().to_vec();
        let current = Current { text: word::dequoted(&typed, at.quote), typed };
        let folds_case = actions::folds_case(self);
        let mut found =
            LineCompletion { start: at.start, quote: at.quote, folds_case, ..LineCompletion::default() };
        let first = command.words.iter().position(|word| !is_assignment(&word.text));
        let at_command = first == Some(command.words.len() - 1);
        let name = first.and_then(|first| command.words.get(first)).map(|word| word.text.clone());
        let mut ordered = false;
        match name.filter(|_| !at_command) {
            Some(name) => {
                ordered = self.complete_argument(line, point, &command, &name, &current, &mut found)
            }
            None if at_command && !command.redirected => {
                let whole = command.words.last().map(|word| word.text.clone()).unwrap_or_default();
                self.complete_command(&current, &whole, &mut found);
            }
            None => self.complete_default(&current, &mut found),
        }
        if !ordered {
            found.candidates.sort();
        }
        let mut seen = std::collections::HashSet::new();
        found.candidates.retain(|candidate| seen.insert(candidate.clone()));
        found
    }

    /// The completion of the word at `point` as one kind of name only: an action of `compgen -A`, or `glob` for the files that
    /// the word matches as a pattern.
    pub fn complete_word(&mut self, line: &[u8], point: usize, action: &str) -> LineCompletion {
        let before = line.get(..point).unwrap_or(line);
        let at = word::at_cursor(before, &self.word_breaks());
        let typed = before.get(at.start..).unwrap_or_default();
        let text = word::dequoted(typed, at.quote);
        let mut found = LineCompletion { start: at.start, quote: at.quote, ..LineCompletion::default() };
        found.folds_case = actions::folds_case(self);
        let mark = match action {
            "variable" => b"${".iter().take_while(|byte| text.contains(byte)).count(),
            "user" => usize::from(text.first() == Some(&b'~')),
            "hostname" => usize::from(text.first() == Some(&b'@')),
            _ => 0,
        };
        let (mark, name) = text.split_at(mark.min(text.len()));
        match action {
            "file" => self.complete_file(name, &mut found),
            "glob" => {
                let star = typed.iter().any(|byte| b"*?[".contains(byte));
                let pattern = if star { typed.to_vec() } else { [typed, b"*"].concat() };
                found.files = true;
                found.candidates = self.match_pathnames(&pattern);
            }
            _ => {
                let names = actions::candidates(self, action, name);
                found.candidates = names.into_iter().map(|name| [mark, &name].concat()).collect();
            }
        }
        found.candidates.sort();
        found.candidates.dedup();
        found
    }

    /// The first word of a command, `whole`, of which only a part may be completed.
    fn complete_command(&mut self, word: &Current, whole: &[u8], found: &mut LineCompletion) {
        let split = word.text.len() < whole.len();
        if split || word.typed.starts_with(b"$") || word.text.starts_with(b"~") || word.text.contains(&b'/') {
            self.complete_default(word, found);
            if found.files && !split {
                found.candidates.retain(|path| is_command_file(path));
            }
            return;
        }
        found.candidates = actions::candidates(self, "command", &word.text);
    }

    /// What is completed without a specification: variables, users, files.
    fn complete_default(&mut self, word: &Current, found: &mut LineCompletion) {
        if word.typed.starts_with(b"$") && found.quote != Some(b'\'') {
            self.complete_variable(&word.typed, found);
        } else if word.typed.starts_with(b"~") && !word.typed.contains(&b'/') && found.quote.is_none() {
            let names = actions::candidates(self, "user", word.text.get(1..).unwrap_or_default());
            found.candidates = names.into_iter().map(|name| [&b"~"[..], &name].concat()).collect();
            found.append = Some(b'/');
        }
        if found.candidates.is_empty() {
            self.complete_file(&word.text, found);
        }
    }

    fn complete_variable(&mut self, word: &[u8], found: &mut LineCompletion) {
        let (open, close) =
            if word.starts_with(b"${") { (&b"${"[..], &b"}"[..]) } else { (&b"$"[..], &b""[..]) };
        let names = actions::candidates(self, "variable", word.get(open.len()..).unwrap_or_default());
        if let [only] = &names[..] {
            let value = self.get(only).map(|value| value.into_owned()).unwrap_or_default();
            if !value.is_empty() && Path::new(OsStr::from_bytes(&value)).is_dir() {
                found.append = Some(b'/');
            }
        }
        found.candidates = names.into_iter().map(|name| [open, &name, close].concat()).collect();
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

    /// The specification of a command, and whether it is that of all commands without one.
    fn specification(&self, command: &[u8]) -> Option<(Specification, bool)> {
        let completions = &self.builtin_state.completions;
        let base = command.rsplit(|byte| *byte == b'/').next().unwrap_or(command);
        let own = completions.commands.get(command).or_else(|| completions.commands.get(base));
        own.map(|s| (s.clone(), false)).or_else(|| completions.default.clone().map(|s| (s, true)))
    }

    /// An argument; whether the candidates are to stay in their order.
    fn complete_argument(
        &mut self,
        line: &[u8],
        point: usize,
        command: &CommandLine,
        name: &[u8],
        word: &Current,
        found: &mut LineCompletion,
    ) -> bool {
        let Some((mut specification, mut default)) = self.specification(name) else {
            self.complete_default(word, found);
            return false;
        };
        // A default function that loads the command's own says 124: once more.
        for _ in 0..2 {
            let previous = self.describe_line(line, point, command);
            self.builtin_state.completing = Some(specification.options.clone());
            let status = self.status;
            let pipeline = self.pipeline_status.clone();
            let generated = generate(self, &specification, name, (&word.typed, &word.text), &previous);
            let retry = std::mem::replace(&mut self.status, status) == compgen::STATUS_RETRY;
            self.pipeline_status = pipeline;
            if let Some(options) = self.builtin_state.completing.take() {
                specification.options = options;
            }
            found.candidates = generated.unwrap_or_default();
            match self.specification(name) {
                Some((own, own_is_default)) if retry && default && !own_is_default => {
                    (specification, default) = (own, own_is_default);
                }
                _ => break,
            }
        }
        self.forget_line();
        let has = |name: &str| specification.options.contains(&name);
        if has("nospace") {
            found.append = None;
        }
        found.no_quote = has("noquote");
        found.files = has("filenames")
            || specification.actions.iter().any(|action| matches!(*action, "file" | "directory"));
        found.files |=
            compgen::add_directories(self, &specification.options, &word.text, &mut found.candidates);
        if found.candidates.is_empty() && (has("default") || has("bashdefault")) {
            self.complete_default(word, found);
        }
        has("nosort")
    }

    /// The characters that end words for completion: `COMP_WORDBREAKS` without blanks and quotes, which words end at anyway.
    fn word_breaks(&mut self) -> Bytes {
        let mut breaks = self.get(b"COMP_WORDBREAKS").map(|value| value.into_owned()).unwrap_or_default();
        breaks.retain(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'"' | b'\'' | b'\\'));
        breaks
    }

    /// The variables that completion functions read, where words stand as they were typed; the word before the current one.
    fn describe_line(&mut self, line: &[u8], point: usize, command: &CommandLine) -> Bytes {
        let start = command.start.unwrap_or(point);
        let end = point + word::command_length(line.get(point..).unwrap_or_default());
        let text = line.get(start..end).unwrap_or_default();
        let breaks = self.word_breaks();
        let (ranges, current) = word::split(text, &breaks, point - start);
        let words: Vec<Bytes> =
            ranges.into_iter().map(|range| text.get(range).unwrap_or_default().to_vec()).collect();
        let previous = current.checked_sub(1).and_then(|at| words.get(at)).cloned().unwrap_or_default();
        let _ = self.set(b"COMP_LINE", text.to_vec());
        let _ = self.set(b"COMP_POINT", (point - start).to_string().into_bytes());
        let _ = self.set(b"COMP_CWORD", current.to_string().into_bytes());
        let _ = self.set_array(b"COMP_WORDS", words);
        let _ = self.set(b"COMP_TYPE", b"9".to_vec());
        let _ = self.set(b"COMP_KEY", b"9".to_vec());
        previous
    }

    /// Those variables are there for completion functions only.
    fn forget_line(&mut self) {
        for name in
            [&b"COMP_LINE"[..], b"COMP_POINT", b"COMP_CWORD", b"COMP_WORDS", b"COMP_TYPE", b"COMP_KEY"]
        {
            let id = self.variables.intern(name);
            self.variables.unset(id, None);
        }
    }
}

/// Whether a path can stand where a command is wanted: a folder on the way, or a program.
fn is_command_file(path: &[u8]) -> bool {
    let tilde = path.starts_with(b"~");
    tilde || Path::new(OsStr::from_bytes(path)).is_dir() || is_executable_file(path)
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
        let start = at;
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
                    let ended = std::mem::take(&mut word);
                    // A redirection's file is no argument.
                    if !std::mem::take(&mut command.redirected) {
                        command.words.push(ended);
                    }
                }
                begun = false;
                continue;
            }
            (b';' | b'|' | b'&' | b'(' | b')' | b'\n' | b'`', None) => {
                command = CommandLine::default();
                word = LineWord::default();
                begun = false;
                continue;
            }
            (b'<' | b'>', None) => {
                if begun && !word.text.iter().all(u8::is_ascii_digit) {
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
        command.start = command.start.or(Some(start));
    }
    command.words.push(word);
    command
}

#[cfg(test)]
mod tests {
    use super::scan;

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
        let command = scan(b"a; sort <in >ou");
        assert!(command.redirected);
        assert_eq!(command.start, Some(3));
        assert_eq!(words("sort <in >ou"), ["sort", "ou"]);
    }
}
