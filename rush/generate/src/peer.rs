//! Runs a case through the GNU program.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::case::{Case, Observed};

/// The environment of a case, sorted by name as `Command` hands it over.
pub(crate) fn environment(case: &Case) -> Vec<(String, String)> {
    let fixed = [("PATH", "/usr/bin:/bin"), ("TZ", "Europe/Berlin"), ("HOME", "/nowhere")];
    let all = fixed.into_iter().chain(case.locale.variable());
    let mut all: Vec<_> = all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    all.sort();
    all
}

/// Files that programs write to, used again for each.
pub(crate) struct Sinks {
    output: File,
    errors: File,
}

impl Sinks {
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        let open = |name| File::options().read(true).append(true).create(true).open(folder.join(name));
        Ok(Self { output: open("output")?, errors: open("errors")? })
    }
}

fn taken(mut file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    file.set_len(0)?;
    Ok(bytes)
}

/// Programs of their own language, which a case may have without an end: they get ten seconds and a gigabyte.
const LANGUAGES: [&[u8]; 2] = [b"awk", b"sed"];
/// Runs its arguments so.
const BOUNDED: &str = "ulimit -v 1000000; exec timeout -k 1 10 \"$@\"";
/// What says that the time was up: of `timeout`, and of SIGKILL.
const LATE: [i32; 2] = [124, 137];

/// What the program makes of the case in `directory`; `None` if it came to no end.
pub(crate) fn run(
    case: &Case,
    directory: &Path,
    stdin: &File,
    sinks: &Sinks,
) -> io::Result<Option<Observed>> {
    let words: Vec<&OsStr> = case.args.iter().map(|word| OsStr::from_bytes(word)).collect();
    let (name, rest) = words.split_first().ok_or(io::ErrorKind::NotFound)?;
    let bounded = LANGUAGES.contains(&name.as_bytes());
    let mut command = Command::new(if bounded { OsStr::new("sh") } else { name });
    if bounded {
        command.args(["-c", BOUNDED, "sh"]).arg(name);
    }
    command.args(rest).current_dir(directory).env_clear().envs(environment(case));
    let output =
        if case.full { File::options().write(true).open("/dev/full")? } else { sinks.output.try_clone()? };
    command.stdin(stdin.try_clone()?).stdout(output).stderr(sinks.errors.try_clone()?);
    let status = command.spawn()?.wait()?;
    let status = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    let (output, errors) = (taken(&sinks.output)?, taken(&sinks.errors)?);
    if bounded && (LATE.contains(&status) || errors.windows(6).any(|word| word == b"memory")) {
        return Ok(None);
    }
    Ok(Some(Observed { output, errors, status, offset: None, tree: Vec::new() }))
}

/// Whether the program is there and GNU's.
pub(crate) fn is_gnu(program: &str) -> bool {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("GNU"))
}
