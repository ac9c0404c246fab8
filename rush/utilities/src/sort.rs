//! `sort`: sorts lines. Flags: `-b -d -f -h -i -n -r -u -s -z -c -C -t CHAR -k KEY -o FILE`, in the C locale's
//! order; merging, version, month, general numeric and random order are left to the external program.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, Read};

use crate::limits::SORT_RUN_LINES;
use crate::options::{number, parse};
use crate::{Context, Outcome};

/// More input than this is left to the external program, which sorts on disk.
const INPUT_BYTES_MAX: u64 = 512 << 20;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Order {
    start_blanks: bool,
    end_blanks: bool,
    dictionary: bool,
    fold: bool,
    human: bool,
    printing: bool,
    numeric: bool,
    reverse: bool,
}

impl Order {
    fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// `-k`: the field and character (from 0) where the key begins, and where it ends.
#[derive(Debug, Clone, Copy)]
struct Key {
    start: (usize, usize),
    /// The field and the characters of it that belong to the key; no characters is the whole field.
    end: Option<(usize, usize)>,
    order: Order,
}

struct Rules {
    keys: Vec<Key>,
    global: Order,
    separator: Option<u8>,
    unique: bool,
    stable: bool,
}

const ORDER_LETTERS: &[u8] = b"bdfhinr";

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let long = [
        ("ignore-leading-blanks", b'b'),
        ("dictionary-order", b'd'),
        ("ignore-case", b'f'),
        ("human-numeric-sort", b'h'),
        ("ignore-nonprinting", b'i'),
        ("numeric-sort", b'n'),
        ("reverse", b'r'),
        ("unique", b'u'),
        ("stable", b's'),
        ("zero-terminated", b'z'),
        ("field-separator=", b't'),
        ("key=", b'k'),
        ("output=", b'o'),
    ];
    let Some(parsed) = parse(context.args, "bdfhinruszcCt:k:o:", &long) else {
        return Ok(Outcome::Fallthrough);
    };
    if !context.collates_by_byte() {
        return Ok(Outcome::Fallthrough);
    }
    if !parsed.every(b"t", |_, tab| tab.len() == 1 && Some(tab) == parsed.value(b't')) {
        return Ok(Outcome::Fallthrough);
    }
    let Some(rules) = rules(&parsed) else { return Ok(Outcome::Fallthrough) };
    // A number's unit is folded with the rest.
    let folds = |order: &Order| order.human && (order.fold || order.dictionary || order.printing);
    if folds(&rules.global) || rules.keys.iter().any(|key| folds(&key.order)) {
        return Ok(Outcome::Fallthrough);
    }
    // Both checks are refused, and both ways of leaving characters out are one that GNU words.
    if (parsed.has(b'c') && parsed.has(b'C')) || (parsed.has(b'd') && parsed.has(b'i')) {
        return Ok(Outcome::Fallthrough);
    }
    // Several outputs are an error of GNU's, and one is made before folders among the operands are complained of.
    let folder = |word: &&[u8]| context.path(word).is_dir();
    let one_output = parsed.every(b"o", |_, value| Some(value) == parsed.value(b'o'));
    if !one_output || parsed.has(b'o') && parsed.operands.iter().any(folder) {
        return Ok(Outcome::Fallthrough);
    }
    let check = parsed.last_of(b"cC");
    let operands = if parsed.operands.is_empty() { vec![b"-".as_slice()] } else { parsed.operands.clone() };
    if check.is_some() && (operands.len() > 1 || parsed.has(b'o')) {
        return Ok(Outcome::Fallthrough);
    }
    let sizes = operands.iter().filter(|o| **o != b"-").map(|o| std::fs::metadata(context.path(o)));
    if sizes.flatten().map(|m| m.len()).sum::<u64>() > INPUT_BYTES_MAX {
        return Ok(Outcome::Fallthrough);
    }
    // All files are looked at before one is read.
    for word in operands.iter().filter(|word| **word != b"-") {
        if let Err(error) = File::open(context.path(word)) {
            if check.is_some() {
                return Ok(Outcome::Fallthrough);
            }
            let reason = crate::context::reason(&error);
            context.complain(&[b"cannot read: ", &context.before_colon(word), b": ", reason.as_bytes()]);
            return Ok(Outcome::Status(2));
        }
    }
    let end = if parsed.has(b'z') { 0 } else { b'\n' };
    let mut text = Vec::new();
    for word in &operands {
        if let Err(error) = read(context, word, &mut text, end) {
            let reason = crate::context::reason(&error);
            let what: &[u8] =
                if error.kind() == io::ErrorKind::IsADirectory { b"read failed: " } else { b"cannot read: " };
            context.complain(&[what, &context.before_colon(word), b": ", reason.as_bytes()]);
            return Ok(Outcome::Status(2));
        }
    }
    let mut lines = lines_of(context, &text, end)?;
    if let Some(letter) = check {
        let name = operands.first().copied().unwrap_or_default();
        return Ok(check_order(context, &lines, &rules, letter == b'c', name));
    }
    if rules.keys.is_empty() && rules.global.is_plain() {
        lines = ordered(context, &lines, &rules, |a, b| a.cmp(b))?;
    } else {
        lines = ordered(context, &lines, &rules, |a, b| compare(a, b, &rules))?;
    }
    if rules.unique {
        lines.dedup_by(|b, a| compare(a, b, &rules) == Ordering::Equal);
    }
    let mut out = Vec::with_capacity(text.len());
    for line in &lines {
        out.extend_from_slice(line);
        out.push(end);
    }
    match parsed.value(b'o') {
        None => {
            let written = context.output.write_all(&out).and_then(|()| context.output.flush());
            if let Err(error) = written {
                return write_failed(context, error, out.len());
            }
        }
        Some(name) => {
            if let Err(error) = std::fs::write(context.path(name), &out) {
                let reason = crate::context::reason(&error);
                context.complain(&[b"open failed: ", &context.before_colon(name), b": ", reason.as_bytes()]);
                return Ok(Outcome::Status(2));
            }
        }
    }
    Ok(Outcome::Status(0))
}

