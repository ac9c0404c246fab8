//! Declaration gathering: the spec's BoundNames, LexicallyScopedDeclarations and VarScopedDeclarations.
//!
//! Pure walks over the tree that call back with names; the scope analysis decides what they mean.

use oxc_ast::ast::*;
use oxc_span::{GetSpan, Span};

use super::scope::{BindingKind, ModuleName};

/// BoundNames of a pattern.
pub(super) fn pattern<'a>(pattern_: &BindingPattern<'a>, declare: &mut dyn FnMut(&'a str)) {
    match pattern_ {
        BindingPattern::BindingIdentifier(id) => declare(id.name.as_str()),
        BindingPattern::AssignmentPattern(with_default) => pattern(&with_default.left, declare),
        BindingPattern::ObjectPattern(object) => {
            object.properties.iter().for_each(|property| pattern(&property.value, declare));
            if let Some(rest) = &object.rest {
                pattern(&rest.argument, declare);
            }
        }
        BindingPattern::ArrayPattern(array) => {
            array.elements.iter().flatten().for_each(|element| pattern(element, declare));
            if let Some(rest) = &array.rest {
                pattern(&rest.argument, declare);
            }
        }
    }
}

/// From which offset on a reference finds a binding initialised without a look. A declaration that lowering made stands nowhere: every
/// reference to it looks.
fn initialized_at(declaration: Span) -> u32 {
    if declaration.is_empty() { u32::MAX } else { declaration.end }
}

/// Declares the names of a `let`, `const`, `using` or `await using` declaration.
pub(super) fn lexical_declaration<'a>(
    declaration: &VariableDeclaration<'a>,
    declare: &mut dyn FnMut(&'a str, BindingKind, u32),
) {
    let kind = match declaration.kind {
        VariableDeclarationKind::Var => return,
        VariableDeclarationKind::Let => BindingKind::Let,
        _ => BindingKind::Const,
    };
    for declarator in &declaration.declarations {
        pattern(&declarator.id, &mut |name| declare(name, kind, initialized_at(declarator.span)));
    }
}

/// The declaration that a statement is or exports.
pub(super) fn declaration_of<'s, 'a>(statement: &'s Statement<'a>) -> Option<&'s Declaration<'a>> {
    match statement {
        Statement::ExportDeclaration(export) => Some(&export.declaration),
        statement => statement.as_declaration(),
    }
}

/// Declares what a statement list declares lexically.
pub(super) fn lexical<'a>(statements: &[Statement<'a>], declare: &mut dyn FnMut(&'a str, BindingKind, u32)) {
    for statement in statements {
        if let Statement::ExportDefaultDeclaration(export) = statement {
            default_export(export, declare);
            continue;
        }
        match declaration_of(statement) {
            Some(Declaration::VariableDeclaration(declaration)) if !declaration.declare => {
                lexical_declaration(declaration, declare);
            }
            Some(Declaration::FunctionDeclaration(function)) if function.body.is_some() => {
                if let Some(id) = &function.id {
                    declare(id.name.as_str(), BindingKind::Function, 0);
                }
            }
            Some(Declaration::ClassDeclaration(class)) if !class.declare => {
                if let Some(id) = &class.id {
                    declare(id.name.as_str(), BindingKind::Let, initialized_at(class.span));
                }
            }
            _ => {}
        }
    }
}

/// The local name of an anonymous default export.
pub(super) const DEFAULT_EXPORT_NAME: &str = "*default*";

fn default_export<'a>(
    export: &ExportDefaultDeclaration<'a>,
    declare: &mut dyn FnMut(&'a str, BindingKind, u32),
) {
    match &export.declaration {
        ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
            let name = function.id.as_ref().map_or(DEFAULT_EXPORT_NAME, |id| id.name.as_str());
            declare(name, BindingKind::Function, 0);
        }
        ExportDefaultDeclarationKind::ClassDeclaration(class) => {
            let name = class.id.as_ref().map_or(DEFAULT_EXPORT_NAME, |id| id.name.as_str());
            declare(name, BindingKind::Let, initialized_at(class.span));
        }
        _ => declare(DEFAULT_EXPORT_NAME, BindingKind::Let, initialized_at(export.span)),
    }
}

/// VarDeclaredNames of a statement list (functions at its top level are lexical here).
pub(super) fn vars<'a>(statements: &[Statement<'a>], declare: &mut dyn FnMut(&'a str)) {
    statements.iter().for_each(|statement| vars_of(statement, declare));
}

fn var_declaration<'a>(declaration: &VariableDeclaration<'a>, declare: &mut dyn FnMut(&'a str)) {
    if declaration.kind == VariableDeclarationKind::Var && !declaration.declare {
        declaration.declarations.iter().for_each(|declarator| pattern(&declarator.id, declare));
    }
}

fn for_left<'a>(left: &ForStatementLeft<'a>, declare: &mut dyn FnMut(&'a str)) {
    if let ForStatementLeft::VariableDeclaration(declaration) = left {
        var_declaration(declaration, declare);
    }
}

