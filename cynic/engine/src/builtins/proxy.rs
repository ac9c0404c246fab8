//! Proxy objects (10.5, 28.2). <https://tc39.es/ecma262/#sec-proxy-objects>
//!
//! Internal slots: 0 target, 1 handler; both null once revoked. Every trap's result is checked against the target's
//! invariants, as the specification lists them.

use crate::atoms;
use crate::gc::RootedVec;
use crate::object::function::{CallArgs, NativeSpec};
use crate::object::internal_methods::ExoticMethods;
use crate::object::{Object, ObjectKind, OwnProperty, PropertyDescriptor, flags};
use crate::property_key::PropertyKey;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, method};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %Proxy%, which has no prototype property.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("Proxy", 2, construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[method("revocable", 2, revocable)],
};

/// The internal methods of proxies.
pub(crate) static METHODS: ExoticMethods = ExoticMethods {
    get_prototype_of,
    set_prototype_of,
    is_extensible,
    prevent_extensions,
    get_own_property,
    define_own_property,
    has_property,
    get,
    set,
    delete,
    own_property_keys,
};

const TARGET: u32 = 0;
const HANDLER: u32 = 1;

/// 28.2.1.1
fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.is_construct() {
        return Err(vm.throw_type_error("Constructor Proxy requires 'new'"));
    }
    Ok(Value::object(proxy_create(vm, args.get(0), args.get(1))?))
}

/// ProxyCreate (10.5.14).
fn proxy_create(vm: &mut Vm, target: Value, handler: Value) -> JsResult<Object> {
    let (Some(t), true) = (target.as_object(), handler.is_object()) else {
        return Err(vm.throw_type_error("Cannot create proxy with a non-object as target or handler"));
    };
    let proxy = vm.new_exotic(ObjectKind::Proxy, Value::NULL, 2);
    proxy.set_flag(flags::EXOTIC | t.flags() & (flags::CALLABLE | flags::CONSTRUCTOR));
    proxy.set_slot(TARGET, target);
    proxy.set_slot(HANDLER, handler);
    Ok(proxy)
}

/// 28.2.2.1
fn revocable(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    static REVOKE: NativeSpec = NativeSpec::new("", 0, revoke);
    let proxy = proxy_create(vm, args.get(0), args.get(1))?;
    let revoker = vm.new_native_function(&REVOKE, &[Value::object(proxy)]);
    let result = vm.new_object();
    vm.create_data_property_or_throw(result, atoms::PROXY, Value::object(proxy))?;
    vm.create_data_property_or_throw(result, atoms::REVOKE, Value::object(revoker))?;
    Ok(Value::object(result))
}

fn revoke(_vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if let Some(proxy) = args.captured(0).as_object() {
        args.set_captured(0, Value::NULL);
        proxy.set_slot(TARGET, Value::NULL);
        proxy.set_slot(HANDLER, Value::NULL);
    }
    Ok(Value::UNDEFINED)
}

/// The target; a TypeError once revoked (ValidateNonRevokedProxy, 10.5.15).
pub(crate) fn target(vm: &mut Vm, proxy: Object) -> JsResult<Object> {
    match proxy.slot(TARGET).as_object() {
        Some(t) => Ok(t),
        None => Err(vm.throw_type_error("Cannot perform the operation on a proxy that has been revoked")),
    }
}

/// The target, the handler, and the trap (undefined when the handler has none).
fn trap(vm: &mut Vm, proxy: Object, name: PropertyKey) -> JsResult<(Object, Value, Value)> {
    vm.check_native_stack()?;
    vm.poll()?;
    let t = target(vm, proxy)?;
    let handler = proxy.slot(HANDLER);
    let f = vm.get_method(handler, name)?;
    Ok((t, handler, f))
}

fn violated(vm: &mut Vm, trap: &str) -> crate::vm::Abrupt {
    vm.throw_type_error(&format!("the proxy's '{trap}' trap contradicts its target"))
}

