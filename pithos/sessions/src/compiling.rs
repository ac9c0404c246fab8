//! Whether this worker's JavaScript may become machine code, which the policy says (`executable_memory`): otherwise the worker denies itself
//! executable memory before it runs anything, so that what a guest brings into memory stays data.

use std::io;
use std::sync::OnceLock;

use cynic::{Engine, Jit};

/// Among a worker's arguments: what it runs may be compiled to machine code.
pub(crate) const EXECUTABLE_MEMORY: &str = "--executable-memory";

/// How this worker's JavaScript is run.
static COMPILING: OnceLock<Jit> = OnceLock::new();

/// What makes the isolates of this worker.
pub(crate) fn engine() -> Engine {
    Engine::new().jit(COMPILING.get().copied().unwrap_or_default())
}

/// Lets this worker compile what it runs, or denies it executable memory. Before other threads begin: they inherit it.
pub(crate) fn settle(arguments: &[String]) -> io::Result<()> {
    if arguments.iter().any(|argument| argument == EXECUTABLE_MEMORY) {
        let _ = COMPILING.set(Jit::Template);
        return Ok(());
    }
    pithos_sandbox::deny_executable_memory().map_err(|error| {
        io::Error::other(format!(
            "{error}; JavaScript runs without executable memory, unless the policy says executable_memory = true"
        ))
    })
}

#[cfg(test)]
mod tests {
    use cynic::{Engine, Jit, Limits};

    /// How many functions a thread of its own compiles, and how many it cannot.
    fn compiled(denied: bool) -> Option<(u64, u64)> {
        let thread = std::thread::spawn(move || {
            if denied {
                pithos_sandbox::deny_executable_memory().expect("a filter");
            }
            let mut isolate = Engine::new().jit(Jit::ForceTemplate).isolate(Limits::default());
            isolate.realm().evaluate("sum", "[1, 2, 3].map((x) => x + 1)").expect("a value");
            isolate.jit_stats().map(|stats| (stats.functions, stats.refused))
        });
        thread.join().expect("the thread")
    }

    #[test]
    fn a_worker_without_executable_memory_interprets() {
        // Where there is no code generator, there is nothing to deny.
        let Some((functions, _)) = compiled(false) else { return };
        assert!(functions > 0);
        let (functions, refused) = compiled(true).expect("figures");
        assert_eq!(functions, 0);
        assert!(refused > 0);
    }
}
