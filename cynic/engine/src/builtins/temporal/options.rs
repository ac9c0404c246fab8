//! Reading option bags. <https://tc39.es/proposal-temporal/#sec-temporal-abstract-ops>
//!
//! Each function reads one option, in the order in which its caller reads them, which guests can observe.

use std::str::FromStr;

use temporal_rs::options::{
    DifferenceSettings, Disambiguation, DisplayCalendar, DisplayOffset, DisplayTimeZone,
    OffsetDisambiguation, Overflow, RoundingIncrement, RoundingMode, RoundingOptions,
    ToStringRoundingOptions, Unit,
};
use temporal_rs::parsers::Precision;

use crate::object::Object;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// An options object, or none.
#[derive(Clone, Copy)]
pub(super) struct Options(Option<Object>);

impl Options {
    /// GetOptionsObject. <https://tc39.es/ecma262/#sec-getoptionsobject>
    pub(super) fn from(vm: &mut Vm, value: Value) -> JsResult<Self> {
        match value.as_object() {
            Some(object) => Ok(Options(Some(object))),
            None if value.is_undefined() => Ok(Options(None)),
            None => Err(vm.throw_type_error("options must be an object or undefined")),
        }
    }

    /// As `round` and `total` take them: a string stands for `{ [key]: string }`.
    pub(super) fn from_string_or_object(vm: &mut Vm, value: Value, key: &str) -> JsResult<Self> {
        if value.is_undefined() {
            return Err(vm.throw_type_error("options must be given"));
        }
        if !value.is_string() {
            return Self::from(vm, value);
        }
        let object = vm.new_object_with(Value::NULL);
        let key = vm.key_from_str(key);
        vm.create_data_property_or_throw(object, key, value)?;
        Ok(Options(Some(object)))
    }

    /// The raw value of an option.
    pub(super) fn get(self, vm: &mut Vm, name: &str) -> JsResult<Value> {
        let Some(object) = self.0 else { return Ok(Value::UNDEFINED) };
        let key = vm.key_from_str(name);
        vm.get(object, key)
    }

    /// GetOption with type string. <https://tc39.es/ecma262/#sec-getoption>
    fn parsed<T: FromStr>(self, vm: &mut Vm, name: &str) -> JsResult<Option<T>> {
        let value = self.get(vm, name)?;
        if value.is_undefined() {
            return Ok(None);
        }
        let text = vm.to_rust_string(value)?;
        match text.parse() {
            Ok(option) => Ok(Some(option)),
            Err(_) => Err(vm.throw_range_error(&format!("{text:?} is not a value of the option {name}"))),
        }
    }

    /// GetTemporalOverflowOption.
    pub(super) fn overflow(self, vm: &mut Vm) -> JsResult<Overflow> {
        Ok(self.parsed(vm, "overflow")?.unwrap_or(Overflow::Constrain))
    }

    /// GetTemporalDisambiguationOption.
    pub(super) fn disambiguation(self, vm: &mut Vm) -> JsResult<Disambiguation> {
        Ok(self.parsed(vm, "disambiguation")?.unwrap_or(Disambiguation::Compatible))
    }

    /// GetTemporalOffsetOption.
    pub(super) fn offset(
        self,
        vm: &mut Vm,
        fallback: OffsetDisambiguation,
    ) -> JsResult<OffsetDisambiguation> {
        Ok(self.parsed(vm, "offset")?.unwrap_or(fallback))
    }

    /// GetTemporalShowCalendarNameOption.
    pub(super) fn calendar_name(self, vm: &mut Vm) -> JsResult<DisplayCalendar> {
        Ok(self.parsed(vm, "calendarName")?.unwrap_or(DisplayCalendar::Auto))
    }

    /// GetTemporalShowOffsetOption.
    pub(super) fn display_offset(self, vm: &mut Vm) -> JsResult<DisplayOffset> {
        Ok(self.parsed(vm, "offset")?.unwrap_or(DisplayOffset::Auto))
    }

