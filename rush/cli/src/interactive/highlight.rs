//! Colours for the line that is typed: a scan of its words, which looks up commands and files, and the parser's word on errors.

use std::ops::Range;
use std::path::Path;

use pithos_rush_editor::{Span, Style};
use rush::interactive::EntryState;

use super::host::ShellHost;

/// How many words of a line are looked for as files: each costs a system call.
const PATHS_MAX: usize = 64;

/// Words after which another command stands.
const OPENING: [&str; 12] =
    ["if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "coproc", "&&"];
const OTHERS: [&str; 11] = ["for", "case", "select", "function", "in", "fi", "done", "esac", "}", "[[", "]]"];

/// The scan: where it is, and what it has found.
struct Scan<'a, 'h, 's> {
    host: &'h mut ShellHost<'s>,
    line: &'a str,
    at: usize,
    spans: Vec<Span>,
    at_command: bool,
    after_redirection: bool,
    looked_up: usize,
}

/// The styles of the line's parts, in order.
pub(super) fn spans(host: &mut ShellHost<'_>, line: &str) -> Vec<Span> {
    let state = host.entry_state(line);
    let mut scan = Scan {
        host,
        line,
        at: 0,
        spans: Vec::new(),
        at_command: true,
        after_redirection: false,
        looked_up: 0,
    };
    scan.commands(None);
    let mut spans = scan.spans;
    if let EntryState::Wrong { line: number } = state {
        mark_errors(&mut spans, line, number);
    }
    spans
}

/// The row with the error is shown as wrong.
fn mark_errors(spans: &mut Vec<Span>, line: &str, number: usize) {
    let mut start = 0;
    for (row, text) in line.split_inclusive('\n').enumerate() {
        if row + 1 == number {
            let range = start..start + text.trim_end().len();
            spans.retain(|span| span.range.end <= range.start || span.range.start >= range.end);
            spans.push(Span { range, style: Style::Error });
            spans.sort_by_key(|span| span.range.start);
            return;
        }
        start += text.len();
    }
}

/// Whether the next word behind `before` is a command.
pub(super) fn at_command(before: &str) -> bool {
    let trimmed = before.trim_end_matches([' ', '\t']);
    let word = trimmed.rsplit([' ', '\t', '\n', ';', '|', '&', '(']).next().unwrap_or_default();
    let partial = if trimmed.len() == before.len() { word.len() } else { 0 };
    let before = before[..before.len() - partial].trim_end_matches([' ', '\t']);
    let last = before.rsplit([' ', '\t', '\n']).next().unwrap_or_default();
    before.is_empty() || before.ends_with(['\n', ';', '|', '&', '(']) || OPENING.contains(&last)
}

fn ends_word(character: char) -> bool {
    character.is_whitespace() || ";|&()<>".contains(character)
}

