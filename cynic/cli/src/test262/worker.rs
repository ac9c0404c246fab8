//! The worker side of the runner: reads one path per line, runs that test, answers one line of JSON.
//!
//! A worker is trusted to say nothing else on standard output; guest code prints into a buffer. It may die at any moment:
//! the supervisor attributes that to the test in hand.

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use super::harness::{self, Harness};
use super::judge::{Completion, Verdict, judge};
use super::metadata::{self, Metadata};
use super::skip;

/// A test, ready to be evaluated.
#[derive(Debug)]
pub(crate) struct Test<'a> {
    /// The file, for module resolution and error positions.
    pub(crate) file: &'a Path,
    /// The test's own source.
    pub(crate) source: &'a str,
    /// What it demands.
    pub(crate) metadata: &'a Metadata,
    /// Harness sources by name, in order.
    pub(crate) harness: Vec<(&'a str, std::rc::Rc<str>)>,
}

/// Evaluates tests; implemented over the engine, and by fakes in unit tests.
pub(crate) trait Evaluator {
    /// Evaluates one test in a fresh realm and drains its jobs.
    fn evaluate(&mut self, test: &Test<'_>) -> Completion;
}

/// Runs the tests named by the lines of `input` until it ends.
pub(crate) fn serve(
    suite: &Path,
    evaluator: &mut dyn Evaluator,
    input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    let harness = Harness::new(suite);
    for line in input.lines() {
        let verdict = run_test(suite, &harness, evaluator, line?.trim_end());
        let json = serde_json::to_string(&verdict).map_err(io::Error::other)?;
        writeln!(output, "{json}")?;
        output.flush()?;
    }
    Ok(())
}

fn run_test(suite: &Path, harness: &Harness, evaluator: &mut dyn Evaluator, path: &str) -> Verdict {
    if let Some(reason) = skip::by_path(path) {
        return Verdict::Skipped(reason.into());
    }
    let file: PathBuf = suite.join("test").join(path);
    let source = match fs::read_to_string(&file) {
        Ok(source) => source,
        Err(error) => return Verdict::Failed(format!("cannot read: {error}")),
    };
    let metadata = match metadata::parse(&source) {
        Ok(metadata) => metadata,
        Err(error) => return Verdict::Failed(error.to_string()),
    };
    if let Some(reason) = skip::by_metadata(&metadata) {
        return Verdict::Skipped(reason);
    }
    let names = harness::files_for(&metadata);
    let loaded: Result<Vec<_>, String> =
        names.into_iter().map(|name| harness.load(name).map(|text| (name, text))).collect();
    let completion = match loaded {
        Ok(harness) => {
            evaluator.evaluate(&Test { file: &file, source: &source, metadata: &metadata, harness })
        }
        Err(why) => Completion::Broken(why),
    };
    judge(&metadata, completion)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Completes normally, and prints the names of the harness files it was given.
    struct Fake;

    impl Evaluator for Fake {
        fn evaluate(&mut self, test: &Test<'_>) -> Completion {
            let names: Vec<&str> = test.harness.iter().map(|file| file.0).collect();
            if test.source.contains("throw") {
                let phase = metadata::Phase::Runtime;
                return Completion::Threw { phase, name: "Error".into(), message: names.join(" ") };
            }
            Completion::Normal(vec![])
        }
    }

    fn suite() -> tempfile::TempDir {
        let suite = tempfile::tempdir().expect("temporary folder");
        let root = suite.path();
        fs::create_dir_all(root.join("test/a")).expect("folder");
        fs::create_dir_all(root.join("harness")).expect("folder");
        for (path, text) in [
            ("harness/assert.js", "1"),
            ("harness/sta.js", "2"),
            ("test/a/pass.js", "/*---\nesid: x\n---*/"),
            ("test/a/throws.js", "/*---\nesid: x\n---*/ throw 1"),
            ("test/a/sloppy.js", "/*---\nflags: [noStrict]\n---*/"),
            ("test/a/lost.js", "/*---\nincludes: [nowhere.js]\n---*/"),
        ] {
            fs::write(root.join(path), text).expect("file");
        }
        suite
    }

    fn verdicts(paths: &str) -> Vec<Verdict> {
        let suite = suite();
        let mut output = Vec::new();
        serve(suite.path(), &mut Fake, paths.as_bytes(), &mut output).expect("serves");
        let text = String::from_utf8(output).expect("UTF-8");
        text.lines().map(|line| serde_json::from_str(line).expect("a verdict")).collect()
    }

    #[test]
    fn each_path_is_answered_once_and_in_order() {
        let found = verdicts("a/pass.js\na/throws.js\na/sloppy.js\nannexB/x.js\n");
        assert_eq!(found[0], Verdict::Passed);
        assert_eq!(found[1], Verdict::Failed("Error at runtime: assert.js sta.js".into()));
        assert_eq!(found[2], Verdict::Skipped("noStrict".into()));
        assert!(matches!(found[3], Verdict::Skipped(_)));
    }

    #[test]
    fn a_missing_harness_file_fails_the_test_that_wants_it() {
        let found = verdicts("a/lost.js\na/pass.js\n");
        assert!(matches!(&found[0], Verdict::Failed(why) if why.contains("nowhere.js")));
        assert_eq!(found[1], Verdict::Passed);
    }

    #[test]
    fn a_missing_test_is_a_failure() {
        assert!(
            matches!(&verdicts("a/none.js\n")[0], Verdict::Failed(why) if why.starts_with("cannot read"))
        );
    }
}
