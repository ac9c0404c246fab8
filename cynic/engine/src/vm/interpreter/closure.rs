//! Closure objects: layout and creation. <https://tc39.es/ecma262/#sec-ordinaryfunctioncreate>
//!
//! Internal slots: 0 the template, 1 the captured scope (a value array, or undefined), 2 depends on the function:
//! the home object of a method, the cached shape that `new` gives for a plain function, or for a class constructor an
//! array of home object, field initialiser and that shape.

use super::template::{FunctionTemplate, template_flags};
use crate::atoms;
use crate::bytecode::code::CodeKind;
use crate::gc::{Data, Gc, ValueArray};
use crate::object::{Object, ObjectKind, flags};
use crate::property_key::PropertyKey;
use crate::realm::Intrinsic;
use crate::shape::attrs;
use crate::value::Value;
use crate::vm::Vm;

/// Slot of the template.
pub const TEMPLATE_SLOT: u32 = 0;
/// Slot of the captured scope.
pub const SCOPE_SLOT: u32 = 1;
/// Slot of the rest.
pub const AUX_SLOT: u32 = 2;
/// Slot of `prototype` in a closure that has one and was not changed.
pub const PROTOTYPE_SLOT: u32 = 5;
const INTERNAL_SLOTS: u32 = 3;

/// In a class's array: the home object (its prototype object).
pub const CLASS_HOME: u32 = 0;
/// In a class's array: the function that initialises instance fields, or undefined.
pub const CLASS_FIELDS: u32 = 1;
/// In a class's array: the shape of new instances, once known.
pub const CLASS_SHAPE: u32 = 2;

impl Vm {
    /// Makes a closure of `template` over `scope`.
    #[inline]
    pub(crate) fn new_closure(&mut self, template: Gc<Data<FunctionTemplate>>, scope: Value) -> Object {
        let function = &template.function;
        let is_class = template.flags & template_flags::CLASS_CONSTRUCTOR != 0;
        let has_prototype =
            !is_class && (template.flags & template_flags::CONSTRUCTOR != 0 || function.is_generator);
        let mut object_flags = flags::CALLABLE;
        if template.flags & template_flags::CONSTRUCTOR != 0 {
            object_flags |= flags::CONSTRUCTOR;
        }
        if is_class {
            object_flags |= flags::CLASS_CONSTRUCTOR;
            if template.flags & template_flags::DERIVED != 0 {
                object_flags |= flags::DERIVED;
            }
        }
        let shape = match template.closure_shape.get() {
            Some(shape) => shape,
            None => self.closure_shape(template, has_prototype),
        };
        let inline = INTERNAL_SLOTS as u8 + 2 + u8::from(has_prototype || is_class);
        let length = Value::int32(function.length as i32);
        let closure = self.alloc_object(shape, ObjectKind::Closure, inline, object_flags);
        // SAFETY: the object has these inline slots.
        unsafe {
            closure.set_inline_slot(TEMPLATE_SLOT, Value::cell(template));
            closure.set_inline_slot(SCOPE_SLOT, scope);
            closure.set_inline_slot(INTERNAL_SLOTS, length);
            closure.set_inline_slot(INTERNAL_SLOTS + 1, Value::string(template.name));
        }
        if has_prototype {
            let prototype = self.function_prototype_property(template, closure);
            closure.set_slot(PROTOTYPE_SLOT, Value::object(prototype));
        }
        closure
    }

    /// MakeConstructor's `prototype` object, or a generator function's.
    fn function_prototype_property(
        &mut self,
        template: Gc<Data<FunctionTemplate>>,
        closure: Object,
    ) -> Object {
        let function = &template.function;
        let parent = match (function.is_generator, function.is_async) {
            (true, false) => Intrinsic::GeneratorPrototype,
            (true, true) => Intrinsic::AsyncGeneratorPrototype,
            _ => Intrinsic::ObjectPrototype,
        };
        let parent = Value::object(self.intrinsic(parent));
        let shape = self.root_shape(parent, 0);
        let object = self.alloc_object(shape, ObjectKind::Ordinary, crate::object::INLINE_SLOTS_DEFAULT, 0);
        if !function.is_generator {
            self.add_keyed_property(object, atoms::CONSTRUCTOR, Value::object(closure), attrs::METHOD);
        }
        object
    }

