//! Grammars of command lines: options with their values in every notation, operands, inputs.

mod awk;
mod change;
mod diff;
mod digest;
mod files;
mod filter;
mod grep;
mod sed;
mod words;

use crate::case::{Case, Locale, Stdin};
use crate::random::Random;

/// Makes the value of an option or an operand.
pub(crate) type Make = fn(&mut Random) -> Vec<u8>;

/// An option.
pub(crate) struct Choice {
    /// The letter; 0 for none.
    pub(crate) short: u8,
    /// The long name; empty for none.
    pub(crate) long: &'static str,
    pub(crate) value: Value,
}

/// What an option takes.
pub(crate) enum Value {
    None,
    Required(Make),
    /// Behind an equals sign, or glued to the letter.
    Optional(Make),
}

/// An option without a value.
pub(crate) const fn flag(short: u8, long: &'static str) -> Choice {
    Choice { short, long, value: Value::None }
}

/// An option with a value.
pub(crate) const fn valued(short: u8, long: &'static str, make: Make) -> Choice {
    Choice { short, long, value: Value::Required(make) }
}

/// An option that may have a value.
pub(crate) const fn optional(short: u8, long: &'static str, make: Make) -> Choice {
    Choice { short, long, value: Value::Optional(make) }
}

/// The grammar of one utility.
pub(crate) struct Grammar {
    pub(crate) name: &'static str,
    /// Options, the more usual first.
    pub(crate) options: &'static [Choice],
    /// The operands.
    pub(crate) operands: fn(&mut Random) -> Vec<Vec<u8>>,
    /// Standard input.
    pub(crate) input: Make,
    /// Whether options may stand behind operands.
    pub(crate) mixed: bool,
    /// Whether it changes files, so that every case gets a tree of its own.
    pub(crate) changes: bool,
}

/// Every grammar.
pub(crate) static ALL: &[Grammar] = &[
    grep::GREP,
    filter::SORT,
    filter::UNIQ,
    filter::CUT,
    filter::TR,
    filter::HEAD,
    filter::TAIL,
    filter::WC,
    filter::CAT,
    files::FIND,
    files::LS,
    words::SEQ,
    files::STAT,
    words::DATE,
    words::BASENAME,
    words::DIRNAME,
    words::XARGS,
    change::TEE,
    files::REALPATH,
    change::MKDIR,
    change::RM,
    change::CP,
    change::MV,
    change::TOUCH,
    words::ENV,
    sed::SED,
    awk::AWK,
    files::DU,
    diff::DIFF,
    digest::BASE64,
    digest::MD5SUM,
    digest::SHA1SUM,
    digest::SHA256SUM,
];

impl Grammar {
    /// A case.
    pub(crate) fn case(&self, random: &mut Random) -> Case {
        let mut options = Vec::new();
        for _ in 0..random.pick(&[&0, &0, &1, &1, &1, &2, &2, &3, &4]).to_owned() {
            self.option(random, &mut options);
        }
        let mut operands: Vec<Vec<Vec<u8>>> = (self.operands)(random).into_iter().map(|o| vec![o]).collect();
        let dashed = operands.iter().any(|o| o[0].starts_with(b"-") && o[0].len() > 1);
        let mut groups = Vec::new();
        if self.mixed && random.chance(15) {
            for option in options {
                let at = random.below(operands.len() + 1);
                operands.insert(at, option);
            }
        } else {
            groups.extend(options);
            if random.chance(if dashed { 50 } else { 8 }) {
                groups.push(vec![b"--".to_vec()]);
            }
        }
        let mut args = vec![self.name.as_bytes().to_vec()];
        args.extend(groups.into_iter().chain(operands).flatten());
        let input = (self.input)(random);
        let stdin = match random.below(8) {
            0 | 1 => Stdin::File,
            2 => Stdin::FileAt(random.below(input.len() + 2) as u64),
            _ => Stdin::Pipe,
        };
        let locale = match random.below(10) {
            0..=3 => Locale::Utf8,
            4..=6 => Locale::C,
            7 | 8 => Locale::Unset,
            _ => Locale::LangUtf8,
        };
        // What awks say of a full device differs.
        let full = random.chance(2) && self.name != "awk";
        Case { args, input, stdin, locale, full }
    }

    /// Appends an option; sometimes to the letters of the last one.
    fn option(&self, random: &mut Random, out: &mut Vec<Vec<Vec<u8>>>) {
        // The first ones more often.
        let limit = 1 + random.below(self.options.len().max(1));
        let Some(choice) = self.options.get(random.below(limit)) else { return };
        let long = choice.short == 0 || (!choice.long.is_empty() && random.chance(20));
        let value = match &choice.value {
            Value::None => None,
            Value::Required(make) => Some(make(random)),
            Value::Optional(make) => random.chance(60).then(|| make(random)),
        };
        let required = matches!(choice.value, Value::Required(_));
        if long {
            let mut name = choice.long.to_owned();
            if random.chance(8) && name.len() > 3 {
                name.truncate(3 + random.below(name.len() - 3));
            }
            let mut word = [b"--", name.as_bytes()].concat();
            match value {
                Some(value) if required && random.chance(30) => out.push(vec![word, value]),
                Some(value) => {
                    word.push(b'=');
                    word.extend(value);
                    out.push(vec![word]);
                }
                None => out.push(vec![word]),
            }
            return;
        }
        let mut word = vec![b'-', choice.short];
        if random.chance(30)
            && let Some([last]) = out.last().map(Vec::as_slice)
            && last.len() == 2
            && last[0] == b'-'
            && last[1] != b'-'
            && self.options.iter().any(|o| o.short == last[1] && matches!(o.value, Value::None))
        {
            word = [last.as_slice(), &[choice.short]].concat();
            out.pop();
        }
        match value {
            Some(value) if required && (value.is_empty() || random.chance(50)) => out.push(vec![word, value]),
            Some(value) => {
                word.extend(value);
                out.push(vec![word]);
            }
            None => out.push(vec![word]),
        }
    }
}

