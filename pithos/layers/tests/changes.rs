//! A table of changes. Each is made over an overlay and committed, which must give the tree that the same change gives when it is made directly; and
//! made over an overlay and not committed, which must leave the tree as it was, times included.
#![cfg(target_os = "linux")]

mod scene;

use pithos_layers::{Blobs, ChangeKind, Level, changes, commit, unified};
use scene::{Scene, tree, users};

const TREE: &str = r#"
mkdir -p src/deep/er docs empty 'sp ace'; seq 1 100 > src/main.c; echo one > src/one; echo two > src/two; ln src/two src/two-again
printf 'no newline' > docs/page; head -c 70000 /dev/zero | tr '\0' x > docs/long; ln -s ../src/one docs/link; mkfifo docs/pipe
echo deep > src/deep/er/file; echo a > 'sp ace/a b'; chmod 600 src/one; echo UPPER > Case; head -c 5000 /dev/urandom > blob; touch -d '2001-02-03 04:05:06' src/one
"#;

const CHANGES: [(&str, &str); 48] = [
    ("append", "echo more >> src/main.c"),
    ("truncate", ": > src/main.c"),
    ("shorten", "truncate -s 10 docs/long"),
    ("lengthen", "truncate -s 100000 docs/page"),
    ("overwrite in the middle", "printf X | dd of=docs/long bs=1 seek=30000 conv=notrunc 2>/dev/null"),
    ("the same bytes again", "cat src/main.c > /tmp/x$$ && cat /tmp/x$$ > src/main.c; rm -f /tmp/x$$"),
    ("a new file", "echo new > new"),
    ("an empty file", ": > nothing"),
    ("unlink", "rm src/one"),
    ("unlink and make again", "rm src/one; echo other > src/one"),
    ("rename a file", "mv src/main.c src/renamed.c"),
    ("rename over a file", "mv src/main.c docs/page"),
    ("rename by way of a temporary name", "sed -i s/5/five/ src/main.c"),
    ("rename a folder", "mv src/deep moved"),
    ("swap two files", "mv src/one t; mv docs/page src/one; mv t docs/page"),
    ("remove a folder", "rm -r src/deep"),
    ("remove a folder and make it again", "rm -r src/deep; mkdir src/deep; echo x > src/deep/x"),
    ("remove a folder and make it again, deeper", "rm -r src; mkdir -p src/deep; echo x > src/deep/x"),
    ("make folders", "mkdir -p a/b/c/d; echo x > a/b/c/d/e"),
    ("an empty folder", "mkdir hollow"),
    ("remove an empty folder", "rmdir empty"),
    ("chmod a file", "chmod 755 src/main.c"),
    ("chmod a folder", "chmod 700 src"),
    ("chmod the root", "chmod 700 ."),
    ("a file that nobody may read", "chmod 000 docs/page"),
    ("chmod and change", "chmod 640 src/main.c; echo x >> src/main.c"),
    ("a symbolic link", "ln -s /etc/passwd leads-out"),
    ("another target", "ln -sfn ../docs docs/link"),
    ("a link in place of a file", "rm src/one; ln -s two src/one"),
    ("a file in place of a link", "rm docs/link; echo x > docs/link"),
    ("a hard link to a new file", "echo x > h1; ln h1 h2; ln h1 src/h3"),
    ("a hard link in a new folder", "mkdir n; echo x > n/1; ln n/1 n/2; ln n/1 outside"),
    (
        "a sparse file",
        "truncate -s 10M sparse; printf end | dd of=sparse bs=1 seek=10000000 conv=notrunc 2>/dev/null",
    ),
    ("an attribute", "setfattr -n user.colour -v red src/main.c 2>/dev/null || true"),
    ("an attribute of a folder", "setfattr -n user.colour -v red src 2>/dev/null || true"),
    (
        "written by mmap",
        "python3 -c 'import mmap; f=open(\"src/main.c\",\"r+b\"); m=mmap.mmap(f.fileno(),0); m[0:1]=b\"Z\"; m.flush()'",
    ),
    (
        "a file without a name",
        "python3 -c 'import os; f=os.open(\".\",os.O_TMPFILE|os.O_RDWR,0o644); os.write(f,b\"hi\"); os.link(f\"/proc/self/fd/{f}\",\"named\",src_dir_fd=0)'",
    ),
    ("a pipe", "mkfifo pipe"),
    ("a pipe in place of a file", "rm src/one; mkfifo src/one"),
    ("a socket", "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'"),
    ("names that differ in case", "echo lower > case; mv Case CASE"),
    ("a long name", "echo x > $(printf 'n%.0s' $(seq 255))"),
    ("names that are no text", "echo x > $'\\xff\\xfe'; mkdir $'a\\nb'; echo y > $'a\\nb/%41'"),
    ("a file in place of a folder", "rm -r src; echo now a file > src"),
    ("a folder in place of a file", "rm blob; mkdir blob; echo x > blob/x"),
    ("a folder in place of a file and back", "rm blob; mkdir blob; rmdir blob; echo again > blob"),
    ("times", "touch -d '2010-01-01 00:00:00' src/main.c"),
    ("everything goes", "rm -rf -- * "),
];

