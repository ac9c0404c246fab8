//! The cell worker: waits for a cell, evaluates it in a fresh hardened isolate, drives its jobs, timers and calls until it has settled,
//! answers, and waits for the next. The isolate of the next cell is made before the cell comes: making one takes longer than most cells do.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use cynic::host::inspect::{Styles, inspect};
use cynic::{Engine, Error, Handle, HostError, Isolate, Limits, PromiseState, Termination};
use rush_session::Frames;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::guest::{Guest, shortened};
use super::message::{CellEnd, CellRun, FromCell, Outcome, ToCell};
use super::tape::Chance;
use crate::limits::{CELL_ERROR_BYTES_MAX, CELL_HEAP_BYTES_DEFAULT, CELL_VALUE_BYTES_MAX};

/// The worker's main function: `socket` leads to the server. Returns when that closes.
pub(crate) fn main(socket: OwnedFd) -> io::Result<()> {
    let mut frames = Frames::new(socket);
    let mut warm = Some(Warm::new(CELL_HEAP_BYTES_DEFAULT, Chance::real()));
    frames.send(&FromCell::Ready, &[])?;
    loop {
        let message = match frames.receive::<ToCell>() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            message => message?,
        };
        match message {
            None => return Ok(()),
            // An answer to a cell that has ended already.
            Some((ToCell::Reply { .. }, _)) => {}
            Some((ToCell::Run(run), console)) => {
                let plain = run.tape.is_none() && run.heap_bytes == CELL_HEAP_BYTES_DEFAULT;
                let fitting = warm.take().filter(|_| plain);
                let mut cell = fitting.unwrap_or_else(|| {
                    Warm::new(run.heap_bytes, run.tape.clone().map_or_else(Chance::real, Chance::again))
                });
                let end = evaluate(run, console, &mut cell, &mut frames)?;
                frames.send(&FromCell::Done(end), &[])?;
                drop(cell);
                warm = Some(Warm::new(CELL_HEAP_BYTES_DEFAULT, Chance::real()));
            }
        }
    }
}

/// What a cell begins with: a hardened isolate with everything that a cell finds in it.
struct Warm {
    isolate: Isolate,
    guest: Guest,
    chance: Chance,
}

impl Warm {
    fn new(heap_bytes: usize, chance: Chance) -> Self {
        let mut isolate = crate::compiling::engine().isolate(Limits { heap_bytes, ..Limits::default() });
        isolate.set_capabilities(chance.capabilities());
        let guest = Guest::default();
        cynic::host::install(&mut isolate, Box::new(guest.clone()), Styles::Plain);
        let installed = guest.install(&mut isolate);
        debug_assert!(installed.is_ok(), "the global object of a new isolate is open");
        isolate.seal_global();
        Warm { isolate, guest, chance }
    }
}

/// One cell.
fn evaluate(
    run: CellRun,
    console: Vec<OwnedFd>,
    cell: &mut Warm,
    frames: &mut Frames,
) -> io::Result<CellEnd> {
    let deadline = Instant::now() + Duration::from_millis(run.timeout_ms);
    let Warm { isolate, guest, chance } = cell;
    guest.begin(run.folder, run.store, console);
    isolate.set_deadline(Some(deadline));
    if run.fuel.is_some() {
        isolate.set_fuel(run.fuel);
    }
    let early = HashMap::new();
    let mut evaluation = Evaluation { isolate, guest, chance, frames, deadline, early };
    let outcome = match evaluation.settle(&run.code) {
        Ok(value) => evaluation.describe(&value),
        Err(Failure::Rejected(reason)) => Outcome::Error(evaluation.shown(&reason)),
        Err(Failure::Error(error)) => evaluation.describe_error(error),
        Err(Failure::Syntax(message)) => Outcome::Error(message),
        Err(Failure::Stuck) => Outcome::Error(
            "the cell awaits something that nothing will settle: no timer and no call is under way"
                .to_string(),
        ),
        Err(Failure::Io(error)) => return Err(error),
    };
    let outcome = match outcome {
        Outcome::Error(text) => Outcome::Error(shortened(&text, CELL_ERROR_BYTES_MAX).into_owned()),
        other => other,
    };
    let (console, console_truncated, store) = guest.end();
    let (store, tape) = (Some(store), Some(chance.tape()));
    Ok(CellEnd { outcome, console, console_truncated, store, tape, ..CellEnd::default() })
}

struct Evaluation<'a> {
    isolate: &'a mut Isolate,
    guest: &'a Guest,
    chance: &'a Chance,
    frames: &'a mut Frames,
    deadline: Instant,
    /// Answers that came before their turn.
    early: HashMap<u64, Answer>,
}

type Answer = Result<serde_json::Value, String>;

