//! Filters: `sort`, `uniq`, `cut`, `tr`, `head`, `tail`, `wc`, `cat`.

use super::{Grammar, flag, names, number, optional, text, valued};
use crate::random::Random;

pub(super) const SORT: Grammar = Grammar {
    name: "sort",
    options: &[
        flag(b'n', "numeric-sort"),
        flag(b'r', "reverse"),
        flag(b'u', "unique"),
        valued(b'k', "key", sort_key),
        valued(b't', "field-separator", separator),
        flag(b'f', "ignore-case"),
        flag(b'b', "ignore-leading-blanks"),
        flag(b'd', "dictionary-order"),
        flag(b'i', "ignore-nonprinting"),
        flag(b'h', "human-numeric-sort"),
        flag(b's', "stable"),
        flag(b'c', ""),
        flag(b'C', ""),
        optional(0, "check", check),
        flag(b'g', "general-numeric-sort"),
        flag(b'V', "version-sort"),
        flag(b'M', "month-sort"),
        flag(b'z', "zero-terminated"),
        flag(b'm', "merge"),
        valued(0, "sort", sort_word),
        valued(b'S', "buffer-size", number),
        valued(0, "parallel", number),
        valued(b'T', "temporary-directory", folder),
    ],
    operands: names,
    input: text,
    mixed: true,
    changes: false,
};

fn sort_key(random: &mut Random) -> Vec<u8> {
    if random.chance(5) {
        return random.word(&["0", "x", "", "1,", "1.0", "-1", "1.", "1,2.x", "1-2"]);
    }
    let mut out = position(random);
    if random.chance(50) {
        out.push(b',');
        out.extend(position(random));
    }
    out
}

fn position(random: &mut Random) -> Vec<u8> {
    let mut out = random.word(&["1", "2", "1", "3", "2"]);
    if random.chance(30) {
        out.extend(random.word(&[".1", ".2", ".3", ".0"]));
    }
    if random.chance(40) {
        out.extend(random.word(&["n", "r", "b", "f", "d", "i", "nr", "h", "bn", "g", "V", "M"]));
    }
    out
}

fn separator(random: &mut Random) -> Vec<u8> {
    random.word(&[":", ",", " ", "\t", "a", "\\0", "::", "", "\\t", "\u{e9}", "/"])
}

fn check(random: &mut Random) -> Vec<u8> {
    random.word(&["quiet", "silent", "diagnose-first"])
}

fn sort_word(random: &mut Random) -> Vec<u8> {
    random.word(&["numeric", "human-numeric", "version", "general-numeric", "month"])
}

fn folder(random: &mut Random) -> Vec<u8> {
    random.word(&["/tmp", "d", "missing"])
}

pub(super) const UNIQ: Grammar = Grammar {
    name: "uniq",
    options: &[
        flag(b'c', "count"),
        flag(b'd', "repeated"),
        flag(b'u', "unique"),
        flag(b'i', "ignore-case"),
        valued(b'f', "skip-fields", number),
        valued(b's', "skip-chars", number),
        valued(b'w', "check-chars", number),
        flag(b'z', "zero-terminated"),
        flag(b'D', ""),
        optional(0, "all-repeated", grouping),
        optional(0, "group", grouping),
    ],
    operands: one_name,
    input: text,
    mixed: true,
    changes: false,
};

fn grouping(random: &mut Random) -> Vec<u8> {
    random.word(&["none", "prepend", "separate", "append", "both"])
}

fn one_name(random: &mut Random) -> Vec<Vec<u8>> {
    names(random).into_iter().take(1).collect()
}

pub(super) const CUT: Grammar = Grammar {
    name: "cut",
    options: &[
        valued(b'f', "fields", list),
        valued(b'd', "delimiter", separator),
        valued(b'c', "characters", list),
        valued(b'b', "bytes", list),
        flag(b's', "only-delimited"),
        flag(0, "complement"),
        valued(0, "output-delimiter", output_delimiter),
        flag(b'z', "zero-terminated"),
        flag(b'n', ""),
    ],
    operands: cut_operands,
    input: text,
    mixed: true,
    changes: false,
};

/// One of the lists is needed: it comes as the first operand, which is why most lines are not refused.
fn cut_operands(random: &mut Random) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    if random.chance(70) {
        out.push([random.word(&["-f", "-f", "-c", "-b"]), list(random)].concat());
    }
    out.extend(names(random));
    out
}

