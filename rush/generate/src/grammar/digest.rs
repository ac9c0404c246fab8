//! `base64` and the programs of digests.

use super::{Choice, Grammar, flag, name, names, number, text, valued};
use crate::random::Random;

pub(super) const BASE64: Grammar = Grammar {
    name: "base64",
    options: &[
        flag(b'd', "decode"),
        flag(b'd', "decode"),
        valued(b'w', "wrap", columns),
        flag(b'i', "ignore-garbage"),
        valued(b'w', "wrap", number),
    ],
    operands: one,
    input: encoded,
    mixed: true,
    changes: false,
};

pub(super) const MD5SUM: Grammar = digests("md5sum", md5);
pub(super) const SHA1SUM: Grammar = digests("sha1sum", sha1);
pub(super) const SHA256SUM: Grammar = digests("sha256sum", sha256);

const OPTIONS: &[Choice] = &[
    flag(b'c', "check"),
    flag(b'c', "check"),
    flag(b'b', "binary"),
    flag(b't', "text"),
    flag(0, "tag"),
    flag(b'z', "zero"),
    flag(b'c', "check"),
    flag(0, "quiet"),
    flag(0, "status"),
    flag(b'w', "warn"),
    flag(0, "strict"),
    flag(0, "ignore-missing"),
];

const fn digests(name: &'static str, input: super::Make) -> Grammar {
    Grammar { name, options: OPTIONS, operands: names, input, mixed: true, changes: false }
}

fn one(random: &mut Random) -> Vec<Vec<u8>> {
    (0..*random.pick(&[&0, &0, &0, &1, &1, &2])).map(|_| name(random)).collect()
}

fn columns(random: &mut Random) -> Vec<u8> {
    random.word(&["0", "1", "3", "4", "5", "76", "10"])
}

fn encoded(random: &mut Random) -> Vec<u8> {
    if random.chance(30) {
        return text(random);
    }
    let mut out = Vec::new();
    for _ in 0..random.below(8) {
        out.extend(random.word(&[
            "YWJj", "YQ==", "YWI=", "\n", "Y", "=", "Zm9v", "YmFy\n", "*", " ", "AAAA", "+/+/", "\r\n",
            "YW\nJj",
        ]));
    }
    out
}

fn list(random: &mut Random, tag: &str, empty: &str, other: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..random.below(6) {
        let digest = if random.chance(80) { empty.to_owned() } else { other.to_owned() };
        let digest = if random.chance(8) { digest.to_uppercase() } else { digest };
        let file = String::from_utf8(random.word(&[
            "nothing",
            "nothing",
            "a.txt",
            "missing",
            "d",
            "sp ace",
            "",
            "no\\nthing",
            "(x)",
        ]));
        let file = file.unwrap_or_default();
        let line = match random.below(12) {
            0 => format!("{tag} ({file}) = {digest}"),
            1 => format!("{digest} *{file}"),
            2 => format!("\\{digest}  {file}"),
            3 => format!("{digest} {file}"),
            4 => format!("  {digest}  {file}"),
            5 => format!("# {digest}  {file}"),
            6 => digest[1..].to_owned() + "  " + &file,
            7 => String::from_utf8(random.word(&["", "x", "abc  nothing", "\t", "MD5 (nothing) = 1"]))
                .unwrap_or_default(),
            _ => format!("{digest}  {file}"),
        };
        out.extend(line.into_bytes());
        out.extend_from_slice(random.pick(&["\n", "\n", "\n", "\n", "\r\n"]).as_bytes());
    }
    if random.chance(10) {
        out.pop();
    }
    out
}

fn md5(random: &mut Random) -> Vec<u8> {
    list(random, "MD5", "d41d8cd98f00b204e9800998ecf8427e", "d41d8cd98f00b204e9800998ecf8427f")
}

fn sha1(random: &mut Random) -> Vec<u8> {
    list(
        random,
        "SHA1",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "00000a3ee5e6b4b0d3255bfef95601890afd8070",
    )
}

fn sha256(random: &mut Random) -> Vec<u8> {
    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    list(random, "SHA256", EMPTY, "13b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
}
