//! CommonJS modules, behind `--allow=commonjs`: `require`, `module`, `exports`.
//!
//! A module is the body of a function, strict as all code is. Its parameters are those that node gives it, `global`, and a `process` of which
//! there is `process.env.NODE_ENV` alone, because so much is written to ask for that. Which files may be read is the module loader's business.
//! A module that throws is not kept, so that the next `require` runs it again, as node does.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use cynic::{Error, Handle, Realm};

use crate::module_loader::FileLoader;

/// The global through which `import` gets at CommonJS modules. It is given keys, and keys are read with the permissions of imports.
pub(crate) const BRIDGE: &str = "%require";
/// What a module finds besides the language and the globals.
const PARAMETERS: &str = "exports, require, module, __filename, __dirname, process, global";
/// Makes the `require` of a module: a host's function takes no properties.
const MAKE_REQUIRE: &str = "const require = (id) => load(id);
    require.resolve = (id) => resolve(id);
    require.main = main;
    require.cache = Object.create(null);
    return require;";
/// The environment that packages ask for.
const PROCESS: &str = "return { env: { NODE_ENV: 'production' } }";

type Result<T> = std::result::Result<T, Error>;

/// The modules of one realm.
pub(crate) struct CommonJs {
    loader: FileLoader,
    /// What one file may be at most.
    bytes_max: usize,
    modules: RefCell<HashMap<String, Handle>>,
    main: RefCell<Option<Handle>>,
    make_require: OnceCell<Handle>,
    process: OnceCell<Handle>,
}

impl CommonJs {
    /// Makes CommonJS modules known to `import` in `realm`.
    pub(crate) fn install(realm: &mut Realm<'_>, loader: FileLoader, bytes_max: usize) -> Result<Rc<Self>> {
        let modules = Rc::new(CommonJs {
            loader,
            bytes_max,
            modules: RefCell::default(),
            main: RefCell::default(),
            make_require: OnceCell::new(),
            process: OnceCell::new(),
        });
        let shared = modules.clone();
        realm.define(BRIDGE, move |realm: &mut Realm<'_>, key: String| shared.exports_of(realm, &key))?;
        Ok(modules)
    }

    /// Whether the program's own file is such a module, by its package or its text.
    pub(crate) fn is_one(&self, key: &str, text: &str) -> bool {
        self.loader.is_common_js(key, text)
    }

    /// Runs the program's own file, or only looks for syntax errors.
    pub(crate) fn run_main(
        self: &Rc<Self>,
        realm: &mut Realm<'_>,
        key: &str,
        text: &str,
        only_check: bool,
    ) -> Result<()> {
        if only_check {
            return function_of(realm, key, text).map(drop);
        }
        self.run(realm, key, text, true).map(drop)
    }

    /// `require` of a key.
    fn exports_of(self: &Rc<Self>, realm: &mut Realm<'_>, key: &str) -> Result<Handle> {
        let known = self.modules.borrow().get(key).cloned();
        if let Some(module) = known {
            return realm.get(&module, "exports");
        }
        if self.loader.is_es_module(key) {
            let message = format!("'{key}' is an ES module, which `require` does not load: use import()");
            return Err(failure(realm, &message, "ERR_REQUIRE_ESM")?);
        }
        let text = match self.loader.read(key, self.bytes_max) {
            Ok(text) => text,
            Err(why) => {
                return Err(failure(
                    realm,
                    &format!("cannot load module '{key}': {why}"),
                    "MODULE_NOT_FOUND",
                )?);
            }
        };
        if key.ends_with(".json") {
            let module = realm.new_object();
            let exports = realm.parse_json(&text)?;
            realm.set(&module, "exports", exports.clone())?;
            self.modules.borrow_mut().insert(key.to_owned(), module);
            return Ok(exports);
        }
        self.run(realm, key, &text, false)
    }

    fn run(self: &Rc<Self>, realm: &mut Realm<'_>, key: &str, text: &str, is_main: bool) -> Result<Handle> {
        let function = function_of(realm, key, text)?;
        let path = std::path::absolute(key).unwrap_or_else(|_| key.into());
        let module = realm.new_object();
        let exports = realm.new_object();
        realm.set(&module, "id", if is_main { "." } else { key })?;
        realm.set(&module, "filename", &*path.to_string_lossy())?;
        realm.set(&module, "exports", exports.clone())?;
        realm.set(&module, "loaded", false)?;
        if is_main {
            *self.main.borrow_mut() = Some(module.clone());
        }
        let file = realm.value(&*path.to_string_lossy())?;
        let folder = realm.value(&*path.parent().unwrap_or(Path::new("/")).to_string_lossy())?;
        let require = self.require_for(realm, key)?;
        let process = self.process(realm)?;
        let global = realm.global();
        let arguments = [exports.clone(), require, module.clone(), file, folder, process, global];
        self.modules.borrow_mut().insert(key.to_owned(), module.clone());
        if let Err(error) = realm.call_with(&function, &exports, &arguments) {
            self.modules.borrow_mut().remove(key);
            return Err(error);
        }
        realm.set(&module, "loaded", true)?;
        realm.get(&module, "exports")
    }

    /// The `require` of the module `key`.
    fn require_for(self: &Rc<Self>, realm: &mut Realm<'_>, key: &str) -> Result<Handle> {
        let make = match self.make_require.get() {
            Some(make) => make.clone(),
            None => {
                let made = realm.function_of_body("<require>", "load, resolve, main", MAKE_REQUIRE)?;
                self.make_require.get_or_init(|| made).clone()
            }
        };
        let (shared, referrer) = (self.clone(), key.to_owned());
        let load = realm.function("require", move |realm: &mut Realm<'_>, specifier: String| {
            let key = shared.resolve(realm, &referrer, &specifier)?;
            shared.exports_of(realm, &key)
        });
        let (shared, referrer) = (self.clone(), key.to_owned());
        let resolve = realm.function("resolve", move |realm: &mut Realm<'_>, specifier: String| {
            shared.resolve(realm, &referrer, &specifier)
        });
        let main = self.main.borrow().clone();
        let main = realm.value(main)?;
        realm.call(&make, &[load, resolve, main])
    }

    fn resolve(&self, realm: &mut Realm<'_>, referrer: &str, specifier: &str) -> Result<String> {
        match self.loader.resolve_required(referrer, specifier) {
            Ok(key) => Ok(key),
            Err(why) => {
                let message = format!("cannot find module '{specifier}' (required by '{referrer}'): {why}");
                Err(failure(realm, &message, "MODULE_NOT_FOUND")?)
            }
        }
    }

    fn process(&self, realm: &mut Realm<'_>) -> Result<Handle> {
        if let Some(process) = self.process.get() {
            return Ok(process.clone());
        }
        let make = realm.function_of_body("<process>", "", PROCESS)?;
        let process = realm.call(&make, &[])?;
        Ok(self.process.get_or_init(|| process).clone())
    }
}

fn function_of(realm: &mut Realm<'_>, key: &str, text: &str) -> Result<Handle> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // A line for the kernel is a comment here, of the same length.
    let commented = text.strip_prefix("#!").map(|rest| format!("//{rest}"));
    realm.function_of_body(key, PARAMETERS, commented.as_deref().unwrap_or(text))
}

/// An error with a `code`, by which programs tell what failed.
fn failure(realm: &mut Realm<'_>, message: &str, code: &str) -> Result<Error> {
    let error = realm.new_error(message);
    realm.set(&error, "code", code)?;
    Ok(realm.thrown(&error))
}
