//! Output without its terminal control sequences (ECMA-48): colours, titles, cursor movements and the like are left out, the text stays. Owns the grammar of
//! sequences only; what they would have drawn is the screen model's.

const ESC: u8 = 0x1B;
const BEL: u8 = 0x07;

/// What to do with control sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ansi {
    /// As they were written.
    #[default]
    Keep,
    /// Left out.
    Strip,
}

impl Ansi {
    /// The bytes as they are to be shown.
    #[must_use]
    pub fn apply(self, bytes: &[u8]) -> std::borrow::Cow<'_, [u8]> {
        match self {
            Self::Strip if bytes.iter().any(|byte| matches!(*byte, ESC | BEL | 0x08)) => strip(bytes).into(),
            _ => bytes.into(),
        }
    }
}

/// Leaves out control sequences, bells, and what backspaces took back within a line. A sequence that the end cuts off is left out too.
fn strip(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        match first {
            &ESC => {
                rest = after_sequence(after);
                continue;
            }
            &BEL => {}
            0x08 => take_back(&mut text),
            other => text.push(*other),
        }
        rest = after;
    }
    text
}

/// Removes the last character of the line that is being written.
fn take_back(text: &mut Vec<u8>) {
    while let Some(last) = text.pop_if(|last| *last != b'\n') {
        // The first byte of a character ends it.
        if last & 0xC0 != 0x80 {
            return;
        }
    }
}

/// What follows the sequence that begins after an ESC.
fn after_sequence(rest: &[u8]) -> &[u8] {
    match rest {
        // CSI: parameters, intermediates, one final byte.
        [b'[', body @ ..] => {
            let end = body.iter().position(|byte| !(0x20..=0x3F).contains(byte));
            match end.map(|at| (body[at], &body[at..])) {
                Some((0x40..=0x7E, tail)) => &tail[1..],
                // Something else breaks the sequence off and counts for itself.
                Some((_, tail)) => tail,
                None => &[],
            }
        }
        // OSC, DCS, SOS, PM, APC: a text up to ST, or for OSC up to BEL.
        [kind @ (b']' | b'P' | b'X' | b'^' | b'_'), body @ ..] => {
            let ends = |(at, byte): (usize, &u8)| match byte {
                &BEL if *kind == b']' => Some(at + 1),
                &ESC if body.get(at + 1) == Some(&b'\\') => Some(at + 2),
                // Another sequence breaks it off.
                &ESC => Some(at),
                _ => None,
            };
            body.iter().enumerate().find_map(ends).map_or(&[], |at| &body[at..])
        }
        // Intermediates and a final byte: character sets and single functions.
        body => {
            let end = body.iter().position(|byte| !(0x20..=0x2F).contains(byte));
            match end.map(|at| (body[at], at)) {
                Some((0x30..=0x7E, at)) => &body[at + 1..],
                Some((_, at)) => &body[at..],
                None => &[],
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ansi, strip};

    #[test]
    fn sequences_go_and_text_stays() {
        let cases: [(&[u8], &[u8]); 14] = [
            (b"plain\n", b"plain\n"),
            (b"\x1b[1;31mred\x1b[0m", b"red"),
            (b"\x1b[38;2;1;2;3mtrue colour\x1b[m", b"true colour"),
            (b"\x1b[?25l\x1b[2J\x1b[10;20Hmoved", b"moved"),
            (b"\x1b]0;a title\x07text", b"text"),
            (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", b"link"),
            (b"\x1bPdata\x1b\\x", b"x"),
            (b"\x1b(B\x1b)0\x1b7\x1b8\x1b=x", b"x"),
            (b"bell\x07", b"bell"),
            (b"N\x08NA\x08A", b"NA"),
            ("\u{fc}\u{8}u".as_bytes(), b"u"),
            (b"cut off \x1b[3", b"cut off "),
            (b"cut off \x1b]0;no end", b"cut off "),
            (b"broken \x1b[3\nnext", b"broken \nnext"),
        ];
        for (written, shown) in cases {
            assert_eq!(Ansi::Strip.apply(written).as_ref(), shown, "{}", written.escape_ascii());
            assert_eq!(Ansi::Keep.apply(written).as_ref(), written);
        }
    }

    /// Whatever the bytes: it ends, nothing is added, and no ESC stays.
    #[test]
    fn any_bytes_end_without_an_escape() {
        let mut seed = 0x9E37_79B9_u32;
        for length in 0..2000 {
            let bytes: Vec<u8> = (0..length % 64)
                .map(|_| {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    b"\x1b\x1b[]P\\;0mH\x07\x08 \n\xc3\xbcx"[(seed >> 16) as usize % 17]
                })
                .collect();
            let shown = strip(&bytes);
            assert!(shown.len() <= bytes.len() && !shown.contains(&0x1b), "{}", bytes.escape_ascii());
        }
    }
}