fn vars_of<'a>(statement: &Statement<'a>, declare: &mut dyn FnMut(&'a str)) {
    match statement {
        Statement::BlockStatement(block) => vars(&block.body, declare),
        Statement::IfStatement(it) => {
            vars_of(&it.consequent, declare);
            if let Some(alternate) = &it.alternate {
                vars_of(alternate, declare);
            }
        }
        Statement::DoWhileStatement(it) => vars_of(&it.body, declare),
        Statement::WhileStatement(it) => vars_of(&it.body, declare),
        Statement::LabeledStatement(it) => vars_of(&it.body, declare),
        Statement::ForStatement(it) => {
            if let Some(ForStatementInit::VariableDeclaration(declaration)) = &it.init {
                var_declaration(declaration, declare);
            }
            vars_of(&it.body, declare);
        }
        Statement::ForInStatement(it) => {
            for_left(&it.left, declare);
            vars_of(&it.body, declare);
        }
        Statement::ForOfStatement(it) => {
            for_left(&it.left, declare);
            vars_of(&it.body, declare);
        }
        Statement::SwitchStatement(it) => it.cases.iter().for_each(|case| vars(&case.consequent, declare)),
        Statement::TryStatement(it) => {
            vars(&it.block.body, declare);
            if let Some(handler) = &it.handler {
                vars(&handler.body.body, declare);
            }
            if let Some(finalizer) = &it.finalizer {
                vars(&finalizer.body, declare);
            }
        }
        statement => {
            if let Some(Declaration::VariableDeclaration(declaration)) = declaration_of(statement) {
                var_declaration(declaration, declare);
            }
        }
    }
}

/// Whether evaluating the parameters can run code or see names: then the body has a scope of its own.
pub(super) fn has_parameter_expressions(params: &FormalParameters<'_>) -> bool {
    params.items.iter().any(|item| item.initializer.is_some() || has_expression(&item.pattern))
        || params.rest.as_ref().is_some_and(|rest| has_expression(&rest.rest.argument))
}

fn has_expression(pattern: &BindingPattern<'_>) -> bool {
    match pattern {
        BindingPattern::BindingIdentifier(_) => false,
        BindingPattern::AssignmentPattern(_) => true,
        BindingPattern::ObjectPattern(object) => {
            object.properties.iter().any(|property| property.computed || has_expression(&property.value))
                || object.rest.as_ref().is_some_and(|rest| has_expression(&rest.argument))
        }
        BindingPattern::ArrayPattern(array) => {
            array.elements.iter().flatten().any(has_expression)
                || array.rest.as_ref().is_some_and(|rest| has_expression(&rest.argument))
        }
    }
}

/// Whether a class element is run by the instance (or static) initialiser function.
pub(super) fn is_initialized(element: &ClassElement<'_>, is_static: bool) -> bool {
    match element {
        ClassElement::PropertyDefinition(field) => field.r#static == is_static && !field.declare,
        ClassElement::AccessorProperty(field) => field.r#static == is_static,
        ClassElement::StaticBlock(_) => is_static,
        ClassElement::MethodDefinition(method) => {
            !is_static && !method.r#static && matches!(method.key, PropertyKey::PrivateIdentifier(_))
        }
        ClassElement::TSIndexSignature(_) => false,
    }
}

/// Whether the class scope keeps a computed key or a private method for the initialiser function.
pub(super) fn has_hidden_value(element: &ClassElement<'_>) -> bool {
    match element {
        ClassElement::PropertyDefinition(field) => field.computed,
        element => is_initialized(element, false) && matches!(element, ClassElement::MethodDefinition(_)),
    }
}

/// Which top-level names of a module are imported or exported.
pub(super) fn module<'a>(statements: &[Statement<'a>], name: &mut dyn FnMut(&'a str, ModuleName)) {
    for statement in statements {
        match statement {
            Statement::ImportDeclaration(import) => {
                for specifier in import.specifiers.iter().flatten() {
                    match specifier {
                        ImportDeclarationSpecifier::ImportSpecifier(it) => {
                            name(it.local.name.as_str(), ModuleName::Imported);
                        }
                        ImportDeclarationSpecifier::ImportDefaultSpecifier(it) => {
                            name(it.local.name.as_str(), ModuleName::Imported);
                        }
                        ImportDeclarationSpecifier::ImportNamespaceSpecifier(it) => {
                            name(it.local.name.as_str(), ModuleName::Namespace);
                        }
                    }
                }
            }
            Statement::ExportNamedDeclaration(export) => {
                for specifier in &export.specifiers {
                    if let ModuleExportName::IdentifierReference(local) = &specifier.local {
                        name(local.name.as_str(), ModuleName::Exported);
                    }
                }
            }
            Statement::ExportDefaultDeclaration(export) => {
                let local = match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(function) => function.id.as_ref(),
                    ExportDefaultDeclarationKind::ClassDeclaration(class) => class.id.as_ref(),
                    _ => None,
                };
                name(local.map_or(DEFAULT_EXPORT_NAME, |id| id.name.as_str()), ModuleName::Exported);
            }
            Statement::ExportDeclaration(export) => {
                let statement = std::slice::from_ref(statement);
                let _ = export.span();
                vars(statement, &mut |local| name(local, ModuleName::Exported));
                lexical(statement, &mut |local, _, _| name(local, ModuleName::Exported));
            }
            _ => {}
        }
    }
}
