//! Modules: records, loading, linking, evaluation, namespaces, `import()`.
//! <https://tc39.es/ecma262/#sec-modules>
//!
//! A [`ModuleRecord`] is a data cell. Its environment is a scope whose exported and imported slots hold *cells* (one-slot
//! arrays): linking puts the exporter's cell into the importer's slot, so that bindings are live without a lookup. A body
//! is a coroutine: its first run, at linking, instantiates the functions; the second is the evaluation.
//!
//! Invariant: a module is in the realm's map under its key before its requests are loaded, so cycles end.

#![allow(unsafe_code)]

mod dynamic;
mod evaluate;
mod link;
pub mod namespace;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use self::link::ImportSite;
use super::{Abrupt, JsResult, Vm};
use crate::bytecode::Text;
use crate::compiler::{self, ModuleCode};
use crate::gc::{Data, Gc, Trace, Tracer, data_of};
use crate::object::{Object, ObjectKind};
use crate::realm::Intrinsic;
use crate::value::Value;

/// Index of the module map in the realm's data.
const MODULE_MAP: usize = 1;

/// What a module's source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModuleKind {
    /// ECMAScript code.
    JavaScript,
    /// A JSON text: its value is the default export.
    Json,
}

/// Where modules come from; the host's part.
pub trait ModuleLoader {
    /// The key of the module that `specifier` means in `referrer` (a key, or a script's name).
    fn resolve(&self, referrer: &str, specifier: &str) -> Result<String, String>;
    /// The source text of the module `key`.
    fn load(&self, key: &str, kind: ModuleKind) -> Result<String, String>;
    /// The same, if the text has at most `bytes_max` bytes: what is left of the heap's limit. For loaders that can tell before they
    /// have read it all.
    fn load_within(&self, key: &str, kind: ModuleKind, bytes_max: usize) -> Result<String, String> {
        let _ = bytes_max;
        self.load(key, kind)
    }
    /// `import.meta.url` of the module `key`.
    fn url(&self, key: &str) -> String {
        key.to_owned()
    }
}

/// `[[Status]]` of a cyclic module record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Unlinked,
    Linking,
    Linked,
    Evaluating,
    EvaluatingAsync,
    Evaluated,
}

/// The script or module that code belongs to.
pub struct Referrer {
    /// Its name, against which specifiers are resolved.
    pub name: String,
}

impl Trace for Referrer {
    const BARRIERED: bool = true;
    fn trace(&self, _tracer: &mut Tracer<'_>) {}
}

/// A module.
pub struct ModuleRecord {
    /// The key it is known by.
    pub name: String,
    pub(crate) code: ModuleCode,
    pub(crate) status: Cell<Status>,
    /// The environment.
    pub(crate) scope: Cell<Value>,
    pub(crate) namespace: Cell<Value>,
    meta: Cell<Value>,
    /// The modules it asks for, in the order of its requests.
    pub(crate) requested: RefCell<Vec<Value>>,
    /// The error it ended with, or the EMPTY marker.
    pub(crate) error: Cell<Value>,
    pub(crate) dfs_index: Cell<u32>,
    pub(crate) dfs_ancestor: Cell<u32>,
    pub(crate) cycle_root: Cell<Value>,
    /// Position in the order of asynchronous evaluation; 0 for none.
    pub(crate) async_order: Cell<u64>,
    pub(crate) pending_dependencies: Cell<u32>,
    pub(crate) async_parents: RefCell<Vec<Value>>,
    /// The promise of Evaluate.
    pub(crate) promise: Cell<Value>,
    /// The body.
    pub(crate) coroutine: Cell<Value>,
    /// The cell of a JSON module's default export.
    pub(crate) default_cell: Cell<Value>,
}

impl Trace for ModuleRecord {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        let cells = [
            &self.scope,
            &self.namespace,
            &self.meta,
            &self.error,
            &self.cycle_root,
            &self.promise,
            &self.coroutine,
            &self.default_cell,
        ];
        for cell in cells {
            tracer.value(cell.get());
        }
        tracer.values(&self.requested.borrow());
        tracer.values(&self.async_parents.borrow());
    }
}

/// A pointer to a module.
pub type Module = Gc<Data<ModuleRecord>>;

/// The modules of a realm by key and kind.
#[derive(Default)]
struct ModuleMap {
    modules: RefCell<FxHashMap<(String, ModuleKind), Module>>,
}

