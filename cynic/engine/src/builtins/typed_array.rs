//! TypedArray constructors (23.2): %TypedArray%, the twelve concrete ones, and the operations that make and check typed arrays.
//! <https://tc39.es/ecma262/#sec-typedarray-objects>
//!
//! Internal slots: 0 the `Data<TypedView>`, 1 the buffer object. The methods are in `typed_array_prototype` and `typed_array_iterate`.

use super::array_buffer::{allocate_default, buffer_of, require_attached};
use super::{typed_array_iterate as iterate, typed_array_prototype as proto, uint8_array_base64 as base64};
use crate::gc::{Data, Gc, RootedVec};
use crate::object::buffer::Buffer;
use crate::object::function::{CallArgs, NativeSpec};
use crate::object::typed_view::TypedArrayObject as _;
use crate::object::typed_view::{ElementType, TypedView};
use crate::object::{Object, ObjectKind, flags};
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, PropertySpec, ValueSpec, constant, constructor, data, getter, method,
    prototype, species, symbol_data, symbol_getter,
};
use crate::shape::attrs;
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// %TypedArray%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("TypedArray", 0, construct_abstract)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[
        prototype(Intrinsic::TypedArrayPrototype),
        method("from", 1, from),
        method("of", 0, of),
        species(),
    ],
};

/// %TypedArray.prototype%.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::TypedArray),
        method("at", 1, proto::at),
        getter("buffer", proto::buffer),
        getter("byteLength", proto::byte_length),
        getter("byteOffset", proto::byte_offset),
        method("copyWithin", 2, proto::copy_within),
        method("entries", 0, proto::entries),
        method("every", 1, iterate::every),
        method("fill", 1, proto::fill),
        method("filter", 1, iterate::filter),
        method("find", 1, iterate::find),
        method("findIndex", 1, iterate::find_index),
        method("findLast", 1, iterate::find_last),
        method("findLastIndex", 1, iterate::find_last_index),
        method("forEach", 1, iterate::for_each),
        method("includes", 1, proto::includes),
        method("indexOf", 1, proto::index_of),
        method("join", 1, proto::join),
        method("keys", 0, proto::keys),
        method("lastIndexOf", 1, proto::last_index_of),
        getter("length", proto::length),
        method("map", 1, iterate::map),
        method("reduce", 1, iterate::reduce),
        method("reduceRight", 1, iterate::reduce_right),
        method("reverse", 0, proto::reverse),
        method("set", 1, proto::set),
        method("slice", 2, proto::slice),
        method("some", 1, iterate::some),
        method("sort", 1, iterate::sort),
        method("subarray", 2, proto::subarray),
        method("toLocaleString", 0, proto::to_locale_string),
        method("toReversed", 0, proto::to_reversed),
        method("toSorted", 1, iterate::to_sorted),
        data("toString", ValueSpec::From(Intrinsic::ArrayPrototype, "toString"), attrs::METHOD),
        method("values", 0, proto::values),
        method("with", 2, proto::with),
        symbol_data(symbol::ITERATOR, ValueSpec::SameAs("values"), attrs::METHOD),
        symbol_getter(symbol::TO_STRING_TAG, "[Symbol.toStringTag]", proto::to_string_tag),
    ],
};

macro_rules! concrete {
    ($($element:ident $constructor:ident $prototype:ident $c:ident $p:ident [$($static:expr),*] [$($extra:expr),*];)*) => {
        $(
            #[doc = concat!("%", stringify!($c), "%.")]
            pub static $constructor: IntrinsicSpec = IntrinsicSpec {
                body: Body::Function(NativeSpec::constructor(ElementType::$element.name(), 3, |vm, args| construct(vm, args, ElementType::$element))),
                prototype: Some(Intrinsic::TypedArray),
                properties: &[prototype(Intrinsic::$p), bytes_per_element(ElementType::$element), $($static),*],
            };
            #[doc = concat!("%", stringify!($c), ".prototype%.")]
            pub static $prototype: IntrinsicSpec = IntrinsicSpec {
                body: Body::Object(ObjectKind::Ordinary, 0),
                prototype: Some(Intrinsic::TypedArrayPrototype),
                properties: &[constructor(Intrinsic::$c), bytes_per_element(ElementType::$element), $($extra),*],
            };
        )*

        /// The intrinsic constructor and prototype of an element type.
        pub(crate) fn intrinsics_of(element: ElementType) -> (Intrinsic, Intrinsic) {
            match element {
                $(ElementType::$element => (Intrinsic::$c, Intrinsic::$p),)*
            }
        }
    };
}