    #[cold]
    fn closure_shape(
        &mut self,
        template: Gc<Data<FunctionTemplate>>,
        has_prototype: bool,
    ) -> Gc<crate::shape::Shape> {
        let function = &template.function;
        let parent = match (function.is_generator, function.is_async) {
            (false, false) => Intrinsic::FunctionPrototype,
            (true, false) => Intrinsic::GeneratorFunctionPrototype,
            (false, true) => Intrinsic::AsyncFunctionPrototype,
            (true, true) => Intrinsic::AsyncGeneratorFunctionPrototype,
        };
        let parent = Value::object(self.intrinsic(parent));
        let root = self.root_shape(parent, INTERNAL_SLOTS);
        let (shape, _) = self.shape_add(root, atoms::LENGTH, attrs::CONFIGURABLE);
        let (mut shape, _) = self.shape_add(shape, atoms::NAME, attrs::CONFIGURABLE);
        if has_prototype {
            shape = self.shape_add(shape, atoms::PROTOTYPE, attrs::WRITABLE).0;
        }
        template.closure_shape.set(Some(shape));
        shape
    }

    /// MakeMethod. Anything but a closure has no place for a home object, and keeps none.
    pub(crate) fn set_home_object(&mut self, closure: Object, home: Object) {
        if !closure.is(ObjectKind::Closure) {
            return;
        }
        match closure.slot(AUX_SLOT).as_value_array() {
            Some(class) => class.set(CLASS_HOME, Value::object(home)),
            None => closure.set_slot(AUX_SLOT, Value::object(home)),
        }
    }

    /// SetFunctionName for a closure, whose `name` is in a known slot if nobody changed it.
    pub(crate) fn rename_closure(&mut self, closure: Object, key: PropertyKey, prefix: u32) {
        let text = match key.as_symbol() {
            Some(symbol) if symbol.is_private() => symbol.description(),
            Some(symbol) => symbol.description().map(|description| {
                let text = format!("[{}]", description.to_rust_string());
                self.new_string(&text)
            }),
            None => key.to_value(self).as_string(),
        };
        let mut text = text.unwrap_or_else(crate::string::empty);
        let prefix = match prefix {
            1 => "get ",
            2 => "set ",
            _ => "",
        };
        if !prefix.is_empty() {
            let prefix = self.new_string(prefix);
            // Names are far below the longest string, so joining them cannot fail.
            text = self.concat(prefix, text).unwrap_or(text);
        }
        if let Some(info) = closure.shape().lookup(atoms::NAME) {
            closure.set_slot(info.slot, Value::string(text));
        }
    }
}

/// The array of a class (see the file's head), if this is the constructor of one.
pub(crate) fn class_array(constructor: Value) -> Option<Gc<ValueArray>> {
    let closure = constructor.as_object().filter(|o| o.is(ObjectKind::Closure))?;
    closure.slot(AUX_SLOT).as_value_array()
}

/// The home object of a method or class constructor.
pub(crate) fn home_object(closure: Object) -> Option<Object> {
    if !closure.is(ObjectKind::Closure) {
        return None;
    }
    let aux = closure.slot(AUX_SLOT);
    match aux.as_value_array() {
        Some(class) => class.get(CLASS_HOME).as_object(),
        None => aux.as_object(),
    }
}

/// The source text of a closure, for `Function.prototype.toString`.
pub fn source_text(closure: Object) -> Option<String> {
    if !closure.is(ObjectKind::Closure) {
        return None;
    }
    let template = super::call::closure_template(closure);
    let function = &template.function;
    let (start, end) = function.span;
    debug_assert_ne!(function.kind, CodeKind::Module);
    function.source.text.get(start as usize..end as usize).map(str::to_owned)
}
