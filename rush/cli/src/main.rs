//! The `rush` command: hands the process's arguments to the shell and ends with its status.
#![cfg_attr(not(test), no_main)]
#![deny(unsafe_code)]

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
mod allocator;
#[cfg(not(test))]
#[allow(unsafe_code)]
mod entry;
#[cfg(all(target_arch = "x86_64", any(test, target_env = "musl")))]
#[allow(unsafe_code)]
mod memory;

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: allocator::Blocks = allocator::Blocks;
