//! Modules from files: a key is a path, a specifier is relative to its referrer; a bare one names a package, if those are allowed
//! (`packages`). A path without its ending, or a folder with an index, is found too.
//!
//! What `import` may read is a permission. Invariant: a file is opened, or looked for, only if its path, by its text and again with every
//! symbolic link followed, lies below a folder that was allowed (those of the files on the command line, of `--allow=read=DIR`, and
//! `node_modules` with `--allow=packages`); nothing but regular files is read, and nothing beyond the size they had.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use cynic::{ModuleKind, ModuleLoader};

use crate::limits::{DESCRIPTION_BYTES_MAX, SOURCE_BYTES_MAX};
use crate::sources::Sources;

mod common_js;
mod import_map;
mod packages;

pub(crate) use import_map::ImportMap;

/// A folder below which modules may be read.
#[derive(Clone)]
struct Folder {
    /// As paths are spelled that begin with it.
    spelled: PathBuf,
    /// Without symbolic links.
    real: PathBuf,
}

/// Loads modules from the file system.
#[derive(Clone)]
pub(crate) struct FileLoader {
    /// Where modules may come from; `None` is anywhere.
    folders: Option<Vec<Folder>>,
    /// Whether packages may be imported by name.
    packages: bool,
    /// Whether CommonJS modules may be imported.
    common_js: bool,
    /// What specifiers mean before anything else is asked.
    import_map: Option<Rc<ImportMap>>,
    /// Told of every file that is read.
    sources: Sources,
}

/// What may be left out of the path of a module.
const ENDINGS: [&str; 15] = [
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".mts",
    ".tsx",
    ".jsx",
    ".json",
    "/index.js",
    "/index.mjs",
    "/index.cjs",
    "/index.ts",
    "/index.mts",
    "/index.tsx",
    "/index.jsx",
];
/// What a file may be named that was TypeScript when the specifier was written for its output.
const WRITTEN_AS: [(&str, &str); 4] = [(".js", ".ts"), (".js", ".tsx"), (".mjs", ".mts"), (".jsx", ".tsx")];

impl FileLoader {
    /// A loader without limits, for programs that are trusted; it finds what is named exactly.
    pub(crate) fn unrestricted() -> Self {
        Self {
            folders: None,
            packages: false,
            common_js: false,
            import_map: None,
            sources: Sources::default(),
        }
    }

    /// Modules from below `folders` alone. A folder that is not there allows nothing. With `programs`, the folders of the program,
    /// packages come from the `node_modules` of these and of the folders around them.
    pub(crate) fn below(
        folders: impl IntoIterator<Item = PathBuf>,
        programs: Option<Vec<PathBuf>>,
        sources: Sources,
    ) -> Self {
        let folder = |path: PathBuf| {
            let path = if path.as_os_str().is_empty() { PathBuf::from(".") } else { path };
            let spelled = absolute(&path).ok()?;
            Some(Folder { spelled, real: path.canonicalize().ok()? })
        };
        let packages = programs.is_some();
        let mut allowed: Vec<Folder> = folders.into_iter().filter_map(folder).collect();
        for program in programs.into_iter().flatten() {
            let Ok(program) = absolute(&program) else { continue };
            let modules = program.ancestors().map(|around| around.join(packages::FOLDER));
            allowed.extend(modules.filter(|modules| modules.is_dir()).filter_map(folder));
        }
        Self { folders: Some(allowed), packages, common_js: false, import_map: None, sources }
    }

    /// The same with CommonJS, which a function of [`crate::common_js`] runs.
    pub(crate) fn with_common_js(mut self, common_js: bool) -> Self {
        self.common_js = common_js;
        self
    }

    /// The same with an import map.
    pub(crate) fn with_import_map(mut self, import_map: Option<Rc<ImportMap>>) -> Self {
        self.import_map = import_map;
        self
    }

    /// The path of a module that may have been named without its ending. What may not be read is left as it is named.
    fn completed(&self, path: PathBuf) -> PathBuf {
        if self.folders.is_none() || self.is_file(&path) || self.permitted_by_text(&path).is_err() {
            return path;
        }
        let named = path.to_string_lossy().into_owned();
        let other = WRITTEN_AS
            .iter()
            .filter_map(|(output, source)| Some(format!("{}{source}", named.strip_suffix(output)?)));
        let longer = ENDINGS.iter().map(|ending| format!("{named}{ending}"));
        other.chain(longer).map(PathBuf::from).find(|path| self.is_file(path)).unwrap_or(path)
    }

