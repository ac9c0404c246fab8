//! Classes: definition order, private names, fields and static elements.
//!
//! Instance fields (and private methods) are initialised by one synthetic method per class, which the constructor (or
//! the return of `super()`) runs; static fields and blocks by another, which the definition calls once.

use oxc_ast::ast::*;
use oxc_span::{GetSpan, Span};

use super::expressions::{NameHint, array_index, literal_text};
use super::functions::{name_text, refuse_decorators};
use super::scope::{BindingKind, Role, hidden_key_name, private_name};
use super::{Generator, Reg, Result, Unsupported, declare};
use crate::bytecode::Op;
use crate::bytecode::code::{ClassSite, CodeKind, Text};

impl<'a> Generator<'a> {
    pub(super) fn class(&mut self, it: &Class<'a>, dst: Option<Reg>, hint: NameHint<'_>) -> Result<Reg> {
        let dst = self.dst(dst)?;
        let mark = self.mark();
        let Some(scope) = self.analysis.scope_of(it, Role::Main) else {
            return Err(Unsupported { message: "this class is not supported", offset: it.span.start });
        };
        refuse_decorators(&it.decorators)?;
        self.enter_scope(scope)?;
        self.private_names(scope)?;
        let constructor = self.alloc_run(2)?;
        self.define_class(it, constructor, hint)?;
        for (index, element) in it.body.body.iter().enumerate() {
            let inner = self.mark();
            self.class_element(element, index, constructor)?;
            self.free(inner);
        }
        if let Some(init) = self.fields_function(it, Role::InstanceFields, false)? {
            self.op(Op::SetHome, init, constructor + 1, 0);
            self.op(Op::SetFieldsInit, constructor, init, 0);
        }
        if let Some(id) = &it.id {
            self.initialize_name(id.name.as_str(), constructor)?;
        }
        if let Some(init) = self.fields_function(it, Role::StaticElements, true)? {
            self.op(Op::SetHome, init, constructor, 0);
            let window = self.alloc_run(2)?;
            self.mov(window, init);
            self.mov(window + 1, constructor);
            self.op(Op::Call, window, window, 0);
        }
        self.mov(dst, constructor);
        self.leave_scope();
        self.free(mark);
        Ok(dst)
    }

    fn private_names(&mut self, scope: u32) -> Result {
        for at in 0..self.analysis.scope(scope).bindings.len() {
            let binding = &self.analysis.scope(scope).bindings[at];
            if binding.kind != BindingKind::Private {
                continue;
            }
            let name = binding.name;
            let mark = self.mark();
            let value = self.alloc()?;
            let description = self.f.string(name);
            self.op_x(Op::NewPrivateName, value, 0, 0, description);
            self.initialize_name(name, value)?;
            self.free(mark);
        }
        Ok(())
    }

    fn define_class(&mut self, it: &Class<'a>, constructor: Reg, hint: NameHint<'_>) -> Result {
        let mark = self.mark();
        let heritage = match &it.heritage {
            Some(heritage) => self.expression(&heritage.expression)?,
            None => 0,
        };
        let own = it.id.as_ref().map(|id| id.name.as_str());
        let function = self.class_constructor(it, name_text(own, hint))?;
        self.f.classes.push(ClassSite {
            constructor: function,
            has_heritage: it.heritage.is_some(),
            span: (it.span.start, it.span.end),
        });
        let index = self.f.classes.len() as u32 - 1;
        let scope = self.current_scope()?;
        self.pos(it.span.start);
        self.op_x(Op::DefineClass, constructor, heritage, scope, index);
        if own.is_none() {
            self.dynamic_name(constructor, hint);
        }
        self.free(mark);
        Ok(())
    }

    /// Compiles the constructor, or the one the language supplies.
    fn class_constructor(&mut self, it: &Class<'a>, name: Text) -> Result<u32> {
        let derived = it.heritage.is_some();
        let kind = if derived { CodeKind::DerivedConstructor } else { CodeKind::ClassConstructor };
        let runs_fields =
            !derived && it.body.body.iter().any(|element| declare::is_initialized(element, false));
        let explicit = it.body.body.iter().find_map(|element| match element {
            ClassElement::MethodDefinition(method)
                if method.kind == MethodDefinitionKind::Constructor && method.value.body.is_some() =>
            {
                Some(method)
            }
            _ => None,
        });
        if let Some(method) = explicit {
            return self.function_code(&method.value, kind, it.span, name, runs_fields);
        }
        self.begin_function(kind, name, it.span);
        if derived {
            self.default_derived_constructor()?;
        } else {
            if runs_fields {
                let function = self.load_simple(Op::GetFunction, None)?;
                self.op(Op::RunFields, 0, function, 0);
            }
            self.op(Op::RetUndefined, 0, 0, 0);
        }
        self.end_function()
    }

