//! Two copies of one tree for a test: a script runs in the first directly and in the second through an overlay, mounted in a
//! mount namespace of its own. Trees are compared by everything that a user sees.
#![allow(dead_code)]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use pithos_overlay::{Layers, Moment, now};

/// The folders of a test.
pub struct Stage {
    pub folder: tempfile::TempDir,
    /// What the overlay lies over.
    pub base: PathBuf,
    /// The copy in which scripts run directly.
    pub direct: PathBuf,
    /// Upper folders, oldest first.
    pub uppers: Vec<PathBuf>,
    pub journal: PathBuf,
    pub opened: Moment,
}

/// What most tests begin with.
pub const TREE: &str = "\
mkdir -p src/deep/er docs empty; printf 'one\\ntwo\\nthree\\n' > src/a; printf 'fn main() {}\\n' > src/main.rs; \
printf x > src/deep/er/x; printf readme > docs/readme; ln -s ../src/a docs/link; printf '\\000\\001' > binary; chmod 755 src/main.rs; \
truncate -s 1M sparse; printf end >> sparse; : > nothing";

/// Whether overlays can be mounted here; otherwise the test is recorded as skipped.
pub fn can_mount() -> bool {
    let stage = Stage::new(": > f");
    let can = mount_and_run(&stage.base, &stage.uppers_after(1), "echo x >> f").is_ok();
    if !can {
        pithos_skipped::test("overlays cannot be mounted here");
    }
    can
}

impl Stage {
    /// Two equal trees that `script` made.
    pub fn new(script: &str) -> Stage {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for name in ["base", "direct", "journal", "uppers"] {
            fs::create_dir(path(name)).expect("a folder");
        }
        for name in ["base", "direct"] {
            shell(&path(name), script);
        }
        let (base, direct, journal) = (path("base"), path("direct"), path("journal"));
        let opened = now(&journal).expect("a clock");
        Stage { folder, base, direct, uppers: Vec::new(), journal, opened }
    }

    fn uppers_after(&self, count: usize) -> Vec<PathBuf> {
        (0..count).map(|n| self.folder.path().join(format!("uppers/{n}"))).collect()
    }

    /// Runs `script` over the overlay, in a new upper folder.
    pub fn over(&mut self, script: &str) {
        self.uppers = self.uppers_after(self.uppers.len() + 1);
        mount_and_run(&self.base, &self.uppers, script).unwrap_or_else(|error| panic!("{script}\n{error}"));
    }

    /// Runs `script` in the other copy.
    pub fn directly(&self, script: &str) {
        shell(&self.direct, script);
    }

    pub fn layers(&self) -> Layers {
        Layers::open(&self.base, &self.uppers, self.opened).expect("folders")
    }

    /// The changes as lines: what, kind, path.
    pub fn changes(&self) -> Vec<String> {
        let changes = pithos_overlay::changes(&self.layers()).expect("changes");
        changes.iter().map(|c| format!("{:?} {:?} {}", c.what, c.kind, c.path.display())).collect()
    }
}

/// Runs a script in a folder; its status does not matter.
pub fn shell(folder: &Path, script: &str) {
    Command::new("sh").args(["-c", script]).current_dir(folder).output().expect("a shell");
}

/// Runs a script over the last of `uppers` (made here), with those before it and `base` below.
fn mount_and_run(base: &Path, uppers: &[PathBuf], script: &str) -> Result<(), String> {
    let (upper, lower) = uppers.split_last().ok_or("no upper folder")?;
    let work = upper.with_extension("work");
    let merged = upper.with_extension("merged");
    for folder in [upper, &work, &merged] {
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    }
    let lower: Vec<String> = lower
        .iter()
        .rev()
        .map(|path| path.display().to_string())
        .chain([base.display().to_string()])
        .collect();
    let text = format!(
        "mount -t overlay overlay -o lowerdir={},upperdir={},workdir={},userxattr {} && cd {} || exit 99\n{script}\nexit 0",
        lower.join(":"),
        upper.display(),
        work.display(),
        merged.display(),
        merged.display()
    );
    let user = if rustix::process::getuid().is_root() { "-m" } else { "-Urm" };
    let output = Command::new("unshare").args([user, "sh", "-c", &text]).output();
    let output = output.map_err(|error| error.to_string())?;
    if output.status.code() == Some(99) || !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(())
}

/// Everything below a folder as text; with `dates`, the dates of change too.
pub fn picture(root: &Path, dates: bool) -> String {
    let mut out = String::new();
    let mut inodes = Vec::new();
    draw(root, Path::new(""), dates, &mut inodes, &mut out);
    out
}

fn draw(root: &Path, path: &Path, dates: bool, inodes: &mut Vec<u64>, out: &mut String) {
    let full = root.join(path);
    let mut names: Vec<_> = fs::read_dir(&full).expect("a folder").flatten().map(|e| e.file_name()).collect();
    names.sort();
    for name in names {
        let path = path.join(&name);
        let full = root.join(&path);
        let meta = fs::symlink_metadata(&full).expect("a status");
        let kind = meta.file_type();
        let _ = write!(
            out,
            "{} {:o} {}:{}",
            path.as_os_str().as_bytes().escape_ascii(),
            meta.mode(),
            meta.uid(),
            meta.gid()
        );
        if kind.is_symlink() {
            let _ = write!(out, " -> {}", fs::read_link(&full).expect("a link").display());
        } else if kind.is_file() {
            let bytes = fs::read(&full).expect("a file");
            let sum =
                bytes.iter().fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
            let _ = write!(out, " {} {sum:x}", meta.len());
        }
        if meta.nlink() > 1 && !kind.is_dir() {
            let at = inodes.iter().position(|inode| *inode == meta.ino()).unwrap_or_else(|| {
                inodes.push(meta.ino());
                inodes.len() - 1
            });
            let _ = write!(out, " link {at}");
        }
        let _ = write!(out, "{}", if kind.is_fifo() { " fifo" } else { "" });
        if dates {
            let _ = write!(out, " {}.{}", meta.mtime(), meta.mtime_nsec());
        }
        out.push('\n');
        if kind.is_dir() {
            draw(root, &path, dates, inodes, out);
        }
    }
}