enum Failure {
    Error(Error),
    Rejected(Handle),
    Syntax(String),
    Stuck,
    Io(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Evaluation<'_> {
    /// Runs the code as an async function and waits for its promise.
    fn settle(&mut self, code: &str) -> Result<Handle, Failure> {
        // One expression is its own value; anything else is a function body, whose value is that of its last statement, if that is an expression.
        // The wrappers add no line, so that positions are right.
        let engine = Engine::new();
        let body = |code: &str| engine.compile_typescript("cell", &format!("(async () => {{{code}\n}})()"));
        let script = engine
            .compile_typescript("cell", &format!("(async () => (\n{code}\n))()"))
            .or_else(|_| match engine.last_expression(code) {
                Some(at) => body(&format!("{}return {}", &code[..at], &code[at..])).or_else(|_| body(code)),
                None => body(code),
            })
            .map_err(|error| match error {
                HostError::Syntax(error) => Failure::Syntax(format!(
                    "SyntaxError: {} ({}:{})\n{}",
                    error.message, error.line, error.column, error.excerpt
                )),
                other => Failure::Error(other.into()),
            })?;
        let promise = self.isolate.realm().run(&script)?;
        loop {
            self.isolate.run_jobs()?;
            match self.isolate.realm().promise_state(&promise)? {
                PromiseState::Fulfilled(value) => return Ok(value),
                PromiseState::Rejected(reason) => return Err(Failure::Rejected(reason)),
                PromiseState::Pending => {}
            }
            if !cynic::host::timers::run_due(self.isolate)? {
                self.wait()?;
            }
        }
    }

    /// Waits for an answer, a timer or the deadline.
    fn wait(&mut self) -> Result<(), Failure> {
        let timer = cynic::host::timers::next_due(self.isolate)?;
        let outgoing = self.guest.take_outgoing();
        if timer.is_none() && !self.guest.has_calls() && outgoing.is_empty() {
            return Err(Failure::Stuck);
        }
        for message in outgoing {
            self.frames.send(&message, &[]).map_err(Failure::Io)?;
        }
        let until_deadline = self.deadline.saturating_duration_since(Instant::now());
        let patience = timer.unwrap_or(until_deadline).min(until_deadline);
        let answer = match self.chance.next_turn() {
            Some(0) => None,
            Some(call) => self.answer_to(call).map_err(Failure::Io)?.map(|result| (call, result)),
            None => {
                let answer = self.any_answer(patience).map_err(Failure::Io)?;
                self.chance.came(answer.as_ref().map_or(0, |(call, _)| *call));
                answer
            }
        };
        if let Some((call, result)) = answer {
            self.guest.answer(&mut self.isolate.realm(), call, result)?;
        }
        Ok(self.isolate.poll()?)
    }

    /// The next answer, if there is one in time.
    fn any_answer(&mut self, patience: Duration) -> io::Result<Option<(u64, Answer)>> {
        if let Some(call) = self.early.keys().next().copied() {
            return Ok(self.early.remove(&call).map(|result| (call, result)));
        }
        Ok(match self.next_answer(patience)? {
            Some(ToCell::Reply { call, result }) => Some((call, result)),
            Some(ToCell::Run(_)) | None => None,
        })
    }

    /// The answer to that call, whose turn it is; none when the deadline comes first.
    fn answer_to(&mut self, wanted: u64) -> io::Result<Option<Answer>> {
        loop {
            if let Some(result) = self.early.remove(&wanted) {
                return Ok(Some(result));
            }
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.guest.waits_for(wanted) {
                return Ok(None);
            }
            if let Some(ToCell::Reply { call, result }) = self.next_answer(left)? {
                self.early.insert(call, result);
            }
        }
    }

    fn next_answer(&mut self, patience: Duration) -> io::Result<Option<ToCell>> {
        if let Some((message, _)) = self.frames.buffered()? {
            return Ok(Some(message));
        }
        let time =
            Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: i64::from(patience.subsec_nanos()) };
        let mut wait = [PollFd::from_borrowed_fd(self.frames.descriptor(), PollFlags::IN)];
        match poll(&mut wait, Some(&time)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        match self.frames.receive() {
            Ok(Some((message, _))) => Ok(Some(message)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error),
            Ok(None) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn shown(&mut self, value: &Handle) -> String {
        inspect(&mut self.isolate.realm(), value, Styles::Plain).unwrap_or_else(|error| error.to_string())
    }

    fn describe(&mut self, value: &Handle) -> Outcome {
        let cut = |text: String| shortened(&text, CELL_VALUE_BYTES_MAX).into_owned();
        let text = match value.to::<String>(&mut self.isolate.realm()) {
            Ok(text) => text,
            Err(_) => self.shown(value),
        };
        match self.isolate.realm().to_json(value) {
            Ok(json) => Outcome::Value { text: cut(text), json: json.and_then(parsed) },
            // A value whose toJSON throws is shown all the same.
            Err(Error::Thrown(_)) => Outcome::Value { text: cut(text), json: None },
            Err(error) => self.describe_error(error),
        }
    }

    fn describe_error(&mut self, error: Error) -> Outcome {
        let limit = match error {
            Error::Thrown(exception) => return Outcome::Error(self.shown(&exception.value)),
            Error::Host(error) => return Outcome::Error(error.to_string()),
            Error::Terminated(Termination::Fuel) => "fuel",
            Error::Terminated(Termination::Heap) => "heap",
            Error::Terminated(Termination::Deadline) => "deadline",
            Error::Terminated(_) => "cancelled",
        };
        Outcome::Terminated(limit.to_string())
    }
}

fn parsed(json: String) -> Option<serde_json::Value> {
    if json.len() > CELL_VALUE_BYTES_MAX {
        return None;
    }
    serde_json::from_str(&json).ok()
}
