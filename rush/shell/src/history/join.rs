//! `cmdhist`: a command of several lines as one line of the history. Lines are joined by what the grammar allows there: a semicolon,
//! a blank, or a line break where anything else would change the meaning (quotes, here-documents, substitutions, comments).

use crate::Bytes;

/// Words behind which a list begins, so that no semicolon may follow them.
const OPENERS: [&[u8]; 10] =
    [b"if", b"then", b"else", b"elif", b"while", b"until", b"do", b"{", b"!", b"case"];

/// `text` as one entry; with `literal` (`lithist`) the line breaks stay.
pub fn join_lines(text: &[u8], literal: bool) -> Bytes {
    let end = text.iter().rposition(|byte| *byte != b'\n').map_or(0, |at| at + 1);
    let start = text.iter().position(|byte| *byte != b'\n').unwrap_or(end).min(end);
    let text = text.get(start..end).unwrap_or_default();
    let mut joiner = Joiner { text, literal, ..Joiner::default() };
    while joiner.at < text.len() {
        joiner.step();
    }
    joiner.out
}

/// What was read last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Last {
    /// Nothing, or what a semicolon may not follow.
    #[default]
    Opener,
    /// A word.
    Word,
}

#[derive(Debug, Clone, Copy, Default)]
struct HereDocument {
    start: usize,
    end: usize,
    strips_tabs: bool,
}

#[derive(Default)]
struct Joiner<'a> {
    text: &'a [u8],
    literal: bool,
    at: usize,
    out: Bytes,
    last: Last,
    /// Whether the next word is a command's name.
    at_command: bool,
    /// Whether an array's elements are being read.
    in_array: bool,
    /// Words since `for`, `case` or `select`, whose `in` opens a list.
    since_for: Option<u32>,
    /// Where the line being read begins in the output.
    line_start: usize,
    /// Whether the line ended in a comment.
    commented: bool,
    documents: Vec<HereDocument>,
}

impl Joiner<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn copy_to(&mut self, end: usize) {
        let end = end.min(self.text.len());
        self.out.extend_from_slice(self.text.get(self.at..end).unwrap_or_default());
        self.at = end;
    }

    fn step(&mut self) {
        match self.peek(0) {
            b'\n' => self.line_break(),
            b'\\' if self.peek(1) == b'\n' => self.at += 2,
            b' ' | b'\t' => self.copy_to(self.at + 1),
            b'#' => self.comment(),
            b'<' if self.peek(1) == b'<' && self.peek(2) != b'<' => self.here_document(),
            b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => self.operator(),
            _ => self.word(),
        }
    }

    fn operator(&mut self) {
        let redirects = matches!(self.peek(0), b'<' | b'>');
        if self.peek(0) == b')' && std::mem::take(&mut self.in_array) {
            self.last = Last::Word;
        } else if !redirects {
            (self.last, self.at_command) = (Last::Opener, true);
        }
        self.copy_to(
            self.at + if self.text.get(self.at..).is_some_and(|t| t.starts_with(b"<<<")) { 3 } else { 1 },
        );
    }

    /// A comment is left out where it is all of a line; after it the line has to end.
    fn comment(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = self.at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let alone = self.out.get(self.line_start..).unwrap_or_default().trim_ascii().is_empty();
        if alone && !self.literal && !self.out.is_empty() {
            self.at = end;
        } else {
            self.copy_to(end);
        }
        self.commented = true;
    }

    fn word(&mut self) {
        let start = self.at;
        let end = word_end(self.text, start);
        let word = self.text.get(start..end).unwrap_or_default();
        let command = self.at_command || self.out.is_empty();
        let opener = command && OPENERS.contains(&word);
        let is_in = word == b"in" && self.since_for == Some(1);
        self.since_for = match word {
            b"for" | b"case" | b"select" if command => Some(0),
            _ => self.since_for.map(|count| count + 1),
        };
        self.last = if (opener && word != b"case") || is_in { Last::Opener } else { Last::Word };
        self.at_command = opener && word != b"case";
        if word.ends_with(b"=") && self.text.get(end) == Some(&b'(') {
            self.in_array = true;
            self.copy_to(end + 1);
        } else {
            self.copy_to(end);
        }
    }

    fn here_document(&mut self) {
        let strips_tabs = self.peek(2) == b'-';
        let mut start = self.at + 2 + usize::from(strips_tabs);
        while matches!(self.text.get(start), Some(b' ' | b'\t')) {
            start += 1;
        }
        let end = word_end(self.text, start);
        self.documents.push(HereDocument { start, end, strips_tabs });
        self.last = Last::Word;
        self.copy_to(end.max(self.at + 2));
    }

    fn line_break(&mut self) {
        if !self.documents.is_empty() {
            return self.documents_bodies();
        }
        let blank = self.out.get(self.line_start..).unwrap_or_default().trim_ascii().is_empty();
        self.at += 1;
        if self.literal || std::mem::take(&mut self.commented) {
            if !self.literal {
                self.out.truncate(self.out.trim_ascii_end().len());
            }
            self.out.push(b'\n');
        } else if blank {
            return;
        } else if self.in_array {
            self.out.push(b' ');
        } else {
            self.out.truncate(self.out.trim_ascii_end().len());
            self.out.extend_from_slice(if self.last == Last::Word { b"; " } else { b" " });
        }
        (self.at_command, self.last) = (true, Last::Opener);
        self.line_start = self.out.len();
    }

    /// The texts of the here-documents that were begun, as they are.
    fn documents_bodies(&mut self) {
        for document in std::mem::take(&mut self.documents) {
            let word = self.text.get(document.start..document.end).unwrap_or_default();
            let delimiter: Bytes =
                word.iter().copied().filter(|byte| !matches!(byte, b'\'' | b'"' | b'\\')).collect();
            while self.at < self.text.len() {
                let rest = self.text.get(self.at + 1..).unwrap_or_default();
                let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                let mut line = rest.get(..length).unwrap_or_default();
                while document.strips_tabs && line.first() == Some(&b'\t') {
                    line = line.get(1..).unwrap_or_default();
                }
                let ended = line == delimiter;
                self.copy_to(self.at + 1 + length);
                if ended {
                    break;
                }
            }
        }
        if self.at < self.text.len() {
            self.copy_to(self.at + 1);
        }
        (self.at_command, self.last) = (true, Last::Opener);
        self.line_start = self.out.len();
    }
}

