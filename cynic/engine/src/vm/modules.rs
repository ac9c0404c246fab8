//! Modules: referrers, and for now the errors of an isolate without a module loader.

use super::{JsResult, Vm};
use crate::gc::{Trace, Tracer};
use crate::value::Value;

/// The script or module that code belongs to.
pub struct Referrer {
    /// Its name, against which specifiers are resolved.
    pub name: String,
}

impl Trace for Referrer {
    const BARRIERED: bool = true;
    fn trace(&self, _tracer: &mut Tracer<'_>) {}
}

impl Vm {
    pub(crate) fn new_referrer(&mut self, name: &str) -> Value {
        Value::cell(self.alloc_data(Referrer { name: name.to_owned() }))
    }

    pub(crate) fn import_meta(&mut self, _referrer: Value) -> JsResult<Value> {
        Err(self.throw_type_error("this isolate has no module loader"))
    }

    pub(crate) fn dynamic_import(&mut self, _r: Value, _s: Value, _o: Value) -> JsResult<Value> {
        Err(self.throw_type_error("this isolate has no module loader"))
    }
}
