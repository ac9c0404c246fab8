//! Error objects (20.5) and the native errors. <https://tc39.es/ecma262/#sec-error-objects>
//!
//! An error's internal slot 0 is its captured stack (a cell of the interpreter's, or a string, or undefined). `stack`
//! is an accessor of %Error.prototype%, as the stack-accessor proposal has it, so that frozen errors stay frozen.

use crate::atoms;
use crate::limits;
use crate::object::function::{CallArgs, NativeFn, NativeSpec};
use crate::object::{Object, ObjectKind, PropertyDescriptor};
use crate::property_key::PropertyKey;
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, PropertySpec, ValueSpec, accessor, constructor, data, method, prototype,
};
use crate::shape::attrs;
use crate::string::JsStr;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %Error%.
pub static ERROR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("Error", 1, |vm, args| {
        construct(vm, args, Intrinsic::ErrorPrototype)
    })),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        prototype(Intrinsic::ErrorPrototype),
        method("isError", 1, is_error),
        accessor("stackTraceLimit", get_stack_trace_limit, ignore_stack_trace_limit),
    ],
};

/// How many frames of a stack are shown. Real code assigns this property, so that refusing would break it; the assignment is
/// accepted and changes nothing, which keeps the frozen constructor free of mutable state.
fn get_stack_trace_limit(_vm: &mut Vm, _args: CallArgs) -> JsResult<Value> {
    Ok(Value::from(crate::limits::STACK_TRACE_FRAMES_MAX))
}

fn ignore_stack_trace_limit(_vm: &mut Vm, _args: CallArgs) -> JsResult<Value> {
    Ok(Value::UNDEFINED)
}

/// %Error.prototype%.
pub static ERROR_PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::Error),
        data("name", ValueSpec::Text("Error"), attrs::METHOD),
        data("message", ValueSpec::Text(""), attrs::METHOD),
        method("toString", 0, to_string),
        accessor("stack", get_stack, set_stack),
    ],
};

const fn native_error(
    name: &'static str,
    function: NativeFn,
    properties: &'static [PropertySpec],
) -> IntrinsicSpec {
    IntrinsicSpec {
        body: Body::Function(NativeSpec::constructor(name, 1, function)),
        prototype: Some(Intrinsic::Error),
        properties,
    }
}

const fn native_prototype(properties: &'static [PropertySpec]) -> IntrinsicSpec {
    IntrinsicSpec {
        body: Body::Object(ObjectKind::Ordinary, 0),
        prototype: Some(Intrinsic::ErrorPrototype),
        properties,
    }
}

macro_rules! native_errors {
    ($($(#[$doc:meta])* $constructor_table:ident $prototype_table:ident $name:ident $prototype_name:ident;)*) => {
        $(
            $(#[$doc])*
            pub static $constructor_table: IntrinsicSpec = native_error(
                stringify!($name),
                |vm, args| construct(vm, args, Intrinsic::$prototype_name),
                &[prototype(Intrinsic::$prototype_name)],
            );
            $(#[$doc])*
            pub static $prototype_table: IntrinsicSpec = native_prototype(&[
                constructor(Intrinsic::$name),
                data("name", ValueSpec::Text(stringify!($name)), attrs::METHOD),
                data("message", ValueSpec::Text(""), attrs::METHOD),
            ]);
        )*
    };
}

native_errors! {
    /// EvalError.
    EVAL_ERROR EVAL_ERROR_PROTOTYPE EvalError EvalErrorPrototype;
    /// RangeError.
    RANGE_ERROR RANGE_ERROR_PROTOTYPE RangeError RangeErrorPrototype;
    /// ReferenceError.
    REFERENCE_ERROR REFERENCE_ERROR_PROTOTYPE ReferenceError ReferenceErrorPrototype;
    /// SyntaxError.
    SYNTAX_ERROR SYNTAX_ERROR_PROTOTYPE SyntaxError SyntaxErrorPrototype;
    /// TypeError.
    TYPE_ERROR TYPE_ERROR_PROTOTYPE TypeError TypeErrorPrototype;
    /// URIError.
    URI_ERROR URI_ERROR_PROTOTYPE URIError URIErrorPrototype;
}

/// %AggregateError% (20.5.7).
pub static AGGREGATE_ERROR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("AggregateError", 2, construct_aggregate)),
    prototype: Some(Intrinsic::Error),
    properties: &[prototype(Intrinsic::AggregateErrorPrototype)],
};

/// %AggregateError.prototype%.
pub static AGGREGATE_ERROR_PROTOTYPE: IntrinsicSpec = native_prototype(&[
    constructor(Intrinsic::AggregateError),
    data("name", ValueSpec::Text("AggregateError"), attrs::METHOD),
    data("message", ValueSpec::Text(""), attrs::METHOD),
]);

/// %SuppressedError% (20.5.8).
pub static SUPPRESSED_ERROR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("SuppressedError", 3, construct_suppressed)),
    prototype: Some(Intrinsic::Error),
    properties: &[prototype(Intrinsic::SuppressedErrorPrototype)],
};

