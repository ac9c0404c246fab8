//! Runs the folder `cynic/conformance/hostile`: programs that try to crash, hang or exhaust the engine.
//!
//! Every program runs as a child process under limits: of the engine (heap, deadline), and of the system (address space, and a
//! much later deadline of our own). A signal, a panic, or our deadline is a failure. The programs in files check by themselves
//! that what they do ends in a normal or a catchable way; the one-liners in `terminated.txt` must end as a termination, those in
//! `memory.txt` by the heap's limit and within little more memory.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Address space of a child, in KiB: the heap limit, the stacks and the reserved register stack, with room to spare.
const ADDRESS_SPACE_KIB: u64 = 8 << 20;
/// When a child counts as hanging, whatever its own limits are.
const HANG: Duration = Duration::from_secs(120);
/// How much of what a child writes is looked at.
const SHOWN_BYTES_MAX: u64 = 4096;
/// Children at once.
const JOBS: usize = 2;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/hostile")
}

/// Runs the command on `files` and waits, but not for ever.
fn run(flags: &[&str], files: &[&Path]) -> Result<Output, String> {
    run_within(ADDRESS_SPACE_KIB, flags, files)
}

fn run_within(address_space_kib: u64, flags: &[&str], files: &[&Path]) -> Result<Output, String> {
    // Files, because a pipe that nobody reads would stop a child that writes much.
    let [mut stdout, mut stderr] = [temporary()?, temporary()?];
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -c 0; ulimit -v {address_space_kib}; exec \"$@\""))
        .arg("sh")
        .arg(env!("CARGO_BIN_EXE_cynic"))
        .arg("run")
        .args(flags)
        .args(files)
        .stdin(Stdio::null())
        .stdout(stdout.try_clone().map_err(|error| error.to_string())?)
        .stderr(stderr.try_clone().map_err(|error| error.to_string())?)
        .spawn()
        .map_err(|error| error.to_string())?;
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                return Ok(Output { status, stdout: beginning(&mut stdout)?, stderr: end(&mut stderr)? });
            }
            Ok(None) if start.elapsed() > HANG => {
                let _ = child.kill();
                return Err("hangs".into());
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn temporary() -> Result<File, String> {
    tempfile::tempfile().map_err(|error| error.to_string())
}

/// What a file begins with.
fn beginning(file: &mut File) -> Result<Vec<u8>, String> {
    file.rewind().map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(SHOWN_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// What a file ends with: that is where the command says why it stopped.
fn end(file: &mut File) -> Result<Vec<u8>, String> {
    let length = file.seek(SeekFrom::End(0)).map_err(|error| error.to_string())?;
    file.seek(SeekFrom::Start(length.saturating_sub(SHOWN_BYTES_MAX))).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
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
    let helpers = format!("--before={}", folder().join("assert.js").display());
    let flags: Vec<&str> = flags.iter().copied().chain([helpers.as_str()]).collect();
    for_each(&programs(), |path| {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let output = run(&flags, &[path]).map_err(|error| format!("{name}: {error}"))?;
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

/// The lines of a list that are programs.
fn one_liners(list: &str) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(folder().join(list)).expect("the list is in the tree");
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(str::to_owned).enumerate().collect()
}

#[test]
fn memory_outside_the_heap_counts_for_its_limit() {
    /// Enough for the limit with what the process itself maps, far too little for anything without bounds.
    const ADDRESS_SPACE_KIB: u64 = 640 << 10;
    /// Statuses of an uncaught error and of the termination by heap.
    const ENDED: [i32; 2] = [1, 121];
    let cases = one_liners("memory.txt");
    assert!(cases.len() >= 30, "the list is whole");
    let scratch = tempfile::tempdir().expect("a temporary folder");
    for_each(&cases, |(number, case)| {
        let path = scratch.path().join(format!("{number}.js"));
        std::fs::write(&path, case).map_err(|error| error.to_string())?;
        let flags = ["--unhardened", "--allow=eval", "--heap-limit=64M", "--timeout=100"];
        let output =
            run_within(ADDRESS_SPACE_KIB, &flags, &[&path]).map_err(|error| format!("{case}: {error}"))?;
        let ended = output.status.code().is_some_and(|code| ENDED.contains(&code));
        if ended { Ok(()) } else { Err(describe(case, &output)) }
    });
}

#[test]
fn endless_programs_are_terminated() {
    /// Statuses of the terminations by heap and by deadline.
    const TERMINATED: [i32; 2] = [121, 124];
    let cases = one_liners("terminated.txt");
    assert!(cases.len() >= 100, "the list is whole");
    let scratch = tempfile::tempdir().expect("a temporary folder");
    for_each(&cases, |(number, case)| {
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
