//! What of TypeScript and JSX has a meaning at run time becomes JavaScript: enums, namespaces, parameter properties, `import =`, elements;
//! and an import that only ever names a type goes away, as the language has it (oxc's transformer, with nothing of ECMAScript lowered).
//!
//! Invariant: a tree that has none of these is not touched. Nodes that are made have an empty span, for which the compiler assumes nothing
//! about what ran before.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_diagnostics::OxcDiagnostic;
use oxc_semantic::{ScopeFlags, Scoping};
use oxc_transformer::{JsxOptions, TransformOptions, Transformer};

/// Whether the tree has something to lower.
pub(super) fn is_needed(program: &Program<'_>) -> bool {
    let mut finder = Finder { found: false };
    finder.visit_program(program);
    finder.found
}

/// Lowers the tree. What it cannot express is told.
pub(super) fn lower<'a>(
    allocator: &'a Allocator,
    program: &mut Program<'a>,
    scoping: Scoping,
    name: &str,
) -> Vec<OxcDiagnostic> {
    let mut options = TransformOptions { jsx: JsxOptions::enable(), ..TransformOptions::default() };
    options.jsx.display_name_plugin = false;
    let lowered = Transformer::new(allocator, Path::new(name), &options).build_with_scoping(scoping, program);
    lowered.diagnostics.into_iter().map(in_our_words).collect()
}

/// The transformer's messages lead to its own documents.
fn in_our_words(diagnostic: OxcDiagnostic) -> OxcDiagnostic {
    if !diagnostic.message.starts_with("Namespaces exporting non-const") {
        return diagnostic;
    }
    let said = OxcDiagnostic::error("a namespace can export `const` and no other variable here");
    match diagnostic.labels.first() {
        Some(label) => said.with_label(label.clone()),
        None => said,
    }
}

struct Finder {
    found: bool,
}

impl<'a> Visit<'a> for Finder {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        if !self.found {
            walk::walk_statement(self, it);
        }
    }

    fn visit_import_declaration(&mut self, _it: &ImportDeclaration<'a>) {
        self.found = true;
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        self.found |= !it.declare;
    }

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        self.found |= !it.declare;
    }

    fn visit_ts_import_equals_declaration(&mut self, _it: &TSImportEqualsDeclaration<'a>) {
        self.found = true;
    }

    fn visit_ts_export_assignment(&mut self, _it: &TSExportAssignment<'a>) {
        self.found = true;
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        self.found |= it.accessibility.is_some() || it.readonly || it.r#override;
        walk::walk_formal_parameter(self, it);
    }

    fn visit_jsx_element(&mut self, _it: &JSXElement<'a>) {
        self.found = true;
    }

    fn visit_jsx_fragment(&mut self, _it: &JSXFragment<'a>) {
        self.found = true;
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if !self.found {
            walk::walk_function(self, it, flags);
        }
    }

    // Nothing in a type has a meaning at run time.
    fn visit_ts_type(&mut self, _it: &TSType<'a>) {}
}
