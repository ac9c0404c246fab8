//! Loads, moves, scopes and globals.

use super::super::state::{elsewhere, slow};
use super::super::{State, Step, Ways as _, slow};
use super::outlined;
use crate::gc::{Gc, ValueArray};
use crate::value::Value;

#[inline(always)]
pub(crate) fn nop(s: State) -> Step {
    s.next(1)
}

/// Never run: both dispatchers stop before it.
#[inline(always)]
pub(crate) fn halt(s: State) -> Step {
    s.next(1)
}

macro_rules! loads {
    ($($name:ident $value:expr;)*) => {
        $(
            #[inline(always)]
            pub(crate) fn $name(s: State) -> Step {
                s.set(s.a(), $value);
                s.next(1)
            }
        )*
    };
}

loads! {
    load_undefined Value::UNDEFINED;
    load_null Value::NULL;
    load_true Value::TRUE;
    load_false Value::FALSE;
    load_empty Value::EMPTY;
}

#[inline(always)]
pub(crate) fn load_int(s: State) -> Step {
    s.set(s.a(), Value::int32((s.word(0) as i32) >> 16));
    s.next(1)
}

#[inline(always)]
pub(crate) fn load_const(s: State) -> Step {
    s.set(s.a(), s.constant(s.x()));
    s.next(2)
}

#[inline(always)]
pub(crate) fn mov(s: State) -> Step {
    s.set(s.a(), s.reg(s.b()));
    s.next(1)
}

/// The scope in a register.
#[inline(always)]
fn scope(v: Value) -> Gc<ValueArray> {
    // SAFETY: the compiler puts scopes, and nothing else, in the registers it uses as scopes; slot 0 is the parent.
    unsafe { Gc::from_addr(v.to_bits() as *mut ValueArray) }
}

/// The scope `hops` above the one in register `b`.
#[inline(always)]
fn scope_above(s: State) -> Gc<ValueArray> {
    let mut at = scope(s.reg(s.b()));
    for _ in 0..s.c() {
        // SAFETY: every scope has a slot 0, and the compiler counted the scopes.
        at = scope(unsafe { at.get_unchecked(0) });
    }
    at
}

#[inline(always)]
pub(crate) fn get_env(s: State) -> Step {
    s.set(s.a(), slow::scopes::captured_scope(s));
    s.next(1)
}

#[inline(always)]
pub(crate) fn get_slot(s: State) -> Step {
    // SAFETY: the compiler sized the scope for its slots.
    s.set(s.a(), unsafe { scope(s.reg(s.b())).get_unchecked(s.c() as u32 + 1) });
    s.next(1)
}

#[inline(always)]
pub(crate) fn set_slot(s: State) -> Step {
    scope(s.reg(s.b())).set(s.c() as u32 + 1, s.reg(s.a()));
    s.next(1)
}

#[inline(always)]
pub(crate) fn get_slot_up(s: State) -> Step {
    // SAFETY: as in `get_slot`.
    s.set(s.a(), unsafe { scope_above(s).get_unchecked(s.x() + 1) });
    s.next(2)
}

#[inline(always)]
pub(crate) fn set_slot_up(s: State) -> Step {
    scope_above(s).set(s.x() + 1, s.reg(s.a()));
    s.next(2)
}

#[inline(always)]
pub(crate) fn get_cell(s: State) -> Step {
    // SAFETY: as in `get_slot`; linking filled the slot with a cell, a one-slot array.
    let cell = scope(unsafe { scope_above(s).get_unchecked(s.x() + 1) });
    // SAFETY: the cell has one value.
    s.set(s.a(), unsafe { cell.get_unchecked(0) });
    s.next(2)
}

#[inline(always)]
pub(crate) fn set_cell(s: State) -> Step {
    // SAFETY: as in `get_cell`.
    let cell = scope(unsafe { scope_above(s).get_unchecked(s.x() + 1) });
    cell.set(0, s.reg(s.a()));
    s.next(2)
}

#[inline(always)]
pub(crate) fn check_tdz(s: State) -> Step {
    if s.reg(s.a()).is_empty() {
        return slow!(s, slow::scopes::throw_tdz);
    }
    s.next(2)
}

#[inline(always)]
pub(crate) fn check_this(s: State) -> Step {
    if s.reg(s.a()).is_empty() {
        return slow!(s, slow::scopes::throw_unbound_this);
    }
    s.next(1)
}

#[inline(always)]
pub(crate) fn check_unbound(s: State) -> Step {
    if !s.reg(s.a()).is_empty() {
        return slow!(s, slow::scopes::throw_bound_this);
    }
    s.next(1)
}

/// The value of a global whose binding cell the site knows.
#[inline(always)]
pub(crate) fn get_global(s: State) -> Step {
    let far = s.ic().far;
    if far != 0 {
        // SAFETY: at a global site `far` is a binding cell, a one-slot array that the cache keeps alive.
        let value = unsafe { Gc::<ValueArray>::from_addr(far as *mut ValueArray).get_unchecked(0) };
        if !value.is_empty() {
            s.set(s.a(), value);
            return s.next(2);
        }
    }
    elsewhere!(s, get_global_property)
}

/// The value of a global that is a property of the global object.
#[inline(always)]
fn get_global_property(s: State) -> Step {
    let ic = s.ic();
    if ic.far == 0 && ic.shape != 0 {
        let global = s.vm().global_object();
        if global.shape().addr() == ic.shape {
            s.set(s.a(), global.slot(ic.slot));
            return s.next(2);
        }
    }
    slow!(s, slow::scopes::get_global)
}

#[inline(always)]
pub(crate) fn set_global(s: State) -> Step {
    let far = s.ic().far;
    if far != 0 {
        // SAFETY: as in `get_global`.
        let cell = unsafe { Gc::<ValueArray>::from_addr(far as *mut ValueArray) };
        // SAFETY: a binding cell has one value.
        if !unsafe { cell.get_unchecked(0) }.is_empty() {
            cell.set(0, s.reg(s.a()));
            return s.next(2);
        }
    }
    elsewhere!(s, set_global_property)
}

/// Stores to a global that is a property of the global object.
#[inline(always)]
fn set_global_property(s: State) -> Step {
    let ic = s.ic();
    if ic.far == 0 && ic.shape != 0 {
        let global = s.vm().global_object();
        if global.shape().addr() == ic.shape {
            global.set_slot(ic.slot, s.reg(s.a()));
            return s.next(2);
        }
    }
    slow!(s, slow::scopes::set_global)
}

outlined! {
    new_scope => slow::scopes::new_scope;
    clone_scope => slow::scopes::clone_scope;
    throw_const => slow::scopes::throw_const;
    throw_error => slow::scopes::throw_error;
    has_global => slow::scopes::has_global;
    get_global_or_undefined => slow::scopes::get_global_or_undefined;
    init_global => slow::scopes::init_global;
    define_global_function => slow::scopes::define_global_function;
}
