//! The data of a run: what is measured, printed, plotted, stored and compared. Plain data, no behaviour beyond look-ups;
//! the JSON form of these types is what `--json` writes.

use crate::stats::Summary;
use serde::{Deserialize, Serialize};

/// The version of the JSON form.
pub(crate) const FORMAT: u32 = 1;

/// One run of the harness.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) format: u32,
    /// Seconds since 1970, UTC.
    pub(crate) unix_time: u64,
    /// The commit that was measured, with `+` when the tree had changes.
    pub(crate) revision: String,
    /// The command line, without the path of the program.
    pub(crate) command: String,
    pub(crate) clock: Clock,
    pub(crate) runs: usize,
    pub(crate) machine: Machine,
    pub(crate) suites: Vec<SuiteResult>,
    pub(crate) growth: Vec<GrowthResult>,
}

/// Which clock the printed figures come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Clock {
    /// Elapsed time, from before the spawn to after the wait.
    Wall,
    /// User and system time of the process and the children it waited for: for busy machines.
    Cpu,
}

impl Clock {
    /// The word used on the command line and in logs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Clock::Wall => "wall",
            Clock::Cpu => "cpu",
        }
    }
}

/// Where a run was made. `host` identifies the kind of machine and is never its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) host: String,
    pub(crate) cpu: String,
    pub(crate) cpus: usize,
    pub(crate) memory_mb: u64,
    pub(crate) system: String,
}

/// One program under test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ContestantInfo {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) ours: bool,
}

/// All rows of one part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SuiteResult {
    /// `cynic`, `rush`, `iris-rust` or `iris-python`.
    pub(crate) name: String,
    pub(crate) title: String,
    /// The contestant whose figures are divided by the others': ours, or the usual reference where ours is not built.
    pub(crate) subject: usize,
    pub(crate) contestants: Vec<ContestantInfo>,
    pub(crate) rows: Vec<RowResult>,
}

/// What a row's figures are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    Millis,
    MicrosPerOperation,
    OperationsPerSecond,
    Bytes,
    Kilobytes,
}

impl Unit {
    /// As printed beside a figure.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Unit::Millis => "ms",
            Unit::MicrosPerOperation => "us/op",
            Unit::OperationsPerSecond => "/s",
            Unit::Bytes => "bytes",
            Unit::Kilobytes => "KB",
        }
    }
    /// Whether a larger figure is the better one.
    pub(crate) fn higher_is_better(self) -> bool {
        self == Unit::OperationsPerSecond
    }
}

/// One row: a figure per contestant, in the order of the suite's contestants.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RowResult {
    pub(crate) name: String,
    /// Rows of one group have a geometric mean of their own.
    pub(crate) group: String,
    pub(crate) unit: Unit,
    /// Operations in one run, 1 where the run is the operation.
    pub(crate) operations: u64,
    pub(crate) cells: Vec<Cell>,
}

/// What one contestant did on one row.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum Cell {
    Measured(Figures),
    /// Wrong output, a crash, a time-out or a missing feature: no figure counts.
    Disqualified {
        reason: String,
    },
    /// There is no such program for this contestant.
    Absent,
}

impl Cell {
    /// The figures, if the contestant has any.
    pub(crate) fn figures(&self) -> Option<&Figures> {
        match self {
            Cell::Measured(figures) => Some(figures),
            _ => None,
        }
    }
}

/// The figures of one contestant on one row, in the row's unit, start-up subtracted where the row says so.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub(crate) summary: Summary,
    /// Peak resident set of the process and the children it waited for.
    pub(crate) rss_kb: u64,
    /// Every timed run, in order.
    pub(crate) samples: Vec<f64>,
}

/// One workload at three sizes on one contestant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GrowthResult {
    pub(crate) suite: String,
    pub(crate) workload: String,
    pub(crate) contestant: String,
    pub(crate) ours: bool,
    pub(crate) points: Vec<GrowthPoint>,
    /// Slope of log(time) over log(size); none when fewer than two points stand above the noise.
    pub(crate) time_slope: Option<f64>,
    pub(crate) memory_slope: Option<f64>,
    /// Why points are missing.
    pub(crate) note: String,
}

/// One size of a growth run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GrowthPoint {
    pub(crate) size: String,
    pub(crate) factor: f64,
    /// Median time less start-up.
    pub(crate) millis: f64,
    pub(crate) rss_kb: u64,
    /// Peak resident set less that of an empty program.
    pub(crate) rss_over_empty_kb: u64,
}
