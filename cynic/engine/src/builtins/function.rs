//! Function objects (20.2): %Function.prototype% and bound functions (10.4.1).
//! <https://tc39.es/ecma262/#sec-function-objects>
//!
//! A bound function's internal slots: 0 target, 1 bound this, 2 bound arguments (a value array).
//! `Function(string)` itself belongs to the compiler (`Vm::create_dynamic_function`).

use crate::atoms;
use crate::limits;
use crate::object::function::NativeFunctionObject as _;
use crate::object::function::{CallArgs, NativeSpec};
use crate::object::{Object, ObjectKind, PropertyDescriptor, flags};
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, PropertySpec, ValueSpec, constructor, data, method, prototype,
    symbol_method,
};
use crate::shape::attrs;
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %Function%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("Function", 1, function_constructor)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::FunctionPrototype)],
};

/// %Function.prototype%: itself a function that accepts anything and returns undefined.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::new("", 0, |_, _| Ok(Value::UNDEFINED))),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::Function),
        method("apply", 2, apply),
        restricted("arguments"),
        restricted("caller"),
        method("bind", 1, bind),
        method("call", 1, call),
        method("toString", 0, to_string),
        PropertySpec {
            attrs: 0,
            ..symbol_method(symbol::HAS_INSTANCE, "[Symbol.hasInstance]", 1, has_instance)
        },
    ],
};

/// %ThrowTypeError% (10.2.4.1).
pub static THROW_TYPE_ERROR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Custom(make_throw_type_error),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[],
};

fn make_throw_type_error(vm: &mut Vm) -> Object {
    static SPEC: NativeSpec = NativeSpec::new("", 0, |vm, _| {
        Err(vm.throw_type_error("'caller', 'callee' and 'arguments' may not be accessed in strict mode"))
    });
    let function = vm.new_native_function(&SPEC, &[]);
    vm.ordinary_lock(function, crate::shape::Lock::Freeze);
    function
}

/// AddRestrictedFunctionProperties (10.2.4): accessors that are %ThrowTypeError% twice.
const fn restricted(name: &'static str) -> PropertySpec {
    data(name, ValueSpec::Constant(throwing_accessor), attrs::CONFIGURABLE | attrs::ACCESSOR)
}

fn throwing_accessor(vm: &mut Vm) -> Value {
    let thrower = Value::object(vm.intrinsic(Intrinsic::ThrowTypeError));
    Value::cell(vm.new_accessor(thrower, thrower))
}

fn function_constructor(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    (vm.closure_hooks.dynamic_function)(vm, args)
}

/// 20.2.3.1
fn apply(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.this.is_callable() {
        return Err(
            vm.throw_type_error("Function.prototype.apply was called on a value that is not a function")
        );
    }
    if args.get(1).is_nullish() {
        return vm.call(args.this, args.get(0), &[]);
    }
    let list = vm.create_list_from_array_like(args.get(1))?;
    vm.call(args.this, args.get(0), &list)
}

/// 20.2.3.3
fn call(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if !args.this.is_callable() {
        return Err(
            vm.throw_type_error("Function.prototype.call was called on a value that is not a function")
        );
    }
    vm.call(args.this, args.get(0), args.rest(1))
}

/// 20.2.3.2
fn bind(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(target) = args.this.as_object().filter(|t| t.is_callable()) else {
        return Err(vm.throw_type_error("Bind must be called on a function"));
    };
    let bound = bound_function_create(vm, target, args.get(0), args.rest(1))?;
    let mut length = 0.0;
    if vm.has_own_property(target, atoms::LENGTH)?
        && let Some(n) = vm.get(target, atoms::LENGTH)?.as_number()
    {
        let n = if n.is_nan() { 0.0 } else { n.trunc() };
        length = (n - args.rest(1).len() as f64).max(0.0);
    }
    let desc = PropertyDescriptor::data(Value::number(length), attrs::CONFIGURABLE);
    vm.define_property_or_throw(bound, atoms::LENGTH, &desc)?;
    let name = vm.get(target, atoms::NAME)?.as_string().unwrap_or_else(crate::string::empty);
    let prefix = vm.new_string("bound ");
    let name = vm.concat(prefix, name)?;
    let desc = PropertyDescriptor::data(Value::string(name), attrs::CONFIGURABLE);
    vm.define_property_or_throw(bound, atoms::NAME, &desc)?;
    Ok(Value::object(bound))
}

