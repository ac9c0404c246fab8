//! Operators: unary, binary, logical, and conditions fused with their branch.

use oxc_ast::ast::*;
use oxc_span::GetSpan;
use oxc_syntax::operator::{BinaryOperator, LogicalOperator, UnaryOperator};

use super::expressions::{NameHint, int32};
use super::variables::Storage;
use super::{Generator, Reg, Result};
use crate::bytecode::{Label, Op};

/// Whether evaluating `e` may assign a local variable of the same function. Conservative.
pub(super) fn writes_locals(e: &Expression<'_>) -> bool {
    match e {
        Expression::BooleanLiteral(_)
        | Expression::NullLiteral(_)
        | Expression::NumericLiteral(_)
        | Expression::BigIntLiteral(_)
        | Expression::RegExpLiteral(_)
        | Expression::StringLiteral(_)
        | Expression::Identifier(_)
        | Expression::ThisExpression(_)
        | Expression::ArrowFunctionExpression(_)
        | Expression::FunctionExpression(_)
        | Expression::ImportMeta(_)
        | Expression::NewTarget(_) => false,
        Expression::ParenthesizedExpression(it) => writes_locals(&it.expression),
        Expression::StaticMemberExpression(it) => writes_locals(&it.object),
        Expression::ComputedMemberExpression(it) => {
            writes_locals(&it.object) || writes_locals(&it.expression)
        }
        Expression::UnaryExpression(it) => writes_locals(&it.argument),
        Expression::BinaryExpression(it) => writes_locals(&it.left) || writes_locals(&it.right),
        Expression::LogicalExpression(it) => writes_locals(&it.left) || writes_locals(&it.right),
        Expression::CallExpression(it) => writes_locals(&it.callee) || arguments_write(&it.arguments),
        Expression::NewExpression(it) => writes_locals(&it.callee) || arguments_write(&it.arguments),
        Expression::TemplateLiteral(it) => it.expressions.iter().any(writes_locals),
        _ => true,
    }
}

