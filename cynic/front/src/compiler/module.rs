//! Modules: import and export entries (the spec's source text module record) and module-level statements.

use std::sync::Arc;

use oxc_ast::ast::*;
use oxc_span::GetSpan;

use super::expressions::{NameHint, literal_text};
use super::{Generator, Result, declare};
use crate::bytecode::Op;
use crate::bytecode::code::{FunctionCode, Text};

/// A module that is asked for.
#[derive(Clone, Debug)]
pub struct ModuleRequest {
    /// Where it is first asked for: a byte offset.
    pub offset: u32,
    /// The specifier as written.
    pub specifier: Text,
    /// Import attributes, sorted by key.
    pub attributes: Vec<(Text, Text)>,
}

/// What an import or a re-export takes from the other module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportName {
    /// One export.
    Name(Text),
    /// The namespace object.
    Namespace,
}

/// An import entry.
#[derive(Clone, Debug)]
pub struct ImportEntry {
    /// Index into the requests.
    pub request: u32,
    /// Where the import stands: a byte offset.
    pub offset: u32,
    /// What is imported.
    pub import: ImportName,
    /// The slot of the module scope that receives the cell (or the namespace object).
    pub slot: u32,
}

/// An export entry.
#[derive(Clone, Debug)]
pub enum ExportEntry {
    /// A binding of this module.
    Local {
        /// Name on the outside.
        name: Text,
        /// Slot that holds its cell.
        slot: u32,
    },
    /// A binding of another module.
    Indirect {
        /// Name on the outside.
        name: Text,
        /// Index into the requests.
        request: u32,
        /// Where the import or export stands: a byte offset.
        offset: u32,
        /// What is passed on.
        import: ImportName,
    },
    /// `export * from`.
    Star {
        /// Index into the requests.
        request: u32,
    },
}

/// A compiled module.
#[derive(Debug, Default)]
pub struct ModuleCode {
    /// Modules asked for, without duplicates, in source order.
    pub requests: Vec<ModuleRequest>,
    /// Imports.
    pub imports: Vec<ImportEntry>,
    /// Exports.
    pub exports: Vec<ExportEntry>,
    /// Slots of the module scope.
    pub slots: u32,
    /// Slots that hold cells of this module's own bindings.
    pub cells: Vec<u32>,
    /// The body uses `await` outside functions.
    pub has_top_level_await: bool,
    /// The body.
    pub body: Option<Arc<FunctionCode>>,
}

impl ModuleCode {
    fn request(&mut self, source: &StringLiteral<'_>, with: Option<&WithClause<'_>>) -> u32 {
        let mut attributes: Vec<(Text, Text)> = with
            .map(|clause| {
                let text = |literal: &StringLiteral<'_>| {
                    literal_text(literal.value.as_str(), literal.lone_surrogates)
                };
                let key = |key: &ImportAttributeKey<'_>| match key {
                    ImportAttributeKey::Identifier(id) => Text::from(id.name.as_str()),
                    ImportAttributeKey::StringLiteral(literal) => text(literal),
                };
                clause.with_entries.iter().map(|entry| (key(&entry.key), text(&entry.value))).collect()
            })
            .unwrap_or_default();
        attributes.sort_by_key(|(key, _)| key.to_lossy());
        let specifier = literal_text(source.value.as_str(), source.lone_surrogates);
        let is_same = |known: &ModuleRequest| known.specifier == specifier && known.attributes == attributes;
        let known = self.requests.iter().position(is_same);
        known.unwrap_or_else(|| {
            self.requests.push(ModuleRequest { offset: source.span.start, specifier, attributes });
            self.requests.len() - 1
        }) as u32
    }
}

fn export_name(name: &ModuleExportName<'_>) -> Text {
    match name {
        ModuleExportName::IdentifierName(id) => id.name.as_str().into(),
        ModuleExportName::IdentifierReference(id) => id.name.as_str().into(),
        ModuleExportName::StringLiteral(it) => literal_text(it.value.as_str(), it.lone_surrogates),
    }
}

