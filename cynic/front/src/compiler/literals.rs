//! Array and object literals.

use oxc_ast::ast::*;
use oxc_span::GetSpan;

use super::expressions::{NameHint, array_index, literal_text};
use super::{Generator, Reg, Result};
use crate::bytecode::Op;
use crate::bytecode::code::Text;

/// Elements or properties evaluated into registers before one instruction builds the object.
const RUN_MAX: usize = 24;

impl<'a> Generator<'a> {
    pub(super) fn array_literal(&mut self, it: &ArrayExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let mark = self.mark();
        let run = it.elements.iter().take(self.run_max()).take_while(|e| e.as_expression().is_some()).count();
        let first = self.mark();
        for element in it.elements.iter().take(run) {
            let register = self.alloc()?;
            if let Some(e) = element.as_expression() {
                self.expression_to_local(e, register)?;
            }
        }
        if run == it.elements.len() {
            self.op_x(Op::NewArray, dst, if run == 0 { 0 } else { first }, 0, run as u32);
            self.free(mark);
            return Ok(dst);
        }
        let array = self.alloc()?;
        self.op_x(Op::NewArray, array, if run == 0 { 0 } else { first }, 0, run as u32);
        for element in it.elements.iter().skip(run) {
            let inner = self.mark();
            match element {
                ArrayExpressionElement::Elision(_) => self.op(Op::ArrayHole, array, 0, 0),
                ArrayExpressionElement::SpreadElement(spread) => {
                    let value = self.expression(&spread.argument)?;
                    self.pos(spread.span.start);
                    self.op(Op::ArraySpread, array, value, 0);
                }
                element => {
                    if let Some(e) = element.as_expression() {
                        let value = self.expression(e)?;
                        self.op(Op::ArrayAppend, array, value, 0);
                    }
                }
            }
            self.free(inner);
        }
        self.mov(dst, array);
        self.free(mark);
        Ok(dst)
    }

    fn run_max(&self) -> usize {
        if self.f.asm.spills() {
            return RUN_MAX;
        }
        RUN_MAX.min(self.registers_left().saturating_sub(RUN_MAX * 2))
    }

    pub(super) fn object_literal(&mut self, it: &ObjectExpression<'a>, dst: Option<Reg>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let mark = self.mark();
        if let Some(keys) = self.simple_keys(it) {
            let first = self.mark();
            for property in &it.properties {
                let ObjectPropertyKind::ObjectProperty(property) = property else { continue };
                let register = self.alloc()?;
                let inner = self.mark();
                let name = property.key.static_name();
                let hint = name.as_deref().map_or(NameHint::None, NameHint::Static);
                self.value(&property.value, Some(register), hint)?;
                self.free(inner);
            }
            let keys = keys.into_iter().map(|key| self.f.string(key)).collect();
            self.f.object_literals.push(keys);
            let index = self.f.object_literals.len() as u32 - 1;
            self.f.asm.object_literal(dst, first, it.properties.len() as u16, index);
            self.free(mark);
            return Ok(dst);
        }
        let object = self.alloc()?;
        self.op(Op::NewObject, object, 0, 0);
        for property in &it.properties {
            let inner = self.mark();
            match property {
                ObjectPropertyKind::ObjectProperty(property) => self.object_property(object, property)?,
                ObjectPropertyKind::SpreadProperty(spread) => {
                    let source = self.expression(&spread.argument)?;
                    self.pos(spread.span.start);
                    self.op_x(Op::CopyDataProperties, object, source, 0, 0);
                }
            }
            self.free(inner);
        }
        self.mov(dst, object);
        self.free(mark);
        Ok(dst)
    }

    /// The keys of a literal that can be built in one step: distinct plain names, no accessors, methods or spread.
    fn simple_keys(&self, it: &ObjectExpression<'a>) -> Option<Vec<Text>> {
        if it.properties.is_empty() || it.properties.len() > self.run_max() {
            return None;
        }
        let mut keys = Vec::with_capacity(it.properties.len());
        for property in &it.properties {
            let ObjectPropertyKind::ObjectProperty(property) = property else { return None };
            if property.kind != PropertyKind::Init || property.method || property.computed {
                return None;
            }
            let key = match &property.key {
                PropertyKey::StaticIdentifier(id) if id.name != "__proto__" || property.shorthand => {
                    Text::from(id.name.as_str())
                }
                PropertyKey::StringLiteral(s)
                    if s.value != "__proto__" && array_index(&s.value).is_none() =>
                {
                    literal_text(s.value.as_str(), s.lone_surrogates)
                }
                _ => return None,
            };
            if keys.contains(&key) {
                return None;
            }
            keys.push(key);
        }
        Some(keys)
    }

    fn object_property(&mut self, object: Reg, it: &ObjectProperty<'a>) -> Result {
        self.pos(it.span.start);
        let is_function = it.method || it.kind != PropertyKind::Init;
        if let (true, Expression::FunctionExpression(function)) = (is_function, &it.value) {
            let kind = match it.kind {
                PropertyKind::Init => 0,
                PropertyKind::Get => 1,
                PropertyKind::Set => 2,
            };
            let key = self.alloc()?;
            self.property_key(&it.key, key)?;
            let method = self.method(function, it.span, NameHint::Key(key, kind))?;
            self.op(Op::SetHome, method, object, 0);
            self.op_x(Op::DefineMethod, object, key, method, kind | 4);
            return Ok(());
        }
        let name = match &it.key {
            PropertyKey::StaticIdentifier(id) => Some(Text::from(id.name.as_str())),
            PropertyKey::StringLiteral(s) if !it.computed && array_index(&s.value).is_none() => {
                Some(literal_text(s.value.as_str(), s.lone_surrogates))
            }
            _ => None,
        };
        let Some(name) = name else {
            let key = self.alloc()?;
            self.property_key(&it.key, key)?;
            let value = self.value(&it.value, None, NameHint::Key(key, 0))?;
            self.pos(it.key.span().start);
            self.op(Op::DefineField, object, key, value);
            return Ok(());
        };
        if name == Text::from("__proto__") && !it.shorthand {
            let value = self.expression(&it.value)?;
            self.op(Op::SetPrototypeLiteral, object, value, 0);
            return Ok(());
        }
        let hint = it.key.static_name();
        let hint = hint.as_deref().map_or(NameHint::None, NameHint::Static);
        let value = self.value(&it.value, None, hint)?;
        let ic = self.f.ic(name);
        self.op_x(Op::DefineOwn, object, value, 0, ic);
        Ok(())
    }
}
