//! BigInt objects: the prototype's place; the rest of the intrinsic is added with its constructor.

use crate::object::ObjectKind;
use crate::realm::{Body, Intrinsic, IntrinsicSpec};

/// %BigInt.prototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[],
};
