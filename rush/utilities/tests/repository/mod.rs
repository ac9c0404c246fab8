//! A folder for repositories, a home with settings, and both gits.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rush_utilities::{Context, Outcome, run};

use crate::machine::{self, Machine};

const SETTINGS: &str =
    "[user]\n\tname = A U Thor\n\temail = author@example.org\n[protocol \"file\"]\n\tallow = always\n";

/// A folder that goes away with this.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// An empty one.
    pub fn new(name: &str) -> Scratch {
        let root =
            std::env::temp_dir().join(format!("rush-git-{}-{}", name.replace(' ', "-"), std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("home")).unwrap();
        fs::write(root.join("home/.gitconfig"), SETTINGS).unwrap();
        Scratch(fs::canonicalize(root).unwrap())
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        let home = self.0.join("home").to_string_lossy().into_owned();
        vec![
            ("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME", home),
            ("LC_ALL", "C.UTF-8".into()),
            ("TZ", "Europe/Berlin".into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ]
    }

    /// Runs a script with fixed dates that go up by a minute with each commit.
    pub fn script(&self, folder: &Path, script: &str) {
        let dated = format!(
            "n=0; git() {{ n=$((n+60)); GIT_AUTHOR_DATE=\"$((1600000000+n)) +0200\" \
             GIT_COMMITTER_DATE=\"$((1600000000+n)) +0200\" command git \"$@\"; }}\n{script}\n"
        );
        let output = Command::new("sh")
            .args(["-ec", &dated])
            .current_dir(folder)
            .env_clear()
            .envs(self.variables())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// What ours says and its status; none where it is left to git.
    pub fn ours(&self, folder: &Path, words: &[&str]) -> Option<(String, i32)> {
        let args: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let outcome = run(&mut Context {
            args: &args,
            directory: folder,
            input: &mut machine::Bytes::new(b""),
            output: &mut output,
            errors: &mut errors,
            interrupted: || false,
            before_read: &|_| {},
            host: &mut Machine { variables: self.variables() },
        });
        assert!(errors.is_empty(), "{words:?}: {}", String::from_utf8_lossy(&errors));
        match outcome {
            Outcome::Status(status) => Some((String::from_utf8_lossy(&output).into_owned(), status)),
            Outcome::Fallthrough => {
                assert!(output.is_empty(), "declined after it had printed: {words:?}");
                None
            }
        }
    }

    /// What git says; a message on standard error fails, since ours has none.
    pub fn theirs(&self, folder: &Path, words: &[&str]) -> (String, i32) {
        let mut command = Command::new("git");
        command.args(&words[1..]).current_dir(folder).env_clear().envs(self.variables()).stdin(Stdio::null());
        let output = command.output().unwrap();
        let all = [output.stdout, output.stderr].concat();
        (String::from_utf8_lossy(&all).into_owned(), output.status.code().unwrap_or(-1))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Whether git is installed.
pub fn git_is_here() -> bool {
    let here = Command::new("git").arg("--version").output().is_ok_and(|o| o.status.success());
    if !here {
        pithos_skipped::test("git is not installed");
    }
    here
}
