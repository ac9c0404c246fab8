//! Functions: prologue, parameters, bodies, closures; `yield`.
//!
//! Registers on entry: 0 is `this`, 1..=parameters the arguments (missing ones undefined).

use oxc_ast::ast::*;
use oxc_span::Span;

use super::builder::Builder;
use super::control::Exit;
use super::expressions::NameHint;
use super::patterns::{BindMode, binding_name};
use super::scope::{Role, node_key};
use super::variables::Storage;
use super::{Generator, Reg, Result, Unsupported, declare};
use crate::bytecode::code::CodeKind;
use crate::bytecode::{Label, Op, Text};
use crate::limits;

/// Most parameters of a function.
const PARAMETERS_MAX: usize = 65_535;
/// With more parameters than this, a function finds its arguments in a list.
const PARAMETER_REGISTERS_MAX: usize = 120;
/// The same for a function that has more registers than its frame.
const SPILLED_PARAMETER_REGISTERS_MAX: usize = 40;

/// The body of a function.
#[derive(Clone, Copy)]
enum Body<'t, 'a> {
    Statements(&'t [Statement<'a>]),
    Expression(&'t Expression<'a>),
}

/// A function to compile.
#[derive(Clone, Copy)]
struct FunctionSource<'t, 'a> {
    /// Identity of the node in the analysis.
    key: usize,
    kind: CodeKind,
    is_async: bool,
    is_generator: bool,
    params: &'t FormalParameters<'a>,
    body: Body<'t, 'a>,
    span: Span,
    runs_fields: bool,
}

impl<'a> Generator<'a> {
    pub(super) fn function_expression(
        &mut self,
        it: &Function<'a>,
        dst: Option<Reg>,
        name: NameHint<'_>,
    ) -> Result<Reg> {
        self.closure(it, CodeKind::Normal, dst, name)
    }

    pub(super) fn function_declaration(&mut self, it: &Function<'a>, name: NameHint<'_>) -> Result<Reg> {
        self.closure(it, CodeKind::Normal, None, name)
    }

    /// A method, getter or setter; the caller sets its home object. `span` is the whole definition, key included.
    pub(super) fn method(&mut self, it: &Function<'a>, span: Span, name: NameHint<'_>) -> Result<Reg> {
        // The front end looks at a getter's plain parameters only.
        if matches!(name, NameHint::Key(_, 1)) && it.params.rest.is_some() {
            return Err(Unsupported { message: "a getter has no parameters", offset: it.params.span.start });
        }
        self.closure_of(it, span, CodeKind::Method, None, name)
    }

    fn closure(
        &mut self,
        it: &Function<'a>,
        kind: CodeKind,
        dst: Option<Reg>,
        hint: NameHint<'_>,
    ) -> Result<Reg> {
        self.closure_of(it, it.span, kind, dst, hint)
    }

    fn closure_of(
        &mut self,
        it: &Function<'a>,
        span: Span,
        kind: CodeKind,
        dst: Option<Reg>,
        hint: NameHint<'_>,
    ) -> Result<Reg> {
        let own = it.id.as_ref().map(|id| id.name.as_str());
        let index = self.function_code(it, kind, span, name_text(own, hint), false)?;
        let dst = self.make_closure(index, dst)?;
        if own.is_none() {
            self.dynamic_name(dst, hint);
        }
        Ok(dst)
    }

    /// Names an anonymous function from a key known at run time only.
    pub(super) fn dynamic_name(&mut self, function: Reg, hint: NameHint<'_>) {
        if let NameHint::Key(key, prefix) = hint {
            self.op_x(Op::SetFunctionName, function, key, 0, prefix);
        }
    }

    fn make_closure(&mut self, index: u32, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let mark = self.mark();
        let scope = self.current_scope()?;
        self.op_x(Op::Closure, dst, scope, 0, index);
        self.free(mark);
        Ok(dst)
    }

