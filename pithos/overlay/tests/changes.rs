//! Each kind of change, made directly and through an overlay that is then committed: the trees are equal. And discarded: the
//! tree below is as it was, dates included.

mod stage;

use pithos_overlay::{Request, commit, diff};
use stage::{Stage, TREE, can_mount, picture};

/// What a program may do to a tree.
const SCRIPTS: &[&str] = &[
    "echo more >> src/a",
    "echo other > src/a",
    "truncate -s 3 src/a",
    ": > src/a",
    "rm src/a",
    "rm docs/link",
    "mv src/a src/b",
    "mv src/a docs/a",
    "mv src renamed || { cp -a src renamed && rm -r src; }",
    "chmod 600 src/a",
    "chmod 700 docs",
    "ln -s nowhere dangling",
    "rm docs/link && ln -s other docs/link",
    "echo through > docs/link",
    "ln src/a src/hard",
    "echo n > n1 && ln n1 n2 && ln n1 docs/n3",
    "mkdir new && echo x > new/x",
    "mkdir -p new/er/deep && echo x > new/er/deep/x && chmod 500 new/er",
    "rm -r src && mkdir src && echo fresh > src/fresh",
    "rm -r src && mkdir src && echo same > src/a && mkdir src/deep && echo y > src/deep/y",
    "rm -r src",
    "rmdir empty",
    "rmdir empty && echo file > empty",
    "rm nothing && mkdir nothing && echo x > nothing/x",
    "rm -r docs && ln -s src docs",
    "rm docs/link && mkdir docs/link && echo x > docs/link/x",
    "truncate -s 10M sparse2 && echo x >> sparse2",
    "printf mid | dd of=sparse bs=1 seek=4096 conv=notrunc 2>/dev/null",
    "mkfifo pipe",
    "printf '\\000\\002' > binary",
    "echo x > \"$(printf 'n\\nl')\"",
    "echo x > \"$(printf '\\377\\376')\"",
    "echo x > 'a%41b'",
    "name=$(printf 'n%.0s' $(seq 255)); echo x > \"$name\"",
    "echo A > Case && echo a > case",
    "touch -d '2001-02-03 04:05:06' old",
    "echo one > t && rm t",
    "echo x > src/a.new && mv src/a.new src/a",
    "rm -r src/deep && mkdir -p src/deep/er && printf x > src/deep/er/x",
    "echo x > .hidden && mkdir .git && echo y > .git/config",
    "chmod 4755 src/main.rs",
    "cp src/a src/a2 && rm src/a && mv src/a2 src/a",
];

#[test]
fn committed_equals_done_directly_and_discarded_equals_before() {
    if !can_mount() {
        return;
    }
    for script in SCRIPTS {
        let mut stage = Stage::new(TREE);
        let before = picture(&stage.base, true);
        stage.directly(script);
        stage.over(script);
        assert_eq!(picture(&stage.base, true), before, "{script}: the overlay wrote below");
        let shown = stage.changes();
        commit(&stage.layers(), &Request::default(), &stage.journal, &mut |_| {})
            .unwrap_or_else(|error| panic!("{script}: {error}"));
        assert_eq!(picture(&stage.base, false), picture(&stage.direct, false), "{script}\n{shown:#?}");
        assert!(
            std::fs::read_dir(&stage.journal).expect("a folder").next().is_none(),
            "{script}: a journal is left"
        );
    }
}

#[test]
fn a_change_is_what_differs_and_nothing_else() {
    if !can_mount() {
        return;
    }
    for (script, expected) in [
        ("cat src/a > t && cat t > src/a && rm t", &[][..]),
        ("touch src/a", &[]),
        ("rm src/a && printf 'one\\ntwo\\nthree\\n' > src/a", &[]),
        (
            "echo x > new; echo y >> src/a; rm docs/readme; chmod 600 src/main.rs",
            &["Deleted File docs/readme", "Added File new", "Modified File src/a", "Mode File src/main.rs"],
        ),
        (
            "rm -r src && mkdir src && mkdir src/deep && echo y > src/deep/y",
            &[
                "Deleted File src/a",
                "Deleted Folder src/deep/er",
                "Added File src/deep/y",
                "Deleted File src/main.rs",
            ],
        ),
        ("rm -r src", &["Deleted Folder src"]),
        ("rm nothing && mkdir nothing", &["Type Folder nothing"]),
    ] {
        let mut stage = Stage::new(TREE);
        stage.over(script);
        assert_eq!(stage.changes(), expected, "{script}");
    }
}

#[test]
fn levels_are_seen_as_one() {
    if !can_mount() {
        return;
    }
    let scripts = [
        "echo 1 > level; mkdir d; echo x > d/x; rm src/a",
        "echo 2 > level; rm -r d; echo back > src/a; rm -r docs",
        "mkdir d; echo y > d/y; mkdir docs; echo new > docs/new; rm level",
    ];
    let mut stage = Stage::new(TREE);
    for script in scripts {
        stage.over(script);
        stage.directly(script);
    }
    commit(&stage.layers(), &Request::default(), &stage.journal, &mut |_| {}).expect("a commit");
    assert_eq!(picture(&stage.base, false), picture(&stage.direct, false));
}

#[test]
fn the_diff_is_one_that_git_takes() {
    if !(can_mount() && pithos_skipped::unless_installed("git")) {
        return;
    }
    for script in SCRIPTS {
        let mut stage = Stage::new(TREE);
        stage.over(script);
        let diff = diff(&stage.layers(), &[]).unwrap_or_else(|error| panic!("{script}: {error}"));
        assert_eq!(diff.stats.len(), stage.changes().len(), "{script}");
        let binary = diff.stats.iter().any(|stat| stat.binary);
        let patch = stage.folder.path().join("patch");
        std::fs::write(&patch, &diff.text).expect("a file");
        // git refuses paths below a `.git`.
        if binary || diff.text.is_empty() || script.contains(".git") {
            continue;
        }
        let applied = std::process::Command::new("git")
            .args(["apply", "--whitespace=nowarn", "--allow-empty"])
            .arg(&patch)
            .current_dir(&stage.direct)
            .env("GIT_CEILING_DIRECTORIES", stage.folder.path())
            .output()
            .expect("git");
        let text = String::from_utf8_lossy(&diff.text);
        assert!(applied.status.success(), "{script}\n{text}\n{}", String::from_utf8_lossy(&applied.stderr));
        for stat in &diff.stats {
            let change = &stat.change;
            let read = |root: &std::path::Path| std::fs::read(root.join(&change.path)).ok();
            commit_once(&stage);
            assert_eq!(read(&stage.direct), read(&stage.base), "{script}: {}", change.path.display());
        }
    }
}

fn commit_once(stage: &Stage) {
    let request = Request { over_conflicts: true, ..Request::default() };
    commit(&stage.layers(), &request, &stage.journal, &mut |_| {}).expect("a commit");
}
