//! Writing values as JSON text. <https://tc39.es/ecma262/#sec-json.stringify>
//!
//! SerializeJSONObject and SerializeJSONArray are one loop over a stack of frames; guest code (toJSON, replacers, getters,
//! proxies) may run between any two steps. Ordinary objects are walked by their shape as long as it does not change.

use std::collections::HashSet;

use super::enumerable_own_keys;
use super::quote::{plain, quote};
use crate::atoms;
use crate::gc::{Gc, RootedVec};
use crate::object::{Object, ObjectKind, flags};
use crate::property_key::PropertyKey;
use crate::shape::{Shape, attrs};
use crate::string::builder::StringBuilder;
use crate::string::{JsStr, StrView};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// The most units of `space`.
const GAP_UNITS_MAX: usize = 10;
/// Units that the output has room for at first.
const FIRST_UNITS: usize = 256;
/// Properties between two polls.
const POLL_EVERY: u32 = 64;
/// Open containers beyond which cycles are looked up in a set instead of by scanning.
const SCAN_DEPTH_MAX: usize = 32;
/// Bytes of bookkeeping per open container, for the heap check.
const FRAME_BYTES: usize = 64;

/// JSON.stringify.
pub(super) fn stringify(vm: &mut Vm, value: Value, replacer: Value, space: Value) -> JsResult<Value> {
    let mut serializer = Serializer::new(vm);
    serializer.set_replacer(vm, replacer)?;
    serializer.gap = gap_from(vm, space)?;
    match serializer.document(vm, value)? {
        true => Ok(Value::string(serializer.out.finish(vm)?)),
        false => Ok(Value::UNDEFINED),
    }
}

/// The indentation that `space` asks for.
fn gap_from(vm: &mut Vm, space: Value) -> JsResult<Vec<u16>> {
    let space = match space.as_object() {
        Some(object) if object.is(ObjectKind::Number) => Value::number(vm.to_number(space)?),
        Some(object) if object.is(ObjectKind::String) => Value::string(vm.to_string(space)?),
        _ => space,
    };
    if let Some(text) = space.as_string() {
        return Ok(text.unmetered_view(vm).units().take(GAP_UNITS_MAX).collect());
    }
    if !space.is_number() {
        return Ok(Vec::new());
    }
    let width = vm.to_integer_or_infinity(space)?.clamp(0.0, GAP_UNITS_MAX as f64);
    Ok(vec![0x20; width as usize])
}

/// How the properties of an open object are found.
enum Walk {
    /// The elements of an array, up to its length.
    Elements { length: u64 },
    /// The properties of a shape, in order.
    Shape(Gc<Shape>),
    /// Keys on the key stack, from here.
    Keys { base: usize, count: usize },
}

/// An open container.
struct Frame {
    object: Object,
    walk: Walk,
    next: u64,
    /// Whether a property has been written.
    any: bool,
}

struct Serializer {
    out: StringBuilder,
    gap: Vec<u16>,
    replacer: Value,
    /// The keys that a replacer array allows.
    allowed: Option<RootedVec<PropertyKey>>,
    frames: Vec<Frame>,
    /// The objects of `frames`, for the collector.
    open: RootedVec,
    open_set: HashSet<usize>,
    keys: RootedVec<PropertyKey>,
    until_poll: u32,
}

impl Serializer {
    fn new(vm: &mut Vm) -> Self {
        Serializer {
            out: StringBuilder::with_capacity(FIRST_UNITS),
            gap: Vec::new(),
            replacer: Value::UNDEFINED,
            allowed: None,
            frames: Vec::new(),
            open: vm.scratch(),
            open_set: HashSet::new(),
            keys: RootedVec::new(&vm.heap),
            until_poll: POLL_EVERY,
        }
    }

