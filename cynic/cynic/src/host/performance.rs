//! `performance`: `now` and `timeOrigin`, on the isolate's clock. <https://w3c.github.io/hr-time/>
//!
//! A host that denies the clock denies this too.

use cynic_engine::object::function::{CallArgs, NativeSpec};
use cynic_engine::realm::{PropertySpec, ValueSpec, data, getter};
use cynic_engine::shape::attrs;
use cynic_engine::value::Value;
use cynic_engine::vm::{JsResult, Vm};

use crate::host::state::state;

const NS_PER_MS: f64 = 1_000_000.0;

/// What `performance` has.
pub(crate) static ROWS: &[PropertySpec] = &[
    data("now", ValueSpec::Method(NativeSpec::new("now", 0, now)), attrs::ALL),
    getter("timeOrigin", |vm, _| {
        // In two parts: a double has no room for the nanoseconds of an epoch.
        let origin = origin(vm)?;
        let (whole, rest) = (origin.div_euclid(NS_PER_MS as i128), origin.rem_euclid(NS_PER_MS as i128));
        Ok(Value::number(whole as f64 + rest as f64 / NS_PER_MS))
    }),
];

fn origin(vm: &mut Vm) -> JsResult<i128> {
    let now = vm.host_now_nanoseconds()?;
    Ok(state(vm).and_then(|state| state.time_origin_ns).unwrap_or(now))
}

pub(crate) fn now(vm: &mut Vm, _args: CallArgs) -> JsResult<Value> {
    let elapsed = vm.host_now_nanoseconds()? - origin(vm)?;
    // The time must not run backwards when the system's clock is set back.
    Ok(Value::number(elapsed.max(0) as f64 / NS_PER_MS))
}