    /// GetTemporalShowTimeZoneNameOption.
    pub(super) fn time_zone_name(self, vm: &mut Vm) -> JsResult<DisplayTimeZone> {
        Ok(self.parsed(vm, "timeZoneName")?.unwrap_or(DisplayTimeZone::Auto))
    }

    /// GetRoundingModeOption.
    pub(super) fn rounding_mode(self, vm: &mut Vm) -> JsResult<Option<RoundingMode>> {
        self.parsed(vm, "roundingMode")
    }

    /// GetTemporalUnitValuedOption.
    pub(super) fn unit(self, vm: &mut Vm, name: &str) -> JsResult<Option<Unit>> {
        self.parsed(vm, name)
    }

    /// GetDirectionOption: required.
    pub(super) fn direction(self, vm: &mut Vm) -> JsResult<temporal_rs::provider::TransitionDirection> {
        match self.parsed(vm, "direction")? {
            Some(direction) => Ok(direction),
            None => Err(vm.throw_range_error("the option direction is required")),
        }
    }

    /// GetRoundingIncrementOption.
    pub(super) fn rounding_increment(self, vm: &mut Vm) -> JsResult<RoundingIncrement> {
        let value = self.get(vm, "roundingIncrement")?;
        if value.is_undefined() {
            return Ok(RoundingIncrement::ONE);
        }
        let number = super::fields::to_integer_with_truncation(vm, value)?;
        match RoundingIncrement::try_from(number) {
            Ok(increment) => Ok(increment),
            Err(error) => Err(super::object::throw(vm, error)),
        }
    }

    /// GetTemporalFractionalSecondDigitsOption.
    fn fractional_second_digits(self, vm: &mut Vm) -> JsResult<Precision> {
        let value = self.get(vm, "fractionalSecondDigits")?;
        if value.is_undefined() {
            return Ok(Precision::Auto);
        }
        let Some(number) = value.as_number() else {
            if vm.to_rust_string(value)? == "auto" {
                return Ok(Precision::Auto);
            }
            return Err(vm.throw_range_error("fractionalSecondDigits must be \"auto\" or 0 to 9"));
        };
        let digits = number.floor();
        if !(0.0..=9.0).contains(&digits) {
            return Err(vm.throw_range_error("fractionalSecondDigits must be \"auto\" or 0 to 9"));
        }
        Ok(Precision::Digit(digits as u8))
    }

    /// The options of `until` and `since`. GetDifferenceSettings.
    pub(super) fn difference_settings(self, vm: &mut Vm) -> JsResult<DifferenceSettings> {
        let mut settings = DifferenceSettings::default();
        settings.largest_unit = self.unit(vm, "largestUnit")?;
        settings.increment = Some(self.rounding_increment(vm)?);
        settings.rounding_mode = self.rounding_mode(vm)?;
        settings.smallest_unit = self.unit(vm, "smallestUnit")?;
        Ok(settings)
    }

    /// The options of `round`, except for durations: `smallestUnit` is required.
    pub(super) fn rounding_options(self, vm: &mut Vm) -> JsResult<RoundingOptions> {
        let mut options = RoundingOptions::default();
        options.largest_unit = None;
        options.increment = Some(self.rounding_increment(vm)?);
        options.rounding_mode = self.rounding_mode(vm)?;
        options.smallest_unit = self.unit(vm, "smallestUnit")?;
        if options.smallest_unit.is_none() {
            return Err(vm.throw_range_error("the option smallestUnit is required"));
        }
        Ok(options)
    }

    /// `fractionalSecondDigits` alone, where other options are read before the remaining two.
    pub(super) fn precision(self, vm: &mut Vm) -> JsResult<Precision> {
        self.fractional_second_digits(vm)
    }

    /// The rounding options of `toString`, in their alphabetical order.
    pub(super) fn to_string_options(self, vm: &mut Vm) -> JsResult<ToStringRoundingOptions> {
        let precision = self.fractional_second_digits(vm)?;
        let rounding_mode = self.rounding_mode(vm)?;
        let smallest_unit = self.unit(vm, "smallestUnit")?;
        Ok(ToStringRoundingOptions { precision, smallest_unit, rounding_mode })
    }
}
