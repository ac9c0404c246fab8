//! Random changes over an overlay, committed, against the same done directly; and diffs against what git makes of them. `LAYERS_SEQUENCES` and `LAYERS_SEED` run more.
#![cfg(target_os = "linux")]

mod scene;

use std::process::{Command, Stdio};

use pithos_layers::{changes, commit, unified};
use scene::{Scene, tree, users};

const SEQUENCES: u64 = 30;
const TREE: &str = "mkdir -p src/deep/er docs empty; seq 20 > src/a; echo main > src/main.rs; echo x > src/deep/er/x; echo readme > docs/readme; \
                    ln -s readme docs/link; : > nothing; truncate -s 100000 sparse; printf '\\000\\001' > binary";

/// A small generator; the same seed gives the same sequence for ever.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[usize::try_from(self.below(from.len() as u64)).unwrap_or(0)]
    }
}

const PATHS: &[&str] = &[
    "src",
    "src/a",
    "src/main.rs",
    "src/deep",
    "src/deep/er",
    "src/deep/er/x",
    "docs",
    "docs/readme",
    "docs/link",
    "empty",
    "nothing",
    "new",
    "new/x",
    "new/d",
    "new/d/y",
    "sparse",
    "binary",
    "l",
    "src/n",
    "empty/e",
];

/// One command. What fails, fails alike on both sides.
fn command(random: &mut Random, links: bool) -> String {
    let (a, b, n) = (random.pick(PATHS), random.pick(PATHS), random.below(1000));
    match random.below(15) {
        0 | 1 => format!("echo {n} > {a}"),
        2 | 3 => format!("echo {n} >> {a}"),
        4 => format!("rm -f {a}"),
        5 => format!("rm -rf {a}"),
        6 | 7 => format!("mkdir -p {a}"),
        8 => format!("[ -d {a} ] || mv -T {a} {b}"),
        9 => format!("[ -d {a} ] || cp -T {a} {b}"),
        10 => format!("ln -sfT target{n} {a}"),
        // In a later mount a write parts the names of a file: overlayfs copies one of them up.
        11 if links => format!("ln {a} {b}"),
        12 => format!("chmod {} {a}", random.pick(&["600", "644", "755", "700"])),
        13 => format!("[ -d {a} ] || truncate -s {n} {a}"),
        _ => format!("rm -rf {a}; mkdir {a}; echo {n} > {a}/f"),
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[test]
fn random_changes_committed_equal_the_same_done_directly() {
    for user in users() {
        let first = setting("LAYERS_SEED", 1);
        for seed in first..first + setting("LAYERS_SEQUENCES", SEQUENCES) {
            let mut random = Random(seed);
            let (one, other) = (Scene::new(user, TREE), Scene::new(user, TREE));
            let base = one.base();
            let before = tree(&one.lower(), true);
            let mut all = String::new();
            let mounts = random.below(3);
            for _ in 0..=mounts {
                let script: Vec<String> =
                    (0..1 + random.below(8)).map(|_| command(&mut random, mounts == 0)).collect();
                let script = format!("{{ {}\n}} 2>/dev/null; true", script.join("\n"));
                one.overlaid(&script);
                other.direct(&script);
                all += &format!("{script}\n-- the next mount\n");
            }
            assert_eq!(tree(&one.lower(), true), before, "seed {seed}: the overlay wrote below\n{all}");
            let layer = one.layer();
            let found = changes(&layer).unwrap();
            unified(&layer, &found, 1 << 20).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{all}"));
            let report = commit(&[(&layer, &base, Vec::new())], &one.journal(), None)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{all}"));
            assert_eq!(report.conflicts, [Vec::new()], "seed {seed}\n{all}");
            assert_eq!(
                tree(&one.lower(), false),
                tree(&other.lower(), false),
                "seed {seed} {user:?}\n{all}\n{found:#?}"
            );
            assert_eq!(
                changes(&one.layer()).unwrap(),
                [],
                "seed {seed}: nothing is left in the layer\n{all}"
            );
        }
    }
}

#[test]
fn git_takes_the_diff_and_makes_the_same_of_it() {
    if !Command::new("git")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
    {
        eprintln!("skipped: git is not installed");
        return;
    }
    // git knows neither pipes nor empty folders nor modes but one bit of them, and a binary file only by its name.
    for script in [
        "echo more >> src/a",
        ": > src/a",
        "printf 'no end' > src/a",
        "rm src/a docs/readme",
        "mv src/a src/b; echo x > new",
        "chmod 755 src/a; echo y >> src/main.rs; chmod 755 src/main.rs",
        "ln -sfn other docs/link; ln -s a src/l",
        "rm docs/link; echo file > docs/link",
        "rm src/a; ln -s b src/a",
        "rm -r src; mkdir src; echo n > src/a",
        "rm -r docs; echo file > docs",
        "rm nothing; mkdir nothing; echo in > nothing/in",
        "echo x > 'a b'; echo y > \"$(printf 'n\\nl')\"; echo z > 'q\"uote'; echo w > \"$(printf 't\\tb')\"",
        "echo x > \"$(printf '\\303\\244')\"",
    ] {
        for user in users() {
            let (one, other) = (Scene::new(user, TREE), Scene::new(user, TREE));
            one.overlaid(script);
            let layer = one.layer();
            let found = changes(&layer).unwrap();
            let diff = unified(&layer, &found, 1 << 20).unwrap();
            let patch = one.folder.path().join("patch");
            std::fs::write(&patch, &diff.text).unwrap();
            let applied = Command::new("git")
                .args(["apply", "--whitespace=nowarn"])
                .arg(&patch)
                .current_dir(other.lower())
                .env("GIT_CEILING_DIRECTORIES", other.folder.path())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&applied.stderr).into_owned();
            assert!(applied.status.success(), "{script}\n{}\n{said}", diff.text);
            let base = one.base();
            commit(&[(&layer, &base, Vec::new())], &one.journal(), None).unwrap();
            for change in &found {
                let path = change.path.path();
                let read = |scene: &Scene| {
                    let path = scene.lower().join(path);
                    std::fs::read_link(&path)
                        .map(|link| link.into_os_string().into_encoded_bytes())
                        .or_else(|_| std::fs::read(&path))
                        .ok()
                };
                assert_eq!(read(&one), read(&other), "{script}: {}\n{}", change.path.shown(), diff.text);
            }
        }
    }
}
