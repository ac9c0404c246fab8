//! The queue between the core's wakers and a thread that serves many actors (a greenlet hub, an event loop). Owns the items and
//! the one wake-up per batch. Invariant: a push to an empty queue signals, a push to a filled one does not: whoever was signalled
//! takes everything. Leaves what an item means to the Python that takes it.

use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::interruption::Killed;
use crate::limits::WAKE_ATTEMPTS;

/// What lies on a queue.
enum Item {
    Object(Py<PyAny>),
    /// Made by whoever takes it, who has the GIL: the thread that pushes it needs none.
    Later(Box<dyn FnOnce(Python<'_>) -> Option<Py<PyAny>> + Send>),
}

impl Item {
    fn made(self, py: Python<'_>) -> Option<Py<PyAny>> {
        match self {
            Self::Object(object) => Some(object),
            Self::Later(make) => make(py),
        }
    }
}

fn list(py: Python<'_>, items: Vec<Item>) -> PyResult<Bound<'_, PyList>> {
    let made: Vec<_> = items.into_iter().filter_map(|item| item.made(py)).collect();
    PyList::new(py, made)
}

struct State {
    items: Vec<Item>,
    closed: bool,
}

/// Items that are ready for the thread that serves them.
#[pyclass(frozen, weakref, module = "iris._iris")]
pub(crate) struct ReadyQueue {
    state: Mutex<State>,
    signal: Condvar,
    /// Called (with the GIL) when the queue stops being empty; `None` if a thread waits in `take`.
    notify: Option<Py<PyAny>>,
}

impl ReadyQueue {
    /// Adds what `make` makes where it is taken (nothing, if it makes nothing).
    pub(crate) fn push_later(&self, make: impl FnOnce(Python<'_>) -> Option<Py<PyAny>> + Send + 'static) {
        self.add(Item::Later(Box::new(make)));
    }

    pub(crate) fn push(&self, item: Py<PyAny>) {
        self.add(Item::Object(item));
    }

    fn add(&self, item: Item) {
        let mut state = self.state.lock();
        if state.closed {
            drop(state);
            return;
        }
        let first = state.items.is_empty();
        state.items.push(item);
        drop(state);
        if !first {
            return;
        }
        self.signal.notify_one();
        if let Some(notify) = &self.notify {
            Python::try_attach(|py| {
                // Whoever pushes may be interrupted, which is not the queue's affair: everybody behind it waits for this one call.
                let failed = (0..WAKE_ATTEMPTS).find_map(|_| match notify.call0(py) {
                    Ok(_) => Some(false),
                    Err(error) if error.is_instance_of::<Killed>(py) => None,
                    Err(_) => Some(true),
                });
                if failed != Some(false) {
                    // The loop is closed: its futures have no one to tell.
                    self.state.lock().closed = true;
                }
            });
        }
    }
}

#[pymethods]
impl ReadyQueue {
    #[new]
    #[pyo3(signature = (notify=None))]
    fn new(notify: Option<Py<PyAny>>) -> Self {
        Self { state: Mutex::new(State { items: Vec::new(), closed: false }), signal: Condvar::new(), notify }
    }

    /// Everything that is ready, without waiting.
    fn drain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let items = std::mem::take(&mut self.state.lock().items);
        list(py, items)
    }

    /// Waits for items. An empty list after the time-out, `None` when the queue is closed and empty.
    #[pyo3(signature = (timeout=None))]
    fn take<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Option<Bound<'py, PyList>>> {
        let quick = std::mem::take(&mut self.state.lock().items);
        if !quick.is_empty() {
            return list(py, quick).map(Some);
        }
        let until = crate::waiting::timeout(timeout)?.map(|timeout| Instant::now() + timeout);
        let (items, closed) = crate::ffi::wait(py, || {
            let mut state = self.state.lock();
            while state.items.is_empty() && !state.closed {
                match until {
                    Some(until) if self.signal.wait_until(&mut state, until).timed_out() => break,
                    Some(_) => {}
                    None => self.signal.wait(&mut state),
                }
            }
            (std::mem::take(&mut state.items), state.closed)
        });
        if items.is_empty() && closed { Ok(None) } else { list(py, items).map(Some) }
    }

    /// Adds an item from Python.
    fn put(&self, item: Py<PyAny>) {
        self.push(item);
    }

    /// No more items; who waits is woken.
    fn close(&self) {
        self.state.lock().closed = true;
        self.signal.notify_all();
    }
}