/// Names of the tree's files, folders and what is none.
pub(crate) const NAMES: &[&str] = &[
    "a.txt",
    "b.txt",
    "no-newline",
    "nothing",
    "newline",
    "binary",
    "utf8",
    "latin1",
    "crlf",
    "numbers",
    "words",
    "dup",
    "code.rs",
    "d/x.rs",
    "d/y.txt",
    "d/sub/z.c",
    "sp ace",
    "long",
    "link",
    "a.txt",
    "words",
    "dup",
    "code.rs",
    "utf8",
    "missing",
    "d",
    "dangling",
    "dirlink",
    "empty",
    "-",
    "-dash",
    "./a.txt",
    "d/",
    "a.txt/",
    "missing/x",
    "dirlink/x.rs",
    "d/sub",
    ".",
    "",
];

/// A file's name.
pub(crate) fn name(random: &mut Random) -> Vec<u8> {
    // The readable ones more often.
    let limit = if random.chance(75) { 24 } else { NAMES.len() };
    NAMES[random.below(limit)].as_bytes().to_vec()
}

/// No, one or several files; often none, so that standard input is read.
pub(crate) fn names(random: &mut Random) -> Vec<Vec<u8>> {
    let count = *random.pick(&[&0usize, &0, &0, &1, &1, &2, &3]);
    (0..count).map(|_| name(random)).collect()
}

/// Numbers as they are given to options.
pub(crate) fn number(random: &mut Random) -> Vec<u8> {
    random.word(&[
        "0",
        "1",
        "2",
        "3",
        "1",
        "2",
        "5",
        "10",
        "007",
        "1K",
        "1b",
        "-1",
        "-2",
        "+1",
        "+2",
        "+0",
        "x",
        "",
        "1x",
        "18446744073709551616",
        "99999999999999999999",
        " 2",
        "1kB",
        "-0",
    ])
}

/// Small numbers.
pub(crate) fn small(random: &mut Random) -> Vec<u8> {
    random.word(&["0", "1", "1", "2", "2", "3", "4", "10", "05"])
}

/// Text of lines over few characters, so that lines repeat and patterns match.
pub(crate) fn text(random: &mut Random) -> Vec<u8> {
    const PIECES: &[&[u8]] = &[
        b"a", b"b", b"c", b"ab", b"A", b"B", b"1", b"10", b"2", b"09", b" ", b"  ", b"\t", b".", b"-", b"_",
        b":", b",", b"/", b"*", b"[", b"]", b"\\", b"^", b"$", b"+", b"?", b"{", b"}", b"(", b")", b"|",
        b"aa", b"foo", b"bar", b"main.rs", b"word", b"\"", b"'", b"-5", b"1.5", b"1e3", b"2K", b"%", b"#",
    ];
    const ODD: &[&[u8]] = &[
        b"\xc3\xa9",
        b"\xc3\x9f",
        b"\xc3\x89",
        b"\xff",
        b"\xe9",
        b"\0",
        b"\r",
        b"\x0b",
        b"\x0c",
        b"\x01",
        b"\x7f",
        b"\xe2\x82\xac",
        b"\xc2\xa0",
        b"\xf0\x9f\x98\x80",
        b"\xcc\x81",
        b"\xc3",
        b"\xe2\x84\xaa",
        b"\xc5\xbf",
        b"\xe4\xb8\xad",
        b"\xc4\xb0",
    ];
    let odd = random.chance(25);
    let ending: &[u8] = if random.chance(5) {
        b"\r\n"
    } else if random.chance(4) {
        b"\0"
    } else {
        b"\n"
    };
    let few = random.chance(60);
    let lines = match random.below(20) {
        0 => 0,
        1 => 40,
        _ => 1 + random.below(7),
    };
    let mut out = Vec::new();
    for line in 0..lines {
        let pieces = if random.chance(12) { 0 } else { 1 + random.below(5) };
        for _ in 0..pieces {
            let limit = if few { 12 } else { PIECES.len() };
            out.extend_from_slice(if odd && random.chance(15) {
                ODD[random.below(ODD.len())]
            } else {
                PIECES[random.below(limit)]
            });
        }
        if line + 1 < lines || !random.chance(15) {
            out.extend_from_slice(ending);
        }
    }
    out
}