    pub(super) fn arrow_function(
        &mut self,
        it: &ArrowFunctionExpression<'a>,
        dst: Option<Reg>,
        hint: NameHint<'_>,
    ) -> Result<Reg> {
        let body = match &it.body {
            ArrowFunctionBody::FunctionBody(body) => Body::Statements(&body.statements),
            body => match body.as_expression() {
                Some(e) => Body::Expression(e),
                None => Body::Statements(&[]),
            },
        };
        let source = FunctionSource {
            key: node_key(it),
            kind: CodeKind::Arrow,
            is_async: it.r#async,
            is_generator: false,
            params: &it.params,
            body,
            span: it.span,
            runs_fields: false,
        };
        let index = self.compile_function(source, name_text(None, hint))?;
        let dst = self.make_closure(index, dst)?;
        self.dynamic_name(dst, hint);
        Ok(dst)
    }

    /// Compiles `it` as a nested function and returns its index.
    pub(super) fn function_code(
        &mut self,
        it: &Function<'a>,
        kind: CodeKind,
        span: Span,
        name: Text,
        runs_fields: bool,
    ) -> Result<u32> {
        let statements = it.body.as_ref().map_or(&[][..], |body| &body.statements);
        let source = FunctionSource {
            key: node_key(it),
            kind,
            is_async: it.r#async,
            is_generator: it.generator,
            params: &it.params,
            body: Body::Statements(statements),
            span,
            runs_fields,
        };
        self.compile_function(source, name)
    }

    /// Starts a nested function.
    pub(super) fn begin_function(&mut self, kind: CodeKind, name: Text, span: Span) {
        let mut builder = Builder::new(kind, "", (span.start, span.end));
        builder.name = name;
        self.outer.push(std::mem::replace(&mut self.f, builder));
    }

    /// Ends a nested function and returns its index in the function around it.
    pub(super) fn end_function(&mut self) -> Result<u32> {
        if self.outer.len() > limits::FUNCTION_NESTING_MAX {
            let message = "functions are nested too deeply";
            return Err(Unsupported { message, offset: self.f.span.0 });
        }
        let code = self.finish_function()?;
        self.f.functions.push(std::sync::Arc::new(code));
        Ok(self.f.functions.len() as u32 - 1)
    }

    fn role(&self, key: usize, role: Role) -> Option<u32> {
        self.analysis.scope_of_key(key, role)
    }

    /// Compiles a function, twice if it turns out to need more registers than a frame has.
    fn compile_function(&mut self, source: FunctionSource<'_, 'a>, name: Text) -> Result<u32> {
        loop {
            let index = self.compile_function_once(source, name.clone())?;
            if !std::mem::take(&mut self.begins_anew) {
                return Ok(index);
            }
            self.f.functions.pop();
        }
    }

    fn compile_function_once(&mut self, source: FunctionSource<'_, 'a>, name: Text) -> Result<u32> {
        let count = source.params.items.len();
        if count > PARAMETERS_MAX {
            let message = "this function has more than 65,535 parameters";
            return Err(Unsupported { message, offset: source.params.span.start });
        }
        self.begin_function(source.kind, name, source.span);
        self.f.is_async = source.is_async;
        self.f.is_generator = source.is_generator;
        let items = &source.params.items;
        let optional = items.iter().take_while(|item| !is_optional(item)).count();
        self.f.length = optional as u32;
        if !self.takes_list(count) {
            self.f.parameters = count as u32;
            let first = self.alloc_run(count as u16)?;
            for (item, register) in items.iter().zip(first..) {
                if let BindingPattern::BindingIdentifier(id) = &item.pattern {
                    self.f.parameter_registers.insert(id.name.as_str(), register);
                }
            }
        }
        self.begin_spilling()?;
        let scopes = self.scopes.len();
        self.prologue(source)?;
        self.body(source.body)?;
        self.scopes.truncate(scopes);
        self.end_function()
    }

    fn prologue(&mut self, source: FunctionSource<'_, 'a>) -> Result {
        let Some(scope) = self.role(source.key, Role::Main) else { return Ok(()) };
        if source.is_async && !source.is_generator {
            self.op(Op::AsyncStart, 0, 0, 0);
        }
        let function = self.analysis.scope(scope).function;
        self.load_env(function)?;
        if source.kind == CodeKind::DerivedConstructor {
            self.op(Op::LoadEmpty, 0, 0, 0);
        }
        if let Some(name_scope) = self.role(source.key, Role::Name) {
            self.enter_name_scope(name_scope)?;
        }
        self.enter_scope(scope)?;
        self.pseudo_bindings(scope)?;
        if source.runs_fields {
            let mark = self.mark();
            let function = self.load_simple(Op::GetFunction, None)?;
            self.op(Op::RunFields, 0, function, 0);
            self.free(mark);
        }
        self.bind_parameters(source.params)?;
        let body_scope = match self.role(source.key, Role::Body) {
            None => scope,
            Some(body) => {
                self.enter_scope(body)?;
                body
            }
        };
        self.init_vars(body_scope, (body_scope != scope).then_some(scope))?;
        if let Body::Statements(statements) = source.body {
            self.hoist_functions(statements)?;
        }
        if source.is_generator {
            self.op(Op::GeneratorStart, 0, 0, 0);
        }
        Ok(())
    }