/// %SuppressedError.prototype%.
pub static SUPPRESSED_ERROR_PROTOTYPE: IntrinsicSpec = native_prototype(&[
    constructor(Intrinsic::SuppressedError),
    data("name", ValueSpec::Text("SuppressedError"), attrs::METHOD),
    data("message", ValueSpec::Text(""), attrs::METHOD),
]);

/// The object of a constructor call, with its message.
fn create(vm: &mut Vm, args: CallArgs, default: Intrinsic, message: Value) -> JsResult<Object> {
    let new_target = if args.is_construct() { args.new_target } else { Value::object(args.callee) };
    let prototype = vm.get_prototype_from_constructor(new_target, default)?;
    let error = vm.new_error_object(Value::object(prototype));
    if !message.is_undefined() {
        let text = vm.to_string(message)?;
        let desc = PropertyDescriptor::data(Value::string(text), attrs::METHOD);
        vm.define_property_or_throw(error, atoms::MESSAGE, &desc)?;
    }
    Ok(error)
}

/// 20.5.1.1, 20.5.6.1.1
fn construct(vm: &mut Vm, args: CallArgs, default: Intrinsic) -> JsResult<Value> {
    let error = create(vm, args, default, args.get(0))?;
    install_error_cause(vm, error, args.get(1))?;
    Ok(Value::object(error))
}

/// InstallErrorCause (20.5.8.1).
fn install_error_cause(vm: &mut Vm, error: Object, options: Value) -> JsResult<()> {
    let Some(options) = options.as_object() else { return Ok(()) };
    if vm.has_property(options, atoms::CAUSE)? {
        let cause = vm.get(options, atoms::CAUSE)?;
        vm.define_property_or_throw(error, atoms::CAUSE, &PropertyDescriptor::data(cause, attrs::METHOD))?;
    }
    Ok(())
}

/// 20.5.7.1.1
fn construct_aggregate(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let error = create(vm, args, Intrinsic::AggregateErrorPrototype, args.get(1))?;
    install_error_cause(vm, error, args.get(2))?;
    let list = vm.iterable_to_list(args.get(0))?;
    let errors = vm.new_array_from(&list)?;
    let desc = PropertyDescriptor::data(Value::object(errors), attrs::METHOD);
    vm.define_property_or_throw(error, atoms::ERRORS, &desc)?;
    Ok(Value::object(error))
}

/// 20.5.8.1.1
fn construct_suppressed(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let error = create(vm, args, Intrinsic::SuppressedErrorPrototype, args.get(2))?;
    for (key, v) in [(atoms::ERROR, args.get(0)), (atoms::SUPPRESSED, args.get(1))] {
        vm.define_property_or_throw(error, key, &PropertyDescriptor::data(v, attrs::METHOD))?;
    }
    Ok(Value::object(error))
}

/// 20.5.2.1
fn is_error(_vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::bool(args.get(0).as_object().is_some_and(|o| o.is(ObjectKind::Error))))
}