fn arguments_write(arguments: &[Argument<'_>]) -> bool {
    arguments.iter().any(|argument| argument.as_expression().is_none_or(writes_locals))
}

/// The instruction for a binary operator, and the one with an int32 on the right.
pub(super) fn binary_ops(operator: BinaryOperator) -> (Op, Option<Op>) {
    match operator {
        BinaryOperator::Addition => (Op::Add, Some(Op::AddI)),
        BinaryOperator::Subtraction => (Op::Sub, Some(Op::SubI)),
        BinaryOperator::Multiplication => (Op::Mul, Some(Op::MulI)),
        BinaryOperator::Division => (Op::Div, None),
        BinaryOperator::Remainder => (Op::Mod, Some(Op::ModI)),
        BinaryOperator::Exponential => (Op::Exp, None),
        BinaryOperator::ShiftLeft => (Op::Shl, Some(Op::ShlI)),
        BinaryOperator::ShiftRight => (Op::Sar, Some(Op::SarI)),
        BinaryOperator::ShiftRightZeroFill => (Op::Shr, Some(Op::ShrI)),
        BinaryOperator::BitwiseAnd => (Op::BitAnd, Some(Op::BitAndI)),
        BinaryOperator::BitwiseOR => (Op::BitOr, Some(Op::BitOrI)),
        BinaryOperator::BitwiseXOR => (Op::BitXor, Some(Op::BitXorI)),
        BinaryOperator::LessThan => (Op::Lt, None),
        BinaryOperator::LessEqualThan => (Op::Le, None),
        BinaryOperator::GreaterThan => (Op::Gt, None),
        BinaryOperator::GreaterEqualThan => (Op::Ge, None),
        BinaryOperator::Equality => (Op::Eq, None),
        BinaryOperator::Inequality => (Op::Ne, None),
        BinaryOperator::StrictEquality => (Op::StrictEq, None),
        BinaryOperator::StrictInequality => (Op::StrictNe, None),
        BinaryOperator::In => (Op::In, None),
        BinaryOperator::Instanceof => (Op::InstanceOf, None),
    }
}

/// The branches for a comparison: (if true, if false), and the same against an int32.
type Branches = ((Op, Op), Option<(Op, Op)>);

fn branch_ops(operator: BinaryOperator) -> Option<Branches> {
    Some(match operator {
        BinaryOperator::LessThan => ((Op::JLt, Op::JNotLt), Some((Op::JLtI, Op::JNotLtI))),
        BinaryOperator::LessEqualThan => ((Op::JLe, Op::JNotLe), Some((Op::JLeI, Op::JNotLeI))),
        BinaryOperator::GreaterThan => ((Op::JGt, Op::JNotGt), Some((Op::JGtI, Op::JNotGtI))),
        BinaryOperator::GreaterEqualThan => ((Op::JGe, Op::JNotGe), Some((Op::JGeI, Op::JNotGeI))),
        BinaryOperator::Equality => ((Op::JEq, Op::JNe), None),
        BinaryOperator::Inequality => ((Op::JNe, Op::JEq), None),
        BinaryOperator::StrictEquality => {
            ((Op::JStrictEq, Op::JStrictNe), Some((Op::JStrictEqI, Op::JStrictNeI)))
        }
        BinaryOperator::StrictInequality => {
            ((Op::JStrictNe, Op::JStrictEq), Some((Op::JStrictNeI, Op::JStrictEqI)))
        }
        _ => return None,
    })
}

fn literal_int(e: &Expression<'_>) -> Option<i32> {
    match e {
        Expression::NumericLiteral(it) => int32(it.value),
        Expression::ParenthesizedExpression(it) => literal_int(&it.expression),
        Expression::UnaryExpression(it) if it.operator == UnaryOperator::UnaryNegation => {
            literal_int(&it.argument).filter(|int| *int != 0).map(|int| -int)
        }
        _ => None,
    }
}

impl<'a> Generator<'a> {
    pub(super) fn binary(&mut self, it: &BinaryExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let mark = self.mark();
        let (op, immediate) = binary_ops(it.operator);
        if let (Some(op), Some(int)) = (immediate, literal_int(&it.right)) {
            let left = self.expression(&it.left)?;
            let dst = self.dst_from(dst, mark)?;
            self.pos(it.span.start);
            self.op_x(op, dst, left, 0, int as u32);
            return Ok(dst);
        }
        let (left, right) = self.operands(&it.left, &it.right)?;
        let dst = self.dst_from(dst, mark)?;
        self.pos(it.span.start);
        self.op(op, dst, left, right);
        Ok(dst)
    }

    fn operands(&mut self, left: &Expression<'a>, right: &Expression<'a>) -> Result<(Reg, Reg)> {
        let left = self.stable_expression(left, writes_locals(right))?;
        let right = self.expression(right)?;
        Ok((left, right))
    }

    /// `dst = left op right` for a compound assignment whose left value is in a register already.
    pub(super) fn compound(
        &mut self,
        operator: BinaryOperator,
        dst: Reg,
        left: Reg,
        right: &Expression<'a>,
        offset: u32,
    ) -> Result {
        let mark = self.mark();
        let (op, immediate) = binary_ops(operator);
        if let (Some(op), Some(int)) = (immediate, literal_int(right)) {
            self.pos(offset);
            self.op_x(op, dst, left, 0, int as u32);
        } else {
            let right = self.expression(right)?;
            self.pos(offset);
            self.op(op, dst, left, right);
        }
        self.free(mark);
        Ok(())
    }

    pub(super) fn logical(&mut self, it: &LogicalExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let end = self.label();
        self.expression_to_local(&it.left, dst)?;
        self.branch(logical_exit(it.operator), dst, end);
        self.expression_to_local(&it.right, dst)?;
        self.bind(end);
        Ok(dst)
    }

    pub(super) fn unary(&mut self, it: &UnaryExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let op = match it.operator {
            UnaryOperator::UnaryPlus => Op::ToNumber,
            UnaryOperator::UnaryNegation => {
                if let Expression::NumericLiteral(literal) = &it.argument {
                    return self.number_literal(-literal.value, dst);
                }
                Op::Neg
            }
            UnaryOperator::LogicalNot => Op::Not,
            UnaryOperator::BitwiseNot => Op::BitNot,
            UnaryOperator::Typeof => return self.type_of(it, dst),
            UnaryOperator::Void => {
                self.effect(&it.argument)?;
                return self.load_simple(Op::LoadUndefined, dst);
            }
            UnaryOperator::Delete => return self.delete(&it.argument, dst),
        };
        let dst = self.dst(dst)?;
        let mark = self.mark();
        let value = self.expression(&it.argument)?;
        self.pos(it.span.start);
        self.op(op, dst, value, 0);
        self.free(mark);
        Ok(dst)
    }

    fn type_of(&mut self, it: &UnaryExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let mark = self.mark();
        let value = match it.argument.without_parentheses() {
            Expression::Identifier(id) if self.resolve(id.name.as_str())?.storage == Storage::Global => {
                let value = self.alloc()?;
                let ic = self.f.ic(id.name.as_str());
                self.op_x(Op::GetGlobalOrUndefined, value, 0, 0, ic);
                value
            }
            argument => self.expression(argument)?,
        };
        self.op(Op::Typeof, dst, value, 0);
        self.free(mark);
        Ok(dst)
    }

    fn delete(&mut self, argument: &Expression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let mark = self.mark();
        let result = self.alloc()?;
        match argument.without_parentheses() {
            Expression::ChainExpression(chain) => {
                let (exit, end) = (self.label(), self.label());
                self.f.chain_exits.push(exit);
                match &chain.expression {
                    ChainElement::ComputedMemberExpression(it) => self.delete_computed(it, result)?,
                    ChainElement::StaticMemberExpression(it) => self.delete_static(it, result)?,
                    _ => self.op(Op::LoadTrue, result, 0, 0),
                }
                self.f.chain_exits.pop();
                self.jump(end);
                self.bind(exit);
                self.op(Op::LoadTrue, result, 0, 0);
                self.bind(end);
            }
            Expression::ComputedMemberExpression(it) => self.delete_computed(it, result)?,
            Expression::StaticMemberExpression(it) => self.delete_static(it, result)?,
            other => {
                self.effect(other)?;
                self.op(Op::LoadTrue, result, 0, 0);
            }
        }
        self.mov(dst, result);
        self.free(mark);
        Ok(dst)
    }

    fn delete_super(&mut self, site: &Super) -> Result {
        self.load_this(site, None)?;
        let message = self.f.string("a super property cannot be deleted");
        self.op_x(Op::ThrowError, 2, 0, 0, message);
        Ok(())
    }

    fn delete_computed(&mut self, it: &ComputedMemberExpression<'a>, result: Reg) -> Result {
        if let Expression::Super(site) = &it.object {
            self.load_this(&**site, None)?;
            self.effect(&it.expression)?;
            return self.delete_super(site);
        }
        let object = self.stable_expression(&it.object, writes_locals(&it.expression))?;
        self.chain_link(object, it.optional);
        let key = self.expression(&it.expression)?;
        self.pos(it.span.start);
        self.op(Op::DeleteProp, result, object, key);
        Ok(())
    }

    fn delete_static(&mut self, it: &StaticMemberExpression<'a>, result: Reg) -> Result {
        if let Expression::Super(site) = &it.object {
            return self.delete_super(site);
        }
        let object = self.expression(&it.object)?;
        self.chain_link(object, it.optional);
        let key = self.alloc()?;
        self.load_string(key, it.property.name.as_str());
        self.pos(it.property.span.start);
        self.op(Op::DeleteProp, result, object, key);
        Ok(())
    }

    /// Jumps to `target` if the truth of `e` is `when`; falls through otherwise.
    pub(super) fn condition(&mut self, e: &Expression<'a>, target: Label, when: bool) -> Result {
        let mark = self.mark();
        match e {
            Expression::ParenthesizedExpression(it) => self.condition(&it.expression, target, when)?,
            Expression::BooleanLiteral(it) => {
                if it.value == when {
                    self.jump(target);
                }
            }
            Expression::UnaryExpression(it) if it.operator == UnaryOperator::LogicalNot => {
                self.condition(&it.argument, target, !when)?;
            }
            Expression::LogicalExpression(it) if it.operator != LogicalOperator::Coalesce => {
                // `a && b` jumps when false as soon as either is; when true only if both are. `||` is the mirror image.
                let decides = it.operator == LogicalOperator::Or;
                if when == decides {
                    self.condition(&it.left, target, when)?;
                    self.condition(&it.right, target, when)?;
                } else {
                    let skip = self.label();
                    self.condition(&it.left, skip, !when)?;
                    self.condition(&it.right, target, when)?;
                    self.bind(skip);
                }
            }
            Expression::BinaryExpression(it) => match branch_ops(it.operator) {
                Some(branches) => self.compare_branch(it, branches, target, when)?,
                None => self.truth_branch(e, target, when)?,
            },
            e => self.truth_branch(e, target, when)?,
        }
        self.free(mark);
        Ok(())
    }

    fn truth_branch(&mut self, e: &Expression<'a>, target: Label, when: bool) -> Result {
        let value = self.value(e, None, NameHint::None)?;
        self.branch(if when { Op::JTrue } else { Op::JFalse }, value, target);
        Ok(())
    }

    fn compare_branch(
        &mut self,
        it: &BinaryExpression<'a>,
        (registers, immediate): Branches,
        target: Label,
        when: bool,
    ) -> Result {
        let pick = |(if_true, if_false)| if when { if_true } else { if_false };
        if let (Some(ops), Some(int)) = (immediate, literal_int(&it.right)) {
            let left = self.expression(&it.left)?;
            self.pos(it.span.start);
            self.f.asm.branch_y(pick(ops), left, target, int);
            return Ok(());
        }
        let is_undefined = |e: &Expression<'_>| matches!(e, Expression::UnaryExpression(it) if it.operator == UnaryOperator::Void && it.argument.is_literal());
        let strict = matches!(it.operator, BinaryOperator::StrictEquality | BinaryOperator::StrictInequality);
        if strict && is_undefined(&it.right) {
            let left = self.expression(&it.left)?;
            let equal = (it.operator == BinaryOperator::StrictEquality) == when;
            self.branch(if equal { Op::JUndefined } else { Op::JNotUndefined }, left, target);
            return Ok(());
        }
        let (left, right) = self.operands(&it.left, &it.right)?;
        self.pos(it.left.span().start);
        self.f.asm.branch(pick(registers), left, right, 0, target);
        Ok(())
    }
}

/// The branch that keeps the left value of a logical operator.
pub(super) fn logical_exit(operator: LogicalOperator) -> Op {
    match operator {
        LogicalOperator::And => Op::JFalse,
        LogicalOperator::Or => Op::JTrue,
        LogicalOperator::Coalesce => Op::JNotNullish,
    }
}