concrete! {
    Int8 INT8_ARRAY INT8_ARRAY_PROTOTYPE Int8Array Int8ArrayPrototype [] [];
    Uint8 UINT8_ARRAY UINT8_ARRAY_PROTOTYPE Uint8Array Uint8ArrayPrototype
        [method("fromBase64", 1, base64::from_base64), method("fromHex", 1, base64::from_hex)]
        [
            method("setFromBase64", 1, base64::set_from_base64), method("setFromHex", 1, base64::set_from_hex),
            method("toBase64", 0, base64::to_base64), method("toHex", 0, base64::to_hex)
        ];
    Uint8Clamped UINT8_CLAMPED_ARRAY UINT8_CLAMPED_ARRAY_PROTOTYPE Uint8ClampedArray Uint8ClampedArrayPrototype [] [];
    Int16 INT16_ARRAY INT16_ARRAY_PROTOTYPE Int16Array Int16ArrayPrototype [] [];
    Uint16 UINT16_ARRAY UINT16_ARRAY_PROTOTYPE Uint16Array Uint16ArrayPrototype [] [];
    Int32 INT32_ARRAY INT32_ARRAY_PROTOTYPE Int32Array Int32ArrayPrototype [] [];
    Uint32 UINT32_ARRAY UINT32_ARRAY_PROTOTYPE Uint32Array Uint32ArrayPrototype [] [];
    BigInt64 BIG_INT64_ARRAY BIG_INT64_ARRAY_PROTOTYPE BigInt64Array BigInt64ArrayPrototype [] [];
    BigUint64 BIG_UINT64_ARRAY BIG_UINT64_ARRAY_PROTOTYPE BigUint64Array BigUint64ArrayPrototype [] [];
    Float16 FLOAT16_ARRAY FLOAT16_ARRAY_PROTOTYPE Float16Array Float16ArrayPrototype [] [];
    Float32 FLOAT32_ARRAY FLOAT32_ARRAY_PROTOTYPE Float32Array Float32ArrayPrototype [] [];
    Float64 FLOAT64_ARRAY FLOAT64_ARRAY_PROTOTYPE Float64Array Float64ArrayPrototype [] [];
}

const fn bytes_per_element(element: ElementType) -> PropertySpec {
    constant("BYTES_PER_ELEMENT", element.size() as f64)
}

/// A typed array with its view, and the length it had when it was checked.
#[derive(Clone, Copy)]
pub(crate) struct Typed {
    pub(crate) object: Object,
    pub(crate) view: Gc<Data<TypedView>>,
    pub(crate) length: usize,
}

impl Typed {
    /// The element type.
    pub(crate) fn element(&self) -> ElementType {
        self.view.element
    }

    /// The length now, which guest code may have changed.
    pub(crate) fn current_length(&self) -> usize {
        self.view.length().unwrap_or(0)
    }
}

/// The view of a typed array, whatever its state.
pub(crate) fn view_of(v: Value) -> Option<(Object, Gc<Data<TypedView>>)> {
    let o = v.as_object().filter(|o| o.is(ObjectKind::TypedArray))?;
    Some((o, o.data::<TypedView>(0)?))
}

/// ValidateTypedArray (23.2.4.4).
pub(crate) fn validate(vm: &mut Vm, v: Value) -> JsResult<Typed> {
    let Some((object, view)) = view_of(v) else {
        return Err(vm.throw_type_error("this is not a typed array"));
    };
    match view.length() {
        Some(length) => Ok(Typed { object, view, length }),
        None => Err(vm.throw_type_error("typed array is out of bounds or its buffer is detached")),
    }
}

/// TypedArrayLength of an object that is a typed array; a TypeError if it is out of bounds.
pub(crate) fn typed_array_length(vm: &mut Vm, o: Object) -> JsResult<u64> {
    validate(vm, Value::object(o)).map(|typed| typed.length as u64)
}

/// 23.2.1.1
fn construct_abstract(vm: &mut Vm, _: CallArgs) -> JsResult<Value> {
    Err(vm.throw_type_error("Abstract class TypedArray not directly constructable"))
}

