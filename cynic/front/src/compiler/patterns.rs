//! Destructuring: binding patterns of declarations and parameters, and assignment patterns.
//!
//! An array pattern keeps an iterator record in two registers. The record closes itself (its iterator becomes
//! undefined) when it is exhausted or its `next` throws, so one exception region over the whole pattern suffices.

use oxc_ast::ast::*;
use oxc_span::GetSpan;

use super::assignment::Target;
use super::control::Control;
use super::expressions::{NameHint, array_index, literal_text};
use super::variables::Storage;
use super::{Generator, Reg, Result};
use crate::bytecode::Op;

/// How a pattern's names receive their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BindMode {
    /// `var`: an assignment.
    Var,
    /// Everything else: the initialisation of the binding.
    Lexical,
}

impl<'a> Generator<'a> {
    /// Gives `value` to the name `id`.
    pub(super) fn bind_name(&mut self, id: &BindingIdentifier<'a>, value: Reg, mode: BindMode) -> Result {
        let name = id.name.as_str();
        self.pos(id.span.start);
        if mode == BindMode::Var && self.resolve(name)?.storage == Storage::Global {
            let ic = self.f.ic(name);
            self.op_x(Op::SetGlobal, value, 0, 0, ic);
            return Ok(());
        }
        self.initialize_name(name, value)
    }

    /// The register of the local `pattern` names, if it may be initialised in place.
    pub(super) fn binding_local(&mut self, pattern: &BindingPattern<'a>) -> Result<Option<Reg>> {
        let BindingPattern::BindingIdentifier(id) = pattern else { return Ok(None) };
        let variable = self.resolve(id.name.as_str())?;
        Ok(match variable.storage {
            Storage::Register(register) if register != 0 => Some(register),
            _ => None,
        })
    }

    pub(super) fn binding_pattern(
        &mut self,
        pattern: &BindingPattern<'a>,
        value: Reg,
        mode: BindMode,
    ) -> Result {
        let mark = self.mark();
        match pattern {
            BindingPattern::BindingIdentifier(id) => self.bind_name(id, value, mode)?,
            BindingPattern::AssignmentPattern(it) => {
                let value = self.with_default(value, &it.right, binding_name(&it.left))?;
                self.binding_pattern(&it.left, value, mode)?;
            }
            BindingPattern::ObjectPattern(it) => self.object_binding(it, value, mode)?,
            BindingPattern::ArrayPattern(it) => self.array_binding(it, value, mode)?,
        }
        self.free(mark);
        Ok(())
    }

    /// `value`, or the default if it is undefined.
    pub(super) fn with_default(
        &mut self,
        value: Reg,
        default: &Expression<'a>,
        name: NameHint<'_>,
    ) -> Result<Reg> {
        let result = self.alloc()?;
        self.mov(result, value);
        let end = self.label();
        self.branch(Op::JNotUndefined, result, end);
        let mark = self.mark();
        self.value(default, Some(result), name)?;
        self.free(mark);
        self.bind(end);
        Ok(result)
    }

    fn object_binding(&mut self, it: &ObjectPattern<'a>, value: Reg, mode: BindMode) -> Result {
        self.pos(it.span.start);
        self.op(Op::RequireObjectCoercible, value, 0, 0);
        let excluded = self.excluded_run(it.rest.is_some(), it.properties.len())?;
        for (index, property) in it.properties.iter().enumerate() {
            let mark = self.mark();
            let excluded = excluded.map(|first| first + index as Reg);
            let element = self.alloc()?;
            self.property_of(element, value, &property.key, property.computed, excluded)?;
            self.binding_pattern(&property.value, element, mode)?;
            self.free(mark);
        }
        if let Some(rest) = &it.rest {
            let object = self.rest_object(value, excluded, it.properties.len())?;
            self.binding_pattern(&rest.argument, object, mode)?;
        }
        Ok(())
    }

    /// Registers for the keys that a rest property leaves out.
    fn excluded_run(&mut self, has_rest: bool, count: usize) -> Result<Option<Reg>> {
        if !has_rest {
            return Ok(None);
        }
        self.alloc_run(count as u16).map(Some)
    }

    fn rest_object(&mut self, value: Reg, excluded: Option<Reg>, count: usize) -> Result<Reg> {
        let object = self.alloc()?;
        self.op(Op::NewObject, object, 0, 0);
        self.op_x(Op::CopyDataProperties, object, value, excluded.unwrap_or(0), count as u32);
        Ok(object)
    }

