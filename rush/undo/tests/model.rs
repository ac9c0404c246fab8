//! Random lines of `rm`, `mv`, `cp` and `>` over random trees, undone: everything that was there before is there again,
//! as it was. And the same when the process is killed at any moment of keeping, of the command or of the undo.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rush_generate::Random;
use rush_undo::{Entry, Moment, Trash, Undoing};

const NAMES: [&str; 6] = ["a", "b", "c d", "e\n", "f", "-g"];

/// What a path is: everything of it that must come back.
#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    File { content: (usize, Option<u8>), mode: u32, changed: i128, owner: u32 },
    Link(PathBuf),
    Folder { mode: u32, owner: u32 },
}

type State = BTreeMap<PathBuf, What>;

fn state(root: &Path) -> State {
    let mut all = State::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            let metadata = fs::symlink_metadata(&path).expect("there");
            let (mode, owner) = (metadata.mode(), metadata.uid());
            let what = if metadata.is_dir() {
                folders.push(path.clone());
                What::Folder { mode, owner }
            } else if metadata.is_symlink() {
                What::Link(fs::read_link(&path).expect("a link"))
            } else {
                let changed =
                    i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
                let bytes = fs::read(&path).expect("read");
                What::File { content: (bytes.len(), bytes.last().copied()), mode, changed, owner }
            };
            all.insert(path.strip_prefix(root).expect("inside").to_path_buf(), what);
        }
    }
    all
}

fn grow(random: &mut Random, folder: &Path, depth: usize) {
    for name in NAMES {
        let path = folder.join(name);
        match random.below(8) {
            0 | 1 => {}
            2 | 3 if depth < 3 => {
                fs::create_dir(&path).expect("made");
                grow(random, &path, depth + 1);
                let mode = *random.pick(&[&0o755, &0o700, &0o1777]);
                fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("set");
            }
            4 => symlink(random.pick(&["a", "b", "../a", "nowhere", "."]), &path).expect("linked"),
            _ => {
                fs::write(&path, vec![b'x'; random.below(3) * random.below(5000)]).expect("written");
                let mode = *random.pick(&[&0o644, &0o600, &0o400, &0o4755]);
                fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("set");
            }
        }
    }
}

fn place(random: &mut Random) -> String {
    let depth = 1 + random.below(3);
    (0..depth).map(|_| *random.pick(&NAMES.each_ref())).collect::<Vec<_>>().join("/")
}

/// One command; the words after its name begin behind `--`.
fn command(random: &mut Random) -> Vec<String> {
    let mut words: Vec<&str> = match random.below(8) {
        0 => vec!["rm", "-f"],
        1 | 2 => vec!["rm", "-rf"],
        3 => vec!["mv"],
        4 => vec!["mv", "-T"],
        5 => vec!["cp"],
        6 => vec!["cp", "-r"],
        _ => vec![">"],
    };
    if matches!(words[0], "mv" | "cp") && random.chance(20) {
        words.push(random.pick(&["-f", "-n", "-b", "--remove-destination"]));
    }
    words.push("--");
    let moves = matches!(words[0], "mv" | "cp");
    let mut words: Vec<String> = words.into_iter().map(String::from).collect();
    for _ in 0..1 + usize::from(moves) + usize::from(words[0] != ">" && random.chance(20)) {
        words.push(place(random));
    }
    words
}

fn run(entry: &mut Entry, root: &Path, words: &[String]) {
    let moment = Moment { directory: root, stopped: &|| false };
    if words[0] == ">" {
        let path = root.join(&words[2]);
        let complaints = entry.before_truncation(&moment, Path::new(&words[2])).expect("kept");
        assert!(complaints.is_empty(), "{complaints:?}");
        if path.parent().is_some_and(Path::is_dir) && !path.is_dir() {
            let _ = fs::write(path, b"new");
        }
        return;
    }
    let args: Vec<Vec<u8>> = words.iter().map(|word| word.clone().into_bytes()).collect();
    let complaints = entry.before_command(&moment, &args).expect("kept");
    assert!(complaints.is_empty(), "{words:?}: {complaints:?}");
    let mut program = Command::new(&words[0]);
    program.args(&words[1..]).current_dir(root).stdin(Stdio::null()).stderr(Stdio::null());
    program.status().expect("it runs");
}

