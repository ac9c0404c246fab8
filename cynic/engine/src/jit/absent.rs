//! No code generator for this processor or system: the same function as `tier`, which says so.

use std::rc::Rc;

use crate::vm::interpreter::compiled::Compiler;

/// There is nothing that could compile.
pub(super) fn compiler(_: bool) -> Option<Rc<dyn Compiler>> {
    None
}