/// 10.5.1
fn get_prototype_of(vm: &mut Vm, proxy: Object) -> JsResult<Value> {
    let (t, handler, f) = trap(vm, proxy, atoms::GET_PROTOTYPE_OF)?;
    if f.is_undefined() {
        return vm.get_prototype_of(t);
    }
    let p = vm.call(f, handler, &[Value::object(t)])?;
    if !p.is_object() && !p.is_null() {
        return Err(vm.throw_type_error("the proxy's 'getPrototypeOf' trap returned neither object nor null"));
    }
    if vm.is_extensible(t)? || vm.get_prototype_of(t)? == p {
        return Ok(p);
    }
    Err(violated(vm, "getPrototypeOf"))
}

/// 10.5.2
fn set_prototype_of(vm: &mut Vm, proxy: Object, prototype: Value) -> JsResult<bool> {
    let (t, handler, f) = trap(vm, proxy, atoms::SET_PROTOTYPE_OF)?;
    if f.is_undefined() {
        return vm.set_prototype_of(t, prototype);
    }
    if !vm.call(f, handler, &[Value::object(t), prototype])?.to_boolean() {
        return Ok(false);
    }
    if vm.is_extensible(t)? || vm.get_prototype_of(t)? == prototype {
        return Ok(true);
    }
    Err(violated(vm, "setPrototypeOf"))
}

/// 10.5.3
fn is_extensible(vm: &mut Vm, proxy: Object) -> JsResult<bool> {
    let (t, handler, f) = trap(vm, proxy, atoms::IS_EXTENSIBLE)?;
    if f.is_undefined() {
        return vm.is_extensible(t);
    }
    let answer = vm.call(f, handler, &[Value::object(t)])?.to_boolean();
    if answer != vm.is_extensible(t)? {
        return Err(violated(vm, "isExtensible"));
    }
    Ok(answer)
}

/// 10.5.4
fn prevent_extensions(vm: &mut Vm, proxy: Object) -> JsResult<bool> {
    let (t, handler, f) = trap(vm, proxy, atoms::PREVENT_EXTENSIONS)?;
    if f.is_undefined() {
        return vm.prevent_extensions(t);
    }
    let answer = vm.call(f, handler, &[Value::object(t)])?.to_boolean();
    if answer && vm.is_extensible(t)? {
        return Err(violated(vm, "preventExtensions"));
    }
    Ok(answer)
}

/// 10.5.5
fn get_own_property(vm: &mut Vm, proxy: Object, key: PropertyKey) -> JsResult<Option<OwnProperty>> {
    if key.is_private() {
        return Ok(vm.ordinary_get_own_property(proxy, key));
    }
    let (t, handler, f) = trap(vm, proxy, atoms::GET_OWN_PROPERTY_DESCRIPTOR)?;
    if f.is_undefined() {
        return vm.get_own_property(t, key);
    }
    let name = key.to_value(vm);
    let result = vm.call(f, handler, &[Value::object(t), name])?;
    if !result.is_object() && !result.is_undefined() {
        return Err(violated(vm, "getOwnPropertyDescriptor"));
    }
    let target_property = vm.get_own_property(t, key)?;
    if result.is_undefined() {
        let Some(p) = target_property else { return Ok(None) };
        if !p.is_configurable() || !vm.is_extensible(t)? {
            return Err(violated(vm, "getOwnPropertyDescriptor"));
        }
        return Ok(None);
    }
    let extensible = vm.is_extensible(t)?;
    let desc = complete(vm.to_property_descriptor(result)?);
    if !vm.validate_and_apply_property_descriptor(None, key, extensible, &desc, target_property)? {
        return Err(violated(vm, "getOwnPropertyDescriptor"));
    }
    if desc.configurable == Some(false) {
        let consistent = target_property
            .is_some_and(|p| !(p.is_configurable() || desc.writable == Some(false) && p.is_writable()));
        if !consistent {
            return Err(violated(vm, "getOwnPropertyDescriptor"));
        }
    }
    Ok(Some(own_property(vm, &desc)))
}

/// CompletePropertyDescriptor (6.2.6.6).
fn complete(desc: PropertyDescriptor) -> PropertyDescriptor {
    let a = desc.attributes();
    if desc.is_accessor() {
        return PropertyDescriptor::accessor(
            desc.get.unwrap_or(Value::UNDEFINED),
            desc.set.unwrap_or(Value::UNDEFINED),
            a,
        );
    }
    PropertyDescriptor::data(desc.value.unwrap_or(Value::UNDEFINED), a)
}

