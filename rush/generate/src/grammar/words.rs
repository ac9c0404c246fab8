//! Utilities of words, numbers, times and programs: `seq`, `date`, `basename`, `dirname`, `xargs`, `env`.

use super::{Grammar, flag, name, optional, small, text, valued};
use crate::random::Random;

fn empty(_: &mut Random) -> Vec<u8> {
    Vec::new()
}

pub(super) const SEQ: Grammar = Grammar {
    name: "seq",
    options: &[
        flag(b'w', "equal-width"),
        valued(b's', "separator", seq_separator),
        valued(b'f', "format", seq_format),
    ],
    operands: seq_operands,
    input: empty,
    mixed: false,
    changes: false,
};

fn seq_separator(random: &mut Random) -> Vec<u8> {
    random.word(&[",", " ", "", "\\n", "::", "\u{e9}", "\n\n"])
}

fn seq_format(random: &mut Random) -> Vec<u8> {
    random.word(&["%g", "%03g", "%.2f", "x%gy", "%e", "%5.1f", "%d", "%", "%%", "%g%g", "%-5g|", "%+g", "%a"])
}

fn seq_operands(random: &mut Random) -> Vec<Vec<u8>> {
    // The end is never far from the start.
    let low = random.word(&[
        "1", "0", "-3", "5", "-1", "2", "007", "-0", "1.0", "0.5", "+2", "1e1", "0x5", "x", "", " 3", "9",
        "98", "-.5", "0.10", "1.", "inf", "nan", "-10",
    ]);
    let step = random.word(&["1", "2", "-1", "3", "0.5", "-2", "0", "1.0", ".25", "x", "10", "-0.5", "1e0"]);
    let high = random.word(&[
        "10", "5", "3", "12", "-5", "0", "1", "2.5", "100", "10.0", "+7", "1e1", "0xa", "y", "-2", "010",
    ]);
    match random.below(6) {
        0 | 1 => vec![high],
        2 | 3 => vec![low, high],
        4 => vec![low, step, high],
        _ => {
            let big = random.word(&[
                "9223372036854775807",
                "99999999999999999999",
                "999999999999999999",
                "4294967295",
                "-99999999999999999999",
            ]);
            let end = [big.as_slice(), random.pick(&["", "", "0"]).as_bytes()].concat();
            if end.len() == big.len() { vec![big, end] } else { vec![end.clone(), end] }
        }
    }
}

pub(super) const DATE: Grammar = Grammar {
    name: "date",
    options: &[
        flag(b'u', "utc"),
        flag(b'R', "rfc-email"),
        optional(b'I', "iso-8601", iso),
        valued(0, "rfc-3339", iso),
        flag(0, "universal"),
        flag(0, "debug"),
    ],
    operands: date_operands,
    input: empty,
    mixed: true,
    changes: false,
};

fn iso(random: &mut Random) -> Vec<u8> {
    random.word(&["date", "hours", "minutes", "seconds", "ns", "x"])
}

/// A time that is not the present one, and a format.
fn date_operands(random: &mut Random) -> Vec<Vec<u8>> {
    let mut out = if random.chance(10) {
        vec![b"-r".to_vec(), random.word(&["a.txt", "missing", "link", "long", "d"])]
    } else {
        vec![b"-d".to_vec(), moment(random)]
    };
    if random.chance(75) {
        out.push(date_format(random));
    }
    out
}

fn moment(random: &mut Random) -> Vec<u8> {
    if random.chance(50) {
        let span = 1usize << (10 + random.below(24));
        let seconds = random.below(span) as i64 - if random.chance(10) { 1_000_000 } else { 0 };
        return format!("@{seconds}").into_bytes();
    }
    let mut out = random.word(&[
        "2020-01-31",
        "2024-02-29",
        "1999-12-31",
        "2023-03-26",
        "2023-10-29",
        "1970-01-01",
        "2000-1-2",
        "2023-02-29",
        "20240102",
        "01/02/2024",
        "2024-13-01",
        "1900-01-01",
        "2 Jan 2024",
        "Jan 2 2024",
        "0001-01-01",
        "9999-12-31",
    ]);
    if random.chance(70) {
        out.extend(random.word(&[" ", "T"]));
        out.extend(random.word(&[
            "00:00",
            "12:34:56",
            "23:59:59",
            "02:30",
            "2:05",
            "24:00",
            "12:34:56.789",
            "12:60",
            "1pm",
            "03:00:00",
            "23:59:60",
        ]));
        out.extend(random.word(&["", "", "", "Z", " UTC", "+02:00", "-0530", "+1", " CET", " +0200"]));
    }
    if random.chance(12) {
        out.extend(random.word(&[
            " +1 day",
            " -1 month",
            " 2 days ago",
            " next week",
            " tomorrow",
            " + 3 hours",
            "  ",
        ]));
    }
    out
}