    /// `dst = object[key]`; the key goes into `excluded` as well, for a rest property.
    fn property_of(
        &mut self,
        dst: Reg,
        object: Reg,
        key: &PropertyKey<'a>,
        computed: bool,
        excluded: Option<Reg>,
    ) -> Result {
        self.pos(key.span().start);
        let name = match key {
            PropertyKey::StaticIdentifier(id) => Some(literal_text(id.name.as_str(), false)),
            PropertyKey::StringLiteral(it) if !computed && array_index(it.value.as_str()).is_none() => {
                Some(literal_text(it.value.as_str(), it.lone_surrogates))
            }
            _ => None,
        };
        if let Some(name) = name {
            if let Some(excluded) = excluded {
                self.load_string(excluded, name.clone());
            }
            let ic = self.f.ic(name);
            self.op_x(Op::GetProp, dst, object, 0, ic);
            return Ok(());
        }
        let key_register = match excluded {
            Some(excluded) => excluded,
            None => self.alloc()?,
        };
        self.property_key(key, key_register)?;
        let ic = self.f.keyed_ic();
        self.op_x(Op::GetElem, dst, object, key_register, ic);
        Ok(())
    }

    /// Evaluates a property name to a property key in `dst`.
    pub(super) fn property_key(&mut self, key: &PropertyKey<'a>, dst: Reg) -> Result {
        match key {
            PropertyKey::StaticIdentifier(id) => self.load_string(dst, id.name.as_str()),
            PropertyKey::PrivateIdentifier(id) => {
                let key = self.private_key(id)?;
                self.mov(dst, key);
            }
            key => {
                if let Some(e) = key.as_expression() {
                    self.expression_to_local(e, dst)?;
                    if !matches!(e, Expression::StringLiteral(_)) {
                        self.op(Op::ToPropertyKey, dst, dst, 0);
                    }
                }
            }
        }
        Ok(())
    }

    fn array_binding(&mut self, it: &ArrayPattern<'a>, value: Reg, mode: BindMode) -> Result {
        let iterator = self.open_pattern_iterator(value, it.span.start)?;
        for element in &it.elements {
            let mark = self.mark();
            let value = self.next_element(iterator)?;
            if let Some(element) = element {
                self.binding_pattern(element, value, mode)?;
            }
            self.free(mark);
        }
        if let Some(rest) = &it.rest {
            let array = self.rest_array(iterator)?;
            self.binding_pattern(&rest.argument, array, mode)?;
        }
        self.close_pattern_iterator(iterator)
    }

    fn open_pattern_iterator(&mut self, value: Reg, at: u32) -> Result<Reg> {
        let iterator = self.alloc_run(2)?;
        self.pos(at);
        self.op(Op::GetIterator, iterator, value, 0);
        self.push_control(Control::iterator(iterator, false));
        Ok(iterator)
    }

    fn close_pattern_iterator(&mut self, iterator: Reg) -> Result {
        self.pop_iterator_control()?;
        self.op(Op::IteratorClose, 0, iterator, 0);
        Ok(())
    }

    /// The next value, or undefined at the end.
    fn next_element(&mut self, iterator: Reg) -> Result<Reg> {
        let value = self.alloc()?;
        let next = self.label();
        self.f.asm.branch(Op::IteratorNext, value, iterator, 0, next);
        self.bind(next);
        Ok(value)
    }

    fn rest_array(&mut self, iterator: Reg) -> Result<Reg> {
        let array = self.alloc()?;
        let value = self.alloc()?;
        self.op_x(Op::NewArray, array, 0, 0, 0);
        let end = self.label();
        let head = self.bound();
        self.f.asm.branch(Op::IteratorNext, value, iterator, 0, end);
        self.op(Op::ArrayAppend, array, value, 0);
        self.jump(head);
        self.bind(end);
        Ok(array)
    }

    pub(super) fn assignment_pattern(&mut self, pattern: &AssignmentTargetPattern<'a>, value: Reg) -> Result {
        let mark = self.mark();
        match pattern {
            AssignmentTargetPattern::ArrayAssignmentTarget(it) => self.array_assignment(it, value)?,
            AssignmentTargetPattern::ObjectAssignmentTarget(it) => self.object_assignment(it, value)?,
        }
        self.free(mark);
        Ok(())
    }

    /// Assigns `value` to any target.
    pub(super) fn assign_target(&mut self, target: &AssignmentTarget<'a>, value: Reg) -> Result {
        let mark = self.mark();
        if let Some(pattern) = target.as_assignment_target_pattern() {
            self.assignment_pattern(pattern, value)?;
        } else if let Some(simple) = target.as_simple_assignment_target() {
            let target = self.target(simple, false)?;
            self.store_target(target, value)?;
        }
        self.free(mark);
        Ok(())
    }