/// BoundFunctionCreate (10.4.1.3).
fn bound_function_create(vm: &mut Vm, target: Object, this: Value, args: &[Value]) -> JsResult<Object> {
    let prototype = vm.get_prototype_of(target)?;
    let list = vm.new_value_array(args.len() as u32, Value::UNDEFINED);
    for (i, &v) in args.iter().enumerate() {
        list.set(i as u32, v);
    }
    let shape = vm.root_shape(prototype, 3);
    let f = flags::CALLABLE | target.flags() & flags::CONSTRUCTOR;
    let o = vm.alloc_object(shape, ObjectKind::BoundFunction, 5, f);
    o.set_slot(0, Value::object(target));
    o.set_slot(1, this);
    o.set_slot(2, Value::cell(list));
    Ok(o)
}

/// `[[BoundTargetFunction]]`.
pub fn bound_target(f: Object) -> Object {
    f.slot(0).as_object().unwrap_or(f)
}

/// `[[Call]]` and `[[Construct]]` of a bound function (10.4.1.1, 10.4.1.2).
pub(crate) fn call_bound(vm: &mut Vm, f: Object, args: &[Value], new_target: Value) -> JsResult<Value> {
    // A chain of bound functions is walked at once: level by level it would copy the arguments for every link.
    let mut chain = vm.scratch();
    let (mut target, mut new_target, mut this) = (f, new_target, Value::EMPTY);
    let mut count = args.len();
    while target.is(ObjectKind::BoundFunction) {
        vm.poll()?;
        count += target.slot(2).as_value_array().map_or(0, |bound| bound.len() as usize);
        if count > limits::ARGUMENTS_MAX {
            return Err(vm.throw_range_error("too many arguments"));
        }
        let link = target;
        chain.push(Value::object(link));
        (target, this) = (bound_target(link), link.slot(1));
        if new_target == Value::object(link) {
            new_target = Value::object(target);
        }
    }
    let mut all = vm.scratch();
    for link in chain.iter().rev() {
        if let Some(bound) = link.as_object().and_then(|link| link.slot(2).as_value_array()) {
            all.extend_from_slice(bound.as_slice());
        }
    }
    all.extend_from_slice(args);
    let this = if new_target.is_undefined() { this } else { Value::EMPTY };
    vm.call_object(target, this, &all, new_target)
}

/// 20.2.3.5
fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(f) = args.this.as_object().filter(|f| f.is_callable()) else {
        return Err(vm.throw_type_error("Function.prototype.toString requires that 'this' be a Function"));
    };
    if f.is(ObjectKind::Closure)
        && let Some(text) = (vm.closure_hooks.source_text)(vm, f)
    {
        return Ok(Value::string(text));
    }
    let name = match f.kind() {
        ObjectKind::NativeFunction => native_display_name(f),
        _ => String::new(),
    };
    Ok(Value::string(vm.new_string(&format!("function {name}() {{ [native code] }}"))))
}

/// The name in NativeFunction syntax: only what the grammar allows.
fn native_display_name(f: Object) -> String {
    use crate::object::function::NamePrefix;
    let spec = f.native_spec();
    match spec.prefix {
        NamePrefix::Plain => spec.name.to_owned(),
        NamePrefix::Get => format!("get {}", spec.name),
        NamePrefix::Set => format!("set {}", spec.name),
    }
}

/// 20.2.3.6
fn has_instance(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::bool(vm.ordinary_has_instance(args.this, args.get(0))?))
}