    /// `constructor(...args) { super(...args); }`, without running the array iterator.
    fn default_derived_constructor(&mut self) -> Result {
        self.f.needs_arguments = true;
        let function = self.load_simple(Op::GetFunction, None)?;
        let new_target = self.load_simple(Op::GetNewTarget, None)?;
        let base = self.alloc_run(3)?;
        self.op(Op::GetSuperConstructor, base, function, 0);
        self.op(Op::LoadUndefined, base + 1, 0, 0);
        self.op(Op::CreateRest, base + 2, 0, 0);
        self.op_x(Op::SuperCallSpread, base, base, 0, u32::from(new_target));
        self.op(Op::RunFields, base, function, 0);
        self.op(Op::Ret, base, 0, 0);
        Ok(())
    }

    fn class_element(&mut self, element: &ClassElement<'a>, index: usize, constructor: Reg) -> Result {
        match element {
            ClassElement::MethodDefinition(it) => refuse_decorators(&it.decorators)?,
            ClassElement::PropertyDefinition(it) => refuse_decorators(&it.decorators)?,
            _ => {}
        }
        match element {
            ClassElement::MethodDefinition(it)
                if it.kind != MethodDefinitionKind::Constructor && it.value.body.is_some() =>
            {
                self.class_method(it, index, constructor)
            }
            ClassElement::PropertyDefinition(it) if it.computed && !it.declare => {
                let key = self.alloc()?;
                self.property_key(&it.key, key)?;
                let name = hidden_key_name(self.allocator, index);
                self.initialize_name(name, key)
            }
            ClassElement::AccessorProperty(it) => {
                Err(Unsupported { message: "accessor fields are not supported", offset: it.span.start })
            }
            _ => Ok(()),
        }
    }