impl Trace for ModuleMap {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        for module in self.modules.borrow().values() {
            tracer.cell(*module);
        }
    }
}

/// The module in a value.
pub(crate) fn module_of(v: Value) -> Option<Module> {
    data_of::<ModuleRecord>(v)
}

impl Vm {
    /// Says where modules come from.
    pub fn set_module_loader(&mut self, loader: Rc<dyn ModuleLoader>) {
        self.interpreter.loader = Some(loader);
    }

    pub(crate) fn new_referrer(&mut self, name: &str) -> Value {
        Value::cell(self.alloc_data(Referrer { name: name.to_owned() }))
    }

    fn referrer_name(&self, referrer: Value) -> String {
        if let Some(module) = module_of(referrer) {
            return module.name.clone();
        }
        data_of::<Referrer>(referrer).map(|referrer| referrer.name.clone()).unwrap_or_default()
    }

    fn module_map(&mut self) -> Gc<Data<ModuleMap>> {
        let slot = &self.realm_data().vm_data[MODULE_MAP];
        if let Some(map) = data_of::<ModuleMap>(slot.get()) {
            return map;
        }
        let map = self.alloc_data(ModuleMap::default());
        self.realm_data().vm_data[MODULE_MAP].set(Value::cell(map));
        self.realm().write_barrier();
        map
    }

    /// Loads the module `key` and everything it asks for.
    pub fn load_module(&mut self, key: &str) -> JsResult<Module> {
        let module = self.module_record(key, ModuleKind::JavaScript, None, ImportSite::Running)?;
        self.load_requested(module)?;
        Ok(module)
    }

    /// The same for a module whose text the host has already.
    pub fn load_module_from(&mut self, key: &str, text: &str) -> JsResult<Module> {
        let module = self.module_record(key, ModuleKind::JavaScript, Some(text), ImportSite::Running)?;
        self.load_requested(module)?;
        Ok(module)
    }

    /// Links and evaluates; the promise settles when the module has run, top-level awaits included.
    pub fn evaluate_module(&mut self, module: Module) -> JsResult<Object> {
        self.link_module(module)?;
        self.evaluate_linked(module)
    }

    fn loader(&mut self) -> JsResult<Rc<dyn ModuleLoader>> {
        match &self.interpreter.loader {
            Some(loader) => Ok(loader.clone()),
            None => Err(self.throw_type_error("this isolate has no module loader")),
        }
    }

    fn module_record(
        &mut self,
        key: &str,
        kind: ModuleKind,
        text: Option<&str>,
        site: ImportSite,
    ) -> JsResult<Module> {
        let map = self.module_map();
        if let Some(module) = map.modules.borrow().get(&(key.to_owned(), kind)) {
            return Ok(*module);
        }
        let text = match text {
            Some(text) => text.to_owned(),
            None => match self.loader()?.load_within(key, kind, self.heap_room()) {
                Ok(text) => text,
                Err(message) => {
                    let message = format!("cannot load module '{key}': {message}");
                    return Err(self.throw_at_import(site, Intrinsic::TypeErrorPrototype, &message));
                }
            },
        };
        let module = match kind {
            ModuleKind::JavaScript => self.compile_module_record(key, &text)?,
            ModuleKind::Json => match self.json_module_record(key, text) {
                Err(Abrupt::Throw) => return Err(self.throw_unreadable_json(site, key)),
                module => module?,
            },
        };
        map.modules.borrow_mut().insert((key.to_owned(), kind), module);
        map.write_barrier();
        Ok(module)
    }

    fn compile_module_record(&mut self, key: &str, text: &str) -> JsResult<Module> {
        let options = self.compile_options_for(key);
        let code =
            self.compile_metered(key, text, options, || compiler::compile_module(key, text, options))?;
        if let Some(body) = &code.body {
            self.check_code(body)?;
        }
        let scope = self.new_value_array(code.slots + 1, Value::EMPTY);
        scope.set(0, Value::UNDEFINED);
        for slot in &code.cells {
            let cell = self.new_value_array(1, Value::EMPTY);
            scope.set(*slot + 1, Value::cell(cell));
        }
        Ok(self.new_module_record(key, code, Value::cell(scope), Value::UNDEFINED))
    }

