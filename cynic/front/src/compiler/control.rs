//! Abrupt control flow: break, continue and return through finalisers and iterators, and exception regions.
//!
//! The control stack lists what encloses the current statement. A jump out of it closes iterators inline and enters
//! finalisers with a *completion kind* in a register: 0 normal, 1 throw, and from 2 on the number of the jump that
//! continues when the finaliser ends. While exit code is generated the regions it leaves do not cover it.

use super::{Generator, Reg, Result};
use crate::bytecode::code::CodeKind;
use crate::bytecode::{Label, Op};

/// Completion kind: fell out of the protected code.
pub(super) const COMPLETION_NORMAL: i32 = 0;
/// Completion kind: an exception.
pub(super) const COMPLETION_THROW: i32 = 1;
const COMPLETION_JUMP_FIRST: i32 = 2;

/// A jump that waits for a finaliser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// Break to the control entry at this depth.
    Break(usize),
    /// Continue the loop at this depth.
    Continue(usize),
    Return,
}

/// What the entry is.
#[derive(Debug)]
pub(super) enum ControlKind<'a> {
    /// A loop, switch or labelled statement.
    Target { labels: Vec<&'a str>, break_label: Label, continue_label: Option<Label>, is_anonymous: bool },
    /// A finaliser.
    Finally { entry: Label, kind: Reg, value: Reg, exits: Vec<Exit> },
    /// A catch region without finaliser.
    Catch,
    /// An iterator to be closed.
    Iterator { iterator: Reg, is_async: bool },
}

/// One entry of the control stack.
#[derive(Debug)]
pub(super) struct Control<'a> {
    pub(super) kind: ControlKind<'a>,
    /// Where the protected region now open starts.
    open: Option<Label>,
    /// Finished pieces of the protected region.
    ranges: Vec<(Label, Label)>,
}

impl<'a> Control<'a> {
    fn new(kind: ControlKind<'a>) -> Self {
        Self { kind, open: None, ranges: Vec::new() }
    }

    pub(super) fn target(labels: Vec<&'a str>, break_label: Label, continue_label: Option<Label>) -> Self {
        Self::new(ControlKind::Target { labels, break_label, continue_label, is_anonymous: true })
    }

    /// A labelled statement that is no loop: only a labelled break finds it.
    pub(super) fn labelled(labels: Vec<&'a str>, break_label: Label) -> Self {
        Self::new(ControlKind::Target { labels, break_label, continue_label: None, is_anonymous: false })
    }

    pub(super) fn iterator(iterator: Reg, is_async: bool) -> Self {
        Self::new(ControlKind::Iterator { iterator, is_async })
    }

    pub(super) fn catch() -> Self {
        Self::new(ControlKind::Catch)
    }

    pub(super) fn finally(entry: Label, kind: Reg, value: Reg) -> Self {
        Self::new(ControlKind::Finally { entry, kind, value, exits: Vec::new() })
    }

    fn has_region(&self) -> bool {
        !matches!(self.kind, ControlKind::Target { .. })
    }

    /// Whether a tail call inside would leave something undone.
    pub(super) fn holds_frame(&self) -> bool {
        self.has_region()
    }
}

impl<'a> Generator<'a> {
    /// Pushes an entry; its region (if it has one) opens here.
    pub(super) fn push_control(&mut self, mut control: Control<'a>) {
        if control.has_region() {
            control.open = Some(self.bound());
        }
        self.f.control.push(control);
    }

