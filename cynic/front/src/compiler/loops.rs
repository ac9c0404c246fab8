//! Loops. Tests stand at the bottom, so that an iteration costs one (fused, polling) branch.

use oxc_ast::ast::*;
use oxc_span::GetSpan;

use super::control::Control;
use super::patterns::BindMode;
use super::scope::Role;
use super::{Generator, Reg, Result, Unsupported};
use crate::bytecode::{Label, Op};

/// The labels of a loop under construction.
struct Loop {
    break_label: Label,
    continue_label: Label,
}

impl<'a> Generator<'a> {
    fn open_loop(&mut self) -> Loop {
        self.reset_completion();
        let labels = std::mem::take(&mut self.f.pending_labels);
        let (break_label, continue_label) = (self.label(), self.label());
        self.push_control(Control::target(labels, break_label, Some(continue_label)));
        Loop { break_label, continue_label }
    }

    fn close_loop(&mut self, it: &Loop) {
        self.pop_control();
        self.bind(it.break_label);
    }

    pub(super) fn while_statement(&mut self, it: &WhileStatement<'a>) -> Result {
        let target = self.open_loop();
        self.jump(target.continue_label);
        let body = self.bound();
        self.statement(&it.body)?;
        self.bind(target.continue_label);
        self.condition(&it.test, body, true)?;
        self.close_loop(&target);
        Ok(())
    }

    pub(super) fn do_while(&mut self, it: &DoWhileStatement<'a>) -> Result {
        let target = self.open_loop();
        let body = self.bound();
        self.statement(&it.body)?;
        self.bind(target.continue_label);
        self.condition(&it.test, body, true)?;
        self.close_loop(&target);
        Ok(())
    }

    pub(super) fn for_statement(&mut self, it: &ForStatement<'a>) -> Result {
        let labels = std::mem::take(&mut self.f.pending_labels);
        let scope = self.analysis.scope_of(it, Role::Main);
        let scope = scope.filter(|scope| !self.analysis.scope(*scope).bindings.is_empty());
        if let Some(scope) = scope {
            self.enter_scope(scope)?;
        }
        let using = match &it.init {
            Some(ForStatementInit::VariableDeclaration(declaration)) => match declaration.kind {
                VariableDeclarationKind::Using => Some(false),
                VariableDeclarationKind::AwaitUsing => Some(true),
                _ => None,
            },
            _ => None,
        };
        match using {
            None => self.for_loop(it, labels, scope.is_some())?,
            Some(is_async) => {
                self.resource_scope(is_async, |generator| generator.for_loop(it, labels, scope.is_some()))?;
            }
        }
        if scope.is_some() {
            self.leave_scope();
        }
        Ok(())
    }

    fn for_loop(&mut self, it: &ForStatement<'a>, labels: Vec<&'a str>, has_scope: bool) -> Result {
        let mark = self.mark();
        match &it.init {
            Some(ForStatementInit::VariableDeclaration(declaration)) => {
                self.variable_declaration(declaration)?
            }
            Some(init) => {
                if let Some(e) = init.as_expression() {
                    self.effect(e)?;
                }
            }
            None => {}
        }
        self.free(mark);
        let per_iteration =
            if has_scope { self.scopes.last().and_then(|scope| scope.register) } else { None };
        if let Some(scope) = per_iteration {
            self.op(Op::CloneScope, scope, scope, 0);
        }
        self.f.pending_labels = labels;
        let target = self.open_loop();
        let test = self.label();
        if it.test.is_some() {
            self.jump(test);
        }
        let body = self.bound();
        self.statement(&it.body)?;
        self.bind(target.continue_label);
        if let Some(scope) = per_iteration {
            self.op(Op::CloneScope, scope, scope, 0);
        }
        if let Some(update) = &it.update {
            match update.without_parentheses() {
                Expression::AssignmentExpression(assignment) => self.assignment_effect(assignment)?,
                update => self.effect(update)?,
            }
        }
        self.bind(test);
        match &it.test {
            Some(e) => self.condition(e, body, true)?,
            None => self.jump(body),
        }
        self.close_loop(&target);
        Ok(())
    }

    /// Evaluates the right side of a for-in/of with the names of the head in their dead zone. Returns the value and
    /// the register of the scope around the head, from which each iteration's scope is made.
    fn for_head(&mut self, scope: Option<u32>, right: &Expression<'a>) -> Result<(Reg, Reg)> {
        let value = self.alloc()?;
        let parent = if scope.is_some_and(|scope| self.analysis.scope(scope).is_heap) {
            self.current_scope()?
        } else {
            0
        };
        if let Some(scope) = scope {
            self.enter_scope(scope)?;
        }
        self.expression_to_local(right, value)?;
        Ok((value, parent))
    }

