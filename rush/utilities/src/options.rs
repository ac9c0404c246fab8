//! Reading options as GNU's `getopt_long` does: anywhere before `--`, bundled letters, long names.
//!
//! Anything unexpected gives `None`, which makes the utility decline.

/// An option that was given, by its letter, with its value.
pub(crate) type Given<'a> = (u8, &'a [u8]);

/// A parsed command line.
pub(crate) struct Parsed<'a> {
    pub(crate) given: Vec<Given<'a>>,
    pub(crate) operands: Vec<&'a [u8]>,
}

impl<'a> Parsed<'a> {
    /// Whether the option was given.
    pub(crate) fn has(&self, letter: u8) -> bool {
        self.given.iter().any(|(l, _)| *l == letter)
    }

    /// The value of the option's last use.
    pub(crate) fn value(&self, letter: u8) -> Option<&'a [u8]> {
        self.given.iter().rev().find(|(l, _)| *l == letter).map(|(_, v)| *v)
    }

    /// Whether every value of these options holds: one that a later one overrides has to be valid all the same.
    pub(crate) fn every(&self, letters: &[u8], holds: impl Fn(u8, &[u8]) -> bool) -> bool {
        self.given
            .iter()
            .filter(|(letter, _)| letters.contains(letter))
            .all(|(letter, value)| holds(*letter, value))
    }

    /// The last given of several letters that override each other.
    pub(crate) fn last_of(&self, letters: &[u8]) -> Option<u8> {
        self.given.iter().rev().find(|(l, _)| letters.contains(l)).map(|(l, _)| *l)
    }
}

/// Parses `args` (the first is the name). In `short` a colon behind a letter means that it takes a value, a question mark that the rest of
/// its word is its value, be it empty. `long`
/// gives exact long names and the letter each stands for; a name that ends in `=` takes a value, one that ends
/// in `?` may take one behind an equals sign.
pub(crate) fn parse<'a>(args: &'a [Vec<u8>], short: &str, long: &[(&str, u8)]) -> Option<Parsed<'a>> {
    let mut parsed = Parsed { given: Vec::new(), operands: Vec::new() };
    let mut words = args.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_slice() {
            b"--" => {
                parsed.operands.extend(words.map(Vec::as_slice));
                break;
            }
            [b'-', b'-', name @ ..] => parse_long(&mut parsed, name, &mut words, long)?,
            [b'-', letters @ ..] if !letters.is_empty() => {
                parse_short(&mut parsed, letters, &mut words, short)?
            }
            operand => parsed.operands.push(operand),
        }
    }
    Some(parsed)
}

/// Like [`parse`], but options end at the first operand.
pub(crate) fn parse_until_operand<'a>(
    args: &'a [Vec<u8>],
    short: &str,
    long: &[(&str, u8)],
) -> Option<Parsed<'a>> {
    let mut end = 1;
    while let Some(word) = args.get(end) {
        match word.as_slice() {
            b"--" => break,
            [b'-', b'-', ..] => {
                let name = word.get(2..)?;
                let separate =
                    long.iter().any(|(l, _)| l.strip_suffix('=').is_some_and(|l| l.as_bytes() == name));
                end += usize::from(separate);
            }
            [b'-', letters @ ..] if !letters.is_empty() => {
                let last_takes = takes_value(short, *letters.last()?);
                let earlier =
                    letters.split_last().is_some_and(|(_, l)| l.iter().any(|&l| takes_value(short, l)));
                end += usize::from(last_takes && !earlier);
            }
            _ => break,
        }
        end += 1;
    }
    let end = end.min(args.len());
    let (head, tail) = args.split_at_checked(end)?;
    let mut parsed = parse(head, short, long)?;
    let tail = if tail.first().is_some_and(|w| w.as_slice() == b"--") { tail.get(1..)? } else { tail };
    parsed.operands.extend(tail.iter().map(Vec::as_slice));
    Some(parsed)
}

fn takes_value(short: &str, letter: u8) -> bool {
    has_mark(short, letter, b':')
}

/// Whether `mark` stands behind the letter.
fn has_mark(short: &str, letter: u8, mark: u8) -> bool {
    let short = short.as_bytes();
    short.iter().position(|&l| l == letter).is_some_and(|at| short.get(at + 1) == Some(&mark))
}

fn parse_short<'a>(
    parsed: &mut Parsed<'a>,
    letters: &'a [u8],
    words: &mut dyn Iterator<Item = &'a Vec<u8>>,
    short: &str,
) -> Option<()> {
    for (at, &letter) in letters.iter().enumerate() {
        if matches!(letter, b':' | b'?') || !short.as_bytes().contains(&letter) {
            return None;
        }
        let rest = letters.get(at + 1..)?;
        if has_mark(short, letter, b'?') {
            parsed.given.push((letter, rest));
            return Some(());
        }
        if !takes_value(short, letter) {
            parsed.given.push((letter, b""));
            continue;
        }
        let value = if rest.is_empty() { words.next()?.as_slice() } else { rest };
        parsed.given.push((letter, value));
        return Some(());
    }
    Some(())
}

fn parse_long<'a>(
    parsed: &mut Parsed<'a>,
    name: &'a [u8],
    words: &mut dyn Iterator<Item = &'a Vec<u8>>,
    long: &[(&str, u8)],
) -> Option<()> {
    let equals = name.iter().position(|&b| b == b'=');
    let bare = name.get(..equals.unwrap_or(name.len()))?;
    let value = equals.and_then(|at| name.get(at + 1..));
    for (known, letter) in long {
        if let Some(known) = known.strip_suffix('=') {
            if known.as_bytes() == bare {
                let value = match value {
                    Some(value) => value,
                    None => words.next()?.as_slice(),
                };
                parsed.given.push((*letter, value));
                return Some(());
            }
        } else if let Some(known) = known.strip_suffix('?') {
            if known.as_bytes() == bare {
                parsed.given.push((*letter, value.unwrap_or_default()));
                return Some(());
            }
        } else if known.as_bytes() == bare && value.is_none() {
            parsed.given.push((*letter, b""));
            return Some(());
        }
    }
    None
}

/// A plain decimal number.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// A number with GNU's size suffixes (`K`, `M`, `kB` ...).
pub(crate) fn size(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let base = number(text.get(..digits)?)?;
    let factor: u64 = match text.get(digits..)? {
        b"" => 1,
        b"b" => 512,
        b"kB" => 1_000,
        b"K" | b"k" | b"KiB" => 1 << 10,
        b"MB" => 1_000_000,
        b"M" | b"MiB" => 1 << 20,
        b"GB" => 1_000_000_000,
        b"G" | b"GiB" => 1 << 30,
        _ => return None,
    };
    base.checked_mul(factor)
}
