//! The in-process `git diff` against the installed one, byte for byte: random edits of random files, by the dozen in each
//! repository. Skipped where there is no git.

mod machine;
mod repository;

use std::fs;
use std::path::Path;

use repository::{Scratch, git_is_here};

/// Repositories, and files in each.
const REPOSITORIES: u64 = 24;
const FILES: usize = 16;

/// What is asked of each.
const COMMANDS: &[&str] = &[
    "diff",
    "diff -U1",
    "diff -U9",
    "diff --stat",
    "diff --numstat",
    "diff --cached",
    "diff --staged --stat",
    "diff --cached --name-status",
    "diff HEAD",
    "diff HEAD --shortstat",
    "diff HEAD --no-renames --numstat",
    "diff --no-prefix -- f1 f3 f5",
];

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// Lines that repeat, with indentation and without, beside lines of their own.
fn line(random: &mut Random) -> Vec<u8> {
    let text: &[u8] = match random.below(12) {
        0 | 1 => b"",
        2 => b"}",
        3 => b"    }",
        4 => b"\tend",
        5 => b"        return x;",
        6 => random.pick(&[
            &b"fn main() {"[..],
            b"_under",
            b"$dollar",
            b"caf\xc3\xa9()",
            b"broken \xff\xfe name",
            b"  ",
        ]),
        7 => {
            random.pick(&[&b"if (a) {"[..], b"    if (b) {", b"else", b"\t \tmixed", b"text\r", b"# comment"])
        }
        8 => &[b'x'; 120],
        _ => return format!("{}line {}\n", " ".repeat(4 * random.below(4)), random.below(40)).into_bytes(),
    };
    [text, b"\n"].concat()
}

/// Some lines; now and then many, or many of one kind.
fn text(random: &mut Random) -> Vec<Vec<u8>> {
    let count = match random.below(10) {
        0 => random.below(3),
        1 => 200 + random.below(400),
        _ => random.below(60),
    };
    let frequent = random.below(5) == 0;
    let pick =
        |random: &mut Random| if frequent && random.below(3) > 0 { b"same\n".to_vec() } else { line(random) };
    (0..count).map(|_| pick(random)).collect()
}

/// Removes, inserts, repeats, replaces and moves stretches of lines.
fn edit(random: &mut Random, lines: &mut Vec<Vec<u8>>) {
    for _ in 0..random.below(6) {
        let at = random.below(lines.len() + 1);
        let end = (at + random.below(6)).min(lines.len());
        match random.below(6) {
            0 => drop(lines.drain(at..end)),
            1 => {
                drop(lines.splice(at..at, (0..1 + random.below(5)).map(|_| line(random)).collect::<Vec<_>>()))
            }
            2 => {
                let again = lines[at..end].to_vec();
                lines.splice(at..at, again);
            }
            3 => drop(lines.splice(at..end, (0..random.below(5)).map(|_| line(random)).collect::<Vec<_>>())),
            4 => {
                let moved: Vec<Vec<u8>> = lines.drain(at..end).collect();
                let to = random.below(lines.len() + 1);
                lines.splice(to..to, moved);
            }
            _ => lines.iter_mut().skip(at).step_by(7).take(3).for_each(|line| line.insert(0, b' ')),
        }
    }
}

fn write(random: &mut Random, path: &Path, lines: &[Vec<u8>]) {
    let mut content = lines.concat();
    if random.below(6) == 0 {
        content.pop();
    }
    if random.below(25) == 0 {
        content.push(0);
    }
    fs::write(path, content).unwrap();
}

#[test]
fn random_edits() {
    if !git_is_here() {
        return;
    }
    let (mut failures, mut declined, mut asked) = (Vec::new(), 0, 0);
    for seed in 1..=REPOSITORIES {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let scratch = Scratch::new(&format!("diff {seed}"));
        let repository = scratch.0.join("repo");
        fs::create_dir_all(repository.join("deeper/folder of files")).unwrap();
        let path = |at: usize| match at % 4 {
            3 => {
                repository.join(format!("deeper/folder of files/file {at} with a long name that may be cut"))
            }
            _ => repository.join(format!("f{at}")),
        };
        let mut files: Vec<Vec<Vec<u8>>> = (0..FILES).map(|_| text(&mut random)).collect();
        for (at, lines) in files.iter().enumerate() {
            write(&mut random, &path(at), lines);
        }
        scratch.script(&repository, "git init -q -b main; git add .; git commit -qm First");
        for (at, lines) in files.iter_mut().enumerate().filter(|(at, _)| at % 3 != 0) {
            edit(&mut random, lines);
            write(&mut random, &path(at), lines);
        }
        if seed % 4 == 0 {
            fs::remove_file(path(1)).unwrap();
        }
        scratch.script(&repository, "git add .");
        for (at, lines) in files.iter_mut().enumerate().filter(|(at, _)| at % 3 != 1) {
            edit(&mut random, lines);
            write(&mut random, &path(at), lines);
        }
        if seed % 5 == 0 {
            scratch.script(&repository, "chmod +x f0 f2; rm f5");
        }
        for command in COMMANDS {
            let line = format!("git {command}");
            let words: Vec<&str> = line.split(' ').collect();
            asked += 1;
            match scratch.ours(&repository, &words) {
                None => declined += 1,
                Some(ours) => {
                    let theirs = scratch.theirs(&repository, &words);
                    if ours != theirs {
                        failures
                            .push(format!("seed {seed}: {line}\n{}", first_difference(&ours.0, &theirs.0)));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {asked} differ:\n{}", failures.len(), failures.join("\n=====\n"));
    // What takes git's shortcuts for long searches, or looks for renames in the work tree, is git's.
    assert!(declined * 10 < asked, "{declined} of {asked} declined");
}

/// The lines around the first one that differs.
fn first_difference(ours: &str, theirs: &str) -> String {
    let at = ours.lines().zip(theirs.lines()).take_while(|(a, b)| a == b).count();
    let part = |text: &str| text.lines().skip(at.saturating_sub(6)).take(24).collect::<Vec<_>>().join("\n");
    format!("-- ours from line {at}\n{}\n-- git\n{}", part(ours), part(theirs))
}
