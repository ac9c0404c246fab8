//! Where words of a line begin and end for completion: the word at the cursor, as readline finds it, and the words of a command,
//! as bash cuts them for `COMP_WORDS`. Pure: a line in, positions out.

use std::ops::Range;

/// The word at the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WordAtCursor {
    /// Where its text begins, behind the quote that is open.
    pub(super) start: usize,
    /// The quote that is open.
    pub(super) quote: Option<u8>,
}

/// The word that ends at the end of `text`; `breaks` end words where they are not quoted.
pub(super) fn at_cursor(text: &[u8], breaks: &[u8]) -> WordAtCursor {
    let (mut start, mut open) = (0, None);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match (byte, open) {
            (b'\\', None | Some((b'"', _))) => at += 1,
            (_, Some((quote, _))) if byte == quote => open = None,
            (b'\'' | b'"', None) => open = Some((byte, at + 1)),
            (b' ' | b'\t' | b'\n', None) => start = at + 1,
            // What makes the word one of its own kind (a host) stays with it.
            (b'@', None) if breaks.contains(&byte) => start = at,
            (_, None) if breaks.contains(&byte) => start = at + 1,
            _ => {}
        }
        at += 1;
    }
    match open {
        Some((quote, start)) => WordAtCursor { start, quote: Some(quote) },
        // A backslash at the very end quotes what comes.
        None => WordAtCursor { start: start.min(text.len()), quote: None },
    }
}

/// The text of a word without its quotes; `quote` is open at its beginning.
pub(super) fn dequoted(word: &[u8], quote: Option<u8>) -> Vec<u8> {
    let (mut out, mut open) = (Vec::with_capacity(word.len()), quote);
    let mut bytes = word.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match (byte, open) {
            (b'\\', None) => out.extend(bytes.next()),
            (b'\\', Some(b'"')) => match bytes.peek() {
                Some(b'"' | b'\\' | b'$' | b'`') => out.extend(bytes.next()),
                _ => out.push(byte),
            },
            (_, Some(end)) if byte == end => open = None,
            (b'\'' | b'"', None) => open = Some(byte),
            _ => out.push(byte),
        }
    }
    out
}

/// The words of a command, as positions: runs of breaks outside quotes and substitutions, and what is between them. The word that
/// the cursor is in, or an empty one where it is in none, is the second value.
pub(super) fn split(line: &[u8], breaks: &[u8], cursor: usize) -> (Vec<Range<usize>>, usize) {
    let (mut words, mut current) = (Vec::<Range<usize>>::new(), None);
    let mut at = blanks(line, 0);
    while at < line.len() {
        let start = at;
        if line.get(at).is_some_and(|byte| breaks.contains(byte)) {
            while line.get(at).is_some_and(|byte| breaks.contains(byte)) {
                at += 1;
            }
        } else {
            at = word_end(line, at, breaks);
        }
        if current.is_none() && cursor < start {
            current = Some(words.len());
            words.push(cursor..cursor);
        }
        if current.is_none() && cursor <= at {
            // Behind a run of breaks the next word has begun.
            let behind = cursor == at && line.get(start).is_some_and(|byte| breaks.contains(byte));
            if !behind {
                current = Some(words.len());
            } else if word_end(line, at, breaks) == at {
                // Nothing has been typed behind it: bash counts the breaks themselves.
                current = Some(words.len());
            }
        }
        words.push(start..at);
        at = blanks(line, at);
    }
    let current = current.unwrap_or_else(|| {
        words.push(cursor..cursor);
        words.len() - 1
    });
    (words, current)
}

/// How long the rest of a command is, up to what separates it from the next.
pub(super) fn command_length(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b';' | b'|' | b'&' | b'\n' => break,
            b'\\' => at += 2,
            b'\'' | b'"' | b'`' => at = closing(rest, at + 1, byte),
            _ => at += 1,
        }
    }
    at.min(rest.len())
}

fn blanks(line: &[u8], mut at: usize) -> usize {
    while line.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n')) {
        at += 1;
    }
    at
}

fn word_end(line: &[u8], mut at: usize, breaks: &[u8]) -> usize {
    while let Some(&byte) = line.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' => break,
            _ if breaks.contains(&byte) => break,
            b'\\' => at += 2,
            b'\'' | b'"' | b'`' => at = closing(line, at + 1, byte),
            b'$' if line.get(at + 1) == Some(&b'(') => at = closing(line, at + 2, b')'),
            b'$' if line.get(at + 1) == Some(&b'{') => at = closing(line, at + 2, b'}'),
            _ => at += 1,
        }
    }
    at.min(line.len())
}

/// The position behind what closes a quote or a substitution.
fn closing(line: &[u8], mut at: usize, close: u8) -> usize {
    let opens = match close {
        b')' => Some(b'('),
        b'}' => Some(b'{'),
        _ => None,
    };
    let mut depth = 1;
    while let Some(&byte) = line.get(at) {
        at += 1;
        match byte {
            b'\\' if close != b'\'' => at += 1,
            _ if byte == close => depth -= 1,
            _ if Some(byte) == opens => depth += 1,
            b'\'' | b'"' if opens.is_some() => at = closing(line, at, byte),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{at_cursor, dequoted, split};

    const BREAKS: &[u8] = b"@><=;|&(:";

    fn word(text: &str) -> (String, Option<char>) {
        let found = at_cursor(text.as_bytes(), BREAKS);
        (text[found.start..].to_string(), found.quote.map(char::from))
    }

    #[test]
    fn the_word_at_the_cursor() {
        assert_eq!(word("x --color=al"), ("al".into(), None));
        assert_eq!(word("x a\\ b"), ("a\\ b".into(), None));
        assert_eq!(word("x 'a:b c"), ("a:b c".into(), Some('\'')));
        assert_eq!(word("x 'a'b"), ("'a'b".into(), None));
        assert_eq!(word("x a\"b c"), ("b c".into(), Some('"')));
        assert_eq!(word("x a@b"), ("@b".into(), None));
        assert_eq!(word("x "), ("".into(), None));
        assert_eq!(word("x host::"), ("".into(), None));
    }

    #[test]
    fn quotes_are_removed() {
        assert_eq!(dequoted(b"a\\ b'c d'", None), b"a bc d");
        assert_eq!(dequoted(b"a\\ b\\\"", Some(b'"')), b"a\\ b\"");
    }

    fn words(line: &str) -> (Vec<&str>, usize) {
        let (words, current) = split(line.as_bytes(), BREAKS, line.len());
        (words.into_iter().map(|range| &line[range]).collect(), current)
    }

    #[test]
    fn the_words_of_a_command() {
        assert_eq!(words("see x=1 y"), (vec!["see", "x", "=", "1", "y"], 4));
        assert_eq!(words("see a>"), (vec!["see", "a", ">"], 2));
        assert_eq!(words("see 2>f "), (vec!["see", "2", ">", "f", ""], 4));
        assert_eq!(words("see $(a b"), (vec!["see", "$(a b"], 1));
        assert_eq!(words("see a'b'\"c d"), (vec!["see", "a'b'\"c d"], 1));
        let (words, current) = split(b"see ab cd", BREAKS, 5);
        assert_eq!((words.len(), current), (3, 1));
        let (words, current) = split(b"see  ab", BREAKS, 4);
        assert_eq!((words, current), (vec![0..3, 4..4, 5..7], 1));
    }
}