/// Output that is longer than the C library's buffer fails on the way and not at the end.
fn write_failed(context: &mut Context<'_>, error: io::Error, length: usize) -> io::Result<Outcome> {
    if error.kind() == io::ErrorKind::BrokenPipe || (context.interrupted)() {
        return Err(error);
    }
    let what: &[u8] = if length > STDIO_BUFFER_BYTES { b"write failed" } else { b"fflush failed" };
    context.complain(&[what, b": 'standard output': ", crate::context::reason(&error).as_bytes()]);
    context.complain(&[b"write error"]);
    Ok(Outcome::Status(2))
}

/// The C library's buffer of standard output.
const STDIO_BUFFER_BYTES: usize = 4096;

fn rules(parsed: &crate::options::Parsed<'_>) -> Option<Rules> {
    let mut global = Order::default();
    for (letter, _) in &parsed.given {
        if ORDER_LETTERS.contains(letter) {
            apply_letter(&mut global, *letter, true, true);
        }
    }
    let separator = match parsed.value(b't') {
        None => None,
        Some([byte]) => Some(*byte),
        Some(b"\\0") => Some(0),
        Some(_) => return None,
    };
    let keys = parsed.given.iter().filter(|(l, _)| *l == b'k').map(|(_, v)| parse_key(v, &global));
    let keys = keys.collect::<Option<Vec<_>>>()?;
    let valid =
        |o: &Order| !(o.numeric && o.human) && !((o.numeric || o.human) && (o.dictionary || o.printing));
    if !valid(&global) || !keys.iter().all(|k| valid(&k.order)) {
        return None;
    }
    Some(Rules { keys, global, separator, unique: parsed.has(b'u'), stable: parsed.has(b's') })
}

fn apply_letter(order: &mut Order, letter: u8, start: bool, end: bool) {
    match letter {
        b'b' => {
            order.start_blanks |= start;
            order.end_blanks |= end;
        }
        b'd' => order.dictionary = true,
        b'f' => order.fold = true,
        b'h' => order.human = true,
        b'i' => order.printing = true,
        b'n' => order.numeric = true,
        _ => order.reverse = true,
    }
}

