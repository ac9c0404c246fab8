//! The cell worker: waits for a cell, evaluates it in a fresh hardened isolate, drives its jobs, timers and calls until it has settled,
//! answers, and waits for the next. The isolate of the next cell is made before the cell comes: making one takes longer than most cells do.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use cynic::builtins::promise::{self, PromiseState};
use cynic::compiler::{CompileOptions, compile_script};
use cynic::gc::Persistent;
use cynic::value::Value;
use cynic::vm::{Abrupt, JsResult, Options, Termination, Vm};
use cynic_host::inspect::{Styles, inspect};
use rush_session::Frames;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::guest;
use super::message::{CellEnd, CellRun, FromCell, Outcome, ToCell};
use crate::limits::{CELL_HEAP_BYTES_DEFAULT, CELL_VALUE_BYTES_MAX};

/// The worker's main function: `socket` leads to the server. Returns when that closes.
pub(crate) fn main(socket: OwnedFd) -> io::Result<()> {
    let mut frames = Frames::new(socket);
    let mut warm = Some(isolate(CELL_HEAP_BYTES_DEFAULT));
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
            Some((ToCell::Run(run), _)) => {
                let fitting = warm.take().filter(|_| run.heap_bytes == CELL_HEAP_BYTES_DEFAULT);
                let vm = fitting.unwrap_or_else(|| isolate(run.heap_bytes));
                let (end, used) = evaluate(run, vm, &mut frames)?;
                frames.send(&FromCell::Done(end), &[])?;
                drop(used);
                warm = Some(isolate(CELL_HEAP_BYTES_DEFAULT));
            }
        }
    }
}

/// A hardened isolate with everything that a cell finds in it.
fn isolate(heap_bytes_max: usize) -> Vm {
    let mut vm = Vm::new(Options { heap_bytes_max, ..Options::default() });
    cynic_host::install(&mut vm, guest::console(), Styles::Plain);
    guest::install(&mut vm);
    vm.freeze_global();
    vm
}

/// One cell; its isolate comes back to be freed after the answer.
fn evaluate(run: CellRun, mut vm: Vm, frames: &mut Frames) -> io::Result<(CellEnd, Vm)> {
    let deadline = Instant::now() + Duration::from_millis(run.timeout_ms);
    guest::begin(run.folder, run.store);
    vm.metering.deadline = Some(deadline);
    if run.fuel.is_some() {
        vm.set_fuel(run.fuel);
    }
    let mut cell = Evaluation { vm, frames, deadline };
    let outcome = match cell.settle(&run.code) {
        Ok(value) => cell.describe(value),
        Err(Failure::Abrupt(abrupt)) => cell.describe_abrupt(abrupt),
        Err(Failure::Syntax(message)) => Outcome::Error(message),
        Err(Failure::Stuck) => Outcome::Error(
            "the cell awaits something that nothing will settle: no timer and no call is under way"
                .to_string(),
        ),
        Err(Failure::Io(error)) => return Err(error),
    };
    let (console, console_truncated, store) = guest::end();
    Ok((CellEnd { outcome, console, console_truncated, wall_us: 0, store: Some(store) }, cell.vm))
}

struct Evaluation<'a> {
    vm: Vm,
    frames: &'a mut Frames,
    deadline: Instant,
}

enum Failure {
    Abrupt(Abrupt),
    Syntax(String),
    Stuck,
    Io(io::Error),
}

impl From<Abrupt> for Failure {
    fn from(abrupt: Abrupt) -> Self {
        Self::Abrupt(abrupt)
    }
}

impl Evaluation<'_> {
    /// Runs the code as an async function and waits for its promise.
    fn settle(&mut self, code: &str) -> Result<Persistent, Failure> {
        let options = CompileOptions { allow_eval: false, typescript: true, ..CompileOptions::default() };
        // One expression is its own value; anything else is a function body. The wrappers add no line, so that positions are right.
        let script = compile_script("cell", &format!("(async () => (\n{code}\n))()"), options)
            .or_else(|_| compile_script("cell", &format!("(async () => {{{code}\n}})()"), options))
            .map_err(|error| {
                Failure::Syntax(format!(
                    "SyntaxError: {} ({}:{})\n{}",
                    error.message, error.line, error.column, error.excerpt
                ))
            })?;
        let value = self.vm.run_script(&script)?;
        let promise = Persistent::new(&self.vm.heap, value);
        loop {
            self.vm.run_jobs()?;
            let settled = promise.get().as_object().and_then(promise::data);
            match settled.map(|data| (data.state(), data.result())) {
                Some((PromiseState::Fulfilled, value)) => return Ok(Persistent::new(&self.vm.heap, value)),
                Some((PromiseState::Rejected, reason)) => return Err(self.vm.throw(reason).into()),
                _ => {}
            }
            if !cynic_host::timers::run_due(&mut self.vm)? {
                self.wait()?;
            }
        }
    }

    /// Waits for an answer, a timer or the deadline.
    fn wait(&mut self) -> Result<(), Failure> {
        let timer = cynic_host::timers::next_due(&mut self.vm)?;
        if timer.is_none() && !guest::has_calls() && !guest::has_outgoing() {
            return Err(Failure::Stuck);
        }
        for message in guest::take_outgoing() {
            self.frames.send(&message, &[]).map_err(Failure::Io)?;
        }
        let until_deadline = self.deadline.saturating_duration_since(Instant::now());
        let patience = timer.unwrap_or(until_deadline).min(until_deadline);
        if let Some(answer) = self.next_answer(patience).map_err(Failure::Io)? {
            let ToCell::Reply { call, result } = answer else { return Ok(()) };
            guest::answer(&mut self.vm, call, result)?;
        }
        self.vm.poll_slow(1)?;
        Ok(())
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

    fn describe(&mut self, value: Persistent) -> Outcome {
        let shown = |text: String| match text.char_indices().nth(CELL_VALUE_BYTES_MAX) {
            Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
            None => text,
        };
        let text = match value.get().as_string() {
            Some(text) => text.to_rust_string(),
            None => inspect(&mut self.vm, value.get(), Styles::Plain),
        };
        match self.json_of(value.get()) {
            Ok(json) => Outcome::Value { text: shown(text), json },
            // A value whose toJSON throws is shown all the same.
            Err(Abrupt::Throw) => Outcome::Value { text: shown(text), json: None },
            Err(abrupt) => self.describe_abrupt(abrupt),
        }
    }

    fn json_of(&mut self, value: Value) -> JsResult<Option<serde_json::Value>> {
        let text = cynic::builtins::json::to_text(&mut self.vm, value)?;
        Ok(text
            .filter(|text| text.len() <= CELL_VALUE_BYTES_MAX)
            .and_then(|text| serde_json::from_str(&text).ok()))
    }

    fn describe_abrupt(&mut self, abrupt: Abrupt) -> Outcome {
        if abrupt == Abrupt::Throw {
            let error = self.vm.take_exception();
            return Outcome::Error(inspect(&mut self.vm, error, Styles::Plain));
        }
        let limit = match self.vm.termination() {
            Some(Termination::Fuel) => "fuel",
            Some(Termination::Heap) => "heap",
            Some(Termination::Deadline) => "deadline",
            _ => "cancelled",
        };
        Outcome::Terminated(limit.to_string())
    }
}
