//! Function templates: compiled code linked to a realm's heap.
//!
//! A [`FunctionTemplate`] adds to a [`FunctionCode`] what needs a heap: constants as values, inline caches, nested
//! templates, template objects and literal shapes. Templates are made when a closure of theirs is first made.
//!
//! Invariant: the code passed the verifier; the pointers into the boxes live as long as the template, which never moves.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use super::compiled::Compiled;
use crate::bytecode::code::{CodeKind, Constant, FunctionCode, Text};
use crate::bytecode::liveness::Liveness;
use crate::gc::{Data, Gc, Trace, Tracer, tag};
use crate::object::Object;
use crate::property_key::PropertyKey;
use crate::realm::Realm;
use crate::shape::Shape;
use crate::string::JsStr;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// Flags of a template, tested on the call path.
pub mod template_flags {
    /// A class constructor: only `new` and `super` may run it.
    pub const CLASS_CONSTRUCTOR: u32 = 1;
    /// `this` is bound by `super()`.
    pub const DERIVED: u32 = 1 << 1;
    /// The frame keeps the whole argument list.
    pub const NEEDS_ARGUMENTS: u32 = 1 << 2;
    /// Has `[[Construct]]`.
    pub const CONSTRUCTOR: u32 = 1 << 3;
    /// An async function (not a generator): an exception rejects its promise.
    pub const ASYNC: u32 = 1 << 4;
    /// A generator of either kind, or a module.
    pub const GENERATOR: u32 = 1 << 5;
}

/// Stand for the shape of a primitive in `Ic::far_shape`.
pub mod primitive_shapes {
    /// A string.
    pub const STRING: usize = 1;
    /// A number.
    pub const NUMBER: usize = 2;
}

/// An inline cache of one site. Unused parts are zero.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ic {
    /// The property (0 for computed keys).
    pub key: u64,
    /// Shape for which the property is the receiver's own, in `slot`.
    pub shape: usize,
    /// A second such shape.
    pub shape_2: usize,
    /// Slot for `shape`.
    pub slot: u32,
    /// Slot for `shape_2`.
    pub slot_2: u32,
    /// Shape whose objects find the property on `holder` (guard: `epoch`), or before adding a property.
    pub far_shape: usize,
    /// The holder, or the shape after adding.
    pub far: usize,
    /// Slot in the holder, or of the new property.
    pub far_slot: u32,
    /// How often the site has had to learn; beyond `limits::IC_MISSES_MAX` it is left as it is.
    pub misses: u32,
    /// The epoch the far entry is valid in.
    pub epoch: u64,
}

impl Ic {
    /// Whether the site may still be taught; counts.
    #[inline]
    pub(crate) fn may_learn(&mut self) -> bool {
        self.misses = self.misses.saturating_add(1);
        self.misses <= crate::limits::IC_MISSES_MAX
    }
    /// The property's key.
    #[inline(always)]
    pub fn property_key(&self) -> PropertyKey {
        // SAFETY: linking stored the bits of a key here, which the template's constants keep alive.
        unsafe { std::mem::transmute::<u64, PropertyKey>(self.key) }
    }
}

/// See the module's head.
pub struct FunctionTemplate {
    /// First instruction.
    pub code: *const u32,
    /// Where a call begins: at `code`, or at the word that enters compiled code.
    pub start: Cell<*const u32>,
    /// Where a call from compiled code begins, if this function is compiled, or null.
    pub entry: Cell<*const u8>,
    /// The compiled code.
    pub(super) compiled: OnceCell<Compiled>,
    /// Registers of a frame.
    pub registers: u32,
    /// Parameters in registers.
    pub parameters: u32,
    /// See [`template_flags`].
    pub flags: u32,
    /// The caches.
    pub feedback: *mut Ic,
    /// The constants.
    pub constants: *const Value,
    /// The realm.
    pub realm: Gc<Data<Realm>>,
    /// The compiled function.
    pub function: Arc<FunctionCode>,
    /// The script or module the code belongs to: a data cell, or undefined.
    pub referrer: Value,
    /// The function's name.
    pub name: JsStr,
    ics: Box<[Ic]>,
    constant_values: Box<[Value]>,
    nested: Box<[Cell<Value>]>,
    template_objects: Box<[Cell<Value>]>,
    literal_shapes: Box<[Cell<Option<Gc<Shape>>>]>,
    /// The shape of closures of this function, once known.
    pub closure_shape: Cell<Option<Gc<Shape>>>,
    /// The live registers, once the collector has met a frame of this function.
    liveness: OnceCell<Option<Liveness>>,
}

impl Trace for FunctionTemplate {
    const TAG: u8 = tag::TEMPLATE;

    fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.cell(self.realm);
        tracer.value(self.referrer);
        tracer.cell(self.name);
        tracer.values(&self.constant_values);
        for ic in &self.ics {
            trace_ic(ic, tracer);
        }
        for cell in self.nested.iter().chain(&self.template_objects) {
            tracer.value(cell.get());
        }
        for shape in &self.literal_shapes {
            if let Some(shape) = shape.get() {
                tracer.cell(shape);
            }
        }
        if let Some(shape) = self.closure_shape.get() {
            tracer.cell(shape);
        }
        if let Some(compiled) = self.compiled.get() {
            compiled.named.trace(tracer);
        }
    }
}

fn trace_ic(ic: &Ic, tracer: &mut Tracer<'_>) {
    if ic.key != 0 {
        tracer.key(ic.property_key());
    }
    for word in [ic.shape, ic.shape_2, ic.far_shape, ic.far] {
        if word > primitive_shapes::NUMBER {
            // SAFETY: a word of a cache is a small number or the address of a cell that it keeps alive; a cell's bits are a value.
            tracer.value(unsafe { Value::from_bits(word as u64) });
        }
    }
}

#[cfg(cynic_jit)]
impl FunctionTemplate {
    /// The shape of the object literal `index`, if one has been made.
    pub(crate) fn literal_shape_made(&self, index: u32) -> Option<Gc<Shape>> {
        self.literal_shapes.get(index as usize)?.get()
    }

    /// The method that the site found on a prototype, if that is where it still is.
    pub(crate) fn method_of_site(&self, vm: &Vm, site: u32) -> Option<Value> {
        let ic = self.ics.get(site as usize).filter(|ic| ic.far != 0 && ic.epoch == vm.proto_epoch)?;
        // SAFETY: a site that reads keeps its holder's address here, and keeps it alive.
        let holder = unsafe { Value::from_bits(ic.far as u64) }.as_object()?;
        Some(holder.slot(ic.far_slot))
    }

    /// The global that the site reads from a binding cell, or, in that slot, from the global object.
    pub(crate) fn global_of_site(&self, global: Option<Object>, site: u32) -> Option<Value> {
        let ic = self.ics.get(site as usize)?;
        if ic.far != 0 {
            // SAFETY: a site of a global keeps its binding's cell here, and keeps it alive.
            return unsafe { Value::from_bits(ic.far as u64) }.as_value_array().map(|cell| cell.get(0));
        }
        global.filter(|global| global.shape().addr() == ic.shape).map(|global| global.slot(ic.slot))
    }
}

impl FunctionTemplate {
    /// The word index of a code address.
    pub fn pc_index(&self, pc: *const u32) -> u32 {
        ((pc as usize).wrapping_sub(self.code as usize) / size_of::<u32>()) as u32
    }

    /// Reports the registers, of which `registers` are the first, that the instruction containing word `pc` and those after it
    /// may read. Conservatively: a register that was not written yet holds what an earlier frame left there.
    pub(crate) fn trace_registers(&self, registers: &[Value], pc: u32, tracer: &mut Tracer<'_>) {
        let liveness = self.liveness.get_or_init(|| Liveness::of(&self.function)).as_ref();
        for (i, register) in registers.iter().enumerate() {
            // The machine reads `this` of every frame, whatever the code does.
            if i == 0 || liveness.is_none_or(|liveness| liveness.is_live(pc as usize, i)) {
                tracer.conservative(register.to_bits() as usize);
            }
        }
    }
}

impl Vm {
    /// The string for a piece of program text.
    pub fn text_string(&mut self, text: &Text) -> JsStr {
        match text {
            Text::Utf8(text) => self.new_string(text),
            Text::Utf16(units) => self.new_string_utf16(units),
        }
    }

    /// The property key for a piece of program text.
    pub fn text_key(&mut self, text: &Text) -> PropertyKey {
        let string = self.text_string(text);
        self.key_from_string(string)
    }

    fn link_constant(&mut self, constant: &Constant) -> Value {
        match constant {
            Constant::Number(number) => Value::number(*number),
            Constant::String(text) => {
                let key = self.text_key(text);
                key.to_value(self)
            }
            Constant::BigInt(digits) => self.bigint_literal(digits),
        }
    }

