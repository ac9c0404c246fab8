//! Every utility against the GNU program over tables: each single flag, pairs of flags in both orders, with each of the
//! operands, on several inputs. Declining is right for a combination that is not supported, so the number of answers
//! has a floor for each utility: a change that makes everything decline fails. Skipped where a program is not GNU's.

mod machine;
mod tree;

use std::fs;

use tree::{build_tree, is_gnu, ours, scratch, theirs};

/// What is put together for one utility.
struct Table {
    name: &'static str,
    /// Words that stand before everything, such as a pattern's place.
    always: &'static str,
    /// Flags with their values; each alone, and each pair, in both orders where that can matter.
    flags: &'static [&'static str],
    /// What follows the flags: words separated by blanks (`\_` is a blank inside a word).
    operands: &'static [&'static str],
    /// How many of a thousand command lines have to be answered in process, at least.
    answered: usize,
}

/// Flags up to which every pair is tried.
const FLAGS_WITH_ALL_PAIRS: usize = 7;

/// Standard inputs.
const INPUTS: &[&str] = &[
    "alpha\nbeta\n  gamma\nalpha\n\nlast line",
    "b 10\na 9\nb 2\nA 9\n\n-1 x\n1e2\n",
    "x:1:one\ny:2:two\nno separator\n:empty first\n::\n",
    "tab\there\n  two  blanks \n\n\n\nthree empty lines above\ncaf\u{e9} \u{fc}\n",
    "",
];

