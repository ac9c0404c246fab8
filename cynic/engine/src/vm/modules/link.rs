//! Resolving exports, and Link (16.2.1.5.1): imports get their cells, functions are instantiated. Where a module is asked for, which is the
//! place that an error about it names.

use rustc_hash::FxHashSet;

use super::{Module, ModuleRecord, Status, module_of};
use crate::bytecode::Text;
use crate::compiler::{ExportEntry, ImportName};
use crate::gc::{Gc, ValueArray};
use crate::realm::Intrinsic;
use crate::value::Value;
use crate::vm::{Abrupt, JsResult, Vm};

/// What ResolveExport finds.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Resolution {
    /// The cell of a binding.
    Cell(Gc<ValueArray>),
    /// The namespace of a module.
    Namespace(Module),
    /// Nothing.
    Missing,
    /// Several star exports disagree.
    Ambiguous,
}

/// The module behind request `index`.
pub(crate) fn requested(module: &ModuleRecord, index: u32) -> Option<Module> {
    module.requested.borrow().get(index as usize).copied().and_then(module_of)
}

fn own_cell(module: &ModuleRecord, slot: u32) -> Resolution {
    let cell = module.scope.get().as_value_array().and_then(|scope| scope.get(slot + 1).as_value_array());
    cell.map_or(Resolution::Missing, Resolution::Cell)
}

/// What a module itself says about an export.
enum Named<'m> {
    /// This is it.
    Here(Resolution),
    /// It is another module's export.
    Elsewhere(Module, &'m Text),
    /// It says nothing.
    Unknown,
}

fn named<'m>(module: &'m ModuleRecord, name: &Text) -> Named<'m> {
    for entry in &module.code.exports {
        match entry {
            ExportEntry::Local { name: exported, slot } if exported == name => {
                return Named::Here(own_cell(module, *slot));
            }
            ExportEntry::Indirect { name: exported, request, import, .. } if exported == name => {
                return match (requested(module, *request), import) {
                    (None, _) => Named::Here(Resolution::Missing),
                    (Some(target), ImportName::Namespace) => Named::Here(Resolution::Namespace(target)),
                    (Some(target), ImportName::Name(import)) => Named::Elsewhere(target, import),
                };
            }
            _ => {}
        }
    }
    Named::Unknown
}

fn stars(module: &ModuleRecord) -> impl Iterator<Item = Module> + '_ {
    module.code.exports.iter().filter_map(|entry| match entry {
        ExportEntry::Star { request } => requested(module, *request),
        _ => None,
    })
}

impl Vm {
    /// ResolveExport (16.2.1.6.3), without its recursion: whatever way a name is found, what is found must be one thing.
    pub(crate) fn resolve_export(&mut self, module: Module, name: &Text) -> JsResult<Resolution> {
        let default = Text::from("default");
        let mut found = Resolution::Missing;
        let mut seen = FxHashSet::default();
        let mut pending = vec![(module, name.clone())];
        while let Some((module, name)) = pending.pop() {
            if !seen.insert((module.addr(), name.clone())) {
                continue;
            }
            self.poll_n(1 + module.code.exports.len() as u32)?;
            let resolution = match module.default_cell.get().as_value_array() {
                Some(cell) if name == default => Resolution::Cell(cell),
                Some(_) => Resolution::Missing,
                None => match named(&module, &name) {
                    Named::Here(resolution) => resolution,
                    Named::Elsewhere(target, import) => {
                        pending.push((target, import.clone()));
                        Resolution::Missing
                    }
                    Named::Unknown => {
                        if name != default {
                            pending.extend(stars(&module).map(|target| (target, name.clone())));
                        }
                        Resolution::Missing
                    }
                },
            };
            if resolution != Resolution::Missing {
                if found != Resolution::Missing && found != resolution {
                    return Ok(Resolution::Ambiguous);
                }
                found = resolution;
            }
        }
        Ok(found)
    }

    /// GetExportedNames (16.2.1.6.2), in no particular order.
    pub(crate) fn exported_names(&mut self, root: Module) -> JsResult<Vec<Text>> {
        let default = Text::from("default");
        let mut names = FxHashSet::default();
        let mut seen = FxHashSet::default();
        let mut pending = vec![root];
        while let Some(module) = pending.pop() {
            if !seen.insert(module.addr()) {
                continue;
            }
            self.poll_n(1 + module.code.exports.len() as u32)?;
            let passes = |name: &Text| module == root || *name != default;
            if module.default_cell.get().as_value_array().is_some() {
                names.extend(Some(default.clone()).filter(passes));
                continue;
            }
            for entry in &module.code.exports {
                match entry {
                    ExportEntry::Local { name, .. } | ExportEntry::Indirect { name, .. } if passes(name) => {
                        names.insert(name.clone());
                    }
                    _ => {}
                }
            }
            pending.extend(stars(&module));
        }
        Ok(names.into_iter().collect())
    }
}

