//! The process's entry: C's `main`, in place of the Rust runtime's. That one would quietly open the null device where a
//! standard descriptor is closed and change what SIGPIPE does, and a shell must find both as its parent left them.

use std::ffi::{CStr, c_char, c_int};

/// Called by the C library.
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, words: *const *const c_char) -> c_int {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: the C library hands over an array of `count` strings that live as long as the process.
    let word = |n: usize| unsafe { CStr::from_ptr(*words.add(n)) };
    let arguments: Vec<Vec<u8>> = (0..count).map(|n| word(n).to_bytes().to_vec()).collect();
    rush::sys::exit_now(rush_cli::run(&arguments));
}