    /// Links `function` in the current realm.
    pub fn link(&mut self, function: &Arc<FunctionCode>, referrer: Value) -> Gc<Data<FunctionTemplate>> {
        let mut constants = self.scratch();
        for constant in &function.constants {
            let value = self.link_constant(constant);
            constants.push(value);
        }
        let name = self.text_string(&function.name);
        let ics: Box<[Ic]> = function
            .ic_sites
            .iter()
            .map(|site| {
                let name = constants.get(*site as usize).and_then(|name| name.as_string());
                let key = name.map_or(0, |name| {
                    let key = self.key_from_string(name);
                    // SAFETY: a key is one word; its string is among the constants.
                    unsafe { std::mem::transmute::<PropertyKey, u64>(key) }
                });
                Ic { key, ..EMPTY_IC }
            })
            .collect();
        let constant_values: Box<[Value]> = constants.iter().copied().collect();
        let undefined = |count: usize| (0..count).map(|_| Cell::new(Value::UNDEFINED)).collect();
        let template = FunctionTemplate {
            code: function.code.as_ptr(),
            start: Cell::new(function.code.as_ptr()),
            entry: Cell::new(std::ptr::null()),
            compiled: OnceCell::new(),
            registers: function.registers,
            parameters: function.parameters,
            flags: flags_of(function),
            feedback: ics.as_ptr().cast_mut(),
            constants: constant_values.as_ptr(),
            realm: self.realm(),
            function: function.clone(),
            referrer,
            name,
            ics,
            constant_values,
            nested: undefined(function.functions.len()),
            template_objects: undefined(function.templates.len()),
            literal_shapes: (0..function.object_literals.len()).map(|_| Cell::new(None)).collect(),
            closure_shape: Cell::new(None),
            liveness: OnceCell::new(),
        };
        let template = self.alloc_data(template);
        self.linked(template);
        template
    }

    /// The template of a nested function.
    pub fn nested_template(
        &mut self,
        template: Gc<Data<FunctionTemplate>>,
        index: u32,
    ) -> Gc<Data<FunctionTemplate>> {
        let cell = &template.nested[index as usize];
        if let Some(nested) = crate::gc::data_of::<FunctionTemplate>(cell.get()) {
            return nested;
        }
        let previous = self.enter_realm(template.realm);
        let nested = self.link(&template.function.functions[index as usize], template.referrer);
        self.enter_realm(previous);
        cell.set(Value::cell(nested));
        nested
    }

    /// GetTemplateObject (13.2.8.4).
    pub fn template_object(&mut self, template: Gc<Data<FunctionTemplate>>, index: u32) -> JsResult<Object> {
        let cell = &template.template_objects[index as usize];
        if let Some(object) = cell.get().as_object() {
            return Ok(object);
        }
        let site = &template.function.templates[index as usize];
        let mut cooked = self.scratch();
        let mut raw = self.scratch();
        for text in &site.cooked {
            let value = text.as_ref().map_or(Value::UNDEFINED, |text| Value::string(self.text_string(text)));
            cooked.push(value);
        }
        for text in &site.raw {
            let value = Value::string(self.text_string(text));
            raw.push(value);
        }
        let raw = self.new_array_from(&raw)?;
        let object = self.new_array_from(&cooked)?;
        self.ordinary_lock(raw, crate::shape::Lock::Freeze);
        self.add_keyed_property(object, crate::atoms::RAW, Value::object(raw), 0);
        self.ordinary_lock(object, crate::shape::Lock::Freeze);
        cell.set(Value::object(object));
        Ok(object)
    }

    /// The shape of the object literal `index`, whose properties are in slots 0, 1, ...
    pub fn literal_shape(&mut self, template: Gc<Data<FunctionTemplate>>, index: u32) -> Gc<Shape> {
        let cell = &template.literal_shapes[index as usize];
        if let Some(shape) = cell.get() {
            return shape;
        }
        let prototype = Value::object(self.intrinsic(crate::realm::Intrinsic::ObjectPrototype));
        let mut shape = self.root_shape(prototype, 0);
        for constant in &template.function.object_literals[index as usize] {
            if let Some(Constant::String(text)) = template.function.constants.get(*constant as usize) {
                let key = self.text_key(text);
                shape = self.shape_add(shape, key, crate::shape::attrs::ALL).0;
            }
        }
        cell.set(Some(shape));
        shape
    }
}

const EMPTY_IC: Ic = Ic {
    key: 0,
    shape: 0,
    shape_2: 0,
    slot: 0,
    slot_2: 0,
    far_shape: 0,
    far: 0,
    far_slot: 0,
    misses: 0,
    epoch: 0,
};

fn flags_of(function: &FunctionCode) -> u32 {
    use template_flags as f;
    let mut flags = match function.kind {
        CodeKind::Normal if !function.is_async && !function.is_generator => f::CONSTRUCTOR,
        CodeKind::ClassConstructor => f::CONSTRUCTOR | f::CLASS_CONSTRUCTOR,
        CodeKind::DerivedConstructor => f::CONSTRUCTOR | f::CLASS_CONSTRUCTOR | f::DERIVED,
        _ => 0,
    };
    if function.needs_arguments {
        flags |= f::NEEDS_ARGUMENTS;
    }
    if function.is_generator {
        flags |= f::GENERATOR;
    } else if function.is_async {
        flags |= f::ASYNC;
    }
    flags
}
