//! Jumps. A backward jump is a step: it polls.

use super::super::state::slow;
use super::super::{State, Step, Ways as _, slow};
use crate::value::Value;

/// Jumps by operand x if `taken`; else goes on after the instruction's `words`.
#[inline(always)]
pub(super) fn branch_to(s: State, taken: bool, words: usize) -> Step {
    if !taken {
        return s.next(words);
    }
    let distance = s.x() as i32;
    // Zero is a jump to itself: the empty loop, which must be metered like any other.
    if distance <= 0 {
        let vm = s.vm();
        if vm.budget <= 1 {
            return slow!(s, slow::poll_jump);
        }
        vm.budget -= 1;
    }
    s.jump(distance)
}

#[inline(always)]
pub(crate) fn jump(s: State) -> Step {
    let distance = (s.word(0) as i32) >> 8;
    if distance <= 0 {
        let vm = s.vm();
        if vm.budget <= 1 {
            return slow!(s, slow::poll_long_jump);
        }
        vm.budget -= 1;
    }
    s.jump(distance)
}

macro_rules! tests {
    ($($name:ident |$v:ident| $test:expr;)*) => {
        $(
            #[inline(always)]
            pub(crate) fn $name(s: State) -> Step {
                let $v = s.reg(s.a());
                branch_to(s, $test, 2)
            }
        )*
    };
}

#[inline(always)]
fn truth(v: Value) -> bool {
    match v {
        Value::TRUE => true,
        Value::FALSE => false,
        v => v.to_boolean(),
    }
}

tests! {
    j_true |v| truth(v);
    j_false |v| !truth(v);
    j_nullish |v| v.is_nullish();
    j_not_nullish |v| !v.is_nullish();
    j_undefined |v| v.is_undefined();
    j_not_undefined |v| !v.is_undefined();
}
