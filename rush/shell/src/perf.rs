//! Where a session's time goes: a clock that is in exactly one phase at a time, so that phases add up to the total
//! however they nest (a substitution executes inside an expansion). Off, it costs one branch where a phase would change.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use crate::{Bytes, Session};

/// What the shell is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Scanning words with their quotes and expansions.
    Lex,
    /// The grammar around the words.
    Parse,
    /// Expanding words.
    Expand,
    /// Running builtins and programs, waiting included.
    Execute,
    /// Everything else: starting up, reading input, ending.
    Other,
}

const PHASES: usize = 5;

/// Nanoseconds spent in each phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent([u64; PHASES]);

impl Spent {
    /// Nanoseconds in `phase`.
    pub fn in_phase(&self, phase: Phase) -> u64 {
        self.0[phase as usize]
    }

    /// Nanoseconds in all phases.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    fn since(&self, start: &Spent) -> Spent {
        Spent(std::array::from_fn(|n| self.0[n] - start.0[n]))
    }
}

/// What one complete command, or the whole run, took.
#[derive(Debug)]
pub struct Report<'a> {
    /// The command's first line, and its text; `None` for the whole run.
    pub command: Option<(u32, &'a [u8])>,
    /// How many complete commands ran.
    pub commands: u64,
    /// The times.
    pub spent: Spent,
}

/// The clock.
#[derive(Debug)]
pub struct Perf {
    phase: Cell<Phase>,
    since: Cell<Instant>,
    spent: Cell<Spent>,
    depth: Cell<u32>,
    commands: Cell<u64>,
    format: fn(&Report<'_>) -> Bytes,
}

impl Perf {
    /// A clock that starts now; `format` words what is printed on standard error.
    pub fn new(format: fn(&Report<'_>) -> Bytes) -> Perf {
        Perf {
            phase: Cell::new(Phase::Other),
            since: Cell::new(Instant::now()),
            spent: Cell::default(),
            depth: Cell::new(0),
            commands: Cell::new(0),
            format,
        }
    }

    /// Changes the phase; the old one.
    pub fn enter(&self, phase: Phase) -> Phase {
        let now = Instant::now();
        let old = self.phase.replace(phase);
        let mut spent = self.spent.get();
        spent.0[old as usize] += now.duration_since(self.since.replace(now)).as_nanos() as u64;
        self.spent.set(spent);
        old
    }

    fn spent(&self) -> Spent {
        self.enter(self.phase.get());
        self.spent.get()
    }

    /// The report of the whole run.
    pub fn run_report(&self) -> Bytes {
        (self.format)(&Report { command: None, commands: self.commands.get(), spent: self.spent() })
    }
}

/// The clock's state when a complete command began.
pub(crate) struct Started {
    perf: Rc<Perf>,
    spent: Spent,
    outer: Phase,
}

impl Session {
    /// Changes the phase if there is a clock.
    #[inline]
    pub(crate) fn enter_phase(&self, phase: Phase) -> Option<Phase> {
        self.perf.as_ref().map(|perf| perf.enter(phase))
    }

    /// Goes back to what [`Session::enter_phase`] gave.
    #[inline]
    pub(crate) fn leave_phase(&self, outer: Option<Phase>) {
        if let (Some(perf), Some(outer)) = (&self.perf, outer) {
            perf.enter(outer);
        }
    }

    /// Before a complete command is parsed.
    pub(crate) fn command_starts(&self) -> Option<Started> {
        let perf = self.perf.clone()?;
        perf.depth.set(perf.depth.get() + 1);
        let outer = perf.enter(Phase::Parse);
        let spent = perf.spent.get();
        Some(Started { perf, spent, outer })
    }

    /// After it ran; `text` is its source. Commands inside commands (`eval`, `source`) are part of the outer one.
    pub(crate) fn command_ended(&mut self, started: Option<Started>, line: u32, text: &[u8]) {
        let Some(Started { perf, spent, outer }) = started else { return };
        perf.enter(outer);
        // Not a moment later: the time from here on is no phase of the command.
        let after = perf.spent.get();
        let depth = perf.depth.get() - 1;
        perf.depth.set(depth);
        if depth > 0 || text.is_empty() {
            return;
        }
        perf.commands.set(perf.commands.get() + 1);
        let spent = after.since(&spent);
        let report = (perf.format)(&Report { command: Some((line, text)), commands: 1, spent });
        self.write_err(&report);
    }
}
