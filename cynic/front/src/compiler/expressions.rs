//! Expressions: dispatch over the tree, names, members, optional chains, conditionals, templates.
//!
//! `expression` leaves a value in whatever register holds it (a local's own register included); `expression_to`
//! leaves it in a given one. `expression_to` may write its destination early, so a destination that the expression
//! could read must go through `assign_expression_to`.

use std::ops::ControlFlow;
use std::time::Instant;

use oxc_ast::ast::*;
use oxc_span::GetSpan;

use super::operators::writes_locals;
use super::scope::private_name;
use super::{Generator, Reg, Result, Unsupported};
use crate::bytecode::Op;
use crate::bytecode::code::{TemplateSite, Text};
use crate::syntax::source_text::restore;

/// The name an anonymous function or class takes from its place.
#[derive(Clone, Copy)]
pub(super) enum NameHint<'s> {
    None,
    Static(&'s str),
    /// The register of a property key, with the prefix (0 none, 1 get, 2 set).
    Key(Reg, u32),
}

/// A string literal as oxc encodes lone surrogates: U+FFFD and four hex digits.
pub(super) fn literal_text(value: &str, lone_surrogates: bool) -> Text {
    if !lone_surrogates {
        return value.into();
    }
    let mut units = Vec::new();
    let mut rest = value.chars();
    while let Some(c) = rest.next() {
        if c == '\u{fffd}' {
            let hex: String = rest.by_ref().take(4).collect();
            units.push(u16::from_str_radix(&hex, 16).unwrap_or(0xfffd));
        } else {
            units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
        }
    }
    Text::Utf16(units.into())
}

/// An array index written as a string is an element, not a named property.
pub(super) fn array_index(name: &str) -> Option<u32> {
    let index: u32 = name.parse().ok()?;
    (index != u32::MAX && index.to_string() == name).then_some(index)
}

/// Most parts of a template literal that are joined at once: each takes a register.
const TEMPLATE_PARTS_MAX: u32 = 6;

impl<'a> Generator<'a> {
    pub(super) fn dst(&mut self, dst: Option<Reg>) -> Result<Reg> {
        match dst {
            Some(dst) => Ok(dst),
            None => self.alloc(),
        }
    }

    /// The destination of an operation whose operands were evaluated since `mark` and are read before it is written.
    /// So a chain like `a.b.c` or `a + b + c` needs no more registers than its longest link.
    pub(super) fn dst_from(&mut self, dst: Option<Reg>, mark: u16) -> Result<Reg> {
        self.free(mark);
        self.dst(dst)
    }

    /// Evaluates into any register.
    pub(super) fn expression(&mut self, e: &Expression<'a>) -> Result<Reg> {
        self.value(e, None, NameHint::None)
    }

    /// Evaluates into `dst`, which may be written before the end.
    pub(super) fn expression_to(&mut self, e: &Expression<'a>, dst: Reg) -> Result {
        self.value(e, Some(dst), NameHint::None).map(drop)
    }

    /// Evaluates into `dst`, which keeps its old value until the expression is complete.
    pub(super) fn assign_expression_to(
        &mut self,
        e: &Expression<'a>,
        dst: Reg,
        name: NameHint<'_>,
    ) -> Result {
        if writes_destination_last(e) {
            return self.value(e, Some(dst), name).map(drop);
        }
        let mark = self.mark();
        let value = self.value(e, None, name)?;
        self.mov(dst, value);
        self.free(mark);
        Ok(())
    }

    /// Evaluates into a register that later side effects of `then` cannot change.
    pub(super) fn stable_expression(&mut self, e: &Expression<'a>, then: bool) -> Result<Reg> {
        let mark = self.mark();
        let value = self.expression(e)?;
        if then && value < mark {
            let copy = self.alloc()?;
            self.mov(copy, value);
            return Ok(copy);
        }
        Ok(value)
    }

    /// Evaluates for side effects only.
    pub(super) fn effect(&mut self, e: &Expression<'a>) -> Result {
        let mark = self.mark();
        match e {
            Expression::UpdateExpression(it) => self.update(it, None, false).map(drop)?,
            Expression::ParenthesizedExpression(it) => self.effect(&it.expression)?,
            Expression::SequenceExpression(it) => {
                it.expressions.iter().try_for_each(|part| self.effect(part))?;
            }
            e => self.expression(e).map(drop)?,
        }
        self.free(mark);
        Ok(())
    }