const TABLES: &[Table] = &[
    Table {
        name: "cat",
        always: "",
        flags: &["-n", "-b", "-s", "-E", "-T", "-A", "-v", "-e", "-t", "-u", "--number", "--squeeze-blank"],
        operands: &[
            "",
            "a.txt",
            "no-newline b.txt",
            "- words",
            "missing a.txt",
            "binary",
            "utf8 nothing",
            "d",
            "-- a.txt",
        ],
        answered: 900,
    },
    Table {
        name: "head",
        always: "",
        flags: &["-n 2", "-n -2", "-n 0", "-c 7", "-c -7", "-q", "-v", "-3", "-n2", "--lines=1", "-z"],
        operands: &[
            "",
            "a.txt",
            "a.txt b.txt",
            "no-newline nothing",
            "missing b.txt",
            "- b.txt",
            "d",
            "binary",
        ],
        answered: 500,
    },
    Table {
        name: "tail",
        always: "",
        flags: &["-n 2", "-n +2", "-n 0", "-c 7", "-c +7", "-q", "-v", "-3", "-n2", "--lines=1", "-n +0"],
        operands: &["", "a.txt", "a.txt b.txt", "no-newline nothing", "missing b.txt", "- b.txt", "d", "big"],
        answered: 700,
    },
    Table {
        name: "wc",
        always: "",
        flags: &["-l", "-w", "-c", "-m", "-L", "--lines", "--bytes"],
        operands: &[
            "",
            "a.txt",
            "a.txt b.txt",
            "no-newline nothing",
            "missing b.txt",
            "- utf8",
            "d a.txt",
            "binary big",
        ],
        answered: 650,
    },
    Table {
        name: "cut",
        always: "",
        flags: &[
            "-c 1-3",
            "-c 2,5-",
            "-b -2",
            "-f 1",
            "-f 2-",
            "-f 1,3",
            "-d :",
            "-d\\_",
            "-s",
            "--complement",
            "-z",
            "--output-delimiter=+",
        ],
        operands: &["", "b.txt", "a.txt words", "missing b.txt", "- utf8"],
        answered: 300,
    },
    Table {
        name: "tr",
        always: "",
        flags: &["-d", "-s", "-c", "-C", "-t"],
        operands: &[
            "a-z A-Z",
            "abc x",
            "a-c",
            "[:lower:] [:upper:]",
            "[:space:] _",
            "[:alpha:]",
            "\\n :",
            "a-e A-C",
            "[a*3]b x-z",
            "[:digit:] [x*]",
            "\\141 b",
            "a\\\\ x",
            "ab abc",
            "[=a=] b",
        ],
        answered: 450,
    },
    Table {
        name: "sort",
        always: "",
        flags: &[
            "-n",
            "-r",
            "-u",
            "-f",
            "-b",
            "-d",
            "-i",
            "-g",
            "-h",
            "-s",
            "-c",
            "-C",
            "-k 2",
            "-k 2,2n",
            "-k 1.2,1.3",
            "-t :",
            "-k 2r",
            "-m",
            "-z",
            "-V",
        ],
        operands: &["", "numbers", "b.txt words", "dup", "missing a.txt", "- dup"],
        answered: 450,
    },
    Table {
        name: "uniq",
        always: "",
        flags: &["-c", "-d", "-u", "-i", "-f 1", "-s 2", "-w 3", "-D", "-z", "--group"],
        operands: &["", "dup", "a.txt", "-", "missing", "words", "d"],
        answered: 480,
    },
    Table {
        name: "grep",
        always: "",
        flags: &[
            "-i", "-v", "-c", "-n", "-l", "-L", "-q", "-o", "-w", "-x", "-h", "-H", "-s", "-E", "-F", "-m 1",
            "-A 1", "-B 1", "-C 1", "-b", "-z", "-r", "-a",
        ],
        operands: &[
            "alpha",
            "a a.txt b.txt",
            "^a a.txt",
            "a\\+ a.txt",
            "[[:digit:]] numbers",
            "x missing words",
            "e\\{2\\} words",
            "a.*b a.txt",
            "nothing a.txt",
            "te binary",
            "caf utf8",
            "alpha d a.txt",
            "-e the -e fox words",
            "(a|b)+ a.txt",
        ],
        answered: 650,
    },
    Table {
        name: "ls",
        always: "",
        flags: &[
            "-a",
            "-A",
            "-1",
            "-l",
            "-d",
            "-F",
            "-p",
            "-r",
            "-t",
            "-S",
            "-i",
            "-s",
            "-R",
            "-h",
            "-n",
            "-g",
            "-o",
            "-Q",
            "-U",
            "-L",
            "-X",
            "-m",
            "-B",
            "--time-style=+%s",
        ],
        operands: &[
            "",
            "d",
            "a.txt d link",
            "missing a.txt",
            "dirlink dangling",
            "empty",
            "sp\\_ace quo'te",
            "d/sub/deep/z.c",
        ],
        answered: 350,
    },
    Table {
        name: "find",
        always: "",
        flags: &[],
        operands: &[
            "d",
            "d -type f",
            "d -name *.rs",
            "d -type d -name s*",
            "d -maxdepth 1",
            "d -mindepth 2",
            "d ! -name x.rs",
            "d -name x.rs -o -name z.c",
            "d ( -name x.rs -o -name z.c ) -print",
            "d -path *sub*",
            "d -iname X.RS",
            "d -print0",
            "d -depth",
            "d -prune",
            "d -name sub -prune -o -print",
            "d -empty",
            "empty -empty",
            "d -size +0c",
            "d -newer a.txt",
            "d -perm 644",
            "d -perm -4",
            "d -printf %p:%s\\\\n",
            "d -exec echo {} ;",
            "d -exec echo {} +",
            "missing",
            "d missing",
            "d -type l",
            "dirlink",
            "dirlink/",
            "d -regex .*rs",
            "d -quit",
            "d -type f -delete -nonsense",
            "-H dirlink",
            "-L dirlink -type f",
        ],
        answered: 700,
    },
    Table {
        name: "basename",
        always: "",
        flags: &["-a", "-s .c", "-z"],
        operands: &["a/b.c", "/", "//", "a//", "a/b.c .c", "a.c b.c d.c", ".c .c", "", "\\e", "-- -x"],
        answered: 750,
    },
    Table {
        name: "dirname",
        always: "",
        flags: &["-z"],
        operands: &["a/b.c", "/", "//", "a//", "a/b/c d", "a", "", "../x ..", "/a", "//a"],
        answered: 800,
    },
    Table {
        name: "seq",
        always: "",
        flags: &["-w", "-s ,", "-s \\_", "-f %03g", "-f %.2f", "--equal-width"],
        operands: &[
            "5",
            "2 4",
            "10 -3 1",
            "-2 2",
            "0.5 2",
            "1 .25 2",
            "3 1",
            "8 11",
            "1e2 102",
            "x",
            "1 0 2",
            "-5 -3",
            "0x10 18",
            "1 2 3 4",
            "999999 1000001",
        ],
        answered: 200,
    },
    Table {
        name: "realpath",
        always: "",
        flags: &["-e", "-m", "-s", "-q", "-z", "-L", "-P", "--relative-to=d", "--relative-base=."],
        operands: &[
            "a.txt",
            "link",
            "dirlink/x.rs",
            "missing",
            "missing/x",
            "d/..",
            "a.txt/",
            ". ..",
            "dangling a.txt",
            "/",
        ],
        answered: 200,
    },
    Table {
        name: "stat",
        always: "",
        flags: &[
            "-L",
            "-t",
            "-c %n_%s_%a_%A_%F",
            "-c %N",
            "--format=%h_%U_%G_%f",
            "--printf=%n\\\\n%y\\\\n",
            "-c %Y_%i_%b_%B",
            "-c %w",
        ],
        operands: &["a.txt", "d", "missing a.txt", "sp\\_ace quo'te"],
        answered: 600,
    },
    Table {
        name: "date",
        always: "-d @1700000000",
        flags: &["-u", "-I", "-Iseconds", "-R", "--rfc-3339=date", "--rfc-3339=ns"],
        operands: &[
            "",
            "+%Y-%m-%d",
            "+%H:%M:%S_%z_%Z",
            "+%a_%A_%b_%B_%d_%e_%j",
            "+%s_%N_%n%t%%",
            "+%-d_%_H_%05Y",
            "+%U_%V_%W_%G_%u_%w",
            "+%c|%x|%X|%D|%F|%T|%R",
            "+%:z_%::z_%P_%p_%I_%l_%k",
        ],
        answered: 100,
    },
    Table {
        name: "env",
        always: "",
        flags: &["-i", "-u HOME", "-0", "A=1", "-i A=b\\_c"],
        operands: &["printenv A", "sh -c exit\\_3", "echo x y", "nosuchprogram", "-- echo z", "./a.txt"],
        answered: 350,
    },
    Table {
        name: "xargs",
        always: "",
        flags: &[
            "-n 1",
            "-n 2",
            "-0",
            "-r",
            "-t",
            "-I {}",
            "-L 1",
            "-d :",
            "-s 60",
            "-x",
            "--no-run-if-empty",
        ],
        operands: &["", "echo", "echo [{}]", "printf <%s>", "false", "nosuchprogram"],
        answered: 350,
    },
    Table {
        name: "tee",
        always: "",
        flags: &["-a", "-i"],
        operands: &["", "nothing", "nothing no-newline", "d", "missing/x"],
        answered: 400,
    },
];

