//! The receiving end of pull actors in Python. Owns the waker that puts the actor's token on its hub's queue. Invariant: no function
//! here switches greenlets or runs Python code while the inbox is locked, so no Rust frame is ever on a stack that is moved.
//! Leaves waiting to the Python code (`hub.py`, `loop.py`), except for actors with a thread of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

use iris_runtime::{Handle, Inbox as CoreInbox, Nothing, Received};
use parking_lot::Mutex;
use pyo3::exceptions::{PyRuntimeError, PySystemExit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::compat::Compat;
use crate::core::Core;
use crate::exit;
use crate::forked;
use crate::message::{Message, Reply, Swapped};
use crate::queue::ReadyQueue;

static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static ENDED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The sentinel for "not any more" (an object of its own, because `None` is a message like any other).
pub(crate) fn ended(py: Python<'_>) -> PyResult<Py<PyAny>> {
    sentinel(py, &ENDED)
}

/// The sentinel for "nothing yet".
pub(crate) fn empty(py: Python<'_>) -> PyResult<Py<PyAny>> {
    sentinel(py, &EMPTY)
}

fn sentinel(py: Python<'_>, slot: &PyOnceLock<Py<PyAny>>) -> PyResult<Py<PyAny>> {
    slot.get_or_try_init(py, || Ok(py.get_type::<pyo3::types::PyAny>().call0()?.unbind()))
        .map(|empty| empty.clone_ref(py))
}

/// Puts a token on a queue, once until it is taken up.
struct TokenWaker {
    queue: Py<ReadyQueue>,
    token: Mutex<Option<Py<PyAny>>>,
    queued: AtomicBool,
}

impl TokenWaker {
    fn ring(&self) {
        if self.queued.swap(true, Ordering::SeqCst) {
            return;
        }
        Python::try_attach(|py| {
            let token = self.token.lock().as_ref().map(|token| token.clone_ref(py));
            if let Some(token) = token {
                self.queue.get().push(token);
            }
        });
    }
}

impl Wake for TokenWaker {
    fn wake(self: Arc<Self>) {
        self.ring();
    }
}

struct State {
    inbox: CoreInbox<Message>,
    /// The right to answer the message that was received last.
    reply: Option<Reply>,
    /// The new code that was reached in the mailbox; until it is taken over, nothing else is received.
    swap: Option<Py<PyAny>>,
}

impl State {
    /// The exception that ends the old code where its replacement was reached.
    fn swapped(&self) -> PyResult<()> {
        match self.swap {
            Some(_) => Err(Swapped::new_err("the actor's code was replaced")),
            None => Ok(()),
        }
    }
}

/// The right to answer a message that was received and passed over. Dropped, it tells the asker that nobody answers.
#[pyclass(frozen, module = "iris._iris")]
pub(crate) struct Request(Mutex<Option<Reply>>);

/// The receiving end of one pull actor.
#[pyclass(frozen, weakref, module = "iris._iris")]
pub(crate) struct Inbox {
    state: Mutex<Option<State>>,
    waker: Option<(Arc<TokenWaker>, Waker)>,
    handle: Handle,
    compat: Arc<Compat>,
    pid: u64,
    system_messages: bool,
    /// Before any fork in the actor's code.
    mark: u32,
}

impl Inbox {
    pub(crate) fn new(
        core: &Core,
        inbox: CoreInbox<Message>,
        queue: Option<Py<ReadyQueue>>,
        system_messages: bool,
    ) -> Self {
        let waker = queue.map(|queue| {
            let token = TokenWaker { queue, token: Mutex::new(None), queued: AtomicBool::new(false) };
            let token = Arc::new(token);
            (token.clone(), Waker::from(token))
        });
        let pid = inbox.pid().to_bits();
        Self {
            state: Mutex::new(Some(State { inbox, reply: None, swap: None })),
            waker,
            handle: core.handle.clone(),
            compat: core.compat.clone(),
            pid,
            system_messages,
            mark: forked::mark(),
        }
    }

    fn item(
        &self,
        py: Python<'_>,
        state: &mut State,
        item: Received<Message>,
    ) -> PyResult<Option<Py<PyAny>>> {
        match item {
            Received::Message(Message::Swap(change)) => {
                state.swap = Some(change);
                state.swapped().map(|()| None)
            }
            Received::Message(message) => {
                let (object, reply) = message.open(py);
                // A request that was not answered before the next receive will not be.
                drop(std::mem::replace(&mut state.reply, reply));
                Ok(Some(object))
            }
            Received::Signal(signal) if self.system_messages => {
                Ok(crate::system_message::from_signal(py, state.inbox.pid(), signal))
            }
            Received::Signal(signal) => exit::signal_object(py, signal),
        }
    }
}

#[pymethods]
impl Inbox {
    #[getter]
    fn pid(&self) -> u64 {
        self.pid
    }

    /// The object that the hub finds on its queue when there is something to receive.
    fn set_token(&self, token: Py<PyAny>) {
        if let Some((waker, _)) = &self.waker {
            *waker.token.lock() = Some(token);
        }
    }

    /// The hub has found the token, for whatever reason: it may come again.
    fn token_came(&self) {
        if let Some((token, _)) = &self.waker {
            token.queued.store(false, Ordering::SeqCst);
        }
    }

    /// The next message, `EMPTY` (then the token will come), or `ENDED` if the actor has been asked to end.
    fn try_recv(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if forked::mark() != self.mark {
            return Err(PyRuntimeError::new_err(
                "this is the child of a fork: the actor's messages are the parent's",
            ));
        }
        let mut guard = self.state.lock();
        let Some(state) = guard.as_mut() else { return ended(py) };
        state.swapped()?;
        loop {
            let got = match &self.waker {
                Some((token, waker)) => {
                    token.queued.store(false, Ordering::SeqCst);
                    state.inbox.poll_recv(waker)
                }
                None => state.inbox.try_recv(),
            };
            match got {
                Ok(item) => {
                    if let Some(object) = self.item(py, state, item)? {
                        return Ok(object);
                    }
                }
                Err(Nothing::Empty) => return empty(py),
                Err(Nothing::Ended(_)) => return ended(py),
            }
        }
    }

    /// Blocks the calling thread, without the GIL; for actors with a thread of their own.
    #[pyo3(signature = (timeout=None))]
    fn recv_blocking(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Py<PyAny>> {
        let timeout = crate::waiting::timeout(timeout)?;
        if let Some(state) = self.state.lock().as_ref() {
            state.swapped()?;
        }
        loop {
            let got = crate::ffi::wait(py, || {
                self.state.lock().as_mut().map(|state| state.inbox.recv_blocking(timeout))
            });
            match got {
                Some(Ok(item)) => {
                    let mut guard = self.state.lock();
                    let Some(state) = guard.as_mut() else { return ended(py) };
                    if let Some(object) = self.item(py, state, item)? {
                        return Ok(object);
                    }
                }
                Some(Err(Nothing::Empty)) => return empty(py),
                Some(Err(Nothing::Ended(_))) | None => return ended(py),
            }
        }
    }

    /// The new code that ended the old one by `Swapped`: a version, or the number of versions to go back.
    fn take_swap(&self) -> Option<Py<PyAny>> {
        self.state.lock().as_mut().and_then(|state| state.swap.take())
    }

    /// Rings for this actor after a time, so that a receive with a time-out wakes.
    fn ring_after(&self, seconds: f64) -> PyResult<Option<u64>> {
        let Some((waker, _)) = self.waker.as_ref() else { return Ok(None) };
        let waker = Arc::downgrade(waker);
        let delay = crate::waiting::seconds(seconds)?;
        let timer = self.handle.run_after(delay, move || {
            if let Some(waker) = waker.upgrade() {
                waker.ring();
            }
        });
        Ok(Some(timer.0))
    }

    /// Takes a timer of `ring_after` back.
    fn cancel_ring(&self, timer: u64) {
        self.handle.cancel_timer(iris_runtime::TimerId(timer));
    }

    /// Answers the request that was received last. False if it was not one.
    fn reply(&self, py: Python<'_>, value: Py<PyAny>) -> bool {
        forked::end_if_child(py, self.mark, &Ok(()));
        let reply = self.state.lock().as_mut().and_then(|state| state.reply.take());
        reply.map(|reply| reply.answer(py, Ok(value))).is_some()
    }

    /// Answers the request that was received last with an exception.
    fn reply_error(&self, py: Python<'_>, error: Py<PyAny>) -> bool {
        let reply = self.state.lock().as_mut().and_then(|state| state.reply.take());
        reply.map(|reply| reply.answer(py, Err(error))).is_some()
    }

    /// Takes the right to answer out of the inbox, so that further messages can be looked at. None if the last message was no request.
    fn set_aside(&self, py: Python<'_>) -> PyResult<Option<Py<Request>>> {
        let reply = self.state.lock().as_mut().and_then(|state| state.reply.take());
        reply.map(|reply| Py::new(py, Request(Mutex::new(Some(reply))))).transpose()
    }

    /// Makes this the request that `reply` answers; the one before it will not be answered.
    #[pyo3(signature = (request=None))]
    fn take_up(&self, request: Option<&Bound<'_, Request>>) {
        let reply = request.and_then(|request| request.get().0.lock().take());
        let before = self.state.lock().as_mut().and_then(|state| std::mem::replace(&mut state.reply, reply));
        drop(before);
    }

    /// The token will come when the actor is asked to end, whatever it waits for by then. False if it was asked already.
    fn watch_exit(&self) -> bool {
        let Some((_, waker)) = &self.waker else { return false };
        self.state.lock().as_ref().is_some_and(|state| state.inbox.watch_exit(waker))
    }

    /// Messages received so far.
    fn processed(&self) -> u64 {
        self.state.lock().as_ref().map_or(0, |state| state.inbox.processed())
    }

    /// Says whether a virtual actor is put away.
    fn set_dormant(&self, on: bool) {
        if let Some(state) = self.state.lock().as_ref() {
            state.inbox.set_dormant(on);
        }
    }

    /// From now on nothing is received once the actor was asked to end.
    fn end_promptly(&self) {
        if let Some(state) = self.state.lock().as_mut() {
            state.inbox.end_promptly(true);
        }
    }

    /// Why the actor ends: what it was asked to end for, or the exception that its code raised.
    #[pyo3(signature = (error=None))]
    fn reason(&self, error: Option<Bound<'_, PyAny>>) -> exit::ExitReason {
        exit::ExitReason(match (error, self.state.lock().as_ref()) {
            (_, Some(state)) if state.inbox.exit_requested() => state.inbox.exit_reason(),
            (Some(error), _) => exit::raised_or_exited(error.py(), error),
            (None, _) => iris_runtime::ExitReason::Normal,
        })
    }

    /// Whether the actor has been asked to end.
    fn ending(&self) -> bool {
        self.state.lock().as_ref().is_none_or(|state| state.inbox.exit_requested())
    }

    /// Whether the actor was killed: it receives nothing more.
    fn killed(&self) -> bool {
        // Not by way of `state`: a thread that waits in `recv_blocking` has it.
        self.handle.is_killed(iris_runtime::Pid::from_bits(self.pid))
    }

    /// Reports that the actor keeps the thread that serves it and others.
    fn note_slow(&self, pool: &str, elapsed_ms: u64) {
        self.handle.note_slow_handler(iris_runtime::Pid::from_bits(self.pid), pool, elapsed_ms);
    }

    /// Counts messages that were received and passed over, and will not be handled, among the dead letters.
    fn bury(&self, messages: Vec<Py<PyAny>>) {
        if let Some(state) = self.state.lock().as_ref() {
            messages.into_iter().for_each(|message| state.inbox.bury(&Message::Object(message)));
        }
    }

    /// Ends the actor because it was killed and does not end by itself. Its thread is left alone.
    fn give_up(&self) {
        self.handle.give_up(iris_runtime::Pid::from_bits(self.pid));
    }

    /// Ends the actor: normally, or for the exception that its code raised.
    #[pyo3(signature = (error=None, main=None))]
    fn close(&self, py: Python<'_>, error: Option<Bound<'_, PyAny>>, main: Option<Bound<'_, PyAny>>) {
        forked::end_if_child(
            py,
            self.mark,
            &error.clone().map_or(Ok(()), |error| Err(PyErr::from_value(error))),
        );
        let Some(mut state) = self.state.lock().take() else { return };
        if let Some((waker, _)) = &self.waker {
            // Taken out first: what the token's end runs may ring again.
            let token = waker.token.lock().take();
            drop(token);
        }
        let reason = match error {
            _ if state.inbox.is_killed() => iris_runtime::ExitReason::Killed,
            Some(error) => {
                let exits = error.is_instance_of::<PySystemExit>();
                if let Some(reply) = state.reply.take().filter(|_| !exits) {
                    reply.answer(py, Err(error.clone().unbind()));
                }
                // On the compatible surface the mailbox has printed it.
                if let Some(main) = main.filter(|_| !self.system_messages && !exits) {
                    Compat::crashed(state.inbox.pid(), main.unbind());
                }
                exit::raised_or_exited(py, error)
            }
            None if state.inbox.exit_requested() => state.inbox.exit_reason(),
            None => iris_runtime::ExitReason::Normal,
        };
        self.compat.pulls.forget(state.inbox.pid());
        state.inbox.set_reason(reason);
        drop(state);
    }
}
