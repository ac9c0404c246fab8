//! History expansion: `!!`, `!n`, `!-n`, `!text`, `!?text?`, `^old^new^`, with word designators and modifiers, on the text of a
//! line before it is parsed. Pure: the history comes in as a slice.

use super::Entry;
use crate::Bytes;

/// What became of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Expansion {
    /// Nothing to expand.
    Unchanged,
    /// The new line, which is shown and run.
    Changed(Bytes),
    /// `:p`: the new line is shown and remembered only.
    Shown(Bytes),
}

/// The history, and the number before that of its first entry.
#[derive(Debug, Clone, Copy)]
pub struct Entries<'a> {
    /// The commands, oldest first.
    pub list: &'a [Entry],
    /// The number before that of the first.
    pub base: usize,
}

/// Expands `line`; an error is what to say.
pub fn expand(line: &[u8], entries: &Entries<'_>) -> Result<Expansion, String> {
    if line.starts_with(b"^") {
        return quick_substitution(line, entries);
    }
    let mut reader = Reader { line, at: 0, entries, shown_only: false };
    let (mut out, mut changed, mut single) = (Bytes::new(), false, false);
    let mut double = false;
    while let Some(byte) = reader.next() {
        match byte {
            b'\\' if !single => {
                out.push(byte);
                out.extend(reader.next());
            }
            b'\'' if !double => {
                single = !single;
                out.push(byte);
            }
            b'"' if !single => {
                double = !double;
                out.push(byte);
            }
            b'!' if !single && reader.begins_event(double) && !ends_with_any(&out, &[b"$", b"${", b"["]) => {
                out.extend(reader.event()?);
                changed = true;
            }
            _ => out.push(byte),
        }
    }
    Ok(match (changed, reader.shown_only) {
        (false, _) => Expansion::Unchanged,
        (true, false) => Expansion::Changed(out),
        (true, true) => Expansion::Shown(out),
    })
}

fn text_of(entry: &Entry) -> Bytes {
    entry.text.clone()
}

fn ends_with_any(text: &[u8], ends: &[&[u8]]) -> bool {
    ends.iter().any(|end| text.ends_with(end))
}

/// `^old^new^`: the last command with a substitution.
fn quick_substitution(line: &[u8], entries: &Entries<'_>) -> Result<Expansion, String> {
    let mut parts = line[1..].splitn(3, |byte| *byte == b'^');
    let (old, new) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let rest = parts.next().unwrap_or_default();
    let last = entries.list.last().ok_or("!!: event not found")?;
    let replaced = substitute(&last.text, old, new, false)
        .ok_or_else(|| format!(":s{}: substitution failed", String::from_utf8_lossy(line)))?;
    Ok(Expansion::Changed([&replaced[..], rest].concat()))
}

fn substitute(text: &[u8], old: &[u8], new: &[u8], all: bool) -> Option<Bytes> {
    let (mut out, mut rest, mut found) = (Bytes::new(), text, false);
    while let Some(at) = rest.windows(old.len().max(1)).position(|part| part == old) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(new);
        rest = &rest[at + old.len()..];
        found = true;
        if !all {
            break;
        }
    }
    out.extend_from_slice(rest);
    found.then_some(out)
}

