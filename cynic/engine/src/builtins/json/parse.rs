//! Reading JSON text into values, over Latin-1 or UTF-16 units directly.
//!
//! Containers under construction live on a rooted value stack beside a stack of frames, so nesting costs memory, not native
//! stack. With a [`Records`] the reader also notes where each value stood, for revivers.
//! <https://tc39.es/ecma262/#sec-ParseJSON>

use super::revive::Records;
use crate::gc::{ExternalCharge, RootedVec};
use crate::object::Object;
use crate::property_key::PropertyKey;
use crate::string::builder::StringBuilder;
use crate::string::{JsStr, StrView};
use crate::value::Value;
use crate::vm::{Abrupt, JsResult, Vm};

/// Values between two polls.
const POLL_EVERY: u32 = 256;
/// Bytes of bookkeeping per open container, for the heap check.
const FRAME_BYTES: usize = 32;

/// Units of one string or number whose copies are not worth a look at the heap's limit.
const UNITS_UNCHECKED_MAX: usize = 4096;

/// A code unit of either width.
trait Unit: Copy {
    fn code(self) -> u16;
    fn view(units: &[Self]) -> StrView<'_>;
}

impl Unit for u8 {
    #[inline(always)]
    fn code(self) -> u16 {
        u16::from(self)
    }
    fn view(units: &[Self]) -> StrView<'_> {
        StrView::Latin1(units)
    }
}

impl Unit for u16 {
    #[inline(always)]
    fn code(self) -> u16 {
        self
    }
    fn view(units: &[Self]) -> StrView<'_> {
        StrView::Utf16(units)
    }
}

/// Parses `text`; a SyntaxError if it is not JSON.
pub(super) fn parse(vm: &mut Vm, text: JsStr, records: Option<&mut Records>) -> JsResult<Value> {
    let result = match text.view(vm) {
        StrView::Latin1(units) => Parser::new(vm, units, records).document(vm),
        StrView::Utf16(units) => Parser::new(vm, units, records).document(vm),
    };
    // The units belong to `text`, which must stay on the native stack until here.
    std::hint::black_box(&text);
    result
}

/// An open container.
#[derive(Clone, Copy)]
enum Frame {
    /// Its elements begin here on the value stack.
    Array { base: usize },
    /// The object and the string of the pending key are the two topmost values.
    Object { key: PropertyKey },
}

struct Parser<'a, 'r, U> {
    units: &'a [U],
    at: usize,
    values: RootedVec,
    frames: Vec<Frame>,
    records: Option<&'r mut Records>,
    until_poll: u32,
}

impl<'a, 'r, U: Unit> Parser<'a, 'r, U> {
    fn new(vm: &mut Vm, units: &'a [U], records: Option<&'r mut Records>) -> Self {
        let values = vm.scratch();
        Parser { units, at: 0, values, frames: Vec::new(), records, until_poll: POLL_EVERY }
    }

    fn document(&mut self, vm: &mut Vm) -> JsResult<Value> {
        loop {
            self.poll(vm)?;
            let Some(mut value) = self.begin_value(vm)? else { continue };
            loop {
                let Some(frame) = self.frames.last().copied() else {
                    self.skip_white_space();
                    return if self.at == self.units.len() { Ok(value) } else { Err(self.unexpected(vm)) };
                };
                match self.continue_container(vm, frame, value)? {
                    Some(container) => value = container,
                    None => break,
                }
            }
        }
    }

