//! Iteration, suspension, modules and resources.

use super::super::state::{elsewhere, slow};
use super::super::{State, Step, Ways as _, coroutine, frame_flags, slow};
use super::outlined;
use crate::value::Value;

/// The fast record of an array is the array and an int32 index.
#[inline(always)]
pub(crate) fn iterator_next(s: State) -> Step {
    let (array, index) = (s.reg(s.b()), s.reg(s.b() + 1));
    if index.is_int32()
        && let Some(array) = array.as_object()
    {
        let i = index.low_int32() as u32;
        // A longer array takes the slow path.
        if let Some(length) = array.short_array_length()
            && i < length
        {
            let value = array.element(i);
            if !value.is_empty() {
                s.set(s.b() + 1, Value::int32(i as i32 + 1));
                s.set(s.a(), value);
                return s.next(2);
            }
        }
    }
    elsewhere!(s, step_generator)
}

/// The fast record of a generator is the generator and a marker.
#[inline(always)]
fn step_generator(s: State) -> Step {
    match coroutine::step_into(s) {
        Some(state) => state.go(),
        None => slow!(s, slow::iteration::iterator_next),
    }
}

#[inline(always)]
pub(crate) fn yield_value(s: State) -> Step {
    if s.frame().flags == frame_flags::STEP
        && let Some(state) = coroutine::yield_to_step(s)
    {
        return state.go();
    }
    slow!(s, slow::suspension::yield_value)
}

#[inline(always)]
pub(crate) fn check_object(s: State) -> Step {
    if !s.reg(s.a()).is_object() {
        return slow!(s, slow::iteration::throw_not_object);
    }
    s.next(1)
}

outlined! {
    get_iterator => slow::iteration::get_iterator;
    get_async_iterator => slow::iteration::get_async_iterator;
    iterator_call => slow::iteration::iterator_call;
    iterator_call_with => slow::iteration::iterator_call_with;
    iterator_result => slow::iteration::iterator_result;
    iterator_close => slow::iteration::iterator_close;
    iterator_close_silently => slow::iteration::iterator_close_silently;
    iterator_get_method => slow::iteration::iterator_get_method;
    for_in_prepare => slow::iteration::for_in_prepare;
    for_in_next => slow::iteration::for_in_next;
    generator_start => slow::suspension::generator_start;
    async_start => slow::suspension::async_start;
    yield_delegate => slow::suspension::yield_delegate;
    await_value => slow::suspension::await_value;
    async_return => slow::suspension::async_return;
    generator_return => slow::suspension::generator_return;
    import_meta => slow::suspension::import_meta;
    dynamic_import => slow::suspension::dynamic_import;
    new_disposables => slow::resources::new_disposables;
    add_disposable => slow::resources::add_disposable;
    dispose_sync => slow::resources::dispose_sync;
    dispose_next => slow::resources::dispose_next;
    dispose_error => slow::resources::dispose_error;
}
