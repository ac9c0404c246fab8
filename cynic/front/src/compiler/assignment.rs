//! Assignment and update expressions, and their targets.

use oxc_ast::ast::*;
use oxc_span::GetSpan;
use oxc_syntax::operator::AssignmentOperator;

use super::expressions::{NameHint, array_index, constant_key};
use super::operators::{logical_exit, writes_locals};
use super::variables::Storage;
use super::{Generator, Reg, Result, Unsupported};
use crate::bytecode::Op;

/// An assignment target whose parts are evaluated.
#[derive(Clone, Copy)]
pub(super) enum Target<'t, 'a> {
    Name(&'t IdentifierReference<'a>),
    Property { object: Reg, name: &'t str, at: u32 },
    Element { object: Reg, key: Reg, at: u32 },
    Super { base: Reg, this: Reg, key: Reg, at: u32 },
    Private { object: Reg, key: Reg, at: u32 },
}

impl<'a> Generator<'a> {
    /// Evaluates the parts of a simple target; `then` says that what follows may write locals.
    pub(super) fn target<'t>(
        &mut self,
        target: &'t SimpleAssignmentTarget<'a>,
        then: bool,
    ) -> Result<Target<'t, 'a>> {
        match target {
            SimpleAssignmentTarget::AssignmentTargetIdentifier(it) => Ok(Target::Name(it)),
            SimpleAssignmentTarget::TSAsExpression(it) => self.expression_target(&it.expression, then),
            SimpleAssignmentTarget::TSSatisfiesExpression(it) => self.expression_target(&it.expression, then),
            SimpleAssignmentTarget::TSNonNullExpression(it) => self.expression_target(&it.expression, then),
            SimpleAssignmentTarget::TSTypeAssertion(it) => self.expression_target(&it.expression, then),
            SimpleAssignmentTarget::ComputedMemberExpression(it) => self.computed_target(it, then),
            SimpleAssignmentTarget::StaticMemberExpression(it) => self.static_target(it, then),
            SimpleAssignmentTarget::PrivateFieldExpression(it) => self.private_target(it, then),
        }
    }

