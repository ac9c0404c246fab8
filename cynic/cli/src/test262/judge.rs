//! From what an evaluation did to what the test says about it. Pure: no engine, no files.
//!
//! [`Completion`] is the whole boundary between the runner and the engine: whoever can turn a test into a `Completion`
//! can be tested by this runner.

use serde::{Deserialize, Serialize};

use super::metadata::{Metadata, Phase};

/// How the evaluation of a test's source (harness included, jobs drained) ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Completion {
    /// Everything ran to its end; the lines given to `print`.
    Normal(Vec<String>),
    /// An error was thrown and not caught.
    Threw {
        /// When it was thrown.
        phase: Phase,
        /// The name of its constructor.
        name: String,
        /// Its message, for the report.
        message: String,
    },
    /// A limit ended the evaluation.
    Terminated(String),
    /// The harness itself could not be evaluated, or a file could not be read.
    Broken(String),
}

/// The verdict on one test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// As the test demands.
    Passed,
    /// Not as the test demands, with the reason.
    Failed(String),
    /// Not run, with the reason.
    Skipped(String),
    /// The worker process died in this test.
    Crashed(String),
    /// The test did not end within the watchdog's time.
    Hung,
}

/// Judges a completion by the test's metadata.
pub(crate) fn judge(metadata: &Metadata, completion: Completion) -> Verdict {
    match (&metadata.negative, completion) {
        (_, Completion::Broken(why)) => Verdict::Failed(format!("cannot run: {why}")),
        (_, Completion::Terminated(why)) => Verdict::Failed(format!("terminated: {why}")),
        (Some(expected), Completion::Normal(_)) => Verdict::Failed(format!(
            "expected {} at {}, but it completed",
            expected.error_type, expected.phase
        )),
        (Some(expected), Completion::Threw { phase, name, message }) => {
            if phase == expected.phase && name == expected.error_type {
                return Verdict::Passed;
            }
            let wanted = format!("expected {} at {}", expected.error_type, expected.phase);
            Verdict::Failed(format!("{wanted}, got {name} at {phase}: {message}"))
        }
        (None, Completion::Threw { phase, name, message }) => {
            Verdict::Failed(format!("{name} at {phase}: {message}"))
        }
        (None, Completion::Normal(printed)) if metadata.flags.asynchronous => judge_printed(&printed),
        (None, Completion::Normal(_)) => Verdict::Passed,
    }
}

fn judge_printed(printed: &[String]) -> Verdict {
    const COMPLETE: &str = "Test262:AsyncTestComplete";
    const FAILURE: &str = "Test262:AsyncTestFailure:";
    if let Some(failure) = printed.iter().find_map(|line| line.strip_prefix(FAILURE)) {
        return Verdict::Failed(failure.to_owned());
    }
    if printed.iter().any(|line| line == COMPLETE) {
        return Verdict::Passed;
    }
    Verdict::Failed("asynchronous test never called $DONE".into())
}

#[cfg(test)]
mod tests {
    use super::super::metadata;
    use super::*;

    fn check(front: &str, completion: Completion) -> Verdict {
        judge(&metadata::parse(&format!("/*---\n{front}\n---*/")).expect("parses"), completion)
    }

    fn threw(phase: Phase, name: &str) -> Completion {
        Completion::Threw { phase, name: name.into(), message: "m".into() }
    }

    fn failed(verdict: &Verdict) -> bool {
        matches!(verdict, Verdict::Failed(_))
    }

    #[test]
    fn a_positive_test_must_complete() {
        assert_eq!(check("esid: x", Completion::Normal(vec![])), Verdict::Passed);
        assert!(failed(&check("esid: x", threw(Phase::Runtime, "Test262Error"))));
        assert!(failed(&check("esid: x", Completion::Terminated("fuel".into()))));
    }

    #[test]
    fn a_negative_test_must_fail_in_its_phase_with_its_type() {
        let front = "negative:\n  phase: parse\n  type: SyntaxError";
        assert_eq!(check(front, threw(Phase::Parse, "SyntaxError")), Verdict::Passed);
        assert!(failed(&check(front, threw(Phase::Runtime, "SyntaxError"))));
        assert!(failed(&check(front, threw(Phase::Parse, "ReferenceError"))));
        assert!(failed(&check(front, Completion::Normal(vec![]))));
        assert!(failed(&check(front, Completion::Broken("harness".into()))));
    }

    #[test]
    fn an_asynchronous_test_must_report() {
        let done = "Test262:AsyncTestComplete".to_owned();
        assert_eq!(check("flags: [async]", Completion::Normal(vec![done.clone()])), Verdict::Passed);
        assert!(failed(&check("flags: [async]", Completion::Normal(vec![]))));
        let failure = "Test262:AsyncTestFailure:Test262Error: no".to_owned();
        let verdict = check("flags: [async]", Completion::Normal(vec![done, failure]));
        assert_eq!(verdict, Verdict::Failed("Test262Error: no".into()));
    }
}
