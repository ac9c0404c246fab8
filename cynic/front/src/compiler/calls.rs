//! Calls: method, super, spread, tail and eval calls, `new`, tagged templates.
//!
//! A call window is a run of registers: callee, `this`, arguments.

use oxc_ast::ast::*;
use oxc_span::GetSpan;

use super::expressions::constant_key;
use super::operators::writes_locals;
use super::scope::FUNCTION_NAME;
use super::variables::{Storage, Variable};
use super::{Generator, Reg, Result};
use crate::bytecode::Op;
use crate::bytecode::code::CodeKind;

/// Calls with more arguments than this pass them in an array.
const WINDOW_ARGUMENTS_MAX: usize = 64;
/// Registers that stay free for the expressions inside the arguments.
const WINDOW_RESERVE: usize = 40;

impl<'a> Generator<'a> {
    pub(super) fn call(&mut self, it: &CallExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        self.call_with(it, dst, false)
    }

    /// A call; in tail position it may reuse the frame, and what follows must be the return of `dst`.
    pub(super) fn call_with(&mut self, it: &CallExpression<'a>, dst: Option<Reg>, tail: bool) -> Result<Reg> {
        if let Expression::Super(site) = &it.callee {
            return self.super_call(it, site, dst);
        }
        let mark = self.mark();
        let base = self.callee_window(&it.callee)?;
        self.chain_link(base, it.optional);
        if let Expression::Identifier(id) = &it.callee
            && self.options.allow_eval
            && id.name == "eval"
            && !it.optional
        {
            return self.eval_call(it, base, dst, mark);
        }
        let count = self.call_arguments(&it.arguments)?;
        let dst = self.dst_from(dst, mark)?;
        self.finish_call(dst, base, count, it.span.start, tail);
        Ok(dst)
    }

    /// A call that is a direct eval if the callee, which is in the window, turns out to be %eval%.
    fn eval_call(&mut self, it: &CallExpression<'a>, base: Reg, dst: Option<Reg>, mark: u16) -> Result<Reg> {
        let count = self.call_arguments(&it.arguments)?;
        let site = self.eval_site();
        self.f.eval_sites.push(site);
        let site = self.f.eval_sites.len() as u32 - 1;
        let scope = u32::from(self.current_scope()?);
        let dst = self.dst_from(dst, mark)?;
        self.pos(it.span.start);
        match count {
            Some(count) => self.f.asm.op_xy(Op::DirectEval, dst, base, count, site, scope),
            None => self.f.asm.op_xy(Op::DirectEvalSpread, dst, base, 0, site, scope),
        }
        Ok(dst)
    }

