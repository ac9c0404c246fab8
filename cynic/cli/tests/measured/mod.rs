//! Runs the command under limits and measures what memory it takes. For tests that have this as a module.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use nix::sys::resource::{UsageWho, getrusage};

/// The heap's limit of every child.
pub(crate) const HEAP_KIB: u64 = 16 << 10;
/// What a process may take besides its heap and what an empty program takes.
pub(crate) const BESIDES_KIB: u64 = 16 << 10;
/// Tells the measuring test what to run: the files for its report and for the child's errors, then the command, a line each.
const MEASURED: &str = "CYNIC_TEST_MEASURED_COMMAND";
/// Processor seconds of a child: its deadline is half a second, and the machine may be slow.
const PROCESSOR_SECONDS: u64 = 20;

/// How one child ended, and the greatest resident set it had.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) peak_kib: u64,
    pub(crate) stderr: String,
}

/// Runs a file under the limits; the shell's limit of processor time ends what hangs. What the system tells of a process's children is the most that any
/// took, so each child gets a parent of its own: this program again, at the test below.
pub(crate) fn run(flags: &[&str], file: &Path) -> Ended {
    let folder = tempfile::tempdir().expect("a folder");
    let (report, errors) = (folder.path().join("report"), folder.path().join("errors"));
    let mut command = vec![report.clone(), errors.clone(), PathBuf::from(env!("CARGO_BIN_EXE_cynic"))];
    command.extend(["--heap-limit=16M", "--timeout=500ms"].map(PathBuf::from));
    command.extend(flags.iter().map(PathBuf::from));
    command.push(file.to_owned());
    let lines: Vec<_> = command.iter().map(|path| path.to_str().expect("UTF-8")).collect();
    let measurer = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "measured::measures_one_child"])
        .env(MEASURED, lines.join("\n"))
        .stdin(Stdio::null())
        .output()
        .expect("this program runs");
    assert!(measurer.status.success(), "{}", String::from_utf8_lossy(&measurer.stdout));
    let report = std::fs::read_to_string(report).expect("a report");
    let (code, peak) = report.split_once(' ').expect("two numbers");
    let stderr = String::from_utf8_lossy(&std::fs::read(errors).expect("errors")).into_owned();
    Ended { code: code.parse().ok(), peak_kib: peak.parse().expect("a size"), stderr }
}

/// Not a test by itself: the parent of one measured child.
#[test]
fn measures_one_child() {
    let Ok(lines) = std::env::var(MEASURED) else { return };
    let mut lines = lines.lines();
    let mut next = || lines.next().expect("a line");
    let (report, errors) = (next(), next());
    let script = format!("ulimit -c 0; ulimit -t {PROCESSOR_SECONDS}; exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh"]).args(lines).stdout(Stdio::null());
    let errors = std::fs::File::create(errors).expect("created");
    let status = command.stderr(errors).status().expect("the shell runs");
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("it cannot fail");
    let code = status.code().map_or_else(|| status.to_string(), |code| code.to_string());
    std::fs::write(report, format!("{} {}", code.replace(' ', "_"), usage.max_rss())).expect("written");
}

/// The resident set of an empty program, in KiB.
pub(crate) fn empty_kib() -> u64 {
    static EMPTY: OnceLock<u64> = OnceLock::new();
    *EMPTY.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.js");
        std::fs::write(&file, "").expect("written");
        run(&[], &file).peak_kib
    })
}
