//! Where words begin and end: emacs words, words of the shell, words of vi and of whitespace. Pure.

/// Whether a character is part of a word for emacs.
pub(crate) fn is_word(character: char) -> bool {
    character.is_alphanumeric()
}

fn is_blank(character: char) -> bool {
    character.is_whitespace()
}

/// The beginning of the word before `at`, of characters that `belongs` takes.
pub(crate) fn back(text: &str, at: usize, belongs: impl Fn(char) -> bool) -> usize {
    text[..at].trim_end_matches(|c| !belongs(c)).trim_end_matches(&belongs).len()
}

/// The end of the word behind `at`.
pub(crate) fn forward(text: &str, at: usize, belongs: impl Fn(char) -> bool) -> usize {
    text.len() - text[at..].trim_start_matches(|c| !belongs(c)).trim_start_matches(&belongs).len()
}

/// The words of a line for the shell, as (beginning, end): quotes and backslashes hold them together.
pub(crate) fn shell_words(text: &str) -> Vec<(usize, usize)> {
    let (mut words, mut start, mut quote) = (Vec::new(), None, None);
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match (character, quote) {
            (c, None) if is_blank(c) || ";|&()<>".contains(c) => {
                if let Some(begun) = start.take() {
                    words.push((begun, at));
                }
                continue;
            }
            ('\\', None | Some('"')) => drop(characters.next()),
            ('\'' | '"', None) => quote = Some(character),
            (c, Some(open)) if c == open => quote = None,
            _ => {}
        }
        start = start.or(Some(at));
    }
    words.extend(start.map(|begun| (begun, text.len())));
    words
}

/// The beginning of the shell's word before `at`.
pub(crate) fn shell_back(text: &str, at: usize) -> usize {
    shell_words(text).into_iter().map(|(start, _)| start).rfind(|start| *start < at).unwrap_or(0)
}

/// The end of the shell's word behind `at`.
pub(crate) fn shell_forward(text: &str, at: usize) -> usize {
    shell_words(text).into_iter().map(|(_, end)| end).find(|end| *end > at).unwrap_or(text.len())
}

/// What a character is for vi: blank, of a word, or something else.
fn class(character: char, big: bool) -> u8 {
    match character {
        c if is_blank(c) => 0,
        _ if big => 1,
        c if c.is_alphanumeric() || c == '_' => 1,
        _ => 2,
    }
}

/// The beginning of vi's next word.
pub(crate) fn vi_next(text: &str, at: usize, big: bool) -> usize {
    let mut rest = text[at..].char_indices().peekable();
    let Some((_, first)) = rest.next() else { return at };
    let kind = class(first, big);
    let mut blank = kind == 0;
    for (offset, character) in rest {
        let now = class(character, big);
        if now == 0 {
            blank = true;
        } else if blank || now != kind {
            return at + offset;
        }
    }
    text.len()
}

/// The last character of vi's word, behind `at`.
pub(crate) fn vi_end(text: &str, at: usize, big: bool) -> usize {
    let skip = text[at..].chars().next().map_or(0, char::len_utf8);
    let mut rest = text[at + skip..].char_indices().skip_while(|(_, c)| is_blank(*c)).peekable();
    let Some((offset, first)) = rest.next() else { return text.len() };
    let mut end = offset;
    for (offset, character) in rest {
        if class(character, big) != class(first, big) {
            break;
        }
        end = offset;
    }
    at + skip + end
}

/// The beginning of vi's word, before `at`.
pub(crate) fn vi_previous(text: &str, at: usize, big: bool) -> usize {
    let trimmed = text[..at].trim_end_matches(is_blank);
    let Some(last) = trimmed.chars().next_back() else { return 0 };
    trimmed.trim_end_matches(|c| class(c, big) == class(last, big)).len()
}

/// The text object at `at` that `object` names (`w`, `W`, quotes, brackets), with what surrounds it if `around`.
pub(crate) fn object(text: &str, at: usize, object: char, around: bool) -> Option<(usize, usize)> {
    match object {
        'w' | 'W' => word_object(text, at, object == 'W', around),
        '"' | '\'' | '`' => quote_object(text, at, object, around),
        '(' | ')' | 'b' => bracket_object(text, at, ('(', ')'), around),
        '[' | ']' => bracket_object(text, at, ('[', ']'), around),
        '{' | '}' | 'B' => bracket_object(text, at, ('{', '}'), around),
        '<' | '>' => bracket_object(text, at, ('<', '>'), around),
        _ => None,
    }
}

