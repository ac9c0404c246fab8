//! Arithmetic: int32 and double inline, everything else in `slow::arithmetic`.

use super::super::state::{elsewhere, slow};
use super::super::{State, Step, Ways as _, slow};
use super::outlined;
use crate::ops::numeric::double_to_int32;
use crate::value::Value;

/// Both operands as doubles, if both are numbers.
#[inline(always)]
fn doubles(a: Value, b: Value) -> Option<(f64, f64)> {
    if a.is_number() && b.is_number() { Some((number(a), number(b))) } else { None }
}

#[inline(always)]
pub(super) fn number(v: Value) -> f64 {
    if v.is_int32() { f64::from(v.low_int32()) } else { v.offset_double() }
}

/// A binary operator and its form with an immediate: int32 here, doubles out of line.
macro_rules! arithmetic {
    ($($name:ident $name_i:ident $on_doubles:ident $on_double_i:ident $on_ints:path, $op:tt;)*) => {
        $(
            #[inline(always)]
            pub(crate) fn $name(s: State) -> Step {
                let (a, b) = (s.reg(s.b()), s.reg(s.c()));
                if Value::both_int32(a, b)
                    && let Some(r) = $on_ints(a.low_int32(), b.low_int32())
                {
                    s.set(s.a(), Value::int32(r));
                    return s.next(1);
                }
                elsewhere!(s, $on_doubles)
            }

            #[inline(always)]
            fn $on_doubles(s: State) -> Step {
                if let Some((x, y)) = doubles(s.reg(s.b()), s.reg(s.c())) {
                    s.set(s.a(), Value::double(x $op y));
                    return s.next(1);
                }
                slow!(s, slow::arithmetic::$name)
            }

            #[inline(always)]
            pub(crate) fn $name_i(s: State) -> Step {
                let a = s.reg(s.b());
                if a.is_int32()
                    && let Some(r) = $on_ints(a.low_int32(), s.x() as i32)
                {
                    s.set(s.a(), Value::int32(r));
                    return s.next(2);
                }
                elsewhere!(s, $on_double_i)
            }

            #[inline(always)]
            fn $on_double_i(s: State) -> Step {
                let a = s.reg(s.b());
                if a.is_number() {
                    s.set(s.a(), Value::double(number(a) $op f64::from(s.x() as i32)));
                    return s.next(2);
                }
                slow!(s, slow::arithmetic::$name_i)
            }
        )*
    };
}

/// The int32 product, unless it overflows or could be -0.
#[inline(always)]
fn int_product(a: i32, b: i32) -> Option<i32> {
    let product = a.checked_mul(b)?;
    if product == 0 && (a | b) < 0 { None } else { Some(product) }
}

arithmetic! {
    add add_i add_doubles add_double_i i32::checked_add, +;
    sub sub_i sub_doubles sub_double_i i32::checked_sub, -;
    mul mul_i mul_doubles mul_double_i int_product, *;
}

#[inline(always)]
pub(crate) fn div(s: State) -> Step {
    if let Some((x, y)) = doubles(s.reg(s.b()), s.reg(s.c())) {
        s.set(s.a(), Value::number(x / y));
        return s.next(1);
    }
    slow!(s, slow::arithmetic::div)
}

/// The int32 remainder, where it is one.
#[inline(always)]
fn int_remainder(a: i32, b: i32) -> Option<i32> {
    if a >= 0 && b > 0 { Some(a % b) } else { None }
}

#[inline(always)]
pub(crate) fn modulo(s: State) -> Step {
    let (a, b) = (s.reg(s.b()), s.reg(s.c()));
    if Value::both_int32(a, b)
        && let Some(r) = int_remainder(a.low_int32(), b.low_int32())
    {
        s.set(s.a(), Value::int32(r));
        return s.next(1);
    }
    slow!(s, slow::arithmetic::modulo)
}

#[inline(always)]
pub(crate) fn mod_i(s: State) -> Step {
    let a = s.reg(s.b());
    if a.is_int32()
        && let Some(r) = int_remainder(a.low_int32(), s.x() as i32)
    {
        s.set(s.a(), Value::int32(r));
        return s.next(2);
    }
    slow!(s, slow::arithmetic::mod_i)
}

/// An operand of a bitwise operator, if it is a number.
#[inline(always)]
fn int_operand(v: Value) -> Option<i32> {
    if v.is_int32() {
        Some(v.low_int32())
    } else if v.is_number() {
        Some(double_to_int32(v.offset_double()))
    } else {
        None
    }
}