impl<'a> Generator<'a> {
    /// Collects the entries of a module whose scope is entered.
    pub(super) fn module_entries(&mut self, statements: &[Statement<'a>]) -> Result<ModuleCode> {
        let mut module = ModuleCode::default();
        for statement in statements {
            if let Statement::ImportDeclaration(it) = statement {
                self.import_entries(it, &mut module);
            } else {
                self.reserve_request(statement, &mut module);
            }
        }
        for statement in statements {
            self.export_entries(statement, &mut module);
        }
        let root = self.analysis.scope(0);
        module.slots = root.bindings.iter().filter(|binding| binding.captured).count() as u32;
        let imported: Vec<u32> = module
            .imports
            .iter()
            .filter(|entry| entry.import != ImportName::Namespace)
            .map(|entry| entry.slot)
            .collect();
        let cells =
            root.bindings.iter().filter(|binding| binding.exported && !imported.contains(&binding.slot));
        module.cells = cells.map(|binding| binding.slot).collect();
        Ok(module)
    }

    /// Requests are numbered in source order, re-exports included.
    fn reserve_request(&self, statement: &Statement<'a>, module: &mut ModuleCode) {
        match statement {
            Statement::ExportFromDeclaration(it) if it.export_kind.is_value() => {
                module.request(&it.source, it.with_clause.as_deref());
            }
            Statement::ExportAllDeclaration(it) if it.export_kind.is_value() => {
                module.request(&it.source, it.with_clause.as_deref());
            }
            _ => {}
        }
    }

    fn slot_of(&self, name: &str) -> u32 {
        let root = self.analysis.scope(0);
        root.names.get(name).map_or(0, |at| root.bindings[*at as usize].slot)
    }

    fn import_entries(&self, it: &ImportDeclaration<'a>, module: &mut ModuleCode) {
        if it.import_kind.is_type() {
            return;
        }
        let request = module.request(&it.source, it.with_clause.as_deref());
        for specifier in it.specifiers.iter().flatten() {
            let (local, import) = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(it) => {
                    if it.import_kind.is_type() {
                        continue;
                    }
                    (&it.local, ImportName::Name(export_name(&it.imported)))
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(it) => {
                    (&it.local, ImportName::Name("default".into()))
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(it) => {
                    (&it.local, ImportName::Namespace)
                }
            };
            let slot = self.slot_of(local.name.as_str());
            let offset = specifier.span().start;
            module.imports.push(ImportEntry { request, offset, import, slot });
        }
    }

    fn local_export(&self, local: &str, name: Text, module: &mut ModuleCode) {
        let slot = self.slot_of(local);
        let entry = module.imports.iter().find(|entry| entry.slot == slot).filter(|_| self.is_import(local));
        let entry = match entry {
            Some(entry) => {
                let (request, offset) = (entry.request, entry.offset);
                ExportEntry::Indirect { name, request, offset, import: entry.import.clone() }
            }
            None => ExportEntry::Local { name, slot },
        };
        module.exports.push(entry);
    }

    fn is_import(&self, local: &str) -> bool {
        let root = self.analysis.scope(0);
        root.names.get(local).is_some_and(|at| root.bindings[*at as usize].kind == super::BindingKind::Import)
    }

    fn export_entries(&self, statement: &Statement<'a>, module: &mut ModuleCode) {
        match statement {
            Statement::ExportNamedDeclaration(it) if it.export_kind.is_value() => {
                for specifier in it.specifiers.iter().filter(|specifier| specifier.export_kind.is_value()) {
                    if let ModuleExportName::IdentifierReference(local) = &specifier.local {
                        self.local_export(local.name.as_str(), export_name(&specifier.exported), module);
                    }
                }
            }
            Statement::ExportFromDeclaration(it) if it.export_kind.is_value() => {
                let request = module.request(&it.source, it.with_clause.as_deref());
                for specifier in it.specifiers.iter().filter(|specifier| specifier.export_kind.is_value()) {
                    let import = ImportName::Name(export_name(&specifier.local));
                    let name = export_name(&specifier.exported);
                    let offset = specifier.span.start;
                    module.exports.push(ExportEntry::Indirect { name, request, offset, import });
                }
            }
            Statement::ExportAllDeclaration(it) if it.export_kind.is_value() => {
                let request = module.request(&it.source, it.with_clause.as_deref());
                module.exports.push(match &it.exported {
                    None => ExportEntry::Star { request },
                    Some(name) => ExportEntry::Indirect {
                        name: export_name(name),
                        request,
                        offset: it.span.start,
                        import: ImportName::Namespace,
                    },
                });
            }
            Statement::ExportDefaultDeclaration(it) => {
                let local = match &it.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(it) => it.id.as_ref(),
                    ExportDefaultDeclarationKind::ClassDeclaration(it) => it.id.as_ref(),
                    _ => None,
                };
                let local = local.map_or(declare::DEFAULT_EXPORT_NAME, |id| id.name.as_str());
                self.local_export(local, "default".into(), module);
            }
            Statement::ExportDeclaration(_) => {
                let statement = std::slice::from_ref(statement);
                let mut names = Vec::new();
                declare::vars(statement, &mut |name| names.push(name));
                declare::lexical(statement, &mut |name, _, _| names.push(name));
                names.into_iter().for_each(|name| self.local_export(name, name.into(), module));
            }
            _ => {}
        }
    }

    pub(super) fn module_body(&mut self, statements: &[Statement<'a>]) -> Result {
        self.init_vars(0, None)?;
        self.statement_list(statements)
    }

    /// Statements that only modules have.
    pub(super) fn module_statement(&mut self, statement: &Statement<'a>) -> Result {
        let Statement::ExportDefaultDeclaration(it) = statement else { return Ok(()) };
        let mark = self.mark();
        match &it.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(_)
            | ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => {}
            ExportDefaultDeclarationKind::ClassDeclaration(class) => {
                let value = self.class(class, None, NameHint::Static("default"))?;
                let local = class.id.as_ref().map_or(declare::DEFAULT_EXPORT_NAME, |id| id.name.as_str());
                self.initialize_name(local, value)?;
            }
            declaration => {
                if let Some(e) = declaration.as_expression() {
                    let value = self.value(e, None, NameHint::Static("default"))?;
                    self.initialize_name(declare::DEFAULT_EXPORT_NAME, value)?;
                }
            }
        }
        self.free(mark);
        Ok(())
    }
}

/// Whether the module body suspends outside functions.
pub(super) fn has_top_level_await(code: &FunctionCode) -> bool {
    let mut pc = 0;
    while let Some(op) = code.code.get(pc).and_then(|word| Op::decode(*word)) {
        if op == Op::Await {
            return true;
        }
        pc += op.len();
    }
    false
}