    fn class_method(&mut self, it: &MethodDefinition<'a>, index: usize, constructor: Reg) -> Result {
        let home = if it.r#static { constructor } else { constructor + 1 };
        let kind = method_kind(it.kind);
        let span = self.method_span(it);
        if let PropertyKey::PrivateIdentifier(name) = &it.key {
            let key = self.alloc()?;
            let text = private_name(self.allocator, &name.name);
            self.load_string(key, text);
            let method = self.method(&it.value, span, NameHint::Key(key, kind))?;
            self.op(Op::SetHome, method, home, 0);
            if it.r#static {
                // The language adds it when the class is complete. Nothing can tell: the class is not reachable
                // before, except by computed keys, which cannot name it.
                let own = self.private_key(name)?;
                self.op_x(Op::AddPrivate, constructor, own, method, kind + 1);
                return Ok(());
            }
            return self.initialize_name(hidden_key_name(self.allocator, index), method);
        }
        let key = self.alloc()?;
        self.property_key(&it.key, key)?;
        let method = self.method(&it.value, span, NameHint::Key(key, kind))?;
        self.op(Op::SetHome, method, home, 0);
        self.pos(it.span.start);
        self.op_x(Op::DefineMethod, home, key, method, kind);
        Ok(())
    }

    /// The source range of a MethodDefinition, of which `static` is no part.
    fn method_span(&self, it: &MethodDefinition<'a>) -> Span {
        if !it.r#static {
            return it.span;
        }
        let after_static = it.span.start + "static".len() as u32;
        let text = self.source.text.get(after_static as usize..it.span.end as usize).unwrap_or_default();
        Span::new(after_static + leading_trivia(text) as u32, it.span.end)
    }

    /// The closure that initialises fields; `None` if the class has none.
    fn fields_function(&mut self, it: &Class<'a>, role: Role, is_static: bool) -> Result<Option<Reg>> {
        let Some(scope) = self.analysis.scope_of(it, role) else { return Ok(None) };
        self.begin_function(CodeKind::Method, "".into(), it.span);
        self.begin_spilling()?;
        let scopes = self.scopes.len();
        let function = self.analysis.scope(scope).function;
        self.load_env(function)?;
        self.enter_scope(scope)?;
        self.pseudo_bindings(scope)?;
        if !is_static {
            for (index, element) in it.body.body.iter().enumerate() {
                self.add_private_method(element, index)?;
            }
        }
        for (index, element) in it.body.body.iter().enumerate() {
            if !declare::is_initialized(element, is_static) {
                continue;
            }
            let mark = self.mark();
            match element {
                ClassElement::PropertyDefinition(field) => self.field(field, index)?,
                ClassElement::StaticBlock(block) => self.static_block(block)?,
                _ => {}
            }
            self.free(mark);
        }
        self.op(Op::RetUndefined, 0, 0, 0);
        self.scopes.truncate(scopes);
        let index = self.end_function()?;
        let dst = self.alloc()?;
        let scope = self.current_scope()?;
        self.op_x(Op::Closure, dst, scope, 0, index);
        Ok(Some(dst))
    }

    fn add_private_method(&mut self, element: &ClassElement<'a>, index: usize) -> Result {
        let ClassElement::MethodDefinition(method) = element else { return Ok(()) };
        let PropertyKey::PrivateIdentifier(name) = &method.key else { return Ok(()) };
        if method.r#static {
            return Ok(());
        }
        let mark = self.mark();
        let key = self.private_key(name)?;
        let function = self.load_hidden(hidden_key_name(self.allocator, index), None)?;
        self.op_x(Op::AddPrivate, 0, key, function, method_kind(method.kind) + 1);
        self.free(mark);
        Ok(())
    }

    fn field(&mut self, it: &PropertyDefinition<'a>, index: usize) -> Result {
        self.pos(it.span.start);
        if let PropertyKey::PrivateIdentifier(name) = &it.key {
            let key = self.private_key(name)?;
            let text = private_name(self.allocator, &name.name);
            let value = self.field_value(it, NameHint::Static(text))?;
            self.op_x(Op::AddPrivate, 0, key, value, 0);
            return Ok(());
        }
        let name = match &it.key {
            PropertyKey::StaticIdentifier(id) => Some(Text::from(id.name.as_str())),
            PropertyKey::StringLiteral(s) if !it.computed && array_index(&s.value).is_none() => {
                Some(literal_text(s.value.as_str(), s.lone_surrogates))
            }
            _ => None,
        };
        if let Some(name) = name {
            let hint = it.key.static_name();
            let hint = hint.as_deref().map_or(NameHint::None, NameHint::Static);
            let value = self.field_value(it, hint)?;
            self.pos(it.key.span().start);
            let ic = self.f.ic(name);
            self.op_x(Op::DefineOwn, 0, value, 0, ic);
            return Ok(());
        }
        let key = if it.computed {
            self.load_hidden(hidden_key_name(self.allocator, index), None)?
        } else {
            let key = self.alloc()?;
            self.property_key(&it.key, key)?;
            key
        };
        let value = self.field_value(it, NameHint::Key(key, 0))?;
        self.pos(it.key.span().start);
        self.op(Op::DefineField, 0, key, value);
        Ok(())
    }

    fn field_value(&mut self, it: &PropertyDefinition<'a>, hint: NameHint<'_>) -> Result<Reg> {
        match &it.value {
            Some(value) => self.value(value, None, hint),
            None => self.load_simple(Op::LoadUndefined, None),
        }
    }

    fn static_block(&mut self, it: &StaticBlock<'a>) -> Result {
        let Some(scope) = self.analysis.scope_of(it, Role::Main) else { return Ok(()) };
        self.enter_scope(scope)?;
        self.init_vars(scope, None)?;
        self.hoist_functions(&it.body)?;
        self.statement_list(&it.body)?;
        self.leave_scope();
        Ok(())
    }
}

fn method_kind(kind: MethodDefinitionKind) -> u32 {
    match kind {
        MethodDefinitionKind::Get => 1,
        MethodDefinitionKind::Set => 2,
        _ => 0,
    }
}

/// The length of the white space and comments that a text begins with.
fn leading_trivia(text: &str) -> usize {
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        rest = match (trimmed.strip_prefix("//"), trimmed.strip_prefix("/*")) {
            (Some(line), _) => line.find(['\n', '\r', '\u{2028}', '\u{2029}']).map_or("", |end| &line[end..]),
            (_, Some(block)) => block.split_once("*/").map_or("", |(_, after)| after),
            (None, None) => return text.len() - trimmed.len(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::leading_trivia;

    #[test]
    fn trivia_is_white_space_and_comments() {
        assert_eq!(leading_trivia("f() {}"), 0);
        assert_eq!(leading_trivia(" /* a */ // b\n /* */f"), 20);
        assert_eq!(leading_trivia(" /* open"), 8);
    }
}
