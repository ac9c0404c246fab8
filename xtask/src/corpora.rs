//! Finds the conformance suites as data and unpacks them into the cache. A suite is a folder or a `.tar.zst`, named by
//! an environment variable or lying in `../shared/corpora`; nothing of it ever enters the tree.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::workspace::Workspace;

/// One suite: how it is called, which variable names it, and what proves that a folder is it.
pub(crate) struct Corpus {
    pub(crate) name: &'static str,
    pub(crate) variable: &'static str,
    archive: &'static str,
    proof: &'static str,
}

/// The official ECMAScript conformance suite.
pub(crate) const TEST262: Corpus =
    Corpus { name: "test262", variable: "TEST262", archive: "test262.tar.zst", proof: "harness/assert.js" };
/// The Oils project's shell cases.
pub(crate) const OILS: Corpus =
    Corpus { name: "oils", variable: "OILS_SPEC", archive: "oils-spec.tar.zst", proof: "spec/smoke.test.sh" };

impl Corpus {
    /// The folder of the unpacked suite; `None` when this machine does not have it.
    pub(crate) fn find(&self, workspace: &Workspace) -> Result<Option<PathBuf>, String> {
        let named = std::env::var_os(self.variable).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(path) = named {
            if path.is_dir() {
                return Ok(Some(path));
            }
            if path.is_file() {
                return self.unpack(workspace, &path).map(Some);
            }
            return Err(format!("{}={} is neither a folder nor an archive", self.variable, path.display()));
        }
        let beside = workspace.root.join("../shared/corpora").join(self.archive);
        if beside.is_file() { self.unpack(workspace, &beside).map(Some) } else { Ok(None) }
    }

    /// What to print when the suite is absent.
    pub(crate) fn absent(&self) -> String {
        format!("set {}=FOLDER (or a {}) to run it", self.variable, self.archive)
    }

    fn unpack(&self, workspace: &Workspace, archive: &Path) -> Result<PathBuf, String> {
        let explain = |error: std::io::Error| format!("{}: {error}", archive.display());
        let length = archive.metadata().map_err(explain)?.len();
        let folder = workspace.cache.join("corpora").join(format!("{}-{length}", self.name));
        if folder.join(self.proof).is_file() {
            return Ok(folder);
        }
        let partial = folder.with_extension(format!("partial-{}", std::process::id()));
        std::fs::create_dir_all(&partial).map_err(explain)?;
        let mut file = File::open(archive).map_err(explain)?;
        let decoder = ruzstd::decoding::StreamingDecoder::new(&mut file)
            .map_err(|error| format!("{}: {error}", archive.display()))?;
        tar::Archive::new(decoder).unpack(&partial).map_err(explain)?;
        if !partial.join(self.proof).is_file() {
            return Err(format!("{} does not hold {}", archive.display(), self.proof));
        }
        let _ = std::fs::remove_dir_all(&folder);
        match std::fs::rename(&partial, &folder) {
            Ok(()) => Ok(folder),
            // Another run was quicker; its copy is the same.
            Err(_) if folder.join(self.proof).is_file() => {
                let _ = std::fs::remove_dir_all(&partial);
                Ok(folder)
            }
            Err(error) => Err(explain(error)),
        }
    }
}
