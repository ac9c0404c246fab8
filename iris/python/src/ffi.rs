//! What the safe API does not offer, by calls into C. One calls a Python object with one argument through the stable ABI's variadic entry,
//! which builds no tuple (measured 50 to 63 ns for an empty function, against 90 with a tuple). One asks the allocator to give free memory
//! back, because a hundred thousand small cells that were freed one by one do not leave the process by themselves. One interrupts another
//! thread's Python code. One tells a sub-interpreter. `Parking` keeps a thread that comes back too late from being unwound by the interpreter's end.
#![allow(unsafe_code)]

use pyo3::marker::Ungil;
use pyo3::prelude::*;

/// Whether this is the interpreter that the process began with.
pub(crate) fn in_main_interpreter(_: Python<'_>) -> bool {
    // SAFETY: the GIL is held, so there is a current interpreter, and its number is only read.
    unsafe { pyo3::ffi::PyInterpreterState_GetID(pyo3::ffi::PyInterpreterState_Get()) == 0 }
}

/// `callable(argument)`.
pub(crate) fn call_one<'py>(
    callable: &Bound<'py, PyAny>,
    argument: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = callable.py();
    // SAFETY: both pointers are borrowed from live `Bound`s, the list ends with a null pointer as the function demands, and
    // the result is a new reference or null with an exception set, which is what `from_owned_ptr_or_err` takes.
    unsafe {
        let result = pyo3::ffi::PyObject_CallFunctionObjArgs(
            callable.as_ptr(),
            argument.as_ptr(),
            std::ptr::null_mut::<pyo3::ffi::PyObject>(),
        );
        Bound::from_owned_ptr_or_err(py, result)
    }
}

/// Makes the Python code of another thread raise an exception of this type at its next instruction. Nothing happens if there is no such
/// thread.
pub(crate) fn raise_in(ident: std::ffi::c_long, exception: &Bound<'_, pyo3::types::PyType>) {
    // SAFETY: the GIL is held (the type is bound), the type is alive, and an unknown identity is looked up and not found.
    unsafe {
        pyo3::ffi::PyThreadState_SetAsyncExc(ident, exception.as_ptr());
    }
}

/// Takes back what `raise_in` left for a thread that has not come to its next instruction.
pub(crate) fn raise_nothing_in(_: Python<'_>, ident: std::ffi::c_long) {
    // SAFETY: the GIL is held, and a null pointer is how this function is told to forget the exception.
    unsafe {
        pyo3::ffi::PyThreadState_SetAsyncExc(ident, std::ptr::null_mut());
    }
}

/// Returns free memory to the system where the C library can (glibc); does nothing elsewhere.
pub(crate) fn trim_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: glibc's `malloc_trim` takes any number, locks its own arenas and touches free memory only.
        unsafe {
            malloc_trim(0);
        }
    }
}

/// While it lives, `pthread_exit` stops its thread for ever where it stands.
///
/// CPython 3.11 to 3.13 call `pthread_exit` in a thread that wants the GIL after the interpreter's end has begun (later versions stop it,
/// as this does). glibc then unwinds the stack by force, and the first Rust frame it meets aborts the process. Before each frame it asks
/// which cleanup handlers of the old kind have been left, by comparing their buffer's address with the frame's: a buffer that does not lie
/// on the stack is left at the first frame, before any Rust is reached. Elsewhere `pthread_exit` unwinds nothing, and this does nothing.
pub(crate) struct Parking {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    buffer: *mut parking::Buffer,
    /// Handlers are taken back in reverse order on the same thread.
    _same_thread: std::marker::PhantomData<*const ()>,
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod parking {
    use std::ffi::{c_int, c_void};

    /// `struct _pthread_cleanup_buffer` of the Linux Standard Base.
    #[repr(C)]
    pub(super) struct Buffer {
        pub(super) routine: Option<extern "C" fn(*mut c_void)>,
        pub(super) argument: *mut c_void,
        pub(super) cancel_type: c_int,
        pub(super) previous: *mut Buffer,
    }

    unsafe extern "C" {
        pub(super) fn _pthread_cleanup_push(
            buffer: *mut Buffer,
            routine: extern "C" fn(*mut c_void),
            argument: *mut c_void,
        );
        pub(super) fn _pthread_cleanup_pop(buffer: *mut Buffer, execute: c_int);
        safe fn pause() -> c_int;
    }

    pub(super) extern "C" fn park(_: *mut c_void) {
        loop {
            pause();
        }
    }
}

impl Parking {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    pub(crate) fn begin() -> Self {
        use std::ptr::null_mut;
        let empty =
            parking::Buffer { routine: None, argument: null_mut(), cancel_type: 0, previous: null_mut() };
        let buffer = Box::into_raw(Box::new(empty));
        // SAFETY: the buffer stays where it is until `drop` takes it off this thread's list (`Parking` is not `Send`), and the routine
        // touches nothing.
        unsafe {
            parking::_pthread_cleanup_push(buffer, parking::park, null_mut());
        }
        Self { buffer, _same_thread: std::marker::PhantomData }
    }

    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    pub(crate) fn begin() -> Self {
        Self { _same_thread: std::marker::PhantomData }
    }
}

impl Drop for Parking {
    fn drop(&mut self) {
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        // SAFETY: this thread pushed the buffer, those pushed later are gone (values are dropped in reverse order), and it came out of
        // a box. Without `execute` the routine is not run.
        unsafe {
            parking::_pthread_cleanup_pop(self.buffer, 0);
            drop(Box::from_raw(self.buffer));
        }
    }
}

/// `detach` for whatever waits: it may be that the interpreter ends meanwhile.
pub(crate) fn wait<T: Ungil>(py: Python<'_>, body: impl Ungil + FnOnce() -> T) -> T {
    let _parking = Parking::begin();
    py.detach(body)
}