fn parse_key(text: &[u8], global: &Order) -> Option<Key> {
    let (start, end) = match text.iter().position(|&b| b == b',') {
        Some(at) => (text.get(..at)?, Some(text.get(at + 1..)?)),
        None => (text, None),
    };
    let mut order = Order::default();
    let (field, character) = parse_position(start, &mut order, true)?;
    let character = character.unwrap_or(1);
    if field == 0 || character == 0 {
        return None;
    }
    let end = match end {
        None => None,
        Some(end) => {
            let (field, character) = parse_position(end, &mut order, false)?;
            (field > 0).then_some(())?;
            Some((field - 1, character.unwrap_or(0)))
        }
    };
    let order = if order.is_plain() { *global } else { order };
    Some(Key { start: (field - 1, character - 1), end, order })
}

fn parse_position(text: &[u8], order: &mut Order, start: bool) -> Option<(usize, Option<usize>)> {
    let digits = |t: &[u8]| t.iter().take_while(|b| b.is_ascii_digit()).count();
    let length = digits(text);
    let field = usize::try_from(number(text.get(..length)?)?).ok()?;
    let mut rest = text.get(length..)?;
    let mut character = None;
    if let Some(after) = rest.strip_prefix(b".") {
        let length = digits(after);
        character = Some(usize::try_from(number(after.get(..length)?)?).ok()?);
        rest = after.get(length..)?;
    }
    for &letter in rest {
        if !ORDER_LETTERS.contains(&letter) {
            return None;
        }
        apply_letter(order, letter, start, !start);
    }
    Some((field, character))
}

fn read(context: &mut Context<'_>, word: &[u8], text: &mut Vec<u8>, end: u8) -> io::Result<()> {
    let before = text.len();
    if word == b"-" {
        context.input.read_to_end(text)?;
    } else {
        let file = File::open(context.path(word))?;
        if file.metadata()?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        context.polled(file).read_to_end(text)?;
    }
    if text.len() > before && text.last() != Some(&end) {
        text.push(end);
    }
    Ok(())
}

/// The lines of a text that ends with the end of one. They may take more memory than the text.
fn lines_of<'t>(context: &Context<'_>, text: &'t [u8], end: u8) -> io::Result<Vec<&'t [u8]>> {
    let mut lines = Vec::new();
    let mut start = 0;
    for at in memchr::memchr_iter(end, text) {
        if lines.len().is_multiple_of(SORT_RUN_LINES) {
            context.poll()?;
        }
        lines.push(text.get(start..at).unwrap_or_default());
        start = at + 1;
    }
    Ok(lines)
}

/// OPTIMIZATION: a line with a number that orders most pairs without a look at their text. Equals [`compare`] of the lines.
#[derive(Clone, Copy)]
struct Ranked<'l> {
    /// 0 says nothing; of two others the smaller comes first, and equal ones leave it to the text.
    rank: u64,
    line: &'l [u8],
}

impl<'l> Ranked<'l> {
    fn new(line: &'l [u8], rules: &Rules) -> Self {
        let (text, order) = match rules.keys.first() {
            Some(key) => (extract(line, key, rules.separator), key.order),
            None => (trim(line, &rules.global), rules.global),
        };
        let rank = if order.numeric {
            decimal(text).rank()
        } else if order.human || order.dictionary || order.fold || order.printing {
            0
        } else {
            let mut first = [0; 8];
            let length = text.len().min(8);
            first[..length].copy_from_slice(&text[..length]);
            u64::from_be_bytes(first)
        };
        Self { rank: if order.reverse && rank != 0 { !rank } else { rank }, line }
    }

    fn order(&self, other: &Self, compare: impl Fn(&[u8], &[u8]) -> Ordering) -> Ordering {
        if self.rank != other.rank && self.rank != 0 && other.rank != 0 {
            return self.rank.cmp(&other.rank);
        }
        compare(self.line, other.line)
    }
}

/// The lines in order: a stable sort that can be given up, of runs, then of pairs of neighbouring runs.
fn ordered<'l>(
    context: &Context<'_>,
    lines: &[&'l [u8]],
    rules: &Rules,
    compare: impl Fn(&[u8], &[u8]) -> Ordering,
) -> io::Result<Vec<&'l [u8]>> {
    let mut ranked = Vec::with_capacity(lines.len());
    for run in lines.chunks(SORT_RUN_LINES) {
        context.poll()?;
        let start = ranked.len();
        ranked.extend(run.iter().map(|line| Ranked::new(line, rules)));
        ranked[start..].sort_by(|a, b| a.order(b, &compare));
    }
    let mut length = SORT_RUN_LINES;
    while length < ranked.len() {
        let mut merged = Vec::with_capacity(ranked.len());
        for pair in ranked.chunks(2 * length) {
            let (left, right) = pair.split_at(length.min(pair.len()));
            merge(context, left, right, &compare, &mut merged)?;
        }
        ranked = merged;
        length *= 2;
    }
    Ok(ranked.into_iter().map(|ranked| ranked.line).collect())
}