    /// Evaluates with a destination and a name for an anonymous function.
    pub(super) fn value(&mut self, e: &Expression<'a>, dst: Option<Reg>, name: NameHint<'_>) -> Result<Reg> {
        match e {
            Expression::BooleanLiteral(it) => {
                self.load_simple(if it.value { Op::LoadTrue } else { Op::LoadFalse }, dst)
            }
            Expression::NullLiteral(_) => self.load_simple(Op::LoadNull, dst),
            Expression::NumericLiteral(it) => self.number_literal(it.value, dst),
            Expression::BigIntLiteral(it) => {
                let dst = self.dst(dst)?;
                let index = self.f.bigint(it.value.as_str());
                self.op_x(Op::LoadConst, dst, 0, 0, index);
                Ok(dst)
            }
            Expression::RegExpLiteral(it) => self.regexp_literal(it, dst),
            Expression::StringLiteral(it) => {
                let dst = self.dst(dst)?;
                self.load_string(dst, literal_text(it.value.as_str(), it.lone_surrogates));
                Ok(dst)
            }
            Expression::TemplateLiteral(it) => self.template_literal(it, dst),
            Expression::Identifier(it) => {
                self.pos(it.span.start);
                self.load_name(it.name.as_str(), &**it, dst)
            }
            Expression::ThisExpression(it) => {
                self.pos(it.span.start);
                self.load_this(&**it, dst)
            }
            Expression::ParenthesizedExpression(it) => self.value(&it.expression, dst, name),
            Expression::SequenceExpression(it) => self.sequence(it, dst),
            Expression::ArrayExpression(it) => self.array_literal(it, dst),
            Expression::ObjectExpression(it) => self.object_literal(it, dst),
            Expression::ArrowFunctionExpression(it) => self.arrow_function(it, dst, name),
            Expression::FunctionExpression(it) => self.function_expression(it, dst, name),
            Expression::ClassExpression(it) => self.class(it, dst, name),
            Expression::AssignmentExpression(it) => self.assignment(it, dst),
            Expression::UpdateExpression(it) => self.update(it, dst, true),
            Expression::UnaryExpression(it) => self.unary(it, dst),
            Expression::BinaryExpression(it) => self.binary(it, dst),
            Expression::LogicalExpression(it) => self.logical(it, dst),
            Expression::ConditionalExpression(it) => self.conditional(it, dst),
            Expression::PrivateInExpression(it) => self.private_in(it, dst),
            Expression::CallExpression(it) => self.call(it, dst),
            Expression::NewExpression(it) => self.new_expression(it, dst),
            Expression::TaggedTemplateExpression(it) => self.tagged_template(it, dst, false),
            Expression::ImportExpression(it) => self.import_expression(it, dst),
            Expression::ChainExpression(it) => self.chain(it, dst),
            Expression::AwaitExpression(it) => self.await_expression(it, dst),
            Expression::YieldExpression(it) => self.yield_expression(it, dst),
            Expression::ImportMeta(_) => self.load_simple(Op::ImportMeta, dst),
            Expression::NewTarget(_) => self.load_new_target(dst),
            Expression::ComputedMemberExpression(it) => self.computed_member(it, dst),
            Expression::StaticMemberExpression(it) => self.static_member(it, dst),
            Expression::PrivateFieldExpression(it) => self.private_field(it, dst),
            Expression::TSAsExpression(it) => self.value(&it.expression, dst, name),
            Expression::TSSatisfiesExpression(it) => self.value(&it.expression, dst, name),
            Expression::TSTypeAssertion(it) => self.value(&it.expression, dst, name),
            Expression::TSNonNullExpression(it) => self.value(&it.expression, dst, name),
            Expression::TSInstantiationExpression(it) => self.value(&it.expression, dst, name),
            Expression::Super(_)
            | Expression::JSXElement(_)
            | Expression::JSXFragment(_)
            | Expression::V8IntrinsicExpression(_) => {
                Err(Unsupported { message: "this syntax is not supported", offset: e.span().start })
            }
        }
    }

