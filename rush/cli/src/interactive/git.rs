//! What a prompt says of the git repository around the working directory: `RUSH_PROMPT_GIT`, ` (BRANCH)` or ` (BRANCH*)` with changes.
//!
//! The branch is one small file and read at once. Whether there are changes is asked of a shell in a process of its own, which the prompt
//! waits for a moment only; an answer that comes later is shown by the next prompt in the same directory, and one that does not come is
//! given up.

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::limits;

/// The status of one repository, asked for in the background.
#[derive(Default)]
pub(super) struct GitPrompt {
    question: Option<Question>,
    /// The last answer, and the work tree that it is about.
    answer: Option<(PathBuf, bool)>,
}

struct Question {
    tree: PathBuf,
    child: Child,
    asked: Instant,
    read: Vec<u8>,
}

impl GitPrompt {
    /// What the prompt shows in `directory`; empty where there is no repository.
    pub(super) fn text(&mut self, directory: &Path) -> String {
        let Some((tree, git)) = repository(directory) else { return String::new() };
        let Some(branch) = branch(&git) else { return String::new() };
        self.collect(Duration::ZERO);
        self.ask(directory, &tree);
        self.collect(Duration::from_millis(limits::GIT_PROMPT_PATIENCE_MS));
        let changed = self.answer.as_ref().is_some_and(|(about, changed)| *about == tree && *changed);
        format!(" ({branch}{})", if changed { "*" } else { "" })
    }

    /// Asks whether `tree` has changes, unless that is being asked.
    fn ask(&mut self, directory: &Path, tree: &Path) {
        if self.question.is_some() {
            return;
        }
        let started = Command::new("/proc/self/exe")
            .args(["-c", "git status --porcelain"])
            .current_dir(directory)
            // Nothing is written beside the user's own commands.
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env_remove("BASH_ENV")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // The keyboard's signals are not for it.
            .process_group(0)
            .spawn();
        if let Ok(child) = started {
            self.question =
                Some(Question { tree: tree.to_path_buf(), child, asked: Instant::now(), read: Vec::new() });
        }
    }

    /// Takes the answer if it comes within `patience`; ends a question that has taken too long.
    fn collect(&mut self, patience: Duration) {
        let Some(question) = &mut self.question else { return };
        let deadline = Instant::now() + patience;
        let ended = loop {
            match question.step(deadline.saturating_duration_since(Instant::now())) {
                // One line is all that is to be known.
                Step::Ended => break true,
                Step::More if question.read.is_empty() => {}
                Step::More => break true,
                Step::Silent => break false,
            }
        };
        let late = question.asked.elapsed() > Duration::from_millis(limits::GIT_PROMPT_TIMEOUT_MS);
        if !ended && !late {
            return;
        }
        let Some(mut question) = self.question.take() else { return };
        if ended {
            self.answer = Some((question.tree, !question.read.is_empty()));
        }
        let _ = question.child.kill();
        let _ = question.child.wait();
    }
}

enum Step {
    More,
    Ended,
    Silent,
}

impl Question {
    fn step(&mut self, patience: Duration) -> Step {
        let Some(output) = self.child.stdout.as_mut() else { return Step::Ended };
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(patience.subsec_nanos()) };
        let ready = poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&timeout));
        if !matches!(ready, Ok(1..)) {
            return Step::Silent;
        }
        let mut chunk = [0; 256];
        match output.read(&mut chunk) {
            Ok(count @ 1..) => {
                self.read.extend_from_slice(&chunk[..count]);
                Step::More
            }
            _ => Step::Ended,
        }
    }
}

impl Drop for GitPrompt {
    fn drop(&mut self) {
        if let Some(question) = &mut self.question {
            let _ = question.child.kill();
            let _ = question.child.wait();
        }
    }
}

/// The work tree around `directory`, and its git folder.
fn repository(directory: &Path) -> Option<(PathBuf, PathBuf)> {
    for tree in directory.ancestors() {
        let git = tree.join(".git");
        let Ok(found) = git.metadata() else { continue };
        if found.is_dir() {
            return Some((tree.to_path_buf(), git));
        }
        // A linked work tree or a submodule: a file that says where.
        let text = fs::read_to_string(&git).ok()?;
        let place = text.strip_prefix("gitdir:")?.trim();
        return Some((tree.to_path_buf(), tree.join(place)));
    }
    None
}

/// The branch, or the beginning of the commit where there is none.
fn branch(git: &Path) -> Option<String> {
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let head = head.trim_end();
    let name = match head.strip_prefix("ref: ") {
        Some(name) => name.strip_prefix("refs/heads/").unwrap_or(name),
        None => head.get(..7)?,
    };
    // Shown by a terminal: nothing of it may be a control sequence.
    Some(name.chars().filter(|character| !character.is_control()).collect())
}

#[cfg(test)]
mod tests {
    use super::{branch, repository};
    use std::fs;

    #[test]
    fn repositories_and_branches() {
        let folder = tempfile::tempdir().expect("a folder");
        let tree = folder.path().join("tree");
        fs::create_dir_all(tree.join(".git")).expect("made");
        fs::create_dir_all(tree.join("deep/er")).expect("made");
        fs::write(tree.join(".git/HEAD"), "ref: refs/heads/feature/x\n").expect("written");
        let (found, git) = repository(&tree.join("deep/er")).expect("a repository");
        assert_eq!(found, tree);
        assert_eq!(branch(&git).as_deref(), Some("feature/x"));
        fs::write(tree.join(".git/HEAD"), "0123456789abcdef\n").expect("written");
        assert_eq!(branch(&git).as_deref(), Some("0123456"));
        let linked = folder.path().join("linked");
        fs::create_dir(&linked).expect("made");
        fs::write(linked.join(".git"), "gitdir: ../tree/.git\n").expect("written");
        assert_eq!(repository(&linked).and_then(|(_, git)| branch(&git)).as_deref(), Some("0123456"));
    }
}
