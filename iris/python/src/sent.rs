//! What a send says: accepted, refused because the mailbox is full, or nobody there. Owns which it is; the objects
//! that Python sees are `sent.py`'s, so a send allocates nothing to say what happened. Two more are for what goes to other nodes.

use iris_runtime::SendError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// What became of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Accepted,
    Full,
    NoProcess,
    /// Another node does not read what is sent to it.
    Busy,
    /// Another node cannot be reached.
    NoConnection,
}

impl Delivery {
    pub(crate) fn accepted(self) -> bool {
        self == Self::Accepted
    }

    /// Why a request was refused, for the asker.
    pub(crate) fn refusal(self) -> &'static str {
        match self {
            Self::Full => "the request was refused: the mailbox is full",
            _ => "the request was refused: no such actor",
        }
    }
}

impl<M> From<Result<(), SendError<M>>> for Delivery {
    fn from(result: Result<(), SendError<M>>) -> Self {
        match result {
            Ok(()) => Self::Accepted,
            Err(SendError::Full(_)) => Self::Full,
            Err(SendError::NoProcess(_)) => Self::NoProcess,
        }
    }
}

static ALL: PyOnceLock<[Py<PyAny>; 5]> = PyOnceLock::new();

/// The member of `iris.Sent`.
#[inline]
pub(crate) fn sent(py: Python<'_>, delivery: Delivery) -> PyResult<Py<PyAny>> {
    let [accepted, full, no_process, busy, no_connection] = match ALL.get(py) {
        Some(all) => all,
        None => members(py)?,
    };
    Ok(match delivery {
        Delivery::Accepted => accepted,
        Delivery::Full => full,
        Delivery::NoProcess => no_process,
        Delivery::Busy => busy,
        Delivery::NoConnection => no_connection,
    }
    .clone_ref(py))
}

#[cold]
fn members(py: Python<'_>) -> PyResult<&[Py<PyAny>; 5]> {
    ALL.get_or_try_init(py, || {
        let class = py.import("iris.sent")?.getattr("Sent")?;
        let member = |name| class.getattr(name).map(Bound::unbind);
        Ok([
            member("ACCEPTED")?,
            member("FULL")?,
            member("NO_PROCESS")?,
            member("BUSY")?,
            member("NO_CONNECTION")?,
        ])
    })
}
