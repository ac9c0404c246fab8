//! The record of pipelines for hosts: how every stage ended. Bounded; a host that wants none pays one branch.

use std::collections::VecDeque;

use crate::{Session, Status, limits, sys};

/// How one stage of a pipeline ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageEnd {
    /// Its status, as in `PIPESTATUS`.
    pub status: Status,
    /// The signal that ended its program.
    pub signal: Option<i32>,
}

/// A pipeline that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineEnd {
    /// The line it stands on.
    pub line: u32,
    /// Its stages in order.
    pub stages: Vec<StageEnd>,
}

/// Which pipelines are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Those of several stages.
    Several,
    /// Every one that sets `PIPESTATUS`, single commands too.
    Every,
}

/// The last pipelines of a run.
#[derive(Debug, Clone)]
pub struct PipelineRecord {
    wanted: Wanted,
    /// The pipelines, oldest first.
    pub ends: VecDeque<PipelineEnd>,
    /// How many older ones were forgotten.
    pub dropped: u64,
    /// How the children that were waited for last ended: one per stage, or one for a single program.
    signals: Vec<Option<i32>>,
}

impl PipelineRecord {
    /// An empty record.
    pub fn new(wanted: Wanted) -> PipelineRecord {
        PipelineRecord { wanted, ends: VecDeque::new(), dropped: 0, signals: Vec::new() }
    }

    fn push(&mut self, line: u32, statuses: &[Status]) {
        if self.ends.len() == limits::PIPELINES_RECORDED_MAX {
            self.ends.pop_front();
            self.dropped += 1;
        }
        // Stages that ran in this process come first and have no child.
        let inside = statuses.len().saturating_sub(self.signals.len());
        let signal = |n: usize| n.checked_sub(inside).and_then(|at| *self.signals.get(at)?);
        let stages = statuses.iter().enumerate();
        let stages = stages.map(|(n, status)| StageEnd { status: *status, signal: signal(n) }).collect();
        self.ends.push_back(PipelineEnd { line, stages });
        self.signals.clear();
    }
}

impl Session {
    /// Notes how the child of a stage ended; the stage's pipeline is recorded later.
    pub(crate) fn note_stage(&mut self, wait_status: i32) {
        if let Some(record) = &mut self.pipeline_record {
            record.signals.push(sys::term_signal(wait_status));
        }
    }

    /// Forgets what was noted for a pipeline that has not been recorded.
    pub(crate) fn forget_stages(&mut self) {
        if let Some(record) = &mut self.pipeline_record {
            record.signals.clear();
        }
    }

    /// Records a pipeline of several stages.
    pub(crate) fn record_pipeline(&mut self, statuses: &[Status]) {
        let line = self.line;
        if let Some(record) = &mut self.pipeline_record {
            record.push(line, statuses);
        }
    }

    /// Records a command alone.
    pub(crate) fn record_single(&mut self, status: Status) {
        let line = self.line;
        if let Some(record) = &mut self.pipeline_record
            && record.wanted == Wanted::Every
        {
            let tail = record.signals.len().saturating_sub(1);
            record.signals.drain(..tail);
            record.push(line, &[status]);
        }
    }
}
