//! Resolving exports, and Link (16.2.1.5.1): imports get their cells, functions are instantiated.

use super::{Module, ModuleRecord, Status, module_of};
use crate::bytecode::Text;
use crate::compiler::{ExportEntry, ImportName};
use crate::gc::{Gc, ValueArray};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

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

/// ResolveExport (16.2.1.6.3).
pub(crate) fn resolve_export(module: Module, name: &Text, seen: &mut Vec<(Module, Text)>) -> Resolution {
    if seen.iter().any(|(known, known_name)| *known == module && known_name == name) {
        return Resolution::Missing;
    }
    seen.push((module, name.clone()));
    if let Some(cell) = module.default_cell.get().as_value_array() {
        return if *name == Text::from("default") { Resolution::Cell(cell) } else { Resolution::Missing };
    }
    for entry in &module.code.exports {
        match entry {
            ExportEntry::Local { name: exported, slot } if exported == name => {
                return own_cell(&module, *slot);
            }
            ExportEntry::Indirect { name: exported, request, import } if exported == name => {
                let Some(target) = requested(&module, *request) else { return Resolution::Missing };
                return match import {
                    ImportName::Namespace => Resolution::Namespace(target),
                    ImportName::Name(import) => resolve_export(target, import, seen),
                };
            }
            _ => {}
        }
    }
    if *name == Text::from("default") {
        return Resolution::Missing;
    }
    resolve_star_exports(module, name, seen)
}

fn resolve_star_exports(module: Module, name: &Text, seen: &mut Vec<(Module, Text)>) -> Resolution {
    let mut found = Resolution::Missing;
    for entry in &module.code.exports {
        let ExportEntry::Star { request } = entry else { continue };
        let Some(target) = requested(&module, *request) else { continue };
        match resolve_export(target, name, seen) {
            Resolution::Missing => {}
            Resolution::Ambiguous => return Resolution::Ambiguous,
            resolution if found == Resolution::Missing => found = resolution,
            resolution if found == resolution => {}
            _ => return Resolution::Ambiguous,
        }
    }
    found
}

/// GetExportedNames (16.2.1.6.2).
pub(crate) fn exported_names(module: Module, seen: &mut Vec<Module>) -> Vec<Text> {
    if seen.contains(&module) {
        return Vec::new();
    }
    seen.push(module);
    if module.default_cell.get().as_value_array().is_some() {
        return vec![Text::from("default")];
    }
    let mut names = Vec::new();
    for entry in &module.code.exports {
        match entry {
            ExportEntry::Local { name, .. } | ExportEntry::Indirect { name, .. } => names.push(name.clone()),
            ExportEntry::Star { request } => {
                let Some(target) = requested(&module, *request) else { continue };
                for name in exported_names(target, seen) {
                    if name != Text::from("default") && !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
        }
    }
    names
}

impl Vm {
    /// Link: every module of the graph, dependencies first.
    pub(crate) fn link_module(&mut self, root: Module) -> JsResult<()> {
        let mut order = Vec::new();
        self.link_order(root, &mut order)?;
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

    fn link_order(&mut self, module: Module, order: &mut Vec<Module>) -> JsResult<()> {
        if module.status.get() != Status::Unlinked {
            return Ok(());
        }
        self.check_native_stack()?;
        module.status.set(Status::Linking);
        let requested = module.requested.borrow().clone();
        for target in requested.into_iter().filter_map(module_of) {
            self.link_order(target, order)?;
        }
        order.push(module);
        Ok(())
    }

    fn throw_unresolved(&mut self, module: Module, name: &Text, resolution: Resolution) -> crate::vm::Abrupt {
        let name = name.to_lossy();
        let why = if resolution == Resolution::Ambiguous { "is ambiguous" } else { "is not there" };
        self.throw_syntax_error(&format!("the export '{name}' that '{}' asks for {why}", module.name))
    }

    /// InitializeEnvironment (16.2.1.6.4).
    fn initialize_environment(&mut self, module: Module) -> JsResult<()> {
        let Some(body) = &module.code.body else { return Ok(()) };
        for entry in &module.code.exports {
            if let ExportEntry::Indirect { name, .. } = entry {
                let resolution = resolve_export(module, name, &mut Vec::new());
                if matches!(resolution, Resolution::Missing | Resolution::Ambiguous) {
                    return Err(self.throw_unresolved(module, name, resolution));
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
                ImportName::Name(name) => match resolve_export(target, name, &mut Vec::new()) {
                    Resolution::Cell(cell) => Value::cell(cell),
                    Resolution::Namespace(inner) => {
                        let namespace = Value::object(self.module_namespace(inner)?);
                        Value::cell(self.new_value_array(1, namespace))
                    }
                    resolution => return Err(self.throw_unresolved(module, name, resolution)),
                },
            };
            scope.set(entry.slot + 1, value);
        }
        Ok(())
    }
}
