//! What the tests of layers share: a tree, a script that is run over an overlay of it, and what a tree is, as text.
#![allow(dead_code)]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use pithos_layers::{Base, Layer, Time};

pub const NOBODY: u32 = 65_534;

pub struct Scene {
    pub folder: tempfile::TempDir,
    /// Run scripts as this user; none is ourselves.
    pub user: Option<u32>,
}

impl Scene {
    /// A scene with `script` run in its tree, or none where overlays cannot be mounted here.
    pub fn new(user: Option<u32>, script: &str) -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap(), user };
        fs::set_permissions(scene.folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        fs::create_dir(scene.lower()).unwrap();
        if let Some(user) = user {
            std::os::unix::fs::chown(scene.folder.path(), Some(user), Some(user)).unwrap();
            std::os::unix::fs::chown(scene.lower(), Some(user), Some(user)).unwrap();
        }
        scene.direct(script);
        scene.fresh();
        scene
    }

    pub fn lower(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    pub fn upper(&self) -> PathBuf {
        self.folder.path().join("upper")
    }

    pub fn journal(&self) -> PathBuf {
        self.folder.path().join("journal")
    }

    /// A new, empty layer.
    pub fn fresh(&self) {
        let _ = fs::remove_dir_all(self.upper());
        let _ = fs::remove_dir_all(self.folder.path().join("work"));
        Layer::create(&self.upper(), &self.lower()).unwrap();
        fs::create_dir(self.folder.path().join("work")).unwrap();
        if let Some(user) = self.user {
            for path in [self.upper(), self.folder.path().join("work")] {
                std::os::unix::fs::chown(path, Some(user), Some(user)).unwrap();
            }
            // The owner's change has cost the times.
            let times = fs::metadata(self.lower()).unwrap().modified().unwrap();
            fs::File::open(self.upper()).unwrap().set_modified(times).unwrap();
        }
    }

    pub fn layer(&self) -> Layer {
        Layer::open(&self.upper(), &self.lower()).unwrap()
    }

    /// The base of a layer that is begun now.
    pub fn base(&self) -> Base {
        let clock = self.folder.path().join("clock");
        let _ = fs::remove_file(&clock);
        // The clock of file systems goes in steps.
        std::thread::sleep(std::time::Duration::from_millis(10));
        fs::write(&clock, "").unwrap();
        let data = fs::metadata(clock).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(10));
        Base { begun: Time(data.ctime(), data.ctime_nsec() as u32), ..Base::default() }
    }

    fn command(&self) -> Command {
        match self.user {
            Some(user) => {
                let mut command = Command::new("setpriv");
                command.args([
                    &format!("--reuid={user}"),
                    &format!("--regid={user}"),
                    "--clear-groups",
                    "--",
                ]);
                command
            }
            None => Command::new("env"),
        }
    }

    fn run(&self, script: &str, overlaid: bool) -> std::process::Output {
        let script = format!("umask 022; cd '{}' || exit 99\n{script}", self.lower().display());
        let mut command = self.command();
        if overlaid {
            let mount = format!(
                "mount -t overlay overlay -o 'lowerdir={lower},upperdir={upper},workdir={work},userxattr' '{lower}' || exit 98\n",
                lower = self.lower().display(),
                upper = self.upper().display(),
                work = self.folder.path().join("work").display()
            );
            command.args(["unshare", "-Urm", "bash", "-c", &(mount + &script)]);
        } else {
            command.args(["unshare", "-Ur", "bash", "-c", &script]);
        }
        command.current_dir("/").output().unwrap()
    }

    pub fn direct(&self, script: &str) {
        let output = self.run(script, false);
        assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
    }

    pub fn overlaid(&self, script: &str) {
        let output = self.run(script, true);
        assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// As whom the tests run: ourselves, and, when we are root, somebody who is not. None when there are no overlays here, which is said.
pub fn users() -> Vec<Option<u32>> {
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let candidates = if root { vec![None, Some(NOBODY)] } else { vec![None] };
    let able = |user: &Option<u32>| {
        let scene = Scene { folder: tempfile::tempdir().unwrap(), user: *user };
        fs::set_permissions(scene.folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        fs::create_dir(scene.lower()).unwrap();
        if let Some(user) = user {
            for path in [scene.folder.path().to_owned(), scene.lower()] {
                std::os::unix::fs::chown(path, Some(*user), Some(*user)).unwrap();
            }
        }
        scene.fresh();
        let able = scene.run("true", true).status.success();
        if !able {
            eprintln!("skipped as {user:?}: no overlay can be mounted here with unshare, mount and setpriv");
        }
        able
    };
    candidates.into_iter().filter(able).collect()
}

/// Everything of a tree that has to be the same, one line for each entry. With `times`, also when files were changed.
pub fn tree(root: &Path, times: bool) -> String {
    let mut lines = Vec::new();
    let mut inodes = Vec::new();
    list(root, root, times, &mut inodes, &mut lines);
    lines.sort();
    lines.join("\n")
}

fn list(root: &Path, path: &Path, times: bool, inodes: &mut Vec<(u64, String)>, lines: &mut Vec<String>) {
    let data = fs::symlink_metadata(path).unwrap();
    let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes().escape_ascii().to_string();
    let kind = data.file_type();
    let mut line = format!("{name} {:o}", data.mode());
    if kind.is_symlink() {
        line += &format!(" -> {:?}", fs::read_link(path).unwrap());
    } else if kind.is_file() {
        let bytes = fs::read(path).unwrap_or_default();
        let sum = bytes.iter().fold(0u64, |sum, byte| sum.wrapping_mul(1_099_511_628_211) ^ u64::from(*byte));
        line += &format!(" {} {sum:x}", data.len());
        if data.nlink() > 1 {
            let first = inodes.iter().find(|(ino, _)| *ino == data.ino()).map(|(_, name)| name.clone());
            line += &format!(" = {}", first.clone().unwrap_or_default());
            if first.is_none() {
                inodes.push((data.ino(), name.clone()));
            }
        }
    } else if kind.is_fifo() || kind.is_socket() {
        line += " special";
    }
    if kind.is_file() || kind.is_dir() {
        let shown = Command::new("getfattr").args(["-h", "-d", "--absolute-names"]).arg(path).output();
        if let Ok(shown) = shown {
            let text = String::from_utf8_lossy(&shown.stdout).into_owned();
            line += &text.lines().filter(|line| line.starts_with("user.")).collect::<Vec<_>>().join(" ");
        }
    }
    if times && !kind.is_dir() {
        line += &format!(" {}.{}", data.mtime(), data.mtime_nsec());
    }
    lines.push(line);
    if kind.is_dir() {
        let mut entries: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| list(root, entry, times, inodes, lines));
    }
}
