//! `tr`: translates, squeezes and deletes bytes. Flags: `-c -C -d -s -t`.

use std::io;

use crate::limits::COPY_BLOCK_BYTES;
use crate::options::parse_until_operand;
use crate::{Context, Outcome};

/// An element of a set before it is laid out.
enum Element {
    Byte(u8),
    /// A class: its bytes, and which one if it is `lower` or `upper`.
    Class(Vec<u8>, Option<bool>),
    /// `[c*n]`; `None` fills up to the length of the first set.
    Repeat(u8, Option<usize>),
}

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [("complement", b'c'), ("delete", b'd'), ("squeeze-repeats", b's'), ("truncate-set1", b't')];
    let Some(parsed) = parse_until_operand(context.args, "cCdst", &long) else {
        return Ok(Outcome::Fallthrough);
    };
    let complement = parsed.has(b'c') || parsed.has(b'C');
    let (delete, squeeze) = (parsed.has(b'd'), parsed.has(b's'));
    // What GNU refuses: repetition where nothing is translated, a class complemented and cut.
    let equivalence = |set: &&[u8]| memchr::memmem::find(set, b"[=").is_some();
    if !delete && parsed.operands.iter().skip(1).any(equivalence) {
        return Ok(Outcome::Fallthrough);
    }
    let repeats = |set: &&[u8]| memchr::memchr(b'[', set).is_some() && memchr::memchr(b'*', set).is_some();
    if (delete && parsed.operands.iter().skip(1).any(repeats)) || (complement && parsed.has(b't') && !delete)
    {
        return Ok(Outcome::Fallthrough);
    }
    let Some(sets) = parsed.operands.iter().map(|o| elements(o)).collect::<Option<Vec<_>>>() else {
        return Ok(Outcome::Fallthrough);
    };
    let Some(plan) = Plan::new(&sets, complement, delete, squeeze, parsed.has(b't')) else {
        return Ok(Outcome::Fallthrough);
    };
    let mut buffer = vec![0u8; COPY_BLOCK_BYTES];
    let mut out = Vec::with_capacity(COPY_BLOCK_BYTES);
    let mut last: Option<u8> = None;
    loop {
        let count = match context.input.read(&mut buffer) {
            Ok(0) => return Ok(Outcome::Status(0)),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                context.complain(&[b"read error: ", crate::context::reason(&error).as_bytes()]);
                return Ok(Outcome::Status(1));
            }
        };
        if plan.only_maps {
            // OPTIMIZATION: each byte becomes another where it is. Equals what follows.
            let block = buffer.get_mut(..count).unwrap_or_default();
            block.iter_mut().for_each(|byte| *byte = plan.map[usize::from(*byte)]);
            context.output.write_all(block)?;
            continue;
        }
        if !plan.squeezes {
            // OPTIMIZATION: every byte is written and only the kept ones are counted. Equals what follows.
            out.resize(count, 0);
            let mut kept = 0;
            for &byte in buffer.get(..count).unwrap_or_default() {
                out[kept] = plan.map[usize::from(byte)];
                kept += usize::from(!plan.deleted[usize::from(byte)]);
            }
            context.output.write_all(&out[..kept])?;
            continue;
        }
        if !plan.deletes {
            // OPTIMIZATION: what was written last is what the byte before became. Equals what follows.
            out.resize(count, 0);
            let mut kept = 0;
            let mut before = last.map_or(u16::MAX, u16::from);
            for &byte in buffer.get(..count).unwrap_or_default() {
                let new = plan.map[usize::from(byte)];
                out[kept] = new;
                kept += usize::from(!(plan.squeezed[usize::from(new)] & (before == u16::from(new))));
                before = u16::from(new);
            }
            last = u8::try_from(before).ok();
            context.output.write_all(&out[..kept])?;
            continue;
        }
        out.clear();
        for &byte in buffer.get(..count).unwrap_or_default() {
            if plan.deleted[usize::from(byte)] {
                continue;
            }
            let new = plan.map[usize::from(byte)];
            if plan.squeezed[usize::from(new)] && last == Some(new) {
                continue;
            }
            last = Some(new);
            out.push(new);
        }
        context.output.write_all(&out)?;
    }
}

