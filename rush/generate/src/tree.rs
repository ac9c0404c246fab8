//! The folder that a case runs in: files of many kinds, the same on every run.

use std::fs::{self, FileTimes, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// Files with what they hold.
pub(crate) const FILES: &[(&str, &[u8])] = &[
    ("a.txt", b"alpha\nbeta\ngamma\nalpha beta\nAlpha\n\ndelta 10\nepsilon 9\na.b a-b a_b\n"),
    ("b.txt", b"b:2:x\na:10:y\nc:1:z\na:9:w\n"),
    ("no-newline", b"one\ntwo\nthree"),
    ("nothing", b""),
    ("newline", b"\n"),
    ("binary", b"text\n\0\xff\xfe\nmore text\n"),
    ("utf8", "\u{e9} \u{fc} \u{df}\nna\u{ef}ve caf\u{e9}\nplain\n\u{c9}\n".as_bytes()),
    ("latin1", b"caf\xe9\nplain\nab\n"),
    ("crlf", b"one\r\ntwo\r\n\r\nab\r\n"),
    ("numbers", b"10\n9\n-3\n2.5\n1K\n1M\n007\n 4\nabc\n+5\n1e3\n0x1F\n-0\n"),
    ("words", b"  the quick  brown fox\n\tjumps\tover\nthe lazy dog\n\n\nthe end\n"),
    ("dup", b"a\na\nb\nB\nb\nc\nc\nc\n"),
    ("code.rs", b"fn main() { println!(\"a.b\"); }\n// main.rs [x] a*b a\\b $HOME ^x\n"),
    ("d/x.rs", b"fn main() {}\n// alpha a.b\n"),
    ("d/y.txt", b"ab\naab\n"),
    ("d/sub/z.c", b"int z;\nab\n"),
    ("d/.hidden", b"alpha\n"),
    ("sp ace", b"a b\n"),
    ("-dash", b"ab\n-\n"),
];

/// Makes the tree in `root`, which is empty or missing.
pub(crate) fn build(root: &Path, settle: bool) -> io::Result<()> {
    fs::create_dir_all(root.join("d/sub/deep"))?;
    fs::create_dir_all(root.join("empty"))?;
    for (path, bytes) in FILES {
        fs::write(root.join(path), bytes)?;
    }
    let long: Vec<u8> = (0..3_000).flat_map(|i| format!("line {i} ab\n").into_bytes()).collect();
    fs::write(root.join("long"), long)?;
    symlink("a.txt", root.join("link"))?;
    symlink("missing", root.join("dangling"))?;
    symlink("d", root.join("dirlink"))?;
    fs::set_permissions(root.join("b.txt"), fs::Permissions::from_mode(0o600))?;
    fs::set_permissions(root.join("code.rs"), fs::Permissions::from_mode(0o755))?;
    set_times(root)?;
    // What is read in the instant in which it was made keeps changing its time of reading.
    std::thread::sleep(Duration::from_millis(if settle { 20 } else { 0 }));
    look(root)
}

/// Reads everything once, after which the times of reading stay as they are for a day.
fn look(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_symlink() {
            fs::read_link(path)?;
        } else if kind.is_dir() {
            look(&path)?;
        } else {
            fs::read(path)?;
        }
    }
    Ok(())
}

/// Times that neither reading nor the wall clock changes: accessed later than modified.
fn set_times(root: &Path) -> io::Result<()> {
    let set = |path: &str, seconds: u64| {
        let modified = UNIX_EPOCH + Duration::new(1_000_000_000 + seconds, 123_456_789);
        let times =
            FileTimes::new().set_modified(modified).set_accessed(modified + Duration::from_secs(86_400));
        OpenOptions::new().read(true).open(root.join(path))?.set_times(times)
    };
    for (index, (path, _)) in FILES.iter().enumerate() {
        set(path, index as u64 * 7 % 11 * 100_000)?;
    }
    for (index, path) in ["long", "empty", "d/sub/deep", "d/sub", "d", ""].iter().enumerate() {
        set(path, 5_000_000 + index as u64)?;
    }
    Ok(())
}

/// Every path with its type, mode, content and, if it is old, its time of change.
pub(crate) fn describe(root: &Path) -> Vec<String> {
    fn walk(root: &Path, folder: &Path, out: &mut Vec<String>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            let content = if metadata.is_file() {
                let bytes = fs::read(&path).unwrap_or_default();
                format!("{} {:?}", bytes.len(), bytes.get(..bytes.len().min(40)))
            } else if metadata.is_symlink() {
                format!("{:?}", fs::read_link(&path))
            } else {
                String::new()
            };
            // What was made or touched just now is only known to be new.
            let time = metadata.mtime();
            let time = if time < 1_700_000_000 { time.to_string() } else { "new".to_owned() };
            out.push(format!("{name} {:o} {time} {} {content}", metadata.mode(), metadata.nlink()));
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