    pub(super) fn load_simple(&mut self, op: Op, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        self.op(op, dst, 0, 0);
        Ok(dst)
    }

    pub(super) fn number_literal(&mut self, value: f64, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        match int32(value) {
            Some(int) => self.load_int(dst, int),
            None => {
                let index = self.f.number(value);
                self.op_x(Op::LoadConst, dst, 0, 0, index);
            }
        }
        Ok(dst)
    }

    fn sequence(&mut self, it: &SequenceExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let Some((last, first)) = it.expressions.split_last() else {
            return self.load_simple(Op::LoadUndefined, dst);
        };
        first.iter().try_for_each(|part| self.effect(part))?;
        self.value(last, dst, NameHint::None)
    }

    fn conditional(&mut self, it: &ConditionalExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let (otherwise, end) = (self.label(), self.label());
        self.condition(&it.test, otherwise, false)?;
        self.expression_to_local(&it.consequent, dst)?;
        self.jump(end);
        self.bind(otherwise);
        self.expression_to_local(&it.alternate, dst)?;
        self.bind(end);
        Ok(dst)
    }

    /// Evaluates into `dst` and frees every temporary.
    pub(super) fn expression_to_local(&mut self, e: &Expression<'a>, dst: Reg) -> Result {
        let mark = self.mark();
        self.expression_to(e, dst)?;
        self.free(mark);
        Ok(())
    }

    fn template_literal(&mut self, it: &TemplateLiteral<'a>, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let mark = self.mark();
        // The parts are gathered in temporaries: an expression may read the destination.
        let base = self.alloc()?;
        let mut count = 0;
        for (index, quasi) in it.quasis.iter().enumerate() {
            let cooked = quasi.value.cooked.as_ref().map_or("", |text| text.as_str());
            if !cooked.is_empty() || index == 0 && it.expressions.is_empty() {
                let part = self.template_part(base, &mut count)?;
                self.load_string(part, literal_text(cooked, quasi.lone_surrogates));
            }
            let Some(expression) = it.expressions.get(index) else { continue };
            let part = self.template_part(base, &mut count)?;
            let inner = self.mark();
            let value = self.expression(expression)?;
            self.pos(expression.span().start);
            self.op(Op::ToString, part, value, 0);
            self.free(inner);
        }
        if count == 1 {
            self.mov(dst, base);
        } else {
            self.op_x(Op::Concat, dst, base, 0, count);
        }
        self.free(mark);
        Ok(dst)
    }

    /// The register for the next part of a template, of which `count` are in `base` and after it.
    fn template_part(&mut self, base: Reg, count: &mut u32) -> Result<Reg> {
        if *count == TEMPLATE_PARTS_MAX {
            self.op_x(Op::Concat, base, base, 0, *count);
            *count = 1;
            self.free(base + 1);
        }
        *count += 1;
        if *count == 1 { Ok(base) } else { self.alloc() }
    }

