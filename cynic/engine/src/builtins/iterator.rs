//! %Iterator.prototype% (27.1.4): what all built-in iterators inherit. <https://tc39.es/ecma262/#sec-%iterator.prototype%-object>

use crate::object::ObjectKind;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, symbol_method};
use crate::symbol;

/// %Iterator.prototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[symbol_method(symbol::ITERATOR, "[Symbol.iterator]", 0, |_, args| Ok(args.this))],
};