fn word_object(text: &str, at: usize, big: bool, around: bool) -> Option<(usize, usize)> {
    let kind = class(text[at..].chars().next()?, big);
    let same = |c: char| class(c, big) == kind;
    let start = text[..at].trim_end_matches(same).len();
    let mut end = text.len() - text[at..].trim_start_matches(same).len();
    if around {
        let rest = text[end..].trim_start_matches([' ', '\t']);
        end = text.len() - rest.len();
    }
    Some((start, end))
}

fn quote_object(text: &str, at: usize, quote: char, around: bool) -> Option<(usize, usize)> {
    let places: Vec<usize> = text.match_indices(quote).map(|(place, _)| place).collect();
    let pair = places.chunks_exact(2).find(|pair| at <= pair[1])?;
    Some(if around { (pair[0], pair[1] + 1) } else { (pair[0] + 1, pair[1]) })
}

fn bracket_object(
    text: &str,
    at: usize,
    (open, close): (char, char),
    around: bool,
) -> Option<(usize, usize)> {
    let mut depth = 0;
    let here = text[at..].chars().next().map_or(0, char::len_utf8);
    let start = text[..at + here].char_indices().rev().find(|(place, c)| {
        depth += i32::from(*c == close && *place < at) - i32::from(*c == open);
        depth < 0
    })?;
    let mut depth = 0;
    let end = text[start.0..].char_indices().find(|(_, c)| {
        depth += i32::from(*c == open) - i32::from(*c == close);
        depth == 0
    })?;
    let end = start.0 + end.0;
    Some(if around { (start.0, end + 1) } else { (start.0 + 1, end) })
}

/// The bracket that belongs to the first one at or behind `at`.
pub(crate) fn matching(text: &str, at: usize) -> Option<usize> {
    let (offset, bracket) = text[at..].char_indices().find(|(_, c)| "()[]{}".contains(*c))?;
    let place = at + offset;
    let (open, close) = match bracket {
        '(' | ')' => ('(', ')'),
        '[' | ']' => ('[', ']'),
        _ => ('{', '}'),
    };
    let mut depth = 0;
    if bracket == open {
        let found = text[place..].char_indices().find(|(_, c)| {
            depth += i32::from(*c == open) - i32::from(*c == close);
            depth == 0
        })?;
        return Some(place + found.0);
    }
    let found = text[..=place].char_indices().rev().find(|(_, c)| {
        depth += i32::from(*c == close) - i32::from(*c == open);
        depth == 0
    })?;
    Some(found.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_each_kind() {
        assert_eq!(back("one two-3", 9, is_word), 8);
        assert_eq!(forward("one two", 3, is_word), 7);
        assert_eq!(shell_words("a 'b c'd; e\\ f"), [(0, 1), (2, 8), (10, 14)]);
        assert_eq!(shell_back("x 'a b'", 7), 2);
        assert_eq!(shell_forward("x 'a b' c", 1), 7);
        assert_eq!((vi_next("ab.c  d", 0, false), vi_next("ab.c  d", 0, true)), (2, 6));
        assert_eq!((vi_end("ab.c d", 0, false), vi_end("ab.c d", 0, true)), (1, 3));
        assert_eq!((vi_previous("ab.c d", 6, false), vi_previous("ab.c d", 5, true)), (5, 0));
    }

    #[test]
    fn objects_and_brackets() {
        assert_eq!(object("one two x", 5, 'w', false), Some((4, 7)));
        assert_eq!(object("one two x", 5, 'w', true), Some((4, 8)));
        assert_eq!(object("a \"b c\" d", 4, '"', false), Some((3, 6)));
        assert_eq!(object("a (b (c) d)", 4, '(', false), Some((3, 10)));
        assert_eq!(object("a (b (c) d)", 6, '(', true), Some((5, 8)));
        assert_eq!((matching("a (b)", 0), matching("a (b)", 4)), (Some(4), Some(2)));
    }
}
