//! Utilities that look at files: `find`, `ls`, `stat`, `realpath`.

use super::{Grammar, flag, name, names, number, optional, small, text, valued};
use crate::random::Random;

fn empty(_: &mut Random) -> Vec<u8> {
    Vec::new()
}

pub(super) const FIND: Grammar = Grammar {
    name: "find",
    options: &[],
    operands: find_operands,
    input: empty,
    mixed: false,
    changes: false,
};

fn find_operands(random: &mut Random) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    if random.chance(15) {
        out.push(random.word(&["-H", "-L", "-P", "-O1"]));
    }
    for _ in 0..*random.pick(&[&1, &1, &1, &0, &2]) {
        out.push(random.word(&[
            "d", ".", "d/", "./d", "a.txt", "dirlink", "dirlink/", "missing", "empty", "d/sub", "dangling",
            "sp ace", "link", "d//", "nothing",
        ]));
    }
    if random.chance(25) {
        out.push(random.word(&["-maxdepth", "-mindepth"]));
        out.push(random.word(&["0", "1", "2", "x", "-1"]));
    }
    expression(random, 2, &mut out);
    out
}

fn expression(random: &mut Random, depth: usize, out: &mut Vec<Vec<u8>>) {
    for index in 0..*random.pick(&[&0, &1, &1, &2, &2, &3]) {
        if index > 0 && random.chance(35) {
            out.push(random.word(&["-o", "-o", "-a", "-or", "-and", ","]));
        }
        if random.chance(12) {
            out.push(random.word(&["!", "-not"]));
        }
        if depth > 0 && random.chance(12) {
            out.push(b"(".to_vec());
            expression(random, depth - 1, out);
            out.push(b")".to_vec());
        } else {
            primary(random, out);
        }
    }
}

fn primary(random: &mut Random, out: &mut Vec<Vec<u8>>) {
    let globs = [
        "*.rs",
        "*",
        "x*",
        "?.*",
        "*.[ch]",
        "[!x]*",
        ".*",
        "sub",
        "*.txt",
        "a.txt",
        "",
        "*\\.rs",
        "[a-d]*",
        "\\a*",
        "[[:alpha:]]*",
        "d/*",
        "*/sub*",
        "[",
        "X.RS",
        "[]x]*",
    ];
    let name = random.pick(&[
        "-name",
        "-name",
        "-type",
        "-type",
        "-path",
        "-iname",
        "-size",
        "-perm",
        "-mtime",
        "-newer",
        "-printf",
        "-exec",
        "-print",
        "-print",
        "-print0",
        "-prune",
        "-prune",
        "-empty",
        "-depth",
        "-true",
        "-false",
        "-quit",
        "-mmin",
        "-links",
        "-user",
        "-regex",
        "-ls",
        "-executable",
        "-readable",
        "-wholename",
        "-ipath",
        "-lname",
        "-inum",
        "-xdev",
        "-uid",
        "-samefile",
        "-newermt",
        "-writable",
        "-iregex",
        "-regextype",
        "-noleaf",
        "-mount",
        "-follow",
        "-daystart",
        "-d",
        "-size",
        "-fprint",
    ]);
    if *name == *"-fprint" {
        return;
    }
    out.push(name.as_bytes().to_vec());
    match name {
        "-name" | "-path" | "-iname" | "-wholename" | "-ipath" | "-lname" => out.push(random.word(&globs)),
        "-type" => out.push(random.word(&["f", "d", "l", "f", "d", "f,d", "x", "", "fd", "p"])),
        "-size" => out.push(random.word(&[
            "0", "+0", "-1", "1", "+1k", "-20c", "+10c", "-1M", "1b", "x", "10c", "-100w", "+0k", "-1k", "1G",
        ])),
        "-perm" => {
            out.push(random.word(&["644", "-4", "/111", "755", "-u+x", "u=rw", "0644", "+111", "-644", "9"]))
        }
        "-mtime" | "-mmin" => out.push(random.word(&["+1", "-1", "0", "5000", "+8000", "x", "-0"])),
        "-newer" | "-samefile" => out.push(random.word(&["a.txt", "dup", "missing", "words", "link"])),
        "-newermt" => out.push(random.word(&["2001-09-10", "@1000000000"])),
        "-links" => out.push(random.word(&["1", "2", "+1", "-3"])),
        "-inum" | "-uid" => out.push(random.word(&["0", "+0", "-5"])),
        "-user" => out.push(random.word(&["root", "0", "nobody", "nosuchuser"])),
        "-regex" | "-iregex" => out.push(random.word(&[".*rs", "d/.*", ".*/[a-z]*\\.c", "x"])),
        "-regextype" => out.push(random.word(&["posix-extended", "sed"])),
        "-printf" => out.push(printf_format(random)),
        "-exec" => {
            out.extend([b"echo".to_vec(), b"<{}>".to_vec()]);
            if random.chance(50) {
                out.push(b"{}".to_vec());
            }
            out.push(random.word(&[";", ";", "+"]));
        }
        _ => {}
    }
}

