//! The two ids of a worker: the one that the server's `/proc` knows, and the one inside the guardian's pid namespace. Owns the table of
//! both; where there is no such namespace they are the same.

use std::collections::HashMap;
use std::io;
use std::sync::OnceLock;

use rush_session::process_tree;

use crate::sync::Locked;

/// The table.
pub(super) struct Names {
    /// The guardian's process outside.
    outside: u32,
    /// The guardian's process inside, once it is there.
    guardian: OnceLock<u32>,
    /// Id here to id inside.
    inside: Locked<HashMap<u32, u32>>,
}

impl Names {
    pub(super) fn new(outside: u32) -> Self {
        Self { outside, guardian: OnceLock::new(), inside: Locked::default() }
    }

    /// Finds the id here of a worker, a child of the guardian or of the worker `parent`.
    pub(super) fn learn(&self, inside: u32, parent: Option<u32>) -> io::Result<u32> {
        let found = self.find(inside, parent).ok_or_else(|| {
            io::Error::other("the process ended before it was ready; its message is on the server's stderr")
        })?;
        self.inside.with(|table| table.insert(found, inside));
        Ok(found)
    }

    /// The id inside of a worker that is known.
    pub(super) fn inside(&self, pid: u32) -> Option<u32> {
        self.inside.with(|table| table.get(&pid).copied())
    }

    pub(super) fn forget(&self, pid: u32) {
        self.inside.with(|table| table.remove(&pid));
    }

    fn find(&self, inside: u32, parent: Option<u32>) -> Option<u32> {
        let guardian = self.guardian()?;
        if id_inside(guardian).is_some_and(|id| id == guardian) {
            return Some(inside);
        }
        let is_it = |pid: &u32| id_inside(*pid) == Some(inside);
        // The newest is the last, so this looks at one process, however many there are.
        let newest = children(parent.unwrap_or(guardian)).into_iter().rev().find(is_it);
        newest.or_else(|| {
            let all = process_tree::descendants(guardian, &std::collections::HashSet::new());
            all.into_iter().map(|process| process.pid).find(is_it)
        })
    }

    fn guardian(&self) -> Option<u32> {
        if let Some(pid) = self.guardian.get() {
            return Some(*pid);
        }
        // It has only this one child.
        let pid = *children(self.outside).first()?;
        Some(*self.guardian.get_or_init(|| pid))
    }
}

/// The children of a process, oldest first as far as one thread made them.
fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    // In the order of their ids: the thread that starts workers is the last one.
    let of_thread = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("children"));
    let texts = threads.flatten().filter_map(|thread| of_thread(thread).ok()).collect::<String>();
    texts.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// The id that a process has for itself: the last of `NSpid` in its status.
pub(crate) fn id_inside(pid: u32) -> Option<u32> {
    let status = std::fs::read(format!("/proc/{pid}/status")).ok()?;
    // The name of a process need not be text.
    let status = String::from_utf8_lossy(&status);
    status.lines().find_map(|line| line.strip_prefix("NSpid:"))?.split_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{children, id_inside};

    #[test]
    fn outside_a_namespace_both_ids_are_the_same() {
        assert_eq!(id_inside(std::process::id()), Some(std::process::id()));
        assert!(children(u32::MAX).is_empty() && id_inside(u32::MAX).is_none());
    }
}