    fn enter_name_scope(&mut self, scope: u32) -> Result {
        self.enter_scope(scope)?;
        let name = self.analysis.scope(scope).bindings.first().map_or("", |binding| binding.name);
        let variable = self.resolve(name)?;
        let mark = self.mark();
        let register = match variable.storage {
            Storage::Register(register) => register,
            _ => self.alloc()?,
        };
        self.op(Op::GetFunction, register, 0, 0);
        self.store_storage(variable.storage, register);
        self.free(mark);
        Ok(())
    }

    /// Whether a function of `count` parameters finds its arguments in a list and not in registers.
    fn takes_list(&self, count: usize) -> bool {
        let spills = self.spilling.contains(&self.f.span);
        count > if spills { SPILLED_PARAMETER_REGISTERS_MAX } else { PARAMETER_REGISTERS_MAX }
    }

    fn bind_parameters(&mut self, params: &FormalParameters<'a>) -> Result {
        refuse_properties(params)?;
        if self.takes_list(params.items.len()) {
            return self.bind_from_list(params);
        }
        for (index, item) in params.items.iter().enumerate() {
            let mark = self.mark();
            let mut value = index as Reg + 1;
            if self.binding_local(&item.pattern)? == Some(value) {
                if let Some(initializer) = &item.initializer {
                    let given = self.label();
                    self.branch(Op::JNotUndefined, value, given);
                    self.value(initializer, Some(value), binding_name(&item.pattern))?;
                    self.bind(given);
                }
                self.free(mark);
                continue;
            }
            if let Some(initializer) = &item.initializer {
                value = self.with_default(value, initializer, binding_name(&item.pattern))?;
            }
            self.binding_pattern(&item.pattern, value, BindMode::Lexical)?;
            self.free(mark);
        }
        if let Some(rest) = &params.rest {
            let mark = self.mark();
            self.f.needs_arguments = true;
            let array = self.alloc()?;
            self.op(Op::CreateRest, array, params.items.len() as Reg, 0);
            self.binding_pattern(&rest.rest.argument, array, BindMode::Lexical)?;
            self.free(mark);
        }
        Ok(())
    }

    /// Binds parameters to the elements of the list of arguments. What is beyond its end is undefined, whatever a prototype has there.
    fn bind_from_list(&mut self, params: &FormalParameters<'a>) -> Result {
        self.f.needs_arguments = true;
        let (list, index, length) = (self.alloc()?, self.alloc()?, self.alloc()?);
        self.op(Op::CreateRest, list, 0, 0);
        self.get_prop(length, list, "length");
        self.load_int(index, 0);
        for item in &params.items {
            let mark = self.mark();
            let value = self.alloc()?;
            self.next_argument(value, list, index, length);
            let value = match &item.initializer {
                Some(initializer) => self.with_default(value, initializer, binding_name(&item.pattern))?,
                None => value,
            };
            self.binding_pattern(&item.pattern, value, BindMode::Lexical)?;
            self.free(mark);
        }
        if let Some(rest) = &params.rest {
            let (array, value) = (self.alloc()?, self.alloc()?);
            self.op_x(Op::NewArray, array, 0, 0, 0);
            let end = self.label();
            let head = self.bound();
            self.f.asm.branch(Op::JNotLt, index, length, 0, end);
            self.next_argument(value, list, index, length);
            self.op(Op::ArrayAppend, array, value, 0);
            self.jump(head);
            self.bind(end);
            self.binding_pattern(&rest.rest.argument, array, BindMode::Lexical)?;
        }
        Ok(())
    }