/// Where the word at `start` ends; quotes and substitutions are part of it.
fn word_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(&byte) = text.get(at) {
        at = match byte {
            b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
                if at > start || byte != b'(' =>
            {
                return at;
            }
            b'\\' if text.get(at + 1) == Some(&b'\n') => return at,
            b'\\' => at + 2,
            b'\'' | b'"' | b'`' => quote_end(text, at),
            b'$' if matches!(text.get(at + 1), Some(b'(' | b'{')) => bracket_end(text, at + 1),
            _ => at + 1,
        };
    }
    at.min(text.len())
}

/// Behind the quote that opens at `start`.
fn quote_end(text: &[u8], start: usize) -> usize {
    let open = text.get(start).copied().unwrap_or(0);
    let mut at = start + 1;
    while let Some(&byte) = text.get(at) {
        at = match byte {
            _ if byte == open => return at + 1,
            b'\\' if open != b'\'' => at + 2,
            b'$' if open == b'"' && matches!(text.get(at + 1), Some(b'(' | b'{')) => {
                bracket_end(text, at + 1)
            }
            _ => at + 1,
        };
    }
    at
}

/// Behind the bracket that closes the one at `start`.
fn bracket_end(text: &[u8], start: usize) -> usize {
    let open = text.get(start).copied().unwrap_or(0);
    let close = if open == b'(' { b')' } else { b'}' };
    let (mut at, mut depth) = (start, 0);
    while let Some(&byte) = text.get(at) {
        at = match byte {
            b'\\' => at + 2,
            b'\'' | b'"' | b'`' => quote_end(text, at),
            _ => {
                depth += usize::from(byte == open);
                if byte == close {
                    depth -= 1;
                    if depth == 0 {
                        return at + 1;
                    }
                }
                at + 1
            }
        };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::join_lines;

    fn check(text: &str, joined: &str) {
        assert_eq!(String::from_utf8_lossy(&join_lines(text.as_bytes(), false)), joined, "{text}");
        assert_eq!(String::from_utf8_lossy(&join_lines(text.as_bytes(), true)), text.trim_end(), "{text}");
    }

    // The expected lines are what bash 5.2 keeps of these commands.
    #[test]
    fn lines_are_joined_by_what_may_stand_there() {
        check("for i in 1 2\ndo\necho $i\ndone\n", "for i in 1 2; do echo $i; done");
        check("if true\nthen\necho x; fi\n", "if true; then echo x; fi");
        check("f() {\necho hi\n}\n", "f() { echo hi; }");
        check("echo a |\ncat\n", "echo a | cat");
        check("a=(1\n2)\n", "a=(1 2)");
        check(
            "case x in\na) echo hi\n;;\nx) echo there\nesac\n",
            "case x in a) echo hi; ;; x) echo there; esac",
        );
        check("true &&\nfalse ||\necho do\n", "true && false || echo do");
        check("while read do\ndo echo do\ndone\n", "while read do; do echo do; done");
    }

    #[test]
    fn lines_stay_where_joining_would_change_the_meaning() {
        check("echo \"a\nb\"\n", "echo \"a\nb\"");
        check("echo $(\necho hi\n)\n", "echo $(\necho hi\n)");
        check("cat <<E\na\n\nb\nE\n", "cat <<E\na\n\nb\nE");
        check("{ cat <<-'E'\n\ta\n\tE\necho x\n}\n", "{ cat <<-'E'\n\ta\n\tE\necho x; }");
        check("cat <<<x\n", "cat <<<x");
        check("x) # comment\nesac\n", "x) # comment\nesac");
    }

    #[test]
    fn lines_of_comments_go() {
        let text = "for i in 1\ndo\n# why\n\necho $i\ndone";
        assert_eq!(join_lines(text.as_bytes(), false), b"for i in 1; do\necho $i; done");
    }

    #[test]
    fn continued_lines_are_one() {
        assert_eq!(join_lines(b"echo a \\\nb\n", false), b"echo a b");
    }
}