#[test]
fn what_is_committed_is_what_would_have_been_done_directly() {
    for user in users() {
        for (what, script) in CHANGES {
            let (one, other) = (Scene::new(user, TREE), Scene::new(user, TREE));
            // Two scenes are made apart, and random bytes are other ones each time.
            std::fs::copy(one.lower().join("blob"), other.lower().join("blob")).unwrap();
            let base = one.base();
            let before = tree(&one.lower(), true);
            one.overlaid(script);
            assert_eq!(tree(&one.lower(), true), before, "{what} ({user:?}): before the commit");
            let found = changes(&one.layer()).unwrap();
            let diff = unified(&one.layer(), &found, 1 << 20).unwrap();
            assert!(!diff.truncated && diff.text.len() < 1 << 20, "{what}");
            other.direct(script);
            let same = tree(&other.lower(), false) == before_without_times(&one);
            assert!(same || !found.is_empty(), "{what} ({user:?}): changes are found");
            let layer = one.layer();
            let report = commit(&[(&layer, &base, Vec::new())], &one.journal(), None).unwrap();
            assert_eq!(report.conflicts, [Vec::new()], "{what} ({user:?})");
            assert_eq!(tree(&one.lower(), false), tree(&other.lower(), false), "{what} ({user:?})");
            assert!(!one.journal().exists());
            assert_eq!(changes(&one.layer()).unwrap(), [], "{what} ({user:?}): nothing is left in the layer");
        }
    }
}

fn before_without_times(scene: &Scene) -> String {
    tree(&scene.lower(), false)
}

#[test]
fn a_level_is_gone_back_to_whatever_was_done() {
    for user in users() {
        for (what, script) in CHANGES {
            let scene = Scene::new(user, TREE);
            scene.overlaid("echo kept > kept; rm src/two; mkdir -p k/l; echo x > k/l/m; chmod 711 docs");
            let mut blobs = Blobs::open(&scene.folder.path().join("blobs")).unwrap();
            let upper = scene.layer().upper;
            let mut level = Level::take(&upper, &Level::default(), &mut blobs, 1 << 30).unwrap();
            let (before, listed) = (tree(&scene.upper(), true), changes(&scene.layer()).unwrap());
            scene.overlaid(script);
            let later = Level::take(&upper, &level, &mut blobs, 1 << 30).unwrap();
            let told = later.changes_since(&level, Some(&scene.layer().lower)).unwrap();
            let same = changes(&scene.layer()).unwrap() == listed;
            assert!(same || !told.is_empty(), "{what} ({user:?}): the call's changes are told");
            level.restore(&upper, &blobs).unwrap();
            // The kernel's notes of where a file came from are no part of a level.
            assert_eq!(changes(&scene.layer()).unwrap(), listed, "{what} ({user:?})");
            assert_eq!(tree(&scene.upper(), true), before, "{what} ({user:?})");
            let again = Level::take(&upper, &level, &mut blobs, 0).unwrap();
            assert_eq!(again.changes_since(&level, None).unwrap(), [], "{what}: nothing is copied twice");
        }
    }
}

#[test]
fn changes_are_told_by_kind() {
    for user in users() {
        let scene = Scene::new(user, TREE);
        scene.overlaid(
            "echo x >> src/main.c; rm src/one; chmod 755 docs/page; echo n > new; rm blob; mkdir blob; touch docs/long; cat Case > c; cat c > Case; rm c",
        );
        let found = changes(&scene.layer()).unwrap();
        let rows: Vec<(String, ChangeKind)> =
            found.iter().map(|change| (change.path.shown(), change.change)).collect();
        let wanted = [
            ("blob", ChangeKind::Type),
            ("docs/page", ChangeKind::Mode),
            ("new", ChangeKind::Added),
            ("src/main.c", ChangeKind::Modified),
            ("src/one", ChangeKind::Deleted),
        ];
        assert_eq!(rows, wanted.map(|(path, kind)| (path.to_owned(), kind)));
        let diff = unified(&scene.layer(), &found, 1 << 20).unwrap();
        assert!(
            diff.text.contains("--- a/src/main.c\n+++ b/src/main.c\n@@ -98,3 +98,4 @@\n 98\n 99\n 100\n+x\n"),
            "{}",
            diff.text
        );
        assert!(diff.text.contains("old mode 100644\nnew mode 100755\n"), "{}", diff.text);
        assert!(diff.text.contains("--- a/src/one\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"), "{}", diff.text);
        let cut = unified(&scene.layer(), &found, 100).unwrap();
        assert!(cut.truncated && cut.text.len() <= 100);
    }
}