    /// `value = list[index++]`, or undefined beyond the end.
    fn next_argument(&mut self, value: Reg, list: Reg, index: Reg, length: Reg) {
        let end = self.label();
        self.op(Op::LoadUndefined, value, 0, 0);
        self.f.asm.branch(Op::JNotLt, index, length, 0, end);
        let ic = self.f.keyed_ic();
        self.op_x(Op::GetElem, value, list, index, ic);
        self.op(Op::Inc, index, index, 0);
        self.bind(end);
    }

    fn body(&mut self, body: Body<'_, 'a>) -> Result {
        match body {
            Body::Statements(statements) => {
                self.statement_list(statements)?;
                self.emit_final_return(None)
            }
            Body::Expression(e) if self.allows_tail_calls() => self.return_tail(e),
            Body::Expression(e) => {
                let value = self.expression(e)?;
                self.emit_final_return(Some(value))
            }
        }
    }

    pub(super) fn yield_expression(&mut self, it: &YieldExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let mark = self.mark();
        let value = match &it.argument {
            Some(argument) => self.expression(argument)?,
            None => self.load_simple(Op::LoadUndefined, None)?,
        };
        self.pos(it.span.start);
        if it.delegate {
            self.yield_delegate(dst, value)?;
        } else {
            self.yield_value(dst, value)?;
        }
        self.free(mark);
        Ok(dst)
    }

    fn yield_value(&mut self, dst: Reg, value: Reg) -> Result {
        let result = self.alloc()?;
        let mut value = value;
        if self.f.is_async {
            self.op(Op::Await, result, value, 0);
            value = result;
        }
        let next = self.label();
        self.f.asm.branch(Op::Yield, result, value, 0, next);
        self.emit_resumed_return(result)?;
        self.bind(next);
        self.mov(dst, result);
        Ok(())
    }

    /// The generator was resumed with a return completion of `value`.
    fn emit_resumed_return(&mut self, value: Reg) -> Result {
        if self.f.is_async {
            self.op(Op::Await, value, value, 0);
        }
        self.emit_exit(Exit::Return, Some(value))
    }

    /// `yield*`: passes next, throw and return on to the inner iterator.
    fn yield_delegate(&mut self, dst: Reg, iterable: Reg) -> Result {
        let is_async = self.f.is_async;
        let iterator = self.alloc_run(2)?;
        let open = if is_async { Op::GetAsyncIterator } else { Op::GetIterator };
        // The inner iterator is called by hand, so the record must hold a real one (c = 1).
        self.op(open, iterator, iterable, Reg::from(!is_async));
        let received = self.alloc()?;
        let mode = self.alloc()?;
        let window = self.alloc_run(3)?;
        let (done, received_return) = (self.label(), self.label());
        let (throw_mode, check, suspend) = (self.label(), self.label(), self.label());
        self.op(Op::LoadUndefined, received, 0, 0);
        self.op(Op::IteratorCallWith, window, iterator, received);
        self.jump(check);
        self.bind(suspend);
        self.op(Op::YieldDelegate, received, window, mode);
        self.f.asm.branch_y(Op::JStrictEqI, mode, throw_mode, 1);
        self.f.asm.branch_y(Op::JStrictEqI, mode, received_return, 2);
        self.op(Op::IteratorCallWith, window, iterator, received);
        self.bind(check);
        self.await_result(window);
        self.inner_result(window, dst, done, suspend)?;
        self.delegate_throw(throw_mode, iterator, received, window, check)?;
        self.delegate_return(received_return, iterator, received, window, suspend, throw_mode)?;
        self.bind(done);
        Ok(())
    }

    fn await_result(&mut self, window: Reg) {
        if self.f.is_async {
            self.op(Op::Await, window, window, 0);
        }
    }

    /// Leaves the loop with the value if the result object in `window` is done; suspends again otherwise.
    fn inner_result(&mut self, window: Reg, dst: Reg, done: Label, suspend: Label) -> Result {
        self.op(Op::CheckObject, window, 0, 0);
        let mark = self.mark();
        let flag = self.alloc()?;
        self.get_prop(flag, window, "done");
        let finished = self.label();
        self.branch(Op::JTrue, flag, finished);
        self.suspend_value(window)?;
        self.jump(suspend);
        self.bind(finished);
        self.get_prop(dst, window, "value");
        self.jump(done);
        self.free(mark);
        Ok(())
    }

