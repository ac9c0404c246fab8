//! Comparisons of anything but numbers.

use super::super::{Next, State};
use super::slow_paths;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// A relational operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Relation {
    Lt,
    Le,
    Gt,
    Ge,
}

impl Vm {
    fn relation(&mut self, relation: Relation, a: Value, b: Value) -> JsResult<bool> {
        Ok(match relation {
            Relation::Lt => self.is_less_than(a, b, true)? == Some(true),
            Relation::Gt => self.is_less_than(b, a, false)? == Some(true),
            Relation::Le => self.is_less_than(b, a, false)? == Some(false),
            Relation::Ge => self.is_less_than(a, b, true)? == Some(false),
        })
    }

    fn strictly_equal(&mut self, a: Value, b: Value) -> JsResult<bool> {
        self.check_comparison_room(a, b)?;
        Ok(self.strict_equals(a, b))
    }

    fn has_property_operator(&mut self, key: Value, object: Value) -> JsResult<bool> {
        let Some(object) = object.as_object() else {
            let message = format!("cannot use 'in' to search in {}", self.describe(object));
            return Err(self.throw_type_error(&message));
        };
        let key = self.to_property_key(key)?;
        self.has_property(object, key)
    }
}

fn branch(s: State, words: usize, taken: JsResult<bool>) -> Next {
    match taken {
        Ok(true) => {
            let distance = s.x() as i32;
            if distance <= 0
                && let Err(abrupt) = s.vm().poll()
            {
                return s.unwind(abrupt);
            }
            s.jump_to(distance)
        }
        Ok(false) => s.advance(words),
        Err(abrupt) => s.unwind(abrupt),
    }
}

macro_rules! relations {
    ($($name:ident $branch:ident $branch_not:ident $branch_i:ident $branch_not_i:ident $relation:ident;)*) => {
        slow_paths! {
            $(
                fn $name(s) {
                    let result = s.vm().relation(Relation::$relation, s.reg(s.b()), s.reg(s.c()));
                    s.finish(1, s.a(), result.map(Value::bool))
                }
                fn $branch(s) {
                    branch(s, 2, s.vm().relation(Relation::$relation, s.reg(s.a()), s.reg(s.b())))
                }
                fn $branch_not(s) {
                    branch(s, 2, s.vm().relation(Relation::$relation, s.reg(s.a()), s.reg(s.b())).map(|r| !r))
                }
                fn $branch_i(s) {
                    branch(s, 3, s.vm().relation(Relation::$relation, s.reg(s.a()), Value::int32(s.y() as i32)))
                }
                fn $branch_not_i(s) {
                    let right = Value::int32(s.y() as i32);
                    branch(s, 3, s.vm().relation(Relation::$relation, s.reg(s.a()), right).map(|r| !r))
                }
            )*
        }
    };
}

relations! {
    lt j_lt j_not_lt j_lt_i j_not_lt_i Lt;
    le j_le j_not_le j_le_i j_not_le_i Le;
    gt j_gt j_not_gt j_gt_i j_not_gt_i Gt;
    ge j_ge j_not_ge j_ge_i j_not_ge_i Ge;
}

slow_paths! {
    fn strict_eq(s) {
        let equal = s.vm().strictly_equal(s.reg(s.b()), s.reg(s.c()));
        s.finish(1, s.a(), equal.map(Value::bool))
    }
    fn strict_ne(s) {
        let equal = s.vm().strictly_equal(s.reg(s.b()), s.reg(s.c()));
        s.finish(1, s.a(), equal.map(|equal| Value::bool(!equal)))
    }
    fn j_strict_eq(s) {
        let equal = s.vm().strictly_equal(s.reg(s.a()), s.reg(s.b()));
        branch(s, 2, equal)
    }
    fn j_strict_ne(s) {
        let equal = s.vm().strictly_equal(s.reg(s.a()), s.reg(s.b()));
        branch(s, 2, equal.map(|equal| !equal))
    }
    fn eq(s) {
        let equal = s.vm().is_loosely_equal(s.reg(s.b()), s.reg(s.c()));
        s.finish(1, s.a(), equal.map(Value::bool))
    }
    fn ne(s) {
        let equal = s.vm().is_loosely_equal(s.reg(s.b()), s.reg(s.c()));
        s.finish(1, s.a(), equal.map(|equal| Value::bool(!equal)))
    }
    fn j_eq(s) {
        branch(s, 2, s.vm().is_loosely_equal(s.reg(s.a()), s.reg(s.b())))
    }
    fn j_ne(s) {
        branch(s, 2, s.vm().is_loosely_equal(s.reg(s.a()), s.reg(s.b())).map(|equal| !equal))
    }
    fn has_in(s) {
        let result = s.vm().has_property_operator(s.reg(s.b()), s.reg(s.c()));
        s.finish(1, s.a(), result.map(Value::bool))
    }
    fn instance_of(s) {
        let result = s.vm().instance_of(s.reg(s.b()), s.reg(s.c()));
        s.finish(1, s.a(), result.map(Value::bool))
    }
}
