//! Making objects, arrays, closures, classes and argument lists.

use super::super::State;
use super::super::closure::{AUX_SLOT, CLASS_FIELDS, PROTOTYPE_SLOT, class_array};
use super::super::template::FunctionTemplate;
use super::slow_paths;
use crate::atoms;
use crate::gc::{Data, Gc};
use crate::limits;
use crate::object::{INLINE_SLOTS_DEFAULT, Object, ObjectKind, PropertyDescriptor};
use crate::realm::Intrinsic;
use crate::shape::Shape;
use crate::shape::attrs;
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

impl Vm {
    /// Appends to an array that the program itself is building.
    pub fn append_element(&mut self, array: Object, value: Value) -> JsResult<()> {
        if self.try_push_element(array, value) {
            return Ok(());
        }
        let length = array.array_length();
        let key = self.key_from_u64(u64::from(length));
        self.create_data_property_or_throw(array, key, value)
    }

    fn spread_into(&mut self, array: Object, iterable: Value) -> JsResult<()> {
        // OPTIMIZATION: equals iterating a packed array with the default iterator.
        if let Some(source) = iterable.as_object()
            && source.is_array()
            && self.array_iteration_is_default(source)
        {
            let (before, count) = (array.elements().len(), source.elements().len());
            // What a program builds is mostly not yet complete.
            self.reserve_elements(array, before.saturating_add(count).saturating_add(count / 8 + 1))?;
            if self.try_append_elements(array, source)? {
                let appended = array.elements();
                for i in before..before + count {
                    if appended.get(i).is_empty() {
                        appended.set(i, Value::UNDEFINED);
                    }
                }
                return Ok(());
            }
        }
        let mut record = self.get_iterator(iterable)?;
        while let Some(value) = self.iterator_step_value(&mut record)? {
            self.append_element(array, value)?;
        }
        Ok(())
    }

    /// ClassDefinitionEvaluation (15.7.14) up to the constructor and the prototype object.
    fn define_class(&mut self, s: State) -> JsResult<()> {
        let template = s.template_cell();
        let site = &template.function.classes[s.x() as usize];
        let (mut proto_parent, mut constructor_parent) = (
            Value::object(self.intrinsic(Intrinsic::ObjectPrototype)),
            Value::object(self.intrinsic(Intrinsic::FunctionPrototype)),
        );
        if site.has_heritage {
            let heritage = s.reg(s.b());
            (proto_parent, constructor_parent) = self.class_heritage(heritage)?;
        }
        let prototype_shape = self.root_shape(proto_parent, 0);
        let prototype = self.alloc_object(prototype_shape, ObjectKind::Ordinary, INLINE_SLOTS_DEFAULT, 0);
        let nested = self.nested_template(template, site.constructor);
        let constructor = self.new_closure(nested, s.reg(s.c()));
        let class = self.new_value_array(3, Value::UNDEFINED);
        constructor.set_slot(AUX_SLOT, Value::cell(class));
        self.set_home_object(constructor, prototype);
        if constructor.prototype() != constructor_parent {
            self.ordinary_set_prototype_of(constructor, constructor_parent);
        }
        self.add_keyed_property(constructor, atoms::PROTOTYPE, Value::object(prototype), 0);
        debug_assert_eq!(constructor.slot(PROTOTYPE_SLOT), Value::object(prototype));
        self.add_keyed_property(prototype, atoms::CONSTRUCTOR, Value::object(constructor), attrs::METHOD);
        s.set(s.a(), Value::object(constructor));
        s.set(s.a() + 1, Value::object(prototype));
        Ok(())
    }

    /// The parents of the prototype object and of the constructor.
    fn class_heritage(&mut self, heritage: Value) -> JsResult<(Value, Value)> {
        if heritage.is_null() {
            return Ok((Value::NULL, Value::object(self.intrinsic(Intrinsic::FunctionPrototype))));
        }
        let Some(parent) = heritage.as_object().filter(|o| o.is_constructor()) else {
            let message =
                format!("class extends value {} is not a constructor or null", self.describe(heritage));
            return Err(self.throw_type_error(&message));
        };
        let prototype = self.get(parent, atoms::PROTOTYPE)?;
        if prototype.is_object() || prototype.is_null() {
            return Ok((prototype, heritage));
        }
        Err(self.throw_type_error("class extends value has a prototype that is neither an object nor null"))
    }

    /// InitializeInstanceElements.
    fn run_fields(&mut self, instance: Value, constructor: Value) -> JsResult<()> {
        match class_array(constructor).map_or(Value::UNDEFINED, |class| class.get(CLASS_FIELDS)) {
            Value::UNDEFINED => Ok(()),
            fields => self.call(fields, instance, &[]).map(drop),
        }
    }

    /// CreateUnmappedArgumentsObject (10.4.4.6).
    fn create_arguments_object(&mut self, arguments: &[Value]) -> JsResult<Object> {
        let prototype = Value::object(self.intrinsic(Intrinsic::ObjectPrototype));
        let shape = self.root_shape(prototype, 0);
        let object = self.alloc_object(shape, ObjectKind::Arguments, INLINE_SLOTS_DEFAULT, 0);
        self.reserve_elements(object, arguments.len() as u32)?;
        for value in arguments {
            object.elements().push(*value);
        }
        let length = Value::number(arguments.len() as f64);
        self.add_keyed_property(object, atoms::LENGTH, length, attrs::METHOD);
        let array_prototype = self.intrinsic(Intrinsic::ArrayPrototype);
        let values = self.get(array_prototype, atoms::VALUES)?;
        self.add_keyed_property(object, symbol::ITERATOR, values, attrs::METHOD);
        let thrower = Value::object(self.intrinsic(Intrinsic::ThrowTypeError));
        let callee = PropertyDescriptor::accessor(thrower, thrower, 0);
        self.define_property_or_throw(object, atoms::CALLEE, &callee)?;
        Ok(object)
    }