    /// Evaluates the arguments after the window's `this`; how many there are, or `None` if they are in an array.
    fn call_arguments(&mut self, arguments: &[Argument<'a>]) -> Result<Option<Reg>> {
        if self.passes_array(arguments) {
            self.argument_array(arguments)?;
            return Ok(None);
        }
        self.arguments(arguments).map(Some)
    }

    fn finish_call(&mut self, dst: Reg, base: Reg, count: Option<Reg>, at: u32, tail: bool) {
        self.pos(at);
        match count {
            None => self.op(Op::CallSpread, dst, base, 0),
            Some(count) if tail => {
                // Where the frame cannot be reused this is a call whose result lands in `base`.
                self.op(Op::TailCall, 0, base, count);
                self.mov(dst, base);
            }
            Some(count) => self.op(Op::Call, dst, base, count),
        }
    }

    /// Allocates a window and puts callee and `this` into it. What the callee is taken from is evaluated before the
    /// window is allocated, so that a chain of calls needs one window at a time.
    fn callee_window(&mut self, callee: &Expression<'a>) -> Result<Reg> {
        let mark = self.mark();
        match callee {
            Expression::StaticMemberExpression(it) if !matches!(it.object, Expression::Super(_)) => {
                let object = self.expression(&it.object)?;
                self.chain_link(object, it.optional);
                self.free(mark);
                let base = self.alloc_run(2)?;
                self.pos(it.property.span.start);
                let ic = self.f.ic(it.property.name.as_str());
                self.op_x(Op::GetMethod, base, object, 0, ic);
                Ok(base)
            }
            Expression::ComputedMemberExpression(it) if !matches!(it.object, Expression::Super(_)) => {
                let object = self.stable_expression(&it.object, writes_locals(&it.expression))?;
                self.chain_link(object, it.optional);
                let name = constant_key(&it.expression);
                let key = if name.is_none() { self.expression(&it.expression)? } else { object };
                self.free(mark);
                let base = self.alloc_run(2)?;
                self.pos(it.expression.span().start);
                match name {
                    Some(name) => {
                        let ic = self.f.ic(name);
                        self.op_x(Op::GetMethod, base, object, 0, ic);
                    }
                    None => {
                        let ic = self.f.keyed_ic();
                        self.op_x(Op::GetElemMethod, base, object, key, ic);
                    }
                }
                Ok(base)
            }
            Expression::CallExpression(_) => {
                let value = self.expression(callee)?;
                self.free(mark);
                let base = self.alloc_run(2)?;
                self.mov(base, value);
                self.op(Op::LoadUndefined, base + 1, 0, 0);
                Ok(base)
            }
            callee => {
                let base = self.alloc_run(2)?;
                self.callee(callee, base)?;
                Ok(base)
            }
        }
    }

    /// Puts callee and `this` into `base` and the register after it.
    fn callee(&mut self, callee: &Expression<'a>, base: Reg) -> Result {
        let this = base + 1;
        match callee {
            Expression::StaticMemberExpression(it) if !matches!(it.object, Expression::Super(_)) => {
                let mark = self.mark();
                let object = self.expression(&it.object)?;
                self.chain_link(object, it.optional);
                self.pos(it.property.span.start);
                let ic = self.f.ic(it.property.name.as_str());
                self.op_x(Op::GetMethod, base, object, 0, ic);
                self.free(mark);
            }
            Expression::ComputedMemberExpression(it) if !matches!(it.object, Expression::Super(_)) => {
                let mark = self.mark();
                let object = self.stable_expression(&it.object, writes_locals(&it.expression))?;
                self.chain_link(object, it.optional);
                if let Some(name) = constant_key(&it.expression) {
                    self.pos(it.expression.span().start);
                    let ic = self.f.ic(name);
                    self.op_x(Op::GetMethod, base, object, 0, ic);
                } else {
                    let key = self.expression(&it.expression)?;
                    self.pos(it.expression.span().start);
                    let ic = self.f.keyed_ic();
                    self.op_x(Op::GetElemMethod, base, object, key, ic);
                }
                self.free(mark);
            }
            Expression::StaticMemberExpression(it) => {
                self.super_this(&it.object, this)?;
                self.expression_to_local(callee, base)?;
            }
            Expression::ComputedMemberExpression(it) => {
                self.super_this(&it.object, this)?;
                self.expression_to_local(callee, base)?;
            }
            Expression::PrivateFieldExpression(it) => {
                self.expression_to_local(&it.object, this)?;
                self.chain_link(this, it.optional);
                let mark = self.mark();
                let key = self.private_key(&it.field)?;
                self.pos(it.field.span.start);
                let ic = self.f.keyed_ic();
                self.op_x(Op::GetPrivate, base, this, key, ic);
                self.free(mark);
            }
            Expression::ParenthesizedExpression(it) => match &it.expression {
                // `(a?.b)()` keeps `this`, but the chain ends at the parenthesis.
                Expression::ChainExpression(chain) => self.parenthesized_chain_callee(chain, base)?,
                inner => self.callee(inner, base)?,
            },
            Expression::TSNonNullExpression(it) => self.callee(&it.expression, base)?,
            callee => {
                self.expression_to_local(callee, base)?;
                self.op(Op::LoadUndefined, this, 0, 0);
            }
        }
        Ok(())
    }

    fn parenthesized_chain_callee(&mut self, chain: &ChainExpression<'a>, base: Reg) -> Result {
        let (exit, end) = (self.label(), self.label());
        self.f.chain_exits.push(exit);
        let mark = self.mark();
        match &chain.expression {
            ChainElement::StaticMemberExpression(it) => {
                let object = self.expression(&it.object)?;
                self.chain_link(object, it.optional);
                let ic = self.f.ic(it.property.name.as_str());
                self.op_x(Op::GetMethod, base, object, 0, ic);
            }
            ChainElement::ComputedMemberExpression(it) => {
                let object = self.stable_expression(&it.object, writes_locals(&it.expression))?;
                self.chain_link(object, it.optional);
                let key = self.expression(&it.expression)?;
                let ic = self.f.keyed_ic();
                self.op_x(Op::GetElemMethod, base, object, key, ic);
            }
            ChainElement::PrivateFieldExpression(it) => {
                self.expression_to_local(&it.object, base + 1)?;
                self.chain_link(base + 1, it.optional);
                let key = self.private_key(&it.field)?;
                let ic = self.f.keyed_ic();
                self.op_x(Op::GetPrivate, base, base + 1, key, ic);
            }
            ChainElement::CallExpression(it) => {
                self.call(it, Some(base))?;
                self.op(Op::LoadUndefined, base + 1, 0, 0);
            }
            ChainElement::TSNonNullExpression(it) => self.callee(&it.expression, base)?,
        }
        self.free(mark);
        self.f.chain_exits.pop();
        self.jump(end);
        self.bind(exit);
        self.op(Op::LoadUndefined, base, 0, 0);
        self.op(Op::LoadUndefined, base + 1, 0, 0);
        self.bind(end);
        Ok(())
    }

    fn super_this(&mut self, object: &Expression<'a>, dst: Reg) -> Result {
        if let Expression::Super(site) = object {
            self.load_this(&**site, Some(dst))?;
        }
        Ok(())
    }

    /// Whether the arguments go through an array.
    fn passes_array(&self, arguments: &[Argument<'a>]) -> bool {
        let many = arguments.len() > WINDOW_ARGUMENTS_MAX
            || (arguments.len() > 8
                && arguments.len() + WINDOW_RESERVE > self.registers_left()
                && !self.f.asm.spills());
        many || arguments.iter().any(|argument| matches!(argument, Argument::SpreadElement(_)))
    }

    /// Evaluates arguments into the registers after the window's `this`.
    fn arguments(&mut self, arguments: &[Argument<'a>]) -> Result<Reg> {
        for argument in arguments {
            let Some(e) = argument.as_expression() else { continue };
            let register = self.alloc()?;
            self.expression_to_local(e, register)?;
        }
        Ok(arguments.len() as Reg)
    }

    /// Evaluates arguments into a new array in the register after the window's `this`.
    fn argument_array(&mut self, arguments: &[Argument<'a>]) -> Result {
        let array = self.alloc()?;
        self.op_x(Op::NewArray, array, 0, 0, 0);
        for argument in arguments {
            let mark = self.mark();
            match argument {
                Argument::SpreadElement(it) => {
                    let value = self.expression(&it.argument)?;
                    self.pos(it.span.start);
                    self.op(Op::ArraySpread, array, value, 0);
                }
                argument => {
                    if let Some(e) = argument.as_expression() {
                        let value = self.expression(e)?;
                        self.op(Op::ArrayAppend, array, value, 0);
                    }
                }
            }
            self.free(mark);
        }
        Ok(())
    }

    fn super_call(&mut self, it: &CallExpression<'a>, site: &Super, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let mark = self.mark();
        let base = self.alloc_run(2)?;
        let function = self.load_active_function()?;
        self.op(Op::GetSuperConstructor, base, function, 0);
        self.op(Op::LoadUndefined, base + 1, 0, 0);
        self.free(base + 2);
        let result = base;
        if self.passes_array(&it.arguments) {
            self.argument_array(&it.arguments)?;
            let new_target = self.load_new_target(None)?;
            self.pos(it.span.start);
            self.op_x(Op::SuperCallSpread, result, base, 0, u32::from(new_target));
        } else {
            let count = self.arguments(&it.arguments)?;
            let new_target = self.load_new_target(None)?;
            self.pos(it.span.start);
            self.op_x(Op::SuperCall, result, base, count, u32::from(new_target));
        }
        self.bind_this(result, site)?;
        self.mov(dst, result);
        self.free(mark);
        Ok(dst)
    }

    /// BindThisValue and InitializeInstanceElements after `super()` returned `result`.
    pub(super) fn bind_this<T>(&mut self, result: Reg, _site: &T) -> Result {
        // Direct eval checks each time whether `this` is bound; here it must not be.
        let variable = Variable { always_check: false, ..self.resolve("this")? };
        let mark = self.mark();
        match variable.storage {
            Storage::Register(register) => {
                self.op(Op::CheckUnbound, register, 0, 0);
                self.mov(register, result);
            }
            storage => {
                let current = self.load_variable("this", variable, None, false)?;
                self.op(Op::CheckUnbound, current, 0, 0);
                self.store_storage(storage, result);
            }
        }
        let function = self.load_hidden(FUNCTION_NAME, None)?;
        self.op(Op::RunFields, result, function, 0);
        self.free(mark);
        Ok(())
    }

    pub(super) fn new_expression(&mut self, it: &NewExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let mark = self.mark();
        let base = self.alloc_run(2)?;
        self.expression_to_local(&it.callee, base)?;
        if self.passes_array(&it.arguments) {
            self.argument_array(&it.arguments)?;
            self.pos(it.span.start);
            self.op(Op::NewSpread, dst, base, 0);
        } else {
            let count = self.arguments(&it.arguments)?;
            self.pos(it.span.start);
            self.op(Op::New, dst, base, count);
        }
        self.free(mark);
        Ok(dst)
    }

    pub(super) fn tagged_template(
        &mut self,
        it: &TaggedTemplateExpression<'a>,
        dst: Option<Reg>,
        tail: bool,
    ) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let mark = self.mark();
        let base = self.alloc_run(3)?;
        self.free(base + 2);
        self.callee(&it.tag, base)?;
        self.alloc()?;
        self.template_object(&it.quasi, base + 2);
        let many = it.quasi.expressions.len() > WINDOW_ARGUMENTS_MAX;
        if many {
            self.op_x(Op::NewArray, base + 2, base + 2, 0, 1);
        }
        for expression in &it.quasi.expressions {
            let inner = self.mark();
            if many {
                let value = self.expression(expression)?;
                self.op(Op::ArrayAppend, base + 2, value, 0);
                self.free(inner);
            } else {
                let register = self.alloc()?;
                self.expression_to_local(expression, register)?;
            }
        }
        let count = it.quasi.expressions.len() as Reg + 1;
        self.finish_call(dst, base, (!many).then_some(count), it.span.start, tail);
        self.free(mark);
        Ok(dst)
    }

    /// Whether a call in tail position of this function may reuse its frame.
    pub(super) fn allows_tail_calls(&self) -> bool {
        let plain = matches!(self.f.kind, CodeKind::Normal | CodeKind::Arrow | CodeKind::Method);
        plain && !self.f.is_generator && !self.f.is_async && self.f.control.iter().all(|c| !c.holds_frame())
    }

    /// `return e`, with calls in tail position reusing the frame. Returns false if `e` has no such position.
    pub(super) fn tail_expression(&mut self, e: &Expression<'a>) -> Result<bool> {
        let mark = self.mark();
        match e {
            Expression::ParenthesizedExpression(it) => return self.tail_expression(&it.expression),
            Expression::CallExpression(it)
                if !matches!(it.callee, Expression::Super(_)) && !self.is_eval_call(it) =>
            {
                let result = self.call_with(it, None, true)?;
                self.op(Op::Ret, result, 0, 0);
            }
            Expression::TaggedTemplateExpression(it) => {
                let result = self.tagged_template(it, None, true)?;
                self.op(Op::Ret, result, 0, 0);
            }
            Expression::ConditionalExpression(it) => {
                let otherwise = self.label();
                self.condition(&it.test, otherwise, false)?;
                self.return_tail(&it.consequent)?;
                self.bind(otherwise);
                self.return_tail(&it.alternate)?;
            }
            Expression::LogicalExpression(it) => {
                let value = self.expression(&it.left)?;
                let end = self.label();
                self.branch(super::operators::logical_exit(it.operator), value, end);
                self.return_tail(&it.right)?;
                self.bind(end);
                self.op(Op::Ret, value, 0, 0);
            }
            Expression::SequenceExpression(it) => {
                let Some((last, first)) = it.expressions.split_last() else { return Ok(false) };
                first.iter().try_for_each(|part| self.effect(part))?;
                self.return_tail(last)?;
            }
            _ => return Ok(false),
        }
        self.free(mark);
        Ok(true)
    }

    fn is_eval_call(&self, it: &CallExpression<'a>) -> bool {
        self.options.allow_eval && matches!(&it.callee, Expression::Identifier(id) if id.name == "eval")
    }

    /// Returns the value of `e`.
    pub(super) fn return_tail(&mut self, e: &Expression<'a>) -> Result {
        if !self.tail_expression(e)? {
            let mark = self.mark();
            let value = self.expression(e)?;
            self.op(Op::Ret, value, 0, 0);
            self.free(mark);
        }
        Ok(())
    }
}
