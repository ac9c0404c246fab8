//! %Object.prototype% (20.1.3), with the legacy accessor methods the specification lists as normative optional.
//! <https://tc39.es/ecma262/#sec-properties-of-the-object-prototype-object>

use crate::atoms;
use crate::object::function::CallArgs;
use crate::object::{Object, ObjectKind, PropertyDescriptor};
use crate::property_key::PropertyKey;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, accessor, constructor, method};
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %Object.prototype%, an immutable prototype exotic object (10.4.7).
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: None,
    properties: &[
        constructor(Intrinsic::Object),
        method("__defineGetter__", 2, |vm, args| define_accessor(vm, args, true)),
        method("__defineSetter__", 2, |vm, args| define_accessor(vm, args, false)),
        method("__lookupGetter__", 1, |vm, args| lookup_accessor(vm, args, true)),
        method("__lookupSetter__", 1, |vm, args| lookup_accessor(vm, args, false)),
        accessor("__proto__", get_proto, set_proto),
        method("hasOwnProperty", 1, has_own_property),
        method("isPrototypeOf", 1, is_prototype_of),
        method("propertyIsEnumerable", 1, property_is_enumerable),
        method("toLocaleString", 0, to_locale_string),
        method("toString", 0, to_string),
        method("valueOf", 0, value_of),
    ],
};

/// 20.1.3.2
fn has_own_property(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let key = vm.to_property_key(args.get(0))?;
    let o = vm.to_object(args.this)?;
    Ok(Value::bool(vm.has_own_property(o, key)?))
}

/// 20.1.3.3
fn is_prototype_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(mut v) = args.get(0).as_object() else { return Ok(Value::FALSE) };
    let o = vm.to_object(args.this)?;
    loop {
        vm.poll()?;
        match vm.get_prototype_of(v)?.as_object() {
            None => return Ok(Value::FALSE),
            Some(p) if p == o => return Ok(Value::TRUE),
            Some(p) => v = p,
        }
    }
}

/// 20.1.3.4
fn property_is_enumerable(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let key = vm.to_property_key(args.get(0))?;
    let o = vm.to_object(args.this)?;
    Ok(Value::bool(vm.get_own_property(o, key)?.is_some_and(|p| p.is_enumerable())))
}

/// 20.1.3.5
fn to_locale_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    vm.invoke(args.this, atoms::TO_STRING, &[])
}

/// 20.1.3.6
fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    vm.object_to_string(args.this)
}

impl Vm {
    /// %Object.prototype.toString% of any value.
    pub fn object_to_string(&mut self, v: Value) -> JsResult<Value> {
        if v.is_undefined() {
            return Ok(Value::string(self.new_string("[object Undefined]")));
        }
        if v.is_null() {
            return Ok(Value::string(self.new_string("[object Null]")));
        }
        let o = self.to_object(v)?;
        let builtin_tag = builtin_tag(self, o)?;
        let tag = self.get(o, symbol::TO_STRING_TAG)?;
        let tag = match tag.as_string() {
            Some(s) => s,
            None => self.intern_str(builtin_tag),
        };
        let open = self.new_string("[object ");
        let close = self.new_string("]");
        let start = self.concat(open, tag)?;
        Ok(Value::string(self.concat(start, close)?))
    }
}

fn builtin_tag(vm: &mut Vm, o: Object) -> JsResult<&'static str> {
    if vm.is_array(Value::object(o))? {
        return Ok("Array");
    }
    Ok(match o.kind() {
        ObjectKind::Arguments => "Arguments",
        _ if o.is_callable() => "Function",
        ObjectKind::Error => "Error",
        ObjectKind::Boolean => "Boolean",
        ObjectKind::Number => "Number",
        ObjectKind::String => "String",
        ObjectKind::Date => "Date",
        ObjectKind::RegExp => "RegExp",
        _ => "Object",
    })
}

/// 20.1.3.7
fn value_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::object(vm.to_object(args.this)?))
}

/// 20.1.3.8.1
fn get_proto(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = vm.to_object(args.this)?;
    vm.get_prototype_of(o)
}

/// 20.1.3.8.2
fn set_proto(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    vm.require_object_coercible(args.this)?;
    let p = args.get(0);
    if !p.is_object() && !p.is_null() {
        return Ok(Value::UNDEFINED);
    }
    if let Some(o) = args.this.as_object()
        && !vm.set_prototype_of(o, p)?
    {
        return Err(vm.throw_type_error(
            "the object's prototype cannot be set: it is locked, or the chain would be a cycle",
        ));
    }
    Ok(Value::UNDEFINED)
}

/// 20.1.3.9.1, 20.1.3.9.2
fn define_accessor(vm: &mut Vm, args: CallArgs, getter: bool) -> JsResult<Value> {
    let o = vm.to_object(args.this)?;
    let f = args.get(1);
    if !f.is_callable() {
        return Err(vm.throw_type_error("the accessor is not a function"));
    }
    let mut desc = PropertyDescriptor {
        enumerable: Some(true),
        configurable: Some(true),
        ..PropertyDescriptor::default()
    };
    if getter {
        desc.get = Some(f);
    } else {
        desc.set = Some(f);
    }
    let key = vm.to_property_key(args.get(0))?;
    vm.define_property_or_throw(o, key, &desc)?;
    Ok(Value::UNDEFINED)
}

/// 20.1.3.9.3, 20.1.3.9.4
fn lookup_accessor(vm: &mut Vm, args: CallArgs, getter: bool) -> JsResult<Value> {
    let mut o = vm.to_object(args.this)?;
    let key: PropertyKey = vm.to_property_key(args.get(0))?;
    loop {
        vm.poll()?;
        if let Some(p) = vm.get_own_property(o, key)? {
            return Ok(match p.accessor() {
                Some(a) if getter => a.getter(),
                Some(a) => a.setter(),
                None => Value::UNDEFINED,
            });
        }
        match vm.get_prototype_of(o)?.as_object() {
            None => return Ok(Value::UNDEFINED),
            Some(p) => o = p,
        }
    }
}