/// 23.2.5.1
fn construct(vm: &mut Vm, args: CallArgs, element: ElementType) -> JsResult<Value> {
    if !args.is_construct() {
        let message = format!("Constructor {} requires 'new'", element.name());
        return Err(vm.throw_type_error(&message));
    }
    let first = args.get(0);
    let Some(source) = first.as_object() else {
        let length = vm.to_index(first)?;
        let prototype = prototype_for(vm, args.new_target, element)?;
        return Ok(Value::object(with_length(vm, element, prototype, length)?));
    };
    let prototype = prototype_for(vm, args.new_target, element)?;
    let o = match source.kind() {
        ObjectKind::TypedArray => from_typed_array(vm, element, prototype, source)?,
        ObjectKind::ArrayBuffer | ObjectKind::SharedArrayBuffer => {
            from_buffer(vm, element, prototype, source, args.get(1), args.get(2))?
        }
        _ => from_object(vm, element, prototype, source)?,
    };
    Ok(Value::object(o))
}

fn prototype_for(vm: &mut Vm, new_target: Value, element: ElementType) -> JsResult<Object> {
    vm.get_prototype_from_constructor(new_target, intrinsics_of(element).1)
}

/// The object itself (TypedArrayCreate, 10.4.5.15).
fn create(
    vm: &mut Vm,
    element: ElementType,
    prototype: Object,
    buffer_object: Object,
    buffer: Gc<Data<Buffer>>,
    byte_offset: usize,
    fixed_length: Option<usize>,
) -> Object {
    let cell = vm.alloc_data(TypedView::new(buffer, element, byte_offset, fixed_length));
    let o = vm.new_exotic(ObjectKind::TypedArray, Value::object(prototype), 2);
    o.set_slot(0, Value::cell(cell));
    o.set_slot(1, Value::object(buffer_object));
    o.set_flag(flags::EXOTIC);
    o
}

/// AllocateTypedArray with a length (23.2.5.1.6 AllocateTypedArrayBuffer).
fn with_length(vm: &mut Vm, element: ElementType, prototype: Object, length: u64) -> JsResult<Object> {
    let bytes = length.saturating_mul(element.size() as u64);
    let buffer_object = allocate_default(vm, bytes)?;
    let Some(buffer) = buffer_of(buffer_object) else {
        return Err(vm.throw_type_error("typed array has no buffer"));
    };
    Ok(create(vm, element, prototype, buffer_object, buffer, 0, Some(length as usize)))
}

/// InitializeTypedArrayFromTypedArray (23.2.5.1.2).
fn from_typed_array(
    vm: &mut Vm,
    element: ElementType,
    prototype: Object,
    source: Object,
) -> JsResult<Object> {
    let source = validate(vm, Value::object(source))?;
    let o = with_length(vm, element, prototype, source.length as u64)?;
    if source.element().is_bigint() != element.is_bigint() {
        return Err(vm.throw_type_error("cannot mix BigInt and other types"));
    }
    let target = validate(vm, Value::object(o))?;
    copy_elements(vm, &source, 0, &target, 0, source.length)?;
    Ok(o)
}

/// Elements that are converted between two looks at the limits.
const CONVERTED_AT_ONCE: usize = 4096;

/// Copies elements between typed arrays of one content type, converting them; the ranges are in bounds and do not overlap.
pub(super) fn copy_elements(
    vm: &mut Vm,
    source: &Typed,
    from: usize,
    target: &Typed,
    to: usize,
    count: usize,
) -> JsResult<()> {
    let (from_size, to_size) = (source.element().size(), target.element().size());
    // OPTIMIZATION: equals the loop below where bytes mean the same.
    if source.element() == target.element() {
        let (from, to) = (source.view.byte_offset + from * from_size, target.view.byte_offset + to * to_size);
        target.view.buffer.copy_from(vm, &source.view.buffer, from, to, count * from_size);
        return Ok(());
    }
    for i in 0..count {
        if i.is_multiple_of(CONVERTED_AT_ONCE) {
            vm.poll_bytes(CONVERTED_AT_ONCE * 16)?;
        }
        let Some(bits) = source.view.bits_at(from + i) else { break };
        let converted = if source.element().is_bigint() {
            bits
        } else {
            let v = source.element().to_value(vm, bits);
            target.element().number_bits(v.as_number().unwrap_or(f64::NAN))
        };
        target.view.set_bits(to + i, converted);
    }
    Ok(())
}