fn printf_format(random: &mut Random) -> Vec<u8> {
    let mut out: Vec<u8> = (0..1 + random.below(3))
        .flat_map(|_| {
            random.word(&[
                "%p", "%f", "%h", "%s", "%y", "%m", "%d", "%P", "%H", "%l", "%T@", "%TY", "%M", "%n", "%%",
                "\\n", "\\t", "\\0", "x", " ", "%u", "%g", "%5s", "%-9f|", "%k", "%b", "%Td", "%t", "\\\\",
                "\\101", "%q", "%TH:%TM", "%Y", "%a", "%", "\\",
            ])
        })
        .collect();
    if random.chance(80) {
        out.extend_from_slice(b"\\n");
    }
    out
}

pub(super) const LS: Grammar = Grammar {
    name: "ls",
    options: &[
        flag(b'l', ""),
        flag(b'a', "all"),
        flag(b'1', ""),
        flag(b'A', "almost-all"),
        flag(b'd', "directory"),
        flag(b't', ""),
        flag(b'r', "reverse"),
        flag(b'S', ""),
        flag(b'F', ""),
        flag(b'p', ""),
        flag(b'R', "recursive"),
        flag(b'h', "human-readable"),
        flag(b'n', "numeric-uid-gid"),
        flag(b'g', ""),
        flag(b'o', ""),
        flag(b'G', "no-group"),
        flag(b'i', "inode"),
        flag(b's', "size"),
        flag(b'U', ""),
        flag(b'L', "dereference"),
        flag(b'H', "dereference-command-line"),
        flag(b'Q', "quote-name"),
        flag(b'b', "escape"),
        flag(b'N', "literal"),
        flag(b'm', ""),
        flag(b'x', ""),
        flag(b'C', ""),
        flag(b'X', ""),
        flag(b'v', ""),
        flag(b'B', "ignore-backups"),
        flag(b'q', "hide-control-chars"),
        flag(b'k', "kibibytes"),
        flag(b'u', ""),
        flag(b'c', ""),
        flag(b'f', ""),
        flag(0, "full-time"),
        flag(0, "group-directories-first"),
        optional(0, "color", colour),
        optional(0, "classify", colour),
        valued(0, "sort", sort_word),
        valued(0, "time-style", time_style),
        valued(0, "time", time_word),
        flag(0, "si"),
        flag(0, "file-type"),
        valued(0, "block-size", block),
        valued(b'I', "ignore", glob),
        valued(0, "hide", glob),
        valued(b'w', "width", number),
        valued(0, "format", format_word),
        valued(0, "indicator-style", indicator),
        valued(0, "quoting-style", quoting),
        flag(b'Z', ""),
    ],
    operands: names,
    input: empty,
    mixed: true,
    changes: false,
};

fn colour(random: &mut Random) -> Vec<u8> {
    random.word(&["never", "auto", "always", "no", "none"])
}

fn sort_word(random: &mut Random) -> Vec<u8> {
    random.word(&["none", "size", "time", "version", "extension", "width", "name"])
}

fn time_style(random: &mut Random) -> Vec<u8> {
    random.word(&["full-iso", "long-iso", "iso", "locale", "+%s", "+%Y", "bad"])
}

fn time_word(random: &mut Random) -> Vec<u8> {
    random.word(&["atime", "mtime", "birth", "access"])
}

