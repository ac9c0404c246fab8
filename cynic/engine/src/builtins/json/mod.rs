//! The JSON object. <https://tc39.es/ecma262/#sec-json-object>
//!
//! `parse` reads, `revive` applies a reviver with source text access, `stringify` walks values, `quote` escapes strings.
//! Neither reading nor writing recurses on the native stack: depth is bounded by memory, which is metered.

mod parse;
mod quote;
mod revive;
mod stringify;

use crate::atoms;
use crate::gc::RootedVec;
use crate::object::function::CallArgs;
use crate::object::{Object, ObjectKind};
use crate::property_key::PropertyKey;
use crate::realm::{Body, Intrinsic, IntrinsicSpec, method, to_string_tag};
use crate::shape::Lock;
use crate::string::StrView;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// The JSON object.
pub static JSON: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        method("isRawJSON", 1, is_raw_json),
        method("parse", 2, parse),
        method("rawJSON", 1, raw_json),
        method("stringify", 3, stringify),
        to_string_tag("JSON"),
    ],
};

/// JSON.parse ( text [ , reviver ] ). <https://tc39.es/ecma262/#sec-json.parse>
fn parse(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let text = vm.to_string(args.get(0))?;
    let reviver = args.get(1);
    if reviver.as_object().is_some_and(|object| object.is_callable()) {
        return revive::parse_and_revive(vm, text, reviver);
    }
    parse::parse(vm, text, None)
}

/// JSON.stringify ( value [ , replacer [ , space ] ] ). <https://tc39.es/ecma262/#sec-json.stringify>
fn stringify(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    stringify::stringify(vm, args.get(0), args.get(1), args.get(2))
}

/// The JSON text of a value as Rust text; `None` if it has none. For hosts.
pub fn to_text(vm: &mut Vm, value: Value) -> JsResult<Option<String>> {
    let text = stringify::stringify(vm, value, Value::UNDEFINED, Value::UNDEFINED)?;
    text.as_string().map(|text| text.text(vm)).transpose()
}

/// JSON.rawJSON ( text ). <https://tc39.es/ecma262/#sec-json.rawjson>
fn raw_json(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let text = vm.to_string(args.get(0))?;
    let view = text.view(vm);
    let is_blank = |unit: Option<u16>| matches!(unit, Some(0x09 | 0x0a | 0x0d | 0x20));
    if view.is_empty() || is_blank(view.get(0)) || is_blank(view.get(view.len() - 1)) {
        return Err(vm.throw_syntax_error("JSON.rawJSON: the text is empty or has white space around it"));
    }
    if begins_compound(&view) {
        return Err(vm.throw_syntax_error("JSON.rawJSON takes the text of a primitive only"));
    }
    parse::parse(vm, text, None)?;
    let object = vm.new_exotic(ObjectKind::RawJson, Value::NULL, 0);
    vm.create_data_property_or_throw(object, atoms::RAW_JSON, Value::string(text))?;
    vm.set_integrity_level(object, Lock::Freeze)?;
    Ok(Value::object(object))
}

fn begins_compound(view: &StrView<'_>) -> bool {
    matches!(view.get(0), Some(0x5b | 0x7b))
}

/// JSON.isRawJSON ( O ). <https://tc39.es/ecma262/#sec-json.israwjson>
fn is_raw_json(_vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::bool(args.get(0).as_object().is_some_and(|object| object.is(ObjectKind::RawJson))))
}

/// The keys of EnumerableOwnProperties: own, enumerable, strings and indices.
/// <https://tc39.es/ecma262/#sec-enumerableownproperties>
fn enumerable_own_keys(vm: &mut Vm, object: Object) -> JsResult<RootedVec<PropertyKey>> {
    let keys = vm.own_property_keys(object)?;
    let mut kept = RootedVec::new(&vm.heap);
    for &key in keys.iter() {
        if !key.is_symbol()
            && vm.get_own_property(object, key)?.is_some_and(|property| property.is_enumerable())
        {
            kept.push(key);
        }
    }
    Ok(kept)
}

/// The value of a JSON text, as a JSON module has it.
pub fn parse_text(vm: &mut Vm, text: crate::string::JsStr) -> JsResult<Value> {
    parse::parse(vm, text, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vm::{Abrupt, Options};

    fn with_vm<T>(run: impl FnOnce(&mut Vm) -> T) -> T {
        run(&mut Vm::new(Options::default()))
    }

    /// Parses and writes again.
    fn round_trip(vm: &mut Vm, text: &str, space: Value) -> Result<String, String> {
        let source = vm.new_string(text);
        let result = parse::parse(vm, source, None)
            .and_then(|value| stringify::stringify(vm, value, Value::UNDEFINED, space));
        match result {
            Ok(text) => Ok(text.as_string().map_or_else(|| "undefined".into(), |text| text.to_rust_string())),
            Err(Abrupt::Throw) => {
                let error = vm.take_exception();
                let message = error.as_object().map(|error| vm.get(error, atoms::MESSAGE));
                Err(message.and_then(Result::ok).map_or_else(String::new, |message| vm.describe(message)))
            }
            Err(Abrupt::Terminate) => Err("terminated".into()),
        }
    }

    #[test]
    fn texts_survive_the_round_trip() {
        with_vm(|vm| {
            for text in [
                "null",
                "[]",
                "{}",
                "[1,-2,3.5,1e+21,0,123456789,1234567890123]",
                r#"{"a":{"b":[true,false,null]},"é":"\u0001\"\\\n","10":1,"__proto__":2}"#,
                r#"["\ud800","😀"]"#,
            ] {
                let expected = text.replace(r#"{"a":{"b":[true,false,null]},"#, r#"{"#);
                let found = round_trip(vm, text, Value::UNDEFINED);
                if expected == text {
                    assert_eq!(found.as_deref(), Ok(text));
                } else {
                    // Integer keys come first.
                    assert!(
                        found.is_ok_and(
                            |found| found.starts_with(r#"{"10":1,"a":"#) && found.len() == text.len()
                        )
                    );
                }
            }
        });
    }

    #[test]
    fn indentation() {
        with_vm(|vm| {
            let found = round_trip(vm, r#"{"a":[1,{}],"b":[]}"#, Value::int32(2));
            let expected = "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}";
            assert_eq!(found.as_deref(), Ok(expected));
        });
    }

    #[test]
    fn what_is_not_json_says_where() {
        with_vm(|vm| {
            for (text, message) in [
                ("", "Unexpected end of JSON input"),
                ("[1,]", "Unexpected token ']' in JSON at position 3"),
                ("{\"a\" 1}", "Unexpected token '1' in JSON at position 5"),
                ("01", "Unexpected token '1' in JSON at position 1"),
                ("tru", "Unexpected end of JSON input"),
                ("1 2", "Unexpected token '2' in JSON at position 2"),
            ] {
                let error = round_trip(vm, text, Value::UNDEFINED).expect_err(text);
                assert!(error.contains(&message[..message.len().min(36)]), "{text}: {error}");
            }
        });
    }

    #[test]
    fn depth_costs_no_native_stack() {
        with_vm(|vm| {
            let deep = format!("{}{}", "[".repeat(300_000), "]".repeat(300_000));
            assert_eq!(round_trip(vm, &deep, Value::UNDEFINED).as_deref(), Ok(deep.as_str()));
        });
    }
}
