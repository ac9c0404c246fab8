//! The in-process `diff` against GNU's, byte for byte: random edits of random texts and folders, every way of showing them.
//! `DIFF_ROUNDS` and `DIFF_SEED` make a longer run by hand. Skipped where the program is not GNU's.

mod machine;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use machine::Machine;
use rush_utilities::{Context, Outcome, run};

/// Pairs of files that are compared, and options for each.
const ROUNDS: u64 = 150;
const OPTIONS: usize = 4;

const CHOICES: &[&str] = &[
    "",
    "-u",
    "-c",
    "-U0",
    "-U1",
    "-U 9",
    "-C1",
    "-C0",
    "-ub",
    "-uw",
    "-ui",
    "-uB",
    "-cB",
    "-B",
    "-b",
    "-w",
    "-iZ",
    "-uZ",
    "-d",
    "-du",
    "-up",
    "-p",
    "-cp",
    "-q",
    "-qb",
    "-s",
    "-a",
    "-au",
    "-uwB",
    "-ubB",
    "-bB",
    "--strip-trailing-cr",
    "-u --strip-trailing-cr",
    "-L one -u",
    "-u -L one --label two",
    "--unified=2 -p",
    "-U2 -B",
    "-C2 -B",
    "-uBp",
    "--color=auto -u",
    "--normal",
    "-u -U5",
    "-uN",
    "-ZB",
];

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

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

fn line(random: &mut Random, kinds: usize) -> Vec<u8> {
    let text = match random.below(14) {
        0 | 1 => b"".to_vec(),
        2 => b"  \t".to_vec(),
        3 => random
            .pick(&[
                &b"int f(int a)"[..],
                b"_x {",
                b"$y",
                b"long_function_name_that_goes_on_and_on_for_ever  (void)",
            ])
            .to_vec(),
        4 => random.pick(&[&b"a  b"[..], b"a b ", b" a b", b"A B", b"ab", b"a\tb", b"a b"]).to_vec(),
        5 => random.pick(&[&b"text\r"[..], b"caf\xc3\xa9", b"\xff\xfe", b"}", b"\x0b", b"x \r"]).to_vec(),
        _ => format!("{}{}", " ".repeat(random.below(3)), random.below(kinds)).into_bytes(),
    };
    [text, b"\n".to_vec()].concat()
}

fn text(random: &mut Random) -> (Vec<Vec<u8>>, usize) {
    let kinds = random.pick(&[2, 3, 10, 60, 1_000]);
    let count = match random.below(12) {
        0 => random.below(3),
        1 => 300 + random.below(900),
        2 => 2_000,
        _ => random.below(60),
    };
    ((0..count).map(|_| line(random, kinds)).collect(), kinds)
}