    fn poll(&mut self, vm: &mut Vm) -> JsResult<()> {
        self.until_poll -= 1;
        if self.until_poll == 0 {
            self.until_poll = POLL_EVERY;
            vm.poll_n(POLL_EVERY)?;
            let records = self.records.as_ref().map_or(0, |records| records.bytes());
            let values = self.values.len() * size_of::<Value>();
            vm.check_heap_room(self.frames.len() * FRAME_BYTES + values + records)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn peek(&self) -> Option<u16> {
        self.units.get(self.at).map(|unit| unit.code())
    }

    #[inline(always)]
    fn skip_white_space(&mut self) {
        while let Some(0x20 | 0x0a | 0x0d | 0x09) = self.peek() {
            self.at += 1;
        }
    }

    fn expect(&mut self, vm: &mut Vm, unit: u8) -> JsResult<()> {
        self.skip_white_space();
        if self.peek() != Some(u16::from(unit)) {
            return Err(self.unexpected(vm));
        }
        self.at += 1;
        Ok(())
    }

    #[cold]
    fn unexpected(&self, vm: &mut Vm) -> Abrupt {
        let Some(unit) = self.peek() else {
            return vm.throw_syntax_error("Unexpected end of JSON input");
        };
        let (character, _) = U::view(self.units).code_point_at(self.at).unwrap_or((u32::from(unit), 1));
        let shown = char::from_u32(character).unwrap_or(char::REPLACEMENT_CHARACTER).escape_debug();
        vm.throw_syntax_error(&format!("Unexpected token '{shown}' in JSON at position {}", self.at))
    }

    /// Reads a primitive or an empty container, or opens a container (`None`).
    fn begin_value(&mut self, vm: &mut Vm) -> JsResult<Option<Value>> {
        self.skip_white_space();
        let start = self.at;
        let value = match self.peek() {
            Some(0x7b) => return self.begin_object(vm),
            Some(0x5b) => return self.begin_array(vm),
            Some(0x22) => Value::string(self.string(vm)?),
            Some(0x2d | 0x30..=0x39) => self.number(vm)?,
            Some(0x74) => self.word(vm, "true", Value::TRUE)?,
            Some(0x66) => self.word(vm, "false", Value::FALSE)?,
            Some(0x6e) => self.word(vm, "null", Value::NULL)?,
            _ => return Err(self.unexpected(vm)),
        };
        if let Some(records) = &mut self.records {
            records.primitive(value, start, self.at);
        }
        Ok(Some(value))
    }

    fn word(&mut self, vm: &mut Vm, word: &str, value: Value) -> JsResult<Value> {
        for byte in word.bytes() {
            if self.peek() != Some(u16::from(byte)) {
                return Err(self.unexpected(vm));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn begin_array(&mut self, vm: &mut Vm) -> JsResult<Option<Value>> {
        self.at += 1;
        self.skip_white_space();
        if let Some(records) = &mut self.records {
            records.open();
        }
        if self.peek() == Some(0x5d) {
            self.at += 1;
            return self.finish_array(vm, self.values.len()).map(Some);
        }
        self.frames.push(Frame::Array { base: self.values.len() });
        Ok(None)
    }

    fn finish_array(&mut self, vm: &mut Vm, base: usize) -> JsResult<Value> {
        let array = Value::object(vm.new_array_from(&self.values[base..])?);
        self.values.truncate(base);
        if let Some(records) = &mut self.records {
            records.close(array);
        }
        Ok(array)
    }

    fn begin_object(&mut self, vm: &mut Vm) -> JsResult<Option<Value>> {
        self.at += 1;
        self.skip_white_space();
        if let Some(records) = &mut self.records {
            records.open();
        }
        let object = vm.new_object();
        if self.peek() == Some(0x7d) {
            self.at += 1;
            return Ok(Some(self.finish_object(object)));
        }
        self.values.push(Value::object(object));
        let key = self.key(vm)?;
        self.frames.push(Frame::Object { key });
        Ok(None)
    }

    fn finish_object(&mut self, object: Object) -> Value {
        let value = Value::object(object);
        if let Some(records) = &mut self.records {
            records.close(value);
        }
        value
    }

    /// Reads `"key" :` and pushes the key's string, which keeps the key alive.
    fn key(&mut self, vm: &mut Vm) -> JsResult<PropertyKey> {
        self.skip_white_space();
        if self.peek() != Some(0x22) {
            return Err(self.unexpected(vm));
        }
        let key = match self.plain_string_end() {
            Some(end) => {
                let view = U::view(&self.units[self.at + 1..end]);
                self.at = end + 1;
                vm.key_from_view(view)
            }
            None => {
                let string = self.string(vm)?;
                vm.key_from_string(string)
            }
        };
        self.values.push(key.as_string().map_or(Value::UNDEFINED, Value::string));
        self.expect(vm, b':')?;
        Ok(key)
    }

    /// Puts `value` into the innermost container; the container itself when that completes it.
    fn continue_container(&mut self, vm: &mut Vm, frame: Frame, value: Value) -> JsResult<Option<Value>> {
        match frame {
            Frame::Array { base } => {
                self.values.push(value);
                self.skip_white_space();
                match self.peek() {
                    Some(0x2c) => self.at += 1,
                    Some(0x5d) => {
                        self.at += 1;
                        self.frames.pop();
                        return self.finish_array(vm, base).map(Some);
                    }
                    _ => return Err(self.unexpected(vm)),
                }
            }
            Frame::Object { key } => {
                let Some(object) =
                    self.values.len().checked_sub(2).and_then(|top| self.values[top].as_object())
                else {
                    return Err(self.unexpected(vm));
                };
                vm.create_data_property(object, key, value)?;
                if let Some(records) = &mut self.records {
                    records.entry(key);
                }
                self.values.pop();
                self.skip_white_space();
                match self.peek() {
                    Some(0x2c) => {
                        self.at += 1;
                        let key = self.key(vm)?;
                        if let Some(top) = self.frames.last_mut() {
                            *top = Frame::Object { key };
                        }
                    }
                    Some(0x7d) => {
                        self.at += 1;
                        self.frames.pop();
                        self.values.pop();
                        return Ok(Some(self.finish_object(object)));
                    }
                    _ => return Err(self.unexpected(vm)),
                }
            }
        }
        Ok(None)
    }

    /// The end of the string that starts here, if it has no escapes and nothing illegal.
    #[inline]
    fn plain_string_end(&self) -> Option<usize> {
        let start = self.at + 1;
        let rest = self.units.get(start..)?;
        let length = rest.iter().position(|unit| {
            let code = unit.code();
            code == 0x22 || code == 0x5c || code < 0x20
        })?;
        (rest[length].code() == 0x22).then_some(start + length)
    }

    fn string(&mut self, vm: &mut Vm) -> JsResult<JsStr> {
        if let Some(end) = self.plain_string_end() {
            let units = &self.units[self.at + 1..end];
            if units.len() > UNITS_UNCHECKED_MAX {
                vm.check_heap_room(size_of_val(units))?;
            }
            let view = U::view(units);
            self.at = end + 1;
            return Ok(vm.new_string_view(view));
        }
        self.at += 1;
        let _charge = self.charge_escaped(vm)?;
        let mut builder = StringBuilder::new();
        loop {
            let start = self.at;
            while self.peek().is_some_and(|code| code != 0x22 && code != 0x5c && code >= 0x20) {
                self.at += 1;
            }
            builder.push_view(U::view(&self.units[start..self.at]));
            match self.peek() {
                Some(0x22) => break,
                Some(0x5c) => {
                    self.at += 1;
                    let unit = self.escape(vm)?;
                    builder.push_unit(unit);
                }
                Some(_) => {
                    let message =
                        format!("Bad control character in string literal in JSON at position {}", self.at);
                    return Err(vm.throw_syntax_error(&message));
                }
                None => return Err(vm.throw_syntax_error("Unterminated string in JSON")),
            }
        }
        self.at += 1;
        builder.finish(vm)
    }

    /// Charges what collecting the units of the string at the cursor takes until it is made, if that is much: a buffer may have twice the room it needs.
    fn charge_escaped(&self, vm: &mut Vm) -> JsResult<Option<ExternalCharge>> {
        let rest = self.units.get(self.at..).unwrap_or_default();
        let mut escaped = false;
        let end = rest.iter().position(|unit| {
            let code = unit.code();
            let ends = code == 0x22 && !escaped;
            escaped = code == 0x5c && !escaped;
            ends
        });
        match end {
            Some(units) if units > UNITS_UNCHECKED_MAX => {
                vm.charge_external(units * size_of::<U>() * 2).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn escape(&mut self, vm: &mut Vm) -> JsResult<u16> {
        let unit = match self.peek() {
            Some(code @ (0x22 | 0x5c | 0x2f)) => code,
            Some(0x62) => 0x08,
            Some(0x66) => 0x0c,
            Some(0x6e) => 0x0a,
            Some(0x72) => 0x0d,
            Some(0x74) => 0x09,
            Some(0x75) => return self.unicode_escape(vm),
            _ => return Err(self.unexpected(vm)),
        };
        self.at += 1;
        Ok(unit)
    }

    fn unicode_escape(&mut self, vm: &mut Vm) -> JsResult<u16> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|code| char::from_u32(u32::from(code))?.to_digit(16));
            let Some(digit) = digit else { return Err(self.unexpected(vm)) };
            unit = unit << 4 | digit as u16;
            self.at += 1;
        }
        Ok(unit)
    }

    fn number(&mut self, vm: &mut Vm) -> JsResult<Value> {
        let start = self.at;
        let negative = self.peek() == Some(0x2d);
        self.at += usize::from(negative);
        let mut whole: u64 = 0;
        let first = self.at;
        while let Some(code @ 0x30..=0x39) = self.peek() {
            whole = whole.wrapping_mul(10).wrapping_add(u64::from(code - 0x30));
            self.at += 1;
        }
        let digits = self.at - first;
        if digits == 0 {
            return Err(self.unexpected(vm));
        }
        if digits > 1 && self.units[first].code() == 0x30 {
            self.at = first + 1;
            return Err(self.unexpected(vm));
        }
        // OPTIMIZATION: up to nine digits fit an int32; equal to the decimal conversion below.
        if digits <= 9 && !matches!(self.peek(), Some(0x2e | 0x65 | 0x45)) {
            return Ok(match (negative, whole) {
                (true, 0) => Value::double(-0.0),
                (true, whole) => Value::int32(-(whole as i32)),
                (false, whole) => Value::int32(whole as i32),
            });
        }
        self.fraction_and_exponent(vm)?;
        let length = self.at - start;
        let _charge = if length > UNITS_UNCHECKED_MAX { Some(vm.charge_external(length)?) } else { None };
        let text: String =
            self.units[start..self.at].iter().map(|unit| char::from(unit.code() as u8)).collect();
        Ok(Value::number(text.parse().unwrap_or(f64::NAN)))
    }

    fn fraction_and_exponent(&mut self, vm: &mut Vm) -> JsResult<()> {
        if self.peek() == Some(0x2e) {
            self.at += 1;
            self.digits(vm)?;
        }
        if let Some(0x65 | 0x45) = self.peek() {
            self.at += 1;
            if let Some(0x2b | 0x2d) = self.peek() {
                self.at += 1;
            }
            self.digits(vm)?;
        }
        Ok(())
    }

    fn digits(&mut self, vm: &mut Vm) -> JsResult<()> {
        let start = self.at;
        while let Some(0x30..=0x39) = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.unexpected(vm)) } else { Ok(()) }
    }
}
