//! `grep`: expressions from their grammar, in each of its notations.

use super::{Grammar, flag, name, names, number, optional, small, text, valued};
use crate::random::Random;

/// The grammar.
pub(super) const GREP: Grammar = Grammar {
    name: "grep",
    options: &[
        flag(b'E', "extended-regexp"),
        flag(b'F', "fixed-strings"),
        flag(b'o', "only-matching"),
        flag(b'n', "line-number"),
        flag(b'i', "ignore-case"),
        flag(b'v', "invert-match"),
        flag(b'c', "count"),
        flag(b'w', "word-regexp"),
        flag(b'x', "line-regexp"),
        flag(b'q', "quiet"),
        flag(b'l', "files-with-matches"),
        flag(b'L', "files-without-match"),
        flag(b'H', "with-filename"),
        flag(b'h', "no-filename"),
        flag(b's', "no-messages"),
        flag(b'a', "text"),
        flag(b'r', "recursive"),
        valued(b'e', "regexp", pattern),
        valued(b'm', "max-count", number),
        valued(b'm', "", small),
        valued(b'A', "after-context", small),
        valued(b'B', "before-context", small),
        valued(b'C', "context", small),
        flag(b'G', "basic-regexp"),
        valued(0, "include", glob),
        valued(0, "exclude", glob),
        valued(0, "exclude-dir", glob),
        flag(b'Z', "null"),
        flag(b'z', "null-data"),
        flag(b'b', "byte-offset"),
        optional(0, "color", colour),
        flag(b'P', "perl-regexp"),
        flag(b'R', "dereference-recursive"),
        valued(b'f', "file", name),
        flag(b'I', ""),
        flag(b'y', ""),
        flag(b'U', "binary"),
        flag(0, "line-buffered"),
        flag(0, "no-ignore-case"),
        valued(0, "binary-files", binary),
        valued(b'd', "directories", directories),
    ],
    operands,
    input: text,
    mixed: true,
    changes: false,
};

fn glob(random: &mut Random) -> Vec<u8> {
    random.word(&[
        "*.rs", "*.txt", "d", "sub", "*", "a*", "[a-b]*", "*.[ch]", "d/*", "code.rs", "", "?.*", "*\\.rs",
        ".*", "-", "/",
    ])
}

fn colour(random: &mut Random) -> Vec<u8> {
    random.word(&["never", "auto", "always"])
}

fn binary(random: &mut Random) -> Vec<u8> {
    random.word(&["text", "binary", "without-match"])
}

fn directories(random: &mut Random) -> Vec<u8> {
    random.word(&["read", "skip", "recurse"])
}

fn operands(random: &mut Random) -> Vec<Vec<u8>> {
    let mut out = vec![pattern(random)];
    if random.chance(4) {
        out.push(b"d".to_vec());
    }
    out.extend(names(random));
    out
}

/// An expression in either notation.
pub(super) fn expression(random: &mut Random, out: &mut Vec<u8>) {
    let extended = random.chance(50);
    branches(random, extended, 2, out);
}

/// An expression. Which notation is read is the options' choice, so each is made for all.
fn pattern(random: &mut Random) -> Vec<u8> {
    let extended = random.chance(50);
    let mut out = Vec::new();
    if random.chance(3) {
        return out;
    }
    branches(random, extended, 2, &mut out);
    if random.chance(4) {
        out.push(b'\n');
        branches(random, extended, 1, &mut out);
    }
    out
}

fn branches(random: &mut Random, extended: bool, depth: usize, out: &mut Vec<u8>) {
    branch(random, extended, depth, out);
    while random.chance(10) {
        out.extend_from_slice(if extended { b"|" } else { b"\\|" });
        branch(random, extended, depth, out);
    }
}

fn branch(random: &mut Random, extended: bool, depth: usize, out: &mut Vec<u8>) {
    if random.chance(10) {
        out.push(b'^');
    }
    for _ in 0..random.pick(&[&1, &1, &1, &2, &2, &3, &4, &0]).to_owned() {
        atom(random, extended, depth, out);
        if random.chance(22) {
            repetition(random, extended, out);
        }
    }
    if random.chance(10) {
        out.push(b'$');
    }
}

