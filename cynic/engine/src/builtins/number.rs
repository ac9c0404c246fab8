//! Number objects: the prototype's place; the rest of the intrinsic is added with its constructor.

use crate::object::ObjectKind;
use crate::realm::{Body, Intrinsic, IntrinsicSpec};

/// %Number.prototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Number, 1),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[],
};
