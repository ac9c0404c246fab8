//! The methods that add a duration to a date or take the difference of two, alike for every type but for the type's name.
//!
//! The order in which arguments and options are read is observable, so it stands here once. Each macro defines native functions for
//! table rows of the type whose file uses it.

/// Defines `add` and `subtract`: a duration, then the option `overflow`.
macro_rules! add_durations {
    ($type:ty) => {
        fn add(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
            let value = this_value::<$type>(vm, args)?;
            let duration = to_duration(vm, args.get(0))?;
            let overflow = Options::from(vm, args.get(1))?.overflow(vm)?;
            super::lunisolar::charge_addition(vm, &value, &duration);
            wrap(vm, value.add(&duration, Some(overflow)))
        }
        fn subtract(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
            let value = this_value::<$type>(vm, args)?;
            let duration = to_duration(vm, args.get(0))?;
            let overflow = Options::from(vm, args.get(1))?.overflow(vm)?;
            super::lunisolar::charge_addition(vm, &value, &duration);
            wrap(vm, value.subtract(&duration, Some(overflow)))
        }
    };
}

/// Defines `until` and `since`: another value, which `$convert` reads with its options, then the settings of a difference.
macro_rules! differences {
    ($type:ty, $convert:ident) => {
        fn until(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
            let value = this_value::<$type>(vm, args)?;
            let other = $convert(vm, args.get(0), Value::UNDEFINED)?;
            let settings = Options::from(vm, args.get(1))?.difference_settings(vm)?;
            super::lunisolar::check_difference(vm, &value, &other, &settings)?;
            wrap(vm, value.until(&other, settings))
        }
        fn since(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
            let value = this_value::<$type>(vm, args)?;
            let other = $convert(vm, args.get(0), Value::UNDEFINED)?;
            let settings = Options::from(vm, args.get(1))?.difference_settings(vm)?;
            super::lunisolar::check_difference(vm, &value, &other, &settings)?;
            wrap(vm, value.since(&other, settings))
        }
    };
}

pub(super) use {add_durations, differences};