/// A complete descriptor as the engine's own record.
fn own_property(vm: &mut Vm, desc: &PropertyDescriptor) -> OwnProperty {
    let a = desc.attributes();
    if desc.is_accessor() {
        let pair =
            vm.new_accessor(desc.get.unwrap_or(Value::UNDEFINED), desc.set.unwrap_or(Value::UNDEFINED));
        return OwnProperty { value: Value::cell(pair), attrs: a };
    }
    OwnProperty { value: desc.value.unwrap_or(Value::UNDEFINED), attrs: a }
}

/// 10.5.6
fn define_own_property(
    vm: &mut Vm,
    proxy: Object,
    key: PropertyKey,
    desc: &PropertyDescriptor,
) -> JsResult<bool> {
    if key.is_private() {
        return vm.ordinary_define_own_property(proxy, key, desc);
    }
    let (t, handler, f) = trap(vm, proxy, atoms::DEFINE_PROPERTY)?;
    if f.is_undefined() {
        return vm.define_own_property(t, key, desc);
    }
    let desc_object = vm.from_property_descriptor(Some(desc))?;
    let name = key.to_value(vm);
    if !vm.call(f, handler, &[Value::object(t), name, desc_object])?.to_boolean() {
        return Ok(false);
    }
    let target_property = vm.get_own_property(t, key)?;
    let extensible = vm.is_extensible(t)?;
    let setting_fixed = desc.configurable == Some(false);
    let ok = match target_property {
        None => extensible && !setting_fixed,
        Some(p) => {
            vm.validate_and_apply_property_descriptor(None, key, extensible, desc, target_property)?
                && !(setting_fixed && p.is_configurable())
                && !(p.accessor().is_none()
                    && !p.is_configurable()
                    && p.is_writable()
                    && desc.writable == Some(false))
        }
    };
    if !ok {
        return Err(violated(vm, "defineProperty"));
    }
    Ok(true)
}

/// 10.5.7
fn has_property(vm: &mut Vm, proxy: Object, key: PropertyKey) -> JsResult<bool> {
    let (t, handler, f) = trap(vm, proxy, atoms::HAS)?;
    if f.is_undefined() {
        return vm.has_property(t, key);
    }
    let name = key.to_value(vm);
    let answer = vm.call(f, handler, &[Value::object(t), name])?.to_boolean();
    if !answer
        && let Some(p) = vm.get_own_property(t, key)?
        && (!p.is_configurable() || !vm.is_extensible(t)?)
    {
        return Err(violated(vm, "has"));
    }
    Ok(answer)
}

/// 10.5.8
fn get(vm: &mut Vm, proxy: Object, key: PropertyKey, receiver: Value) -> JsResult<Value> {
    if key.is_private() {
        return vm.ordinary_get(proxy, key, receiver);
    }
    let (t, handler, f) = trap(vm, proxy, atoms::GET)?;
    if f.is_undefined() {
        return vm.get_with_receiver(t, key, receiver);
    }
    let name = key.to_value(vm);
    let v = vm.call(f, handler, &[Value::object(t), name, receiver])?;
    if let Some(p) = vm.get_own_property(t, key)?
        && !p.is_configurable()
    {
        let contradicts = match p.accessor() {
            None => !p.is_writable() && !vm.same_value(v, p.value),
            Some(a) => a.getter().is_undefined() && !v.is_undefined(),
        };
        if contradicts {
            return Err(violated(vm, "get"));
        }
    }
    Ok(v)
}

/// 10.5.9
fn set(vm: &mut Vm, proxy: Object, key: PropertyKey, v: Value, receiver: Value) -> JsResult<bool> {
    if key.is_private() {
        return vm.ordinary_set(proxy, key, v, receiver);
    }
    let (t, handler, f) = trap(vm, proxy, atoms::SET)?;
    if f.is_undefined() {
        return vm.set(t, key, v, receiver);
    }
    let name = key.to_value(vm);
    if !vm.call(f, handler, &[Value::object(t), name, v, receiver])?.to_boolean() {
        return Ok(false);
    }
    if let Some(p) = vm.get_own_property(t, key)?
        && !p.is_configurable()
    {
        let contradicts = match p.accessor() {
            None => !p.is_writable() && !vm.same_value(v, p.value),
            Some(a) => a.setter().is_undefined(),
        };
        if contradicts {
            return Err(violated(vm, "set"));
        }
    }
    Ok(true)
}