/// Utilities that change files; each command line gets a folder of its own.
const CHANGING: &[Table] = &[
    Table {
        name: "mkdir",
        always: "",
        flags: &["-p", "-v", "-m 700", "-m u=rwx,go=", "--parents"],
        operands: &["new", "new/inner", "d", "a.txt/x", "new new", "d/more e/f", "-- -x", "missing/x new"],
        answered: 650,
    },
    Table {
        name: "rm",
        always: "",
        flags: &["-f", "-r", "-R", "-d", "-v", "-i", "--recursive", "-rf"],
        operands: &[
            "a.txt",
            "d",
            "missing",
            "empty",
            "link dangling",
            "dirlink",
            "dirlink/",
            ".",
            "d/sub a.txt",
            "a.txt missing b.txt",
        ],
        answered: 550,
    },
    Table {
        name: "cp",
        always: "",
        flags: &["-r", "-p", "-a", "-f", "-n", "-v", "-T", "-d", "-L", "-P", "-u", "-t d"],
        operands: &[
            "a.txt new",
            "a.txt b.txt",
            "a.txt d",
            "d new",
            "link new",
            "a.txt b.txt d",
            "missing new",
            "a.txt missing/x",
            "a.txt a.txt",
            "dangling new",
            "a.txt link",
            "d/sub d/x.rs empty",
        ],
        answered: 200,
    },
    Table {
        name: "mv",
        always: "",
        flags: &["-f", "-n", "-v", "-T", "-t d", "-u", "-i"],
        operands: &[
            "a.txt new",
            "a.txt b.txt",
            "a.txt d",
            "d new",
            "d empty",
            "link new",
            "a.txt b.txt d",
            "missing new",
            "a.txt missing/x",
            "a.txt a.txt",
            "d d/sub",
            "a.txt d/sub/deep/z.c",
        ],
        answered: 250,
    },
    Table {
        name: "touch",
        always: "",
        flags: &["-c", "-a", "-m", "-h", "-d @1500000000", "-r a.txt", "-t 202001020304.05"],
        operands: &["new", "a.txt", "missing/x", "d", "dangling", "new1 new2"],
        answered: 550,
    },
];

