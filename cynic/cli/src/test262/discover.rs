//! Finding the tests of a suite: a sorted list of paths relative to `test/`, with `/` between folders.
//!
//! Order is by path, so that runs are comparable and a folder's tests are neighbours. Fixtures are never tests.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The environment variable that names the suite when `--suite` is absent.
pub(crate) const SUITE_VARIABLE: &str = "TEST262";

/// Where the suite is: `--suite`, or the environment variable's value. The folder must hold `test/` and `harness/`.
pub(crate) fn locate(option: Option<PathBuf>, variable: Option<PathBuf>) -> Result<PathBuf, String> {
    let Some(suite) = option.or(variable) else {
        return Err(format!("no suite: give --suite DIR or set {SUITE_VARIABLE}"));
    };
    for part in ["test", "harness"] {
        if !suite.join(part).is_dir() {
            return Err(format!("{} is not a test262 folder: it has no {part}/", suite.display()));
        }
    }
    Ok(suite)
}

/// All test paths under `suite/test` that contain `filter`.
pub(crate) fn tests(suite: &Path, filter: &str) -> io::Result<Vec<String>> {
    let root = suite.join("test");
    let mut found = Vec::new();
    visit(&root, "", &mut found)?;
    found.retain(|path| path.contains(filter));
    found.sort_unstable();
    Ok(found)
}

fn visit(folder: &Path, prefix: &str, found: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            visit(&entry.path(), &format!("{path}/"), found)?;
        } else if is_test(name) {
            found.push(path);
        }
    }
    Ok(())
}

fn is_test(name: &str) -> bool {
    name.ends_with(".js") && !name.contains("_FIXTURE")
}

/// The folder a test is counted under: its first two path components.
pub(crate) fn folder_of(path: &str) -> &str {
    let mut slashes = path.match_indices('/').map(|(at, _)| at);
    let first = slashes.next();
    let cut = slashes.next().or(first).unwrap_or(path.len());
    &path[..cut]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixtures_and_other_files_are_not_tests() {
        assert!(is_test("a.js"));
        assert!(!is_test("a_FIXTURE.js"));
        assert!(!is_test("a.json"));
    }

    #[test]
    fn tests_are_counted_by_two_components() {
        assert_eq!(folder_of("built-ins/Array/from/x.js"), "built-ins/Array");
        assert_eq!(folder_of("harness/x.js"), "harness");
        assert_eq!(folder_of("x.js"), "x.js");
    }

    #[test]
    fn a_missing_suite_is_named() {
        assert!(locate(None, None).expect_err("no suite").contains(SUITE_VARIABLE));
        assert!(locate(Some("/nonexistent".into()), None).expect_err("no folder").contains("no test/"));
    }
}
