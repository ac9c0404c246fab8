//! Stack traces: captured with every error, formatted when somebody asks.
//!
//! Where the outermost frame is a coroutine that a job resumed, nobody has called it: those that wait for it stand in the place of callers.

use std::sync::Arc;

use super::coroutine::{self, Coroutine, CoroutineKind};
use super::frame_flags;
use crate::builtins::promise;
use crate::bytecode::code::{CodeKind, FunctionCode};
use crate::gc::{Data, Gc, Trace, Tracer};
use crate::limits;
use crate::value::Value;
use crate::vm::Vm;

/// A captured stack: functions and places, innermost first.
pub struct StackTrace {
    /// The module, and the offset in its text, whose import or export failed: no frame of its runs then.
    import: Option<(Arc<FunctionCode>, u32)>,
    frames: Vec<(Arc<FunctionCode>, u32, Kind)>,
}

/// How a frame came to be on the stack.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Call,
    Construct,
    /// It is not: it waits for the frame before it.
    Async,
}

impl Trace for StackTrace {
    const BARRIERED: bool = true;
    fn trace(&self, _tracer: &mut Tracer<'_>) {}
}

impl StackTrace {
    /// The lines of `error.stack` after the first.
    pub fn format(&self) -> String {
        let mut out = String::new();
        if let Some((module, offset)) = &self.import {
            let (line, column) = module.source.position(*offset);
            out.push_str(&format!("\n    at {}:{line}:{column}", module.source.name));
        }
        for (function, pc, kind) in &self.frames {
            let (line, column) = function.source.position(function.source_offset(*pc));
            let place = format!("{}:{line}:{column}", function.source.name);
            let name = function.name.to_lossy();
            let is_top = matches!(function.kind, CodeKind::Script | CodeKind::Module);
            out.push_str("\n    at ");
            out.push_str(match kind {
                Kind::Call => "",
                Kind::Construct => "new ",
                Kind::Async => "async ",
            });
            if name.is_empty() {
                if is_top { out.push_str(&place) } else { out.push_str(&format!("<anonymous> ({place})")) }
            } else {
                out.push_str(&format!("{name} ({place})"));
            }
        }
        out
    }

    /// Where the innermost frame is: source name, line, column.
    pub fn top(&self) -> Option<(String, u32, u32)> {
        let (function, pc, _) = self.frames.first()?;
        let (line, column) = function.source.position(function.source_offset(*pc));
        Some((function.source.name.to_string(), line, column))
    }
}

/// The coroutine that awaits what this one will give.
fn waiting_for(coroutine: Gc<Data<Coroutine>>) -> Option<Gc<Data<Coroutine>>> {
    let promise = match coroutine.kind {
        CoroutineKind::AsyncFunction | CoroutineKind::Module => coroutine.promise.get(),
        CoroutineKind::AsyncGenerator => coroutine.queue.borrow().front()?.capability.promise,
        CoroutineKind::Generator => return None,
    };
    promise::awaited_by(promise.as_object()?)
}

/// Captures the stack as a data cell.
pub fn capture(vm: &mut Vm) -> Value {
    capture_at(vm, None)
}

impl Vm {
    /// Captures the stack below a place in a module where something is imported.
    pub(crate) fn capture_stack_at(&mut self, module: Arc<FunctionCode>, offset: u32) -> Value {
        capture_at(self, Some((module, offset)))
    }
}

fn capture_at(vm: &mut Vm, import: Option<(Arc<FunctionCode>, u32)>) -> Value {
    let active = vm.interpreter.active_frames();
    let mut frames: Vec<_> = active
        .iter()
        .rev()
        .take(limits::STACK_TRACE_FRAMES_MAX)
        .map(|frame| {
            let template = frame.template();
            let pc = template.pc_index(frame.pc).saturating_sub(1);
            let is_construct = frame.flags & frame_flags::CONSTRUCT != 0;
            (template.function.clone(), pc, if is_construct { Kind::Construct } else { Kind::Call })
        })
        .collect();
    let mut resumed = active.first().and_then(coroutine::of_frame);
    while let Some(waiting) = resumed.and_then(waiting_for)
        && frames.len() < limits::STACK_TRACE_FRAMES_MAX
    {
        frames.extend(waiting.place().map(|(function, pc)| (function, pc, Kind::Async)));
        resumed = Some(waiting);
    }
    Value::cell(vm.alloc_data(StackTrace { import, frames }))
}
