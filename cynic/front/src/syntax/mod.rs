//! Front end: source text to a checked syntax tree, over the oxc parser.
//!
//! Owns the language's goals (script, module, eval), forced strictness, the choice of early errors and the form of a
//! syntax error. The tree it returns passed every early-error check, so the compiler may rely on it.

mod entry;
mod enum_bounds;
mod error;
mod lowering;
pub(crate) mod nesting;
pub(crate) mod raw;
pub mod source_text;
pub mod weight;
mod words;

use oxc_allocator::{Allocator, Dummy};
use oxc_ast::ast::{Directive, Program};
use oxc_diagnostics::OxcDiagnostic;
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::SemanticBuilder;
use oxc_span::{GetSpan, SourceType};

use crate::bytecode::code::EvalSite;
pub use entry::{awaiting_entry, last_expression};
pub use error::SyntaxError;
pub use source_text::SourceText;

/// The grammar's start symbol, with what surrounds eval code.
#[derive(Clone, Copy, Debug)]
pub enum Goal<'e> {
    /// A script: strict, although nothing in it says so.
    Script,
    /// A module.
    Module,
    /// Eval code.
    Eval {
        /// What is around a direct call; `None` is an indirect one.
        site: Option<&'e EvalSite>,
        /// See [`SourceText::surrogates`].
        surrogates: &'e [u32],
    },
}

/// What to parse.
#[derive(Clone, Copy, Debug)]
pub struct Input<'s> {
    /// The text.
    pub text: &'s str,
    /// Display name for messages.
    pub name: &'s str,
    /// What may stand in the text besides JavaScript.
    pub dialect: Dialect,
    /// Bytes at the beginning that are not the program's, and do not count for places.
    pub hidden: u32,
}

/// What a text may have that is not JavaScript, and becomes it or goes away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// Types, enums, namespaces, parameter properties.
    pub typescript: bool,
    /// Elements such as `<p>text</p>`.
    pub jsx: bool,
}

impl Dialect {
    /// The language alone.
    pub const JAVASCRIPT: Self = Self { typescript: false, jsx: false };
    /// With types.
    pub const TYPESCRIPT: Self = Self { typescript: true, jsx: false };

    /// What the ending of a name says.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        let ends_with = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        Self { typescript: ends_with(&[".ts", ".mts", ".cts", ".tsx"]), jsx: ends_with(&[".tsx", ".jsx"]) }
    }
}

/// Parses and checks `input`.
pub fn parse<'a>(
    allocator: &'a Allocator,
    input: Input<'a>,
    goal: Goal<'_>,
) -> Result<&'a Program<'a>, SyntaxError> {
    let options = ParseOptions { preserve_parens: true, ..ParseOptions::default() };
    let result = Parser::new(allocator, input.text, source_type(input, goal)).with_options(options).parse();
    first_error(&result.diagnostics, input, goal)?;
    if result.panicked {
        return Err(SyntaxError::at(input, 0, "the source cannot be parsed".into()));
    }
    let mut program = result.program;
    let is_module = matches!(goal, Goal::Module);
    if let Some(item) = program.body.iter().find(|item| !is_module && item.is_module_declaration()) {
        // The parser lets TypeScript's scripts have them.
        let message = "`import` and `export` may only appear in a module";
        return Err(SyntaxError::at(input, item.span().start, message.into()));
    }
    if !is_module {
        let mut directive = Directive::dummy(allocator);
        directive.directive = "use strict".into();
        program.directives.push(directive);
    }
    let program: &'a mut Program<'a> = allocator.alloc(program);
    let is_lowered = input.dialect != Dialect::JAVASCRIPT && lowering::is_needed(program);
    if let Some(offset) = is_lowered.then(|| enum_bounds::excess(program)).flatten() {
        return Err(SyntaxError::at(input, offset, "the constants of these enums are too long".into()));
    }
    let semantic = SemanticBuilder::new_compiler().with_enum_eval(is_lowered).build(program);
    first_error(&semantic.diagnostics, input, goal)?;
    if is_lowered {
        let scoping = semantic.semantic.into_scoping();
        let diagnostics = lowering::lower(allocator, program, scoping, input.name);
        first_error(&diagnostics, input, goal)?;
    }
    Ok(program)
}

fn source_type(input: Input<'_>, goal: Goal<'_>) -> SourceType {
    let source_type = match goal {
        Goal::Module => SourceType::mjs(),
        Goal::Script | Goal::Eval { .. } => SourceType::script(),
    };
    let Dialect { typescript, jsx } = input.dialect;
    let source_type = if typescript { source_type.with_typescript(true) } else { source_type };
    source_type.with_jsx(jsx)
}

fn first_error(diagnostics: &[OxcDiagnostic], input: Input<'_>, goal: Goal<'_>) -> Result<(), SyntaxError> {
    let found = diagnostics.iter().find(|diagnostic| !is_allowed(diagnostic, goal));
    match found {
        None => Ok(()),
        Some(diagnostic) => {
            let offset = diagnostic.labels.first().map_or(0, |label| label.offset());
            Err(SyntaxError::at(input, offset, diagnostic.message.to_string()))
        }
    }
}

/// Direct eval inherits permissions from its caller that the parser, which sees the text alone, does not know of.
fn is_allowed(diagnostic: &OxcDiagnostic, goal: Goal<'_>) -> bool {
    let Goal::Eval { site: Some(site), .. } = goal else { return false };
    let message = &*diagnostic.message;
    let private = |prefix: &str, suffix: &str| {
        message.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(suffix)).is_some_and(|name| {
            site.scopes.iter().flatten().any(|variable| variable.name.strip_prefix('#') == Some(name))
        })
    };
    (site.in_function && message == "Unexpected new.target expression")
        || (site.in_method && message.starts_with("'super' can only be referenced in"))
        || (site.in_derived_constructor && message.starts_with("Super calls are not permitted outside"))
        || private("Private identifier '#", "' is not allowed outside class bodies")
        || private("Private field '#", "' must be declared in an enclosing class")
}
