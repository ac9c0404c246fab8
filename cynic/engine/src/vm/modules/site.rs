//! Where a module is asked for: the place that an error about it names.

use super::Module;
use crate::realm::Intrinsic;
use crate::value::Value;
use crate::vm::interpreter::stack_trace;
use crate::vm::{Abrupt, Vm};

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
            let stack = stack_trace::capture_at(self, Some((body.clone(), offset)));
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