    fn set_replacer(&mut self, vm: &mut Vm, replacer: Value) -> JsResult<()> {
        let Some(object) = replacer.as_object() else { return Ok(()) };
        if object.is_callable() {
            self.replacer = replacer;
            return Ok(());
        }
        if !vm.is_array(replacer)? {
            return Ok(());
        }
        let mut allowed = RootedVec::<PropertyKey>::new(&vm.heap);
        let mut seen = HashSet::new();
        let length = vm.length_of_array_like(object)?;
        for index in 0..length {
            vm.poll()?;
            let key = vm.key_from_u64(index);
            let item = vm.get(object, key)?;
            let kind = item.as_object().map(|object| object.kind());
            let names = item.is_string() || item.is_number();
            if names || matches!(kind, Some(ObjectKind::Number | ObjectKind::String)) {
                let name = vm.to_string(item)?;
                let key = vm.key_from_string(name);
                if seen.insert(key) {
                    allowed.push(key);
                }
            }
        }
        self.allowed = Some(allowed);
        Ok(())
    }

    /// Writes the whole; false if there is nothing to write.
    fn document(&mut self, vm: &mut Vm, value: Value) -> JsResult<bool> {
        let key = vm.key_from_str("");
        let holder = if self.replacer.is_undefined() {
            None
        } else {
            let wrapper = vm.new_object();
            vm.create_data_property_or_throw(wrapper, key, value)?;
            Some(wrapper)
        };
        let value = self.prepare(vm, holder, key, value)?;
        if !is_serializable(value) {
            return Ok(false);
        }
        self.write(vm, value)?;
        while !self.frames.is_empty() {
            self.step(vm)?;
        }
        Ok(true)
    }

    /// The first half of SerializeJSONProperty: toJSON, the replacer, and unwrapping.
    /// <https://tc39.es/ecma262/#sec-serializejsonproperty>
    fn prepare(
        &mut self,
        vm: &mut Vm,
        holder: Option<Object>,
        key: PropertyKey,
        value: Value,
    ) -> JsResult<Value> {
        let mut value = value;
        if value.is_object() || value.is_bigint() {
            let to_json = match value.as_object() {
                Some(object) => vm.get_cached(object, atoms::TO_JSON)?,
                None => vm.get_v(value, atoms::TO_JSON)?,
            };
            if to_json.as_object().is_some_and(|object| object.is_callable()) {
                let name = key.to_value(vm);
                value = vm.call(to_json, value, &[name])?;
            }
        }
        if let Some(holder) = holder {
            let name = key.to_value(vm);
            value = vm.call(self.replacer, Value::object(holder), &[name, value])?;
        }
        match value.as_object().map(|object| object.kind()) {
            Some(ObjectKind::Number) => Ok(Value::number(vm.to_number(value)?)),
            Some(ObjectKind::String) => Ok(Value::string(vm.to_string(value)?)),
            Some(ObjectKind::Boolean | ObjectKind::BigInt) => {
                Ok(value.as_object().map_or(value, |object| object.slot(0)))
            }
            _ => Ok(value),
        }
    }

    /// The second half of SerializeJSONProperty, for a value that is serializable: writes it, or opens it.
    fn write(&mut self, vm: &mut Vm, value: Value) -> JsResult<()> {
        if let Some(text) = value.as_string() {
            quote(vm, &mut self.out, text)?;
        } else if let Some(number) = value.as_int32() {
            self.push_integer(number);
        } else if let Some(number) = value.as_number() {
            if number.is_finite() {
                self.out.push_latin1(ryu_js::Buffer::new().format_finite(number).as_bytes());
            } else {
                self.out.push_latin1(b"null");
            }
        } else if let Some(object) = value.as_object() {
            return self.open(vm, object);
        } else if value.is_bigint() {
            return Err(vm.throw_type_error("Do not know how to serialize a BigInt"));
        } else {
            let word: &[u8] = match value {
                Value::TRUE => b"true",
                Value::FALSE => b"false",
                _ => b"null",
            };
            self.out.push_latin1(word);
        }
        Ok(())
    }

