//! `base64`: encodes and decodes. Flags: `-d -i -w N`; what is not canonical at the end of encoded text is left to the program's own
//! words only before anything is read: messages are those of GNU.

use std::fs::File;
use std::io::{self, Read};

use crate::limits::COPY_BLOCK_BYTES;
use crate::options::{number, parse};
use crate::{Context, Outcome};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// What is no digit in [`VALUES`].
const NONE: u8 = 0xff;
const VALUES: [u8; 256] = {
    let mut table = [NONE; 256];
    let mut at = 0;
    while at < 64 {
        table[ALPHABET[at] as usize] = at as u8;
        at += 1;
    }
    table
};

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [("decode", b'd'), ("ignore-garbage", b'i'), ("wrap=", b'w')];
    let Some(parsed) = parse(context.args, "diw:", &long) else { return Ok(Outcome::Fallthrough) };
    if parsed.operands.len() > 1 || !parsed.every(b"w", |_, value| number(value).is_some()) {
        return Ok(Outcome::Fallthrough);
    }
    let wrap = parsed.value(b'w').and_then(number).unwrap_or(76);
    let word = parsed.operands.first().copied().unwrap_or(b"-");
    let mut file = None;
    if word != b"-" {
        match File::open(context.path(word)) {
            Ok(opened) => file = Some(context.polled(opened)),
            Err(error) => {
                context.complain_about(word, &error);
                return Ok(Outcome::Status(1));
            }
        }
    }
    let mut work: Box<dyn Work> = if parsed.has(b'd') {
        Box::new(Decoder { garbage: parsed.has(b'i'), group: [0; 4], filled: 0 })
    } else {
        Box::new(Encoder { left: Vec::new(), wrap, column: 0 })
    };
    let mut buffer = vec![0u8; COPY_BLOCK_BYTES];
    let mut out = Vec::new();
    loop {
        let read = match &mut file {
            Some(file) => file.read(&mut buffer),
            None => context.input.read(&mut buffer),
        };
        let count = match read {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                context.complain(&[b"read error: ", crate::context::reason(&error).as_bytes()]);
                return Ok(Outcome::Status(1));
            }
        };
        out.clear();
        let block = buffer.get(..count).unwrap_or_default();
        let valid = if count == 0 { work.finish(&mut out) } else { work.take(block, &mut out) };
        context.output.write_all(&out)?;
        if !valid {
            context.complain(&[b"invalid input"]);
            return Ok(Outcome::Status(1));
        }
        if count == 0 {
            return Ok(Outcome::Status(0));
        }
    }
}

/// Encoding or decoding, block by block; false for what is invalid.
trait Work {
    fn take(&mut self, block: &[u8], out: &mut Vec<u8>) -> bool;
    fn finish(&mut self, out: &mut Vec<u8>) -> bool;
}

struct Encoder {
    /// What makes no three bytes yet.
    left: Vec<u8>,
    /// Columns of a line; 0 for one line.
    wrap: u64,
    column: u64,
}

/// The two digits of every twelve bits.
const PAIRS: [[u8; 2]; 4096] = {
    let mut table = [[0; 2]; 4096];
    let mut at = 0;
    while at < 4096 {
        table[at] = [ALPHABET[at >> 6], ALPHABET[at & 63]];
        at += 1;
    }
    table
};

fn encode(three: [u8; 3]) -> [u8; 4] {
    let [a, b, c] = three.map(usize::from);
    let (high, low) = (PAIRS[a << 4 | b >> 4], PAIRS[(b & 15) << 8 | c]);
    [high[0], high[1], low[0], low[1]]
}

fn encode_all(groups: &[[u8; 3]], out: &mut [u8]) {
    let (places, _) = out.as_chunks_mut::<4>();
    groups.iter().zip(places).for_each(|(three, place)| *place = encode(*three));
}

impl Encoder {
    fn put(&mut self, mut text: &[u8], out: &mut Vec<u8>) {
        if self.wrap == 0 {
            out.extend_from_slice(text);
            return;
        }
        while !text.is_empty() {
            // A line ends when another character comes, or at the end of all.
            if self.column == self.wrap {
                out.push(b'\n');
                self.column = 0;
            }
            let room = usize::try_from(self.wrap - self.column).unwrap_or(usize::MAX);
            let (now, later) = text.split_at(room.min(text.len()));
            out.extend_from_slice(now);
            self.column += now.len() as u64;
            text = later;
        }
    }
}

