//! What Python actors are sent: any object by reference, alone or with the right to answer it. Owns the ways of answering (a
//! waiting thread, an asyncio future); leaves deadlines to the caller's side. Invariant: a reply that is dropped unanswered tells the caller so.

use std::sync::Arc;

use iris_runtime::ReplyTo;
use pyo3::exceptions::{PyBaseException, PyRuntimeError};
use pyo3::prelude::*;

use crate::queue::ReadyQueue;

pyo3::create_exception!(
    iris,
    NoReply,
    PyRuntimeError,
    "The actor ended or dropped the request without a reply."
);

pyo3::create_exception!(
    iris,
    Swapped,
    PyBaseException,
    "Raised in a pull or async actor that receives where its code was replaced. Not to be caught."
);

/// A value, or the exception to raise at the caller's.
pub(crate) type Outcome = Result<Py<PyAny>, Py<PyAny>>;

pub(crate) enum Message {
    Object(Py<PyAny>),
    /// The payload of an interval, sent again and again without the GIL.
    Shared(Arc<Py<PyAny>>),
    Ask(Py<PyAny>, Reply),
    /// From another node; it becomes an object where the actor runs.
    Remote(Box<dyn Foreign>),
    /// New code for a pull or async actor (or the number of versions to go back): what their inboxes turn into `Swapped`.
    Swap(Py<PyAny>),
}

impl Message {
    /// The object and the right to answer, if it was asked for.
    pub(crate) fn open(self, py: Python<'_>) -> (Py<PyAny>, Option<Reply>) {
        match self {
            Self::Object(object) | Self::Swap(object) => (object, None),
            Self::Shared(object) => (object.clone_ref(py), None),
            Self::Ask(object, reply) => (object, Some(reply)),
            Self::Remote(incoming) => {
                let (object, caller) = incoming.open(py);
                (object, caller.map(Reply::to_node))
            }
        }
    }
}

enum Target {
    Thread(ReplyTo<Outcome>),
    Future { queue: Py<ReadyQueue>, future: Py<PyAny> },
    Node(Box<dyn ForeignCaller>),
}

/// What came from another node and is no object yet.
pub(crate) trait Foreign: Send {
    /// The object, and who waits for an answer.
    fn open(self: Box<Self>, py: Python<'_>) -> (Py<PyAny>, Option<Box<dyn ForeignCaller>>);
    /// The object, to look at.
    fn look(&self, py: Python<'_>) -> Py<PyAny>;
}

/// Who waits for an answer on another node.
pub(crate) trait ForeignCaller: Send {
    fn answer(&self, py: Python<'_>, outcome: Outcome);
    /// There will be no answer.
    fn refuse(&self);
}

/// The right to answer one request; boxed, so that messages without one stay small.
pub(crate) struct Reply(Option<Box<Target>>);

impl Reply {
    pub(crate) fn to_thread(reply: ReplyTo<Outcome>) -> Self {
        Self(Some(Box::new(Target::Thread(reply))))
    }

    pub(crate) fn to_future(queue: Py<ReadyQueue>, future: Py<PyAny>) -> Self {
        Self(Some(Box::new(Target::Future { queue, future })))
    }

    fn to_node(caller: Box<dyn ForeignCaller>) -> Self {
        Self(Some(Box::new(Target::Node(caller))))
    }

    pub(crate) fn answer(mut self, py: Python<'_>, outcome: Outcome) {
        match self.0.take().map(|target| *target) {
            Some(Target::Thread(reply)) => {
                reply.send(outcome);
            }
            Some(Target::Future { queue, future }) => deliver(py, &queue, future, outcome),
            Some(Target::Node(caller)) => caller.answer(py, outcome),
            None => {}
        }
    }
}

impl Reply {
    /// The same from a thread that has no need of the GIL: what a thread that serves many gets is made there.
    pub(crate) fn answer_from_outside(mut self, make: impl FnOnce(Python<'_>) -> Outcome + Send + 'static) {
        match self.0.take().map(|target| *target) {
            Some(Target::Future { queue, future }) => {
                let made = move |py: Python<'_>| {
                    let outcome = make(py);
                    item(py, future, outcome)
                };
                queue.get().push_later(made);
            }
            other => {
                Python::try_attach(|py| Self(other.map(Box::new)).answer(py, make(py)));
            }
        }
    }
}

fn deliver(py: Python<'_>, queue: &Py<ReadyQueue>, future: Py<PyAny>, outcome: Outcome) {
    if let Some(item) = item(py, future, outcome) {
        queue.get().push(item);
    }
}

/// What a thread that serves many finds on its queue. Only memory can be lacking.
fn item(py: Python<'_>, future: Py<PyAny>, outcome: Outcome) -> Option<Py<PyAny>> {
    let (ok, value) = match outcome {
        Ok(value) => (true, value),
        Err(error) => (false, error),
    };
    (future, ok, value).into_pyobject(py).ok().map(|item| item.into_any().unbind())
}

impl Drop for Reply {
    fn drop(&mut self) {
        match self.0.take().map(|target| *target) {
            Some(Target::Future { queue, future }) => {
                Python::try_attach(|py| {
                    let error = NoReply::new_err("the actor ended or dropped the request without a reply");
                    deliver(py, &queue, future, Err(error.into_value(py).into_any()));
                });
            }
            Some(Target::Node(caller)) => caller.refuse(),
            // A waiting thread is told by the core; a future has to be told in Python.
            Some(Target::Thread(_)) | None => {}
        }
    }
}
