//! Comparisons, as values and fused with branches.

use super::super::state::{elsewhere, slow};
use super::super::{State, Step, Ways as _, slow};
use super::arithmetic::number;
use super::control::branch_to;
use super::outlined;
use crate::value::Value;

/// One form of a comparison: int32 here, doubles out of line. `$operands` are the two sides.
macro_rules! comparison {
    ($name:ident $on_numbers:ident |$s:ident, $result:ident| $operands:expr, $op:tt, $done:expr) => {
        #[inline(always)]
        pub(crate) fn $name($s: State) -> Step {
            let (a, b): (Value, Value) = $operands;
            if Value::both_int32(a, b) {
                let $result = a.low_int32() $op b.low_int32();
                return $done;
            }
            elsewhere!($s, $on_numbers)
        }

        #[inline(always)]
        fn $on_numbers($s: State) -> Step {
            let (a, b): (Value, Value) = $operands;
            if a.is_number() && b.is_number() {
                let $result = number(a) $op number(b);
                return $done;
            }
            slow!($s, slow::compare::$name)
        }
    };
}

macro_rules! relations {
    ($($name:ident $slow:ident $branch:ident $slow_branch:ident $not:ident $slow_not:ident
        $branch_i:ident $slow_branch_i:ident $not_i:ident $slow_not_i:ident $op:tt;)*) => {
        $(
            comparison!($name $slow |s, result| (s.reg(s.b()), s.reg(s.c())), $op, {
                s.set(s.a(), Value::bool(result));
                s.next(1)
            });
            comparison!($branch $slow_branch |s, result| (s.reg(s.a()), s.reg(s.b())), $op, branch_to(s, result, 2));
            comparison!($not $slow_not |s, result| (s.reg(s.a()), s.reg(s.b())), $op, branch_to(s, !result, 2));
            comparison!($branch_i $slow_branch_i |s, result| (s.reg(s.a()), Value::int32(s.y() as i32)), $op,
                branch_to(s, result, 3));
            comparison!($not_i $slow_not_i |s, result| (s.reg(s.a()), Value::int32(s.y() as i32)), $op,
                branch_to(s, !result, 3));
        )*
    };
}

relations! {
    lt lt_numbers j_lt j_lt_numbers j_not_lt j_not_lt_numbers
        j_lt_i j_lt_i_number j_not_lt_i j_not_lt_i_number <;
    le le_numbers j_le j_le_numbers j_not_le j_not_le_numbers
        j_le_i j_le_i_number j_not_le_i j_not_le_i_number <=;
    gt gt_numbers j_gt j_gt_numbers j_not_gt j_not_gt_numbers
        j_gt_i j_gt_i_number j_not_gt_i j_not_gt_i_number >;
    ge ge_numbers j_ge j_ge_numbers j_not_ge j_not_ge_numbers
        j_ge_i j_ge_i_number j_not_ge_i j_not_ge_i_number >=;
}

/// Strict equality where it needs no look inside strings or BigInts.
#[inline(always)]
fn strictly_equal(a: Value, b: Value) -> Option<bool> {
    if Value::both_int32(a, b) {
        return Some(a.low_int32() == b.low_int32());
    }
    if a.is_number() && b.is_number() {
        return Some(number(a) == number(b));
    }
    if a.to_bits() == b.to_bits() {
        return Some(true);
    }
    // Two different words are equal only as strings or BigInts, which are cells.
    if !a.is_cell() || !b.is_cell() || a.is_object() || b.is_object() {
        return Some(false);
    }
    None
}

macro_rules! equality {
    ($($name:ident $branch:ident $negate:literal $slow:ident $slow_branch:ident;)*) => {
        $(
            #[inline(always)]
            pub(crate) fn $name(s: State) -> Step {
                match strictly_equal(s.reg(s.b()), s.reg(s.c())) {
                    Some(equal) => {
                        s.set(s.a(), Value::bool(equal != $negate));
                        s.next(1)
                    }
                    None => slow!(s, slow::compare::$slow),
                }
            }

            #[inline(always)]
            pub(crate) fn $branch(s: State) -> Step {
                match strictly_equal(s.reg(s.a()), s.reg(s.b())) {
                    Some(equal) => branch_to(s, equal != $negate, 2),
                    None => slow!(s, slow::compare::$slow_branch),
                }
            }
        )*
    };
}

equality! {
    strict_eq j_strict_eq false strict_eq j_strict_eq;
    strict_ne j_strict_ne true strict_ne j_strict_ne;
}

#[inline(always)]
fn equals_int(a: Value, i: i32) -> bool {
    if a.is_int32() { a.low_int32() == i } else { a.is_number() && a.offset_double() == f64::from(i) }
}

#[inline(always)]
pub(crate) fn j_strict_eq_i(s: State) -> Step {
    branch_to(s, equals_int(s.reg(s.a()), s.y() as i32), 3)
}

#[inline(always)]
pub(crate) fn j_strict_ne_i(s: State) -> Step {
    branch_to(s, !equals_int(s.reg(s.a()), s.y() as i32), 3)
}

outlined! {
    eq => slow::compare::eq;
    ne => slow::compare::ne;
    j_eq => slow::compare::j_eq;
    j_ne => slow::compare::j_ne;
    has_in => slow::compare::has_in;
    instance_of => slow::compare::instance_of;
}
