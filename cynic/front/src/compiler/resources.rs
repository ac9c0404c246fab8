//! Explicit resource management: `using` and `await using`.
//!
//! A block with resources keeps them in a list and is a try statement whose finaliser disposes of the list.

use super::control::Control;
use super::{Generator, Reg, Result};
use crate::bytecode::Op;

impl<'a> Generator<'a> {
    /// Runs `body` with a list of resources that is disposed of afterwards.
    pub(super) fn resource_scope(
        &mut self,
        is_async: bool,
        body: impl FnOnce(&mut Self) -> Result,
    ) -> Result {
        let list = self.alloc()?;
        self.op(Op::NewDisposables, list, 0, 0);
        let outer = self.f.disposables.replace(list);
        self.finally_scope(
            |generator| {
                body(generator)?;
                generator.f.disposables = outer;
                Ok(())
            },
            |generator, kind, value| {
                if is_async {
                    generator.dispose_async(list, kind)
                } else {
                    generator.op(Op::DisposeSync, list, kind, value);
                    Ok(())
                }
            },
        )
    }

    pub(super) fn add_disposable(&mut self, value: Reg, hint: u32, at: u32) {
        if let Some(list) = self.f.disposables {
            self.pos(at);
            self.op_x(Op::AddDisposable, list, value, 0, hint);
        }
    }

    fn dispose_async(&mut self, list: Reg, kind: Reg) -> Result {
        let mark = self.mark();
        let result = self.alloc()?;
        let done = self.label();
        let head = self.bound();
        self.f.asm.branch(Op::DisposeNext, result, list, kind, done);
        self.push_control(Control::catch());
        self.op(Op::Await, result, result, 0);
        let control = self.pop_control();
        self.jump(head);
        let handler = self.bound();
        if let Some(control) = control {
            self.protect(&control, handler, result);
        }
        self.op(Op::DisposeError, result, kind, kind + 1);
        self.jump(head);
        self.bind(done);
        self.free(mark);
        Ok(())
    }
}
