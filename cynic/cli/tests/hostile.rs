//! Runs the folder `cynic/conformance/hostile`: programs that try to crash, hang or exhaust the engine.
//!
//! Every program runs as a child process under limits: of the engine (heap, deadline), and of the system (address space, and a
//! much later deadline of our own). A signal, a panic, or our deadline is a failure. The programs in files check by themselves
//! that what they do ends in a normal or a catchable way; the one-liners in `terminated.txt` must end as a termination.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Address space of a child, in KiB: the heap limit, the stacks and the reserved register stack, with room to spare.
const ADDRESS_SPACE_KIB: u64 = 8 << 20;
/// When a child counts as hanging, whatever its own limits are.
const HANG: Duration = Duration::from_secs(120);
/// Children at once.
const JOBS: usize = 2;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/hostile")
}

/// Runs the command on `files` and waits, but not for ever.
fn run(flags: &[&str], files: &[&Path]) -> Result<Output, String> {
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -c 0; ulimit -v {ADDRESS_SPACE_KIB}; exec \"$@\""))
        .arg("sh")
        .arg(env!("CARGO_BIN_EXE_cynic"))
        .arg("run")
        .args(flags)
        .args(files)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(_)) => return child.wait_with_output().map_err(|error| error.to_string()),
            Ok(None) if start.elapsed() > HANG => {
                let _ = child.kill();
                return Err("hangs".into());
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Calls `check` for every case, a few at a time, and fails with all the complaints.
fn for_each<T: Sync>(cases: &[T], check: impl Fn(&T) -> Result<(), String> + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let complaints = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..JOBS {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    if let Err(complaint) = check(case) {
                        complaints.lock().expect("no panic while it is held").push(complaint);
                    }
                }
            });
        }
    });
    let complaints = complaints.into_inner().expect("no panic while it was held");
    assert!(
        complaints.is_empty(),
        "{} of {} cases:\n{}",
        complaints.len(),
        cases.len(),
        complaints.join("\n")
    );
}

fn describe(name: &str, output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(600).collect::<String>();
    format!("{name}: {}: {}{}", output.status, text(&output.stdout), text(&output.stderr))
}

fn programs() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("the folder is in the tree")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            path.extension().is_some_and(|extension| extension == "js") && !path.ends_with("assert.js")
        })
        .collect();
    files.sort();
    assert!(files.len() >= 15, "the folder is whole");
    files
}

fn programs_end_by_themselves(flags: &[&str]) {
    let helpers = folder().join("assert.js");
    for_each(&programs(), |path| {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let output = run(flags, &[&helpers, path]).map_err(|error| format!("{name}: {error}"))?;
        if output.status.success() { Ok(()) } else { Err(describe(&name, &output)) }
    });
}

#[test]
fn hostile_programs_end_normally_in_an_open_realm() {
    programs_end_by_themselves(&["--unhardened", "--allow=eval", "--heap-limit=2G", "--timeout=100"]);
}

#[test]
fn hostile_programs_end_normally_in_a_hardened_realm() {
    programs_end_by_themselves(&["--allow=eval", "--heap-limit=2G", "--timeout=100"]);
}

#[test]
fn endless_programs_are_terminated() {
    /// Statuses of the terminations by heap and by deadline.
    const TERMINATED: [i32; 2] = [121, 124];
    let text = std::fs::read_to_string(folder().join("terminated.txt")).expect("the list is in the tree");
    let cases: Vec<&str> = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    assert!(cases.len() >= 100, "the list is whole");
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let numbered: Vec<(usize, &str)> = cases.into_iter().enumerate().collect();
    for_each(&numbered, |(number, case)| {
        let path = scratch.path().join(format!("{number}.js"));
        let program =
            format!("try {{ {case}\n }} catch (error) {{ print('caught', error) }} finally {{ for (;;); }}");
        std::fs::write(&path, program).map_err(|error| error.to_string())?;
        let flags = ["--unhardened", "--heap-limit=256M", "--timeout=1"];
        let output = run(&flags, &[&path]).map_err(|error| format!("{case}: {error}"))?;
        let ended = output.status.code().is_some_and(|code| TERMINATED.contains(&code));
        if ended && output.stdout.is_empty() { Ok(()) } else { Err(describe(case, &output)) }
    });
}