/// What happens to each byte.
struct Plan {
    map: [u8; 256],
    deleted: [bool; 256],
    squeezed: [bool; 256],
    /// Whether nothing is deleted or squeezed.
    only_maps: bool,
    deletes: bool,
    squeezes: bool,
}

impl Plan {
    fn new(
        sets: &[Vec<Element>],
        complement: bool,
        delete: bool,
        squeeze: bool,
        truncate: bool,
    ) -> Option<Self> {
        let mut plan = Self {
            map: [0; 256],
            deleted: [false; 256],
            squeezed: [false; 256],
            only_maps: false,
            deletes: false,
            squeezes: false,
        };
        for (byte, slot) in (0u8..=255).zip(plan.map.iter_mut()) {
            *slot = byte;
        }
        let first = sets.first()?;
        if first.iter().any(|e| matches!(e, Element::Repeat(..))) {
            return None;
        }
        let mut source = layout(first, 0)?;
        if complement {
            source = (0u8..=255).filter(|b| !source.contains(b)).collect();
        }
        let mark = |table: &mut [bool; 256], bytes: &[u8]| {
            for byte in bytes {
                if let Some(slot) = table.get_mut(usize::from(*byte)) {
                    *slot = true;
                }
            }
        };
        match (delete, squeeze, sets.get(1)) {
            (true, false, None) => mark(&mut plan.deleted, &source),
            (true, true, Some(second)) => {
                mark(&mut plan.deleted, &source);
                mark(&mut plan.squeezed, &layout(second, 0)?);
            }
            (false, true, None) => mark(&mut plan.squeezed, &source),
            (false, _, Some(second)) => {
                let target = translation(first, second, &mut source, complement, truncate)?;
                for (from, to) in source.iter().zip(&target) {
                    if let Some(slot) = plan.map.get_mut(usize::from(*from)) {
                        *slot = *to;
                    }
                }
                if squeeze {
                    mark(&mut plan.squeezed, &layout(second, source.len())?);
                }
            }
            _ => return None,
        }
        plan.squeezes = plan.squeezed.contains(&true);
        plan.deletes = plan.deleted.contains(&true);
        plan.only_maps = !plan.squeezes && !plan.deletes;
        (sets.len() <= 2).then_some(plan)
    }
}

/// The second set laid out to the length of the first.
fn translation(
    first: &[Element],
    second: &[Element],
    source: &mut Vec<u8>,
    complement: bool,
    truncate: bool,
) -> Option<Vec<u8>> {
    let cases = |set: &[Element]| set.iter().filter(|e| matches!(e, Element::Class(_, Some(_)))).count();
    let plain_classes = second.iter().any(|e| matches!(e, Element::Class(_, None)));
    if plain_classes
        || (cases(second) > 0 && (complement || cases(first) != cases(second) || first.len() != second.len()))
    {
        return None;
    }
    if cases(second) > 0 {
        // `[:lower:]` against `[:upper:]` must stand at the same place.
        let aligned = first
            .iter()
            .zip(second)
            .all(|(a, b)| matches!(a, Element::Class(_, Some(_))) == matches!(b, Element::Class(_, Some(_))));
        if !aligned {
            return None;
        }
    }
    let has_class = |set: &[Element]| set.iter().any(|e| matches!(e, Element::Class(..)));
    let mut target = layout(second, source.len())?;
    // What a complemented class maps to must be one byte.
    if complement && has_class(first) && target.iter().any(|byte| Some(byte) != target.first()) {
        return None;
    }
    if truncate {
        source.truncate(target.len());
    }
    let last = *target.last()?;
    target.resize(source.len().max(target.len()), last);
    target.truncate(source.len());
    Some(target)
}

