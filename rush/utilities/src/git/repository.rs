//! Where the repository is, who owns it, and its settings.

use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::config::Config;
use super::{Attempt, Decline};
use crate::Context;
use crate::limits::GIT_FILE_BYTES_MAX;

/// A repository with a work tree around the working directory.
pub(crate) struct Repository {
    /// What leads from the process's directory to the work tree's root: empty or with a slash at its end.
    pub(crate) base: Vec<u8>,
    /// What leads from the work tree's root to the working directory: empty or with a slash at its end.
    pub(crate) prefix: Vec<u8>,
    /// Its settings and those of the user and the system.
    pub(crate) config: Config,
    /// The user's home, if there is one.
    pub(crate) home: Option<Vec<u8>>,
    /// Where the user's configuration is by `XDG_CONFIG_HOME`.
    pub(crate) user_folder: Option<Vec<u8>>,
}

/// Environment variables of git's that change nothing in what a read prints away from a terminal.
const HARMLESS_VARIABLES: [&[u8]; 9] = [
    b"GIT_ASKPASS",
    b"GIT_CONFIG_NOSYSTEM",
    b"GIT_EDITOR",
    b"GIT_MERGE_AUTOEDIT",
    b"GIT_OPTIONAL_LOCKS",
    b"GIT_PAGER",
    b"GIT_SEQUENCE_EDITOR",
    b"GIT_TERMINAL_PROMPT",
    b"GIT_VERSION",
];

/// How such variables of one purpose begin: identities, transport, prompts of shells.
const HARMLESS_PREFIXES: [&[u8]; 7] =
    [b"GIT_AUTHOR_", b"GIT_COMMITTER_", b"GIT_HTTP_", b"GIT_PROXY_", b"GIT_PS1_", b"GIT_SSH", b"GIT_SSL_"];

/// Whether a variable may change what is printed.
fn matters(name: &[u8]) -> bool {
    name.starts_with(b"GIT_")
        && !HARMLESS_VARIABLES.contains(&name)
        && !HARMLESS_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

impl Repository {
    /// Finds the repository around the working directory as git does, and reads all settings.
    pub(crate) fn discover(context: &Context<'_>) -> Attempt<Repository> {
        let variables = context.host.environment();
        let set = |name: &[u8]| variables.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone());
        if variables.iter().any(|(name, _)| matters(name)) {
            return Err(Decline);
        }
        let (base, prefix) = locate(context)?;
        let home = set(b"HOME").filter(|h| h.starts_with(b"/"));
        let user_folder = match set(b"XDG_CONFIG_HOME") {
            Some(folder) if folder.starts_with(b"/") => Some([&folder, &b"/git/"[..]].concat()),
            Some(_) => return Err(Decline),
            None => home.as_ref().map(|home| [home, &b"/.config/git/"[..]].concat()),
        };
        let mut repository = Repository { base, prefix, config: Config::default(), home, user_folder };
        let system = match set(b"GIT_CONFIG_NOSYSTEM").as_deref() {
            None => true,
            Some(b"1" | b"true") => false,
            Some(_) => return Err(Decline),
        };
        repository.read_config(system)?;
        Ok(repository)
    }

    fn read_config(&mut self, system: bool) -> Attempt<()> {
        let home = self.home.as_ref().map(|home| [home, &b"/.gitconfig"[..]].concat());
        let user = self.user_folder.as_ref().map(|folder| [folder, &b"config"[..]].concat());
        let own = Some(self.git_path(b"config"));
        for file in [system.then(|| b"/etc/gitconfig".to_vec()), user, home, own].into_iter().flatten() {
            if let Some(text) = read_if_there(&file)? {
                self.config.read(&text)?;
            }
        }
        Ok(())
    }

    /// A path inside `.git`.
    pub(crate) fn git_path(&self, name: &[u8]) -> Vec<u8> {
        [self.base.as_slice(), b".git/", name].concat()
    }

    /// A path of the work tree.
    pub(crate) fn tree_path(&self, name: &[u8]) -> PathBuf {
        if name.is_empty() && self.base.is_empty() {
            return PathBuf::from(".");
        }
        PathBuf::from(std::ffi::OsString::from_vec([self.base.as_slice(), name].concat()))
    }

    /// The text of a file inside `.git`, if it is there.
    pub(crate) fn read_git_file(&self, name: &[u8]) -> Attempt<Option<Vec<u8>>> {
        read_if_there(&self.git_path(name))
    }

    /// Whether there is something called `name` inside `.git`.
    pub(crate) fn has_git_file(&self, name: &[u8]) -> bool {
        as_path(&self.git_path(name)).symlink_metadata().is_ok()
    }
}

/// The bytes as a path.
pub(crate) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// A file's bytes; `None` where there is none.
pub(crate) fn read_if_there(path: &[u8]) -> Attempt<Option<Vec<u8>>> {
    use io::Read;
    let file = match fs::File::open(as_path(path)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(_) => return Err(Decline),
    };
    let mut bytes = Vec::new();
    file.take(GIT_FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > GIT_FILE_BYTES_MAX { Err(Decline) } else { Ok(Some(bytes)) }
}

/// The ways from here to the root of the work tree and back. Whatever is not a plain `.git` folder of this user in this
/// file system declines, also that there is none: git words that.
fn locate(context: &Context<'_>) -> Attempt<(Vec<u8>, Vec<u8>)> {
    let mut directory = if context.directory.as_os_str().is_empty() {
        std::env::current_dir()?
    } else {
        fs::canonicalize(context.directory)?
    };
    let mut base = Vec::new();
    if !context.directory.as_os_str().is_empty() {
        base = context.directory.as_os_str().as_bytes().to_vec();
        base.push(b'/');
    }
    let mut prefix = Vec::new();
    loop {
        let git = as_path(&base).join(".git");
        let root = if base.is_empty() { Path::new(".") } else { as_path(&base) }.metadata()?;
        match git.symlink_metadata() {
            Ok(found) => {
                let ours = |owner: u32| owner == context.host.user_id();
                if found.is_dir() && ours(found.uid()) && ours(root.uid()) && is_git_folder(&git) {
                    return Ok((base, prefix));
                }
                return Err(Decline);
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Decline),
            Err(_) => {}
        }
        let name = directory.file_name().ok_or(Decline)?.as_bytes().to_vec();
        // The inside of a bare repository or of a `.git` folder.
        if as_path(&base).join("HEAD").symlink_metadata().is_ok() || name == b".git" {
            return Err(Decline);
        }
        prefix = [name.as_slice(), b"/", &prefix].concat();
        base.extend_from_slice(b"../");
        directory.pop();
        if as_path(&base).metadata()?.dev() != root.dev() {
            return Err(Decline);
        }
    }
}

fn is_git_folder(git: &Path) -> bool {
    let is_folder = |name: &str| git.join(name).symlink_metadata().is_ok_and(|m| m.is_dir());
    let head = git.join("HEAD").symlink_metadata().is_ok_and(|m| m.is_file());
    // `commondir` makes it the folder of a linked work tree.
    head && is_folder("objects") && is_folder("refs") && git.join("commondir").symlink_metadata().is_err()
}