    /// Pops the innermost entry with its region closed here.
    pub(super) fn pop_control(&mut self) -> Option<Control<'a>> {
        let end = self.bound();
        let mut control = self.f.control.pop()?;
        if let Some(start) = control.open.take() {
            control.ranges.push((start, end));
        }
        Some(control)
    }

    /// Sends exceptions of the popped entry's region to `target`, which is here.
    pub(super) fn protect(&mut self, control: &Control<'a>, target: Label, register: Reg) {
        let register = self.f.asm.receive(target, register);
        for (start, end) in &control.ranges {
            self.f.asm.handler(*start, *end, target, register);
        }
    }

    /// Pops an iterator entry: exceptions in its region close the iterator and go on; the normal path continues at
    /// the instruction after, which the caller emits, and jumps over the handler.
    pub(super) fn pop_iterator_control(&mut self) -> Result {
        let Some(control) = self.pop_control() else { return Ok(()) };
        let ControlKind::Iterator { iterator, is_async } = control.kind else { return Ok(()) };
        let (handler, after) = (self.label(), self.label());
        self.jump(after);
        self.bind(handler);
        let mark = self.mark();
        let exception = self.alloc()?;
        self.protect(&control, handler, exception);
        self.close_silently(iterator, is_async)?;
        self.op(Op::Throw, exception, 0, 0);
        self.free(mark);
        self.bind(after);
        Ok(())
    }

    /// IteratorClose for a throw completion: what it throws itself is dropped.
    fn close_silently(&mut self, iterator: Reg, is_async: bool) -> Result {
        if !is_async {
            self.op(Op::IteratorCloseSilently, 0, iterator, 0);
            return Ok(());
        }
        let mark = self.mark();
        let dropped = self.alloc()?;
        let end = self.label();
        self.push_control(Control::catch());
        self.async_close(iterator, end, false)?;
        if let Some(control) = self.pop_control() {
            self.jump(end);
            let handler = self.bound();
            self.protect(&control, handler, dropped);
        }
        self.bind(end);
        self.free(mark);
        Ok(())
    }

    /// AsyncIteratorClose; `check` verifies that the result is an object.
    pub(super) fn async_close(&mut self, iterator: Reg, end: Label, check: bool) -> Result {
        let mark = self.mark();
        let window = self.alloc_run(2)?;
        self.branch(Op::JUndefined, iterator, end);
        let ic = self.f.ic("return");
        self.op_x(Op::IteratorGetMethod, window, iterator, 0, ic);
        self.branch(Op::JUndefined, window, end);
        self.mov(window + 1, iterator);
        self.op(Op::Call, window, window, 0);
        self.op(Op::Await, window, window, 0);
        if check {
            self.op(Op::CheckObject, window, 0, 0);
        }
        self.free(mark);
        Ok(())
    }

    /// IteratorClose for a completion that is no throw.
    fn close_normally(&mut self, iterator: Reg, is_async: bool) -> Result {
        if !is_async {
            self.op(Op::IteratorClose, 0, iterator, 0);
            return Ok(());
        }
        let end = self.label();
        self.async_close(iterator, end, true)?;
        self.bind(end);
        Ok(())
    }

    /// Closes the regions of all entries from `depth` up; they do not protect what follows.
    fn suspend_regions(&mut self, depth: usize) {
        let end = self.bound();
        for control in self.f.control.iter_mut().skip(depth) {
            if let Some(start) = control.open.take() {
                control.ranges.push((start, end));
            }
        }
    }

    fn resume_regions(&mut self, depth: usize) {
        let start = self.bound();
        for control in self.f.control.iter_mut().skip(depth) {
            if control.has_region() && control.open.is_none() {
                control.open = Some(start);
            }
        }
    }

    /// The entry a `break` or `continue` means.
    pub(super) fn find_target(&self, label: Option<&str>, is_continue: bool) -> Option<usize> {
        self.f.control.iter().rposition(|control| match &control.kind {
            ControlKind::Target { labels, continue_label, is_anonymous, .. } => match label {
                Some(label) => labels.contains(&label),
                None if is_continue => continue_label.is_some(),
                None => *is_anonymous,
            },
            _ => false,
        })
    }

    /// Emits the jump `exit`; a return takes its value from `value`.
    pub(super) fn emit_exit(&mut self, exit: Exit, value: Option<Reg>) -> Result {
        let stop = match exit {
            Exit::Break(depth) => depth + 1,
            // The loop's own iterator, right above the loop's entry, stays open.
            Exit::Continue(depth) => match self.f.control.get(depth + 1) {
                Some(Control { kind: ControlKind::Iterator { .. }, .. }) => depth + 2,
                _ => depth + 1,
            },
            Exit::Return => 0,
        };
        let top = self.f.control.len();
        let result = self.emit_exit_path(exit, value, stop, top);
        self.resume_regions(stop.min(top));
        result
    }

    fn emit_exit_path(&mut self, exit: Exit, value: Option<Reg>, stop: usize, top: usize) -> Result {
        for depth in (stop..top).rev() {
            self.suspend_regions(depth);
            let Some(control) = self.f.control.get_mut(depth) else { continue };
            match &mut control.kind {
                ControlKind::Target { .. } | ControlKind::Catch => {}
                ControlKind::Iterator { iterator, is_async } => {
                    let (iterator, is_async) = (*iterator, *is_async);
                    self.close_normally(iterator, is_async)?;
                }
                ControlKind::Finally { entry, kind, value: slot, exits } => {
                    let number = exits.iter().position(|known| *known == exit).unwrap_or_else(|| {
                        exits.push(exit);
                        exits.len() - 1
                    });
                    let (entry, kind, slot) = (*entry, *kind, *slot);
                    self.load_int(kind, number as i32 + COMPLETION_JUMP_FIRST);
                    if let Some(value) = value {
                        self.mov(slot, value);
                    }
                    self.jump(entry);
                    return Ok(());
                }
            }
        }
        self.suspend_regions(stop);
        match (exit, self.exit_label(exit)) {
            (Exit::Return, _) => self.emit_final_return(value)?,
            (_, Some(label)) => self.jump(label),
            _ => {}
        }
        Ok(())
    }

    fn exit_label(&self, exit: Exit) -> Option<Label> {
        let (Exit::Break(depth) | Exit::Continue(depth)) = exit else { return None };
        match &self.f.control.get(depth)?.kind {
            ControlKind::Target { break_label, continue_label, .. } => {
                if matches!(exit, Exit::Continue(_)) {
                    *continue_label
                } else {
                    Some(*break_label)
                }
            }
            _ => None,
        }
    }

    /// After a finaliser: rethrow, continue the jump that entered it, or fall through.
    pub(super) fn dispatch_completion(&mut self, kind: Reg, value: Reg, exits: &[Exit]) -> Result {
        let next = self.label();
        self.f.asm.branch_y(Op::JStrictNeI, kind, next, COMPLETION_THROW);
        self.op(Op::Throw, value, 0, 0);
        self.bind(next);
        for (number, exit) in exits.iter().enumerate() {
            let next = self.label();
            self.f.asm.branch_y(Op::JStrictNeI, kind, next, number as i32 + COMPLETION_JUMP_FIRST);
            self.emit_exit(*exit, Some(value))?;
            self.bind(next);
        }
        Ok(())
    }

    /// Leaves the function with `value` (undefined if none); nothing protects this any more.
    pub(super) fn emit_final_return(&mut self, value: Option<Reg>) -> Result {
        let mark = self.mark();
        if self.f.kind == CodeKind::DerivedConstructor {
            let result = self.alloc()?;
            match value {
                Some(value) => self.mov(result, value),
                None => self.op(Op::LoadUndefined, result, 0, 0),
            }
            let variable = self.resolve("this")?;
            let this = self.load_variable("this", variable, None, false)?;
            self.op(Op::CheckConstructorReturn, result, this, 0);
            self.op(Op::Ret, result, 0, 0);
            self.free(mark);
            return Ok(());
        }
        let op = match (self.f.is_async, self.f.is_generator) {
            (false, false) => Op::Ret,
            (true, false) => Op::AsyncReturn,
            (_, true) => Op::GeneratorReturn,
        };
        match value {
            None if op == Op::Ret => self.op(Op::RetUndefined, 0, 0, 0),
            value => {
                let value = match value {
                    Some(value) => value,
                    None => self.load_simple(Op::LoadUndefined, None)?,
                };
                self.op(op, value, 0, 0);
            }
        }
        self.free(mark);
        Ok(())
    }
}