struct Reader<'a> {
    line: &'a [u8],
    at: usize,
    entries: &'a Entries<'a>,
    shown_only: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> Bytes {
        let start = self.at;
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
        self.line[start..self.at].to_vec()
    }

    /// Whether an event follows the `!` that was just read.
    fn begins_event(&self, quoted: bool) -> bool {
        match self.peek() {
            None | Some(b' ' | b'\t' | b'\n' | b'=' | b'(') => false,
            Some(b'"') => !quoted,
            _ => true,
        }
    }

    /// An event with its designator and modifiers.
    fn event(&mut self) -> Result<Bytes, String> {
        let start = self.at;
        let entry = self.entry();
        let named = String::from_utf8_lossy(&self.line[start..self.at]).into_owned();
        let entry = entry.ok_or_else(|| format!("!{named}: event not found"))?;
        let words = split(&entry);
        let mut text = match self.designator(words.len())? {
            None => entry,
            Some((first, last)) => {
                let chosen = words.get(first..=last).or(if first > last { Some(&[]) } else { None });
                chosen.ok_or_else(|| format!("!{named}: bad word specifier"))?.join(&b' ')
            }
        };
        while self.peek() == Some(b':') && self.modifier(&mut text)? {}
        Ok(text)
    }

    fn entry(&mut self) -> Option<Bytes> {
        let list = self.entries.list;
        match self.peek()? {
            b'!' => {
                self.at += 1;
                list.last().map(text_of)
            }
            b'#' => {
                self.at += 1;
                Some(self.line[..self.at - 2].to_vec())
            }
            b'?' => {
                self.at += 1;
                let text = self.take_while(|byte| byte != b'?' && byte != b'\n');
                self.take(b'?');
                let holds = |entry: &&Entry| entry.text.windows(text.len().max(1)).any(|part| part == text);
                list.iter().rev().find(holds).map(text_of)
            }
            // A designator alone is of the last command.
            b'$' | b'^' | b'*' | b':' => list.last().map(text_of),
            byte => {
                let negative = byte == b'-' && self.line.get(self.at + 1).is_some_and(u8::is_ascii_digit);
                self.at += usize::from(negative);
                if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                    let digits = self.take_while(|byte| byte.is_ascii_digit());
                    let number: usize = std::str::from_utf8(&digits).ok()?.parse().ok()?;
                    let index = if negative {
                        list.len().checked_sub(number)
                    } else {
                        number.checked_sub(self.entries.base + 1)
                    };
                    return list.get(index?).map(text_of);
                }
                let ends = |byte: u8| {
                    !matches!(byte, b' ' | b'\t' | b'\n' | b':' | b';' | b'&' | b'|' | b'"' | b')')
                };
                let text = self.take_while(ends);
                list.iter().rev().find(|entry| entry.text.starts_with(&text)).map(text_of)
            }
        }
    }

    /// The first and last word chosen.
    fn designator(&mut self, count: usize) -> Result<Option<(usize, usize)>, String> {
        let saved = self.at;
        let colon = self.take(b':');
        let last = count.saturating_sub(1);
        let first = match self.peek() {
            Some(b'^') => 1,
            Some(b'$') => {
                self.at += 1;
                return Ok(Some((last, last)));
            }
            Some(b'*') => {
                self.at += 1;
                return Ok(Some((1, last)));
            }
            Some(b'-') if colon => 0,
            Some(byte) if colon && byte.is_ascii_digit() => {
                return self.range(last).map(Some);
            }
            _ => {
                self.at = saved;
                return Ok(None);
            }
        };
        if self.peek() == Some(b'^') {
            self.at += 1;
        }
        self.range_end(first, last).map(Some)
    }

    fn range(&mut self, last: usize) -> Result<(usize, usize), String> {
        let first = self.number()?;
        self.range_end(first, last)
    }

    fn range_end(&mut self, first: usize, last: usize) -> Result<(usize, usize), String> {
        if self.take(b'*') {
            return Ok((first, last));
        }
        if !self.take(b'-') {
            return Ok((first, first));
        }
        match self.peek() {
            Some(b'$') => {
                self.at += 1;
                Ok((first, last))
            }
            Some(byte) if byte.is_ascii_digit() => Ok((first, self.number()?)),
            _ => Ok((first, last.saturating_sub(1))),
        }
    }

    fn number(&mut self) -> Result<usize, String> {
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        let number = std::str::from_utf8(&digits).ok().and_then(|text| text.parse().ok());
        number.ok_or_else(|| "bad word specifier".to_string())
    }

    /// One `:` modifier; false if what follows the colon is none.
    fn modifier(&mut self, text: &mut Bytes) -> Result<bool, String> {
        let saved = self.at;
        self.at += 1;
        let mut letter = self.next();
        let all = matches!(letter, Some(b'g' | b'a'));
        if all {
            letter = self.next();
        }
        let slash = text.iter().rposition(|byte| *byte == b'/');
        let dot = text.iter().rposition(|byte| *byte == b'.').filter(|dot| slash.is_none_or(|at| *dot > at));
        match letter {
            Some(b'p') => self.shown_only = true,
            Some(b'h') => text.truncate(slash.unwrap_or(text.len())),
            Some(b't') => drop(text.drain(..slash.map_or(0, |at| at + 1))),
            Some(b'r') => text.truncate(dot.unwrap_or(text.len())),
            Some(b'e') => drop(text.drain(..dot.unwrap_or(0))),
            Some(b'q') => *text = crate::quote::single_quote(text),
            Some(b's') => {
                let delimiter = self.next().ok_or("bad modifier")?;
                let old = self.take_while(|byte| byte != delimiter);
                self.take(delimiter);
                let new = self.take_while(|byte| byte != delimiter);
                self.take(delimiter);
                *text = substitute(text, &old, &new, all).ok_or("substitution failed")?;
            }
            _ => {
                self.at = saved;
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The words of a command as the designators count them: quotes keep blanks, operators stand alone.
fn split(entry: &[u8]) -> Vec<Bytes> {
    let mut words: Vec<Bytes> = vec![Bytes::new()];
    let (mut quote, mut at) = (None, 0);
    while let Some(&byte) = entry.get(at) {
        at += 1;
        let operator = matches!(byte, b';' | b'|' | b'&' | b'<' | b'>' | b'(' | b')');
        let word = words.len() - 1;
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => {
                words[word].push(byte);
                words[word].extend(entry.get(at));
                at += 1;
                continue;
            }
            (_, Some(open)) if byte == open => quote = None,
            (b'\'' | b'"' | b'`', None) => quote = Some(byte),
            (b' ' | b'\t' | b'\n', None) => {
                words.push(Bytes::new());
                continue;
            }
            _ if operator && quote.is_none() => {
                // `&&` and `>>` are one word each.
                if words[word].last() != Some(&byte) || words[word].iter().any(|b| *b != byte) {
                    words.push(Bytes::new());
                }
                if let Some(last) = words.last_mut() {
                    last.push(byte);
                }
                if entry.get(at) != Some(&byte) {
                    words.push(Bytes::new());
                }
                continue;
            }
            _ => {}
        }
        words[word].push(byte);
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::{Entries, Entry, Expansion, expand};

    fn check(line: &str, expect: &str) {
        let list = ["echo one two three", "ls /usr/lib/x.tar.gz && pwd", "cat 'a b' c"]
            .map(|text| Entry { text: text.into(), time: 0 });
        let result = match expand(line.as_bytes(), &Entries { list: &list, base: 4 }) {
            Ok(Expansion::Unchanged) => format!("= {line}"),
            Ok(Expansion::Changed(text)) => String::from_utf8(text).expect("UTF-8"),
            Ok(Expansion::Shown(text)) => format!("p {}", String::from_utf8(text).expect("UTF-8")),
            Err(message) => format!("error {message}"),
        };
        assert_eq!(result, expect, "{line}");
    }

    #[test]
    fn events() {
        check("!!", "cat 'a b' c");
        check("sudo !!; x", "sudo cat 'a b' c; x");
        check("!5", "echo one two three");
        check("!-2", "ls /usr/lib/x.tar.gz && pwd");
        check("!ec", "echo one two three");
        check("!?lib?", "ls /usr/lib/x.tar.gz && pwd");
        check("^c^d^ e", "dat 'a b' c e");
        check("!99", "error !99: event not found");
        check("!nope", "error !nope: event not found");
    }

    #[test]
    fn designators_and_modifiers() {
        check("echo !$ !^ !*", "echo c 'a b' 'a b' c");
        check("!ec:2 !ec:1-2 !ec:2* !ec:0", "two one two two three echo");
        check("!ls:1:h !ls:1:t !ls:1:r", "/usr/lib x.tar.gz /usr/lib/x.tar");
        check("!ls:2", "&&");
        check("!ec:s/o/0/", "ech0 one two three");
        check("!ec:gs/o/0/", "ech0 0ne tw0 three");
        check("!!:p", "p cat 'a b' c");
    }

    #[test]
    fn what_is_no_event() {
        check("echo 'a!!' b! \\!x != !( $! [!a]", "= echo 'a!!' b! \\!x != !( $! [!a]");
        check("echo \"hi!\"", "= echo \"hi!\"");
    }
}
