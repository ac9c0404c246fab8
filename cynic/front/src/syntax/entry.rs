//! Entries of an interactive session that await at their top level: rewritten into a script.
//!
//! The entry becomes the body of an async function; what it declares becomes global variables, so that later entries see it. The script's
//! completion value is the function's promise, which fulfils with an array of one element, the entry's value (so that an entry's
//! value may be a promise itself).

use oxc_allocator::Allocator;
use oxc_ast::ast::*;
use oxc_ast_visit::Visit;
use oxc_ast_visit::walk;
use oxc_span::{GetSpan, Span};

use super::{Dialect, Goal, Input, parse};

/// The script for an entry that awaits at its top level; `None` if it does not, or is wrong.
pub fn awaiting_entry(text: &str, typescript: bool) -> Option<String> {
    if !text.contains("await") {
        return None;
    }
    let allocator = Allocator::default();
    let input = Input { text, name: "<repl>", dialect: Dialect { typescript, jsx: false }, hidden: 0 };
    let program = parse(&allocator, input, Goal::Module).ok()?;
    let mut finder = AwaitFinder::default();
    finder.visit_program(program);
    if !finder.found || program.body.iter().any(|statement| statement.is_module_declaration()) {
        return None;
    }
    let mut entry = Rewriter { text, globals: String::new(), body: String::new() };
    let last = program.body.len().saturating_sub(1);
    for (index, statement) in program.body.iter().enumerate() {
        entry.statement(statement, index == last);
    }
    Some(format!("{}(async () => {{{}\n}})()", entry.globals, entry.body))
}

/// Where the last statement of the `code` of an async function's body begins, if that is an expression: what an entry of a console would show. `None` if it is
/// something else, or the body is wrong.
pub fn last_expression(code: &str, typescript: bool) -> Option<usize> {
    const BEFORE: &str = "(async () => {";
    let text = format!("{BEFORE}{code}\n}})");
    let allocator = Allocator::default();
    let input = Input {
        text: allocator.alloc_str(&text),
        name: "<body>",
        dialect: Dialect { typescript, jsx: false },
        hidden: 0,
    };
    let program = parse(&allocator, input, Goal::Script).ok()?;
    let [Statement::ExpressionStatement(only)] = &program.body[..] else { return None };
    let Expression::ParenthesizedExpression(only) = &only.expression else { return None };
    let Expression::ArrowFunctionExpression(function) = &only.expression else { return None };
    let ArrowFunctionBody::FunctionBody(body) = &function.body else { return None };
    match body.statements.last()? {
        Statement::ExpressionStatement(it) => (it.span().start as usize).checked_sub(BEFORE.len()),
        _ => None,
    }
}

/// Looks for `await` outside of functions.
#[derive(Default)]
struct AwaitFinder {
    found: bool,
}

impl<'a> Visit<'a> for AwaitFinder {
    fn visit_await_expression(&mut self, _it: &AwaitExpression<'a>) {
        self.found = true;
    }
    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.found |= it.r#await;
        walk::walk_for_of_statement(self, it);
    }
    fn visit_function(&mut self, _it: &Function<'a>, _flags: oxc_syntax::scope::ScopeFlags) {}
    fn visit_arrow_function_expression(&mut self, _it: &ArrowFunctionExpression<'a>) {}
}

struct Rewriter<'t> {
    text: &'t str,
    /// Declarations that come before the function.
    globals: String,
    body: String,
}

impl Rewriter<'_> {
    fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    fn declare(&mut self, name: &str) {
        self.globals.push_str("var ");
        self.globals.push_str(name);
        self.globals.push_str("; ");
    }

    fn statement(&mut self, statement: &Statement<'_>, is_last: bool) {
        let text = self.slice(statement.span()).to_owned();
        match statement {
            Statement::ExpressionStatement(it) if is_last => {
                let value = self.slice(it.expression.span()).to_owned();
                self.body.push_str(&format!("return [({value}\n)];"));
            }
            Statement::VariableDeclaration(it) if !it.kind.is_using() => self.variables(it),
            Statement::FunctionDeclaration(_) => {
                self.globals.push_str(&text);
                self.globals.push('\n');
            }
            Statement::ClassDeclaration(it) => {
                if let Some(id) = &it.id {
                    self.declare(id.name.as_str());
                    self.body.push_str(&format!("{} = {text};\n", id.name));
                }
            }
            _ => {
                self.body.push_str(&text);
                self.body.push('\n');
            }
        }
    }

    fn variables(&mut self, it: &VariableDeclaration<'_>) {
        for declarator in &it.declarations {
            for identifier in declarator.id.get_binding_identifiers() {
                self.declare(identifier.name.as_str());
            }
            let target = self.slice(declarator.id.span()).to_owned();
            let value = declarator.init.as_ref().map(|init| self.slice(init.span()).to_owned());
            match value {
                Some(value) => self.body.push_str(&format!("({target} = {value}\n);")),
                None if it.kind == VariableDeclarationKind::Var => {}
                None => self.body.push_str(&format!("{target} = undefined;")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{awaiting_entry, last_expression};

    #[test]
    fn the_last_expression_of_a_body_is_found() {
        for (body, rest) in [
            ("1; 2", Some("2")),
            ("const a = 1\na + 1 // it", Some("a + 1 // it")),
            ("let x = await f();\n(x)", Some("(x)")),
            ("f(); /* c */ `}`", Some("`}`")),
            ("return 1", None),
            ("if (a) 1", None),
            ("const a = 1", None),
            ("", None),
            ("a }); (() => { b", None),
            ("}); (async () => { b", None),
            ("(", None),
        ] {
            assert_eq!(last_expression(body, true).map(|at| &body[at..]), rest, "{body}");
        }
    }

    #[test]
    fn only_entries_that_await_are_rewritten() {
        for text in
            ["1 + 1", "async () => await x", "async function f() { await x }", "let await_ = 1", "await ("]
        {
            assert_eq!(awaiting_entry(text, false), None, "{text}");
        }
    }

    #[test]
    fn declarations_become_global() {
        let script =
            awaiting_entry("const { a, b: [c] } = await x; class K {} function f() {} let d; a + c", false);
        let script = script.expect("it awaits");
        assert!(
            script.starts_with("var a; var c; var K; function f() {}\nvar d; (async () => {"),
            "{script}"
        );
        assert!(script.contains("({ a, b: [c] } = await x\n);"), "{script}");
        assert!(script.ends_with("return [(a + c\n)];\n})()"), "{script}");
    }
}