fn merge<'l>(
    context: &Context<'_>,
    left: &[Ranked<'l>],
    right: &[Ranked<'l>],
    compare: impl Fn(&[u8], &[u8]) -> Ordering,
    merged: &mut Vec<Ranked<'l>>,
) -> io::Result<()> {
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    loop {
        if merged.len().is_multiple_of(SORT_RUN_LINES) {
            context.poll()?;
        }
        let next = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) if a.order(b, &compare) == Ordering::Greater => right.next(),
            (Some(_), _) => left.next(),
            (None, _) => right.next(),
        };
        match next {
            Some(line) => merged.push(*line),
            None => return Ok(()),
        }
    }
}

fn check_order(
    context: &mut Context<'_>,
    lines: &[&[u8]],
    rules: &Rules,
    tell: bool,
    name: &[u8],
) -> Outcome {
    for (index, pair) in lines.windows(2).enumerate() {
        let [a, b] = pair else { continue };
        let order = compare(a, b, rules);
        if order == Ordering::Greater || (rules.unique && order == Ordering::Equal) {
            if tell {
                let place = format!(":{}: disorder: ", index + 2);
                context.complain(&[&context.before_colon(name), place.as_bytes(), b]);
            }
            return Outcome::Status(1);
        }
    }
    Outcome::Status(0)
}

fn compare(a: &[u8], b: &[u8], rules: &Rules) -> Ordering {
    if rules.keys.is_empty() {
        let order = compare_key(trim(a, &rules.global), trim(b, &rules.global), &rules.global);
        if order != Ordering::Equal || rules.unique || rules.stable {
            return order;
        }
    }
    for key in &rules.keys {
        let order =
            compare_key(extract(a, key, rules.separator), extract(b, key, rules.separator), &key.order);
        if order != Ordering::Equal {
            return order;
        }
    }
    if rules.unique || rules.stable {
        return Ordering::Equal;
    }
    if rules.global.reverse { b.cmp(a) } else { a.cmp(b) }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

fn trim<'l>(line: &'l [u8], order: &Order) -> &'l [u8] {
    let blanks = if order.start_blanks { line.iter().take_while(|b| is_blank(**b)).count() } else { 0 };
    line.get(blanks..).unwrap_or_default()
}

/// Moves past `count` fields from the start of the line.
fn skip_fields(line: &[u8], count: usize, separator: Option<u8>) -> usize {
    let mut at = 0;
    for _ in 0..count {
        match separator {
            Some(separator) => {
                let rest = line.get(at..).unwrap_or_default();
                match memchr::memchr(separator, rest) {
                    Some(found) => at += found + 1,
                    None => return line.len(),
                }
            }
            None => {
                at += line.get(at..).unwrap_or_default().iter().take_while(|b| is_blank(**b)).count();
                at += line.get(at..).unwrap_or_default().iter().take_while(|b| !is_blank(**b)).count();
            }
        }
    }
    at
}

fn extract<'l>(line: &'l [u8], key: &Key, separator: Option<u8>) -> &'l [u8] {
    let blanks = |at: usize| line.get(at..).unwrap_or_default().iter().take_while(|b| is_blank(**b)).count();
    let mut start = skip_fields(line, key.start.0, separator);
    if key.order.start_blanks {
        start += blanks(start);
    }
    start = (start + key.start.1).min(line.len());
    let end = match key.end {
        None => line.len(),
        Some((field, 0)) => {
            let begin = skip_fields(line, field, separator);
            match separator {
                Some(separator) => {
                    let rest = line.get(begin..).unwrap_or_default();
                    begin + memchr::memchr(separator, rest).unwrap_or(rest.len())
                }
                None => skip_fields(line, field + 1, None),
            }
        }
        Some((field, characters)) => {
            let mut begin = skip_fields(line, field, separator);
            if key.order.end_blanks {
                begin += blanks(begin);
            }
            (begin + characters).min(line.len())
        }
    };
    line.get(start..end.max(start)).unwrap_or_default()
}

