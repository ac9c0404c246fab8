//! Three calls into C. One calls a Python object with one argument through the stable ABI's variadic entry, which
//! builds no tuple (measured 50 to 63 ns for an empty function, against 90 with a tuple). The other asks the allocator to give free memory back, because a
//! hundred thousand small cells that were freed one by one do not leave the process by themselves. The third interrupts another thread's Python
//! code, which the safe API does not offer.
#![allow(unsafe_code)]

use pyo3::prelude::*;

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

/// Makes the Python code of another thread raise `SystemExit` at its next instruction. Nothing happens if there is no such thread.
pub(crate) fn raise_system_exit_in(py: Python<'_>, ident: std::ffi::c_long) {
    let exception = py.get_type::<pyo3::exceptions::PySystemExit>();
    // SAFETY: the GIL is held (`py`), the exception type is alive, and an unknown identity is looked up and not found.
    unsafe {
        pyo3::ffi::PyThreadState_SetAsyncExc(ident, exception.as_ptr());
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