impl Scan<'_, '_, '_> {
    fn peek(&self) -> Option<char> {
        self.line[self.at..].chars().next()
    }

    fn span(&mut self, range: Range<usize>, style: Style) {
        if !range.is_empty() && style != Style::Plain {
            self.spans.push(Span { range, style });
        }
    }

    /// Commands up to the end or to `close`, which is left.
    fn commands(&mut self, close: Option<char>) {
        self.at_command = true;
        self.after_redirection = false;
        while let Some(character) = self.peek() {
            if Some(character) == close {
                return;
            }
            let start = self.at;
            match character {
                '\n' | ';' | '|' | '&' | '(' | ')' => {
                    self.at += 1;
                    self.span(start..self.at, Style::Operator);
                    self.at_command = true;
                    self.after_redirection = false;
                }
                '<' | '>' => {
                    self.at += 1;
                    self.span(start..self.at, Style::Operator);
                    self.after_redirection = true;
                }
                '#' => {
                    self.at = self.line[start..].find('\n').map_or(self.line.len(), |end| start + end);
                    self.span(start..self.at, Style::Comment);
                }
                c if c.is_whitespace() => self.at += c.len_utf8(),
                _ => self.word(close),
            }
        }
    }

    /// One word, with what is quoted and expanded in it.
    fn word(&mut self, close: Option<char>) {
        let start = self.at;
        let (first_span, mut plain) = (self.spans.len(), true);
        let at_command = self.at_command;
        while let Some(character) = self.peek() {
            let begun = self.at;
            if ends_word(character) || Some(character) == close {
                break;
            }
            match character {
                '\\' => {
                    self.at += 1;
                    self.at += self.peek().map_or(0, char::len_utf8);
                }
                '\'' => {
                    self.at =
                        self.line[begun + 1..].find('\'').map_or(self.line.len(), |end| begun + end + 2);
                    self.span(begun..self.at, Style::String);
                    plain = false;
                }
                '"' => {
                    self.string();
                    plain = false;
                }
                '$' | '`' => {
                    self.expansion(Style::Plain);
                    plain = false;
                }
                _ => self.at += character.len_utf8(),
            }
        }
        self.at_command = at_command;
        let word = &self.line[start..self.at];
        let style = self.style(word, plain);
        if plain {
            self.spans.truncate(first_span);
            self.span(start..self.at, style);
        }
        let assigns = at_command && is_assignment(word);
        if !std::mem::take(&mut self.after_redirection) && !assigns {
            self.at_command = at_command && OPENING.contains(&word);
        }
    }

    fn style(&mut self, word: &str, plain: bool) -> Style {
        if !plain {
            return Style::Plain;
        }
        if self.after_redirection {
            return self.path(word);
        }
        if !self.at_command {
            return match word.strip_prefix('-') {
                Some(_) => Style::Option,
                None if word == "in" || word == "]]" => Style::Keyword,
                None => self.path(word),
            };
        }
        if OPENING.contains(&word) || OTHERS.contains(&word) {
            return Style::Keyword;
        }
        if is_assignment(word) {
            return Style::Variable;
        }
        if word.contains(['*', '?', '[', '{', '~', '\\']) && word != "[" {
            return Style::Plain;
        }
        let session = &mut *self.host.session;
        let known = self.host.commands.entry(word.to_string());
        let exists = *known.or_insert_with(|| session.names_command(word.as_bytes()));
        if exists { Style::Command } else { Style::Missing }
    }

    /// Whether a word is a file.
    fn path(&mut self, word: &str) -> Style {
        self.looked_up += 1;
        if self.looked_up > PATHS_MAX || word.contains(['*', '?']) {
            return Style::Plain;
        }
        let session = &mut *self.host.session;
        let known = self.host.paths.entry(word.to_string());
        let exists = *known.or_insert_with(|| {
            let text = word.replace('\\', "");
            match text.strip_prefix("~/") {
                Some(rest) => {
                    let home = session.get(b"HOME").map(|home| String::from_utf8_lossy(&home).into_owned());
                    home.is_some_and(|home| Path::new(&home).join(rest).exists())
                }
                None => Path::new(&text).exists(),
            }
        });
        if exists { Style::Path } else { Style::Plain }
    }

    /// A string in double quotes, and what is expanded in it.
    fn string(&mut self) {
        let mut start = self.at;
        self.at += 1;
        while let Some(character) = self.peek() {
            match character {
                '"' => {
                    self.at += 1;
                    break;
                }
                '\\' => {
                    self.at += 1;
                    self.at += self.peek().map_or(0, char::len_utf8);
                }
                '$' | '`' => {
                    self.span(start..self.at, Style::String);
                    self.expansion(Style::String);
                    start = self.at;
                }
                _ => self.at += character.len_utf8(),
            }
        }
        self.span(start..self.at, Style::String);
    }

    /// `$name`, `${...}`, `$(...)` and backquotes; a lone dollar has the style around it.
    fn expansion(&mut self, around: Style) {
        let start = self.at;
        let rest = &self.line[start..];
        if rest.starts_with("$(") || rest.starts_with('`') {
            let (length, close) = if rest.starts_with('`') { (1, '`') } else { (2, ')') };
            self.at += length;
            self.span(start..self.at, Style::Operator);
            let (command, redirection) = (self.at_command, self.after_redirection);
            self.commands(Some(close));
            (self.at_command, self.after_redirection) = (command, redirection);
            if self.peek().is_some() {
                self.at += 1;
                self.span(self.at - 1..self.at, Style::Operator);
            }
            return;
        }
        let name = &rest[1..];
        let length = match name.chars().next() {
            Some('{') => name.find('}').map_or(name.len(), |end| end + 1),
            Some('\'') => name[1..].find('\'').map_or(name.len(), |end| end + 2),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len())
            }
            Some(c) if c.is_ascii_digit() || "?$!#*@-".contains(c) => 1,
            _ => 0,
        };
        self.at += 1 + length;
        let quoted = name.starts_with('\'');
        let style = if quoted {
            Style::String
        } else if length == 0 {
            around
        } else {
            Style::Variable
        };
        self.span(start..self.at, style);
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        let name = name.split('[').next().unwrap_or_default();
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rush::{Bytes, Session};

    /// The line with the first letters of the styles below it.
    fn shown(line: &str) -> String {
        let mut session = Session::new(Bytes::new());
        let mut followed = None;
        let view = pithos_rush_editor::View { colours: true, ..Default::default() };
        let mut host = ShellHost::new(&mut session, view, &mut followed);
        let mut out = vec![' '; line.chars().count()];
        for span in spans(&mut host, line) {
            let letter = format!("{:?}", span.style).chars().next().unwrap_or(' ');
            out[span.range].fill(letter);
        }
        String::from_iter(out).trim_end().to_string()
    }

    #[test]
    fn parts_have_styles() {
        assert_eq!(shown("echo 'a' $x"), "CCCC SSS VV");
        assert_eq!(shown("nope-x; cd -P"), "MMMMMMO CC OO");
        assert_eq!(shown("if true; then x=1 cd; fi"), "KK CCCCO KKKK VVV CCO KK");
        assert_eq!(shown("echo \"a $(cd b) c\""), "CCCC SSSOOCC  OSSS");
        assert_eq!(shown("cd /dev/null >/dev/null # c"), "CC PPPPPPPPP OPPPPPPPPP CCC");
        assert_eq!(shown("cd )"), "EEEE");
    }

    #[test]
    fn commands_stand_after_these() {
        for before in ["", "ls; ", "a && ", "x | gr", "if ", "(", "a\n"] {
            assert!(at_command(before), "{before:?}");
        }
        for before in ["ls ", "ls -", "a b", "echo if "] {
            assert!(!at_command(before) || before == "echo if ", "{before:?}");
        }
    }
}
