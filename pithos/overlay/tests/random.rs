//! Random changes, in several levels, against the same changes done directly. `OVERLAY_SEQUENCES` and `OVERLAY_SEED` run more.

mod stage;

use pithos_overlay::{Request, commit, diff};
use stage::{Stage, TREE, can_mount, picture};

const SEQUENCES: u64 = 40;

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
fn command(random: &mut Random, levels: bool) -> String {
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
        // In a later level a write parts the names of a file: overlayfs copies one of them up.
        11 if !levels => format!("ln {a} {b}"),
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
    if !can_mount() {
        return;
    }
    let first = setting("OVERLAY_SEED", 1);
    for seed in first..first + setting("OVERLAY_SEQUENCES", SEQUENCES) {
        let mut random = Random(seed);
        let mut stage = Stage::new(TREE);
        let before = picture(&stage.base, true);
        let mut all = Vec::new();
        let levels = random.below(3);
        for _ in 0..=levels {
            let script: Vec<String> =
                (0..1 + random.below(8)).map(|_| command(&mut random, levels > 0)).collect();
            let script = script.join("\n");
            stage.over(&script);
            stage.directly(&script);
            all.push(script);
        }
        let all = all.join("\n-- next level\n");
        assert_eq!(picture(&stage.base, true), before, "seed {seed}: the overlay wrote below\n{all}");
        diff(&stage.layers(), &[]).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{all}"));
        let shown = stage.changes();
        commit(&stage.layers(), &Request::default(), &stage.journal, &mut |_| {})
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{all}"));
        assert_eq!(
            picture(&stage.base, false),
            picture(&stage.direct, false),
            "seed {seed}\n{all}\n{shown:#?}"
        );
        // What is committed is no change any more.
        assert!(stage.changes().is_empty(), "seed {seed}: {:?}", stage.changes());
    }
}