fn layout(set: &[Element], wanted: usize) -> Option<Vec<u8>> {
    let fixed: usize = set
        .iter()
        .map(|e| match e {
            Element::Byte(_) => 1,
            Element::Class(bytes, _) => bytes.len(),
            Element::Repeat(_, count) => count.unwrap_or(0),
        })
        .sum();
    if set.iter().filter(|e| matches!(e, Element::Repeat(_, None))).count() > 1 {
        return None;
    }
    let mut out = Vec::new();
    for element in set {
        match element {
            Element::Byte(byte) => out.push(*byte),
            Element::Class(bytes, _) => out.extend_from_slice(bytes),
            Element::Repeat(byte, count) => {
                let count = count.unwrap_or(wanted.saturating_sub(fixed));
                out.resize(out.len() + count, *byte);
            }
        }
    }
    Some(out)
}

/// Parses a set; `None` if anything about it is unusual.
fn elements(text: &[u8]) -> Option<Vec<Element>> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = text.get(at..)?;
        if let Some((element, length)) = bracketed(rest)? {
            out.push(element);
            at += length;
            continue;
        }
        let (low, length) = one_byte(rest)?;
        at += length;
        if text.get(at) == Some(&b'-') && at + 1 < text.len() {
            let (high, length) = one_byte(text.get(at + 1..)?)?;
            if high < low {
                return None;
            }
            out.extend((low..=high).map(Element::Byte));
            at += 1 + length;
        } else {
            out.push(Element::Byte(low));
        }
    }
    Some(out)
}

fn one_byte(text: &[u8]) -> Option<(u8, usize)> {
    if *text.first()? != b'\\' {
        return Some((*text.first()?, 1));
    }
    Some(match text.get(1)? {
        b'\\' => (b'\\', 2),
        b'a' => (7, 2),
        b'b' => (8, 2),
        b'f' => (12, 2),
        b'n' => (b'\n', 2),
        b'r' => (b'\r', 2),
        b't' => (b'\t', 2),
        b'v' => (11, 2),
        b'0'..=b'7' => {
            let digits = text.iter().skip(1).take(3).take_while(|b| (b'0'..=b'7').contains(b));
            let (value, count) = digits.fold((0u32, 0), |(v, n), b| (v * 8 + u32::from(b - b'0'), n + 1));
            (u8::try_from(value).ok()?, 1 + count)
        }
        other => (*other, 2),
    })
}

/// `[:class:]`, `[=c=]` or `[c*n]`. The outer `None` declines.
fn bracketed(text: &[u8]) -> Option<Option<(Element, usize)>> {
    match text {
        [b'[', b':', ..] => {
            let Some(end) = text.windows(2).position(|w| w == b":]").filter(|&e| e > 1) else {
                return Some(None);
            };
            let name = text.get(2..end)?;
            let bytes: Vec<u8> = (0u8..=255).filter(|b| in_class(name, *b) == Some(true)).collect();
            in_class(name, b'a')?;
            let case = match name {
                b"lower" => Some(false),
                b"upper" => Some(true),
                _ => None,
            };
            Some(Some((Element::Class(bytes, case), end + 2)))
        }
        [b'[', b'=', byte, b'=', b']', ..] => Some(Some((Element::Byte(*byte), 5))),
        [b'[', b'=', ..] => None,
        [b'[', rest @ ..] => {
            let Some((byte, length)) = one_byte(rest) else { return Some(None) };
            if rest.get(length) != Some(&b'*') {
                return Some(None);
            }
            let digits = rest.get(length + 1..)?;
            let Some(end) = digits.iter().position(|&b| b == b']') else { return Some(None) };
            let digits = digits.get(..end)?;
            if !digits.iter().all(u8::is_ascii_digit) {
                return None;
            }
            let base = if digits.first() == Some(&b'0') { 8 } else { 10 };
            let count =
                usize::from_str_radix(std::str::from_utf8(digits).ok()?, base).ok().filter(|n| *n > 0);
            Some(Some((Element::Repeat(byte, count), length + end + 3)))
        }
        _ => Some(None),
    }
}

fn in_class(name: &[u8], byte: u8) -> Option<bool> {
    Some(match name {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte == b' ' || byte.is_ascii_graphic(),
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => byte.is_ascii_whitespace() || byte == 0x0b,
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    })
}