/// A bitwise operator and its form with an immediate: int32 here, doubles out of line.
macro_rules! bitwise {
    ($($name:ident $name_i:ident $on_numbers:ident $on_number_i:ident |$a:ident, $b:ident| $result:expr;)*) => {
        $(
            #[inline(always)]
            pub(crate) fn $name(s: State) -> Step {
                let (a, b) = (s.reg(s.b()), s.reg(s.c()));
                if Value::both_int32(a, b) {
                    let ($a, $b) = (a.low_int32(), b.low_int32());
                    s.set(s.a(), $result);
                    return s.next(1);
                }
                elsewhere!(s, $on_numbers)
            }

            #[inline(always)]
            fn $on_numbers(s: State) -> Step {
                if let (Some($a), Some($b)) = (int_operand(s.reg(s.b())), int_operand(s.reg(s.c()))) {
                    s.set(s.a(), $result);
                    return s.next(1);
                }
                slow!(s, slow::arithmetic::$name)
            }

            #[inline(always)]
            pub(crate) fn $name_i(s: State) -> Step {
                let a = s.reg(s.b());
                if a.is_int32() {
                    let ($a, $b) = (a.low_int32(), s.x() as i32);
                    s.set(s.a(), $result);
                    return s.next(2);
                }
                elsewhere!(s, $on_number_i)
            }

            #[inline(always)]
            fn $on_number_i(s: State) -> Step {
                let $b = s.x() as i32;
                if let Some($a) = int_operand(s.reg(s.b())) {
                    s.set(s.a(), $result);
                    return s.next(2);
                }
                slow!(s, slow::arithmetic::$name_i)
            }
        )*
    };
}

#[inline(always)]
fn unsigned(n: u32) -> Value {
    if n <= i32::MAX as u32 { Value::int32(n as i32) } else { Value::double(f64::from(n)) }
}

bitwise! {
    bit_and bit_and_i bit_and_numbers bit_and_number_i |a, b| Value::int32(a & b);
    bit_or bit_or_i bit_or_numbers bit_or_number_i |a, b| Value::int32(a | b);
    bit_xor bit_xor_i bit_xor_numbers bit_xor_number_i |a, b| Value::int32(a ^ b);
    shl shl_i shl_numbers shl_number_i |a, b| Value::int32(a.wrapping_shl(b as u32));
    sar sar_i sar_numbers sar_number_i |a, b| Value::int32(a.wrapping_shr(b as u32));
    shr shr_i shr_numbers shr_number_i |a, b| unsigned((a as u32).wrapping_shr(b as u32));
}

#[inline(always)]
pub(crate) fn inc(s: State) -> Step {
    let v = s.reg(s.b());
    if v.is_int32()
        && let Some(r) = v.low_int32().checked_add(1)
    {
        s.set(s.a(), Value::int32(r));
        return s.next(1);
    }
    slow!(s, slow::arithmetic::inc)
}

#[inline(always)]
pub(crate) fn dec(s: State) -> Step {
    let v = s.reg(s.b());
    if v.is_int32()
        && let Some(r) = v.low_int32().checked_sub(1)
    {
        s.set(s.a(), Value::int32(r));
        return s.next(1);
    }
    slow!(s, slow::arithmetic::dec)
}

#[inline(always)]
pub(crate) fn neg(s: State) -> Step {
    let v = s.reg(s.b());
    if v.is_number() {
        s.set(s.a(), Value::number(-number(v)));
        return s.next(1);
    }
    slow!(s, slow::arithmetic::neg)
}

#[inline(always)]
pub(crate) fn bit_not(s: State) -> Step {
    if let Some(i) = int_operand(s.reg(s.b())) {
        s.set(s.a(), Value::int32(!i));
        return s.next(1);
    }
    slow!(s, slow::arithmetic::bit_not)
}

#[inline(always)]
pub(crate) fn not(s: State) -> Step {
    s.set(s.a(), Value::bool(!s.reg(s.b()).to_boolean()));
    s.next(1)
}

#[inline(always)]
pub(crate) fn type_of(s: State) -> Step {
    s.set(s.a(), Value::string(s.reg(s.b()).type_of()));
    s.next(1)
}

macro_rules! conversions {
    ($($name:ident |$v:ident| $done:expr, $slow:ident;)*) => {
        $(
            #[inline(always)]
            pub(crate) fn $name(s: State) -> Step {
                let $v = s.reg(s.b());
                if $done {
                    s.set(s.a(), $v);
                    return s.next(1);
                }
                slow!(s, slow::arithmetic::$slow)
            }
        )*
    };
}

conversions! {
    to_number |v| v.is_number(), to_number;
    to_numeric |v| v.is_number(), to_numeric;
    to_string |v| v.is_string(), to_string;
    to_property_key |v| v.is_int32() || v.is_symbol(), to_property_key;
}

outlined! {
    exp => slow::arithmetic::exp;
    concat => slow::arithmetic::concat;
}