/// 20.5.3.4
fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(o) = args.this.as_object() else {
        return Err(vm.throw_type_error("Error.prototype.toString requires that 'this' be an object"));
    };
    let name = vm.get(o, atoms::NAME)?;
    let name = if name.is_undefined() { atoms::ERROR_NAME.static_str() } else { vm.to_string(name)? };
    let message = vm.get(o, atoms::MESSAGE)?;
    let message = if message.is_undefined() { crate::string::empty() } else { vm.to_string(message)? };
    if name.is_empty() {
        return Ok(Value::string(message));
    }
    if message.is_empty() {
        return Ok(Value::string(name));
    }
    let colon = vm.new_string(": ");
    let start = vm.concat(name, colon)?;
    Ok(Value::string(vm.concat(start, message)?))
}

/// The getter of `stack`: the header line, then the captured frames.
fn get_stack(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(o) = args.this.as_object() else {
        return Err(vm.throw_type_error("Error.prototype.stack requires that 'this' be an object"));
    };
    Ok(captured_stack(vm, o)?.map_or(Value::UNDEFINED, Value::string))
}

/// What `stack` of an error object without a property of that name is; runs no guest code.
pub(crate) fn captured_stack(vm: &mut Vm, o: Object) -> JsResult<Option<JsStr>> {
    if !o.is(ObjectKind::Error) {
        return Ok(None);
    }
    if let Some(text) = o.slot(0).as_string() {
        return Ok(Some(text));
    }
    let header = vm.stack_header(o)?;
    let frames = (vm.closure_hooks.format_stack)(vm, o.slot(0));
    let frames = vm.new_string(&frames);
    vm.concat(header, frames).map(Some)
}

/// The setter of `stack`: gives the receiver an own property.
fn set_stack(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(o) = args.this.as_object() else {
        return Err(vm.throw_type_error("Error.prototype.stack requires that 'this' be an object"));
    };
    if !args.get(0).is_string() {
        return Err(vm.throw_type_error("stack must be a string"));
    }
    let home = vm.intrinsic(Intrinsic::ErrorPrototype);
    if o == home {
        return Err(vm.throw_type_error("Cannot assign to Error.prototype.stack"));
    }
    match vm.get_own_property(o, atoms::STACK)? {
        None => vm.create_data_property_or_throw(o, atoms::STACK, args.get(0))?,
        Some(_) => vm.set_or_throw(o, atoms::STACK, args.get(0))?,
    }
    Ok(Value::UNDEFINED)
}

impl Vm {
    /// `name: message` of an error, from its data properties only: never runs guest code.
    pub fn error_header(&mut self, error: Object) -> String {
        let name = self.data_text(error, atoms::NAME).unwrap_or_else(|| "Error".to_owned());
        let message = self.data_text(error, atoms::MESSAGE).unwrap_or_default();
        match (name.is_empty(), message.is_empty()) {
            (_, true) => name,
            (true, _) => message,
            _ => format!("{name}: {message}"),
        }
    }

    /// The same for a stack: nothing is copied, and of what is very long only the beginning is taken.
    fn stack_header(&mut self, error: Object) -> JsResult<JsStr> {
        let name = self.data_string(error, atoms::NAME).unwrap_or_else(|| atoms::ERROR_NAME.static_str());
        let message = self.data_string(error, atoms::MESSAGE).unwrap_or_else(crate::string::empty);
        let [name, message] =
            [name, message].map(|s| self.substring(s, 0, s.len().min(limits::STACK_HEADER_PART_UNITS_MAX)));
        if name.is_empty() || message.is_empty() {
            return self.concat(name, message);
        }
        let colon = self.new_string(": ");
        let start = self.concat(name, colon)?;
        self.concat(start, message)
    }

    fn data_text(&mut self, o: Object, key: PropertyKey) -> Option<String> {
        self.data_string(o, key).map(|s| s.to_rust_string())
    }

    /// A string property found without getters or proxies.
    fn data_string(&mut self, o: Object, key: PropertyKey) -> Option<JsStr> {
        let mut current = Some(o);
        for _ in 0..crate::limits::PREVIEW_PROTOTYPES_MAX {
            let o = current?;
            if o.is(ObjectKind::Proxy) {
                return None;
            }
            if let Some(p) = self.ordinary_get_own_property(o, key) {
                return p.value.as_string();
            }
            current = o.prototype().as_object();
        }
        None
    }
}
