//! The registry: names, hierarchical paths and groups. Owns the three maps; the pid's own list of names (in `relations`) says
//! what to take out when it ends. Invariants: a name resolves to at most one pid, and to none once that pid has ended; nobody who lives loses
//! one to another who did not say that he means to take it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::pid::Pid;
use crate::relations::Name;

/// From whom a name may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taking {
    /// From nobody who lives.
    Free,
    /// From whoever has it; that one is not told.
    Held,
}

/// Why an actor did not get a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameError {
    /// There is no such actor.
    NoProcess,
    /// Another one has it.
    Taken(Pid),
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcess => f.write_str("there is no such actor"),
            Self::Taken(pid) => write!(f, "{pid} has it"),
        }
    }
}

impl std::error::Error for NameError {}

#[derive(Default)]
pub(crate) struct Registry {
    names: RwLock<HashMap<Arc<str>, Pid>>,
    paths: RwLock<BTreeMap<Arc<str>, Pid>>,
    groups: RwLock<BTreeMap<Arc<str>, BTreeSet<Pid>>>,
}

/// Brings a path into its one form: a leading slash, no trailing one, no empty parts.
pub(crate) fn normalise(path: &str) -> String {
    let mut out = String::with_capacity(path.len() + 1);
    for part in path.split('/').filter(|part| !part.is_empty()) {
        out.push('/');
        out.push_str(part);
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}

impl Registry {
    /// Adds a name; the pid that it belonged to before. If `keeps` says that this one keeps it, nothing is changed and that is the error.
    pub(crate) fn add(&self, name: &Name, pid: Pid, keeps: impl Fn(Pid) -> bool) -> Result<Option<Pid>, Pid> {
        let owner = |owner: Option<&Pid>| owner.copied().filter(|owner| *owner != pid && keeps(*owner));
        match name {
            Name::Plain(name) => {
                let mut names = self.names.write();
                owner(names.get(name)).map_or_else(|| Ok(names.insert(name.clone(), pid)), Err)
            }
            Name::Path(path) => {
                let mut paths = self.paths.write();
                owner(paths.get(path)).map_or_else(|| Ok(paths.insert(path.clone(), pid)), Err)
            }
            Name::Group(group) => {
                self.groups.write().entry(group.clone()).or_default().insert(pid);
                Ok(None)
            }
        }
    }

    /// Takes a name out, if it still belongs to the pid.
    pub(crate) fn remove(&self, name: &Name, pid: Pid) {
        match name {
            Name::Plain(name) => {
                let mut names = self.names.write();
                if names.get(name) == Some(&pid) {
                    names.remove(name);
                }
            }
            Name::Path(path) => {
                let mut paths = self.paths.write();
                if paths.get(path) == Some(&pid) {
                    paths.remove(path);
                }
            }
            Name::Group(group) => {
                let mut groups = self.groups.write();
                if let Some(members) = groups.get_mut(group) {
                    members.remove(&pid);
                    if members.is_empty() {
                        groups.remove(group);
                    }
                }
            }
        }
    }

    /// Whether the name belongs to the pid, or the pid to the group.
    pub(crate) fn has(&self, name: &Name, pid: Pid) -> bool {
        match name {
            Name::Plain(name) => self.names.read().get(name) == Some(&pid),
            Name::Path(path) => self.paths.read().get(path) == Some(&pid),
            Name::Group(group) => self.groups.read().get(group).is_some_and(|members| members.contains(&pid)),
        }
    }

    pub(crate) fn name(&self, name: &str) -> Option<Pid> {
        self.names.read().get(name).copied()
    }

    pub(crate) fn path(&self, path: &str) -> Option<Pid> {
        self.paths.read().get(path).copied()
    }

    pub(crate) fn group(&self, group: &str) -> Vec<Pid> {
        self.groups.read().get(group).map(|members| members.iter().copied().collect()).unwrap_or_default()
    }

    pub(crate) fn names(&self) -> Vec<(String, Pid)> {
        let mut names: Vec<_> =
            self.names.read().iter().map(|(name, pid)| (name.to_string(), *pid)).collect();
        names.sort();
        names
    }

    /// The paths below `prefix`: all of them, or only those one level down.
    pub(crate) fn below(&self, prefix: &str, direct_only: bool) -> Vec<(String, Pid)> {
        let prefix = normalise(prefix);
        let start = if prefix == "/" { prefix } else { format!("{prefix}/") };
        let paths = self.paths.read();
        paths
            .range::<str, _>((Bound::Excluded(start.as_str()), Bound::Unbounded))
            .take_while(|(path, _)| path.starts_with(&start))
            .filter(|(path, _)| !direct_only || !path[start.len()..].contains('/'))
            .map(|(path, pid)| (path.to_string(), *pid))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_listing_stops_at_part_boundaries() {
        let registry = Registry::default();
        let pid = Pid::new(1, 1);
        for path in ["/svc", "/svc/pay", "/svc/pay/one", "/svc2/x", "/svc-a"] {
            assert_eq!(registry.add(&Name::Path(Arc::from(path)), pid, |_| true), Ok(None));
        }
        let all: Vec<_> = registry.below("svc/", false).into_iter().map(|(path, _)| path).collect();
        assert_eq!(all, ["/svc/pay", "/svc/pay/one"]);
        let direct: Vec<_> = registry.below("/svc", true).into_iter().map(|(path, _)| path).collect();
        assert_eq!(direct, ["/svc/pay"]);
        assert_eq!(registry.below("/", true).len(), 2);
    }
}
