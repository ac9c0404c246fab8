//! Statements: declarations, blocks, branches, exceptions and completion values.

use oxc_ast::ast::*;
use oxc_span::GetSpan;

use super::control::{COMPLETION_NORMAL, COMPLETION_THROW, Control, ControlKind, Exit};
use super::expressions::NameHint;
use super::patterns::{BindMode, binding_name};
use super::scope::Role;
use super::variables::Storage;
use super::{Generator, Reg, Result, Unsupported, declare};
use crate::bytecode::Op;

impl<'a> Generator<'a> {
    pub(super) fn statement_list(&mut self, statements: &[Statement<'a>]) -> Result {
        match using_kind(statements) {
            None => statements.iter().try_for_each(|statement| self.statement(statement)),
            Some(is_async) => self.resource_scope(is_async, |generator| {
                statements.iter().try_for_each(|statement| generator.statement(statement))
            }),
        }
    }

    pub(super) fn statement(&mut self, statement: &Statement<'a>) -> Result {
        self.poll(statement.span().start)?;
        let mark = self.mark();
        self.statement_inner(statement)?;
        self.free(mark);
        Ok(())
    }

    fn statement_inner(&mut self, statement: &Statement<'a>) -> Result {
        match statement {
            Statement::BlockStatement(it) => self.block(it),
            Statement::BreakStatement(it) => self.break_or_continue(it.label.as_ref(), false),
            Statement::ContinueStatement(it) => self.break_or_continue(it.label.as_ref(), true),
            Statement::DebuggerStatement(_) | Statement::EmptyStatement(_) => Ok(()),
            Statement::DoWhileStatement(it) => self.do_while(it),
            Statement::ExpressionStatement(it) => self.expression_statement(it),
            Statement::ForInStatement(it) => self.for_in(it),
            Statement::ForOfStatement(it) => self.for_of(it),
            Statement::ForStatement(it) => self.for_statement(it),
            Statement::IfStatement(it) => self.if_statement(it),
            Statement::LabeledStatement(it) => self.labelled(it),
            Statement::ReturnStatement(it) => self.return_statement(it),
            Statement::SwitchStatement(it) => self.switch(it),
            Statement::ThrowStatement(it) => {
                let value = self.expression(&it.argument)?;
                self.pos(it.span.start);
                self.op(Op::Throw, value, 0, 0);
                Ok(())
            }
            Statement::TryStatement(it) => self.try_statement(it),
            Statement::WhileStatement(it) => self.while_statement(it),
            Statement::WithStatement(it) => {
                Err(Unsupported { message: "'with' is not allowed in strict mode", offset: it.span.start })
            }
            Statement::TSExportAssignment(it) => {
                Err(Unsupported { message: "'export =' is not supported", offset: it.span.start })
            }
            statement => match declare::declaration_of(statement) {
                Some(declaration) => self.declaration(declaration),
                None => self.module_statement(statement),
            },
        }
    }

    pub(super) fn declaration(&mut self, declaration: &Declaration<'a>) -> Result {
        match declaration {
            Declaration::VariableDeclaration(it) if !it.declare => self.variable_declaration(it),
            Declaration::ClassDeclaration(it) if !it.declare => {
                let value = self.class(it, None, NameHint::None)?;
                match &it.id {
                    Some(id) => self.initialize_name(id.name.as_str(), value),
                    None => Ok(()),
                }
            }
            Declaration::TSEnumDeclaration(it) if !it.declare => {
                Err(Unsupported { message: "enum declarations are not supported", offset: it.span.start })
            }
            Declaration::TSNamespaceDeclaration(it) if !it.declare => {
                Err(Unsupported { message: "namespaces are not supported", offset: it.span.start })
            }
            Declaration::TSImportEqualsDeclaration(it) if it.import_kind.is_value() => {
                Err(Unsupported { message: "'import =' is not supported", offset: it.span.start })
            }
            // Functions are hoisted; types are stripped.
            _ => Ok(()),
        }
    }

    pub(super) fn variable_declaration(&mut self, it: &VariableDeclaration<'a>) -> Result {
        let mode = if it.kind == VariableDeclarationKind::Var { BindMode::Var } else { BindMode::Lexical };
        for declarator in &it.declarations {
            let mark = self.mark();
            self.declarator(declarator, it.kind, mode)?;
            self.free(mark);
        }
        Ok(())
    }

    fn declarator(
        &mut self,
        it: &VariableDeclarator<'a>,
        kind: VariableDeclarationKind,
        mode: BindMode,
    ) -> Result {
        let Some(init) = &it.init else {
            if kind == VariableDeclarationKind::Let {
                let value = self.load_simple(Op::LoadUndefined, None)?;
                self.binding_pattern(&it.id, value, mode)?;
            }
            return Ok(());
        };
        let name = binding_name(&it.id);
        let value = match self.binding_local(&it.id)? {
            Some(local) if mode == BindMode::Lexical && !self.starts_as_marker(&it.id) => {
                return self.value(init, Some(local), name).map(drop);
            }
            Some(local) if mode == BindMode::Var => return self.assign_expression_to(init, local, name),
            _ => self.value(init, None, name)?,
        };
        let hint = match kind {
            VariableDeclarationKind::Using => Some(0),
            VariableDeclarationKind::AwaitUsing => Some(1),
            _ => None,
        };
        if let Some(hint) = hint {
            self.add_disposable(value, hint, it.span.start);
        }
        self.binding_pattern(&it.id, value, mode)
    }

    /// Whether the name must keep its marker until the initialiser is complete (also true of resources).
    fn starts_as_marker(&self, pattern: &BindingPattern<'a>) -> bool {
        let BindingPattern::BindingIdentifier(id) = pattern else { return true };
        if self.f.disposables.is_some() {
            return true;
        }
        let scope = self.scopes.iter().rev().map(|active| self.analysis.scope(active.index));
        let binding = scope
            .filter_map(|scope| scope.names.get(id.name.as_str()).map(|at| &scope.bindings[*at as usize]));
        binding.into_iter().next().is_none_or(|binding| binding.needs_marker)
    }

    pub(super) fn block(&mut self, it: &BlockStatement<'a>) -> Result {
        self.scoped_statements(self.analysis.scope_of(it, Role::Main), &it.body)
    }

    pub(super) fn scoped_statements(&mut self, scope: Option<u32>, statements: &[Statement<'a>]) -> Result {
        let mark = self.mark();
        let scope = scope.filter(|scope| !self.analysis.scope(*scope).bindings.is_empty());
        if let Some(scope) = scope {
            self.enter_scope(scope)?;
            self.hoist_functions(statements)?;
        }
        self.statement_list(statements)?;
        if scope.is_some() {
            self.leave_scope();
        }
        self.free(mark);
        Ok(())
    }

    fn expression_statement(&mut self, it: &ExpressionStatement<'a>) -> Result {
        match (self.f.completion, it.expression.without_parentheses()) {
            (Some(completion), _) => self.assign_expression_to(&it.expression, completion, NameHint::None),
            (None, Expression::AssignmentExpression(assignment)) => self.assignment_effect(assignment),
            (None, e) => self.effect(e),
        }
    }

    /// The completion value of the statement about to start is undefined until it has one.
    pub(super) fn reset_completion(&mut self) {
        if let Some(completion) = self.f.completion {
            self.op(Op::LoadUndefined, completion, 0, 0);
        }
    }

    fn if_statement(&mut self, it: &IfStatement<'a>) -> Result {
        self.reset_completion();
        let otherwise = self.label();
        self.condition(&it.test, otherwise, false)?;
        self.statement(&it.consequent)?;
        if let Some(alternate) = &it.alternate {
            let end = self.label();
            self.jump(end);
            self.bind(otherwise);
            self.statement(alternate)?;
            self.bind(end);
        } else {
            self.bind(otherwise);
        }
        Ok(())
    }

    fn break_or_continue(&mut self, label: Option<&LabelIdentifier<'a>>, is_continue: bool) -> Result {
        let name = label.map(|label| label.name.as_str());
        let Some(depth) = self.find_target(name, is_continue) else {
            let offset = label.map_or(0, |label| label.span.start);
            return Err(Unsupported { message: "there is nothing to break out of here", offset });
        };
        self.carry_completion_out(depth);
        self.emit_exit(if is_continue { Exit::Continue(depth) } else { Exit::Break(depth) }, None)
    }

    /// A jump to the control entry at `depth` takes the value of the finalisers that it leaves along.
    fn carry_completion_out(&mut self, depth: usize) {
        let Some(mut value) = self.f.completion else { return };
        let left = self.f.finalizers.iter().rev().take_while(|(start, _)| depth < *start);
        for outer in left.map(|(_, outer)| *outer).collect::<Vec<_>>() {
            self.mov(outer, value);
            value = outer;
        }
    }

    fn labelled(&mut self, it: &LabeledStatement<'a>) -> Result {
        self.f.pending_labels.push(it.label.name.as_str());
        let is_loop = matches!(
            it.body,
            Statement::LabeledStatement(_)
                | Statement::ForStatement(_)
                | Statement::ForInStatement(_)
                | Statement::ForOfStatement(_)
                | Statement::WhileStatement(_)
                | Statement::DoWhileStatement(_)
        );
        if is_loop {
            return self.statement(&it.body);
        }
        let labels = std::mem::take(&mut self.f.pending_labels);
        let end = self.label();
        self.push_control(Control::labelled(labels, end));
        self.statement(&it.body)?;
        self.pop_control();
        self.bind(end);
        Ok(())
    }

    fn return_statement(&mut self, it: &ReturnStatement<'a>) -> Result {
        let Some(argument) = &it.argument else { return self.emit_exit(Exit::Return, None) };
        if self.allows_tail_calls() && self.tail_expression(argument)? {
            return Ok(());
        }
        let mut value = self.expression(argument)?;
        if self.f.is_async && self.f.is_generator {
            let awaited = self.alloc()?;
            self.op(Op::Await, awaited, value, 0);
            value = awaited;
        } else if self.f.control.iter().any(Control::holds_frame) {
            // The finaliser may change the variable that was returned.
            let copy = self.alloc()?;
            self.mov(copy, value);
            value = copy;
        }
        self.emit_exit(Exit::Return, Some(value))
    }

    fn switch(&mut self, it: &SwitchStatement<'a>) -> Result {
        self.reset_completion();
        let value = self.alloc()?;
        self.expression_to(&it.discriminant, value)?;
        if let Some(scope) = self.analysis.scope_of(it, Role::Main) {
            self.enter_scope(scope)?;
        }
        for case in &it.cases {
            self.hoist_functions(&case.consequent)?;
        }
        let end = self.label();
        let mut labels = Vec::with_capacity(it.cases.len());
        let mut default = end;
        for case in &it.cases {
            let label = self.label();
            labels.push(label);
            match &case.test {
                None => default = label,
                Some(test) => {
                    let mark = self.mark();
                    let test = self.expression(test)?;
                    self.f.asm.branch(Op::JStrictEq, value, test, 0, label);
                    self.free(mark);
                }
            }
        }
        self.jump(default);
        let names = std::mem::take(&mut self.f.pending_labels);
        self.push_control(Control::target(names, end, None));
        for (case, label) in it.cases.iter().zip(labels) {
            self.bind(label);
            case.consequent.iter().try_for_each(|statement| self.statement(statement))?;
        }
        self.pop_control();
        self.bind(end);
        self.leave_scope();
        Ok(())
    }

    fn try_statement(&mut self, it: &TryStatement<'a>) -> Result {
        self.reset_completion();
        let Some(finalizer) = &it.finalizer else {
            return self.try_catch(it);
        };
        self.finally_scope(
            |generator| match &it.handler {
                Some(_) => generator.try_catch(it),
                None => generator.block(&it.block),
            },
            |generator, _, _| {
                // The finaliser's own value counts only if it jumps away.
                let mark = generator.mark();
                let saved = generator.f.completion;
                if let Some(outer) = saved {
                    generator.f.completion = Some(generator.load_simple(Op::LoadUndefined, None)?);
                    generator.f.finalizers.push((generator.f.control.len(), outer));
                }
                generator.block(finalizer)?;
                if saved.is_some() {
                    generator.f.finalizers.pop();
                }
                generator.f.completion = saved;
                generator.free(mark);
                Ok(())
            },
        )
    }

    /// Runs `body`, then `finalizer` (given the completion registers) however the body ended.
    pub(super) fn finally_scope(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result,
        finalizer: impl FnOnce(&mut Self, Reg, Reg) -> Result,
    ) -> Result {
        let kind = self.alloc_run(2)?;
        let value = kind + 1;
        self.op(Op::LoadUndefined, value, 0, 0);
        let entry = self.label();
        self.push_control(Control::finally(entry, kind, value));
        body(self)?;
        let Some(control) = self.pop_control() else { return Ok(()) };
        self.load_int(kind, COMPLETION_NORMAL);
        self.jump(entry);
        let handler = self.bound();
        self.protect(&control, handler, value);
        self.load_int(kind, COMPLETION_THROW);
        self.bind(entry);
        finalizer(self, kind, value)?;
        let exits = match control.kind {
            ControlKind::Finally { exits, .. } => exits,
            _ => Vec::new(),
        };
        self.dispatch_completion(kind, value, &exits)
    }

    fn try_catch(&mut self, it: &TryStatement<'a>) -> Result {
        let Some(clause) = &it.handler else { return Ok(()) };
        self.push_control(Control::catch());
        self.block(&it.block)?;
        let Some(control) = self.pop_control() else { return Ok(()) };
        let end = self.label();
        self.jump(end);
        let handler = self.bound();
        let mark = self.mark();
        let exception = self.alloc()?;
        self.protect(&control, handler, exception);
        self.reset_completion();
        if let Some(scope) = self.analysis.scope_of(&**clause, Role::Main) {
            self.enter_scope(scope)?;
        }
        if let Some(param) = &clause.param {
            self.binding_pattern(&param.pattern, exception, BindMode::Lexical)?;
        }
        self.block(&clause.body)?;
        self.leave_scope();
        self.free(mark);
        self.bind(end);
        Ok(())
    }

    /// Instantiates the functions that a statement list declares.
    pub(super) fn hoist_functions(&mut self, statements: &[Statement<'a>]) -> Result {
        for statement in statements {
            let function = match statement {
                Statement::ExportDefaultDeclaration(export) => match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(function) => Some(&**function),
                    _ => None,
                },
                statement => match declare::declaration_of(statement) {
                    Some(Declaration::FunctionDeclaration(function)) => Some(&**function),
                    _ => None,
                },
            };
            let Some(function) = function.filter(|function| function.body.is_some()) else { continue };
            let mark = self.mark();
            let name = function.id.as_ref().map_or(declare::DEFAULT_EXPORT_NAME, |id| id.name.as_str());
            let hint = if function.id.is_none() { NameHint::Static("default") } else { NameHint::None };
            let closure = self.function_declaration(function, hint)?;
            let variable = self.resolve(name)?;
            if variable.storage == Storage::Global {
                let ic = self.f.ic(name);
                self.op_x(Op::DefineGlobalFunction, closure, 0, 0, ic);
            } else {
                self.store_storage(variable.storage, closure);
            }
            self.free(mark);
        }
        Ok(())
    }
}

/// Whether the list declares resources directly, and whether any of them is asynchronous.
fn using_kind(statements: &[Statement<'_>]) -> Option<bool> {
    let kinds = statements.iter().filter_map(|statement| match statement {
        Statement::VariableDeclaration(it) => Some(it.kind),
        _ => None,
    });
    kinds.fold(None, |found, kind| match kind {
        VariableDeclarationKind::AwaitUsing => Some(true),
        VariableDeclarationKind::Using => Some(found.unwrap_or(false)),
        _ => found,
    })
}