/// Every single flag, every pair, and none, with every operand.
fn command_lines(table: &Table) -> Vec<String> {
    let mut prefixes = vec![String::new()];
    for (at, first) in table.flags.iter().enumerate() {
        prefixes.push((*first).to_owned());
        // Of many flags every third pair.
        let step = if table.flags.len() > FLAGS_WITH_ALL_PAIRS { 3 } else { 1 };
        let others = table.flags.iter().enumerate().filter(|(other, _)| *other > at).step_by(step);
        prefixes.extend(others.map(|(other, second)| match (at + other) % 2 {
            0 => format!("{first} {second}"),
            _ => format!("{second} {first}"),
        }));
    }
    let line = |prefix: &String, operand: &&str| {
        let parts = [table.name, table.always, prefix.as_str(), *operand];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    };
    prefixes
        .iter()
        .flat_map(|prefix| table.operands.iter().map(move |operand| line(prefix, operand)))
        .collect()
}

/// Runs a table's command lines, each on one of the inputs: what is wrong.
fn run(table: &Table, changes: bool) -> Vec<String> {
    if !is_gnu(table.name) {
        pithos_skipped::part(&format!("{} is not GNU's here", table.name));
        return Vec::new();
    }
    // One level deeper: what `..` shows must not change meanwhile.
    let outer = scratch(&format!("wide-{}", table.name));
    let shared = outer.join("tree");
    fs::create_dir(&shared).unwrap();
    build_tree(&shared);
    let (mut failures, mut answered) = (Vec::new(), 0);
    let lines = command_lines(table);
    for (index, line) in lines.iter().enumerate() {
        let input = INPUTS[index % INPUTS.len()];
        let unescaped = |word: &str| word.replace("\\_", " ").replace("\\e", "").replace("\\\\", "\\");
        let words: Vec<String> = line.split(' ').map(unescaped).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let folder = || {
            let root = scratch(&format!("wide-{}-changed", table.name));
            build_tree(&root);
            root
        };
        let root = if changes { folder() } else { shared.clone() };
        let Some(got) = ours(&root, &words, input.as_bytes(), changes) else { continue };
        answered += 1;
        // Messages may name the folder, so the program gets one of the same name.
        let root = if changes { folder() } else { root };
        match theirs(&root, &words, input.as_bytes(), changes) {
            Some(expected) if got == expected => {}
            Some(expected) => {
                failures.push(format!("{line} (input {input:?})\ngot {got:?}\nexpected {expected:?}"))
            }
            None => failures.push(format!("{line}: not started")),
        }
    }
    let _ = fs::remove_dir_all(&outer);
    let _ = fs::remove_dir_all(scratch(&format!("wide-{}-changed", table.name)));
    let (count, part) = (lines.len(), answered * 1_000 / lines.len());
    println!("{}: {answered} of {count} answered ({part} of 1,000), {} differ", table.name, failures.len());
    if part < table.answered {
        failures.push(format!("{}: only {part} of 1,000 answered", table.name));
    }
    failures
}

/// Runs the tables whose place leaves this remainder, so that tests run side by side.
fn some(tables: &[Table], changes: bool, remainder: usize) {
    let failures: Vec<String> =
        tables.iter().skip(remainder).step_by(2).flat_map(|table| run(table, changes)).collect();
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n=====\n"));
}

#[test]
fn reading_utilities() {
    some(TABLES, false, 0);
}

#[test]
fn more_reading_utilities() {
    some(TABLES, false, 1);
}

#[test]
fn changing_utilities() {
    some(CHANGING, true, 0);
}

#[test]
fn more_changing_utilities() {
    some(CHANGING, true, 1);
}