    fn push_integer(&mut self, number: i32) {
        let mut buffer = [0; 11];
        let mut at = buffer.len();
        let mut magnitude = number.unsigned_abs();
        loop {
            at -= 1;
            buffer[at] = b'0' + (magnitude % 10) as u8;
            magnitude /= 10;
            if magnitude == 0 {
                break;
            }
        }
        if number < 0 {
            at -= 1;
            buffer[at] = b'-';
        }
        self.out.push_latin1(&buffer[at..]);
    }

    fn open(&mut self, vm: &mut Vm, object: Object) -> JsResult<()> {
        if object.is(ObjectKind::RawJson) {
            let text = vm.get(object, atoms::RAW_JSON)?;
            let text = vm.to_string(text)?;
            self.out.push_string(vm, text);
            return Ok(());
        }
        self.check_cycle(vm, object)?;
        let is_array = vm.is_array(Value::object(object))?;
        let walk = if is_array {
            Walk::Elements { length: vm.length_of_array_like(object)? }
        } else {
            self.object_walk(vm, object)?
        };
        self.out.push_byte(if is_array { b'[' } else { b'{' });
        self.open.push(Value::object(object));
        if self.frames.len() >= SCAN_DEPTH_MAX {
            self.open_set.insert(object.addr());
        }
        self.frames.push(Frame { object, walk, next: 0, any: false });
        Ok(())
    }

    fn check_cycle(&mut self, vm: &mut Vm, object: Object) -> JsResult<()> {
        let shallow = self.frames.iter().take(SCAN_DEPTH_MAX);
        if shallow.into_iter().any(|frame| frame.object == object) || self.open_set.contains(&object.addr()) {
            return Err(vm.throw_type_error("Converting circular structure to JSON"));
        }
        Ok(())
    }

    fn object_walk(&mut self, vm: &mut Vm, object: Object) -> JsResult<Walk> {
        let base = self.keys.len();
        if let Some(allowed) = &self.allowed {
            self.keys.extend_from_slice(allowed);
            return Ok(Walk::Keys { base, count: self.keys.len() - base });
        }
        // OPTIMIZATION: equal to listing the keys first, because the shape is compared before each property.
        let plain = object.is(ObjectKind::Ordinary)
            && !object.has_flag(flags::EXOTIC | flags::HAS_SPARSE | flags::HAS_LAZY)
            && object.elements().is_empty()
            && !object.shape().is_dictionary();
        if plain {
            return Ok(Walk::Shape(object.shape()));
        }
        let keys = enumerable_own_keys(vm, object)?;
        self.keys.extend_from_slice(&keys);
        Ok(Walk::Keys { base, count: keys.len() })
    }

    /// Writes the next property of the innermost container, or closes it.
    fn step(&mut self, vm: &mut Vm) -> JsResult<()> {
        self.poll(vm)?;
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let (object, index) = (frame.object, frame.next);
        frame.next += 1;
        match frame.walk {
            Walk::Elements { length } if index < length => self.element(vm, object, index),
            Walk::Elements { .. } => {
                self.close(b']');
                Ok(())
            }
            Walk::Keys { base, count } if index < count as u64 => {
                let key = self.keys[base + index as usize];
                let value = vm.get(object, key)?;
                self.property(vm, object, key, value)
            }
            Walk::Keys { base, .. } => {
                self.keys.truncate(base);
                self.close(b'}');
                Ok(())
            }
            Walk::Shape(shape) => self.shape_property(vm, object, shape, index),
        }
    }

    fn shape_property(&mut self, vm: &mut Vm, object: Object, shape: Gc<Shape>, index: u64) -> JsResult<()> {
        let Some((key, info)) = shape.property_at(index as usize) else {
            self.close(b'}');
            return Ok(());
        };
        if info.attrs & attrs::ENUMERABLE == 0 || key.is_symbol() {
            return Ok(());
        }
        let is_data = info.attrs & attrs::ACCESSOR == 0;
        let value =
            if is_data && object.shape() == shape { object.slot(info.slot) } else { vm.get(object, key)? };
        self.property(vm, object, key, value)
    }

