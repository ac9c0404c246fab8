//! Commits that are stopped at each of their steps, as a crash would: afterwards the tree is as it was or as it was to be. And conflicts of each kind.
#![cfg(target_os = "linux")]

mod scene;

use std::ops::ControlFlow;

use pithos_layers::{Error, Name, Recovered, Stage, commit, recover};
use scene::{Scene, tree, users};

const TREE: &str =
    "mkdir -p d/e f; seq 9 > a; seq 9 > b; echo x > d/e/x; echo y > f/y; ln -s a link; echo z > z";
const SCRIPT: &str = "echo 1 >> a; rm b; rm -r d; mkdir d; echo new > d/new; mkdir -p n/m; echo o > n/m/o; rm -r f; echo file > f; ln -sfn b link; chmod 600 z; chmod 711 .";

#[test]
fn a_commit_that_is_stopped_anywhere_is_taken_back_or_finished() {
    for user in users() {
        let mut at = 0;
        loop {
            let (one, other) = (Scene::new(user, TREE), Scene::new(user, TREE));
            let base = one.base();
            one.overlaid(SCRIPT);
            other.direct(SCRIPT);
            let before = tree(&one.lower(), true);
            let layer = one.layer();
            let (mut steps, mut stage) = (0, None);
            let mut stop = |now: Stage| {
                steps += 1;
                stage = Some(now);
                if steps > at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let done = commit(&[(&layer, &base, Vec::new())], &one.journal(), Some(&mut stop));
            if done.is_ok() {
                assert!(at > 20, "it has steps: {at}");
                assert_eq!(recover(&one.journal()).unwrap(), None);
                assert_eq!(tree(&one.lower(), false), tree(&other.lower(), false));
                break;
            }
            assert!(matches!(done, Err(Error::Stopped)), "{done:?}");
            match recover(&one.journal()).unwrap() {
                Some(Recovered::TakenBack { .. }) => {
                    assert!(matches!(stage, Some(Stage::Planned | Stage::Staged)), "{stage:?}");
                    assert_eq!(tree(&one.lower(), true), before, "{stage:?} {at}");
                }
                Some(Recovered::Finished { .. }) => {
                    assert_eq!(tree(&one.lower(), false), tree(&other.lower(), false), "{stage:?} {at}");
                }
                None => panic!("no journal at {stage:?}"),
            }
            assert_eq!(recover(&one.journal()).unwrap(), None);
            at += 1;
        }
    }
}

#[test]
fn what_was_changed_below_is_a_conflict_and_nothing_is_written() {
    let cases = [
        ("both changed it", "echo 1 >> a", "echo 2 >> a", "a"),
        ("changed and touched", "echo 1 >> a", "touch -d '2001-01-01' a", "a"),
        ("deleted and changed", "rm a", "echo 2 >> a", "a"),
        ("both added it", "echo 1 > new", "echo 2 > new", "new"),
        ("a folder removed in which something changed", "rm -r d", "echo 2 > d/e/x", "d"),
        ("a folder replaced in which something is new", "rm -r d; mkdir d", "echo 2 > d/e/new", "d"),
        ("a folder where a file is", "echo 1 > d/e/new; echo 1 > n", "mkdir n", "n"),
        ("a link where a file was", "echo 1 >> a", "rm a; ln -s b a", "a"),
    ];
    for user in users() {
        for (what, here, below, path) in cases {
            let scene = Scene::new(user, TREE);
            let base = scene.base();
            scene.overlaid(&format!("{here}; echo other > other"));
            scene.direct(below);
            let before = tree(&scene.lower(), true);
            let layer = scene.layer();
            let report = commit(&[(&layer, &base, Vec::new())], &scene.journal(), None).unwrap();
            let found: Vec<String> = report.conflicts.iter().flatten().map(|one| one.path.shown()).collect();
            assert_eq!(found, [path], "{what} ({user:?})");
            assert_eq!(tree(&scene.lower(), true), before, "{what} ({user:?})");
            let other = Name::new("other".as_ref()).unwrap();
            let report = commit(&[(&layer, &base, vec![other])], &scene.journal(), None).unwrap();
            assert_eq!(report.done[0].len(), 1, "{what}: another path is committed");
            assert!(scene.lower().join("other").exists());
        }
    }
}
