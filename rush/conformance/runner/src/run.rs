//! Running the cases, inside the sandbox: two at a time, each in a folder of its own, killed when it takes too long.

use crate::cases::{Case, Expectation, parse};
use std::fmt;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A case that runs longer is killed and fails.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Files about other shells, or about features that are Oils' own.
const OTHER_SHELLS: &[&str] = &[
    "ysh-",
    "hay",
    "osh-bugs",
    "redir-order",
    "spec-harness-bug",
    "zsh-",
    "toysh",
    "known-differences",
    "shell-bugs",
    "interactive-parse",
    "shell-grammar",
    "blog-other1",
    "strict-options",
    "errexit-osh",
    "arith-dynamic",
    "command-sub-ksh",
    "print-source-code",
    "divergence",
    "type-compat",
    "nix-idioms",
];

/// Programs that some cases call and not every machine has: without them such a case says nothing about the shell.
const PROGRAMS: &[&str] = &["gawk"];

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Fail,
    /// A program that the case calls is not on this machine.
    Skip,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Skip => "skip",
        }
    }
}

/// The outcome of a case.
#[derive(Debug, Clone)]
pub(crate) struct CaseResult {
    file: String,
    number: usize,
    pub(crate) description: String,
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
}

impl CaseResult {
    /// How the list names the case.
    pub(crate) fn key(&self) -> String {
        format!("{}#{}", self.file, self.number)
    }

    /// Reads the line that `Display` writes.
    pub(crate) fn parse(line: &str) -> Option<CaseResult> {
        let mut fields = line.splitn(5, '\t');
        let verdict = fields.next()?;
        Some(CaseResult {
            verdict: [Verdict::Pass, Verdict::Fail, Verdict::Skip]
                .into_iter()
                .find(|one| one.name() == verdict)?,
            file: fields.next()?.to_string(),
            number: fields.next()?.parse().ok()?,
            description: fields.next()?.to_string(),
            reason: fields.next()?.to_string(),
        })
    }
}

impl fmt::Display for CaseResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = self.verdict.name();
        let clean = |text: &str| text.replace(['\t', '\n'], " ");
        let (description, reason) = (clean(&self.description), clean(&self.reason));
        write!(f, "{verdict}\t{}\t{}\t{description}\t{reason}", self.file, self.number)
    }
}

/// Where the cases find things.
struct Place {
    root: PathBuf,
    helpers: PathBuf,
    shell: PathBuf,
}

/// Runs every case of the suite in `root`.
pub(crate) fn suite(root: &Path) -> Result<Vec<CaseResult>, String> {
    let place = prepare(root)?;
    let mut work: Vec<(String, usize, Case)> = Vec::new();
    for (file, text) in files(root)? {
        for (number, case) in parse(&text).into_iter().enumerate() {
            work.push((file.clone(), number, case));
        }
    }
    let next = Mutex::new(0);
    let results = Mutex::new(vec![None; work.len()]);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let index = {
                        let Ok(mut next) = next.lock() else { return };
                        *next += 1;
                        *next - 1
                    };
                    let Some((file, number, case)) = work.get(index) else { return };
                    let result = run_case(&place, file, *number, case);
                    if let Ok(mut results) = results.lock() {
                        results[index] = Some(result);
                    }
                }
            });
        }
    });
    let results = results.into_inner().map_err(|_| "a worker panicked")?;
    Ok(results.into_iter().flatten().collect())
}

fn files(root: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let spec = root.join("spec");
    let mut out = Vec::new();
    for entry in std::fs::read_dir(&spec).map_err(|e| format!("{}: {e}", spec.display()))? {
        let path = entry.map_err(|e| e.to_string())?.path();
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let Some(name) = name.strip_suffix(".test.sh") else { continue };
        if OTHER_SHELLS.iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        out.push((name.to_string(), std::fs::read(&path).map_err(|e| e.to_string())?));
    }
    out.sort();
    Ok(out)
}

/// Links this program under the names of the shell and the helpers.
fn prepare(root: &Path) -> Result<Place, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let helpers = PathBuf::from("/tmp/oils-bin");
    std::fs::create_dir_all(&helpers).map_err(|e| e.to_string())?;
    for name in ["argv.py", "printenv.py", "read_from_fd.py", "show_fd_table.py", "stdout_stderr.py", "rush"]
    {
        std::fs::hard_link(&program, helpers.join(name)).map_err(|e| e.to_string())?;
    }
    Ok(Place { root: root.to_path_buf(), shell: helpers.join("rush"), helpers })
}

