//! Buffers that travel without being copied. Owns the table of allocated buffers and the exporter that keeps a buffer's memory alive
//! as long as anybody can see it: the sender's memoryview, the message, the receiver. Invariant: an id is taken once.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::ffi as capi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::limits::BUFFER_MAX;

static TABLE: LazyLock<Mutex<HashMap<u64, Py<PyBytes>>>> = LazyLock::new(Mutex::default);
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Owns one buffer; the memoryview that writes to it keeps this object alive.
#[pyclass(frozen, module = "iris._iris")]
pub(crate) struct Buffer {
    id: u64,
    bytes: Py<PyBytes>,
}

#[allow(unsafe_code)]
#[pymethods]
impl Buffer {
    /// The id for `send_buffer`.
    #[getter]
    fn id(&self) -> u64 {
        self.id
    }

    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut capi::Py_buffer, flags: c_int) -> PyResult<()> {
        let bytes = slf.get().bytes.bind(slf.py());
        let data = bytes.as_bytes();
        // SAFETY: `view` comes from the interpreter. The memory belongs to a bytes object that `slf` owns, and the view keeps `slf`.
        // It is written through the view only: nobody has hashed or shared the bytes object before `send_buffer` gives it away.
        let filled = unsafe {
            capi::PyBuffer_FillInfo(
                view,
                slf.as_ptr(),
                data.as_ptr().cast::<c_void>().cast_mut(),
                data.len() as capi::Py_ssize_t,
                0,
                flags,
            )
        };
        if filled == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let unsent = TABLE.lock().remove(&self.id);
        drop(unsent);
    }
}

/// A buffer of `size` zero bytes: its id, a writable memoryview, and the object that owns it until it is sent.
#[pyfunction]
pub(crate) fn allocate_buffer(
    py: Python<'_>,
    size: usize,
) -> PyResult<(u64, Bound<'_, PyMemoryView>, Bound<'_, Buffer>)> {
    if size > BUFFER_MAX {
        return Err(PyMemoryError::new_err(format!("a buffer may have {BUFFER_MAX} bytes at most")));
    }
    let bytes = PyBytes::new_with(py, size, |_| Ok(()))?.unbind();
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    TABLE.lock().insert(id, bytes.clone_ref(py));
    let owner = Bound::new(py, Buffer { id, bytes })?;
    let view = PyMemoryView::from(owner.as_any())?;
    Ok((id, view, owner))
}

/// Takes a buffer out of the table to send it.
pub(crate) fn take(id: u64) -> PyResult<Py<PyBytes>> {
    let taken = TABLE.lock().remove(&id);
    taken.ok_or_else(|| {
        PyValueError::new_err(format!("buffer {id} does not exist, was freed or has been sent already"))
    })
}

/// Puts a buffer back that could not be sent.
pub(crate) fn put_back(id: u64, bytes: Py<PyBytes>) {
    TABLE.lock().insert(id, bytes);
}
