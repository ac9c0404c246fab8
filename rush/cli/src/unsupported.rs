//! Sessions and the daemon where the system cannot promise that they leave no process behind: they say so.

/// Runs through a daemon: there is none, so the command runs here.
pub(crate) mod connect {
    /// Nothing was run.
    pub(crate) fn run(_words: &[Vec<u8>]) -> Option<i32> {
        None
    }
}

/// The daemon.
pub(crate) mod daemon {
    /// Refuses to start.
    pub(crate) fn main(_words: &[Vec<u8>]) -> i32 {
        super::refuse("daemon")
    }
}

/// Sessions.
pub(crate) mod session {
    /// Refuses to start.
    pub(crate) fn main() -> i32 {
        super::refuse("session")
    }
}

fn refuse(what: &str) -> i32 {
    rush::errln!("rush: {what}: needs Linux, whose kernel keeps every process of a session below it");
    2
}
