//! The harness files of a suite, read once per process.
//!
//! A file that a test includes but the suite lacks is an error of that test alone.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::metadata::Metadata;

/// A cache over `suite/harness`.
pub(crate) struct Harness {
    folder: PathBuf,
    files: RefCell<HashMap<String, Rc<str>>>,
}

impl Harness {
    /// The harness of the suite in `suite`.
    pub(crate) fn new(suite: &Path) -> Self {
        Harness { folder: suite.join("harness"), files: RefCell::default() }
    }

    /// The source of one harness file.
    pub(crate) fn load(&self, name: &str) -> Result<Rc<str>, String> {
        if let Some(known) = self.files.borrow().get(name) {
            return Ok(known.clone());
        }
        let read = fs::read_to_string(self.folder.join(name));
        let text: Rc<str> = read.map_err(|error| format!("harness/{name}: {error}"))?.into();
        self.files.borrow_mut().insert(name.to_owned(), text.clone());
        Ok(text)
    }
}

/// The harness files that a test needs, in the order in which they are evaluated.
pub(crate) fn files_for(metadata: &Metadata) -> Vec<&str> {
    if metadata.flags.raw {
        return Vec::new();
    }
    let mut names = vec!["assert.js", "sta.js"];
    if metadata.flags.asynchronous {
        names.push("doneprintHandle.js");
    }
    for include in &metadata.includes {
        if !names.contains(&include.as_str()) {
            names.push(include);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::super::metadata;
    use super::*;

    fn names(front: &str) -> Vec<String> {
        let metadata = metadata::parse(&format!("/*---\n{front}\n---*/")).expect("parses");
        files_for(&metadata).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn every_test_but_a_raw_one_gets_the_two_basic_files() {
        assert_eq!(names("flags: [onlyStrict]"), ["assert.js", "sta.js"]);
        assert!(names("flags: [raw]\nincludes: [x.js]").is_empty());
    }

    #[test]
    fn asynchronous_tests_get_done_and_includes_come_last_and_once() {
        let found = names("flags: [async]\nincludes: [x.js, sta.js]");
        assert_eq!(found, ["assert.js", "sta.js", "doneprintHandle.js", "x.js"]);
    }
}