fn compare_key(a: &[u8], b: &[u8], order: &Order) -> Ordering {
    let result = if order.numeric {
        compare_numbers(a, b)
    } else if order.human {
        compare_human(a, b)
    } else if order.dictionary || order.fold || order.printing {
        translated(a, order).cmp(translated(b, order))
    } else {
        a.cmp(b)
    };
    if order.reverse { result.reverse() } else { result }
}

fn translated<'l>(text: &'l [u8], order: &'l Order) -> impl Iterator<Item = u8> + 'l {
    let wanted = move |b: &u8| {
        (!order.dictionary || b.is_ascii_alphanumeric() || is_blank(*b))
            && (!order.printing || (0x20..0x7f).contains(b))
    };
    text.iter().copied().filter(wanted).map(|b| if order.fold { b.to_ascii_uppercase() } else { b })
}

/// A number as text: sign, integer digits without leading zeros, fraction without trailing zeros.
struct Decimal<'l> {
    negative: bool,
    whole: &'l [u8],
    fraction: &'l [u8],
    rest: &'l [u8],
}

fn decimal(text: &[u8]) -> Decimal<'_> {
    let blanks = text.iter().take_while(|b| is_blank(**b)).count();
    let text = text.get(blanks..).unwrap_or_default();
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let count = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    let (whole, rest) = digits.split_at_checked(count).unwrap_or((digits, b""));
    let zeros = whole.iter().take_while(|b| **b == b'0').count();
    let whole = whole.get(zeros..).unwrap_or_default();
    let (fraction, rest) = match rest.strip_prefix(b".") {
        Some(after) => {
            let count = after.iter().take_while(|b| b.is_ascii_digit()).count();
            after.split_at_checked(count).unwrap_or((after, b""))
        }
        None => (b"".as_slice(), rest),
    };
    let end = fraction.iter().rposition(|b| *b != b'0').map_or(0, |p| p + 1);
    let fraction = fraction.get(..end).unwrap_or_default();
    let zero = whole.is_empty() && fraction.is_empty();
    Decimal { negative: negative && !zero, whole, fraction, rest }
}

/// Digits of a fraction, and of what is before it, with which a number has a rank.
const RANKED_FRACTION: usize = 3;
const RANKED_WHOLE: usize = 15;

impl Decimal<'_> {
    /// A number for the order of all that have one; 0 for none.
    fn rank(&self) -> u64 {
        if self.whole.len() > RANKED_WHOLE || self.fraction.len() > RANKED_FRACTION {
            return 0;
        }
        let digits = |value: i64, digit: &u8| value * 10 + i64::from(digit - b'0');
        let padded = self.fraction.iter().chain([b'0'; RANKED_FRACTION].iter()).take(RANKED_FRACTION);
        let value = self.whole.iter().chain(padded).fold(0, digits);
        (if self.negative { -value } else { value }) as u64 ^ (1 << 63)
    }
}

fn compare_decimals(a: &Decimal<'_>, b: &Decimal<'_>) -> Ordering {
    let magnitude = |a: &Decimal<'_>, b: &Decimal<'_>| {
        a.whole
            .len()
            .cmp(&b.whole.len())
            .then_with(|| a.whole.cmp(b.whole))
            .then_with(|| a.fraction.cmp(b.fraction))
    };
    match (a.negative, b.negative) {
        (false, false) => magnitude(a, b),
        (true, true) => magnitude(b, a),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

fn compare_numbers(a: &[u8], b: &[u8]) -> Ordering {
    compare_decimals(&decimal(a), &decimal(b))
}

/// `-h`: first by sign and suffix, then by number.
fn compare_human(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = (decimal(a), decimal(b));
    let rank = |d: &Decimal<'_>| {
        let zero = d.whole.is_empty() && d.fraction.is_empty();
        let suffix = d.rest.first().copied().unwrap_or(0);
        let unit = b"KMGTPEZY".iter().position(|&u| u == if suffix == b'k' { b'K' } else { suffix });
        let rank = if zero { 0 } else { unit.map_or(0, |p| p as i32 + 1) };
        if d.negative { -rank } else { rank }
    };
    rank(&a).cmp(&rank(&b)).then_with(|| compare_decimals(&a, &b))
}
