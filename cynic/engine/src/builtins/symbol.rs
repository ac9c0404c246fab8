//! Symbol objects (20.4). <https://tc39.es/ecma262/#sec-symbol-objects>
//!
//! Internal slot 0: the symbol.

use crate::object::ObjectKind;
use crate::object::function::{CallArgs, NativeSpec};
use crate::property_key::PropertyKey;
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, PropertySpec, ValueSpec, constructor, data, getter, method, prototype,
    symbol_method, to_string_tag,
};
use crate::shape::attrs;
use crate::symbol::{self, Symbol};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

macro_rules! well_known_row {
    ($name:literal, $key:ident) => {
        data($name, ValueSpec::Constant(|vm| symbol::$key.to_value(vm)), 0)
    };
}

/// %Symbol%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("Symbol", 0, construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        prototype(Intrinsic::SymbolPrototype),
        method("for", 1, symbol_for),
        method("keyFor", 1, key_for),
        well_known_row!("asyncDispose", ASYNC_DISPOSE),
        well_known_row!("asyncIterator", ASYNC_ITERATOR),
        well_known_row!("dispose", DISPOSE),
        well_known_row!("hasInstance", HAS_INSTANCE),
        well_known_row!("isConcatSpreadable", IS_CONCAT_SPREADABLE),
        well_known_row!("iterator", ITERATOR),
        well_known_row!("match", MATCH),
        well_known_row!("matchAll", MATCH_ALL),
        well_known_row!("replace", REPLACE),
        well_known_row!("search", SEARCH),
        well_known_row!("species", SPECIES),
        well_known_row!("split", SPLIT),
        well_known_row!("toPrimitive", TO_PRIMITIVE),
        well_known_row!("toStringTag", TO_STRING_TAG),
        well_known_row!("unscopables", UNSCOPABLES),
    ],
};

/// %Symbol.prototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::Symbol),
        getter("description", description),
        method("toString", 0, to_string),
        method("valueOf", 0, value_of),
        PropertySpec {
            attrs: attrs::CONFIGURABLE,
            ..symbol_method(symbol::TO_PRIMITIVE, "[Symbol.toPrimitive]", 1, value_of)
        },
        to_string_tag("Symbol"),
    ],
};

/// 20.4.1.1
fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if args.is_construct() {
        return Err(vm.throw_type_error("Symbol is not a constructor"));
    }
    let description = match args.get(0) {
        v if v.is_undefined() => None,
        v => Some(vm.to_string(v)?),
    };
    Ok(Value::symbol(vm.new_symbol(description)))
}

/// 20.4.2.2
fn symbol_for(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let text = vm.to_string(args.get(0))?;
    let key = vm.key_from_string(text);
    if let Some(&s) = vm.symbol_registry.get(&key) {
        return Ok(Value::symbol(s));
    }
    let s = vm.new_registered_symbol(text);
    vm.symbol_registry.insert(key, s);
    Ok(Value::symbol(s))
}

/// 20.4.2.6
fn key_for(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(s) = args.get(0).as_symbol() else {
        let message = format!("{} is not a symbol", vm.describe(args.get(0)));
        return Err(vm.throw_type_error(&message));
    };
    Ok(match s.description() {
        Some(key) if s.is_registered() => Value::string(key),
        _ => Value::UNDEFINED,
    })
}

/// ThisSymbolValue (20.4.3.4.1).
fn this_symbol_value(vm: &mut Vm, v: Value) -> JsResult<Symbol> {
    if let Some(s) = v.as_symbol() {
        return Ok(s);
    }
    match v.as_object() {
        Some(o) if o.is(ObjectKind::Symbol) => match o.slot(0).as_symbol() {
            Some(s) => Ok(s),
            None => Err(vm.throw_type_error("this is not a Symbol")),
        },
        _ => Err(vm.throw_type_error("this is not a Symbol")),
    }
}

fn description(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_symbol_value(vm, args.this)?;
    Ok(s.description().map_or(Value::UNDEFINED, Value::string))
}

fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_symbol_value(vm, args.this)?;
    Ok(Value::string(vm.symbol_descriptive_string(s)?))
}

fn value_of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::symbol(this_symbol_value(vm, args.this)?))
}

impl Vm {
    /// SymbolDescriptiveString (20.4.3.3.1).
    pub fn symbol_descriptive_string(&mut self, s: Symbol) -> JsResult<crate::string::JsStr> {
        let open = self.new_string("Symbol(");
        let close = self.new_string(")");
        let start = match s.description() {
            Some(d) => self.concat(open, d)?,
            None => open,
        };
        self.concat(start, close)
    }

    /// The value of a symbol key.
    pub fn symbol_value(&mut self, key: PropertyKey) -> Value {
        key.to_value(self)
    }
}