fn trash(folder: &Path) -> Trash {
    Trash::open(&folder.join("trash"), fs::metadata(folder).expect("there").uid()).expect("a trash")
}

fn undo(trash: &Trash, number: u32, force: bool) -> rush_undo::Report {
    trash.undo(&Undoing { number, force, time: 1 }).expect("undone")
}

/// What differs of what was there before.
fn lost(before: &State, root: &Path) -> Vec<(PathBuf, What, Option<What>)> {
    let after = state(root);
    let differs = before.iter().filter(|(path, what)| after.get(*path) != Some(what));
    differs.map(|(path, what)| (path.clone(), what.clone(), after.get(path).cloned())).collect()
}

#[test]
fn whatever_a_line_replaces_comes_back() {
    let rounds = std::env::var("UNDO_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let mut undone = 0;
    for seed in 0..rounds {
        let mut random = Random::new(seed);
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("tree");
        fs::create_dir(&root).expect("made");
        grow(&mut random, &root, 0);
        let trash = trash(folder.path());
        // Lines one after the other, then undone from the newest on.
        let mut lines = Vec::new();
        for _ in 0..1 + random.below(3) {
            let before = state(&root);
            let mut entry = trash.begin(b"a line", 1).expect("begun");
            let commands: Vec<_> = (0..1 + random.below(3)).map(|_| command(&mut random)).collect();
            for words in &commands {
                run(&mut entry, &root, words);
            }
            lines.push((before, entry.number(), commands));
        }
        while let Some((before, number, commands)) = lines.pop() {
            let listed = trash.list().expect("a list");
            if !listed.iter().any(|entry| entry.number == number) {
                assert_eq!(lost(&before, &root), [], "seed {seed}: {commands:?} is not listed");
                continue;
            }
            let report = undo(&trash, number, false);
            if !report.conflicts.is_empty() {
                undo(&trash, number, true);
            }
            undone += 1;
            assert_eq!(lost(&before, &root), [], "seed {seed}: {commands:?}");
        }
    }
    assert!(undone as u64 > rounds / 2, "{undone} undone");
}

#[test]
fn other_names_of_a_file_stay_its_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let trash = trash(root);
    fs::write(root.join("one"), "old").expect("written");
    fs::hard_link(root.join("one"), root.join("two")).expect("linked");
    let moment = Moment { directory: root, stopped: &|| false };
    for word in [&b"rm"[..], b">"] {
        let mut entry = trash.begin(word, 1).expect("begun");
        if word == b">" {
            entry.before_truncation(&moment, Path::new("one")).expect("kept");
            fs::write(root.join("one"), "").expect("emptied");
        } else {
            entry.before_command(&moment, &[b"rm".to_vec(), b"one".to_vec()]).expect("kept");
            fs::remove_file(root.join("one")).expect("removed");
        }
        undo(&trash, entry.number(), false);
        let inode = |name| fs::metadata(root.join(name)).expect("there").ino();
        assert_eq!(inode("one"), inode("two"));
        assert_eq!(fs::read(root.join("two")).expect("read"), b"old");
    }
}

#[test]
fn what_has_come_since_is_not_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let trash = trash(root);
    fs::write(root.join("x"), "old").expect("written");
    let moment = Moment { directory: root, stopped: &|| false };
    let mut entry = trash.begin(b"rm x", 1).expect("begun");
    entry.before_command(&moment, &[b"rm".to_vec(), b"x".to_vec()]).expect("kept");
    fs::remove_file(root.join("x")).expect("removed");
    fs::write(root.join("x"), "newer").expect("written");
    let refused = undo(&trash, entry.number(), false);
    assert_eq!(refused.conflicts.len(), 1);
    assert_eq!(fs::read(root.join("x")).expect("read"), b"newer");
    let report = undo(&trash, entry.number(), true);
    assert_eq!(fs::read(root.join("x")).expect("read"), b"old");
    // An undo is undone by its number, and not taken for a command.
    assert_eq!(trash.newest().expect("read"), None);
    undo(&trash, report.replaced.expect("an entry"), true);
    assert_eq!(fs::read(root.join("x")).expect("read"), b"newer");
}

