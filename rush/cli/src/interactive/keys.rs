//! The keys that rustyline reports for the bytes of a key sequence.

use rustyline::{KeyCode, KeyEvent, Modifiers};

const ESCAPE: u8 = 0x1b;

/// What terminals send for keys without a character, behind the escape.
const SEQUENCES: [(&[u8], KeyCode, Modifiers); 38] = {
    use KeyCode::{BackTab, Delete, Down, End, F, Home, Insert, Left, PageDown, PageUp, Right, Up};
    const NONE: Modifiers = Modifiers::NONE;
    const ALT: Modifiers = Modifiers::ALT;
    const CTRL: Modifiers = Modifiers::CTRL;
    [
        (b"[A", Up, NONE),
        (b"OA", Up, NONE),
        (b"[B", Down, NONE),
        (b"OB", Down, NONE),
        (b"[C", Right, NONE),
        (b"OC", Right, NONE),
        (b"[D", Left, NONE),
        (b"OD", Left, NONE),
        (b"[H", Home, NONE),
        (b"OH", Home, NONE),
        (b"[1~", Home, NONE),
        (b"[7~", Home, NONE),
        (b"[F", End, NONE),
        (b"OF", End, NONE),
        (b"[4~", End, NONE),
        (b"[8~", End, NONE),
        (b"[2~", Insert, NONE),
        (b"[3~", Delete, NONE),
        (b"[5~", PageUp, NONE),
        (b"[6~", PageDown, NONE),
        (b"[Z", BackTab, NONE),
        (b"[1;5A", Up, CTRL),
        (b"[1;5B", Down, CTRL),
        (b"[1;5C", Right, CTRL),
        (b"[1;5D", Left, CTRL),
        (b"[1;3A", Up, ALT),
        (b"[1;3B", Down, ALT),
        (b"[1;3C", Right, ALT),
        (b"[1;3D", Left, ALT),
        (b"[3;5~", Delete, CTRL),
        (b"OP", F(1), NONE),
        (b"OQ", F(2), NONE),
        (b"OR", F(3), NONE),
        (b"OS", F(4), NONE),
        (b"[15~", F(5), NONE),
        (b"[17~", F(6), NONE),
        (b"[18~", F(7), NONE),
        (b"[19~", F(8), NONE),
    ]
};

/// The keys of `bytes`; `None` if they cannot come from a terminal.
pub(super) fn events(bytes: &[u8]) -> Option<Vec<KeyEvent>> {
    let (mut out, mut rest) = (Vec::new(), bytes);
    while let Some((&byte, after)) = rest.split_first() {
        if byte == ESCAPE && !after.is_empty() {
            let known = SEQUENCES.iter().find(|(sequence, ..)| after.starts_with(sequence));
            rest = match known {
                Some((sequence, code, modifiers)) => {
                    out.push(KeyEvent(*code, *modifiers));
                    &after[sequence.len()..]
                }
                None if matches!(after[0], b'[' | b'O') && after.len() > 1 => return None,
                None => {
                    out.push(KeyEvent::new(char::from(after[0]), Modifiers::ALT));
                    &after[1..]
                }
            };
            continue;
        }
        let text = String::from_utf8_lossy(rest);
        match text.chars().next() {
            Some(char::REPLACEMENT_CHARACTER) if byte >= 0x80 => {
                // `\M-x`: what a terminal with a meta bit sends; others send an escape.
                out.push(KeyEvent::new(char::from(byte & 0x7f), Modifiers::ALT));
                rest = after;
            }
            Some(character) => {
                out.push(KeyEvent::new(character, Modifiers::NONE));
                rest = &rest[character.len_utf8()..];
            }
            None => return None,
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::events;
    use rustyline::{KeyCode, KeyEvent, Modifiers};

    #[test]
    fn bytes_become_keys() {
        let keys = |bytes: &[u8]| events(bytes).expect("keys");
        assert_eq!(keys(b"\x18\x05"), [KeyEvent::ctrl('X'), KeyEvent::ctrl('E')]);
        assert_eq!(keys(b"\x1b[A"), [KeyEvent(KeyCode::Up, Modifiers::NONE)]);
        assert_eq!(keys(b"\x1bx"), [KeyEvent::alt('x')]);
        assert_eq!(keys(b"\xf8"), [KeyEvent::alt('x')]);
        assert_eq!(keys("é".as_bytes()), [KeyEvent::from('é')]);
        assert_eq!(keys(b"\x1bOPq"), [KeyEvent(KeyCode::F(1), Modifiers::NONE), KeyEvent::from('q')]);
        assert_eq!(events(b"\x1b[99x"), None);
    }
}
