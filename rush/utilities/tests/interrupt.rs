//! A user who asks to stop: status 130, no message, and nothing after what was already passed on.

mod machine;

use std::cell::Cell;
use std::fs;
use std::path::Path;

use machine::Machine;
use rush_utilities::{Context, Outcome, run};

thread_local! {
    /// How often a utility may ask before the answer is yes.
    static LEFT: Cell<u32> = const { Cell::new(u32::MAX) };
}

fn interrupted() -> bool {
    let left = LEFT.get();
    LEFT.set(left.saturating_sub(1));
    left == 0
}

/// Runs a command that is told to stop the `after`th time that it asks; its outcome, output and messages.
fn stopped(directory: &Path, line: &str, after: u32) -> (Outcome, Vec<u8>, Vec<u8>) {
    let args: Vec<Vec<u8>> = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    LEFT.set(after);
    let outcome = run(&mut Context {
        args: &args,
        directory,
        input: &mut machine::Bytes::new(&b"a b c\n".repeat(1_000)),
        output: &mut output,
        errors: &mut errors,
        interrupted,
        before_read: &|_| {},
        host: &mut Machine { variables: vec![("LC_ALL", "C".into())] },
    });
    (outcome, output, errors)
}

#[test]
fn utilities_stop_when_they_are_told_to() {
    let root = std::env::temp_dir().join(format!("rush-interrupt-{}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(root.join("d/e/f")).unwrap();
    let lines: Vec<u8> =
        (0..300_000u32).flat_map(|i| format!("line {}\n", i * 7_919 % 300_000).into_bytes()).collect();
    for name in ["big", "d/one", "d/e/two", "d/e/f/three"] {
        fs::write(root.join(name), &lines).unwrap();
    }
    for line in [
        "sort big",
        "sort -k2n big",
        "grep -c x big",
        "grep -r 9 .",
        "find . -name nothing",
        "wc big",
        "uniq -d big",
        "cut -c1-3 big",
        "cat big d/one",
        "head -n 200000 big",
        "tail -n +3 big",
        "seq 1000000",
        "ls -R .",
        "cp -r d copy",
        "xargs -n1 nothing",
        "sed s/1/2/ big",
        "sed :a;ba big",
        "sed $!N;P;D big",
        "base64 big",
        "sha256sum big",
        "du .",
    ] {
        let (outcome, output, errors) = stopped(&root, line, 3);
        assert_eq!((outcome, errors.as_slice()), (Outcome::Status(130), &b""[..]), "{line}");
        // What was passed on before the third question: blocks, not everything.
        assert!(output.len() < 700_000, "{line}: {}", output.len());
    }
    assert_eq!(stopped(&root, "sort big", 6).1, b"", "stopped while merging");
    assert_eq!(stopped(&root, "rm d/one d/e/two d/e/f/three big", 3).0, Outcome::Status(130));
    assert!(root.join("big").exists() && !root.join("d/one").exists());
    fs::remove_dir_all(&root).unwrap();
}

#[test]
fn a_long_sort_is_whole_and_stable() {
    let root = std::env::temp_dir().join(format!("rush-sort-{}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(&root).unwrap();
    let lines: Vec<String> = (0..300_000u32).map(|i| format!("{} {i}", i * 7_919 % 1_000)).collect();
    fs::write(root.join("big"), lines.join("\n") + "\n").unwrap();
    let (outcome, output, _) = stopped(&root, "sort -s -k1,1n big", u32::MAX);
    assert_eq!(outcome, Outcome::Status(0));
    let mut expected = lines;
    expected.sort_by_key(|line| line.split(' ').next().unwrap().parse::<u32>().unwrap());
    assert_eq!(String::from_utf8(output).unwrap(), expected.join("\n") + "\n");
    fs::remove_dir_all(&root).unwrap();
}