fn atom(random: &mut Random, extended: bool, depth: usize, out: &mut Vec<u8>) {
    const LITERALS: &[&str] = &[
        "a", "b", "c", "ab", "A", "B", "1", "0", "foo", "main", "rs", "word", " ", "-", "_", ":", "/", ",",
        "\"", "'", "e", "alpha", "the", "x", "\t",
    ];
    const OPERATORS: &[&str] = &[
        "*", "+", "?", "{", "}", "(", ")", "|", "[", "]", "^", "$", "\\", "{1}", "{,2}", "a{1", "\\{1\\}",
        "\\(", "\\)",
    ];
    const ODD: &[&[u8]] = &[
        "\u{e9}".as_bytes(),
        "\u{df}".as_bytes(),
        "\u{c9}".as_bytes(),
        b"\xff",
        b"\xe9",
        b"\x01",
        b"\r",
        "\u{20ac}".as_bytes(),
        "\u{212a}".as_bytes(),
        "k".as_bytes(),
        "s".as_bytes(),
    ];
    match random.below(100) {
        0..=39 => out.extend(random.word(LITERALS)),
        40..=52 => {
            // Escaped punctuation, and now and then anything.
            const PUNCTUATION: &[u8] = b"....**[]\\\\^$/-_\"'+?{}()|:,!#%&;<>=@`~ ";
            out.push(b'\\');
            out.push(if random.chance(93) {
                PUNCTUATION[random.below(PUNCTUATION.len())]
            } else {
                33 + random.below(94) as u8
            });
        }
        53..=61 => out.push(b'.'),
        62..=74 => bracket(random, out),
        75..=80 => out.extend(random.word(&[
            "\\w", "\\W", "\\s", "\\S", "\\b", "\\B", "\\<", "\\>", "\\w", "\\d", "\\t", "\\n", "\\`", "\\'",
        ])),
        81..=88 if depth > 0 => {
            out.extend_from_slice(if extended { b"(" } else { b"\\(" });
            branches(random, extended, depth - 1, out);
            out.extend_from_slice(if extended { b")" } else { b"\\)" });
        }
        89 => out.extend(random.word(&["\\1", "\\2", "\\(a\\)\\1", "(a)\\1", "(.)b*\\1"])),
        90..=93 => out.extend(random.word(OPERATORS)),
        94..=96 => out.extend_from_slice(ODD[random.below(ODD.len())]),
        _ => out.extend(random.word(LITERALS)),
    }
}

fn repetition(random: &mut Random, extended: bool, out: &mut Vec<u8>) {
    let text = random.pick(&[
        "*", "*", "*", "+", "?", "{1}", "{2}", "{1,}", "{,2}", "{1,2}", "{0}", "{2,1}", "{,}", "{1,x}",
        "{300}", "**", "*?",
    ]);
    for byte in text.bytes() {
        if !extended && b"+?{}".contains(&byte) {
            out.push(b'\\');
        }
        out.push(byte);
    }
}

fn bracket(random: &mut Random, out: &mut Vec<u8>) {
    const ITEMS: &[&str] = &[
        "a",
        "b",
        "c",
        "A",
        "1",
        "a-c",
        "A-Z",
        "0-9",
        "a-z",
        ".",
        "*",
        "\\",
        "$",
        "^",
        "-",
        "_",
        " ",
        ":",
        "/",
        "\\.",
        "\\n",
        "\\]",
        "[:alpha:]",
        "[:digit:]",
        "[:space:]",
        "[:upper:]",
        "[:lower:]",
        "[:alnum:]",
        "[:punct:]",
        "[:blank:]",
        "[:xdigit:]",
        "[:print:]",
        "[:graph:]",
        "[:cntrl:]",
        "[.-.]",
        "[=a=]",
        "[.space.]",
        "[:bad:]",
        "z-a",
        "[",
        "a-",
        "\u{e9}",
        "\u{e0}-\u{f6}",
        "+--",
        "!-/",
        "&&",
        "~~",
        "--",
        "|",
        "#",
    ];
    out.push(b'[');
    if random.chance(20) {
        out.push(b'^');
    }
    if random.chance(8) {
        out.push(b']');
    }
    for _ in 0..1 + random.below(3) {
        out.extend(random.word(ITEMS));
    }
    if random.chance(8) {
        out.push(b'-');
    }
    if !random.chance(2) {
        out.push(b']');
    }
}