    /// An async generator yields the value of the inner result; a generator passes the object on.
    fn suspend_value(&mut self, window: Reg) -> Result {
        if self.f.is_async {
            self.get_prop(window, window, "value");
        }
        Ok(())
    }

    fn delegate_throw(
        &mut self,
        entry: Label,
        iterator: Reg,
        received: Reg,
        window: Reg,
        check: Label,
    ) -> Result {
        self.bind(entry);
        let missing = self.label();
        let ic = self.f.ic("throw");
        self.op_x(Op::IteratorGetMethod, window, iterator, 0, ic);
        self.branch(Op::JUndefined, window, missing);
        self.mov(window + 1, iterator);
        self.mov(window + 2, received);
        self.op(Op::Call, window, window, 1);
        self.jump(check);
        self.bind(missing);
        if self.f.is_async {
            let end = self.label();
            self.async_close(iterator, end, true)?;
            self.bind(end);
        } else {
            self.op(Op::IteratorClose, 0, iterator, 0);
        }
        let message = self.f.string("the iterator given to yield* has no throw method");
        self.op_x(Op::ThrowError, 1, 0, 0, message);
        Ok(())
    }

    fn delegate_return(
        &mut self,
        entry: Label,
        iterator: Reg,
        received: Reg,
        window: Reg,
        suspend: Label,
        throw_mode: Label,
    ) -> Result {
        self.bind(entry);
        let has_method = self.label();
        if self.f.is_async {
            // A rejection of the awaited value is passed on to the inner iterator as a throw.
            self.push_control(super::control::Control::catch());
            self.op(Op::Await, received, received, 0);
            if let Some(control) = self.pop_control() {
                let resumed = self.label();
                self.jump(resumed);
                let handler = self.bound();
                self.protect(&control, handler, received);
                self.jump(throw_mode);
                self.bind(resumed);
            }
        }
        let ic = self.f.ic("return");
        self.op_x(Op::IteratorGetMethod, window, iterator, 0, ic);
        self.branch(Op::JNotUndefined, window, has_method);
        self.emit_resumed_return(received)?;
        self.bind(has_method);
        self.mov(window + 1, iterator);
        self.mov(window + 2, received);
        self.op(Op::Call, window, window, 1);
        self.await_result(window);
        self.op(Op::CheckObject, window, 0, 0);
        let mark = self.mark();
        let flag = self.alloc()?;
        self.get_prop(flag, window, "done");
        let finished = self.label();
        self.branch(Op::JTrue, flag, finished);
        self.suspend_value(window)?;
        self.jump(suspend);
        self.bind(finished);
        self.get_prop(received, window, "value");
        self.free(mark);
        self.emit_exit(Exit::Return, Some(received))
    }
}

/// TypeScript's parameter properties assign to `this`, which is more than types that can be stripped; so may decorators.
fn refuse_properties(params: &FormalParameters<'_>) -> Result {
    let is_property =
        |item: &&FormalParameter<'_>| item.accessibility.is_some() || item.readonly || item.r#override;
    if let Some(item) = params.items.iter().find(is_property) {
        return Err(Unsupported {
            message: "parameter properties are not supported",
            offset: item.span.start,
        });
    }
    params.items.iter().try_for_each(|item| refuse_decorators(&item.decorators))
}

/// Decorators are a proposal, which the parser knows already.
pub(super) fn refuse_decorators(decorators: &[Decorator<'_>]) -> Result {
    match decorators.first() {
        Some(decorator) => {
            Err(Unsupported { message: "decorators are not supported", offset: decorator.span.start })
        }
        None => Ok(()),
    }
}

fn is_optional(item: &FormalParameter<'_>) -> bool {
    item.initializer.is_some() || matches!(item.pattern, BindingPattern::AssignmentPattern(_))
}

/// The static name of a function.
pub(super) fn name_text(own: Option<&str>, hint: NameHint<'_>) -> Text {
    match (own, hint) {
        (Some(name), _) | (None, NameHint::Static(name)) => declare_name(name).into(),
        _ => "".into(),
    }
}

fn declare_name(name: &str) -> &str {
    if name == declare::DEFAULT_EXPORT_NAME { "default" } else { name }
}