    /// A new iteration: a new heap scope, or fresh markers.
    fn renew_scope(&mut self, scope: Option<u32>, parent: Reg) {
        let (Some(index), Some(active)) = (scope, self.scopes.last()) else { return };
        let register = active.register;
        let locals = active.locals.clone();
        let scope = self.analysis.scope(index);
        let marked: Vec<Reg> = scope
            .bindings
            .iter()
            .zip(locals)
            .filter(|(binding, _)| binding.needs_marker && !binding.captured)
            .map(|(_, local)| local)
            .collect();
        let slots = scope.bindings.iter().filter(|binding| binding.captured).count() as u32;
        if let Some(register) = register {
            self.op_x(Op::NewScope, register, parent, 0, slots);
        }
        marked.into_iter().for_each(|local| self.op(Op::LoadEmpty, local, 0, 0));
    }

    fn scope_with_bindings<T>(&self, node: &T) -> Option<u32> {
        let scope = self.analysis.scope_of(node, Role::Main)?;
        (!self.analysis.scope(scope).bindings.is_empty()).then_some(scope)
    }

    pub(super) fn for_in(&mut self, it: &ForInStatement<'a>) -> Result {
        let labels = std::mem::take(&mut self.f.pending_labels);
        let scope = self.scope_with_bindings(it);
        let (object, parent) = self.for_head(scope, &it.right)?;
        let state = self.alloc()?;
        let key = self.alloc()?;
        self.pos(it.right.span().start);
        self.op(Op::ForInPrepare, state, object, 0);
        self.f.pending_labels = labels;
        let target = self.open_loop();
        self.bind(target.continue_label);
        self.f.asm.branch(Op::ForInNext, key, state, 0, target.break_label);
        self.renew_scope(scope, parent);
        self.for_binding(&it.left, key)?;
        self.statement(&it.body)?;
        self.jump(target.continue_label);
        self.close_loop(&target);
        if scope.is_some() {
            self.leave_scope();
        }
        Ok(())
    }

    /// Gives the iteration's value to the head's target.
    fn for_binding(&mut self, left: &ForStatementLeft<'a>, value: Reg) -> Result {
        let mark = self.mark();
        match left {
            ForStatementLeft::VariableDeclaration(declaration) => {
                let mode = match declaration.kind {
                    VariableDeclarationKind::Var => BindMode::Var,
                    _ => BindMode::Lexical,
                };
                let hint = match declaration.kind {
                    VariableDeclarationKind::Using => Some(0),
                    VariableDeclarationKind::AwaitUsing => Some(1),
                    _ => None,
                };
                if let Some(hint) = hint {
                    self.add_disposable(value, hint, declaration.span.start);
                }
                for declarator in &declaration.declarations {
                    self.binding_pattern(&declarator.id, value, mode)?;
                }
            }
            left => {
                if let Some(target) = left.as_assignment_target() {
                    self.assign_target(target, value)?;
                }
            }
        }
        self.free(mark);
        Ok(())
    }

    pub(super) fn for_of(&mut self, it: &ForOfStatement<'a>) -> Result {
        let labels = std::mem::take(&mut self.f.pending_labels);
        let scope = self.scope_with_bindings(it);
        let (iterable, parent) = self.for_head(scope, &it.right)?;
        let iterator = self.alloc_run(2)?;
        let value = self.alloc()?;
        self.pos(it.right.span().start);
        let open = if it.r#await { Op::GetAsyncIterator } else { Op::GetIterator };
        self.op(open, iterator, iterable, 0);
        self.f.pending_labels = labels;
        let target = self.open_loop();
        self.bind(target.continue_label);
        if it.r#await {
            self.op(Op::IteratorCall, value, iterator, 0);
            self.op(Op::Await, value, value, 0);
            self.f.asm.branch(Op::IteratorResult, value, value, 0, target.break_label);
        } else {
            self.f.asm.branch(Op::IteratorNext, value, iterator, 0, target.break_label);
        }
        self.push_control(Control::iterator(iterator, it.r#await));
        self.renew_scope(scope, parent);
        match for_using(&it.left) {
            None => {
                self.for_binding(&it.left, value)?;
                self.statement(&it.body)?;
            }
            // The parser lets this one pass.
            Some(true) if !self.f.is_async => {
                let message = "'await using' is only allowed in async functions and modules";
                return Err(Unsupported { message, offset: it.span.start });
            }
            Some(is_async) => self.resource_scope(is_async, |generator| {
                generator.for_binding(&it.left, value)?;
                generator.statement(&it.body)
            })?,
        }
        // The normal end of an iteration does not close the iterator: only the handler follows the jump.
        self.finish_iteration(target.continue_label)?;
        self.close_loop(&target);
        if scope.is_some() {
            self.leave_scope();
        }
        Ok(())
    }

    fn finish_iteration(&mut self, next: Label) -> Result {
        self.jump(next);
        self.pop_iterator_control()
    }
}

fn for_using(left: &ForStatementLeft<'_>) -> Option<bool> {
    let ForStatementLeft::VariableDeclaration(declaration) = left else { return None };
    match declaration.kind {
        VariableDeclarationKind::Using => Some(false),
        VariableDeclarationKind::AwaitUsing => Some(true),
        _ => None,
    }
}