    /// Adds the template site of a tagged template and loads its object.
    pub(super) fn template_object(&mut self, quasi: &TemplateLiteral<'a>, dst: Reg) {
        let text = |element: &TemplateElement<'a>| {
            element.value.cooked.as_ref().map(|text| literal_text(text.as_str(), element.lone_surrogates))
        };
        let cooked = quasi.quasis.iter().map(text).collect();
        let raw = quasi.quasis.iter().map(|element| element.value.raw.as_str().into()).collect();
        self.f.templates.push(TemplateSite { cooked, raw });
        let index = self.f.templates.len() as u32 - 1;
        self.op_x(Op::TemplateObject, dst, 0, 0, index);
    }

    fn regexp_literal(&mut self, it: &RegExpLiteral<'a>, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let (pattern, flags) = (it.regex.pattern.text.as_str(), it.regex.flags.to_string());
        let units = restore(pattern, it.span.start + 1, &self.surrogates);
        let parsed = cynic_regexp::Flags::parse(flags.encode_utf16());
        let deadline = self.options.deadline;
        let mut budget = |_, _| match deadline {
            Some(deadline) if Instant::now() >= deadline => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let checked = parsed.map(|flags| cynic_regexp::Regex::check(&units, flags, &mut budget));
        match checked {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                let offset = it.span.start + 1 + utf8_offset(pattern, error.offset);
                return Err(Unsupported { message: error.message(), offset });
            }
            None => {
                return Err(Unsupported {
                    message: "invalid regular expression flags",
                    offset: it.span.start,
                });
            }
        }
        let pattern = match char::decode_utf16(units.iter().copied()).all(|c| c.is_ok()) {
            true => Text::from(pattern),
            false => Text::Utf16(units.into()),
        };
        let pattern = self.f.string(pattern);
        let flags = self.f.string(flags.as_str());
        self.pos(it.span.start);
        self.f.asm.op_xy(Op::NewRegExp, dst, 0, 0, pattern, flags);
        Ok(dst)
    }

    fn static_member(&mut self, it: &StaticMemberExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let name = it.property.name.as_str();
        if let Expression::Super(site) = &it.object {
            let dst = self.dst(dst)?;
            let mark = self.mark();
            let this = self.load_this(&**site, None)?;
            let key = self.alloc()?;
            self.load_string(key, name);
            self.super_get(dst, key, this, it.property.span.start)?;
            self.free(mark);
            return Ok(dst);
        }
        let mark = self.mark();
        let object = self.expression(&it.object)?;
        self.chain_link(object, it.optional);
        let dst = self.dst_from(dst, mark)?;
        self.pos(it.property.span.start);
        self.get_prop(dst, object, name);
        Ok(dst)
    }

    /// `dst = super[key]`.
    pub(super) fn super_get(&mut self, dst: Reg, key: Reg, this: Reg, offset: u32) -> Result {
        let base = self.super_base()?;
        self.pos(offset);
        self.op_x(Op::GetSuper, dst, base, key, u32::from(this));
        Ok(())
    }

    /// The object in which `super.x` is looked up.
    pub(super) fn super_base(&mut self) -> Result<Reg> {
        let base = self.alloc()?;
        let mark = self.mark();
        let function = self.load_active_function()?;
        self.op(Op::GetSuperBase, base, function, 0);
        self.free(mark);
        Ok(base)
    }

    fn computed_member(&mut self, it: &ComputedMemberExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let mark = self.mark();
        if let Expression::Super(site) = &it.object {
            let dst = self.dst(dst)?;
            let mark = self.mark();
            let this = self.load_this(&**site, None)?;
            let key = self.expression(&it.expression)?;
            self.super_get(dst, key, this, it.expression.span().start)?;
            self.free(mark);
            return Ok(dst);
        }
        let object = self.stable_expression(&it.object, writes_locals(&it.expression))?;
        self.chain_link(object, it.optional);
        if let Some(name) = constant_key(&it.expression) {
            let dst = self.dst_from(dst, mark)?;
            self.pos(it.expression.span().start);
            self.get_prop(dst, object, name);
            return Ok(dst);
        }
        let key = self.expression(&it.expression)?;
        let dst = self.dst_from(dst, mark)?;
        self.pos(it.expression.span().start);
        let ic = self.f.keyed_ic();
        self.op_x(Op::GetElem, dst, object, key, ic);
        Ok(dst)
    }

    pub(super) fn private_key(&mut self, name: &PrivateIdentifier<'a>) -> Result<Reg> {
        let name = private_name(self.allocator, &name.name);
        self.load_hidden(name, None)
    }

    fn private_field(&mut self, it: &PrivateFieldExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let mark = self.mark();
        let object = self.expression(&it.object)?;
        self.chain_link(object, it.optional);
        let key = self.private_key(&it.field)?;
        self.pos(it.field.span.start);
        let ic = self.f.keyed_ic();
        self.op_x(Op::GetPrivate, dst, object, key, ic);
        self.free(mark);
        Ok(dst)
    }

    fn private_in(&mut self, it: &PrivateInExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let mark = self.mark();
        let object = self.expression(&it.right)?;
        let key = self.private_key(&it.left)?;
        self.pos(it.span.start);
        self.op(Op::HasPrivate, dst, object, key);
        self.free(mark);
        Ok(dst)
    }

    /// Leaves the chain if `object`, the base of `?.`, is nullish.
    pub(super) fn chain_link(&mut self, object: Reg, is_optional: bool) {
        if let (true, Some(&exit)) = (is_optional, self.f.chain_exits.last()) {
            self.branch(Op::JNullish, object, exit);
        }
    }

    fn chain(&mut self, it: &ChainExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let mark = self.mark();
        // The base of the chain may be the destination's old value.
        let result = self.alloc()?;
        let (exit, end) = (self.label(), self.label());
        self.f.chain_exits.push(exit);
        match &it.expression {
            ChainElement::CallExpression(call) => self.call(call, Some(result)).map(drop)?,
            ChainElement::TSNonNullExpression(inner) => self.expression_to(&inner.expression, result)?,
            ChainElement::ComputedMemberExpression(member) => {
                self.computed_member(member, Some(result)).map(drop)?;
            }
            ChainElement::StaticMemberExpression(member) => {
                self.static_member(member, Some(result)).map(drop)?
            }
            ChainElement::PrivateFieldExpression(member) => {
                self.private_field(member, Some(result)).map(drop)?
            }
        }
        self.f.chain_exits.pop();
        self.jump(end);
        self.bind(exit);
        self.op(Op::LoadUndefined, result, 0, 0);
        self.bind(end);
        self.mov(dst, result);
        self.free(mark);
        Ok(dst)
    }

    fn await_expression(&mut self, it: &AwaitExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let mark = self.mark();
        let value = self.expression(&it.argument)?;
        self.pos(it.span.start);
        self.op(Op::Await, dst, value, 0);
        self.free(mark);
        Ok(dst)
    }

    fn import_expression(&mut self, it: &ImportExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        if it.phase.is_some() {
            return Err(Unsupported { message: "import phases are not supported", offset: it.span.start });
        }
        let dst = self.dst(dst)?;
        let mark = self.mark();
        let specifier = self.alloc()?;
        self.expression_to(&it.source, specifier)?;
        let options = match &it.options {
            Some(options) => self.expression(options)?,
            None => self.load_simple(Op::LoadUndefined, None)?,
        };
        self.pos(it.span.start);
        self.op_x(Op::DynamicImport, dst, specifier, options, 0);
        self.free(mark);
        Ok(dst)
    }
}

