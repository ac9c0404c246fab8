//! The host's own state of an isolate: where texts go, the console's groups and counters, the timers.

use std::collections::HashMap;

use cynic_engine::host::Clock;
use cynic_engine::vm::Vm;

use crate::host::inspect::Styles;
use crate::host::timers::Timers;

/// Which of the two streams a text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Results: `print`, `console.log`.
    Output,
    /// Diagnostics: `console.error`, `console.warn`.
    Diagnostics,
}

/// Where texts go; given by the embedder.
pub trait Sink {
    /// Takes one line, without its newline.
    fn line(&mut self, stream: Stream, text: &str);
}

/// Everything the host keeps per isolate.
pub(crate) struct State {
    pub(crate) sink: Box<dyn Sink>,
    pub(crate) styles: Styles,
    /// The indentation of `console.group`.
    pub(crate) indentation: usize,
    pub(crate) counters: HashMap<String, u64>,
    pub(crate) stopwatches: HashMap<String, i128>,
    pub(crate) timers: Timers,
    /// When the isolate was made, on its clock; `None` if it may not know.
    pub(crate) time_origin_ns: Option<i128>,
}

/// Gives the isolate a fresh state.
pub(crate) fn attach(vm: &mut Vm, sink: Box<dyn Sink>, styles: Styles) {
    let time_origin_ns = match &vm.host.capabilities.clock {
        Clock::Denied => None,
        _ => vm.host_now_nanoseconds().ok(),
    };
    vm.host.state = Some(Box::new(State {
        sink,
        styles,
        indentation: 0,
        counters: HashMap::new(),
        stopwatches: HashMap::new(),
        timers: Timers::default(),
        time_origin_ns,
    }));
}

/// The state; `None` in an isolate that `install` was not called for.
pub(crate) fn state(vm: &mut Vm) -> Option<&mut State> {
    vm.host.state.as_mut()?.downcast_mut()
}