    fn require_packages(&self, specifier: &str) -> Result<(), String> {
        match self.packages {
            true => Ok(()),
            false => Err(format!("'{specifier}' is not a path, and packages need --allow=packages")),
        }
    }

    /// The key of what a CommonJS module requires.
    pub(crate) fn resolve_required(&self, referrer: &str, specifier: &str) -> Result<String, String> {
        let folder = Path::new(referrer).parent().unwrap_or(Path::new(""));
        let path = if is_path(specifier) {
            normalized(&folder.join(specifier))
        } else {
            self.require_packages(specifier)?;
            packages::resolve(self, folder, specifier, packages::REQUIRED)?
        };
        let found = self.completed(path);
        // A folder may name its main file.
        let found = match packages::main_of(self, &found) {
            Some(main) if !self.is_file(&found) => self.completed(main),
            _ => found,
        };
        Ok(found.to_string_lossy().into_owned())
    }

    /// The text of a file that may be read.
    pub(crate) fn read(&self, key: &str, bytes_max: usize) -> Result<String, String> {
        let path = self.permitted(Path::new(key))?;
        self.sources.watch(&path);
        let bytes_max = SOURCE_BYTES_MAX.min(u64::try_from(bytes_max).unwrap_or(u64::MAX));
        let text = read_regular(&path, bytes_max).map_err(|error| error.to_string())?;
        self.sources.add_file(key, path);
        Ok(text)
    }

    /// Whether `require` is the way to load a file with this text.
    pub(crate) fn is_common_js(&self, key: &str, text: &str) -> bool {
        let is_known =
            self.common_js || Path::new(key).components().any(|part| part.as_os_str() == packages::FOLDER);
        let ends =
            Path::new(key).extension().is_some_and(|extension| extension == "cjs" || extension == "cts");
        (is_known || ends) && packages::is_common_js(self, Path::new(key), text)
    }

    /// Whether a file is a module for `import` alone, whatever its text.
    pub(crate) fn is_es_module(&self, key: &str) -> bool {
        packages::is_es_module(self, Path::new(key))
    }

    /// Whether it is a regular file that may be read.
    fn is_file(&self, path: &Path) -> bool {
        self.permitted(path).is_ok_and(|path| path.metadata().is_ok_and(|metadata| metadata.is_file()))
    }

    /// The text of a small file that may be read, such as a package's description.
    fn read_small(&self, path: &Path) -> Option<String> {
        read_regular(&self.permitted(path).ok()?, DESCRIPTION_BYTES_MAX).ok()
    }

    /// The file to open for a path, if it may be read.
    fn permitted(&self, path: &Path) -> Result<PathBuf, String> {
        let Some(folders) = &self.folders else { return Ok(path.to_owned()) };
        // By the text first: a program must not even learn which files there are elsewhere.
        let spelled = self.permitted_by_text(path)?;
        let is_inside = |real: &Path| folders.iter().any(|folder| real.starts_with(&folder.real));
        match spelled.canonicalize() {
            Ok(real) if is_inside(&real) => Ok(real),
            // What is not there beyond a link must look like what is.
            Err(error) if nearest(&spelled).is_some_and(|real| is_inside(&real)) => Err(error.to_string()),
            _ => Err("a link leads it to where nothing may be read".into()),
        }
    }

    fn permitted_by_text(&self, path: &Path) -> Result<PathBuf, String> {
        let spelled = absolute(path).map_err(|error| error.to_string())?;
        let is_near =
            |folder: &Folder| spelled.starts_with(&folder.spelled) || spelled.starts_with(&folder.real);
        match &self.folders {
            Some(folders) if !folders.iter().any(is_near) => Err(refusal(path)),
            _ => Ok(spelled),
        }
    }
}