fn run_case(place: &Place, file: &str, number: usize, case: &Case) -> CaseResult {
    let (verdict, reason) = match absent(case) {
        Some(program) => (Verdict::Skip, format!("{program} is not installed")),
        None => judge(place, file, number, case)
            .map_or((Verdict::Pass, String::new()), |why| (Verdict::Fail, why)),
    };
    CaseResult { file: file.to_string(), number, description: case.description.clone(), verdict, reason }
}

/// The first program that the case calls and that is not there.
fn absent(case: &Case) -> Option<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = |program: &str| std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    let calls = |program: &str| {
        case.code.split(|byte| !byte.is_ascii_alphanumeric()).any(|word| word == program.as_bytes())
    };
    PROGRAMS.iter().copied().find(|program| calls(program) && !there(program))
}

/// Why a case fails; none when it passes.
fn judge(place: &Place, file: &str, number: usize, case: &Case) -> Option<String> {
    match execute(place, file, number, case) {
        Err(message) => Some(message),
        Ok(got) => {
            let failures: Vec<String> =
                case.accepted.iter().filter_map(|want| mismatch(want, &got)).collect();
            if failures.len() == case.accepted.len() { failures.into_iter().next() } else { None }
        }
    }
}

/// What a case did.
struct Got {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    status: i32,
}

fn mismatch(want: &Expectation, got: &Got) -> Option<String> {
    let text = |name: &str, want: &Option<Vec<u8>>, got: &[u8]| {
        let want = want.as_ref().filter(|w| w.as_slice() != got)?;
        let (want, got) = (String::from_utf8_lossy(want), String::from_utf8_lossy(got));
        Some(format!("{name}: want {want:?} got {got:?}"))
    };
    let status = want.status.filter(|s| *s != got.status);
    text("stdout", &want.stdout, &got.stdout)
        .or_else(|| text("stderr", &want.stderr, &got.stderr))
        .or_else(|| status.map(|s| format!("status: want {s} got {}", got.status)))
}

fn execute(place: &Place, file: &str, number: usize, case: &Case) -> Result<Got, String> {
    let folder = PathBuf::from(format!("/tmp/oils/{file}/{number:02}"));
    std::fs::create_dir_all(folder.join("_tmp")).map_err(|e| e.to_string())?;
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".into());
    let path = format!("{}:{}:{path}", place.helpers.display(), place.root.join("spec/bin").display());
    let mut child = Command::new(&place.shell)
        .current_dir(&folder)
        .env_clear()
        .env("TMP", &folder)
        .env("SH", &place.shell)
        .env("LC_ALL", "C.UTF-8")
        .env("LOCALE_ARCHIVE", "")
        .env("OILS_GC_ON_EXIT", "")
        .env("REPO_ROOT", &place.root)
        .env("PATH", path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|e| format!("cannot start the shell: {e}"))?;
    let group = child.id() as i32;
    let (Some(mut stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err("no pipes".into());
    };
    let result = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(&case.code));
        let stdout = scope.spawn(move || drain(stdout));
        let stderr = scope.spawn(move || drain(stderr));
        let deadline = Instant::now() + TIMEOUT;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
                _ => break None,
            }
        };
        // Whatever the case left running holds the pipes open; a little grace lets output arrive.
        while status.is_some() && Instant::now() < deadline && !(stdout.is_finished() && stderr.is_finished())
        {
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = rush::sys::send_signal(-group, 9);
        let _ = child.wait();
        let stdout = stdout.join().unwrap_or_default();
        let stderr = stderr.join().unwrap_or_default();
        match status {
            Some(status) => {
                let status = status.code().or_else(|| status.signal().map(|s| -s)).unwrap_or(-1);
                Ok(Got { stdout, stderr, status })
            }
            None => Err("timed out".to_string()),
        }
    });
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn drain(mut pipe: impl Read) -> Vec<u8> {
    let mut out = Vec::new();
    let _ = pipe.read_to_end(&mut out);
    out
}