/// InitializeTypedArrayFromArrayBuffer (23.2.5.1.3).
fn from_buffer(
    vm: &mut Vm,
    element: ElementType,
    prototype: Object,
    buffer_object: Object,
    byte_offset: Value,
    length: Value,
) -> JsResult<Object> {
    let Some(buffer) = buffer_of(buffer_object) else {
        return Err(vm.throw_type_error("not an ArrayBuffer"));
    };
    let size = element.size() as u64;
    let offset = vm.to_index(byte_offset)?;
    if !offset.is_multiple_of(size) {
        let message = format!("start offset of {} should be a multiple of {size}", element.name());
        return Err(vm.throw_range_error(&message));
    }
    let wanted = if length.is_undefined() { None } else { Some(vm.to_index(length)?) };
    require_attached(vm, &buffer)?;
    let bytes = buffer.len() as u64;
    let fixed_length = match wanted {
        None if buffer.is_resizable() => {
            if offset > bytes {
                return Err(vm.throw_range_error("Start offset is outside the bounds of the buffer"));
            }
            None
        }
        None => {
            if !bytes.is_multiple_of(size) {
                let message = format!("byte length of {} should be a multiple of {size}", element.name());
                return Err(vm.throw_range_error(&message));
            }
            if offset > bytes {
                return Err(vm.throw_range_error("Start offset is outside the bounds of the buffer"));
            }
            Some(((bytes - offset) / size) as usize)
        }
        Some(n) => {
            if n.checked_mul(size).and_then(|n| n.checked_add(offset)).is_none_or(|end| end > bytes) {
                return Err(vm.throw_range_error("Invalid typed array length"));
            }
            Some(n as usize)
        }
    };
    Ok(create(vm, element, prototype, buffer_object, buffer, offset as usize, fixed_length))
}

/// InitializeTypedArrayFromList (23.2.5.1.4) or FromArrayLike (23.2.5.1.5).
fn from_object(vm: &mut Vm, element: ElementType, prototype: Object, source: Object) -> JsResult<Object> {
    let using = vm.get_method(Value::object(source), symbol::ITERATOR)?;
    if !using.is_undefined() {
        let values = iterable_values(vm, source, using)?;
        let o = with_length(vm, element, prototype, values.len() as u64)?;
        for (i, &v) in values.iter().enumerate() {
            vm.poll()?;
            super::typed_array_exotic::set_element(vm, o, Some(i), v)?;
        }
        return Ok(o);
    }
    let length = vm.length_of_array_like(source)?;
    let o = with_length(vm, element, prototype, length)?;
    for i in 0..length {
        vm.poll()?;
        let key = vm.key_from_u64(i);
        let v = vm.get(source, key)?;
        super::typed_array_exotic::set_element(vm, o, Some(i as usize), v)?;
    }
    Ok(o)
}

fn iterable_values(vm: &mut Vm, source: Object, using: Value) -> JsResult<RootedVec> {
    let mut record = vm.get_iterator_from_method(Value::object(source), using)?;
    vm.iterator_to_list(&mut record)
}

/// TypedArrayCreateFromConstructor (23.2.4.2): a new typed array of at least `length` elements if that is given.
pub(super) fn create_from_constructor(
    vm: &mut Vm,
    c: Object,
    arguments: &[Value],
    length: Option<usize>,
) -> JsResult<Typed> {
    let o = vm.construct(c, arguments, c)?;
    let typed = validate(vm, Value::object(o))?;
    if length.is_some_and(|length| typed.length < length) {
        return Err(vm.throw_type_error("the constructed typed array is too short"));
    }
    Ok(typed)
}

/// TypedArraySpeciesCreate (23.2.4.1).
pub(super) fn species_create(
    vm: &mut Vm,
    exemplar: &Typed,
    arguments: &[Value],
    length: Option<usize>,
) -> JsResult<Typed> {
    let default = intrinsics_of(exemplar.element()).0;
    let c = vm.species_constructor(exemplar.object, default)?;
    let typed = create_from_constructor(vm, c, arguments, length)?;
    if typed.element().is_bigint() != exemplar.element().is_bigint() {
        return Err(vm.throw_type_error("cannot mix BigInt and other types"));
    }
    Ok(typed)
}

/// TypedArrayCreateSameType (23.2.4.3).
pub(super) fn create_same_type(vm: &mut Vm, exemplar: &Typed, length: usize) -> JsResult<Typed> {
    let prototype = vm.intrinsic(intrinsics_of(exemplar.element()).1);
    let o = with_length(vm, exemplar.element(), prototype, length as u64)?;
    validate(vm, Value::object(o))
}

/// The `this` of `from` and `of`, which must be a constructor.
fn this_constructor(vm: &mut Vm, args: &CallArgs) -> JsResult<Object> {
    match args.this.as_object().filter(|o| o.is_constructor()) {
        Some(c) => Ok(c),
        None => Err(vm.throw_type_error("this is not a constructor")),
    }
}