#[test]
fn links_that_came_in_between_lead_nowhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let trash = trash(root);
    fs::create_dir(root.join("d")).expect("made");
    fs::create_dir(root.join("outside")).expect("made");
    fs::write(root.join("d/x"), "old").expect("written");
    let moment = Moment { directory: root, stopped: &|| false };
    let mut entry = trash.begin(b"rm d/x", 1).expect("begun");
    entry.before_command(&moment, &[b"rm".to_vec(), b"d/x".to_vec()]).expect("kept");
    fs::remove_dir_all(root.join("d")).expect("removed");
    symlink("outside", root.join("d")).expect("linked");
    trash.undo(&Undoing { number: entry.number(), force: true, time: 1 }).expect_err("no folder");
    assert!(fs::read_dir(root.join("outside")).expect("read").next().is_none());
    // The entry is still there for when the folder is.
    fs::remove_file(root.join("d")).expect("removed");
    fs::create_dir(root.join("d")).expect("made");
    undo(&trash, entry.number(), false);
    assert_eq!(fs::read(root.join("d/x")).expect("read"), b"old");
}

#[test]
fn the_oldest_goes_when_there_is_too_much_or_a_week_is_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let trash = trash(root);
    let moment = Moment { directory: root, stopped: &|| false };
    let replace = |time| {
        fs::write(root.join("x"), "old").expect("written");
        let mut entry = trash.begin(b"rm x", time).expect("begun");
        entry.before_command(&moment, &[b"rm".to_vec(), b"x".to_vec()]).expect("kept");
        fs::remove_file(root.join("x")).expect("removed");
        entry.number()
    };
    for _ in 0..rush_undo::limits::ENTRIES_MAX + 20 {
        replace(1_000);
    }
    let listed = trash.list().expect("a list");
    assert_eq!(listed.len(), rush_undo::limits::ENTRIES_MAX);
    assert_eq!(listed[0].number, 21);
    let last = replace(1_001 + rush_undo::limits::AGE_SECONDS_MAX);
    let listed: Vec<u32> = trash.list().expect("a list").iter().map(|entry| entry.number).collect();
    assert_eq!(listed, [last]);
}

/// The part of the child in the test below: the name tells which.
#[test]
fn child_that_is_killed() {
    let Some(root) = std::env::var_os("UNDO_CHILD") else { return };
    let folder = PathBuf::from(root);
    let trash = trash(&folder);
    if let Some(number) = std::env::var("UNDO_NUMBER").ok().and_then(|text| text.parse().ok()) {
        let _ = trash.undo(&Undoing { number, force: true, time: 1 });
        return;
    }
    let words = ["rm", "-rf", "--", "a", "b", "c d", "f"].map(String::from);
    let mut entry = trash.begin(b"killed", 1).expect("begun");
    run(&mut entry, &folder.join("tree"), &words);
}

#[test]
fn a_kill_at_any_moment_loses_nothing() {
    let child = |folder: &Path, number: Option<u32>, microseconds: usize| {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "child_that_is_killed"]).env("UNDO_CHILD", folder);
        if let Some(number) = number {
            command.env("UNDO_NUMBER", number.to_string());
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started");
        std::thread::sleep(Duration::from_micros(microseconds as u64));
        let _ = child.kill();
        // A program that it had started ends by itself.
        child.wait_with_output().expect("ended");
    };
    let mut random = Random::new(7);
    for round in 0..25 {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("tree");
        fs::create_dir(&root).expect("made");
        for _ in 0..4 {
            let inner = root.join(random.pick(&["a", "b", "c d", "f"]));
            if fs::create_dir(&inner).is_ok() {
                grow(&mut random, &inner, 0);
            }
        }
        let before = state(&root);
        child(folder.path(), None, random.below(30_000));
        let trash = trash(folder.path());
        if let Some(number) = trash.newest().expect("read") {
            child(folder.path(), Some(number), random.below(20_000));
            if trash.newest().expect("read") == Some(number) || trash.list().expect("read").len() > 1 {
                let _ = trash.undo(&Undoing { number, force: true, time: 1 });
            }
        }
        assert_eq!(lost(&before, &root), [], "round {round}");
    }
}
