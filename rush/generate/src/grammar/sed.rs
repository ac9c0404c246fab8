//! `sed`: scripts from their grammar.

use super::{Grammar, flag, names, optional, text, valued};
use crate::random::Random;

/// The grammar.
pub(super) const SED: Grammar = Grammar {
    name: "sed",
    options: &[
        flag(b'n', "quiet"),
        flag(b'E', "regexp-extended"),
        flag(b'r', ""),
        flag(b's', "separate"),
        flag(b'z', "null-data"),
        valued(b'e', "expression", script),
        flag(b'u', "unbuffered"),
        valued(b'l', "line-length", width),
        optional(b'i', "in-place", suffix),
        flag(0, "posix"),
        flag(0, "debug"),
        flag(0, "sandbox"),
    ],
    operands,
    input: text,
    mixed: true,
    changes: true,
};

fn width(random: &mut Random) -> Vec<u8> {
    random.word(&["5", "1", "0", "20", "x"])
}

fn suffix(random: &mut Random) -> Vec<u8> {
    random.word(&[".bak", "~", "b_*", "d/*.old"])
}

fn operands(random: &mut Random) -> Vec<Vec<u8>> {
    let mut out = vec![script(random)];
    out.extend(names(random));
    out
}

fn script(random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    for index in 0..random.pick(&[&1, &1, &1, &1, &2, &2, &3, &4]).to_owned() {
        if index > 0 {
            out.extend(random.word(&[";", "\n", "; ", ";;"]));
        }
        command(random, 2, &mut out);
    }
    out
}

fn command(random: &mut Random, depth: usize, out: &mut Vec<u8>) {
    if random.chance(45) {
        address(random, out);
        if random.chance(35) {
            out.push(b',');
            match random.below(5) {
                0 => out.extend(random.word(&["+1", "+0", "+2", "~2", "~3", "~0"])),
                _ => address(random, out),
            }
        }
        out.extend(random.word(&["", "", "", "", "!", " ", "! "]));
    }
    match random.below(100) {
        0..=44 => substitution(random, out),
        45..=54 => out.extend(random.word(&["p", "d", "p", "d", "=", "l", "l 3", "l 1", "F", "z"])),
        55..=64 => out.extend(random.word(&["n", "N", "D", "P", "g", "G", "h", "H", "x", "$!N"])),
        65..=68 => inserted_text(random, out),
        69..=71 => out.extend(random.word(&[
            "a x",
            "i\\\nx\\\ny",
            "c new",
            "a\\\n  b",
            "i  x ",
            "c\\\nq",
            "a\\",
            "a",
            "a\\tx",
            "a x\\ty",
            "i x\\\\y",
            "a x\\y",
        ])),
        72..=75 => out.extend(random.word(&["q", "Q", "q5", "q 3", "Q 2", "q300"])),
        76..=79 => out.extend(random.word(&[
            "y/abc/xyz/",
            "y/ab/\\n\\\\/",
            "y,a/,/a,",
            "y/a\\/b/123/",
            "y/ab/x/",
            "y/é/e/",
            "y/e/é/",
        ])),
        80..=84 => out.extend(random.word(&[
            "r b.txt",
            "R a.txt",
            "r missing",
            "w out",
            "W out",
            "w /dev/stdout",
            "R missing",
            "w",
            "w /dev/stderr",
        ])),
        85..=89 => out.extend(random.word(&[
            ":a;s/a/b/;ta",
            "ta;s/a/x/;:a",
            "bx;p;:x",
            "b",
            "t",
            "T",
            "bnone",
            ":a",
            ":a\nN\n$!ba",
            "s/x/y/;T;p",
        ])),
        90..=95 if depth > 0 => {
            out.push(b'{');
            command(random, depth - 1, out);
            out.extend(random.word(&["}", ";}", "\n}", " }", ""]));
        }
        96 => out.extend(random.word(&["#n", "# x", "}", "e", "v", "k", "p x", "pp"])),
        _ => out.push(b'p'),
    }
}

/// `a`, `i` or `c`: every arrangement of blanks, backslashes and line breaks before, in and behind the text.
fn inserted_text(random: &mut Random, out: &mut Vec<u8>) {
    out.extend(random.word(&["a", "i", "c"]));
    out.extend(random.word(&["", " ", "  ", "\t"]));
    out.extend(random.word(&["", "\\", "\\", "\\\n"]));
    for _ in 0..random.below(5) {
        out.extend(random.word(&[
            "x",
            "caf\u{e9}",
            " ",
            "  ",
            "\t",
            "\\ ",
            "\\\t",
            "\\\n",
            "\\\\",
            "\\x",
            ";",
            "}",
            "#",
            "\\;",
            "\n",
        ]));
    }
}

fn address(random: &mut Random, out: &mut Vec<u8>) {
    match random.below(10) {
        0..=3 => out.extend(random.word(&["1", "2", "3", "1", "2", "0", "5", "10"])),
        4 => out.push(b'$'),
        5 => out.extend(random.word(&["0~2", "1~2", "2~3", "1~0", "0~0", "2~1"])),
        _ => {
            let delimiter =
                if random.chance(80) { b'/' } else { *random.pick(&[&b',', &b'%', &b'|', &b'_']) };
            if delimiter != b'/' {
                out.push(b'\\');
            }
            out.push(delimiter);
            expression(random, out);
            out.push(delimiter);
            out.extend(random.word(&["", "", "", "", "I", "M", "IM"]));
        }
    }
}

fn substitution(random: &mut Random, out: &mut Vec<u8>) {
    let delimiter =
        if random.chance(80) { b'/' } else { *random.pick(&[&b',', &b'|', &b'#', &b'@', &b'x', &b'.']) };
    out.push(b's');
    out.push(delimiter);
    expression(random, out);
    out.push(delimiter);
    for _ in 0..random.below(4) {
        out.extend(random.word(&[
            "x", "&", "\\1", "\\2", "[&]", "\\n", "\\t", "-", "\\U", "\\L", "\\E", "\\u", "\\l", "\\&",
            "\\\\", "\n", "\\\n", "é", "\\x41", "\\/", "\\0", "ab", "\\U&", "\\u\\1", "\\L\\u&",
        ]));
    }
    out.push(delimiter);
    out.extend(random.word(&[
        "", "", "g", "g", "p", "2", "gp", "2g", "I", "M", "gI", "Mg", "w out", "e", "0", "gg", "Igp", "3",
    ]));
}

fn expression(random: &mut Random, out: &mut Vec<u8>) {
    if random.chance(3) {
        return;
    }
    let start = out.len();
    super::grep::expression(random, out);
    // Slashes end expressions: most of them are escaped.
    if random.chance(80) {
        let made = out.split_off(start);
        for byte in made {
            if byte == b'/' {
                out.push(b'\\');
            }
            out.push(byte);
        }
    }
}