/// 23.2.2.1
fn from(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let c = this_constructor(vm, &args)?;
    let (source, map, this_arg) = (args.get(0), args.get(1), args.get(2));
    if !map.is_undefined() && !map.is_callable() {
        return Err(vm.throw_type_error("the map function is not callable"));
    }
    let using = vm.get_method(source, symbol::ITERATOR)?;
    let (list, array_like, length) = if using.is_undefined() {
        let o = vm.to_object(source)?;
        let length = vm.length_of_array_like(o)?;
        (None, Some(o), length)
    } else {
        let mut record = vm.get_iterator_from_method(source, using)?;
        let values = vm.iterator_to_list(&mut record)?;
        let length = values.len() as u64;
        (Some(values), None, length)
    };
    let target = create_from_constructor(vm, c, &[Value::number(length as f64)], Some(length as usize))?;
    for i in 0..length {
        vm.poll()?;
        let key = vm.key_from_u64(i);
        let mut v = match (&list, array_like) {
            (Some(values), _) => values.get(i as usize).copied().unwrap_or(Value::UNDEFINED),
            (None, Some(o)) => vm.get(o, key)?,
            (None, None) => Value::UNDEFINED,
        };
        if !map.is_undefined() {
            v = vm.call(map, this_arg, &[v, Value::number(i as f64)])?;
        }
        vm.set_or_throw(target.object, key, v)?;
    }
    Ok(Value::object(target.object))
}

/// 23.2.2.2
fn of(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let c = this_constructor(vm, &args)?;
    let target = create_from_constructor(vm, c, &[Value::number(args.len() as f64)], Some(args.len()))?;
    for (i, &v) in args.as_slice().iter().enumerate() {
        let key = vm.key_from_u64(i as u64);
        vm.set_or_throw(target.object, key, v)?;
    }
    Ok(Value::object(target.object))
}

impl Vm {
    /// A new Uint8Array with these bytes, for hosts.
    pub fn new_uint8_array(&mut self, bytes: &[u8]) -> JsResult<Object> {
        let prototype = self.intrinsic(Intrinsic::Uint8ArrayPrototype);
        let o = with_length(self, ElementType::Uint8, prototype, bytes.len() as u64)?;
        if let Some(view) = o.typed_view() {
            view.buffer.write_bytes(self, 0, bytes);
        }
        Ok(o)
    }

    /// The bytes that a typed array, DataView, ArrayBuffer or SharedArrayBuffer shows, copied, for hosts.
    pub fn bytes_of(&mut self, v: Value) -> Option<Vec<u8>> {
        let (buffer, bytes) = shown_bytes(v)?;
        Some(buffer.to_vec(self, bytes.start, bytes.end))
    }

    /// How many bytes a typed array of integers shows; `None` for other values.
    pub fn integer_array_bytes(&self, v: Value) -> Option<usize> {
        let view = v.as_object().filter(|o| o.kind() == ObjectKind::TypedArray)?.data::<TypedView>(0)?;
        let is_integer = view.element.is_unclamped_integer() || view.element == ElementType::Uint8Clamped;
        Some(view.length()? * view.element.size()).filter(|_| is_integer)
    }

    /// Writes to the beginning of what a typed array shows, as many bytes as there are.
    pub fn write_array_bytes(&mut self, v: Value, bytes: &[u8]) {
        if let Some((buffer, shown)) = shown_bytes(v) {
            let count = bytes.len().min(shown.len());
            buffer.write_bytes(self, shown.start, bytes.get(..count).unwrap_or_default());
        }
    }

    /// How many bytes that would be.
    pub fn byte_length_of(&self, v: Value) -> Option<usize> {
        shown_bytes(v).map(|(_, bytes)| bytes.len())
    }
}

/// The buffer and the bytes of it that a typed array, DataView, ArrayBuffer or SharedArrayBuffer shows.
fn shown_bytes(v: Value) -> Option<(Gc<Data<Buffer>>, std::ops::Range<usize>)> {
    let o = v.as_object()?;
    if let Some(buffer) = buffer_of(o) {
        return Some((buffer, 0..buffer.len()));
    }
    if !matches!(o.kind(), ObjectKind::TypedArray | ObjectKind::DataView) {
        return None;
    }
    let view = o.data::<TypedView>(0)?;
    let bytes = view.length()? * view.element.size();
    Some((view.buffer, view.byte_offset..view.byte_offset + bytes))
}