    fn json_module_record(&mut self, key: &str, text: String) -> JsResult<Module> {
        // The host's text, the string, and what stands between the two if it is not ASCII.
        let units = if text.is_ascii() { text.len() } else { text.encode_utf16().count() * 2 };
        let between = if text.is_ascii() { 0 } else { units };
        let charge = self.charge_external(text.len() + between)?;
        self.check_heap_room(units)?;
        let string = self.new_string(&text);
        drop((text, charge));
        let value = crate::builtins::json::parse_text(self, string)?;
        let cell = self.new_value_array(1, value);
        Ok(self.new_module_record(key, ModuleCode::default(), Value::UNDEFINED, Value::cell(cell)))
    }

    fn new_module_record(
        &mut self,
        key: &str,
        code: ModuleCode,
        scope: Value,
        default_cell: Value,
    ) -> Module {
        self.alloc_data(ModuleRecord {
            name: key.to_owned(),
            code,
            status: Cell::new(Status::Unlinked),
            scope: Cell::new(scope),
            namespace: Cell::new(Value::UNDEFINED),
            meta: Cell::new(Value::UNDEFINED),
            requested: RefCell::default(),
            error: Cell::new(Value::EMPTY),
            dfs_index: Cell::new(0),
            dfs_ancestor: Cell::new(0),
            cycle_root: Cell::new(Value::UNDEFINED),
            async_order: Cell::new(0),
            pending_dependencies: Cell::new(0),
            async_parents: RefCell::default(),
            promise: Cell::new(Value::UNDEFINED),
            coroutine: Cell::new(Value::UNDEFINED),
            default_cell: Cell::new(default_cell),
        })
    }

    /// Loads the graph below `module` (breadth first; the map ends cycles).
    fn load_requested(&mut self, module: Module) -> JsResult<()> {
        let mut pending = vec![module];
        while let Some(module) = pending.pop() {
            let known = module.requested.borrow().len();
            for request in module.code.requests.iter().skip(known) {
                self.poll()?;
                let site = ImportSite::Text(module, request.offset);
                let requested =
                    self.load_request(&module.name, &request.specifier, &request.attributes, site)?;
                module.requested.borrow_mut().push(Value::cell(requested));
                module.write_barrier();
                if requested.requested.borrow().len() < requested.code.requests.len() {
                    pending.push(requested);
                }
            }
        }
        Ok(())
    }

    /// HostLoadImportedModule.
    fn load_request(
        &mut self,
        referrer: &str,
        specifier: &Text,
        attributes: &[(Text, Text)],
        site: ImportSite,
    ) -> JsResult<Module> {
        let mut kind = ModuleKind::JavaScript;
        for (key, value) in attributes {
            let (key, value) = (key.to_lossy(), value.to_lossy());
            if key != "type" {
                let message = format!("the import attribute '{key}' is not supported");
                let prototype = match site {
                    ImportSite::Running => Intrinsic::TypeErrorPrototype,
                    ImportSite::Text(..) => Intrinsic::SyntaxErrorPrototype,
                };
                return Err(self.throw_at_import(site, prototype, &message));
            }
            if value != "json" {
                let message = format!("modules of type '{value}' are not supported");
                return Err(self.throw_at_import(site, Intrinsic::TypeErrorPrototype, &message));
            }
            kind = ModuleKind::Json;
        }
        let specifier = specifier.to_lossy();
        match self.loader()?.resolve(referrer, &specifier) {
            Ok(key) => self.module_record(&key, kind, None, site),
            Err(message) => {
                let message = format!("cannot resolve module '{specifier}': {message}");
                Err(self.throw_at_import(site, Intrinsic::TypeErrorPrototype, &message))
            }
        }
    }

    /// `import.meta` (13.3.12).
    pub(crate) fn import_meta(&mut self, referrer: Value) -> JsResult<Value> {
        let Some(module) = module_of(referrer) else {
            return Err(self.throw_syntax_error("import.meta is only available in modules"));
        };
        if module.meta.get().is_undefined() {
            let shape = self.root_shape(Value::NULL, 0);
            let object = self.alloc_object(shape, ObjectKind::Ordinary, 4, 0);
            let url = self
                .interpreter
                .loader
                .clone()
                .map_or(module.name.clone(), |loader| loader.url(&module.name));
            let url = Value::string(self.new_string(&url));
            let key = self.key_from_str("url");
            self.create_data_property_or_throw(object, key, url)?;
            module.meta.set(Value::object(object));
            module.write_barrier();
        }
        Ok(module.meta.get())
    }
}