fn date_format(random: &mut Random) -> Vec<u8> {
    let mut out = b"+".to_vec();
    for _ in 0..1 + random.below(4) {
        if random.chance(20) {
            out.extend(random.word(&["-", " ", "x", "%%", "\u{e9}", "\n", "%n", "%t", "%"]));
            continue;
        }
        out.push(b'%');
        if random.chance(25) {
            out.extend(
                random.word(&[
                    "-", "_", "0", "^", "#", "-5", "_5", "05", "+", "10", "^10", "E", "O", "::", ":",
                ]),
            );
        }
        const LETTERS: &[u8] = b"aAbBcCdDeFgGhHIjklmMNpPqrRsSTuUVwWxXyYzZnt%Eif+";
        out.push(LETTERS[random.below(LETTERS.len())]);
    }
    out
}

pub(super) const BASENAME: Grammar = Grammar {
    name: "basename",
    options: &[flag(b'a', "multiple"), valued(b's', "suffix", suffix), flag(b'z', "zero")],
    operands: paths,
    input: empty,
    mixed: false,
    changes: false,
};

pub(super) const DIRNAME: Grammar = Grammar {
    name: "dirname",
    options: &[flag(b'z', "zero")],
    operands: paths,
    input: empty,
    mixed: true,
    changes: false,
};

fn suffix(random: &mut Random) -> Vec<u8> {
    random.word(&[".c", ".rs", "", "c", "/", "a", "b.c", "."])
}

fn paths(random: &mut Random) -> Vec<Vec<u8>> {
    (0..*random.pick(&[&1, &1, &2, &2, &3, &0]))
        .map(|_| {
            let pieces = random.below(5);
            (0..pieces)
                .flat_map(|_| {
                    random.word(&["a", "b.c", "/", "/", "//", ".", "..", ".c", " ", "\u{e9}", "-", "\n"])
                })
                .collect()
        })
        .collect()
}

pub(super) const XARGS: Grammar = Grammar {
    name: "xargs",
    options: &[
        valued(b'n', "max-args", small),
        flag(b'0', "null"),
        flag(b'r', "no-run-if-empty"),
        valued(b'I', "", replaced),
        valued(b'd', "delimiter", delimiter),
        valued(b's', "max-chars", bytes),
        flag(b't', "verbose"),
        valued(b'L', "max-lines", small),
        flag(b'x', "exit"),
        valued(b'P', "max-procs", one),
        valued(b'E', "", delimiter),
        valued(b'a', "arg-file", name),
    ],
    operands: xargs_operands,
    input: text,
    mixed: false,
    changes: false,
};

fn one(_: &mut Random) -> Vec<u8> {
    b"1".to_vec()
}

fn replaced(random: &mut Random) -> Vec<u8> {
    random.word(&["{}", "{}", "X", "a", ""])
}

fn delimiter(random: &mut Random) -> Vec<u8> {
    random.word(&[",", "\\n", "a", "\\0", ":", "ab", "\\t", "", "\\x41", "\\101"])
}

fn bytes(random: &mut Random) -> Vec<u8> {
    random.word(&["20", "50", "100", "10", "5", "0", "131072", "x"])
}

fn xargs_operands(random: &mut Random) -> Vec<Vec<u8>> {
    let choices: [&[&str]; 9] = [
        &[],
        &["echo"],
        &["echo", "x", "{}"],
        &["printf", "<%s>"],
        &["false"],
        &["true"],
        &["nosuchprogram"],
        &["echo", "-{}-", "X{}"],
        &["echo", "-n"],
    ];
    choices[random.below(choices.len())].iter().map(|word| word.as_bytes().to_vec()).collect()
}

pub(super) const ENV: Grammar = Grammar {
    name: "env",
    options: &[
        flag(b'i', "ignore-environment"),
        valued(b'u', "unset", variable),
        flag(b'0', "null"),
        valued(b'C', "chdir", name),
        valued(b'S', "split-string", split),
        flag(b'v', "debug"),
    ],
    operands: env_operands,
    input: text,
    mixed: false,
    changes: false,
};

fn variable(random: &mut Random) -> Vec<u8> {
    random.word(&["HOME", "PATH", "TZ", "A", "", "A=B", "NOSUCH"])
}

fn split(random: &mut Random) -> Vec<u8> {
    random.word(&["echo a b", "A=1 printenv A", ""])
}

fn env_operands(random: &mut Random) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    if random.chance(10) {
        out.push(b"-".to_vec());
    }
    for _ in 0..*random.pick(&[&0, &0, &1, &1, &2]) {
        out.push(random.word(&["A=1", "B=x y", "A=", "=x", "HOME=/h", "A=b=c", "A=\u{e9}"]));
    }
    let programs: [&[&str]; 10] = [
        &[],
        &[],
        &["printenv", "A"],
        &["echo", "x", "y"],
        &["false"],
        &["nosuchprogram"],
        &["./a.txt"],
        &["d"],
        &["sh", "-c", "echo $A; exit 3"],
        &["cat"],
    ];
    out.extend(programs[random.below(programs.len())].iter().map(|word| word.as_bytes().to_vec()));
    out
}
