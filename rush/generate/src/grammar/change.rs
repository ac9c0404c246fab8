//! Utilities that change files: `tee`, `mkdir`, `rm`, `cp`, `mv`, `touch`. Their operands stay inside the tree.

use super::{Grammar, flag, optional, text, valued};
use crate::random::Random;

fn empty(_: &mut Random) -> Vec<u8> {
    Vec::new()
}

/// What is there, and what is not. `..` never leaves the tree.
const OPERANDS: &[&str] = &[
    "a.txt",
    "b.txt",
    "d",
    "d/x.rs",
    "d/sub",
    "empty",
    "link",
    "dangling",
    "dirlink",
    "new",
    "new/",
    "missing/x",
    "d/",
    "new/inner",
    "a.txt/",
    "a.txt/x",
    "sp ace",
    "-dash",
    "./a.txt",
    "d/new",
    "dirlink/",
    "dirlink/x.rs",
    "missing",
    ".",
    "d/.",
    "d/..",
    "",
    "nothing",
    "d/sub/z.c",
    "empty/",
    "\u{e9}",
    "new2",
    "d//x.rs",
    "dangling/",
    "d/sub/deep",
];

fn operand(random: &mut Random) -> Vec<u8> {
    random.word(OPERANDS)
}

fn operands(random: &mut Random) -> Vec<Vec<u8>> {
    (0..*random.pick(&[&1, &1, &2, &2, &3, &0])).map(|_| operand(random)).collect()
}

fn two(random: &mut Random) -> Vec<Vec<u8>> {
    (0..*random.pick(&[&2, &2, &2, &3, &1])).map(|_| operand(random)).collect()
}

fn mode(random: &mut Random) -> Vec<u8> {
    random.word(&["700", "755", "0", "u=rwx,go=", "u+x", "1777", "9", "a=r", "", "-w", "0644"])
}

pub(super) const TEE: Grammar = Grammar {
    name: "tee",
    options: &[
        flag(b'a', "append"),
        flag(b'i', "ignore-interrupts"),
        flag(b'p', ""),
        optional(0, "output-error", output_error),
    ],
    operands,
    input: text,
    mixed: true,
    changes: true,
};

fn output_error(random: &mut Random) -> Vec<u8> {
    random.word(&["warn", "exit", "warn-nopipe"])
}

pub(super) const MKDIR: Grammar = Grammar {
    name: "mkdir",
    options: &[flag(b'p', "parents"), flag(b'v', "verbose"), valued(b'm', "mode", mode)],
    operands,
    input: empty,
    mixed: true,
    changes: true,
};

pub(super) const RM: Grammar = Grammar {
    name: "rm",
    options: &[
        flag(b'f', "force"),
        flag(b'r', "recursive"),
        flag(b'R', ""),
        flag(b'd', "dir"),
        flag(b'v', "verbose"),
        flag(b'i', ""),
        flag(b'I', ""),
        optional(0, "interactive", when),
        flag(0, "one-file-system"),
        flag(0, "preserve-root"),
    ],
    operands,
    input: answers,
    mixed: true,
    changes: true,
};

fn when(random: &mut Random) -> Vec<u8> {
    random.word(&["never", "always", "once", "no"])
}

fn answers(random: &mut Random) -> Vec<u8> {
    random.word(&["y\n", "n\n", "", "y\ny\ny\n"])
}

pub(super) const CP: Grammar = Grammar {
    name: "cp",
    options: &[
        flag(b'r', "recursive"),
        flag(b'R', ""),
        flag(b'f', "force"),
        flag(b'p', ""),
        flag(b'a', "archive"),
        flag(b'n', "no-clobber"),
        flag(b'v', "verbose"),
        flag(b'T', "no-target-directory"),
        valued(b't', "target-directory", operand),
        flag(b'i', "interactive"),
        flag(b'u', "update"),
        flag(b'd', ""),
        flag(b'L', "dereference"),
        flag(b'P', "no-dereference"),
        flag(b'H', ""),
        flag(b'l', "link"),
        flag(b's', "symbolic-link"),
        flag(b'x', "one-file-system"),
        flag(0, "parents"),
        flag(0, "remove-destination"),
        flag(0, "strip-trailing-slashes"),
        flag(b'b', ""),
        optional(0, "backup", backup),
        optional(0, "preserve", preserve),
        flag(0, "attributes-only"),
    ],
    operands: two,
    input: answers,
    mixed: true,
    changes: true,
};

fn backup(random: &mut Random) -> Vec<u8> {
    random.word(&["simple", "numbered", "none"])
}

fn preserve(random: &mut Random) -> Vec<u8> {
    random.word(&["mode", "timestamps", "all", "links"])
}

pub(super) const MV: Grammar = Grammar {
    name: "mv",
    options: &[
        flag(b'f', "force"),
        flag(b'n', "no-clobber"),
        flag(b'v', "verbose"),
        flag(b'T', "no-target-directory"),
        valued(b't', "target-directory", operand),
        flag(b'i', "interactive"),
        flag(b'u', "update"),
        flag(0, "strip-trailing-slashes"),
        flag(b'b', ""),
        optional(0, "backup", backup),
    ],
    operands: two,
    input: answers,
    mixed: true,
    changes: true,
};

pub(super) const TOUCH: Grammar = Grammar {
    name: "touch",
    options: &[
        flag(b'c', "no-create"),
        flag(b'a', ""),
        flag(b'm', ""),
        valued(b'd', "date", moment),
        valued(b't', "", stamp),
        valued(b'r', "reference", operand),
        flag(b'h', "no-dereference"),
        valued(0, "time", time_word),
        flag(b'f', ""),
    ],
    operands,
    input: empty,
    mixed: true,
    changes: true,
};

fn moment(random: &mut Random) -> Vec<u8> {
    random.word(&[
        "@1000",
        "2001-02-03",
        "2001-02-03 04:05:06",
        "2001-02-03T04:05:06Z",
        "x",
        "@-5",
        "2001-02-30",
        "",
        "1999-12-31 23:59:59.5",
        "@1000.25",
    ])
}

fn stamp(random: &mut Random) -> Vec<u8> {
    random.word(&[
        "200102030405",
        "200102030405.06",
        "0102030405",
        "01020304",
        "200113030405",
        "x",
        "200102030405.60",
        "200102302560",
    ])
}

fn time_word(random: &mut Random) -> Vec<u8> {
    random.word(&["atime", "mtime", "access", "modify", "use", "x"])
}