    fn literal_object(&mut self, template: Gc<Data<FunctionTemplate>>, s: State) -> Object {
        let shape = self.literal_shape(template, s.x());
        let count = shape.slot_count();
        let inline = slots_of_literal(shape);
        let object = self.alloc_object(shape, ObjectKind::Ordinary, inline, 0);
        if count > u32::from(inline) {
            return fill_long_literal(s, object, count);
        }
        for i in 0..count {
            // SAFETY: the slot is below the inline capacity, and a new object needs no barrier.
            unsafe { object.set_inline_slot_remembered(i, s.reg(s.b() + i as usize)) };
        }
        object
    }
}

slow_paths! {
    fn new_object(s) {
        let vm = s.vm();
        let shape = vm.empty_object_shape();
        let object = vm.alloc_object(shape, ObjectKind::Ordinary, INLINE_SLOTS_DEFAULT, 0);
        s.set(s.a(), Value::object(object));
        s.advance(1)
    }
    fn new_object_literal(s) {
        let object = s.vm().literal_object(s.template_cell(), s);
        s.set(s.a(), Value::object(object));
        s.advance(2)
    }
    fn new_array(s) {
        let vm = s.vm();
        // SAFETY: verified code: the run of registers is inside the frame.
        let values = unsafe { std::slice::from_raw_parts(s.regs.add(s.b()), s.x() as usize) };
        let result = vm.new_array_from(values);
        s.finish(2, s.a(), result.map(Value::object))
    }
    fn array_append(s) {
        let array = array_operand(s.reg(s.a()));
        let result = s.vm().append_element(array, s.reg(s.b()));
        s.proceed(1, result)
    }
    fn array_hole(s) {
        let vm = s.vm();
        let array = array_operand(s.reg(s.a()));
        let length = array.array_length() + 1;
        let result = vm.set_or_throw(array, atoms::LENGTH, Value::number(f64::from(length)));
        s.proceed(1, result)
    }
    fn array_spread(s) {
        let array = array_operand(s.reg(s.a()));
        let result = s.vm().spread_into(array, s.reg(s.b()));
        s.proceed(1, result)
    }
    fn new_reg_exp(s) {
        let result = regexp_literal(s.vm(), s.constant(s.x()), s.constant(s.y()));
        s.finish(3, s.a(), result)
    }
    fn template_object(s) {
        let result = s.vm().template_object(s.template_cell(), s.x());
        s.finish(2, s.a(), result.map(Value::object))
    }
    fn closure(s) {
        let vm = s.vm();
        let template = vm.nested_template(s.template_cell(), s.x());
        let closure = vm.new_closure(template, s.reg(s.b()));
        s.set(s.a(), Value::object(closure));
        s.advance(2)
    }
    fn define_class(s) {
        let result = s.vm().define_class(s);
        s.proceed(2, result)
    }
    fn set_fields_init(s) {
        if let Some(class) = class_array(s.reg(s.a())) {
            class.set(CLASS_FIELDS, s.reg(s.b()));
        }
        s.advance(1)
    }
    fn run_fields(s) {
        let result = s.vm().run_fields(s.reg(s.a()), s.reg(s.b()));
        s.proceed(1, result)
    }
    fn create_arguments(s) {
        let frame = s.frame();
        // SAFETY: the arguments lie on the register stack for as long as the frame runs its prologue.
        let arguments = unsafe { std::slice::from_raw_parts(frame.arguments, frame.argument_count as usize) };
        let result = s.vm().create_arguments_object(arguments);
        s.finish(1, s.a(), result.map(Value::object))
    }
    fn create_rest(s) {
        let frame = s.frame();
        // SAFETY: as in `create_arguments`.
        let arguments = unsafe { std::slice::from_raw_parts(frame.arguments, frame.argument_count as usize) };
        let result = s.vm().new_array_from(arguments.get(s.b()..).unwrap_or(&[]));
        s.finish(1, s.a(), result.map(Value::object))
    }
}

fn regexp_literal(vm: &mut Vm, pattern: Value, flags: Value) -> JsResult<Value> {
    match (pattern.as_string(), flags.as_string()) {
        (Some(pattern), Some(flags)) => vm.regexp_literal(pattern, flags).map(Value::object),
        _ => Ok(Value::UNDEFINED),
    }
}

/// The array that an instruction's operand is: the compiler made it.
fn array_operand(v: Value) -> Object {
    v.as_object().unwrap_or_else(|| unreachable!("the operand is an array literal"))
}

/// How many slots inline the object of a literal gets.
#[inline(always)]
pub(crate) fn slots_of_literal(shape: Gc<Shape>) -> u8 {
    shape.slot_count().max(shape.slots_seen()).clamp(2, limits::INLINE_SLOTS_MAX) as u8
}

/// The slots of a literal's object with more properties than slots inline.
#[cold]
#[inline(never)]
fn fill_long_literal(s: State, object: Object, count: u32) -> Object {
    for i in 0..count {
        object.set_slot(i, s.reg(s.b() + i as usize));
    }
    object
}
