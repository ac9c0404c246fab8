//! Comparisons, as values and fused with branches.

use super::super::state::slow;
use super::super::{State, Step, slow};
use super::arithmetic::number;
use super::control::branch_to;
use super::outlined;
use crate::value::Value;

/// The comparison of two numbers; `None`: ask the slow path.
macro_rules! relations {
    ($($name:ident $branch:ident $branch_not:ident $branch_i:ident $branch_not_i:ident $op:tt $slow:ident;)*) => {
        $(
            #[inline(always)]
            pub(crate) fn $name(s: State) -> Step {
                let (a, b) = (s.reg(s.b()), s.reg(s.c()));
                let result = if Value::both_int32(a, b) {
                    a.int32_unchecked() $op b.int32_unchecked()
                } else if a.is_number() && b.is_number() {
                    number(a) $op number(b)
                } else {
                    return slow!(s, slow::compare::$slow);
                };
                s.set(s.a(), Value::bool(result));
                s.next(1)
            }

            #[inline(always)]
            pub(crate) fn $branch(s: State) -> Step {
                let (a, b) = (s.reg(s.a()), s.reg(s.b()));
                let result = if Value::both_int32(a, b) {
                    a.int32_unchecked() $op b.int32_unchecked()
                } else if a.is_number() && b.is_number() {
                    number(a) $op number(b)
                } else {
                    return slow!(s, slow::compare::$branch);
                };
                branch_to(s, result, 2)
            }

            #[inline(always)]
            pub(crate) fn $branch_not(s: State) -> Step {
                let (a, b) = (s.reg(s.a()), s.reg(s.b()));
                let result = if Value::both_int32(a, b) {
                    a.int32_unchecked() $op b.int32_unchecked()
                } else if a.is_number() && b.is_number() {
                    number(a) $op number(b)
                } else {
                    return slow!(s, slow::compare::$branch_not);
                };
                branch_to(s, !result, 2)
            }

            #[inline(always)]
            pub(crate) fn $branch_i(s: State) -> Step {
                let a = s.reg(s.a());
                let i = s.y() as i32;
                let result = if a.is_int32() {
                    a.int32_unchecked() $op i
                } else if a.is_number() {
                    a.double_unchecked() $op f64::from(i)
                } else {
                    return slow!(s, slow::compare::$branch_i);
                };
                branch_to(s, result, 3)
            }

            #[inline(always)]
            pub(crate) fn $branch_not_i(s: State) -> Step {
                let a = s.reg(s.a());
                let i = s.y() as i32;
                let result = if a.is_int32() {
                    a.int32_unchecked() $op i
                } else if a.is_number() {
                    a.double_unchecked() $op f64::from(i)
                } else {
                    return slow!(s, slow::compare::$branch_not_i);
                };
                branch_to(s, !result, 3)
            }
        )*
    };
}

relations! {
    lt j_lt j_not_lt j_lt_i j_not_lt_i < lt;
    le j_le j_not_le j_le_i j_not_le_i <= le;
    gt j_gt j_not_gt j_gt_i j_not_gt_i > gt;
    ge j_ge j_not_ge j_ge_i j_not_ge_i >= ge;
}

/// Strict equality where it needs no look inside strings or BigInts.
#[inline(always)]
fn strictly_equal(a: Value, b: Value) -> Option<bool> {
    if Value::both_int32(a, b) {
        return Some(a.int32_unchecked() == b.int32_unchecked());
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
    if a.is_int32() {
        a.int32_unchecked() == i
    } else {
        a.is_number() && a.double_unchecked() == f64::from(i)
    }
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