    fn element(&mut self, vm: &mut Vm, array: Object, index: u64) -> JsResult<()> {
        let key = vm.key_from_u64(index);
        let dense = u32::try_from(index).ok().filter(|_| array.is_array()).map(|index| array.element(index));
        let value = match dense {
            // OPTIMIZATION: a dense element is what [[Get]] would give.
            Some(value) if !value.is_empty() => value,
            _ => vm.get(array, key)?,
        };
        let holder = self.holder(array);
        let value = self.prepare(vm, holder, key, value)?;
        self.separate();
        if is_serializable(value) {
            return self.write(vm, value);
        }
        self.out.push_latin1(b"null");
        Ok(())
    }

    fn holder(&self, object: Object) -> Option<Object> {
        (!self.replacer.is_undefined()).then_some(object)
    }

    fn property(&mut self, vm: &mut Vm, object: Object, key: PropertyKey, value: Value) -> JsResult<()> {
        let holder = self.holder(object);
        let value = self.prepare(vm, holder, key, value)?;
        if !is_serializable(value) {
            return Ok(());
        }
        self.name(vm, key)?;
        self.write(vm, value)
    }

    /// The comma and the line break before a property, its name, and the colon.
    fn name(&mut self, vm: &mut Vm, key: PropertyKey) -> JsResult<()> {
        if self.gap.is_empty()
            && let Some(name) = key.as_string()
            && let Some(units) = name.flat_view().and_then(plain)
        {
            let comma = self.is_further();
            self.out.push_quoted_name(comma, units);
            return Ok(());
        }
        self.separate();
        match key.as_string() {
            Some(name) => quote(vm, &mut self.out, name)?,
            None => {
                let name: JsStr = match key.to_value(vm).as_string() {
                    Some(name) => name,
                    None => return Ok(()),
                };
                quote(vm, &mut self.out, name)?;
            }
        }
        self.out.push_latin1(if self.gap.is_empty() { b":" } else { b": " });
        Ok(())
    }

    /// Whether the innermost container has a property already; from now on it has.
    fn is_further(&mut self) -> bool {
        self.frames.last_mut().is_some_and(|frame| std::mem::replace(&mut frame.any, true))
    }

    /// The comma and the line break before a property.
    fn separate(&mut self) {
        if self.is_further() {
            self.out.push_byte(b',');
        }
        self.break_line(self.frames.len());
    }

    fn break_line(&mut self, depth: usize) {
        if self.gap.is_empty() {
            return;
        }
        self.out.push_byte(b'\n');
        for _ in 0..depth {
            self.out.push_view(StrView::Utf16(&self.gap));
        }
    }

    fn close(&mut self, bracket: u8) {
        let Some(frame) = self.frames.pop() else { return };
        self.open.pop();
        if self.frames.len() >= SCAN_DEPTH_MAX {
            self.open_set.remove(&frame.object.addr());
        }
        if frame.any {
            self.break_line(self.frames.len());
        }
        self.out.push_byte(bracket);
    }

    fn poll(&mut self, vm: &mut Vm) -> JsResult<()> {
        self.until_poll -= 1;
        if self.until_poll == 0 {
            self.until_poll = POLL_EVERY;
            vm.poll_n(POLL_EVERY)?;
            self.out.check(vm)?;
            vm.check_heap_room(self.frames.len() * FRAME_BYTES)?;
        }
        Ok(())
    }
}

/// Whether a prepared value has a JSON form: undefined, symbols and functions do not.
fn is_serializable(value: Value) -> bool {
    match value.as_object() {
        Some(object) => !object.is_callable(),
        None => !value.is_undefined() && !value.is_symbol(),
    }
}