impl ModuleLoader for FileLoader {
    fn resolve(&self, referrer: &str, specifier: &str) -> Result<String, String> {
        let folder = Path::new(referrer).parent().unwrap_or(Path::new(""));
        let mapped = self.import_map.as_ref().and_then(|map| map.resolve(referrer, specifier));
        let path = if let Some(mapped) = mapped {
            self.completed(mapped?)
        } else if is_path(specifier) {
            self.completed(normalized(&folder.join(specifier)))
        } else {
            self.require_packages(specifier)?;
            self.completed(packages::resolve(self, folder, specifier, packages::IMPORTED)?)
        };
        Ok(path.to_string_lossy().into_owned())
    }

    fn load(&self, key: &str, kind: ModuleKind) -> Result<String, String> {
        self.load_within(key, kind, usize::MAX)
    }

    fn load_within(&self, key: &str, kind: ModuleKind, bytes_max: usize) -> Result<String, String> {
        let text = self.read(key, bytes_max)?;
        if kind != ModuleKind::JavaScript || !self.is_common_js(key, &text) {
            return Ok(text);
        }
        if !self.common_js {
            return Err("it is a CommonJS module, and those need --allow=commonjs".into());
        }
        Ok(common_js::as_module(self, key, &text))
    }

    fn url(&self, key: &str) -> String {
        let path = std::path::absolute(key).unwrap_or_else(|_| PathBuf::from(key));
        url::Url::from_file_path(&path).map_or_else(|()| key.to_owned(), String::from)
    }
}

fn is_path(specifier: &str) -> bool {
    ["./", "../", "/"].iter().any(|start| specifier.starts_with(start)) || matches!(specifier, "." | "..")
}

/// The last folder on the way to a path that is there, without links.
fn nearest(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find_map(|folder| folder.canonicalize().ok())
}

fn refusal(path: &Path) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    format!("it may not be read (see --allow=read={})", folder.display())
}

/// The text of a regular file of at most `bytes_max` bytes.
fn read_regular(path: &Path, bytes_max: u64) -> std::io::Result<String> {
    // Opening a FIFO would wait for whoever writes it.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    if metadata.len() > bytes_max {
        return Err(std::io::Error::other("the file is too large"));
    }
    let text = read_at_most(file, metadata.len())?;
    // What the kernel makes up (in `/proc`, say) has no size, and is not a file of the program's.
    text.ok_or_else(|| std::io::Error::other("it is longer than its size"))
}

/// The text of a file that the user named, unless it is longer than any string: a device may have no end.
pub(crate) fn read_source(path: &Path) -> std::io::Result<String> {
    read_stream(File::open(path)?)
}

/// The same for what is open already.
pub(crate) fn read_stream(stream: impl Read) -> std::io::Result<String> {
    let text = read_at_most(stream, SOURCE_BYTES_MAX)?;
    text.ok_or_else(|| std::io::Error::other("the file is too large"))
}

/// All of a stream; `None` if it is longer.
fn read_at_most(stream: impl Read, bytes_max: u64) -> std::io::Result<Option<String>> {
    let mut text = String::new();
    stream.take(bytes_max + 1).read_to_string(&mut text)?;
    Ok((text.len() as u64 <= bytes_max).then_some(text))
}

fn absolute(path: &Path) -> std::io::Result<PathBuf> {
    std::path::absolute(path).map(|path| normalized(&path))
}

/// The path without `.` and `..`, by its text alone: a key must be the same however a module is reached.
fn normalized(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if result.file_name().is_some() => {
                result.pop();
            }
            Component::ParentDir if result.has_root() => {}
            other => result.push(other),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifiers_are_relative_to_their_referrer() {
        let resolve = |referrer, specifier| FileLoader::unrestricted().resolve(referrer, specifier);
        assert_eq!(resolve("a/b.mjs", "./c.mjs"), Ok("a/c.mjs".into()));
        assert_eq!(resolve("a/b.mjs", "../c.mjs"), Ok("c.mjs".into()));
        assert_eq!(resolve("b.mjs", "../c.mjs"), Ok("../c.mjs".into()));
        assert_eq!(resolve("a/b.mjs", "/c.mjs"), Ok("/c.mjs".into()));
        assert_eq!(resolve("/b.mjs", "/../../c.mjs"), Ok("/c.mjs".into()));
        assert!(resolve("a/b.mjs", "left-pad").is_err());
    }
}
