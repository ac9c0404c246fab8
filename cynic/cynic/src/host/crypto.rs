//! `crypto`: `getRandomValues` and `randomUUID`, from the entropy that the embedder gives. <https://w3c.github.io/webcrypto/>
//!
//! An embedder that gives none makes both throw a NotAllowedError.

use cynic_engine::object::function::{CallArgs, NativeSpec};
use cynic_engine::realm::{PropertySpec, ValueSpec, data, to_string_tag};
use cynic_engine::shape::attrs;
use cynic_engine::value::Value;
use cynic_engine::vm::{Abrupt, JsResult, Vm};

use crate::host::events::throw_dom_exception;
use crate::host::limits::RANDOM_BYTES_MAX;

/// What `crypto` has.
pub(crate) static ROWS: &[PropertySpec] = &[
    data(
        "getRandomValues",
        ValueSpec::Method(NativeSpec::new("getRandomValues", 1, get_random_values)),
        attrs::ALL,
    ),
    data("randomUUID", ValueSpec::Method(NativeSpec::new("randomUUID", 0, random_uuid)), attrs::ALL),
    to_string_tag("Crypto"),
];

fn refuse(vm: &mut Vm) -> Abrupt {
    throw_dom_exception(vm, "NotAllowedError", "the host gives no random bytes (see --allow=random)")
}

fn get_random_values(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(bytes) = vm.integer_array_bytes(args.get(0)) else {
        let message = "getRandomValues needs a typed array of integers";
        return Err(throw_dom_exception(vm, "TypeMismatchError", message));
    };
    if bytes > RANDOM_BYTES_MAX {
        let message = format!("getRandomValues gives at most {RANDOM_BYTES_MAX} bytes at once");
        return Err(throw_dom_exception(vm, "QuotaExceededError", &message));
    }
    let mut random = vec![0; bytes];
    if !vm.host_entropy(&mut random) {
        return Err(refuse(vm));
    }
    vm.write_array_bytes(args.get(0), &random);
    Ok(args.get(0))
}

fn random_uuid(vm: &mut Vm, _args: CallArgs) -> JsResult<Value> {
    let mut bytes = [0; 16];
    if !vm.host_entropy(&mut bytes) {
        return Err(refuse(vm));
    }
    // Version 4, variant 1.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if [4, 6, 8, 10].contains(&index) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    Ok(Value::string(vm.new_string(&text)))
}