/// 10.5.10
fn delete(vm: &mut Vm, proxy: Object, key: PropertyKey) -> JsResult<bool> {
    let (t, handler, f) = trap(vm, proxy, atoms::DELETE_PROPERTY)?;
    if f.is_undefined() {
        return vm.delete_property(t, key);
    }
    let name = key.to_value(vm);
    if !vm.call(f, handler, &[Value::object(t), name])?.to_boolean() {
        return Ok(false);
    }
    if let Some(p) = vm.get_own_property(t, key)?
        && (!p.is_configurable() || !vm.is_extensible(t)?)
    {
        return Err(violated(vm, "deleteProperty"));
    }
    Ok(true)
}

/// 10.5.11
fn own_property_keys(vm: &mut Vm, proxy: Object) -> JsResult<RootedVec<PropertyKey>> {
    let (t, handler, f) = trap(vm, proxy, atoms::OWN_KEYS)?;
    if f.is_undefined() {
        return vm.own_property_keys(t);
    }
    let result = vm.call(f, handler, &[Value::object(t)])?;
    let keys = keys_from_array_like(vm, result)?;
    let extensible = vm.is_extensible(t)?;
    let target_keys = vm.own_property_keys(t)?;
    let listed: std::collections::HashSet<PropertyKey> = keys.iter().copied().collect();
    let mut all_fixed_listed = true;
    for &key in target_keys.iter() {
        let fixed = vm.get_own_property(t, key)?.is_some_and(|p| !p.is_configurable());
        if (fixed || !extensible) && !listed.contains(&key) {
            all_fixed_listed = false;
        }
    }
    if !all_fixed_listed || !extensible && keys.len() != target_keys.len() {
        return Err(violated(vm, "ownKeys"));
    }
    Ok(keys)
}

/// CreateListFromArrayLike with property keys only, and no duplicates.
fn keys_from_array_like(vm: &mut Vm, v: Value) -> JsResult<RootedVec<PropertyKey>> {
    let mut keys: RootedVec<PropertyKey> = RootedVec::new(&vm.heap);
    let mut seen = std::collections::HashSet::new();
    let Some(o) = v.as_object() else {
        return Err(vm.throw_type_error("the proxy's 'ownKeys' trap did not return an object"));
    };
    let mut duplicate = false;
    for i in 0..vm.length_of_array_like(o)? {
        vm.poll()?;
        let at = vm.key_from_u64(i);
        let v = vm.get(o, at)?;
        if !v.is_string() && !v.is_symbol() {
            return Err(vm.throw_type_error(
                "the proxy's 'ownKeys' trap returned something that is not a property key",
            ));
        }
        let key = vm.to_property_key(v)?;
        keys.push(key);
        duplicate |= !seen.insert(key);
    }
    if duplicate {
        return Err(vm.throw_type_error("the proxy's 'ownKeys' trap returned duplicate entries"));
    }
    Ok(keys)
}

/// `[[Call]]` and `[[Construct]]` (10.5.12, 10.5.13).
pub(crate) fn call_proxy(
    vm: &mut Vm,
    proxy: Object,
    this: Value,
    args: &[Value],
    new_target: Value,
) -> JsResult<Value> {
    let constructing = !new_target.is_undefined();
    let name = if constructing { atoms::CONSTRUCT } else { atoms::APPLY };
    let (t, handler, f) = trap(vm, proxy, name)?;
    if f.is_undefined() {
        return vm.call_object(t, this, args, new_target);
    }
    let list = Value::object(vm.new_array_from(args)?);
    if !constructing {
        return vm.call(f, handler, &[Value::object(t), this, list]);
    }
    let result = vm.call(f, handler, &[Value::object(t), list, new_target])?;
    if !result.is_object() {
        return Err(vm.throw_type_error("the proxy's 'construct' trap did not return an object"));
    }
    Ok(result)
}