fn list(random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    for index in 0..*random.pick(&[&1, &1, &1, &2, &3]) {
        if index > 0 {
            out.extend(random.word(&[",", ",", ",", " ", ",,"]));
        }
        out.extend(random.word(&[
            "1",
            "2",
            "3",
            "1-2",
            "2-",
            "-2",
            "2-3",
            "3-1",
            "1-",
            "-",
            "0",
            "5-7",
            "4",
            "x",
            "1-2-3",
            "10",
            "",
            "99999999999999999999",
            "18446744073709551615",
            "1-18446744073709551614",
        ]));
    }
    out
}

fn output_delimiter(random: &mut Random) -> Vec<u8> {
    random.word(&["+", "::", "", "\t", "\u{e9}", "\n"])
}

pub(super) const TR: Grammar = Grammar {
    name: "tr",
    options: &[
        flag(b'd', "delete"),
        flag(b's', "squeeze-repeats"),
        flag(b'c', "complement"),
        flag(b'C', ""),
        flag(b't', "truncate-set1"),
    ],
    operands: tr_operands,
    input: text,
    mixed: false,
    changes: false,
};

fn tr_operands(random: &mut Random) -> Vec<Vec<u8>> {
    (0..*random.pick(&[&1, &1, &2, &2, &2, &2, &2, &3, &0])).map(|_| set(random)).collect()
}

fn set(random: &mut Random) -> Vec<u8> {
    const ITEMS: &[&str] = &[
        "a",
        "b",
        "c",
        "A",
        "1",
        " ",
        "-",
        "_",
        ":",
        ".",
        "a-c",
        "A-C",
        "0-9",
        "a-z",
        "A-Z",
        "[:lower:]",
        "[:upper:]",
        "[:alpha:]",
        "[:digit:]",
        "[:space:]",
        "[:punct:]",
        "[:alnum:]",
        "[:blank:]",
        "[:cntrl:]",
        "[:print:]",
        "[:graph:]",
        "[:xdigit:]",
        "\\n",
        "\\t",
        "\\\\",
        "\\r",
        "\\0",
        "\\141",
        "\\012",
        "\\377",
        "[a*3]",
        "[x*]",
        "[b*0]",
        "[=a=]",
        "z-a",
        "[",
        "]",
        "[a-c]",
        "\u{e9}",
        "\\-",
        "\\x",
        "[:bad:]",
        "\\400",
        "*",
        "a-",
        "-z",
        "\\8",
        "\\",
        "[a*",
        "[c*010]",
        "\\a",
        "[:",
        "[=",
        "[\\n*2]",
        "\\055",
    ];
    if random.chance(3) {
        return Vec::new();
    }
    (0..*random.pick(&[&1, &1, &1, &2, &2, &3])).flat_map(|_| random.word(ITEMS)).collect()
}

pub(super) const HEAD: Grammar = Grammar {
    name: "head",
    options: &[
        valued(b'n', "lines", number),
        valued(b'c', "bytes", number),
        flag(b'q', "quiet"),
        flag(b'v', "verbose"),
        flag(b'1', ""),
        flag(b'2', ""),
        flag(b'z', "zero-terminated"),
        flag(0, "silent"),
    ],
    operands: names,
    input: text,
    mixed: true,
    changes: false,
};

pub(super) const TAIL: Grammar = Grammar {
    name: "tail",
    options: &[
        valued(b'n', "lines", number),
        valued(b'c', "bytes", number),
        flag(b'q', "quiet"),
        flag(b'v', "verbose"),
        flag(b'1', ""),
        flag(b'2', ""),
        flag(b'z', "zero-terminated"),
        flag(0, "silent"),
    ],
    operands: names,
    input: text,
    mixed: true,
    changes: false,
};

pub(super) const WC: Grammar = Grammar {
    name: "wc",
    options: &[
        flag(b'l', "lines"),
        flag(b'w', "words"),
        flag(b'c', "bytes"),
        flag(b'm', "chars"),
        flag(b'L', "max-line-length"),
        valued(0, "files0-from", super::name),
    ],
    operands: names,
    input: text,
    mixed: true,
    changes: false,
};

pub(super) const CAT: Grammar = Grammar {
    name: "cat",
    options: &[
        flag(b'n', "number"),
        flag(b'A', "show-all"),
        flag(b'b', "number-nonblank"),
        flag(b's', "squeeze-blank"),
        flag(b'E', "show-ends"),
        flag(b'T', "show-tabs"),
        flag(b'v', "show-nonprinting"),
        flag(b'e', ""),
        flag(b't', ""),
        flag(b'u', ""),
    ],
    operands: names,
    input: text,
    mixed: true,
    changes: false,
};
