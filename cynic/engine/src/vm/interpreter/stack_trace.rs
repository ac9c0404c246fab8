//! Stack traces: captured with every error, formatted when somebody asks.

use std::sync::Arc;

use super::frame_flags;
use crate::bytecode::code::{CodeKind, FunctionCode};
use crate::gc::{Trace, Tracer};
use crate::limits;
use crate::value::Value;
use crate::vm::Vm;

/// A captured stack: functions and places, innermost first.
pub struct StackTrace {
    /// The module, and the offset in its text, whose import or export failed: no frame of its runs then.
    import: Option<(Arc<FunctionCode>, u32)>,
    frames: Vec<(Arc<FunctionCode>, u32, bool)>,
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
        for (function, pc, is_construct) in &self.frames {
            let (line, column) = function.source.position(function.source_offset(*pc));
            let place = format!("{}:{line}:{column}", function.source.name);
            let name = function.name.to_lossy();
            let is_top = matches!(function.kind, CodeKind::Script | CodeKind::Module);
            out.push_str("\n    at ");
            if *is_construct {
                out.push_str("new ");
            }
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
    let frames = vm
        .interpreter
        .active_frames()
        .iter()
        .rev()
        .take(limits::STACK_TRACE_FRAMES_MAX)
        .map(|frame| {
            let template = frame.template();
            let pc = template.pc_index(frame.pc).saturating_sub(1);
            (template.function.clone(), pc, frame.flags & frame_flags::CONSTRUCT != 0)
        })
        .collect();
    Value::cell(vm.alloc_data(StackTrace { import, frames }))
}