/// Removes, inserts, repeats, replaces and moves stretches of lines, and changes what may not count.
fn edit(random: &mut Random, lines: &mut Vec<Vec<u8>>, kinds: usize) {
    let edits = if random.below(4) == 0 { random.below(60) } else { random.below(6) };
    for _ in 0..edits {
        let at = random.below(lines.len() + 1);
        let longest = if random.below(8) == 0 { 100 } else { 6 };
        let end = (at + random.below(longest)).min(lines.len());
        match random.below(7) {
            0 => drop(lines.drain(at..end)),
            1 => {
                drop(lines.splice(
                    at..at,
                    (0..1 + random.below(5)).map(|_| line(random, kinds)).collect::<Vec<_>>(),
                ))
            }
            2 => drop(lines.splice(at..at, lines[at..end].to_vec())),
            3 => drop(
                lines.splice(at..end, (0..random.below(5)).map(|_| line(random, kinds)).collect::<Vec<_>>()),
            ),
            4 => {
                let moved: Vec<Vec<u8>> = lines.drain(at..end).collect();
                let to = random.below(lines.len() + 1);
                lines.splice(to..to, moved);
            }
            5 => lines[at..end].iter_mut().for_each(|line| line.insert(0, b' ')),
            _ => lines[at..end].iter_mut().for_each(|line| line.make_ascii_uppercase()),
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

/// What the in-process one does; `None` if it declines.
fn ours(directory: &Path, args: &[&str]) -> Option<(i32, Vec<u8>, Vec<u8>)> {
    let args: Vec<Vec<u8>> = args.iter().map(|word| word.as_bytes().to_vec()).collect();
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let outcome = run(&mut Context {
        args: &args,
        directory,
        input: &mut machine::Bytes::new(b""),
        output: &mut output,
        errors: &mut errors,
        interrupted: || false,
        before_read: &|_| {},
        host: &mut Machine { variables: vec![("LC_ALL", "C".into()), ("TZ", "America/St_Johns".into())] },
    });
    match outcome {
        Outcome::Status(status) => Some((status, output, errors)),
        Outcome::Fallthrough => None,
    }
}

fn theirs(directory: &Path, args: &[&str]) -> (i32, Vec<u8>, Vec<u8>) {
    let output = Command::new("diff")
        .args(&args[1..])
        .current_dir(directory)
        .env_clear()
        .envs([("LC_ALL", "C"), ("TZ", "America/St_Johns"), ("PATH", "/usr/bin:/bin")])
        .output()
        .unwrap();
    (output.status.code().unwrap_or(-1), output.stdout, output.stderr)
}

/// Compares both; whether the in-process one answered.
fn compare(directory: &Path, line: &str, seed: u64) -> bool {
    let args: Vec<&str> = line.split_whitespace().collect();
    let Some(mine) = ours(directory, &args) else { return false };
    let gnu = theirs(directory, &args);
    if mine != gnu {
        let kept = std::env::temp_dir().join("rush-diff-failed");
        let _ = fs::remove_dir_all(&kept);
        let _ = Command::new("cp").arg("-a").arg(directory).arg(&kept).status();
        let show = |(status, output, errors): &(i32, Vec<u8>, Vec<u8>)| {
            format!("{status}\n{}{}", String::from_utf8_lossy(output), String::from_utf8_lossy(errors))
        };
        panic!(
            "seed {seed}: {line} (files in {})\nours {}\nGNU's {}",
            kept.display(),
            show(&mine),
            show(&gnu)
        );
    }
    true
}

struct Scratch(PathBuf);

impl Scratch {
    /// `None`, with a note, where `diff` is not GNU's.
    fn new(name: &str) -> Option<Scratch> {
        let version = Command::new("diff").arg("--version").output();
        if !version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("GNU")) {
            pithos_skipped::test("no GNU diff here");
            return None;
        }
        let folder = std::env::temp_dir().join(format!("rush-diff-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Some(Scratch(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[test]
fn differences_of_random_texts_equal_gnu() {
    let Some(scratch) = Scratch::new("texts") else { return };
    let (mut asked, mut answered) = (0, 0);
    let seed = setting("DIFF_SEED", 1);
    for seed in seed..seed + setting("DIFF_ROUNDS", ROUNDS) {
        let mut random = Random::new(seed);
        let (mut lines, kinds) = text(&mut random);
        write(&mut random, &scratch.0.join("a"), &lines);
        edit(&mut random, &mut lines, kinds);
        if random.below(10) == 0 {
            lines = text(&mut random).0;
        }
        write(&mut random, &scratch.0.join("b"), &lines);
        for _ in 0..OPTIONS {
            asked += 1;
            let options = random.pick(CHOICES);
            answered += usize::from(compare(&scratch.0, &format!("diff {options} a b"), seed));
        }
    }
    assert_eq!(answered, asked, "declined");
}

/// Names with what headers have to quote, and kinds of files that cannot be compared.
fn tree(random: &mut Random, folder: &Path, depth: usize) {
    fs::create_dir_all(folder).unwrap();
    for name in ["a", "b.o", "c d", "e\tf", "caf\u{e9}", "q'u\"o", "z", "-x"] {
        let path = folder.join(name);
        match random.below(12) {
            0..=2 => {}
            3 if depth > 0 => tree(random, &path, depth - 1),
            4 => std::os::unix::fs::symlink("a", path).unwrap(),
            5 => std::os::unix::fs::symlink("nowhere", path).unwrap(),
            6 => fs::write(path, b"").unwrap(),
            _ => {
                let (lines, _) = ((0..random.below(4)).map(|_| line(random, 2)).collect::<Vec<_>>(), ());
                write(random, &path, &lines);
            }
        }
    }
    if depth > 0 {
        tree(random, &folder.join("sub"), depth - 1);
    }
}

#[test]
fn differences_of_random_folders_equal_gnu() {
    let Some(scratch) = Scratch::new("folders") else { return };
    let seed = setting("DIFF_SEED", 1);
    for seed in seed..seed + setting("DIFF_ROUNDS", ROUNDS) / 3 {
        let mut random = Random::new(seed);
        for name in ["one", "two"] {
            let _ = fs::remove_dir_all(scratch.0.join(name));
            tree(&mut random, &scratch.0.join(name), 2);
        }
        for options in [
            "-r",
            "",
            "-ru",
            "-rq",
            "-rN",
            "-ruN -x b.o",
            "-rs",
            "-c -N",
            "-qrN",
            "-x a -rb",
            "-urp --exclude sub",
        ] {
            assert!(compare(&scratch.0, &format!("diff {options} one two"), seed), "declined");
            assert!(compare(&scratch.0, &format!("diff {options} one/ two/sub"), seed), "declined");
            assert!(compare(&scratch.0, &format!("diff {options} one/sub two/a"), seed), "declined");
            assert!(compare(&scratch.0, &format!("diff {options} one/z two"), seed), "declined");
            assert!(compare(&scratch.0, &format!("diff {options} one two/nothing"), seed), "declined");
        }
    }
}

/// Long texts without much in common: the search gives up the shortest script where GNU's does.
#[test]
fn expensive_searches_end_as_gnu_s() {
    let Some(scratch) = Scratch::new("long") else { return };
    for seed in 1..4 {
        let mut random = Random::new(seed);
        for name in ["a", "b"] {
            let text: Vec<u8> =
                (0..9_000).flat_map(|_| format!("{}\n", random.below(700)).into_bytes()).collect();
            fs::write(scratch.0.join(name), text).unwrap();
        }
        assert!(compare(&scratch.0, "diff -u a b", seed), "declined");
        assert!(compare(&scratch.0, "diff a b", seed), "declined");
    }
}
