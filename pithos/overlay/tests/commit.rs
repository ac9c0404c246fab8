//! Commits that are in somebody's way, that are cut short, and that are asked for in part.

mod stage;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use pithos_overlay::{Error, Request, Resumed, commit, resume};
use stage::{Stage, TREE, can_mount, picture, shell};

const WORK: &str = "echo more >> src/a; rm docs/readme; mkdir -p new/d; echo x > new/d/x; rm -r src/deep; \
                    rm nothing && mkdir nothing && echo in > nothing/in; chmod 700 docs; ln -s a src/l; echo n > n1; ln n1 n2";

/// Long enough that a file's clock has moved on.
fn later() {
    std::thread::sleep(std::time::Duration::from_millis(30));
}

#[test]
fn what_changed_below_is_a_conflict_and_nothing_is_written() {
    if !can_mount() {
        return;
    }
    for (outside, named) in [
        ("echo theirs >> src/a", "src/a"),
        ("rm src/a", "src/a"),
        ("echo theirs > docs/readme", "docs/readme"),
        ("echo new > src/deep/er/more", "src/deep/er"),
        ("echo theirs > nothing", "nothing"),
        ("mkdir new; echo theirs > n1", "n1"),
        ("chmod 600 src/a", "src/a"),
    ] {
        let mut stage = Stage::new(TREE);
        stage.over(WORK);
        later();
        shell(&stage.base, outside);
        let before = picture(&stage.base, true);
        let error = commit(&stage.layers(), &Request::default(), &stage.journal, &mut |_| {})
            .expect_err("a conflict");
        let Error::Conflicts(paths) = &error else { panic!("{outside}: {error}") };
        assert!(paths.contains(&PathBuf::from(named)), "{outside}: {paths:?}");
        assert_eq!(picture(&stage.base, true), before, "{outside}");
        // Who has looked at it may say so.
        let request = Request { over_conflicts: true, ..Request::default() };
        commit(&stage.layers(), &request, &stage.journal, &mut |_| {}).expect("a commit");
    }
}

#[test]
fn what_changed_beside_is_none_of_our_business() {
    if !can_mount() {
        return;
    }
    let mut stage = Stage::new(TREE);
    stage.over("echo more >> src/a");
    later();
    shell(&stage.base, "echo x > other; echo y >> src/main.rs");
    commit(&stage.layers(), &Request::default(), &stage.journal, &mut |_| {}).expect("a commit");
    assert!(stage.base.join("other").exists());
}

/// The process ends at each step of a commit, and the next one finds the old tree or the new one, never a mixture.
#[test]
fn an_interrupted_commit_is_undone_or_finished() {
    if !can_mount() {
        return;
    }
    let mut stop_at = 0;
    loop {
        let mut stage = Stage::new(TREE);
        stage.over(WORK);
        stage.directly(WORK);
        let (old, new) = (picture(&stage.base, true), picture(&stage.direct, false));
        let mut count = 0;
        let layers = stage.layers();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            commit(&layers, &Request::default(), &stage.journal, &mut |_| {
                assert!(count < stop_at, "the process ends here");
                count += 1;
            })
        }));
        if ended.is_ok() {
            assert_eq!(picture(&stage.base, false), new);
            assert!(stop_at > 10, "a commit of several steps");
            break;
        }
        match resume(&stage.journal).expect("resumed") {
            Resumed::Undone => assert_eq!(strip(&picture(&stage.base, true)), strip(&old), "step {stop_at}"),
            Resumed::Finished => assert_eq!(picture(&stage.base, false), new, "step {stop_at}"),
            Resumed::Nothing => {
                assert_eq!(picture(&stage.base, false), new, "step {stop_at}: the journal was gone")
            }
        }
        assert_eq!(resume(&stage.journal).expect("resumed"), Resumed::Nothing);
        stop_at += 1;
    }
}

/// A picture without the dates of folders, which staging beside a file changes.
fn strip(picture: &str) -> String {
    let is_folder = |line: &str| line.split(' ').nth(1).is_some_and(|mode| mode.starts_with('4'));
    let line = |line: &str| match line.rsplit_once(' ') {
        Some((rest, _)) if is_folder(line) => rest.to_string(),
        _ => line.to_string(),
    };
    picture.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn paths_are_committed_alone() {
    if !can_mount() {
        return;
    }
    let mut stage = Stage::new(TREE);
    stage.over(WORK);
    let paths = [PathBuf::from("new/d"), PathBuf::from("src/a")];
    let request = Request { paths: &paths, ..Request::default() };
    let done = commit(&stage.layers(), &request, &stage.journal, &mut |_| {}).expect("a commit");
    let names: Vec<_> = done.paths.iter().map(|path| path.display().to_string()).collect();
    assert_eq!(names, ["new", "new/d", "new/d/x", "src/a"]);
    assert!(stage.base.join("docs/readme").exists());
    let request = Request { committed: &done.paths, ..Request::default() };
    commit(&stage.layers(), &request, &stage.journal, &mut |_| {}).expect("the rest");
    stage.directly(WORK);
    assert_eq!(picture(&stage.base, false), picture(&stage.direct, false));
    let missing = [PathBuf::from("src/main.rs")];
    let request = Request { paths: &missing, ..Request::default() };
    let error = commit(&stage.layers(), &request, &stage.journal, &mut |_| {});
    assert!(matches!(error, Err(Error::Unchanged(_))));
}

#[test]
fn protected_paths_are_refused() {
    if !can_mount() {
        return;
    }
    for script in ["mkdir -p .git/hooks; echo x > .git/hooks/pre-commit", "rm -r docs"] {
        let mut stage = Stage::new(TREE);
        stage.over(script);
        let before = picture(&stage.base, true);
        let protected = [PathBuf::from(".git/hooks"), PathBuf::from("docs/readme")];
        let request = Request { protected: &protected, over_conflicts: true, ..Request::default() };
        let error = commit(&stage.layers(), &request, &stage.journal, &mut |_| {});
        assert!(matches!(error, Err(Error::Protected(_))), "{script}: {error:?}");
        assert_eq!(picture(&stage.base, true), before);
    }
}

/// Links that lead out of the folder, on either side, are links and nothing to go through.
#[test]
fn no_link_leads_a_commit_out_of_the_folder() {
    if !can_mount() {
        return;
    }
    let mut stage = Stage::new(TREE);
    let outside = stage.folder.path().join("outside");
    std::fs::create_dir(&outside).expect("a folder");
    stage.over("mkdir trap; echo payload > trap/file; mkdir -p src/trap; echo payload > src/trap/file");
    later();
    shell(&stage.base, &format!("ln -s {0} trap; ln -s {0} src/trap", outside.display()));
    let request = Request { over_conflicts: true, ..Request::default() };
    commit(&stage.layers(), &request, &stage.journal, &mut |_| {}).expect("a commit");
    assert_eq!(std::fs::read_dir(&outside).expect("a folder").count(), 0);
    assert!(stage.base.join("trap/file").exists() && !stage.base.join("trap").is_symlink());
}