/// The int32 a number literal is, if it is one and not -0.
pub(super) fn int32(value: f64) -> Option<i32> {
    let int = value as i32;
    (f64::from(int).to_bits() == value.to_bits()).then_some(int)
}

/// A key that names a property for certain.
pub(super) fn constant_key<'e>(key: &'e Expression<'_>) -> Option<&'e str> {
    match key {
        Expression::StringLiteral(it) if !it.lone_surrogates && array_index(it.value.as_str()).is_none() => {
            Some(it.value.as_str())
        }
        Expression::ParenthesizedExpression(it) => constant_key(&it.expression),
        _ => None,
    }
}

/// Whether evaluating `e` into a register writes the register only with the final result, as the last step.
fn writes_destination_last(e: &Expression<'_>) -> bool {
    match e {
        Expression::ParenthesizedExpression(it) => writes_destination_last(&it.expression),
        Expression::BooleanLiteral(_)
        | Expression::NullLiteral(_)
        | Expression::NumericLiteral(_)
        | Expression::StringLiteral(_)
        | Expression::BinaryExpression(_)
        | Expression::UnaryExpression(_)
        | Expression::StaticMemberExpression(_)
        | Expression::ComputedMemberExpression(_)
        | Expression::CallExpression(_)
        | Expression::NewExpression(_)
        | Expression::TemplateLiteral(_)
        | Expression::ArrowFunctionExpression(_)
        | Expression::FunctionExpression(_)
        | Expression::AwaitExpression(_)
        | Expression::ThisExpression(_) => true,
        Expression::Identifier(_) => true,
        _ => false,
    }
}

/// The byte at which the UTF-16 unit `units` of `text` begins.
fn utf8_offset(text: &str, units: usize) -> u32 {
    let mut seen = 0;
    let at = text.char_indices().find(|(_, c)| {
        let here = seen >= units;
        seen += c.len_utf16();
        here
    });
    at.map_or(text.len(), |(at, _)| at) as u32
}
