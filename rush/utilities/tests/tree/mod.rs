//! A folder of files, a utility and the program it stands for, and what both make of the folder.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use rush_utilities::{Context, Ended, Host, Outcome, run};

use crate::machine::{Bytes, Machine};

const ENVIRONMENT: &[(&str, &str)] =
    &[("LC_ALL", "C.UTF-8"), ("PATH", "/usr/bin:/bin"), ("TZ", "Europe/Berlin"), ("HOME", "/nowhere")];

/// A host that runs programs with their output captured through a file.
struct Runner {
    machine: Machine,
    directory: PathBuf,
    output: std::rc::Rc<std::cell::RefCell<Vec<u8>>>,
}

impl Host for Runner {
    fn variable(&self, name: &str) -> Option<Vec<u8>> {
        self.machine.variable(name)
    }
    fn environment(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.machine.environment()
    }
    fn now(&self) -> (i64, u32) {
        self.machine.now()
    }
    fn sleep(&mut self, duration: Duration) -> bool {
        self.machine.sleep(duration)
    }
    fn run(
        &mut self,
        args: &[Vec<u8>],
        environment: Option<&[(Vec<u8>, Vec<u8>)]>,
        _: bool,
    ) -> io::Result<Ended> {
        let words: Vec<&OsStr> = args.iter().map(|a| OsStr::from_bytes(a)).collect();
        let mut command = Command::new(words.first().unwrap());
        command.args(&words[1..]).current_dir(&self.directory).env_clear().stdin(Stdio::null());
        let own = self.machine.environment();
        for (name, value) in environment.unwrap_or(&own) {
            command.env(OsStr::from_bytes(name), OsStr::from_bytes(value));
        }
        let output = command.output()?;
        self.output.borrow_mut().extend(output.stdout);
        Ok(output.status.code().map_or(Ended::Signal(1), Ended::Status))
    }
    fn output_is_terminal(&self) -> bool {
        self.machine.output_is_terminal()
    }
    fn umask(&self) -> u32 {
        self.machine.umask()
    }
    fn user_id(&self) -> u32 {
        self.machine.user_id()
    }
}

struct Shared(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a run shows, and the tree behind it.
#[derive(PartialEq, Eq)]
pub struct Observed {
    pub output: String,
    pub errors: String,
    pub status: i32,
    pub tree: Vec<String>,
}

impl std::fmt::Debug for Observed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "\nstatus {}\n--out--\n{}--err--\n{}--tree--\n{:?}",
            self.status, self.output, self.errors, self.tree
        )
    }
}

/// Files of many kinds.
pub fn build_tree(root: &Path) {
    let write = |path: &str, text: &[u8]| fs::write(root.join(path), text).unwrap();
    fs::create_dir_all(root.join("d/sub/deep")).unwrap();
    fs::create_dir_all(root.join("empty")).unwrap();
    write("a.txt", b"alpha\nbeta\ngamma\nalpha beta\nAlpha\n\ndelta 10\nepsilon 9\n");
    write("b.txt", b"b:2:x\na:10:y\nc:1:z\na:9:w\n");
    write("no-newline", b"one\ntwo\nthree");
    write("nothing", b"");
    write("binary", b"text\n\0\xff\xfe\nmore text\n");
    write("utf8", "é ü ß\nnaïve café\nplain\n".as_bytes());
    write("numbers", b"10\n9\n-3\n2.5\n1K\n1M\n007\n 4\nabc\n");
    write("words", b"  the quick  brown fox\n\tjumps\tover\nthe lazy dog\n\n\nthe end\n");
    write("dup", b"a\na\nb\nB\nb\nc\nc\nc\n");
    write("d/x.rs", b"fn main() {}\n// alpha\n");
    write("d/sub/y.rs", b"fn y() {}\n");
    write("d/sub/deep/z.c", b"int z;\n");
    write("d/.hidden", b"alpha\n");
    write("sp ace", b"space\n");
    write("quo'te", b"quote\n");
    write("big", &(0..30_000).flat_map(|i| format!("line {i}\n").into_bytes()).collect::<Vec<_>>());
    std::os::unix::fs::symlink("a.txt", root.join("link")).unwrap();
    std::os::unix::fs::symlink("missing", root.join("dangling")).unwrap();
    std::os::unix::fs::symlink("d", root.join("dirlink")).unwrap();
    let old = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for (index, path) in ["a.txt", "b.txt", "d/x.rs", "words", "dup", "sp ace"].iter().enumerate() {
        let file = fs::OpenOptions::new().write(true).open(root.join(path)).unwrap();
        file.set_modified(old + Duration::from_secs(index as u64 * 100_000)).unwrap();
    }
}

/// Every path with its type, mode and content.
pub fn tree(root: &Path) -> Vec<String> {
    fn walk(root: &Path, directory: &Path, out: &mut Vec<String>) {
        use std::os::unix::fs::MetadataExt;
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let content = if metadata.is_file() {
                format!("{:?}", fs::read(&path).unwrap().get(..20))
            } else if metadata.is_symlink() {
                format!("{:?}", fs::read_link(&path).unwrap())
            } else {
                String::new()
            };
            let name = path.strip_prefix(root).unwrap().display().to_string();
            out.push(format!("{name} {:o} {} {content}", metadata.mode(), metadata.len()));
            if metadata.is_dir() {
                walk(root, &path, out);
            }
        }
    }
    let mut out = Vec::new();
    walk(root, root, &mut out);
    out.sort();
    out
}

/// The utility's result; none if it declines.
pub fn ours(root: &Path, args: &[&str], input: &[u8], changes: bool) -> Option<Observed> {
    let args: Vec<Vec<u8>> = args.iter().map(|a| a.as_bytes().to_vec()).collect();
    let output = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let mut errors = Vec::new();
    let machine =
        Machine { variables: ENVIRONMENT.iter().map(|(name, value)| (*name, (*value).to_owned())).collect() };
    let outcome = run(&mut Context {
        args: &args,
        directory: root,
        input: &mut Bytes::new(input),
        output: &mut Shared(output.clone()),
        errors: &mut errors,
        interrupted: || false,
        before_read: &|_| {},
        host: &mut Runner { machine, directory: root.to_path_buf(), output: output.clone() },
    });
    let Outcome::Status(status) = outcome else { return None };
    let output = String::from_utf8_lossy(&output.borrow()).into_owned();
    let errors = String::from_utf8_lossy(&errors).into_owned();
    Some(Observed { output, errors, status, tree: if changes { tree(root) } else { Vec::new() } })
}

/// The program's result; none if it cannot be started.
pub fn theirs(root: &Path, args: &[&str], input: &[u8], changes: bool) -> Option<Observed> {
    let mut child = Command::new(args.first()?)
        .args(&args[1..])
        .current_dir(root)
        .env_clear()
        .envs(ENVIRONMENT.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let result = child.wait_with_output().ok()?;
    feeder.join().unwrap();
    Some(Observed {
        output: String::from_utf8_lossy(&result.stdout).into_owned(),
        errors: String::from_utf8_lossy(&result.stderr).into_owned(),
        status: result.status.code().unwrap_or(-1),
        tree: if changes { tree(root) } else { Vec::new() },
    })
}

/// Whether the program is there and GNU's.
pub fn is_gnu(program: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).contains("GNU"))
}

/// An empty folder.
pub fn scratch(name: &str) -> PathBuf {
    let root = std::env::temp_dir().join(format!("rush-utilities-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(&root).unwrap();
    root
}
