//! Arrays as text (23.1.3): join, toLocaleString, toString.
//!
//! A cycle is an empty string, as in every engine: the arrays being joined are on a stack in the isolate.

use super::this_and_length;
use crate::atoms;
use crate::object::Object;
use crate::object::function::CallArgs;
use crate::string::builder::StringBuilder;
use crate::string::{JsStr, character, empty};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// 23.1.3.18
pub(super) fn join(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    let separator = match args.get(0) {
        s if s.is_undefined() => character(b','),
        s => vm.to_string(s)?,
    };
    Ok(Value::string(join_elements(vm, o, n, separator, append_string)?))
}

/// 23.1.3.32
pub(super) fn to_locale_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (o, n) = this_and_length(vm, args)?;
    let text = join_elements(vm, o, n, character(b','), |vm, v, out| {
        let text = vm.invoke(v, atoms::TO_LOCALE_STRING, &[])?;
        append_string(vm, text, out)
    })?;
    Ok(Value::string(text))
}

/// 23.1.3.36
pub(super) fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let o = vm.to_object(args.this)?;
    let f = vm.get(o, atoms::JOIN)?;
    if f.is_callable() {
        return vm.call(f, Value::object(o), &[]);
    }
    vm.object_to_string(Value::object(o))
}

/// Appends ToString(v); integers need no string of their own.
fn append_string(vm: &mut Vm, v: Value, out: &mut StringBuilder) -> JsResult<()> {
    match v.as_int32() {
        Some(i) => out.push_int32(i),
        None => {
            let text = vm.to_string(v)?;
            out.push_string(vm, text);
        }
    }
    Ok(())
}

pub(crate) fn join_elements(
    vm: &mut Vm,
    o: Object,
    n: u64,
    separator: JsStr,
    mut append: impl FnMut(&mut Vm, Value, &mut StringBuilder) -> JsResult<()>,
) -> JsResult<JsStr> {
    vm.check_native_stack()?;
    if vm.joining.contains(&o) {
        return Ok(empty());
    }
    vm.joining.push(o);
    let result = join_inner(vm, o, n, separator, &mut append);
    vm.joining.pop();
    result
}

fn join_inner(
    vm: &mut Vm,
    o: Object,
    n: u64,
    separator: JsStr,
    append: &mut impl FnMut(&mut Vm, Value, &mut StringBuilder) -> JsResult<()>,
) -> JsResult<JsStr> {
    let mut out = StringBuilder::new();
    for k in 0..n {
        vm.poll()?;
        if k > 0 && !separator.is_empty() {
            out.push_string(vm, separator);
        }
        let v = vm.get_element(o, k)?;
        if !v.is_nullish() {
            append(vm, v, &mut out)?;
        }
        out.check(vm)?;
    }
    out.finish(vm)
}