impl Vm {
    /// Link: every module of the graph, dependencies first.
    pub(crate) fn link_module(&mut self, root: Module) -> JsResult<()> {
        let (mut order, mut touched) = (Vec::new(), Vec::new());
        if let Err(abrupt) = self.link_order(root, &mut order, &mut touched) {
            touched.iter().for_each(|module| module.status.set(Status::Unlinked));
            return Err(abrupt);
        }
        for module in &order {
            if let Err(abrupt) = self.initialize_environment(*module) {
                for module in order.iter().filter(|module| module.status.get() == Status::Linking) {
                    module.status.set(Status::Unlinked);
                }
                return Err(abrupt);
            }
        }
        for module in &order {
            module.status.set(Status::Linked);
        }
        Ok(())
    }

    /// Dependencies first; `touched` has them in the order in which they were met.
    fn link_order(
        &mut self,
        module: Module,
        order: &mut Vec<Module>,
        touched: &mut Vec<Module>,
    ) -> JsResult<()> {
        if module.status.get() != Status::Unlinked {
            return Ok(());
        }
        self.check_native_stack()?;
        module.status.set(Status::Linking);
        touched.push(module);
        let requested = module.requested.borrow().clone();
        for target in requested.into_iter().filter_map(module_of) {
            self.link_order(target, order, touched)?;
        }
        order.push(module);
        Ok(())
    }

    fn throw_unresolved(
        &mut self,
        (module, offset): (Module, u32),
        name: &Text,
        resolution: Resolution,
    ) -> Abrupt {
        let name = name.to_lossy();
        let why = if resolution == Resolution::Ambiguous { "is ambiguous" } else { "is not there" };
        let message = format!("the export '{name}' that '{}' asks for {why}", module.name);
        self.throw_at_import(ImportSite::Text(module, offset), Intrinsic::SyntaxErrorPrototype, &message)
    }

    /// InitializeEnvironment (16.2.1.6.4).
    fn initialize_environment(&mut self, module: Module) -> JsResult<()> {
        let Some(body) = &module.code.body else { return Ok(()) };
        for entry in &module.code.exports {
            if let ExportEntry::Indirect { name, offset, .. } = entry {
                let resolution = self.resolve_export(module, name)?;
                if matches!(resolution, Resolution::Missing | Resolution::Ambiguous) {
                    return Err(self.throw_unresolved((module, *offset), name, resolution));
                }
            }
        }
        self.bind_imports(module)?;
        let template = self.link(body, Value::cell(module));
        let coroutine =
            self.call_template(template, module.scope.get(), Value::UNDEFINED, &[], Value::UNDEFINED)?;
        module.coroutine.set(coroutine);
        module.write_barrier();
        Ok(())
    }

    fn bind_imports(&mut self, module: Module) -> JsResult<()> {
        let Some(scope) = module.scope.get().as_value_array() else { return Ok(()) };
        for entry in &module.code.imports {
            let Some(target) = requested(&module, entry.request) else { continue };
            let value = match &entry.import {
                ImportName::Namespace => {
                    let namespace = self.module_namespace(target)?;
                    match scope.get(entry.slot + 1).as_value_array() {
                        Some(cell) => {
                            cell.set(0, Value::object(namespace));
                            continue;
                        }
                        None => Value::object(namespace),
                    }
                }
                ImportName::Name(name) => match self.resolve_export(target, name)? {
                    Resolution::Cell(cell) => Value::cell(cell),
                    Resolution::Namespace(inner) => {
                        let namespace = Value::object(self.module_namespace(inner)?);
                        Value::cell(self.new_value_array(1, namespace))
                    }
                    resolution => {
                        return Err(self.throw_unresolved((module, entry.offset), name, resolution));
                    }
                },
            };
            scope.set(entry.slot + 1, value);
        }
        Ok(())
    }
}

/// Who asks for a module.
#[derive(Clone, Copy)]
pub(super) enum ImportSite {
    /// Code that runs, or the host: the stack says where.
    Running,
    /// A declaration of a module, at this offset of its text.
    Text(Module, u32),
}

impl Vm {
    /// Throws an error whose stack begins at `site`.
    pub(super) fn throw_at_import(
        &mut self,
        site: ImportSite,
        prototype: Intrinsic,
        message: &str,
    ) -> Abrupt {
        let error = self.new_error(prototype, message);
        if let ImportSite::Text(module, offset) = site
            && let Some(body) = &module.code.body
        {
            let stack = self.capture_stack_at(body.clone(), offset);
            error.set_slot(0, stack);
        }
        self.throw(Value::object(error))
    }

    /// Throws again, with the module's name and who asks for it, what parsing its text threw.
    pub(super) fn throw_unreadable_json(&mut self, site: ImportSite, key: &str) -> Abrupt {
        let error = self.take_exception();
        let header = error.as_object().map(|error| self.error_header(error)).unwrap_or_default();
        let message = header.strip_prefix("SyntaxError: ").unwrap_or(&header);
        let message = format!("cannot load module '{key}': {message}");
        self.throw_at_import(site, Intrinsic::SyntaxErrorPrototype, &message)
    }
}