impl Work for Encoder {
    fn take(&mut self, block: &[u8], out: &mut Vec<u8>) -> bool {
        let mut rest = block;
        while !self.left.is_empty() && self.left.len() < 3 {
            let Some((&first, others)) = rest.split_first() else { break };
            self.left.push(first);
            rest = others;
        }
        if let [a, b, c] = *self.left.as_slice() {
            self.put(&encode([a, b, c]), out);
            self.left.clear();
        }
        let (whole, rest) = rest.as_chunks::<3>();
        self.left.extend_from_slice(rest);
        // OPTIMIZATION: what ends within a line of whole groups is encoded where it is written. Equals encoding and then wrapping.
        let groups_in_line = usize::try_from(self.wrap / 4).unwrap_or(usize::MAX);
        if self.wrap == 0 || !self.wrap.is_multiple_of(4) || !self.column.is_multiple_of(4) {
            let mut text = vec![0; whole.len() * 4];
            encode_all(whole, &mut text);
            self.put(&text, out);
            return true;
        }
        out.reserve(whole.len() * 4 + whole.len() / groups_in_line + 1);
        let mut groups = whole;
        while !groups.is_empty() {
            if self.column == self.wrap {
                out.push(b'\n');
                self.column = 0;
            }
            let room = groups_in_line - (self.column / 4) as usize;
            let (now, later) = groups.split_at(room.min(groups.len()));
            let start = out.len();
            out.resize(start + now.len() * 4, 0);
            encode_all(now, &mut out[start..]);
            self.column += now.len() as u64 * 4;
            groups = later;
        }
        true
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> bool {
        let text = match *self.left.as_slice() {
            [a] => Some([encode([a, 0, 0])[0], encode([a, 0, 0])[1], b'=', b'=']),
            [a, b] => Some([encode([a, b, 0])[0], encode([a, b, 0])[1], encode([a, b, 0])[2], b'=']),
            _ => None,
        };
        if let Some(text) = text {
            self.put(&text, out);
        }
        if self.wrap > 0 && self.column > 0 {
            out.push(b'\n');
        }
        true
    }
}

struct Decoder {
    garbage: bool,
    /// Digits and `=` of a group of four.
    group: [u8; 4],
    filled: usize,
}

impl Decoder {
    /// Puts out what a group gives; false if it is none.
    fn close(&mut self, out: &mut Vec<u8>) -> bool {
        let [a, b, c, d] = self.group.map(|byte| VALUES[usize::from(byte)]);
        let count = std::mem::take(&mut self.filled);
        let digit = |value: u8| value != NONE;
        let pads = |at: usize| self.group[at] == b'=';
        if count < 2 || !digit(a) || !digit(b) {
            return false;
        }
        out.push(a << 2 | b >> 4);
        if count > 2 && digit(c) {
            out.push(b << 4 | c >> 2);
            if count > 3 && digit(d) {
                out.push(c << 6 | d);
                return true;
            }
            return count == 4 && pads(3);
        }
        count == 4 && pads(2) && pads(3)
    }
}

impl Work for Decoder {
    fn take(&mut self, block: &[u8], out: &mut Vec<u8>) -> bool {
        out.reserve(block.len() / 4 * 3 + 3);
        for &byte in block {
            let known = VALUES[usize::from(byte)] != NONE || byte == b'=';
            if !known {
                if byte == b'\n' || self.garbage {
                    continue;
                }
                // What was valid before it is put out.
                if self.filled > 0 {
                    self.group[self.filled..].fill(byte);
                    self.filled = self.filled.max(1);
                    self.close(out);
                }
                return false;
            }
            self.group[self.filled] = byte;
            self.filled += 1;
            if self.filled == 4 && !self.close(out) {
                return false;
            }
        }
        true
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> bool {
        if self.filled == 0 {
            return true;
        }
        self.close(out)
    }
}