    fn array_assignment(&mut self, it: &ArrayAssignmentTarget<'a>, value: Reg) -> Result {
        let iterator = self.open_pattern_iterator(value, it.span.start)?;
        for element in &it.elements {
            let mark = self.mark();
            match element {
                None => self.next_element(iterator).map(drop)?,
                Some(element) => {
                    self.assign_element(element, |generator| generator.next_element(iterator))?;
                }
            }
            self.free(mark);
        }
        if let Some(rest) = &it.rest {
            self.assign_from(&rest.target, None, |generator| generator.rest_array(iterator))?;
        }
        self.close_pattern_iterator(iterator)
    }

    fn assign_element(
        &mut self,
        element: &AssignmentTargetMaybeDefault<'a>,
        value: impl FnOnce(&mut Self) -> Result<Reg>,
    ) -> Result {
        match element {
            AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(it) => {
                self.assign_from(&it.binding, Some(&it.init), value)
            }
            element => match element.as_assignment_target() {
                Some(target) => self.assign_from(target, None, value),
                None => Ok(()),
            },
        }
    }

    /// Evaluates the target's parts, then the value, then its default, then assigns: the order the language asks for.
    fn assign_from(
        &mut self,
        target: &AssignmentTarget<'a>,
        default: Option<&Expression<'a>>,
        value: impl FnOnce(&mut Self) -> Result<Reg>,
    ) -> Result {
        let mark = self.mark();
        let simple = match target.as_simple_assignment_target() {
            Some(simple) => Some(self.target(simple, true)?),
            None => None,
        };
        let mut value = value(self)?;
        if let Some(default) = default {
            let name = match simple {
                Some(Target::Name(id)) => NameHint::Static(id.name.as_str()),
                _ => NameHint::None,
            };
            value = self.with_default(value, default, name)?;
        }
        match (simple, target.as_assignment_target_pattern()) {
            (Some(target), _) => self.store_target(target, value)?,
            (None, Some(pattern)) => self.assignment_pattern(pattern, value)?,
            (None, None) => {}
        }
        self.free(mark);
        Ok(())
    }

    fn object_assignment(&mut self, it: &ObjectAssignmentTarget<'a>, value: Reg) -> Result {
        self.pos(it.span.start);
        self.op(Op::RequireObjectCoercible, value, 0, 0);
        let excluded = self.excluded_run(it.rest.is_some(), it.properties.len())?;
        for (index, property) in it.properties.iter().enumerate() {
            let mark = self.mark();
            let excluded = excluded.map(|first| first + index as Reg);
            match property {
                AssignmentTargetProperty::AssignmentTargetPropertyIdentifier(it) => {
                    self.shorthand_assignment(it, value, excluded)?;
                }
                AssignmentTargetProperty::AssignmentTargetPropertyProperty(it) => {
                    self.property_assignment(it, value, excluded)?;
                }
            }
            self.free(mark);
        }
        if let Some(rest) = &it.rest {
            let count = it.properties.len();
            self.assign_from(&rest.target, None, |generator| generator.rest_object(value, excluded, count))?;
        }
        Ok(())
    }

    fn shorthand_assignment(
        &mut self,
        it: &AssignmentTargetPropertyIdentifier<'a>,
        value: Reg,
        excluded: Option<Reg>,
    ) -> Result {
        let name = it.binding.name.as_str();
        if let Some(excluded) = excluded {
            self.load_string(excluded, name);
        }
        let mut element = self.alloc()?;
        self.pos(it.span.start);
        self.get_prop(element, value, name);
        if let Some(init) = &it.init {
            element = self.with_default(element, init, NameHint::Static(name))?;
        }
        self.store_target(Target::Name(&it.binding), element)
    }

    fn property_assignment(
        &mut self,
        it: &AssignmentTargetPropertyProperty<'a>,
        value: Reg,
        excluded: Option<Reg>,
    ) -> Result {
        // The key is evaluated before the target's parts.
        let key = match (&it.name, excluded) {
            (PropertyKey::StaticIdentifier(_), _) => None,
            (_, Some(excluded)) => Some(excluded),
            (_, None) => Some(self.alloc()?),
        };
        if let Some(key) = key {
            self.property_key(&it.name, key)?;
        }
        self.assign_element(&it.binding, |generator| {
            let element = generator.alloc()?;
            match key {
                None => generator.property_of(element, value, &it.name, it.computed, excluded)?,
                Some(key) => {
                    generator.pos(it.span.start);
                    let ic = generator.f.keyed_ic();
                    generator.op_x(Op::GetElem, element, value, key, ic);
                }
            }
            Ok(element)
        })
    }
}

/// The name an anonymous function takes from a binding.
pub(super) fn binding_name<'s>(pattern: &'s BindingPattern<'_>) -> NameHint<'s> {
    match pattern {
        BindingPattern::BindingIdentifier(id) => NameHint::Static(id.name.as_str()),
        _ => NameHint::None,
    }
}