    fn expression_target<'t>(&mut self, e: &'t Expression<'a>, then: bool) -> Result<Target<'t, 'a>> {
        match e {
            Expression::Identifier(it) => Ok(Target::Name(it)),
            Expression::ComputedMemberExpression(it) => self.computed_target(it, then),
            Expression::StaticMemberExpression(it) => self.static_target(it, then),
            Expression::PrivateFieldExpression(it) => self.private_target(it, then),
            Expression::ParenthesizedExpression(it) => self.expression_target(&it.expression, then),
            Expression::TSAsExpression(it) => self.expression_target(&it.expression, then),
            Expression::TSNonNullExpression(it) => self.expression_target(&it.expression, then),
            _ => Err(Unsupported { message: "this is not an assignment target", offset: e.span().start }),
        }
    }

    fn computed_target<'t>(
        &mut self,
        it: &'t ComputedMemberExpression<'a>,
        then: bool,
    ) -> Result<Target<'t, 'a>> {
        let at = it.expression.span().start;
        if let Expression::Super(site) = &it.object {
            let this = self.load_this(&**site, None)?;
            let key = self.stable_expression(&it.expression, then)?;
            let base = self.super_base()?;
            return Ok(Target::Super { base, this, key, at });
        }
        let object = self.stable_expression(&it.object, then || writes_locals(&it.expression))?;
        if let Some(name) = constant_key(&it.expression) {
            return Ok(Target::Property { object, name, at });
        }
        let key = self.stable_expression(&it.expression, then)?;
        Ok(Target::Element { object, key, at })
    }

    fn static_target<'t>(
        &mut self,
        it: &'t StaticMemberExpression<'a>,
        then: bool,
    ) -> Result<Target<'t, 'a>> {
        let at = it.property.span.start;
        if let Expression::Super(site) = &it.object {
            let this = self.load_this(&**site, None)?;
            let key = self.alloc()?;
            self.load_string(key, it.property.name.as_str());
            let base = self.super_base()?;
            return Ok(Target::Super { base, this, key, at });
        }
        let object = self.stable_expression(&it.object, then)?;
        debug_assert!(array_index(it.property.name.as_str()).is_none());
        Ok(Target::Property { object, name: it.property.name.as_str(), at })
    }

    fn private_target<'t>(
        &mut self,
        it: &'t PrivateFieldExpression<'a>,
        then: bool,
    ) -> Result<Target<'t, 'a>> {
        let object = self.stable_expression(&it.object, then)?;
        let key = self.private_key(&it.field)?;
        Ok(Target::Private { object, key, at: it.field.span.start })
    }

    /// GetValue of a target.
    pub(super) fn load_target(&mut self, target: Target<'_, 'a>, dst: Option<Reg>) -> Result<Reg> {
        if let Target::Name(it) = target {
            self.pos(it.span.start);
            return self.load_name(it.name.as_str(), it, dst);
        }
        let dst = self.dst(dst)?;
        match target {
            Target::Name(_) => {}
            Target::Property { object, name, at } => {
                self.pos(at);
                self.get_prop(dst, object, name);
            }
            Target::Element { object, key, at } => {
                self.pos(at);
                let ic = self.f.keyed_ic();
                self.op_x(Op::GetElem, dst, object, key, ic);
            }
            Target::Super { base, this, key, at } => {
                self.pos(at);
                self.op_x(Op::GetSuper, dst, base, key, u32::from(this));
            }
            Target::Private { object, key, at } => {
                self.pos(at);
                let ic = self.f.keyed_ic();
                self.op_x(Op::GetPrivate, dst, object, key, ic);
            }
        }
        Ok(dst)
    }

    /// PutValue to a target.
    pub(super) fn store_target(&mut self, target: Target<'_, 'a>, value: Reg) -> Result {
        match target {
            Target::Name(it) => {
                self.pos(it.span.start);
                self.assign_name(it.name.as_str(), it, value)?;
            }
            Target::Property { object, name, at } => {
                self.pos(at);
                let ic = self.f.ic(name);
                self.op_x(Op::SetProp, object, value, 0, ic);
            }
            Target::Element { object, key, at } => {
                self.pos(at);
                let ic = self.f.keyed_ic();
                self.op_x(Op::SetElem, object, key, value, ic);
            }
            Target::Super { base, this, key, at } => {
                self.pos(at);
                self.op_x(Op::SetSuper, value, base, key, u32::from(this));
            }
            Target::Private { object, key, at } => {
                self.pos(at);
                let ic = self.f.keyed_ic();
                self.op_x(Op::SetPrivate, object, key, value, ic);
            }
        }
        Ok(())
    }

    pub(super) fn assignment(&mut self, it: &AssignmentExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let Some(simple) = it.left.as_simple_assignment_target() else {
            return self.pattern_assignment(it, dst);
        };
        match it.operator {
            AssignmentOperator::Assign => self.plain_assignment(simple, &it.right, dst, it.span.start),
            operator if operator.is_logical() => self.logical_assignment(it, simple, dst),
            _ => self.compound_assignment(it, simple, dst),
        }
    }

    fn plain_assignment(
        &mut self,
        left: &SimpleAssignmentTarget<'a>,
        right: &Expression<'a>,
        dst: Option<Reg>,
        start: u32,
    ) -> Result<Reg> {
        if let SimpleAssignmentTarget::AssignmentTargetIdentifier(id) = left {
            // A parenthesised target gives no name.
            let is_bare = id.span.start == start;
            let name = if is_bare { NameHint::Static(id.name.as_str()) } else { NameHint::None };
            if let Some(local) = self.plain_local(id.name.as_str(), &**id)? {
                self.assign_expression_to(right, local, name)?;
                return self.move_to(local, dst);
            }
            let resolved = self.resolves_first(id, right)?;
            let value = self.value(right, None, name)?;
            if let Some(resolved) = resolved {
                self.require_resolved(resolved, id)?;
            }
            self.store_target(Target::Name(id), value)?;
            return self.move_to(value, dst);
        }
        let dst = match dst {
            Some(dst) => Some(dst),
            // The value outlives the target's temporaries.
            None => Some(self.alloc()?),
        };
        let mark = self.mark();
        let value = self.target_and_value(left, right)?;
        let result = self.move_to(value, dst)?;
        self.free(mark);
        Ok(result)
    }

    /// Evaluates target and value, and stores it.
    fn target_and_value(&mut self, left: &SimpleAssignmentTarget<'a>, right: &Expression<'a>) -> Result<Reg> {
        let target = self.target(left, writes_locals(right))?;
        let value = self.expression(right)?;
        self.store_target(target, value)?;
        Ok(value)
    }

    /// Whether the global `id` exists has to be asked before the right side, which may create it, is evaluated. Globals
    /// that this script declares are there anyway.
    fn resolves_first(
        &mut self,
        id: &IdentifierReference<'a>,
        right: &Expression<'a>,
    ) -> Result<Option<Reg>> {
        let name = id.name.as_str();
        let runs_nothing = right.is_literal()
            || matches!(right, Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_));
        if runs_nothing || self.resolve(name)?.storage != Storage::Global || self.declares_global(name) {
            return Ok(None);
        }
        let resolved = self.alloc()?;
        let name = self.f.string(name);
        self.op_x(Op::HasGlobal, resolved, 0, 0, name);
        Ok(Some(resolved))
    }

    /// Throws the ReferenceError of assigning to a global that was not there.
    fn require_resolved(&mut self, resolved: Reg, id: &IdentifierReference<'a>) -> Result {
        let there = self.label();
        self.branch(Op::JTrue, resolved, there);
        self.pos(id.span.start);
        let message = self.f.string(format!("{} is not defined", id.name).as_str());
        self.op_x(Op::ThrowError, 2, 0, 0, message);
        self.bind(there);
        Ok(())
    }

    /// A plain assignment whose value nobody reads.
    pub(super) fn assignment_effect(&mut self, it: &AssignmentExpression<'a>) -> Result {
        let mark = self.mark();
        match it.left.as_simple_assignment_target() {
            Some(left)
                if it.operator == AssignmentOperator::Assign
                    && !matches!(left, SimpleAssignmentTarget::AssignmentTargetIdentifier(_)) =>
            {
                self.target_and_value(left, &it.right)?;
            }
            _ => self.assignment(it, None).map(drop)?,
        }
        self.free(mark);
        Ok(())
    }

    fn pattern_assignment(&mut self, it: &AssignmentExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let value = match dst {
            Some(_) => {
                let value = self.alloc()?;
                self.expression_to(&it.right, value)?;
                value
            }
            None => self.stable_expression(&it.right, true)?,
        };
        let mark = self.mark();
        if let Some(pattern) = it.left.as_assignment_target_pattern() {
            self.assignment_pattern(pattern, value)?;
        }
        self.free(mark);
        self.move_to(value, dst)
    }

    fn compound_assignment(
        &mut self,
        it: &AssignmentExpression<'a>,
        left: &SimpleAssignmentTarget<'a>,
        dst: Option<Reg>,
    ) -> Result<Reg> {
        let Some(operator) = it.operator.to_binary_operator() else {
            return Err(Unsupported { message: "this operator is not supported", offset: it.span.start });
        };
        let writes = writes_locals(&it.right);
        if let SimpleAssignmentTarget::AssignmentTargetIdentifier(id) = left
            && !writes
            && let Some(local) = self.plain_local(id.name.as_str(), &**id)?
        {
            self.compound(operator, local, local, &it.right, it.span.start)?;
            return self.move_to(local, dst);
        }
        let result = self.alloc()?;
        let mark = self.mark();
        let target = self.target(left, writes)?;
        let target = self.stable_key(target)?;
        let old = self.alloc()?;
        self.load_target(target, Some(old))?;
        self.compound(operator, result, old, &it.right, it.span.start)?;
        self.store_target(target, result)?;
        self.free(mark);
        self.move_to(result, dst)
    }

    /// A computed key is converted once, although it is used to read and to write.
    fn stable_key<'t>(&mut self, target: Target<'t, 'a>) -> Result<Target<'t, 'a>> {
        Ok(match target {
            Target::Element { object, key, at } => {
                // The base is checked before the key is converted.
                self.pos(at);
                self.op(Op::RequireObjectCoercible, object, 0, 0);
                let converted = self.alloc()?;
                self.op(Op::ToPropertyKey, converted, key, 0);
                Target::Element { object, key: converted, at }
            }
            Target::Super { base, this, key, at } => {
                let converted = self.alloc()?;
                self.op(Op::ToPropertyKey, converted, key, 0);
                Target::Super { base, this, key: converted, at }
            }
            target => target,
        })
    }

    fn logical_assignment(
        &mut self,
        it: &AssignmentExpression<'a>,
        left: &SimpleAssignmentTarget<'a>,
        dst: Option<Reg>,
    ) -> Result<Reg> {
        let exit = match it.operator.to_logical_operator() {
            Some(operator) => logical_exit(operator),
            None => {
                return Err(Unsupported { message: "this operator is not supported", offset: it.span.start });
            }
        };
        let result = self.alloc()?;
        let mark = self.mark();
        let target = self.target(left, writes_locals(&it.right))?;
        let target = self.stable_key(target)?;
        let end = self.label();
        self.load_target(target, Some(result))?;
        self.branch(exit, result, end);
        let name = match left {
            SimpleAssignmentTarget::AssignmentTargetIdentifier(id) => NameHint::Static(id.name.as_str()),
            _ => NameHint::None,
        };
        self.value(&it.right, Some(result), name)?;
        self.store_target(target, result)?;
        self.bind(end);
        self.free(mark);
        self.move_to(result, dst)
    }

    /// `x++` and its like; `wanted` says whether the value is read.
    pub(super) fn update(
        &mut self,
        it: &UpdateExpression<'a>,
        dst: Option<Reg>,
        wanted: bool,
    ) -> Result<Reg> {
        let op = if it.operator == UpdateOperator::Increment { Op::Inc } else { Op::Dec };
        self.pos(it.span.start);
        if let SimpleAssignmentTarget::AssignmentTargetIdentifier(id) = &it.argument
            && let Some(local) = self.plain_local(id.name.as_str(), &**id)?
        {
            if it.prefix || !wanted {
                self.op(op, local, local, 0);
                return self.move_to(local, dst);
            }
            let old = self.alloc()?;
            self.op(Op::ToNumeric, old, local, 0);
            self.op(op, local, old, 0);
            return self.move_to(old, dst);
        }
        let result = self.alloc()?;
        let mark = self.mark();
        let target = self.target(&it.argument, false)?;
        let target = self.stable_key(target)?;
        let new = self.alloc()?;
        self.load_target(target, Some(new))?;
        self.pos(it.span.start);
        if it.prefix || !wanted {
            self.op(op, result, new, 0);
            self.store_target(target, result)?;
        } else {
            self.op(Op::ToNumeric, result, new, 0);
            self.op(op, new, result, 0);
            self.store_target(target, new)?;
        }
        self.free(mark);
        self.move_to(result, dst)
    }
}
