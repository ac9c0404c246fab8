//! Readers behind a utility of the shell: JSON, and the files of a git repository, given to the utility in this process.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use rush_utilities::{Context, Ended, Host, Input, Outcome};

/// What a call printed, and its status.
struct Answer {
    status: Option<i32>,
    output: Vec<u8>,
}

struct Bytes<'a>(Cursor<&'a [u8]>);

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Input for Bytes<'_> {
    fn unread(&mut self, _: usize) -> bool {
        false
    }
    fn extent(&self) -> Option<(u64, u64)> {
        None
    }
}

/// A world with a fixed clock in which no program can be started.
struct Nothing;

impl Host for Nothing {
    fn variable(&self, _: &str) -> Option<Vec<u8>> {
        None
    }
    fn environment(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        Vec::new()
    }
    fn now(&self) -> (i64, u32) {
        (1_800_000_000, 0)
    }
    fn sleep(&mut self, _: Duration) -> bool {
        true
    }
    fn run(&mut self, _: &[Vec<u8>], _: Option<&[(Vec<u8>, Vec<u8>)]>, _: bool) -> io::Result<Ended> {
        Err(io::ErrorKind::NotFound.into())
    }
    fn output_is_terminal(&self) -> bool {
        false
    }
    fn umask(&self) -> u32 {
        0o022
    }
    fn user_id(&self) -> u32 {
        0
    }
}

fn call(words: &[&str], directory: &Path, input: &[u8]) -> Answer {
    let args: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let outcome = rush_utilities::run(&mut Context {
        args: &args,
        directory,
        input: &mut Bytes(Cursor::new(input)),
        output: &mut output,
        errors: &mut errors,
        interrupted: || false,
        before_read: &|_| {},
        host: &mut Nothing,
    });
    match outcome {
        Outcome::Status(status) => Answer { status: Some(status), output },
        Outcome::Fallthrough => Answer { status: None, output },
    }
}

/// A document that is read and written is read and written again as the same.
pub(super) fn json(bytes: &[u8]) -> Result<(), String> {
    let here = Path::new("/");
    let first = call(&["json", "query", "-c", "."], here, bytes);
    if first.status != Some(0) {
        return Ok(());
    }
    let second = call(&["json", "query", "-c", "."], here, &first.output);
    if second.status != Some(0) || second.output != first.output {
        let shown = |answer: &Answer| format!("{:?} {}", answer.status, answer.output.escape_ascii());
        return Err(format!("written as {}\nand then as {}", shown(&first), shown(&second)));
    }
    Ok(())
}

pub(super) fn json_valid() -> Vec<Vec<u8>> {
    let texts = [
        "{\"a\":[1,2.5e-3,-0,true,null],\"b\":{\"c\":\"\\u00e9\\ud83d\\ude00\\n\"}}",
        "[] {} \"x\" 12345678901234567890123",
        "[[[[[[[[1]]]]]]]]\n",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// A repository of two commits, which git made; none without git.
fn repository() -> Option<&'static PathBuf> {
    static MADE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("pithos-fuzz-git-{}", std::process::id()));
        std::fs::create_dir_all(&folder).ok()?;
        let script = "git init -q . && git config user.name a && git config user.email a@b.c && mkdir d && echo 1 >f && echo 2 >d/g && \
                      git add . && git commit -qm one && echo 3 >>f && git commit -qam two && git tag t && git branch b && git gc -q && \
                      echo 4 >new && git add new && git commit -qm three && echo 5 >>f";
        let done = Command::new("sh").args(["-c", script]).current_dir(&folder).env("HOME", &folder).output().ok()?;
        done.status.success().then_some(folder)
    });
    made.as_ref()
}

/// The files that are damaged: their bytes come after their place in this list.
fn files(repository: &Path) -> Vec<PathBuf> {
    let git = repository.join(".git");
    let mut found = ["index", "HEAD", "config", "packed-refs"].map(|name| git.join(name)).to_vec();
    for folder in ["objects/pack", "refs/heads"] {
        let entries = std::fs::read_dir(git.join(folder)).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> =
            entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
        paths.sort();
        found.extend(paths);
    }
    found
}

/// With one of its files damaged a repository is read, refused, or left to git; and the commands change nothing.
pub(super) fn git(bytes: &[u8]) -> Result<(), String> {
    let (Some(repository), Some((which, bytes))) = (repository(), bytes.split_first()) else { return Ok(()) };
    let files = files(repository);
    let file = &files[*which as usize % files.len()];
    let before = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    // git writes its packs read-only.
    let put = |bytes: &[u8]| {
        let _ = std::fs::remove_file(file);
        std::fs::write(file, bytes).map_err(|error| format!("{}: {error}", file.display()))
    };
    put(bytes)?;
    let commands: [&[&str]; 6] = [
        &["git", "status", "--short"],
        &["git", "log", "--oneline"],
        &["git", "diff"],
        &["git", "show", "HEAD"],
        &["git", "branch"],
        &["git", "ls-files"],
    ];
    let done = std::panic::catch_unwind(|| {
        for words in commands {
            call(words, repository, b"");
        }
    });
    let after = std::fs::read(file);
    put(&before)?;
    match (done, after) {
        (Err(panic), _) => std::panic::resume_unwind(panic),
        (Ok(()), Ok(after)) if after == bytes => Ok(()),
        _ => Err(format!("{} was changed by a command that reads", file.display())),
    }
}

pub(super) fn git_valid() -> Vec<Vec<u8>> {
    let Some(repository) = repository() else { return Vec::new() };
    let files = files(repository);
    let numbered = files.iter().enumerate().filter_map(|(which, file)| {
        let mut bytes = vec![which as u8];
        bytes.extend(std::fs::read(file).ok()?);
        Some(bytes)
    });
    numbered.collect()
}