fn block(random: &mut Random) -> Vec<u8> {
    random.word(&["K", "1", "M", "human-readable", "'1", "512"])
}

fn glob(random: &mut Random) -> Vec<u8> {
    random.word(&["*.txt", "d*", "*"])
}

fn format_word(random: &mut Random) -> Vec<u8> {
    random.word(&["long", "single-column", "commas", "verbose", "across", "vertical"])
}

fn indicator(random: &mut Random) -> Vec<u8> {
    random.word(&["none", "slash", "classify", "file-type"])
}

fn quoting(random: &mut Random) -> Vec<u8> {
    random.word(&["literal", "shell", "shell-escape", "c", "escape"])
}

pub(super) const STAT: Grammar = Grammar {
    name: "stat",
    options: &[
        valued(b'c', "format", stat_format),
        valued(0, "printf", stat_printf),
        flag(b'L', "dereference"),
        flag(b't', "terse"),
        flag(b'f', "file-system"),
        valued(0, "cached", colour),
    ],
    operands: names,
    input: empty,
    mixed: true,
    changes: false,
};

fn stat_format(random: &mut Random) -> Vec<u8> {
    // Neither times of the last change, which differ between two trees, nor of reading.
    (0..1 + random.below(4))
        .flat_map(|_| {
            random.word(&[
                "%n", "%s", "%a", "%A", "%F", "%N", "%h", "%U", "%G", "%u", "%g", "%f", "%b", "%B", "%o",
                "%Y", "%y", "%t", "%T", "%%", " ", ":", "x", "%10s", "%-10s|", "%05a", "%#a", "%.3Y", "%20n",
                "%-20n|", "%+s", "% s", "%'s", "%.Y", "%10y", "%.10y", "%q", "%", "\\n", "%#f", "%05s", "%m",
                "%C", "%x", "%X",
            ])
        })
        .collect()
}

fn stat_printf(random: &mut Random) -> Vec<u8> {
    let mut out = stat_format(random);
    out.extend(
        random
            .word(&["\\n", "\\n", "\\t", "\\\\", "\\101", "\\x41", "\\e", "\\q", "\\a", "\\", "\\0", "\\\""]),
    );
    out
}

pub(super) const REALPATH: Grammar = Grammar {
    name: "realpath",
    options: &[
        flag(b'e', "canonicalize-existing"),
        flag(b'm', "canonicalize-missing"),
        flag(b's', "strip"),
        flag(b'q', "quiet"),
        flag(b'z', "zero"),
        flag(b'L', "logical"),
        flag(b'P', "physical"),
        valued(0, "relative-to", name),
        valued(0, "relative-base", name),
        flag(0, "no-symlinks"),
    ],
    operands: paths,
    input: empty,
    mixed: true,
    changes: false,
};

fn paths(random: &mut Random) -> Vec<Vec<u8>> {
    (0..*random.pick(&[&1, &1, &2, &3, &0]))
        .map(|_| {
            let mut out = random.word(&["", "", "/", "./", "d/", "../", "dirlink/", "//"]);
            for _ in 0..1 + random.below(3) {
                out.extend(random.word(&[
                    "a.txt", "d", "dirlink", "link", "dangling", "missing", "..", ".", "sub", "x.rs",
                    "sp ace", "/", "empty", "", "usr", "\u{e9}",
                ]));
                if random.chance(50) {
                    out.push(b'/');
                }
            }
            out
        })
        .collect()
}

pub(super) const DU: Grammar = Grammar {
    name: "du",
    options: &[
        flag(b'a', "all"),
        flag(b's', "summarize"),
        flag(b'h', "human-readable"),
        flag(b'c', "total"),
        flag(b'b', "bytes"),
        flag(0, "apparent-size"),
        valued(b'd', "max-depth", small),
        flag(b'S', "separate-dirs"),
        flag(b'l', "count-links"),
        flag(b'k', ""),
        flag(b'm', ""),
        flag(b'0', "null"),
        flag(b'x', "one-file-system"),
        flag(b'L', "dereference"),
        flag(0, "si"),
        valued(b'd', "max-depth", number),
    ],
    operands: names,
    input: text,
    mixed: true,
    changes: false,
};
