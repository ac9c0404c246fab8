//! Throwing errors from native code.

use super::{Abrupt, Vm};
use crate::atoms;
use crate::object::{Object, ObjectKind};
use crate::realm::Intrinsic;
use crate::shape::attrs;
use crate::string::JsStr;
use crate::value::Value;

impl Vm {
    /// A new error object of the kind whose prototype is `prototype`.
    pub fn new_error(&mut self, prototype: Intrinsic, message: &str) -> Object {
        let message = self.new_string(message);
        self.new_error_with(prototype, message)
    }

    /// The same with a string value.
    pub fn new_error_with(&mut self, prototype: Intrinsic, message: JsStr) -> Object {
        let prototype = Value::object(self.intrinsic(prototype));
        let error = self.new_error_object(prototype);
        self.add_keyed_property(error, atoms::MESSAGE, Value::string(message), attrs::METHOD);
        error
    }

    /// An error object without a message; its stack is captured now.
    pub fn new_error_object(&mut self, prototype: Value) -> Object {
        let shape = self.root_shape(prototype, 1);
        let error = self.alloc_object(shape, ObjectKind::Error, 4, 0);
        let stack = (self.closure_hooks.capture_stack)(self);
        error.set_slot(0, stack);
        error
    }

    /// Throws a new error of that kind.
    #[cold]
    #[inline(never)]
    pub fn throw_error(&mut self, prototype: Intrinsic, message: &str) -> Abrupt {
        let error = self.new_error(prototype, message);
        self.throw(Value::object(error))
    }

    /// Throws a TypeError.
    #[cold]
    pub fn throw_type_error(&mut self, message: &str) -> Abrupt {
        self.throw_error(Intrinsic::TypeErrorPrototype, message)
    }
    /// Throws a RangeError.
    #[cold]
    pub fn throw_range_error(&mut self, message: &str) -> Abrupt {
        self.throw_error(Intrinsic::RangeErrorPrototype, message)
    }
    /// Throws a ReferenceError.
    #[cold]
    pub fn throw_reference_error(&mut self, message: &str) -> Abrupt {
        self.throw_error(Intrinsic::ReferenceErrorPrototype, message)
    }
    /// Throws a SyntaxError.
    #[cold]
    pub fn throw_syntax_error(&mut self, message: &str) -> Abrupt {
        self.throw_error(Intrinsic::SyntaxErrorPrototype, message)
    }
    /// Throws a URIError.
    #[cold]
    pub fn throw_uri_error(&mut self, message: &str) -> Abrupt {
        self.throw_error(Intrinsic::URIErrorPrototype, message)
    }
    /// Throws an EvalError.
    #[cold]
    pub fn throw_eval_error(&mut self, message: &str) -> Abrupt {
        self.throw_error(Intrinsic::EvalErrorPrototype, message)
    }

    /// How a value is named in messages: never runs guest code.
    pub fn describe(&self, v: Value) -> String {
        if let Some(s) = v.as_string() {
            const SHOWN_UNITS: usize = 80;
            let text = s.first_units(SHOWN_UNITS);
            return if s.len() > SHOWN_UNITS || text.chars().count() > 40 {
                format!("\"{}...\"", text.chars().take(37).collect::<String>())
            } else {
                format!("\"{text}\"")
            };
        }
        if let Some(n) = v.as_number() {
            return crate::ops::number_to_rust_string(n);
        }
        if let Some(s) = v.as_symbol() {
            return crate::property_key::PropertyKey::symbol(s).to_display();
        }
        if let Some(b) = v.as_bigint() {
            // Converting a large one takes long and helps nobody.
            const SHOWN_BITS: u64 = 512;
            return if b.value().bits() > SHOWN_BITS {
                "a large BigInt".to_owned()
            } else {
                format!("{}n", b.value())
            };
        }
        match v.as_object() {
            Some(o) if o.is_callable() => "function".to_owned(),
            Some(o) if o.is_array() => "array".to_owned(),
            Some(_) => "object".to_owned(),
            None => format!("{v:?}"),
        }
    }
}
