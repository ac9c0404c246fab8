//! What the program's log is told of supervision. Invariant: a log that fails ends nobody.

use iris_runtime::supervisor::Report;
use pyo3::prelude::*;

/// Tells the program's log. The supervisor's turns have the GIL, or take it.
pub(crate) fn supervised(report: &Report<'_>) {
    Python::try_attach(|py| {
        let (event, reason) = (report.event.to_string(), report.reason.plain());
        let words = (report.supervisor.to_bits(), report.child, event, reason);
        let told = py.import("iris.reports").and_then(|reports| reports.call_method1("supervised", words));
        if let Err(error) = told {
            error.display(py);
        }
    });
}
